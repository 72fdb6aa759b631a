//! The helper's operation `text`: puts a text into the field with the focus, and reads back what
//! the field then has.

use super::error::HelperError;
use super::fields::{flag, millis, text};
use super::wire::Header;
use super::{Answer, Helper};
use crate::latency;
use serde_json::{Value, json};

/// A paste of fewer characters is slower than their keys.
const FEW: usize = 3;

/// `TYPE_TEXT_VARIATION_PASSWORD`
const PASSWORD: u32 = 0x80;

/// The releases that can set the text of a field, that tell a hint from a text, and that can empty
/// the clipboard.
const SETS_TEXT: u32 = 5;
const TELLS_HINTS: u32 = 8;
const CLEARS_CLIPBOARD: u32 = 9;

/// `text`
pub(super) async fn put(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let phone = &helper.phone;
    let typed = text(header, "text")?.to_owned();
    let replace = flag(header, "replace")?;
    let limit = millis(header, "limit_ms", 10_000, 2_000)?;
    let _using = helper.use_automation(limit).await?;
    let (before, password, android) = phone
        .with(|phone| {
            let before = phone.world.focused_text()?;
            let field = phone.world.served_field();
            let password = field.is_some_and(|field| field.input_type & PASSWORD != 0);
            Some((before, password, phone.world.android()))
        })
        .ok_or_else(|| {
            HelperError::of("not_found", "no text field has the focus")
                .trying("tap the field, then type")
        })?;
    let has_keys = typed.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t'));
    let is_few = typed.chars().count() <= FEW && has_keys && !replace;
    let method = if android >= if replace { SETS_TEXT } else { TELLS_HINTS } {
        "set"
    } else if is_few {
        "keys"
    } else {
        "paste"
    };
    if method == "set" && password && !replace && !before.is_empty() {
        let refused = "a password that is hidden cannot be added to";
        return Err(HelperError::of("refused", refused).trying("replace it"));
    }
    let mut fields = json!({ "method": method });
    helper.acted();
    if method == "keys" {
        for character in typed.chars() {
            phone.with(|phone| phone.world.type_char(character));
            phone.run_work(latency::KEY).await;
            tokio::task::yield_now().await;
        }
    } else {
        phone.run_work(latency::HELPER_TEXT).await;
        phone.with(|phone| {
            let world = &mut phone.world;
            if replace {
                world.replace_text(&typed);
            } else {
                world.insert_text(&typed);
            }
        });
    }
    if method == "paste" && !typed.is_empty() {
        phone.with(|phone| {
            if phone.world.clipboard().is_none() && phone.world.android() < CLEARS_CLIPBOARD {
                phone.world.set_clipboard("");
            }
        });
    }
    let now = phone.with(|phone| phone.world.focused_text());
    fields["found"] = if password { Value::Null } else { now.clone().into() };
    if !password {
        fields["complete"] = now.is_some_and(|now| now.contains(&typed)).into();
    }
    Ok(Answer::of(fields))
}

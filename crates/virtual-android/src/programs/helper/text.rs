//! The helper's operation `text`: puts a text into the field with the focus, and reads back what the field then has.

use super::error::HelperError;
use super::fields::{flag, millis, text, word};
use super::wire::Header;
use super::{Answer, Helper};
use crate::latency::Work;
use serde_json::{Value, json};

/// A paste of fewer characters is slower than their keys.
const FEW: usize = 3;

/// `TYPE_TEXT_VARIATION_PASSWORD`
const PASSWORD: u32 = 0x80;

/// The releases that can set the text of a field, that tell a hint from a text, and that can empty the clipboard.
const SETS_TEXT: u32 = 5;
const TELLS_HINTS: u32 = 8;
const CLEARS_CLIPBOARD: u32 = 9;

/// `text`
pub(super) async fn put(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let phone = &helper.phone;
    let typed = text(header, "text")?.to_owned();
    let how = word(header, "how", &["auto", "set", "paste", "keys"])?;
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
    let how = match how {
        "auto" if android >= if replace { SETS_TEXT } else { TELLS_HINTS } => "set",
        "auto" if is_few => "keys",
        "auto" => "paste",
        how => how,
    };
    let refused = |says: &str, advice| HelperError::of("refused", says).trying(advice);
    let mut fields = json!({ "how": how, "password": password });
    match how {
        "set" if android < SETS_TEXT => {
            return Err(refused("the field does not let its text be set", "use paste"));
        }
        "set" if password && !replace && !before.is_empty() => {
            return Err(refused(
                "a password that is hidden cannot be added to",
                "use paste, or replace it",
            ));
        }
        "keys" if !has_keys => {
            return Err(refused("the keyboard has no keys for this text", "use paste"));
        }
        _ => {}
    }
    helper.acted();
    if how == "keys" {
        if replace {
            phone.with(|phone| phone.world.replace_text(""));
        }
        for character in typed.chars() {
            phone.with(|phone| phone.world.type_char(character));
            phone.run_work(Work::Key).await;
            tokio::task::yield_now().await;
        }
    } else {
        phone.run_work(Work::HelperText).await;
        phone.with(|phone| {
            let world = &mut phone.world;
            match replace {
                true => world.replace_text(&typed),
                false => world.insert_text(&typed),
            }
        });
    }
    if how == "paste" && !typed.is_empty() {
        phone.with(|phone| {
            if phone.world.clipboard().is_none() && phone.world.android() < CLEARS_CLIPBOARD {
                phone.world.set_clipboard("");
            }
        });
        fields["restored"] = true.into();
    }
    let now = phone.with(|phone| phone.world.focused_text());
    fields["found"] = match password {
        true => Value::Null,
        false => now.clone().into(),
    };
    if !password {
        fields["complete"] = now.is_some_and(|now| now.contains(&typed)).into();
    }
    Ok(Answer::of(fields))
}

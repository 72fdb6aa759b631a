//! Tools that type: `mobile_type_keys` of the specification, and our `mobile_type`, which finds,
//! clears and submits a field in one call. Both report if the field shows something else
//! afterwards.

use serde::Deserialize;
use serde_json::json;
use thumbwire_base::truncate;
use thumbwire_device::TypingMethod;

use super::Reply;
use super::touch::element;
use crate::action::{Readback, TextInput, TypeResult, request};

#[derive(Deserialize)]
pub(super) struct TypeKeysArgs {
    text: String,
}

impl TypeKeysArgs {
    fn typing(&self) -> TextInput {
        TextInput::of(&self.text)
    }
}

pub(super) fn parse_type_keys(keys: &TypeKeysArgs) -> Result<request::Type, String> {
    Ok(request::Type(keys.typing()))
}

pub(super) fn render_type_keys(keys: &TypeKeysArgs, result: TypeResult) -> Reply {
    typed(&keys.typing(), result)
}

#[derive(Deserialize)]
pub(super) struct TypeIntoArgs {
    pub(super) text: String,
    pub(super) element_id: Option<String>,
    pub(super) element_text: Option<String>,
    pub(super) clear: Option<bool>,
    pub(super) submit: Option<bool>,
    pub(super) blind: Option<bool>,
}

impl TypeIntoArgs {
    fn typing(&self) -> TextInput {
        let into = element(self.element_id.as_ref(), self.element_text.as_ref());
        let (clear, submit) = (self.clear.unwrap_or(false), self.submit.unwrap_or(false));
        let blind = self.blind.unwrap_or(false);
        TextInput { text: self.text.clone(), into, clear, submit, blind, ..TextInput::default() }
    }
}

pub(super) fn parse_type(into: &TypeIntoArgs) -> Result<request::Type, String> {
    let typing = into.typing();
    if typing.text.is_empty() && !typing.clear && !typing.submit {
        return Err("`text` is empty and neither `clear` nor `submit` is set".into());
    }
    Ok(request::Type(typing))
}

pub(super) fn render_type(into: &TypeIntoArgs, result: TypeResult) -> Reply {
    typed(&into.typing(), result)
}

/// Reports what was done, the input method if it was not plain keys, and what the field shows if it
/// is not the text.
fn typed(typing: &TextInput, result: TypeResult) -> Reply {
    let TypeResult { by, field, .. } = &result;
    let mut done = Vec::new();
    if typing.clear {
        done.push("cleared the field".to_owned());
    }
    if !typing.text.is_empty() || !(typing.clear || typing.submit) {
        let by = match by {
            TypingMethod::Keys | TypingMethod::SetText => String::new(),
            TypingMethod::Clipboard => " through the clipboard".into(),
        };
        let count = typing.text.chars().count();
        let characters = if count == 1 { "character" } else { "characters" };
        done.push(format!("typed {count} {characters}{by}"));
    }
    if typing.submit {
        done.push("pressed Enter".into());
    }
    let mut text = done.join(", ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    match field {
        Readback::Same => {}
        Readback::Corrected => text
            .push_str("\nCharacters were lost at first; the text was typed again and is complete"),
        Readback::Differs { shows } if typing.text.is_empty() => {
            text.push_str(&format!(
                "\nThe field still shows {:?}, which may be its hint",
                truncate(shows, SHOWN)
            ));
        }
        Readback::Differs { shows } => {
            // Give the full length, since the difference may be in the truncated part.
            let all = shows.chars().count();
            let many = if all > SHOWN { format!("{all} characters: ") } else { String::new() };
            text.push_str(&format!("\nBut the field shows {many}{:?}", truncate(shows, SHOWN)));
        }
        Readback::Hidden => text.push_str("\nNot checked: the field hides its content"),
        Readback::NoField => text.push_str("\nNot checked: no text field could be read"),
    }
    let (name, shows) = match field {
        Readback::Same => ("same", None),
        Readback::Corrected => ("repaired", None),
        Readback::Differs { shows } => ("differs", Some(truncate(shows, SHOWN))),
        Readback::Hidden => ("hidden", None),
        Readback::NoField => ("none", None),
    };
    let mut more = json!({ "field": name });
    if let Some(shows) = shows {
        more["shows"] = shows.into();
    }
    super::success(text, more)
}

/// The maximum length of a field's content in a reply, in characters.
const SHOWN: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset::Content;

    fn render_typed(typing: TextInput, by: TypingMethod, field: Readback) -> String {
        let typed_so = TypeResult { by, field, into: None, tapped: false };
        let reply = typed(&typing, typed_so);
        let [Content::Text(words)] = reply.content.as_slice() else { panic!("{reply:?}") };
        words.clone()
    }

    #[test]
    fn typing_replies_report_surprises() {
        let keys = || TypingMethod::Keys;
        assert_eq!(
            render_typed(TextInput::of("abc"), keys(), Readback::Same),
            "Typed 3 characters"
        );
        assert_eq!(render_typed(TextInput::of(""), keys(), Readback::Same), "Typed 0 characters");
        let all = TextInput { clear: true, submit: true, ..TextInput::of("\u{e9}") };
        assert_eq!(
            render_typed(all, TypingMethod::Clipboard, Readback::Corrected),
            "Cleared the field, typed 1 character through the clipboard, pressed Enter\n\
             Characters were lost at first; the text was typed again and is complete"
        );
        let clear = TextInput { clear: true, ..TextInput::of("") };
        let shows = || Readback::Differs { shows: "Name".into() };
        assert!(render_typed(clear, keys(), shows()).ends_with("\"Name\", which may be its hint"));
        assert!(
            render_typed(TextInput::of("x"), keys(), shows())
                .ends_with("But the field shows \"Name\"")
        );
        let book = Readback::Differs { shows: "b".repeat(1_000_000) };
        let words = render_typed(TextInput::of("x"), keys(), book);
        assert!(words.contains("But the field shows 1000000 characters: \"bbb"), "{words}");
        assert!(words.len() < 1_000);
    }
}

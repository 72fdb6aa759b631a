//! The tools that type: seed 004's `mobile_type_keys`, and `mobile_type`, which is ours and finds, clears and sends off a
//! field in one call. Both tell what the field shows afterwards where that is worth telling.

use serde::Deserialize;
use serde_json::json;
use thumbwire_device::TypedBy;

use super::words::shortened;
use super::{Reply, given, odd};
use crate::action::{Action, Outcome, Readback, Target, Typed, Typing};

#[derive(Deserialize)]
pub(super) struct TypeKeys {
    text: String,
}

impl TypeKeys {
    fn typing(&self) -> Typing {
        Typing::of(&self.text)
    }
}

pub(super) fn type_keys(keys: &TypeKeys) -> Result<Action, String> {
    Ok(Action::Type(keys.typing()))
}

pub(super) fn typed_keys(keys: &TypeKeys, outcome: Outcome) -> Reply {
    typed(&keys.typing(), outcome)
}

#[derive(Deserialize)]
pub(super) struct TypeInto {
    text: String,
    element_id: Option<String>,
    element_text: Option<String>,
    clear: Option<bool>,
    submit: Option<bool>,
}

impl TypeInto {
    fn typing(&self) -> Typing {
        let into = match (given(self.element_id.as_ref()), given(self.element_text.as_ref())) {
            (None, None) => None,
            (id, text) => Some(Target::Named { id, text }),
        };
        let (clear, submit) = (self.clear.unwrap_or(false), self.submit.unwrap_or(false));
        Typing { text: self.text.clone(), into, clear, submit }
    }
}

pub(super) fn type_into(into: &TypeInto) -> Result<Action, String> {
    let typing = into.typing();
    if typing.text.is_empty() && !typing.clear && !typing.submit {
        return Err("`text` is empty, and neither `clear` nor `submit` is asked for".into());
    }
    Ok(Action::Type(typing))
}

pub(super) fn typed_into(into: &TypeInto, outcome: Outcome) -> Reply {
    typed(&into.typing(), outcome)
}

/// Tells what was done, by which way where it was not the plain one, and what the field shows where that is not what it
/// should.
fn typed(typing: &Typing, outcome: Outcome) -> Reply {
    let Outcome::Typed(Typed { by, field, .. }) = &outcome else { return odd(&outcome) };
    let mut done = Vec::new();
    if typing.clear {
        done.push("cleared the field".to_owned());
    }
    if !typing.text.is_empty() || !(typing.clear || typing.submit) {
        let by = match by {
            TypedBy::Keys => String::new(),
            TypedBy::Keyboard { app } => format!(" through {app}"),
            TypedBy::Clipboard => " through the clipboard".into(),
        };
        let count = typing.text.chars().count();
        let characters = if count == 1 { "character" } else { "characters" };
        done.push(format!("typed {count} {characters}{by}"));
    }
    if typing.submit {
        done.push("pressed Enter".into());
    }
    let mut words = done.join(", ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    match field {
        Readback::Same => {}
        Readback::Repaired => words
            .push_str("\nCharacters were lost at first; it was typed again and now stands there"),
        Readback::Differs { shows } if typing.text.is_empty() => {
            words.push_str(&format!(
                "\nThe field goes on showing {:?}, which may be its hint",
                shortened(shows, SHOWN)
            ));
        }
        Readback::Differs { shows } => {
            // What is cut off may be where they differ: a full field ends early.
            let all = shows.chars().count();
            let many = if all > SHOWN { format!("{all} characters: ") } else { String::new() };
            words.push_str(&format!("\nBut the field shows {many}{:?}", shortened(shows, SHOWN)));
        }
        Readback::Hidden => words.push_str("\nNot checked: the field hides what it holds"),
        Readback::NoField => words.push_str("\nNot checked: no text field shows it now"),
    }
    let (name, shows) = match field {
        Readback::Same => ("same", None),
        Readback::Repaired => ("repaired", None),
        Readback::Differs { shows } => ("differs", Some(shortened(shows, SHOWN))),
        Readback::Hidden => ("hidden", None),
        Readback::NoField => ("none", None),
    };
    let mut more = json!({ "field": name });
    if let Some(shows) = shows {
        more["shows"] = shows.into();
    }
    super::done(words, more)
}

/// Characters of a field that are told.
const SHOWN: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Content;
    use thumbwire_device::AppId;

    fn told(typing: Typing, by: TypedBy, field: Readback) -> String {
        let typed_so = Typed { by, field, into: None };
        let reply = typed(&typing, Outcome::Typed(typed_so));
        let [Content::Text(words)] = reply.content.as_slice() else { panic!("{reply:?}") };
        words.clone()
    }

    #[test]
    fn what_is_notable_is_told() {
        let keys = || TypedBy::Keys;
        assert_eq!(told(Typing::of("abc"), keys(), Readback::Same), "Typed 3 characters");
        assert_eq!(told(Typing::of(""), keys(), Readback::Same), "Typed 0 characters");
        let app = TypedBy::Keyboard { app: AppId("com.android.adbkeyboard".into()) };
        let all = Typing { clear: true, submit: true, ..Typing::of("\u{e9}") };
        assert_eq!(
            told(all, app, Readback::Repaired),
            "Cleared the field, typed 1 character through com.android.adbkeyboard, pressed Enter\n\
             Characters were lost at first; it was typed again and now stands there"
        );
        let clear = Typing { clear: true, ..Typing::of("") };
        let shows = || Readback::Differs { shows: "Name".into() };
        assert!(told(clear, keys(), shows()).ends_with("\"Name\", which may be its hint"));
        assert!(told(Typing::of("x"), keys(), shows()).ends_with("But the field shows \"Name\""));
        let book = Readback::Differs { shows: "b".repeat(1_000_000) };
        let words = told(Typing::of("x"), keys(), book);
        assert!(words.contains("But the field shows 1000000 characters: \"bbb"), "{words}");
        assert!(words.len() < 1_000);
    }
}

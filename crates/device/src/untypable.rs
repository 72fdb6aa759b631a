//! Text that a phone has no way to type: which characters, and what to do instead.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text cannot be typed on a phone. Each character is named once, in the order of the text;
/// none, if they are withheld.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UntypableText {
    /// Control characters, which no keyboard types.
    Control(Vec<char>),
    /// Characters without a key, without the helper that types them.
    Keyless(Vec<char>),
}

/// How many characters a message names.
const NAMED: usize = 8;

impl UntypableText {
    /// Keeps only these characters, to withhold the others.
    #[must_use]
    pub fn only(self, shown: impl Fn(char) -> bool) -> Self {
        let keep = |mut characters: Vec<char>| {
            characters.retain(|&char| shown(char));
            characters
        };
        match self {
            Self::Control(characters) => Self::Control(keep(characters)),
            Self::Keyless(characters) => Self::Keyless(keep(characters)),
        }
    }

    /// What helps, as a phrase that fits after "Next: ".
    pub fn next_step(&self) -> String {
        let characters = match self {
            Self::Control(_) => {
                return "remove them; to press a key such as Tab, use the tool that presses keys"
                    .into();
            }
            Self::Keyless(characters) => characters,
        };
        let written: Vec<String> = characters
            .iter()
            .filter_map(|&character| Some(format!("{} for {character}", ascii_for(character)?)))
            .take(NAMED)
            .collect();
        let such_as =
            if written.is_empty() { String::new() } else { format!(" ({})", written.join(", ")) };
        format!(
            "write the text in printable ASCII{such_as}, or tap the field first and let \
             Thumbwire's helper type it: it runs unless Thumbwire was started with `--helper off`"
        )
    }
}

impl fmt::Display for UntypableText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Control(characters) | Self::Keyless(characters)) = self;
        let named = characters.iter().take(NAMED);
        let named: Vec<String> = named
            .map(|character| {
                format!("{} (U+{:04X})", character.escape_debug(), u32::from(*character))
            })
            .collect();
        if named.is_empty() {
            f.write_str("some characters, which are withheld,")?;
        } else {
            f.write_str(&named.join(", "))?;
        }
        if characters.len() > NAMED {
            write!(f, " and {} more", characters.len() - NAMED)?;
        }
        let one = characters.len() == 1;
        f.write_str(match (self, one) {
            (Self::Control(_), true) => " is a control character, which no keyboard can type",
            (Self::Control(_), false) => " are control characters, which no keyboard can type",
            (Self::Keyless(_), true) => " has no key on the phone's keyboard and would be lost",
            (Self::Keyless(_), false) => " have no keys on the phone's keyboard and would be lost",
        })
    }
}

/// The usual ASCII for typographic characters, which models write by themselves.
fn ascii_for(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' => "'",
        '\u{201c}' | '\u{201d}' | '\u{201e}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{2026}' => "...",
        '\u{a0}' | '\u{2009}' | '\u{202f}' => "a space",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_names_each_character_and_what_to_write_instead() {
        let untypable = UntypableText::Keyless(vec!['\u{2019}', '\u{e9}']);
        assert_eq!(
            untypable.to_string(),
            "\u{2019} (U+2019), \u{e9} (U+00E9) have no keys on the phone's keyboard and would be lost"
        );
        let next = untypable.next_step();
        assert!(next.contains("printable ASCII (' for \u{2019}), or"), "{next}");
        let next = UntypableText::Keyless(vec!['\u{6f22}']).next_step();
        assert!(next.contains("printable ASCII, or") && next.contains("--helper off"));
        let bell = UntypableText::Control(vec!['\u{7}']).to_string();
        assert!(bell.starts_with("\\u{7} (U+0007) is a control character"), "{bell}");
    }

    #[test]
    fn withheld_characters_are_in_no_message() {
        let untypable = UntypableText::Keyless(vec!['\u{2019}', '\u{e9}']).only(|_| false);
        let text = format!("{untypable} {}", untypable.next_step());
        assert!(text.starts_with("some characters, which are withheld, have no keys"), "{text}");
        assert!(text.is_ascii(), "{text}");
    }

    #[test]
    fn long_list_of_characters_is_cut() {
        let characters: Vec<char> = ('\u{4e00}'..'\u{4e20}').collect();
        let text = UntypableText::Keyless(characters).to_string();
        assert!(text.contains("(U+4E07) and 24 more have"), "{text}");
    }
}

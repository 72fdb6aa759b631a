//! One tag: the scanner of its attributes, and the text of a value.
//!
//! A dump is scanned here and not by the XML crate for two reasons: what is broken is to cost one attribute, not the
//! node, nor all that stands behind it; and twenty attributes a node, most of them `false`, are where a dump's time
//! goes, so that they are passed once.

use quick_xml::escape::unescape;

use super::fault::Kind;

/// How a tag ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Where to go on.
    pub(crate) next: usize,
    pub(crate) end: End,
    /// How many attributes could not be read.
    pub(crate) broken: usize,
}

impl Tag {
    /// Tells of the attributes that could not be read. In a tag that is broken itself, the attribute is where it broke.
    pub(crate) fn note_broken(self, fault: &mut dyn FnMut(Kind)) {
        if matches!(self.end, End::Open | End::Closed) {
            (0..self.broken).for_each(|_| fault(Kind::Attribute));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// `>`
    Open,
    /// `/>`
    Closed,
    /// The next tag begins within it: a quote or its end is missing. It is closed if it looks so.
    Swallowed { closed: bool },
    /// The text ends within it.
    Cut,
}

/// Gives each attribute from this place of the text on, name and raw value, up to the end of the tag. What is broken
/// is passed over up to the next blank.
pub(crate) fn attributes<'t>(
    text: &'t str,
    from: usize,
    mut each: impl FnMut(&'t str, &'t str),
) -> Tag {
    let bytes = text.as_bytes();
    let (mut at, mut broken) = (from, 0);
    loop {
        at += blanks(&bytes[at..]);
        let end = match &bytes[at..] {
            [] => Some((End::Cut, 0)),
            [b'>', ..] => Some((End::Open, 1)),
            [b'/', b'>', ..] => Some((End::Closed, 2)),
            [b'<', ..] => {
                let closed = text[from..at].trim_ascii_end().ends_with("/>");
                Some((End::Swallowed { closed }, 0))
            }
            _ => None,
        };
        if let Some((end, length)) = end {
            return Tag { next: at + length, end, broken };
        }
        let name = name(&bytes[at..]);
        match value(&bytes[at + name..]) {
            Ok((low, high)) if name > 0 => {
                let value = at + name;
                each(&text[at..value], &text[value + low..value + high]);
                at = value + high + 1;
            }
            // A `<` stands in no value: the closing quote is missing.
            Err(Some(next)) => {
                broken += 1;
                at += name + next;
            }
            Ok(_) | Err(None) => {
                broken += 1;
                let stops = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'<' | b'>');
                let rest = &bytes[at..];
                let token = rest.iter().position(stops).unwrap_or(rest.len());
                let closes = rest[token..].starts_with(b">") && rest[..token].ends_with(b"/");
                at += if closes { token - 1 } else { token };
            }
        }
    }
}

/// How many bytes of a name stand here.
pub(crate) fn name(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !NAMES[usize::from(byte)]).unwrap_or(bytes.len())
}

/// Where the value lies in `="value"`, its quotes not counted; else where the next tag begins that it runs into.
fn value(bytes: &[u8]) -> Result<(usize, usize), Option<usize>> {
    let (open, quote) = match bytes {
        [b'=', quote @ (b'"' | b'\''), ..] => (2, *quote),
        _ => {
            let equals = blanks(bytes);
            let after = bytes.get(equals + 1..).filter(|_| bytes[equals] == b'=').ok_or(None)?;
            let open = equals + 1 + blanks(after);
            let quote = bytes.get(open).filter(|&&byte| byte == b'"' || byte == b'\'');
            (open + 1, *quote.ok_or(None)?)
        }
    };
    let inside = &bytes[open..];
    // Most are flags.
    if inside.starts_with(b"false\"") && quote == b'"' {
        return Ok((open, open + "false".len()));
    }
    match inside.iter().position(|&byte| byte == quote || byte == b'<') {
        Some(length) if inside[length] == quote => Ok((open, open + length)),
        Some(length) => Err(Some(open + length)),
        None => Err(Some(bytes.len())),
    }
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len())
}

/// The bytes of which names are made.
const NAMES: [bool; 256] = {
    let mut names = [false; 256];
    let mut byte = 0;
    while byte < names.len() {
        let char = byte as u8;
        let plain = char.is_ascii_alphanumeric() || matches!(char, b'-' | b'_' | b':' | b'.');
        names[byte] = plain || char >= 0x80;
        byte += 1;
    }
    names
};

/// Puts a value into its place. Always `true`, so that it stands behind a condition.
pub(crate) fn set<T>(place: &mut T, value: T) -> bool {
    *place = value;
    true
}

/// A value as it was meant. A phone may write a reference that XML does not know; its raw text is better than none.
pub(crate) fn read_text(value: &str, fault: &mut dyn FnMut(Kind)) -> String {
    // A control character; or U+FFFE and U+FFFF, which begin with 0xef.
    let suspect = value.bytes().any(|byte| byte < b' ' || byte == 0xef);
    if suspect && value.contains(cannot_stand) {
        fault(Kind::Character);
    }
    match unescape(value) {
        Ok(text) => text.into_owned(),
        Err(_) => {
            fault(Kind::Entity);
            value.to_owned()
        }
    }
}

/// Whether XML 1.0 cannot hold a character.
fn cannot_stand(char: char) -> bool {
    match char {
        '\t' | '\n' | '\r' => false,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_ends_where_the_next_one_begins() {
        let end = |text: &str| {
            let tag = attributes(text, 0, |_, _| {});
            (tag.end, tag.next, tag.broken)
        };
        assert_eq!(end(" a=\"1>2\" >x"), (End::Open, 10, 0));
        assert_eq!(end(" a=\"1\" b/><n"), (End::Closed, 10, 1));
        assert_eq!(end(" a=\"1/><n b=\"2\"/>"), (End::Swallowed { closed: true }, 7, 1));
        assert_eq!(end(" a=\"1\" <n"), (End::Swallowed { closed: false }, 7, 0));
        assert_eq!(end(" a=\"1"), (End::Cut, 5, 1));
        assert_eq!(end(" a=\"1\" b"), (End::Cut, 8, 1));
    }
}

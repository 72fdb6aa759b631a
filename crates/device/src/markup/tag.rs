//! Scans the attributes of one tag and decodes their values.
//!
//! Why not the XML crate? A broken attribute must cost only itself, not the node or everything
//! after it. And twenty attributes per node, most of them `false`, dominate the time of parsing a
//! dump, so they are scanned in a single pass.

use bytestring::ByteString;

use super::warning::ParseWarningKind;

/// How a tag ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Offset at which to continue.
    pub(crate) next: usize,
    pub(crate) end: TagEnd,
    /// Number of attributes that could not be read.
    pub(crate) broken: usize,
}

impl Tag {
    /// Reports the attributes that could not be read. In a broken tag, the attribute is where the
    /// tag broke.
    pub(crate) fn note_broken(self, fault: &mut dyn FnMut(ParseWarningKind)) {
        if matches!(self.end, TagEnd::Open | TagEnd::Closed) {
            (0..self.broken).for_each(|_| fault(ParseWarningKind::InvalidAttribute));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagEnd {
    /// `>`
    Open,
    /// `/>`
    Closed,
    /// The next tag begins inside it: a quote or the tag's end is missing. `closed` if it looks
    /// self-closing.
    Unreadable { closed: bool },
    /// The text ends inside it.
    Truncated,
}

/// Calls back with each attribute from this offset to the end of the tag, as name and raw value.
/// Skips anything broken up to the next whitespace.
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
            [] => Some((TagEnd::Truncated, 0)),
            [b'>', ..] => Some((TagEnd::Open, 1)),
            [b'/', b'>', ..] => Some((TagEnd::Closed, 2)),
            [b'<', ..] => {
                let closed = text[from..at].trim_ascii_end().ends_with("/>");
                Some((TagEnd::Unreadable { closed }, 0))
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
            // No value contains a `<`: the closing quote is missing.
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

/// Length in bytes of the name at the start.
pub(crate) fn name(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !NAMES[usize::from(byte)]).unwrap_or(bytes.len())
}

/// Range of the value in `="value"`, without the quotes; otherwise the offset of the next tag that
/// it runs into.
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
    // Most attributes are flags.
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

/// The bytes that names consist of.
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

/// Assigns a value. Always `true`, so that it can follow `&&`.
pub(crate) fn set<T>(target: &mut T, value: T) -> bool {
    *target = value;
    true
}

/// Decodes a value of the text: a slice of it, unless the value has entities. A phone may write an
/// entity unknown to XML; it stays as written, and the rest of the value is decoded.
pub(crate) fn read_text(
    text: &ByteString,
    value: &str,
    fault: &mut dyn FnMut(ParseWarningKind),
) -> ByteString {
    if value.is_empty() {
        return ByteString::new();
    }
    // A control character, or U+FFFE and U+FFFF, which begin with 0xef.
    let suspect = value.bytes().any(|byte| byte < b' ' || byte == 0xef);
    if suspect && value.contains(is_forbidden) {
        fault(ParseWarningKind::InvalidCharacter);
    }
    if !value.contains('&') {
        return text.slice_ref(value);
    }
    let (decoded, known) = decode(value);
    if !known {
        fault(ParseWarningKind::UnknownEntity);
    }
    decoded.into()
}

/// The longest entity: `&#x0010FFFF;` has eight digits, and nobody writes more zeros.
const MAX_ENTITY: usize = 12;

/// Replaces the entities of XML and references to characters. Anything else with `&` stays as
/// written; then the second value is false.
fn decode(value: &str) -> (String, bool) {
    let (mut out, mut known) = (String::with_capacity(value.len()), true);
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match entity(rest) {
            Some((character, length)) => {
                out.push(character);
                rest = &rest[length..];
            }
            None => {
                known = false;
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    (out, known)
}

/// The character of the entity at the start of the text, and the entity's length.
fn entity(text: &str) -> Option<(char, usize)> {
    let (name, length) = entity_name(text)?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let unit = reference(name)?;
            if (0xd800..0xdc00).contains(&unit) {
                // Some serializers write a character beyond U+FFFF as its two UTF-16 units.
                let (low, more) = entity_name(&text[length..])?;
                let low = reference(low).filter(|low| (0xdc00..0xe000).contains(low))?;
                let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return Some((char::from_u32(code)?, length + more));
            }
            char::from_u32(unit).filter(|&character| character != '\0')?
        }
    };
    Some((character, length))
}

/// What is between `&` and `;` at the start of the text, and the length of it all.
fn entity_name(text: &str) -> Option<(&str, usize)> {
    let name = text.strip_prefix('&')?;
    let end = name.bytes().take(MAX_ENTITY).position(|byte| byte == b';')?;
    Some((&name[..end], end + 2))
}

/// The number of a character reference: `#10` or `#xA`.
fn reference(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('#')?;
    match digits.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Whether XML 1.0 forbids this character.
fn is_forbidden(char: char) -> bool {
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
    fn unknown_entity_stays_and_the_rest_is_decoded() {
        let check = |value: &str, expected: &str, known: bool| {
            assert_eq!(decode(value), (expected.to_owned(), known), "{value}");
        };
        check("a &amp; b &lt;&gt;&quot;&apos;&#10;&#x41;", "a & b <>\"'\nA", true);
        check(
            "Terms &amp; Conditions&nbsp;&copy; 2024",
            "Terms & Conditions&nbsp;&copy; 2024",
            false,
        );
        // An emoji as two references, as some page sources have it; half of one.
        check("&#55357;&#56832;!", "\u{1f600}!", true);
        check("&#55357;x", "&#55357;x", false);
        for raw in
            ["&", "&&", "&;", "AT&T", "&#;", "&#x;", "&#0;", "&#xd800;", "&#99999999999;", "&漢;"]
        {
            check(raw, raw, false);
        }
        check("&&amp;&", "&&&", false);
    }

    #[test]
    fn unclosed_tag_ends_at_the_next_tag() {
        let end = |text: &str| {
            let tag = attributes(text, 0, |_, _| {});
            (tag.end, tag.next, tag.broken)
        };
        assert_eq!(end(" a=\"1>2\" >x"), (TagEnd::Open, 10, 0));
        assert_eq!(end(" a=\"1\" b/><n"), (TagEnd::Closed, 10, 1));
        assert_eq!(end(" a=\"1/><n b=\"2\"/>"), (TagEnd::Unreadable { closed: true }, 7, 1));
        assert_eq!(end(" a=\"1\" <n"), (TagEnd::Unreadable { closed: false }, 7, 0));
        assert_eq!(end(" a=\"1"), (TagEnd::Truncated, 5, 1));
        assert_eq!(end(" a=\"1\" b"), (TagEnd::Truncated, 8, 1));
    }
}

//! One tag: the scanner of its attributes, and how a node is read from them.
//!
//! A dump is scanned here and not by the XML crate for two reasons: what is broken is to cost one attribute, not the
//! node, nor all that stands behind it; and twenty attributes a node, most of them `false`, are where a dump's time
//! goes, so that they are passed once.

use quick_xml::escape::unescape;

use super::fault::Kind;
use crate::{Node, Rect};

/// How a tag ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    /// Where to go on.
    pub(super) next: usize,
    pub(super) end: End,
    /// How many attributes could not be read.
    pub(super) broken: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
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
pub(super) fn attributes<'t>(
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
pub(super) fn name(bytes: &[u8]) -> usize {
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

/// Reads the attributes from this place of the text on into a node, and tells what could not be read. Gives how the tag
/// ended, and the display that it names.
pub(super) fn read_node<'t>(
    text: &'t str,
    from: usize,
    node: &mut Node,
    mut fault: impl FnMut(Kind),
) -> (Tag, Option<&'t str>) {
    node.flags.enabled = true;
    let mut display = None;
    let mut seen = 0u32;
    let tag = attributes(text, from, |name, value| {
        let mut text = || read_text(value, &mut fault);
        let yes = value == "true";
        let flags = &mut node.flags;
        // The first of two counts; XML allows no second.
        let mut first = |bit: u32| {
            let new = seen & (1 << bit) == 0;
            seen |= 1 << bit;
            new
        };
        let new = match name {
            "text" => first(0) && set(&mut node.text, text()),
            "class" => first(1) && set(&mut node.class, text()),
            "package" => first(2) && set(&mut node.package, text()),
            "resource-id" => first(3) && set(&mut node.id, text()),
            "content-desc" => first(4) && set(&mut node.description, text()),
            "hint" => first(19) && set(&mut node.hint, text()),
            "bounds" => {
                first(5) && {
                    let bounds = read_bounds(value);
                    if bounds.is_none() {
                        fault(Kind::Bounds);
                    }
                    set(&mut node.bounds, bounds.unwrap_or_default())
                }
            }
            "checkable" => first(6) && set(&mut flags.checkable, yes),
            "checked" => first(7) && set(&mut flags.checked, yes),
            "clickable" => first(8) && set(&mut flags.clickable, yes),
            "enabled" => first(9) && set(&mut flags.enabled, yes),
            "focusable" => first(10) && set(&mut flags.focusable, yes),
            "focused" => first(11) && set(&mut flags.focused, yes),
            "scrollable" => first(12) && set(&mut flags.scrollable, yes),
            "long-clickable" => first(13) && set(&mut flags.long_clickable, yes),
            "password" => first(14) && set(&mut flags.password, yes),
            "selected" => first(15) && set(&mut flags.selected, yes),
            // `AccessibilityNodeInfo.getDrawingOrder`, in dumps since Android 14: from 1, 0 where it is not known.
            "drawing-order" => first(16) && set(&mut node.order, value.parse().unwrap_or(0)),
            // `isVisibleToUser`, under the names of the UiAutomator2 server and of some vendors.
            "displayed" | "visible-to-user" => {
                first(17) && set(&mut node.displayed, Some(value != "false"))
            }
            "display-id" => first(18) && set(&mut display, Some(value)),
            _ => true,
        };
        if !new {
            fault(Kind::Twice);
        }
    });
    // In a tag that is broken itself, the attribute is where it broke.
    if matches!(tag.end, End::Open | End::Closed) {
        (0..tag.broken).for_each(|_| fault(Kind::Attribute));
    }
    (tag, display)
}

fn set<T>(place: &mut T, value: T) -> bool {
    *place = value;
    true
}

/// A value as it was meant. A phone may write a reference that XML does not know; its raw text is better than none.
fn read_text(value: &str, fault: &mut impl FnMut(Kind)) -> String {
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

/// Reads `[left,top][right,bottom]`; the numbers may be negative.
fn read_bounds(text: &str) -> Option<Rect> {
    let mut rest = text;
    let mut number = |before: &str, after: char| {
        rest = rest.strip_prefix(before)?;
        let (number, behind) = rest.split_once(after)?;
        rest = behind;
        number.trim().parse::<i32>().ok()
    };
    let rect = Rect {
        left: number("[", ',')?,
        top: number("", ']')?,
        right: number("[", ',')?,
        bottom: number("", ']')?,
    };
    rest.is_empty().then_some(rect)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &str) -> (Node, Vec<Kind>) {
        let (mut node, mut faults) = (Node::default(), Vec::new());
        let tag = format!("{raw}/>");
        let (tag, _) = read_node(&tag, 0, &mut node, |kind| faults.push(kind));
        assert_eq!((tag.next, tag.end), (raw.len() + 2, End::Closed), "{raw}");
        (node, faults)
    }

    #[test]
    fn a_broken_attribute_costs_itself_alone() {
        let check = |raw: &str, text: &str, faults: &[Kind]| {
            let (node, found) = read(&format!("{raw} class=\"a.B\""));
            assert_eq!((node.text.as_str(), found.as_slice()), (text, faults), "{raw}");
            assert_eq!(node.class, "a.B", "{raw}");
        };
        check("text=\"a\"", "a", &[]);
        check("\r\n\ttext = 'a \"b\"'", "a \"b\"", &[]);
        check("text=\"say \"hi\" now\"", "say ", &[Kind::Attribute; 2]);
        check("text=bare index=\"0\"", "", &[Kind::Attribute]);
        check("text", "", &[Kind::Attribute]);
        check("=\"x\" text=\"a\"", "a", &[Kind::Attribute]);
        check("text=\"a\" text=\"b\"", "a", &[Kind::Twice]);
        check("text=\"a &nope; b\"", "a &nope; b", &[Kind::Entity]);
        check("text=\"a\u{1}b\"", "a\u{1}b", &[Kind::Character]);
    }

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

    #[test]
    fn bounds_that_make_no_sense_are_none() {
        let rect = |left, top, right, bottom| Some(Rect { left, top, right, bottom });
        assert_eq!(read_bounds("[0,-5][10,20]"), rect(0, -5, 10, 20));
        for odd in ["", "[0,0]", "[0,0][1,1]x", "[a,0][1,1]", "[0,0][99999999999,1]", "0,0,1,1"] {
            assert_eq!(read_bounds(odd), None, "{odd}");
            assert_eq!(read(&format!("bounds=\"{odd}\"")).1, [Kind::Bounds], "{odd}");
        }
    }

    #[test]
    fn what_android_says_of_order_and_visibility_is_kept() {
        let (node, _) = read("drawing-order=\"3\" displayed=\"false\"");
        assert!(node.order == 3 && node.displayed == Some(false) && node.flags.enabled);
        let (node, _) = read("drawing-order=\"-1\" visible-to-user=\"true\" enabled=\"false\"");
        assert!(node.order == 0 && node.displayed == Some(true) && !node.flags.enabled);
    }
}

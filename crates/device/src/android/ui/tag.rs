//! A tag's attributes: the scanner, and how a node is read from them.
//!
//! A dump has some twenty attributes a node, most of them `false`: they are scanned here and not by the XML crate
//! because that is where a dump's time goes, and because what is broken is to cost one attribute, not the node.

use quick_xml::escape::unescape;

use super::fault::Kind;
use crate::{Node, Rect};

/// Gives each attribute, name and raw value; and how many could not be read. What is broken is passed over up to the
/// next blank.
pub(super) fn attributes<'t>(raw: &'t str, mut each: impl FnMut(&'t str, &'t str)) -> usize {
    let bytes = raw.as_bytes();
    let mut broken = 0;
    let mut at = 0;
    loop {
        at += blanks(&bytes[at..]);
        let rest = &bytes[at..];
        if rest.is_empty() || rest == b"/" || rest == b">" || rest == b"/>" {
            return broken;
        }
        let name = rest.iter().position(|&byte| !is_name(byte)).unwrap_or(rest.len());
        match value(&rest[name..]) {
            Some((from, to)) if name > 0 => {
                each(&raw[at..at + name], &raw[at + name + from..at + name + to]);
                at += name + to + 1;
            }
            _ => {
                broken += 1;
                let skipped = rest.iter().position(u8::is_ascii_whitespace);
                at += skipped.unwrap_or(rest.len());
            }
        }
    }
}

/// Where the value lies in `="value"`, its quotes not counted.
fn value(bytes: &[u8]) -> Option<(usize, usize)> {
    let equals = blanks(bytes);
    let after = bytes.get(equals + 1..).filter(|_| bytes[equals] == b'=')?;
    let open = equals + 1 + blanks(after);
    let quote = *bytes.get(open).filter(|&&byte| byte == b'"' || byte == b'\'')?;
    let length = bytes[open + 1..].iter().position(|&byte| byte == quote)?;
    Some((open + 1, open + 1 + length))
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len())
}

fn is_name(byte: u8) -> bool {
    NAMES[usize::from(byte)]
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

/// Reads the attributes of a node into it, and tells what could not be read. Gives the display that it names.
pub(super) fn read_node<'t>(
    raw: &'t str,
    node: &mut Node,
    mut fault: impl FnMut(Kind),
) -> Option<&'t str> {
    node.flags.enabled = true;
    let mut display = None;
    let mut seen = 0u32;
    let broken = attributes(raw, |name, value| {
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
    for _ in 0..broken {
        fault(Kind::Attribute);
    }
    display
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
        read_node(raw, &mut node, |kind| faults.push(kind));
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

//! Parses the attributes of a node in a dump.
//!
//! Each node has about twenty, most of them `false`; the scanner in [`crate::markup`] visits each
//! one once.

use bytestring::ByteString;

use crate::markup::{ParseWarningKind, Tag, attributes, read_text, set};
use crate::{Node, Rect};

/// Reads the attributes at this offset of the text into a node and reports what could not be read.
/// Returns how the tag ended and the display it names.
pub(crate) fn read_node<'t>(
    text: &'t ByteString,
    from: usize,
    node: &mut Node,
    fault: &mut dyn FnMut(ParseWarningKind),
) -> (Tag, Option<&'t str>) {
    node.flags.enabled = true;
    let mut display = None;
    let mut seen = 0u32;
    let tag = attributes(text, from, |name, value| {
        let mut text = || read_text(text, value, fault);
        let yes = value == "true";
        let flags = &mut node.flags;
        // The first of two counts; XML forbids duplicates.
        let mut first = |bit: u32| {
            let new = seen & (1 << bit) == 0;
            seen |= 1 << bit;
            new
        };
        let new = match name {
            "text" => first(0) && set(&mut node.text, text()),
            "class" => first(1) && (value.is_empty() || set(&mut node.class, text())),
            "package" => first(2) && set(&mut node.package, text()),
            "resource-id" => first(3) && set(&mut node.id, text()),
            "content-desc" => first(4) && set(&mut node.description, text()),
            "hint" => first(19) && set(&mut node.hint, text()),
            "bounds" => {
                first(5) && {
                    let bounds = read_bounds(value);
                    if bounds.is_none() {
                        fault(ParseWarningKind::InvalidBounds);
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
            // `AccessibilityNodeInfo.getDrawingOrder`, in dumps since Android 14: starts at 1; 0
            // means unknown.
            "drawing-order" => first(16) && set(&mut node.order, value.parse().unwrap_or(0)),
            // `isVisibleToUser`, under the names used by the UiAutomator2 server and by some
            // vendors.
            "displayed" | "visible-to-user" => {
                first(17) && set(&mut node.displayed, Some(value != "false"))
            }
            "display-id" => first(18) && set(&mut display, Some(value)),
            _ => true,
        };
        if !new {
            fault(ParseWarningKind::DuplicateAttribute);
        }
    });
    tag.note_broken(fault);
    (tag, display)
}

/// Parses `[left,top][right,bottom]`; the numbers may be negative.
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
    use crate::markup::TagEnd;

    fn read(raw: &str) -> (Node, Vec<ParseWarningKind>) {
        let (mut node, mut faults) = (Node::default(), Vec::new());
        let tag = ByteString::from(format!("{raw}/>"));
        let (tag, _) = read_node(&tag, 0, &mut node, &mut |kind| faults.push(kind));
        assert_eq!((tag.next, tag.end), (raw.len() + 2, TagEnd::Closed), "{raw}");
        (node, faults)
    }

    #[test]
    fn broken_attribute_costs_only_itself() {
        let check = |raw: &str, text: &str, faults: &[ParseWarningKind]| {
            let (node, found) = read(&format!("{raw} class=\"a.B\""));
            assert_eq!((&*node.text, found.as_slice()), (text, faults), "{raw}");
            assert_eq!(node.class, "a.B", "{raw}");
        };
        check("text=\"a\"", "a", &[]);
        check("\r\n\ttext = 'a \"b\"'", "a \"b\"", &[]);
        check("text=\"say \"hi\" now\"", "say ", &[ParseWarningKind::InvalidAttribute; 2]);
        check("text=bare index=\"0\"", "", &[ParseWarningKind::InvalidAttribute]);
        check("text", "", &[ParseWarningKind::InvalidAttribute]);
        check("=\"x\" text=\"a\"", "a", &[ParseWarningKind::InvalidAttribute]);
        check("text=\"a\" text=\"b\"", "a", &[ParseWarningKind::DuplicateAttribute]);
        check("text=\"a &nope; b\"", "a &nope; b", &[ParseWarningKind::UnknownEntity]);
        check("text=\"a\u{1}b\"", "a\u{1}b", &[ParseWarningKind::InvalidCharacter]);
    }

    #[test]
    fn invalid_bounds_are_none() {
        let rect = |left, top, right, bottom| Some(Rect { left, top, right, bottom });
        assert_eq!(read_bounds("[0,-5][10,20]"), rect(0, -5, 10, 20));
        for invalid in ["", "[0,0]", "[0,0][1,1]x", "[a,0][1,1]", "[0,0][99999999999,1]", "0,0,1,1"]
        {
            assert_eq!(read_bounds(invalid), None, "{invalid}");
            assert_eq!(
                read(&format!("bounds=\"{invalid}\"")).1,
                [ParseWarningKind::InvalidBounds],
                "{invalid}"
            );
        }
    }

    #[test]
    fn drawing_order_and_visibility_are_kept() {
        let (node, _) = read("drawing-order=\"3\" displayed=\"false\"");
        assert!(node.order == 3 && node.displayed == Some(false) && node.flags.enabled);
        let (node, _) = read("drawing-order=\"-1\" visible-to-user=\"true\" enabled=\"false\"");
        assert!(node.order == 0 && node.displayed == Some(true) && !node.flags.enabled);
    }
}

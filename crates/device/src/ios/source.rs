//! Reads the page source of WebDriverAgent, with or without the element `AppiumAUT` around it.
//!
//! An element's name is its type. Its attributes are those that WebDriverAgent's `FBXPath` writes.
//! The meaning of `value` depends on the type (`wdValue`): a switch's `1` or `0`, `1` for a
//! selected button, the placeholder of an empty field. `markup` handles nesting. Saved files are
//! read as far as they go (`saved_tree`); the source of a live phone must be complete
//! (`read_live`).
//!
//! A page source does not say what accepts taps, gets the focus or scrolls; we infer it from the
//! type. Positions and sizes are in points, not screenshot pixels, and a page source does not
//! contain the scale factor.

use bytestring::ByteString;

use crate::markup::{
    ParseWarningKind, Tag, TagEnd, TreeLocation, attributes, name, read_text, set,
};
use crate::{Flags, Node, Rect};

const TYPE: &str = "XCUIElementType";

/// Range of the tree in the text, and whether the tree is complete. There may be other text before
/// and after it.
pub(crate) fn locate(text: &str) -> Option<TreeLocation> {
    let start = second_tree(text)?;
    let from = start + 1 + name(&text.as_bytes()[start + 1..]);
    let end = format!("</{}>", &text[start + 1..from]);
    if let Some(at) = text[from..].rfind(&end) {
        return Some((start..from + at + end.len(), true));
    }
    let tag = attributes(text, from, |_, _| {});
    Some(match tag.end {
        TagEnd::Closed => (start..tag.next, true),
        _ => (start..text.len(), false),
    })
}

/// Reads a page source from a live phone, which must be complete.
///
/// # Errors
/// What is wrong with it.
#[cfg(feature = "ios")]
pub(crate) fn read_live(xml: String) -> Result<crate::Tree, String> {
    let text = ByteString::from(xml);
    let Some((part, true)) = locate(&text) else {
        return Err(format!(
            "the page source is not a complete tree: {}",
            crate::error::excerpt(&*text)
        ));
    };
    let mut faults = crate::markup::ParseWarnings::of(&text);
    let tree = crate::markup::read(&text, part, read_node, &mut faults);
    // A broken tag loses one element, which is better than none.
    let faults = faults.take();
    let is_broken = faults.iter().any(|fault| fault.kind == ParseWarningKind::InvalidTag);
    for fault in faults {
        let follows = matches!(
            fault.kind,
            ParseWarningKind::InvalidTag | ParseWarningKind::Unclosed | ParseWarningKind::StrayEnd
        );
        if fault.kind.loses_nodes() && !(is_broken && follows) {
            return Err(fault.to_string());
        }
        tracing::warn!("problem in the page source: {fault}");
    }
    Ok(tree)
}

/// Offset at which a tree, or what is left of one, begins.
pub(crate) fn second_tree(text: &str) -> Option<usize> {
    let wrapped = text.find("<AppiumAUT");
    let bare = text[..wrapped.unwrap_or(text.len())].find("<XCUIElementType");
    bare.or(wrapped)
}

/// Reads the attributes at this offset of the text into a node whose class is the tag name, and
/// reports what could not be read.
pub(crate) fn read_node<'t>(
    text: &'t ByteString,
    from: usize,
    node: &mut Node,
    fault: &mut dyn FnMut(ParseWarningKind),
) -> (Tag, Option<&'t str>) {
    let mut output = ElementAttributes { enabled: true, ..ElementAttributes::default() };
    let mut seen = 0u32;
    let tag = attributes(text, from, |name, value| {
        let mut text = || read_text(text, value, fault);
        // The first of two counts; XML forbids duplicates.
        let mut first = |bit: u32| {
            let new = seen & (1 << bit) == 0;
            seen |= 1 << bit;
            new
        };
        let new = match name {
            "type" => first(0) && (value.is_empty() || set(&mut node.class, text())),
            "name" => first(1) && set(&mut node.id, text()),
            "label" => first(2) && set(&mut node.description, text()),
            "value" => first(3) && set(&mut output.value, text()),
            "placeholderValue" => first(4) && set(&mut node.hint, text()),
            "bundleId" => first(5) && set(&mut node.package, text()),
            "enabled" => first(6) && set(&mut output.enabled, value == "true"),
            "focused" => first(7) && set(&mut output.focused, value == "true"),
            "visible" => first(8) && set(&mut node.displayed, Some(value != "false")),
            "x" => first(9) && set(&mut output.frame[0], Some(value)),
            "y" => first(10) && set(&mut output.frame[1], Some(value)),
            "width" => first(11) && set(&mut output.frame[2], Some(value)),
            "height" => first(12) && set(&mut output.frame[3], Some(value)),
            "traits" => first(13) && set(&mut output.traits, value),
            _ => true,
        };
        if !new {
            fault(ParseWarningKind::DuplicateAttribute);
        }
    });
    tag.note_broken(fault);
    let cut = matches!(tag.end, TagEnd::Unreadable { .. } | TagEnd::Truncated);
    match read_frame(output.frame) {
        Some(bounds) => node.bounds = bounds,
        // A broken tag is already reported.
        None if output.frame == [None; 4] || cut => {}
        None => fault(ParseWarningKind::InvalidBounds),
    }
    let kind = node.class.strip_prefix(TYPE).unwrap_or(&node.class);
    node.flags = flags(kind, &output);
    node.text = shown(kind, output.value, &node.description);
    (tag, None)
}

/// The attributes whose meaning depends on the element's type.
#[derive(Default)]
struct ElementAttributes<'t> {
    value: ByteString,
    enabled: bool,
    focused: bool,
    /// Left, top, width and height.
    frame: [Option<&'t str>; 4],
    /// UIKit's accessibility traits, which newer sources list: `Button, Selected`.
    traits: &'t str,
}

impl ElementAttributes<'_> {
    fn has_trait(&self, name: &str) -> bool {
        self.traits.split(',').any(|one| one.trim() == name)
    }
}

/// The rectangle in points. WebDriverAgent writes integers (`CGRectIntegral`); fractions are
/// rounded.
fn read_frame(frame: [Option<&str>; 4]) -> Option<Rect> {
    let number = |text: Option<&str>| {
        let number = text?.trim().parse::<f64>().ok()?.round();
        let fits = number >= f64::from(i32::MIN) && number <= f64::from(i32::MAX);
        fits.then_some(number as i32)
    };
    let [left, top] = [number(frame[0])?, number(frame[1])?];
    let right = left.checked_add(number(frame[2])?)?;
    let bottom = top.checked_add(number(frame[3])?)?;
    Some(Rect { left, top, right, bottom })
}

/// State and supported actions: inferred from the type unless the element reports them.
fn flags(kind: &str, attributes: &ElementAttributes<'_>) -> Flags {
    let field = is_field(kind);
    let checkable = matches!(kind, "Switch" | "Toggle" | "CheckBox" | "RadioButton")
        || attributes.has_trait("ToggleButton");
    let on = matches!(&*attributes.value, "1" | "true");
    let clickable = matches!(
        kind,
        "Button" | "Cell" | "Icon" | "Key" | "Link" | "MenuButton" | "MenuItem" | "PopUpButton"
    );
    Flags {
        clickable: clickable
            || checkable
            || field
            || matches!(kind, "Slider" | "Tab")
            || ["Button", "Link", "KeyboardKey"].iter().any(|name| attributes.has_trait(name)),
        checkable,
        checked: checkable && on,
        enabled: attributes.enabled && !attributes.has_trait("NotEnabled"),
        focusable: field,
        focused: attributes.focused,
        scrollable: matches!(
            kind,
            "CollectionView" | "PickerWheel" | "ScrollView" | "Table" | "WebView"
        ),
        password: kind == "SecureTextField",
        selected: kind == "Button" && on || attributes.has_trait("Selected"),
        long_clickable: false,
    }
}

/// The text a person sees on an element of this type. A cell's value is often that of its switch,
/// and a field's label is not its content.
fn shown(kind: &str, value: ByteString, label: &ByteString) -> ByteString {
    match kind {
        _ if is_field(kind) => value,
        "StaticText" | "PickerWheel" | "Slider" if !value.is_empty() => value,
        "StaticText" | "Button" | "Cell" | "Key" | "Link" | "MenuButton" | "MenuItem"
        | "PopUpButton" | "Switch" | "Tab" | "Toggle" => label.clone(),
        _ => ByteString::new(),
    }
}

/// Whether it is a text field.
fn is_field(kind: &str) -> bool {
    matches!(kind, "TextField" | "SecureTextField" | "SearchField" | "TextView")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::saved_tree::{SavedTree, read_saved};
    use crate::text_field;

    fn read(xml: &str) -> SavedTree {
        read_saved(xml.as_bytes()).unwrap()
    }

    /// An element of a type with these attributes.
    fn element(kind: &str, raw: &str) -> (Node, Vec<ParseWarningKind>) {
        let SavedTree { mut tree, faults } = read(&format!("<{TYPE}{kind} {raw}/>"));
        (tree.nodes.remove(0), faults.into_iter().map(|fault| fault.kind).collect())
    }

    #[test]
    fn traits_tell_what_the_type_does_not() {
        let flags = |kind: &str, raw: &str| element(kind, raw).0.flags;
        assert!(flags("Button", "traits=\"Button, Selected\"").selected);
        assert!(!flags("Button", "traits=\"Button\"").selected);
        assert!(flags("Other", "traits=\"Link\"").clickable);
        assert!(!flags("Other", "traits=\"StaticText\"").clickable);
        assert!(!flags("Button", "enabled=\"true\" traits=\"Button, NotEnabled\"").enabled);
        let toggle = flags("Other", "value=\"1\" traits=\"ToggleButton\"");
        assert!(toggle.checkable && toggle.checked);
    }

    #[test]
    #[cfg(feature = "ios")]
    fn broken_tag_of_a_live_source_loses_one_element() {
        let source = "<XCUIElementTypeApplication name=\"A\"><XCUIElementTypeButton name=\"a<b\" x=\"1\"/>\
                      <XCUIElementTypeButton name=\"c\"/></XCUIElementTypeApplication>";
        let tree = read_live(source.into()).unwrap();
        let names: Vec<&str> = tree.nodes.iter().map(|node| &*node.id).collect();
        assert!(names.starts_with(&["A"]) && names.ends_with(&["c"]), "{names:?}");
    }

    #[test]
    fn type_and_attributes_make_a_node() {
        let SavedTree { tree, faults } = read(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<AppiumAUT>\n\
             <XCUIElementTypeApplication type=\"XCUIElementTypeApplication\" name=\"A\" label=\"A\" enabled=\"true\" \
             visible=\"true\" accessible=\"false\" x=\"0\" y=\"0\" width=\"390\" height=\"844\" index=\"0\">\n\
             <XCUIElementTypeButton type=\"XCUIElementTypeButton\" name=\"save-id\" label=\"Save &amp; go\" \
             enabled=\"false\" visible=\"false\" x=\"-5\" y=\"20\" width=\"100\" height=\"44\">\n\
             </XCUIElementTypeButton><XCUIElementTypeOther/></XCUIElementTypeApplication>\n</AppiumAUT>\n",
        );
        assert_eq!(faults, []);
        let places: Vec<_> =
            tree.nodes.iter().map(|node| (node.parent, node.index, node.depth)).collect();
        assert_eq!(places, [(None, 0, 0), (Some(0), 0, 1), (Some(0), 1, 1)]);
        assert!(tree.nodes[0].flags.enabled && tree.nodes[0].displayed == Some(true));
        let button = &tree.nodes[1];
        assert_eq!((&*button.class, &*button.id), ("XCUIElementTypeButton", "save-id"));
        assert_eq!((&*button.text, &*button.description), ("Save & go", "Save & go"));
        assert_eq!(button.bounds, Rect { left: -5, top: 20, right: 95, bottom: 64 });
        assert!(button.flags.clickable && !button.flags.enabled);
        assert_eq!(button.displayed, Some(false));
        assert_eq!(
            (&*tree.nodes[2].class, tree.nodes[2].displayed),
            ("XCUIElementTypeOther", None)
        );
    }

    #[test]
    fn value_meaning_depends_on_the_type() {
        let text = |kind: &str, raw: &str| element(kind, raw).0.text;
        assert_eq!(text("StaticText", "label=\"a\" value=\"b\""), "b");
        assert_eq!(text("StaticText", "label=\"a\""), "a");
        assert_eq!(text("Cell", "label=\"Spelling\" value=\"1\""), "Spelling");
        assert_eq!(text("TextField", "label=\"Mail\" value=\"a@b\""), "a@b");
        assert_eq!(text("TextField", "label=\"Mail\""), "");
        assert_eq!(text("Slider", "label=\"Volume\" value=\"50%\""), "50%");
        assert_eq!(text("Window", "label=\"a\" value=\"b\""), "");
        for (value, checked) in [("1", true), ("0", false)] {
            let (switch, _) = element("Switch", &format!("label=\"Wi-Fi\" value=\"{value}\""));
            assert!(switch.flags.checkable && switch.flags.clickable && switch.text == "Wi-Fi");
            assert_eq!(switch.flags.checked, checked);
            let (button, _) = element("Button", &format!("label=\"Home\" value=\"{value}\""));
            assert_eq!((button.flags.selected, &*button.text), (checked, "Home"));
        }
    }

    #[test]
    fn empty_text_field_shows_its_placeholder() {
        for kind in ["TextField", "SecureTextField", "SearchField", "TextView"] {
            let (node, _) = element(kind, "value=\"Name\" placeholderValue=\"Name\"");
            assert!(node.flags.clickable && node.flags.focusable, "{kind}");
            assert!(
                text_field::is_text_field(&node) && text_field::is_showing_hint(&node),
                "{kind}"
            );
            assert_eq!(node.flags.password, kind == "SecureTextField");
        }
        assert!(!text_field::is_text_field(&element("StaticText", "").0));
    }

    #[test]
    fn invalid_position_is_reported() {
        let check = |raw: &str, bounds: [i32; 4], faults: &[ParseWarningKind]| {
            let [left, top, right, bottom] = bounds;
            let (node, found) = element("Other", raw);
            assert_eq!(node.bounds, Rect { left, top, right, bottom }, "{raw}");
            assert_eq!(found, faults, "{raw}");
        };
        check("x=\"1\" y=\"2\" width=\"3\" height=\"4\"", [1, 2, 4, 6], &[]);
        check("x=\"1.4\" y=\"-2.6\" width=\"3\" height=\"4\"", [1, -3, 4, 1], &[]);
        check("", [0; 4], &[]);
        for invalid in ["", "a", "inf", "NaN", "1e300", "2147483647"] {
            let raw = format!("x=\"1\" y=\"2\" width=\"{invalid}\" height=\"4\"");
            check(&raw, [0; 4], &[ParseWarningKind::InvalidBounds]);
        }
        check("x=\"1\" y=\"2\" width=\"3\"", [0; 4], &[ParseWarningKind::InvalidBounds]);
    }

    #[test]
    fn broken_source_yields_nodes_and_warnings() {
        let check = |xml: &str, classes: &str, warnings: &[(ParseWarningKind, usize)]| {
            let SavedTree { tree, faults } = read(&xml.replace('@', TYPE));
            let found: Vec<_> =
                tree.nodes.iter().map(|node| format!("{}{}", node.depth, node.class)).collect();
            assert_eq!(found.join(" ").replace(TYPE, ""), classes, "{xml}");
            let found: Vec<_> = faults.iter().map(|fault| (fault.kind, fault.count)).collect();
            assert_eq!(found, warnings, "{xml}");
        };
        let tree = "<@Window><@Button label=\"a\"/></@Window>";
        check(tree, "0Window 1Button", &[]);
        check(&format!("<AppiumAUT>{tree}</AppiumAUT>"), "0Window 1Button", &[]);
        check("<AppiumAUT/>", "", &[]);
        check(
            &format!("log: {tree} x"),
            "0Window 1Button",
            &[(ParseWarningKind::LeadingText, 4), (ParseWarningKind::TrailingText, 1)],
        );
        check(
            "<AppiumAUT><@Window><@Button/><@Butt",
            "0Window 1Button",
            &[(ParseWarningKind::InvalidTag, 1), (ParseWarningKind::Truncated, 2)],
        );
        check("<@Window><@Button>", "0Window 1Button", &[(ParseWarningKind::Truncated, 2)]);
        check(
            "<@Window><@Button></@Window>",
            "0Window 1Button",
            &[(ParseWarningKind::Unclosed, 1)],
        );
        check(
            "<AppiumAUT><@Window></AppiumAUT><AppiumAUT><@Key/></AppiumAUT>",
            "0Window",
            &[(ParseWarningKind::Unclosed, 1), (ParseWarningKind::SecondTree, 1)],
        );
        check(
            "<@Window/></@Window><@Window",
            "0Window",
            &[(ParseWarningKind::StrayEnd, 1), (ParseWarningKind::SecondTree, 1)],
        );
        check(
            "<@Key label=\"a\" label=\"b\" x=1/>",
            "0Key",
            &[(ParseWarningKind::DuplicateAttribute, 1), (ParseWarningKind::InvalidAttribute, 1)],
        );
    }

    proptest! {
        #[test]
        fn no_input_panics(middle in proptest::collection::vec(any::<u8>(), 0..300)) {
            for (before, behind) in [("<AppiumAUT><", "/></AppiumAUT>"), ("<XCUIElementType", ">")] {
                let mut output = before.as_bytes().to_vec();
                output.extend(&middle);
                let _ = read_saved(&output);
                output.extend(behind.as_bytes());
                let _ = read_saved(&output);
            }
        }
    }
}

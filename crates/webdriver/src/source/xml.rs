//! Reads XCUITest's XML, as WebDriverAgent (FBXPath.m) and Appium have written it since 2016.

use super::xml_tree::{TreeNode, read_tree};
use super::{SourceError, SourceNode, TYPE_PREFIX, flag, short_type, split_traits, unwrap_root};
use crate::values::Rect;

/// Reads an XML source, with or without an element such as `AppiumAUT` around it. If that has several children, it is the
/// root.
///
/// # Errors
/// The text is not XML, has a document type, or exceeds [`MAX_DEPTH`](super::MAX_DEPTH) or
/// [`MAX_NODES`](super::MAX_NODES).
pub fn parse_xml_source(text: &str) -> Result<SourceNode, SourceError> {
    let root: OpenNode = read_tree(text)?;
    let root = unwrap_root(root.close(), |node| !is_element(node));
    if is_element(&root) || !root.children.is_empty() {
        return Ok(root);
    }
    let problem = format!("there is no {TYPE_PREFIX} element");
    Err(SourceError { offset: 0, problem })
}

/// Whether it was an element of XCTest: others have no type.
fn is_element(node: &SourceNode) -> bool {
    !node.element_type.is_empty()
}

/// A node whose rectangle is not complete.
struct OpenNode {
    node: SourceNode,
    edges: [Option<f64>; 4],
}

impl OpenNode {
    fn close(self) -> SourceNode {
        let rect = match self.edges {
            [Some(x), Some(y), Some(width), Some(height)] => Some(Rect { x, y, width, height }),
            _ => None,
        };
        SourceNode { rect, ..self.node }
    }
}

impl TreeNode for OpenNode {
    fn open(name: &str) -> Self {
        let is_element = name.starts_with(TYPE_PREFIX);
        let element_type = if is_element { short_type(name).to_owned() } else { String::new() };
        Self { node: SourceNode { element_type, ..SourceNode::default() }, edges: [None; 4] }
    }

    fn attribute(&mut self, name: &str, value: String) {
        let node = &mut self.node;
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        match name {
            // The element's name says it.
            "type" => {}
            "name" => node.name = Some(value),
            "label" => node.label = Some(value),
            "value" => node.value = Some(value),
            "placeholderValue" => node.placeholder = Some(value),
            "traits" => node.traits = split_traits(&value),
            "enabled" => node.enabled = flag(&value),
            "visible" => node.visible = flag(&value),
            "accessible" => node.accessible = flag(&value),
            "focused" => node.focused = flag(&value),
            "hittable" => node.hittable = flag(&value),
            "x" => self.edges[0] = number(&value),
            "y" => self.edges[1] = number(&value),
            "width" => self.edges[2] = number(&value),
            "height" => self.edges[3] = number(&value),
            // The order says it.
            "index" => {}
            "bundleId" => node.bundle_id = Some(value),
            "processId" => node.process_id = value.parse().ok(),
            _ => node.other.push((name.to_owned(), value)),
        }
    }

    fn push(&mut self, child: Self) {
        self.node.children.push(child.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MAX_DEPTH, MAX_NODES};

    fn nested(depth: usize) -> String {
        let (open, close) = ("<XCUIElementTypeOther>", "</XCUIElementTypeOther>");
        open.repeat(depth) + &close.repeat(depth)
    }

    #[test]
    fn attributes_become_fields() {
        let xml = r#"<?xml version="1.0" encoding="UTF-8"?>
            <AppiumAUT><XCUIElementTypeApplication type="XCUIElementTypeApplication" name="A &amp; B&#10;" label=""
              enabled="true" visible="false" accessible="maybe" x="-1.5" y="0" width="390" height="844" index="0"
              traits="Button, Selected" processId="77" bundleId="a.b" minValue="0">text
              <XCUIElementTypeButton x="1" y="2" width="3"/></XCUIElementTypeApplication></AppiumAUT>"#;
        let button = SourceNode { element_type: "Button".into(), ..SourceNode::default() };
        let expected = SourceNode {
            element_type: "Application".into(),
            name: Some("A & B\n".into()),
            label: Some(String::new()),
            enabled: Some(true),
            visible: Some(false),
            rect: Some(Rect { x: -1.5, y: 0.0, width: 390.0, height: 844.0 }),
            traits: vec!["Button".into(), "Selected".into()],
            process_id: Some(77),
            bundle_id: Some("a.b".into()),
            other: vec![("minValue".into(), "0".into())],
            children: vec![button],
            ..SourceNode::default()
        };
        assert_eq!(parse_xml_source(xml), Ok(expected));
    }

    #[test]
    fn several_roots_stay_together() {
        let one = "<XCUIElementTypeAlert/>";
        assert_eq!(
            parse_xml_source(&format!("<AppiumAUT>{one}</AppiumAUT>")),
            parse_xml_source(one)
        );
        let two = parse_xml_source(&format!("<AppiumAUT>{one}{one}</AppiumAUT>")).unwrap();
        assert_eq!((two.element_type.as_str(), two.children.len()), ("", 2));
    }

    #[test]
    fn unknown_reference_stays_as_it_is() {
        let node = parse_xml_source(r#"<XCUIElementTypeButton name="&nbsp;&amp;"/>"#).unwrap();
        assert_eq!(node.name.as_deref(), Some("&nbsp;&amp;"));
    }

    #[test]
    fn what_is_no_source_is_refused() {
        let refused = |text: &str, problem: &str| {
            let error = parse_xml_source(text).unwrap_err();
            assert!(error.problem.contains(problem), "{error}");
        };
        refused("", "there is no element");
        refused("<AppiumAUT/>", "there is no XCUIElementType element");
        refused("<XCUIElementTypeOther>", "it ends inside an element");
        refused("<XCUIElementTypeOther></a>", "expected");
        refused("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "a document type is not supported");
        let attributes: String = (0..65).map(|n| format!(" a{n}='1'")).collect();
        refused(&format!("<XCUIElementTypeOther{attributes}/>"), "more than 64 attributes");
    }

    #[test]
    fn deep_and_large_sources_are_refused() {
        assert!(parse_xml_source(&nested(MAX_DEPTH)).is_ok());
        for depth in [MAX_DEPTH + 1, 10_000, 1_000_000] {
            assert!(
                parse_xml_source(&nested(depth))
                    .unwrap_err()
                    .problem
                    .contains("more than 256 deep")
            );
        }
        let many = format!("<a>{}</a>", "<b/>".repeat(MAX_NODES));
        assert!(parse_xml_source(&many).unwrap_err().problem.contains("more than 50000 elements"));
    }
}

//! Reads XCUITest's XML, as WebDriverAgent (FBXPath.m) and Appium have written it since 2016: a
//! second reader beside the product's, to check what the virtual iPhone writes.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use thumbwire_virtual_ios::source::{MAX_DEPTH, SourceNode, SourceOptions, write_xml_source};
use thumbwire_webdriver::Rect;

const TYPE_PREFIX: &str = "XCUIElementType";
/// Limit on the attributes of one element.
const MAX_ATTRIBUTES: usize = 64;
/// Limit on the number of elements: some 20 MB of nodes.
const MAX_NODES: usize = 50_000;

/// Why a source cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceError {
    /// Where the problem is.
    offset: usize,
    /// What it is.
    pub(crate) problem: String,
}

/// The type without `XCUIElementType`.
fn short_type(name: &str) -> &str {
    name.strip_prefix(TYPE_PREFIX).unwrap_or(name)
}

/// Reads `true`, `false`, `1` or `0`.
fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Splits what WebDriverAgent joins with `, `.
fn split_traits(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Removes what is only around the tree: elements without a type of their own and with one child.
fn unwrap_root(mut root: SourceNode) -> SourceNode {
    while !is_element(&root) && root.children.len() == 1 {
        root = root.children.swap_remove(0);
    }
    root
}

/// Reads an XML source, with or without an element such as `AppiumAUT` around it. If that has
/// several children, it is the root.
///
/// # Errors
/// The text is not XML, has a document type, or exceeds [`MAX_DEPTH`] or [`MAX_NODES`].
pub(crate) fn parse_xml_source(text: &str) -> Result<SourceNode, SourceError> {
    let root = read_tree(text)?;
    let root = unwrap_root(root.close());
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

impl OpenNode {
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

/// Reads the single root element of a text. What is not an element or attribute is ignored; a
/// reference that XML does not define stays as it is written.
fn read_tree(text: &str) -> Result<OpenNode, SourceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    let mut open: Vec<OpenNode> = Vec::new();
    let mut count = 0;
    loop {
        let offset = position(reader.buffer_position());
        let fail = |problem: String| Err(SourceError { offset, problem });
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => return fail(thumbwire_base::truncate(&error.to_string(), 200)),
        };
        let done = match event {
            Event::Start(tag) | Event::Empty(tag) if open.len() >= MAX_DEPTH => {
                let name = thumbwire_base::truncate(tag.name().as_ref(), 40);
                return fail(format!("<{name}> is nested more than {MAX_DEPTH} deep"));
            }
            Event::Start(tag) => {
                open.push(node(&tag, offset)?);
                count += 1;
                None
            }
            Event::Empty(tag) => {
                count += 1;
                Some(node(&tag, offset)?)
            }
            Event::End(_) => open.pop(),
            // Entities could be declared there.
            Event::DocType(_) => return fail("a document type is not supported".into()),
            Event::Eof => {
                let problem = if open.is_empty() {
                    "there is no element"
                } else {
                    "it ends inside an element"
                };
                return fail(problem.into());
            }
            _ => None,
        };
        if count > MAX_NODES {
            return fail(format!("there are more than {MAX_NODES} elements"));
        }
        if let Some(done) = done {
            match open.last_mut() {
                Some(around) => around.push(done),
                None => return Ok(done),
            }
        }
    }
}

fn node(tag: &BytesStart<'_>, offset: usize) -> Result<OpenNode, SourceError> {
    let mut node = OpenNode::open(tag.name().as_ref());
    for (at, attribute) in tag.attributes().with_checks(false).enumerate() {
        let attribute =
            attribute.map_err(|error| SourceError { offset, problem: error.to_string() })?;
        if at >= MAX_ATTRIBUTES {
            let problem = format!("an element has more than {MAX_ATTRIBUTES} attributes");
            return Err(SourceError { offset, problem });
        }
        let value = match attribute.normalized_value(XmlVersion::Implicit1_0) {
            Ok(value) => value.into_owned(),
            Err(_) => attribute.value.clone().into_owned(),
        };
        node.attribute(attribute.key.as_ref(), value);
    }
    Ok(node)
}

fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

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
    assert_eq!(parse_xml_source(&format!("<AppiumAUT>{one}</AppiumAUT>")), parse_xml_source(one));
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
        assert!(error.problem.contains(problem), "{error:?}");
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
            parse_xml_source(&nested(depth)).unwrap_err().problem.contains("more than 256 deep")
        );
    }
    let many = format!("<a>{}</a>", "<b/>".repeat(MAX_NODES));
    assert!(parse_xml_source(&many).unwrap_err().problem.contains("more than 50000 elements"));
}

#[test]
fn special_characters_survive_and_forbidden_ones_are_left_out() {
    let label = "a<b>&\"'\n\r\té👍\u{0}\u{1}\u{ffff}";
    let node = SourceNode {
        element_type: "Button".into(),
        label: Some(label.into()),
        ..SourceNode::default()
    };
    let read = parse_xml_source(&write_xml_source(&node, &SourceOptions::default())).unwrap();
    assert_eq!(read.label.as_deref(), Some("a<b>&\"'\n\r\té👍"));
}

#[test]
fn names_cannot_break_out() {
    let node = SourceNode {
        element_type: "Button x='1'".into(),
        other: vec![("a b".into(), "1".into()), ("ok".into(), "2".into())],
        ..SourceNode::default()
    };
    let options = SourceOptions { scope: Some("a><b".into()), ..SourceOptions::default() };
    let text = write_xml_source(&node, &options);
    assert!(
        text.ends_with(
            "?>\n<XCUIElementTypeOther type=\"XCUIElementTypeOther\" index=\"0\" ok=\"2\"/>\n"
        ),
        "{text}"
    );
}

#[test]
fn deep_tree_is_cut() {
    let mut root = SourceNode { element_type: "Other".into(), ..SourceNode::default() };
    for _ in 0..MAX_DEPTH + 10 {
        root = SourceNode {
            element_type: "Other".into(),
            children: vec![root],
            ..SourceNode::default()
        };
    }
    for scope in [None, Some("AppiumAUT".to_owned())] {
        let options = SourceOptions { scope, ..SourceOptions::default() };
        assert!(parse_xml_source(&write_xml_source(&root, &options)).is_ok());
    }
}

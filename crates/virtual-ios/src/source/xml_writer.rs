//! Writes XCUITest's XML as WebDriverAgent does (FBXPath.m): its order of attributes, indented by
//! libxml2.

use std::fmt::Write as _;

use super::{MAX_DEPTH, SourceNode, SourceOptions, TYPE_PREFIX, has_placeholder};

/// Writes an XML source. Elements below [`MAX_DEPTH`] are left out.
pub fn write_xml_source(root: &SourceNode, options: &SourceOptions) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    match options.scope.as_deref().filter(|scope| is_name(scope)) {
        None => write(&mut text, root, 0, 0, options),
        Some(scope) => {
            _ = writeln!(text, "<{scope}>");
            write(&mut text, root, 0, 1, options);
            _ = writeln!(text, "</{scope}>");
        }
    }
    text
}

fn write(
    text: &mut String,
    node: &SourceNode,
    index: usize,
    depth: usize,
    options: &SourceOptions,
) {
    let element_type = match node.element_type.as_str() {
        name if is_name(name) => name,
        _ => "Other",
    };
    let indent = "  ".repeat(depth);
    _ = write!(text, "{indent}<{TYPE_PREFIX}{element_type}");
    let mut attribute = |name: &str, value: &str| {
        if options.includes(name) && is_name(name) {
            _ = write!(text, " {name}=\"{}\"", escape(value));
        }
    };
    attribute("type", &format!("{TYPE_PREFIX}{element_type}"));
    for (name, value) in [("value", &node.value), ("name", &node.name), ("label", &node.label)] {
        if let Some(value) = value {
            attribute(name, value);
        }
    }
    let flags = [
        ("enabled", node.enabled),
        ("visible", node.visible),
        ("accessible", node.accessible),
        ("focused", node.focused),
    ];
    for (name, value) in flags {
        if let Some(value) = value {
            attribute(name, if value { "true" } else { "false" });
        }
    }
    if let Some(rect) = node.rect {
        for (name, value) in
            [("x", rect.x), ("y", rect.y), ("width", rect.width), ("height", rect.height)]
        {
            attribute(name, &if value.is_finite() { value } else { 0.0 }.to_string());
        }
    }
    attribute("index", &index.to_string());
    if let Some(hittable) = node.hittable {
        attribute("hittable", if hittable { "true" } else { "false" });
    }
    if let Some(placeholder) = node.placeholder.as_ref().filter(|_| has_placeholder(element_type)) {
        attribute("placeholderValue", placeholder);
    }
    if !node.traits.is_empty() {
        attribute("traits", &node.traits.join(", "));
    }
    for (name, value) in &node.other {
        attribute(name, value);
    }
    if let Some(process) = node.process_id {
        attribute("processId", &process.to_string());
    }
    if let Some(bundle) = &node.bundle_id {
        attribute("bundleId", bundle);
    }
    if node.children.is_empty() || depth + 1 >= MAX_DEPTH {
        text.push_str("/>\n");
        return;
    }
    text.push_str(">\n");
    for (index, child) in node.children.iter().enumerate() {
        write(text, child, index, depth + 1, options);
    }
    _ = writeln!(text, "{indent}</{TYPE_PREFIX}{element_type}>");
}

/// Whether it can be a part of an element's or an attribute's name.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// As libxml2 writes attributes; characters that XML forbids are left out, as WebDriverAgent does
/// (NSString+FBXMLSafeString.m).
fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\n' => text.push_str("&#10;"),
            '\r' => text.push_str("&#13;"),
            '\t' => text.push_str("&#9;"),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {}
            c => text.push(c),
        }
    }
    text
}

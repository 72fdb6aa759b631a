//! The screen as XML: nodes named by their class, as Appium's server writes them, or `node`s, as
//! Python's does.

use super::super::dump::attribute;
use super::tree::{ATTRIBUTES, Index, Tree, bounds_text};

const HEAD: &str = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>";

/// Those of Python's `uiautomator2`, which are `uiautomator dump`'s with one more.
const PYTHON: [&str; 17] = [
    "index",
    "text",
    "resource-id",
    "class",
    "package",
    "content-desc",
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "scrollable",
    "long-clickable",
    "password",
    "selected",
    "visible-to-user",
];

/// Appium's page source.
pub(super) fn for_appium(tree: &Tree) -> String {
    let mut xml = format!(
        "{HEAD}\n<hierarchy index=\"0\" class=\"hierarchy\" rotation=\"{}\" width=\"{}\" height=\"{}\">\n",
        tree.rotation, tree.width, tree.height
    );
    for child in &tree.elements[0].children {
        node_of_appium(&mut xml, tree, *child, 1);
    }
    xml.push_str("</hierarchy>");
    xml
}

fn node_of_appium(xml: &mut String, tree: &Tree, at: Index, depth: usize) {
    let element = &tree.elements[at];
    // The name of an inner class has a dollar sign, which an XML name cannot have.
    let name = element.class.replace('$', ".");
    let indent = "  ".repeat(depth);
    xml.push_str(&format!("{indent}<{name}"));
    for name in ATTRIBUTES {
        if let Some(value) = element.attribute(name) {
            attribute(xml, name, &value);
        }
    }
    if element.children.is_empty() {
        xml.push_str(" />\n");
        return;
    }
    xml.push_str(">\n");
    for child in &element.children {
        node_of_appium(xml, tree, *child, depth + 1);
    }
    xml.push_str(&format!("{indent}</{name}>\n"));
}

/// The dump of Python's `uiautomator2`, of nodes down to `max_depth`. A compressed one leaves out
/// containers that say nothing and accept nothing.
pub(super) fn for_python(tree: &Tree, compressed: bool, max_depth: usize) -> String {
    let mut xml = format!("{HEAD}\r\n<hierarchy rotation=\"{}\">", tree.rotation);
    for (index, root) in tree.elements[0].children.iter().enumerate() {
        node_of_python(&mut xml, tree, *root, index, compressed, max_depth);
    }
    xml.push_str("\r\n</hierarchy>");
    xml
}

fn node_of_python(
    xml: &mut String,
    tree: &Tree,
    at: Index,
    index: usize,
    compressed: bool,
    depth: usize,
) {
    let Some(below) = depth.checked_sub(1) else { return };
    let element = &tree.elements[at];
    xml.push_str("\r\n<node");
    for name in PYTHON {
        let value = match name {
            "index" => index.to_string(),
            // Only visible nodes are in a scene.
            "visible-to-user" => "true".to_owned(),
            name => element.attribute(name).unwrap_or_default(),
        };
        attribute(xml, name, &value);
    }
    attribute(xml, "bounds", &bounds_text(&element.bounds));
    let mut children = Vec::new();
    shown_children(tree, at, compressed, &mut children);
    if children.is_empty() {
        xml.push_str(" />");
        return;
    }
    xml.push('>');
    for (index, child) in children.into_iter().enumerate() {
        node_of_python(xml, tree, child, index, compressed, below);
    }
    xml.push_str("</node>");
}

fn shown_children(tree: &Tree, at: Index, compressed: bool, into: &mut Vec<Index>) {
    for child in &tree.elements[at].children {
        let (element, flags) = (&tree.elements[*child], &tree.elements[*child].flags);
        let says = !element.text.is_empty() || !element.description.is_empty();
        let accepts = flags.clickable || flags.long_clickable || flags.focusable;
        match compressed && !says && !accepts && !flags.checkable && !flags.scrollable {
            true => shown_children(tree, *child, compressed, into),
            false => into.push(*child),
        }
    }
}

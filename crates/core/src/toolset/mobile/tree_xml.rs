//! Renders a snapshot as XML: the platform's tree, pruned and bounded.

use thumbwire_device::{Node, Rect};

use crate::snapshot::Snapshot;
use thumbwire_base::truncate;
use thumbwire_base::visible::visible_xml;

/// The maximum number of nodes (Mobile MCP server specification, resource limits).
const MAX_NODES: usize = 1000;

/// The maximum size in bytes; a screen with a thousand typical nodes stays below.
const MAX_BYTES: usize = 256 << 10;

/// The maximum length of an attribute, in characters.
const MAX_VALUE: usize = 4000;

/// The platform's tree as pruned XML: nodes without text or input are omitted and their children
/// move up; empty and default attributes are omitted. `ref` is the ref to tap, `covered-by` the ref
/// of the element that would get the tap instead. The tree is truncated in document order, and a
/// comment counts the omitted nodes.
pub fn xml(snapshot: &Snapshot) -> String {
    let mut out = format!("<hierarchy rotation=\"{}\">\n", snapshot.tree.rotation);
    if let Some(state) = snapshot.tree.front.lock() {
        out.push_str(&format!("  <!-- {state}; mobile_unlock opens it -->\n"));
    }
    // The open elements, outermost first. An element nests in its nearest ancestor that has a ref.
    let mut open: Vec<usize> = Vec::new();
    let mut written = 0;
    for (i, element) in snapshot.refs.iter().enumerate().take(MAX_NODES) {
        if out.len() > MAX_BYTES {
            break;
        }
        written += 1;
        while open.last().is_some_and(|&outer| !snapshot.is_inside(element.node, outer)) {
            open.pop();
            out.push_str(&"  ".repeat(open.len() + 1));
            out.push_str("</node>\n");
        }
        let node = &snapshot.tree.nodes[element.node];
        out.push_str(&"  ".repeat(open.len() + 1));
        out.push_str(&format!("<node ref=\"{}\"", element.id));
        let text = [
            ("class", &node.class),
            ("text", &node.text),
            ("content-desc", &node.description),
            ("resource-id", &node.id),
        ];
        for (name, value) in text.into_iter().filter(|(_, value)| !value.is_empty()) {
            let value = escape(&truncate(value, MAX_VALUE));
            out.push_str(&format!(" {name}=\"{value}\""));
        }
        // `enabled` is the default, and most clickable elements are focusable.
        let usual = |name: &str| matches!(name, "enabled" | "focusable");
        let yes = node.flags.named().into_iter().filter(|(name, set)| *set && !usual(name));
        for (name, _) in yes {
            out.push_str(&format!(" {name}=\"true\""));
        }
        if !node.flags.enabled {
            out.push_str(" enabled=\"false\"");
        }
        let shown = snapshot.shown(element.node);
        let bounds = format!("[{},{}][{},{}]", shown.left, shown.top, shown.right, shown.bottom);
        out.push_str(&format!(" bounds=\"{bounds}\""));
        if let Some(over) = snapshot.covered_by(element.node).and_then(|by| snapshot.ref_of(by)) {
            out.push_str(&format!(" covered-by=\"{over}\""));
        }
        let next = snapshot.refs.get(i + 1);
        if next.is_some_and(|next| snapshot.is_inside(next.node, element.node)) {
            out.push_str(">\n");
            open.push(element.node);
        } else {
            out.push_str("/>\n");
        }
    }
    while open.pop().is_some() {
        out.push_str(&"  ".repeat(open.len() + 1));
        out.push_str("</node>\n");
    }
    let omitted = snapshot.refs.len() - written;
    if omitted > 0 {
        out.push_str(&format!("  <!-- {omitted} more nodes omitted -->\n"));
    }
    out.push_str("</hierarchy>");
    out
}

/// The platform's whole tree: what `uiautomator dump` writes on Android, and WebDriverAgent's page
/// source on iOS, but with the coordinates of screenshots. It is truncated in document order, and a
/// comment counts the omitted nodes.
pub fn platform_xml(snapshot: &Snapshot) -> String {
    let tree = &snapshot.tree;
    let is_ios = tree.nodes.iter().any(|node| node.class.starts_with(XCUI));
    let (root, rotation) = match is_ios {
        true => ("AppiumAUT", String::new()),
        false => ("hierarchy", format!(" rotation=\"{}\"", tree.rotation)),
    };
    let mut out = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root}{rotation}>");
    let name = |node: &Node| match is_ios {
        true if node.class.starts_with(XCUI) => node.class.clone(),
        true => "XCUIElementTypeOther".into(),
        false => "node".into(),
    };
    let mut open: Vec<usize> = Vec::new();
    let mut written = 0;
    for (at, node) in tree.nodes.iter().enumerate().take(MAX_NODES) {
        if out.len() > MAX_BYTES {
            break;
        }
        written += 1;
        while open.last().is_some_and(|outer| node.parent != Some(*outer))
            && let Some(closed) = open.pop()
        {
            out.push_str(&format!("</{}>", name(&tree.nodes[closed])));
        }
        out.push_str(&format!("<{}", name(node)));
        let attributes = if is_ios { ios_attributes(node) } else { android_attributes(node) };
        for (attribute, value) in attributes {
            out.push_str(&format!(" {attribute}=\"{}\"", escape(&truncate(&value, MAX_VALUE))));
        }
        out.push('>');
        open.push(at);
    }
    while let Some(closed) = open.pop() {
        out.push_str(&format!("</{}>", name(&tree.nodes[closed])));
    }
    let omitted = tree.nodes.len() - written;
    if omitted > 0 {
        out.push_str(&format!("<!-- {omitted} more nodes omitted -->"));
    }
    out + &format!("</{root}>")
}

/// What the classes of iOS begin with.
const XCUI: &str = "XCUIElementType";

/// The attributes of a node in the order of `uiautomator dump`.
fn android_attributes(node: &Node) -> Vec<(&'static str, String)> {
    let Rect { left, top, right, bottom } = node.bounds;
    let texts = [
        ("index", node.index.to_string()),
        ("text", node.text.to_string()),
        ("resource-id", node.id.to_string()),
        ("class", node.class.to_string()),
        ("package", node.package.to_string()),
        ("content-desc", node.description.to_string()),
    ];
    let flags = node.flags.named().into_iter().map(|(name, set)| (name, set.to_string()));
    let bounds = ("bounds", format!("[{left},{top}][{right},{bottom}]"));
    texts.into_iter().chain(flags).chain([bounds]).collect()
}

/// The attributes of an element in the order of WebDriverAgent; absent texts are left out there.
fn ios_attributes(node: &Node) -> Vec<(&'static str, String)> {
    let Rect { left, top, right, bottom } = node.bounds;
    let texts = [
        ("type", &node.class),
        ("value", &node.text),
        ("name", &node.id),
        ("label", &node.description),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let others = [
        ("enabled", node.flags.enabled.to_string()),
        ("visible", node.displayed.unwrap_or(true).to_string()),
        ("x", left.to_string()),
        ("y", top.to_string()),
        ("width", (right - left).to_string()),
        ("height", (bottom - top).to_string()),
        ("index", node.index.to_string()),
    ];
    texts.map(|(name, text)| (name, text.to_string())).chain(others).collect()
}

/// Escapes an attribute value. An invisible character is a reference, so that a parser gets the
/// app's text and a reader sees what is in it.
fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for char in value.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            char => out.push(char),
        }
    }
    // A line break in an attribute would become a blank.
    visible_xml(&out).replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::Tree;

    use super::*;

    /// Nodes with `text`, nested up to `depth`, then starting over.
    fn snapshot(count: usize, depth: usize, text: &str) -> Snapshot {
        let nodes = (0..count).map(|i| Node {
            parent: (i % depth > 0).then(|| i - 1),
            depth: i % depth,
            text: text.into(),
            bounds: Rect { left: 0, top: 0, right: 9, bottom: 9 },
            ..Node::default()
        });
        let tree = Tree { nodes: nodes.collect(), ..Tree::default() };
        Snapshot::number(tree, None, &AtomicU32::new(1))
    }

    /// Checks that all nodes are closed; returns their number.
    fn nodes(xml: &str) -> usize {
        let count = |what: &str| xml.matches(what).count();
        assert_eq!(
            count("<node ") - count("/>"),
            count("</node>"),
            "{}",
            &xml[..xml.len().min(500)]
        );
        assert!(xml.ends_with("</hierarchy>"));
        count("<node ")
    }

    #[test]
    fn platform_tree_has_the_form_of_its_platform() {
        let mut snapshot = snapshot(3, 2, "Buy");
        let android = platform_xml(&snapshot);
        assert!(android.contains(
            "<node index=\"0\" text=\"Buy\" resource-id=\"\" class=\"\" package=\"\" content-desc=\"\" \
             checkable=\"false\""
        ));
        assert!(android.ends_with("bounds=\"[0,0][9,9]\"></node></hierarchy>"), "{android}");
        for node in &mut snapshot.tree.nodes {
            node.class = "XCUIElementTypeButton".into();
        }
        let ios = platform_xml(&snapshot);
        let button = "<XCUIElementTypeButton type=\"XCUIElementTypeButton\" value=\"Buy\"";
        assert_eq!(ios.matches(button).count(), 3);
        assert!(ios.contains("</XCUIElementTypeButton></XCUIElementTypeButton><XCUI"), "{ios}");
        assert!(ios.ends_with("</XCUIElementTypeButton></AppiumAUT>"), "{ios}");
    }

    #[test]
    fn large_trees_are_truncated_and_say_so() {
        let many = xml(&snapshot(1500, 7, "Buy"));
        assert_eq!(nodes(&many), MAX_NODES);
        assert!(many.contains("<!-- 500 more nodes omitted -->"), "{many}");

        for depth in [1, 400] {
            let hostile = xml(&snapshot(900, depth, &"&".repeat(1_000_000)));
            assert!(hostile.len() < MAX_BYTES + 50_000, "{} bytes", hostile.len());
            let left_out = 900 - nodes(&hostile);
            assert!(hostile.contains(&format!("<!-- {left_out} more nodes omitted -->")));
        }
    }

    #[test]
    fn attributes_are_truncated_and_escaped() {
        let long = xml(&snapshot(1, 1, &"\u{e9}".repeat(MAX_VALUE + 1)));
        assert!(long.contains(&format!("{}…\"", "\u{e9}".repeat(MAX_VALUE))));
        let hostile = xml(&snapshot(1, 1, "]]><a b=\"c\">&\n\u{1}\u{ffff}</hierarchy>"));
        let expected =
            r#"text="]]&gt;&lt;a b=&quot;c&quot;&gt;&amp;&#10;\u{1}\u{ffff}&lt;/hierarchy&gt;""#;
        assert!(hostile.contains(expected), "{hostile}");
    }
}

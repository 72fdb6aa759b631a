//! Text fields in a platform's node tree: which one has the focus, and what is known of what it holds.
//!
//! Pure functions over a [`Tree`], as [`crate::find`]. Typing, clearing and reading back are done above.

use crate::{Node, Tree};

/// The place in [`Tree::nodes`] of the text field that has the focus; `None` where none has it, or no tree tells.
///
/// In a web page the page has the focus too: the innermost field is meant.
pub fn focused(tree: &Tree) -> Option<usize> {
    tree.nodes.iter().rposition(|node| node.flags.focused && takes_text(node))
}

/// Whether text can be typed into the node. Accessibility gives every editor the class of the widget that it stands for,
/// in web pages, Compose and Flutter too (captures of all four). On iOS the type tells.
pub fn takes_text(node: &Node) -> bool {
    let class = node.class.rsplit(['.', '$']).next().unwrap_or_default();
    let editor = ["EditText", "AutoCompleteTextView", "SearchAutoComplete"];
    let of_ios = ["TextField", "SecureTextField", "SearchField", "TextView"];
    let is_of_ios = |kind: &str| of_ios.contains(&kind);
    node.flags.password
        || editor.iter().any(|name| class.ends_with(name))
        || class.strip_prefix("XCUIElementType").is_some_and(is_of_ios)
}

/// Whether what the field shows is what it says of itself while it is empty. `false` also where the platform does not
/// tell hints apart (Android before 14): there the text of an empty field is its hint, and nothing says so.
pub fn shows_hint(node: &Node) -> bool {
    !node.hint.is_empty() && node.text == node.hint
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    fn node(class: &str, focused: bool) -> Node {
        let flags = Flags { focused, ..Flags::default() };
        Node { class: class.into(), flags, ..Node::default() }
    }

    #[test]
    fn the_innermost_field_with_the_focus_is_meant() {
        let nodes = vec![
            node("android.widget.EditText", false),
            node("android.webkit.WebView", true),
            node("android.widget.EditText", true),
            node("android.widget.Button", true),
        ];
        assert_eq!(focused(&Tree { nodes, ..Tree::default() }), Some(2));
        let nodes = vec![node("android.webkit.WebView", true)];
        assert_eq!(focused(&Tree { nodes, ..Tree::default() }), None);
    }

    #[test]
    fn editors_go_by_several_classes() {
        for (class, takes) in [
            ("android.widget.EditText", true),
            ("android.widget.MultiAutoCompleteTextView", true),
            ("android.widget.SearchView$SearchAutoComplete", true),
            ("android.widget.TextView", false),
            ("", false),
        ] {
            assert_eq!(takes_text(&node(class, true)), takes, "{class}");
        }
    }
}

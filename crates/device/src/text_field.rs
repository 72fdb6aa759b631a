//! Text fields in a platform's node tree: which one has the focus, and what is known about its
//! content.
//!
//! Pure functions over a [`Tree`], like [`crate::find`]. Typing, clearing and reading back happen
//! in the layer above.

use crate::{Node, Tree};

/// Index in [`Tree::nodes`] of the focused text field; `None` if no text field has the focus or the
/// tree does not report it.
///
/// In a web page the page has the focus too, so the innermost focused field counts.
pub fn focused(tree: &Tree) -> Option<usize> {
    tree.nodes.iter().rposition(|node| node.flags.focused && is_text_field(node))
}

/// Whether text can be typed into the node. Accessibility gives every editor the class of the
/// widget it stands for, also in web pages, Compose and Flutter (seen in captures of all four). On
/// iOS the element type decides.
pub fn is_text_field(node: &Node) -> bool {
    let class = node.class.rsplit(['.', '$']).next().unwrap_or_default();
    let editor = ["EditText", "AutoCompleteTextView", "SearchAutoComplete"];
    let of_ios = ["TextField", "SecureTextField", "SearchField", "TextView"];
    let is_of_ios = |kind: &str| of_ios.contains(&kind);
    node.flags.password
        || editor.iter().any(|name| class.ends_with(name))
        || class.strip_prefix("XCUIElementType").is_some_and(is_of_ios)
}

/// Whether the field shows its placeholder because it is empty. Also `false` if the platform does
/// not report hints (Android before 14): there the text of an empty field is its hint, and nothing
/// distinguishes the two.
pub fn is_showing_hint(node: &Node) -> bool {
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
    fn innermost_focused_field_is_chosen() {
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
    fn editor_classes_are_recognized() {
        for (class, takes) in [
            ("android.widget.EditText", true),
            ("android.widget.MultiAutoCompleteTextView", true),
            ("android.widget.SearchView$SearchAutoComplete", true),
            ("android.widget.TextView", false),
            ("", false),
        ] {
            assert_eq!(is_text_field(&node(class, true)), takes, "{class}");
        }
    }
}

//! Selectors for people who write a flow beside a phone: which one means an element, and which
//! elements one means.

use serde_json::json;
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::yaml::to_yaml;

use super::from_trace::{check_selector, lasting_selector};
use super::parse::read_element;

/// How a flow names an element of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSelector {
    /// A step that taps it, as YAML.
    pub tap: String,
    /// A step that checks that it is there, as YAML.
    pub check: String,
}

/// The most lasting selector that means this node alone among those that are visible. `None` if
/// there is none: a flow could only name its place.
pub fn selector_of(snapshot: &Snapshot, node: usize) -> Option<WrittenSelector> {
    let (tap, check) = (lasting_selector(snapshot, node)?, check_selector(snapshot, node)?);
    let step =
        |command: &str, selector| to_yaml(&json!([{ command: selector }])).trim_end().to_owned();
    Some(WrittenSelector { tap: step("tapOn", tap), check: step("assertVisible", check) })
}

/// The visible nodes that a selector means, the one that a flow would take first. The selector is
/// YAML as in a flow: a text, a map, or a step that has one, such as `tapOn: Save`.
///
/// # Errors
/// What is wrong with the selector.
pub fn matching_nodes(selector: &str, snapshot: &Snapshot) -> Result<Vec<usize>, String> {
    let pattern = read_element(selector).map_err(|errors| {
        let errors: Vec<String> = errors.into_iter().map(|error| error.what).collect();
        errors.join("; ")
    })?;
    Ok(pattern.find(&snapshot.tree, &|at| !snapshot.shown(at).is_empty()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::{Node, Rect, Tree};

    use super::*;

    fn screen(texts: &[&str]) -> Snapshot {
        let node = |(at, text): (usize, &&str)| {
            let top = i32::try_from(at).unwrap() * 100;
            let bounds = Rect { left: 0, top, right: 500, bottom: top + 100 };
            Node { index: at, text: (*text).into(), bounds, ..Node::default() }
        };
        let nodes = texts.iter().enumerate().map(node).collect();
        Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1))
    }

    #[test]
    fn an_element_has_a_selector_that_means_it_alone() {
        let snapshot = screen(&["Save (1)", "Save"]);
        let found = selector_of(&snapshot, 0).unwrap();
        assert_eq!(found.check, r"- assertVisible: 'Save \(1\)'");
        assert_eq!(matching_nodes(found.tap.trim_start_matches("- "), &snapshot), Ok(vec![0]));
    }

    #[test]
    fn a_selector_is_a_text_a_map_or_a_step() {
        let snapshot = screen(&["Title", "Row", "Row"]);
        for (selector, nodes) in [
            ("Row", vec![1, 2]),
            ("text: Row\nindex: 1", vec![2]),
            ("assertVisible: Title", vec![0]),
            ("- tapOn:\n    text: Row\n    below: Title", vec![1, 2]),
            ("Nothing", vec![]),
        ] {
            assert_eq!(matching_nodes(selector, &snapshot), Ok(nodes), "{selector}");
        }
        let error = matching_nodes("txt: Row", &snapshot).unwrap_err();
        assert!(error.contains("txt"), "{error}");
        assert!(matching_nodes("", &snapshot).is_err());
        assert!(matching_nodes("a: [", &snapshot).is_err());
    }
}

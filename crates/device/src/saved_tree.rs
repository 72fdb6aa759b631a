//! Reads node trees from saved files: what could be read, and warnings about the rest.
//!
//! From a live phone only a complete tree counts; a file is read as far as it goes. Start with
//! [`read_saved`]. The meaning of a node's attributes depends on the platform:
//! [`android::ui`](crate::android::ui), and `ios::source` for WebDriverAgent.

use bytestring::ByteString;

use crate::Tree;
use crate::android::ui;
use crate::error::excerpt;
use crate::ios::source;
pub use crate::markup::{ParseWarning, ParseWarningKind};
use crate::markup::{ParseWarnings, ReadNode, TreeLocation, read};

/// The readable part of a saved dump or page source, with warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTree {
    /// The nodes that could be read.
    pub tree: Tree,
    /// What could not be read, each kind once, in order of first occurrence. Empty if the file is
    /// fine.
    pub faults: Vec<ParseWarning>,
}

/// The file has no tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no node tree found in: {text}")]
pub struct NoTree {
    /// The content, truncated.
    pub text: String,
}

/// Reads a saved dump or page source, complete or not: a broken tag costs only itself, a missing
/// end only what is missing.
///
/// # Errors
/// [`NoTree`] if not a single node could be read, unless the tree is complete and empty.
pub fn read_saved(file: &[u8]) -> Result<SavedTree, NoTree> {
    let (text, problem) = decode(file);
    let mut faults = ParseWarnings::of(&text);
    let found = DIALECTS.iter().filter_map(|dialect| Some((dialect, (dialect.locate)(&text)?)));
    let Some((dialect, (part, complete))) = found.min_by_key(|(_, (part, _))| part.start) else {
        return Err(NoTree { text: excerpt(&*text) });
    };
    if let Some((kind, at, count)) = problem {
        faults.note(kind, at, count);
    }
    let before = without_declaration(&text[..part.start]);
    if !before.is_empty() {
        faults.note(ParseWarningKind::LeadingText, 0, before.len());
    }
    let tree = read(&text, part.clone(), dialect.read_node, &mut faults);
    if !complete {
        if tree.nodes.is_empty() {
            return Err(NoTree { text: excerpt(&text[part]) });
        }
        faults.note(ParseWarningKind::Truncated, text.len(), tree.nodes.len());
        return Ok(SavedTree { tree, faults: faults.take() });
    }
    let after = &text[part.end..];
    let trailing = after.trim_ascii();
    // "UI hierchary dumped to: /dev/tty", in Android's own spelling.
    let closing = trailing.starts_with("UI hier") && !trailing.contains('\n');
    match (dialect.second_tree)(after) {
        Some(at) => faults.note(ParseWarningKind::SecondTree, part.end + at, 1),
        None if trailing.is_empty() || closing => {}
        None => faults.note(ParseWarningKind::TrailingText, part.end, trailing.len()),
    }
    Ok(SavedTree { tree, faults: faults.take() })
}

/// How a program writes a tree. The one whose root comes first in a file is used.
struct TreeFormat {
    /// Range of the tree in the text, and whether it is complete.
    locate: fn(&str) -> Option<TreeLocation>,
    /// Offset of a second tree in the text after it.
    second_tree: fn(&str) -> Option<usize>,
    read_node: ReadNode,
}

const DIALECTS: [TreeFormat; 2] = [
    TreeFormat { locate: ui::locate, second_tree: ui::second_tree, read_node: ui::read_node },
    TreeFormat {
        locate: source::locate,
        second_tree: source::second_tree,
        read_node: source::read_node,
    },
];

/// The text before a tree, without the XML declaration.
fn without_declaration(before: &str) -> &str {
    let before = before.trim_ascii();
    match before.rfind("<?xml") {
        Some(at) if before.ends_with("?>") => before[..at].trim_ascii(),
        _ => before,
    }
}

/// The decoded text, and any encoding problem: kind, offset, count.
fn decode(file: &[u8]) -> (ByteString, Option<(ParseWarningKind, usize, usize)>) {
    let wide = match file {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    if let Some((rest, unit)) = wide {
        let units: Vec<u16> = rest.as_chunks().0.iter().map(|&pair| unit(pair)).collect();
        return (String::from_utf16_lossy(&units).into(), Some((ParseWarningKind::Utf16, 0, 1)));
    }
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    match std::str::from_utf8(file) {
        Ok(text) => (text.into(), None),
        Err(error) => {
            let count = file.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
            let fault = (ParseWarningKind::NotUtf8, error.valid_up_to(), count);
            (String::from_utf8_lossy(file).into_owned().into(), Some(fault))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::MAX_NODES;

    fn dump(nodes: &str) -> String {
        format!(
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"1\">{nodes}</hierarchy>UI hierchary dumped to: /dev/tty\n"
        )
    }

    /// The result for a saved file: nodes by depth and text, and the warnings.
    fn saved(file: &[u8]) -> (String, String) {
        let SavedTree { tree, faults } = read_saved(file).unwrap();
        let node = |node: &crate::Node| format!("{}{}", node.depth, node.text);
        let nodes: Vec<String> = tree.nodes.iter().map(node).collect();
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        (nodes.join(" "), faults.join("; "))
    }

    #[test]
    fn damaged_dump_yields_nodes_and_warnings() {
        let check = |file: &str, nodes: &str, faults: &str| {
            let (found, shown) = saved(file.as_bytes());
            assert_eq!((found.as_str(), shown.as_str()), (nodes, faults), "{file}");
        };
        let ab = "<node text=\"a\"><node text=\"b\"/></node>";
        let whole = format!("<hierarchy rotation=\"0\">{ab}</hierarchy>");
        check(&whole, "0a 1b", "");
        check(&dump(ab), "0a 1b", "");
        check(&format!("\u{feff}<?xml version='1.0'?>\r\n{whole}\r\n"), "0a 1b", "");
        check(
            &format!("a warning\nand another\n{whole}Killed"),
            "0a 1b",
            "line 1, byte 0: 21 bytes of other text before the tree; \
             line 3, byte 96: 6 bytes of other text after the tree",
        );
        check(
            "<hierarchy><node text=\"a\">\n<node text=\"b\"/><node text=\"c",
            "0a 1b",
            "line 2, byte 43: 1 tag is broken; \
             line 2, byte 56: the tree ends before its closing tag; 2 nodes were read",
        );
        check(
            &format!("{whole}\n{whole}"),
            "0a 1b",
            "line 2, byte 75: a second tree begins here; ignored",
        );
        check(
            "<hierarchy><node text=\"a\"><node text=\"b\"></hierarchy>",
            "0a 1b",
            "line 1, byte 41: 2 nodes are not closed",
        );
        check(
            "<hierarchy><node text=\"a\"/></node><node text=\"b\"/></hierarchy>",
            "0a 0b",
            "line 1, byte 27: 1 closing tag has no opening tag",
        );
        check(
            "<hierarchy><node text=\"a/><node text=\"b\"/><node text=\"c\"/></hierarchy>",
            "0 0b 0c",
            "line 1, byte 11: 1 tag is broken",
        );
        check(
            "<hierarchy><node text=\"a/><node text=\"b/><node text=\"c\"/></hierarchy>",
            "0 0 0c",
            "line 1, byte 11: 2 tags are broken",
        );
        check(
            "<hierarchy>I/art: log<node text=\"a\" text=\"b\" bounds=\"[1,2]\"/></hierarchy>",
            "0a",
            "line 1, byte 11: 1 text between tags; \
             line 1, byte 21: 1 duplicate attribute; \
 line 1, byte 21: 1 node has invalid bounds",
        );
        let deep = format!("{}{}", "<node>".repeat(503), "</node>".repeat(503));
        let faults = saved(dump(&deep).as_bytes()).1;
        assert!(faults.ends_with(": 3 nodes are nested too deep; ignored"), "{faults}");
        let faults = saved(dump(&"<n/>".repeat(MAX_NODES + 9)).as_bytes()).1;
        assert!(faults.ends_with("the rest is ignored"), "{faults}");
        let (nodes, faults) = saved(dump(&"<n text=\"".repeat(400)).as_bytes());
        assert_eq!(nodes.split(' ').count(), 400, "{faults}");
    }

    #[test]
    fn file_without_nodes_has_no_tree() {
        for file in ["", "Killed", "<hierarchy rotation=\"0\">", "{}", "<hierarchy><node text=\"a"]
        {
            let error = read_saved(file.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("no node tree found in: "), "{error}");
        }
        assert_eq!(
            saved(b"<hierarchy rotation=\"0\"/></hierarchy>"),
            (String::new(), String::new())
        );
    }

    #[test]
    fn invalid_utf_8_is_reported_and_utf_16_decodes() {
        let xml = "<hierarchy><node text=\"\u{6f22}\"/></hierarchy>";
        let le: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = xml.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for file in [[&[0xff, 0xfe][..], &le].concat(), [&[0xfe, 0xff][..], &be].concat()] {
            let expected = "line 1, byte 0: the file is UTF-16, not UTF-8";
            assert_eq!(saved(&file), ("0\u{6f22}".into(), expected.into()));
        }
        let broken = saved(b"<hierarchy><node text=\"\xe6\xbc\"/></hierarchy>");
        assert_eq!(
            broken,
            ("0\u{fffd}".into(), "line 1, byte 23: 1 invalid UTF-8 sequence".into())
        );
    }

    #[test]
    fn roots_of_other_displays_are_ignored() {
        let root = |display: u32, text: &str| {
            format!(
                "<node text=\"{text}\" display-id=\"{display}\" drawing-order=\"2\"><node text=\"in\"/></node>"
            )
        };
        let file = dump(&[root(0, "a"), root(1, "b"), root(0, "c")].concat());
        let (nodes, faults) = saved(file.as_bytes());
        assert_eq!(nodes, "0a 1in 0c 1in");
        assert!(faults.ends_with("2 nodes of other displays; ignored"), "{faults}");
        assert_eq!(
            ui::read_dump(file.as_bytes()).unwrap().nodes[0].order,
            0,
            "no window has a layer"
        );
    }
}

//! Node trees out of saved files: what could be read, and what could not.
//!
//! Of a live phone only a whole tree counts; a file is read as far as it goes. Begin with [`read_saved`]. What a node's
//! attributes mean is the platform's: [`android::ui`](crate::android::ui), and `ios::source` for WebDriverAgent's.

use std::borrow::Cow;

use crate::Tree;
use crate::android::ui;
use crate::error::excerpt;
use crate::ios::source;
pub use crate::markup::{Fault, Kind};
use crate::markup::{Faults, Located, ReadNode, read};

/// What could be read of a saved dump or page source, and what could not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The nodes that could be read.
    pub tree: Tree,
    /// What could not be read, a kind once, in the order in which it was met. Empty where all is well.
    pub faults: Vec<Fault>,
}

/// There is no tree in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no node tree in it; it says: {said}")]
pub struct NoTree {
    /// What stands there, shortened.
    pub said: String,
}

/// Reads a saved dump or page source, whole or not: a broken tag costs itself, a missing end what is missing.
///
/// # Errors
/// [`NoTree`] where not a single node could be read, unless the tree is whole and empty.
pub fn read_saved(file: &[u8]) -> Result<Reading, NoTree> {
    let (text, odd) = decode(file);
    let mut faults = Faults::of(&text);
    let found = DIALECTS.iter().filter_map(|dialect| Some((dialect, (dialect.locate)(&text)?)));
    let Some((dialect, (part, complete))) = found.min_by_key(|(_, (part, _))| part.start) else {
        return Err(NoTree { said: excerpt(&*text) });
    };
    if let Some((kind, at, count)) = odd {
        faults.note(kind, at, count);
    }
    let before = without_declaration(&text[..part.start]);
    if !before.is_empty() {
        faults.note(Kind::Before, 0, before.len());
    }
    let tree = read(&text, part.clone(), dialect.read_node, &mut faults);
    if !complete {
        if tree.nodes.is_empty() {
            return Err(NoTree { said: excerpt(&text[part]) });
        }
        faults.note(Kind::EndsEarly, text.len(), tree.nodes.len());
        return Ok(Reading { tree, faults: faults.take() });
    }
    let behind = &text[part.end..];
    let words = behind.trim_ascii();
    // "UI hierchary dumped to: /dev/tty", with Android's own spelling.
    let closing = words.starts_with("UI hier") && !words.contains('\n');
    match (dialect.second_tree)(behind) {
        Some(at) => faults.note(Kind::SecondTree, part.end + at, 1),
        None if words.is_empty() || closing => {}
        None => faults.note(Kind::Behind, part.end, words.len()),
    }
    Ok(Reading { tree, faults: faults.take() })
}

/// How one program writes a tree. The one whose root stands first in a file is meant.
struct Dialect {
    /// Where the tree lies in the text, and whether it is there to its end.
    locate: fn(&str) -> Option<Located>,
    /// Where another one begins in what stands behind it.
    second_tree: fn(&str) -> Option<usize>,
    read_node: ReadNode,
}

const DIALECTS: [Dialect; 2] = [
    Dialect { locate: ui::locate, second_tree: ui::second_tree, read_node: ui::read_node },
    Dialect {
        locate: source::locate,
        second_tree: source::second_tree,
        read_node: source::read_node,
    },
];

/// What stands before a tree, but for what XML begins with.
fn without_declaration(before: &str) -> &str {
    let before = before.trim_ascii();
    match before.rfind("<?xml") {
        Some(at) if before.ends_with("?>") => before[..at].trim_ascii(),
        _ => before,
    }
}

/// A saved text, and what was odd about its bytes: of what kind, where, how often.
fn decode(file: &[u8]) -> (Cow<'_, str>, Option<(Kind, usize, usize)>) {
    let wide = match file {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    if let Some((rest, unit)) = wide {
        let units: Vec<u16> = rest.as_chunks().0.iter().map(|&pair| unit(pair)).collect();
        return (String::from_utf16_lossy(&units).into(), Some((Kind::Utf16, 0, 1)));
    }
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    match std::str::from_utf8(file) {
        Ok(text) => (text.into(), None),
        Err(error) => {
            let odd = file.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
            let fault = (Kind::NotUtf8, error.valid_up_to(), odd);
            (String::from_utf8_lossy(file), Some(fault))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::MOST;

    fn dump(nodes: &str) -> String {
        format!(
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"1\">{nodes}</hierarchy>UI hierchary dumped to: /dev/tty\n"
        )
    }

    /// What a saved file gives: its nodes by depth and text, and the faults.
    fn saved(file: &[u8]) -> (String, String) {
        let Reading { tree, faults } = read_saved(file).unwrap();
        let node = |node: &crate::Node| format!("{}{}", node.depth, node.text);
        let nodes: Vec<String> = tree.nodes.iter().map(node).collect();
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        (nodes.join(" "), faults.join("; "))
    }

    #[test]
    fn a_saved_dump_gives_what_could_be_read_and_tells_what_could_not() {
        let check = |file: &str, nodes: &str, faults: &str| {
            let (found, told) = saved(file.as_bytes());
            assert_eq!((found.as_str(), told.as_str()), (nodes, faults), "{file}");
        };
        let ab = "<node text=\"a\"><node text=\"b\"/></node>";
        let whole = format!("<hierarchy rotation=\"0\">{ab}</hierarchy>");
        check(&whole, "0a 1b", "");
        check(&dump(ab), "0a 1b", "");
        check(&format!("\u{feff}<?xml version='1.0'?>\r\n{whole}\r\n"), "0a 1b", "");
        check(
            &format!("a warning\nand another\n{whole}Killed"),
            "0a 1b",
            "line 1, byte 0: 21 bytes of other words before the tree; \
             line 3, byte 96: 6 bytes of other words behind the tree",
        );
        check(
            "<hierarchy><node text=\"a\">\n<node text=\"b\"/><node text=\"c",
            "0a 1b",
            "line 2, byte 43: 1 tag is broken; \
             line 2, byte 56: it ends before its closing tag; 2 nodes were read",
        );
        check(
            &format!("{whole}\n{whole}"),
            "0a 1b",
            "line 2, byte 75: another tree begins here; it is left out",
        );
        check(
            "<hierarchy><node text=\"a\"><node text=\"b\"></hierarchy>",
            "0a 1b",
            "line 1, byte 41: 2 nodes are not closed",
        );
        check(
            "<hierarchy><node text=\"a\"/></node><node text=\"b\"/></hierarchy>",
            "0a 0b",
            "line 1, byte 27: 1 closing tag closes nothing",
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
            "line 1, byte 11: 1 place with words between the tags; \
             line 1, byte 21: 1 attribute stands twice; \
 line 1, byte 21: 1 node has bounds that make no sense",
        );
        let deep = format!("{}{}", "<node>".repeat(503), "</node>".repeat(503));
        let faults = saved(dump(&deep).as_bytes()).1;
        assert!(faults.ends_with(": 3 nodes nest too deep; left out"), "{faults}");
        let faults = saved(dump(&"<n/>".repeat(MOST + 9)).as_bytes()).1;
        assert!(faults.ends_with("the rest is left out"), "{faults}");
        let (nodes, faults) = saved(dump(&"<n text=\"".repeat(400)).as_bytes());
        assert_eq!(nodes.split(' ').count(), 400, "{faults}");
    }

    #[test]
    fn a_file_without_a_node_is_no_tree() {
        for file in ["", "Killed", "<hierarchy rotation=\"0\">", "{}", "<hierarchy><node text=\"a"]
        {
            let error = read_saved(file.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("there is no node tree in it; it says: "), "{error}");
        }
        assert_eq!(
            saved(b"<hierarchy rotation=\"0\"/></hierarchy>"),
            (String::new(), String::new())
        );
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_told_and_utf_16_is_read() {
        let xml = "<hierarchy><node text=\"\u{6f22}\"/></hierarchy>";
        let le: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = xml.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for file in [[&[0xff, 0xfe][..], &le].concat(), [&[0xfe, 0xff][..], &be].concat()] {
            let expected = "line 1, byte 0: it is UTF-16, not UTF-8";
            assert_eq!(saved(&file), ("0\u{6f22}".into(), expected.into()));
        }
        let broken = saved(b"<hierarchy><node text=\"\xe6\xbc\"/></hierarchy>");
        assert_eq!(broken, ("0\u{fffd}".into(), "line 1, byte 23: 1 place holds no UTF-8".into()));
    }

    #[test]
    fn several_roots_are_taken_and_those_of_another_display_are_not() {
        let root = |display: u32, text: &str| {
            format!(
                "<node text=\"{text}\" display-id=\"{display}\" drawing-order=\"2\"><node text=\"in\"/></node>"
            )
        };
        let file = dump(&[root(0, "a"), root(1, "b"), root(0, "c")].concat());
        let (nodes, faults) = saved(file.as_bytes());
        assert_eq!(nodes, "0a 1in 0c 1in");
        assert!(faults.ends_with("2 nodes of other displays; left out"), "{faults}");
        assert_eq!(
            ui::read_dump(file.as_bytes()).unwrap().nodes[0].order,
            0,
            "no window says its layer"
        );
    }
}

//! The screen's node tree, by `uiautomator dump`.
//!
//! The dump is streamed: no file is left on the phone, so an old one can never be taken for a new screen. Of a live
//! phone it counts only when it is complete ([`read_dump`]); of a saved file, what could be read is given, and told
//! what could not ([`read_saved`]). `read` turns text into nodes, `tag` a tag's attributes, `fault` says what was
//! wrong.

mod fault;
mod read;
mod tag;

use std::borrow::Cow;

use super::Line;
use crate::error::excerpt;
use crate::{Error, Tree};
use fault::Faults;
pub use fault::{Fault, Kind};

/// A dump on standard output.
pub(super) fn dump_command() -> Line {
    Line::new("uiautomator dump /dev/tty")
}

/// Reads what `uiautomator dump /dev/tty` printed: words may stand before the XML (a vendor's warnings) and
/// always stand behind it ("UI hierchary dumped to: …"). What could not be read without costing nodes (a text with an
/// unknown reference, bounds that make no sense) goes to the log.
///
/// # Errors
/// [`Error::NotReady`] with the phone's words when there is no complete hierarchy: the screen does not come to
/// rest, no window is there yet, another tool holds the accessibility service. `uiautomator` ends with status 0
/// in all of these cases. [`Error::Unreadable`] when nodes could not be read, or are more than any screen has.
pub fn read_dump(said: &[u8]) -> Result<Tree, Error> {
    let not_ready = |said| Error::NotReady { what: "dump the screen", said };
    let text = match std::str::from_utf8(said) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(said),
    };
    let mut faults = Faults::of(&text);
    let part = match read::locate(&text) {
        Some((part, true)) => part,
        Some((_, false)) => {
            return Err(not_ready("the dump ends before its </hierarchy>".into()));
        }
        None => return Err(not_ready(why_not(&text))),
    };
    if let Some(at) = second_tree(&text[part.end..]) {
        faults.note(Kind::SecondTree, part.end + at, 1);
    }
    let tree = read::read(&text, part, &mut faults);
    for fault in faults.take() {
        if fault.kind.costs_nodes() {
            let command = dump_command().as_str().into();
            return Err(Error::Unreadable { command, said: fault.to_string() });
        }
        tracing::warn!("the dump of the screen: {fault}");
    }
    Ok(tree)
}

/// The phone's words where there is no dump, and what usually stands behind them.
fn why_not(text: &str) -> String {
    let reasons = [
        // AOSP, `DumpCommand`: it waits for a second without events, ten seconds at most.
        ("could not get idle state", "the screen keeps moving: a video, an animation, a clock"),
        // AOSP, `DumpCommand`; also on a phone whose screen is off.
        ("null root node", "no window is there yet, or the screen is off"),
        // Seen on Android 4.4: both end the program, with no words of its own.
        ("Killed", OTHER_TOOL),
        ("", OTHER_TOOL),
    ];
    const OTHER_TOOL: &str = "it was ended: another tool may hold the accessibility service, or, before Android 5, \
                              a character like an emoji is on the screen, which it cannot write";
    let words = text.trim();
    let is = |said: &str| if said.is_empty() { words.is_empty() } else { words.contains(said) };
    match reasons.iter().find(|(said, _)| is(said)) {
        Some((_, reason)) => format!("{} ({reason})", excerpt(words)),
        None => excerpt(words),
    }
}

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
    let Some((part, complete)) = read::locate(&text) else {
        return Err(NoTree { said: excerpt(&*text) });
    };
    if let Some((kind, at, count)) = odd {
        faults.note(kind, at, count);
    }
    let before = without_declaration(&text[..part.start]);
    if !before.is_empty() {
        faults.note(Kind::Before, 0, before.len());
    }
    let tree = read::read(&text, part.clone(), &mut faults);
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
    match second_tree(behind) {
        Some(at) => faults.note(Kind::SecondTree, part.end + at, 1),
        None if words.is_empty() || closing => {}
        None => faults.note(Kind::Behind, part.end, words.len()),
    }
    Ok(Reading { tree, faults: faults.take() })
}

fn second_tree(behind: &str) -> Option<usize> {
    behind.find("<hierarchy")
}

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
    use proptest::prelude::*;

    use super::*;
    use crate::Rect;

    fn dump(nodes: &str) -> String {
        format!(
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"1\">{nodes}</hierarchy>UI hierchary dumped to: /dev/tty\n"
        )
    }

    #[test]
    fn a_dump_is_read_in_document_order() {
        let tree = read_dump(
            dump("<node index=\"0\" class=\"a.B\" bounds=\"[0,-5][10,20]\"><node text=\"x &amp; &#10;y\" content-desc=\"d\" resource-id=\"p:id/i\" clickable=\"true\" enabled=\"false\"/></node><node package=\"q\"/>")
                .as_bytes(),
        )
        .unwrap();
        assert_eq!(tree.rotation, 1);
        let places: Vec<_> =
            tree.nodes.iter().map(|node| (node.parent, node.index, node.depth)).collect();
        assert_eq!(places, [(None, 0, 0), (Some(0), 0, 1), (None, 1, 0)]);
        assert_eq!(tree.nodes[0].bounds, Rect { left: 0, top: -5, right: 10, bottom: 20 });
        assert!(tree.nodes[0].flags.enabled, "a node that says nothing of it is enabled");
        let inner = &tree.nodes[1];
        assert_eq!((inner.text.as_str(), inner.description.as_str()), ("x & \ny", "d"));
        assert_eq!(inner.id, "p:id/i");
        assert!(inner.flags.clickable && !inner.flags.enabled);
    }

    #[test]
    fn words_before_and_behind_the_xml_are_passed_over() {
        let noisy =
            format!("java.io.FileNotFoundException: theme.xml\n\tat x\n{}", dump("<node/>"));
        assert_eq!(read_dump(noisy.as_bytes()).unwrap().nodes.len(), 1);
    }

    #[test]
    fn an_incomplete_dump_is_never_a_screen() {
        let whole = dump("<node text=\"a\"><node/></node>");
        let end = whole.find("</hierarchy>").unwrap() + "</hierarchy>".len();
        for kept in 0..end {
            assert!(read_dump(&whole.as_bytes()[..kept]).is_err(), "{kept} bytes were taken");
        }
        for words in ["ERROR: could not get idle state.\n", "Killed\n", ""] {
            let error = read_dump(words.as_bytes()).unwrap_err();
            assert!(matches!(error, Error::NotReady { .. }), "{error}");
            assert!(error.to_string().contains(words.trim()), "{error}");
        }
    }

    #[test]
    fn where_there_is_no_dump_the_phones_words_come_with_what_stands_behind_them() {
        let check = |said: &str, reason: &str| {
            let error = read_dump(said.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{said:?}: {error}");
        };
        check("ERROR: could not get idle state.\r\n", "keeps moving");
        let null = "ERROR: null root node returned by UiTestAutomationBridge.\n";
        check(null, "the screen is off");
        check("Killed\r\n", "an emoji");
        check("", "(it said nothing) (it was ended: another tool");
        check(
            "/system/bin/sh: uiautomator: not found",
            "dump the screen: /system/bin/sh: uiautomator: not found",
        );
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
        let faults = saved(dump(&"<n/>".repeat(read::MOST + 9)).as_bytes()).1;
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
    fn the_windows_of_the_first_display_are_read_with_their_layers() {
        // As AOSP's `AccessibilityNodeInfoDumper` writes `uiautomator dump --windows`: a window's children stand before
        // its own hierarchy.
        let window = |layer: u32, inner: &str, text: &str| {
            format!(
                "<window index=\"0\" bounds=\"[0,0][9,9]\" layer=\"{layer}\">{inner}\
                 <hierarchy rotation=\"1\"><node text=\"{text}\" bounds=\"[0,0][9,9]\" /></hierarchy></window>"
            )
        };
        let file = format!(
            "<?xml version='1.0'?><displays><display id=\"0\">{}{}<window layer=\"9\" /></display>\
             <display id=\"2\">{}</display></displays>",
            window(3, &window(4, "", "child"), "dialog"),
            window(0, "", "app"),
            window(1, "", "elsewhere"),
        );
        let Reading { tree, faults } = read_saved(file.as_bytes()).unwrap();
        let told: Vec<_> = tree.nodes.iter().map(|node| (&*node.text, node.order)).collect();
        assert_eq!(told, [("child", 5), ("dialog", 4), ("app", 1)]);
        assert_eq!(tree.rotation, 1);
        assert_eq!(
            faults.iter().map(|fault| (fault.kind, fault.count)).collect::<Vec<_>>(),
            [(Kind::OtherDisplay, 1)]
        );
        assert_eq!(read_dump(file.as_bytes()).unwrap(), tree);
        let cut = &file.as_bytes()[..file.len() - 20];
        assert!(read_dump(cut).is_err());
        assert_eq!(read_saved(cut).unwrap().tree, tree);
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
            read_dump(file.as_bytes()).unwrap().nodes[0].order,
            0,
            "no window says its layer"
        );
    }

    #[test]
    fn a_live_dump_that_lost_nodes_is_refused() {
        for nodes in
            ["<node>", "</node>", "<node text=\"a/><node text=\"b\"/>", "</hierarchy><hierarchy>"]
        {
            let error = read_dump(dump(nodes).as_bytes()).unwrap_err();
            assert!(matches!(error, Error::Unreadable { .. }), "{nodes}: {error}");
        }
        let odd = dump("<node text=\"a\" bounds=\"[a,b][c,d]\"/>");
        assert!(read_dump(odd.as_bytes()).unwrap().nodes[0].bounds.is_empty());
    }

    #[test]
    fn odd_characters_do_not_cost_the_screen() {
        let odd = dump("<node text=\"a\u{1}b &nope; \u{fffd}\"/>");
        assert_eq!(read_dump(odd.as_bytes()).unwrap().nodes[0].text, "a\u{1}b &nope; \u{fffd}");
    }

    #[test]
    fn a_tree_too_deep_is_cut_there() {
        let deep = dump(&format!("{}{}<node/>", "<node>".repeat(9000), "</node>".repeat(9000)));
        let tree = read_dump(deep.as_bytes()).unwrap();
        assert_eq!(tree.nodes.len(), read::DEEPEST + 1);
        assert_eq!(tree.nodes.last().unwrap().depth, 0);
    }

    #[test]
    fn a_dump_larger_than_any_screen_is_refused() {
        assert_eq!(
            read_dump(dump(&"<n/>".repeat(read::MOST)).as_bytes()).unwrap().nodes.len(),
            read::MOST
        );
        let error = read_dump(dump(&"<n/>".repeat(read::MOST + 1)).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("more nodes than any screen has"), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(middle in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut said = b"<hierarchy rotation=\"0\"><node ".to_vec();
            said.extend(middle);
            let _ = read_saved(&said);
            said.extend(b"/></hierarchy>");
            let _ = (read_dump(&said), read_saved(&said));
        }
    }
}

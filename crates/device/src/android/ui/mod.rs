//! The screen's node tree, by `uiautomator dump`.
//!
//! The dump is streamed: no file is left on the phone, so an old one can never be taken for a new screen. It
//! counts only when it is complete.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::Line;
use crate::error::excerpt;
use crate::{Error, Flags, Node, Rect, Tree};

/// A dump on standard output.
pub(super) fn dump_command() -> Line {
    Line::new("uiautomator dump /dev/tty")
}

/// How deep a tree may nest. Real screens stay below 60; deeper nodes are left out.
const DEEPEST: usize = 500;

/// How many nodes are taken. Real screens have some thousand at most; a phone that sends more is not believed, since
/// a node of few bytes costs hundreds here.
const MOST: usize = 100_000;

/// Reads what `uiautomator dump /dev/tty` printed: words may stand before the XML (a vendor's warnings) and
/// always stand behind it ("UI hierchary dumped to: …").
///
/// # Errors
/// [`Error::NotReady`] with the phone's words when there is no complete hierarchy: the screen does not come to
/// rest, no window is there yet, another tool holds the accessibility service. `uiautomator` ends with status 0
/// in all of these cases. [`Error::Unreadable`] when it is no XML, or larger than any screen.
pub fn read_dump(said: &[u8]) -> Result<Tree, Error> {
    const END: &str = "</hierarchy>";
    let text = String::from_utf8_lossy(said);
    let start = text.find("<hierarchy");
    let end = text.rfind(END).map(|at| at + END.len());
    match (start, end) {
        (Some(start), Some(end)) if start < end => read_hierarchy(&text[start..end]),
        (Some(_), _) => Err(Error::NotReady {
            what: "dump the screen",
            said: "the dump ends before its </hierarchy>".into(),
        }),
        _ => Err(Error::NotReady { what: "dump the screen", said: excerpt(&*text) }),
    }
}

fn read_hierarchy(xml: &str) -> Result<Tree, Error> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let mut tree = Tree::default();
    // The nodes that are open, each with the number of children seen so far.
    let mut open: Vec<(Option<usize>, usize)> = vec![(None, 0)];
    let mut left_out = 0usize;
    loop {
        if tree.nodes.len() > MOST {
            let said = format!("more than {MOST} nodes");
            return Err(Error::Unreadable { command: dump_command().as_str().into(), said });
        }
        match reader.read_event() {
            Ok(Event::Start(tag)) if tag.name().as_ref() == "hierarchy" => {
                tree.rotation =
                    attribute(&tag, "rotation").and_then(|n| n.parse().ok()).unwrap_or(0);
            }
            Ok(Event::Start(_)) if open.len() > DEEPEST => left_out += 1,
            Ok(Event::Start(tag)) => {
                let at = add(&mut tree, &mut open, &tag);
                open.push((Some(at), 0));
            }
            Ok(Event::Empty(tag)) if open.len() <= DEEPEST => {
                add(&mut tree, &mut open, &tag);
            }
            Ok(Event::End(_)) if left_out > 0 => left_out -= 1,
            Ok(Event::End(_)) if open.len() > 1 => {
                open.pop();
            }
            Ok(Event::Eof) => return Ok(tree),
            Ok(_) => {}
            Err(error) => {
                let at = reader.error_position();
                let said = format!("{error} at byte {at} of the hierarchy");
                return Err(Error::Unreadable { command: dump_command().as_str().into(), said });
            }
        }
    }
}

/// Appends the tag's node to the tree and gives its place.
fn add(tree: &mut Tree, open: &mut [(Option<usize>, usize)], tag: &BytesStart<'_>) -> usize {
    let depth = open.len() - 1;
    let (parent, index) = open.last_mut().map_or((None, 0), |(parent, children)| {
        *children += 1;
        (*parent, *children - 1)
    });
    let mut node = Node { parent, index, depth, ..Node::default() };
    node.flags.enabled = true;
    read_attributes(tag, &mut node);
    tree.nodes.push(node);
    tree.nodes.len() - 1
}

fn read_attributes(tag: &BytesStart<'_>, node: &mut Node) {
    let flags: &mut Flags = &mut node.flags;
    for attribute in tag.attributes().with_checks(false).flatten() {
        // A phone may write a reference that XML does not know; its raw text is better than none.
        let text = || match unescape(&attribute.value) {
            Ok(text) => text.into_owned(),
            Err(_) => attribute.value.as_ref().to_owned(),
        };
        let yes = || attribute.value.as_ref() == "true";
        match attribute.key.as_ref() {
            "class" => node.class = text(),
            "package" => node.package = text(),
            "resource-id" => node.id = text(),
            "text" => node.text = text(),
            "content-desc" => node.description = text(),
            "hint" => node.hint = text(),
            "bounds" => node.bounds = read_bounds(&attribute.value).unwrap_or_default(),
            "checkable" => flags.checkable = yes(),
            "checked" => flags.checked = yes(),
            "clickable" => flags.clickable = yes(),
            "enabled" => flags.enabled = yes(),
            "focusable" => flags.focusable = yes(),
            "focused" => flags.focused = yes(),
            "scrollable" => flags.scrollable = yes(),
            "long-clickable" => flags.long_clickable = yes(),
            "password" => flags.password = yes(),
            "selected" => flags.selected = yes(),
            _ => {}
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    Some(found.value.into_owned())
}

/// Reads `[left,top][right,bottom]`; the numbers may be negative.
fn read_bounds(text: &str) -> Option<Rect> {
    let (low, high) = text.strip_prefix('[')?.strip_suffix(']')?.split_once("][")?;
    let pair = |text: &str| {
        let (x, y) = text.split_once(',')?;
        Some((x.trim().parse().ok()?, y.trim().parse().ok()?))
    };
    let ((left, top), (right, bottom)) = (pair(low)?, pair(high)?);
    Some(Rect { left, top, right, bottom })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
    fn odd_characters_do_not_cost_the_screen() {
        let odd = dump("<node text=\"a\u{1}b &nope; \u{fffd}\"/>");
        assert_eq!(read_dump(odd.as_bytes()).unwrap().nodes[0].text, "a\u{1}b &nope; \u{fffd}");
    }

    #[test]
    fn a_tree_too_deep_is_cut_there() {
        let deep = dump(&format!("{}{}<node/>", "<node>".repeat(9000), "</node>".repeat(9000)));
        let tree = read_dump(deep.as_bytes()).unwrap();
        assert_eq!(tree.nodes.len(), DEEPEST + 1);
        assert_eq!(tree.nodes.last().unwrap().depth, 0);
    }

    #[test]
    fn a_dump_larger_than_any_screen_is_refused() {
        assert_eq!(read_dump(dump(&"<n/>".repeat(MOST)).as_bytes()).unwrap().nodes.len(), MOST);
        let error = read_dump(dump(&"<n/>".repeat(MOST + 1)).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("more than 100000 nodes"), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(middle in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut said = b"<hierarchy rotation=\"0\"><node ".to_vec();
            said.extend(middle);
            said.extend(b"/></hierarchy>");
            let _ = read_dump(&said);
        }
    }
}

//! The screen's node tree, by `uiautomator dump`.
//!
//! The dump is streamed: no file stays on the phone, so an old one can never be mistaken for the
//! current screen. A live phone's dump must be complete ([`read_dump`]); saved dumps are read in
//! [`crate::saved_tree`]. `node` parses a node's attributes; `markup` handles nesting.
//!
//! Three formats are known: `uiautomator dump` (`<hierarchy>` with `<node>`s); `uiautomator dump
//! --windows` (`<displays>`, `<display>`, `<window>`, each window with its `<hierarchy>`; AOSP,
//! `AccessibilityNodeInfoDumper`); and the page source of the UiAutomator2 server, where an
//! element's name is its class.

mod node;

use bytes::Bytes;
use bytestring::ByteString;
use thumbwire_base::visible::name;

use super::ShellCommand;
use super::front::{FRONT, app_of, read_front};
use super::windows::{focused, keyboard, windows};
use crate::error::excerpt;
use crate::markup::{ParseWarningKind, ParseWarnings, TreeLocation, read};
use crate::{Error, Foreground, LockState, Rect, Tree, TreeDetail};
pub(crate) use node::read_node;

/// Prints a dump to standard output, then what is in front and where the keyboard is: the dump has
/// only the window with the focus, and not even its name.
pub(super) fn dump_command(detail: TreeDetail) -> ShellCommand {
    let dump = match detail {
        TreeDetail::Full => "uiautomator dump /dev/tty;",
        TreeDetail::Compressed => "uiautomator dump --compressed /dev/tty;",
    };
    ShellCommand::new(dump).then("echo; echo == windows;").then(FRONT)
}

/// Separates the two parts of the output. No dump has this line, since line breaks in it are
/// escaped; so a window's title, which an app chooses, cannot pass for a part of the dump.
const WINDOWS: &[u8] = b"\n== windows";

/// Separates the output of [`dump_command`] into the dump and the reports.
pub(super) fn split(output: &Bytes) -> (Bytes, Bytes) {
    match output.windows(WINDOWS.len()).position(|part| part == WINDOWS) {
        Some(at) => (output.slice(..at), output.slice(at..)),
        None => (output.clone(), Bytes::new()),
    }
}

/// Parses a dump, and what [`FRONT`] prints.
///
/// # Errors
/// Those of [`read_dump`], [`Error::Locked`] if the screen is off, and [`Error::StaleTree`].
pub(super) fn read_screen(dump: Bytes, reports: &[u8]) -> Result<Tree, DumpError> {
    let reports = String::from_utf8_lossy(reports);
    let tree = read_with_front(dump, &reports)?;
    match other_app(&tree, &reports) {
        None => Ok(tree),
        Some(app) => {
            let (app, front) = (name(&app).into_owned(), tree.front.to_string());
            Err(Error::StaleTree { app, front }.into())
        }
    }
}

/// Why there is no tree.
#[derive(Debug)]
pub(super) enum DumpError {
    /// Another tool may be reading the screen; the phone's message.
    MayBeHeld(String),
    Other(Error),
}

impl From<Error> for DumpError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<DumpError> for Error {
    fn from(error: DumpError) -> Self {
        match error {
            DumpError::MayBeHeld(text) => Self::NotReady { what: WHAT, text },
            DumpError::Other(error) => error,
        }
    }
}

fn read_with_front(dump: Bytes, reports: &str) -> Result<Tree, DumpError> {
    let front = read_front(reports).unwrap_or_default();
    if front == Foreground::ScreenOff {
        // Android 4.4 dumps the app that a person would see with the screen on; later ones find no
        // window.
        return Err(Error::Locked(LockState::ScreenOff).into());
    }
    let mut tree = read_output(dump)?;
    tree.front = front;
    let windows = windows(reports);
    tree.keyboard = keyboard(&windows);
    if let Some(window) = focused(&windows, reports) {
        tree.window = window.role();
        if let Some(frame) = window.frame {
            move_to_window(&mut tree, frame);
        }
    }
    Ok(tree)
}

/// The app that the tree belongs to, if that is neither in front nor another one with a window on
/// the screen: the dump then shows what was there before (measured on a real 4.4.4: a dump taken
/// during a change of screens).
///
/// A dialog of another app (a permission's) is in front itself, a keyboard never is, and of several
/// windows side by side each one shows. Where a window of the system is in front, nobody knows
/// whose tree is right.
fn other_app(tree: &Tree, reports: &str) -> Option<String> {
    let Foreground::App(front) = &tree.front else { return None };
    let is_of = |package: &str| tree.nodes.iter().any(|node| *node.package == *package);
    let root = tree.nodes.iter().find(|node| !node.package.is_empty())?;
    if is_of(&front.app.0) {
        return None;
    }
    // Only now: the list of windows is long.
    let windows = windows(reports);
    let on_screen = |package: &str| {
        let mut shown = windows.iter().filter(|window| window.shows);
        shown.any(|window| app_of(window.title()).is_some_and(|it| it.app.0 == package))
    };
    (!on_screen(&root.package)).then(|| root.package.to_string())
}

/// Moves the nodes to where their window is. Android 4.4 leaves the nodes of a dialog where it was
/// before the keyboard opened or closed, although the window has moved (seen on a real 4.4.4): a
/// tap on its button would hit the app behind.
///
/// Nothing is moved if the window lies at the keyboard: then the app itself may have shifted its
/// content (`adjustPan`).
fn move_to_window(tree: &mut Tree, frame: Rect) {
    let [root] = tree.nodes.iter().filter(|node| node.parent.is_none()).collect::<Vec<_>>()[..]
    else {
        return;
    };
    let Rect { left, top, right, bottom } = root.bounds;
    let (x, y) = (frame.left.saturating_sub(left), frame.top.saturating_sub(top));
    let is_as_large =
        (x, y) == (frame.right.saturating_sub(right), frame.bottom.saturating_sub(bottom));
    let covered = tree.keyboard.is_some_and(|keyboard| !keyboard.intersection(frame).is_empty());
    if !is_as_large || (x, y) == (0, 0) || covered {
        return;
    }
    tracing::debug!("the dump's nodes are moved by {x},{y} to their window");
    for node in &mut tree.nodes {
        let Rect { left, top, right, bottom } = node.bounds;
        node.bounds = Rect {
            left: left.saturating_add(x),
            top: top.saturating_add(y),
            right: right.saturating_add(x),
            bottom: bottom.saturating_add(y),
        };
    }
}

/// Parses the output of `uiautomator dump /dev/tty`: there may be text before the XML (a vendor's
/// warnings), and there always is after it ("UI hierchary dumped to: …"). Problems that cost no
/// nodes (a text with an unknown entity, invalid bounds) are logged.
///
/// # Errors
/// [`Error::NotReady`] with the phone's message if there is no complete hierarchy: the screen does
/// not become idle, there is no window yet, or another tool holds the accessibility service.
/// `uiautomator` exits with status 0 in all of these cases. [`Error::Unreadable`] if nodes could
/// not be read, or there are more than any real screen has.
pub fn read_dump(output: &[u8]) -> Result<Tree, Error> {
    Ok(read_output(Bytes::copy_from_slice(output))?)
}

/// Like [`read_dump`], without a copy: the texts of the tree are slices of the output.
fn read_output(output: Bytes) -> Result<Tree, DumpError> {
    let text = match ByteString::try_from(output.clone()) {
        Ok(text) => text,
        Err(_) => String::from_utf8_lossy(&output).into_owned().into(),
    };
    let mut faults = ParseWarnings::of(&text);
    let part = match locate(&text) {
        Some((part, true)) => part,
        Some((_, false)) => {
            let text = "the dump ends before its </hierarchy>".into();
            return Err(Error::NotReady { what: WHAT, text }.into());
        }
        None => return Err(dump_error(&text)),
    };
    if let Some(at) = second_tree(&text[part.end..]) {
        faults.note(ParseWarningKind::SecondTree, part.end + at, 1);
    }
    let tree = read(&text, part, read_node, &mut faults);
    for fault in faults.take() {
        if fault.kind.loses_nodes() {
            let command = "uiautomator dump /dev/tty".into();
            return Err(Error::Unreadable { command, text: fault.to_string() }.into());
        }
        tracing::warn!("problem in the screen dump: {fault}");
    }
    Ok(tree)
}

/// Reads the page source of a live phone by UiAutomator2, which must be complete.
///
/// # Errors
/// What is wrong with it.
#[cfg(feature = "ios")]
pub(crate) fn read_page_source(text: ByteString) -> Result<Tree, String> {
    let Some((part, true)) = locate(&text) else {
        return Err(format!("the page source is not a complete hierarchy: {}", excerpt(&*text)));
    };
    let mut faults = ParseWarnings::of(&text);
    let tree = read(&text, part, read_node, &mut faults);
    for fault in faults.take() {
        if fault.kind.loses_nodes() {
            return Err(fault.to_string());
        }
        tracing::warn!("problem in the page source: {fault}");
    }
    Ok(tree)
}

/// What is asked of the phone, after "failed to".
pub(super) const WHAT: &str = "dump the screen";

/// Why another tool certainly prevents a dump.
pub(super) const HELD: &str = "another tool is reading the screen, and Android serves only one";

/// The phone's output if there is no dump, with the likely cause.
fn dump_error(text: &str) -> DumpError {
    const KILLED: &str = "uiautomator was killed: another tool may be using the accessibility \
                          service, or, before Android 5, the screen shows a character such as an \
                          emoji that it cannot write";
    let output = text.trim();
    let with = |reason: &str| format!("{} ({reason})", excerpt(output));
    let not_ready = |text| DumpError::Other(Error::NotReady { what: WHAT, text });
    // AOSP, `DumpCommand`: waits up to ten seconds for one second without events.
    if output.contains("could not get idle state") {
        return not_ready(with(crate::KEEPS_MOVING));
    }
    // AOSP, `DumpCommand`; also with the screen off.
    if output.contains("null root node") {
        return not_ready(with("there is no window yet, or the screen is off"));
    }
    // `UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@
    // 41bd3ad8already registered!` (AOSP, `AccessibilityManagerService`).
    if output.contains("already registered") {
        return DumpError::MayBeHeld(HELD.into());
    }
    // Seen on Android 4.4: both kill the program, with one word or none.
    if output.is_empty() || output.contains("Killed") {
        return DumpError::MayBeHeld(with(KILLED));
    }
    not_ready(excerpt(output))
}

/// Range of the tree in the output, and whether it is complete. There may be other text before and
/// after it.
pub(crate) fn locate(text: &str) -> Option<TreeLocation> {
    let plain = text.find("<hierarchy");
    let windows = text[..plain.unwrap_or(text.len())].find("<displays");
    let end = if windows.is_some() { "</displays>" } else { "</hierarchy>" };
    let start = windows.or(plain)?;
    // Search from the end, where little text follows.
    Some(match text[start..].rfind(end) {
        Some(at) => (start..start + at + end.len(), true),
        None => (start..text.len(), false),
    })
}

/// Offset of a second tree in the text after the first.
pub(crate) fn second_tree(text: &str) -> Option<usize> {
    text.find("<hierarchy")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::markup::{MAX_DEPTH, MAX_NODES};
    use crate::saved_tree::{SavedTree, read_saved};

    fn dump(nodes: &str) -> String {
        format!(
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"1\">{nodes}</hierarchy>UI hierchary dumped to: /dev/tty\n"
        )
    }

    /// The app that a dump belongs to if not to what the windows show: its package, the focus, then
    /// other windows on the screen.
    #[test]
    fn dump_of_an_app_that_is_gone_is_told_from_windows_side_by_side() {
        let check = |package: &str, focus: &str, others: &[&str], expected: Option<&str>| {
            let mut report = format!("\n== windows\n  mCurrentFocus=Window{{7 u0 {focus}}}\n");
            report += "  mFocusedApp=ActivityRecord{9f u0 com.front/.Main t12}\n";
            for (nth, title) in std::iter::once(&focus).chain(others).enumerate() {
                let (title, is_gone) =
                    title.strip_suffix(" gone").map_or((*title, false), |it| (it, true));
                let state = if is_gone { "mHasSurface=false" } else { "mHasSurface=true" };
                report +=
                    &format!("  Window #{nth} Window{{{} u0 {title}}}:\n    {state}\n", 7 + nth);
            }
            let nodes = format!("<node package=\"{package}\"/>");
            let tree = read_with_front(dump(&nodes).into(), &report).unwrap();
            assert_eq!(other_app(&tree, &report).as_deref(), expected, "{package} under {focus}");
        };
        let front = "com.front/com.front.Main";
        check("com.front", front, &[], None);
        check("com.old", front, &["com.old/com.old.Main gone"], Some("com.old"));
        check("com.old", front, &[], Some("com.old"));
        // Two apps side by side: the one that was touched last is dumped.
        check("com.old", front, &["com.old/com.old.Main"], None);
        // A permission's dialog.
        let asks = "com.android.permissioncontroller/com.android.permissioncontroller.permission.ui.GrantPermissionsActivity";
        check("com.android.permissioncontroller", asks, &[front], None);
        check("com.front", asks, &["com.front/com.front.Main gone"], Some("com.front"));
        // A keyboard, a popup, the shade.
        check("com.front", front, &["InputMethod"], None);
        check("com.front", "PopupWindow:1a2b", &[front], None);
        check("com.old", "PopupWindow:1a2b", &[front], Some("com.old"));
        check("com.old", "NotificationShade", &[front], None);
        // Without packages nothing can be compared.
        check("", front, &[], None);
    }

    #[test]
    fn dump_is_parsed_in_document_order() {
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
        assert!(tree.nodes[0].flags.enabled, "nodes are enabled by default");
        let inner = &tree.nodes[1];
        assert_eq!((&*inner.text, &*inner.description), ("x & \ny", "d"));
        assert_eq!(inner.id, "p:id/i");
        assert!(inner.flags.clickable && !inner.flags.enabled);
    }

    #[test]
    fn texts_are_slices_of_the_output() {
        let output =
            Bytes::from(dump("<node text=\"Save\" class=\"a.B\" content-desc=\"x &amp; y\"/>"));
        let tree = read_output(output.clone()).unwrap();
        let node = &tree.nodes[0];
        let is_slice = |text: &ByteString| output.as_ptr_range().contains(&text.as_ptr());
        assert!([&tree.source, &node.text, &node.class].into_iter().all(is_slice));
        assert!(!is_slice(&node.description), "an entity was decoded");
        assert_eq!((&*node.text, &*node.description), ("Save", "x & y"));
    }

    /// A dialog after the keyboard closed, with the frames of a real Android 4.4.4.
    #[test]
    fn nodes_follow_their_window() {
        let screen = |frame: &str, keyboard: &str| {
            let output = format!(
                "{}\n== windows\nmWakefulness=Awake\n  Window #8 Window{{8a u0 InputMethod}}:\n    mHasSurface={keyboard}\n    mFrame=[0,87][480,800] last=[0,87][480,800]\n    mGivenContentInsets=[0,369][0,0]\n  Window #7 Window{{7f u0 com.x/com.x.Y}}:\n    mFrame={frame} last={frame}\n  Window #6 Window{{6e u0 com.x/com.x.Z}}:\n    mFrame=[0,0][480,764]\n  mCurrentFocus=Window{{7f u0 com.x/com.x.Y}}\n",
                dump(
                    "<node bounds=\"[0,39][480,395]\"><node text=\"OK\" bounds=\"[241,311][456,383]\" /></node>"
                )
            );
            let (dump, reports) = split(&output.into());
            let tree = read_screen(dump, &reports).unwrap();
            let Rect { left, top, right, bottom } = tree.nodes[1].bounds;
            [left, top, right, bottom]
        };
        assert_eq!(screen("[0,223][480,579]", "false"), [241, 495, 456, 567]);
        let as_dumped = [241, 311, 456, 383];
        assert_eq!(screen("[0,39][480,395]", "false"), as_dumped);
        assert_eq!(screen("[0,223][480,600]", "false"), as_dumped, "a part of the window");
        assert_eq!(screen("[0,223][480,579]", "true"), as_dumped, "the keyboard covers a part");
        assert_eq!(screen("[0,79][480,435]", "true"), [241, 351, 456, 423]);
    }

    #[test]
    fn text_around_the_xml_is_ignored() {
        let noisy =
            format!("java.io.FileNotFoundException: theme.xml\n\tat x\n{}", dump("<node/>"));
        assert_eq!(read_dump(noisy.as_bytes()).unwrap().nodes.len(), 1);
    }

    #[test]
    fn incomplete_dump_is_rejected() {
        let whole = dump("<node text=\"a\"><node/></node>");
        let end = whole.find("</hierarchy>").unwrap() + "</hierarchy>".len();
        for kept in 0..end {
            assert!(read_dump(&whole.as_bytes()[..kept]).is_err(), "{kept} bytes were accepted");
        }
        for words in ["ERROR: could not get idle state.\n", "Killed\n", ""] {
            let error = read_dump(words.as_bytes()).unwrap_err();
            assert!(matches!(error, Error::NotReady { .. }), "{error}");
            assert!(error.to_string().contains(words.trim()), "{error}");
        }
    }

    #[test]
    fn failed_dump_reports_the_phones_message_and_cause() {
        let check = |text: &str, reason: &str| {
            let error = read_dump(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
        };
        check("ERROR: could not get idle state.\r\n", "keeps moving");
        let null = "ERROR: null root node returned by UiTestAutomationBridge.\n";
        check(null, "the screen is off");
        check("Killed\r\n", "an emoji");
        check(
            "java.lang.IllegalStateException: UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@41bd3ad8already registered!\n\tat android.os.Parcel.readException(Parcel.java:1476)\n",
            "another tool is reading the screen",
        );
        let may_be_held = |output: &'static str| {
            matches!(read_output(Bytes::from(output)), Err(DumpError::MayBeHeld(_)))
        };
        assert!(may_be_held("IllegalStateException: xalready registered!\n") && may_be_held(""));
        assert!(!may_be_held(null));
        check("", "(no output) (uiautomator was killed: another tool");
        check(
            "/system/bin/sh: uiautomator: not found",
            "dump the screen: \"/system/bin/sh: uiautomator: not found\"",
        );
    }

    #[test]
    fn windows_of_the_first_display_keep_their_layers() {
        // In the format of `uiautomator dump --windows` (AOSP's `AccessibilityNodeInfoDumper`): a
        // window's child windows come before its own hierarchy.
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
        let SavedTree { tree, faults } = read_saved(file.as_bytes()).unwrap();
        let out: Vec<_> = tree.nodes.iter().map(|node| (&*node.text, node.order)).collect();
        assert_eq!(out, [("child", 5), ("dialog", 4), ("app", 1)]);
        assert_eq!(tree.rotation, 1);
        assert_eq!(
            faults.iter().map(|fault| (fault.kind, fault.count)).collect::<Vec<_>>(),
            [(ParseWarningKind::OtherDisplay, 1)]
        );
        assert_eq!(read_dump(file.as_bytes()).unwrap(), tree);
        let cut = &file.as_bytes()[..file.len() - 20];
        assert!(read_dump(cut).is_err());
        assert_eq!(read_saved(cut).unwrap().tree.nodes, tree.nodes);
    }

    #[test]
    fn live_dump_with_lost_nodes_is_rejected() {
        for nodes in
            ["<node>", "</node>", "<node text=\"a/><node text=\"b\"/>", "</hierarchy><hierarchy>"]
        {
            let error = read_dump(dump(nodes).as_bytes()).unwrap_err();
            assert!(matches!(error, Error::Unreadable { .. }), "{nodes}: {error}");
        }
        let invalid = dump("<node text=\"a\" bounds=\"[a,b][c,d]\"/>");
        assert!(read_dump(invalid.as_bytes()).unwrap().nodes[0].bounds.is_empty());
    }

    #[test]
    fn unusual_characters_do_not_fail_the_dump() {
        let invalid = dump("<node text=\"a\u{1}b &nope; \u{fffd}\"/>");
        assert_eq!(read_dump(invalid.as_bytes()).unwrap().nodes[0].text, "a\u{1}b &nope; \u{fffd}");
    }

    #[test]
    fn too_deep_tree_is_truncated() {
        let deep = dump(&format!("{}{}<node/>", "<node>".repeat(9000), "</node>".repeat(9000)));
        let tree = read_dump(deep.as_bytes()).unwrap();
        assert_eq!(tree.nodes.len(), MAX_DEPTH + 1);
        assert_eq!(tree.nodes.last().unwrap().depth, 0);
    }

    #[test]
    fn dump_with_too_many_nodes_is_rejected() {
        assert_eq!(
            read_dump(dump(&"<n/>".repeat(MAX_NODES)).as_bytes()).unwrap().nodes.len(),
            MAX_NODES
        );
        let error = read_dump(dump(&"<n/>".repeat(MAX_NODES + 1)).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("more nodes than any real screen has"), "{error}");
    }

    proptest! {
        #[test]
        fn no_input_panics(middle in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut output = b"<hierarchy rotation=\"0\"><node ".to_vec();
            output.extend(middle);
            let _ = read_saved(&output);
            output.extend(b"/></hierarchy>");
            let _ = (read_dump(&output), read_saved(&output));
        }
    }
}

//! The screen as a short list for a model: one line per element, indented as the elements are
//! nested.
//!
//! Start with [`outline`]. A line is `role "name" "more texts" = "value" [states] ref`; parts that
//! say nothing are left out. The `lines` module decides which nodes get a line and which texts it
//! takes over.

mod lines;
mod more;
mod numbered;
mod role;

use std::fmt::{self, Write as _};

use thumbwire_base::truncate;
use thumbwire_base::visible::{self, name};
use thumbwire_device::find::{HiddenReason, Visibility};
use thumbwire_device::{Foreground, Node, Rect, WindowKind};

use super::{ElementRef, Snapshot};
use lines::{Line, labelled_by, lines};
pub use numbered::{LinePlace, NumberedLine, numbered_outline};

/// How much a line says about its element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutlineDetail {
    /// What a person sees, and the ref.
    #[default]
    Compact,
    /// The resource id and the bounds in screenshot pixels too.
    Full,
}

/// The maximum number of lines (Mobile MCP server specification, resource limits: nodes of a tree).
const MAX_LINES: usize = 1000;

/// The maximum size in bytes; a screen with a thousand typical lines stays below.
const MAX_BYTES: usize = 128 << 10;

/// The maximum length of a text, in characters.
const MAX_TEXT: usize = 4000;

/// The screen as an indented list. The first line names the app and activity in front.
///
/// Every element that takes taps, long presses, checks, scrolling or text has a ref. A row that is
/// one tap target is one line with all its texts. The list is cut in document order, and the last
/// line counts what is left out.
pub fn outline(snapshot: &Snapshot, detail: OutlineDetail) -> String {
    Outline::new(snapshot, detail).to_string()
}

/// The element that a text means in the list: a switch, check box or slider is named by the text
/// beside it, and taps on that text would do nothing. Any other node means itself.
pub(crate) fn named_element(snapshot: &Snapshot, node: usize) -> usize {
    labelled_by(snapshot, node).unwrap_or(node)
}

/// The list of [`outline`] in parts.
pub(super) struct Outline {
    /// What is in front.
    pub(super) header: String,
    pub(super) lines: Vec<OutlineLine>,
    /// Instead of lines, if there are none: why, and what helps.
    nothing: Option<String>,
    /// How many lines did not fit.
    pub(super) omitted: usize,
}

/// A line of the list.
#[derive(PartialEq, Eq)]
pub(super) struct OutlineLine {
    /// How many lines it is nested in.
    pub(super) depth: usize,
    /// Without the indentation.
    pub(super) text: String,
    /// The ref that it ends in, if any.
    pub(super) id: Option<ElementRef>,
}

impl Outline {
    pub(super) fn new(snapshot: &Snapshot, detail: OutlineDetail) -> Self {
        let lines = lines(snapshot);
        let mut bytes = 0;
        let mut written = Vec::with_capacity(lines.len().min(MAX_LINES));
        for line in lines.iter().take(MAX_LINES) {
            if bytes > MAX_BYTES {
                break;
            }
            let text = write_line(snapshot, line, &RefStyle { snapshot, detail });
            bytes += line.depth + text.len() + 1;
            let id = snapshot.ref_of(line.node).filter(|_| line.is_target);
            written.push(OutlineLine { depth: line.depth, text, id });
        }
        Self {
            header: header(snapshot, "mobile_unlock opens it"),
            nothing: lines.is_empty().then(|| {
                format!(
                    "{}. Take a picture (mobile_take_screenshot) and tap by coordinates",
                    nothing(snapshot)
                )
            }),
            omitted: lines.len() - written.len(),
            lines: written,
        }
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.header)?;
        for OutlineLine { depth, text, .. } in &self.lines {
            write!(f, "\n{:depth$}{text}", "")?;
        }
        if let Some(nothing) = &self.nothing {
            write!(f, "\n{nothing}")?;
        }
        match self.omitted {
            0 => Ok(()),
            omitted => write!(f, "\n({omitted} more elements left out)"),
        }
    }
}

/// The first line: what is in front, and what is special about the screen. `unlock` says what opens
/// a locked phone.
fn header(snapshot: &Snapshot, unlock: &str) -> String {
    let tree = &snapshot.tree;
    let mut out = match &tree.front {
        Foreground::App(front) => {
            let screen = front.screen.strip_prefix(&front.app.0).unwrap_or(&front.screen);
            let app = name(&front.app.0);
            match screen {
                "" => app.into_owned(),
                screen => format!("{app} {}", name(screen)),
            }
        }
        Foreground::Unknown => {
            let root = tree.nodes.first().filter(|root| !root.package.is_empty());
            root.map_or_else(String::new, |root| name(&root.package).into_owned())
        }
        front => front.to_string(),
    };
    if out.is_empty() {
        out.push_str("unknown app");
    }
    if let Some(state) = tree.front.lock() {
        let _ = write!(out, " ({state}; {unlock})");
    }
    match tree.window {
        WindowKind::Main => {}
        WindowKind::Dialog => out.push_str(" [dialog]"),
        WindowKind::Popup => out.push_str(" [popup]"),
    }
    if tree.rotation % 2 == 1 {
        out.push_str(" [landscape]");
    }
    let is_keyboard = |node: &Node| &*node.class == "XCUIElementTypeKeyboard";
    if tree.keyboard.is_some() || tree.nodes.iter().any(is_keyboard) {
        out.push_str(" [keyboard shown]");
    }
    out
}

/// For a screen without lines: how many nodes it has, and why none is shown.
fn nothing(snapshot: &Snapshot) -> String {
    const REASONS: [HiddenReason; 5] = [
        HiddenReason::NoSize,
        HiddenReason::OffScreen,
        HiddenReason::OutsideParents,
        HiddenReason::NotDisplayed,
        HiddenReason::UnderKeyboard,
    ];
    let all = snapshot.tree.nodes.len();
    let hidden = |reason| {
        let is = |showing: &&Visibility| **showing == Visibility::Hidden(reason);
        snapshot.showing.iter().filter(is).count()
    };
    let counted = REASONS.map(|reason| (hidden(reason), reason.reason()));
    let mut parts: Vec<String> = counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| format!("{count} {reason}"))
        .collect();
    let empty = all - counted.iter().map(|(count, _)| count).sum::<usize>();
    if empty > 0 {
        parts.push(format!("{empty} without text or input"));
    }
    let reason = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("nothing to read or tap in {all} nodes{reason}")
}

/// What a kind of list shows besides roles, texts and states.
trait Style {
    /// The longest text, in characters.
    const MAX_TEXT: usize;

    /// What is shown in place of a missing name.
    fn stand_in(&self, line: &Line) -> Option<String>;

    /// Where an element is.
    fn place(&self, line: &Line) -> Option<String>;

    /// The id that ends the line of a node.
    fn id(&self, node: usize, is_target: bool) -> Option<String>;
}

/// Lines that end in refs.
struct RefStyle<'a> {
    snapshot: &'a Snapshot,
    detail: OutlineDetail,
}

impl Style for RefStyle<'_> {
    const MAX_TEXT: usize = MAX_TEXT;

    fn stand_in(&self, line: &Line) -> Option<String> {
        if self.detail == OutlineDetail::Full || !line.needs_name {
            return None;
        }
        // Its id says what it is for; without an id, its place.
        let id = short_id(&self.snapshot.tree.nodes[line.node].id);
        Some(id.unwrap_or_else(|| place(self.snapshot.shown(line.node))))
    }

    fn place(&self, line: &Line) -> Option<String> {
        if self.detail == OutlineDetail::Compact {
            return None;
        }
        let id = short_id(&self.snapshot.tree.nodes[line.node].id);
        let id = id.map_or(String::new(), |id| format!("{id} "));
        Some(id + &place(self.snapshot.shown(line.node)))
    }

    fn id(&self, node: usize, is_target: bool) -> Option<String> {
        self.snapshot.ref_of(node).filter(|_| is_target).map(|id| id.to_string())
    }
}

fn write_line<S: Style>(snapshot: &Snapshot, line: &Line, style: &S) -> String {
    let words = write_words(snapshot, line, style);
    let parts = [Some(words), style.place(line), style.id(line.node, line.is_target)];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// A line without its place and its id.
fn write_words<S: Style>(snapshot: &Snapshot, line: &Line, style: &S) -> String {
    let mut out = String::new();
    let mut part = |text: &str| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(text);
    };
    let quoted = |text: &str| quoted(text, S::MAX_TEXT);
    if !line.role.is_empty() {
        part(line.role);
    }
    line.texts.iter().for_each(|text| part(&quoted(text)));
    let is_nameless = line.texts.is_empty() && line.value.is_none() && line.placeholder.is_none();
    if let Some(name) = Some(line).filter(|_| is_nameless).and_then(|line| style.stand_in(line)) {
        part(&name);
    }
    if let Some(value) = &line.value {
        part(&format!("= {}", quoted(value)));
    }
    if let Some(hint) = &line.placeholder {
        part(&format!("placeholder {}", quoted(hint)));
    }
    line.states.iter().for_each(|state| part(&format!("[{state}]")));
    if let Some(over) = snapshot.covered_by(line.node).filter(|_| line.is_target) {
        match style.id(over, true) {
            Some(over) => part(&format!("[covered by {over}]")),
            None => part("[covered]"),
        }
    }
    out
}

/// Bounds in screenshot pixels.
fn place(Rect { left, top, right, bottom }: Rect) -> String {
    format!("[{left},{top}][{right},{bottom}]")
}

/// The last part of a resource id with a `#`: `#save` for `com.app:id/save`. A page chooses the ids
/// of its elements freely (`AccessibilityNodeInfo.getViewIdResourceName`): anything but a plain
/// word is in quotes.
fn short_id(id: &str) -> Option<String> {
    let short = id.rsplit_once('/').map_or(id, |(_, short)| short);
    (!short.is_empty()).then(|| format!("#{}", name(short)))
}

/// A text in quotes, so that what an app shows cannot look like a line of the list.
fn quoted(text: &str, longest: usize) -> String {
    visible::quoted(&truncate(text, longest))
}

#[cfg(test)]
mod tests;

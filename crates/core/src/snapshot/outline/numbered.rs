//! The list with the numbers of [`Controls`] in place of refs, for a model that acts by numbers and
//! coordinates.

use thumbwire_device::find::is_slider;
use thumbwire_device::{Point, Rect, text_field};

use super::lines::{Line, lines};
use super::{Style, header, nothing, write_words};
use crate::snapshot::{ControlNumber, Controls};

/// A line of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NumberedLine {
    /// Role, texts and states, without indentation, place and number.
    pub text: String,
    /// How many lines it is nested in.
    pub depth: usize,
    /// Its number; `None` for the first line, and for elements that are not controls.
    pub number: Option<ControlNumber>,
    /// Where it is, if it can be acted on.
    pub place: Option<LinePlace>,
    /// Whether text is typed into it now.
    pub is_focused: bool,
}

impl NumberedLine {
    /// The line without its place: indentation, text and number.
    pub fn without_place(&self) -> String {
        let number = self.number.map_or(String::new(), |number| format!(" {number}"));
        format!("{:depth$}{}{number}", "", self.text, depth = self.depth)
    }
}

/// Where an element is, in screenshot pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinePlace {
    /// The centre of an element to tap.
    Centre(Point),
    /// The visible part of an element that scrolls.
    Scrolls(Rect),
    /// The visible part of an element that is set by a touch at a place of it.
    Slides(Rect),
}

/// The list of [`outline`](super::outline) with control numbers, which texts have too, and with
/// places. The first line names what is in front.
pub fn numbered_outline(controls: &Controls) -> Vec<NumberedLine> {
    let snapshot = &*controls.snapshot;
    let style = NumberStyle(controls);
    let text = header(snapshot, UNLOCK);
    let mut out = vec![NumberedLine { text, ..NumberedLine::default() }];
    for line in &lines(snapshot) {
        let node = &snapshot.tree.nodes[line.node];
        out.push(NumberedLine {
            text: write_words(snapshot, line, &style),
            depth: line.depth,
            number: controls.number_of(line.node),
            place: line.is_target.then(|| place(controls, line.node)),
            is_focused: node.flags.focused && text_field::is_text_field(node),
        });
    }
    if out.len() == 1 {
        let text = format!("({})", nothing(snapshot));
        out.push(NumberedLine { text, ..NumberedLine::default() });
    }
    out
}

fn place(controls: &Controls, at: usize) -> LinePlace {
    let shown = controls.snapshot.shown(at);
    let node = &controls.snapshot.tree.nodes[at];
    match (node.flags.scrollable, is_slider(node)) {
        (_, true) => LinePlace::Slides(shown),
        (true, false) => LinePlace::Scrolls(shown),
        (false, false) => LinePlace::Centre(shown.center()),
    }
}
/// What opens a locked phone, for a model that has keys and swipes.
const UNLOCK: &str = "KEYCODE_WAKEUP and a swipe up open it, unless it asks for a code";

struct NumberStyle<'a>(&'a Controls);

impl Style for NumberStyle<'_> {
    const MAX_TEXT: usize = 160;

    fn stand_in(&self, line: &Line) -> Option<String> {
        let id = super::short_id(&self.0.snapshot.tree.nodes[line.node].id);
        id.filter(|_| line.needs_name)
    }

    fn place(&self, _: &Line) -> Option<String> {
        None
    }

    fn id(&self, node: usize, _: bool) -> Option<String> {
        self.0.number_of(node).map(|number| number.to_string())
    }
}

//! The list with the numbers of [`Controls`] in place of refs, for a model that acts by numbers and coordinates.

use super::lines::{Line, lines};
use super::{Style, header, nothing, place, write_line};
use crate::snapshot::{ControlNumber, Controls};

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedLine {
    /// With its indentation and its number.
    pub text: String,
    /// The number that it ends in; `None` for the first line, and for what is no control.
    pub number: Option<ControlNumber>,
}

/// The list of [`outline`](super::outline) with control numbers, which texts have too. An element that takes input also
/// has its centre, as `@540,1200`; one that scrolls or slides has its bounds.
pub fn numbered_outline(controls: &Controls) -> Vec<NumberedLine> {
    let snapshot = &*controls.snapshot;
    let style = NumberStyle(controls);
    let mut out = vec![NumberedLine { text: header(snapshot, UNLOCK), number: None }];
    for line in &lines(snapshot) {
        let text =
            format!("{:depth$}{}", "", write_line(snapshot, line, &style), depth = line.depth);
        out.push(NumberedLine { text, number: controls.number_of(line.node) });
    }
    if out.len() == 1 {
        out.push(NumberedLine { text: format!("({})", nothing(snapshot)), number: None });
    }
    out
}

/// What opens a locked phone, for a model that has keys and swipes.
const UNLOCK: &str = "KEYCODE_WAKEUP and a swipe up open it, unless it asks for a code";

struct NumberStyle<'a>(&'a Controls);

impl Style for NumberStyle<'_> {
    const LONGEST_TEXT: usize = 160;

    fn stand_in(&self, line: &Line) -> Option<String> {
        let id = super::short_id(&self.0.snapshot.tree.nodes[line.node].id);
        id.filter(|_| line.needs_name)
    }

    fn place(&self, line: &Line) -> Option<String> {
        let shown = self.0.snapshot.shown(line.node);
        let node = &self.0.snapshot.tree.nodes[line.node];
        let is_area = node.flags.scrollable || thumbwire_device::find::is_slider(node);
        let centre = shown.center();
        let place = if is_area { place(shown) } else { format!("@{},{}", centre.x, centre.y) };
        Some(place).filter(|_| line.is_target)
    }

    fn id(&self, node: usize, _: bool) -> Option<String> {
        self.0.number_of(node).map(|number| number.to_string())
    }
}

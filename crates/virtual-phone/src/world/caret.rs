//! The caret: where a touch puts it, and how keys move it from line to line.
//!
//! Both read the lines that the field painted, so a wrapped or scrolled text is hit where it is
//! seen. As on Android, a touch puts the caret at the nearest gap between two characters
//! (`Layout.getOffsetForHorizontal`), and MOVE_HOME and MOVE_END go to the ends of the caret's
//! line, not of the text (`ArrowKeyMovementMethod.home`).

use crate::layout::{LaidOutField, line_of, mask_password, setting};
use crate::scene::Node;
use crate::world::World;
use std::ops::Range;
use std::sync::Arc;
use thumbwire_virtual_screen::PaintOp;
use thumbwire_virtual_screen::Point;
use thumbwire_virtual_screen::text::{ShapedText, TextStyle};

/// The text of a field as it is painted.
struct PaintedText {
    /// What is painted: dots for a password.
    shown: String,
    /// What the field holds.
    text: String,
    shaped: Arc<ShapedText>,
    x: f32,
    y: f32,
    across: f32,
    align: f32,
    style: TextStyle,
}

impl PaintedText {
    /// The left edge of a line, in pixels of the screen; computed as the renderer does.
    fn left(&self, line: usize) -> f32 {
        let Some(line) = self.shaped.lines.get(line) else { return self.x };
        let align = if line.rtl && self.align == 0.0 { 1.0 } else { self.align };
        self.x + ((self.across - line.width) * align).max(0.0).round()
    }

    /// The bytes of a line between which the caret can be. A line feed belongs to the next line,
    /// and so does the space at which a line is wrapped.
    fn places(&self, line: usize) -> Range<usize> {
        let lines = &self.shaped.lines;
        let whole = lines.get(line).map_or(0..0, |line| line.range.clone());
        let whole = whole.start.min(self.shown.len())..whole.end.min(self.shown.len());
        let piece = &self.shown[whole.clone()];
        let end = match piece.strip_suffix('\n') {
            Some(rest) => rest.len(),
            None if line + 1 < lines.len() => piece.trim_end_matches(' ').len(),
            None => piece.len(),
        };
        whole.start..whole.start + end
    }

    /// The position in the field's text for one in the painted text.
    fn in_text(&self, at: usize) -> usize {
        if self.shown == self.text {
            return at;
        }
        let before = self.shown[..at].chars().count();
        self.text.char_indices().nth(before).map_or(self.text.len(), |(at, _)| at)
    }
}

impl World {
    /// Where in the field's text a touch at `at` puts the caret, in bytes: between the two nearest
    /// characters; beyond the end of a line, at its end.
    pub(crate) fn caret_at(&mut self, node: &Node, at: Point) -> usize {
        let Some(painted) = self.painted_text(node) else { return node.text.len() };
        if painted.text.is_empty() {
            return 0;
        }
        let lines = painted.shaped.lines.len();
        let below = ((at.y as f32 - painted.y) / painted.shaped.line).floor().max(0.0);
        let line = (below as usize).min(lines.saturating_sub(1));
        let left = painted.left(line);
        let along = match painted.shaped.lines.get(line) {
            Some(line) if line.rtl => left + line.width - at.x as f32,
            _ => at.x as f32 - left,
        };
        painted.in_text(self.nearest(&painted, line, along))
    }

    /// Moves the caret to the start of its line.
    pub(crate) fn caret_to_line_start(&mut self) {
        let line = self.caret_line().map(|(painted, line)| painted.places(line));
        self.edit(|_, caret| *caret = line.map_or(0, |line| line.start));
    }

    /// Moves the caret to the end of its line.
    pub(crate) fn caret_to_line_end(&mut self) {
        let line = self.caret_line().map(|(painted, line)| painted.places(line));
        self.edit(|text, caret| *caret = line.map_or(text.len(), |line| line.end).min(text.len()));
    }

    /// Moves the caret to the line above (-1) or below (1), as far along as it was. `false` if
    /// there is none.
    pub(crate) fn caret_by_line(&mut self, way: i32) -> bool {
        let Some((painted, line)) = self.caret_line() else { return false };
        let Some(to) = line.checked_add_signed(way as isize) else { return false };
        if to >= painted.shaped.lines.len() {
            return false;
        }
        let Some(caret) = self.input.focused_field().map(|focus| focus.caret) else { return false };
        let start = painted.places(line).start;
        let before = painted.shown.get(start..caret).unwrap_or_default();
        let along = self.screen.advance(before, painted.style);
        let place = self.nearest(&painted, to, along);
        self.edit(|_, caret| *caret = place);
        true
    }

    /// The lines of the focused field, if it has several, and the caret's line.
    fn caret_line(&mut self) -> Option<(PaintedText, usize)> {
        let focus = self.input.focused_field()?;
        if !focus.field.is_some_and(|traits| traits.multi_line) {
            return None;
        }
        let (address, caret) = (focus.address.clone(), focus.caret);
        let window = self.scene().focused()?;
        let node = window.root.walk().find(|node| node.address == address)?;
        let node = Node { children: Vec::new(), ..node.clone() };
        let painted = self.painted_text(&node).filter(|painted| !painted.text.is_empty())?;
        let line = line_of(&painted.shaped, caret);
        Some((painted, line))
    }

    fn painted_text(&self, node: &Node) -> Option<PaintedText> {
        let fields = self.screen.fields();
        let LaidOutField { text, style, traits, .. } =
            fields.iter().find(|field| field.address == node.address)?.clone();
        let mut inks = node.inks.iter().rev().map(|op| &op.ink);
        let (x, y, shaped, across, align) = inks.find_map(|ink| match ink {
            PaintOp::Text { x, y, shaped, across, align, .. } => {
                Some((*x, *y, Arc::clone(shaped), *across, *align))
            }
            _ => None,
        })?;
        let shown = if traits.password { mask_password(&text) } else { text.clone() };
        let style = setting(&style.lines(0), self.screen.display().scale(), None);
        Some(PaintedText { shown, text, shaped, x, y, across, align, style })
    }

    /// The place for the caret in a line that is nearest to `along` pixels from the line's start.
    fn nearest(&mut self, painted: &PaintedText, line: usize, along: f32) -> usize {
        let places = painted.places(line);
        let piece = &painted.shown[places.clone()];
        let gaps: Vec<usize> =
            piece.char_indices().map(|(at, _)| at).chain([piece.len()]).collect();
        let mut far = |gap: usize| self.screen.advance(&piece[..gap], painted.style);
        let after = gaps.partition_point(|&gap| far(gap) <= along);
        let (Some(&left), right) = (gaps.get(after.saturating_sub(1)), gaps.get(after)) else {
            return places.start;
        };
        let gap = match right {
            Some(&right) if far(right) - along < along - far(left) => right,
            _ => left,
        };
        places.start + gap
    }
}

//! Drawings by apps: the background of a map, the placeholder of a photo.
//!
//! A picture is a list of marks in dp from its top left corner. It is painted and never listed in a
//! dump, like a real app's canvas.

use crate::colour::Colour;

/// A drawing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    /// From the back to the front.
    pub marks: Vec<Mark>,
}

/// One mark of a drawing, in dp.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Mark {
    /// The whole picture in one colour.
    Ground(Colour),
    /// A closed polygon.
    Area { points: Vec<(f32, f32)>, colour: Colour, smooth: bool },
    /// An open line with round ends.
    Line { points: Vec<(f32, f32)>, width: f32, colour: Colour, smooth: bool },
    /// Many straight lines of one kind, painted at once so that crossings are clean.
    Lines { lines: Vec<[(f32, f32); 2]>, width: f32, colour: Colour },
    /// A filled circle.
    Dot { at: (f32, f32), radius: f32, colour: Colour },
    /// A filled rectangle; without rounded corners it is aligned to whole pixels.
    RoundRect { at: (f32, f32), size: (f32, f32), radius: f32, colour: Colour },
    /// An icon centred at a place.
    Icon { at: (f32, f32), icon: crate::icons::Icon, size: f32, colour: Colour },
    /// A short text centred at a place; without kerning, for a map's labels.
    Label { at: (f32, f32), text: String, size: f32, colour: Colour },
}

impl Picture {
    /// The same, scaled around a point; dots, icons and labels keep their size.
    pub fn scaled(mut self, by: f32, around: (f32, f32)) -> Self {
        if by == 1.0 {
            return self;
        }
        let moved = |at: &mut (f32, f32)| {
            at.0 = around.0 + (at.0 - around.0) * by;
            at.1 = around.1 + (at.1 - around.1) * by;
        };
        for mark in &mut self.marks {
            match mark {
                Mark::Ground(_) => {}
                Mark::Area { points, .. } => points.iter_mut().for_each(moved),
                Mark::Line { points, width, .. } => {
                    points.iter_mut().for_each(moved);
                    *width *= by;
                }
                Mark::Lines { lines, width, .. } => {
                    lines.iter_mut().flatten().for_each(moved);
                    *width *= by;
                }
                Mark::RoundRect { at, size, .. } => {
                    moved(at);
                    *size = (size.0 * by, size.1 * by);
                }
                Mark::Dot { at, .. } | Mark::Icon { at, .. } | Mark::Label { at, .. } => moved(at),
            }
        }
        self
    }
}

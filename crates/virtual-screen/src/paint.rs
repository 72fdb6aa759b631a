//! What can be painted. All coordinates are screen pixels.

use std::sync::Arc;

use crate::colour::Colour;
use crate::geometry::Rect;
use crate::picture::Picture;
use crate::text::ShapedText;

/// A paint operation and its clip rectangle.
#[derive(Debug, Clone, PartialEq)]
pub struct ClippedOp {
    /// Nothing is painted outside.
    pub clip: Rect,
    /// What is painted.
    pub ink: PaintOp,
}

/// A paint operation. A `radius` rounds the corners of its box.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum PaintOp {
    /// A soft shadow around and below a box.
    Shadow { rect: Rect, radius: f32, depth: f32 },
    /// A box of one colour.
    Fill { rect: Rect, radius: f32, colour: Colour },
    /// A box whose colour changes from top to bottom.
    Gradient { rect: Rect, radius: f32, from: Colour, to: Colour },
    /// The border of a box, inside of it.
    Stroke { rect: Rect, radius: f32, width: f32, colour: Colour },
    /// Text from its top left corner; `align` is its place in `across` pixels, from 0 (left) to 1.
    Text { x: f32, y: f32, shaped: Arc<ShapedText>, colour: Colour, across: f32, align: f32 },
    /// A drawing of an app, with `scale` pixels a dp.
    Picture { rect: Rect, radius: f32, scale: f32, picture: Arc<Picture> },
}

//! What a view paints into its box: fills and borders, text, icons, and a field with its caret.
//!
//! This part of the layout turns a placed view into paint operations; `layout` decides where boxes
//! are.

use std::sync::Arc;

use crate::layout::{FocusMark, PlacementPass, setting};
use crate::theme;
use crate::theme::{Align, Colour};
use crate::view::{Content, Field, View};
use thumbwire_virtual_screen::Rect;
use thumbwire_virtual_screen::text::{ShapedText, TextStyle};
use thumbwire_virtual_screen::{ClippedOp, PaintOp};

impl PlacementPass<'_, '_, '_> {
    pub(super) fn paint_box(&self, view: &View, rect: Rect, clip: Rect, inks: &mut Vec<ClippedOp>) {
        let scale = self.cx.scale;
        let radius = view.look.radius * scale;
        let mut push = |ink| inks.push(ClippedOp { clip, ink });
        if view.look.depth > 0.0 {
            push(PaintOp::Shadow { rect, radius, depth: view.look.depth * scale });
        }
        match (view.look.fill, view.look.fill_to) {
            (Some(from), Some(to)) => push(PaintOp::Gradient { rect, radius, from, to }),
            (Some(colour), None) => push(PaintOp::Fill { rect, radius, colour }),
            _ => {}
        }
        if let Some((width, colour)) = view.look.border {
            push(PaintOp::Stroke { rect, radius, width: width * scale, colour });
        }
    }

    /// Paints the content of a box, and returns the caret's position if there is one.
    pub(super) fn paint_content(
        &mut self,
        view: &View,
        inner: Rect,
        clip: Rect,
        focus: Option<&FocusMark>,
        inks: &mut Vec<ClippedOp>,
    ) -> Option<Rect> {
        let scale = self.cx.scale;
        let fade = |colour: Colour| if view.enabled { colour } else { colour.alpha(97) };
        match &view.content {
            Content::Nothing => {}
            Content::Text(style) => {
                let wrap = Some(inner.width() as f32 + 1.0);
                let shaped = self.cx.types.shape(&view.text, setting(style, scale, wrap));
                inks.push(ClippedOp {
                    clip,
                    ink: paint_text(shaped, inner, fade(style.colour), self.along(style.align)),
                });
            }
            Content::Icon(icon, size, colour) => {
                let shaped = self.cx.types.icon(*icon, (size * scale).round());
                inks.push(ClippedOp {
                    clip,
                    ink: paint_text(shaped, inner, fade(*colour), self.along(Align::Center)),
                });
            }
            Content::Picture(picture) => {
                let radius = view.look.radius * scale;
                let picture = Arc::clone(picture);
                inks.push(ClippedOp {
                    clip,
                    ink: PaintOp::Picture { rect: inner, radius, scale, picture },
                });
            }
            Content::Field(field) => {
                return self.field_inks(view, field, inner, clip, focus, inks);
            }
        }
        None
    }

    /// How much of a line's free space goes to its left.
    fn along(&self, align: Align) -> f32 {
        match align {
            Align::Center => 0.5,
            Align::Start if self.mirrored => 1.0,
            Align::Start => 0.0,
        }
    }

    fn field_inks(
        &mut self,
        view: &View,
        field: &Field,
        inner: Rect,
        clip: Rect,
        focus: Option<&FocusMark>,
        inks: &mut Vec<ClippedOp>,
    ) -> Option<Rect> {
        let scale = self.cx.scale;
        let across = inner.width().max(0) as f32;
        let screen = clip;
        let clip = clip.intersect(&inner);
        let hidden = field.traits.password.then(|| mask_password(&view.text));
        let text = hidden.as_deref().unwrap_or(&view.text);
        let one_line = !field.traits.multi_line;
        let (shown, colour) = if text.is_empty() {
            (field.hint.as_str(), theme::OUTLINE)
        } else {
            (text, field.style.colour)
        };
        let loose = setting(&field.style.lines(0), scale, None);
        let shaped = match (one_line, focus.is_some() && !text.is_empty()) {
            (true, true) => self.cx.types.shape(shown, loose),
            (true, false) => {
                let style = field.style.lines(1);
                self.cx.types.shape(shown, setting(&style, scale, Some(across)))
            }
            (false, _) => {
                self.cx.types.shape(shown, TextStyle { wrap: Some(across + 1.0), ..loose })
            }
        };
        let top = if one_line {
            inner.top + (inner.height() - shaped.height as i32) / 2
        } else {
            inner.top
        };
        let (mut slide, mut place, mut aside) = (0.0_f32, None, 0);
        let first = shaped.lines.first();
        // A right-to-left line that is too long extends beyond the box on the left.
        let beyond = first.filter(|line| one_line && line.rtl);
        let beyond = beyond.map(|line| (line.width - across).max(0.0));
        if let Some(focus) = focus {
            let caret = caret_bytes(&view.text, text, focus.caret);
            let line = if text.is_empty() { 0 } else { line_of(&shaped, caret) };
            let from = shaped.lines.get(line).map_or(0, |line| line.range.start).min(caret);
            let x = self.cx.types.advance(text.get(from..caret).unwrap_or_default(), loose);
            let width = (2.0 * scale).round().max(1.0);
            if one_line {
                slide = (x + width - across).max(0.0);
            }
            // At the very start it is drawn before the box, so that it does not cross out the hint;
            // if there is no room, the hint moves.
            let back = if caret == 0 { width } else { 0.0 };
            let along = match shaped.lines.get(line) {
                Some(line) if line.rtl => across - x + slide,
                _ if self.mirrored && text.is_empty() => across,
                Some(line) if self.mirrored => (across - line.width).max(0.0) + x - slide,
                _ => x - slide - back,
            };
            let wanted = inner.left + along as i32;
            let left = wanted.min(screen.right - width as i32).max(screen.left);
            if text.is_empty() && left != wanted {
                aside = left - wanted;
            }
            let top = top + (line as f32 * shaped.line) as i32;
            let rect = Rect::new(left, top, left + width as i32, top + shaped.line as i32);
            place = Some(rect);
            let clip = clip.grown(width as i32).intersect(&screen);
            inks.push(ClippedOp {
                clip,
                ink: PaintOp::Fill { rect, radius: 0.0, colour: theme::PRIMARY },
            });
        }
        let slide = beyond.map_or(slide, |beyond| beyond - slide);
        let x = inner.left as f32 - slide.round() + aside as f32;
        inks.push(ClippedOp {
            clip,
            ink: PaintOp::Text {
                x,
                y: top as f32,
                shaped,
                colour,
                across,
                align: self.along(Align::Start),
            },
        });
        place
    }
}

/// The line that contains byte `caret`; at a line break, the later line.
pub(crate) fn line_of(shaped: &ShapedText, caret: usize) -> usize {
    shaped.lines.iter().rposition(|line| line.range.start <= caret).unwrap_or(0)
}

/// The caret's position in `shown`, which has one dot for each character of a password.
fn caret_bytes(text: &str, shown: &str, caret: usize) -> usize {
    if text == shown {
        return caret.min(text.len());
    }
    let before = text.get(..caret).unwrap_or(text).chars().count();
    shown.char_indices().nth(before).map_or(shown.len(), |(at, _)| at)
}

pub(crate) fn mask_password(text: &str) -> String {
    "•".repeat(text.chars().count())
}

fn paint_text(shaped: Arc<ShapedText>, inner: Rect, colour: Colour, align: f32) -> PaintOp {
    let y = inner.top as f32 + ((inner.height() as f32 - shaped.height) / 2.0).round().max(0.0);
    PaintOp::Text { x: inner.left as f32, y, shaped, colour, across: inner.width() as f32, align }
}

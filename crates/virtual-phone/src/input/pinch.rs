//! Two fingers on the screen: when their distance counts as zooming.
//!
//! The rules are those of Android's `ScaleGestureDetector`, which nearly all apps use: it begins
//! once the distance has changed by twice the touch slop, and a distance below 27 mm
//! (`config_minScalingSpan`) does not count.

use crate::input::TouchedWindow;
use crate::view::Tag;
use thumbwire_virtual_screen::Point;

/// Change of the distance, in dp, that begins a pinch.
const SLOP: f32 = 16.0;
/// Minimum distance in dp: 27 mm.
const LEAST: f32 = 27.0 / 25.4 * 160.0;

/// Two fingers.
#[derive(Debug, Clone)]
pub(crate) struct Pinch {
    pub(crate) to: TouchedWindow,
    /// The view that both fingers landed on and that can be zoomed: its name, and what it wants to
    /// be sent.
    pub(crate) target: Option<(String, Tag)>,
    /// The middle between the fingers.
    pub(crate) middle: Point,
    /// Pixels per dp.
    scale: f32,
    /// The distance when they landed, or when they were last too close.
    first: f32,
    /// The distance at the last step; `None` before the pinch begins.
    last: Option<f32>,
    /// How much larger the distance became in all steps so far.
    pub(crate) factor: f32,
    /// Whether a finger was lifted.
    pub(crate) over: bool,
}

/// What a movement of the fingers comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PinchStep {
    Nothing,
    /// The distance became so many times what it was at the last step.
    By(f32),
}

impl Pinch {
    /// Two fingers at these places.
    pub(crate) fn new(
        to: TouchedWindow,
        target: Option<(String, Tag)>,
        [one, other]: [Point; 2],
        scale: f32,
    ) -> Self {
        let first = distance(one, other);
        let middle = middle(one, other);
        Self { to, target, middle, scale, first, last: None, factor: 1.0, over: false }
    }

    /// Moves the fingers to these places.
    pub(crate) fn step(&mut self, [one, other]: [Point; 2]) -> PinchStep {
        let now = distance(one, other);
        self.middle = middle(one, other);
        let too_close = now < LEAST * self.scale;
        match self.last {
            Some(_) if too_close => {
                (self.first, self.last) = (now, None);
                PinchStep::Nothing
            }
            Some(last) => {
                self.last = Some(now);
                self.factor *= now / last;
                PinchStep::By(now / last)
            }
            None if !too_close && (now - self.first).abs() > SLOP * self.scale => {
                self.last = Some(now);
                PinchStep::Nothing
            }
            None => PinchStep::Nothing,
        }
    }
}

fn distance(one: Point, other: Point) -> f32 {
    ((one.x - other.x) as f32).hypot((one.y - other.y) as f32)
}

fn middle(one: Point, other: Point) -> Point {
    Point { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(distances: &[i32]) -> f32 {
        let at = |distance| [Point { x: 100, y: 100 }, Point { x: 100 + distance, y: 100 }];
        let mut pinch = Pinch::new(TouchedWindow::App, None, at(distances[0]), 1.0);
        for distance in &distances[1..] {
            pinch.step(at(*distance));
        }
        pinch.factor
    }

    #[test]
    fn distance_counts_from_where_the_pinch_begins() {
        assert_eq!(factor(&[200, 216]), 1.0, "within the slop");
        assert_eq!(factor(&[200, 220, 440]), 2.0);
        assert_eq!(factor(&[400, 380, 190]), 0.5);
    }

    #[test]
    fn fingers_that_are_too_close_do_not_zoom() {
        assert_eq!(factor(&[20, 40, 160]), 1.0);
        assert_eq!(factor(&[400, 380, 190, 100, 20]), 0.5);
        assert_eq!(factor(&[20, 100, 200, 400]), 2.0);
    }
}

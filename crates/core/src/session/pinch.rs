//! Zooming with two fingers: how far apart they are, and how many pinches it takes.
//!
//! Android counts fingers that are 27 mm apart or more (`ScaleGestureDetector`), so the larger
//! distance is as large as the screen allows and the smaller one at least half of it.

use std::time::Duration;

use thumbwire_device::{Gesture, Point, Size};

use super::attached_device::AttachedDevice;
use crate::action::{Cause, Failure, Outcome, PinchResult};

/// How many times as far apart the fingers are after one pinch, at most.
const MAX_COUNT: f64 = 2.0;

/// The part of the shorter side at each edge where a finger would start a system gesture.
const EDGE: f64 = 0.06;

/// The part of the shorter side that each finger needs on both sides of the middle.
const ROOM: f64 = 0.15;

impl AttachedDevice {
    pub(super) async fn pinch(
        &self,
        at: Option<Point>,
        scale: f64,
        duration: Duration,
    ) -> Result<Outcome, Failure> {
        if !(scale.is_finite() && scale > 0.0) {
            let reason = format!("the scale of a pinch must be above 0, not {scale}");
            return Err(Cause::InvalidArgument { reason }.into());
        }
        let _turn = self.screen.acting.lock().await;
        if let Some(at) = at
            && let Some(reason) = self.outside(Gesture::Tap { at }).await?
        {
            return Err(Cause::InvalidArgument { reason }.into());
        }
        let size = self.screen_size().await?;
        let middle = at.unwrap_or(Point { x: size.width / 2, y: size.height / 2 });
        let (from, to, times) = plan(size, middle, scale)
            .map_err(|reason| Failure::from(Cause::InvalidArgument { reason }))?;
        for _ in 0..times {
            self.swipe_once(Gesture::Pinch { middle, from, to, duration }).await?;
        }
        Ok(Outcome::Pinched(PinchResult { at: middle }))
    }
}

/// The distances of the fingers in pixels at the start and the end of a pinch, and the number of
/// pinches.
///
/// # Errors
/// If the middle is too close to an edge.
fn plan(size: Size, middle: Point, scale: f64) -> Result<(i32, i32, u32), String> {
    let Point { x, y } = middle;
    let shorter = f64::from(size.width.min(size.height));
    let to_edge = [x, size.width - 1 - x, y, size.height - 1 - y].into_iter().min().unwrap_or(0);
    let half = f64::from(to_edge) - shorter * EDGE;
    if half < shorter * ROOM {
        return Err(format!(
            "({x}, {y}) is too close to the edge for two fingers; pinch closer to the middle of the screen"
        ));
    }
    let times = scale.ln().abs() / MAX_COUNT.ln();
    // Not one more for a rounding error.
    let times = (times - 1e-9).ceil().clamp(1.0, 16.0);
    let ratio = scale.powf(1.0 / times);
    let largest = half * 8.0_f64.sqrt();
    let smallest = largest * ratio.min(1.0 / ratio);
    let (from, to) = if ratio > 1.0 { (smallest, largest) } else { (largest, smallest) };
    Ok((from as i32, to as i32, times as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { width: 1080, height: 2400 };
    const MIDDLE: Point = Point { x: 540, y: 1200 };

    #[test]
    fn large_scale_takes_several_pinches() {
        for (scale, expected) in [
            (2.0, (670, 1341, 1)),
            (0.5, (1341, 670, 1)),
            (1.5, (894, 1341, 1)),
            (4.0, (670, 1341, 2)),
            (0.1, (1341, 754, 4)),
            (1.0, (1341, 1341, 1)),
        ] {
            assert_eq!(plan(SIZE, MIDDLE, scale), Ok(expected), "{scale}");
        }
    }

    #[test]
    fn fingers_stay_on_the_screen() {
        for (x, y) in [(540, 1200), (300, 1200), (540, 300), (800, 2100)] {
            let middle = Point { x, y };
            let (from, to, _) = plan(SIZE, middle, 2.0).unwrap();
            for Point { x, y } in Gesture::fingers(middle, from.max(to)) {
                assert!((64..1016).contains(&x) && (64..2336).contains(&y), "({x}, {y})");
            }
        }
        for (x, y) in [(0, 0), (100, 1200), (540, 2390), (1079, 2399)] {
            let error = plan(SIZE, Point { x, y }, 2.0).unwrap_err();
            assert!(error.contains("too close to the edge for two fingers"), "{error}");
        }
    }
}

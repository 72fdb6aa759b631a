//! Runs steps that touch the screen: taps, swipes, scrolling.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::{DeviceInfo, Gesture, Point, Rect, Size};
use tokio::time::Instant;

use super::case_runner::{CaseRunner, PollError, StepError};
use super::plan::{Place, RelativePoint, SCROLL_DISTANCE, ScrollTo, SwipeEnd, Touch};
use super::report::FailureKind;
use thumbwire_core::action::{Direction, request};
use thumbwire_core::snapshot::{RefVisibility, Snapshot};

impl CaseRunner<'_> {
    /// Taps or presses a place, as soon as its element is there.
    pub(super) async fn touch(
        &mut self,
        touch: &Touch,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let at = self.point_of(&touch.at, timeout).await?;
        let before = match touch.again_if_unchanged {
            true => self.snapshot().await,
            false => None,
        };
        self.touch_at(touch, at).await?;
        let unchanged = match before {
            Some(before) => {
                self.snapshot().await.is_some_and(|now| now.tree.nodes == before.tree.nodes)
            }
            None => false,
        };
        if unchanged { self.touch_at(touch, at).await } else { Ok(()) }
    }

    async fn touch_at(&mut self, touch: &Touch, at: Point) -> Result<(), StepError> {
        /// Two taps further apart are two taps to an app.
        const DOUBLE: Duration = Duration::from_millis(300);
        let gesture = match (touch.held, touch.taps) {
            (Some(held), _) => Gesture::LongPress { at, held },
            (None, 2) if touch.pause <= DOUBLE => Gesture::DoubleTap { at },
            (None, taps) => {
                for _ in 1..taps {
                    self.must(request::Touch(Gesture::Tap { at })).await?;
                    self.must(request::Wait(touch.pause)).await?;
                }
                Gesture::Tap { at }
            }
        };
        self.must(request::Touch(gesture)).await
    }

    /// Swipes from a place.
    pub(super) async fn swipe_from(
        &mut self,
        from: &Place,
        to: SwipeEnd,
        duration: Duration,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let from = self.point_of(from, timeout).await?;
        let to = match to {
            SwipeEnd::Point(point) => self.screen_point(point).await?,
            SwipeEnd::Edge(direction) => {
                let edge = edge(direction);
                let edge = self.screen_point(RelativePoint::Percent(edge, edge)).await?;
                match direction {
                    Direction::Up | Direction::Down => Point { x: from.x, y: edge.y },
                    Direction::Left | Direction::Right => Point { x: edge.x, y: from.y },
                }
            }
        };
        self.must(request::Touch(Gesture::Swipe { from, to, duration })).await
    }

    /// The point to touch, as soon as it is known.
    async fn point_of(&mut self, place: &Place, timeout: Duration) -> Result<Point, StepError> {
        let (element, inside) = match place {
            Place::Point(point) => return self.screen_point(*point).await,
            Place::Element(element, inside) => (element, inside),
        };
        self.until(timeout, async |runner| {
            let (snapshot, node) = runner.find_one(element).await?;
            let center = snapshot.tap_point(node, RefVisibility::Unknown).map_err(|reason| {
                let what = format!("element {element} not found: {reason}");
                PollError::Pending(StepError::new(FailureKind::Step, what))
            })?;
            Ok(match inside {
                Some(point) => point_in(snapshot.tree.nodes[node].bounds, *point),
                None => center,
            })
        })
        .await
    }

    async fn screen_point(&mut self, point: RelativePoint) -> Result<Point, StepError> {
        match point {
            RelativePoint::Pixels(at) => Ok(at),
            RelativePoint::Percent(..) => Ok(point_in(self.screen().await?, point)),
        }
    }

    /// The screen as it is held now.
    async fn screen(&mut self) -> Result<Rect, StepError> {
        let Size { width, height } = self.device_info().await?.screen;
        Ok(Rect { left: 0, top: 0, right: width, bottom: height })
    }

    /// What the phone reports about itself now.
    pub(super) async fn device_info(&mut self) -> Result<DeviceInfo, StepError> {
        Ok(self.must(request::DeviceInfo { max_age: Duration::ZERO }).await?.info)
    }

    /// Scrolls until the element is visible, the screen stops changing, or the time is up.
    pub(super) async fn scroll_to(&mut self, scroll: &ScrollTo) -> Result<(), StepError> {
        /// A list that loads more may stand still for a moment.
        const STILL: u32 = 3;
        /// For an element at the end of a list, which cannot come to the centre.
        const CENTERING: u32 = 4;
        let end = Instant::now() + scroll.within;
        let direction = scroll.direction;
        let (mut last, mut still, mut centering) = (None, 0, 0);
        for round in 0.. {
            let reason = match self.shows(&scroll.element).await {
                Err(PollError::Failed(error)) => return Err(error),
                Err(PollError::Pending(error)) => error.what,
                Ok(()) => match self.misplaced(scroll).await? {
                    None => return Ok(()),
                    Some(_) if scroll.center && centering == CENTERING => return Ok(()),
                    Some(reason) => {
                        centering += 1;
                        reason
                    }
                },
            };
            let now = self.snapshot().await;
            let stands = now.is_some() && tree_of(&now) == tree_of(&last);
            still = if stands { still + 1 } else { 0 };
            let at_end = still >= STILL;
            // Visible is all that an element at the end of a list can be.
            if stands && centering > 0 {
                return Ok(());
            }
            if at_end || Instant::now() >= end {
                let end = if at_end { "reached the end" } else { "ran out of time" };
                let what =
                    format!("scrolled {} {round} times and {end}: {reason}", direction.name());
                return Err(StepError::new(FailureKind::Expectation, what));
            }
            last = now;
            self.must(request::Scroll { direction, distance: SCROLL_DISTANCE }).await?;
        }
        Ok(())
    }

    /// Why the element, which is visible, is not where it should be.
    async fn misplaced(&mut self, scroll: &ScrollTo) -> Result<Option<String>, StepError> {
        if scroll.visible_share <= 0.0 && !scroll.center {
            return Ok(None);
        }
        let (snapshot, node) = match self.find_one(&scroll.element).await {
            Ok(found) => found,
            Err(PollError::Pending(_)) => return Ok(Some("it is not on the screen".into())),
            Err(PollError::Failed(error)) => return Err(error),
        };
        let bounds = snapshot.tree.nodes[node].bounds;
        let screen = self.screen().await?;
        let share = area(bounds.intersection(screen)) / area(bounds).max(1.0);
        if scroll.center {
            let reason = "it is not near the centre of the screen";
            return Ok((!is_near_center(bounds, screen, scroll.direction)).then(|| reason.into()));
        }
        let percent = |share: f64| (share * 100.0).round();
        Ok((share < scroll.visible_share)
            .then(|| format!("{} % of it are on the screen", percent(share))))
    }
}

fn tree_of(snapshot: &Option<Arc<Snapshot>>) -> Option<&[thumbwire_device::Node]> {
    snapshot.as_ref().map(|snapshot| snapshot.tree.nodes.as_slice())
}

/// A tenth of the screen before its edge, in percent from the left or the top.
fn edge(direction: Direction) -> f64 {
    match direction {
        Direction::Up | Direction::Left => 10.0,
        Direction::Down | Direction::Right => 90.0,
    }
}

/// A point of a rectangle, which does not leave it.
fn point_in(bounds: Rect, point: RelativePoint) -> Point {
    let inside = |low: i32, high: i32, percent: f64| {
        let length = f64::from(high.saturating_sub(low));
        let at = f64::from(low) + length * percent / 100.0;
        (at as i32).clamp(low, (high - 1).max(low))
    };
    match point {
        RelativePoint::Pixels(Point { x, y }) => Point {
            x: bounds
                .left
                .saturating_add(x)
                .clamp(bounds.left, (bounds.right - 1).max(bounds.left)),
            y: bounds.top.saturating_add(y).clamp(bounds.top, (bounds.bottom - 1).max(bounds.top)),
        },
        RelativePoint::Percent(x, y) => Point {
            x: inside(bounds.left, bounds.right, x),
            y: inside(bounds.top, bounds.bottom, y),
        },
    }
}

fn area(bounds: Rect) -> f64 {
    if bounds.is_empty() {
        return 0.0;
    }
    f64::from(bounds.right - bounds.left) * f64::from(bounds.bottom - bounds.top)
}

/// Whether the element has come past the centre, or is less than a fifth of the screen before it.
/// Maestro's rule.
fn is_near_center(bounds: Rect, screen: Rect, direction: Direction) -> bool {
    let (at, middle) = (bounds.center(), screen.center());
    let margin = Point { x: screen.right / 5, y: screen.bottom / 5 };
    match direction {
        Direction::Down => at.y < middle.y + margin.y,
        Direction::Up => at.y > middle.y - margin.y,
        Direction::Right => at.x < middle.x + margin.x,
        Direction::Left => at.x > middle.x - margin.x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_inside_their_rectangle() {
        let bounds = Rect { left: 100, top: 200, right: 300, bottom: 240 };
        let check = |point, x, y| assert_eq!(point_in(bounds, point), Point { x, y }, "{point:?}");
        check(RelativePoint::Percent(50.0, 50.0), 200, 220);
        check(RelativePoint::Percent(0.0, 100.0), 100, 239);
        check(RelativePoint::Percent(90.0, 10.0), 280, 204);
        check(RelativePoint::Pixels(Point { x: 10, y: 5 }), 110, 205);
        check(RelativePoint::Pixels(Point { x: 900, y: 5 }), 299, 205);
    }

    #[test]
    fn elements_are_centered_by_the_direction_of_scrolling() {
        let screen = Rect { left: 0, top: 0, right: 100, bottom: 1000 };
        let at = |top| Rect { left: 0, top, right: 100, bottom: top + 20 };
        assert!(!is_near_center(at(950), screen, Direction::Down));
        assert!(is_near_center(at(680), screen, Direction::Down));
        assert!(!is_near_center(at(100), screen, Direction::Up));
        assert!(is_near_center(at(400), screen, Direction::Up));
    }
}

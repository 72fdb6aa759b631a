//! Tools that tap, press, scroll and swipe.

use serde_json::{Value, json};
use thumbwire_core::action::{Cause, request};
use thumbwire_core::snapshot::{RefVisibility, Snapshot};
use thumbwire_device::{Point, Rect};

use super::clipboard::NO_HELPER;
use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed, skipped};
use crate::doctor::exam::Exam;
use crate::doctor::scene::{ScrollSpot, Spot};

async fn spot(exam: &mut Exam<'_>) -> Result<Spot, Problem> {
    exam.scenes.tap_spot(exam.phone, &exam.apps, &exam.home).await
}

impl Spot {
    fn point(&self) -> Result<Point, Problem> {
        let point = self.screen.tap_point(self.node, RefVisibility::Unknown);
        point.or_else(|reason| failed(format!("cannot tap: {reason}")))
    }

    /// What names the element alone: its id, its text or its description.
    fn name(&self) -> (Name, &str) {
        let nodes = &self.screen.tree.nodes;
        let node = &nodes[self.node];
        let is_alone = nodes.iter().filter(|other| other.id == node.id).count() == 1;
        match (&*node.id, &*node.text) {
            (id, _) if !id.is_empty() && is_alone => (Name::Id, id),
            (_, text) if !text.is_empty() => (Name::Text, text),
            _ => (Name::Description, &node.description),
        }
    }
}

enum Name {
    Id,
    Text,
    Description,
}

/// The screen must change.
async fn changes(exam: &Exam<'_>, before: &Snapshot) -> Found {
    match exam.phone.screen_other_than(before).await? {
        Some(_) => AS_EXPECTED,
        None => failed("the screen did not change"),
    }
}

/// Calls the tool with the coordinates of the target.
async fn tap(exam: &mut Exam<'_>, more: &[(&str, Value)]) -> Found {
    let spot = spot(exam).await?;
    let Point { x, y } = spot.point()?;
    let mut arguments = json!({ "x": x, "y": y });
    for (key, value) in more {
        arguments[*key] = value.clone();
    }
    exam.call(arguments).await?;
    changes(exam, &spot.screen).await
}

pub(super) async fn mobile_tap(exam: &mut Exam<'_>) -> Found {
    tap(exam, &[]).await
}

/// The first tap opens the page; the second one finds another screen, or is swallowed while it
/// opens.
pub(super) async fn double_tap(exam: &mut Exam<'_>) -> Found {
    tap(exam, &[]).await
}

/// Nothing here has a menu behind a long press, so the platform treats it as a slow tap.
pub(super) async fn long_press(exam: &mut Exam<'_>) -> Found {
    tap(exam, &[("duration", json!(1.0))]).await
}

pub(super) async fn mobile_tap_element(exam: &mut Exam<'_>) -> Found {
    let spot = spot(exam).await?;
    let arguments = match spot.name() {
        (Name::Text, text) => json!({ "text": text }),
        (Name::Id | Name::Description, name) => json!({ "element_id": name }),
    };
    exam.call(arguments).await?;
    changes(exam, &spot.screen).await
}

/// A map can be zoomed, and a place on it says nothing to anyone.
pub(super) async fn pinch(exam: &mut Exam<'_>) -> Found {
    if exam.phone.act(request::OpenUrl("geo:0,0".into())).await.is_err() {
        return skipped("no app shows a map");
    }
    exam.phone.pause().await;
    let first = exam.phone.screenshot().await?;
    exam.phone.pause().await;
    let before = exam.phone.screenshot().await?;
    match exam.try_call(json!({ "scale": 2 })).await {
        Err(refusal) if matches!(refusal.cause, Some(Cause::HelperMissing { .. })) => {
            return skipped(NO_HELPER);
        }
        replied => drop(replied?),
    }
    exam.phone.pause().await;
    if first != before {
        return skipped("the map moves by itself");
    }
    let after = exam.phone.screenshot().await?;
    ensure(after != before, || "the map is the same; a page of its app may cover it".to_owned())?;
    AS_EXPECTED
}

impl ScrollSpot {
    /// The direction of scrolling.
    fn scroll(&self) -> &'static str {
        match (self.horizontal, self.backwards) {
            (false, false) => "down",
            (false, true) => "up",
            (true, false) => "right",
            (true, true) => "left",
        }
    }

    /// The direction of the finger.
    fn finger(&self) -> &'static str {
        match self.scroll() {
            "down" => "up",
            "up" => "down",
            "right" => "left",
            _ => "right",
        }
    }

    /// Where a finger goes from and to around the middle: half of the height, or most of the width,
    /// because a page turns back if it was moved halfway.
    fn path(&self) -> Value {
        let Rect { left, top, right, bottom } = self.area;
        let Point { x, y } = self.area.center();
        let (across, down) = ((right - left) * 2 / 5, (bottom - top) / 4);
        let (from, to) = match self.finger() {
            "up" => ((x, y + down), (x, y - down)),
            "down" => ((x, y - down), (x, y + down)),
            "left" => ((x + across, y), (x - across, y)),
            _ => ((x - across, y), (x + across, y)),
        };
        json!({ "start_x": from.0, "start_y": from.1, "end_x": to.0, "end_y": to.1 })
    }
}

/// Calls the tool and expects that the content moves.
async fn moves(exam: &mut Exam<'_>, arguments: impl Fn(&ScrollSpot) -> Value) -> Found {
    let spot = exam.scenes.scroll_spot(exam.phone, &exam.apps).await?;
    exam.call(arguments(&spot)).await?;
    if exam.phone.screen_other_than(&spot.screen).await?.is_none() {
        return failed("the content did not move");
    }
    exam.scenes.scrolled();
    AS_EXPECTED
}

pub(super) async fn mobile_scroll(exam: &mut Exam<'_>) -> Found {
    moves(exam, |spot| json!({ "direction": spot.scroll(), "distance": 0.8 })).await
}

pub(super) async fn mobile_swipe(exam: &mut Exam<'_>) -> Found {
    moves(exam, ScrollSpot::path).await
}

/// Nothing here can be carried, so the content scrolls.
pub(super) async fn mobile_drag(exam: &mut Exam<'_>) -> Found {
    moves(exam, ScrollSpot::path).await
}

//! The tools that touch the screen.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_device::{Gesture, Point};

use super::elements::Elements;
use super::{Reply, given, odd, told};
use crate::action::{Action, Criteria, Direction, Outcome, Target};

/// The arguments of `tap_screen`.
#[derive(Deserialize)]
pub(super) struct Tap {
    x: i32,
    y: i32,
}

/// The arguments of `tap_element`.
#[derive(Deserialize)]
pub(super) struct TapElement {
    text: Option<String>,
    resource_id: Option<String>,
    content_desc: Option<String>,
    index: Option<usize>,
    clickable_only: Option<bool>,
    enabled_only: Option<bool>,
}

/// The arguments of `swipe_screen`.
#[derive(Deserialize)]
pub(super) struct Swipe {
    start_x: i32,
    start_y: i32,
    end_x: i32,
    end_y: i32,
    #[serde(default = "usual_swipe")]
    duration_ms: u64,
}

/// The arguments of `swipe_direction`.
#[derive(Deserialize)]
pub(super) struct SwipeDirection {
    direction: String,
    distance: Option<i32>,
    #[serde(default = "usual_swipe")]
    duration_ms: u64,
}

/// Milliseconds.
fn usual_swipe() -> u64 {
    300
}

pub(super) fn tap(tap: &Tap) -> Result<Action, String> {
    Ok(Action::Touch(Gesture::Tap { at: Point { x: tap.x, y: tap.y } }))
}

pub(super) fn tapped(tap: &Tap, _: Outcome) -> Reply {
    told(json!({
        "success": true,
        "action": "tap",
        "coordinates": { "x": tap.x, "y": tap.y },
        "details": "Tap executed",
    }))
}

pub(super) fn tap_element(tap: &TapElement) -> Result<Action, String> {
    let criteria = Criteria {
        text: given(&tap.text),
        id: given(&tap.resource_id),
        description: given(&tap.content_desc),
        class: None,
        clickable: tap.clickable_only.unwrap_or(false),
        enabled: tap.enabled_only.unwrap_or(false),
        exact: false,
    };
    if criteria.text.is_none() && criteria.id.is_none() && criteria.description.is_none() {
        let which = "text, resource_id, content_desc";
        return Err(format!("At least one selector ({which}) must be provided"));
    }
    Ok(Action::TapElement(Target::Match(criteria, tap.index.unwrap_or(0))))
}

pub(super) fn tapped_element(tap: &TapElement, outcome: Outcome) -> Reply {
    let Outcome::Tapped(hit) = outcome else { return odd(&outcome) };
    told(json!({
        "success": true,
        "action": "tap",
        "coordinates": point(hit.at),
        "element": Elements::of(&hit.look).value(hit.node),
        "index_used": tap.index.unwrap_or(0),
        "total_found": hit.of,
        "details": "Tap executed",
    }))
}

pub(super) fn swipe(swipe: &Swipe) -> Result<Action, String> {
    Ok(Action::Touch(Gesture::Swipe {
        from: Point { x: swipe.start_x, y: swipe.start_y },
        to: Point { x: swipe.end_x, y: swipe.end_y },
        lasting: Duration::from_millis(swipe.duration_ms),
    }))
}

pub(super) fn swiped(swipe: &Swipe, _: Outcome) -> Reply {
    told(json!({
        "success": true,
        "action": "swipe",
        "start": { "x": swipe.start_x, "y": swipe.start_y },
        "end": { "x": swipe.end_x, "y": swipe.end_y },
        "duration_ms": swipe.duration_ms,
        "details": "Swipe executed",
    }))
}

pub(super) fn swipe_towards(swipe: &SwipeDirection) -> Result<Action, String> {
    let direction = Direction::from_name(&swipe.direction)
        .ok_or_else(|| format!("no direction is called {:?}", swipe.direction))?;
    let lasting = Duration::from_millis(swipe.duration_ms);
    Ok(Action::Swipe { direction, distance: swipe.distance, lasting })
}

pub(super) fn swiped_towards(swipe: &SwipeDirection, outcome: Outcome) -> Reply {
    let Outcome::Swiped { from, to, screen } = outcome else { return odd(&outcome) };
    told(json!({
        "success": true,
        "action": "swipe",
        "start": point(from),
        "end": point(to),
        "duration_ms": swipe.duration_ms,
        "details": "Swipe executed",
        "direction": swipe.direction,
        "distance": swipe.distance.unwrap_or((to.x - from.x).abs().max((to.y - from.y).abs())),
        "screen_size": { "width": screen.width, "height": screen.height },
    }))
}

fn point(at: Point) -> Value {
    json!({ "x": at.x, "y": at.y })
}

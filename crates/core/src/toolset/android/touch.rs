//! Tools that touch the screen.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_device::{Gesture, Point};

use super::elements::ElementJson;
use super::{Reply, json_reply, non_empty};
use crate::action::{Direction, ElementSelector, SwipeResult, TapResult, Target, request};

/// The arguments of `tap_screen`.
#[derive(Deserialize)]
pub(super) struct TapScreenArgs {
    x: i32,
    y: i32,
}

/// The arguments of `tap_element`.
#[derive(Deserialize)]
pub(super) struct TapElementArgs {
    text: Option<String>,
    resource_id: Option<String>,
    content_desc: Option<String>,
    index: Option<usize>,
    clickable_only: Option<bool>,
    enabled_only: Option<bool>,
}

/// The arguments of `swipe_screen`.
#[derive(Deserialize)]
pub(super) struct SwipeScreenArgs {
    start_x: i32,
    start_y: i32,
    end_x: i32,
    end_y: i32,
    #[serde(default = "default_swipe_duration")]
    duration_ms: u64,
}

/// The arguments of `swipe_direction`.
#[derive(Deserialize)]
pub(super) struct SwipeDirectionArgs {
    direction: String,
    distance: Option<i32>,
    #[serde(default = "default_swipe_duration")]
    duration_ms: u64,
}

/// Milliseconds.
fn default_swipe_duration() -> u64 {
    300
}

pub(super) fn parse_tap_screen(tap: &TapScreenArgs) -> Result<request::Touch, String> {
    Ok(request::Touch(Gesture::Tap { at: Point { x: tap.x, y: tap.y } }))
}

pub(super) fn render_tap_screen(tap: &TapScreenArgs, _: ()) -> Reply {
    json_reply(json!({
        "success": true,
        "action": "tap",
        "coordinates": { "x": tap.x, "y": tap.y },
        "details": "Tap executed",
    }))
}

pub(super) fn parse_tap_element(tap: &TapElementArgs) -> Result<request::TapElement, String> {
    let criteria = ElementSelector {
        text: non_empty(&tap.text),
        id: non_empty(&tap.resource_id),
        description: non_empty(&tap.content_desc),
        class: None,
        clickable: tap.clickable_only.unwrap_or(false),
        enabled: tap.enabled_only.unwrap_or(false),
        exact: false,
    };
    if criteria.text.is_none() && criteria.id.is_none() && criteria.description.is_none() {
        let which = "text, resource_id, content_desc";
        return Err(format!("At least one selector ({which}) must be provided"));
    }
    Ok(request::TapElement(Target::Selector { selector: criteria, index: tap.index.unwrap_or(0) }))
}

pub(super) fn render_tap_element(tap: &TapElementArgs, hit: TapResult) -> Reply {
    json_reply(json!({
        "success": true,
        "action": "tap",
        "coordinates": point(hit.at),
        "element": ElementJson::of(&hit.snapshot).value(hit.node),
        "index_used": tap.index.unwrap_or(0),
        "total_found": hit.of,
        "details": "Tap executed",
    }))
}

pub(super) fn parse_swipe_screen(swipe: &SwipeScreenArgs) -> Result<request::Touch, String> {
    Ok(request::Touch(Gesture::Swipe {
        from: Point { x: swipe.start_x, y: swipe.start_y },
        to: Point { x: swipe.end_x, y: swipe.end_y },
        duration: Duration::from_millis(swipe.duration_ms),
    }))
}

pub(super) fn render_swipe_screen(swipe: &SwipeScreenArgs, _: ()) -> Reply {
    json_reply(json!({
        "success": true,
        "action": "swipe",
        "start": { "x": swipe.start_x, "y": swipe.start_y },
        "end": { "x": swipe.end_x, "y": swipe.end_y },
        "duration_ms": swipe.duration_ms,
        "details": "Swipe executed",
    }))
}

pub(super) fn parse_swipe_direction(swipe: &SwipeDirectionArgs) -> Result<request::Swipe, String> {
    let direction = Direction::from_name(&swipe.direction)
        .ok_or_else(|| format!("unknown direction {:?}", swipe.direction))?;
    let duration = Duration::from_millis(swipe.duration_ms);
    Ok(request::Swipe { direction, distance: swipe.distance, duration })
}

pub(super) fn render_swipe_direction(swipe: &SwipeDirectionArgs, result: SwipeResult) -> Reply {
    let SwipeResult { from, to, screen } = result;
    json_reply(json!({
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

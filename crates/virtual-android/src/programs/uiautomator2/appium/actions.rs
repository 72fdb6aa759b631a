//! `POST /actions`: fingers and keys as W3C WebDriver has them, section 15.
//!
//! The nth items of all sources begin together and take as long as the longest of them. Each touch
//! of a finger, from landing to lifting, becomes a path; paths that overlap are played together.

use super::super::gestures;
use super::super::text;
use super::element::point_in;
use super::{Outcome, Server, invalid};
use crate::programs::helper::touch::FingerPath;
use serde_json::{Map, Value};
use std::time::Duration;
use thumbwire_virtual_phone::Rect;
use thumbwire_webdriver::{
    Command, GestureCommand, InputItems, InputSource, KeyItem, Origin, PointerItem, WebDriverError,
};

/// Maximum duration of all actions, in milliseconds.
const MAX_TIME: u64 = 60_000;
/// Maximum items of a request.
const MAX_ITEMS: usize = 2_000;

/// A key, and when it is pressed.
type Press = (u64, String);

/// What is played: paths of fingers in the order of their beginnings, and keys.
#[derive(Default)]
struct Plan {
    touches: Vec<FingerPath>,
    keys: Vec<Press>,
}

impl Server {
    pub(super) async fn perform(&self, body: &Map<String, Value>) -> Outcome {
        let body = Value::Object(body.clone()).to_string();
        let read = Command::parse("POST", "/session/s/actions", body.as_bytes())?;
        let Command::Gesture(GestureCommand::Perform { sources }) = read.command else {
            return Err(invalid("`actions` must be a list of input sources"));
        };
        let plan = self.plan(&sources).await?;
        self.play(plan).await;
        Ok(Value::Null)
    }

    async fn plan(&self, sources: &[InputSource]) -> Result<Plan, WebDriverError> {
        let starts = starts(sources)?;
        let mut plan = Plan::default();
        for source in sources {
            match &source.items {
                InputItems::None(_) => {}
                InputItems::Key(items) => {
                    for (item, at) in items.iter().zip(&starts) {
                        if let KeyItem::Down(key) = item {
                            plan.keys.push((*at, key.clone()));
                        }
                    }
                }
                InputItems::Pointer(_, items) => {
                    self.plan_finger(items, &starts, &mut plan).await?;
                }
            }
        }
        plan.touches.sort_by_key(|path| path.0.first().map_or(0, |(time, ..)| *time));
        Ok(plan)
    }

    async fn plan_finger(
        &self,
        items: &[PointerItem],
        starts: &[u64],
        plan: &mut Plan,
    ) -> Result<(), WebDriverError> {
        let (mut x, mut y) = (0.0, 0.0);
        let mut path: Option<Vec<(u64, f64, f64)>> = None;
        for (item, at) in items.iter().zip(starts) {
            match item {
                PointerItem::Pause(duration) => {
                    if let Some(path) = &mut path {
                        path.push((at + duration.unwrap_or_default(), x, y));
                    }
                }
                PointerItem::Down { .. } => path = Some(vec![(*at, x, y)]),
                PointerItem::Move { x: to_x, y: to_y, origin, duration_ms } => {
                    if let Some(path) = &mut path {
                        path.push((*at, x, y));
                    }
                    (x, y) = match origin {
                        Origin::Viewport => (*to_x, *to_y),
                        Origin::Pointer => (x + to_x, y + to_y),
                        Origin::Element(id) => {
                            let middle = self.known(id.as_str()).await?.bounds.center();
                            (f64::from(middle.x) + to_x, f64::from(middle.y) + to_y)
                        }
                    };
                    let at_screen = point_in(&Rect::default(), Some((x, y)));
                    let inside =
                        self.phone.read(|phone| phone.world.display().bounds().contains(at_screen));
                    if !inside {
                        return Err(WebDriverError::new(
                            thumbwire_webdriver::ErrorCode::MoveTargetOutOfBounds,
                            format!("the point ({x}, {y}) is outside the screen"),
                        ));
                    }
                    if let Some(path) = &mut path {
                        path.push((at + duration_ms.unwrap_or_default(), x, y));
                    }
                }
                PointerItem::Up { .. } => {
                    if let Some(mut path) = path.take() {
                        path.push((*at, x, y));
                        plan.touches.push(FingerPath(path));
                    }
                }
                PointerItem::Cancel => path = None,
            }
        }
        Ok(())
    }

    async fn play(&self, plan: Plan) {
        let start = |path: &FingerPath| path.0.first().map_or(0, |(time, ..)| *time);
        let end = |path: &FingerPath| path.0.last().map_or(0, |(time, ..)| *time);
        let mut now = 0;
        let mut keys = plan.keys.into_iter().peekable();
        let mut touches = plan.touches.into_iter().peekable();
        loop {
            let next_key = keys.peek().map(|(at, _)| *at);
            let next_touch = touches.peek().map(start);
            let next = match (next_key, next_touch) {
                (None, None) => return,
                (Some(at), None) | (None, Some(at)) => at,
                (Some(key), Some(touch)) => key.min(touch),
            };
            self.phone.sleep(Duration::from_millis(next.saturating_sub(now))).await;
            now = now.max(next);
            if next_key == Some(next) {
                if let Some((_, key)) = keys.next() {
                    self.press(&key).await;
                }
                continue;
            }
            let mut group: Vec<FingerPath> = touches.next().into_iter().collect();
            let mut until = group.first().map_or(0, end);
            while let Some(path) = touches.next_if(|path| start(path) < until) {
                until = until.max(end(&path));
                group.push(path);
            }
            for path in &mut group {
                for point in &mut path.0 {
                    point.0 = point.0.saturating_sub(next);
                }
            }
            gestures::fingers(&self.phone, &group).await;
            now = now.max(until);
        }
    }

    /// Presses a key of W3C WebDriver's table, or types a text.
    async fn press(&self, key: &str) {
        let code = match key {
            "\u{e003}" => 67,
            "\u{e004}" => 61,
            "\u{e006}" | "\u{e007}" => 66,
            "\u{e00c}" => 111,
            "\u{e010}" => 123,
            "\u{e011}" => 122,
            "\u{e012}" => 21,
            "\u{e013}" => 19,
            "\u{e014}" => 22,
            "\u{e015}" => 20,
            "\u{e017}" => 112,
            text => {
                for character in text.chars().filter(|c| !('\u{e000}'..='\u{f8ff}').contains(c)) {
                    self.phone.with(|phone| phone.world.type_char(character));
                }
                return;
            }
        };
        text::press_key(&self.phone, code, 0).await;
    }
}

/// When the nth items of all sources begin, in milliseconds.
fn starts(sources: &[InputSource]) -> Result<Vec<u64>, WebDriverError> {
    let durations = sources.iter().map(|source| match &source.items {
        InputItems::None(items) => items.iter().map(|pause| pause.unwrap_or_default()).collect(),
        InputItems::Key(items) => items.iter().map(key_duration).collect(),
        InputItems::Pointer(_, items) => items.iter().map(pointer_duration).collect::<Vec<u64>>(),
    });
    let durations: Vec<Vec<u64>> = durations.collect();
    if durations.iter().map(Vec::len).sum::<usize>() > MAX_ITEMS {
        return Err(invalid(&format!("there are more than {MAX_ITEMS} items")));
    }
    let longest = durations.iter().map(Vec::len).max().unwrap_or_default();
    let (mut now, mut starts) = (0_u64, Vec::new());
    for nth in 0..longest {
        starts.push(now);
        let all = durations.iter().filter_map(|list| list.get(nth)).copied();
        now = now.saturating_add(all.max().unwrap_or_default());
    }
    match now > MAX_TIME {
        true => Err(invalid(&format!("the actions take more than {MAX_TIME} ms"))),
        false => Ok(starts),
    }
}

fn key_duration(item: &KeyItem) -> u64 {
    match item {
        KeyItem::Pause(duration) => duration.unwrap_or_default(),
        KeyItem::Down(_) | KeyItem::Up(_) => 0,
    }
}

fn pointer_duration(item: &PointerItem) -> u64 {
    match item {
        PointerItem::Pause(duration) | PointerItem::Move { duration_ms: duration, .. } => {
            duration.unwrap_or_default()
        }
        PointerItem::Down { .. } | PointerItem::Up { .. } | PointerItem::Cancel => 0,
    }
}

//! W3C WebDriver's actions: the items of all fingers and keyboards, tick by tick (W3C WebDriver,
//! section 15.5).

use std::time::Duration;

use serde_json::Value;
use thumbwire_virtual_phone::{Point, TouchPhase};
use thumbwire_webdriver::{
    ErrorCode, InputItems, InputSource, KeyItem, Origin, PointerItem, PointerType, WebDriverError,
};

use crate::commands::{Reply, refuse};
use crate::latency;
use crate::phone::VirtualIphone;
use crate::touches::{between, round, steps};

/// Limits on a request.
const MAX_SOURCES: usize = 10;
const MAX_TICKS: usize = 1_000;
/// Limit on the time that all items of a source take together.
const MAX_TIME: Duration = Duration::from_secs(600);

/// A finger while the items are performed.
#[derive(Clone, Copy)]
struct Finger {
    at: Option<Point>,
    is_down: bool,
}

impl VirtualIphone {
    pub(super) async fn perform_actions(&self, sources: &[InputSource]) -> Reply {
        check(sources)?;
        let ticks = sources.iter().map(|source| length(&source.items)).max().unwrap_or(0);
        let mut fingers = vec![Finger { at: None, is_down: false }; sources.len()];
        for tick in 0..ticks {
            let done = self.tick(sources, &mut fingers, tick).await;
            if done.is_err() {
                self.lift(&mut fingers);
                return done.map(|()| Value::Null);
            }
        }
        self.lift(&mut fingers);
        self.run_work(latency::TOUCH).await;
        self.wait_until_idle().await;
        Ok(Value::Null)
    }

    async fn tick(
        &self,
        sources: &[InputSource],
        fingers: &mut [Finger],
        tick: usize,
    ) -> Result<(), WebDriverError> {
        let mut lasts = Duration::ZERO;
        let mut moves = Vec::new();
        for (nth, source) in sources.iter().enumerate() {
            let Some(finger) = fingers.get_mut(nth) else { continue };
            let number = u32::try_from(nth).unwrap_or(0);
            match &source.items {
                InputItems::None(pauses) => {
                    lasts = lasts.max(millis(pauses.get(tick).copied().flatten()))
                }
                InputItems::Key(keys) => match keys.get(tick) {
                    Some(KeyItem::Pause(time)) => lasts = lasts.max(millis(*time)),
                    Some(KeyItem::Down(key)) => {
                        self.run_work(latency::KEY).await;
                        key.chars().for_each(|character| self.type_key(character));
                    }
                    Some(KeyItem::Up(_)) | None => {}
                },
                InputItems::Pointer(_, items) => match items.get(tick) {
                    None => {}
                    Some(PointerItem::Pause(time)) => lasts = lasts.max(millis(*time)),
                    Some(PointerItem::Down { .. }) => {
                        let at = finger.at.ok_or_else(|| {
                            refuse(
                                ErrorCode::InvalidArgument,
                                "the finger must move to a point before it goes down",
                            )
                        })?;
                        finger.is_down = true;
                        self.with(|phone| phone.world.finger(number, TouchPhase::Down, at));
                    }
                    Some(PointerItem::Up { .. }) => self.end(number, finger, TouchPhase::Up),
                    Some(PointerItem::Cancel) => self.end(number, finger, TouchPhase::Cancel),
                    Some(PointerItem::Move { x, y, origin, duration_ms }) => {
                        let to = self.target(finger, *x, *y, origin)?;
                        let time = millis(*duration_ms);
                        lasts = lasts.max(time);
                        moves.push((number, nth, finger.at.unwrap_or(to), to, time));
                    }
                },
            }
        }
        self.move_fingers(fingers, &moves, lasts).await;
        Ok(())
    }

    /// Moves fingers at the same time; the tick may take longer than they do.
    async fn move_fingers(
        &self,
        fingers: &mut [Finger],
        moves: &[(u32, usize, Point, Point, Duration)],
        lasts: Duration,
    ) {
        let moving =
            moves.iter().map(|(.., time)| *time).max().unwrap_or(Duration::ZERO).min(lasts);
        let frames = steps(moving);
        for frame in 1..=frames {
            self.wait(moving / frames).await;
            for (number, nth, from, to, _) in moves {
                let at = between(*from, *to, frame, frames);
                let Some(finger) = fingers.get_mut(*nth) else { continue };
                finger.at = Some(at);
                if finger.is_down {
                    self.with(|phone| phone.world.finger(*number, TouchPhase::Move, at));
                }
            }
        }
        self.wait(lasts.saturating_sub(moving)).await;
    }

    fn target(
        &self,
        finger: &Finger,
        x: f64,
        y: f64,
        origin: &Origin,
    ) -> Result<Point, WebDriverError> {
        let scale = self.with(|phone| phone.scale());
        let from = match origin {
            Origin::Viewport => Point { x: 0, y: 0 },
            Origin::Pointer => finger.at.ok_or_else(|| {
                refuse(
                    ErrorCode::InvalidArgument,
                    "the first movement cannot be relative to the pointer",
                )
            })?,
            Origin::Element(element) => self.element(element)?.bounds.center(),
        };
        let point = Point {
            x: from.x.saturating_add(round(x * scale)),
            y: from.y.saturating_add(round(y * scale)),
        };
        Ok(point)
    }

    fn end(&self, number: u32, finger: &mut Finger, phase: TouchPhase) {
        if let (true, Some(at)) = (finger.is_down, finger.at) {
            self.with(|phone| phone.world.finger(number, phase, at));
        }
        finger.is_down = false;
    }

    /// Lifts what is still down: nothing is held between requests.
    fn lift(&self, fingers: &mut [Finger]) {
        for (nth, finger) in fingers.iter_mut().enumerate() {
            self.end(u32::try_from(nth).unwrap_or(0), finger, TouchPhase::Up);
        }
    }
}

fn check(sources: &[InputSource]) -> Result<(), WebDriverError> {
    let invalid = |message: &str| Err(refuse(ErrorCode::InvalidArgument, message));
    if sources.is_empty() || sources.len() > MAX_SOURCES {
        return invalid("expected 1 to 10 input sources");
    }
    if sources.iter().any(|source| length(&source.items) > MAX_TICKS) {
        return invalid("an input source has more than 1000 items");
    }
    if sources.iter().any(|source| time(&source.items) > MAX_TIME) {
        return invalid("the items of an input source take more than 600 seconds");
    }
    let is_touch = |source: &InputSource| {
        !matches!(source.items, InputItems::Pointer(PointerType::Mouse | PointerType::Pen, _))
    };
    match sources.iter().all(is_touch) {
        true => Ok(()),
        false => invalid("Only pointer type 'touch' is supported"),
    }
}

fn length(items: &InputItems) -> usize {
    match items {
        InputItems::Pointer(_, items) => items.len(),
        InputItems::Key(items) => items.len(),
        InputItems::None(items) => items.len(),
    }
}

/// How long all items take.
fn time(items: &InputItems) -> Duration {
    let times: Vec<Option<u64>> = match items {
        InputItems::None(pauses) => pauses.clone(),
        InputItems::Key(items) => items
            .iter()
            .map(|item| match item {
                KeyItem::Pause(time) => *time,
                KeyItem::Down(_) | KeyItem::Up(_) => None,
            })
            .collect(),
        InputItems::Pointer(_, items) => items
            .iter()
            .map(|item| match item {
                PointerItem::Pause(time) => *time,
                PointerItem::Move { duration_ms, .. } => *duration_ms,
                PointerItem::Down { .. } | PointerItem::Up { .. } | PointerItem::Cancel => None,
            })
            .collect(),
    };
    times.into_iter().map(millis).fold(Duration::ZERO, Duration::saturating_add)
}

fn millis(time: Option<u64>) -> Duration {
    Duration::from_millis(time.unwrap_or(0))
}

//! What happens in this process, as numbered lines for the page: live, and the last ones again
//! after a reload.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use serde_json::{Map, Value, json};
use thumbwire_base::{lock, truncate};
use thumbwire_core::event::{CallResult, Event, EventPayload, EventSink};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::Body;

/// How many events are kept for pages that open later.
const MAX_KEPT: usize = 500;

/// How often an idle stream shows that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// The longest text of an event, in characters.
const MAX_TEXT: usize = 400;

/// The events.
pub(super) struct Feed {
    kept: Mutex<KeptEvents>,
    /// The number of the last event.
    last: watch::Sender<u64>,
    viewers: AtomicUsize,
}

#[derive(Default)]
struct KeptEvents {
    events: VecDeque<(u64, Instant, Map<String, Value>)>,
    last: u64,
}

impl Default for Feed {
    fn default() -> Self {
        let (kept, viewers) = Default::default();
        Self { kept, last: watch::Sender::new(0), viewers }
    }
}

/// A page that follows the events, until dropped.
struct Viewer(Arc<Feed>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Feed {
    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// Whether a page is open.
    pub(super) fn has_viewers(&self) -> bool {
        self.viewers.load(Ordering::Relaxed) > 0
    }

    /// Adds an event of this kind.
    pub(super) fn add(&self, kind: &str, device: Option<&str>, text: &str, rest: Value) {
        let mut event = Map::new();
        event.insert("kind".into(), kind.into());
        event.insert("device".into(), device.into());
        event.insert("text".into(), truncate(text, MAX_TEXT).into());
        if let Value::Object(rest) = rest {
            event.extend(rest);
        }
        let mut kept = lock(&self.kept);
        kept.last += 1;
        let last = kept.last;
        kept.events.push_back((last, Instant::now(), event));
        if kept.events.len() > MAX_KEPT {
            kept.events.pop_front();
        }
        self.last.send_replace(last);
    }

    /// The kept events after this number as lines of JSON; empty if there are none.
    pub(super) fn lines(&self, after: u64) -> (u64, String) {
        let kept = lock(&self.kept);
        let newer = kept.events.iter().filter(|(number, ..)| *number > after);
        let lines = newer.map(|(number, at, event)| {
            let ms_ago = u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX);
            let mut line = json!({ "number": number, "ms_ago": ms_ago });
            if let Value::Object(line) = &mut line {
                line.extend(event.clone());
            }
            format!("{line}\n")
        });
        (kept.last.max(after), lines.collect())
    }

    /// The events after this number, and all later ones, until the page goes away.
    pub(super) fn stream(self: Arc<Self>, after: u64) -> Body {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        // A number of an earlier process says nothing here.
        let after = if after > self.last() { 0 } else { after };
        let changes = self.last.subscribe();
        let state = (Viewer(self), changes, after);
        stream::unfold(state, |(viewer, mut changes, after)| async move {
            loop {
                changes.mark_unchanged();
                let (last, lines) = viewer.0.lines(after);
                if !lines.is_empty() {
                    return Some((Bytes::from(lines), (viewer, changes, last)));
                }
                match timeout(ALIVE, changes.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => return Some((Bytes::from("\n"), (viewer, changes, after))),
                }
            }
        })
        .boxed()
    }
}

impl EventSink for Feed {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::CallStarted(call) if call.action.changes_screen() => {
                let rest = json!({ "act": true, "client": call.client.as_str() });
                self.add("call_started", call.device, &call.action.to_string(), rest);
            }
            Event::CallStarted(_) => {}
            Event::CallFinished { call, took, result, .. } => {
                let mut text = call.action.to_string();
                match result {
                    CallResult::Done(_) => {}
                    CallResult::Failed(failure) => text = format!("{text}: {}", failure.cause),
                    CallResult::Abandoned => text = format!("{text}: abandoned"),
                }
                let rest = json!({
                    "ok": matches!(result, CallResult::Done(_)),
                    "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                    "act": call.action.changes_screen(),
                    "client": call.client.as_str(),
                });
                self.add("call_finished", call.device, &text, rest);
            }
            Event::DeviceConnected { device, model } => {
                let text = format!("{device} is connected: {model}");
                self.add("phone", Some(device), text.trim_end_matches([':', ' ']), Value::Null);
            }
            Event::DeviceLost { device, reason } => {
                self.add(
                    "phone",
                    Some(device),
                    &format!("{device} is gone: {reason}"),
                    Value::Null,
                );
            }
            Event::Task(payload) => self.add_task(*payload),
        }
    }
}

/// The acts of the person at the page, without the looks of the inspector.
pub(super) struct PersonFeed(pub(super) Arc<Feed>);

impl EventSink for PersonFeed {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::CallStarted(call) | Event::CallFinished { call, .. }
                if !call.action.changes_screen() => {}
            event => self.0.on_event(event),
        }
    }
}

impl Feed {
    fn add_task(&self, payload: &dyn EventPayload) {
        let detail = payload.to_json();
        let name = detail["event"].as_str().unwrap_or_default();
        // Parts of an answer, and calls that are events of their own.
        if ["model_text", "model_requested", "screenshot_taken", "controls_listed", "apps_listed"]
            .contains(&name)
        {
            return;
        }
        let text = task_text(name, &detail);
        let ok = match (&detail["success"], &detail["passed"], &detail["status"]) {
            (Value::Bool(ok), ..) | (_, Value::Bool(ok), _) => Some(*ok),
            (.., Value::String(status)) if status == "failed" || status == "FAIL" => Some(false),
            (.., Value::String(status)) if status == "passed" || status == "FINISH" => Some(true),
            _ => None,
        };
        let device = detail["device"].as_str().map(str::to_owned);
        let rest = json!({ "ok": ok, "took_ms": detail["duration_ms"], "detail": detail });
        self.add(payload.source(), device.as_deref(), &text, rest);
    }
}

/// An event of an agent or a flow in a line: its name, and the first of its texts.
fn task_text(name: &str, detail: &Value) -> String {
    const TEXTS: [&str; 8] =
        ["request", "step", "message", "question", "reason", "result", "name", "remaining"];
    let text = match name {
        "decided" => {
            let decision = &detail["decision"];
            let thought = [&decision["thought"], &decision["comment"]];
            thought.into_iter().find_map(Value::as_str).map(str::to_owned)
        }
        "planned" => detail["plan"]
            .as_array()
            .map(|plan| plan.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")),
        "call_finished" => detail["function"].as_str().map(|function| {
            format!("{function}: {}", detail["message"].as_str().unwrap_or_default())
        }),
        _ => TEXTS.iter().find_map(|key| match &detail[*key] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }),
    };
    let name = name.replace('_', " ");
    match text.filter(|text| !text.is_empty()) {
        Some(text) => format!("{name}: {text}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next(stream: &mut Body) -> Vec<Value> {
        let bytes = stream.next().await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap_or(Value::Null)).collect()
    }

    fn numbers(lines: &[Value]) -> Vec<u64> {
        lines.iter().filter_map(|line| line["number"].as_u64()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_gets_the_kept_events_and_then_the_live_ones() {
        let feed = Arc::new(Feed::default());
        for number in 0..MAX_KEPT + 5 {
            feed.add("phone", Some("one"), &format!("event {number}"), json!({ "ok": true }));
        }
        let mut stream = Arc::clone(&feed).stream(0);
        assert!(feed.has_viewers());
        let kept = numbers(&next(&mut stream).await);
        assert_eq!((kept[0], kept.len()), (6, MAX_KEPT));
        assert_eq!(next(&mut stream).await, Vec::<Value>::from([Value::Null]), "a keep-alive");
        feed.add("hold", None, "paused", Value::Null);
        assert_eq!(next(&mut stream).await[0]["text"], "paused");
        let last = feed.last();
        let mut reloaded = Arc::clone(&feed).stream(last - 1);
        assert_eq!(numbers(&next(&mut reloaded).await), [last]);
        // The process was started again since the page was loaded.
        let mut stale = Arc::clone(&feed).stream(last + 1000);
        assert_eq!(next(&mut stale).await.len(), MAX_KEPT);
        drop((stream, reloaded, stale));
        assert!(!feed.has_viewers());
    }

    #[test]
    fn events_of_tasks_have_a_line_of_text() {
        for (detail, text) in [
            (json!({ "event": "run_started", "request": "Buy milk" }), "run started: Buy milk"),
            (json!({ "event": "step_started", "step": 3 }), "step started: 3"),
            (
                json!({ "event": "call_finished", "function": "tap", "message": "tapped Save" }),
                "call finished: tap: tapped Save",
            ),
            (json!({ "event": "planned", "plan": ["open", "save"] }), "planned: open; save"),
            (json!({ "event": "model_retried", "reason": "busy" }), "model retried: busy"),
            (json!({ "event": "odd" }), "odd"),
        ] {
            assert_eq!(task_text(detail["event"].as_str().unwrap(), &detail), text);
        }
    }
}

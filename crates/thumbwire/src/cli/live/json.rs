//! A run as JSON lines on standard output, for programs: an object for each event, named by `event`.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{Ended, Event, Stopped, Watch};

/// Writes each event as a line of JSON to standard output.
pub(in crate::cli) struct JsonLines;

impl JsonLines {
    /// The last line: how the run ended, with all that it cost.
    pub(in crate::cli) fn end(&self, ended: &Ended, trace: Option<&str>) {
        write(&done(ended, trace));
    }
}

impl Watch for JsonLines {
    fn tell(&self, event: &Event<'_>) {
        if let Some(line) = line(event) {
            write(&line);
        }
    }
}

fn write(line: &Value) {
    let mut out = std::io::stdout().lock();
    // Who has left (`| head`) is told nothing more; the run itself goes on to its end.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The event as an object; `None` for the end, which is told with more ([`done`]).
pub(super) fn line(event: &Event<'_>) -> Option<Value> {
    Some(match event {
        Event::Begun { request, behind } => {
            json!({ "event": "begun", "request": request, "behind": behind })
        }
        Event::Round { round, most } => json!({ "event": "round", "round": round, "most": most }),
        Event::Captured { path, took } => {
            json!({ "event": "captured", "path": path, "took_ms": millis(*took) })
        }
        Event::Apps { count, took } => {
            json!({ "event": "apps", "count": count, "took_ms": millis(*took) })
        }
        Event::Controls { ids, path, took } => {
            json!({ "event": "controls", "ids": ids, "path": path, "took_ms": millis(*took) })
        }
        Event::Thinking { mind } => json!({ "event": "thinking", "mind": mind }),
        Event::Heard(text) => json!({ "event": "heard", "text": text }),
        Event::AskedAgain { why } => json!({ "event": "asked_again", "why": why }),
        Event::Decided { decision, spent, took } => json!({
            "event": "decided", "decision": decision, "spent": spent, "took_ms": millis(*took),
        }),
        Event::Did { doing, success, message, took } => json!({
            "event": "did", "function": doing.function, "arguments": doing.arguments, "success": success,
            "message": message, "took_ms": millis(*took),
        }),
        Event::Noticed(what) => json!({ "event": "noticed", "what": what }),
        Event::Asked { question } => json!({ "event": "asked", "question": question }),
        Event::State { status, spent, left } => {
            json!({ "event": "state", "status": status, "spent": spent, "left": left })
        }
        Event::Ended { .. } => return None,
    })
}

/// The end as an object.
pub(super) fn done(ended: &Ended, trace: Option<&str>) -> Value {
    let stopped = ended.stopped.map(|stopped| match stopped {
        Stopped::Budget => "budget",
        Stopped::Cancelled => "cancelled",
        Stopped::Failed => "failed",
        Stopped::Loop => "loop",
    });
    json!({
        "event": "ended", "status": ended.status, "result": ended.why, "stopped": stopped, "rounds": ended.rounds,
        "spent": ended.spent, "took_ms": millis(ended.took), "trace": trace,
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

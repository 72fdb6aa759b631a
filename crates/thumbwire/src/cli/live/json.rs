//! A run as JSON lines on standard output, for programs: one object per event; `event` holds its
//! name.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use thumbwire_agent::{AgentEvent, RunResult, StopReason};
use thumbwire_core::event::{Event, EventPayload as _, EventSink};

/// Writes each event as a line of JSON to standard output.
pub(in crate::cli) struct JsonLines;

impl JsonLines {
    /// Writes the last line: the result, with the total usage.
    pub(in crate::cli) fn end(
        &self,
        result: &RunResult,
        trace: Option<&str>,
        resume: Option<&str>,
    ) {
        write(&finished(result, trace, resume));
    }
}

impl EventSink for JsonLines {
    fn on_event(&self, event: &Event<'_>) {
        if let Some(line) = event.payload().and_then(line) {
            write(&line);
        }
    }
}

fn write(line: &Value) {
    let mut out = std::io::stdout().lock();
    // Ignore a closed pipe (`| head`); the run itself continues.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The event as an object; `None` for a step's values, which are long, and for the end, which
/// [`finished`] writes with more details.
pub(super) fn line(event: &AgentEvent) -> Option<Value> {
    match event {
        AgentEvent::RunFinished { .. } => None,
        event => Some(event.to_json()),
    }
}

/// The result as an object; `resume` is the command that continues an unfinished run.
pub(super) fn finished(result: &RunResult, trace: Option<&str>, resume: Option<&str>) -> Value {
    let stop_reason = result.stopped.map(|reason| match reason {
        StopReason::Budget => "budget",
        StopReason::Cancelled => "cancelled",
        StopReason::Failed => "failed",
        StopReason::Loop => "loop",
    });
    let mut line = json!({
        "event": "run_finished", "status": result.status, "result": result.reason, "stop_reason": stop_reason,
        "steps": result.rounds, "usage": result.spent, "duration_ms": millis(result.took), "trace": trace,
    });
    if let Some(resume) = resume {
        line["resume"] = resume.into();
    }
    line
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

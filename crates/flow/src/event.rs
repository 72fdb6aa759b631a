//! The events of a run of flows.
//!
//! They are payloads in the event stream of [`thumbwire_core::event`]; [`Event::payload`] returns
//! them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::report::{Attempt, Report, Verdict};
use thumbwire_core::event::{Event, EventPayload, EventSink};

/// An event. `case` counts all cases to run, from 0; the events of one case arrive in order.
#[derive(Debug, Clone)]
pub enum FlowEvent {
    /// A case starts.
    CaseStarted {
        /// The case's number.
        case: usize,
        /// The flow's name and the case's.
        name: String,
        /// The phone's name.
        device: String,
        /// The attempt, counted from 1.
        attempt: u32,
    },
    /// A step starts, ends, or is tried again.
    Step {
        /// The case's number.
        case: usize,
        /// The step's description.
        text: String,
        /// Its nesting depth.
        depth: usize,
        /// Whether it has nested steps. They have events of their own.
        nested: bool,
        /// Its status.
        status: StepStatus,
        /// The duration.
        took: Duration,
    },
    /// An attempt ended.
    CaseFinished {
        /// The case's number.
        case: usize,
        /// The result.
        attempt: Box<Attempt>,
        /// Whether the case is tried again.
        again: bool,
    },
    /// A case was skipped.
    CaseSkipped {
        /// The case's number.
        case: usize,
        /// The flow's name and the case's.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The run ended.
    RunFinished(Arc<Report>),
}

/// The status of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepStatus {
    /// It passed.
    Passed,
    /// It failed, and so did the case.
    Failed(String),
    /// It failed and is retried.
    Retried(String),
    /// It failed and was optional.
    Skipped(String),
    /// It starts now.
    Started,
}

impl FlowEvent {
    /// Sends the event to `sink`.
    pub(super) fn send(&self, sink: &dyn EventSink) {
        sink.on_event(&Event::Task(self));
    }
}

impl EventPayload for FlowEvent {
    fn source(&self) -> &'static str {
        "flow"
    }

    fn to_json(&self) -> Value {
        match self {
            Self::CaseStarted { case, name, device, attempt } => json!({
                "event": "case_started", "case": case, "name": name, "device": device, "attempt": attempt,
            }),
            Self::Step { case, text, depth, nested, status, took } => {
                let (status, reason) = match status {
                    StepStatus::Passed => ("passed", None),
                    StepStatus::Failed(reason) => ("failed", Some(reason)),
                    StepStatus::Retried(reason) => ("retried", Some(reason)),
                    StepStatus::Skipped(reason) => ("skipped", Some(reason)),
                    StepStatus::Started => ("started", None),
                };
                json!({
                    "event": "step", "case": case, "step": text, "depth": depth, "nested": nested, "status": status,
                    "reason": reason, "duration_ms": millis(*took),
                })
            }
            Self::CaseFinished { case, attempt, again } => json!({
                "event": "case_finished", "case": case, "passed": attempt.failed.is_none(), "again": again,
                "reason": attempt.failed.as_ref().map(|failed| &failed.what), "notes": attempt.notes,
                "trace": attempt.trace, "duration_ms": millis(attempt.took),
            }),
            Self::CaseSkipped { case, name, reason } => {
                json!({ "event": "case_skipped", "case": case, "name": name, "reason": reason })
            }
            Self::RunFinished(report) => json!({
                "event": "run_finished", "passed": report.count(Verdict::Passed), "flaky": report.count(Verdict::Flaky),
                "failed": report.count(Verdict::Failed), "skipped": report.count(Verdict::Skipped),
                "duration_ms": millis(report.took),
            }),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_a_json_form() {
        let took = Duration::from_millis(1500);
        let step = |status| FlowEvent::Step {
            case: 2,
            text: "tap Pay".into(),
            depth: 1,
            nested: false,
            status,
            took,
        };
        let out = step(StepStatus::Failed("nothing says Pay".into())).to_json();
        let row = json!({
            "event": "step", "case": 2, "step": "tap Pay", "depth": 1, "nested": false, "status": "failed",
            "reason": "nothing says Pay", "duration_ms": 1500,
        });
        assert_eq!(out, row);
        assert_eq!(step(StepStatus::Passed).to_json()["reason"], Value::Null);
        let report = Report {
            flows: Vec::new(),
            cases: Vec::new(),
            phones: Vec::new(),
            started: String::new(),
            took,
            out_of_time: false,
            out_of_phones: false,
        };
        let out = FlowEvent::RunFinished(Arc::new(report)).to_json();
        assert_eq!((&out["event"], &out["failed"]), (&json!("run_finished"), &json!(0)));
    }
}

//! Flows from the page's editor: checked as they are written, and run from any step.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};
use thumbwire_core::event::{Event, EventSink, EventSinks, ObservedPerform};
use thumbwire_flow::{Flow, FlowEvent, FlowRunner, Options, Report, StepStatus, read};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::feed::PersonFeed;
use super::{Body, FLOW_TIME, Parts};

/// The name of the editor's flow in messages.
const NAME: &str = "flow.yaml";

/// How many lines wait for a page that reads slowly.
const MAX_WAITING: usize = 1000;

fn parse(text: &str) -> Result<Flow, Vec<Value>> {
    let only_this = |file: &Path| match file == Path::new(NAME) {
        true => Ok(text.to_owned()),
        false => {
            Err("the studio reads no other files; save the flow and use `thumbwire test`".into())
        }
    };
    read(NAME, &<_>::default(), &only_this).map_err(|errors| {
        let row = |error: &thumbwire_flow::FlowError| {
            json!({ "line": error.at.line, "text": error.what })
        };
        errors.iter().map(row).collect()
    })
}

/// The steps of a flow with their lines, or what is wrong with it.
pub(super) fn check(text: &str) -> Value {
    match parse(text) {
        Ok(flow) => {
            let steps = flow.cases.iter().flat_map(|case| &case.steps);
            let rows = steps.map(|step| json!({ "line": step.at.line, "text": step.to_string() }));
            let needs = flow.needs().map(|it| json!({ "line": it.at.line, "text": it.what }));
            json!({ "steps": rows.collect::<Vec<_>>(), "errors": needs.collect::<Vec<_>>() })
        }
        Err(errors) => json!({ "steps": [], "errors": errors }),
    }
}

/// Sends the steps of a run to the page.
struct StepLines {
    sender: mpsc::Sender<Value>,
    /// How many steps began.
    begun: AtomicUsize,
    /// Whether the last of them has ended.
    ended: AtomicBool,
}

impl EventSink for StepLines {
    fn on_event(&self, event: &Event<'_>) {
        let Some(FlowEvent::Step { text, depth: 0, status, took, .. }) = event.payload() else {
            return;
        };
        let (status, reason) = match status {
            StepStatus::Passed => ("passed", None),
            StepStatus::Failed(reason) => ("failed", Some(reason)),
            StepStatus::Skipped(reason) => ("warned", Some(reason)),
            StepStatus::Retried(_) => return,
            StepStatus::Started => ("running", None),
        };
        let starts = status == "running";
        if starts {
            self.begun.fetch_add(1, Ordering::Relaxed);
        }
        // A step that was skipped passes, too: the first word counts.
        if self.ended.swap(!starts, Ordering::Relaxed) && !starts {
            return;
        }
        let step = self.begun.load(Ordering::Relaxed).saturating_sub(1);
        let text = reason.map_or_else(|| text.clone(), |reason| format!("{text}: {reason}"));
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let line = json!({ "step": step, "status": status, "text": text, "took_ms": took_ms });
        // The run goes on also if nobody reads.
        let _ = self.sender.try_send(line);
    }
}

/// Cancels a run whose page has gone away.
struct CancelOnDrop(CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Parts {
    /// Runs a flow on a phone from a step on, on the screen as it is then, and sends a line for
    /// each step. Ends when the page stops reading.
    ///
    /// # Errors
    /// What is wrong with the flow.
    pub(super) fn run_flow(
        self: &Arc<Self>,
        device: &str,
        text: &str,
        from: usize,
    ) -> Result<Body, String> {
        let flow = parse(text).map_err(|errors| {
            let text = |error: &Value| error["text"].as_str().unwrap_or_default().to_owned();
            let first =
                errors.first().map(|error| format!("line {}: {}", error["line"], text(error)));
            first.unwrap_or_else(|| "the flow cannot be read".into())
        })?;
        let flow = if from == 0 { flow } else { flow.from_step(from) };
        let (sender, lines) = mpsc::channel(MAX_WAITING);
        self.claim(device, FLOW_TIME);
        let call = self.call_within(device, FLOW_TIME);
        let guard = CancelOnDrop(call.cancelled.clone());
        let begun = AtomicUsize::new(from);
        let steps = StepLines { sender: sender.clone(), begun, ended: AtomicBool::new(false) };
        let sinks = EventSinks::default().with(PersonFeed(Arc::clone(&self.feed)));
        let perform = Arc::new(ObservedPerform::new(Arc::clone(&self.session), sinks));
        let options = Options { devices: vec![device.to_owned()], ..Options::default() };
        let events = EventSinks::default().with(Arc::new(steps)).with(Arc::clone(&self.feed));
        let handle = tokio::runtime::Handle::current();
        let (studio, device) = (Arc::clone(self), device.to_owned());
        tokio::task::spawn_blocking(move || {
            let runner = FlowRunner {
                perform,
                options,
                events: Arc::new(events),
                goals: None,
                goldens: None,
                network: None,
            };
            // A run of flows stays on one thread.
            let ended = handle.block_on(runner.run(&call, vec![flow]));
            // The programs go on, unless the person has paused them.
            studio.claim(&device, Duration::ZERO);
            let (ended, text) = match ended {
                Ok(_) if call.cancelled.is_cancelled() => ("stopped", "stopped".to_owned()),
                Ok(report) => outcome(&report),
                Err(error) => ("failed", error.to_string()),
            };
            let _ = sender.blocking_send(json!({ "ended": ended, "text": text }));
        });
        let lines = stream::unfold((lines, guard), |(mut lines, guard)| async move {
            let line: Value = lines.recv().await?;
            Some((Bytes::from(format!("{line}\n")), (lines, guard)))
        });
        Ok(lines.boxed())
    }
}

fn outcome(report: &Report) -> (&'static str, String) {
    let failed = report.cases.iter().flat_map(|case| &case.attempts);
    let failed = failed.filter_map(|attempt| attempt.failed.as_ref()).next_back();
    match (report.exit_code(), failed) {
        (0, _) => ("passed", "passed".to_owned()),
        (_, Some(failed)) => ("failed", failed.what.clone()),
        (_, None) => ("failed", "the flow did not run to its end".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_checked_as_it_is_written() {
        let good = check("appId: com.example\n---\n- launchApp\n- tapOn: Save\n");
        let lines: Vec<u64> = good["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["line"].as_u64().unwrap())
            .collect();
        assert_eq!((lines, good["errors"].as_array().unwrap().len()), (vec![3, 4], 0));
        let bad = check("appId: com.example\n---\n- launchApp\n- tapp: Save\n");
        assert_eq!(bad["errors"][0]["line"], 4);
        let other = check("appId: com.example\n---\n- runFlow: /etc/passwd\n");
        let text = other["errors"][0]["text"].as_str().unwrap();
        assert!(text.contains("reads no other files"), "{text}");
    }
}

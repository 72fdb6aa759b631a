//! The log lines of a run, as the `MobileLoggingMiddleware` of the UFO MobileAgent strategy writes
//! them ("Logged Information"), through `tracing`.
//!
//! One line per event, whatever the phone or the model wrote: control characters are escaped and
//! long texts truncated.

use std::fmt::Write as _;
use std::time::Duration;

use crate::event::AgentEvent;
use crate::model::Usage;
use crate::policy::decision::{AgentStatus, FunctionCall};
use thumbwire_base::truncate;
use thumbwire_base::visible::visible;
use thumbwire_core::event::{Event, EventSink};

/// Logs a run at level `info`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LogSink {}

impl EventSink for LogSink {
    fn on_event(&self, event: &Event<'_>) {
        if let Some(line) = event.payload().and_then(line) {
            tracing::info!("{line}");
        }
    }
}

/// The line of an event; `None` if the specification does not log it.
fn line(event: &AgentEvent) -> Option<String> {
    Some(match event {
        // The specification's words, without the markup of its terminal library.
        AgentEvent::RunStarted { request, .. } => {
            format!("Completing the user request: {} on Mobile.", plain(request))
        }
        AgentEvent::StepStarted { step, max_steps } => format!("Step {step} of {max_steps}"),
        AgentEvent::ScreenshotTaken { path, took } => {
            let path = if path.is_empty() { "(not saved)".into() } else { plain(path) };
            format!("Screenshot captured: {path}{}", seconds(*took))
        }
        AgentEvent::AppsListed { count, took } => {
            format!("Apps collected: {count}{}", seconds(*took))
        }
        AgentEvent::ControlsListed { ids, path, took } => {
            let marked = path
                .as_ref()
                .map_or(String::new(), |path| format!(", annotated in {}", plain(path)));
            let ids = plain(&ids.join(", "));
            format!("Controls identified: [{ids}]{marked}{}", seconds(*took))
        }
        AgentEvent::ModelRequested { policy } => format!("Deciding: {}", plain(policy)),
        AgentEvent::ModelText(_) => return None,
        AgentEvent::ModelRetried { reason } => {
            format!("Answer rejected, asking again: {}", plain(reason))
        }
        AgentEvent::Planned { plan, usage, took, .. } => {
            format!("Planned: {}; cost {}{}", plain(&plan.join("; ")), cost(usage), seconds(*took))
        }
        AgentEvent::Judged { reached, reason, usage } => {
            let verdict = if *reached { "reached" } else { "not reached" };
            format!("Judged: {verdict}: {}; cost {}", plain(reason), cost(usage))
        }
        AgentEvent::Decided { decision, usage, took } => {
            let calls: Vec<String> = decision.actions.iter().map(call).collect();
            let calls = if calls.is_empty() { "nothing".into() } else { calls.join(", then ") };
            format!("Decided: {calls}; cost {}{}", cost(usage), seconds(*took))
        }
        AgentEvent::FunctionFinished { call: doing, success, message, took } => {
            let how = if *success { "succeeded" } else { "failed" };
            format!("Action {} {how}: {}{}", call(doing), plain(message), seconds(*took))
        }
        AgentEvent::AnomalyFound(what) => format!("Noticed: {}", plain(what)),
        AgentEvent::UserAsked { question } => format!("Asked the user: {}", plain(question)),
        AgentEvent::StepFinished { status, usage, remaining } => {
            let (status, remaining) = (name(*status), plain(remaining));
            format!("State: {status}; cost so far {}; {remaining} left", cost(usage))
        }
        AgentEvent::RunFinished { status, reason } => {
            format!("Ended: {}: {}", name(*status), plain(reason))
        }
    })
}

fn call(doing: &FunctionCall) -> String {
    let arguments = doing.arguments.iter().map(|(name, value)| format!("{name}={value}"));
    plain(&format!("{}({})", doing.function, arguments.collect::<Vec<_>>().join(", ")))
}

fn cost(usage: &Usage) -> String {
    let Usage { calls, input_tokens, output_tokens, dollars, .. } = usage;
    let answers = if *calls == 1 { "call" } else { "calls" };
    let mut out = format!("{calls} {answers}, {input_tokens} tokens in, {output_tokens} out");
    if let Some(dollars) = dollars {
        let _ = write!(out, ", ${dollars:.4}");
    }
    out
}

fn seconds(took: Duration) -> String {
    format!(" ({:.3} s)", took.as_secs_f64())
}

/// The wire name of a status.
pub(crate) fn name(status: AgentStatus) -> &'static str {
    match status {
        AgentStatus::Continue => "CONTINUE",
        AgentStatus::Finish => "FINISH",
        AgentStatus::Fail => "FAIL",
    }
}

/// Makes a text fit on one line.
fn plain(text: &str) -> String {
    const MAX_TEXT: usize = 500;
    visible(&truncate(text, MAX_TEXT)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    #[test]
    fn a_round_is_logged_in_the_documents_words() {
        let took = Duration::from_millis(234);
        let arguments = serde_json::json!({ "control_id": "5", "control_name": "Search" });
        let arguments = arguments.as_object().cloned().unwrap();
        let call = FunctionCall { function: "click_control".into(), arguments };
        let decision = Decision { actions: vec![call.clone()], ..Decision::default() };
        let dollars = Some(0.0125);
        let usage =
            Usage { calls: 1, input_tokens: 900, output_tokens: 60, dollars, ..Usage::default() };
        let ids = ["1".to_owned(), "2".to_owned()];
        let annotated = Some("logs/run/action_step1_annotated.png");
        let message = "Clicked control 'Search' at (480, 144)";
        let events = [
            AgentEvent::RunStarted {
                request: "Search for restaurants on Maps".into(),
                resumed_steps: 0,
            },
            AgentEvent::StepStarted { step: 1, max_steps: 50 },
            AgentEvent::ScreenshotTaken { path: "logs/run/action_step1.png".into(), took },
            AgentEvent::AppsListed { count: 2, took },
            AgentEvent::ControlsListed {
                ids: ids.into(),
                path: annotated.map(str::to_owned),
                took,
            },
            AgentEvent::ModelRequested { policy: "openai gpt-5".into() },
            AgentEvent::ModelText("{\"thought".into()),
            AgentEvent::ModelRetried { reason: "it has no JSON object".into() },
            AgentEvent::Planned {
                plan: vec!["open Maps".into(), "search".into()],
                reason: "the run starts".into(),
                usage: usage.clone(),
                took,
            },
            AgentEvent::Decided { decision: decision.into(), usage: usage.clone(), took },
            AgentEvent::FunctionFinished {
                call: call.clone(),
                success: true,
                message: message.into(),
                took,
            },
            AgentEvent::FunctionFinished {
                call: call.clone(),
                success: false,
                message: "gone\nNext: \u{1b}[2J".into(),
                took,
            },
            AgentEvent::AnomalyFound("nothing changed \u{202e}on".into()),
            AgentEvent::Judged {
                reached: false,
                reason: "no results".into(),
                usage: usage.clone(),
            },
            AgentEvent::StepFinished {
                status: AgentStatus::Continue,
                usage: usage.clone(),
                remaining: "49 of 50 steps".into(),
            },
            AgentEvent::RunFinished {
                status: AgentStatus::Finish,
                reason: "There are three".into(),
            },
        ];
        let lines: Vec<String> = events.iter().filter_map(line).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn log_line_has_no_line_breaks_and_is_truncated() {
        let long = "x\n".repeat(100_000);
        let line = line(&AgentEvent::AnomalyFound(long)).unwrap();
        assert!(!line.contains('\n') && line.len() < 2000, "{}", line.len());
    }
}

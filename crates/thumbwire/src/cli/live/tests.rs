//! The output of a run, from made-up events.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::style::LineStyle;
use super::super::terminal_prompt::PauseOutput as _;
use super::format::RunFormatter;
use super::{StatusLine, bar, json};
use thumbwire_agent::model::Usage;
use thumbwire_agent::{AgentEvent, AgentStatus, Decision, FunctionCall, RunResult, StopReason};

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Passes the events of a run to `tell`: an ordinary step, a step in which much goes wrong, and the
/// end.
fn run(mut tell: impl FnMut(&AgentEvent)) -> RunResult {
    let ms = Duration::from_millis;
    let usage = |calls, dollars| Usage {
        calls,
        input_tokens: 1200 * u64::from(calls),
        output_tokens: 80,
        dollars: Some(dollars),
        ..Usage::default()
    };
    tell(&AgentEvent::RunStarted {
        request: "Search for restaurants on Maps".into(),
        resumed_steps: 0,
    });
    tell(&AgentEvent::StepStarted { step: 1, max_steps: 50 });
    tell(&AgentEvent::ScreenshotTaken {
        path: "logs/run-1/action_step1.png".into(),
        took: ms(310),
    });
    tell(&AgentEvent::AppsListed { count: 14, took: ms(40) });
    let ids = ["1".to_owned(), "2".to_owned()];
    tell(&AgentEvent::ControlsListed { ids: ids.into(), path: None, took: ms(900) });
    tell(&AgentEvent::ModelRequested { policy: "scripted maps".into() });
    tell(&AgentEvent::ModelText("{\"thought\"".into()));
    let call = FunctionCall {
        function: "launch_app".into(),
        arguments: arguments(json!({ "package_name": "com.google.android.apps.maps", "id": "1" })),
    };
    let decision = Decision {
        thought: "I need to launch Google Maps app first".into(),
        comment: "Launching Maps to search for restaurants".into(),
        actions: vec![call.clone()],
        ..Decision::default()
    };
    tell(&AgentEvent::Decided {
        decision: decision.into(),
        usage: usage(1, 0.0041),
        took: ms(2130),
    });
    let message = "Launched com.google.android.apps.maps";
    tell(&AgentEvent::FunctionFinished {
        call,
        success: true,
        message: message.into(),
        took: ms(420),
    });
    let remaining = || "49 steps".to_owned();
    tell(&AgentEvent::StepFinished {
        status: AgentStatus::Continue,
        usage: usage(1, 0.0041),
        remaining: remaining(),
    });

    tell(&AgentEvent::StepStarted { step: 2, max_steps: 50 });
    tell(&AgentEvent::AnomalyFound(
        "the app \x1b[31mcom.evil\x1b[0m came to the front instead of Maps".into(),
    ));
    tell(&AgentEvent::ModelRequested { policy: "scripted maps".into() });
    tell(&AgentEvent::ModelRetried {
        reason: "there is no function \"click\"; there are click_control, tap".into(),
    });
    let decision = Decision { thought: "  ".into(), ..Decision::default() };
    tell(&AgentEvent::Decided {
        decision: decision.into(),
        usage: usage(2, 0.0),
        took: ms(90_400),
    });
    let call = FunctionCall {
        function: "type_text".into(),
        arguments: arguments(json!({
            "text": "restaurants and all that stands at a street, as far as one can walk there in the evening",
            "control_id": "7", "clear_current_text": false,
        })),
    };
    let message =
        "Control with ID '7' not found. Please call get_app_window_controls_target_info first.";
    tell(&AgentEvent::FunctionFinished {
        call,
        success: false,
        message: message.into(),
        took: ms(3),
    });
    tell(&AgentEvent::UserAsked { question: "Which\nstreet?".into() });
    tell(&AgentEvent::StepFinished {
        status: AgentStatus::Continue,
        usage: usage(3, 0.0041),
        remaining: remaining(),
    });
    tell(&AgentEvent::RunFinished { status: AgentStatus::Fail, reason: "no decision".into() });
    RunResult {
        status: AgentStatus::Fail,
        reason: "the phone stays silent\u{7}".into(),
        stopped: Some(StopReason::Failed),
        limit: None,
        rounds: 2,
        spent: Usage { retries: 1, ..usage(3, 1.25) },
        took: ms(95_000),
    }
}

fn shown(style: LineStyle) -> String {
    told_as(style, true)
}

fn told_as(style: LineStyle, verbose: bool) -> String {
    let mut formatter = RunFormatter::new(style, verbose);
    let about = ["Pixel 8".to_owned(), "scripted maps".to_owned(), "logs/run-1".to_owned()];
    let mut lines = formatter.head("Search for restaurants on Maps", &about);
    let ended = run(|event| lines.extend(formatter.lines(event)));
    lines.extend(formatter.end(&ended, &["Report: thumbwire trace report logs/run-1".into()]));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn run_without_a_terminal_matches_snapshot() {
    insta::assert_snapshot!("plain", shown(LineStyle { width: None, colours: false }));
}

#[test]
fn run_on_a_terminal_matches_snapshot() {
    insta::assert_snapshot!("wide", shown(LineStyle { width: Some(80), colours: false }));
    insta::assert_snapshot!("narrow", shown(LineStyle { width: Some(32), colours: false }));
    let colourful = shown(LineStyle { width: Some(80), colours: true });
    insta::assert_snapshot!("colours", colourful.replace('\x1b', "␛"));
}

#[test]
fn short_view_matches_snapshot() {
    insta::assert_snapshot!("short", told_as(LineStyle { width: Some(80), colours: false }, false));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in 20..120 {
        for line in shown(LineStyle { width: Some(width), colours: false }).lines() {
            let is_report = line.starts_with("Report:");
            assert!(
                is_report || unicode_width::UnicodeWidthStr::width(line) <= width,
                "{width}: {line}"
            );
        }
    }
}

#[test]
fn progress_line_shows_activity_and_usage() {
    let mut formatter = RunFormatter::new(LineStyle { width: None, colours: false }, false);
    let mut seen = Vec::new();
    run(|event| {
        formatter.lines(event);
        seen.push(format!("{} {}", formatter.step_number(), formatter.status()));
    });
    seen.dedup();
    insta::assert_snapshot!("standing", seen.join("\n"));
}

#[test]
fn json_lines_match_snapshot() {
    let mut lines = Vec::new();
    let ended = run(|event| lines.extend(json::line(event)));
    lines.push(json::finished(&ended, Some("logs/run-1"), None));
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("json", lines.join("\n"));
}

/// A terminal of 40 columns that records its content.
#[derive(Debug, Default, Clone)]
struct Sheet(Arc<Mutex<String>>);

impl indicatif::TermLike for Sheet {
    fn width(&self) -> u16 {
        40
    }
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
    fn clear_line(&self) -> io::Result<()> {
        self.0.lock().unwrap().clear();
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn progress_line_fits_and_ends_with_the_clock() {
    for (limit, clock) in [(None, "0:00"), (Some(Duration::from_secs(75)), "1:1")] {
        let bar = bar(false, limit);
        let sheet = Sheet::default();
        bar.set_prefix("3/50");
        bar.set_message("thinking · 5,231 tokens · $0.0123 · and more than fits there");
        bar.set_draw_target(indicatif::ProgressDrawTarget::term_like(Box::new(sheet.clone())));
        bar.tick();
        let shown = sheet.0.lock().unwrap().clone();
        assert!(shown.contains("3/50 thinking") && shown.contains(clock), "{shown:?}");
        assert!(shown.trim_end().chars().count() <= 40, "{shown:?}");
    }
}

#[test]
fn progress_line_disappears_when_cleared() {
    let bar = bar(false, None);
    let sheet = Sheet::default();
    bar.set_draw_target(indicatif::ProgressDrawTarget::term_like(Box::new(sheet.clone())));
    bar.set_message("thinking");
    bar.tick();
    StatusLine::new(Some(bar.clone())).pause();
    bar.set_message("acting");
    assert_eq!(sheet.0.lock().unwrap().trim(), "");
}

//! The log lines of a run: what seed 002's `MobileLoggingMiddleware` tells ("Logged Information"), through `tracing`.
//!
//! A line an event, whatever the phone or the model wrote: line ends and control characters are escaped, long words cut.

use std::fmt::Write as _;
use std::time::Duration;

use super::model::Spent;
use super::reply::{Doing, Status};
use super::watch::{Event, Watch};

/// Logs a run, at the level `info`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Log {}

impl Watch for Log {
    fn tell(&self, event: &Event<'_>) {
        if let Some(line) = line(event) {
            tracing::info!("{line}");
        }
    }
}

/// The line that tells of an event; `None` where the document logs nothing.
fn line(event: &Event<'_>) -> Option<String> {
    Some(match event {
        // The document's words, without the mark-up of its terminal library.
        Event::Begun { request, .. } => {
            format!("Completing the user request: {} on Mobile.", plain(request))
        }
        Event::Round { round, most } => format!("Round {round} of {most}"),
        Event::Captured { path, took } => {
            let path = if path.is_empty() { "(not kept)".into() } else { plain(path) };
            format!("Screenshot captured: {path}{}", seconds(*took))
        }
        Event::Apps { count, took } => format!("Apps collected: {count}{}", seconds(*took)),
        Event::Controls { ids, path, took } => {
            let marked = path.map_or(String::new(), |path| format!(", marked in {}", plain(path)));
            let ids = plain(&ids.join(", "));
            format!("Controls identified: [{ids}]{marked}{}", seconds(*took))
        }
        Event::Thinking { mind } => format!("Deciding: {}", plain(mind)),
        Event::Heard(_) => return None,
        Event::AskedAgain { why } => format!("Asked again: {}", plain(why)),
        Event::Decided { decision, spent, took } => {
            let calls: Vec<String> = decision.actions.iter().map(call).collect();
            let calls = if calls.is_empty() { "nothing".into() } else { calls.join(", then ") };
            format!("Decided: {calls}; cost {}{}", cost(spent), seconds(*took))
        }
        Event::Did { doing, success, message, took } => {
            let how = if *success { "succeeded" } else { "failed" };
            format!("Action {} {how}: {}{}", call(doing), plain(message), seconds(*took))
        }
        Event::Noticed(what) => format!("Noticed: {}", plain(what)),
        Event::Asked { question } => format!("Asked the person: {}", plain(question)),
        Event::State { status, spent, left } => {
            let (status, left) = (name(*status), plain(left));
            format!("State: {status}; cost so far {}; left {left}", cost(spent))
        }
        Event::Ended { status, why } => format!("Ended: {}: {}", name(*status), plain(why)),
    })
}

fn call(doing: &Doing) -> String {
    let arguments = doing.arguments.iter().map(|(name, value)| format!("{name}={value}"));
    plain(&format!("{}({})", doing.function, arguments.collect::<Vec<_>>().join(", ")))
}

fn cost(spent: &Spent) -> String {
    let Spent { calls, input_tokens, output_tokens, dollars, .. } = spent;
    let answers = if *calls == 1 { "answer" } else { "answers" };
    let mut told = format!("{calls} {answers}, {input_tokens} tokens in, {output_tokens} out");
    if let Some(dollars) = dollars {
        let _ = write!(told, ", ${dollars:.4}");
    }
    told
}

fn seconds(took: Duration) -> String {
    format!(" ({:.3} s)", took.as_secs_f64())
}

/// A status as it is written.
pub(super) fn name(status: Status) -> &'static str {
    match status {
        Status::Continue => "CONTINUE",
        Status::Finish => "FINISH",
        Status::Fail => "FAIL",
    }
}

/// One line, whatever was written.
fn plain(words: &str) -> String {
    const MOST: usize = 500;
    let mut plain = String::new();
    for (at, letter) in words.chars().enumerate() {
        if at == MOST {
            plain.push('…');
            break;
        }
        // Marks that turn the direction of writing could make a line read otherwise than it is.
        let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        match letter {
            letter if letter.is_control() || turns => plain.extend(letter.escape_default()),
            letter => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Decision;

    #[test]
    fn a_round_is_logged_in_the_documents_words() {
        let took = Duration::from_millis(234);
        let arguments = serde_json::json!({ "control_id": "5", "control_name": "Search" });
        let arguments = arguments.as_object().cloned().unwrap();
        let doing = Doing { function: "click_control".into(), arguments };
        let decision = Decision { actions: vec![doing.clone()], ..Decision::default() };
        let dollars = Some(0.0125);
        let spent =
            Spent { calls: 1, input_tokens: 900, output_tokens: 60, dollars, ..Spent::default() };
        let ids = ["1".to_owned(), "2".to_owned()];
        let annotated = Some("logs/run/action_step1_annotated.png");
        let message = "Clicked control 'Search' at (480, 144)";
        let events = [
            Event::Begun { request: "Search for restaurants on Maps", behind: 0 },
            Event::Round { round: 1, most: 50 },
            Event::Captured { path: "logs/run/action_step1.png", took },
            Event::Apps { count: 2, took },
            Event::Controls { ids: &ids, path: annotated, took },
            Event::Thinking { mind: "openai gpt-5" },
            Event::Heard("{\"thought"),
            Event::AskedAgain { why: "it was no JSON" },
            Event::Decided { decision: &decision, spent: &spent, took },
            Event::Did { doing: &doing, success: true, message, took },
            Event::Did { doing: &doing, success: false, message: "gone\nNext: \u{1b}[2J", took },
            Event::Noticed("nothing changed \u{202e}on"),
            Event::State { status: Status::Continue, spent: &spent, left: "49 of 50 rounds" },
            Event::Ended { status: Status::Finish, why: "There are three" },
        ];
        let lines: Vec<String> = events.iter().filter_map(line).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn a_line_stays_one_and_ends() {
        let long = "x\n".repeat(100_000);
        let line = line(&Event::Noticed(&long)).unwrap();
        assert!(!line.contains('\n') && line.len() < 2000, "{}", line.len());
    }
}

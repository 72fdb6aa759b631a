//! Actions and outcomes as short text; sanitizes untrusted text.

use serde_json::Value;
use thumbwire_base::visible::visible_lines;
use thumbwire_device::Gesture;

use super::format::{ActionResult, StoredOutcome};
use crate::action::{Action, TextInput};

/// Sanitizes untrusted text and truncates it to `max` characters. Characters that move the
/// cursor, change the text direction or are invisible are written as code points; line ends and
/// tabs stay.
pub(super) fn sanitize(text: &str, max: usize) -> String {
    let kept = text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end]);
    let mut out = visible_lines(&kept.replace("\r\n", "\n")).into_owned();
    let more = text.chars().count().saturating_sub(max);
    if more > 0 {
        out.push_str(&format!("\u{2026} ({more} more characters)"));
    }
    out
}

/// Sanitizes untrusted text and puts it on one line.
pub(super) fn sanitize_line(text: &str, max: usize) -> String {
    sanitize(text, max).replace(['\n', '\t'], " ")
}

/// An action in a few words, with what its own words leave out because a message must not have it.
pub(super) fn action_text(action: &Action) -> String {
    match action {
        Action::Type(TextInput { text, into: Some(target), .. }) => {
            format!("type {text:?} into {target}")
        }
        Action::Type(TextInput { text, .. }) => format!("type {text:?}"),
        Action::SetClipboard(text) => format!("set the clipboard to {text:?}"),
        Action::OpenUrl(url) => format!("open {url}"),
        Action::LaunchWith { app, arguments } => {
            let shown = arguments.iter().map(|it| format!("{}={}", it.name, it.value));
            format!("launch {app} with {}", shown.collect::<Vec<_>>().join(", "))
        }
        Action::Touch(Gesture::LongPress { held, .. }) => {
            format!("{action} for {} ms", held.as_millis())
        }
        Action::FindElements(selector) => format!("{action}: {selector}"),
        Action::CallAppTool(call) if !call.arguments.is_empty() => {
            format!("{action} with {}", Value::from(call.arguments.clone()))
        }
        action => action.to_string(),
    }
}

/// A result in a few words.
pub(super) fn outcome_text(end: &ActionResult) -> String {
    let got = match end {
        ActionResult::Failure { reason, may_have_happened: true } => {
            return format!("failed: {reason} (it may have happened anyway)");
        }
        ActionResult::Failure { reason, .. } => return format!("failed: {reason}"),
        ActionResult::Outcome(got) => got,
    };
    match got {
        StoredOutcome::Devices { ids } => format!("{} phones", ids.len()),
        StoredOutcome::DeviceSelected { device, model } => format!("{model} ({device})"),
        StoredOutcome::Info { model, os_version } => format!("{model}, {os_version}"),
        StoredOutcome::Apps { count } => format!("{count} apps"),
        StoredOutcome::Foreground { app: Some(app), .. } => app.clone(),
        StoredOutcome::Foreground { app: None, front, .. } => {
            front.clone().unwrap_or_else(|| "no app".into())
        }
        StoredOutcome::Screenshot { file, width, height } => format!("{file}, {width}x{height}"),
        StoredOutcome::Snapshot { controls, .. } => format!("{controls} elements"),
        StoredOutcome::ScreenshotAndSnapshot { screenshot: _, snapshot } => {
            outcome_text(&ActionResult::Outcome((**snapshot).clone()))
        }
        StoredOutcome::Typed { field, shows: Some(shows), .. } => {
            format!("field {field}: shows {shows:?}")
        }
        StoredOutcome::Typed { by, field, .. } => format!("typed with {by}, field: {field}"),
        StoredOutcome::Tapped { x, y, name } if name.is_empty() => format!("at {x}, {y}"),
        StoredOutcome::Tapped { x, y, name } => format!("{name:?} at {x}, {y}"),
        StoredOutcome::Swiped { from, to } => {
            format!("from {}, {} to {}, {}", from[0], from[1], to[0], to[1])
        }
        StoredOutcome::Pinched { x, y } => format!("at {x}, {y}"),
        StoredOutcome::Clipboard { characters: None } => "empty".into(),
        StoredOutcome::Clipboard { characters: Some(count) } => format!("{count} characters"),
        StoredOutcome::Health { healthy } => if *healthy { "healthy" } else { "unhealthy" }.into(),
        StoredOutcome::ScreenshotSaved { device_path } => device_path.clone(),
        StoredOutcome::Elements { nodes, .. } => format!("{} found", nodes.len()),
        StoredOutcome::Launched { app } => app.clone(),
        StoredOutcome::Installed { app, version_code } => {
            format!("{app}, version code {version_code}")
        }
        StoredOutcome::Pushed { device_path, bytes } => format!("{device_path}, {bytes} bytes"),
        StoredOutcome::Pulled { bytes } => format!("{bytes} bytes"),
        StoredOutcome::Log { entries } => format!("{entries} entries"),
        StoredOutcome::Crashes { crashes } if crashes.is_empty() => "none".into(),
        StoredOutcome::Crashes { crashes } => crashes.join("; "),
        StoredOutcome::Notifications { count } => format!("{count} notifications"),
        StoredOutcome::Monitors { ids } | StoredOutcome::Recordings { ids } => ids.join(", "),
        StoredOutcome::AppTools { apps } => format!("{} apps offer tools", apps.len()),
        StoredOutcome::AppToolResult(result) => {
            let went = match result.success {
                None => return "sent without waiting for a reply".into(),
                Some(true) => "done",
                Some(false) => "failed",
            };
            let output = &result.output;
            let output = (!output.is_empty()).then(|| Value::from(output.clone()).to_string());
            let text = [Some(went.to_owned()), Some(result.message.clone()), output];
            let text = text.into_iter().flatten().filter(|word| !word.is_empty());
            text.collect::<Vec<_>>().join(": ")
        }
        StoredOutcome::Done => "done".into(),
    }
}

/// A duration for people: `340 ms`, `2.4 s`, `3 min 05 s`.
pub(super) fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

#[cfg(test)]
mod tests {
    use thumbwire_device::{Key, Point};

    use super::*;

    #[test]
    fn control_and_bidi_characters_are_escaped() {
        assert_eq!(sanitize("a\u{1b}[2Jb\0\u{202e}c\r\nd", 99), "a\\u{1b}[2Jb\\u{0}\\u{202e}c\nd");
        assert_eq!(sanitize("abcdef", 3), "abc… (3 more characters)");
        assert_eq!(sanitize_line("a\nb\tc", 9), "a b c");
    }

    #[test]
    fn action_is_summarized_briefly() {
        let at = Point { x: 1, y: 2 };
        for (action, words) in [
            (Action::Touch(Gesture::Tap { at }), "tap (1, 2)"),
            (Action::Type(TextInput::of("hi")), "type \"hi\""),
            (Action::Press(Key::Home), "press home"),
            (Action::OpenUrl("https://a.b/c".into()), "open https://a.b/c"),
        ] {
            assert_eq!(action_text(&action), words);
        }
        assert_eq!(time(340), "340 ms");
        assert_eq!(time(2_450), "2.4 s");
        assert_eq!(time(185_000), "3 min 05 s");
    }
}

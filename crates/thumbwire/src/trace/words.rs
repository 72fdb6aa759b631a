//! Steps in words, and strangers' words made harmless.

use serde_json::Value;

use super::format::{Act, End, Got, Sought};

/// A stranger's words, at most so many characters of them. What would move a cursor, turn a line around or show nothing at all
/// is written out as its number; line ends and tabs stay.
pub(super) fn harmless(text: &str, most: usize) -> String {
    let mut told = String::with_capacity(text.len().min(most));
    for letter in text.chars().take(most) {
        match letter {
            '\n' | '\t' => told.push(letter),
            '\r' => {}
            // The bidirectional marks, embeddings, overrides and isolates (UAX #9), and what has no width.
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{61c}'
            | '\u{feff}' => told.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", letter as u32)),
            other if other.is_control() => {
                told.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", other as u32));
            }
            other => told.push(other),
        }
    }
    let more = text.chars().count().saturating_sub(most);
    if more > 0 {
        told.push_str(&format!("\u{2026} ({more} characters more)"));
    }
    told
}

/// The same on one line.
pub(super) fn harmless_line(text: &str, most: usize) -> String {
    harmless(text, most).replace(['\n', '\t'], " ")
}

/// What was asked, in a few words.
pub(super) fn asked(act: &Act) -> String {
    let by = |sought: &Sought| {
        let Sought { id, text, control, wanted, .. } = sought;
        let named = control.as_ref().map(|number| format!("control {number}"));
        let named = named.or_else(|| text.as_ref().map(|text| format!("{text:?}")));
        let named = named.or_else(|| id.clone());
        let wanted = wanted.as_ref().and_then(|wanted| {
            let parts = [&wanted.text, &wanted.id, &wanted.description, &wanted.class];
            parts.into_iter().flatten().next().map(|part| format!("{part:?}"))
        });
        named.or(wanted).unwrap_or_else(|| "an element".into())
    };
    match act {
        Act::Tap { x, y } => format!("tap {x}, {y}"),
        Act::LongPress { x, y, held_ms } => format!("press {x}, {y} for {held_ms} ms"),
        Act::Swipe { from, to, .. } => {
            format!("swipe {}, {} to {}, {}", from[0], from[1], to[0], to[1])
        }
        Act::TapElement(sought) => format!("tap {}", by(sought)),
        Act::Type { text, into: Some(sought), .. } => format!("type {text:?} into {}", by(sought)),
        Act::Type { text, .. } => format!("type {text:?}"),
        // Whatever else is its name with its values, as it stands in the trace.
        other => {
            let Ok(Value::Object(fields)) = serde_json::to_value(other) else {
                return "something".into();
            };
            let name = fields.get("do").and_then(Value::as_str).unwrap_or_default();
            let values = fields.iter().filter(|(key, value)| *key != "do" && is_told(value));
            let value =
                |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let words = values.map(|(_, it)| value(it));
            std::iter::once(name.replace('_', " ")).chain(words).collect::<Vec<_>>().join(" ")
        }
    }
}

fn is_told(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// What came of it, in a few words.
pub(super) fn came(end: &End) -> String {
    let got = match end {
        End::Failure { why, may_have_happened: true } => {
            return format!("failed: {why} (it may have happened)");
        }
        End::Failure { why, .. } => return format!("failed: {why}"),
        End::Outcome(got) => got,
    };
    match got {
        Got::Devices { ids } => format!("{} phones", ids.len()),
        Got::Using { device, model } => format!("{model} ({device})"),
        Got::Info { model, os_version } => format!("{model}, {os_version}"),
        Got::Apps { count } => format!("{count} apps"),
        Got::Current { app: Some(app), .. } => app.clone(),
        Got::Current { app: None, .. } => "no app".into(),
        Got::Picture { file, width, height } => format!("{file}, {width}x{height}"),
        Got::Look { controls, .. } => format!("{controls} controls"),
        Got::Snapshot { picture: _, look } => came(&End::Outcome((**look).clone())),
        Got::Typed { field, shows: Some(shows), .. } => format!("field {field}: shows {shows:?}"),
        Got::Typed { by, field, .. } => format!("typed by {by}, field: {field}"),
        Got::Tapped { x, y, name } if name.is_empty() => format!("at {x}, {y}"),
        Got::Tapped { x, y, name } => format!("{name:?} at {x}, {y}"),
        Got::Swiped { from, to } => {
            format!("from {}, {} to {}, {}", from[0], from[1], to[0], to[1])
        }
        Got::Health { well } => if *well { "well" } else { "not well" }.into(),
        Got::Saved { on_phone } => on_phone.clone(),
        Got::Found { nodes, .. } => format!("{} found", nodes.len()),
        Got::Launched { app } => app.clone(),
        Got::Log { entries } => format!("{entries} entries"),
        Got::Monitors { ids } | Got::Recordings { ids } => ids.join(", "),
        Got::AppTools { apps } => format!("{} apps offer tools", apps.len()),
        Got::Answered(answered) => {
            let went = match answered.success {
                None => return "sent; nothing was heard".into(),
                Some(true) => "done",
                Some(false) => "not done",
            };
            let output = &answered.output;
            let output = (!output.is_empty()).then(|| Value::from(output.clone()).to_string());
            let words = [Some(went.to_owned()), Some(answered.message.clone()), output];
            let words = words.into_iter().flatten().filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(": ")
        }
        Got::Done => "done".into(),
    }
}

/// A time for people: `340 ms`, `2.4 s`, `3 min 05 s`.
pub(super) fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_words_move_nothing_and_turn_nothing_around() {
        assert_eq!(
            harmless("a\u{1b}[2Jb\0\u{202e}c\r\nd", 99),
            "a⟨U+001B⟩[2Jb⟨U+0000⟩⟨U+202E⟩c\nd"
        );
        assert_eq!(harmless("abcdef", 3), "abc… (3 characters more)");
        assert_eq!(harmless_line("a\nb\tc", 9), "a b c");
    }

    #[test]
    fn a_step_is_told_in_a_few_words() {
        let typed = Act::Type { text: "hi".into(), into: None, clear: false, submit: false };
        for (act, words) in [
            (Act::Tap { x: 1, y: 2 }, "tap 1, 2"),
            (typed, "type \"hi\""),
            (Act::Press { key: "home".into() }, "press home"),
            (Act::ListApps { which: "user".into() }, "list apps user"),
            (Act::UseDevice { device: "virtual".into(), platform: None }, "use device virtual"),
        ] {
            assert_eq!(asked(&act), words);
        }
        assert_eq!(time(340), "340 ms");
        assert_eq!(time(2_450), "2.4 s");
        assert_eq!(time(185_000), "3 min 05 s");
    }
}

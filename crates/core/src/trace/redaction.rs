//! What `--redact` keeps out of a trace: typed texts, the content of text fields, and pictures.
//!
//! Start with [`Redaction::learn`], which remembers what an action types; [`Redaction::of_record`]
//! and [`Redaction::of_file`] then replace it in all that is written, also in what a model said.
//! Typed text cannot be found in the pixels of a picture, so a grey picture of the same size
//! replaces it; marks in a report still fit.

use std::sync::Mutex;

use serde_json::Value;
use thumbwire_base::lock;
use thumbwire_device::image::Pixels;
use thumbwire_device::{AppId, Flags, Format, Image, Node, text_field};

use super::format::TraceRecord;
use crate::action::Action;

/// The replacement for a text that was left out.
pub const REDACTED: &str = "[redacted]";

/// Shorter texts are replaced only where they are a whole value: as a part of others, "a" would
/// leave nothing readable.
const SHORTEST_PART: usize = 4;

/// The texts of one run.
#[derive(Debug, Default)]
pub(super) struct Redaction {
    /// What was typed, the longest first.
    typed: Mutex<Vec<String>>,
}

impl Redaction {
    /// Remembers what the action types.
    pub(super) fn learn(&self, action: &Action) {
        match action {
            Action::Type(input) => self.add(&input.text),
            Action::SetClipboard(text) => self.add(text),
            Action::LaunchWith { arguments, .. } => {
                arguments.iter().for_each(|it| self.add(&it.value.to_string()));
            }
            Action::CallAppTool(call) => call.arguments.values().for_each(|it| self.add_all(it)),
            _ => {}
        }
    }

    fn add_all(&self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(all) => all.iter().for_each(|one| self.add_all(one)),
            Value::Object(all) => all.values().for_each(|one| self.add_all(one)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add(&self, text: &str) {
        let mut typed = lock(&self.typed);
        // What is pasted or submitted may be shown without the blanks around it.
        for text in [text, text.trim()] {
            if !text.is_empty() && !typed.iter().any(|known| known == text) {
                typed.push(text.to_owned());
            }
        }
        typed.sort_by_key(|text| std::cmp::Reverse(text.len()));
    }

    /// A record without what was typed, which can still be read: a text that is also a word of the
    /// format, such as the name of a key, stays where it is that word.
    pub(super) fn of_record(&self, record: &TraceRecord) -> serde_json::Result<Value> {
        let whole = serde_json::to_value(record)?;
        let mut redacted = whole.clone();
        self.of_json(&mut redacted);
        if is_readable(&redacted) {
            return Ok(redacted);
        }
        let mut places = Vec::new();
        changed_places(&whole, &redacted, String::new(), &mut places);
        redacted = whole;
        for (place, text) in places {
            let Some(value) = redacted.pointer_mut(&place) else { continue };
            let before = std::mem::replace(value, text);
            if !is_readable(&redacted)
                && let Some(value) = redacted.pointer_mut(&place)
            {
                *value = before;
            }
        }
        Ok(redacted)
    }

    /// A record or a snapshot without what was typed and without the content of text fields.
    pub(super) fn of_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.of_text(text),
            Value::Array(all) => all.iter_mut().for_each(|one| self.of_json(one)),
            Value::Object(all) => {
                let is_field = is_text_field(all);
                for (key, value) in all {
                    // A field's content after typing, if it is not what was typed, is called
                    // `shows`.
                    match value {
                        Value::String(text) if is_field && key == "text" || key == "shows" => {
                            if !text.is_empty() {
                                *text = REDACTED.into();
                            }
                        }
                        value => self.of_json(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A file of the run: a picture, JSON or text.
    pub(super) fn of_file(&self, name: &str, bytes: &[u8]) -> Vec<u8> {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let format = [Format::Png, Format::Jpeg, Format::Webp];
        if let Some(format) = format.into_iter().find(|format| format.name() == extension) {
            return blank(&Image { format, bytes: bytes.to_vec().into() });
        }
        if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
            self.of_json(&mut value);
            return value.to_string().into_bytes();
        }
        self.of_text(&String::from_utf8_lossy(bytes)).into_bytes()
    }

    fn of_text(&self, text: &str) -> String {
        let typed = lock(&self.typed);
        if typed.iter().any(|typed| typed == text) {
            return REDACTED.into();
        }
        // The id of an app is not a secret, and a part of it may be an ordinary word.
        if text.contains('.') && AppId::parse(text).is_ok() {
            return text.to_owned();
        }
        let mut text = text.to_owned();
        for typed in typed.iter().filter(|typed| typed.chars().count() >= SHORTEST_PART) {
            if text.contains(typed.as_str()) {
                text = text.replace(typed.as_str(), REDACTED);
            }
        }
        text
    }
}

fn is_readable(record: &Value) -> bool {
    serde_json::from_value::<TraceRecord>(record.clone()).is_ok()
}

/// The places where two values of the same shape differ, as JSON pointers, each with the second
/// value.
fn changed_places(one: &Value, other: &Value, place: String, out: &mut Vec<(String, Value)>) {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            for (i, (one, other)) in ones.iter().zip(others).enumerate() {
                changed_places(one, other, format!("{place}/{i}"), out);
            }
        }
        (Value::Object(ones), Value::Object(others)) => {
            for ((key, one), other) in ones.iter().zip(others.values()) {
                let key = key.replace('~', "~0").replace('/', "~1");
                changed_places(one, other, format!("{place}/{key}"), out);
            }
        }
        (one, other) if one != other => out.push((place, other.clone())),
        _ => {}
    }
}

/// Whether this is a stored node that text is typed into.
fn is_text_field(node: &serde_json::Map<String, Value>) -> bool {
    let Some(class) = node.get("class").and_then(Value::as_str) else { return false };
    let flags = node.get("flags").and_then(Value::as_array);
    let password = flags.is_some_and(|flags| flags.iter().any(|flag| flag == "password"));
    let flags = Flags { password, ..Flags::default() };
    text_field::is_text_field(&Node { class: class.into(), flags, ..Node::default() })
}

/// A grey picture of the same size and format; nothing, if the picture cannot be read.
fn blank(image: &Image) -> Vec<u8> {
    let grey = || {
        let size = Pixels::read(image).ok()?.size();
        let (width, height) = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
        let count = usize::try_from(u64::from(width) * u64::from(height) * 3).ok()?;
        let pixels = Pixels::new(width, height, vec![0x80; count])?;
        pixels.write(image.format).ok()
    };
    grey().map(|image| image.bytes.to_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::action::{Direction, ElementRef, Target, TextInput};
    use crate::trace::format::{ActionResult, StoredOutcome};
    use thumbwire_device::Key;

    fn after(typed: &[&str]) -> Redaction {
        let redaction = Redaction::default();
        for text in typed {
            let text = (*text).to_owned();
            redaction.learn(&Action::Type(TextInput::of(text)));
        }
        redaction
    }

    #[test]
    fn typed_text_is_replaced_wherever_it_is_repeated() {
        let redaction = after(&["hunter2 ", "ab"]);
        let mut record = json!({
            "action": { "type": { "text": "hunter2 " } },
            "thought": "I typed hunter2 into the field, and ab",
            "short": "ab",
            "app": "com.hunter2.app",
            "prompt": ["\"hunter2\" e5"],
        });
        redaction.of_json(&mut record);
        let expected = json!({
            "action": { "type": { "text": "[redacted]" } },
            "thought": "I typed [redacted]into the field, and ab",
            "short": "[redacted]",
            "app": "com.hunter2.app",
            "prompt": ["\"[redacted]\" e5"],
        });
        assert_eq!(record, expected);
    }

    #[test]
    fn typed_text_that_is_a_word_of_the_format_leaves_records_readable() {
        let redaction = after(&["home", "action", "e12", "down"]);
        let target = |id: &str| Target::listed(id.parse::<ElementRef>().unwrap());
        for action in [
            Action::Press(Key::Home),
            Action::TapElement(target("e12")),
            Action::Scroll { direction: Direction::Down, distance: 0.5 },
            Action::Type(TextInput { into: Some(target("e12")), ..TextInput::of("home") }),
        ] {
            let record = TraceRecord::Action {
                action_id: 1,
                at_ms: 0,
                duration_ms: 0,
                device: Some("home".into()),
                action: action.clone(),
                backends: None,
                end: ActionResult::Outcome(StoredOutcome::Done),
            };
            let redacted = redaction.of_record(&record).unwrap();
            assert_eq!(redacted["device"], REDACTED);
            let read = serde_json::from_value::<TraceRecord>(redacted.clone()).unwrap();
            let TraceRecord::Action { action: read, .. } = read else { panic!("{read:?}") };
            let expected = match action {
                Action::Type(input) => Action::Type(TextInput { text: REDACTED.into(), ..input }),
                action => action,
            };
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn content_of_text_fields_is_replaced() {
        let node = |class: &str, text: &str, flags: &[&str]| json!({ "class": class, "text": text, "flags": flags });
        let mut snapshot = json!({ "nodes": [
            node("android.widget.EditText", "my diary", &[]),
            node("android.view.View", "1234", &["password"]),
            node("android.widget.EditText", "", &["password"]),
            node("android.widget.TextView", "Diary", &[]),
        ], "outcome": { "typed": { "field": "differs", "shows": "my old diary" } } });
        Redaction::default().of_json(&mut snapshot);
        let texts: Vec<_> =
            snapshot["nodes"].as_array().unwrap().iter().map(|node| &node["text"]).collect();
        assert_eq!(texts, ["[redacted]", "[redacted]", "", "Diary"]);
        assert_eq!(snapshot["outcome"]["typed"]["shows"], "[redacted]");
    }

    #[test]
    fn pictures_are_grey_and_keep_their_size() {
        let pixels = Pixels::new(3, 2, vec![7; 18]).unwrap();
        let image = pixels.write(Format::Png).unwrap();
        let bytes = after(&[]).of_file("0001.png", &image.bytes);
        let written = Pixels::read(&Image { format: Format::Png, bytes: bytes.into() }).unwrap();
        assert_eq!(written, Pixels::new(3, 2, vec![0x80; 18]).unwrap());
        assert!(after(&[]).of_file("0002.png", b"no picture").is_empty());
        assert_eq!(after(&["secret"]).of_file("r.txt", b"a secret"), b"a [redacted]");
    }
}

//! Writes JSON values as YAML that people like to read: blocks, and texts in quotes.
//!
//! Start with [`to_yaml`]. A quoted text is JSON's, which YAML reads as its own; characters that
//! nobody sees are written as their code points. Reading is left to the library.

use std::fmt::Write as _;

use serde_json::Value;
use thumbwire_base::visible::{escape_hidden, has_hidden};

/// The value as a YAML document.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    match value {
        Value::Object(all) => {
            for (key, value) in all {
                out.push_str(&format!("{pad}{}:", scalar(&key.as_str().into())));
                nested(value, depth + 1, out);
            }
        }
        Value::Array(all) => {
            for value in all {
                if !is_block(value) {
                    out.push_str(&format!("{pad}- {}\n", scalar(value)));
                    continue;
                }
                let mut inside = String::new();
                write(value, depth + 1, &mut inside);
                // The first line shares its line with the dash.
                out.push_str(&format!("{pad}- {}", inside.trim_start()));
            }
        }
        plain => out.push_str(&format!("{pad}{}\n", scalar(plain))),
    }
}

fn nested(value: &Value, depth: usize, out: &mut String) {
    const SHORT: usize = 90;
    let flow = match value {
        Value::Array(all) if !all.iter().any(is_block) => {
            let all: Vec<String> = all.iter().map(scalar).collect();
            Some(format!("[{}]", all.join(", ")))
        }
        Value::Object(all) if !all.values().any(is_block) => {
            let pair = |(key, value): (&String, &Value)| {
                format!("{}: {}", scalar(&key.as_str().into()), scalar(value))
            };
            let all: Vec<String> = all.iter().map(pair).collect();
            Some(format!("{{ {} }}", all.join(", ")))
        }
        _ => None,
    };
    match flow.filter(|flow| flow.chars().count() <= SHORT) {
        Some(flow) => out.push_str(&format!(" {flow}\n")),
        None if is_block(value) => {
            out.push('\n');
            write(value, depth, out);
        }
        None => out.push_str(&format!(" {}\n", scalar(value))),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(all) => !all.is_empty(),
        Value::Array(all) => !all.is_empty(),
        _ => false,
    }
}

/// A value on one line. A text without quotes is a word that means nothing else in YAML.
fn scalar(value: &Value) -> String {
    let Value::String(text) = value else { return value.to_string() };
    const OTHERS: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "nan"];
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.len() > 1
        && text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | '/'));
    if is_word && !OTHERS.contains(&text.to_lowercase().as_str()) {
        return text.clone();
    }
    // Between single quotes nothing is escaped, but a single quote.
    let has_escapes = text.contains(['"', '\\']);
    match has_escapes && !text.contains('\'') && !has_hidden(text) && !text.contains('\n') {
        true => format!("'{text}'"),
        false => escape_hidden(&value.to_string(), |_, _| false, write_escape).into_owned(),
    }
}

fn write_escape(hidden: char, out: &mut String) {
    let code = u32::from(hidden);
    let _ = if code > 0xffff { write!(out, "\\U{code:08x}") } else { write!(out, "\\u{code:04x}") };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn written_yaml_reads_back() {
        let value = json!({
            "version": 1,
            "goal": "Add \"{TITLE}\": {TEXT}",
            "odd": ["yes", "1", "", "- a", "a\nb\t\u{7}", "Ärger #1", "null", "com.android.notes"],
            "empty": {}, "none": [],
            "steps": [{ "do": "click", "on": { "class": "android.widget.Button", "text": "x: y" } }, { "a": [[1], ["b"]] }],
            "long": ["a text that is long", "another text that is long", "and one that is longer than the others here"],
        });
        let text = to_yaml(&value);
        let read: Value =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read, value, "{text}");
        assert!(text.contains("\nsteps:\n  - do: click\n    \"on\": { class: "), "{text}");
    }
}

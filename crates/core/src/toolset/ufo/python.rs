//! Values in Python's notation, as in the original servers' messages, which programs parse.

use serde_json::Value;
use thumbwire_base::truncate;

/// A number as `str(float)` writes it: `3.0`, `0.5`, `1e-07`.
pub(super) fn float(number: f64) -> String {
    let written = format!("{number:?}");
    let Some((digits, exponent)) = written.split_once('e') else { return written };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A value as `repr()` writes it, truncated if long.
pub(super) fn repr(value: &Value) -> String {
    let mut written = String::new();
    write(value, &mut written);
    truncate(&written, MAX_LENGTH)
}

const MAX_LENGTH: usize = 200;

fn write(value: &Value, out: &mut String) {
    // The rest would be truncated anyway.
    if out.len() > 4 * MAX_LENGTH {
        return;
    }
    let items = |parts: &mut dyn Iterator<Item = (Option<&String>, &Value)>, out: &mut String| {
        for (at, (name, value)) in parts.enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            if let Some(name) = name {
                write_text(name, out);
                out.push_str(": ");
            }
            write(value, out);
        }
    };
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(fraction) => out.push_str(&float(fraction)),
            None => out.push_str(&number.to_string()),
        },
        Value::String(text) => write_text(text, out),
        Value::Array(values) => {
            out.push('[');
            items(&mut values.iter().map(|value| (None, value)), out);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            items(&mut members.iter().map(|(name, value)| (Some(name), value)), out);
            out.push('}');
        }
    }
}

/// Python quotes with `'`, unless the text contains one and no `"`.
fn write_text(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars().take(MAX_LENGTH + 1) {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_match_python() {
        // As Python 3.11 prints them.
        for (number, written) in [
            (3.0, "3.0"),
            (0.5, "0.5"),
            (0.0, "0.0"),
            (60.1, "60.1"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.000_012_5, "1.25e-05"),
            (1e16, "1e+16"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(float(number), written);
        }
    }

    #[test]
    fn values_match_python() {
        for (value, written) in [
            (json!("abc"), "'abc'"),
            (json!("it's"), "\"it's\""),
            (json!("a 'b' \"c\""), "'a \\'b\\' \"c\"'"),
            (json!("a\\b\n\u{1}"), "'a\\\\b\\n\\x01'"),
            (json!(null), "None"),
            (json!([true, false, 1, 1.5]), "[True, False, 1, 1.5]"),
            (json!({"a": [], "b": {"c": "é"}}), "{'a': [], 'b': {'c': 'é'}}"),
        ] {
            assert_eq!(repr(&value), written);
        }
        for book in [json!("b".repeat(1_000_000)), json!(vec![json!({"a": "b"}); 100_000])] {
            assert!(repr(&book).len() < 300);
        }
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert!(repr(&deep).len() < 300);
    }
}

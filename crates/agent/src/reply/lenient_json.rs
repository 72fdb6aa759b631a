//! Reads JSON as models write it: inside prose, with comments, extra or missing commas, Python's
//! quotes and literals, bare keys, unescaped quotes in strings, and without the closing brackets at
//! the end.
//!
//! Start with [`values`]. Anything ambiguous is rejected. Runs in linear time on any input, and
//! limits the nesting depth.

use std::ops::Range;

use serde_json::{Map, Number, Value};

/// A value that was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedValue {
    /// The value.
    pub value: Value,
    /// Where it stands, in characters.
    pub place: Range<usize>,
    /// Whether its closing brackets were there.
    pub closed: bool,
    /// Keys that appear twice in an object with different values; `value` has the last one.
    pub twice: Vec<String>,
}

/// The text with a control character in place of each byte of its complete values, so that what is
/// found in it is outside them: an answer may quote anything in its strings.
pub(super) fn without_values(text: &str) -> String {
    let closed = values(text).into_iter().filter(|value| value.closed);
    let mut values = closed.map(|value| value.place).peekable();
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        while values.next_if(|value| value.end <= at).is_some() {}
        match values.peek().is_some_and(|value| value.contains(&at)) {
            true => out.extend(std::iter::repeat_n('\u{1}', c.len_utf8())),
            false => out.push(c),
        }
    }
    out
}

/// A call as Python writes it at the beginning of a text: its name, its keyword arguments, and the
/// length of the text in bytes.
pub(super) fn python_call(text: &str) -> Option<(String, Map<String, Value>, usize)> {
    let chars: Vec<char> = text.chars().collect();
    let fuel = chars.len().saturating_mul(8) + 1_000;
    let mut reader = Reader { text: &chars, at: 0, fuel, depth: 0, open: false, twice: Vec::new() };
    let mut name = reader.bare()?;
    while reader.take('.') {
        name = format!("{name}.{}", reader.bare()?);
    }
    if !reader.take('(') {
        return None;
    }
    let mut arguments = Map::new();
    loop {
        reader.skip();
        if reader.take(')') {
            let length = chars[..reader.at].iter().map(|c| c.len_utf8()).sum();
            return Some((name, arguments, length));
        }
        let key = reader.bare()?;
        reader.skip();
        if !reader.take('=') {
            return None;
        }
        let value = reader.value()?;
        arguments.insert(key, value);
        reader.skip();
        if !reader.take(',') && reader.peek() != Some(')') {
            return None;
        }
    }
}

/// Finds the outermost objects and lists in a text, in order.
pub(super) fn values(text: &str) -> Vec<ParsedValue> {
    let text: Vec<char> = text.chars().collect();
    let mut fuel = text.len().saturating_mul(8) + 1_000;
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() && found.len() < MAX_VALUES && fuel > 0 {
        if matches!(text[at], '{' | '[') {
            let mut reader =
                Reader { text: &text, at, fuel, depth: 0, open: false, twice: Vec::new() };
            let read = reader.value();
            fuel = reader.fuel.saturating_sub(1);
            if let Some(value) = read {
                let begin = at;
                at = reader.at.max(at + 1);
                let closed = !reader.open;
                found.push(ParsedValue { value, place: begin..at, closed, twice: reader.twice });
                continue;
            }
        }
        at += 1;
    }
    found
}

/// The maximum number of values.
const MAX_VALUES: usize = 32;

/// The maximum nesting depth.
const MAX_DEPTH: usize = 32;

struct Reader<'a> {
    text: &'a [char],
    at: usize,
    /// How many characters may still be read, over all attempts.
    fuel: usize,
    depth: usize,
    /// Whether the text ended before the closing brackets.
    open: bool,
    twice: Vec<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied().filter(|_| self.fuel > 0)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        self.fuel -= 1;
        Some(c)
    }

    fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) {
        while let Some(c) = self.peek() {
            let following = self.text.get(self.at + 1).copied();
            match (c, following) {
                ('/', Some('/')) | ('#', _) => while self.next().is_some_and(|c| c != '\n') {},
                ('/', Some('*')) => {
                    self.next();
                    self.next();
                    while let Some(c) = self.next() {
                        if c == '*' && self.take('/') {
                            break;
                        }
                    }
                }
                (c, _) if c.is_whitespace() || c == '\u{feff}' => {
                    self.next();
                }
                _ => return,
            }
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.skip();
        match self.peek()? {
            '{' => self.nested(Self::object),
            '[' => self.nested(Self::list),
            '"' | '\'' | '“' | '”' | '„' | '‘' | '’' => self.string().map(Value::from),
            c if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Option<Value>) -> Option<Value> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.next();
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<Value> {
        let mut object = Map::new();
        loop {
            self.skip();
            if self.take('}') {
                return Some(object.into());
            }
            let key = match self.peek()? {
                '"' | '\'' | '“' | '”' | '„' | '‘' | '’' => self.string()?,
                _ => self.bare()?,
            };
            self.skip();
            if !self.take(':') {
                return None;
            }
            let value = self.value()?;
            let ended = self.may_end(&value);
            if object.get(&key).is_some_and(|before| *before != value) {
                self.twice.push(key.clone());
            }
            object.insert(key, value);
            if self.after(ended, '}')? {
                return Some(object.into());
            }
        }
    }

    fn list(&mut self) -> Option<Value> {
        let mut list = Vec::new();
        loop {
            self.skip();
            if self.take(']') {
                return Some(list.into());
            }
            let value = self.value()?;
            let ended = self.may_end(&value);
            list.push(value);
            if self.after(ended, ']')? {
                return Some(list.into());
            }
        }
    }

    /// Whether a text may end after this value. A number or a word might have been truncated.
    fn may_end(&self, value: &Value) -> bool {
        value.is_string() || value.is_object() || value.is_array()
    }

    /// Reads what follows a member. Returns whether the object or list ends there; `None` if it is
    /// malformed.
    fn after(&mut self, ended: bool, closing: char) -> Option<bool> {
        self.skip();
        if self.take(closing) {
            return Some(true);
        }
        if self.take(',') {
            return Some(false);
        }
        match self.peek() {
            // A comma is missing between two lines.
            Some('"' | '{')
                if self.text[..self.at]
                    .iter()
                    .rev()
                    .take_while(|c| c.is_whitespace())
                    .any(|c| *c == '\n') =>
            {
                Some(false)
            }
            None if ended && self.fuel > 0 => {
                self.open = true;
                Some(true)
            }
            _ => None,
        }
    }

    fn string(&mut self) -> Option<String> {
        let quote = match self.next()? {
            '“' | '„' => '”',
            '‘' => '’',
            quote => quote,
        };
        let mut text = String::new();
        loop {
            match self.next()? {
                '\\' => self.escaped(&mut text)?,
                c if c == quote && self.closes(quote) => return Some(text),
                c => text.push(c),
            }
        }
    }

    /// Whether the quote that was just read ends its string, judging by what follows. If not, the
    /// model forgot to escape it.
    fn closes(&mut self, quote: char) -> bool {
        let ahead = self.text[self.at..].iter().copied().take(MAX_AHEAD);
        let mut newline = false;
        for c in ahead {
            self.fuel = self.fuel.saturating_sub(1);
            match c {
                '\n' => newline = true,
                c if c.is_whitespace() => {}
                ',' | ':' | '}' | ']' | ')' | '/' | '#' => return true,
                '"' => return newline || quote == '”',
                _ => return false,
            }
        }
        true
    }

    fn escaped(&mut self, text: &mut String) -> Option<()> {
        match self.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => {
                let mut unit = self.unit()?;
                // A surrogate pair.
                if (0xd800..0xdc00).contains(&unit)
                    && self.text.get(self.at..self.at + 2) == Some(&['\\', 'u'][..])
                {
                    let before = self.at;
                    self.at += 2;
                    match self.unit() {
                        Some(low @ 0xdc00..0xe000) => {
                            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
                        }
                        _ => self.at = before,
                    }
                }
                text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // A line continuation, and escapes that JSON does not have, such as `\'` and `\_`.
            '\n' => {}
            c => text.push(c),
        }
        Some(())
    }

    fn unit(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit * 16 + self.next()?.to_digit(16)?;
        }
        Some(unit)
    }

    fn number(&mut self) -> Option<Value> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'))
        {
            self.next();
        }
        let text: String = self.text[start..self.at].iter().collect();
        let text = text.strip_prefix('+').unwrap_or(&text);
        let whole = text.parse::<i64>().ok().map(Number::from);
        whole.or_else(|| Number::from_f64(text.parse().ok()?)).map(Value::Number)
    }

    /// The literals of JSON and Python.
    fn word(&mut self) -> Option<Value> {
        match &*self.bare()? {
            "true" | "True" => Some(true.into()),
            "false" | "False" => Some(false.into()),
            "null" | "None" | "undefined" | "NaN" | "nan" => Some(Value::Null),
            _ => None,
        }
    }

    fn bare(&mut self) -> Option<String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.next();
        }
        (self.at > start).then(|| self.text[start..self.at].iter().collect())
    }
}

/// How far to look ahead after a quote.
const MAX_AHEAD: usize = 200;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: &[Value]) {
        let found: Vec<Value> = values(text).into_iter().map(|found| found.value).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn values_are_found_inside_prose() {
        check("Sure! {\"a\": 1} Anything else?", &[json!({ "a": 1 })]);
        check("```json\n[1, 2]\n```", &[json!([1, 2])]);
        check("{a} and {\"b\": {}} then [3", &[json!({ "b": {} })]);
        check("no value, \"x\": 3", &[]);
    }

    #[test]
    fn json_variants_of_models_parse() {
        check(
            "{'a': True, 'b': None, c: .5, \"d\": +7,}",
            &[json!({ "a": true, "b": null, "c": 0.5, "d": 7 })],
        );
        check("{\"a\": 1, // one\n \"b\": /* two */ 2 # end\n}", &[json!({ "a": 1, "b": 2 })]);
        check("{\"a\": \"x\"\n \"b\": \"y\"}", &[json!({ "a": "x", "b": "y" })]);
        check("{“a”: “x”}", &[json!({ "a": "x" })]);
        check("{'a': 'it isn\\'t, is it'}", &[json!({ "a": "it isn't, is it" })]);
        check("{'a': 'don't'}", &[json!({ "a": "don't" })]);
        check("{\"a\": \"Tap \"OK\" now\"}", &[json!({ "a": "Tap \"OK\" now" })]);
        check(
            "{\"a\": \"one\ntwo\", \"b\": \"\\ud83d\\ude00 \\ud83d \\x\"}",
            &[json!({ "a": "one\ntwo", "b": "😀 \u{fffd} x" })],
        );
    }

    #[test]
    fn only_closing_brackets_may_be_missing() {
        let found = values("{\"a\": {\"b\": \"c\"}");
        assert_eq!(
            found,
            [ParsedValue {
                value: json!({ "a": { "b": "c" } }),
                place: 0..16,
                closed: false,
                twice: vec![]
            }]
        );
        for cut in
            ["{\"a\": \"b", "{\"a\": 12", "{\"a\": tru", "{\"a\":", "{\"a\": \"b\",", "{\"a\""]
        {
            check(cut, &[]);
        }
    }

    #[test]
    fn duplicate_key_with_different_values_is_reported() {
        assert_eq!(values("{\"a\": 1, \"a\": 1}")[0].twice, Vec::<String>::new());
        assert_eq!(values("{\"x\": {\"a\": 1, \"a\": 2}}")[0].twice, ["a"]);
    }

    #[test]
    fn malformed_text_parses_in_linear_time() {
        for piece in [
            "{",
            "[",
            "{\"a\":",
            "[1,",
            "{\"",
            "{'a",
            "[\"\\",
            "[[],",
            "/*",
            "{a:[",
            "{\"a\" \"",
            "[\"a\"   ",
        ] {
            let text = piece.repeat(100_000 / piece.len());
            assert!(values(&text).len() <= MAX_VALUES);
        }
    }

    proptest! {
        #[test]
        fn valid_json_parses_unchanged(text in "[ -~é😀\n]{0,20}", number in any::<i64>(), float in -1e9..1e9f64) {
            let value = json!({ "text": text, "more": [number, float, { "deep": [[text, null, true]] }] });
            let found = values(&format!("x {value} y"));
            prop_assert_eq!(&found[0].value, &value);
            prop_assert!(found[0].closed);
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(&values(&pretty)[0].value, &value);
        }

        #[test]
        fn no_text_panics_the_reader(text in "[\\[\\]{}\":,'\\\\/*#nu0-9a“”\n ]{0,200}") {
            let _ = values(&text);
        }
    }
}

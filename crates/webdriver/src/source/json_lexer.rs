//! Walks through JSON without recursion: `serde_json` reads 128 levels, and each element takes two.
//!
//! Commas are skipped like white space. A text that is not JSON may pass for this reason, but never panics.

use super::SourceError;

/// A value that has no parts.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    /// A number, as it is written.
    Number(String),
    Text(String),
}

impl Scalar {
    /// The text; `None` for `null`.
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(text) | Self::Text(text) => Some(text),
        }
    }
}

pub(super) struct JsonLexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> JsonLexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn fail<T>(&self, problem: impl Into<String>) -> Result<T, SourceError> {
        Err(SourceError { offset: self.at, problem: problem.into() })
    }

    /// The next character that counts, or `None` at the end.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes
            .get(self.at)
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b','))
        {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Skips the character if it is the next one.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// The key of an object's next field, or `None` after its last.
    pub(super) fn key(&mut self) -> Result<Option<String>, SourceError> {
        if self.take(b'}') {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return self.fail("expected a key or `}`");
        }
        let key = self.string()?;
        if !self.take(b':') {
            return self.fail("expected `:`");
        }
        Ok(Some(key))
    }

    /// A value without parts. One with parts is skipped and counts as `null`.
    pub(super) fn scalar(&mut self) -> Result<Scalar, SourceError> {
        match self.peek() {
            Some(b'"') => self.string().map(Scalar::Text),
            Some(b'{' | b'[') => self.skip().map(|()| Scalar::Null),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.')));
                let word = &rest[..end.unwrap_or(rest.len())];
                let scalar = match word {
                    "null" => Scalar::Null,
                    "true" => Scalar::Bool(true),
                    "false" => Scalar::Bool(false),
                    number if number.parse::<f64>().is_ok_and(f64::is_finite) => {
                        Scalar::Number(number.to_owned())
                    }
                    _ => return self.fail("expected a value"),
                };
                self.at += word.len();
                Ok(scalar)
            }
        }
    }

    /// Skips an object or a list, however deep.
    fn skip(&mut self) -> Result<(), SourceError> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(_) => {}
                None => return self.fail("it ends inside a value"),
            }
            // Other characters are of words and numbers, which have nothing to look for.
            self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// A text in quotes. One with wrong escapes stays as it is written.
    fn string(&mut self) -> Result<String, SourceError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return self.fail("a text has no end"),
            }
        }
        self.at = end + 1;
        let inside = &self.text[start + 1..end];
        let escaped = inside.contains('\\');
        let text = escaped.then(|| serde_json::from_str(&self.text[start..=end]).ok()).flatten();
        Ok(text.unwrap_or_else(|| inside.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_one_after_another() {
        let mut lexer =
            JsonLexer::new(r#" "a\n\"é", -1.5e3,true null {"x":["]}",{}]} [] "\ud800" 7"#);
        let expected = [
            Scalar::Text("a\n\"é".into()),
            Scalar::Number("-1.5e3".into()),
            Scalar::Bool(true),
            Scalar::Null,
            Scalar::Null,
            Scalar::Null,
            Scalar::Text(r"\ud800".into()),
            Scalar::Number("7".into()),
        ];
        for scalar in expected {
            assert_eq!(lexer.scalar(), Ok(scalar));
        }
        assert_eq!(lexer.peek(), None);
    }

    #[test]
    fn broken_values_are_refused() {
        for text in ["", "\"a", "\"a\\", "{", "[{]", "nul", "1e999", "NaN", "]", "é"] {
            assert!(JsonLexer::new(text).scalar().is_err(), "{text}");
        }
    }
}

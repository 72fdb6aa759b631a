//! An error in a flow file: where, what, and a suggestion.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use strsim::osa_distance;
use thumbwire_base::visible::has_hidden;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// The name as given.
    pub(super) name: String,
    /// The content.
    pub(super) text: String,
    /// Set once it is known to be a flow, so that errors may quote its lines. A file that is
    /// something else may hold a secret.
    is_flow: OnceLock<()>,
}

impl Source {
    /// A file with this name and content.
    pub(super) fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into(), is_flow: OnceLock::new() })
    }

    /// From now on, errors quote its lines.
    pub(super) fn is_flow(&self) {
        self.is_flow.get_or_init(|| ());
    }
}

/// A position in a file. Lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "SentLocation", from = "SentLocation")]
pub struct SourceLocation {
    source: Arc<Source>,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl SourceLocation {
    /// This position.
    pub(super) fn new(source: &Arc<Source>, line: u32, column: u32) -> Self {
        Self { source: Arc::clone(source), line, column }
    }

    /// The file's name, as given.
    pub fn file(&self) -> &str {
        &self.source.name
    }
}

/// A position without its file's text, as JSON has it.
#[derive(Serialize, Deserialize)]
struct SentLocation {
    file: String,
    line: u32,
    column: u32,
}

impl From<SourceLocation> for SentLocation {
    fn from(at: SourceLocation) -> Self {
        Self { file: at.file().to_owned(), line: at.line, column: at.column }
    }
}

impl From<SentLocation> for SourceLocation {
    fn from(SentLocation { file, line, column }: SentLocation) -> Self {
        Self { source: Source::new(file, ""), line, column }
    }
}

/// `flows/notes.yaml:12:7`.
impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source.name, self.line, self.column)
    }
}

impl fmt::Debug for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error in a flow file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowError {
    /// Where.
    pub at: SourceLocation,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl FlowError {
    pub(super) fn new(at: SourceLocation, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}

/// The maximum width of a quoted line, in characters.
const MAX_WIDTH: usize = 160;

/// The position and the error, then, if the file is a flow, the line with a marker below.
impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)?;
        let SourceLocation { source, line, column } = &self.at;
        let before = usize::try_from(*line).unwrap_or(usize::MAX).saturating_sub(1);
        let indent = usize::try_from(*column).unwrap_or(usize::MAX).saturating_sub(1);
        let quoted = source.is_flow.get().and_then(|()| source.text.lines().nth(before));
        let Some(text) = quoted else { return Ok(()) };
        if indent >= MAX_WIDTH {
            return Ok(());
        }
        // Each character keeps its column, so the marker stays below its place.
        let shown: String = text
            .chars()
            .take(MAX_WIDTH)
            .map(|c| if has_hidden(c.encode_utf8(&mut [0; 4])) || c == '\t' { ' ' } else { c })
            .collect();
        write!(f, "\n{line:>5} | {}\n      | {:indent$}^", shown.trim_end(), "")
    }
}

/// The known word that a misspelled word most likely means.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let by_distance = known.into_iter().map(|one| (osa_distance(&word, &one.to_lowercase()), one));
    let (distance, one) = by_distance.min_by_key(|(distance, _)| *distance)?;
    // Up to half of the word may be wrong, but at most three letters: beyond that it is another
    // word.
    (distance <= word.chars().count().max(2) / 2 && distance <= 3).then_some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_words_get_a_suggestion() {
        let known = ["tapOn", "back", "inputText", "takeScreenshot"];
        for (word, meant) in [
            ("tapOnn", Some("tapOn")),
            ("TapOn", Some("tapOn")),
            ("bcak", Some("back")),
            ("input_text", Some("inputText")),
            ("x", None),
            ("assertVisible", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }

    #[test]
    fn error_quotes_its_line() {
        let source = Source::new("a.yaml", "---\n  - tapp: Überall\n");
        let mistake = FlowError::new(SourceLocation::new(&source, 2, 5), "unknown command `tapp`");
        assert_eq!(mistake.to_string(), "a.yaml:2:5: unknown command `tapp`");
        source.is_flow();
        let out = "a.yaml:2:5: unknown command `tapp`\n    2 |   - tapp: Überall\n      |     ^";
        assert_eq!(mistake.to_string(), out);
    }
}

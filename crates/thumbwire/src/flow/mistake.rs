//! What is wrong with a flow file: where, what, and what would be right.

use std::fmt;
use std::sync::Arc;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// As it was named.
    pub(super) name: String,
    /// What stands in it.
    pub(super) text: String,
}

impl Source {
    /// A file of that name with that text.
    pub(super) fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }
}

/// A place in a file. Lines and columns are counted from 1.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    source: Arc<Source>,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl Place {
    /// That place.
    pub(super) fn new(source: &Arc<Source>, line: u32, column: u32) -> Self {
        Self { source: Arc::clone(source), line, column }
    }

    /// The file's name, as it was given.
    pub fn file(&self) -> &str {
        &self.source.name
    }
}

/// `flows/notes.yaml:12:7`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source.name, self.line, self.column)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Something in a flow file that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where.
    pub at: Place,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl Mistake {
    pub(super) fn new(at: Place, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}

/// The widest line that is shown, in characters.
const WIDEST: usize = 160;

/// The place and what is wrong, then the line with a mark below it.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)?;
        let Place { source, line, column } = &self.at;
        let before = usize::try_from(*line).unwrap_or(usize::MAX).saturating_sub(1);
        let indent = usize::try_from(*column).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(text) = source.text.lines().nth(before) else { return Ok(()) };
        if indent >= WIDEST {
            return Ok(());
        }
        let shown: String =
            text.chars().take(WIDEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(f, "\n{line:>5} | {}\n      | {:indent$}^", shown.trim_end(), "")
    }
}

/// What a word that is not known was most likely meant for.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let by_distance = known.into_iter().map(|one| (distance(&word, &one.to_lowercase()), one));
    let (distance, one) = by_distance.min_by_key(|(distance, _)| *distance)?;
    // Half of the word may be wrong, two letters of a long one at most more: beyond that it is another word.
    (distance <= word.chars().count().max(2) / 2 && distance <= 3).then_some(one)
}

/// How many letters must be put in, taken out or changed, or change places with their neighbours.
fn distance(one: &str, other: &str) -> usize {
    const LONGEST: usize = 64;
    let (one, other): (Vec<char>, Vec<char>) =
        (one.chars().take(LONGEST).collect(), other.chars().take(LONGEST).collect());
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            rows[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                _ => {
                    let differs = usize::from(one[i - 1] != other[j - 1]);
                    let mut least = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    least = least.min(rows[i - 1][j - 1] + differs);
                    let turned =
                        i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
                    if turned { least.min(rows[i - 2][j - 2] + 1) } else { least }
                }
            };
        }
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_was_mistyped_is_recognised_and_another_is_not() {
        let known = ["tap", "type", "expect", "wait_for", "screenshot"];
        for (word, meant) in [
            ("tapp", Some("tap")),
            ("Tap", Some("tap")),
            ("exepct", Some("expect")),
            ("waitFor", Some("wait_for")),
            ("screen_shot", Some("screenshot")),
            ("x", None),
            ("assertVisible", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }

    #[test]
    fn a_mistake_shows_its_line() {
        let source = Source::new("a.yaml", "steps:\n  - tapp: Überall\n");
        let mistake = Mistake::new(Place::new(&source, 2, 5), "no step is called `tapp`");
        let told = "a.yaml:2:5: no step is called `tapp`\n    2 |   - tapp: Überall\n      |     ^";
        assert_eq!(mistake.to_string(), told);
    }
}

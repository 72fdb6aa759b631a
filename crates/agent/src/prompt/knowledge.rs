//! Finds passages in the user's documents that may help with the request (`--knowledge DIR`).
//!
//! Start with [`Knowledge`]. It ranks by BM25 (Robertson and Zaragoza 2009, with the usual k1 = 1.2
//! and b = 0.75): rare words count for more, long passages for less. Documents are Markdown or
//! plain text; the command line reads them and passes their texts.

use std::collections::HashMap;

use serde::Serialize;

use thumbwire_base::truncate;

/// The longest passage, in characters; longer paragraphs are split.
const MAX_PASSAGE: usize = 800;

/// How many passages are shown.
const MAX_SHOWN: usize = 3;

/// How many passages are kept: enough for documents of a few megabytes.
const MAX_KEPT: usize = 10_000;

/// A collection of documents to search.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    passages: Vec<Passage>,
    index: Index,
}

/// A passage that may help, with its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Document<'a> {
    /// The file's name.
    pub source: &'a str,
    /// The passage.
    pub text: &'a str,
}

#[derive(Debug, Clone)]
struct Passage {
    source: String,
    text: String,
}

impl Knowledge {
    /// The documents, as names and texts.
    pub fn new(documents: &[(String, String)]) -> Self {
        let mut passages = Vec::new();
        for (source, text) in documents {
            let parts =
                split(text).into_iter().map(|text| Passage { source: source.clone(), text });
            passages.extend(parts);
        }
        passages.truncate(MAX_KEPT);
        // A document's name is searched too.
        let texts: Vec<String> =
            passages.iter().map(|one| format!("{} {}", one.source, one.text)).collect();
        let index = Index::new(texts.iter().map(String::as_str));
        Self { passages, index }
    }

    /// The passages that match best, best first; none if no word matches.
    pub(crate) fn search(&self, words: &str) -> Vec<Document<'_>> {
        let best = self.index.best(words);
        let Some(&(_, highest)) = best.first() else { return Vec::new() };
        // Low scores come from words that most passages share.
        let good = best.into_iter().filter(|(_, score)| *score >= highest / 2.0).take(MAX_SHOWN);
        good.map(|(i, _)| &self.passages[i])
            .map(|one| Document { source: &one.source, text: &one.text })
            .collect()
    }
}

/// Splits a document into passages: paragraphs with their heading, short ones together.
fn split(text: &str) -> Vec<String> {
    let mut passages: Vec<String> = Vec::new();
    let mut heading = String::new();
    let mut open = String::new();
    let text = text.replace('\r', "");
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        let headed = paragraph.starts_with('#');
        if headed {
            passages.extend((!open.is_empty()).then(|| std::mem::take(&mut open)));
            heading = truncate(paragraph.lines().next().unwrap_or_default(), 100);
        }
        for piece in pieces(paragraph) {
            if open.len() + piece.len() > MAX_PASSAGE && !open.is_empty() {
                passages.push(std::mem::take(&mut open));
            }
            if !open.is_empty() {
                open.push('\n');
            } else if !headed && !heading.is_empty() {
                open = format!("{heading}\n");
            }
            open.push_str(&piece);
        }
    }
    passages.extend((!open.is_empty()).then_some(open));
    passages
}

/// Splits a paragraph into pieces of limited length.
fn pieces(paragraph: &str) -> Vec<String> {
    let characters: Vec<char> = paragraph.chars().collect();
    characters.chunks(MAX_PASSAGE).map(|piece| piece.iter().collect()).collect()
}

/// Texts that can be ranked by the words that they share with a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// For each text, the count of each word, and the number of words.
    texts: Vec<(HashMap<String, u32>, u32)>,
    /// The number of texts that contain a word.
    spread: HashMap<String, u32>,
    average: f64,
}

impl Index {
    pub(crate) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut index = Self::default();
        let mut total = 0;
        for text in texts {
            let mut counts: HashMap<String, u32> = HashMap::new();
            let words = words(text);
            let length = u32::try_from(words.len()).unwrap_or(u32::MAX);
            total += u64::from(length);
            words.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
            counts.keys().for_each(|word| *index.spread.entry(word.clone()).or_default() += 1);
            index.texts.push((counts, length));
        }
        index.average = total as f64 / index.texts.len().max(1) as f64;
        index
    }

    /// The indices of texts that share words with the query, with their scores, best first; ties in
    /// their order.
    pub(crate) fn best(&self, query: &str) -> Vec<(usize, f64)> {
        let mut query = words(query);
        query.sort_unstable();
        query.dedup();
        let scores =
            self.texts.iter().map(|text| query.iter().map(|word| self.score(word, text)).sum());
        let mut best: Vec<(usize, f64)> =
            scores.enumerate().filter(|(_, score)| *score > 0.0).collect();
        best.sort_by(|one, other| other.1.total_cmp(&one.1));
        best
    }

    fn score(&self, word: &str, (counts, length): &(HashMap<String, u32>, u32)) -> f64 {
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let Some(&count) = counts.get(word) else { return 0.0 };
        let spread = f64::from(self.spread.get(word).copied().unwrap_or(1));
        let rarity = (1.0 + (self.texts.len() as f64 - spread + 0.5) / (spread + 0.5)).ln();
        let count = f64::from(count);
        let long = 1.0 - B + B * f64::from(*length) / self.average.max(1.0);
        rarity * count * (K1 + 1.0) / (count + K1 * long)
    }
}

/// The words of a text in lower case, without a plural `s`. Chinese and Japanese are split into
/// characters.
fn words(text: &str) -> Vec<String> {
    // Stop words.
    const STOP_WORDS: [&str; 24] = [
        "a", "an", "and", "are", "at", "by", "for", "from", "in", "into", "is", "it", "my", "of",
        "on", "or", "that", "the", "then", "this", "to", "with", "you", "your",
    ];
    let mut words = Vec::new();
    let mut word = String::new();
    let mut end = |word: &mut String| {
        let mut word = std::mem::take(word);
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
        if !word.is_empty() && !STOP_WORDS.contains(&&*word) {
            words.push(word);
        }
    };
    for c in text.chars().flat_map(char::to_lowercase) {
        if matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}') {
            end(&mut word);
            end(&mut c.into());
        } else if c.is_alphanumeric() {
            word.push(c);
        } else {
            end(&mut word);
        }
    }
    end(&mut word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knowledge() -> Knowledge {
        let document = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        Knowledge::new(&[
            document(
                "maps.md",
                "# Maps\n\nTo find restaurants, type into the search field at the top.\n\n# Offline maps\n\nA map is kept by the menu, Offline maps, Select your own map.",
            ),
            document("shop.txt", "The shop delivers on Tuesdays. Shoes are under Clothes."),
            document("日本.md", "設定は歯車のボタンです。"),
        ])
    }

    fn search(text: &str) -> Vec<(String, String)> {
        let knowledge = knowledge();
        let found = knowledge.search(text);
        found.iter().map(|one| (one.source.to_owned(), one.text.to_owned())).collect()
    }

    #[test]
    fn passages_are_found_by_shared_words() {
        let found = search("Search for a restaurant on Maps");
        assert_eq!(found[0].0, "maps.md");
        assert!(found[0].1.contains("To find restaurants"), "{found:?}");
        let found = search("Buy shoes in the shop");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "shop.txt");
        assert_eq!(search("設定を開く")[0].0, "日本.md");
    }

    #[test]
    fn no_shared_words_find_nothing() {
        assert_eq!(search("Set an alarm for seven"), []);
        assert_eq!(search(""), []);
        assert!(Knowledge::default().search("Maps").is_empty());
    }

    #[test]
    fn passage_is_limited_and_keeps_its_heading() {
        let text = format!("# Alarms\n\nFirst.\n\n{}\n\nLast.", "alarm ".repeat(400));
        let passages = split(&text);
        assert!(passages.len() > 2, "{passages:?}");
        assert!(passages.iter().all(|one| one.chars().count() <= MAX_PASSAGE + 120));
        assert!(passages.iter().all(|one| one.starts_with("# Alarms")), "{passages:?}");
        assert_eq!(split("\n\n \n"), Vec::<String>::new());
    }
}

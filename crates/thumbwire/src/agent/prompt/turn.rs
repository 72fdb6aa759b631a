//! The turn in which a round is shown: pictures, then the blocks of seed 002 in its order, then ours, which stand only where they say
//! something.
//!
//! Rows are cut where they are too many, and the prompt says how many are left out: what a model does not know to be missing, it takes
//! for absent.

use serde::Serialize;
use serde_json::json;
use thumbwire_device::Image;

use super::quote::{self, quoted, shortened};
use super::{Part, Role, Turn};
use crate::agent::options::Pictures;
use crate::agent::sight::{ControlRow, Done, Sight};

/// How many bytes of controls are written, and of apps. A screen full of rows has about a hundred controls of 100 bytes.
const MOST_OF_CONTROLS: usize = 12_000;
const MOST_OF_APPS: usize = 8_000;
/// How many bytes of what was done, observed and remembered: the newest, which stand last, are kept.
const MOST_OF_THE_PAST: usize = 4_000;
/// How long a name or a sentence may be, in characters.
const LONGEST_NAME: usize = 160;
const LONGEST_SENTENCE: usize = 600;
/// How long what was typed may be where it is told again.
const LONGEST_ARGUMENT: usize = 400;

/// The turn that shows a round.
pub(super) fn round(sight: &Sight, pictures: Pictures, documents: &[Document<'_>]) -> Turn {
    let mut parts: Vec<Part> =
        shown(sight, pictures).into_iter().cloned().map(Part::Picture).collect();
    let pictured = !parts.is_empty();
    parts.push(Part::Text(words(sight, pictured, documents)));
    Turn { role: Role::User, parts }
}

/// A passage that may help, with where it is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(in crate::agent) struct Document<'a> {
    /// The file's name.
    pub source: &'a str,
    /// The passage.
    pub text: &'a str,
}

/// The pictures that are shown, in order: the one place where that is decided.
pub(super) fn shown(sight: &Sight, pictures: Pictures) -> Vec<&Image> {
    // Without marks the screen as it is serves as well: the rectangles of the controls stand in the text.
    let one = || sight.marked.as_ref().or(sight.clean.as_ref()).into_iter().collect();
    match pictures {
        Pictures::Both => sight.clean.iter().chain(&sight.marked).collect(),
        Pictures::Marked => one(),
        Pictures::Doubt if sight.doubt.is_some() => one(),
        Pictures::Doubt | Pictures::Text => Vec::new(),
    }
}

/// `[Current Screen Controls]`, with which a round and a judgement are shown the screen.
pub(super) fn controls(rows: &[ControlRow]) -> String {
    let rows: Vec<String> = shortly(rows).map(|row| quoted(&row)).collect();
    format!("[Current Screen Controls]: {}", first(&rows, MOST_OF_CONTROLS, "scroll to see others"))
}

/// Of these controls those that a prompt has room for, as they stand in it: who decides without a prompt must see no more.
pub fn readable(rows: &[ControlRow]) -> Vec<ControlRow> {
    let mut rows: Vec<ControlRow> = shortly(rows).collect();
    let words: Vec<String> = rows.iter().map(quoted).collect();
    rows.truncate(fitting(words.iter(), MOST_OF_CONTROLS));
    rows
}

fn shortly(rows: &[ControlRow]) -> impl Iterator<Item = ControlRow> {
    rows.iter().map(|row| ControlRow { name: shortened(&row.name, LONGEST_NAME), ..row.clone() })
}

/// A sentence as JSON, bounded.
pub(super) fn sentence(text: &str) -> String {
    quoted(&shortened(text, LONGEST_SENTENCE))
}

fn words(sight: &Sight, pictured: bool, documents: &[Document<'_>]) -> String {
    let apps: Vec<String> = sight.installed_apps.iter().map(quoted).collect();
    let done: Vec<String> =
        sight.last_success_actions.iter().map(|done| quoted(&brief(done))).collect();
    let mut blocks = vec![
        format!("[Previous Plan]: {}", list(&sight.previous_plan)),
        format!("[User Request]: {}", quote::request(&sight.request)),
        format!("[Installed Apps]: {}", first(&apps, MOST_OF_APPS, "name its package to start it")),
        controls(&sight.current_controls),
        format!("[Last Success Actions]: {}", last(&done)),
    ];
    if let Some((width, height)) = sight.clean.as_ref().and_then(size) {
        let size = json!({ "width": width, "height": height });
        blocks.push(format!("[Screen]: {}", quoted(&size)));
    }
    if let Some(app) = &sight.app {
        blocks.push(format!("[App in Front]: {}", quoted(app)));
    }
    let mut sentences = |name: &str, sentences: &[String]| {
        if !sentences.is_empty() {
            let sentences: Vec<String> = sentences.iter().map(|one| sentence(one)).collect();
            blocks.push(format!("[{name}]: {}", last(&sentences)));
        }
    };
    sentences("Observations", &sight.observations);
    sentences("Blackboard", &sight.blackboard);
    if !documents.is_empty() {
        let documents: Vec<String> = documents.iter().map(quoted).collect();
        blocks.push(format!("[Retrieved Docs]: {}", rows(&documents)));
    }
    if !sight.secrets.is_empty() {
        blocks.push(format!("[Secrets]: {}", list(&sight.secrets)));
    }
    if let Some(doubt) = &sight.doubt {
        let seen = if pictured { "look at the picture" } else { "no picture is shown" };
        blocks.push(format!("[Doubt]: {} ({seen})", sentence(doubt)));
    }
    if !sight.left.is_empty() {
        blocks.push(format!("[Budget]: round {}; left: {}", sight.round, sentence(&sight.left)));
    }
    blocks.join("\n")
}

/// Width and height of a PNG, out of its first chunk (PNG 1.2, 11.2.2); what phones give is one.
fn size(image: &Image) -> Option<(u32, u32)> {
    let edge = |at: usize| Some(u32::from_be_bytes(image.bytes.get(at..at + 4)?.try_into().ok()?));
    (image.bytes.get(12..16)? == b"IHDR").then_some((edge(16)?, edge(20)?))
}

/// Something that was done, with long arguments cut: a text of pages is told by how it begins.
fn brief(done: &Done) -> Done {
    let mut done = done.clone();
    for value in done.doing.arguments.values_mut() {
        if let Some(text) = value.as_str() {
            *value = shortened(text, LONGEST_ARGUMENT).into();
        }
    }
    done.message = shortened(&done.message, LONGEST_SENTENCE);
    done
}

/// Short texts on one line.
fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| sentence(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Rows of JSON, one a line.
fn rows(rows: &[String]) -> String {
    if rows.is_empty() { "[]".into() } else { format!("[\n{}\n]", rows.join(",\n")) }
}

/// The first rows, as many as `most` bytes hold, and how many are left out.
fn first(all: &[String], most: usize, otherwise: &str) -> String {
    let kept = fitting(all.iter(), most);
    match all.len() - kept {
        0 => rows(all),
        left => format!("{} ({left} more are left out; {otherwise})", rows(&all[..kept])),
    }
}

/// The last rows, and how many before them are left out.
fn last(all: &[String]) -> String {
    let left = all.len() - fitting(all.iter().rev(), MOST_OF_THE_PAST);
    match left {
        0 => rows(all),
        left => format!("{} ({left} before these are left out)", rows(&all[left..])),
    }
}

/// How many of the rows go into so many bytes.
fn fitting<'a>(rows: impl Iterator<Item = &'a String>, most: usize) -> usize {
    let mut total = 0;
    rows.take_while(|row| {
        total += row.len() + 2;
        total <= most
    })
    .count()
}

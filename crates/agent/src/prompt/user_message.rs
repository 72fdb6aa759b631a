//! The user message of a step: screenshots, then the blocks of the UFO MobileAgent strategy in its order, then ours,
//! which are omitted when empty.
//!
//! Long lists are cut, and the prompt says how many rows are missing: a model takes what it does not see for absent.

use serde_json::json;
use thumbwire_base::truncate;
use thumbwire_core::snapshot::NumberedLine;
use thumbwire_device::Image;

use super::{ContentPart, Message, Role};
use crate::json_line::{self, to_json_line};
use crate::knowledge::Document;
use crate::observation::{CompletedCall, ControlRow, Observation};
use crate::options::ScreenshotMode;

/// Byte limits for the lists of controls and apps. A full screen has about a hundred lines of 40 bytes.
const MOST_OF_CONTROLS: usize = 12_000;
const MOST_OF_APPS: usize = 8_000;
/// Byte limit for each block about the past. The newest entries, which come last, are kept.
const MOST_OF_THE_PAST: usize = 4_000;
/// The longest name and the longest sentence, in characters.
const LONGEST_NAME: usize = 160;
const LONGEST_SENTENCE: usize = 600;
/// The longest string argument in `[Last Success Actions]`, in characters.
const LONGEST_ARGUMENT: usize = 400;

/// Writes the user message of a step.
pub(super) fn round(
    observation: &Observation,
    pictures: ScreenshotMode,
    documents: &[Document<'_>],
) -> Message {
    let mut parts: Vec<ContentPart> =
        shown(observation, pictures).into_iter().cloned().map(ContentPart::Image).collect();
    let pictured = !parts.is_empty();
    parts.push(ContentPart::Text(message_text(observation, pictured, documents)));
    Message { role: Role::User, parts }
}

/// The screenshots to send, in order. The only place that decides this.
pub(super) fn shown(observation: &Observation, pictures: ScreenshotMode) -> Vec<&Image> {
    // The plain screenshot can replace a missing annotated one: the text has the rectangles.
    let one = || observation.marked.as_ref().or(observation.clean.as_ref()).into_iter().collect();
    match pictures {
        ScreenshotMode::Both => observation.clean.iter().chain(&observation.marked).collect(),
        ScreenshotMode::Annotated => one(),
        ScreenshotMode::Auto if observation.doubt.is_some() => one(),
        ScreenshotMode::Auto | ScreenshotMode::None => Vec::new(),
    }
}

/// The block `[Current Screen Controls]`, used by steps and judgements.
pub(super) fn controls(lines: &[NumberedLine]) -> String {
    const NAME: &str = "[Current Screen Controls]";
    if lines.is_empty() {
        return format!("{NAME}: (not read)");
    }
    let texts: Vec<String> = lines.iter().map(|line| json_line::escaped(&line.text)).collect();
    let kept = fitting(texts.iter(), MOST_OF_CONTROLS);
    let list = texts[..kept].join("\n");
    match texts.len() - kept {
        0 => format!("{NAME}:\n{list}"),
        left => format!("{NAME}:\n{list}\n({left} more omitted; scroll to see them)"),
    }
}

/// The controls that fit into a prompt. A policy without a model must not see more.
pub fn readable(observation: &Observation) -> Vec<ControlRow> {
    let lines = &observation.screen;
    let texts: Vec<String> = lines.iter().map(|line| json_line::escaped(&line.text)).collect();
    let kept = fitting(texts.iter(), MOST_OF_CONTROLS);
    // Numbers are in document order, as lines are.
    let omitted = lines[kept..].iter().find_map(|line| line.number).map(|it| it.to_string());
    let rows = observation.current_controls.iter().filter(|_| kept > 0);
    rows.take_while(|row| omitted.as_ref() != Some(&row.id))
        .map(|row| ControlRow { name: truncate(&row.name, LONGEST_NAME), ..row.clone() })
        .collect()
}

/// A sentence as JSON, truncated.
pub(super) fn sentence(text: &str) -> String {
    to_json_line(&truncate(text, LONGEST_SENTENCE))
}

pub(super) fn message_text(
    observation: &Observation,
    pictured: bool,
    documents: &[Document<'_>],
) -> String {
    let apps: Vec<String> = observation.installed_apps.iter().map(to_json_line).collect();
    let done: Vec<String> = observation
        .last_success_actions
        .iter()
        .map(|done| to_json_line(&truncated_call(done)))
        .collect();
    let mut blocks = vec![
        format!("[Previous Plan]: {}", list(&observation.previous_plan)),
        format!("[User Request]: {}", json_line::request(&observation.request)),
        format!("[Installed Apps]: {}", first(&apps, MOST_OF_APPS, "launch the others by package")),
        controls(&observation.screen),
        format!("[Last Success Actions]: {}", last(&done)),
    ];
    if let Some((width, height)) = observation.clean.as_ref().and_then(size) {
        let size = json!({ "width": width, "height": height });
        blocks.push(format!("[Screen]: {}", to_json_line(&size)));
    }
    // The first line of the list usually names it.
    let first = observation.screen.first().map_or("", |line| &line.text);
    let is_named = |app: &&String| first.split(' ').next() == Some(app);
    if let Some(app) = observation.app.as_ref().filter(|app| !is_named(app)) {
        blocks.push(format!("[App in Front]: {}", to_json_line(app)));
    }
    let mut sentences = |name: &str, sentences: &[String]| {
        if !sentences.is_empty() {
            let sentences: Vec<String> = sentences.iter().map(|one| sentence(one)).collect();
            blocks.push(format!("[{name}]: {}", last(&sentences)));
        }
    };
    sentences("Observations", &observation.feedback);
    sentences("Blackboard", &observation.blackboard);
    if !documents.is_empty() {
        let documents: Vec<String> = documents.iter().map(to_json_line).collect();
        blocks.push(format!("[Retrieved Docs]: {}", rows(&documents)));
    }
    if !observation.secrets.is_empty() {
        blocks.push(format!("[Secrets]: {}", list(&observation.secrets)));
    }
    if let Some(doubt) = &observation.doubt {
        let seen = if pictured { "see the screenshot" } else { "no screenshot is shown" };
        blocks.push(format!("[Doubt]: {} ({seen})", sentence(doubt)));
    }
    if !observation.left.is_empty() {
        blocks.push(format!(
            "[Budget]: step {}; left: {}",
            observation.round,
            sentence(&observation.left)
        ));
    }
    blocks.join("\n")
}

/// Width and height of a PNG, from its first chunk (PNG 1.2, section 11.2.2). Screenshots of phones are PNGs.
fn size(image: &Image) -> Option<(u32, u32)> {
    let edge = |at: usize| Some(u32::from_be_bytes(image.bytes.get(at..at + 4)?.try_into().ok()?));
    (image.bytes.get(12..16)? == b"IHDR").then_some((edge(16)?, edge(20)?))
}

/// A call with long arguments truncated.
fn truncated_call(done: &CompletedCall) -> CompletedCall {
    let mut done = done.clone();
    for value in done.call.arguments.values_mut() {
        if let Some(text) = value.as_str() {
            *value = truncate(text, LONGEST_ARGUMENT).into();
        }
    }
    done.message = truncate(&done.message, LONGEST_SENTENCE);
    done
}

/// Short texts on one line.
fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| sentence(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// JSON rows, one per line.
fn rows(rows: &[String]) -> String {
    if rows.is_empty() { "[]".into() } else { format!("[\n{}\n]", rows.join(",\n")) }
}

/// The first rows that fit into `most` bytes, and how many are missing.
fn first(all: &[String], max: usize, otherwise: &str) -> String {
    let kept = fitting(all.iter(), max);
    match all.len() - kept {
        0 => rows(all),
        left => format!("{} ({left} more omitted; {otherwise})", rows(&all[..kept])),
    }
}

/// The last rows that fit, and how many earlier ones are missing.
fn last(all: &[String]) -> String {
    let left = all.len() - fitting(all.iter().rev(), MOST_OF_THE_PAST);
    match left {
        0 => rows(all),
        left => format!("{} ({left} earlier ones omitted)", rows(&all[left..])),
    }
}

/// How many of the rows fit into `most` bytes.
fn fitting<'a>(rows: impl Iterator<Item = &'a String>, max: usize) -> usize {
    let mut total = 0;
    rows.take_while(|row| {
        total += row.len() + 2;
        total <= max
    })
    .count()
}

//! The user message of a step: its screenshots, and its blocks of text, which are omitted when they
//! are empty.
//!
//! The module above puts them together, or the blocks of the UFO MobileAgent strategy, which
//! [`super::ufo`] has. What changes least comes first, so that providers can cache it, and the
//! screen last. Long lists are cut, and the prompt says how many rows are missing: a model takes
//! what it does not see for absent.

use thumbwire_base::truncate;
use thumbwire_device::{Image, Size};

use super::PromptStyle;
use super::history::history;
use super::list::{has_places, list};
use crate::options::{PromptForm, ScreenshotMode};
use crate::policy::observation::{LaunchableApp, Observation};
use crate::prompt::coordinates::CoordinateSpace;
use crate::prompt::json_line::{self, to_json_line};
use crate::prompt::knowledge::Document;

/// How many apps are listed.
const MAX_APPS: usize = 50;
/// Byte limit for each block about the past. The newest entries, which come last, are kept.
const MAX_OF_THE_PAST: usize = 4_000;
/// The longest sentence and the longest name of an app, in characters.
const MAX_SENTENCE: usize = 600;
const MAX_LABEL: usize = 60;

/// The screenshots to send, in order. The only place that decides this.
pub(super) fn shown(observation: &Observation, pictures: ScreenshotMode) -> Vec<&Image> {
    // The plain screenshot can replace a missing annotated one: the text has the ids.
    let one = || observation.marked.as_ref().or(observation.clean.as_ref()).into_iter().collect();
    match pictures {
        ScreenshotMode::Both => observation.clean.iter().chain(&observation.marked).collect(),
        ScreenshotMode::Annotated => one(),
        ScreenshotMode::Auto if observation.doubt.is_some() => one(),
        ScreenshotMode::Auto | ScreenshotMode::None => Vec::new(),
    }
}

/// The blocks of text.
pub(super) fn blocks(
    observation: &Observation,
    style: &PromptStyle,
    pictured: bool,
    documents: &[Document<'_>],
) -> Vec<String> {
    let mut blocks = vec![format!("[User Request]: {}", json_line::request(&observation.request))];
    if !observation.apps.is_empty() {
        blocks.push(apps(&observation.apps, &observation.request));
    }
    notes(observation, documents, &mut blocks);
    if !observation.history.is_empty() {
        let lines = history(&observation.history, &observation.functions, &style.space);
        blocks.push(format!("[History]:{lines}"));
    }
    if !observation.previous_plan.is_empty() {
        blocks.push(format!("[Previous Plan]: {}", texts(&observation.previous_plan)));
    }
    news(observation, pictured, &mut blocks);
    if pictured || has_places(&observation.screen, style.form) {
        blocks.extend(size(style.space.shown()));
    }
    blocks.push(controls(observation, style.form, &style.space));
    blocks
}

/// What the run knows besides the screen: notes, documents, secrets.
pub(super) fn notes(observation: &Observation, documents: &[Document<'_>], to: &mut Vec<String>) {
    sentences("Blackboard", &observation.blackboard, to);
    if !documents.is_empty() {
        let documents: Vec<String> = documents.iter().map(to_json_line).collect();
        to.push(format!("[Retrieved Docs]: {}", rows(&documents)));
    }
    if !observation.secrets.is_empty() {
        to.push(format!("[Secrets]: {}", texts(&observation.secrets)));
    }
}

/// What is new in this step.
pub(super) fn news(observation: &Observation, pictured: bool, to: &mut Vec<String>) {
    sentences("Observations", &observation.feedback, to);
    if let Some(doubt) = &observation.doubt {
        let seen = if pictured { "see the screenshot" } else { "no screenshot is shown" };
        to.push(format!("[Doubt]: {} ({seen})", sentence(doubt)));
    }
    if !observation.left.is_empty() {
        let left = sentence(&observation.left);
        to.push(format!("[Budget]: {left} left"));
    }
    // The first line of the list usually names it.
    let first = observation.screen.first().map_or("", |line| &line.text);
    let is_named = |app: &&String| first.split(' ').next() == Some(app);
    if let Some(app) = observation.app.as_ref().filter(|app| !is_named(app)) {
        to.push(format!("[App in Front]: {}", to_json_line(app)));
    }
}

fn sentences(name: &str, sentences: &[String], to: &mut Vec<String>) {
    if !sentences.is_empty() {
        let sentences: Vec<String> = sentences.iter().map(|one| sentence(one)).collect();
        to.push(format!("[{name}]: {}", last(&sentences)));
    }
}

/// How far coordinates count.
pub(super) fn size(shown: Option<Size>) -> Option<String> {
    shown.map(|Size { width, height }| format!("[Screen]: {width} x {height}"))
}

/// The block `[Current Screen Controls]`, used by steps and judgements.
pub(super) fn controls(
    observation: &Observation,
    form: PromptForm,
    space: &CoordinateSpace,
) -> String {
    const NAME: &str = "[Current Screen Controls]";
    match &observation.screen[..] {
        [] => format!("{NAME}: (not read)"),
        lines => format!("{NAME}:\n{}", list(lines, form, space)),
    }
}

/// The block `[Installed Apps]`: names, those that the request mentions first.
fn apps(apps: &[LaunchableApp], request: &str) -> String {
    let request = request.to_lowercase();
    let is_unique = |label: &str| {
        let same = |app: &&LaunchableApp| {
            app.label.as_deref().is_some_and(|other| other.eq_ignore_ascii_case(label))
        };
        apps.iter().filter(same).count() == 1
    };
    let mut names: Vec<String> = apps
        .iter()
        .map(|app| match &app.label {
            // Of several apps with a name none would be launched.
            Some(label) if is_unique(label) => truncate(label, MAX_LABEL),
            _ => truncate(&app.package, MAX_LABEL),
        })
        .collect();
    names.sort_by_key(|name| {
        let lower = name.to_lowercase();
        let is_wanted =
            lower.split_whitespace().any(|word| word.len() > 2 && request.contains(word));
        (!is_wanted, lower)
    });
    let more = match names.len().saturating_sub(MAX_APPS) {
        0 => String::new(),
        more => format!(" ({more} more; launch_app finds them by name)"),
    };
    names.truncate(MAX_APPS);
    format!("[Installed Apps]: {}{more}", to_json_line(&names))
}

/// A sentence as JSON, truncated.
pub(super) fn sentence(text: &str) -> String {
    to_json_line(&truncate(text, MAX_SENTENCE))
}

/// Short texts on one line.
pub(super) fn texts(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| sentence(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// JSON rows, one per line.
pub(super) fn rows(rows: &[String]) -> String {
    match rows {
        [] => "[]".into(),
        [one] => format!("[{one}]"),
        rows => format!("[\n{}\n]", rows.join(",\n")),
    }
}

/// The last rows that fit, and how many earlier ones are missing.
pub(super) fn last(all: &[String]) -> String {
    let left = all.len() - fitting(all.iter().rev(), MAX_OF_THE_PAST);
    match left {
        0 => rows(all),
        left => format!("{} ({left} earlier ones omitted)", rows(&all[left..])),
    }
}

/// How many of the rows fit into `most` bytes.
pub(super) fn fitting<'a>(rows: impl Iterator<Item = &'a String>, max: usize) -> usize {
    let mut total = 0;
    rows.take_while(|row| {
        total += row.len() + 2;
        total <= max
    })
    .count()
}

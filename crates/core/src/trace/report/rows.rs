//! A run with named steps: a row for each, which opens to the screen before and after it.
//!
//! Start with [`RunRows::steps`]. What the phone was asked for in a step is folded away inside its
//! row; the steps of a loop or of another file are rows inside the row of that step. The failed
//! step is open from the start.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::document::{Document, shortcuts};
use super::entry::{action_table, finger, thought};
use super::pictures::{ImageSet, ImageSource, PlacedImage};
use super::snapshot::rows as tree_rows;
use super::{MAX_ENTRIES, Snapshots, load_snapshots, title};
use crate::trace::format::{CaseEnd, NamedStep};
use crate::trace::reader::{Trace, TraceEntry};
use crate::trace::text::{sanitize, sanitize_line, time};

/// The script of pages with rows.
pub(super) const SCRIPT: &str = concat!(include_str!("rows.js"), include_str!("tree.js"));

/// The keys of pages with rows.
pub(super) const KEYS: [(&str, &str); 6] = [
    ("f", "next failure"),
    ("e", "open or close all steps"),
    ("Tab, Enter", "next row; open or close it"),
    ("d", "switch theme"),
    ("?", "show this help"),
    ("Esc", "close this help"),
];

/// The maximum length of a reason, in characters.
const MAX_LENGTH: usize = 4_000;

/// The maximum number of items in a list.
const MAX_COUNT: usize = 100;

/// The number of log lines that show without opening anything.
const LOG_LINES: usize = 12;

/// Deeper steps are shown at this depth.
const MAX_DEPTH: usize = 8;

/// A page of one run.
pub(super) fn page(trace: &Trace, nonce: &str) -> String {
    let mut notes = trace.notes.clone();
    let shown = &trace.entries[..trace.entries.len().min(MAX_ENTRIES)];
    let mut pictures = ImageSet::default();
    let wanted: Vec<_> = screenshots(trace).into_iter().map(|name| (trace, "", name)).collect();
    pictures.embed(&wanted, &mut notes);
    let snapshots = load_snapshots(trace, shown, &mut notes);
    let run = RunRows { trace, folder: "", id: "", pictures: &pictures, snapshots: &snapshots };
    let title = title(trace);
    let body = html! {
        header {
            (top(&title))
            (run.result())
            dl.facts { (run.facts()) }
            (note_list(&notes))
        }
        main { (run.steps()) (run.rest()) }
        (shortcuts(&KEYS))
    };
    let document = Document { title: &title, style: &html! {}, script: SCRIPT, opens_at: 1 };
    document.render(&pictures, &body, nonce)
}

/// The title and the buttons of a page.
pub(super) fn top(title: &str) -> Markup {
    html! {
        div.top {
            h1 { bdi dir="auto" { (title) } }
            div.tools {
                button #all type="button" title="Open or close all steps (e)" { "Open all" }
                button #theme type="button" title="Switch theme (d)" { "Light / dark" }
                button #ask type="button" title="Keyboard shortcuts (?)" aria-label="Keyboard shortcuts" { "?" }
            }
        }
    }
}

/// What could not be read.
pub(super) fn note_list(notes: &[String]) -> Markup {
    const MAX_NOTES: usize = 20;
    html! {
        @if !notes.is_empty() {
            ul.notes {
                @for note in notes.iter().take(MAX_NOTES) { li { (sanitize_line(note, 300)) } }
                @if notes.len() > MAX_NOTES { li { (notes.len() - MAX_NOTES) " more notes." } }
            }
        }
    }
}

/// The files of the screenshots that the rows of a run show.
pub(super) fn screenshots(trace: &Trace) -> Vec<&str> {
    let mut names = Vec::new();
    for entry in trace.entries.iter().take(MAX_ENTRIES) {
        let named = entry.named.as_ref();
        let after = named.and_then(|step| step.after.as_deref());
        let comparison = named.and_then(|step| step.comparison.as_deref());
        names.extend([entry.screenshot.as_deref(), after, comparison].into_iter().flatten());
    }
    names.extend(trace.case.as_ref().and_then(|case| case.screenshot.as_deref()));
    names
}

/// A run on a page.
pub(super) struct RunRows<'a> {
    pub(super) trace: &'a Trace,
    /// The address of its folder, relative to the page: empty, or with a slash at the end.
    pub(super) folder: &'a str,
    /// What its anchors begin with.
    pub(super) id: &'a str,
    pub(super) pictures: &'a ImageSet,
    /// The snapshots that are shown as trees.
    pub(super) snapshots: &'a Snapshots,
}

/// What a row says.
struct Row {
    status: &'static str,
    name: String,
    does: String,
    took: u64,
    waited: String,
    before: Option<PlacedImage>,
    after: Option<PlacedImage>,
}

impl RunRows<'_> {
    /// How it ended.
    pub(super) fn result(&self) -> Markup {
        let (class, word, reason) = match (&self.trace.case, &self.trace.ended) {
            (Some(case), _) if case.passed => ("good", "passed".to_owned(), String::new()),
            (Some(case), _) => ("bad", "failed".to_owned(), case.reason.clone()),
            (None, Some((status, reason))) if status == "FINISH" => {
                ("good", "passed".to_owned(), reason.clone())
            }
            (None, Some((status, reason))) => ("bad", status.clone(), reason.clone()),
            (None, None) => return html! {},
        };
        html! {
            p class={ "result " (class) } {
                b { (sanitize_line(&word, 20)) } " " bdi dir="auto" { (sanitize(&reason, 2000)) }
            }
        }
    }

    /// Its file, phone, steps and times, as parts of a definition list.
    pub(super) fn facts(&self) -> Markup {
        let trace = self.trace;
        let steps = trace.entries.iter().filter(|entry| entry.named.is_some()).count();
        html! {
            @if let Some(CaseEnd { file, attempt, .. }) = &trace.case {
                @if !file.is_empty() { div { dt { "File" } dd { (sanitize_line(file, 200)) } } }
                @if *attempt > 1 { div { dt { "Attempt" } dd { (attempt) } } }
            }
            @if !trace.phone.is_empty() { div { dt { "Phone" } dd { (sanitize_line(&trace.phone, 100)) } } }
            @if steps > 0 { div { dt { "Steps" } dd { (steps) } } }
            div { dt { "Time" } dd { (time(trace.duration_ms)) } }
            div { dt { "Started" } dd { (sanitize_line(&trace.started, 40)) } }
            div { dt { "Recorded by" } dd { (sanitize_line(&trace.program, 60)) } }
        }
    }

    /// The rows.
    pub(super) fn steps(&self) -> Markup {
        let shown = &self.trace.entries[..self.trace.entries.len().min(MAX_ENTRIES)];
        let inside = nested(shown);
        let left_out = self.trace.entries.len() - shown.len();
        html! {
            (self.list(shown, &inside, None))
            @if left_out > 0 { p.note { (left_out) " more steps are not shown." } }
        }
    }

    /// The screens after the steps, small: each leads to its step. A step with nested steps shows
    /// what the last of them does.
    pub(super) fn film(&self) -> Markup {
        const MAX_SCREENS: usize = 12;
        let entries = &self.trace.entries[..self.trace.entries.len().min(MAX_ENTRIES)];
        let named = entries.iter().filter_map(|entry| entry.named.as_ref());
        let outer: BTreeSet<u32> = named.filter_map(|step| step.parent).collect();
        let screens = entries.iter().enumerate().filter_map(|(at, entry)| {
            let is_single = entry.named.as_ref().is_some_and(|step| !outer.contains(&step.step));
            if entry.step.is_none() && !is_single {
                return None;
            }
            let row = self.describe(entries, at);
            let is_agents = entry.step.is_some();
            let image = if is_agents { row.before } else { row.after };
            Some((at, row.name, image?))
        });
        html! {
            div.film {
                @for (at, name, image) in screens.take(MAX_SCREENS) {
                    a href={ "#" (self.id) "s" (at + 1) } title=(name) { (picture(&image, &name, &html! {})) }
                }
            }
        }
    }

    fn list(
        &self,
        entries: &[TraceEntry],
        inside: &BTreeMap<Option<usize>, Vec<usize>>,
        parent: Option<usize>,
    ) -> Markup {
        let Some(rows) = inside.get(&parent) else { return html! {} };
        html! {
            ol.rows {
                @for &at in rows {
                    li { (self.row(entries, inside, at)) }
                }
            }
        }
    }

    fn row(
        &self,
        entries: &[TraceEntry],
        inside: &BTreeMap<Option<usize>, Vec<usize>>,
        at: usize,
    ) -> Markup {
        let entry = &entries[at];
        let row = self.describe(entries, at);
        let holds_others = inside.contains_key(&Some(at));
        let failed = row.status == "failed";
        html! {
            details id={ (self.id) "s" (at + 1) } class={ "step " (row.status) } open[failed] {
                summary {
                    span.sign role="img" aria-label=(row.status) { (sign(row.status)) }
                    span.name { bdi dir="auto" { (row.name) } }
                    @if !row.waited.is_empty() { span.waited { (row.waited) } }
                    span.time { (time(row.took)) }
                }
                div.body {
                    @if !holds_others { (self.screens(entry, &row)) }
                    div.texts { (self.details(entry, &row, failed && !holds_others)) }
                    (self.list(entries, inside, Some(at)))
                }
            }
        }
    }

    fn describe(&self, entries: &[TraceEntry], at: usize) -> Row {
        let entry = &entries[at];
        let took = entry.duration_ms();
        let place = |name: Option<&str>| self.pictures.place(self.folder, name);
        let before = place(entry.screenshot.as_deref());
        if let Some(step) = &entry.named {
            let status = match step.status.as_str() {
                "passed" => "passed",
                "skipped" => "skipped",
                _ => "failed",
            };
            let same = step.after == step.before;
            let after = if same { None } else { place(step.after.as_deref()) };
            let (name, does) = (sanitize_line(&step.name, 300), sanitize_line(&step.does, 300));
            return Row { status, name, does, took, waited: waited(step), before, after };
        }
        let waited = String::new();
        if let Some(step) = &entry.step {
            let status = if entry.failed() { "failed" } else { "passed" };
            let next = entries[at + 1..].iter().find(|entry| entry.step.is_some());
            let after = place(next.and_then(|entry| entry.screenshot.as_deref()));
            let texts = [&step.thought, &step.comment, &step.result];
            let name = texts.into_iter().find(|text| !text.is_empty()).map(|text| &**text);
            let calls: Vec<&str> = step.actions.iter().map(|call| &*call.function).collect();
            let name = name.map_or_else(|| calls.join(", "), str::to_owned);
            let does = sanitize_line(&calls.join(", "), 100);
            return Row {
                status,
                name: sanitize_line(&name, 160),
                does,
                took,
                waited,
                before,
                after,
            };
        }
        let has_begun = entries[..at].iter().any(|entry| entry.named.is_some());
        let name = if has_begun { "Afterwards" } else { "Set-up" };
        let failed = self.trace.case.as_ref().is_some_and(|case| !case.passed);
        // Without any step, nothing else can have failed.
        let is_all = entries.iter().all(|entry| entry.named.is_none() && entry.step.is_none());
        let status = if failed && is_all { "failed" } else { "passed" };
        // The screen that it shows is the one of the step before.
        let before = before.filter(|_| !has_begun);
        Row { status, name: name.into(), does: String::new(), took, waited, before, after: None }
    }

    /// The screen before and after, with the touches on the first.
    fn screens(&self, entry: &TraceEntry, row: &Row) -> Markup {
        let touched = !entry.touches.is_empty();
        html! {
            @if row.before.is_some() || row.after.is_some() {
                div.shots {
                    @if let Some(image) = &row.before {
                        @let caption = if row.after.is_some() { "before" } else { "the screen" };
                        (figure(image, caption, entry, touched, row.after.is_none()))
                    }
                    @if let Some(image) = &row.after {
                        @let caption = if row.before.is_some() { "after" } else { "the screen afterwards" };
                        (figure(image, caption, entry, touched && row.before.is_none(), true))
                    }
                }
            }
        }
    }

    /// What happened in a step, in words. `ended` says whether the case ended here.
    fn details(&self, entry: &TraceEntry, row: &Row, ended: bool) -> Markup {
        let shows_tree = entry.snapshot.as_ref().and_then(|name| self.snapshots.get(name));
        html! {
            @if let Some(step) = &entry.named {
                (named(step, row))
                @if let Some(image) = self.pictures.place(self.folder, step.comparison.as_deref()) {
                    h3 { "Golden, screen, and their difference" }
                    div.comparison { (figure(&image, "side by side", entry, false, false)) }
                }
            }
            @if let Some(step) = &entry.step { (thought(step)) }
            @if ended && let Some(case) = &self.trace.case { (log(case)) }
            @if !entry.actions.is_empty() {
                details.fold {
                    summary { (entry.actions.len()) @if entry.actions.len() == 1 { " action" } @else { " actions" } " on the phone" }
                    (action_table(entry))
                }
            }
            @if let Some(snapshot) = shows_tree {
                details.fold.look { summary { "Elements on the screen" } (tree_rows(snapshot)) }
            }
        }
    }

    /// The rest of the case: what did not happen in a step.
    pub(super) fn rest(&self) -> Markup {
        let Some(case) = &self.trace.case else { return html! {} };
        let in_step = self
            .trace
            .entries
            .iter()
            .any(|entry| entry.named.as_ref().is_some_and(|step| step.status == "failed"));
        html! {
            @if !case.passed && !in_step { (log(case)) }
            @if !case.notes.is_empty() {
                h3 { "Notes" }
                ul.remarks { @for note in case.notes.iter().take(MAX_COUNT) { li { bdi { (sanitize(note, MAX_LENGTH)) } } } }
            }
        }
    }
}

/// The step that each entry is inside of. `None` has those that are inside of none.
fn nested(entries: &[TraceEntry]) -> BTreeMap<Option<usize>, Vec<usize>> {
    let mut by_number: BTreeMap<u32, usize> = BTreeMap::new();
    let mut depths: Vec<usize> = Vec::with_capacity(entries.len());
    let mut inside: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let named = entry.named.as_ref();
        let parent = match named {
            Some(step) => step.parent.and_then(|number| by_number.get(&number).copied()),
            // The innermost step around the actions.
            None => entry.first_action().and_then(|first| {
                let around = |outer: &TraceEntry| {
                    let range = outer.named.as_ref().and_then(|step| step.action_range);
                    range.is_some_and(|[from, to]| (from..=to).contains(&first))
                };
                entries[..at].iter().rposition(around)
            }),
        };
        let parent = parent.filter(|&parent| depths[parent] + 1 < MAX_DEPTH);
        depths.push(parent.map_or(0, |parent| depths[parent] + 1));
        inside.entry(parent).or_default().push(at);
        if let Some(step) = named {
            by_number.insert(step.step, at);
        }
    }
    inside
}

fn sign(status: &str) -> &'static str {
    match status {
        "passed" => "\u{2713}",
        "skipped" => "\u{2013}",
        _ => "\u{2717}",
    }
}

/// A few words about waiting and trying again.
fn waited(step: &NamedStep) -> String {
    let mut parts = Vec::new();
    if !step.retried.is_empty() {
        parts.push(format!("try {}", step.retried.len() + 1));
    }
    match step.status.as_str() {
        "skipped" => parts.push("skipped".into()),
        "passed" if !step.waited_for.is_empty() => parts.push("waited".into()),
        _ => {}
    }
    parts.join(", ")
}

/// Why a step failed, what it waited for, and where it is written.
fn named(step: &NamedStep, row: &Row) -> Markup {
    let line = |term: &str, text: &str| {
        html! {
            @if !text.is_empty() { div { dt { (term) } dd { bdi dir="auto" { (sanitize(text, MAX_LENGTH)) } } } }
        }
    };
    let failed = row.status != "passed";
    html! {
        dl.reason {
            @if failed && !step.expected.is_empty() {
                (line("Expected", &step.expected))
                (line("Seen", &step.reason))
            } @else if failed { (line("Reason", &step.reason)) }
            @if !failed { (line("Waited, because at first", &step.waited_for)) }
            @for reason in step.retried.iter().take(MAX_COUNT) { (line("Earlier try", reason)) }
            @if !row.does.is_empty() { (line("Does", &row.does)) }
            @if !step.place.is_empty() {
                div { dt { "In" } dd { code { (sanitize_line(&step.place, 200)) } } }
            }
        }
    }
}

/// The crashes of a case, and the end of the phone's log.
fn log(case: &CaseEnd) -> Markup {
    let lines = |lines: &[String]| {
        let lines: Vec<String> = lines.iter().map(|line| sanitize_line(line, 1000)).collect();
        lines.join("\n")
    };
    let (earlier, newest) = case.log.split_at(case.log.len().saturating_sub(LOG_LINES));
    html! {
        @for crash in case.crashes.iter().take(MAX_COUNT) {
            h3 { bdi { (sanitize_line(&crash.what, 300)) } }
            @if !crash.excerpt.is_empty() { pre { (lines(&crash.excerpt)) } }
        }
        @if !newest.is_empty() {
            h3 { "End of the log" }
            pre { (lines(newest)) }
        }
        @if !earlier.is_empty() {
            details.fold { summary { (earlier.len()) " earlier lines of the log" } pre { (lines(earlier)) } }
        }
    }
}

/// A screenshot with the touches on it.
fn figure(
    image: &PlacedImage,
    caption: &str,
    entry: &TraceEntry,
    touched: bool,
    lit: bool,
) -> Markup {
    let unit = image.size.width.max(image.size.height) / 48;
    let over = html! {
        @if lit { rect.lit width="0" height="0" {} }
        @if touched { @for touch in entry.touches.iter().take(MAX_COUNT) { (finger(touch, unit)) } }
    };
    let label = format!("Screenshot: {caption}");
    let drawn = picture(image, &label, &over);
    html! {
        figure {
            @match &image.source {
                ImageSource::Embedded(_) => (drawn),
                ImageSource::File(address) => { a href=(address) { (drawn) } }
            }
            figcaption { (caption) @if touched { ", touched at the mark" } }
        }
    }
}

/// A screenshot with something drawn over it, in its pixels.
fn picture(image: &PlacedImage, label: &str, over: &Markup) -> Markup {
    let PlacedImage { size, source } = image;
    let view = format!("0 0 {} {}", size.width, size.height);
    html! {
        @match source {
            ImageSource::Embedded(at) => {
                svg.shot role="img" aria-label=(label) viewBox=(view) { use href={ "#p" (at) } {} (over) }
            }
            ImageSource::File(address) => {
                span.shot {
                    img src=(address) alt=(label) loading="lazy" width=(size.width) height=(size.height);
                    svg aria-hidden="true" viewBox=(view) { (over) }
                }
            }
        }
    }
}

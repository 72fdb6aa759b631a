//! Runs as HTML pages that need no network.
//!
//! Start with [`page`]: one run, on a page that can be sent to somebody. An agent's run and a
//! client's are shown entry by entry ([`mod@entry`]); a run with named steps, such as a flow's
//! case, has one row per step ([`rows`]). [`suite_page`] shows several runs.
//!
//! Everything in a run may be untrusted, so all text is escaped, bidirectional and control
//! characters are written as code points, counts are bounded, and a content security policy allows
//! only the page's own script ([`document`]). The pages also work without the script and on paper.

mod document;
mod entry;
mod pictures;
mod rows;
mod snapshot;
mod suite;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};

use super::format::StoredSnapshot;
use super::reader::{Trace, TraceEntry};
use super::text::{sanitize, sanitize_line, time};
use crate::annotate::ControlFamily;
use document::{Document, shortcuts};
use pictures::ImageSet;

pub use document::BASE_STYLE;
pub use pictures::Pictures;
pub use suite::{SUITE, Suite, SuiteRun, Verdict, suite_page};

const SCRIPT: &str = concat!(include_str!("report/page.js"), include_str!("report/tree.js"));

/// The maximum number of entries on a page.
const MAX_ENTRIES: usize = 1000;

/// A run's snapshots by file name.
type Snapshots = BTreeMap<String, StoredSnapshot<'static>>;

/// The data of a page.
struct ReportData<'a> {
    trace: &'a Trace,
    pictures: ImageSet,
    snapshots: Snapshots,
}

/// Renders the page. `nonce` identifies the page's own script: letters and digits that nobody can
/// guess.
///
/// Screenshots are scaled down: a run of 50 steps with two screenshots of 1080x2400 pixels each
/// makes some 3 to 6 MB.
pub fn page(trace: &Trace, nonce: &str) -> String {
    if trace.has_named_steps() {
        return rows::page(trace, nonce);
    }
    let mut notes = trace.notes.clone();
    let shown = &trace.entries[..trace.entries.len().min(MAX_ENTRIES)];
    if shown.len() < trace.entries.len() {
        notes.push(format!(
            "Only the first {MAX_ENTRIES} of {} entries are shown.",
            trace.entries.len()
        ));
    }
    let clean = shown.iter().filter_map(|entry| entry.screenshot.as_deref());
    let annotated = shown.iter().filter_map(|entry| entry.annotated.as_deref());
    let names: Vec<&str> = clean.chain(annotated).collect();
    let pictures = ImageSet::of(trace, &names, &mut notes);
    let snapshots = load_snapshots(trace, shown, &mut notes);
    let data = ReportData { trace, pictures, snapshots };
    let sections = entry::sections(&data, shown, &mut notes);
    let title = title(trace);
    let body = html! {
        (header(trace, &title, &notes))
        (timeline(shown))
        main { (sections) }
        (shortcuts(&KEYS))
    };
    let style = colours();
    let document =
        Document { title: &title, style: &style, script: SCRIPT, opens_at: opens_at(trace) };
    document.render(&data.pictures, &body, nonce)
}

/// What a run was for.
fn title(trace: &Trace) -> String {
    let goal = trace.goals.first().map(|goal| sanitize(&goal.request, 2000));
    goal.unwrap_or_else(|| "Run without a goal".into())
}

/// The entry that the page opens with, counted from 1: the last one that failed, in a run that
/// failed; else the first.
fn opens_at(trace: &Trace) -> usize {
    match &trace.ended {
        Some((status, _)) if status != "FINISH" => {
            let failed = trace.entries.iter().rposition(TraceEntry::failed);
            failed.map_or(trace.entries.len(), |at| at + 1).clamp(1, MAX_ENTRIES)
        }
        _ => 1,
    }
}

const KEYS: [(&str, &str); 8] = [
    ("\u{2192} or j", "next"),
    ("\u{2190} or k", "previous"),
    ("Home, End", "first, last"),
    ("a", "plain, annotated or both screenshots"),
    ("t", "show the tree"),
    ("p", "show prompt and reply"),
    ("d", "switch theme"),
    ("?", "show this help"),
];

/// The readable snapshots. Unreadable ones are added to the notes.
fn load_snapshots(trace: &Trace, entries: &[TraceEntry], notes: &mut Vec<String>) -> Snapshots {
    let mut snapshots = Snapshots::new();
    for name in entries.iter().filter_map(|entry| entry.snapshot.as_deref()) {
        if snapshots.contains_key(name) {
            continue;
        }
        let read = trace.file(name).and_then(|bytes| {
            serde_json::from_slice(&bytes)
                .map_err(|error| format!("{name} is not a snapshot: {error}."))
        });
        match read {
            Ok(snapshot) => {
                snapshots.insert(name.to_owned(), snapshot);
            }
            Err(note) => notes.push(note),
        }
    }
    snapshots
}

/// The box colors, the same as in annotated screenshots.
fn colours() -> Markup {
    let rule = |family: ControlFamily| {
        let [red, green, blue] = family.colour();
        format!(".box.{}{{--mark:rgb({red} {green} {blue})}}\n", family.name())
    };
    PreEscaped(ControlFamily::ALL.into_iter().map(rule).collect())
}

fn header(trace: &Trace, title: &str, notes: &[String]) -> Markup {
    const MAX_NOTES: usize = 20;
    let agent_steps = trace.entries.iter().filter(|entry| entry.step.is_some()).count();
    let actions: usize = trace.entries.iter().map(|entry| entry.actions.len()).sum();
    let usage = &trace.usage;
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    let policy =
        trace.goals.last().map(|goal| sanitize_line(&goal.policy, 100)).unwrap_or_default();
    html! {
        header {
            div.top {
                h1 { bdi dir="auto" { (title) } }
                div.tools {
                    button #both type="button" title="Show plain, annotated or both screenshots (a)" { "Screenshots" }
                    button #theme type="button" title="Switch theme (d)" { "Light / dark" }
                    button #ask type="button" title="Keyboard shortcuts (?)" aria-label="Keyboard shortcuts" { "?" }
                }
            }
            @if let Some((status, reason)) = &trace.ended {
                p class={ "result " (class_of(status)) } {
                    b { (sanitize_line(status, 20)) } " " bdi dir="auto" { (sanitize(reason, 2000)) }
                }
            }
            dl.facts {
                @if !policy.is_empty() { div { dt { "Policy" } dd { (policy) } } }
                @if !trace.phone.is_empty() { div { dt { "Phone" } dd { (sanitize_line(&trace.phone, 100)) } } }
                @if agent_steps > 0 { div { dt { "Steps" } dd { (agent_steps) } } }
                div { dt { "Actions" } dd { (actions) } }
                div { dt { "Time" } dd { (time(trace.duration_ms)) } }
                @if usage.calls > 0 {
                    div { dt { "Tokens" } dd { (grouped(tokens)) } }
                    div { dt { "Cost" } dd { (money(usage.dollars)) } }
                }
                div { dt { "Started" } dd { (sanitize_line(&trace.started, 40)) } }
                div { dt { "Recorded by" } dd { (sanitize_line(&trace.program, 60)) } }
            }
            @if !notes.is_empty() {
                ul.notes {
                    @for note in notes.iter().take(MAX_NOTES) { li { (sanitize_line(note, 300)) } }
                    @if notes.len() > MAX_NOTES { li { (notes.len() - MAX_NOTES) " more notes." } }
                }
            }
        }
    }
}

/// The CSS class of a status.
fn class_of(status: &str) -> &'static str {
    match status {
        "FINISH" => "good",
        "FAIL" => "bad",
        _ => "open",
    }
}

/// A number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn money(dollars: Option<f64>) -> String {
    dollars.map_or_else(|| "price unknown".into(), |dollars| format!("${dollars:.4}"))
}

/// A bar per entry, as wide as its duration, divided into its phases if known.
fn timeline(entries: &[TraceEntry]) -> Markup {
    let longest = entries.iter().map(TraceEntry::duration_ms).max().unwrap_or_default().max(1);
    // Keep every bar wide enough to click.
    let share = |ms: u64| (ms.saturating_mul(1000) / longest).max(60);
    let names = phases(entries);
    html! {
        nav.timeline aria-label="Timeline" {
            ol {
                @for (at, entry) in entries.iter().enumerate() {
                    @let name = name_of(at, entry);
                    li style={ "flex-grow:" (share(entry.duration_ms())) } {
                        a href={ "#m" (at + 1) } .failed[entry.failed()]
                            title={ (name) ", " (time(entry.duration_ms())) } {
                            span.bars aria-hidden="true" {
                                @for (phase, ms) in timings(entry) {
                                    @let nth = names.iter().position(|name| *name == phase).unwrap_or_default();
                                    i class={ "phase" (nth % 5) } style={ "flex-grow:" (ms.max(1)) } {}
                                }
                            }
                            span.nth { @if entry.failed() { "!" } (at + 1) }
                        }
                    }
                }
            }
            @if !names.is_empty() {
                p.legend {
                    @for (nth, name) in names.iter().take(5).enumerate() {
                        span { i class={ "phase" (nth) } {} (phase_name(name)) }
                    }
                }
            }
        }
    }
}

/// The title of an entry.
fn name_of(at: usize, entry: &TraceEntry) -> String {
    match (&entry.step, entry.actions.first()) {
        (Some(step), _) => format!("Step {}", step.step),
        (None, Some(action)) => format!("Action {}", action.action_id),
        (None, None) => format!("Entry {}", at + 1),
    }
}

/// `DATA_COLLECTION` as `data collection`.
fn phase_name(name: &str) -> String {
    sanitize_line(&name.replace('_', " ").to_lowercase(), 40)
}

/// The duration of each phase of an entry, in milliseconds.
fn timings(entry: &TraceEntry) -> Vec<(&str, u64)> {
    const MAX_PHASES: usize = 12;
    let Some(step) = &entry.step else { return Vec::new() };
    let timed = step.timings.iter().take(MAX_PHASES);
    let ms = |value: &serde_json::Value| value.as_f64().map(|ms| ms.max(0.0) as u64);
    timed.filter_map(|(name, value)| Some((name.as_str(), ms(value)?))).collect()
}

/// The names of the phases, in order of first appearance.
fn phases(entries: &[TraceEntry]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in entries.iter().flat_map(timings) {
        if !names.contains(&name) && names.len() < 5 {
            names.push(name);
        }
    }
    names
}

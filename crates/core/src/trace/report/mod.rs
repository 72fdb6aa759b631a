//! A run as one self-contained HTML page: no network, no other files.
//!
//! Begin with [`page`]. Everything in a run may be untrusted, so all text is escaped, bidirectional and control
//! characters are written as code points, counts are bounded, and a content security policy allows only the page's own
//! script. The page also works without the script and on paper: then it shows all entries below each other.

mod entry;
mod pictures;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::format::StoredSnapshot;
use super::reader::{Trace, TraceEntry};
use super::text::{sanitize, sanitize_line, time};
use crate::annotate::ControlFamily;
use pictures::ImageSet;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

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

/// Renders the page. `nonce` identifies the page's own script: letters and digits that nobody can guess.
///
/// Screenshots are scaled down: a run of 50 steps with two screenshots of 1080x2400 pixels each makes some 3 to 6 MB.
pub fn page(trace: &Trace, nonce: &str) -> String {
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
    let goal = trace.goals.first().map(|goal| sanitize(&goal.request, 2000));
    let title = goal.clone().unwrap_or_else(|| "Run without a goal".into());
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (sanitize_line(&title, 80)) " \u{2013} Thumbwire" }
                style { (PreEscaped(STYLE)) (colours()) }
            }
            body {
                svg.store aria-hidden="true" width="0" height="0" {
                    defs {
                        @for (at, picture) in data.pictures.all.iter().enumerate() {
                            image id={ "p" (at) } width=(picture.size.width) height=(picture.size.height)
                                preserveAspectRatio="none" href=(picture.uri) {}
                        }
                    }
                }
                (header(trace, &title, &notes))
                (timeline(shown))
                main { (sections) }
                (help())
                script nonce=(nonce) { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

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
    const MOST_NOTES: usize = 20;
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
            @if let Some((status, why)) = &trace.ended {
                p class={ "result " (class_of(status)) } {
                    b { (sanitize_line(status, 20)) } " " bdi dir="auto" { (sanitize(why, 2000)) }
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
                    @for note in notes.iter().take(MOST_NOTES) { li { (sanitize_line(note, 300)) } }
                    @if notes.len() > MOST_NOTES { li { (notes.len() - MOST_NOTES) " more notes." } }
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
    const MOST_PHASES: usize = 12;
    let Some(step) = &entry.step else { return Vec::new() };
    let timed = step.timings.iter().take(MOST_PHASES);
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

fn help() -> Markup {
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
    html! {
        dialog #help aria-label="Keyboard shortcuts" {
            h2 { "Keyboard shortcuts" }
            dl { @for (key, what) in KEYS { dt { kbd { (key) } } dd { (what) } } }
            form method="dialog" { button { "Close" } }
        }
    }
}

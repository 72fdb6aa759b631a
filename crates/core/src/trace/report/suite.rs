//! Several runs on one page: the cases of flows, the parts of the demo.
//!
//! Start with [`suite_page`]. Runs that failed come first, open at the failed step; earlier
//! attempts at a case are folded away below the last one. Screenshots stay in the folders of the
//! runs, unless they are to be embedded.

use std::path::Path;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::document::{Document, shortcuts};
use super::pictures::{ImageSet, Pictures, address};
use super::rows::{KEYS, RunRows, SCRIPT, note_list, screenshots, top};
use super::{MAX_ENTRIES, Snapshots, load_snapshots};
use crate::trace::reader::{Trace, to_the_second};
use crate::trace::text::{sanitize, sanitize_line, time};

/// The file that describes a suite, in the folder of its runs.
pub const SUITE: &str = "suite.json";

/// The maximum number of runs on a page.
const MAX_RUNS: usize = 1000;

/// Several runs, each in a folder of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// The version of this format: 1.
    pub version: u32,
    /// Its name.
    pub title: String,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The phones that it ran on.
    pub phones: Vec<String>,
    /// Why it ended early, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The runs, in order.
    pub runs: Vec<SuiteRun>,
}

/// One of several runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteRun {
    /// Its name.
    pub name: String,
    /// Where it is written, such as a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Its result.
    pub verdict: Verdict,
    /// What there is to say about it, lines as they are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The duration of the last attempt, in milliseconds.
    pub duration_ms: u64,
    /// The folders of its attempts, oldest first, below the suite's.
    pub attempts: Vec<String>,
    /// A page with more about it, relative to the suite's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// The result of a run in a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It failed.
    Failed,
    /// It failed before it passed.
    Flaky,
    /// It did not run.
    #[default]
    Skipped,
    /// It passed.
    Passed,
}

impl Verdict {
    const ALL: [Self; 4] = [Self::Failed, Self::Flaky, Self::Skipped, Self::Passed];

    fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Flaky => "flaky",
            Self::Skipped => "skipped",
            Self::Passed => "passed",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Failed => "\u{2717}",
            Self::Flaky => "\u{21bb}",
            Self::Skipped => "\u{2013}",
            Self::Passed => "\u{2713}",
        }
    }
}

/// An attempt that could be read.
struct ReadAttempt {
    trace: Trace,
    /// The address of its folder, with a slash at the end.
    folder: String,
    snapshots: Snapshots,
}

/// Renders the page of a suite in this folder. `nonce` identifies the page's own script: letters
/// and digits that nobody can guess. Attempts that cannot be read are noted on the page.
pub fn suite_page(folder: &Path, suite: &Suite, pictures: Pictures, nonce: &str) -> String {
    let mut notes = suite.notes.clone();
    if suite.runs.len() > MAX_RUNS {
        notes.push(format!("Only {MAX_RUNS} of {} runs are shown.", suite.runs.len()));
    }
    let mut runs: Vec<(usize, &SuiteRun)> = suite.runs.iter().enumerate().collect();
    // A stable sort: within a verdict, the runs stay in order.
    runs.sort_by_key(|(_, run)| run.verdict);
    runs.truncate(MAX_RUNS);
    let mut images = ImageSet::default();
    let read: Vec<Vec<ReadAttempt>> = runs
        .iter()
        .map(|(_, run)| {
            let attempts = run.attempts.iter().filter_map(|name| read(folder, name, &mut notes));
            attempts.collect()
        })
        .collect();
    let all = || read.iter().flatten();
    match pictures {
        Pictures::Linked => all().for_each(|one| images.link(&one.trace, &one.folder)),
        Pictures::Embedded => {
            let wanted = all().flat_map(|one| {
                screenshots(&one.trace).into_iter().map(|name| (&one.trace, &*one.folder, name))
            });
            images.embed(&wanted.collect::<Vec<_>>(), &mut notes);
        }
    }
    // A few runs that went well are shown at once.
    let opens = runs.len() <= 5 && runs.iter().all(|(_, run)| run.verdict == Verdict::Passed);
    let body = html! {
        header {
            (top(&sanitize(&suite.title, 300)))
            (summary(suite))
            (note_list(&notes))
        }
        main {
            @for ((nth, run), attempts) in runs.iter().zip(&read) { (case(*nth, run, attempts, &images, opens)) }
        }
        (shortcuts(&KEYS))
    };
    let style = html! {};
    let document = Document { title: &suite.title, style: &style, script: SCRIPT, opens_at: 1 };
    document.render(&images, &body, nonce)
}

fn read(folder: &Path, name: &str, notes: &mut Vec<String>) -> Option<ReadAttempt> {
    // The list may be untrusted: its names must not lead out of the folder.
    let parts: Vec<&str> = name.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || part.starts_with('.') || part.contains('\\')) {
        notes.push(format!("{name:?} is not a folder of this suite."));
        return None;
    }
    let trace = match Trace::open_inside(folder, Path::new(name)) {
        Ok(trace) => trace,
        Err(error) => {
            notes.push(format!("Cannot read the run in {name}: {error}."));
            return None;
        }
    };
    notes.extend(trace.notes.iter().map(|note| format!("{name}: {note}")));
    // The screen of a step that passed says little, and all of them would make a page of many
    // megabytes.
    let mut snapshots = Snapshots::new();
    for entry in trace.entries.iter().take(MAX_ENTRIES).filter(|entry| entry.failed()) {
        snapshots.extend(load_snapshots(&trace, std::slice::from_ref(entry), notes));
    }
    let parts: Vec<String> = parts.into_iter().map(address).collect();
    Some(ReadAttempt { trace, folder: format!("{}/", parts.join("/")), snapshots })
}

/// The counts, a bar of them, and when and where the suite ran.
fn summary(suite: &Suite) -> Markup {
    let count = |verdict| suite.runs.iter().filter(|run| run.verdict == verdict).count();
    let counts = Verdict::ALL.map(|verdict| (verdict, count(verdict)));
    let present = || counts.iter().filter(|(_, count)| *count > 0);
    html! {
        div.counts role="group" aria-label="Which runs are shown" {
            button.all type="button" aria-pressed="true" data-show="all" { "All " b { (suite.runs.len()) } }
            @for (verdict, count) in present() {
                button class=(verdict.name()) type="button" aria-pressed="false" data-show=(verdict.name()) {
                    span.sign aria-hidden="true" { (verdict.sign()) } " " (verdict.name()) " " b { (count) }
                }
            }
        }
        div.share aria-hidden="true" {
            @for (verdict, count) in present() { i class=(verdict.name()) style={ "flex-grow:" (count) } {} }
        }
        dl.facts {
            @if !suite.phones.is_empty() {
                div { dt { "Phones" } dd { (sanitize_line(&suite.phones.join(", "), 300)) } }
            }
            div { dt { "Time" } dd { (time(suite.duration_ms)) } }
            @if !suite.started.is_empty() { div { dt { "Started" } dd { (sanitize_line(&to_the_second(&suite.started), 40)) } } }
        }
    }
}

/// A run: its row, and inside it the last attempt, then the earlier ones.
fn case(
    nth: usize,
    run: &SuiteRun,
    attempts: &[ReadAttempt],
    images: &ImageSet,
    opens: bool,
) -> Markup {
    let verdict = run.verdict;
    let open = opens || verdict == Verdict::Failed;
    let id = format!("r{}", nth + 1);
    html! {
        details id=(id) class={ "case " (verdict.name()) } open[open] {
            summary {
                span.sign role="img" aria-label=(verdict.name()) { (verdict.sign()) }
                h2 { bdi dir="auto" { (sanitize_line(&run.name, 300)) } }
                @if verdict == Verdict::Flaky { span.mark { "flaky" } }
                @if run.attempts.len() > 1 { span.quiet { (run.attempts.len()) " attempts" } }
                @if !run.place.is_empty() { span.place { (sanitize_line(&run.place, 200)) } }
                @if verdict != Verdict::Skipped { span.time { (time(run.duration_ms)) } }
            }
            div.inside {
                @if !run.text.is_empty() { pre.text { (sanitize(&run.text, 10_000)) } }
                @if let Some((last, earlier)) = attempts.split_last() {
                    (attempt(last, &id, earlier.len(), images))
                    @for (at, one) in earlier.iter().enumerate().rev() {
                        details.attempt {
                            summary { "Attempt " (at + 1) ": " (result(&one.trace)) }
                            (attempt(one, &id, at, images))
                        }
                    }
                }
                @if let Some(page) = &run.page {
                    @let parts: Vec<String> = page.split('/').map(address).collect();
                    p.more { a href={ "./" (parts.join("/")) } { "The whole report of this run" } }
                }
            }
        }
    }
}

fn attempt(one: &ReadAttempt, id: &str, nth: usize, images: &ImageSet) -> Markup {
    let id = format!("{id}-{}", nth + 1);
    let rows = RunRows {
        trace: &one.trace,
        folder: &one.folder,
        id: &id,
        pictures: images,
        snapshots: &one.snapshots,
    };
    let failed = one.trace.case.as_ref().is_some_and(|case| !case.passed);
    html! {
        @if failed { (rows.result()) } @else { (rows.film()) }
        (rows.steps())
        (rows.rest())
    }
}

/// How an attempt ended, in a line.
fn result(trace: &Trace) -> String {
    match &trace.case {
        Some(case) if case.passed => "passed".into(),
        Some(case) => format!("failed: {}", sanitize_line(&case.reason, 160)),
        None => "interrupted".into(),
    }
}

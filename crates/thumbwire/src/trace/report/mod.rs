//! A run as one HTML page that needs nothing else: no network, no files beside it.
//!
//! Begin with [`page`]. All that a run holds may be a stranger's words, so everything is escaped, bidirectional marks and control
//! characters are written out, counts are bounded, and a content security policy allows the page's own script alone. The
//! page is whole without the script, too: then, and on paper, all moments stand below each other.

mod moment;
mod pictures;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::format::StoredLook;
use super::story::{Moment, Story};
use super::words::{harmless, harmless_line, time};
use crate::mark::Family;
use pictures::Pictures;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most moments on a page.
const MOST_MOMENTS: usize = 1000;

/// A run's looks by their files.
type Looks = BTreeMap<String, StoredLook<'static>>;

/// What a page is made from.
struct Material<'a> {
    story: &'a Story,
    pictures: Pictures,
    looks: Looks,
}

/// The page. `nonce` is what the page's own script is known by: letters and digits that nobody can guess.
///
/// Pictures are made small: a run of 50 rounds with two of 1080x2400 pixels each gives some 3 to 6 MB.
pub fn page(story: &Story, nonce: &str) -> String {
    let mut notes = story.notes.clone();
    let told = &story.moments[..story.moments.len().min(MOST_MOMENTS)];
    if told.len() < story.moments.len() {
        notes.push(format!(
            "Only the first {MOST_MOMENTS} moments of {} are told.",
            story.moments.len()
        ));
    }
    let clean = told.iter().filter_map(|moment| moment.clean.as_deref());
    let annotated = told.iter().filter_map(|moment| moment.annotated.as_deref());
    let names: Vec<&str> = clean.chain(annotated).collect();
    let pictures = Pictures::of(story, &names, &mut notes);
    let looks = looks(story, told, &mut notes);
    let material = Material { story, pictures, looks };
    let sections = moment::sections(&material, told, &mut notes);
    let goal = story.goals.first().map(|goal| harmless(&goal.request, 2000));
    let title = goal.clone().unwrap_or_else(|| "A run without a goal".into());
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
                title { (harmless_line(&title, 80)) " \u{2013} Thumbwire" }
                style { (PreEscaped(STYLE)) (colours()) }
            }
            body {
                svg.store aria-hidden="true" width="0" height="0" {
                    defs {
                        @for (at, picture) in material.pictures.all.iter().enumerate() {
                            image id={ "p" (at) } width=(picture.size.width) height=(picture.size.height)
                                preserveAspectRatio="none" href=(picture.uri) {}
                        }
                    }
                }
                (header(story, &title, &notes))
                (timeline(told))
                main { (sections) }
                (help())
                script nonce=(nonce) { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The looks that can be read; what cannot is noted.
fn looks(story: &Story, told: &[Moment], notes: &mut Vec<String>) -> Looks {
    let mut looks = Looks::new();
    for name in told.iter().filter_map(|moment| moment.look.as_deref()) {
        if looks.contains_key(name) {
            continue;
        }
        let read = story.file(name).and_then(|bytes| {
            serde_json::from_slice(&bytes).map_err(|error| format!("{name} is no look: {error}."))
        });
        match read {
            Ok(look) => {
                looks.insert(name.to_owned(), look);
            }
            Err(note) => notes.push(note),
        }
    }
    looks
}

/// The colours of marks, as they are in marked pictures.
fn colours() -> Markup {
    let rule = |family: Family| {
        let [red, green, blue] = family.colour();
        format!(".box.{}{{--mark:rgb({red} {green} {blue})}}\n", family.name())
    };
    PreEscaped(Family::ALL.into_iter().map(rule).collect())
}

fn header(story: &Story, title: &str, notes: &[String]) -> Markup {
    const MOST_NOTES: usize = 20;
    let rounds = story.moments.iter().filter(|moment| moment.round.is_some()).count();
    let steps: usize = story.moments.iter().map(|moment| moment.steps.len()).sum();
    let spent = &story.spent;
    let tokens = spent.input_tokens.saturating_add(spent.output_tokens);
    let mind = story.goals.last().map(|goal| harmless_line(&goal.mind, 100)).unwrap_or_default();
    html! {
        header {
            div.top {
                h1 { bdi dir="auto" { (title) } }
                div.tools {
                    button #both type="button" title="Clean, marked or both pictures (a)" { "Pictures" }
                    button #theme type="button" title="Light or dark (d)" { "Light / dark" }
                    button #ask type="button" title="Keys (?)" aria-label="Keys" { "?" }
                }
            }
            @if let Some((status, why)) = &story.ended {
                p class={ "result " (class_of(status)) } {
                    b { (harmless_line(status, 20)) } " " bdi dir="auto" { (harmless(why, 2000)) }
                }
            }
            dl.facts {
                @if !mind.is_empty() { div { dt { "Mind" } dd { (mind) } } }
                @if !story.phone.is_empty() { div { dt { "Phone" } dd { (harmless_line(&story.phone, 100)) } } }
                @if rounds > 0 { div { dt { "Rounds" } dd { (rounds) } } }
                div { dt { "Steps" } dd { (steps) } }
                div { dt { "Time" } dd { (time(story.took_ms)) } }
                @if spent.calls > 0 {
                    div { dt { "Tokens" } dd { (grouped(tokens)) } }
                    div { dt { "Money" } dd { (money(spent.dollars)) } }
                }
                div { dt { "Started" } dd { (harmless_line(&story.started, 40)) } }
                div { dt { "Recorded by" } dd { (harmless_line(&story.program, 60)) } }
            }
            @if !notes.is_empty() {
                ul.notes {
                    @for note in notes.iter().take(MOST_NOTES) { li { (harmless_line(note, 300)) } }
                    @if notes.len() > MOST_NOTES { li { (notes.len() - MOST_NOTES) " notes more." } }
                }
            }
        }
    }
}

/// How a status is coloured.
fn class_of(status: &str) -> &'static str {
    match status {
        "FINISH" => "good",
        "FAIL" => "bad",
        _ => "open",
    }
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut told = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            told.push('\u{202f}');
        }
        told.push(digit);
    }
    told
}

fn money(dollars: Option<f64>) -> String {
    dollars.map_or_else(|| "no price known".into(), |dollars| format!("${dollars:.4}"))
}

/// A bar for each moment, as wide as it took long, of its phases where it tells them.
fn timeline(told: &[Moment]) -> Markup {
    let longest = told.iter().map(Moment::took_ms).max().unwrap_or_default().max(1);
    // Nothing becomes too narrow to be clicked.
    let share = |ms: u64| (ms.saturating_mul(1000) / longest).max(60);
    let names = phases(told);
    html! {
        nav.timeline aria-label="Timeline" {
            ol {
                @for (at, moment) in told.iter().enumerate() {
                    @let name = name_of(at, moment);
                    li style={ "flex-grow:" (share(moment.took_ms())) } {
                        a href={ "#m" (at + 1) } .failed[moment.failed()]
                            title={ (name) ", " (time(moment.took_ms())) } {
                            span.bars aria-hidden="true" {
                                @for (phase, ms) in timings(moment) {
                                    @let nth = names.iter().position(|name| *name == phase).unwrap_or_default();
                                    i class={ "phase" (nth % 5) } style={ "flex-grow:" (ms.max(1)) } {}
                                }
                            }
                            span.nth { @if moment.failed() { "!" } (at + 1) }
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

/// What a moment is called.
fn name_of(at: usize, moment: &Moment) -> String {
    match (&moment.round, moment.steps.first()) {
        (Some(round), _) => format!("Round {}", round.round),
        (None, Some(step)) => format!("Step {}", step.step),
        (None, None) => format!("Moment {}", at + 1),
    }
}

/// `DATA_COLLECTION` as `data collection`.
fn phase_name(name: &str) -> String {
    harmless_line(&name.replace('_', " ").to_lowercase(), 40)
}

/// How long each phase of a moment took, in milliseconds.
fn timings(moment: &Moment) -> Vec<(&str, u64)> {
    const MOST_PHASES: usize = 12;
    let Some(round) = &moment.round else { return Vec::new() };
    let timed = round.timings.iter().take(MOST_PHASES);
    let ms = |value: &serde_json::Value| value.as_f64().map(|ms| ms.max(0.0) as u64);
    timed.filter_map(|(name, value)| Some((name.as_str(), ms(value)?))).collect()
}

/// The phases' names, in the order in which they first come.
fn phases(told: &[Moment]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in told.iter().flat_map(timings) {
        if !names.contains(&name) && names.len() < 5 {
            names.push(name);
        }
    }
    names
}

fn help() -> Markup {
    const KEYS: [(&str, &str); 8] = [
        ("\u{2192} or j", "next"),
        ("\u{2190} or k", "back"),
        ("Home, End", "first, last"),
        ("a", "clean, marked or both pictures"),
        ("t", "the tree"),
        ("p", "prompt and reply"),
        ("d", "light or dark"),
        ("?", "these keys"),
    ];
    html! {
        dialog #help aria-label="Keys" {
            h2 { "Keys" }
            dl { @for (key, what) in KEYS { dt { kbd { (key) } } dd { (what) } } }
            form method="dialog" { button { "Close" } }
        }
    }
}

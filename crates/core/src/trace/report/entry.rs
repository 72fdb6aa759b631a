//! One entry on the page: what the policy saw and thought, what was done, and the result.

use maud::{Markup, html};
use serde_json::Value;

use super::snapshot::{Changes, boxes, rows};
use super::{ReportData, class_of, grouped, money, name_of, phase_name, timings};
use crate::trace::format::{ActionResult, AgentStep, CallRecord};
use crate::trace::reader::TraceEntry;
use crate::trace::text::{action_text, outcome_text, sanitize, sanitize_line, time};

/// The maximum length of a thought, message or feedback, in characters.
const MAX_LENGTH: usize = 4_000;

/// The maximum length of a part of a prompt, or of a reply.
const MAX_PROMPT: usize = 60_000;

/// The maximum number of items in a list.
const MAX_COUNT: usize = 100;

/// All entries.
pub(super) fn sections(
    data: &ReportData<'_>,
    entries: &[TraceEntry],
    notes: &mut Vec<String>,
) -> Markup {
    let mut before: Option<&str> = None;
    let mut all = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let snapshot = entry.snapshot.as_deref().filter(|name| data.snapshots.contains_key(*name));
        let changes = snapshot.zip(before).filter(|(now, then)| now != then);
        let changes = changes
            .map(|(now, then)| Changes::between(&data.snapshots[then], &data.snapshots[now]));
        all.push(section(data, at, entry, changes.as_ref(), notes));
        before = snapshot.or(before);
    }
    html! { @for section in &all { (section) } }
}

fn section(
    data: &ReportData<'_>,
    at: usize,
    entry: &TraceEntry,
    changes: Option<&Changes>,
    notes: &mut Vec<String>,
) -> Markup {
    let snapshot = entry.snapshot.as_ref().and_then(|name| data.snapshots.get(name));
    let mut file = |name: &Option<String>| {
        let bytes = data.trace.file(name.as_deref()?).map_err(|note| notes.push(note)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let step = entry.step.as_ref();
    let prompt = step.and_then(|step| file(&step.prompt));
    let response = step.and_then(|step| file(&step.response));
    html! {
        section.moment id={ "m" (at + 1) } tabindex="-1" .failed[entry.failed()] {
            h2 {
                (name_of(at, entry))
                @if let Some(app) = step.and_then(|step| step.app.as_ref()) {
                    span.app { (sanitize_line(app, 120)) }
                }
                span.when { "at " (time(entry.at_ms())) ", took " (time(entry.duration_ms())) }
            }
            (pictures(data, entry))
            div.texts {
                @if let Some(step) = step { (thought(step)) }
                (steps(entry))
                @if let Some(changes) = changes { h3 { "Changes" } (changes.markup()) }
                @if let Some(snapshot) = snapshot {
                    details.look { summary { "Tree, " (snapshot.nodes.len()) " nodes" } (rows(snapshot)) }
                }
                @if let Some(prompt) = &prompt {
                    details.prompt { summary { "Prompt" } (messages(prompt)) }
                }
                @if let Some(response) = &response {
                    details.prompt { summary { "Model reply" } pre { (sanitize(response, MAX_PROMPT)) } }
                }
                @if let Some(step) = step { (costs(entry, step)) }
            }
        }
    }
}

/// The screenshot with the touches, and the annotated one.
fn pictures(data: &ReportData<'_>, entry: &TraceEntry) -> Markup {
    let clean = data.pictures.find(entry.screenshot.as_deref());
    let annotated = data.pictures.find(entry.annotated.as_deref());
    let snapshot = entry.snapshot.as_ref().and_then(|name| data.snapshots.get(name));
    let name = entry.screenshot.as_deref().unwrap_or_default();
    html! {
        div.pictures {
            @if let Some(at) = clean {
                @let size = data.pictures.all[at].size;
                @let unit = size.width.max(size.height) / 48;
                @let view = format!("0 0 {} {}", size.width, size.height);
                figure.clean {
                    svg role="img" aria-label="Screenshot" viewBox=(view) {
                        use href={ "#p" (at) } {}
                        rect.lit width="0" height="0" {}
                        @for touch in entry.touches.iter().take(MAX_COUNT) { (finger(touch, unit)) }
                    }
                    figcaption { (sanitize_line(name, 80)) }
                }
                @if let Some(marked) = annotated {
                    figure.marked {
                        svg role="img" aria-label="Annotated screenshot" viewBox=(view) {
                            use href={ "#p" (marked) } {}
                            rect.lit width="0" height="0" {}
                        }
                        figcaption { (sanitize_line(entry.annotated.as_deref().unwrap_or_default(), 80)) }
                    }
                } @else if let Some(snapshot) = snapshot {
                    figure.marked {
                        svg role="img" aria-label="Screenshot with element boxes" viewBox=(view) {
                            use href={ "#p" (at) } {}
                            (boxes(snapshot, unit / 2 + 1))
                            rect.lit width="0" height="0" {}
                        }
                        figcaption { "with elements" }
                    }
                }
            } @else { p.quiet { "No screenshot." } }
        }
    }
}

/// A touch: where it started, and its path.
pub(super) fn finger(touch: &[[i32; 2]], unit: i32) -> Markup {
    let radius = unit.max(4);
    html! {
        @if let (Some([x, y]), Some([to_x, to_y])) = (touch.first(), touch.last()) {
            g.touch stroke-width=((radius / 4).max(2)) {
                @if touch.len() > 1 {
                    line x1=(x) y1=(y) x2=(to_x) y2=(to_y) {}
                    circle.end cx=(to_x) cy=(to_y) r=(radius / 2) {}
                }
                circle cx=(x) cy=(y) r=(radius) {}
                title { "Touch at " (x) ", " (y) @if touch.len() > 1 { " to " (to_x) ", " (to_y) } }
            }
        }
    }
}

pub(super) fn thought(step: &AgentStep) -> Markup {
    let list = |title: &str, class: &str, lines: &[String]| {
        html! {
            @if !lines.is_empty() {
                h3 { (title) }
                ul class=(class) {
                    @for line in lines.iter().take(MAX_COUNT) { li { bdi dir="auto" { (sanitize(line, MAX_LENGTH)) } } }
                }
            }
        }
    };
    html! {
        (list("Feedback on the previous step", "seen", &step.feedback))
        @if !step.thought.is_empty() {
            h3 { "Thought" }
            blockquote dir="auto" { (sanitize(&step.thought, MAX_LENGTH)) }
        }
        @if !step.comment.is_empty() { p.comment dir="auto" { (sanitize(&step.comment, MAX_LENGTH)) } }
        @if !step.actions.is_empty() {
            h3 { "Calls" }
            ul.actions { @for action in step.actions.iter().take(MAX_COUNT) { (render_call(action)) } }
        }
        (list("Failures", "failures", &step.failures))
        (list("Plan", "plan", &step.plan))
        (list("Notes to remember", "remember", &step.remember))
        p class={ "status " (class_of(&step.status)) } {
            b { (sanitize_line(&step.status, 20)) }
            @if !step.result.is_empty() { " " bdi dir="auto" { (sanitize(&step.result, MAX_LENGTH)) } }
        }
        @if let Some(judgement) = &step.judgement {
            p.judged {
                b { @if judgement.reached { "Judged as reached: " } @else { "Judged as not reached: " } }
                bdi dir="auto" { (sanitize(&judgement.reason, MAX_LENGTH)) }
            }
        }
    }
}

fn render_call(action: &CallRecord) -> Markup {
    let arguments = Value::Object(action.arguments.clone()).to_string();
    html! {
        li class=(if action.success { "did" } else { "undone" }) {
            span.sign { @if action.success { "\u{2713}" } @else { "\u{2717}" } }
            code { (sanitize_line(&action.function, 80)) " " (sanitize_line(&arguments, 1000)) }
            @if !action.message.is_empty() { bdi.message dir="auto" { (sanitize(&action.message, MAX_LENGTH)) } }
        }
    }
}

/// The actions of an entry, with their results.
pub(super) fn action_table(entry: &TraceEntry) -> Markup {
    html! {
        table {
            thead { tr { th { "No." } th { "Action" } th { "Result" } th { "Duration" } } }
            tbody {
                @for action in entry.actions.iter().take(MAX_COUNT) {
                    tr .failed[matches!(action.end, ActionResult::Failure { .. })] {
                        td { (action.action_id) }
                        td { bdi { (sanitize_line(&action_text(&action.action), 300)) } }
                        td { bdi { (sanitize_line(&outcome_text(&action.end), 600)) } }
                        td { (time(action.duration_ms)) }
                    }
                }
            }
        }
    }
}

fn steps(entry: &TraceEntry) -> Markup {
    html! {
        @if entry.step.is_some() && !entry.actions.is_empty() {
            details.steps { summary { (entry.actions.len()) " actions" } (action_table(entry)) }
        } @else if !entry.actions.is_empty() { (action_table(entry)) }
    }
}

/// The prompt as its messages and their parts. Anything else is shown as it is.
fn messages(prompt: &str) -> Markup {
    let Ok(Value::Array(messages)) = serde_json::from_str::<Value>(prompt) else {
        return html! { pre { (sanitize(prompt, MAX_PROMPT)) } };
    };
    let part = |part: &Value| {
        let text = part["text"].as_str();
        let picture = part["image_url"]["url"].as_str();
        html! {
            @if let Some(text) = text { pre dir="auto" { (sanitize(text, MAX_PROMPT)) } }
            @else if let Some(picture) = picture { p.quiet { "Image: " (sanitize_line(picture, 80)) } }
            @else { pre { (sanitize(&part.to_string(), 1000)) } }
        }
    };
    html! {
        @for message in messages.iter().take(MAX_COUNT) {
            h4 { (sanitize_line(message["role"].as_str().unwrap_or("?"), 20)) }
            @match &message["content"] {
                Value::Array(parts) => { @for one in parts.iter().take(MAX_COUNT) { (part(one)) } }
                Value::String(text) => { pre dir="auto" { (sanitize(text, MAX_PROMPT)) } }
                other => { pre { (sanitize(&other.to_string(), 1000)) } }
            }
        }
    }
}

fn costs(entry: &TraceEntry, step: &AgentStep) -> Markup {
    let usage = &step.usage;
    html! {
        p.costs {
            @for (name, ms) in timings(entry) { span { (phase_name(name)) " " (time(ms)) } }
            @if usage.calls > 0 {
                span { (grouped(usage.input_tokens)) " input tokens" }
                @if usage.cached_tokens > 0 { span { (grouped(usage.cached_tokens)) " cached" } }
                span { (grouped(usage.output_tokens)) " output tokens" }
                @if usage.retries > 0 { span { (usage.retries) " retries" } }
                span { (money(usage.dollars)) }
            }
        }
    }
}

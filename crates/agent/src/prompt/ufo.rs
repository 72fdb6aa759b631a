//! The blocks of the UFO MobileAgent strategy ("Multimodal Content Structure"): apps, controls and
//! past actions as rows of JSON, in its order, then ours.

use thumbwire_base::truncate;

use super::PromptStyle;
use super::user_message::{fitting, last, news, notes, rows, size, texts};
use crate::policy::observation::{CompletedCall, ControlRow, Observation};
use crate::prompt::coordinates::CoordinateSpace;
use crate::prompt::json_line::{self, to_json_line};
use crate::prompt::knowledge::Document;

/// Byte limits for the lists of controls and apps.
const MAX_OF_CONTROLS: usize = 24_000;
const MAX_OF_APPS: usize = 8_000;
/// The longest name of a control, sentence and string argument, in characters.
const MAX_NAME: usize = 160;
const MAX_SENTENCE: usize = 600;
const MAX_ARGUMENT: usize = 400;

pub(super) fn blocks(
    observation: &Observation,
    style: &PromptStyle,
    pictured: bool,
    documents: &[Document<'_>],
) -> Vec<String> {
    let apps: Vec<String> = observation.installed_apps.iter().map(to_json_line).collect();
    let done: Vec<String> = observation
        .last_success_actions
        .iter()
        .map(|done| to_json_line(&truncated_call(done, style.space)))
        .collect();
    let mut blocks = vec![
        format!("[Previous Plan]: {}", texts(&observation.previous_plan)),
        format!("[User Request]: {}", json_line::request(&observation.request)),
        format!("[Installed Apps]: {}", first(&apps, MAX_OF_APPS, "launch the others by package")),
        controls(&observation.current_controls, &style.space),
        format!("[Last Success Actions]: {}", last(&done)),
    ];
    blocks.extend(size(style.space.shown()));
    notes(observation, documents, &mut blocks);
    news(observation, pictured, &mut blocks);
    blocks
}

/// The rows of the controls. Of too many, those in the middle are left out: bars and dialogs come
/// first or last.
fn controls(rows: &[ControlRow], space: &CoordinateSpace) -> String {
    let row = |row: &ControlRow| {
        let [left, top, right, bottom] = row.rect;
        let rect = space.rect(thumbwire_device::Rect { left, top, right, bottom });
        to_json_line(&ControlRow {
            name: truncate(&row.name, MAX_NAME),
            rect: [rect.left, rect.top, rect.right, rect.bottom],
            ..row.clone()
        })
    };
    let all: Vec<String> = rows.iter().map(row).collect();
    let list = match fitting(all.iter(), MAX_OF_CONTROLS) {
        kept if kept == all.len() => super::user_message::rows(&all),
        _ => {
            let head = fitting(all.iter(), MAX_OF_CONTROLS / 2);
            let tail = fitting(all[head..].iter().rev(), MAX_OF_CONTROLS / 2);
            let left = all.len() - head - tail;
            let kept: Vec<String> =
                all[..head].iter().chain(&all[all.len() - tail..]).cloned().collect();
            let (from, to) = (head + 1, head + left);
            format!(
                "{} ({left} left out, ids {from} to {to}; scroll so that they come first or last)",
                super::user_message::rows(&kept)
            )
        }
    };
    format!("[Current Screen Controls]: {list}")
}

/// A call with long arguments truncated.
fn truncated_call(done: &CompletedCall, space: CoordinateSpace) -> CompletedCall {
    let mut done = CompletedCall { call: space.to_model(&done.call), ..done.clone() };
    for value in done.call.arguments.values_mut() {
        if let Some(text) = value.as_str() {
            *value = truncate(text, MAX_ARGUMENT).into();
        }
    }
    done.message = truncate(&done.message, MAX_SENTENCE);
    done
}

/// The first rows that fit into `most` bytes, and how many are missing.
fn first(all: &[String], max: usize, otherwise: &str) -> String {
    let kept = fitting(all.iter(), max);
    match all.len() - kept {
        0 => rows(all),
        left => format!("{} ({left} more omitted; {otherwise})", rows(&all[..kept])),
    }
}

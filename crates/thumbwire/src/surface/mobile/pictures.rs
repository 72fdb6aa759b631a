//! The tools that look: the tree, pictures and their shape, and what is said beside one that shows nothing.

use serde::Deserialize;
use thumbwire_device::{Blank, Format, Screenshot};

use super::{Nothing, odd, xml};
use crate::action::{Action, Outcome, Shape};
use crate::surface::{Content, Reply};

/// Seed 004: a screenshot has at most 2 MB.
const MOST_BYTES: usize = 2_000_000;

pub(super) fn look(_: &Nothing) -> Result<Action, String> {
    Ok(Action::LOOK)
}

pub(super) fn tree(_: &Nothing, outcome: Outcome) -> Reply {
    let Outcome::Look(look) = outcome else { return odd(&outcome) };
    Reply::text(xml(&look))
}

pub(super) fn take(_: &Nothing) -> Result<Action, String> {
    Ok(Action::Screenshot(shape(Format::Png)))
}

#[derive(Deserialize)]
pub(super) struct Snapshot {
    format: Option<String>,
}

pub(super) fn snapshot(snapshot: &Snapshot) -> Result<Action, String> {
    let format = match &snapshot.format {
        None => Format::Png,
        Some(name) => {
            Format::from_name(name).ok_or_else(|| format!("no format is called {name:?}"))?
        }
    };
    Ok(Action::Snapshot(shape(format)))
}

fn shape(format: Format) -> Shape {
    Shape { format: Some(format), most_bytes: Some(MOST_BYTES) }
}

/// The reply of `mobile_take_screenshot`.
pub(super) fn picture(_: &Nothing, outcome: Outcome) -> Reply {
    let Outcome::Picture(Screenshot { image, blank, .. }) = outcome else { return odd(&outcome) };
    let words = blank.map(|blank| {
        why_black(&blank, "read it with mobile_get_accessibility_tree; its elements can be tapped")
    });
    let words = words.map(Content::Text);
    Reply::parts([Content::Picture(image)].into_iter().chain(words).collect())
}

/// The reply of `mobile_snapshot`: the tree first, since it says what the picture shows.
pub(super) fn tree_and_picture(_: &Snapshot, outcome: Outcome) -> Reply {
    let Outcome::Snapshot(Screenshot { image, blank, .. }, look) = outcome else {
        return odd(&outcome);
    };
    let words = blank.map(|blank| why_black(&blank, "go by the tree; its elements can be tapped"));
    let parts = [Content::Text(xml(&look)), Content::Picture(image)];
    Reply::parts(parts.into_iter().chain(words.map(Content::Text)).collect())
}

/// Why a picture is black, and the next move: `by_tree` where the tree tells what the picture does not.
fn why_black(blank: &Blank, by_tree: &str) -> String {
    match blank {
        Blank::Secure { window } => format!(
            "The picture is black: the window {window} is marked secure, and the phone keeps it out of every picture.\nNext: {by_tree}"
        ),
        Blank::ScreenOff => {
            "The picture is black: the screen is off.\nNext: press the key power, then look again"
                .into()
        }
        Blank::Unexplained => {
            format!("The picture is black, and the phone does not say why.\nNext: {by_tree}")
        }
    }
}

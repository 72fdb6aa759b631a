//! Tools that read the screen: tree and screenshots, and the note beside a black screenshot.

use serde::Deserialize;
use thumbwire_device::{BlackReason, Format, Screenshot};

use super::{NoArgs, tree_xml, unexpected_outcome};
use crate::action::{Action, Outcome, ScreenshotOptions};
use crate::toolset::{Content, Reply};

/// The maximum size of a screenshot in the Mobile MCP server specification: 2 MB.
const MOST_BYTES: usize = 2_000_000;

pub(super) fn parse_get_accessibility_tree(_: &NoArgs) -> Result<Action, String> {
    Ok(Action::LOOK)
}

pub(super) fn render_get_accessibility_tree(_: &NoArgs, outcome: Outcome) -> Reply {
    let Outcome::Snapshot(look) = outcome else { return unexpected_outcome(&outcome) };
    Reply::text(tree_xml::xml(&look))
}

pub(super) fn parse_take_screenshot(_: &NoArgs) -> Result<Action, String> {
    Ok(Action::Screenshot(shape(Format::Png)))
}

#[derive(Deserialize)]
pub(super) struct TakeScreenshotArgs {
    format: Option<String>,
}

pub(super) fn parse_snapshot(snapshot: &TakeScreenshotArgs) -> Result<Action, String> {
    let format = match &snapshot.format {
        None => Format::Png,
        Some(name) => {
            Format::from_name(name).ok_or_else(|| format!("unknown image format {name:?}"))?
        }
    };
    Ok(Action::ScreenshotAndSnapshot(shape(format)))
}

fn shape(format: Format) -> ScreenshotOptions {
    ScreenshotOptions { format: Some(format), max_bytes: Some(MOST_BYTES) }
}

/// The reply of `mobile_take_screenshot`.
pub(super) fn render_take_screenshot(_: &NoArgs, outcome: Outcome) -> Reply {
    let Outcome::Screenshot(Screenshot { image, blank, .. }) = outcome else {
        return unexpected_outcome(&outcome);
    };
    let text = blank.map(|blank| {
        black_reason(&blank, "use mobile_get_accessibility_tree; its elements can still be tapped")
    });
    let text = text.map(Content::Text);
    Reply::parts([Content::Image(image)].into_iter().chain(text).collect())
}

/// The reply of `mobile_snapshot`: the tree first, since it explains the screenshot.
pub(super) fn render_snapshot(_: &TakeScreenshotArgs, outcome: Outcome) -> Reply {
    let Outcome::ScreenshotAndSnapshot(Screenshot { image, blank, .. }, look) = outcome else {
        return unexpected_outcome(&outcome);
    };
    let text =
        blank.map(|blank| black_reason(&blank, "use the tree; its elements can still be tapped"));
    let parts = [Content::Text(tree_xml::xml(&look)), Content::Image(image)];
    Reply::parts(parts.into_iter().chain(text.map(Content::Text)).collect())
}

/// Why a screenshot is black, and the next move: `by_tree` if the tree still shows the content.
fn black_reason(blank: &BlackReason, by_tree: &str) -> String {
    match blank {
        BlackReason::Secure { window } => format!(
            "The screenshot is black: the window {window} is marked secure, so the phone keeps it out of screenshots.\nNext: {by_tree}"
        ),
        BlackReason::ScreenOff => {
            "The screenshot is black: the screen is off.\nNext: wake the phone with mobile_unlock, then look again"
                .into()
        }
        BlackReason::Unexplained => {
            format!("The screenshot is black, and the phone does not say why.\nNext: {by_tree}")
        }
    }
}

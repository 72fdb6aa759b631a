//! Tools that read the screen: tree and screenshots, and the note beside a black screenshot.

use serde::Deserialize;
use thumbwire_base::visible::name;
use thumbwire_device::{BlackReason, Format, FormatPreference, Screenshot};

use super::{NoArgs, TreeForm, tree_xml, unexpected_outcome};
use crate::action::{Action, Observation, Observe, Outcome, ScreenshotOptions};
use crate::snapshot::{OutlineDetail, Snapshot, outline};
use crate::toolset::observation::unchanged;
use crate::toolset::{Content, Reply};

/// The maximum size of a screenshot in the Mobile MCP server specification: 2 MB.
const MOST_BYTES: usize = 2_000_000;

pub(super) fn parse_get_accessibility_tree(_: &NoArgs) -> Result<Action, String> {
    Ok(Action::LOOK)
}

/// The same for a client that is told what changes: one that has seen this screen is told so.
pub(super) fn parse_look_again(_: &NoArgs) -> Result<Action, String> {
    Ok(Action::Observe(Observe::Now))
}

pub(super) fn render_accessibility_list(_: &NoArgs, outcome: Outcome) -> Reply {
    let look = match outcome {
        Outcome::Observed(seen) if seen.unchanged => return Reply::text(unchanged(&seen)),
        Outcome::Observed(Observation { now, .. }) | Outcome::Snapshot(now) => now,
        outcome => return unexpected_outcome(&outcome),
    };
    Reply::text(outline(&look, OutlineDetail::Compact))
}

pub(super) fn render_accessibility_xml(_: &NoArgs, outcome: Outcome) -> Reply {
    let Outcome::Snapshot(look) = outcome else { return unexpected_outcome(&outcome) };
    Reply::text(tree_xml::xml(&look))
}

/// The specification's tool has no arguments: the operator chooses the format.
pub(super) fn take_screenshot(format: FormatPreference) -> Result<Action, String> {
    Ok(Action::Screenshot(shape(format)))
}

#[derive(Deserialize)]
pub(super) struct SnapshotArgs {
    format: Option<String>,
    detail: Option<SnapshotDetail>,
}

/// What `mobile_snapshot` tells of each element.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SnapshotDetail {
    Compact,
    Full,
    Xml,
}

/// `format` is for a call that asks for none.
pub(super) fn parse_snapshot(
    snapshot: &SnapshotArgs,
    format: FormatPreference,
) -> Result<Action, String> {
    let format = match &snapshot.format {
        None => format,
        Some(name) => FormatPreference::Only(
            Format::from_name(name).ok_or_else(|| format!("unknown image format {name:?}"))?,
        ),
    };
    Ok(Action::ScreenshotAndSnapshot(shape(format)))
}

fn shape(format: FormatPreference) -> ScreenshotOptions {
    ScreenshotOptions { format, max_bytes: Some(MOST_BYTES), fresh: false }
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

pub(super) fn render_snapshot_list(asked: &SnapshotArgs, outcome: Outcome) -> Reply {
    render_snapshot(TreeForm::List, asked, outcome)
}

pub(super) fn render_snapshot_xml(asked: &SnapshotArgs, outcome: Outcome) -> Reply {
    render_snapshot(TreeForm::Xml, asked, outcome)
}

/// The reply of `mobile_snapshot`: the tree first, since it explains the screenshot.
fn render_snapshot(form: TreeForm, asked: &SnapshotArgs, outcome: Outcome) -> Reply {
    let Outcome::ScreenshotAndSnapshot(Screenshot { image, blank, .. }, look) = outcome else {
        return unexpected_outcome(&outcome);
    };
    let text =
        blank.map(|blank| black_reason(&blank, "use the tree; its elements can still be tapped"));
    let parts = [Content::Text(tree(form, asked.detail, &look)), Content::Image(image)];
    Reply::parts(parts.into_iter().chain(text.map(Content::Text)).collect())
}

fn tree(form: TreeForm, detail: Option<SnapshotDetail>, look: &Snapshot) -> String {
    match (detail, form) {
        (Some(SnapshotDetail::Xml), _) | (None, TreeForm::Xml) => tree_xml::xml(look),
        (Some(SnapshotDetail::Full), _) => outline(look, OutlineDetail::Full),
        (Some(SnapshotDetail::Compact), _) | (None, TreeForm::List) => {
            outline(look, OutlineDetail::Compact)
        }
    }
}

/// Why a screenshot is black, and the next move: `by_tree` if the tree still shows the content.
fn black_reason(blank: &BlackReason, by_tree: &str) -> String {
    match blank {
        BlackReason::Secure { window } => format!(
            "The screenshot is black: the window {} is marked secure, so the phone keeps it out of screenshots.\nNext: {by_tree}",
            name(window)
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

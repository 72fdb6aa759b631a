//! Tools that read the screen: tree and screenshots, and the note beside a black screenshot.

use serde::Deserialize;
use std::sync::Arc;
use thumbwire_base::visible::{name, visible};
use thumbwire_device::{BlackReason, Format, FormatPreference, Screenshot};

use super::{NoArgs, TreeForm, tree_xml};
use crate::action::{
    Observation, Observe, ScreenshotAndSnapshot, ScreenshotOptions, SnapshotOptions, request,
};
use crate::snapshot::{OutlineDetail, Snapshot, outline};
use crate::toolset::observation::screen_text;
use crate::toolset::{Content, ObserveMode, Reply};

/// The maximum size of a screenshot in the Mobile MCP server specification: 2 MB.
const MAX_BYTES: usize = 2_000_000;

pub(super) fn parse_get_accessibility_tree(_: &NoArgs) -> Result<request::Snapshot, String> {
    Ok(request::Snapshot(SnapshotOptions::default()))
}

#[derive(Deserialize)]
pub(super) struct LookArgs {
    /// Whether only what changed since the client's last look is told.
    #[serde(default)]
    changes: bool,
}

/// For a client that gets changes in the replies to actions, which this look is a base of.
pub(super) fn parse_look(_: &LookArgs) -> Result<request::Observe, String> {
    Ok(request::Observe(Observe::Now))
}

pub(super) fn render_look(asked: &LookArgs, seen: Observation) -> Reply {
    match asked.changes {
        true => Reply::text(screen_text(&seen, ObserveMode::Diff, None)),
        false => Reply::text(outline(&seen.now, OutlineDetail::Compact)),
    }
}

pub(super) fn render_accessibility_list(_: &NoArgs, snapshot: Arc<Snapshot>) -> Reply {
    Reply::text(outline(&snapshot, OutlineDetail::Compact))
}

pub(super) fn render_accessibility_xml(_: &NoArgs, look: Arc<Snapshot>) -> Reply {
    Reply::text(tree_xml::xml(&look))
}

pub(super) fn render_platform_xml(_: &NoArgs, look: Arc<Snapshot>) -> Reply {
    Reply::text(tree_xml::platform_xml(&look))
}

/// The specification's tool has no arguments: the operator chooses the format.
pub(super) fn take_screenshot(format: FormatPreference) -> Result<request::Screenshot, String> {
    Ok(request::Screenshot(shape(format)))
}

#[derive(Deserialize)]
pub(super) struct SnapshotArgs {
    format: Option<String>,
    detail: Option<SnapshotDetail>,
}

/// What `mobile_snapshot` shows of each element.
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
) -> Result<request::ScreenshotAndSnapshot, String> {
    let format = match &snapshot.format {
        None => format,
        Some(name) => FormatPreference::Only(
            Format::from_name(name).ok_or_else(|| format!("unknown image format {name:?}"))?,
        ),
    };
    Ok(request::ScreenshotAndSnapshot(shape(format)))
}

fn shape(format: FormatPreference) -> ScreenshotOptions {
    ScreenshotOptions { format, max_bytes: Some(MAX_BYTES), fresh: false }
}

/// The reply of `mobile_take_screenshot`.
pub(super) fn render_take_screenshot(_: &NoArgs, result: Screenshot) -> Reply {
    let Screenshot { image, blank, .. } = result;
    let text = blank.map(|blank| {
        black_reason(&blank, "use mobile_get_accessibility_tree; its elements can still be tapped")
    });
    let text = text.map(Content::Text);
    Reply::parts([Content::Image(image)].into_iter().chain(text).collect())
}

pub(super) fn render_snapshot_list(asked: &SnapshotArgs, result: ScreenshotAndSnapshot) -> Reply {
    render_snapshot(TreeForm::List, asked, result)
}

pub(super) fn render_snapshot_xml(asked: &SnapshotArgs, result: ScreenshotAndSnapshot) -> Reply {
    render_snapshot(TreeForm::Xml, asked, result)
}

pub(super) fn render_snapshot_platform_xml(
    asked: &SnapshotArgs,
    result: ScreenshotAndSnapshot,
) -> Reply {
    render_snapshot(TreeForm::Platform, asked, result)
}

/// The reply of `mobile_snapshot`: the tree first, since it explains the screenshot.
fn render_snapshot(form: TreeForm, asked: &SnapshotArgs, result: ScreenshotAndSnapshot) -> Reply {
    let ScreenshotAndSnapshot { screenshot: Screenshot { image, blank, .. }, snapshot: look } =
        result;
    let text =
        blank.map(|blank| black_reason(&blank, "use the tree; its elements can still be tapped"));
    let list = match &look.tree.unread {
        Some(reason) => format!(
            "No list of elements: {}\nNext: tap by the picture's coordinates, or look again later",
            visible(reason)
        ),
        None => tree(form, asked.detail, &look),
    };
    let parts = [Content::Text(list), Content::Image(image)];
    Reply::parts(parts.into_iter().chain(text.map(Content::Text)).collect())
}

fn tree(form: TreeForm, detail: Option<SnapshotDetail>, look: &Snapshot) -> String {
    match (detail, form) {
        (Some(SnapshotDetail::Xml), _) | (None, TreeForm::Xml) => tree_xml::xml(look),
        (None, TreeForm::Platform) => tree_xml::platform_xml(look),
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

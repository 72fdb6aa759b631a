//! Converts live values to the types of the trace format.
//!
//! Outcomes with files (screenshots, snapshots) are converted by the [`Recorder`](super::Recorder),
//! which writes them.

use serde_json::Map;
use thumbwire_device::find::Visibility;
use thumbwire_device::{SideEffect, TypingMethod};

use super::format::{ActionResult, StoredAppToolResult, StoredNode, StoredOutcome, StoredSnapshot};
use crate::action::{AppToolReply, AppToolResult, Failure, Readback, TapResult, TypeResult};
use crate::snapshot::Snapshot;

impl From<&TapResult> for StoredOutcome {
    fn from(hit: &TapResult) -> Self {
        Self::Tapped { x: hit.at.x, y: hit.at.y, name: hit.name().to_owned() }
    }
}

impl From<&TypeResult> for StoredOutcome {
    fn from(typed: &TypeResult) -> Self {
        let by = match &typed.by {
            TypingMethod::Keys => "keys".into(),
            TypingMethod::Clipboard => "clipboard".into(),
            TypingMethod::SetText => "set text".into(),
        };
        let (field, shows) = match &typed.field {
            Readback::Same => ("same", None),
            Readback::Corrected => ("repaired", None),
            Readback::Differs { shows } => ("differs", Some(shows.clone())),
            Readback::Hidden => ("hidden", None),
            Readback::NoField => ("no field", None),
        };
        Self::Typed { by, field: field.into(), shows }
    }
}

impl From<&AppToolResult> for StoredOutcome {
    fn from(result: &AppToolResult) -> Self {
        let (success, message, output) = match &result.heard {
            AppToolReply::Answer { success, message, output, .. } => {
                (Some(*success), message.clone(), output.clone())
            }
            AppToolReply::Sent => (None, String::new(), Map::new()),
        };
        Self::AppToolResult(Box::new(StoredAppToolResult { success, message, output }))
    }
}

impl From<&Failure> for ActionResult {
    fn from(failure: &Failure) -> Self {
        Self::Failure {
            reason: failure.cause.to_string(),
            may_have_happened: failure.side_effect == SideEffect::Possible,
        }
    }
}

impl<'a> From<&'a Snapshot> for StoredSnapshot<'a> {
    fn from(snapshot: &'a Snapshot) -> Self {
        let mut nodes: Vec<StoredNode<'_>> = snapshot.tree.nodes.iter().map(stored).collect();
        for (at, node) in nodes.iter_mut().enumerate() {
            node.covered_by = snapshot.covered_by(at);
            if let Visibility::Hidden(reason) = snapshot.showing[at] {
                node.hidden = Some(reason.reason().into());
            }
        }
        for element in &snapshot.refs {
            nodes[element.node].control = Some(element.id.0);
        }
        Self { rotation: snapshot.tree.rotation, nodes }
    }
}

fn stored(node: &thumbwire_device::Node) -> StoredNode<'_> {
    let set = node.flags.named().into_iter().filter(|(_, set)| *set);
    let bounds = node.bounds;
    StoredNode {
        parent: node.parent,
        control: None,
        class: (*node.class).into(),
        package: (*node.package).into(),
        id: (*node.id).into(),
        text: (*node.text).into(),
        hint: (*node.hint).into(),
        description: (*node.description).into(),
        bounds: [bounds.left, bounds.top, bounds.right, bounds.bottom],
        flags: set.map(|(name, _)| name.into()).collect(),
        hidden: None,
        covered_by: None,
    }
}

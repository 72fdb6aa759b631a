//! The helper's op `tree`: the XML of `uiautomator dump` and the reports that go with it, in
//! milliseconds instead of seconds.

use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

use super::{AUTOMATION, Operation, fields, millis};
use crate::android::Android;
use crate::{Error, TreeDetail};

/// A screen is still when nothing has happened on it for this long: Android bundles an app's
/// changes for 100 ms (`ViewConfiguration.getSendRecurringAccessibilityEventsInterval`).
const IDLE: Duration = Duration::from_millis(200);

/// A screen that keeps moving, such as a video, is read after this long.
const MOVING: Duration = Duration::from_secs(1);

/// How long reading a large tree and the reports may take on a slow phone.
const READING: Duration = Duration::from_secs(5);

/// More nodes than a real screen has; the most that the wire allows.
const MAX_NODES: u64 = 20_000;

const TREE: Operation = Operation {
    op: "tree",
    needs: "trees",
    what: "dump the screen",
    limit: MOVING.saturating_add(AUTOMATION).saturating_add(READING),
    acts: false,
    left_to_shell: &["internal", "too_large", "timeout"],
};

/// A tree as the helper gives it.
pub(in crate::android) struct HelperTree {
    /// As `uiautomator dump` writes it.
    pub(in crate::android) xml: Bytes,
    /// What `dumpsys` prints about the power manager, then about the windows.
    pub(in crate::android) reports: Bytes,
}

impl Android {
    /// The screen once it is still. `None` if `uiautomator` has to dump it.
    pub(in crate::android) async fn tree_by_helper(
        &self,
        detail: TreeDetail,
    ) -> Result<Option<HelperTree>, Error> {
        let mut fields = fields(json!({
            "max_nodes": MAX_NODES,
            "reports": [["power"], ["window", "-a"]],
            "idle_ms": millis(IDLE),
            "idle_limit_ms": millis(MOVING),
            "limit_ms": millis(AUTOMATION),
            "deflate": true,
        }));
        if detail == TreeDetail::Compressed {
            fields.insert("compressed".into(), true.into());
        }
        let reply = self.try_helper::<TreeReply>(TREE, fields).await?;
        reply.map(|(reply, body)| reply.tree(body)).transpose()
    }
}

#[derive(Debug, Deserialize)]
struct TreeReply {
    /// How many bytes of the body are the tree; the reports follow.
    tree_bytes: usize,
    /// Whether nodes were left out, because there are too many.
    #[serde(default)]
    truncated: bool,
    /// How many nodes their app did not give.
    #[serde(default)]
    missing: u64,
}

impl TreeReply {
    fn tree(&self, body: Bytes) -> Result<HelperTree, Error> {
        let unreadable = |text| Error::Unreadable { command: TREE.op.into(), text };
        if self.tree_bytes > body.len() {
            let (all, length) = (body.len(), self.tree_bytes);
            return Err(unreadable(format!("{all} bytes with a tree of {length}")));
        }
        if self.truncated {
            return Err(unreadable(format!("the screen has more than {MAX_NODES} nodes")));
        }
        if self.missing > 0 {
            tracing::debug!("the app did not give {} nodes of its screen", self.missing);
        }
        let (xml, reports) = (body.slice(..self.tree_bytes), body.slice(self.tree_bytes..));
        Ok(HelperTree { xml, reports })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn of(value: Value) -> Result<HelperTree, Error> {
        let reply: TreeReply = TREE.read(value.as_object().unwrap().clone())?;
        reply.tree(Bytes::from_static(b"<hierarchy/>report"))
    }

    #[test]
    fn tree_and_reports_are_separated() {
        let tree = of(json!({ "tree_bytes": 12, "missing": 1 })).unwrap();
        assert_eq!((&tree.xml[..], &tree.reports[..]), (&b"<hierarchy/>"[..], &b"report"[..]));
    }

    #[test]
    fn tree_that_is_not_whole_is_refused() {
        for invalid in [
            json!({}),
            json!({ "tree_bytes": 19 }),
            json!({ "tree_bytes": -1 }),
            json!({ "tree_bytes": "12" }),
            json!({ "tree_bytes": 12, "truncated": true }),
        ] {
            assert!(matches!(of(invalid), Err(Error::Unreadable { .. })));
        }
    }
}

//! The helper's op `tree`: the XML of `uiautomator dump` and the reports that go with it, in milliseconds instead of seconds.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::frame::Header;
use super::{AUTOMATION, Operation, fields, millis};
use crate::Error;
use crate::android::Android;
use crate::error::excerpt;

/// A screen is still when nothing has happened on it for this long: Android bundles an app's changes for 100 ms
/// (`ViewConfiguration.getSendRecurringAccessibilityEventsInterval`).
const IDLE: Duration = Duration::from_millis(200);

/// A screen that keeps moving, such as a video, is read after this long.
const MOVING: Duration = Duration::from_secs(1);

/// How long reading a large tree and the reports may take on a slow phone.
const READING: Duration = Duration::from_secs(5);

/// More nodes than a real screen has; the most that the wire allows.
const MOST_NODES: u64 = 20_000;

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
    /// The screen as soon as it is still. `None` if `uiautomator` has to tell.
    pub(in crate::android) async fn tree_by_helper(&self) -> Result<Option<HelperTree>, Error> {
        let fields = fields(json!({
            "max_nodes": MOST_NODES,
            "reports": [["power"], ["window", "-a"]],
            "idle_ms": millis(IDLE),
            "idle_limit_ms": millis(MOVING),
            "limit_ms": millis(AUTOMATION),
            "deflate": true,
        }));
        let Some((output, body)) = self.try_helper(TREE, fields).await? else { return Ok(None) };
        read(&output, body).map(Some)
    }
}

fn read(output: &Header, body: Bytes) -> Result<HelperTree, Error> {
    let length = output.get("tree_bytes").and_then(Value::as_u64);
    let length = length.and_then(|length| usize::try_from(length).ok());
    let Some(length) = length.filter(|&length| length <= body.len()) else {
        let text = excerpt(Value::from(output.clone()).to_string());
        return Err(Error::Unreadable { command: TREE.op.into(), text });
    };
    if output.get("truncated") == Some(&Value::Bool(true)) {
        let text = format!("the screen has more than {MOST_NODES} nodes");
        return Err(Error::Unreadable { command: TREE.op.into(), text });
    }
    if let Some(missing) = output.get("missing") {
        tracing::debug!("the app did not give {missing} nodes of its screen");
    }
    Ok(HelperTree { xml: body.slice(..length), reports: body.slice(length..) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: Value) -> Result<HelperTree, Error> {
        read(value.as_object().unwrap(), Bytes::from_static(b"<hierarchy/>report"))
    }

    #[test]
    fn tree_and_reports_are_separated() {
        let tree = of(json!({ "tree_bytes": 12, "missing": 1 })).unwrap();
        assert_eq!((&tree.xml[..], &tree.reports[..]), (&b"<hierarchy/>"[..], &b"report"[..]));
    }

    #[test]
    fn tree_that_is_not_whole_is_refused() {
        for odd in [
            json!({}),
            json!({ "tree_bytes": 19 }),
            json!({ "tree_bytes": -1 }),
            json!({ "tree_bytes": "12" }),
            json!({ "tree_bytes": 12, "truncated": true }),
        ] {
            assert!(matches!(of(odd), Err(Error::Unreadable { .. })));
        }
    }
}

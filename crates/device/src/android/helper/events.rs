//! The helper's op `events`: what changes on the screen, as soon as Android knows.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::connection::Replies;
use super::frame::Header;
use super::protocol::Reply;
use super::{Operation, fields};
use crate::android::Android;
use crate::{Error, ScreenChange, ScreenChanges, ScreenWatch};

/// How long the helper may take to begin. Another tool may hold UiAutomation.
const LIMIT: Duration = Duration::from_secs(5);

/// How many changes are kept for a slow reader.
const KEPT: usize = 64;

const EVENTS: Operation = Operation {
    op: "events",
    needs: "events",
    what: "watch the screen",
    limit: LIMIT,
    acts: false,
    left_to_shell: &["internal", "ua_busy"],
};

#[async_trait]
impl ScreenChanges for Android {
    async fn watch_screen(&self) -> Result<Option<ScreenWatch>, Error> {
        let Some(connection) = self.helper_if_ready(EVENTS).await? else { return Ok(None) };
        let fields = fields(json!({ "kinds": ["screen", "windows", "content", "scrolled"] }));
        let Ok(mut replies) = connection.begin(EVENTS.op, fields) else { return Ok(None) };
        match timeout(LIMIT, replies.next()).await {
            Ok(Ok(Reply::More(first, _))) if first.contains_key("listening") => {}
            Ok(Ok(Reply::Failed(error))) => return self.without_helper(EVENTS.read_fault(error)),
            Ok(_) | Err(_) => return Ok(None),
        }
        let (tell, changes) = mpsc::channel(KEPT);
        tokio::spawn(pass_on(replies, tell));
        Ok(Some(ScreenWatch(changes)))
    }
}

/// Passes events on until nobody listens; then the request is cancelled.
async fn pass_on(mut replies: Replies, tell: mpsc::Sender<ScreenChange>) {
    loop {
        let reply = tokio::select! {
            reply = replies.next() => reply,
            () = tell.closed() => return,
        };
        let Ok(Reply::More(output, _)) = reply else { return };
        if let Some(change) = read(&output) {
            // A reader that has some to read looks at the screen anyway.
            let _ = tell.try_send(change);
        }
    }
}

fn read(output: &Header) -> Option<ScreenChange> {
    let kind = output.get("event")?.get("kind").and_then(Value::as_str)?;
    Some(match kind {
        "screen" | "windows" => ScreenChange::Window,
        _ => ScreenChange::Content,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_is_a_change_of_windows_or_of_their_content() {
        let of = |value: Value| read(value.as_object().unwrap());
        assert_eq!(of(json!({ "event": { "kind": "screen" } })), Some(ScreenChange::Window));
        assert_eq!(of(json!({ "event": { "kind": "content" } })), Some(ScreenChange::Content));
        assert_eq!(of(json!({ "listening": true })), None);
    }
}

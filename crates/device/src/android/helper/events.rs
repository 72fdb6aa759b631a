//! The helper's op `events`: changes on the screen, when Android reports them.

use std::time::Duration;

use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Operation;
use super::connection::Replies;
use super::frame::Header;
use super::protocol::Reply;
use crate::android::Android;
use crate::{Error, ScreenChange, ScreenWatch};

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

impl Android {
    pub(in crate::android) async fn watch_by_helper(&self) -> Result<Option<ScreenWatch>, Error> {
        let Some(connection) = self.helper_if_ready(EVENTS).await? else { return Ok(None) };
        let begun = connection.begin(EVENTS.op, Header::new());
        let Ok(mut replies) = begun else { return Ok(None) };
        match timeout(LIMIT, replies.next()).await {
            Ok(Ok(Reply::More(first, _))) if first.contains_key("listening") => {}
            Ok(Ok(Reply::Failed(error))) => return self.without_helper(EVENTS.read_fault(error)),
            Ok(_) | Err(_) => return Ok(None),
        }
        let (sender, changes) = mpsc::channel(KEPT);
        tokio::spawn(pass_on(replies, sender));
        Ok(Some(ScreenWatch(changes)))
    }
}

/// Passes events on until the receiver is dropped; then the request is cancelled.
async fn pass_on(mut replies: Replies, sender: mpsc::Sender<ScreenChange>) {
    loop {
        let reply = tokio::select! {
            reply = replies.next() => reply,
            () = sender.closed() => return,
        };
        let Ok(Reply::More(fields, _)) = reply else { return };
        if let Ok(EventReply { event: Some(event) }) = EVENTS.read(fields) {
            let change = match event {
                Event::Window => ScreenChange::Window,
                Event::Content => ScreenChange::Content,
            };
            // A reader that has some to read looks at the screen anyway.
            let _ = sender.try_send(change);
        }
    }
}

/// A change, or none at the beginning.
#[derive(Deserialize)]
struct EventReply {
    event: Option<Event>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Event {
    Window,
    Content,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn event_is_a_change_of_windows_or_of_their_content() {
        let of = |value: Value| {
            EVENTS.read::<EventReply>(value.as_object().unwrap().clone()).unwrap().event
        };
        assert_eq!(of(json!({ "event": "window" })), Some(Event::Window));
        assert_eq!(of(json!({ "event": "content" })), Some(Event::Content));
        assert_eq!(of(json!({ "listening": true })), None);
    }
}

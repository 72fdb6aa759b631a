//! The helper's op `stream`: a JPEG now, and another whenever the screen shows something else.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use super::connection::Replies;
use super::protocol::Reply;
use super::{AUTOMATION, Operation, fields, millis, screenshot};
use crate::android::Android;
use crate::image::JPEG_QUALITY;
use crate::{Error, ScreenStream, ScreenStreaming, Screenshot, StreamOptions};

/// How long the helper may take for the first picture. Another tool may hold UiAutomation.
const LIMIT: Duration = AUTOMATION.saturating_add(Duration::from_secs(5));

/// The longest side that the wire allows: no scaling.
const WHOLE: u32 = 10_000;

const STREAM: Operation = Operation {
    op: "stream",
    needs: "streaming the screen",
    what: "stream the screen",
    limit: LIMIT,
    acts: false,
    left_to_shell: &["internal", "too_large", "timeout", "ua_busy", "refused"],
};

#[async_trait]
impl ScreenStreaming for Android {
    async fn stream_screen(&self, options: StreamOptions) -> Result<Option<ScreenStream>, Error> {
        let Some(connection) = self.helper_if_ready(STREAM).await? else { return Ok(None) };
        let fields = fields(json!({
            "format": "jpeg",
            "quality": JPEG_QUALITY,
            "max_side": options.max_side.unwrap_or(WHOLE),
            "gap_ms": millis(options.gap),
            "limit_ms": millis(AUTOMATION),
        }));
        let Ok(mut replies) = connection.begin(STREAM.op, fields) else { return Ok(None) };
        let first = match timeout(LIMIT, replies.next()).await {
            Ok(Ok(Reply::More(output, body))) => screenshot::read(&output, body)?,
            Ok(Ok(Reply::Failed(error))) => return self.without_helper(STREAM.read_fault(error)),
            Ok(_) | Err(_) => return Ok(None),
        };
        let (tell, mut pictures) = watch::channel(Some(first));
        pictures.mark_changed();
        tokio::spawn(pass_on(replies, tell));
        Ok(Some(ScreenStream(pictures)))
    }
}

/// Passes pictures on until nobody looks; then the request is cancelled.
async fn pass_on(mut replies: Replies, tell: watch::Sender<Option<Screenshot>>) {
    loop {
        let reply = tokio::select! {
            reply = replies.next() => reply,
            () = tell.closed() => return,
        };
        let Ok(Reply::More(output, body)) = reply else { return };
        match screenshot::read(&output, body) {
            Ok(picture) => drop(tell.send(Some(picture))),
            Err(error) => {
                tracing::warn!("the stream of the screen ends: {error}");
                return;
            }
        }
    }
}

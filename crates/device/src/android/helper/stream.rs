//! The helper's op `stream`: a JPEG now, and another whenever the screen shows something else.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use super::connection::Replies;
use super::frame::Header;
use super::protocol::Reply;
use super::screenshot::PictureReply;
use super::{AUTOMATION, Operation, fields, millis};
use crate::android::Android;
use crate::image::JPEG_QUALITY;
use crate::{
    Error, ScreenStream, ScreenStreaming, Screenshot, StreamOptions, VideoOptions, VideoStream,
};

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
            "quality": JPEG_QUALITY,
            "max_side": options.max_side.unwrap_or(WHOLE),
            "gap_ms": millis(options.gap),
            "limit_ms": millis(AUTOMATION),
        }));
        let Ok(mut replies) = connection.begin(STREAM.op, fields) else { return Ok(None) };
        let first = match timeout(LIMIT, replies.next()).await {
            Ok(Ok(Reply::More(fields, body))) => read(fields, body)?,
            Ok(Ok(Reply::Failed(error))) => return self.without_helper(STREAM.read_fault(error)),
            Ok(_) | Err(_) => return Ok(None),
        };
        let (sender, mut pictures) = watch::channel(Some(first));
        pictures.mark_changed();
        tokio::spawn(pass_on(replies, sender));
        Ok(Some(ScreenStream(pictures)))
    }

    async fn stream_video(&self, options: VideoOptions) -> Result<Option<VideoStream>, Error> {
        self.video(options).await
    }
}

fn read(fields: Header, body: Bytes) -> Result<Screenshot, Error> {
    STREAM.read::<PictureReply>(fields)?.screenshot(body)
}

/// Passes pictures on until the receiver is dropped; then the request is cancelled.
async fn pass_on(mut replies: Replies, sender: watch::Sender<Option<Screenshot>>) {
    loop {
        let reply = tokio::select! {
            reply = replies.next() => reply,
            () = sender.closed() => return,
        };
        let Ok(Reply::More(fields, body)) = reply else { return };
        match read(fields, body) {
            Ok(picture) => drop(sender.send(Some(picture))),
            Err(error) => {
                tracing::warn!("the stream of the screen ends: {error}");
                return;
            }
        }
    }
}

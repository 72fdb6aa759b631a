//! Pictures of the screens: a frame whenever something changed, as fast as the viewer reads.
//!
//! A frame is the length of its header in four bytes (big endian), the header as JSON, and the
//! picture. All viewers of a phone share one stream, which ends with the last of them.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures::stream::{self, StreamExt as _};
use serde_json::json;
use thumbwire_core::action::{
    Call, ClientId, Failure, ScreenshotOptions, TypedPerform as _, request,
};
use thumbwire_core::session::{Session, ShownPhone};
use thumbwire_device::{Format, FormatPreference, Screenshot, Size, StreamOptions};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::Body;
use super::shared::SharedStreams;

/// The least time between two pictures.
const GAP: Duration = Duration::from_millis(33);

/// The least time between two screenshots of a phone that does not stream.
const POLL: Duration = Duration::from_millis(400);

/// How long a phone that failed is left alone.
const RETRY: Duration = Duration::from_secs(2);

/// How often an idle stream shows that it is alive.
pub(super) const ALIVE: Duration = Duration::from_secs(10);

/// How long a phone may take for a screenshot.
const PICTURE_TIME: Duration = Duration::from_secs(20);

/// The size of pictures in pixels of the longer side.
pub(super) const SIDES: std::ops::RangeInclusive<u32> = 64..=4096;

/// The streams that are watched.
pub(super) struct Screens {
    session: Arc<Session>,
    streams: SharedStreams<SharedStream>,
}

/// A picture, or why there is none.
#[derive(Clone)]
enum Frame {
    /// Nothing has come yet.
    Waiting,
    Picture(Arc<Picture>),
    Failed(Arc<str>),
}

struct Picture {
    screenshot: Screenshot,
    /// The screen's size in the pixels that touches count.
    size: Size,
    taken: Instant,
    is_streamed: bool,
}

/// The pictures of one phone in one size.
struct SharedStream {
    frames: watch::Receiver<Frame>,
    _task: AbortOnDropHandle<()>,
}

impl Screens {
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self { session, streams: SharedStreams::default() }
    }

    /// The frames of a phone until the viewer goes away; pictures have at most `max_side` pixels on
    /// their longer side.
    pub(super) fn frames(&self, device: &str, max_side: u32) -> Body {
        let shared = self.shared(device, max_side);
        let mut frames = shared.frames.clone();
        frames.mark_changed();
        stream::unfold((shared, frames, 0_u64), |(shared, mut frames, number)| async move {
            let frame = match timeout(ALIVE, frames.changed()).await {
                Ok(Ok(())) => frames.borrow_and_update().clone(),
                Ok(Err(_)) => return None,
                Err(_) => Frame::Waiting,
            };
            let bytes = match frame {
                // The viewer learns that the connection is there.
                Frame::Waiting => frame_bytes(json!({ "number": number, "bytes": 0 }), &[]),
                Frame::Failed(reason) => {
                    frame_bytes(json!({ "number": number, "bytes": 0, "error": *reason }), &[])
                }
                Frame::Picture(picture) => picture.bytes(number + 1),
            };
            Some((bytes, (shared, frames, number + 1)))
        })
        .boxed()
    }

    fn shared(&self, device: &str, max_side: u32) -> Arc<SharedStream> {
        let start = || {
            let (sender, frames) = watch::channel(Frame::Waiting);
            let source = Source {
                session: Arc::clone(&self.session),
                device: device.to_owned(),
                max_side,
                frames: sender,
            };
            SharedStream { frames, _task: AbortOnDropHandle::new(tokio::spawn(source.run())) }
        };
        self.streams.join(device, max_side, |_| true, start)
    }
}

impl Picture {
    fn bytes(&self, number: u64) -> Bytes {
        let picture = &self.screenshot.image.bytes;
        let header = json!({
            "number": number,
            "width": self.size.width,
            "height": self.size.height,
            "bytes": picture.len(),
            "age_ms": u64::try_from(self.taken.elapsed().as_millis()).unwrap_or(u64::MAX),
            "streamed": self.is_streamed,
            "blank": self.screenshot.blank,
        });
        frame_bytes(header, picture)
    }
}

pub(super) fn frame_bytes(header: serde_json::Value, picture: &[u8]) -> Bytes {
    let header = header.to_string();
    let mut bytes = BytesMut::with_capacity(4 + header.len() + picture.len());
    bytes.put_u32(u32::try_from(header.len()).unwrap_or_default());
    bytes.put_slice(header.as_bytes());
    bytes.put_slice(picture);
    bytes.freeze()
}

/// Takes the pictures of one phone.
struct Source {
    session: Arc<Session>,
    device: String,
    max_side: u32,
    frames: watch::Sender<Frame>,
}

impl Source {
    /// Until it is aborted. A phone that is gone comes back.
    async fn run(self) {
        loop {
            let ended = match self.session.shown_phone(&self.device).await {
                Ok(phone) => self.follow(&phone).await,
                // A phone of another computer sends screenshots only.
                Err(_) => self.poll().await,
            };
            if let Err(failure) = ended {
                self.frames.send_replace(Frame::Failed(failure.cause.to_string().into()));
            }
            sleep(RETRY).await;
        }
    }

    /// Sends pictures until the phone fails or its stream ends.
    async fn follow(&self, phone: &ShownPhone) -> Result<(), Failure> {
        let options = StreamOptions { max_side: Some(self.max_side), gap: GAP };
        let Some(mut pictures) = phone.stream(options).await? else {
            return self.poll().await;
        };
        let mut known: Option<(bool, Size)> = None;
        while let Some(screenshot) = pictures.next().await {
            let is_wide = screenshot.size.width > screenshot.size.height;
            let size = match known {
                Some((was_wide, size)) if was_wide == is_wide => size,
                _ => phone.screen_size().await?,
            };
            known = Some((is_wide, size));
            let picture = Picture { screenshot, size, taken: Instant::now(), is_streamed: true };
            self.frames.send_replace(Frame::Picture(Arc::new(picture)));
        }
        Ok(())
    }

    /// Takes screenshots, and sends those that differ.
    async fn poll(&self) -> Result<(), Failure> {
        let mut last = Bytes::new();
        loop {
            let began = Instant::now();
            let call = Call {
                client: ClientId::Studio,
                ..Call::with_timeout(PICTURE_TIME).on(Some(self.device.clone()))
            };
            let jpeg = FormatPreference::Only(Format::Jpeg);
            let options = ScreenshotOptions { format: jpeg, fresh: true, max_bytes: None };
            let screenshot = self.session.request(&call, request::Screenshot(options)).await?;
            if screenshot.image.bytes != last {
                last = screenshot.image.bytes.clone();
                let size = screenshot.size;
                let picture = Picture { screenshot, size, taken: began, is_streamed: false };
                self.frames.send_replace(Frame::Picture(Arc::new(picture)));
            }
            // A slow phone has time for other work.
            sleep(POLL.max(began.elapsed())).await;
        }
    }
}

//! The screens as H.264: every picture in order, from a key picture on.
//!
//! All viewers of a phone share one stream. It begins again, with a key picture, for a viewer who
//! joins, when the screen's shape changes, and when the phone ends it, as Android does after three
//! minutes. A viewer for whom it cannot go on gets the reason in a last frame, and asks for JPEGs.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use serde_json::json;
use thumbwire_core::session::{Session, ShownPhone};
use thumbwire_device::{Size, VideoOptions, VideoPicture};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::Body;
use super::screen::{ALIVE, frame_bytes};
use super::shared::SharedStreams;

/// Enough for sharp text while the screen moves.
const BIT_RATE: u32 = 4_000_000;

/// Pictures that a viewer may be behind.
const BEHIND: usize = 90;

/// A stream that ends this soon has failed.
const SOON: Duration = Duration::from_secs(3);

/// How long after a change the screen may have another shape.
const SETTLED: Duration = Duration::from_millis(500);

/// The videos that are watched.
pub(super) struct Videos {
    session: Arc<Session>,
    streams: SharedStreams<SharedVideo>,
}

#[derive(Clone)]
enum Event {
    Picture(Arc<Picture>),
    /// There will be none, and why.
    Over(Arc<str>),
}

struct Picture {
    video: VideoPicture,
    /// The screen's size in the pixels that touches count.
    size: Size,
    taken: Instant,
}

/// The video of one phone.
struct SharedVideo {
    events: broadcast::Sender<Event>,
    /// Asks for a key picture.
    joined: Arc<Notify>,
    task: AbortOnDropHandle<()>,
}

/// The viewer of a video.
struct Viewer {
    shared: Arc<SharedVideo>,
    events: broadcast::Receiver<Event>,
    number: u64,
    is_over: bool,
}

impl Videos {
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self { session, streams: SharedStreams::default() }
    }

    /// The frames of a phone until the viewer goes away, or cannot get any more.
    pub(super) fn frames(&self, device: &str, max_side: u32) -> Body {
        let (shared, events) = self.join(device, max_side);
        let viewer = Viewer { shared, events, number: 0, is_over: false };
        stream::unfold(viewer, |mut viewer| async move {
            let header = loop {
                if viewer.is_over {
                    return None;
                }
                match timeout(ALIVE, viewer.events.recv()).await {
                    // Of the stream before this viewer joined.
                    Ok(Ok(Event::Picture(picture)))
                        if viewer.number == 0 && picture.video.key.is_none() => {}
                    Ok(Ok(Event::Picture(picture))) => {
                        viewer.number += 1;
                        return Some((picture.bytes(viewer.number), viewer));
                    }
                    Ok(Ok(Event::Over(reason))) => break viewer.end(&reason),
                    Ok(Err(RecvError::Lagged(_))) => {
                        break viewer.end("the connection is too slow");
                    }
                    Ok(Err(RecvError::Closed)) => return None,
                    Err(_) if viewer.shared.task.is_finished() => return None,
                    Err(_) => break json!({ "number": viewer.number, "bytes": 0 }),
                }
            };
            Some((frame_bytes(header, &[]), viewer))
        })
        .boxed()
    }

    fn join(&self, device: &str, max_side: u32) -> (Arc<SharedVideo>, broadcast::Receiver<Event>) {
        let mut first = None;
        let start = || {
            let (sender, events) = broadcast::channel(BEHIND);
            first = Some(events);
            let joined = Arc::new(Notify::new());
            let source = Source {
                session: Arc::clone(&self.session),
                device: device.to_owned(),
                max_side,
                events: sender.clone(),
                joined: Arc::clone(&joined),
            };
            SharedVideo {
                events: sender,
                joined,
                task: AbortOnDropHandle::new(tokio::spawn(source.run())),
            }
        };
        let is_running = |shared: &SharedVideo| !shared.task.is_finished();
        let shared = self.streams.join(device, max_side, is_running, start);
        let events = first.unwrap_or_else(|| {
            let events = shared.events.subscribe();
            shared.joined.notify_one();
            events
        });
        (shared, events)
    }
}

impl Viewer {
    /// The header of the last frame.
    fn end(&mut self, reason: &str) -> serde_json::Value {
        self.is_over = true;
        json!({ "number": self.number, "bytes": 0, "over": reason })
    }
}

impl Picture {
    fn bytes(&self, number: u64) -> bytes::Bytes {
        let header = json!({
            "number": number,
            "width": self.size.width,
            "height": self.size.height,
            "bytes": self.video.bytes.len(),
            "age_ms": u64::try_from(self.taken.elapsed().as_millis()).unwrap_or(u64::MAX),
            "codec": "h264",
            "key": self.video.key,
        });
        frame_bytes(header, &self.video.bytes)
    }
}

/// Reads the video of one phone.
struct Source {
    session: Arc<Session>,
    device: String,
    max_side: u32,
    events: broadcast::Sender<Event>,
    joined: Arc<Notify>,
}

impl Source {
    async fn run(self) {
        let reason = loop {
            let phone = match self.session.shown_phone(&self.device).await {
                Ok(phone) => phone,
                Err(failure) => break failure.cause.to_string(),
            };
            if let Err(reason) = self.follow(&phone).await {
                break reason;
            }
        };
        // Without viewers nobody needs the reason.
        let _ = self.events.send(Event::Over(reason.into()));
    }

    /// Sends pictures until the stream has to begin again.
    ///
    /// # Errors
    /// Why there are none.
    async fn follow(&self, phone: &ShownPhone) -> Result<(), String> {
        let size = phone.screen_size().await.map_err(|failure| failure.cause.to_string())?;
        let options = VideoOptions { max_side: self.max_side, bit_rate: BIT_RATE };
        let video = phone.video(options).await.map_err(|failure| failure.cause.to_string())?;
        let mut video = video.ok_or("the phone has no H.264 now")?;
        let (began, changed) = (Instant::now(), Notify::new());
        let reshaped = async {
            loop {
                changed.notified().await;
                sleep(SETTLED).await;
                if phone.screen_size().await.is_ok_and(|now| now != size) {
                    return;
                }
            }
        };
        tokio::pin!(reshaped);
        loop {
            let picture = tokio::select! {
                picture = video.0.recv() => picture,
                () = self.joined.notified() => return Ok(()),
                () = &mut reshaped => return Ok(()),
            };
            let Some(video) = picture else {
                let is_failure = began.elapsed() < SOON;
                return if is_failure {
                    Err("the phone’s H.264 has ended".into())
                } else {
                    Ok(())
                };
            };
            changed.notify_one();
            let picture = Picture { video, size, taken: Instant::now() };
            // Without viewers this task ends soon.
            let _ = self.events.send(Event::Picture(Arc::new(picture)));
        }
    }
}

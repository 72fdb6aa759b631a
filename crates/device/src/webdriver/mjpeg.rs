//! The MJPEG stream of WebDriverAgent's second port (FBMjpegServer.m): `multipart/x-mixed-replace`,
//! one JPEG a part.

use std::time::Duration;

use async_trait::async_trait;
use bytes::{Buf as _, Bytes, BytesMut};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::WebDriverPhone;
use super::http::MAX_RESPONSE;
use super::picture::read_picture;
use crate::{
    Error, ScreenStream, ScreenStreaming, Screenshot, StreamOptions, VideoOptions, VideoStream,
};

/// How long the server may send nothing. It repeats the picture of a screen that does not change.
const SILENCE: Duration = Duration::from_secs(30);

#[async_trait]
impl ScreenStreaming for WebDriverPhone {
    async fn stream_screen(&self, options: StreamOptions) -> Result<Option<ScreenStream>, Error> {
        let Some(mjpeg) = &self.mjpeg else { return Ok(None) };
        let scale = match options.max_side {
            Some(max_side) => {
                let size = self.read_size().await?;
                percent(max_side, size.width.max(size.height))
            }
            None => 100,
        };
        // Thirty is what the fastest phones reach (`mjpegServerFramerate` takes up to 60).
        let per_second = (1.0 / options.gap.as_secs_f64()).clamp(1.0, 30.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 30")]
        let settings =
            [("mjpegScalingFactor", scale), ("mjpegServerFramerate", per_second.round() as u64)];
        self.set(&settings).await?;
        let response = mjpeg.open_stream(SILENCE).await;
        let mut response = response.map_err(|error| error.into_error(mjpeg, false))?;
        if !(200..300).contains(&response.status()) {
            tracing::info!("{} has no stream: HTTP status {}", mjpeg.address(), response.status());
            return Ok(None);
        }
        let (sender, receiver) = watch::channel(None);
        let gap = options.gap;
        tokio::spawn(async move {
            let mut parts = Parts::default();
            let mut next = Instant::now();
            loop {
                let chunk = tokio::select! {
                    () = sender.closed() => return,
                    chunk = timeout(SILENCE, response.chunk()) => chunk,
                };
                let Ok(Ok(Some(chunk))) = chunk else { return };
                let Ok(pictures) = parts.push(&chunk) else { return };
                let Some(picture) = pictures.into_iter().next_back() else { continue };
                // A screen that does not change is sent again and again.
                let is_new = sender.borrow().as_ref() != Some(&picture);
                if is_new && Instant::now() >= next {
                    next = Instant::now() + gap;
                    sender.send_replace(Some(picture));
                }
            }
        });
        Ok(Some(ScreenStream(receiver)))
    }

    async fn stream_video(&self, _: VideoOptions) -> Result<Option<VideoStream>, Error> {
        Ok(None)
    }
}

/// The scale that makes a side of the screen at most so long, in percent.
fn percent(max_side: u32, side: i32) -> u64 {
    (u64::from(max_side) * 100 / u64::try_from(side).unwrap_or(1).max(1)).clamp(1, 100)
}

/// Finds the pictures in the parts of the stream.
#[derive(Default)]
struct Parts(BytesMut);

impl Parts {
    /// Adds received bytes, and returns the pictures that are complete.
    ///
    /// # Errors
    /// The bytes are not a stream of JPEGs.
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Screenshot>, ()> {
        const HEAD_END: &[u8] = b"\r\n\r\n";
        const MAX_HEAD: usize = 4096;
        self.0.extend_from_slice(chunk);
        let mut pictures = Vec::new();
        loop {
            // WebDriverAgent ends a part with two line ends, others with one.
            while self.0.first().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
                self.0.advance(1);
            }
            let Some(end) = self.0.windows(4).position(|window| window == HEAD_END) else {
                return if self.0.len() > MAX_HEAD { Err(()) } else { Ok(pictures) };
            };
            let head = String::from_utf8_lossy(&self.0[..end]);
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                let is_length = name.trim().eq_ignore_ascii_case("content-length");
                is_length.then(|| value.trim().parse::<usize>().ok())?
            });
            let length = length.filter(|length| *length <= MAX_RESPONSE).ok_or(())?;
            let begin = end + HEAD_END.len();
            if self.0.len() < begin + length {
                return Ok(pictures);
            }
            self.0.advance(begin);
            let picture: Bytes = self.0.split_to(length).freeze();
            pictures.push(read_picture(picture).map_err(drop)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JPEG: [u8; 23] = [
        0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 1, 0, 0, 6, 1, 0, 0, 0, 0xFF,
        0xD9,
    ];

    fn part(end: &str) -> Vec<u8> {
        let mut part = format!(
            "--BoundaryString\r\nContent-type: image/jpeg\r\nContent-Length: {}\r\n\r\n",
            JPEG.len()
        )
        .into_bytes();
        part.extend(JPEG);
        part.extend(end.as_bytes());
        part
    }

    #[test]
    fn pictures_are_found_however_the_stream_is_cut() {
        for (end, length) in
            [("\r\n", 1), ("\r\n\r\n", 1), ("\r\n\r\n", 7), ("\r\n", 60), ("", 1000)]
        {
            let stream = part(end).repeat(3);
            let mut parts = Parts::default();
            let pictures: Vec<Screenshot> =
                stream.chunks(length).flat_map(|chunk| parts.push(chunk).unwrap()).collect();
            assert_eq!(pictures.len(), 3, "{length}");
        }
    }

    #[test]
    fn anything_else_ends_the_stream() {
        for wrong in [
            "a".repeat(5000),
            "--B\r\nContent-Length: x\r\n\r\n".into(),
            "--B\r\n\r\n".into(),
            "--B\r\nContent-Length: 99999999999\r\n\r\n".into(),
            "--B\r\nContent-Length: 3\r\n\r\nabc".into(),
        ] {
            assert!(Parts::default().push(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}

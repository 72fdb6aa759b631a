//! The video socket: the screen as H.264, a picture whenever it shows something else.

use super::options::{Options, Protocol};
use crate::phone::VirtualPhone;
use std::io;
use std::time::Duration;
use thumbwire_virtual_phone::Display;
use thumbwire_virtual_phone::video::{Canvas, Encoder, FrameQueue, RATE, Recording, ScreenFrame};
use thumbwire_virtual_shell::system::sleep_real;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// `"h264"`
const H264: u32 = 0x6832_3634;
/// Flags in a packet's time.
const CONFIG: u64 = 1 << 63;
const KEY_FRAME: u64 = 1 << 62;
/// How long nothing changes until the last picture is sent once more (scrcpy's
/// `REPEAT_FRAME_DELAY_US`).
const REPEAT_AFTER: Duration = Duration::from_millis(100);

/// The video's size: that of the screen, at most `max_size`, in multiples of 8. The longer side is
/// rounded down, the other to the nearest.
pub(super) fn size(screen: &Display, max_size: u32) -> (u32, u32) {
    let (width, height) = (screen.width.max(8) as u32, screen.height.max(8) as u32);
    let (long, short) = (width.max(height), width.min(height));
    let (long, short) = match max_size {
        0 => (long, short),
        limit if long <= limit => (long, short),
        limit => (limit, limit * short / long),
    };
    let long = long & !7;
    // An encoder needs a whole macroblock.
    let short = ((short + 4) & !7).clamp(16, long.max(16));
    let long = long.max(16);
    if height > width { (short, long) } else { (long, short) }
}

/// Writes the codec's id and size, then pictures until the client is gone. Each `reset` begins
/// again with a key picture.
pub(super) async fn stream<W: AsyncWrite + Unpin>(
    phone: &VirtualPhone,
    options: &Options,
    reset: &Notify,
    client: &mut W,
) -> io::Result<()> {
    let screen = phone.read(|phone| *phone.world.display());
    let (width, height) = size(&screen, options.max_size);
    if options.protocol == Protocol::V3_3 && options.send_codec_meta {
        client.write_all(&[H264, width, height].map(u32::to_be_bytes).concat()).await?;
    }
    let rate = RATE as f32;
    let rate = if options.max_fps > 0.0 { options.max_fps.clamp(0.1, rate) } else { rate };
    let pause = Duration::from_secs_f32(1.0 / rate);
    let (mut screens, mut shown) = (FrameQueue::default(), None::<ScreenFrame>);
    let mut video = Video { options, client, session: None, time: 0, repeats: false };
    loop {
        let changed = phone.changed();
        phone.peek(|phone| screens.capture(&mut phone.world));
        let newest = std::iter::from_fn(|| screens.take(true)).last();
        let is_new = newest.is_some();
        shown = newest.or(shown);
        if let Some(screen) = shown.as_ref().filter(|_| is_new || video.session.is_none()) {
            video.write_frame(screen).await?;
            sleep_real(Some(pause)).await;
            // What moves has moved on.
            phone.with(|_| {});
            continue;
        }
        tokio::select! {
            () = changed => {},
            () = phone.tick() => phone.with(|_| {}),
            () = sleep_real(Some(REPEAT_AFTER)), if video.repeats => video.repeat_frame().await?,
            () = reset.notified() => video.session = None,
        }
    }
}

/// The pictures of a client.
struct Video<'a, W> {
    options: &'a Options,
    client: &'a mut W,
    /// The encoder for a size of the screen, from a key picture on.
    session: Option<((i32, i32), Recording)>,
    /// The time of the last picture, in microseconds.
    time: u64,
    /// Whether the last picture is to be sent once more.
    repeats: bool,
}

impl<W: AsyncWrite + Unpin> Video<'_, W> {
    async fn write_frame(&mut self, screen: &ScreenFrame) -> io::Result<()> {
        let known = self.session.take().filter(|(size, _)| *size == screen.size);
        let (size, mut recording) = match known {
            Some(known) => known,
            None => (screen.size, self.start(screen.size).await?),
        };
        if recording.start_frame(screen) {
            let sample = loop {
                if let Some(sample) = recording.encode_some() {
                    break sample;
                }
                tokio::task::yield_now().await;
            };
            self.time = (self.time + 1).max(screen.refresh.saturating_mul(1_000_000) / RATE);
            // 1.20 has no such flag.
            let is_marked = sample.key && self.options.protocol != Protocol::V1_20;
            let time = if is_marked { self.time | KEY_FRAME } else { self.time };
            self.write_packet(time, &[sample.unit]).await?;
            self.repeats = true;
        }
        self.session = Some((size, recording));
        Ok(())
    }

    /// An encoder for that screen, whose parameters the client has.
    async fn start(&mut self, (width, height): (i32, i32)) -> io::Result<Recording> {
        let screen = Display { width, height, density: 0, rotation: 0 };
        let (width, height) = size(&screen, self.options.max_size);
        let canvas = Canvas { width: width as usize, height: height as usize, turned: false };
        let encoder = Encoder::new(canvas, self.options.bit_rate);
        let encoder = encoder.ok_or(io::ErrorKind::InvalidInput)?;
        self.write_packet(CONFIG, &encoder.parameters()).await?;
        Ok(Recording::new(encoder))
    }

    /// Decoders show a picture only when the next one begins.
    async fn repeat_frame(&mut self) -> io::Result<()> {
        self.repeats = false;
        let again = self.session.as_mut().and_then(|(_, recording)| recording.repeat_frame());
        let Some(unit) = again else { return Ok(()) };
        self.time += REPEAT_AFTER.as_micros() as u64;
        self.write_packet(self.time, &[unit]).await
    }

    /// Writes NAL units with their start codes.
    async fn write_packet(&mut self, time: u64, units: &[Vec<u8>]) -> io::Result<()> {
        let coded = units.iter().flat_map(|unit| [&[0, 0, 0, 1], unit.as_slice()].concat());
        let body: Vec<u8> = coded.collect();
        if self.options.send_frame_meta {
            self.client.write_all(&time.to_be_bytes()).await?;
            self.client.write_all(&(body.len() as u32).to_be_bytes()).await?;
        }
        self.client.write_all(&body).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn video_has_the_aspect_of_the_screen_in_multiples_of_eight() {
        let of =
            |width, height, limit| size(&Display { width, height, density: 0, rotation: 0 }, limit);
        assert_eq!(of(1080, 2400, 0), (1080, 2400));
        assert_eq!(of(2400, 1080, 800), (800, 360));
        assert_eq!(of(1080, 2340, 1024), (472, 1024));
        assert_eq!(of(1440, 3043, 0), (1440, 3040));
        assert_eq!(of(1080, 2400, 8), (16, 16), "an encoder's least");
    }
}

//! `screenrecord`: records the screen as a video.
//!
//! Start with [`screenrecord`], then [`ActiveRecording`]; `options` parses the options. Options,
//! texts and exit statuses are those of AOSP's `frameworks/av/cmds/screenrecord` of Android 14. It
//! ends in order at its time limit, at `SIGINT` and `SIGHUP`, and when its host disconnects (adbd
//! hangs up then); any other end leaves a file without an index, as on a phone.
//!
//! Time is the world's: a recording ends when the world's clock has advanced that far, or when that
//! much real time has passed, whichever comes first; in the second case the world's clock is moved
//! forward, as `sleep` does. So a test with a paused clock waits for nothing.
//!
//! Not here: the info page and the overlay of `--bugreport` (accepted, not drawn), the formats
//! `webm`, `frames` and `raw-frames`, the metadata of window traces; a terminal is not set to raw
//! mode for the bare stream.

mod options;

use self::options::{ScreenrecordOptions, UsageError, read};
use super::Invocation;
use crate::faults::Fault;
use crate::phone::VirtualPhone;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thumbwire_base::lock;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_phone::video::{
    Area, Canvas, Encoder, FrameQueue, Muxer, RATE, Recording, Sample, ScreenFrame, TrackInfo,
};
use thumbwire_virtual_shell::files::{Error, Id, OpenTarget};
use thumbwire_virtual_shell::io::{Abort, Output, Status};
use thumbwire_virtual_shell::processes::{ProcessEntry, Signal};
use thumbwire_virtual_shell::system::sleep_real;

/// How long a slow phone without an encoder takes to find out; measured on a real Android 4.4.4 in
/// software.
const NO_ENCODER_AFTER: Duration = Duration::from_millis(580);

/// The size to try if the screen's own is too large, in landscape.
const FALLBACK: (usize, usize) = (1280, 720);

/// `screenrecord [--size WxH] [--bit-rate N] [--time-limit S] [--verbose] [--rotate]
/// [--output-format F] FILE`
pub(super) async fn screenrecord(call: Invocation) -> Status {
    let wanted = match read(&call).await? {
        Ok(wanted) => wanted,
        Err(UsageError(why, status)) => {
            call.err(why).await;
            return Ok(status);
        }
    };
    match record(&call, &wanted).await? {
        Ok(()) => {
            if wanted.verbose {
                announce(&call, &wanted.file).await?;
            }
            Ok(0)
        }
        Err(UsageError(why, status)) => {
            call.err(why).await;
            Ok(status)
        }
    }
}

async fn record(
    call: &Invocation,
    options: &ScreenrecordOptions,
) -> Result<Result<(), UsageError>, Abort> {
    if options.format != "h264"
        && let Err(why) = call.create(&options.file)
    {
        return Ok(Err(UsageError(format!("Unable to open '{}': {why}\n", options.file), 1)));
    }
    call.running.catch(&[Signal::INT, Signal::HUP]);
    let display = call.phone.with(|phone| *phone.world.display());
    let screen = (display.width.max(1) as usize, display.height.max(1) as usize);
    if options.verbose {
        let (width, height, turn) = (screen.0, screen.1, u32::from(display.rotation) * 90);
        call.out(format!("Display is {width}x{height} @{RATE}.00fps (orientation=ROTATION_{turn}), layerStack=0\n")).await?;
    }
    let encoder = match encoder(call, options, screen).await? {
        Ok(encoder) => encoder,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if options.verbose {
        if options.overlay {
            call.out("Bugreport overlay created\n").await?;
        }
        let Area { left, top, width, height } = encoder.canvas().content(screen);
        call.out(if options.turned {
            format!("Rotated content area is {height}x{width} at offset x={top} y={left}\n")
        } else {
            format!("Content area is {width}x{height} at offset x={left} y={top}\n")
        })
        .await?;
    }
    let mut tape = match ActiveRecording::new(call, options, encoder) {
        Ok(tape) => tape,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let began = call.phone.read(|phone| phone.world.uptime());
    let limit = options.limit.map(Duration::from_secs);
    let over = sleep_real(limit);
    tokio::pin!(over);
    let mut reached = false;
    let failed = loop {
        let changed = call.phone.changed();
        if let Err(why) = tape.catch_up(false).await {
            break Some(why);
        }
        let passed = call.phone.read(|phone| phone.world.uptime()) - began;
        if limit.is_some_and(|limit| passed >= limit) {
            reached = true;
            break None;
        }
        tokio::select! {
            biased;
            _ = call.running.signal() => break None,
            () = changed => {},
            () = call.phone.tick() => call.phone.with(|_| {}),
            () = &mut over => {
                reached = true;
                // If the phone's clock follows real time, this much has passed on it too.
                let passed = call.phone.with(|phone| phone.world.uptime()) - began;
                pass(call, limit.unwrap_or_default().saturating_sub(passed)).await;
                break None;
            },
        }
    };
    let failed = match failed {
        None => tape.catch_up(true).await.err(),
        some => some,
    };
    if options.verbose {
        if reached {
            call.out("Time limit reached\n").await?;
        }
        let seconds = (call.phone.read(|phone| phone.world.uptime()) - began).as_secs();
        let frames = tape.frames;
        call.out(format!("Encoder stopping; recorded {frames} frames in {seconds} seconds\nStopping encoder and muxer\n")).await?;
    }
    let failed = failed.or_else(|| tape.close().err());
    Ok(match failed {
        None => Ok(()),
        Some(stop) => {
            tape.closed = true;
            let number = match stop {
                Abort::File(Error::NoSpace) => 28,
                // EPIPE: it ignores `SIGPIPE`, and notices that nobody reads.
                _ => 32,
            };
            let reason = format!(
                "Failed writing data to muxer (err=-{number})\nEncoder failed (err=-{number})\n"
            );
            Err(UsageError(reason, 256 - number))
        }
    })
}

/// Advances the world's clock in steps, so that intermediate changes are visible.
async fn pass(call: &Invocation, mut left: Duration) {
    let step = Duration::from_secs(1).max(left / 600);
    while !left.is_zero() {
        let now = step.min(left);
        call.phone.sleep(now).await;
        left -= now;
    }
}

/// Where a recording is written.
enum Target {
    /// A file with an index at its end.
    File(Id, Muxer),
    /// The raw stream, with start codes.
    Stream(Output),
}

/// A recording and its output. If dropped early it finishes the file, unless a signal ended the
/// program: nothing sends a hangup when the host disconnects, so this is where it takes effect.
struct ActiveRecording {
    phone: VirtualPhone,
    running: Arc<ProcessEntry>,
    screens: Arc<Mutex<FrameQueue>>,
    recording: Recording,
    target: Target,
    frames: usize,
    closed: bool,
}

impl ActiveRecording {
    fn new(
        call: &Invocation,
        options: &ScreenrecordOptions,
        encoder: Encoder,
    ) -> Result<Self, UsageError> {
        let path = call.path(&options.file);
        let target = if options.format == "h264" {
            let output = match options.file.as_str() {
                "-" if options.verbose => {
                    let reason = "ERROR: verbose output and '-' not compatible";
                    return Err(UsageError(reason.to_owned(), 255));
                }
                "-" => call.io.stdout.clone(),
                file => call
                    .create(file)
                    .map_err(|why| UsageError(format!("fopen raw failed: {why}\n"), 255))?,
            };
            Target::Stream(output)
        } else {
            let canvas = encoder.canvas();
            let (muxer, opening) = Muxer::new(TrackInfo {
                width: canvas.width,
                height: canvas.height,
                turned: canvas.turned,
                parameters: encoder.parameters(),
                brand: if options.format == "3gpp" { *b"3gp4" } else { *b"mp42" },
            });
            let id = call.phone.with(|phone| {
                // What cannot be removed cannot be replaced either: it aborts.
                let abort = |reason: &str| UsageError(format!("ERROR: couldn't {reason}\n"), 134);
                phone
                    .kernel
                    .files
                    .remove(&path, false)
                    .map_err(|_| abort("remove existing file"))?;
                match phone.kernel.files.open_to_write(&path, 0o600, false) {
                    Ok(OpenTarget::File(id)) => phone
                        .kernel
                        .files
                        .append(id, &opening)
                        .map_err(|_| abort("open file"))
                        .map(|()| id),
                    _ => Err(abort("open file")),
                }
            })?;
            Target::File(id, muxer)
        };
        Ok(Self {
            phone: call.phone.clone(),
            running: Arc::clone(&call.running),
            // The first step after this one is the first to be recorded: that of `watch` itself.
            screens: call.phone.with(|phone| phone.watch()),
            recording: Recording::new(encoder),
            target,
            frames: 0,
            closed: false,
        })
    }

    /// Encodes the captured screens, yielding in between; with `all` also the current one.
    async fn catch_up(&mut self, all: bool) -> Result<(), Abort> {
        while let Some(seen) = self.next(all) {
            if self.recording.start_frame(&seen) {
                let sample = loop {
                    if let Some(sample) = self.recording.encode_some() {
                        break sample;
                    }
                    tokio::task::yield_now().await;
                };
                if let Some((output, bytes)) = self.write_sample(&sample)? {
                    output.write(&bytes).await?;
                }
            }
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn next(&self, all: bool) -> Option<ScreenFrame> {
        let mut screens = lock(&self.screens);
        match self.target {
            Target::File(..) => screens.take(all),
            // Somebody watches: the encoder takes the newest at once, as on a phone.
            Target::Stream(_) => std::iter::from_fn(|| screens.take(true)).last(),
        }
    }

    /// Writes a picture to the file, or returns what to write elsewhere.
    fn write_sample(&mut self, sample: &Sample) -> Result<Option<(Output, Vec<u8>)>, Abort> {
        self.frames += 1;
        match &mut self.target {
            Target::File(id, muxer) => {
                let (id, bytes) = (*id, muxer.sample(&sample.unit, sample.key, sample.at));
                self.phone
                    .with(|phone| phone.kernel.files.append(id, &bytes))
                    .map_err(Abort::File)?;
                Ok(None)
            }
            Target::Stream(output) => {
                let sets = self.recording.encoder().parameters();
                let sets = if self.frames == 1 { &sets[..] } else { &[] };
                let units = sets.iter().chain([&sample.unit]);
                let bytes =
                    units.flat_map(|unit| [&[0, 0, 0, 1], unit.as_slice()].concat()).collect();
                Ok(Some((output.clone(), bytes)))
            }
        }
    }

    /// Writes the index.
    fn close(&mut self) -> Result<(), Abort> {
        self.closed = true;
        let Target::File(id, muxer) = &self.target else { return Ok(()) };
        let (end, size) = muxer.finish();
        self.phone.with(|phone| {
            phone.kernel.files.append(*id, &end).map_err(Abort::File)?;
            phone.kernel.files.write_over(*id, Muxer::SIZE_AT, &size);
            Ok(())
        })
    }
}

impl Drop for ActiveRecording {
    fn drop(&mut self) {
        if self.closed || self.running.is_ended() {
            return;
        }
        // Finishes a partial picture; a stream has no reader any more.
        if matches!(self.target, Target::File(..)) {
            let mut kept = Ok(None);
            if let Some(sample) = self.recording.finish() {
                kept = self.write_sample(&sample);
            }
            while kept.is_ok()
                && let Some(seen) = self.next(true)
            {
                if self.recording.start_frame(&seen)
                    && let Some(sample) = self.recording.finish()
                {
                    kept = self.write_sample(&sample);
                }
            }
            // On a full disk the file stays broken.
            let _ = self.close();
        }
    }
}

async fn encoder(
    call: &Invocation,
    options: &ScreenrecordOptions,
    screen: (usize, usize),
) -> Result<Result<Encoder, UsageError>, Abort> {
    let missing = call.fault_triggers(Fault::NoEncoder);
    if missing && call.release().form == ToolKind::Java {
        call.phone.sleep(NO_ENCODER_AFTER).await;
    }
    let configure = |(width, height): (usize, usize)| async move {
        if options.verbose {
            let rate = f64::from(options.bit_rate) / 1e6;
            call.out(format!(
                "Configuring recorder for {width}x{height} video/avc at {rate:.2}Mbps\n"
            ))
            .await?;
        }
        if missing {
            return Ok(Err("ERROR: unable to create video/avc codec instance\n".to_owned()));
        }
        let canvas = Canvas { width, height, turned: options.turned };
        Ok(Encoder::new(canvas, options.bit_rate).ok_or_else(|| {
            format!("ERROR: unable to configure video/avc codec at {width}x{height} (err=-22)\n")
        }))
    };
    // EINVAL
    let refused = |why| UsageError(why, 256 - 22);
    let even = |side: usize| side & !1;
    let size = options.size.unwrap_or((even(screen.0), even(screen.1)));
    let reason = match configure(size).await? {
        Ok(encoder) => return Ok(Ok(encoder)),
        Err(why) => why,
    };
    if options.size.is_some() {
        return Ok(Err(refused(reason)));
    }
    let smaller = if size.0 < size.1 { (FALLBACK.1, FALLBACK.0) } else { FALLBACK };
    let warning = format!(
        "WARNING: failed at {}x{}, retrying at {}x{}\n",
        size.0, size.1, smaller.0, smaller.1
    );
    call.err(format!("{reason}{warning}")).await;
    Ok(configure(smaller).await?.map_err(refused))
}

async fn announce(call: &Invocation, file: &str) -> Result<(), Abort> {
    const SCAN: &str = "android.intent.action.MEDIA_SCANNER_SCAN_FILE";
    call.out(format!("Executing: /system/bin/am broadcast -a {SCAN} -d file://{file}\n")).await?;
    let mut scan = call.clone();
    scan.name = "am".to_owned();
    scan.args = ["broadcast", "-a", SCAN, "-d"].map(str::to_owned).to_vec();
    scan.args.push(format!("file://{file}"));
    Box::pin(super::am::am(scan)).await.map(drop)
}

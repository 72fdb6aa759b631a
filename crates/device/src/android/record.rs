//! Screen recordings, by the phone's `screenrecord`.
//!
//! Start with [`ScreenCapture::start_recording`]. The program writes the file's index at the end,
//! so it must end cleanly: by its time limit, or by one `SIGINT` or `SIGHUP`. On the first signal
//! it restores the default handlers, so a second one kills it while it is writing (`signalCatcher`
//! in AOSP's `screenrecord.cpp`). So we send exactly one, and adbd sends one by itself if the
//! stream or the connection is lost.
//!
//! While it records, a journal on the phone has the path of its file, so that a later program finds
//! the file if this one is killed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::Transport;
use thumbwire_adb::services::shell::{self, OutputChunk, RunningCommand};
use tokio::time::timeout;

use super::legacy::RECORDING_BEGINS;
use super::{Android, ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{Error, Recording, RecordingOptions, ScreenCapture, ScreenWatch, SideEffect};

/// The longest recording on phones whose `screenrecord` has a limit (`kMaxTimeLimitSec`).
const LIMIT: Duration = Duration::from_secs(180);

/// How long to watch a new recording before it counts as started. One that fails does so in less
/// time: it parses its options first and configures the encoder next.
const BEGINNING: Duration = Duration::from_millis(300);

/// How long to wait for the end of a recording whose program has complained. It may still succeed
/// with a smaller size.
const FAILING: Duration = Duration::from_secs(3);

/// How many bytes of its output to keep.
const MAX_OUTPUT: usize = 4096;

#[async_trait]
impl ScreenCapture for Android {
    async fn start_recording(
        &self,
        options: &RecordingOptions,
    ) -> Result<Box<dyn Recording>, Error> {
        let duration = match options.time_limit {
            duration if duration > LIMIT && !self.supports_long_recording().await? => LIMIT,
            duration => duration,
        };
        // In whole seconds; 0 would mean no recording, or no limit.
        let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
        let duration = Duration::from_secs(seconds.clamp(1, u64::from(u32::MAX)));
        let line = record_command(options, duration)?;
        let running = RunningCommand::start(&*self.transport, line.as_str()).await;
        let mut recorder = Recorder {
            transport: Arc::clone(&self.transport),
            running: running.map_err(|error| transport_error(error, SideEffect::None))?,
            process: 0,
            path: options.path.clone(),
            duration,
            output: Vec::new(),
            interrupted: false,
            end: None,
            has_journal: true,
        };
        recorder.read_process().await?;
        let beginning = if self.legacy.is_some() { RECORDING_BEGINS } else { BEGINNING };
        let _ = timeout(beginning, recorder.wait()).await;
        if recorder.end.is_none() && recorder.has_complained() {
            let _ = timeout(FAILING, recorder.wait()).await;
        }
        match recorder.end {
            None => {}
            Some(RecorderExit::Lost) => return Err(lost()),
            // Also with status 0: nothing can have been recorded in so short a time.
            Some(RecorderExit::Status(_)) => {
                let failed = recorder.outcome().err().unwrap_or_else(|| recorder.failure(""));
                recorder.discard_empty().await;
                recorder.forget_journal().await;
                return Err(encoder_refusal(failed));
            }
        }
        Ok(Box::new(recorder))
    }

    async fn left_recordings(&self) -> Result<Vec<(String, Box<dyn Recording>)>, Error> {
        let output = self.ask(left_command()).await?;
        let left = output.out.lines().filter_map(read_journal);
        let left = left.map(|(process, path)| {
            let transport = Arc::clone(&self.transport);
            (path.to_owned(), Box::new(LeftRecording { transport, process }) as Box<dyn Recording>)
        });
        Ok(left.collect())
    }

    async fn watch_screen(&self) -> Result<Option<ScreenWatch>, Error> {
        self.watch_by_helper().await
    }
}

impl Android {
    /// Whether `screenrecord` can record more than three minutes: Android 14's help says how to
    /// remove the limit, earlier ones call the same number the maximum.
    async fn supports_long_recording(&self) -> Result<bool, Error> {
        let output = self.ask(ShellCommand::new("screenrecord --help")).await?;
        Ok([output.out, output.err].iter().any(|text| text.contains("remove the time limit")))
    }
}

/// How a journal's line begins and ends, with the process id and the path in between.
const HEAD: &str = "thumbwire-recording 1 ";
const END: &str = " end";

/// Prints its process id and writes its journal, then becomes `screenrecord`.
fn record_command(options: &RecordingOptions, duration: Duration) -> Result<ShellCommand, Error> {
    let seconds = u32::try_from(duration.as_secs()).unwrap_or(u32::MAX);
    let line = ShellCommand::new("echo $$; echo").arg(HEAD.trim_end())?.then("$$");
    let line = line.arg(&options.path)?;
    let line = line.then("end 2>/dev/null > /data/local/tmp/thumbwire-recording-$$;");
    let mut line = line.then("exec screenrecord --time-limit").number(seconds);
    if let Some(rate) = options.bit_rate {
        line = line.then("--bit-rate").number(rate);
    }
    if let Some(size) = options.size {
        line = line.then("--size").arg(&format!("{}x{}", size.width, size.height))?;
    }
    line.then("--").arg(&options.path)
}

/// Prints the journals of recordings whose process has ended.
fn left_command() -> ShellCommand {
    ShellCommand::new(
        "for f in /data/local/tmp/thumbwire-recording-*; do [ -f $f ] || continue; \
         case \"$(cat /proc/${f##*-}/cmdline 2>/dev/null)\" in *screenrecord*) ;; \
         *) cat $f 2>/dev/null;; esac; done",
    )
}

fn forget_command(process: u32) -> ShellCommand {
    let line = ShellCommand::new("set --").number(process);
    line.then("; rm -f /data/local/tmp/thumbwire-recording-$1")
}

/// The process and the file of a journal; `None` if it is truncated or none of ours.
fn read_journal(line: &str) -> Option<(u32, &str)> {
    let (process, path) = line.trim_end().strip_prefix(HEAD)?.strip_suffix(END)?.split_once(' ')?;
    Some((process.parse().ok()?, path))
}

/// Removes a file without content. `screenrecord` creates its file before it asks for an encoder.
fn discard_command(path: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("[ -s").arg(path)?.then("] || rm -f --").arg(path)
}

/// Interrupts the process if it is still `screenrecord`: process ids are reused.
fn interrupt_command(process: u32) -> ShellCommand {
    ShellCommand::new("set --")
        .number(process)
        .then("; case \"$(cat /proc/$1/cmdline 2>/dev/null)\" in *screenrecord*) kill -2 $1;; esac")
}

/// Printed if a process does not end.
const GOES_ON: &str = "goes on";

/// Waits up to 20 seconds until the process is gone. It has been sent a hangup; if it is still
/// running after five seconds, it is interrupted.
fn wait_for_exit_command(process: u32) -> ShellCommand {
    ShellCommand::new("set --").number(process).then(
        "; n=0; while case \"$(cat /proc/$1/cmdline 2>/dev/null)\" in *screenrecord*) true;; *) false;; esac; do \
         n=$((n+1)); if [ $n -eq 6 ]; then kill -2 $1; fi; if [ $n -gt 20 ]; then echo process $1 goes on; break; fi; \
         sleep 1; done",
    )
}

struct Recorder {
    transport: Arc<dyn Transport>,
    running: RunningCommand,
    process: u32,
    path: String,
    duration: Duration,
    output: Vec<u8>,
    interrupted: bool,
    end: Option<RecorderExit>,
    has_journal: bool,
}

/// How the stream of a recording ended.
#[derive(Clone, Copy)]
enum RecorderExit {
    /// With the program, and its exit status if the phone reports one.
    Status(Option<i32>),
    /// With the connection; the result is unknown.
    Lost,
}

impl Recorder {
    /// Reads its first line that is a number, the process id.
    async fn read_process(&mut self) -> Result<(), Error> {
        loop {
            if let Some(end) = self.output.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.output.drain(..=end).collect();
                if let Ok(process) = String::from_utf8_lossy(&line).trim().parse() {
                    self.process = process;
                    return Ok(());
                }
                continue;
            }
            match self.read().await {
                None => {}
                Some(RecorderExit::Lost) => return Err(lost()),
                Some(RecorderExit::Status(_)) => {
                    return Err(Error::Failed {
                        what: "record the screen",
                        text: excerpt(&self.output),
                    });
                }
            }
        }
    }

    /// Reads more output. Cancel safe.
    async fn read(&mut self) -> Option<RecorderExit> {
        if self.end.is_none() {
            match self.running.next().await {
                Ok(OutputChunk::Out(bytes) | OutputChunk::Err(bytes)) => {
                    let room = MAX_OUTPUT.saturating_sub(self.output.len());
                    self.output.extend(bytes.iter().take(room));
                }
                Ok(OutputChunk::End(status)) => self.end = Some(RecorderExit::Status(status)),
                Err(_) => self.end = Some(RecorderExit::Lost),
            }
        }
        self.end
    }

    /// Runs a command on its own stream and returns its output.
    async fn ask(&self, line: ShellCommand) -> Result<String, Error> {
        let output = shell::run(&*self.transport, line.as_str()).await;
        let output =
            output.map_err(|error| match transport_error(error, SideEffect::Possible) {
                // The command did not run, which says nothing about the recording: it may still be
                // running.
                Error::Failed { text: message, .. } => {
                    Error::NotReady { what: "stop the recording", text: message }
                }
                error => error,
            })?;
        let message = [output.stdout, output.stderr].concat();
        Ok(String::from_utf8_lossy(&message).trim().to_owned())
    }

    /// Whether it has reported an error so far, perhaps one that it can recover from.
    fn has_complained(&self) -> bool {
        String::from_utf8_lossy(&self.output).lines().any(|line| line.starts_with("ERROR: "))
    }

    /// Removes the file of a recording that failed, if it has no content. If that fails, the error
    /// of the recording is still the one to report.
    async fn discard_empty(&self) {
        let Ok(line) = discard_command(&self.path) else { return };
        if let Err(error) = self.ask(line).await {
            tracing::warn!("cannot remove the empty file {}: {error}", self.path);
        }
    }

    /// Removes the journal of a recording that has ended: its file is this program's now.
    async fn forget_journal(&mut self) {
        if self.has_journal && self.ask(forget_command(self.process)).await.is_ok() {
            self.has_journal = false;
        }
    }

    /// Whether an ended recording succeeded.
    fn outcome(&self) -> Result<(), Error> {
        let output = String::from_utf8_lossy(&self.output);
        let failed = match self.end {
            Some(RecorderExit::Status(Some(status))) => status != 0,
            Some(RecorderExit::Status(None)) => complains(&output),
            Some(RecorderExit::Lost) | None => false,
        };
        let status = match self.end {
            Some(RecorderExit::Status(Some(status))) => format!(" (exit status {status})"),
            _ => String::new(),
        };
        if failed { Err(self.failure(&status)) } else { Ok(()) }
    }

    fn failure(&self, status: &str) -> Error {
        Error::Failed {
            what: "record the screen",
            text: format!("{}{status}", excerpt(&self.output)),
        }
    }
}

fn lost() -> Error {
    let reason = "the connection ended while the recording was starting".into();
    Error::NotConnected { reason, acted: SideEffect::Possible }
}

/// The error for a recording that did not start, if the phone's encoder is the reason: nothing was
/// recorded, and the same request will fail again. The words are those of `screenrecord.cpp`
/// (captures, and a real Android 4.4.4).
fn encoder_refusal(error: Error) -> Error {
    const REFUSALS: [&str; 5] = [
        "video/avc codec",
        "encoder input surface",
        "output buffers",
        "Encoder failed",
        "supported by codec",
    ];
    match error {
        Error::Failed { text, .. } if REFUSALS.iter().any(|refusal| text.contains(refusal)) => {
            Error::Refused {
                what: "recording",
                reason: format!(
                    "the phone's video encoder does not accept it, and no file was left: {text}. \
                 A smaller size may work; otherwise take screenshots"
                ),
            }
        }
        error => error,
    }
}

/// Whether the output reports a failure, for phones without an exit status. If the screen is too
/// large for the encoder, it retries with a smaller size; messages about that are not failures.
fn complains(text: &str) -> bool {
    let after = text
        .rsplit_once("retrying at")
        .map_or(text, |(_, after)| after.split_once('\n').map_or("", |(_, after)| after));
    after.lines().any(|line| !line.trim().is_empty() && !line.starts_with("WARNING: "))
}

#[async_trait]
impl Recording for Recorder {
    fn process(&self) -> u32 {
        self.process
    }

    fn time_limit(&self) -> Duration {
        self.duration
    }

    async fn stop(&mut self) -> Result<(), Error> {
        if self.end.is_none() && !self.interrupted {
            // Set even if this call is cancelled: a second signal would kill it.
            self.interrupted = true;
            let interrupt = self.ask(interrupt_command(self.process)).await;
            if let Err(error) = interrupt {
                self.interrupted = error.acted() == SideEffect::Possible;
                // If the connection ended, so did the recording's own stream; the next call
                // reconnects.
                if timeout(BEGINNING, self.wait()).await.is_err() {
                    return Err(error);
                }
            }
        }
        self.wait().await;
        // Without a status, an adb server that lost the phone ends the stream just like the program
        // would.
        if matches!(self.end, Some(RecorderExit::Lost | RecorderExit::Status(None))) {
            let output = self.ask(wait_for_exit_command(self.process)).await?;
            if output.ends_with(GOES_ON) {
                return Err(Error::NotReady { what: "stop the recording", text: excerpt(&output) });
            }
        }
        let outcome = self.outcome();
        if outcome.is_err() {
            self.discard_empty().await;
        }
        self.forget_journal().await;
        outcome
    }

    async fn wait(&mut self) {
        while self.read().await.is_none() {}
        if matches!(self.end, Some(RecorderExit::Status(_))) {
            self.forget_journal().await;
        }
    }
}

/// A recording that ended with the program that had started it.
struct LeftRecording {
    transport: Arc<dyn Transport>,
    process: u32,
}

#[async_trait]
impl Recording for LeftRecording {
    fn process(&self) -> u32 {
        self.process
    }

    fn time_limit(&self) -> Duration {
        Duration::ZERO
    }

    async fn stop(&mut self) -> Result<(), Error> {
        let forgotten = shell::run(&*self.transport, forget_command(self.process).as_str()).await;
        forgotten.map(drop).map_err(|error| transport_error(error, SideEffect::None))
    }

    async fn wait(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;

    #[test]
    fn recording_command_quotes_the_path() {
        let mut options = RecordingOptions {
            path: "/sdcard/a b's; reboot.mp4".into(),
            time_limit: LIMIT,
            bit_rate: None,
            size: None,
        };
        let command = |options: &RecordingOptions| {
            record_command(options, options.time_limit).unwrap().as_str().to_owned()
        };
        let path = r"'/sdcard/a b'\''s; reboot.mp4'";
        let journal = format!(
            "echo $$; echo 'thumbwire-recording 1' $$ {path} end 2>/dev/null > /data/local/tmp/thumbwire-recording-$$;"
        );
        let plain = format!("{journal} exec screenrecord --time-limit 180 -- {path}");
        assert_eq!(command(&options), plain);
        options.bit_rate = Some(4_000_000);
        options.size = Some(Size { width: 720, height: 1280 });
        let full = format!(
            "{journal} exec screenrecord --time-limit 180 --bit-rate 4000000 --size '720x1280' -- {path}"
        );
        assert_eq!(command(&options), full);
        options.path.push('\0');
        assert!(record_command(&options, LIMIT).is_err());
    }

    #[test]
    fn whole_journals_are_read() {
        let line = "thumbwire-recording 1 1234 /sdcard/a b.mp4 end";
        assert_eq!(read_journal(&format!("{line}\r")), Some((1234, "/sdcard/a b.mp4")));
        for kept in 0..line.len() {
            assert_eq!(read_journal(&line[..kept]), None, "{}", &line[..kept]);
        }
        assert_eq!(read_journal("thumbwire-recording 2 1 /sdcard/a.mp4 end"), None);
        assert_eq!(
            forget_command(7).as_str(),
            "set -- 7 ; rm -f /data/local/tmp/thumbwire-recording-$1"
        );
    }

    #[test]
    fn empty_file_is_removed_by_its_quoted_path() {
        let line = discard_command("/sdcard/a b.mp4").unwrap();
        assert_eq!(line.as_str(), "[ -s '/sdcard/a b.mp4' ] || rm -f -- '/sdcard/a b.mp4'");
    }

    /// The words of a real Android 4.4.4 without an encoder, and of the captures.
    #[test]
    fn refusal_by_the_encoder_is_recognized() {
        let refusals = [
            "ERROR: unable to create video/avc codec instance\r\nWARNING: failed at 480x800, retrying at 720x1280\r\n\
             ERROR: unable to create video/avc codec instance\r\n",
            "ERROR: unable to create encoder input surface (err=-38)\n",
            "Unable to get output buffers (err=-38)\nEncoder failed (err=-38)\nStopping encoder and muxer\n",
            "ERROR: unable to configure video/avc codec at 1920x1080 (err=-22)\n\
             WARNING: failed at 1920x1080, retrying at 1280x720\n\
             ERROR: unable to configure video/avc codec at 1280x720 (err=-22)\n",
        ];
        for output in refusals {
            assert!(complains(output), "{output}");
            let error = Error::Failed { what: "record the screen", text: excerpt(output) };
            let error = encoder_refusal(error);
            assert!(matches!(error, Error::Refused { .. }), "{error}");
            assert!(
                error.to_string().contains("no file was left") && !error.to_string().contains('\r')
            );
        }
        let missing =
            Error::Failed { what: "record the screen", text: "screenrecord: not found".into() };
        assert!(matches!(encoder_refusal(missing), Error::Failed { .. }));
    }

    #[test]
    fn output_tells_success_if_there_is_no_status() {
        let linker = "WARNING: linker: libdvm.so has text relocations.\r\n";
        let retried = "ERROR: unable to configure video/avc codec at 1920x1080 (err=-22)\r\n\
                       WARNING: failed at 1920x1080, retrying at 1280x720\r\n";
        for output in ["", "\r\n", linker, retried] {
            assert!(!complains(output), "{output:?}");
        }
        let failed = format!("{retried}ERROR: unable to configure video/avc codec (err=-22)\r\n");
        for output in ["/system/bin/sh: screenrecord: not found\r\n", &failed, "Encoder failed\n"] {
            assert!(complains(output), "{output:?}");
        }
    }
}

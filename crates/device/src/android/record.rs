//! Recordings, by the phone's `screenrecord`.
//!
//! Begin with [`Android::begin_recording`]. The program writes the index of its file when it ends, so it must end in order:
//! by its time, or by one `SIGINT` or `SIGHUP`. At the first of them it puts the default handlers back, so that a second one
//! kills it in the middle of that (`signalCatcher` in AOSP's `screenrecord.cpp`): exactly one is sent, and adbd sends one by
//! itself where the stream or the connection is lost.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::Transport;
use thumbwire_adb::services::shell::{self, Piece, Running};
use tokio::time::timeout;

use super::{Android, Line, unreached};
use crate::error::excerpt;
use crate::{Acted, Error, Recording, RecordingWish};

/// The longest recording of phones whose `screenrecord` has a limit (`kMaxTimeLimitSec`).
const LIMIT: Duration = Duration::from_secs(180);

/// How long a recording is watched until it counts as begun. One that cannot be is over in less: its options are read
/// before anything else, and the encoder is asked next.
const BEGINNING: Duration = Duration::from_millis(300);

/// Bytes of its words that are kept.
const WORDS: usize = 4096;

impl Android {
    pub(super) async fn begin_recording(
        &self,
        wish: &RecordingWish,
    ) -> Result<Box<dyn Recording>, Error> {
        let lasting = match wish.lasting {
            lasting if lasting > LIMIT && !self.records_for_long().await? => LIMIT,
            lasting => lasting,
        };
        // In whole seconds; 0 is no time to record, or all of it.
        let whole = lasting.as_secs() + u64::from(lasting.subsec_nanos() > 0);
        let lasting = Duration::from_secs(whole.clamp(1, u64::from(u32::MAX)));
        let line = record_command(wish, lasting)?;
        let running = Running::start(&*self.transport, line.as_str()).await;
        let mut recorder = Recorder {
            transport: Arc::clone(&self.transport),
            running: running.map_err(|error| unreached(error, Acted::No))?,
            process: 0,
            lasting,
            said: Vec::new(),
            interrupted: false,
            end: None,
        };
        recorder.read_process().await?;
        let _ = timeout(BEGINNING, recorder.ended()).await;
        match recorder.end {
            None => {}
            Some(End::Lost) => return Err(lost()),
            Some(End::Told(_)) => recorder.outcome()?,
        }
        Ok(Box::new(recorder))
    }

    /// Whether `screenrecord` takes more than three minutes: Android 14's says in its help how its limit is removed, earlier
    /// ones call the same number their maximum.
    async fn records_for_long(&self) -> Result<bool, Error> {
        let said = self.ask(Line::new("screenrecord --help")).await?;
        Ok([said.out, said.err].iter().any(|said| said.contains("remove the time limit")))
    }
}

/// Prints the number of its process, which becomes `screenrecord`.
fn record_command(wish: &RecordingWish, lasting: Duration) -> Result<Line, Error> {
    let seconds = u32::try_from(lasting.as_secs()).unwrap_or(u32::MAX);
    let mut line = Line::new("echo $$; exec screenrecord --time-limit").number(seconds);
    if let Some(rate) = wish.bit_rate {
        line = line.then("--bit-rate").number(rate);
    }
    if let Some(size) = wish.size {
        line = line.then("--size").word(&format!("{}x{}", size.width, size.height))?;
    }
    line.then("--").word(&wish.path)
}

/// Interrupts that process, if it still is what it was: numbers are used again.
fn interrupt_command(process: u32) -> Line {
    Line::new("set --")
        .number(process)
        .then("; case \"$(cat /proc/$1/cmdline 2>/dev/null)\" in *screenrecord*) kill -2 $1;; esac")
}

/// What is said of a process that does not end.
const GOES_ON: &str = "goes on";

/// Waits until that process is gone, for 20 seconds at most. It has been told to hang up; where it is still there after
/// five, it is interrupted.
fn outlast_command(process: u32) -> Line {
    Line::new("set --").number(process).then(
        "; n=0; while case \"$(cat /proc/$1/cmdline 2>/dev/null)\" in *screenrecord*) true;; *) false;; esac; do \
         n=$((n+1)); if [ $n -eq 6 ]; then kill -2 $1; fi; if [ $n -gt 20 ]; then echo process $1 goes on; break; fi; \
         sleep 1; done",
    )
}

struct Recorder {
    transport: Arc<dyn Transport>,
    running: Running,
    process: u32,
    lasting: Duration,
    said: Vec<u8>,
    interrupted: bool,
    end: Option<End>,
}

/// How the stream of a recording ended.
#[derive(Clone, Copy)]
enum End {
    /// With the program, and its exit status where the phone tells it.
    Told(Option<i32>),
    /// With the connection, and nobody knows how the program did.
    Lost,
}

impl Recorder {
    /// Reads its first line.
    async fn read_process(&mut self) -> Result<(), Error> {
        loop {
            if let Some(end) = self.said.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.said.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line).into_owned();
                let said = || excerpt(&line);
                self.process = line
                    .trim()
                    .parse()
                    .map_err(|_| Error::Unreadable { command: "echo $$".into(), said: said() })?;
                return Ok(());
            }
            match self.read().await {
                None => {}
                Some(End::Lost) => return Err(lost()),
                Some(End::Told(_)) => {
                    return Err(Error::Failed {
                        what: "record the screen",
                        said: excerpt(&self.said),
                    });
                }
            }
        }
    }

    /// Reads on. Safe to be cancelled.
    async fn read(&mut self) -> Option<End> {
        if self.end.is_none() {
            match self.running.next().await {
                Ok(Piece::Out(bytes) | Piece::Err(bytes)) => {
                    let room = WORDS.saturating_sub(self.said.len());
                    self.said.extend(bytes.iter().take(room));
                }
                Ok(Piece::End(status)) => self.end = Some(End::Told(status)),
                Err(_) => self.end = Some(End::Lost),
            }
        }
        self.end
    }

    /// Runs a line on a stream of its own, and gives what it said.
    async fn ask(&self, line: Line) -> Result<String, Error> {
        let output = shell::run(&*self.transport, line.as_str()).await;
        let output = output.map_err(|error| match unreached(error, Acted::Maybe) {
            // The line did not run: that tells nothing of the recording, which goes on.
            Error::Failed { said, .. } => Error::NotReady { what: "end the recording", said },
            error => error,
        })?;
        let said = [output.stdout, output.stderr].concat();
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// Whether what has ended did record.
    fn outcome(&self) -> Result<(), Error> {
        let said = String::from_utf8_lossy(&self.said);
        let failed = match self.end {
            Some(End::Told(Some(status))) => status != 0,
            Some(End::Told(None)) => complains(&said),
            Some(End::Lost) | None => false,
        };
        let status = match self.end {
            Some(End::Told(Some(status))) => format!(" (exit status {status})"),
            _ => String::new(),
        };
        let said = format!("{}{status}", excerpt(&*said));
        if failed { Err(Error::Failed { what: "record the screen", said }) } else { Ok(()) }
    }
}

fn lost() -> Error {
    let why = "the connection ended as the recording began".into();
    Error::NotConnected { why, acted: Acted::Maybe }
}

/// Whether it says that it failed, where no status tells. A screen that is too large for the encoder is tried again in a
/// smaller size; what is said of that is no failure.
fn complains(said: &str) -> bool {
    let after = said
        .rsplit_once("retrying at")
        .map_or(said, |(_, after)| after.split_once('\n').map_or("", |(_, after)| after));
    after.lines().any(|line| !line.trim().is_empty() && !line.starts_with("WARNING: "))
}

#[async_trait]
impl Recording for Recorder {
    fn process(&self) -> u32 {
        self.process
    }

    fn lasting(&self) -> Duration {
        self.lasting
    }

    async fn stop(&mut self) -> Result<(), Error> {
        if self.end.is_none() && !self.interrupted {
            // Even if this call is given up: a second signal would kill it.
            self.interrupted = true;
            let interrupt = self.ask(interrupt_command(self.process)).await;
            if let Err(error) = interrupt {
                self.interrupted = error.acted() == Acted::Maybe;
                // Where the connection ended, the recording's own stream did too; the next one connects anew.
                if timeout(BEGINNING, self.ended()).await.is_err() {
                    return Err(error);
                }
            }
        }
        self.ended().await;
        // Without a status, an adb server that lost the phone ends the stream as the program would.
        if matches!(self.end, Some(End::Lost | End::Told(None))) {
            let said = self.ask(outlast_command(self.process)).await?;
            if said.ends_with(GOES_ON) {
                return Err(Error::NotReady { what: "end the recording", said: excerpt(&said) });
            }
        }
        self.outcome()
    }

    async fn ended(&mut self) {
        while self.read().await.is_none() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;

    #[test]
    fn a_wish_becomes_one_command_whose_path_is_one_word() {
        let mut wish = RecordingWish {
            path: "/sdcard/a b's; reboot.mp4".into(),
            lasting: LIMIT,
            bit_rate: None,
            size: None,
        };
        let command =
            |wish: &RecordingWish| record_command(wish, wish.lasting).unwrap().as_str().to_owned();
        let path = r"'/sdcard/a b'\''s; reboot.mp4'";
        let plain = format!("echo $$; exec screenrecord --time-limit 180 -- {path}");
        assert_eq!(command(&wish), plain);
        wish.bit_rate = Some(4_000_000);
        wish.size = Some(Size { width: 720, height: 1280 });
        let full = format!(
            "echo $$; exec screenrecord --time-limit 180 --bit-rate 4000000 --size '720x1280' -- {path}"
        );
        assert_eq!(command(&wish), full);
        wish.path.push('\0');
        assert!(record_command(&wish, LIMIT).is_err());
    }

    #[test]
    fn without_a_status_the_words_tell_whether_it_recorded() {
        let linker = "WARNING: linker: libdvm.so has text relocations.\r\n";
        let retried = "ERROR: unable to configure video/avc codec at 1920x1080 (err=-22)\r\n\
                       WARNING: failed at 1920x1080, retrying at 1280x720\r\n";
        for said in ["", "\r\n", linker, retried] {
            assert!(!complains(said), "{said:?}");
        }
        let failed = format!("{retried}ERROR: unable to configure video/avc codec (err=-22)\r\n");
        for said in ["/system/bin/sh: screenrecord: not found\r\n", &failed, "Encoder failed\n"] {
            assert!(complains(said), "{said:?}");
        }
    }
}

//! Follows one log and writes it to a file.
//!
//! ```text
//! following ──(phone lost, log ended)──► waiting 1, 2, 4 … 30 s ──(phone back)──► following
//!     │                                        │ no log on this phone, filter refused
//!     └──(disk full, file too long)──► ended ◄─┘            (stopped: from any state, at once)
//! ```

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::{Device, Error, LogEntry, LogFilter, LogStream};
use tokio::fs::File;
use tokio::io::{AsyncWriteExt as _, BufWriter};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::super::connections::Connections;
use super::State;
use crate::action::Failure;

/// The first and the longest delay before reconnecting to a phone.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_secs(30);

/// How long a phone may take to answer, or to reopen its log.
const OPENING: Duration = Duration::from_secs(15);

/// How long a log may be silent before the phone is probed.
const SILENCE: Duration = Duration::from_secs(30);

/// The maximum size of a log file, in bytes.
const MAX_FILE: u64 = 1 << 30;

/// Follows a log.
pub(super) struct Follower {
    /// The phone's id.
    pub(super) phone: String,
    /// The session's phones, to reconnect to one that was lost.
    pub(super) connections: Arc<Connections>,
    /// The connection in use.
    pub(super) device: Arc<dyn Device>,
    pub(super) filter: LogFilter,
    pub(super) file: Option<LogFile>,
    pub(super) state: Arc<State>,
    /// The last entry received.
    pub(super) last: Option<LogEntry>,
}

/// Why following stopped for now.
enum FollowError {
    /// The phone is lost, or it ended its log.
    Lost(String),
    /// For good.
    Over(String),
}

impl Follower {
    /// Follows until stopped or ended.
    pub(super) async fn run(mut self, stream: Box<dyn LogStream>, stop: CancellationToken) {
        let ended = stop.run_until_cancelled(self.follow(stream)).await;
        if let Some(reason) = closed(self.file.as_mut(), ended).await {
            tracing::warn!("stopped following the log of {}: {reason}", self.phone);
            *lock(&self.state.ended) = Some((reason, Instant::now()));
        }
    }

    /// Follows until it ends for good; returns the reason.
    async fn follow(&mut self, mut stream: Box<dyn LogStream>) -> String {
        let mut wait = FIRST_WAIT;
        loop {
            let before = self.state.entries.load(Ordering::SeqCst);
            let reason = match self.read(stream).await {
                FollowError::Over(reason) => return reason,
                FollowError::Lost(reason) => reason,
            };
            if self.state.entries.load(Ordering::SeqCst) > before {
                wait = FIRST_WAIT;
            }
            let lost = Instant::now();
            if let Err(full) = self.note(&format!("following interrupted: {reason}")).await {
                return full;
            }
            stream = loop {
                sleep(wait).await;
                wait = (wait * 2).min(MAX_WAIT);
                match self.reopen().await {
                    Ok(stream) => break stream,
                    Err(FollowError::Over(reason)) => return reason,
                    Err(FollowError::Lost(reason)) => tracing::debug!("{}: {reason}", self.phone),
                }
            };
            let gap = lost.elapsed().as_secs_f64();
            if let Err(full) = self.note(&format!("following resumed after {gap:.0} s")).await {
                return full;
            }
        }
    }

    /// Reads and writes entries until there are no more.
    async fn read(&mut self, mut stream: Box<dyn LogStream>) -> FollowError {
        loop {
            let entry = match self.next(&mut *stream).await {
                Ok(Ok(Some(entry))) => entry,
                Ok(Ok(None)) => return FollowError::Lost("the phone ended its log".into()),
                Ok(Err(error)) => return lost(&error),
                Err(reason) => return reason,
            };
            if let Some(file) = &mut self.file
                && let Err(full) = file.write(&line(&entry)).await
            {
                return FollowError::Over(full);
            }
            self.state.entries.fetch_add(1, Ordering::SeqCst);
            self.last = Some(entry);
        }
    }

    /// The next entry. Entries that arrive together are written together, and flushed as soon as
    /// the log is silent. After a long silence the phone is probed: nothing else reveals a
    /// connection that broke without a reset.
    async fn next(
        &mut self,
        stream: &mut dyn LogStream,
    ) -> Result<Result<Option<LogEntry>, Error>, FollowError> {
        let mut next = pin!(stream.next());
        let ready = tokio::select! {
            biased;
            next = &mut next => Some(next),
            () = std::future::ready(()) => None,
        };
        if let Some(next) = ready {
            return Ok(next);
        }
        if let Some(file) = &mut self.file {
            file.flush().await.map_err(FollowError::Over)?;
        }
        loop {
            if let Ok(next) = timeout(SILENCE, &mut next).await {
                return Ok(next);
            }
            match timeout(OPENING, self.device.probe()).await {
                Ok(Err(error @ Error::NotConnected { .. })) => {
                    return Err(FollowError::Lost(error.to_string()));
                }
                Ok(_) => {}
                Err(_) => return Err(FollowError::Lost("the phone stopped answering".into())),
            }
        }
    }

    /// The connected phone: the session's connection or a new one. It may still turn out not to
    /// answer.
    async fn connected(&self) -> Result<Arc<dyn Device>, Failure> {
        if let Some(attached) = self.connections.get(&self.phone) {
            return Ok(attached.device);
        }
        let turn = self.connections.opening_turn(&self.phone);
        let _turn = turn.lock().await;
        let attached = match self.connections.get(&self.phone) {
            Some(attached) => attached,
            None => {
                let device = self.connections.open(&self.phone).await?;
                self.connections.keep(&self.phone, device)
            }
        };
        Ok(attached.device)
    }

    /// Reopens the log after the last entry.
    async fn reopen(&mut self) -> Result<Box<dyn LogStream>, FollowError> {
        let silent = || FollowError::Lost(format!("no answer within {OPENING:?}"));
        self.device = match timeout(OPENING, self.connected()).await {
            Ok(Ok(device)) => device,
            Ok(Err(failure)) => return Err(FollowError::Lost(failure.cause.to_string())),
            Err(_) => return Err(silent()),
        };
        let opening =
            async { self.device.logs()?.follow_logs(&self.filter, self.last.as_ref()).await };
        let reason = match timeout(OPENING, opening).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error @ Error::NotConnected { .. })) => lost(&error),
            Ok(Err(error)) => return Err(lost(&error)),
            Err(_) => silent(),
        };
        let output = match &reason {
            FollowError::Over(reason) | FollowError::Lost(reason) => reason,
        };
        self.connections.drop_connection(&self.phone, &self.device, output);
        Err(reason)
    }

    /// Writes a marker line to the file. `logcat` also starts its non-entry lines with dashes.
    async fn note(&mut self, text: &str) -> Result<(), String> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write(&format!("--------- {}\n", text.replace(['\r', '\n'], " "))).await?;
        file.flush().await
    }
}

/// Why it ended for good, if it did. Also flushes, and returns the error if counted entries cannot
/// be written.
async fn closed(file: Option<&mut LogFile>, ended: Option<String>) -> Option<String> {
    // Entries written before the disk was full are kept.
    let flushed = match file {
        Some(file) => file.flush().await,
        None => Ok(()),
    };
    ended.or(flushed.err())
}

/// Whether to retry after this error.
fn lost(error: &Error) -> FollowError {
    match error {
        Error::Unsupported { .. } | Error::Refused { .. } => FollowError::Over(error.to_string()),
        _ => FollowError::Lost(error.to_string()),
    }
}

/// An entry as `logcat -v threadtime -v year` shows it (AOSP's `liblog/logprint.cpp`).
fn line(entry: &LogEntry) -> String {
    let LogEntry { time, priority, tag, pid, tid, message } = entry;
    let time = time.replace('T', " ");
    // Milliseconds only, unless there are microseconds.
    let time = time.strip_suffix("000").unwrap_or(&time);
    let level = priority.letter();
    format!("{time} {pid:5} {tid:5} {level} {tag:<8}: {message}\n")
}

/// A log file.
pub(super) struct LogFile {
    file: BufWriter<File>,
    bytes: u64,
}

impl LogFile {
    pub(super) fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), bytes: 0 }
    }

    async fn write(&mut self, line: &str) -> Result<(), String> {
        self.bytes += line.len() as u64;
        if self.bytes > MAX_FILE {
            return Err(format!("the log file reached its maximum size of {} MiB", MAX_FILE >> 20));
        }
        self.file.write_all(line.as_bytes()).await.map_err(|error| full(&error))
    }

    async fn flush(&mut self) -> Result<(), String> {
        self.file.flush().await.map_err(|error| full(&error))
    }
}

fn full(error: &std::io::Error) -> String {
    format!("cannot write the log file: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_is_formatted_like_logcat() {
        let mut entry = LogEntry {
            time: "2024-09-01T12:13:14.123000".into(),
            priority: thumbwire_device::Priority::Info,
            tag: "ActivityManager".into(),
            pid: 1234,
            tid: 56789,
            message: "Displayed: x".into(),
        };
        let shown = "2024-09-01 12:13:14.123  1234 56789 I ActivityManager: Displayed: x\n";
        assert_eq!(line(&entry), shown);
        entry.time = "2024-09-01T12:13:14.123456".into();
        assert!(line(&entry).starts_with("2024-09-01 12:13:14.123456  1234"));
    }

    /// `/dev/full` exists on Linux only.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn full_disk_is_reported_on_flush() {
        let full = File::options().write(true).open("/dev/full").await.unwrap();
        let mut file = LogFile::new(full);
        file.write("entry\n").await.unwrap();
        let reason = file.flush().await.unwrap_err();
        assert!(reason.starts_with("cannot write the log file: No space left"), "{reason}");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn stopped_log_reports_unwritten_entries() {
        let full = File::options().write(true).open("/dev/full").await.unwrap();
        let mut file = LogFile::new(full);
        file.write("entry\n").await.unwrap();
        let reason = closed(Some(&mut file), None).await.unwrap();
        assert!(reason.contains("No space left"), "{reason}");
        assert_eq!(closed(Some(&mut file), Some("first".into())).await.unwrap(), "first");
        assert_eq!(closed(None, None).await, None);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn log_file_is_limited_to_one_gibibyte() {
        let null = File::options().write(true).open("/dev/null").await.unwrap();
        let mut file = LogFile { file: BufWriter::new(null), bytes: MAX_FILE - 6 };
        file.write("entry\n").await.unwrap();
        assert_eq!(
            file.write("x").await.unwrap_err(),
            "the log file reached its maximum size of 1024 MiB"
        );
    }
}

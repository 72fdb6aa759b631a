//! Whoever follows one log, and writes it down.
//!
//! ```text
//! following ──(phone lost, log ended)──► waiting 1, 2, 4 … 30 s ──(phone there)──► following
//!     │                                        │ this phone has no log, the filter is refused
//!     └──(disk full, file too long)──► ended ◄─┘            (stopped: from wherever it is, at once)
//! ```

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_device::{Device, Error, LogEntry, LogFilter, LogStream};
use tokio::fs::File;
use tokio::io::{AsyncWriteExt as _, BufWriter};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::super::{Known, Phones, lock};
use super::State;
use crate::action::Failure;

/// How long the first and the longest wait for a phone is.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long a phone may take to answer, or to open its log once more.
const OPENING: Duration = Duration::from_secs(15);

/// After how long a silence a phone is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(30);

/// How long a file of a log may grow, in bytes.
const LONGEST_FILE: u64 = 1 << 30;

/// What follows a log.
pub(super) struct Follower {
    pub(super) way: Way,
    /// The connection over which it follows.
    pub(super) device: Arc<dyn Device>,
    pub(super) filter: LogFilter,
    pub(super) page: Option<Page>,
    pub(super) state: Arc<State>,
    /// The last entry that came.
    pub(super) last: Option<LogEntry>,
}

/// Why it follows no more for now.
enum Break {
    /// The phone is lost, or has ended its log.
    Lost(String),
    /// For good.
    Over(String),
}

impl Follower {
    /// Follows until it is stopped, or ends for good.
    pub(super) async fn run(mut self, stream: Box<dyn LogStream>, stop: CancellationToken) {
        let ended = stop.run_until_cancelled(self.follow(stream)).await;
        if let Some(why) = closed(self.page.as_mut(), ended).await {
            tracing::warn!("the log of {} is followed no more: {why}", self.way.device);
            *lock(&self.state.ended) = Some((why, Instant::now()));
        }
    }

    /// Follows until it ends for good; gives why.
    async fn follow(&mut self, mut stream: Box<dyn LogStream>) -> String {
        let mut wait = FIRST_WAIT;
        loop {
            let before = self.state.entries.load(Ordering::SeqCst);
            let why = match self.read(stream).await {
                Break::Over(why) => return why,
                Break::Lost(why) => why,
            };
            if self.state.entries.load(Ordering::SeqCst) > before {
                wait = FIRST_WAIT;
            }
            let lost = Instant::now();
            if let Err(full) = self.note(&format!("not followed from here on: {why}")).await {
                return full;
            }
            stream = loop {
                sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
                match self.reopen().await {
                    Ok(stream) => break stream,
                    Err(Break::Over(why)) => return why,
                    Err(Break::Lost(why)) => tracing::debug!("{}: {why}", self.way.device),
                }
            };
            let gap = lost.elapsed().as_secs_f64();
            if let Err(full) = self.note(&format!("followed again after {gap:.0} s")).await {
                return full;
            }
        }
    }

    /// Reads and writes down what comes, until nothing more does.
    async fn read(&mut self, mut stream: Box<dyn LogStream>) -> Break {
        loop {
            let entry = match self.next(&mut *stream).await {
                Ok(Ok(Some(entry))) => entry,
                Ok(Ok(None)) => return Break::Lost("the phone ended its log".into()),
                Ok(Err(error)) => return lost(&error),
                Err(why) => return why,
            };
            if let Some(page) = &mut self.page
                && let Err(full) = page.write(&line(&entry)).await
            {
                return Break::Over(full);
            }
            self.state.entries.fetch_add(1, Ordering::SeqCst);
            self.last = Some(entry);
        }
    }

    /// What the log gives next. What came in one go is written in one go; a reader of the file sees it as soon as the log is
    /// silent. A phone that is silent for long is asked whether it is still there: of a connection that broke without a
    /// word nothing else would tell.
    async fn next(
        &mut self,
        stream: &mut dyn LogStream,
    ) -> Result<Result<Option<LogEntry>, Error>, Break> {
        let mut next = pin!(stream.next());
        let ready = tokio::select! {
            biased;
            next = &mut next => Some(next),
            () = std::future::ready(()) => None,
        };
        if let Some(next) = ready {
            return Ok(next);
        }
        if let Some(page) = &mut self.page {
            page.flush().await.map_err(Break::Over)?;
        }
        loop {
            if let Ok(next) = timeout(SILENCE, &mut next).await {
                return Ok(next);
            }
            match timeout(OPENING, self.device.probe()).await {
                Ok(Err(error @ Error::NotConnected { .. })) => {
                    return Err(Break::Lost(error.to_string()));
                }
                Ok(_) => {}
                Err(_) => return Err(Break::Lost("the phone stopped answering".into())),
            }
        }
    }

    /// The log once more, from the last entry on.
    async fn reopen(&mut self) -> Result<Box<dyn LogStream>, Break> {
        let silent = || Break::Lost(format!("no answer within {OPENING:?}"));
        self.device = match timeout(OPENING, self.way.device()).await {
            Ok(Ok(device)) => device,
            Ok(Err(failure)) => return Err(Break::Lost(failure.cause.to_string())),
            Err(_) => return Err(silent()),
        };
        let opening = self.device.follow_logs(&self.filter, self.last.as_ref());
        let why = match timeout(OPENING, opening).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error @ Error::NotConnected { .. })) => lost(&error),
            Ok(Err(error)) => return Err(lost(&error)),
            Err(_) => silent(),
        };
        self.way.let_go(&self.device);
        Err(why)
    }

    /// Notes in the file what is no entry. Lines that begin so are none to `logcat` either.
    async fn note(&mut self, words: &str) -> Result<(), String> {
        let Some(page) = &mut self.page else { return Ok(()) };
        page.write(&format!("--------- {}\n", words.replace(['\r', '\n'], " "))).await?;
        page.flush().await
    }
}

/// Why it ended for good, if it did. What was counted and cannot be written any more is told also where it was stopped.
async fn closed(page: Option<&mut Page>, ended: Option<String>) -> Option<String> {
    // Whatever was written before a full disk is there.
    let flushed = match page {
        Some(page) => page.flush().await,
        None => Ok(()),
    };
    ended.or(flushed.err())
}

/// Whether a phone that says so may be asked again.
fn lost(error: &Error) -> Break {
    match error {
        Error::Unsupported { .. } | Error::Refused { .. } => Break::Over(error.to_string()),
        _ => Break::Lost(error.to_string()),
    }
}

/// An entry as `logcat -v threadtime -v year` shows it (AOSP's `liblog/logprint.cpp`).
fn line(entry: &LogEntry) -> String {
    let LogEntry { time, priority, tag, pid, tid, message } = entry;
    let time = time.replace('T', " ");
    // Milliseconds, where there is no more to tell.
    let time = time.strip_suffix("000").unwrap_or(&time);
    let letter = priority.letter();
    format!("{time} {pid:5} {tid:5} {letter} {tag:<8}: {message}\n")
}

/// The file of a log.
pub(super) struct Page {
    file: BufWriter<File>,
    bytes: u64,
}

impl Page {
    pub(super) fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), bytes: 0 }
    }

    async fn write(&mut self, line: &str) -> Result<(), String> {
        self.bytes += line.len() as u64;
        if self.bytes > LONGEST_FILE {
            return Err(format!("its file has grown to {} MiB", LONGEST_FILE >> 20));
        }
        self.file.write_all(line.as_bytes()).await.map_err(|error| full(&error))
    }

    async fn flush(&mut self) -> Result<(), String> {
        self.file.flush().await.map_err(|error| full(&error))
    }
}

fn full(error: &std::io::Error) -> String {
    format!("its file cannot be written: {error}")
}

/// The way to a phone, which its session shares.
pub(super) struct Way {
    pub(super) device: String,
    pub(super) phones: Arc<Phones>,
    pub(super) known: Arc<Mutex<BTreeMap<String, Known>>>,
    pub(super) next_control: Arc<AtomicU32>,
}

impl Way {
    /// The phone, connected: as the session has it, or anew. That it answers is not said.
    async fn device(&self) -> Result<Arc<dyn Device>, Failure> {
        let known = lock(&self.known).get(&self.device).and_then(|known| known.device.clone());
        if let Some(device) = known {
            return Ok(device);
        }
        let device = self.phones.open(&self.device).await?;
        let attached = Known::keep(&self.known, &self.next_control, &self.device, device);
        Ok(Arc::clone(&attached.device))
    }

    /// Lets a connection go that has ended.
    fn let_go(&self, device: &Arc<dyn Device>) {
        if let Some(known) = lock(&self.known).get_mut(&self.device) {
            known.let_go(device);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_shown_as_logcat_shows_it() {
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

    /// Linux has a file for tests of this.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_full_disk_is_told_when_the_page_is_turned() {
        let full = File::options().write(true).open("/dev/full").await.unwrap();
        let mut page = Page::new(full);
        page.write("entry\n").await.unwrap();
        let why = page.flush().await.unwrap_err();
        assert!(why.starts_with("its file cannot be written: No space left"), "{why}");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_log_that_is_stopped_says_what_could_not_be_written() {
        let full = File::options().write(true).open("/dev/full").await.unwrap();
        let mut page = Page::new(full);
        page.write("entry\n").await.unwrap();
        let why = closed(Some(&mut page), None).await.unwrap();
        assert!(why.contains("No space left"), "{why}");
        assert_eq!(closed(Some(&mut page), Some("first".into())).await.unwrap(), "first");
        assert_eq!(closed(None, None).await, None);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_file_grows_to_a_gibibyte_and_no_further() {
        let null = File::options().write(true).open("/dev/null").await.unwrap();
        let mut page = Page { file: BufWriter::new(null), bytes: LONGEST_FILE - 6 };
        page.write("entry\n").await.unwrap();
        assert_eq!(page.write("x").await.unwrap_err(), "its file has grown to 1024 MiB");
    }
}

//! The log of Android, as Appium captures it from the beginning of the session (`POST /se/log`).
//!
//! Appium gives each line once, so that lines are kept here, the newest [`MAX_ENTRIES`] of them.
//! `logcat` on the phone is not cleared: clearing the log forgets what was read.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_webdriver::{MobileCommand, SessionCommand};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::client::{Operation, WebDriverClient};
use super::dialect::script;
use super::{WebDriverPhone, unreadable};
use crate::android::{LogLines, filter_takes};
use crate::phone_time::seconds_at;
use crate::{Error, LogEntry, LogFilter, LogStream, Logs};

const READ: Operation = Operation::new("read the log", "reading the log");
const CLOCK: Operation = Operation::new("tell the time", "reading the clock");

/// How many entries are kept. Appium keeps 10,000 itself.
const MAX_ENTRIES: usize = 10_000;

/// How often a log that is followed is asked for.
const PAUSE: Duration = Duration::from_secs(1);

/// What was read of the log, oldest first.
#[derive(Default)]
pub(super) struct LogBuffer(VecDeque<LogEntry>);

impl LogBuffer {
    fn push(&mut self, entries: Vec<LogEntry>) {
        self.0.extend(entries);
        let excess = self.0.len().saturating_sub(MAX_ENTRIES);
        self.0.drain(..excess);
    }
}

impl WebDriverPhone {
    async fn clock(&self) -> Result<String, Error> {
        read_clock(&self.client).await
    }
}

async fn read_clock(client: &WebDriverClient) -> Result<String, Error> {
    let command = MobileCommand::new("getDeviceTime").arg("format", "YYYY-MM-DDTHH:mm:ss");
    let response = client.read(CLOCK, script(command)).await?;
    let time = response.value.as_str().filter(|time| seconds_at(time).is_some());
    let time = time.map(str::to_owned);
    time.ok_or_else(|| unreadable("mobile: getDeviceTime", response.value.to_string()))
}

/// The lines since the last time. It is an act, although it changes nothing on the phone: what a
/// lost reply had is gone.
async fn read_new(client: &WebDriverClient, lines: &LogLines) -> Result<Vec<LogEntry>, Error> {
    let command = SessionCommand::GetLog { log_type: "logcat".into() };
    let response = client.act(READ, command).await?;
    let list = response.value.as_array();
    let list = list.ok_or_else(|| unreadable("POST /se/log", "it is not a list"))?;
    let messages = list.iter().filter_map(|line| line.get("message")?.as_str());
    Ok(messages.filter_map(|line| lines.read(line)).collect())
}

fn lines_until(clock: &str) -> Result<LogLines, Error> {
    LogLines::until(clock).ok_or_else(|| unreadable("mobile: getDeviceTime", clock))
}

#[async_trait]
impl Logs for WebDriverPhone {
    async fn read_logs(&self, filter: &LogFilter, max: usize) -> Result<Vec<LogEntry>, Error> {
        let lines = lines_until(&self.clock().await?)?;
        let mut log = self.log.lock().await;
        log.push(read_new(&self.client, &lines).await?);
        let passing = log.0.iter().rev().filter(|entry| filter_takes(filter, entry));
        let mut newest: Vec<LogEntry> = passing.take(max).cloned().collect();
        newest.reverse();
        Ok(newest)
    }

    async fn log_clock(&self) -> Result<String, Error> {
        self.clock().await
    }

    /// Forgets what was read; the phone's own log stays.
    async fn clear_logs(&self) -> Result<(), Error> {
        let lines = lines_until(&self.clock().await?)?;
        let mut log = self.log.lock().await;
        read_new(&self.client, &lines).await?;
        log.0.clear();
        Ok(())
    }

    /// Asks once a second. Lines that it gets are not in later answers of [`Logs::read_logs`].
    async fn follow_logs(
        &self,
        filter: &LogFilter,
        last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        let lines = lines_until(&self.clock().await?)?;
        let mut log = self.log.lock().await;
        log.push(read_new(&self.client, &lines).await?);
        // Entries after `last`; only new ones if there is no such entry, or it was dropped.
        let from = last.and_then(|last| log.0.iter().rposition(|entry| entry == last));
        let old =
            from.map_or_else(VecDeque::new, |from| log.0.range(from + 1..).cloned().collect());
        let pending = old.into_iter().filter(|entry| filter_takes(filter, entry)).collect();
        let mut pace = interval(PAUSE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Box::new(Following {
            client: self.client.clone(),
            lines,
            filter: filter.clone(),
            pending,
            pace,
        }))
    }
}

/// A log that is followed.
struct Following {
    client: WebDriverClient,
    lines: LogLines,
    filter: LogFilter,
    pending: VecDeque<LogEntry>,
    pace: Interval,
}

#[async_trait]
impl LogStream for Following {
    async fn next(&mut self) -> Result<Option<LogEntry>, Error> {
        loop {
            if let Some(entry) = self.pending.pop_front() {
                return Ok(Some(entry));
            }
            self.pace.tick().await;
            let new = read_new(&self.client, &self.lines).await?;
            self.pending.extend(new.into_iter().filter(|entry| filter_takes(&self.filter, entry)));
        }
    }
}

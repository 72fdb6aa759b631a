//! Crashes since a time of the phone's clock.

use thumbwire_device::phone_time::{seconds_at, time_at};
use thumbwire_device::{AppId, LogEntry, LogFilter, Priority};

use super::attached_device::AttachedDevice;
use crate::action::{Cause, CrashList, Failure, Outcome, Since};
use crate::crash;

/// How many entries of the log are read. Only those about crashes arrive here.
const MAX_ENTRIES: usize = 5000;

impl AttachedDevice {
    /// The phone's clock counts, which may differ from ours.
    pub(super) async fn crashes(
        &self,
        since: &Since,
        app: Option<&AppId>,
    ) -> Result<Outcome, Failure> {
        let unclear = |time: &str| {
            let reason = format!(
                "{time:?} is not a time of the phone such as 2024-09-01T12:13:14; give that, or seconds ago"
            );
            Failure::from(Cause::InvalidArgument { reason })
        };
        let given = match since {
            Since::Time(time) => Some(seconds_at(time).ok_or_else(|| unclear(time))?),
            Since::Ago(_) => None,
        };
        let filter = LogFilter { tag: Some(crash::LOG_RULES.into()), priority: Priority::Verbose };
        let reading = async {
            let logs = self.device.logs()?;
            let now = logs.log_clock().await?;
            Ok((now, logs.read_logs(&filter, MAX_ENTRIES).await?))
        };
        let (now, entries) = reading.await.map_err(|error| self.failed(&error))?;
        let cut = entries.last().filter(|entry| entry.tag == LogEntry::NOTE);
        let cut = cut.map(|note| note.message.clone());
        let first = match (given, since) {
            (None, Since::Ago(time)) => {
                let back = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
                seconds_at(&now).map(|now| now.saturating_sub(back))
            }
            (given, _) => given,
        };
        let is_since = |time: &str| match (first, seconds_at(time)) {
            (Some(first), Some(at)) => at >= first,
            _ => true,
        };
        let mut crashes = crash::read(&entries, |crash| {
            is_since(&crash.time) && app.is_none_or(|app| crash.is_of(&app.0))
        });
        crashes.iter_mut().for_each(|crash| crash.time = whole_seconds(&crash.time));
        Ok(Outcome::Crashes(CrashList { crashes, now, cut }))
    }
}

fn whole_seconds(time: &str) -> String {
    seconds_at(time).map_or_else(|| time.to_owned(), time_at)
}

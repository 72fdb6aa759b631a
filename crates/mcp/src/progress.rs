//! Progress of a call, on its way to the client that requested it.
//!
//! Work reports what it knows, in steps. While it reports nothing, the client learns each second
//! what is going on ([`CallState::under_way`]), so that it can tell a long call from a dead one.
//! Start with [`ProgressReports`].

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use thumbwire_base::visible::visible_lines;
use thumbwire_core::action::{CallState, Progress};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// How many progress steps may queue for a slow client; later ones are dropped.
pub(super) const MAX_UNREAD: usize = 64;

/// After this long without a step of the work, the client learns what is going on.
const EACH: Duration = Duration::from_secs(1);

/// A step of progress: how much is done, out of how much if known, and a message.
pub(super) type ProgressStep = (u32, Option<u32>, String);

/// Queues progress for the client that requested it.
pub(super) struct ProgressQueue(pub(super) mpsc::Sender<ProgressStep>);

impl Progress for ProgressQueue {
    fn report(&self, done: u32, total: Option<u32>, text: &str) {
        // A client that does not read its progress must not delay the work.
        let _ = self.0.try_send((done, total, text.to_owned()));
    }
}

/// What a client learns of a call: the steps of its work, and in between what is going on.
pub(super) struct ProgressReports {
    steps: mpsc::Receiver<ProgressStep>,
    /// What is going on.
    state: Arc<CallState>,
    values: ProgressValues,
    /// What was going on when the work last reported, with its message.
    last: Option<(Option<String>, String)>,
    /// When the next report is due, if the work reports nothing until then.
    due: Instant,
}

/// A report: the value, the total if known, and a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProgressReport {
    pub(super) value: f64,
    pub(super) total: Option<u32>,
    pub(super) text: String,
}

impl ProgressReports {
    /// Of a call that begins now, whose work reports its steps there.
    pub(super) fn new(steps: mpsc::Receiver<ProgressStep>, state: Arc<CallState>) -> Self {
        let values = ProgressValues::default();
        Self { steps, state, values, last: None, due: Instant::now() + EACH }
    }

    /// The next report: a step at once, else what is going on when a second has passed without one.
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> ProgressReport {
        let step = tokio::select! {
            biased;
            Some(step) = self.steps.recv() => Some(step),
            () = sleep_until(self.due) => None,
        };
        match step {
            Some(step) => self.step(step),
            None => self.still_running(),
        }
    }

    /// The client asks again: the next report is due a second from now.
    pub(super) fn asked_again(&mut self) {
        self.due = Instant::now() + EACH;
    }

    /// The steps that are left of work that has ended.
    pub(super) fn rest(&mut self) -> Option<ProgressReport> {
        let step = self.steps.try_recv().ok()?;
        Some(self.step(step))
    }

    fn step(&mut self, (done, total, text): ProgressStep) -> ProgressReport {
        self.due = Instant::now() + EACH;
        self.last = Some((self.state.under_way(), text.clone()));
        ProgressReport { value: self.values.step(done), total: self.values.total(total), text }
    }

    fn still_running(&mut self) -> ProgressReport {
        self.due = Instant::now() + EACH;
        let under_way = self.state.under_way();
        let text = match &self.last {
            // The work's own words say more, as long as they are about the same action.
            Some((then, text)) if *then == under_way => text.clone(),
            _ => under_way.map_or("starting".into(), |text| visible_lines(&text).into_owned()),
        };
        ProgressReport { value: self.values.in_between(), total: self.values.total, text }
    }
}

/// The values of a call's reports. Each must be greater than the one before (MCP, "Progress"), so
/// those in between are small parts of a step, which never reach the next one.
#[derive(Debug, Default)]
struct ProgressValues {
    /// The largest step that the work reported.
    done: u32,
    /// How many reports there were since.
    since: u32,
    /// Whether there was one.
    any: bool,
    total: Option<u32>,
}

impl ProgressValues {
    /// The value of a step of the work. One that is not greater than the last counts as in between.
    fn step(&mut self, done: u32) -> f64 {
        if done > self.done || !self.any {
            (self.done, self.since, self.any) = (done, 0, true);
            return done.into();
        }
        self.in_between()
    }

    /// A value in between: a thousandth more each time, and from the half on smaller parts that
    /// never add up to the next step.
    fn in_between(&mut self) -> f64 {
        self.any = true;
        self.since = self.since.saturating_add(1);
        let since = f64::from(self.since);
        let part = if since <= 500.0 { since / 1000.0 } else { 1.0 - 250.0 / since };
        f64::from(self.done) + part
    }

    fn total(&mut self, total: Option<u32>) -> Option<u32> {
        self.total = total.or(self.total);
        self.total
    }
}

/// Sends a report.
pub(super) async fn notify_progress(
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
    report: ProgressReport,
) {
    let mut out = ProgressNotificationParam::new(token.clone(), report.value);
    out.total = report.total.map(f64::from);
    out.message = Some(report.text);
    // If the client has disconnected, sending the reply will fail.
    let _ = peer.notify_progress(out).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_only_grow_and_stay_below_the_next_step() {
        let mut values = ProgressValues::default();
        assert_eq!(values.step(0), 0.0);
        let mut last = 0.0;
        for _ in 0..10_000 {
            let value = values.in_between();
            assert!(last < value && value < 1.0, "{value}");
            last = value;
        }
        for (done, expected) in [(1, 1.0), (1, 1.001), (0, 1.002), (7, 7.0)] {
            assert_eq!(values.step(done), expected);
        }
        let mut silent = ProgressValues::default();
        assert_eq!([silent.in_between(), silent.step(0), silent.step(1)], [0.001, 0.002, 1.0]);
    }

    #[tokio::test(start_paused = true)]
    async fn client_is_told_each_second_what_is_going_on() {
        let (work, steps) = mpsc::channel(MAX_UNREAD);
        let began = Instant::now();
        let mut reports = ProgressReports::new(steps, Arc::default());
        let mut next = async || {
            let report = reports.next().await;
            (began.elapsed().as_millis(), report.value, report.total, report.text)
        };
        assert_eq!(next().await, (1000, 0.001, None, "starting".to_owned()));
        let sending = ProgressQueue(work);
        sending.report(3, Some(10), "3 of 10");
        assert_eq!(next().await, (1000, 3.0, Some(10), "3 of 10".to_owned()));
        assert_eq!(next().await, (2000, 3.001, Some(10), "3 of 10".to_owned()));
        drop(sending);
        assert_eq!(next().await.0, 3000, "also when the work has no more steps");
    }
}

//! What shells changed in system services that have no place in the world: app operations
//! and the events of the input devices.

use std::collections::{BTreeMap, VecDeque};

/// How many input events are kept for readers that fall behind.
const KEPT_EVENTS: usize = 1_024;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ServiceState {
    /// Modes of app operations that differ from the default, by package and operation.
    pub(crate) app_ops: BTreeMap<(String, String), &'static str>,
    /// Whether the GPS is a test provider, which tells simulated places.
    pub(crate) test_gps: bool,
    pub(crate) touch: TouchState,
    pub(crate) events: EventLog,
}

/// What the touch screen's events since the last report say, and what was reported.
#[derive(Debug, Default)]
pub(crate) struct TouchState {
    pub(crate) x: i32,
    pub(crate) y: i32,
    /// Whether a finger is on the panel.
    pub(crate) touching: bool,
    /// Whether that was reported.
    pub(crate) reported: bool,
}

/// An event of an input device, as the kernel hands it to readers (`struct input_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputEvent {
    /// The number of the device: `/dev/input/eventN`.
    pub(crate) device: usize,
    pub(crate) kind: u16,
    pub(crate) code: u16,
    pub(crate) value: i32,
    /// Uptime in microseconds.
    pub(crate) micros: u64,
}

/// The latest events of all devices.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    kept: VecDeque<InputEvent>,
    written: u64,
}

impl EventLog {
    /// Adds an event for all readers.
    pub(crate) fn push(&mut self, event: InputEvent) {
        if self.kept.len() == KEPT_EVENTS {
            self.kept.pop_front();
        }
        self.kept.push_back(event);
        self.written += 1;
    }

    /// How many events were ever written: where a new reader begins.
    pub(crate) fn end(&self) -> u64 {
        self.written
    }

    /// The kept events from that position on.
    pub(crate) fn since(&self, position: u64) -> impl Iterator<Item = InputEvent> {
        let missed = self.written.saturating_sub(position);
        let skip = self.kept.len().saturating_sub(usize::try_from(missed).unwrap_or(usize::MAX));
        self.kept.iter().skip(skip).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_reader_gets_the_latest_events() {
        let event = |value| InputEvent { device: 0, kind: 1, code: 114, value, micros: 0 };
        let mut log = EventLog::default();
        let start = log.end();
        assert_eq!(log.since(start).count(), 0);
        log.push(event(1));
        log.push(event(2));
        assert_eq!(log.since(start).map(|it| it.value).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(log.since(log.end() - 1).map(|it| it.value).collect::<Vec<_>>(), [2]);
        for value in 0..2_000 {
            log.push(event(value));
        }
        let kept: Vec<_> = log.since(start).map(|it| it.value).collect();
        assert_eq!((kept.len(), kept.last()), (KEPT_EVENTS, Some(&1_999)));
    }
}

//! When Clock rings, and how: by a notification.

use std::time::Duration;

use super::{ClockApp, Watch, left, millis, pages};
use crate::world::app::{Reach, SWITCHED_ON, Store};

const RUNG: &str = "timer/rung";
const TIMER: &str = "timer";
const DAY: u64 = 86_400;

impl ClockApp {
    /// The uptime at which an alarm that is on or the timer rings next.
    pub(super) fn rings_next(&self, store: &Store, now: Duration) -> Option<Duration> {
        let alarms = self.alarms.all(store).into_iter();
        let alarms = alarms.filter_map(|(_, texts)| {
            let second = second_of(&texts)?;
            let today = SWITCHED_ON + now.as_secs();
            let ahead = (second + DAY - today % DAY) % DAY;
            // One that rings just now has rung: the next time is tomorrow.
            let ahead = if ahead == 0 { DAY } else { ahead };
            Some(Duration::from_secs(now.as_secs().saturating_add(ahead)))
        });
        let timer = rings(store)
            .then(|| Duration::from_millis(millis(now).saturating_add(left(store, now))));
        alarms.chain(timer).min()
    }

    /// Rings for whatever is due now.
    pub(super) fn ring(&self, reach: &mut Reach<'_>) {
        if rings(reach.store) && left(reach.store, reach.now) == 0 {
            reach.store.set(RUNG, "yes");
            reach.notify(TIMER.to_owned(), "Time's up", "Timer", show("SHOW_TIMERS"));
        }
        for (id, texts) in self.alarms.all(reach.store) {
            let now = (SWITCHED_ON + reach.now.as_secs()) % DAY;
            if second_of(&texts) == Some(now) {
                let label = if texts[2].is_empty() { "Alarm" } else { &texts[2] };
                let at = pages::time_of(&texts);
                reach.notify(format!("alarm {id}"), label, &at, show("SHOW_ALARMS"));
            }
        }
    }
}

/// The timer has been set anew or taken away: it has not rung.
pub(super) fn quiet(reach: &mut Reach<'_>) {
    reach.store.remove(RUNG);
    reach.dismiss(TIMER.to_owned());
}

/// The second of the day at which an alarm rings; `None` for one that is off.
fn second_of([hour, minute, _, on]: &[String; 4]) -> Option<u64> {
    let (hour, minute) = (hour.parse::<u64>().ok()?, minute.parse::<u64>().ok()?);
    (on == "yes" && hour < 24 && minute < 60).then(|| hour * 3600 + minute * 60)
}

/// Whether the timer runs and has not rung yet.
fn rings(store: &Store) -> bool {
    let length = super::number(store, "timer/length");
    Watch::TIMER.runs(store) && store.get(RUNG).is_none() && length > 0
}

/// The address that shows a place of Clock.
fn show(action: &str) -> Option<String> {
    Some(format!("clock:{action}"))
}

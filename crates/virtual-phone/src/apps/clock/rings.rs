//! When Clock rings, by notification.

use std::time::Duration;

use crate::app::{AppContext, Preferences};
use crate::apps::clock::{ClockApp, Watch, left, millis, pages};
use crate::clock::SWITCHED_ON;

const RUNG: &str = "timer/rung";
const TIMER: &str = "timer";
const DAY: u64 = 86_400;

impl ClockApp {
    /// The uptime of the next alarm or timer ring.
    pub(super) fn rings_next(&self, store: &Preferences, now: Duration) -> Option<Duration> {
        let alarms = self.alarms.all(store).into_iter();
        let alarms = alarms.filter_map(|(_, texts)| {
            let second = second_of(&texts)?;
            let today = SWITCHED_ON + now.as_secs();
            let ahead = (second + DAY - today % DAY) % DAY;
            // One that rings right now has rung; the next time is tomorrow.
            let ahead = if ahead == 0 { DAY } else { ahead };
            Some(Duration::from_secs(now.as_secs().saturating_add(ahead)))
        });
        let timer = rings(store)
            .then(|| Duration::from_millis(millis(now).saturating_add(left(store, now))));
        alarms.chain(timer).min()
    }

    /// Rings everything that is due now.
    pub(super) fn ring(&self, context: &mut AppContext<'_>) {
        if rings(context.store) && left(context.store, context.now) == 0 {
            context.store.set(RUNG, "yes");
            context.notify(TIMER.to_owned(), "Time's up", "Timer", show("SHOW_TIMERS"));
        }
        for (id, texts) in self.alarms.all(context.store) {
            let now = (SWITCHED_ON + context.now.as_secs()) % DAY;
            if second_of(&texts) == Some(now) {
                let label = if texts[2].is_empty() { "Alarm" } else { &texts[2] };
                let at = pages::time_of(&texts);
                context.notify(format!("alarm {id}"), label, &at, show("SHOW_ALARMS"));
            }
        }
    }
}

/// The timer was reset or removed, so it has not rung.
pub(super) fn stop_timer_alert(context: &mut AppContext<'_>) {
    context.store.remove(RUNG);
    context.dismiss(TIMER.to_owned());
}

/// The second of the day at which an alarm rings; `None` if it is off.
fn second_of([hour, minute, _, on]: &[String; 4]) -> Option<u64> {
    let (hour, minute) = (hour.parse::<u64>().ok()?, minute.parse::<u64>().ok()?);
    (on == "yes" && hour < 24 && minute < 60).then(|| hour * 3600 + minute * 60)
}

/// Whether the timer runs and has not rung yet.
fn rings(store: &Preferences) -> bool {
    let length = crate::apps::clock::number(store, "timer/length");
    Watch::TIMER.runs(store) && store.get(RUNG).is_none() && length > 0
}

/// The URI that shows a tab of Clock.
fn show(action: &str) -> Option<String> {
    Some(format!("clock:{action}"))
}

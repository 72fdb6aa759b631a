//! Phones that a person has taken from the programs that use them, by the studio's page.
//!
//! Start with [`UserHolds::admit`], which every call that needs a phone's lease passes first. A
//! hold comes before the leases: the person needs none, and nobody loses one. The programs go on
//! when the phone is handed back, and look again if the person has used it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use thumbwire_base::lock;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Session;
use crate::action::{Call, Cause, ClientId, Failure, UserTurn};

/// The part of a call's time in which it can still tell why it did not act.
const TO_ANSWER: Duration = Duration::from_secs(2);

/// What a person wants of the programs that use a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserHold {
    /// They wait until the phone is handed back.
    Paused,
    /// Their work ends. Until the phone is handed back, their acts are refused.
    Stopped,
}

/// The phones that a person holds.
pub(super) struct UserHolds {
    table: Mutex<HoldTable>,
    /// Sent whenever the table changes.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct HoldTable {
    holds: BTreeMap<String, HoldEntry>,
    /// How often a person has acted on a phone.
    acts: BTreeMap<String, u64>,
}

struct HoldEntry {
    client: ClientId,
    hold: UserHold,
    /// `None`: until it is handed back.
    until: Option<Instant>,
}

impl HoldTable {
    fn current(&mut self, device: &str) -> Option<&HoldEntry> {
        let now = Instant::now();
        self.holds.retain(|_, entry| entry.until.is_none_or(|until| until > now));
        self.holds.get(device)
    }

    fn acts(&self, device: &str) -> u64 {
        self.acts.get(device).copied().unwrap_or_default()
    }
}

impl Session {
    /// Takes a phone for the person behind `client` from all other clients of this session: for
    /// this time, or with `None` until [`Self::hand_back`]. A hold for a time does not replace one
    /// without an end. Does not reach the phone.
    pub fn hold_for_user(
        &self,
        device: &str,
        client: &ClientId,
        hold: UserHold,
        time: Option<Duration>,
    ) {
        let holds = self.connections.leases.users();
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let entry = HoldEntry { client: client.clone(), hold, until };
        holds.change(|table| {
            let has_no_end = table.current(device).is_some_and(|held| held.until.is_none());
            if time.is_none() || !has_no_end {
                table.holds.insert(device.to_owned(), entry);
            }
        });
    }

    /// Gives a phone back to the programs that wait for it.
    pub fn hand_back(&self, device: &str) {
        let holds = self.connections.leases.users();
        holds.change(|table| drop(table.holds.remove(device)));
    }

    /// How a person holds this phone, if one does.
    pub fn user_hold(&self, device: &str) -> Option<UserHold> {
        let mut table = lock(&self.connections.leases.users().table);
        table.current(device).map(|entry| entry.hold)
    }
}

impl UserHolds {
    pub(super) fn new() -> Self {
        Self { table: Mutex::default(), changes: watch::Sender::new(()) }
    }

    fn change(&self, change: impl FnOnce(&mut HoldTable)) {
        change(&mut lock(&self.table));
        self.changes.send_replace(());
    }

    /// Whether the phone is this client's by a hold.
    pub(super) fn is_held_by(&self, device: &str, client: &ClientId) -> bool {
        lock(&self.table).current(device).is_some_and(|entry| entry.client == *client)
    }

    /// Lets a call pass as soon as no person holds its phone for another client. `acts`: whether it
    /// changes anything there.
    ///
    /// # Errors
    /// If the work is stopped, the call cannot wait any longer, or the person has acted meanwhile.
    pub(super) async fn admit(&self, device: &str, call: &Call, acts: bool) -> Result<(), Failure> {
        let refusal = |turn| Cause::TakenByUser { device: device.to_owned(), turn }.into();
        let mut changes = self.changes.subscribe();
        let last_moment = call.deadline.checked_sub(TO_ANSWER).unwrap_or(call.deadline);
        let mut acts_before = None;
        loop {
            changes.mark_unchanged();
            let until = {
                let mut table = lock(&self.table);
                let acts_now = table.acts(device);
                match table.current(device) {
                    Some(entry) if entry.client == call.client => {
                        table.acts.insert(device.to_owned(), acts_now + u64::from(acts));
                        return Ok(());
                    }
                    Some(HoldEntry { hold: UserHold::Stopped, .. }) => {
                        // A run ends by it, and not by one refused step.
                        if call.exclusive {
                            call.cancelled.cancel();
                        }
                        return Err(refusal(UserTurn::Stopped));
                    }
                    Some(HoldEntry { until, .. }) => {
                        acts_before.get_or_insert(acts_now);
                        *until
                    }
                    None if acts && acts_before.is_some_and(|before| before != acts_now) => {
                        return Err(refusal(UserTurn::Acted));
                    }
                    None => return Ok(()),
                }
            };
            let ends = until.map_or(last_moment, |until| until.min(last_moment));
            tokio::select! {
                _ = changes.changed() => {}
                () = sleep_until(ends) => {}
            }
            if Instant::now() >= last_moment {
                return Err(refusal(UserTurn::Acting));
            }
        }
    }
}

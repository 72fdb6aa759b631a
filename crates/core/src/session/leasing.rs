//! The leases of phones: while one client acts on a phone, no other client does.
//!
//! Start with [`Leases::hold`]. A call that acts acquires the lease of its phone before anything is
//! sent, and holds it until the call is over, however long that takes; afterwards the lease lasts
//! for the session's lease time. So a run of the agent, a flow and a tool of several steps keep the
//! phone for themselves. A recording holds the lease until it ends. Another client's act is refused
//! at once; looking needs no lease. A client that leaves gives its leases back, as soon as nothing
//! of it acts any more.
//!
//! ```text
//! free ──(act)──► held by a call ──(call ends)──► held for the lease time ──► free
//!                     ▲   │                            │ (act of the client)  ▲
//!                     └───┘ ◄──────────────────────────┘   the client leaves ─┘
//! ```
//!
//! Leases live in the process that holds the phones, as everything else of a phone's session does.
//! Among the programs of a user on one computer, the process holds a phone's lease by a file, as
//! long as one of its clients does: [`phone_locks`](crate::phone_locks).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::lock;
use tokio::time::Instant;

use super::Session;
use super::user_holds::UserHolds;
use crate::action::{Call, Cause, ClientId, ClientName, Failure, Holder};
use crate::phone_locks::{PhoneLock, PhoneLocks, TAKEN_FOR};
use crate::providers::DeviceProviders;

/// The leases of a session's phones.
#[derive(Clone)]
pub(super) struct Leases {
    /// How long a client keeps a phone's lease after its last act; `None`: nothing is leased.
    time: Option<Duration>,
    table: Arc<Mutex<LeaseTable>>,
    /// The phones that a person holds, with or without leases.
    users: Arc<UserHolds>,
    /// The leases of other programs; `None` if they do not matter.
    others: Option<Arc<OtherPrograms>>,
}

/// What other programs of this computer lease.
struct OtherPrograms {
    locks: PhoneLocks,
    phones: DeviceProviders,
}

#[derive(Default)]
struct LeaseTable {
    entries: BTreeMap<String, LeaseEntry>,
    last_revision: u64,
    /// Who had the lease of each phone last, and its number.
    last_owners: BTreeMap<String, (ClientId, u64)>,
    /// From whom the user has taken a phone, and until when.
    taken: BTreeMap<String, (ClientId, Instant)>,
}

struct LeaseEntry {
    lease: Lease,
    /// How many calls and recordings hold it now.
    holds: usize,
    has_owner_left: bool,
    /// What keeps other programs from acting; `None` if none can.
    lock: Option<PhoneLock>,
}

/// The exclusive right to act on a phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The client that may act.
    pub owner: ClientId,
    /// What the owner calls itself, for other clients to read.
    pub owner_name: ClientName,
    /// When it was granted.
    pub since: Instant,
    /// When the lease ends, unless the owner acts again or still acts.
    pub expires: Instant,
    /// A number that grows whenever a phone is leased to another client than before: a fencing
    /// number, which tells a phone's later owner from an earlier one.
    pub revision: u64,
}

/// Keeps a lease until dropped, and for the lease time afterwards.
pub(super) struct LeaseHold {
    leases: Leases,
    device: String,
    revision: u64,
}

impl Session {
    /// The lease of this phone, if a client has it now.
    pub fn lease(&self, device: &str) -> Option<Lease> {
        self.connections.leases.current(device)
    }

    /// Leases a phone to the client of a call, which has not acted yet. Returns the number of the
    /// lease.
    ///
    /// # Errors
    /// If the phone cannot be reached, or another client has its lease.
    pub async fn reserve(&self, device: &str, call: &Call) -> Result<u64, Failure> {
        self.connected(device).await?;
        // Dropped at once, it lasts for the lease time.
        let hold = self.connections.leases.hold(device, call)?;
        Ok(hold.map_or(0, |hold| hold.revision))
    }

    /// Prolongs the lease of this phone, if this client has it.
    pub fn renew_lease(&self, device: &str, client: &ClientId) {
        self.connections.leases.renew(device, client);
    }

    /// Takes this phone from the client that has its lease, which may not act on it for
    /// [`TAKEN_FOR`]. Returns the lease that has ended so.
    pub fn take_over(&self, device: &str) -> Option<Lease> {
        self.connections.leases.take_over(device)
    }
}

impl Leases {
    /// No phone is leased yet, and with no time none ever is. With `locks` other programs of this
    /// computer see which of these phones are leased, and the reverse.
    pub(super) fn new(
        time: Duration,
        first_revision: u64,
        locks: Option<PhoneLocks>,
        phones: &DeviceProviders,
    ) -> Self {
        let others = locks.map(|locks| OtherPrograms { locks, phones: phones.clone() });
        Self {
            time: Some(time).filter(|time| !time.is_zero()),
            table: Arc::new(Mutex::new(LeaseTable {
                last_revision: first_revision,
                ..LeaseTable::default()
            })),
            users: Arc::new(UserHolds::new()),
            others: others.map(Arc::new),
        }
    }

    /// The phones that a person holds.
    pub(super) fn users(&self) -> &UserHolds {
        &self.users
    }

    /// Acquires a phone's lease for the client of a call, and keeps it while the hold exists;
    /// `None` if this session leases nothing.
    ///
    /// # Errors
    /// If another client has it, or another program.
    pub(super) fn hold(&self, device: &str, call: &Call) -> Result<Option<LeaseHold>, Failure> {
        let Some(time) = self.time else { return Ok(None) };
        let mut table = lock(&self.table);
        table.refuse_others(device, &call.client, time)?;
        table.refuse_earlier(device, call)?;
        if let Err(lost) = self.check_lock(device, &table, time) {
            match table.entries.get(device) {
                Some(entry) if entry.holds > 0 => return Err(lost),
                _ => table.entries.remove(device),
            };
        }
        if !table.entries.contains_key(device) {
            let lock = self.take_lock(device, &call.client_name, time)?;
            table.grant(device, call, time, lock);
        }
        let Some(entry) = table.entries.get_mut(device) else { return Ok(None) };
        entry.holds += 1;
        self.lock_ends(entry, None);
        let revision = entry.lease.revision;
        Ok(Some(LeaseHold { leases: self.clone(), device: device.to_owned(), revision }))
    }

    /// Leases a phone among the programs of this computer.
    fn take_lock(
        &self,
        device: &str,
        client: &ClientName,
        time: Duration,
    ) -> Result<Option<PhoneLock>, Failure> {
        let Some(others) = &self.others else { return Ok(None) };
        match others.phones.name_on_computer(device) {
            Some(phone) => others.locks.take(&phone, device, client, time),
            None => Ok(None),
        }
    }

    /// Checks that no other program has taken a phone that this one leases.
    fn check_lock(&self, device: &str, table: &LeaseTable, time: Duration) -> Result<(), Failure> {
        let lock = table.entries.get(device).and_then(|entry| entry.lock.as_ref());
        match (lock, &self.others) {
            (Some(lock), Some(others)) if !lock.is_ours() => {
                let phone = others.phones.name_on_computer(device).unwrap_or_default();
                Err(others.locks.why_lost(&phone, device, time))
            }
            _ => Ok(()),
        }
    }

    /// Says to other programs when a lease ends; `None`: not before the client has ended its act.
    fn lock_ends(&self, entry: &mut LeaseEntry, after: Option<Duration>) {
        if let (Some(lock), Some(others)) = (&mut entry.lock, &self.others) {
            lock.ends(after, &others.locks);
        }
    }

    /// Holds a phone's lease until the call ends.
    ///
    /// # Errors
    /// If another client has it.
    pub(super) fn hold_for(&self, device: &str, call: &Call) -> Result<(), Failure> {
        let needs_none = self.time.is_none() || self.users.is_held_by(device, &call.client);
        if needs_none || call.state.holds(device) {
            return Ok(());
        }
        if let Some(hold) = self.hold(device, call)? {
            call.state.hold(device, hold);
        }
        Ok(())
    }

    /// Refuses an action on a phone that is leased to another client, or to another program by now.
    ///
    /// # Errors
    /// If another client or program has its lease.
    pub(super) fn check(&self, device: &str, client: &ClientId) -> Result<(), Failure> {
        let Some(time) = self.time else { return Ok(()) };
        if self.users.is_held_by(device, client) {
            return Ok(());
        }
        let mut table = lock(&self.table);
        table.refuse_others(device, client, time)?;
        self.check_lock(device, &table, time)
    }

    fn renew(&self, device: &str, client: &ClientId) {
        let Some(time) = self.time else { return };
        let mut table = lock(&self.table);
        table.forget_expired();
        let entry = table.entries.get_mut(device);
        if let Some(entry) = entry.filter(|entry| entry.lease.owner == *client) {
            entry.lease.expires = after(time);
            if entry.holds == 0 {
                self.lock_ends(entry, Some(time));
            }
        }
    }

    fn take_over(&self, device: &str) -> Option<Lease> {
        let mut table = lock(&self.table);
        table.forget_expired();
        let lease = table.entries.remove(device)?.lease;
        table.taken.insert(device.to_owned(), (lease.owner.clone(), after(TAKEN_FOR)));
        Some(lease)
    }

    /// Ends the leases of a client that has left, those that something still holds afterwards.
    pub(super) fn client_left(&self, client: &ClientId) {
        lock(&self.table).entries.retain(|_, entry| {
            let is_theirs = entry.lease.owner == *client;
            entry.has_owner_left |= is_theirs;
            !is_theirs || entry.holds > 0
        });
    }

    /// Ends all leases.
    pub(super) fn end(&self) {
        lock(&self.table).entries.clear();
    }

    fn current(&self, device: &str) -> Option<Lease> {
        let mut table = lock(&self.table);
        table.forget_expired();
        let entry = table.entries.get(device)?;
        let expires = match self.time {
            Some(time) if entry.holds > 0 => after(time),
            _ => entry.lease.expires,
        };
        Some(Lease { expires, ..entry.lease.clone() })
    }

    /// How many phones are leased now.
    pub(super) fn count(&self) -> usize {
        let mut table = lock(&self.table);
        table.forget_expired();
        table.entries.len()
    }
}

impl LeaseTable {
    /// Leases a phone that is free to the client of a call.
    fn grant(&mut self, device: &str, call: &Call, time: Duration, lock: Option<PhoneLock>) {
        let before = self.last_owners.get(device).filter(|(owner, _)| *owner == call.client);
        let revision = before.map_or(self.last_revision + 1, |(_, revision)| *revision);
        self.last_revision = self.last_revision.max(revision);
        self.last_owners.insert(device.to_owned(), (call.client.clone(), revision));
        let lease = Lease {
            owner: call.client.clone(),
            owner_name: call.client_name.clone(),
            since: Instant::now(),
            expires: after(time),
            revision,
        };
        let entry = LeaseEntry { lease, holds: 0, has_owner_left: false, lock };
        self.entries.insert(device.to_owned(), entry);
    }

    fn forget_expired(&mut self) {
        let now = Instant::now();
        self.entries.retain(|_, entry| entry.holds > 0 || entry.lease.expires > now);
        self.taken.retain(|_, (_, until)| *until > now);
    }

    /// Refuses an act of a client that has acted under an earlier lease, if another client has had
    /// the phone since.
    fn refuse_earlier(&self, device: &str, call: &Call) -> Result<(), Failure> {
        let is_last = |revision| match self.last_owners.get(device) {
            Some((owner, last)) => (owner, *last) == (&call.client, revision),
            None => false,
        };
        match call.lease {
            Some(revision) if !is_last(revision) => {
                Err(Cause::LeaseLost { device: device.to_owned() }.into())
            }
            _ => Ok(()),
        }
    }

    fn refuse_others(
        &mut self,
        device: &str,
        client: &ClientId,
        time: Duration,
    ) -> Result<(), Failure> {
        self.forget_expired();
        if let Some((owner, until)) = self.taken.get(device)
            && owner == client
        {
            let remaining = until.saturating_duration_since(Instant::now());
            return Err(Cause::DeviceTakenOver { device: device.to_owned(), remaining }.into());
        }
        match self.entries.get(device) {
            Some(LeaseEntry { lease, holds, .. }) if lease.owner != *client => {
                let remaining = match holds {
                    0 => lease.expires.saturating_duration_since(Instant::now()),
                    _ => time,
                };
                let holder = Holder {
                    client: lease.owner_name.clone(),
                    process: None,
                    since: lease.since.elapsed(),
                };
                Err(Cause::DeviceBusy { device: device.to_owned(), holder, remaining }.into())
            }
            _ => Ok(()),
        }
    }
}

impl Drop for LeaseHold {
    fn drop(&mut self) {
        let mut table = lock(&self.leases.table);
        let Some(entry) = table.entries.get_mut(&self.device) else { return };
        // After the session's end the phone may have another lease.
        if entry.lease.revision != self.revision {
            return;
        }
        entry.holds = entry.holds.saturating_sub(1);
        entry.lease.expires = after(self.leases.time.unwrap_or_default());
        if entry.holds == 0 {
            self.leases.lock_ends(entry, self.leases.time);
        }
        if entry.holds == 0 && entry.has_owner_left {
            table.entries.remove(&self.device);
        }
    }
}

/// The moment after this time; now, if that moment cannot be represented.
fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now)
}

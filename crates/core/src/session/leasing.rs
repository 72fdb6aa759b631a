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

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::lock;
use tokio::time::Instant;

use super::Session;
use crate::action::{Call, Cause, ClientId, ClientName, Failure};

/// The leases of a session's phones.
#[derive(Clone)]
pub(super) struct Leases {
    /// How long a client keeps a phone's lease after its last act; `None`: nothing is leased.
    time: Option<Duration>,
    table: Arc<Mutex<LeaseTable>>,
}

#[derive(Default)]
struct LeaseTable {
    entries: BTreeMap<String, LeaseEntry>,
    last_revision: u64,
}

struct LeaseEntry {
    lease: Lease,
    /// How many calls and recordings hold it now.
    holds: usize,
    has_owner_left: bool,
}

/// The exclusive right to act on a phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The client that may act.
    pub owner: ClientId,
    /// What the owner calls itself, for other clients to read.
    pub owner_name: ClientName,
    /// When the lease ends, unless the owner acts again or still acts.
    pub expires: Instant,
    /// A number that grows with each lease that is granted: a fencing number, by which a phone's
    /// later owner can be told from an earlier one.
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
}

impl Leases {
    /// No phone is leased yet, and with no time none ever is.
    pub(super) fn new(time: Duration) -> Self {
        Self { time: Some(time).filter(|time| !time.is_zero()), table: Arc::default() }
    }

    /// Acquires a phone's lease for the client of a call, and keeps it while the hold exists;
    /// `None` if this session leases nothing.
    ///
    /// # Errors
    /// If another client has it.
    pub(super) fn hold(&self, device: &str, call: &Call) -> Result<Option<LeaseHold>, Failure> {
        let Some(time) = self.time else { return Ok(None) };
        let mut table = lock(&self.table);
        table.refuse_others(device, &call.client, time)?;
        let expires = after(time);
        let next_revision = table.last_revision + 1;
        let entry = table.entries.entry(device.to_owned()).or_insert_with(|| LeaseEntry {
            lease: Lease {
                owner: call.client.clone(),
                owner_name: call.client_name.clone(),
                expires,
                revision: next_revision,
            },
            holds: 0,
            has_owner_left: false,
        });
        entry.holds += 1;
        let revision = entry.lease.revision;
        table.last_revision = table.last_revision.max(revision);
        Ok(Some(LeaseHold { leases: self.clone(), device: device.to_owned(), revision }))
    }

    /// Holds a phone's lease until the call ends.
    ///
    /// # Errors
    /// If another client has it.
    pub(super) fn hold_for(&self, device: &str, call: &Call) -> Result<(), Failure> {
        if self.time.is_none() || call.state.holds(device) {
            return Ok(());
        }
        if let Some(hold) = self.hold(device, call)? {
            call.state.hold(device, hold);
        }
        Ok(())
    }

    /// Refuses an action on a phone that is leased to another client.
    ///
    /// # Errors
    /// If another client has its lease.
    pub(super) fn check(&self, device: &str, client: &ClientId) -> Result<(), Failure> {
        match self.time {
            Some(time) => lock(&self.table).refuse_others(device, client, time),
            None => Ok(()),
        }
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
}

impl LeaseTable {
    fn forget_expired(&mut self) {
        let now = Instant::now();
        self.entries.retain(|_, entry| entry.holds > 0 || entry.lease.expires > now);
    }

    fn refuse_others(
        &mut self,
        device: &str,
        client: &ClientId,
        time: Duration,
    ) -> Result<(), Failure> {
        self.forget_expired();
        match self.entries.get(device) {
            Some(LeaseEntry { lease, holds, .. }) if lease.owner != *client => {
                let remaining = match holds {
                    0 => lease.expires.saturating_duration_since(Instant::now()),
                    _ => time,
                };
                let (device, holder) = (device.to_owned(), lease.owner_name.clone());
                Err(Cause::DeviceBusy { device, holder, remaining }.into())
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

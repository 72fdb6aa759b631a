//! The leases of phones: while one client acts on a phone, no other client does.
//!
//! Begin with [`Leasing::hold`]. A call that acts acquires the lease of its phone, or renews it, before anything is sent,
//! and holds it until the call is over, however long that takes; afterwards the lease lasts for the session's lease time.
//! So a run of the agent, a flow and a tool of several steps keep the phone for themselves. A recording holds the lease
//! until it ends. Another client's act is refused at once; looking needs no lease. A client that leaves gives its leases
//! back, as soon as nothing of it acts any more.
//!
//! ```text
//! free ──(act)──► held by a call ──(call ends)──► held for the lease time ──► free
//!                     ▲   │ (renewed)                  │ (act of the client)  ▲
//!                     └───┘ ◄──────────────────────────┘   the client leaves ─┘
//! ```
//!
//! [`Leases`] decides between clients, atomically and for all sessions with the same store. What is here only keeps a
//! lease alive, and ends it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_base::lock;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Session;
use super::shared_state::{SharedState, unavailable};
use crate::action::{Call, Cause, ClientName, ClientWatch, Failure};
use crate::state_store::{LeaseError, LeaseOwner, Leases};

/// The leases of one session's clients.
#[derive(Clone)]
pub(super) struct Leasing {
    leases: Leases,
    /// The session's own name: the owner where it has one client only.
    session: String,
    time: Option<Duration>,
    table: Arc<Mutex<HoldTable>>,
}

/// Who holds what, by device and owner.
type HoldTable = BTreeMap<(String, String), Row>;

struct Row {
    /// How many holds there are.
    holds: usize,
    /// Cancelled when the owner has left.
    left: CancellationToken,
    /// When the lease ends if no hold renews it.
    until: Instant,
}

/// Keeps a lease alive until dropped.
pub(super) struct LeaseHold {
    _ends: DropGuard,
}

/// How long a hold lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoldKind {
    /// Until it is dropped: something acts.
    Act,
    /// Also not longer than its client stays.
    Background,
}

impl Session {
    /// Has each client that acts on a phone keep the phone's lease while it acts and for this time afterwards; zero does
    /// not. Without it the session respects the leases of others, and acquires none. For sessions with several clients.
    /// Call it before the session is used.
    pub fn with_lease_time(self, time: Duration) -> Self {
        let lease_time = Some(time).filter(|time| !time.is_zero());
        let shared = SharedState { lease_time, ..self.connections.shared.clone() };
        Self { connections: Arc::new(self.connections.with_shared_state(shared)), ..self }
    }

    /// The leases that this session respects: while another client holds a phone's lease, nobody else acts on that phone.
    pub fn leases(&self) -> Leases {
        Leases::new(Arc::clone(&self.connections.shared.store))
    }
}

#[async_trait]
impl ClientWatch for Session {
    fn connected_phones(&self) -> usize {
        self.connections.all().len()
    }

    /// Ends the client's leases, as soon as nothing of it acts any more, and forgets what it saw.
    async fn client_left(&self, client: &str) {
        for attached in self.connections.all() {
            attached.screen.memory.seen.forget_client(client);
        }
        let leasing = &self.connections.leasing;
        leasing.leave(&leasing.owner_id(client)).await;
    }
}

impl Leasing {
    pub(super) fn new(shared: &SharedState) -> Self {
        Self {
            leases: Leases::new(Arc::clone(&shared.store)),
            session: shared.client.clone(),
            time: shared.lease_time,
            table: Arc::default(),
        }
    }

    /// The session's own name as an owner.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// The owner of a call's leases.
    pub(super) fn owner(&self, call: &Call) -> LeaseOwner {
        LeaseOwner { id: self.owner_id(&call.client), name: call.client_name.as_str().to_owned() }
    }

    fn owner_id(&self, client: &str) -> String {
        match client {
            client if client.is_empty() || self.time.is_none() => self.session.clone(),
            client => format!("{}/{client}", self.session),
        }
    }

    /// Acquires a device's lease, or renews it, and keeps it while the hold exists; `None` if this session acquires none.
    ///
    /// # Errors
    /// If another client holds it; if the store fails, because then nobody can tell.
    pub(super) async fn hold(
        &self,
        device: &str,
        owner: &LeaseOwner,
        kind: HoldKind,
    ) -> Result<Option<LeaseHold>, Failure> {
        let Some(time) = self.time else { return Ok(None) };
        let registered = self.register(device, &owner.id, time);
        self.leases.acquire(device, owner, time).await.map_err(failure)?;
        let ended = CancellationToken::new();
        let hold = LeaseHold { _ends: ended.clone().drop_guard() };
        tokio::spawn(registered.keep(owner.clone(), time, kind, ended));
        Ok(Some(hold))
    }

    /// Holds a device's lease until the call ends.
    ///
    /// # Errors
    /// As [`Self::hold`].
    pub(super) async fn hold_for(&self, device: &str, call: &Call) -> Result<(), Failure> {
        if self.time.is_none() || call.state.holds(device) {
            return Ok(());
        }
        if let Some(hold) = self.hold(device, &self.owner(call), HoldKind::Act).await? {
            call.state.hold(device, hold);
        }
        Ok(())
    }

    /// Refuses an action on a device that is leased to another owner.
    ///
    /// # Errors
    /// As [`Self::hold`].
    pub(super) async fn check(&self, device: &str, owner: &str) -> Result<(), Failure> {
        self.leases.check(device, owner).await.map_err(failure)
    }

    async fn leave(&self, owner: &str) {
        let mut free = Vec::new();
        lock(&self.table).retain(|(device, of), row| {
            if of != owner {
                return true;
            }
            row.left.cancel();
            if row.holds == 0 {
                free.push(device.clone());
            }
            row.holds > 0
        });
        for device in free {
            self.release(&device, owner).await;
        }
    }

    /// Gives back all leases of this session's clients.
    pub(super) async fn end(&self) {
        let rows = std::mem::take(&mut *lock(&self.table));
        for ((device, owner), row) in rows {
            row.left.cancel();
            self.release(&device, &owner).await;
        }
    }

    async fn release(&self, device: &str, owner: &str) {
        if let Err(error) = self.leases.release_of(device, owner).await {
            tracing::warn!("the lease of {device} ends with its time: {error}");
        }
    }

    fn register(&self, device: &str, owner: &str, time: Duration) -> Registered {
        let key = (device.to_owned(), owner.to_owned());
        let mut table = lock(&self.table);
        let now = Instant::now();
        table.retain(|_, row| row.holds > 0 || row.until > now);
        let until = now.checked_add(time).unwrap_or(now);
        let row = table.entry(key.clone()).or_insert_with(|| Row {
            holds: 0,
            left: CancellationToken::new(),
            until,
        });
        row.holds += 1;
        Registered { leasing: self.clone(), key, left: row.left.clone(), time }
    }
}

/// A hold that is counted until dropped.
struct Registered {
    leasing: Leasing,
    key: (String, String),
    left: CancellationToken,
    time: Duration,
}

impl Registered {
    /// Renews the lease until `ended`, and has it last for the lease time from then on.
    async fn keep(
        self,
        owner: LeaseOwner,
        time: Duration,
        kind: HoldKind,
        ended: CancellationToken,
    ) {
        let device = &self.key.0;
        let leaving = async {
            match kind {
                HoldKind::Background => self.left.cancelled().await,
                HoldKind::Act => std::future::pending().await,
            }
        };
        let mut leaving = std::pin::pin!(leaving);
        loop {
            let is_over = tokio::select! {
                () = ended.cancelled() => true,
                () = leaving.as_mut() => return,
                () = sleep(time / 3) => false,
            };
            // Also if it has expired, as on a computer that slept. If another client has it by now, acts are refused.
            let renewed = match self.left.is_cancelled() && is_over {
                true => return,
                false => self.leasing.leases.acquire(device, &owner, time).await,
            };
            if let Err(error) = renewed {
                tracing::warn!("cannot renew a lease: {error}");
            }
            if is_over {
                return;
            }
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut table = lock(&self.leasing.table);
        let Some(row) = table.get_mut(&self.key) else { return };
        row.holds = row.holds.saturating_sub(1);
        let now = Instant::now();
        row.until = now.checked_add(self.time).unwrap_or(now);
        if row.holds == 0 && row.left.is_cancelled() {
            table.remove(&self.key);
            let (leasing, (device, owner)) = (self.leasing.clone(), self.key.clone());
            // Without a runtime the process ends; then the lease's time ends it.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(async move { leasing.release(&device, &owner).await });
            }
        }
    }
}

fn failure(error: LeaseError) -> Failure {
    match error {
        LeaseError::Held { device, holder } => Cause::DeviceBusy {
            device,
            holder: ClientName::clean(&holder.owner.name),
            remaining: holder.remaining,
        }
        .into(),
        LeaseError::Store(error) => unavailable(error),
        // Only an embedder renews a lease by itself.
        ended @ LeaseError::Ended { .. } => Cause::NotReady { text: ended.to_string() }.into(),
    }
}

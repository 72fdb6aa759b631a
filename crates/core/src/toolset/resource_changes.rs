//! Changes of resources, for clients that want to be notified: files that are added to a list, and
//! screens that look different.
//!
//! Start with [`ResourceChanges::next`]. A screen is looked at only while somebody waits for its
//! changes: after each act, and every two seconds, because screens change by themselves. Looking
//! never acts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::resources::ResourceProvider;
use crate::action::{Call, ClientId, Perform, Scope};

/// At least this long between two looks, and so between two notifications of one resource.
const SOONEST: Duration = Duration::from_secs(1);

/// At most this long between two looks.
const LATEST: Duration = Duration::from_secs(2);

/// How long a look may take.
const LOOKING: Duration = Duration::from_secs(20);

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceChange {
    /// The list of resources has changed.
    List,
    /// The resource with this URI has changed.
    Updated(String),
}

/// The changes of a client's resources from now on.
pub struct ResourceChanges {
    provider: Arc<dyn ResourceProvider>,
    perform: Arc<dyn Perform>,
    client: ClientId,
    mark: u64,
    /// The URIs of the resources that the client wants to learn about.
    wanted: watch::Receiver<BTreeSet<String>>,
    /// What they looked like; `None` if they could not be read.
    seen: BTreeMap<String, Option<u64>>,
    /// How many acts there had been at the last look.
    acts: u64,
    looked: Instant,
    found: VecDeque<String>,
}

impl ResourceChanges {
    /// The changes of this client's resources, and of those in `wanted`, which may change.
    pub fn new(
        provider: Arc<dyn ResourceProvider>,
        perform: Arc<dyn Perform>,
        client: ClientId,
        wanted: watch::Receiver<BTreeSet<String>>,
    ) -> Self {
        let (mark, acts) = (provider.mark(), provider.acts());
        let looked = Instant::now();
        Self {
            provider,
            perform,
            client,
            mark,
            wanted,
            seen: BTreeMap::new(),
            acts,
            looked,
            found: VecDeque::new(),
        }
    }

    /// The next change. Dropping the future loses none.
    pub async fn next(&mut self) -> ResourceChange {
        loop {
            if let Some(uri) = self.found.pop_front() {
                return ResourceChange::Updated(uri);
            }
            let wanted = self.wanted.borrow_and_update().clone();
            self.seen.retain(|uri, _| wanted.contains(uri));
            let new = wanted.iter().find(|uri| !self.seen.contains_key(*uri)).cloned();
            if let Some(uri) = new {
                let state = self.look(&uri).await;
                self.seen.insert(uri, state);
                continue;
            }
            let (provider, acts) = (Arc::clone(&self.provider), self.acts);
            let looked = self.looked;
            let due = async {
                sleep_until(looked + SOONEST).await;
                tokio::select! {
                    () = provider.acted(acts) => {}
                    () = sleep_until(looked + LATEST) => {}
                }
            };
            tokio::select! {
                mark = self.provider.list_changed(self.mark, &self.client) => {
                    self.mark = mark;
                    return ResourceChange::List;
                }
                // Without a sender, what is wanted stays.
                Ok(()) = self.wanted.changed() => {}
                () = due, if !self.seen.is_empty() => {
                    (self.acts, self.looked) = (self.provider.acts(), Instant::now());
                    for uri in wanted {
                        let state = self.look(&uri).await;
                        let before = self.seen.insert(uri.clone(), state);
                        // A screen that cannot be read has not changed.
                        if state.is_some() && before.flatten() != state {
                            self.found.push_back(uri);
                        } else if state.is_none() {
                            self.seen.insert(uri, before.flatten());
                        }
                    }
                }
            }
        }
    }

    async fn look(&self, uri: &str) -> Option<u64> {
        let mut call = Call::with_timeout(LOOKING);
        call.scope = Scope::Look;
        self.provider.state(uri, &call, &*self.perform).await
    }
}

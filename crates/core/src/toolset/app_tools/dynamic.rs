//! The present tools of apps: queried from the phones, cached while a phone does not answer, polled
//! while someone listens.
//!
//! A list never blocks on a phone: each is queried in its own task, which continues when nobody
//! waits any more, and until then the phone's last list is used. Nothing depends on what a client
//! did before.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Map, Value, json};
use thumbwire_base::lock;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::offers::{Offer, Offers, offers};
use super::{DynamicTools, reply};
use crate::action::{
    Call, Catalog, Cause, Failure, InfoResult, Perform, TypedPerform as _, request,
};
use crate::event::{Event, EventSink};
use crate::toolset::{Handler, Reply, Tool, ToolEffect};

/// How long a list waits for the phones. A query may take longer and then serves the next list.
const LISTING: Duration = Duration::from_secs(4);
const ASKING: Duration = Duration::from_secs(60);
/// A phone queried more recently than this is not queried again.
const FRESH: Duration = Duration::from_secs(2);
/// The polling interval while someone waits for changes.
const QUERY_INTERVAL: Duration = Duration::from_secs(30);
/// The timeout of a call: it may have to start an app.
const CALL: Duration = Duration::from_secs(60);

/// Which phones to include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceFilter {
    /// These. The last list of a phone is kept while it does not answer.
    Named(Vec<String>),
    /// All ready phones except these ids; a disconnected phone's tools are removed.
    AllReadyExcept(Vec<String>),
}

/// The tools of the apps on some phones.
pub struct AppToolSource {
    shared: Arc<Shared>,
}

struct Shared {
    perform: Arc<dyn Perform>,
    which: DeviceFilter,
    state: Mutex<State>,
    version: watch::Sender<u64>,
    /// Notified when a phone connected or disconnected.
    devices: Notify,
}

#[derive(Default)]
struct State {
    phones: BTreeMap<String, Phone>,
    /// The included phones, in order.
    counted: Vec<String>,
    /// When the last query started.
    looked: Option<Instant>,
    /// A hash of the last list, to detect changes.
    print: u64,
}

/// The state of a phone.
#[derive(Default, Clone)]
struct Phone {
    catalog: Option<Arc<Catalog>>,
    /// Locked while the phone is queried.
    turn: Arc<tokio::sync::Mutex<()>>,
    asked: Option<Instant>,
    /// It was late last time, so lists wait for it only briefly.
    slow: bool,
    /// The last logged error, to log it only once.
    failed: Option<String>,
}

impl AppToolSource {
    /// The tools of these phones' apps. Queries go through `perform`; calls go through their
    /// caller's `Perform`, so that a trace has the calls but not the queries.
    pub fn new(perform: Arc<dyn Perform>, which: DeviceFilter) -> Self {
        let (version, _) = watch::channel(0);
        let devices = Notify::new();
        let shared = Shared { perform, which, state: Mutex::default(), version, devices };
        Self { shared: Arc::new(shared) }
    }

    /// A sink that triggers a scan as soon as a phone connects or disconnects, while someone waits
    /// for changes. Without it, phones are scanned from time to time.
    pub fn device_events(&self) -> impl EventSink + use<> {
        DeviceListener(Arc::downgrade(&self.shared))
    }
}

/// Does not keep the source alive.
struct DeviceListener(Weak<Shared>);

impl EventSink for DeviceListener {
    fn on_event(&self, event: &Event<'_>) {
        if let Event::DeviceConnected { .. } | Event::DeviceLost { .. } = event {
            self.0.upgrade().iter().for_each(|shared| shared.devices.notify_one());
        }
    }
}

#[async_trait]
impl DynamicTools for AppToolSource {
    async fn tools(&self) -> Vec<Arc<Tool>> {
        self.shared.refresh().await;
        let offers = self.shared.offers().all;
        offers.into_iter().map(|offer| self.tool_of(offer)).collect()
    }

    async fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        if !super::is_app_tool(name) {
            return None;
        }
        let known = || self.shared.offers().all.into_iter().find(|offer| offer.name == name);
        let offer = match known() {
            Some(offer) => offer,
            // Clients may call without listing first.
            None => {
                self.shared.refresh().await;
                known()?
            }
        };
        Some(self.tool_of(offer))
    }

    fn version(&self) -> u64 {
        *self.shared.version.borrow()
    }

    async fn changed(&self, seen: &mut u64) {
        let mut versions = self.shared.version.subscribe();
        loop {
            let now = *versions.borrow_and_update();
            let known = *seen != 0;
            if std::mem::replace(seen, now) != now && known {
                return;
            }
            // Counted from the last query, however often someone starts to wait.
            let next =
                *self.shared.state().looked.get_or_insert_with(Instant::now) + QUERY_INTERVAL;
            let is_due = tokio::select! {
                changed = timeout_at(next, versions.changed()) => changed.is_err(),
                () = self.shared.devices.notified() => true,
            };
            if is_due {
                self.shared.refresh().await;
            }
        }
    }
}

impl AppToolSource {
    fn tool_of(&self, offer: Offer) -> Arc<Tool> {
        let described = json!({
            "name": offer.name,
            "description": offer.description(),
            "inputSchema": offer.schema(),
            "outputSchema": reply::answer_schema(),
        });
        let handler = AppToolHandler { offer, shared: Arc::clone(&self.shared) };
        Arc::new(
            Tool::handled(&described, ToolEffect::Destructive, CALL, Arc::new(handler))
                .open_world()
                .with_device(),
        )
    }
}

impl Shared {
    /// Queries all included phones and waits for them, up to the limit of a list.
    async fn refresh(self: &Arc<Self>) {
        let began = Instant::now();
        self.state().looked = Some(began);
        let until = began + LISTING;
        let ids = match &self.which {
            DeviceFilter::Named(ids) => ids.clone(),
            DeviceFilter::AllReadyExcept(not) => self.ready(not, until).await,
        };
        {
            let mut state = self.state();
            // Named phones stay even if disconnected.
            state.phones.retain(|id, _| ids.contains(id));
            state.counted.clone_from(&ids);
        }
        join_all(ids.iter().map(|id| self.ask(id, until))).await;
        self.compare();
    }

    /// The ready phones; the last ones if listing fails. Includes only attached phones, not those
    /// that are listed because a caller named their address.
    async fn ready(&self, not: &[String], until: Instant) -> Vec<String> {
        let call = Call::with_timeout(LISTING);
        let listing = request::ListDevices { platform: None, connect: false };
        match timeout_at(until, self.perform.request(&call, listing)).await {
            Ok(Ok(devices)) => {
                let counts = devices.into_iter().filter(|phone| {
                    phone.is_ready() && !phone.properties.is_empty() && !not.contains(&phone.id)
                });
                counts.map(|phone| phone.id).collect()
            }
            _ => {
                tracing::warn!("cannot list the phones; keeping the app tools of the last list");
                self.state().counted.clone()
            }
        }
    }

    /// Queries one phone, unless it was queried just now. A late query continues in the background.
    async fn ask(self: &Arc<Self>, id: &str, until: Instant) {
        /// Long enough to see that a late phone has answered meanwhile.
        const SHORT_WAIT: Duration = Duration::from_millis(200);
        let phone = self.state().phones.entry(id.to_owned()).or_default().clone();
        let now = Instant::now();
        if phone.asked.is_some_and(|asked| now < asked + FRESH) {
            return;
        }
        let until = if phone.slow { until.min(now + SHORT_WAIT) } else { until };
        let late = match Arc::clone(&phone.turn).try_lock_owned() {
            Ok(turn) => {
                let (shared, id) = (Arc::clone(self), id.to_owned());
                let asking = tokio::spawn(async move {
                    shared.ask_now(&id).await;
                    drop(turn);
                    shared.compare();
                });
                timeout_at(until, asking).await.is_err()
            }
            // Another task is querying it.
            Err(_) => timeout_at(until, phone.turn.lock()).await.is_err(),
        };
        if late && !phone.slow {
            tracing::warn!("{id} did not list its app tools in time; keeping its last list");
            self.with(id, |phone| phone.slow = true);
        }
    }

    async fn ask_now(&self, id: &str) {
        let call = Call::with_timeout(ASKING).on(Some(id.to_owned()));
        let listing = request::ListAppTools { max_age: Duration::ZERO };
        let done = timeout(ASKING, self.perform.request(&call, listing)).await;
        let asked = Some(Instant::now());
        let out = |reason: String| {
            self.with(id, |phone| {
                if phone.failed.as_ref() != Some(&reason) {
                    tracing::warn!(
                        "cannot list the app tools of {id}, keeping its last list: {reason}"
                    );
                }
                phone.asked = asked;
                phone.failed = Some(reason);
            });
        };
        match done {
            Ok(Ok(catalog)) => self.with(id, |phone| {
                let turn = Arc::clone(&phone.turn);
                *phone = Phone { catalog: Some(catalog), asked, turn, ..Phone::default() };
            }),
            // Permanent: this platform has no app tools.
            Ok(Err(Failure { cause: cause @ Cause::PlatformNotSupported { .. }, .. })) => {
                tracing::debug!("{id}: {cause}");
                self.with(id, |phone| (phone.asked, phone.slow) = (asked, false));
            }
            Ok(Err(failure)) => out(failure.cause.to_string()),
            Err(_) => out(format!("no answer within {} s", ASKING.as_secs())),
        }
    }

    /// Notifies waiters if the list has changed.
    fn compare(&self) {
        let Offers { all, left_out } = self.offers();
        let mut hash = DefaultHasher::new();
        for offer in &all {
            (&offer.name, &offer.text, &offer.app.0).hash(&mut hash);
            Value::from(offer.schema().clone()).to_string().hash(&mut hash);
        }
        let print = hash.finish();
        let mut state = self.state();
        let first = *self.version.borrow() == 0;
        if first || state.print != print {
            state.print = print;
            self.version.send_modify(|version| *version += 1);
            for what in left_out.iter().take(5) {
                tracing::warn!("not published as a tool: {what}");
            }
        }
    }

    /// The known tools of the included phones.
    fn offers(&self) -> Offers {
        let state = self.state();
        let known = state.counted.iter().filter_map(|id| {
            let catalog = state.phones.get(id)?.catalog.clone()?;
            Some((id.clone(), catalog))
        });
        let known: Vec<(String, Arc<Catalog>)> = known.collect();
        drop(state);
        offers(&known)
    }

    fn with(&self, id: &str, change: impl FnOnce(&mut Phone)) {
        // Phones that are no longer included are ignored.
        if let Some(phone) = self.state().phones.get_mut(id) {
            change(phone);
        }
    }

    /// Ignores poisoning: a panic elsewhere leaves no partial change here.
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Runs the calls of one tool.
struct AppToolHandler {
    offer: Offer,
    shared: Arc<Shared>,
}

#[async_trait]
impl Handler for AppToolHandler {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let call = call.clone().on(Some(self.phone(call, perform).await?));
        let calling = request::CallAppTool(self.offer.call(arguments));
        perform.request(&call, calling).await.map(reply::answered)
    }
}

impl AppToolHandler {
    /// The phone for a call: the named one, else the only one with the tool, else the selected one
    /// if it has the tool.
    async fn phone(&self, call: &Call, perform: &dyn Perform) -> Result<String, Failure> {
        let having = &self.offer.phones;
        if let Some(named) = &call.device {
            let known =
                self.shared.state().phones.get(named).is_some_and(|it| it.catalog.is_some());
            if known && !having.contains(named) {
                let reason = format!(
                    "{} on {named} does not offer this tool; it does on {}",
                    self.offer.app,
                    having.join(", ")
                );
                return Err(Cause::InvalidArgument { reason }.into());
            }
            return Ok(named.clone());
        }
        if let [only] = &having[..] {
            return Ok(only.clone());
        }
        let chosen = request::DeviceInfo { max_age: Duration::from_secs(3600) };
        match perform.request(call, chosen).await {
            Ok(InfoResult { identity, .. }) if having.contains(&identity.id) => Ok(identity.id),
            _ => {
                let reason = format!(
                    "several phones offer this tool: {}; pass one of them as `device`",
                    having.join(", ")
                );
                Err(Cause::InvalidArgument { reason }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests;

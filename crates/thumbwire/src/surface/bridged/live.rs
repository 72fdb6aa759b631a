//! The tools of apps as they are by now: asked of the phones, kept while a phone does not answer, watched while somebody listens.
//!
//! A list never hangs on a phone: each is asked in a task of its own, which goes on when nobody waits for it any more, and what a phone
//! offered last stands in for it. Nothing depends on what a client did before.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::offers::{Offer, Offers, offers};
use super::{Guests, reply};
use crate::action::{Action, Call, Catalog, Cause, Failure, Outcome, Perform};
use crate::surface::{Handler, Manner, Reply, Tool};

/// How long a list waits for the phones; a look goes on for longer, for the next list.
const PATIENCE: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_secs(60);
/// A phone that was asked so lately is not asked again.
const FRESH: Duration = Duration::from_secs(2);
/// How often it is looked whether something changed, while somebody wants to hear of it.
const EVERY: Duration = Duration::from_secs(30);
/// How long a call may take: an app may have to be started for it.
const CALL: Duration = Duration::from_secs(60);

/// Which phones' apps are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// These. What one of them offered last stays while it does not answer.
    Named(Vec<String>),
    /// All that are there and ready, but these ids; what is taken away goes with its tools.
    ReadyBut(Vec<String>),
}

/// The tools of the apps on some phones.
pub struct AppTools {
    shared: Arc<Shared>,
}

struct Shared {
    perform: Arc<dyn Perform>,
    which: Which,
    state: Mutex<State>,
    version: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    phones: BTreeMap<String, Phone>,
    /// The phones that count, in their order.
    counted: Vec<String>,
    /// When the last look was begun.
    looked: Option<Instant>,
    /// Of the last list, to see whether the next is another.
    print: u64,
}

/// What is known of a phone.
#[derive(Default, Clone)]
struct Phone {
    catalog: Option<Arc<Catalog>>,
    /// Held by whoever asks it.
    turn: Arc<tokio::sync::Mutex<()>>,
    asked: Option<Instant>,
    /// It did not answer in time, and is waited for no longer than it takes to see that.
    slow: bool,
    /// What was told of it in the log, so that it is told once.
    failed: Option<String>,
}

impl AppTools {
    /// The tools of these phones' apps. `perform` is asked what there is; calls go by whoever makes them, so that they stand in
    /// a trace and looks do not.
    pub fn new(perform: Arc<dyn Perform>, which: Which) -> Self {
        let (version, _) = watch::channel(0);
        let shared = Shared { perform, which, state: Mutex::default(), version };
        Self { shared: Arc::new(shared) }
    }
}

#[async_trait]
impl Guests for AppTools {
    async fn tools(&self) -> Vec<Arc<Tool>> {
        self.shared.look().await;
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
            // Nobody has to list before a call.
            None => {
                self.shared.look().await;
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
            // Counted from the last look, so that it does not matter how often somebody begins to wait.
            let next = *self.shared.state().looked.get_or_insert_with(Instant::now) + EVERY;
            if timeout_at(next, versions.changed()).await.is_err() {
                self.shared.look().await;
            }
        }
    }
}

impl AppTools {
    fn tool_of(&self, offer: Offer) -> Arc<Tool> {
        let described = json!({
            "name": offer.name,
            "description": offer.description(),
            "inputSchema": offer.schema(),
            "outputSchema": reply::schema(),
        });
        let handler = Guest { offer, shared: Arc::clone(&self.shared) };
        Arc::new(Tool::handled(&described, Manner::Acts, CALL, Arc::new(handler)).with_device())
    }
}

impl Shared {
    /// Asks all phones that count, and waits for them as long as a list may.
    async fn look(self: &Arc<Self>) {
        let began = Instant::now();
        self.state().looked = Some(began);
        let until = began + PATIENCE;
        let ids = match &self.which {
            Which::Named(ids) => ids.clone(),
            Which::ReadyBut(not) => self.ready(not, until).await,
        };
        {
            let mut state = self.state();
            // A phone that is named stays, whether it is there or not; of the others those that are.
            state.phones.retain(|id, _| ids.contains(id));
            state.counted.clone_from(&ids);
        }
        join_all(ids.iter().map(|id| self.ask(id, until))).await;
        self.compare();
    }

    /// The phones that are ready; the last ones where they cannot be listed. Only those that are there by themselves: a phone that is
    /// listed because somebody has called it by its address is not.
    async fn ready(&self, not: &[String], until: Instant) -> Vec<String> {
        let call = Call::within(PATIENCE);
        let listing = self.perform.perform(&call, Action::ListDevices { platform: None });
        match timeout_at(until, listing).await {
            Ok(Ok(Outcome::Devices(devices))) => {
                let counts = devices.into_iter().filter(|phone| {
                    phone.is_ready() && !phone.properties.is_empty() && !not.contains(&phone.id)
                });
                counts.map(|phone| phone.id).collect()
            }
            _ => {
                tracing::warn!(
                    "the phones cannot be listed; tools of apps are those of the last ones"
                );
                self.state().counted.clone()
            }
        }
    }

    /// Asks one phone, unless it was asked just now. Who is late is left to answer in its own time.
    async fn ask(self: &Arc<Self>, id: &str, until: Instant) {
        /// Long enough to see that a phone that was late has answered since.
        const GLANCE: Duration = Duration::from_millis(200);
        let phone = self.state().phones.entry(id.to_owned()).or_default().clone();
        let now = Instant::now();
        if phone.asked.is_some_and(|asked| now < asked + FRESH) {
            return;
        }
        let until = if phone.slow { until.min(now + GLANCE) } else { until };
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
            // Somebody else is asking.
            Err(_) => timeout_at(until, phone.turn.lock()).await.is_err(),
        };
        if late && !phone.slow {
            tracing::warn!(
                "{id} does not say in time what its apps offer; what it offered last stands"
            );
            self.with(id, |phone| phone.slow = true);
        }
    }

    async fn ask_now(&self, id: &str) {
        let call = Call::within(LOOK).on(Some(id.to_owned()));
        let action = Action::ListAppTools { no_older_than: Duration::ZERO };
        let done = timeout(LOOK, self.perform.perform(&call, action)).await;
        let asked = Some(Instant::now());
        let told = |why: String| {
            self.with(id, |phone| {
                if phone.failed.as_ref() != Some(&why) {
                    tracing::warn!("what the apps of {id} offer is not known, what they offered last stands: {why}");
                }
                phone.asked = asked;
                phone.failed = Some(why);
            });
        };
        match done {
            Ok(Ok(Outcome::AppTools(catalog))) => self.with(id, |phone| {
                let turn = Arc::clone(&phone.turn);
                *phone = Phone { catalog: Some(catalog), asked, turn, ..Phone::default() };
            }),
            // It never will.
            Ok(Err(Failure { cause: cause @ Cause::PlatformNotSupported { .. }, .. })) => {
                tracing::debug!("{id}: {cause}");
                self.with(id, |phone| (phone.asked, phone.slow) = (asked, false));
            }
            Ok(Err(failure)) => told(failure.cause.to_string()),
            Ok(Ok(odd)) => told(format!("an outcome nobody asked for: {odd:?}")),
            Err(_) => told(format!("no answer within {} s", LOOK.as_secs())),
        }
    }

    /// Tells those who wait if the list is another one.
    fn compare(&self) {
        let Offers { all, left_out } = self.offers();
        let mut hash = DefaultHasher::new();
        for offer in &all {
            (&offer.name, &offer.words, &offer.app.0).hash(&mut hash);
            Value::from(offer.schema().clone()).to_string().hash(&mut hash);
        }
        let print = hash.finish();
        let mut state = self.state();
        let first = *self.version.borrow() == 0;
        if first || state.print != print {
            state.print = print;
            self.version.send_modify(|version| *version += 1);
            for what in left_out.iter().take(5) {
                tracing::warn!("not among the tools: {what}");
            }
        }
    }

    /// What the phones that count offer, as far as it is known.
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
        // One that does not count any more is forgotten.
        if let Some(phone) = self.state().phones.get_mut(id) {
            change(phone);
        }
    }

    /// A panic elsewhere leaves nothing half changed here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Carries out the calls of one tool.
struct Guest {
    offer: Offer,
    shared: Arc<Shared>,
}

#[async_trait]
impl Handler for Guest {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let call = call.clone().on(Some(self.phone(call, perform).await?));
        let action = Action::CallAppTool(self.offer.call(arguments));
        match perform.perform(&call, action).await? {
            Outcome::Answered(answered) => Ok(reply::answered(answered)),
            odd => {
                let said = format!("an outcome nobody asked for: {odd:?}");
                Err(Cause::PhoneFailed { said }.into())
            }
        }
    }
}

impl Guest {
    /// The phone that is meant: the one that was named, else the chosen one if it has the tool, else the only one that has.
    async fn phone(&self, call: &Call, perform: &dyn Perform) -> Result<String, Failure> {
        let having = &self.offer.phones;
        if let Some(named) = &call.device {
            let known =
                self.shared.state().phones.get(named).is_some_and(|it| it.catalog.is_some());
            if known && !having.contains(named) {
                let why = format!(
                    "{} on {named} does not offer this; it does on {}",
                    self.offer.app,
                    having.join(", ")
                );
                return Err(Cause::InvalidArgument { why }.into());
            }
            return Ok(named.clone());
        }
        if let [only] = &having[..] {
            return Ok(only.clone());
        }
        let chosen = Action::DeviceInfo { no_older_than: Duration::from_secs(3600) };
        match perform.perform(call, chosen).await {
            Ok(Outcome::Info { identity, .. }) if having.contains(&identity.id) => Ok(identity.id),
            _ => {
                let why = format!(
                    "several phones offer this: {}; name one of them as `device`",
                    having.join(", ")
                );
                Err(Cause::InvalidArgument { why }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests;

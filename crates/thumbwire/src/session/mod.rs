//! One piece of work on phones: the chosen device, the numbered controls, and what an action made stale.
//!
//! Begin with [`Session`], which is the one [`Perform`] that reaches phones: it finds the phone that a call is for,
//! keeps its deadline, and forgets connections that ended; [`choosing`] says which phone is meant, and [`Phones`] knows
//! which there are and opens them. [`attached`] carries the action out on that phone: [`looks`] sees what is there,
//! [`controls`] lists it by seed 000's rules, [`aim`] finds where to tap, [`typing`] looks after what is typed, [`apps`]
//! knows which app is meant, [`recall`] remembers earlier answers; [`turning`] turns its screen, and back when the session
//! ends; [`app_tools`] has the bridge call what apps offer; [`recordings`] and [`monitors`] go on from call to call, each in a list ([`going`]), and [`saving`] fetches files.
//! There is no shell text here, no JSON, and nothing of a tool's dialect.

mod aim;
mod app_tools;
mod apps;
mod attached;
mod choosing;
mod controls;
mod going;
mod looks;
mod monitors;
mod phones;
mod pictures;
mod recall;
mod recordings;
mod saving;
#[cfg(test)]
mod tests;
mod turning;
mod typing;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_device::{Acted, Device};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::action::{Action, Cache, Call, Cause, Failure, Outcome, Perform};
use crate::bridge::{Bridge, BridgeOptions};
use attached::{Attached, Screen};
use monitors::Monitors;
pub use phones::{OurKey, Phones, VIRTUAL};
use recordings::{Recordings, Wish};
use saving::Saving;

/// How many phones at once seed 004 recommends at most. More work, with a warning.
const RECOMMENDED: usize = 10;

/// The part of a call's time that is kept for finding out whether a silent phone is still there.
const PROBE: Duration = Duration::from_secs(1);

/// One piece of work on phones.
///
/// Its own locks are held for a moment and never across an await: one call that waits holds up no other.
pub struct Session {
    /// These two are shared with those who follow logs: they find a phone again that was lost.
    phones: Arc<Phones>,
    known: Arc<Mutex<BTreeMap<String, Known>>>,
    chosen: Mutex<Option<String>>,
    /// The number that the next new control gets, on whichever phone.
    next_control: Arc<AtomicU32>,
    /// By which a phone knows whose turn of its screen it keeps.
    name: String,
    leaves_screens: bool,
    saving: Saving,
    recordings: Recordings,
    monitors: Monitors,
    bridge: Bridge,
}

/// A phone that this session has reached. It stays known when its connection is let go: an act that is still under
/// way on the old connection must make stale what is learnt over the new one.
struct Known {
    screen: Arc<Screen>,
    device: Option<Arc<dyn Device>>,
}

/// How far a call has come, for when it is given up half-way.
#[derive(Default)]
struct Course {
    /// The phone that it is for.
    phone: OnceLock<String>,
    attached: OnceLock<Attached>,
}

impl Course {
    /// Whether an order that may change the screen went out.
    fn acted(&self) -> Acted {
        self.attached.get().map_or(Acted::No, Attached::acted)
    }
}

impl Session {
    /// A session over these phones. `chosen` is the device to use until a caller chooses another.
    pub fn new(phones: Phones, chosen: Option<String>) -> Self {
        Self {
            phones: Arc::new(phones),
            known: Arc::default(),
            chosen: Mutex::new(chosen),
            next_control: Arc::new(AtomicU32::new(1)),
            name: turning::name(),
            leaves_screens: false,
            saving: Saving::new(),
            recordings: Recordings::default(),
            monitors: Monitors::default(),
            bridge: Bridge::new(BridgeOptions::default()),
        }
    }

    /// The phone that a call is for, connected.
    async fn attached<'a>(&self, call: &Call, course: &'a Course) -> Result<&'a Attached, Failure> {
        let id = match &call.device {
            Some(id) => id.clone(),
            None => self.chosen_id().await?,
        };
        self.attach(&id, course).await
    }

    async fn attach<'a>(&self, id: &str, course: &'a Course) -> Result<&'a Attached, Failure> {
        let _ = course.phone.set(id.to_owned());
        let known = lock(&self.known).get(id).and_then(Known::attached);
        let attached = match known {
            Some(attached) => attached,
            None => {
                let device = self.phones.open(id).await?;
                self.turn_back_others(id, &device).await;
                self.keep(id, device)
            }
        };
        Ok(course.attached.get_or_init(|| attached))
    }

    /// Keeps a connection just made; one that another call made meanwhile is used instead.
    fn keep(&self, id: &str, device: Arc<dyn Device>) -> Attached {
        Known::keep(&self.known, &self.next_control, id, device)
    }

    /// Lets a connection go that has ended, and all that was learnt over it: the next call connects anew. A newer
    /// connection to the same phone stays.
    fn let_go(&self, attached: &Attached) {
        if let Some(known) = lock(&self.known).get_mut(attached.id()) {
            known.let_go(&attached.device);
        }
    }

    /// Forgets earlier answers of the phone that a call is for. No phone is asked: of one that was never reached nothing is
    /// known.
    fn forget(&self, call: &Call, cache: Cache) {
        let Some(id) = call.device.clone().or_else(|| lock(&self.chosen).clone()) else { return };
        if let Cache::All = cache {
            self.bridge.forget(&id);
        }
        if let Some(known) = lock(&self.known).get(&id) {
            known.screen.memory.forget(cache);
        }
    }

    async fn carry_out(
        &self,
        call: &Call,
        action: Action,
        course: &Course,
    ) -> Result<Outcome, Failure> {
        match action {
            Action::ListDevices { platform } => {
                let mut there = self.there().await?;
                there.retain(|phone| platform.is_none_or(|platform| phone.platform == platform));
                Ok(Outcome::Devices(there))
            }
            Action::UseDevice { device, platform } => self.choose(&device, platform, course).await,
            Action::UseAnyDevice => self.choose_any(course).await,
            Action::Health => self.attached(call, course).await?.health().await,
            Action::Screenshot(shape) => {
                let picture = self.attached(call, course).await?.screenshot().await?;
                pictures::shaped(picture, shape).await.map(Outcome::Picture)
            }
            Action::Look(looking) => {
                self.attached(call, course).await?.look(looking).await.map(Outcome::Look)
            }
            Action::Controls { no_older_than } => self
                .attached(call, course)
                .await?
                .controls(no_older_than)
                .await
                .map(Outcome::Controls),
            Action::Snapshot(shape) => {
                let (picture, look) = self.attached(call, course).await?.snapshot().await?;
                Ok(Outcome::Snapshot(pictures::shaped(picture, shape).await?, look))
            }
            Action::SetOrientation(orientation) => {
                let attached = self.attached(call, course).await?;
                attached.set_orientation(orientation, &self.name).await
            }
            Action::DeviceInfo { no_older_than } => {
                self.attached(call, course).await?.info(no_older_than).await
            }
            Action::ListApps { which, containing, no_older_than } => {
                self.attached(call, course).await?.apps(which, &containing, no_older_than).await
            }
            Action::CurrentApp => self.attached(call, course).await?.current_app().await,
            Action::Scroll { direction, distance } => {
                self.attached(call, course).await?.scroll(direction, distance).await
            }
            Action::Stop(app) => self.attached(call, course).await?.stop(&app).await,
            Action::ClearData(app) => self.attached(call, course).await?.clear_data(&app).await,
            Action::Permit { app, permission, granted } => {
                self.attached(call, course).await?.permit(&app, &permission, granted).await
            }
            Action::Touch(gesture) => self.attached(call, course).await?.touch(gesture).await,
            Action::TapElement(target) => {
                self.attached(call, course).await?.tap_element(&target).await
            }
            Action::Type(typing) => self.attached(call, course).await?.type_text(&typing).await,
            Action::Find(criteria) => self.attached(call, course).await?.find(&criteria).await,
            Action::Swipe { direction, distance, lasting } => {
                self.attached(call, course).await?.swipe(direction, distance, lasting).await
            }
            Action::Wait(time) => {
                sleep(time).await;
                Ok(Outcome::Done)
            }
            Action::Forget(cache) => {
                self.forget(call, cache);
                Ok(Outcome::Done)
            }
            Action::Press(key) => self.attached(call, course).await?.press(key).await,
            Action::Launch(choice) => self.attached(call, course).await?.launch(&choice).await,
            Action::SaveScreenshot { name, fetch } => {
                self.save_screenshot(call, name, fetch, course).await
            }
            Action::ReadLog { filter, most, clear } => {
                self.read_log(call, &filter, most, clear, course).await
            }
            Action::StartMonitor { filter, file } => {
                self.start_monitor(call, filter, file, course).await
            }
            Action::StopMonitor(monitor) => self.stop_monitor(call, monitor).await,
            Action::ListMonitors => Ok(self.list_monitors(call)),
            Action::StartRecording { name, lasting, bit_rate, size } => {
                let wish = Wish { name, lasting, bit_rate, size };
                self.start_recording(call, wish, course).await
            }
            Action::StopRecording { recording, fetch } => {
                self.stop_recording(call, recording, fetch, course).await
            }
            Action::ListRecordings => Ok(self.list_recordings(call)),
            Action::ListAppTools { no_older_than } => {
                self.attached(call, course).await?.app_tools(&self.bridge, no_older_than).await
            }
            Action::CallAppTool(wanted) => {
                self.attached(call, course).await?.call_app_tool(&self.bridge, call, wanted).await
            }
            Action::TrustAppTools(app) => {
                self.attached(call, course).await?.trust_app_tools(&self.bridge, &app).await
            }
        }
    }

    /// What to say when a call's time ran out: a phone that does not answer, or no longer, is not connected.
    async fn out_of_time(call: &Call, course: &Course, what: String, given: Duration) -> Cause {
        let why = match (course.phone.get(), course.attached.get()) {
            (_, Some(attached)) => match timeout_at(call.deadline, attached.answers()).await {
                Ok(Ok(())) => None,
                Ok(Err(_)) | Err(_) => Some("it stopped answering"),
            },
            (Some(_), None) => Some("it does not answer"),
            (None, None) => None,
        };
        match (course.phone.get(), why) {
            (Some(device), Some(why)) => {
                Cause::DeviceNotConnected { device: device.clone(), why: why.into() }
            }
            _ => Cause::TimedOut { what, after: given },
        }
    }
}

#[async_trait]
impl Perform for Session {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let what = action.to_string();
        let course = Course::default();
        let given = call.deadline.saturating_duration_since(Instant::now());
        let work = timeout(given - PROBE.min(given / 4), self.carry_out(call, action, &course));
        let given_up = |cause| Failure { cause, acted: Acted::Maybe };
        let done = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Err(given_up(Cause::Cancelled)),
            done = work => match done {
                Ok(done) => done,
                Err(_) => Err(given_up(Self::out_of_time(call, &course, what, given).await)),
            }
        };
        done.map_err(|mut failure| {
            if course.acted() == Acted::No {
                // What failed was finding the phone, looking for the element, or waiting for one's turn.
                failure.acted = Acted::No;
            }
            if let (Cause::DeviceNotConnected { .. }, Some(attached)) =
                (&failure.cause, course.attached.get())
            {
                self.let_go(attached);
            }
            failure
        })
    }
}

impl Known {
    /// Keeps a connection just made; one that was made meanwhile is used instead.
    fn keep(
        all: &Mutex<BTreeMap<String, Self>>,
        next_control: &Arc<AtomicU32>,
        id: &str,
        device: Arc<dyn Device>,
    ) -> Attached {
        let mut all = lock(all);
        let connected = all.values().filter(|known| known.device.is_some()).count();
        if connected >= RECOMMENDED {
            tracing::warn!(
                "{id} is phone {} of this session; up to {RECOMMENDED} are recommended",
                connected + 1
            );
        }
        let known = all.entry(id.to_owned()).or_insert_with(|| Self {
            screen: Arc::new(Screen::new(Arc::clone(next_control))),
            device: None,
        });
        let device = Arc::clone(known.device.get_or_insert(device));
        Attached::new(device, Arc::clone(&known.screen))
    }

    /// Lets this connection go and all that was learnt over it, unless there is a newer one.
    fn let_go(&mut self, device: &Arc<dyn Device>) {
        if self.device.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, device)) {
            self.device = None;
            self.screen.forget();
        }
    }

    fn attached(&self) -> Option<Attached> {
        let device = Arc::clone(self.device.as_ref()?);
        Some(Attached::new(device, Arc::clone(&self.screen)))
    }
}

/// A panic elsewhere leaves nothing half changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

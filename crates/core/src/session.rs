//! Work on phones: the device that each client selected, refs and control ids, caches, and what an
//! action makes stale.
//!
//! Begin with [`Session`], the only [`Perform`] that reaches phones: it finds the phone for a call,
//! enforces its deadline, and drops dead connections. [`default_device`] decides which phone is
//! meant; [`DeviceProviders`] lists and opens them. [`attached_device`] runs the action on that
//! phone: [`snapshots`] takes snapshots, [`controls`] lists controls by UFO's rules, [`target`]
//! finds where to tap, [`screen_size`] knows how far to swipe, [`typing`] types and verifies text,
//! [`apps`] lists and starts apps, [`app_refusals`] refuses those that the operator does not allow,
//! [`app_names`] resolves their names, [`labels`] reads what the launcher calls them, [`cache`]
//! caches answers, [`selection`] knows each client's phone, [`leasing`] keeps other clients from
//! interfering, [`crashes`] reads crashes from the log, [`lock_state`] unlocks it, [`orientation`]
//! rotates the screen and restores it when the session ends, and [`app_tools`] calls app tools.
//! [`installation`] installs apps, and [`transfers`] copies files. [`recordings`] and [`monitors`]
//! outlive a call, each in a registry ([`jobs`]); [`local_files`] fetches files.
//!
//! Not here: shell commands, JSON, and anything specific to a toolset.

mod app_guard;
mod app_names;
mod app_refusals;
mod app_tools;
mod apps;
mod attached_device;
mod cache;
mod clipboard;
mod connections;
mod controls;
mod crashes;
mod default_device;
mod installation;
mod jobs;
mod known_lock;
mod labels;
mod leasing;
mod local_files;
mod lock_state;
mod monitors;
mod notifications;
mod observe;
mod orientation;
mod pinch;
mod recordings;
mod screen_size;
mod screenshots;
mod seen_screens;
mod selection;
mod settings_pages;
mod snapshots;
mod target;
#[cfg(test)]
mod tests;
mod transfers;
mod typing;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use thumbwire_device::{Device, SideEffect, TreeDetail};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::action::{
    Action, CacheKind, Call, Cause, ClientId, ClientWatch, Failure, Outcome, Perform,
    ScreenshotAndSnapshot,
};
use crate::allowed_apps::AllowedApps;
use crate::app_tools::{AppToolHost, AppToolOptions};
use crate::event::{Event, EventSink as _, EventSinks};
use crate::input_files::InputFolder;
use crate::providers::{DeviceChange, DeviceProviders};
use attached_device::AttachedDevice;
use connections::Connections;
pub use leasing::Lease;
use local_files::LocalFiles;
use monitors::Monitors;
use recordings::{RecordingRequest, Recordings};
use selection::SelectedDevices;

/// The part of a call's time reserved for probing a phone that stopped answering.
const PROBE: Duration = Duration::from_secs(1);

/// The work of all clients of a program on phones.
///
/// Its own locks are held briefly and never across an await, so a waiting call blocks no other.
pub struct Session {
    connections: Arc<Connections>,
    /// The devices that the operator named. If it is one, it is used until the client selects
    /// another.
    configured: Vec<String>,
    selected: SelectedDevices,
    /// Identifies this session as the owner of a phone's rotation.
    name: String,
    keep_orientation: bool,
    saving: LocalFiles,
    /// The folder whose files may be sent to phones.
    input: Option<InputFolder>,
    recordings: Recordings,
    monitors: Monitors,
    bridge: AppToolHost,
}

/// How far a call has got, for when it is cancelled halfway.
#[derive(Default)]
struct CallProgress {
    /// The phone it is for.
    phone: OnceLock<String>,
    attached: OnceLock<AttachedDevice>,
    /// Whether it needs the phone's lease.
    needs_lease: bool,
}

impl CallProgress {
    /// Whether a command that may change the screen was sent.
    fn acted(&self) -> SideEffect {
        self.attached.get().map_or(SideEffect::None, AttachedDevice::acted)
    }
}

impl Session {
    /// A session over these phones, of which the operator named some. A single one is used until a
    /// caller selects another; of several, callers have to name or select one.
    pub fn new(phones: DeviceProviders, named: impl IntoIterator<Item = String>) -> Self {
        let name = orientation::name();
        Self {
            connections: Arc::new(Connections::new(phones)),
            configured: named.into_iter().collect(),
            selected: SelectedDevices::default(),
            name,
            keep_orientation: false,
            saving: LocalFiles::new(),
            input: None,
            recordings: Recordings::default(),
            monitors: Monitors::default(),
            bridge: AppToolHost::new(AppToolOptions::default()),
        }
    }

    /// Limits which apps callers may use. Without it, every app. Call it before the session is
    /// used.
    pub fn with_allowed_apps(self, allowed: AllowedApps) -> Self {
        Self { connections: Arc::new(self.connections.with_allowed_apps(allowed)), ..self }
    }

    /// The sinks for phones that connect and disconnect: those with an address as this session
    /// connects to and loses them, and with [`Session::watch_devices`] the listed ones. Calls are
    /// reported by [`ObservedPerform`](crate::event::ObservedPerform).
    pub fn events(&self) -> &EventSinks {
        &self.connections.events
    }

    /// Reports listed phones to [`Session::events`]: those that are ready now, then each change.
    /// Runs until no provider can report any more changes, and may outlive the session.
    pub fn watch_devices(&self) -> impl Future<Output = ()> + Send + use<> {
        let (mut changes, events) = (self.connections.phones.watch(), self.events().clone());
        async move {
            while let Some(change) = changes.next().await {
                events.on_event(&match &change {
                    DeviceChange::Connected(phone) => {
                        Event::DeviceConnected { device: &phone.id, model: &phone.model }
                    }
                    DeviceChange::Lost(device) => {
                        Event::DeviceLost { device, reason: "it is no longer listed as ready" }
                    }
                });
            }
        }
    }

    /// The phone that a call is for, connected, and leased to its client if the call acts.
    async fn attached<'a>(
        &self,
        call: &Call,
        course: &'a CallProgress,
    ) -> Result<&'a AttachedDevice, Failure> {
        let id = match &call.device {
            Some(id) => id.clone(),
            None => self.chosen_id(call).await?,
        };
        let attached = self.attach(&id, course).await?;
        call.state.found(attached.id());
        if course.needs_lease {
            attached.acquire_lease(call)?;
        }
        Ok(attached)
    }

    async fn attach<'a>(
        &self,
        id: &str,
        course: &'a CallProgress,
    ) -> Result<&'a AttachedDevice, Failure> {
        let _ = course.phone.set(id.to_owned());
        let attached = match self.connections.get(id) {
            Some(attached) => attached,
            None => self.open(id).await?,
        };
        Ok(course.attached.get_or_init(|| attached))
    }

    /// Opens a phone, unless another call is opening it; then waits for that one.
    async fn open(&self, id: &str) -> Result<AttachedDevice, Failure> {
        let turn = self.connections.opening_turn(id);
        let _turn = turn.lock().await;
        if let Some(attached) = self.connections.get(id) {
            return Ok(attached);
        }
        let device = self.connections.open(id).await?;
        self.restore_for_ended_sessions(id, &device).await;
        Ok(self.keep(id, device))
    }

    /// Stores a new connection, unless another call has just made one; then that one is used.
    fn keep(&self, id: &str, device: Arc<dyn Device>) -> AttachedDevice {
        self.connections.keep(id, device)
    }

    /// Drops a dead connection and its caches; the next call reconnects. A newer connection to the
    /// same phone stays.
    fn drop_connection(&self, attached: &AttachedDevice, reason: &str) {
        self.connections.drop_connection(attached.id(), &attached.device, reason);
    }

    /// Invalidates caches of the phone that a call is for. Never contacts the phone: an unreached
    /// phone has no caches.
    fn forget(&self, call: &Call, cache: CacheKind) {
        let id = call.device.clone().or_else(|| self.selected_device(call));
        let Some(id) = id else { return };
        if let CacheKind::All = cache {
            self.bridge.forget(&id);
        }
        if let Some(screen) = self.connections.screen(&id) {
            screen.memory.forget(cache);
            if matches!(cache, CacheKind::All | CacheKind::Tree) {
                screen.pictures.forget();
            }
        }
    }

    async fn perform_on(
        &self,
        call: &Call,
        action: Action,
        course: &CallProgress,
    ) -> Result<Outcome, Failure> {
        match action {
            Action::ListDevices { platform, connect } => {
                let unreachable = if connect { self.connect_selected(call).await? } else { None };
                let mut there = self.list_devices(call).await;
                if let Some((id, state)) = unreachable
                    && let Some(phone) = there.iter_mut().find(|phone| phone.id == id)
                {
                    phone.state = state;
                }
                there.retain(|phone| platform.is_none_or(|platform| phone.platform == platform));
                Ok(Outcome::Devices(there))
            }
            Action::SelectDevice { device, platform } => {
                self.choose(call, &device, platform, course).await
            }
            Action::SelectDefaultDevice => self.select_default(call, course).await,
            Action::Health => self.attached(call, course).await?.health().await,
            Action::Screenshot(shape) => {
                let picture = self.attached(call, course).await?.screenshot(shape).await?;
                screenshots::shaped(picture, shape).await.map(Outcome::Screenshot)
            }
            Action::Snapshot(looking) => {
                let attached = self.attached(call, course).await?;
                let snapshot = attached.snapshot(looking).await?;
                if looking.detail == TreeDetail::Full {
                    attached.screen.memory.seen.keep(&call.client, Arc::clone(&snapshot), false);
                }
                Ok(Outcome::Snapshot(snapshot))
            }
            Action::Observe(when) => self.attached(call, course).await?.observe(call, when).await,
            Action::Controls { max_age: no_older_than } => self
                .attached(call, course)
                .await?
                .controls(no_older_than)
                .await
                .map(Outcome::Controls),
            Action::ScreenshotAndSnapshot(shape) => {
                let attached = self.attached(call, course).await?;
                let (picture, look) = attached.screenshot_and_snapshot(shape.format).await?;
                attached.screen.memory.seen.keep(&call.client, Arc::clone(&look), false);
                Ok(Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                    screenshot: screenshots::shaped(picture, shape).await?,
                    snapshot: look,
                }))
            }
            Action::Unlock => self.attached(call, course).await?.unlock().await,
            Action::SetOrientation(orientation) => {
                let attached = self.attached(call, course).await?;
                attached.set_orientation(orientation, &self.name).await
            }
            Action::DeviceInfo { max_age: no_older_than } => {
                self.attached(call, course).await?.info(no_older_than).await
            }
            Action::ListApps { which, containing, max_age: no_older_than } => {
                self.attached(call, course).await?.apps(which, &containing, no_older_than).await
            }
            Action::ListLabelledApps { which } => {
                self.attached(call, course).await?.labelled_apps(which).await
            }
            Action::CurrentApp => self.attached(call, course).await?.current_app().await,
            Action::Scroll { direction, distance } => {
                self.attached(call, course).await?.scroll(direction, distance).await
            }
            Action::Pinch { at, scale, lasting } => {
                self.attached(call, course).await?.pinch(at, scale, lasting).await
            }
            Action::ReadClipboard => self.attached(call, course).await?.read_clipboard().await,
            Action::SetClipboard(text) => {
                self.attached(call, course).await?.set_clipboard(&text).await
            }
            Action::SetLocation(at) => self.attached(call, course).await?.set_location(at).await,
            Action::Stop(app) => self.attached(call, course).await?.stop(&app).await,
            Action::ClearData(app) => self.attached(call, course).await?.clear_data(&app).await,
            Action::SetPermission { app, permission, granted } => {
                self.attached(call, course).await?.permit(&app, &permission, granted).await
            }
            Action::InstallApp { path, options } => {
                self.install_app(call, &path, options, course).await
            }
            Action::UninstallApp(app) => self.uninstall_app(call, &app, course).await,
            Action::PushFile { path, to, overwrite } => {
                self.push_file(call, &path, to, overwrite, course).await
            }
            Action::PullFile { path, name } => self.pull_file(call, &path, name, course).await,
            Action::Touch(gesture) => self.attached(call, course).await?.touch(gesture).await,
            Action::TapElement(target) => {
                self.attached(call, course).await?.tap_element(&target).await
            }
            Action::Type(typing) => {
                self.attached(call, course).await?.type_text(&typing, call.deadline).await
            }
            Action::FindElements(criteria) => {
                self.attached(call, course).await?.find(&criteria).await
            }
            Action::Swipe { direction, distance, lasting } => {
                self.attached(call, course).await?.swipe(direction, distance, lasting).await
            }
            Action::Wait(time) => {
                sleep(time).await;
                Ok(Outcome::Done)
            }
            Action::InvalidateCache(cache) => {
                self.forget(call, cache);
                Ok(Outcome::Done)
            }
            Action::Press(key) => self.attached(call, course).await?.press(key).await,
            Action::OpenUrl(url) => self.attached(call, course).await?.open_url(&url).await,
            Action::Launch(choice) => self.attached(call, course).await?.launch(&choice).await,
            Action::SaveScreenshot { name, fetch } => {
                self.save_screenshot(call, name, fetch, course).await
            }
            Action::ReadLog { filter, max: most, clear } => {
                self.read_log(call, &filter, most, clear, course).await
            }
            Action::ReadCrashes { since, app } => {
                self.attached(call, course).await?.crashes(&since, app.as_ref()).await
            }
            Action::ListNotifications { max } => {
                self.attached(call, course).await?.notifications(max).await
            }
            Action::StartMonitor { filter, file } => {
                self.start_monitor(call, filter, file, course).await
            }
            Action::StopMonitor(monitor) => self.stop_monitor(call, monitor).await,
            Action::ListMonitors => Ok(self.list_monitors(call)),
            Action::StartRecording { name, lasting, bit_rate, size } => {
                let wish = RecordingRequest { name, lasting, bit_rate, size };
                self.start_recording(call, wish, course).await
            }
            Action::StopRecording { recording, fetch } => {
                self.stop_recording(call, recording, fetch, course).await
            }
            Action::ListRecordings => Ok(self.list_recordings(call)),
            Action::ListAppTools { max_age: no_older_than } => {
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

    /// The cause to report for a timeout. A phone that does not answer a probe is reported as not
    /// connected.
    async fn out_of_time(
        call: &Call,
        course: &CallProgress,
        what: String,
        given: Duration,
    ) -> Cause {
        let reason = match (course.phone.get(), course.attached.get()) {
            (_, Some(attached)) => match timeout_at(call.deadline, attached.answers()).await {
                Ok(Ok(())) => None,
                Ok(Err(_)) => Some("it stopped answering"),
                // A phone that works at its limit needs more than the time that is left.
                Err(_) => Some("it stopped answering, or is too busy to answer within a second"),
            },
            (Some(_), None) => Some("it does not answer"),
            (None, None) => None,
        };
        match (course.phone.get(), reason) {
            (Some(device), Some(why)) => {
                Cause::DeviceNotConnected { device: device.clone(), reason: why.into() }
            }
            _ => Cause::TimedOut { what, after: given },
        }
    }
}

#[async_trait]
impl Perform for Session {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let what = action.to_string();
        if !call.scope.allows(action.scope()) {
            let reason = "this client may only look at phones".to_owned();
            return Err(Cause::Refused { reason }.into());
        }
        let needs_lease = call.exclusive || action.needs_lease();
        let course = CallProgress { needs_lease, ..CallProgress::default() };
        let given = call.deadline.saturating_duration_since(Instant::now());
        let work = timeout(given - PROBE.min(given / 4), self.perform_on(call, action, &course));
        let given_up = |cause| Failure { cause, side_effect: SideEffect::Possible };
        let done = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Err(given_up(Cause::Cancelled)),
            done = work => match done {
                Ok(done) => done,
                Err(_) => Err(given_up(Self::out_of_time(call, &course, what, given).await)),
            }
        };
        let mut failure = match done {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => failure,
        };
        if course.acted() == SideEffect::None {
            // It failed while finding the phone, resolving the element, or waiting for its turn.
            failure.side_effect = SideEffect::None;
        }
        if let (Cause::DeviceNotConnected { reason, .. }, Some(attached)) =
            (&failure.cause, course.attached.get())
        {
            self.drop_connection(attached, reason);
        }
        Err(failure)
    }
}

#[async_trait]
impl ClientWatch for Session {
    fn connected_phones(&self) -> usize {
        self.connections.all().len()
    }

    /// Ends what the client has started, and its leases as soon as nothing of it acts any more.
    async fn client_left(&self, client: &ClientId) {
        for attached in self.connections.all() {
            attached.screen.memory.seen.client_left(client);
        }
        self.selected.client_left(client);
        self.recordings.client_left(client);
        self.monitors.client_left(client);
        self.connections.leases.client_left(client);
    }
}

//! Work on phones: the device that each client selected, refs and control ids, caches, and what an
//! action makes stale.
//!
//! Start with [`Session`], the only [`Perform`] that reaches phones. [`SessionCall`] is one call:
//! it finds the phone ([`default_device`]), enforces the deadline, and drops dead connections.
//! [`AttachedDevice`] runs the action on that phone, and [`cache`] decides what an action makes
//! stale. [`recordings`] and [`monitors`] outlive a call; their registry is [`jobs`].
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
mod look_queue;
mod monitors;
mod notifications;
mod observe;
mod orientation;
mod pinch;
mod recordings;
mod remote;
mod screen_size;
mod screenshots;
mod seen_screens;
mod selection;
mod settings_pages;
mod snapshots;
mod streams;
mod target;
#[cfg(test)]
mod tests;
mod transfers;
mod typing;
mod user_holds;

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use jiff::civil::DateTime;
use thumbwire_device::{Device, SideEffect, TreeDetail};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::action::{
    Action, CacheKind, Call, Cause, ClientId, ClientWatch, Failure, Outcome, Perform,
    ScreenshotAndControls, ScreenshotAndSnapshot,
};
use crate::allowed_apps::AllowedApps;
use crate::app_tools::{AppToolHost, AppToolOptions};
use crate::artifacts::ArtifactStore;
use crate::event::{Event, EventSink as _, EventSinks};
use crate::input_files::InputFolder;
use crate::phone_locks::PhoneLocks;
use crate::providers::{DeviceChange, DeviceProviders};
use crate::random;
use crate::snapshot::Snapshot;
use attached_device::AttachedDevice;
use connections::Connections;
pub use leasing::Lease;
use leasing::Leases;
use local_files::LocalFiles;
use monitors::Monitors;
use recordings::{RecordingRequest, Recordings};
pub use remote::{FilesHere, RemotePhones};
use selection::SelectedDevices;
pub use streams::ShownPhone;
pub use user_holds::UserHold;

/// The part of a call's time reserved for probing a phone that stopped answering.
const PROBE: Duration = Duration::from_secs(1);

/// The work of all clients of a program on phones.
///
/// Its own locks are held briefly and never across an await, so a waiting call blocks no other.
pub struct Session {
    connections: Arc<Connections>,
    /// See [`SessionOptions::devices`].
    configured: Vec<String>,
    selected: SelectedDevices,
    /// Identifies this session as the owner of a phone's rotation.
    name: String,
    keep_orientation: bool,
    files: LocalFiles,
    /// The folder whose files may be sent to phones.
    input: Option<InputFolder>,
    recordings: Recordings,
    monitors: Monitors,
    app_tools: AppToolHost,
    remote: Option<Arc<dyn RemotePhones>>,
}

/// What a session may do, and for whom.
pub struct SessionOptions {
    /// The devices that the operator named. A single one is used until the client selects another;
    /// of several, clients have to name or select one.
    pub devices: Vec<String>,
    /// The apps that clients may use.
    pub allowed_apps: AllowedApps,
    /// How long a client keeps the lease of a phone after its last act there; zero leases nothing.
    pub lease_time: Duration,
    /// After which number leases count: clients of other computers must not take a lease of this
    /// session for one of an earlier session.
    pub first_lease: u64,
    /// The number of the first ref: after those of an earlier session whose client goes on, so that
    /// an old ref never names another element.
    pub first_ref: u32,
    /// How other programs of this computer see the leases of this session, and it theirs. `None`:
    /// they do not.
    pub locks: Option<PhoneLocks>,
    /// Where files are stored here. `None`: screenshots stay on the phone.
    pub files: Option<ArtifactStore>,
    /// The clock (local time) that files are named after.
    pub clock: fn() -> DateTime,
    /// The folder whose files clients may send to phones. `None`: no files.
    pub input_files: Option<InputFolder>,
    /// How app tools are called. By default they are listed, and none may be called.
    pub app_tools: AppToolOptions,
    /// Leaves rotations alone at the start and the end of the session. For callers whose work
    /// continues after it, such as a person who runs one command after another.
    pub keep_orientation: bool,
    /// Phones of other computers.
    pub remote: Option<Arc<dyn RemotePhones>>,
}

impl Default for SessionOptions {
    /// No named device and no files; names of files have the beginning of the year 0.
    fn default() -> Self {
        Self {
            devices: Vec::new(),
            allowed_apps: AllowedApps::default(),
            lease_time: Duration::ZERO,
            first_lease: 0,
            first_ref: 1,
            locks: None,
            files: None,
            clock: || DateTime::ZERO,
            input_files: None,
            app_tools: AppToolOptions::default(),
            keep_orientation: false,
            remote: None,
        }
    }
}

impl From<Option<String>> for SessionOptions {
    /// For the device that the operator named, if any.
    fn from(device: Option<String>) -> Self {
        Self { devices: device.into_iter().collect(), ..Self::default() }
    }
}

/// One call on its way through the session.
struct SessionCall<'a> {
    session: &'a Session,
    call: &'a Call,
    /// Whether it needs the phone's lease.
    needs_lease: bool,
    /// Whether it needs that for what it does, not only for the run that it is a part of.
    acts: bool,
    /// The phone it is for, once that is known.
    device_id: OnceLock<String>,
    /// That phone, once it is connected.
    attached: OnceLock<AttachedDevice>,
    /// Set when an action that may change something was sent to another computer.
    sent: OnceLock<()>,
}

impl Session {
    /// A session over these phones.
    pub fn new(phones: DeviceProviders, options: impl Into<SessionOptions>) -> Self {
        let options: SessionOptions = options.into();
        // Without randomness, the process still tells this session from an earlier one.
        let name = random::hex::<16>().unwrap_or_else(|_| std::process::id().to_string());
        let leases = Leases::new(options.lease_time, options.first_lease, options.locks, &phones);
        Self {
            connections: Arc::new(Connections::new(
                phones,
                leases,
                options.allowed_apps,
                options.first_ref,
            )),
            configured: options.devices,
            selected: SelectedDevices::default(),
            name,
            keep_orientation: options.keep_orientation,
            files: LocalFiles::new(options.files, options.clock),
            input: options.input_files,
            recordings: Recordings::default(),
            monitors: Monitors::default(),
            app_tools: AppToolHost::new(options.app_tools),
            remote: options.remote,
        }
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

    /// The number of the next ref; see [`SessionOptions::first_ref`].
    pub fn next_ref(&self) -> u32 {
        self.connections.next_ref.load(Ordering::Relaxed)
    }

    /// The phone with this id, connected.
    async fn connected(&self, id: &str) -> Result<AttachedDevice, Failure> {
        match self.connections.get(id) {
            Some(attached) => Ok(attached),
            None => self.open(id).await,
        }
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
}

impl<'a> SessionCall<'a> {
    fn new(session: &'a Session, call: &'a Call, action: &Action) -> Self {
        let acts = action.needs_lease();
        let needs_lease = call.exclusive || acts;
        let (device_id, attached, sent) = Default::default();
        Self { session, call, needs_lease, acts, device_id, attached, sent }
    }

    /// Whether a command that may change the screen was sent.
    fn acted(&self) -> SideEffect {
        match self.sent.get() {
            Some(()) => SideEffect::Possible,
            None => self.attached.get().map_or(SideEffect::None, AttachedDevice::acted),
        }
    }

    /// The phone that the call is for, connected, and leased to its client if the call acts.
    async fn attached(&self) -> Result<&AttachedDevice, Failure> {
        let id = match &self.call.device {
            Some(id) => id.clone(),
            None => self.chosen_id().await?,
        };
        let attached = self.attach(&id).await?;
        self.call.state.found(attached.id());
        if self.needs_lease {
            let users = self.session.connections.leases.users();
            users.admit(attached.id(), self.call, self.acts).await?;
            attached.acquire_lease(self.call)?;
            self.call.state.acts();
        }
        Ok(attached)
    }

    async fn attach(&self, id: &str) -> Result<&AttachedDevice, Failure> {
        let _ = self.device_id.set(id.to_owned());
        let attached = self.session.connected(id).await?;
        attached.looks_for(self.call);
        Ok(self.attached.get_or_init(|| attached))
    }

    /// Invalidates caches of the phone that a call is for. Never contacts the phone: an unreached
    /// phone has no caches.
    fn forget(&self, cache: CacheKind) {
        let Some(id) = self.device_of_call() else { return };
        if let CacheKind::All = cache {
            self.session.app_tools.forget(&id);
        }
        if let Some(screen) = self.session.connections.screen(&id) {
            screen.cache.forget(cache);
            if matches!(cache, CacheKind::All | CacheKind::Tree) {
                screen.pictures.forget();
            }
        }
    }

    /// The device that the call names, else the selected one.
    fn device_of_call(&self) -> Option<String> {
        self.call.device.clone().or_else(|| self.selected_device())
    }

    async fn run(&self, action: Action) -> Result<Outcome, Failure> {
        let Self { session, call, .. } = *self;
        if let Some(outcome) = self.on_another_computer(&action).await {
            return outcome;
        }
        match action {
            Action::ListDevices { platform, connect } => {
                let unusable = if connect { self.connect_named().await } else { Vec::new() };
                let mut devices = self.list_devices().await;
                for (id, state) in unusable {
                    if let Some(phone) = devices.iter_mut().find(|phone| phone.id == id) {
                        phone.state = state;
                    }
                }
                devices.retain(|phone| platform.is_none_or(|platform| phone.platform == platform));
                Ok(Outcome::Devices(devices))
            }
            Action::SelectDevice { device, platform } => self.choose(&device, platform).await,
            Action::SelectDefaultDevice => self.select_default().await,
            Action::Health => self.attached().await?.health().await,
            Action::Screenshot(options) => {
                let picture = self.attached().await?.screenshot(options).await?;
                screenshots::shaped(picture, options).await.map(Outcome::Screenshot)
            }
            Action::Snapshot(looking) => {
                let attached = self.attached().await?;
                let snapshot = attached.snapshot(looking).await?;
                if looking.detail == TreeDetail::Full {
                    attached.screen.cache.seen.keep(&call.client, Arc::clone(&snapshot));
                }
                Ok(Outcome::Snapshot(snapshot))
            }
            Action::Observe(when) => self.attached().await?.observe(call, when).await,
            Action::Controls { max_age } => {
                self.attached().await?.controls(max_age).await.map(Outcome::Controls)
            }
            Action::ScreenshotAndSnapshot(options) => {
                let attached = self.attached().await?;
                let (picture, snapshot) =
                    match attached.screenshot_and_snapshot(options.format).await {
                        Ok((picture, snapshot, _)) => {
                            attached.screen.cache.seen.keep(&call.client, Arc::clone(&snapshot));
                            (picture, snapshot)
                        }
                        // A screen that never rests still has a picture.
                        Err(failure) if failure.is_restless() => {
                            let picture = attached.screenshot(options).await?;
                            (picture, Arc::new(Snapshot::unread(failure.cause.to_string())))
                        }
                        Err(failure) => return Err(failure),
                    };
                Ok(Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                    screenshot: screenshots::shaped(picture, options).await?,
                    snapshot,
                }))
            }
            Action::ScreenshotAndControls(options) => {
                let attached = self.attached().await?;
                let (picture, controls) = attached.screenshot_and_controls(options.format).await?;
                Ok(Outcome::ScreenshotAndControls(ScreenshotAndControls {
                    screenshot: screenshots::shaped(picture, options).await?,
                    controls,
                }))
            }
            Action::Unlock => self.attached().await?.unlock().await,
            Action::SetOrientation(orientation) => {
                let attached = self.attached().await?;
                attached.set_orientation(orientation, &session.name).await
            }
            Action::DeviceInfo { max_age } => self.attached().await?.info(max_age).await,
            Action::ListApps { which, containing, max_age } => {
                self.attached().await?.apps(which, &containing, max_age).await
            }
            Action::ListLabelledApps { which } => self.attached().await?.labelled_apps(which).await,
            Action::CurrentApp => self.attached().await?.current_app().await,
            Action::Scroll { direction, distance } => {
                self.attached().await?.scroll(direction, distance).await
            }
            Action::Pinch { at, scale, duration } => {
                self.attached().await?.pinch(at, scale, duration).await
            }
            Action::ReadClipboard => self.attached().await?.read_clipboard().await,
            Action::SetClipboard(text) => self.attached().await?.set_clipboard(&text).await,
            Action::SetLocation(at) => self.attached().await?.set_location(at).await,
            Action::Stop(app) => self.attached().await?.stop(&app).await,
            Action::ClearData(app) => self.attached().await?.clear_data(&app).await,
            Action::SetPermission { app, permission, granted } => {
                self.attached().await?.permit(&app, &permission, granted).await
            }
            Action::InstallApp { path, options } => self.install_app(&path, options).await,
            Action::UninstallApp(app) => self.uninstall_app(&app).await,
            Action::PushFile { path, to, overwrite } => self.push_file(&path, to, overwrite).await,
            Action::PullFile { path, name } => self.pull_file(&path, name).await,
            Action::Touch(gesture) => self.attached().await?.touch(gesture).await,
            Action::Locate { target, for_text } => {
                self.attached().await?.locate(&target, for_text).await
            }
            Action::TapElement(target) => self.attached().await?.tap_element(&target).await,
            Action::Type(typing) => self.attached().await?.type_text(&typing, call.deadline).await,
            Action::FindElements(criteria) => self.attached().await?.find(&criteria).await,
            Action::Swipe { direction, distance, duration } => {
                self.attached().await?.swipe(direction, distance, duration).await
            }
            Action::Wait(time) => {
                sleep(time).await;
                let id = self.device_of_call();
                if let Some(screen) = id.and_then(|id| self.session.connections.screen(&id)) {
                    screen.cache.outdate_looks();
                }
                Ok(Outcome::Done)
            }
            Action::InvalidateCache(cache) => {
                self.forget(cache);
                Ok(Outcome::Done)
            }
            Action::Press(key) => self.attached().await?.press(key).await,
            Action::OpenUrl(url) => self.attached().await?.open_url(&url).await,
            Action::Launch(choice) => self.attached().await?.launch(&choice).await,
            Action::LaunchWith { app, arguments } => {
                self.attached().await?.start(&app, &arguments).await
            }
            Action::SaveScreenshot { name, fetch } => self.save_screenshot(name, fetch).await,
            Action::ReadLog { filter, max, clear } => self.read_log(&filter, max, clear).await,
            Action::ReadCrashes { since, app } => {
                self.attached().await?.crashes(&since, app.as_ref()).await
            }
            Action::ListNotifications { max } => self.attached().await?.notifications(max).await,
            Action::StartMonitor { filter, file } => self.start_monitor(filter, file).await,
            Action::StopMonitor(monitor) => self.stop_monitor(monitor).await,
            Action::ListMonitors => Ok(self.list_monitors()),
            Action::StartRecording { name, duration, bit_rate, size } => {
                let request = RecordingRequest { name, duration, bit_rate, size };
                self.start_recording(request).await
            }
            Action::StopRecording { recording, fetch } => {
                self.stop_recording(recording, fetch).await
            }
            Action::ListRecordings => Ok(self.list_recordings().await),
            Action::ListAppTools { max_age } => {
                self.attached().await?.app_tools(&session.app_tools, max_age).await
            }
            Action::CallAppTool(wanted) => {
                self.attached().await?.call_app_tool(&session.app_tools, call, wanted).await
            }
            Action::TrustAppTools(app) => {
                self.attached().await?.trust_app_tools(&session.app_tools, &app).await
            }
        }
    }

    /// The cause to report for a timeout. A phone that does not answer a probe is reported as not
    /// connected.
    async fn out_of_time(&self, what: String, given: Duration) -> Cause {
        let reason = match (self.device_id.get(), self.attached.get()) {
            (_, Some(attached)) => match timeout_at(self.call.deadline, attached.answers()).await {
                Ok(Ok(())) => None,
                Ok(Err(_)) => Some("it stopped answering"),
                // A phone that works at its limit needs more than the time that is left.
                Err(_) => Some("it stopped answering, or is too busy to answer within a second"),
            },
            (Some(_), None) => Some("it does not answer"),
            (None, None) => None,
        };
        match (self.device_id.get(), reason) {
            (Some(device), Some(reason)) => {
                Cause::DeviceNotConnected { device: device.clone(), reason: reason.into() }
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
        let session_call = SessionCall::new(self, call, &action);
        let given = call.deadline.saturating_duration_since(Instant::now());
        let work = timeout(given - PROBE.min(given / 4), session_call.run(action));
        let given_up = |cause| Failure { cause, side_effect: SideEffect::Possible };
        let done = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Err(given_up(Cause::Cancelled)),
            done = work => match done {
                Ok(done) => done,
                Err(_) => Err(given_up(session_call.out_of_time(what, given).await)),
            }
        };
        let mut failure = match done {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => failure,
        };
        if session_call.acted() == SideEffect::None {
            // It failed while finding the phone, resolving the element, or waiting for its turn.
            failure.side_effect = SideEffect::None;
        }
        if let (Cause::DeviceNotConnected { reason, .. }, Some(attached)) =
            (&failure.cause, session_call.attached.get())
        {
            self.drop_connection(attached, reason);
        }
        Err(failure)
    }
}

impl Session {
    /// What a phone can do besides what all phones can; nothing if it is not connected.
    pub fn features(&self, device: &str) -> impl Iterator<Item = &'static str> + use<> {
        let attached = self.connections.get(device);
        let features = attached.map(|attached| attached.device.facets().features().collect());
        let features: Vec<&'static str> = features.unwrap_or_default();
        features.into_iter()
    }
}

#[async_trait]
impl ClientWatch for Session {
    fn connected_phones(&self) -> usize {
        self.connections.all().len()
    }

    fn leased_phones(&self) -> usize {
        self.connections.leases.count()
    }

    /// Ends what the client has started, and its leases as soon as nothing of it acts any more.
    async fn client_left(&self, client: &ClientId) {
        for attached in self.connections.all() {
            attached.screen.cache.seen.client_left(client);
        }
        self.selected.client_left(client);
        self.recordings.0.client_left(client);
        self.monitors.0.client_left(client);
        self.connections.leases.client_left(client);
        if let Some(remote) = &self.remote {
            remote.client_left(client).await;
        }
    }
}

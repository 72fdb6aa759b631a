//! The phone as a whole: its world, files, properties and logs behind one lock, and the ways to reach it.
//!
//! Begin at [`VirtualPhone::new`]. Commands never hold the lock while they wait: they take it for one step
//! ([`VirtualPhone::with`]) and let time pass through `latency`. Connections are in `cable`.

use crate::cable::Cable;
use crate::commands::{CommandLog, CommandRecord};
use crate::faults::FaultInjector;
use crate::files::{FileType, Files};
use crate::host_authorization::HostAuthorization;
use crate::latency::{ClockMode, LATEST, Profile, RealTimeClock, Work};
use crate::packages::{self, InstallSessions};
use crate::processes::Processes;
use crate::program_stub::ProgramStub;
use crate::programs::{self, Properties};
use crate::release::formats::Pixels;
use crate::release::{Release, ToolKind};
use crate::sh::eval::jobs::JobList;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use thumbwire_adb::daemon::sockets::Sockets;
use thumbwire_virtual_phone::video::FrameQueue;
use thumbwire_virtual_phone::{
    About, BroadcastKeyboard, Display, StorageEntry, StorageRequest, World,
};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};

/// The configuration of a virtual phone.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Seed for everything that looks random. The same seed and the same commands give the same bytes.
    pub seed: u64,
    /// Major Android release, e.g. 14, or 4 for a phone of 2014. A release that is not in the table behaves like the
    /// next older one.
    pub android: u32,
    /// The screen.
    pub display: Display,
    /// `ro.serialno`; by default made from the seed, such as `VP00000001`.
    pub serial: Option<String>,
    /// `ro.product.model`.
    pub model: String,
    /// `ro.product.name`.
    pub product: String,
    /// `ro.product.device`.
    pub device: String,
    /// Keyboard apps that are installed in addition to the phone's own.
    pub keyboards: Vec<BroadcastKeyboard>,
    /// How fast it is.
    pub profile: Profile,
    /// Whether the phone runs in virtual or real time.
    pub clock: ClockMode,
    /// Whether Thumbwire's helper is installed in `/data/local/tmp`.
    pub helper: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let world = thumbwire_virtual_phone::Setup::default();
        Self {
            seed: world.seed,
            android: world.android,
            display: world.display,
            serial: None,
            model: "Virtual Pixel".to_owned(),
            product: "virtual".to_owned(),
            device: "vp".to_owned(),
            keyboards: Vec::new(),
            profile: Profile::default(),
            clock: ClockMode::default(),
            helper: true,
        }
    }
}

impl Setup {
    /// A phone with that Android release, e.g. `4.4` or `14`, and a screen of its time. `None` if the release is not
    /// one of [`Setup::releases`].
    pub fn of_release(name: &str) -> Option<Self> {
        let release = Release::named(name)?;
        let setup = Self { android: release.major, ..Self::default() };
        let Pixels { width, height, density } = release.pixels;
        let display = Display { width, height, density, rotation: 0 };
        if release.form == ToolKind::Service {
            return Some(Self { display, ..setup });
        }
        Some(Self {
            display,
            model: format!("Virtual Phone {}", release.name),
            product: "virtual_old".to_owned(),
            device: "vpold".to_owned(),
            profile: if release.major < 5 { Profile::Old } else { Profile::Pixel },
            ..setup
        })
    }

    /// The supported releases, oldest first.
    pub fn releases() -> impl Iterator<Item = &'static str> {
        Release::names()
    }
}

/// A phone in memory. A clone is another handle to the same phone.
#[derive(Clone)]
pub struct VirtualPhone {
    inner: Arc<Inner>,
}

struct Inner {
    setup: Setup,
    serial: String,
    state: Mutex<State>,
    cable: watch::Sender<Cable>,
    commands: watch::Sender<ProgramGate>,
    door: watch::Sender<HostAuthorization>,
    changed: Notify,
    sockets: Sockets,
}

/// Whether programs may run, and how many are waiting to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ProgramGate {
    closed: bool,
    waiting: usize,
}

/// All of the phone's mutable state.
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) files: Files,
    pub(crate) properties: Properties,
    pub(crate) log: CommandLog,
    /// Program stubs by program name.
    pub(crate) odd: BTreeMap<String, ProgramStub>,
    pub(crate) processes: Processes,
    /// Background commands that outlived their shells.
    pub(crate) left: JobList,
    pub(crate) faults: FaultInjector,
    /// Install sessions in progress.
    pub(crate) packages: InstallSessions,
    /// Recordings that watch the screen.
    watching: Vec<Weak<Mutex<FrameQueue>>>,
    pids: u32,
    /// Set when the phone runs in real time.
    following: Option<RealTimeClock>,
}

impl State {
    /// The phone's Android release.
    pub(crate) fn release(&self) -> &'static Release {
        Release::of(self.world.android())
    }

    /// Performs the storage requests of apps and refreshes the app that lists the storage.
    fn share_files(&mut self) {
        for wish in self.world.take_requests() {
            // A request that fails changes nothing, and the app then shows that.
            match wish {
                StorageRequest::MakeFolder(path) => {
                    let _ = self.files.make_directory(&shared(&path), 0o2770);
                }
                StorageRequest::Delete(path) => {
                    let mut inside = Vec::new();
                    list_shared(&self.files, &path, 0, &mut inside);
                    for entry in inside.iter().rev() {
                        let _ = self.files.remove(&shared(&entry.path), true);
                    }
                    let _ = self.files.remove(&shared(&path), true);
                }
            }
        }
        if self.world.lists_storage() {
            let mut entries = Vec::new();
            list_shared(&self.files, "", 0, &mut entries);
            self.world.set_storage(entries);
        }
    }

    /// Moves the world's clock to the real time, if the phone follows it.
    fn sync_clock(&mut self) {
        if let Some(following) = &self.following {
            self.world.advance(following.uptime().min(LATEST));
        }
    }

    /// Moves the world's clock forward without waiting.
    pub(crate) fn advance(&mut self, time: Duration) {
        match &mut self.following {
            Some(following) => following.skip(time),
            None => self.world.advance(self.world.uptime().saturating_add(time).min(LATEST)),
        }
        self.sync_clock();
    }

    /// A process id for a new shell or program.
    pub(crate) fn next_pid(&mut self) -> u32 {
        self.pids += 1;
        self.pids
    }

    /// Frames of the screen from now on, for as long as the returned handle lives.
    pub(crate) fn watch(&mut self) -> Arc<Mutex<FrameQueue>> {
        let screens = Arc::default();
        self.watching.push(Arc::downgrade(&screens));
        screens
    }

    /// Hands the current screen to those who watch it.
    fn show(&mut self) {
        let world = &mut self.world;
        self.watching.retain(|screens| match screens.upgrade() {
            Some(screens) => {
                screens.lock().unwrap_or_else(PoisonError::into_inner).capture(world);
                true
            }
            None => false,
        });
    }
}

/// The absolute path of `path` in shared storage.
fn shared(path: &str) -> String {
    format!("/sdcard/{path}")
}

/// Lists everything below a folder of shared storage, limited in depth and number.
fn list_shared(files: &Files, folder: &str, depth: usize, entries: &mut Vec<StorageEntry>) {
    const DEEPEST: usize = 16;
    const MOST: usize = 2_000;
    for (name, stat) in files.list(&shared(folder)).unwrap_or_default() {
        if entries.len() >= MOST {
            return;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let folder = stat.kind == FileType::Directory;
        let (size, modified) = (stat.size, stat.modified);
        entries.push(StorageEntry { path: path.clone(), folder, size, modified });
        if folder && depth < DEEPEST {
            list_shared(files, &path, depth + 1, entries);
        }
    }
}

impl std::fmt::Debug for VirtualPhone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualPhone").field("serial", &self.inner.serial).finish_non_exhaustive()
    }
}

impl VirtualPhone {
    /// A phone that has just booted and shows its home screen.
    pub fn new(setup: Setup) -> Self {
        let release = Release::of(setup.android);
        let serial = setup.serial.clone().unwrap_or_else(|| format!("VP{:08X}", setup.seed));
        let properties = Properties::new(&setup, &serial);
        let mut world = World::new(thumbwire_virtual_phone::Setup {
            seed: setup.seed,
            display: setup.display,
            android: setup.android,
        });
        packages::built_in::packages().for_each(|package| world.set_built_in(package));
        world.set_cold_start(setup.profile.cost(Work::ColdStart));
        let cost = |work| setup.profile.cost(work);
        world.set_service_times(cost(Work::Answer), cost(Work::ColdAnswer));
        world.set_about(About {
            model: setup.model.clone(),
            build: properties.get("ro.build.display.id").to_owned(),
            security_patch: properties.get("ro.build.version.security_patch").to_owned(),
        });
        setup.keyboards.iter().for_each(|&keyboard| world.install_keyboard(keyboard));
        let mut files = Files::new(world.unix_time(), programs::names(release), release.links);
        for (path, bytes) in programs::pm::apks_of_built_ins(&world, release) {
            // A fresh phone has room for them.
            let _ = files.put_apk(&path, bytes);
        }
        if setup.helper {
            programs::helper::install(&mut files);
        }
        let state = State {
            files,
            properties,
            log: CommandLog::default(),
            odd: BTreeMap::new(),
            processes: Processes::default(),
            left: JobList::default(),
            faults: FaultInjector::default(),
            packages: InstallSessions::default(),
            watching: Vec::new(),
            pids: 4_000,
            following: (setup.clock == ClockMode::Real).then(RealTimeClock::begin),
            world,
        };
        let (cable, _) = watch::channel(Cable::default());
        Self {
            inner: Arc::new(Inner {
                setup,
                serial,
                state: Mutex::new(state),
                cable,
                commands: watch::Sender::new(ProgramGate::default()),
                door: watch::Sender::new(HostAuthorization::default()),
                changed: Notify::new(),
                sockets: Sockets::default(),
            }),
        }
    }

    /// The configuration it was made from.
    pub fn setup(&self) -> &Setup {
        &self.inner.setup
    }

    /// The phone's Android release.
    pub(crate) fn release(&self) -> &'static Release {
        Release::of(self.inner.setup.android)
    }

    /// The state of the connections; see `cable`.
    pub(crate) fn cable(&self) -> &watch::Sender<Cable> {
        &self.inner.cable
    }

    /// The authorization state; see `host_authorization`.
    pub(crate) fn door(&self) -> &watch::Sender<HostAuthorization> {
        &self.inner.door
    }

    /// Its serial number.
    pub fn serial(&self) -> &str {
        &self.inner.serial
    }

    /// Gives direct access to the phone's world, to inspect it or to change it without the driver knowing.
    pub fn world<T>(&self, with: impl FnOnce(&mut World) -> T) -> T {
        self.with(|phone| with(&mut phone.world))
    }

    /// Gives direct access to the phone's files, as the shell user.
    pub fn files<T>(&self, with: impl FnOnce(&mut Files) -> T) -> T {
        self.with(|phone| with(&mut phone.files))
    }

    /// Deletes the helper's file from every place in `/data/local/tmp` where hosts look for it; a running helper keeps
    /// running. Returns `false` if there was none.
    pub fn remove_helper(&self) -> bool {
        self.files(|files| files.remove(programs::helper::PATH, false)).is_ok()
    }

    /// The sockets that programs and hosts listen on inside the phone, such as `localabstract:name`.
    pub fn sockets(&self) -> &Sockets {
        &self.inner.sockets
    }

    /// Every simple command that the shells ran, oldest first. Only the last few thousand are kept.
    pub fn commands(&self) -> Vec<CommandRecord> {
        self.with(|phone| phone.log.records())
    }

    /// How many older commands were dropped from [`VirtualPhone::commands`].
    pub fn commands_dropped(&self) -> u64 {
        self.with(|phone| phone.log.dropped())
    }

    /// Pauses every program started from now on before it does anything, until [`VirtualPhone::release`]. Simulates a
    /// phone that accepts commands but is too busy to run them.
    pub fn pause_programs(&self) {
        self.inner.commands.send_modify(|gate| gate.closed = true);
    }

    /// Resumes paused programs; those that wait run first.
    pub fn resume_programs(&self) {
        self.inner.commands.send_modify(|gate| gate.closed = false);
    }

    /// Waits until a program is paused.
    pub async fn wait_until_paused(&self) {
        // The sender lives in `self`, so the channel is open.
        let _ = self.inner.commands.subscribe().wait_for(|gate| gate.waiting > 0).await;
    }

    /// Waits here while programs are paused.
    pub(crate) async fn wait_if_paused(&self) {
        let mut gate = self.inner.commands.subscribe();
        if !gate.borrow().closed {
            return;
        }
        let _waiting = GateWaiter::new(&self.inner.commands);
        let _ = gate.wait_for(|gate| !gate.closed).await;
    }

    /// Runs one step on the phone's state and wakes those who wait for a change. The lock is held meanwhile, so `step`
    /// must not block.
    pub(crate) fn with<T>(&self, step: impl FnOnce(&mut State) -> T) -> T {
        let done = {
            let mut state = self.lock();
            state.sync_clock();
            state.files.now = state.world.unix_time();
            let done = step(&mut state);
            state.share_files();
            state.show();
            done
        };
        self.inner.changed.notify_waiters();
        done
    }

    /// Reads the phone's state without waking anyone.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    /// Completes after the next step on the phone's state that follows this call.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.inner.changed.notified()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A step that panicked left the state as it was; the phone goes on, as Android does after a crash.
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A paused command; also unregisters when its host disconnects.
struct GateWaiter<'a>(&'a watch::Sender<ProgramGate>);

impl<'a> GateWaiter<'a> {
    fn new(gate: &'a watch::Sender<ProgramGate>) -> Self {
        gate.send_modify(|gate| gate.waiting += 1);
        Self(gate)
    }
}

impl Drop for GateWaiter<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|gate| gate.waiting -= 1);
    }
}

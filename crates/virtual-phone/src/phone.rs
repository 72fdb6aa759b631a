//! The phone as one thing: its world, files, properties and logs behind one lock, and the ways to reach it.
//!
//! Begin at [`VirtualPhone::new`]. Commands never hold the lock while they wait: they take it for one step ([`VirtualPhone::with`]) and let
//! time pass through `latency`. Who is connected is `cable`.

use crate::cable::Cable;
use crate::commands::{CommandLog, CommandRecord};
use crate::faults::Faults;
use crate::files::{Files, Kind};
use crate::latency::{Clock, Following, LATEST, Profile, Work};
use crate::odd::Odd;
use crate::owner::Door;
use crate::packages::Packages;
use crate::processes::Processes;
use crate::programs::{self, Properties};
use crate::release::shapes::Pixels;
use crate::release::{Form, Release};
use crate::sh::eval::jobs::House;
use crate::video::Screens;
use crate::world::{self, About, BroadcastKeyboard, Display, Stored, Wish, World};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use thumbwire_adb::daemon::sockets::Sockets;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};

/// What a phone is made from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Decides everything that looks random; the same seed and the same commands give the same bytes.
    pub seed: u64,
    /// Major Android release: 14, or 4 for a phone of 2014. The manners of a release in between are those of the older one.
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
    /// Keyboard apps that are installed beside the phone's own.
    pub keyboards: Vec<BroadcastKeyboard>,
    /// How fast it is.
    pub profile: Profile,
    /// Whose time it lives in.
    pub clock: Clock,
    /// Whether Thumbwire's helper lies on it, in `/data/local/tmp`.
    pub helper: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let world = world::Setup::default();
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
            clock: Clock::default(),
            helper: true,
        }
    }
}

impl Setup {
    /// A phone of that release of Android, such as `4.4` or `14`, with a screen as phones had it then; `None` for a release that is
    /// not among [`Setup::releases`].
    pub fn of_release(name: &str) -> Option<Self> {
        let release = Release::named(name)?;
        let setup = Self { android: release.major, ..Self::default() };
        let Pixels { width, height, density } = release.pixels;
        let display = Display { width, height, density, rotation: 0 };
        if release.form == Form::Service {
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

    /// The releases that a phone can be, oldest first.
    pub fn releases() -> impl Iterator<Item = &'static str> {
        Release::names()
    }
}

/// A phone made of memory. A clone is another handle on the same phone.
#[derive(Clone)]
pub struct VirtualPhone {
    inner: Arc<Inner>,
}

struct Inner {
    setup: Setup,
    serial: String,
    state: Mutex<State>,
    cable: watch::Sender<Cable>,
    commands: watch::Sender<Gate>,
    door: watch::Sender<Door>,
    changed: Notify,
    sockets: Sockets,
}

/// Whether commands may run, and how many stand before the gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gate {
    closed: bool,
    waiting: usize,
}

/// Everything of the phone that changes.
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) files: Files,
    pub(crate) properties: Properties,
    pub(crate) log: CommandLog,
    /// Programs that answer oddly, by name.
    pub(crate) odd: BTreeMap<String, Odd>,
    pub(crate) processes: Processes,
    /// Commands that their shells left behind.
    pub(crate) left: House,
    pub(crate) faults: Faults,
    /// Installations under way.
    pub(crate) packages: Packages,
    /// Recordings that want to know what is on the screen.
    watching: Vec<Weak<Mutex<Screens>>>,
    pids: u32,
    /// Where the time outside is the phone's.
    following: Option<Following>,
}

impl State {
    /// What the phone's release of Android does in its own way.
    pub(crate) fn manners(&self) -> &'static Release {
        Release::of(self.world.android())
    }

    /// Carries out what apps want done to shared storage, and shows it to an app that lists it.
    fn share_files(&mut self) {
        for wish in self.world.take_wishes() {
            // One that cannot be carried out changes nothing, which is what the app then shows.
            match wish {
                Wish::MakeFolder(path) => {
                    let _ = self.files.make_directory(&shared(&path), 0o2770);
                }
                Wish::Delete(path) => {
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

    /// Brings the world's clock to where the time outside is, if that is its own.
    fn catch_up(&mut self) {
        if let Some(following) = &self.following {
            self.world.advance(following.uptime().min(LATEST));
        }
    }

    /// Moves the world's clock on, with nobody waiting.
    pub(crate) fn skip(&mut self, time: Duration) {
        match &mut self.following {
            Some(following) => following.skip(time),
            None => self.world.advance(self.world.uptime().saturating_add(time).min(LATEST)),
        }
        self.catch_up();
    }

    /// A process id for a new shell or program.
    pub(crate) fn next_pid(&mut self) -> u32 {
        self.pids += 1;
        self.pids
    }

    /// The screen from now on, for as long as the answer is held.
    pub(crate) fn watch(&mut self) -> Arc<Mutex<Screens>> {
        let screens = Arc::default();
        self.watching.push(Arc::downgrade(&screens));
        screens
    }

    /// Shows the screen to those who watch it.
    fn show(&mut self) {
        let world = &mut self.world;
        self.watching.retain(|screens| match screens.upgrade() {
            Some(screens) => {
                screens.lock().unwrap_or_else(PoisonError::into_inner).see(world);
                true
            }
            None => false,
        });
    }
}

/// The path of what apps know as `path` in shared storage.
fn shared(path: &str) -> String {
    format!("/sdcard/{path}")
}

/// Everything below a folder of shared storage, with bounds on depth and number.
fn list_shared(files: &Files, folder: &str, depth: usize, entries: &mut Vec<Stored>) {
    const DEEPEST: usize = 16;
    const MOST: usize = 2_000;
    for (name, stat) in files.list(&shared(folder)).unwrap_or_default() {
        if entries.len() >= MOST {
            return;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let folder = stat.kind == Kind::Directory;
        let (size, modified) = (stat.size, stat.modified);
        entries.push(Stored { path: path.clone(), folder, size, modified });
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
    /// A phone that has just been switched on and shows its home screen.
    pub fn new(setup: Setup) -> Self {
        let release = Release::of(setup.android);
        let serial = setup.serial.clone().unwrap_or_else(|| format!("VP{:08X}", setup.seed));
        let properties = Properties::new(&setup, &serial);
        let mut world = World::new(world::Setup {
            seed: setup.seed,
            display: setup.display,
            android: setup.android,
        });
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
            // There is room for them on a fresh phone.
            let _ = files.put_apk(&path, bytes);
        }
        if setup.helper {
            programs::helper::lay(&mut files);
        }
        let state = State {
            files,
            properties,
            log: CommandLog::default(),
            odd: BTreeMap::new(),
            processes: Processes::default(),
            left: House::default(),
            faults: Faults::default(),
            packages: Packages::default(),
            watching: Vec::new(),
            pids: 4_000,
            following: (setup.clock == Clock::Outside).then(Following::begin),
            world,
        };
        let (cable, _) = watch::channel(Cable::default());
        Self {
            inner: Arc::new(Inner {
                setup,
                serial,
                state: Mutex::new(state),
                cable,
                commands: watch::Sender::new(Gate::default()),
                door: watch::Sender::new(Door::default()),
                changed: Notify::new(),
                sockets: Sockets::default(),
            }),
        }
    }

    /// What it was made from.
    pub fn setup(&self) -> &Setup {
        &self.inner.setup
    }

    /// What its release of Android does in its own way.
    pub(crate) fn manners(&self) -> &'static Release {
        Release::of(self.inner.setup.android)
    }

    /// Whether hosts reach it; see `cable`.
    pub(crate) fn cable(&self) -> &watch::Sender<Cable> {
        &self.inner.cable
    }

    /// Its door; see `owner`.
    pub(crate) fn door(&self) -> &watch::Sender<Door> {
        &self.inner.door
    }

    /// Its serial number.
    pub fn serial(&self) -> &str {
        &self.inner.serial
    }

    /// Looks into the phone, or changes it behind every driver's back.
    pub fn world<T>(&self, with: impl FnOnce(&mut World) -> T) -> T {
        self.with(|phone| with(&mut phone.world))
    }

    /// Looks at the phone's files, or changes them, as the shell user.
    pub fn files<T>(&self, with: impl FnOnce(&mut Files) -> T) -> T {
        self.with(|phone| with(&mut phone.files))
    }

    /// Takes the helper's file away, wherever in `/data/local/tmp` hosts look for it; a helper that runs goes on. `false` where there is none.
    pub fn remove_helper(&self) -> bool {
        self.files(|files| files.remove(programs::helper::PATH, false)).is_ok()
    }

    /// The places inside it at which programs and hosts listen, such as `localabstract:name`.
    pub fn sockets(&self) -> &Sockets {
        &self.inner.sockets
    }

    /// Every simple command that its shells ran, oldest first; at most some thousands are kept.
    pub fn commands(&self) -> Vec<CommandRecord> {
        self.with(|phone| phone.log.records())
    }

    /// How many older commands are no longer in [`VirtualPhone::commands`].
    pub fn commands_dropped(&self) -> u64 {
        self.with(|phone| phone.log.dropped())
    }

    /// Holds every program that is started from now on just before it does anything, until [`VirtualPhone::release`]: a phone
    /// that takes orders and is too busy to carry them out.
    pub fn hold(&self) {
        self.inner.commands.send_modify(|gate| gate.closed = true);
    }

    /// Lets programs run again, those that wait first.
    pub fn release(&self) {
        self.inner.commands.send_modify(|gate| gate.closed = false);
    }

    /// Ends once a program is being held.
    pub async fn until_held(&self) {
        // The sender lives in `self`: it is not closed.
        let _ = self.inner.commands.subscribe().wait_for(|gate| gate.waiting > 0).await;
    }

    /// Where a program waits while the phone is held.
    pub(crate) async fn pass(&self) {
        let mut gate = self.inner.commands.subscribe();
        if !gate.borrow().closed {
            return;
        }
        let _waiting = Waiting::new(&self.inner.commands);
        let _ = gate.wait_for(|gate| !gate.closed).await;
    }

    /// One step on the phone's state. The lock is held meanwhile, so `step` must not wait.
    pub(crate) fn with<T>(&self, step: impl FnOnce(&mut State) -> T) -> T {
        let done = {
            let mut state = self.lock();
            state.catch_up();
            state.files.now = state.world.unix_time();
            let done = step(&mut state);
            state.share_files();
            state.show();
            done
        };
        self.inner.changed.notify_waiters();
        done
    }

    /// A look at the phone's state that wakes nobody up.
    pub(crate) fn peek<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    /// Ends after the next step on the phone's state, counted from this call.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.inner.changed.notified()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A step that panicked left the state as it was then; the phone goes on, as Android does after a crash.
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command that stands before the gate; it leaves also when its host has gone.
struct Waiting<'a>(&'a watch::Sender<Gate>);

impl<'a> Waiting<'a> {
    fn new(gate: &'a watch::Sender<Gate>) -> Self {
        gate.send_modify(|gate| gate.waiting += 1);
        Self(gate)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|gate| gate.waiting -= 1);
    }
}

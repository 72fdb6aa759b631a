//! The phone as a whole: its world, files, properties and logs behind one lock.
//!
//! Commands never hold the lock while they wait: they take it for one step ([`VirtualPhone::with`])
//! and let time pass through `time`. `boot` assembles a phone, `connections` serves its hosts.

pub(crate) mod authorization;
pub(crate) mod automation;
mod cable;
mod faults;
mod hosts;
mod inject;
mod open_services;
mod process;
mod reboot;
mod storage;
mod time;

use crate::faults::FaultInjector;
use crate::service_state::ServiceState;
use authorization::HostAuthorization;
use automation::UiAutomation;
use cable::Cable;
use open_services::OpenServices;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use thumbwire_adb::daemon::sockets::Sockets;
use thumbwire_base::lock;
use thumbwire_virtual_android_system::Properties;
use thumbwire_virtual_android_system::Setup;
use thumbwire_virtual_android_system::packages::{
    InstallOptions, InstallSessions, PackageInstaller,
};
use thumbwire_virtual_android_system::release::Release;
use thumbwire_virtual_phone::time::{ClockMode, WorldClock};
use thumbwire_virtual_phone::video::FrameQueue;
use thumbwire_virtual_phone::{Frame, World};
use thumbwire_virtual_shell::commands::CommandRecord;
use thumbwire_virtual_shell::files::Files;
use thumbwire_virtual_shell::processes::jobs::JobList;
use thumbwire_virtual_shell::program_stub::ProgramStub;
use thumbwire_virtual_shell::system::Kernel;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};

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
    authorization: watch::Sender<HostAuthorization>,
    /// Whether a host is served over the network, on releases that serve one at a time.
    host_slot: watch::Sender<bool>,
    changed: Notify,
    sockets: Sockets,
    open_services: OpenServices,
}

/// Whether programs may run, and options many are waiting to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ProgramGate {
    closed: bool,
    waiting: usize,
}

/// All of the phone's mutable state.
pub(crate) struct State {
    pub(crate) world: World,
    /// What shells and their programs change.
    pub(crate) kernel: Kernel,
    pub(crate) properties: Properties,
    /// Program stubs by program name.
    pub(crate) stubs: BTreeMap<String, ProgramStub>,
    /// Background commands that outlived their shells.
    pub(crate) detached_jobs: JobList,
    pub(crate) faults: FaultInjector,
    /// Install sessions in progress.
    pub(crate) packages: InstallSessions,
    pub(crate) services: ServiceState,
    pub(crate) automation: UiAutomation,
    /// How many requests to Thumbwire's helper are running.
    pub(crate) helper_requests: usize,
    /// Recordings that watch the screen.
    watching: Vec<Weak<Mutex<FrameQueue>>>,
    clock: WorldClock,
}

impl State {
    /// The state of a phone that has just booted.
    pub(crate) fn new(
        clock: ClockMode,
        world: World,
        files: Files,
        properties: Properties,
    ) -> Self {
        Self {
            kernel: Kernel::new(files),
            properties,
            stubs: BTreeMap::new(),
            detached_jobs: JobList::default(),
            faults: FaultInjector::default(),
            packages: InstallSessions::default(),
            services: ServiceState::default(),
            automation: UiAutomation::default(),
            helper_requests: 0,
            watching: Vec::new(),
            clock: WorldClock::new(clock),
            world,
        }
    }

    /// What `screencap` captures.
    pub(crate) fn screenshot(&mut self) -> Frame {
        match self.release().rotated_screenshots {
            true => self.world.capture(),
            false => self.world.capture_panel(),
        }
    }

    /// Installs and uninstalls apps.
    pub(crate) fn installer(&mut self) -> PackageInstaller<'_> {
        PackageInstaller {
            world: &mut self.world,
            files: &mut self.kernel.files,
            properties: &self.properties,
            packages: &mut self.packages,
        }
    }

    /// The phone's Android release.
    pub(crate) fn release(&self) -> &'static Release {
        Release::of(self.world.android())
    }

    /// Moves the world's clock to the real time, if the phone follows it.
    fn sync_clock(&mut self) {
        self.clock.sync(&mut self.world);
    }

    /// Moves the world's clock forward without waiting.
    pub(crate) fn advance(&mut self, time: Duration) {
        self.clock.advance(&mut self.world, time);
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
                lock(&screens).capture(world);
                true
            }
            None => false,
        });
    }
}

impl std::fmt::Debug for VirtualPhone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualPhone").field("serial", &self.inner.serial).finish_non_exhaustive()
    }
}

impl VirtualPhone {
    /// A phone with that state.
    pub(crate) fn with_state(setup: Setup, serial: String, state: State) -> Self {
        Self {
            inner: Arc::new(Inner {
                setup,
                serial,
                state: Mutex::new(state),
                cable: watch::Sender::default(),
                commands: watch::Sender::default(),
                authorization: watch::Sender::default(),
                host_slot: watch::Sender::default(),
                changed: Notify::new(),
                sockets: Sockets::default(),
                open_services: OpenServices::default(),
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

    /// The state of the connections.
    pub(crate) fn cable(&self) -> &watch::Sender<Cable> {
        &self.inner.cable
    }

    /// Whether a host is served over the network.
    fn host_slot(&self) -> &watch::Sender<bool> {
        &self.inner.host_slot
    }

    /// The authorization state.
    pub(crate) fn authorization(&self) -> &watch::Sender<HostAuthorization> {
        &self.inner.authorization
    }

    /// Its serial number.
    pub fn serial(&self) -> &str {
        &self.inner.serial
    }

    /// Gives direct access to the phone's world, to inspect it or to change it without the driver
    /// knowing.
    pub fn world<T>(&self, with: impl FnOnce(&mut World) -> T) -> T {
        self.with(|phone| with(&mut phone.world))
    }

    /// Gives direct access to the phone's files, as the shell user.
    pub fn files<T>(&self, with: impl FnOnce(&mut Files) -> T) -> T {
        self.with(|phone| with(&mut phone.kernel.files))
    }

    /// Installs an app, as `adb install -r -t` does: its APK and those of its splits.
    ///
    /// # Errors
    /// Android's message between the brackets of `Failure […]`.
    pub fn install(&self, apks: &[&[u8]]) -> Result<(), String> {
        let options = InstallOptions { replace: true, test: true, ..InstallOptions::default() };
        self.with(|phone| {
            let id = phone
                .installer()
                .open_session(options)
                .ok_or("Too many active sessions for UID 2000")?;
            for (nth, apk) in apks.iter().enumerate() {
                let staged = phone.installer().stage(id, &format!("{nth}.apk"));
                if let Err(reason) = staged.and_then(|file| phone.kernel.files.append(file, apk)) {
                    phone.installer().abandon(id);
                    return Err(format!("INSTALL_FAILED_INSUFFICIENT_STORAGE: {reason}"));
                }
            }
            phone.installer().commit(id).map_err(|refusal| refusal.to_string())
        })
    }

    /// The sockets that programs and hosts listen on inside the phone, such as
    /// `localabstract:name`.
    pub fn sockets(&self) -> &Sockets {
        &self.inner.sockets
    }

    /// Every simple command that the shells ran, oldest first. Only the last few thousand are kept.
    pub fn commands(&self) -> Vec<CommandRecord> {
        self.with(|phone| phone.kernel.log.records())
    }

    /// How many older commands were dropped from [`VirtualPhone::commands`].
    pub fn commands_dropped(&self) -> u64 {
        self.with(|phone| phone.kernel.log.dropped())
    }

    /// Replaces `program` by a stub, whatever its arguments. `None` restores it.
    pub fn stub_program(&self, program: &str, stub: Option<ProgramStub>) {
        self.with(|phone| match stub {
            Some(stub) => drop(phone.stubs.insert(program.to_owned(), stub)),
            None => drop(phone.stubs.remove(program)),
        });
    }

    /// The stub for `program`, if any.
    pub(crate) fn program_stub(&self, program: &str) -> Option<ProgramStub> {
        self.read(|phone| phone.stubs.get(program).cloned())
    }

    /// Pauses every program started from now on before it does anything, until
    /// [`VirtualPhone::resume_programs`]. Simulates a phone that accepts commands but is too busy
    /// to run them.
    pub fn pause_programs(&self) {
        self.inner.commands.send_modify(|gate| gate.closed = true);
    }

    /// Resumes paused programs; those that wait run first.
    pub fn resume_programs(&self) {
        self.inner.commands.send_modify(|gate| gate.closed = false);
    }

    /// How many requests to Thumbwire's helper are running on this phone.
    pub fn helper_requests(&self) -> usize {
        self.read(|phone| phone.helper_requests)
    }

    /// Commands whose program panicked: bugs of this phone, which a script sees as status 139.
    pub fn crashes(&self) -> Vec<String> {
        self.read(|phone| phone.kernel.crashes.clone())
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

    /// Runs one step on the phone's state and wakes those who wait for a change. The lock is held
    /// meanwhile, so `step` must not block.
    pub(crate) fn with<T>(&self, step: impl FnOnce(&mut State) -> T) -> T {
        step(&mut self.step())
    }

    /// The same as a handle: the step lasts until it is dropped.
    pub(crate) fn step(&self) -> Step<'_> {
        let mut state = self.lock();
        state.sync_clock();
        let world = &state.world;
        let (now, uptime, up) = (world.unix_time(), world.uptime(), world.since_restart());
        state.kernel.set_clock(now, uptime, up);
        Step { state, _changed: NotifyOnDrop(&self.inner.changed) }
    }

    /// Reads the phone's state without waking anyone.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    /// Looks at the phone's state in a way that only fills its caches, without waking anyone.
    pub(crate) fn peek<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.lock())
    }

    /// Completes after the next step on the phone's state that follows this call.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.inner.changed.notified()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.inner.state)
    }
}

/// A step on the phone's state; see [`VirtualPhone::with`].
pub(crate) struct Step<'a> {
    state: MutexGuard<'a, State>,
    /// Dropped after the lock.
    _changed: NotifyOnDrop<'a>,
}

impl Deref for Step<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Step<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        // A step that panicked changed who knows what.
        if !std::thread::panicking() {
            self.state.share_files();
            self.state.show();
        }
    }
}

/// Wakes those who wait for a change.
struct NotifyOnDrop<'a>(&'a Notify);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.notify_waiters();
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

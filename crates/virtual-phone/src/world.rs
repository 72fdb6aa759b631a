//! The inside of the phone: apps, screens, focus, keyboard, clipboard and log, as one plain value.
//!
//! Start with [`World`]: calls go in (`pointer`, `key`, `start`, `advance`), a [`Scene`] or a frame
//! comes out. The same seed and the same calls give the same bytes.
//!
//! ```text
//!  touch.rs, keys.rs ──► tasks.rs (which app) ──► App::on ──► App::view ──► layout.rs ──► Scene ──► render.rs
//!      │      wakeups.rs──────┘                       apps/     view.rs      windows.rs
//!      └──► overlays/ (system windows over the app) ────────────────────────┘
//! ```
//!
//! Not here: time (it is an input), threads, files, the shell, ADB.

mod caret;
mod crashes;
mod events;
mod functions;
mod input_methods;
mod keys;
mod layout_shifts;
mod lock;
mod node_actions;
mod notices;
mod overlays;
mod packages;
mod people;
mod permissions;
mod popups;
mod preferences;
mod restart;
mod screen;
mod seeded;
mod served_field;
mod services;
mod settings;
mod shade;
mod storage;
mod tasks;
mod touch;
mod wakeups;
mod windows;

pub use node_actions::NodeAction;
pub use served_field::ServedField;

use crate::app::{InstalledApp, InstalledApps};
use crate::apps;
use crate::clock::PhoneClock;
use crate::device::{About, Battery, Device};
use crate::functions::EnabledStates;
use crate::input::Input;
use crate::log::{Buffer, Log, SYSTEM_PID};
use crate::notices::Notices;
use crate::overlays::Overlays;
use crate::permissions::Permissions;
use crate::scene::Scene;
use crate::screen::Screen;
use crate::services::Services;
use crate::settings::Settings;
use crate::storage::SharedStorage;
use crate::tasks::Tasks;
use std::time::Duration;
use thumbwire_virtual_screen::Display;
use thumbwire_virtual_screen::Frame;
use thumbwire_virtual_screen::Platform;

/// The configuration of a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Seed for everything that looks random.
    pub seed: u64,
    /// The screen. Values out of range are clamped.
    pub display: Display,
    /// Major Android release, e.g. 14.
    pub android: u32,
    /// Whose manner it has. On iOS use [`Display::IPHONE`]; `android` then only decides what apps
    /// can do.
    pub platform: Platform,
}

impl Default for Setup {
    fn default() -> Self {
        Self { seed: 1, display: Display::default(), android: 14, platform: Platform::Android }
    }
}

/// The setting with the media volume, and its maximum.
const VOLUME: &str = "volume_music_speaker";
const LOUDEST: i64 = 15;

/// The phone; the module docs say where to begin.
pub struct World {
    device: Device,
    clock: PhoneClock,
    settings: Settings,
    log: Log,
    screen: Screen,
    input: Input,
    apps: InstalledApps,
    tasks: Tasks,
    permissions: Permissions,
    services: Services,
    functions: EnabledStates,
    notices: Notices,
    storage: SharedStorage,
    /// The overlays in front of the app.
    overlays: Overlays,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (seed, uptime, display) = (self.seed(), self.uptime(), self.display());
        f.debug_struct("World")
            .field("seed", &seed)
            .field("uptime", &uptime)
            .field("display", display)
            .field("foreground", &self.foreground())
            .finish_non_exhaustive()
    }
}

impl World {
    /// A phone that has just booted and shows its home screen.
    pub fn new(setup: Setup) -> World {
        let mut world = World {
            device: Device::new(setup.seed, setup.android, setup.platform),
            clock: PhoneClock::default(),
            settings: Settings::default(),
            log: Log::default(),
            screen: Screen::new(setup.display, setup.platform),
            input: Input::default(),
            apps: InstalledApps::new(apps::installed(setup.seed)),
            tasks: Tasks::default(),
            permissions: Permissions::default(),
            services: Services::default(),
            functions: EnabledStates::default(),
            notices: Notices::default(),
            storage: SharedStorage::default(),
            overlays: Overlays::default(),
        };
        if setup.platform == Platform::Ios {
            let name = world.device.about().model.clone();
            world.settings.put("global", "device_name", &name);
        }
        world.go_home();
        world
    }

    /// Advances the clock to `uptime`; an earlier time changes nothing. Long presses trigger,
    /// toasts disappear, alarms ring and clocks move on.
    pub fn advance(&mut self, uptime: Duration) {
        if uptime <= self.clock.now() {
            return;
        }
        let minute = self.clock.now().as_secs() / 60;
        let moved = self.keeps_moving();
        self.wake_until(uptime);
        self.clock.advance(uptime);
        self.end_overdue_services();
        self.step();
        if self.notices.end_toast(uptime) {
            self.screen.forget_scene();
        }
        if uptime.as_secs() / 60 != minute || moved || self.keeps_moving() {
            self.rebuild();
        }
        self.hold_if_long_enough();
    }

    /// Time since the first boot, including reboots.
    pub fn uptime(&self) -> Duration {
        self.clock.now()
    }

    /// Whether the app's screen keeps changing without being touched, such as a running stopwatch
    /// or a list after a fling. Such a screen is never idle, so a phone's `uiautomator` cannot dump
    /// it.
    pub fn keeps_moving(&self) -> bool {
        let package = self.foreground().package;
        let front = self.apps.get(&package);
        let moves = |at: &InstalledApp| at.app.is_animating(&at.store, self.clock.now());
        self.screen.is_on()
            && !self.keyguard_shown()
            && (self.input.fling().is_some()
                || (self.responds(&package) && front.is_some_and(moves)))
    }

    /// The phone's clock in seconds since 1970 (UTC); the first boot was on 5 March 2024 at 10:00.
    pub fn unix_time(&self) -> u64 {
        self.clock.unix_time()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.device.seed()
    }

    /// Major Android release.
    pub fn android(&self) -> u32 {
        self.device.android()
    }

    /// The platform whose manner it has.
    pub fn platform(&self) -> Platform {
        self.device.platform()
    }

    /// The bundle id of a package (`com.android.settings` is `com.apple.Preferences`); the
    /// package's own name if it did not come with the phone.
    pub fn bundle_id_of<'a>(&self, package: &'a str) -> &'a str {
        self.apps.get(package).and_then(|app| app.bundle_id).unwrap_or(package)
    }

    /// The package with a bundle id, for [`World::start`] and its neighbours; `None` if no such app
    /// is installed.
    pub fn package_of(&self, bundle_id: &str) -> Option<String> {
        let mut installed = self.apps.iter().map(|app| &app.manifest.package);
        installed.find(|package| self.bundle_id_of(package) == bundle_id).cloned()
    }

    /// Everything on the screen, laid out. Cached until something changes.
    pub fn scene(&mut self) -> &Scene {
        let scene = match self.screen.take_scene() {
            Some(scene) => scene,
            None => self.lay_out(),
        };
        self.screen.keep_scene(scene)
    }

    /// The pixels of exactly the scene that [`World::scene`] returns; black while the screen is
    /// off.
    pub fn frame(&mut self) -> Frame {
        self.paint(Scene::frame)
    }

    /// The same as a screenshot: secure windows are black.
    pub fn capture(&mut self) -> Frame {
        self.paint(Scene::capture)
    }

    /// A screenshot in the panel's natural orientation: rotated content lies on its side.
    pub fn capture_panel(&mut self) -> Frame {
        let turned = self.display().rotation;
        self.capture().rotated(turned)
    }

    /// Marks a package's windows FLAG_SECURE, or unmarks them: screenshots show them black, dumps
    /// still list them.
    pub fn set_secure(&mut self, package: &str, secure: bool) {
        self.screen.set_secure(package, secure);
        self.rebuild();
    }

    /// Whether a package's windows are FLAG_SECURE: its app says so, or they were marked.
    pub fn is_secure(&self, package: &str) -> bool {
        let marked = self.screen.is_marked_secure(package);
        marked || self.apps.get(package).is_some_and(|app| app.app.is_secure())
    }

    fn paint(&mut self, paint: fn(&Scene) -> Frame) -> Frame {
        if !self.screen.is_on() {
            let display = self.screen.display();
            return Frame::blank(display.width, display.height);
        }
        let scene = match self.screen.take_scene() {
            Some(scene) => scene,
            None => self.lay_out(),
        };
        let frame = paint(&scene);
        self.screen.keep_scene(scene);
        frame
    }

    /// Whether the soft keyboard is on the screen.
    pub fn keyboard_shown(&self) -> bool {
        self.input.keyboard_shown()
    }

    /// Whether the screen is on.
    pub fn screen_on(&self) -> bool {
        self.screen.is_on()
    }

    /// The battery state.
    pub fn battery(&self) -> Battery {
        self.device.battery()
    }

    /// Media volume, 0 to 15.
    pub fn volume(&self) -> u8 {
        self.settings.number("system", VOLUME, 0).clamp(0, LOUDEST) as u8
    }

    /// Sets the cold start time that the log reports.
    pub fn set_cold_start(&mut self, time: Duration) {
        self.tasks.set_cold_start(time);
    }

    /// Sets how long a service takes to reply: of a running app, and of one that has to be started
    /// first.
    pub fn set_service_times(&mut self, warm: Duration, cold: Duration) {
        self.services.set_times(warm, cold);
    }

    /// Sets what the page "About phone" shows.
    pub fn set_about(&mut self, about: About) {
        self.device.set_about(about);
        self.rebuild();
    }

    /// Turns the media volume up or down.
    pub(crate) fn change_volume(&mut self, by: i64) {
        let volume = (i64::from(self.volume()) + by).clamp(0, LOUDEST);
        self.put_setting("system", VOLUME, &volume.to_string());
    }

    /// The clipboard's text.
    pub fn clipboard(&self) -> Option<&str> {
        self.device.clipboard()
    }

    /// The simulated location that apps are told: latitude and longitude in degrees.
    pub fn location(&self) -> Option<(f64, f64)> {
        self.device.location()
    }

    /// Sets the simulated location, or ends the simulation.
    pub fn set_location(&mut self, at: Option<(f64, f64)>) {
        self.device.set_location(at);
        self.rebuild();
    }

    /// Sets the clipboard's text.
    pub fn set_clipboard(&mut self, text: impl Into<String>) {
        self.device.set_clipboard(Some(text.into()));
    }

    /// The phone's log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Clears a log buffer.
    pub fn clear_log(&mut self, buffer: Buffer) {
        self.log.clear(buffer);
    }

    /// Adds an entry to the log, as the shell's `log` does; the system server writes to its own
    /// buffer.
    pub fn write_log(&mut self, priority: char, tag: &str, pid: u32, text: &str) {
        let (buffer, uid) = match pid {
            SYSTEM_PID => (Buffer::System, 1_000),
            _ => (Buffer::Main, 2_000),
        };
        self.write_line(buffer, priority, tag, (pid, uid), text);
    }
}

//! The inside of the phone: apps, screens, focus, keyboard, clipboard and log, as one plain value.
//!
//! Begin with [`World`]: calls go in (`pointer`, `key`, `start`, `advance`), a [`Scene`] or a frame
//! comes out. Same seed and same calls give the same bytes.
//!
//! ```text
//!  touch.rs, keys.rs ──► tasks.rs (which app) ──► App::on ──► App::view ──► layout.rs ──► Scene ──► render.rs
//!      │      wakes.rs ──────┘                       apps/     view.rs      stage.rs (windows)
//!      └──► overlays/ (what the system puts before it) ─────────────────────────┘
//! ```
//!
//! Not here: time (it is handed in), threads, files, the shell, ADB.

mod app;
mod apps;
pub(crate) mod chance;
mod decided;
mod events;
mod failing;
mod fling;
pub(crate) mod functions;
pub(crate) mod geometry;
mod icons;
mod inks;
mod keyboard;
mod keys;
mod layout;
mod log;
mod notifications;
mod overlays;
pub(crate) mod packages;
mod permissions;
pub(crate) mod picture;
mod restart;
pub(crate) mod scene;
mod screen;
mod services;
pub(crate) mod settings;
mod shifts;
mod space;
mod stage;
mod storage;
mod store;
mod system_ui;
mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod theme;
mod touch;
mod typing;
mod view;
mod wakes;
mod widgets;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub use self::app::{Component, Intent, Manifest, StartError, Started};
pub use self::decided::{Article, Place};
pub use self::geometry::{Display, Phase, Point, Rect};
pub use self::keys::Key;
pub use self::log::{Buffer, Log, LogLine};
pub use self::notifications::Notification;
pub use self::packages::{
    Class, Declared, DeclaredComponent, Filter, Installation, Meta, MetaValue,
};
pub use self::permissions::{PermissionError, RuntimePermission};
pub use self::scene::{Flags, Node, Scene, Window, WindowKind};
pub use self::services::{CallbackKeys, Caller, Delivered, Reply, ServiceName};
pub use self::storage::{Stored, Wish};
pub use self::typing::BroadcastKeyboard;
pub use crate::render::Frame;

use self::fling::Fling;
use self::keyboard::Keyboard;
use self::keys::Focus;
use self::layout::Scrolls;
use self::overlays::Overlays;
use self::permissions::Permissions;
use self::services::Services;
use self::settings::Settings;
use self::stage::KnownField;
pub(crate) use self::tasks::SYSTEM_PID;
use self::tasks::{Installed, Task};
use self::text::Typesetter;
use self::touch::Gesture;
use self::typing::Methods;
use crate::render::Renderer;

/// What a phone is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Decides everything that looks random.
    pub seed: u64,
    /// The screen. Values beyond what a phone can have are drawn in.
    pub display: Display,
    /// Major Android release, e.g. 14.
    pub android: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self { seed: 1, display: Display::default(), android: 14 }
    }
}

/// How the battery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Battery {
    /// Percent.
    pub level: u8,
    /// Whether a charger is attached.
    pub charging: bool,
    /// Tenths of a degree Celsius.
    pub temperature: i32,
    /// Millivolts.
    pub voltage: i32,
}

/// What the phone says of itself on its page "About phone".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) model: String,
    pub(crate) build: String,
    pub(crate) security_patch: String,
}

impl Default for About {
    fn default() -> Self {
        Self {
            model: "Virtual Pixel".to_owned(),
            build: "UP1A.231005.007".to_owned(),
            security_patch: "2023-10-05".to_owned(),
        }
    }
}

/// The setting that holds the media volume, and its highest value.
const VOLUME: &str = "volume_music_speaker";
const LOUDEST: i64 = 15;

/// The phone's inside. See the module for how to begin.
pub struct World {
    seed: u64,
    android: u32,
    uptime: Duration,
    /// The uptime at which it was restarted last.
    restarted: Duration,
    /// Size in the natural orientation and density, as built.
    physical: (i32, i32, i32),
    size_override: Option<(i32, i32)>,
    density_override: Option<i32>,
    display: Display,
    screen_on: bool,
    battery: Battery,
    settings: Settings,
    about: About,
    /// From the start of an app that did not run to its first picture, as the log tells it.
    cold_start: Duration,
    /// From the start of a service to its answer: of an app that runs, and of one that has to be started first.
    service_times: (Duration, Duration),
    clipboard: Option<String>,
    log: Log,
    apps: Vec<Installed>,
    /// From the back to the front; the launcher's is always there.
    tasks: Vec<Task>,
    next_pid: u32,
    /// Users of apps that have gone are not given again.
    next_uid: u32,
    focus: Option<Focus>,
    keyboard: Keyboard,
    methods: Methods,
    gesture: Option<Gesture>,
    /// When, where and on which view a tap was last that may become a double tap.
    last_tap: Option<(Duration, Point, String)>,
    /// What goes on scrolling by itself.
    fling: Option<Fling>,
    /// What lies in shared storage, as it was handed in, and what apps want done to it.
    storage: Vec<Stored>,
    wishes: Vec<Wish>,
    /// Text and the uptime at which it goes.
    toast: Option<(String, Duration)>,
    /// What the system puts before the app in front.
    overlays: Overlays,
    services: Services,
    switched_functions: functions::Switched,
    /// Apps that hang, and the uptime at which they began to.
    frozen: BTreeMap<String, Duration>,
    permissions: Permissions,
    /// Newest first.
    notifications: Vec<Notification>,
    /// When an app wants to be woken next; `None` when that has to be found out.
    next_wake: Option<Duration>,
    /// When an app crashed last.
    crashes: BTreeMap<String, Duration>,
    scrolls: Scrolls,
    /// Packages whose windows are secure whatever the app says.
    secure: BTreeSet<String>,
    /// Whether a banner stands at the top of the app in front.
    banner: bool,
    types: Typesetter,
    renderer: Renderer,
    /// The fields of the view on the screen. The view itself is drawn anew when somebody looks:
    /// `taffy`'s lengths would tie the world to one thread.
    fields: Vec<KnownField>,
    scene: Option<Scene>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (seed, uptime, display) = (&self.seed, &self.uptime, &self.display);
        f.debug_struct("World")
            .field("seed", seed)
            .field("uptime", uptime)
            .field("display", display)
            .field("foreground", &self.foreground())
            .finish_non_exhaustive()
    }
}

impl World {
    /// A phone just switched on, showing its home screen.
    pub fn new(setup: Setup) -> World {
        let display = setup.display.sane();
        let natural = match display.rotation % 2 {
            0 => (display.width, display.height),
            _ => (display.height, display.width),
        };
        let level = 62 + (chance::Chance::new(setup.seed, "battery").below(34) as u8);
        let mut world = World {
            seed: setup.seed,
            android: setup.android,
            uptime: Duration::ZERO,
            restarted: Duration::ZERO,
            physical: (natural.0, natural.1, display.density),
            size_override: None,
            density_override: None,
            display,
            screen_on: true,
            battery: Battery { level, charging: true, temperature: 270, voltage: 4210 },
            settings: Settings::default(),
            about: About::default(),
            cold_start: Duration::from_millis(300),
            service_times: (Duration::from_millis(10), Duration::from_millis(60)),
            clipboard: None,
            log: Log::default(),
            apps: apps::installed(setup.seed),
            tasks: Vec::new(),
            next_pid: 2400,
            next_uid: 0,
            focus: None,
            keyboard: Keyboard::default(),
            methods: Methods::default(),
            gesture: None,
            last_tap: None,
            fling: None,
            storage: Vec::new(),
            wishes: Vec::new(),
            toast: None,
            overlays: Overlays::default(),
            services: Services::default(),
            switched_functions: functions::Switched::new(),
            frozen: BTreeMap::new(),
            permissions: Permissions::default(),
            notifications: Vec::new(),
            next_wake: None,
            crashes: BTreeMap::new(),
            scrolls: Scrolls::new(),
            secure: BTreeSet::new(),
            banner: false,
            types: Typesetter,
            renderer: Renderer,
            fields: Vec::new(),
            scene: None,
        };
        world.go_home();
        world
    }

    /// Lets time pass until `uptime`; an earlier time than now changes nothing. A finger that rests
    /// becomes a long press here, messages go away, alarms ring, the clock moves on.
    pub fn advance(&mut self, uptime: Duration) {
        if uptime <= self.uptime {
            return;
        }
        let minute = self.uptime.as_secs() / 60;
        let moved = self.keeps_moving();
        self.wake_until(uptime);
        self.uptime = uptime;
        self.end_overdue_services();
        self.go_on();
        if self.toast.as_ref().is_some_and(|(_, gone)| *gone <= uptime) {
            self.toast = None;
            self.scene = None;
        }
        if uptime.as_secs() / 60 != minute || moved || self.keeps_moving() {
            self.settle();
        }
        self.hold_if_long_enough();
    }

    /// Time since the phone was first switched on, reboots included.
    pub fn uptime(&self) -> Duration {
        self.uptime
    }

    /// Whether the app on the screen goes on changing what it shows although nobody touches it, as a running stopwatch does, or a list after a fast swipe. Such a
    /// screen never comes to rest, so a phone's `uiautomator` cannot dump it.
    pub fn keeps_moving(&self) -> bool {
        let package = self.foreground().package;
        let front = self.app_index(&package).map(|at| &self.apps[at]);
        let moves = |at: &Installed| at.app.moves(&at.store, self.uptime);
        self.screen_on
            && (self.fling.is_some() || (self.responds(&package) && front.is_some_and(moves)))
    }

    /// Seconds since 1970 by the phone's clock (UTC): it was switched on on 5 March 2024 at 10:00.
    pub fn unix_time(&self) -> u64 {
        app::SWITCHED_ON + self.uptime.as_secs()
    }

    /// The seed it was made from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Major Android release.
    pub fn android(&self) -> u32 {
        self.android
    }

    /// Everything on the screen, laid out. Kept until something changes.
    pub fn scene(&mut self) -> &Scene {
        let scene = match self.scene.take() {
            Some(scene) => scene,
            None => self.lay_out(),
        };
        self.scene.insert(scene)
    }

    /// The pixels of exactly the scene that [`World::scene`] gives; black while the screen is off.
    pub fn frame(&mut self) -> Frame {
        self.paint(Renderer::frame)
    }

    /// The same as a capture shows it: black also where a secure window stands.
    pub fn capture(&mut self) -> Frame {
        self.paint(Renderer::capture)
    }

    /// Marks the windows of a package FLAG_SECURE, or takes that back: captures show them black, dumps list them all the
    /// same.
    pub fn set_secure(&mut self, package: &str, secure: bool) {
        if secure {
            self.secure.insert(package.to_owned());
        } else {
            self.secure.remove(package);
        }
        self.settle();
    }

    pub(crate) fn is_secure(&self, package: &str) -> bool {
        let app = self.app_index(package).map(|at| &self.apps[at].app);
        self.secure.contains(package) || app.is_some_and(|app| app.secure())
    }

    fn paint(&mut self, paint: fn(&mut Renderer, &Scene) -> Frame) -> Frame {
        if !self.screen_on {
            return Frame::blank(self.display.width, self.display.height);
        }
        let scene = match self.scene.take() {
            Some(scene) => scene,
            None => self.lay_out(),
        };
        let frame = paint(&mut self.renderer, &scene);
        self.scene = Some(scene);
        frame
    }

    /// Whether the soft keyboard is on the screen.
    pub fn keyboard_shown(&self) -> bool {
        self.keyboard.shown && self.focus.is_some()
    }

    /// Whether the screen is lit.
    pub fn screen_on(&self) -> bool {
        self.screen_on
    }

    /// How the battery stands.
    pub fn battery(&self) -> Battery {
        self.battery
    }

    /// Media volume, 0 to 15.
    pub fn volume(&self) -> u8 {
        self.settings.number("system", VOLUME, 0).clamp(0, LOUDEST) as u8
    }

    /// What the log shall tell of the start of an app.
    pub(crate) fn set_cold_start(&mut self, time: Duration) {
        self.cold_start = time;
    }

    /// How long a service takes to answer: of an app that runs, and of one that has to be started first.
    pub(crate) fn set_service_times(&mut self, warm: Duration, cold: Duration) {
        self.service_times = (warm, cold);
    }

    pub(crate) fn set_about(&mut self, about: About) {
        self.about = about;
        self.settle();
    }

    /// Turns the media volume up or down.
    fn change_volume(&mut self, by: i64) {
        let volume = (i64::from(self.volume()) + by).clamp(0, LOUDEST);
        self.put_setting("system", VOLUME, &volume.to_string());
    }

    /// What was copied last.
    pub fn clipboard(&self) -> Option<&str> {
        self.clipboard.as_deref()
    }

    /// Puts text on the clipboard.
    pub fn set_clipboard(&mut self, text: impl Into<String>) {
        self.clipboard = Some(text.into());
    }

    /// What the phone wrote down.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Forgets what stands in a buffer of the log.
    pub fn clear_log(&mut self, buffer: Buffer) {
        self.log.clear(buffer);
    }

    /// Writes an entry into the log, as the shell's `log` does; the system's server writes into a buffer of its own.
    pub fn write_log(&mut self, priority: char, tag: &str, pid: u32, text: &str) {
        let (buffer, uid) = match pid {
            tasks::SYSTEM_PID => (Buffer::System, 1_000),
            _ => (Buffer::Main, 2_000),
        };
        self.write_line(buffer, priority, tag, (pid, uid), text);
    }
}

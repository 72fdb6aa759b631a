//! What an app is: a manifest, a state, a view of that state, and what it does when something happens.
//!
//! To write one, implement [`App`] in a file of `apps/` and add its line to the list in `apps/mod.rs`.
//! An app asks for things beyond itself through [`Reach`] and learns about the phone from [`Env`]; it
//! never touches the world, a clock or other apps.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::functions::{AppFunction, Given};
use super::icons::Icon;
use super::layout::Scrolls;
use super::packages::Installation;
use super::services::{Served, ServiceStart};
use super::settings::Settings;
use super::storage::{Stored, Wish};
pub(crate) use super::store::Store;
use super::theme::Colour;
use super::view::{Tag, View};
use super::{About, Battery};

/// What the package manager knows of an app.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// E.g. `com.android.settings`.
    pub package: String,
    /// The name under its icon.
    pub label: String,
    /// As people read it, e.g. `11.117.0`.
    pub version_name: String,
    /// As the package manager compares it.
    pub version_code: u64,
    /// Full class names of its activities.
    pub activities: Vec<String>,
    /// The activity that its icon starts; `None` for an app without an icon.
    pub launcher: Option<String>,
    /// Came with the phone.
    pub system: bool,
    /// The Linux user of its process.
    pub uid: u32,
    /// The permissions that it asks for (`uses-permission`), in the order of its manifest, e.g. `android.permission.CAMERA`.
    pub permissions: Vec<String>,
    /// How it lies on the phone, if it came as an APK.
    pub installation: Option<Arc<Installation>>,
    pub(crate) icon: AppIcon,
}

impl Manifest {
    /// The full name of an activity given as `full.Class` or `.Class`; `None` if it has none such.
    pub fn resolve(&self, activity: &str) -> Option<&str> {
        let full = match activity.strip_prefix('.') {
            Some(_) => format!("{}{activity}", self.package),
            None => activity.to_owned(),
        };
        self.activities.iter().find(|known| **known == full).map(String::as_str)
    }
}

/// The full names of Android's own permissions.
pub(crate) fn asks(permissions: &[&str]) -> Vec<String> {
    permissions.iter().map(|name| format!("android.permission.{name}")).collect()
}

/// How an app's icon looks: a symbol on a round ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AppIcon {
    pub(crate) symbol: Icon,
    pub(crate) fill: Colour,
    pub(crate) ink: Colour,
}

/// An activity of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The package.
    pub package: String,
    /// The activity's full class name.
    pub activity: String,
}

impl Component {
    /// `package/.Class`, or `package/full.Class` where the class lies elsewhere, as Android shortens it.
    pub fn short(&self) -> String {
        match self.activity.strip_prefix(&self.package) {
            Some(rest) if rest.starts_with('.') => format!("{}/{rest}", self.package),
            _ => format!("{}/{}", self.package, self.activity),
        }
    }
}

/// A wish that some activity should fulfil.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Intent {
    /// E.g. `android.intent.action.VIEW`.
    pub action: Option<String>,
    /// A URI, e.g. `geo:0,0?q=pizza`.
    pub data: Option<String>,
    /// E.g. `android.intent.category.HOME`.
    pub categories: Vec<String>,
    /// The very activity that is meant; its class may be short (`.Class`).
    pub component: Option<Component>,
    /// Extra values in the order given.
    pub extras: Vec<(String, String)>,
}

/// How a start went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// A new activity is on the screen.
    New,
    /// The app was running and came to the front.
    BroughtToFront,
}

/// Why nothing was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartError {
    /// No such package is installed; ask `packages` for those that are.
    NoSuchPackage,
    /// The package has no such activity; its manifest lists them.
    NoSuchActivity,
    /// The package has no icon, or nothing handles the intent; name an activity.
    NotLaunchable,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoSuchPackage => "no such package",
            Self::NoSuchActivity => "no such activity",
            Self::NotLaunchable => "nothing to launch",
        })
    }
}

impl std::error::Error for StartError {}

/// An app: state, a view of it, and reactions.
pub(crate) trait App: Send {
    /// What the package manager shall know; the uid is given by the phone.
    fn manifest() -> Manifest
    where
        Self: Sized;

    /// The app just started, on a phone with this seed.
    fn new(seed: u64) -> Self
    where
        Self: Sized;

    /// What it wants on the screen now.
    fn view(&self, env: &Env<'_>) -> View;

    /// Whether its windows are marked FLAG_SECURE, as a bank's are: no capture shows them.
    fn secure(&self) -> bool {
        false
    }

    /// Something happened to it.
    fn on(&mut self, event: Event, reach: &mut Reach<'_>);

    /// A service of it was started. Nothing happens where the app has none, or where nothing is known of what it does.
    fn serve(&mut self, _start: &ServiceStart<'_>, _reach: &mut Reach<'_>) -> Served {
        Served::quiet()
    }

    /// What it offers to the system since Android 16.
    fn functions(&self) -> &'static [AppFunction] {
        &[]
    }

    /// One of [`App::functions`] is called, with parameters that it takes: what it gives, or the words of what it throws.
    fn call(&mut self, _id: &str, _given: &Given, _reach: &mut Reach<'_>) -> Result<Value, String> {
        Ok(Value::Null)
    }

    /// Whether it shows what lies in shared storage, and so wants to be told.
    fn lists_storage(&self) -> bool {
        false
    }

    /// The next time (since the phone was switched on) at which it wants to hear [`Event::Wake`]. One that has passed is due at once; the
    /// app then does what there is to do and names a later one, or none.
    fn due(&self, _store: &Store, _now: Duration) -> Option<Duration> {
        None
    }

    /// Whether what it shows goes on changing at this moment (time since the phone was switched on) without being touched.
    fn moves(&self, _store: &Store, _now: Duration) -> bool {
        false
    }
}

/// What can happen to an app.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// It was started (again) with a wish; a plain start from its icon has no data.
    Intent(Intent),
    /// A view with this tag was tapped.
    Tap(Tag),
    /// A view with this tag was held.
    Hold(Tag),
    /// A finger rested on what can be carried, and now carries it.
    Lift(Tag),
    /// What was carried was let go, on a view that takes it or elsewhere.
    Drop(Tag, Option<Tag>),
    /// A finger moved on a view with this tag, by so many dp.
    Drag(Tag, f32, f32),
    /// A finger is on a view with this tag, at this part of its width.
    Slide(Tag, f32),
    /// The field's text is now this.
    Text { field: String, text: String },
    /// The keyboard's enter key was pressed in a field of one line.
    Action { field: String },
    /// A moment has come that [`App::due`] named.
    Wake,
    /// What came of [`Reach::ask_permission`].
    Answer { permission: &'static str, granted: bool },
    /// Back was pressed, or the screen was touched beside a dialog. An app that has nowhere to go back to calls [`Reach::finish`].
    Back,
}

/// What an app can know while it draws.
pub(crate) struct Env<'a> {
    /// Width and height of its window, in dp.
    pub(crate) size: (f32, f32),
    /// What the status bar covers at the top and the gesture bar at the bottom, in dp.
    pub(crate) insets: (f32, f32),
    /// Full class name of the activity to draw.
    pub(crate) activity: &'a str,
    /// What it stored.
    pub(crate) store: &'a Store,
    /// All installed packages, by package name.
    pub(crate) packages: &'a [&'a Manifest],
    /// The phone's settings.
    pub(crate) settings: &'a Settings,
    /// What the phone is.
    pub(crate) about: &'a About,
    /// Major Android release.
    pub(crate) android: u32,
    /// How the battery stands.
    pub(crate) battery: Battery,
    /// What lies in the phone's shared storage.
    pub(crate) storage: &'a [Stored],
    /// The time of day.
    pub(crate) clock: Clock,
    /// Time since the phone was switched on.
    pub(crate) now: Duration,
    /// How far containers were scrolled, and by whom; see [`Env::scrolled`].
    pub(crate) scrolls: (&'a Scrolls, &'a str),
    /// Pixels per dp.
    pub(crate) scale: f32,
}

impl Env<'_> {
    /// Whether the window is wider than high.
    pub(crate) fn wide(&self) -> bool {
        self.size.0 > self.size.1
    }

    /// How far the container with this resource id is scrolled, in dp.
    pub(crate) fn scrolled(&self, id: &str) -> f32 {
        let (scrolls, owner) = self.scrolls;
        let offset = scrolls.get(&(owner.to_owned(), format!("#{id}")));
        offset.map_or(0.0, |pixels| *pixels as f32 / self.scale)
    }
}

/// The phone's date and time (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    pub(crate) hour: u32,
    pub(crate) minute: u32,
    pub(crate) weekday: &'static str,
    pub(crate) month: &'static str,
    pub(crate) day: u32,
}

/// Seconds from 1970 to the moment when the phone was switched on: Tuesday 5 March 2024, 10:00 UTC.
pub(crate) const SWITCHED_ON: u64 = 1_709_632_800;

impl Clock {
    /// The clock after the phone ran for `uptime`.
    pub(crate) fn at(uptime: Duration) -> Self {
        let seconds = SWITCHED_ON + uptime.as_secs();
        let days = seconds / 86_400;
        // 1970-01-01 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
        let (mut year, mut day) = (1970, days);
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let days_in = |year| if leap(year) { 366 } else { 365 };
        while day >= days_in(year) {
            day -= days_in(year);
            year += 1;
        }
        let february = if leap(year) { 29 } else { 28 };
        let months = [
            ("Jan", 31),
            ("Feb", february),
            ("Mar", 31),
            ("Apr", 30),
            ("May", 31),
            ("Jun", 30),
            ("Jul", 31),
            ("Aug", 31),
            ("Sep", 30),
            ("Oct", 31),
            ("Nov", 30),
        ];
        let mut month = "Dec";
        for (name, length) in months {
            if day < length {
                month = name;
                break;
            }
            day -= length;
        }
        Self {
            hour: (seconds / 3600 % 24) as u32,
            minute: (seconds / 60 % 60) as u32,
            weekday,
            month,
            day: day as u32 + 1,
        }
    }
}

/// What an app can ask of the phone; done after the app has returned.
pub(crate) struct Reach<'a> {
    pub(crate) store: &'a mut Store,
    /// Time since the phone was switched on.
    pub(crate) now: Duration,
    /// Whether the app is on a lit screen.
    pub(crate) in_front: bool,
    pub(crate) asked: Vec<Request>,
}

/// One thing asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    Finish,
    Open(&'static str),
    Launch(String),
    Focus(&'static str),
    Unfocus,
    Toast(String),
    ScrollToTop(&'static str),
    Copy(String),
    Wish(Wish),
    AskPermission(&'static str),
    Notify { tag: String, title: String, text: String, data: Option<String> },
    Dismiss(String),
    Setting { table: String, name: String, value: String },
}

impl Reach<'_> {
    /// Ends the activity on top; the one below, or the app below, shows.
    pub(crate) fn finish(&mut self) {
        self.asked.push(Request::Finish);
    }

    /// Opens another activity of this app (`.Class`) on top.
    #[expect(dead_code, reason = "for apps with several activities")]
    pub(crate) fn open(&mut self, activity: &'static str) {
        self.asked.push(Request::Open(activity));
    }

    /// Starts another app by its icon.
    pub(crate) fn launch(&mut self, package: impl Into<String>) {
        self.asked.push(Request::Launch(package.into()));
    }

    /// Puts the focus into a field, once it is on the screen, and shows the keyboard.
    pub(crate) fn focus(&mut self, field: &'static str) {
        self.asked.push(Request::Focus(field));
    }

    /// Takes the focus away and hides the keyboard.
    pub(crate) fn unfocus(&mut self) {
        self.asked.push(Request::Unfocus);
    }

    /// Shows a short message for two seconds.
    pub(crate) fn toast(&mut self, text: impl Into<String>) {
        self.asked.push(Request::Toast(text.into()));
    }

    /// Scrolls a container back to its beginning.
    pub(crate) fn scroll_to_top(&mut self, id: &'static str) {
        self.asked.push(Request::ScrollToTop(id));
    }

    /// Changes a setting of the phone.
    pub(crate) fn set(&mut self, table: &str, name: &str, value: impl Into<String>) {
        let (table, name) = (table.to_owned(), name.to_owned());
        self.asked.push(Request::Setting { table, name, value: value.into() });
    }

    /// Wants something done to shared storage.
    pub(crate) fn wish(&mut self, wish: Wish) {
        self.asked.push(Request::Wish(wish));
    }

    /// Posts a notification, instead of an earlier one with the same tag. Its tap starts the app with the address, if any.
    pub(crate) fn notify(&mut self, tag: String, title: &str, text: &str, data: Option<String>) {
        let (title, text) = (title.to_owned(), text.to_owned());
        self.asked.push(Request::Notify { tag, title, text, data });
    }

    /// Takes its notification with that tag away.
    pub(crate) fn dismiss(&mut self, tag: String) {
        self.asked.push(Request::Dismiss(tag));
    }

    /// Asks for a permission that the app's manifest lists; the answer comes as [`Event::Answer`], at once where it is known.
    pub(crate) fn ask_permission(&mut self, permission: &'static str) {
        self.asked.push(Request::AskPermission(permission));
    }

    /// Puts text on the clipboard.
    pub(crate) fn copy(&mut self, text: impl Into<String>) {
        self.asked.push(Request::Copy(text.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_starts_on_a_tuesday_morning_and_passes_midnight() {
        let start = Clock::at(Duration::ZERO);
        assert_eq!((start.hour, start.minute, start.weekday), (10, 0, "Tue"));
        assert_eq!((start.month, start.day), ("Mar", 5));
        let next = Clock::at(Duration::from_secs(14 * 3600 + 61));
        assert_eq!((next.hour, next.minute, next.weekday, next.day), (0, 1, "Wed", 6));
        let april = Clock::at(Duration::from_secs(27 * 86_400));
        assert_eq!((april.month, april.day, april.weekday), ("Apr", 1, "Mon"));
    }

    #[test]
    fn components_are_shortened_as_android_does() {
        let inside = Component { package: "com.x".into(), activity: "com.x.Main".into() };
        let outside = Component { package: "com.x".into(), activity: "com.xy.Main".into() };
        assert_eq!(inside.short(), "com.x/.Main");
        assert_eq!(outside.short(), "com.x/com.xy.Main");
    }
}

//! What an app is: a description, a state, a view of that state, and what it does when something
//! happens.
//!
//! To write one, implement [`App`] and [`BuiltInApp`] in a file of `apps/` and add its line to the
//! list in `apps.rs`. An app describes itself once ([`AppDescription`]), requests everything
//! outside itself through [`AppContext`] and reads the phone's state from [`DrawContext`]; it never
//! touches the world, a clock or other apps.

mod description;
mod installed;
mod store;

pub(crate) use self::description::{AndroidIdentity, AppDescription, IosIdentity};
pub(crate) use self::installed::{InstalledApp, InstalledApps};
pub(crate) use self::store::Preferences;

use crate::device::{About, Battery};
use crate::functions::{AppFunction, FunctionArgs};
use crate::layout::Scrolls;
use crate::packages::{Intent, Manifest};
use crate::services::{ServiceOutcome, ServiceStart};
use crate::settings::Settings;
use crate::storage::{StorageEntry, StorageRequest};
use crate::view::{Tag, View};
use jiff::civil::DateTime;
use serde_json::Value;
use std::time::Duration;
use thumbwire_mobile_mcp::Descriptor;
use thumbwire_virtual_screen::Platform;

/// An app that comes with the phone.
pub(crate) trait BuiltInApp: App + Sized + 'static {
    /// What it is, once for all platforms.
    const DESCRIPTION: AppDescription;

    /// The app as it starts on a phone with this seed.
    fn new(seed: u64) -> Self;
}

/// An app: state, a view of it, and reactions.
pub(crate) trait App: Send {
    /// What it wants on the screen now.
    fn view(&self, env: &DrawContext<'_>) -> View;

    /// Whether its windows are marked FLAG_SECURE, as a bank's are: screenshots do not show them.
    fn is_secure(&self) -> bool {
        false
    }

    /// The class of the fragment that it shows, as the newest release names it, if its pages are
    /// fragments of one activity.
    fn fragment(&self) -> Option<&'static str> {
        None
    }

    /// The rows of its options menu, and what each sends as a tap; empty if the page has none.
    fn options_menu(&self) -> Vec<(&'static str, Tag)> {
        Vec::new()
    }

    /// Handles an event.
    fn handle(&mut self, event: Event, context: &mut AppContext<'_>);

    /// Handles the start of one of its services. Does nothing if the app has none, or if its
    /// behaviour is unknown.
    fn on_start_command(
        &mut self,
        _start: &ServiceStart<'_>,
        _reach: &mut AppContext<'_>,
    ) -> ServiceOutcome {
        ServiceOutcome::no_answer()
    }

    /// The functions it offers to the system, since Android 16.
    fn functions(&self) -> &'static [AppFunction] {
        &[]
    }

    /// Runs one of [`App::functions`] with checked arguments. Returns its result, or the message of
    /// the exception it throws.
    fn call(
        &mut self,
        _id: &str,
        _given: &FunctionArgs,
        _reach: &mut AppContext<'_>,
    ) -> Result<Value, String> {
        Ok(Value::Null)
    }

    /// Whether it shows shared storage, and so needs a current listing.
    fn lists_storage(&self) -> bool {
        false
    }

    /// The next time (since boot) at which it wants to receive [`Event::Alarm`]. A time in the past
    /// is due at once; the app then does its work and returns a later time, or none.
    fn next_wakeup(&self, _store: &Preferences, _now: Duration) -> Option<Duration> {
        None
    }

    /// Whether its screen keeps changing at this time (since boot) without being touched.
    fn is_animating(&self, _store: &Preferences, _now: Duration) -> bool {
        false
    }
}

/// What can happen to an app.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// It was started (again) with an intent; a plain start from its icon has no data.
    Intent(Intent),
    /// A view with this tag was tapped.
    Tap(Tag),
    /// A view with this tag was long-pressed.
    LongPress(Tag),
    /// A draggable view was long-pressed and is now being dragged.
    DragStarted(Tag),
    /// The dragged view was dropped, on a drop target or elsewhere.
    Drop(Tag, Option<Tag>),
    /// A finger moved on a view with this tag, by this many dp.
    Drag(Tag, f32, f32),
    /// The distance between two fingers on a view with this tag became this many times what it was.
    Pinch(Tag, f32),
    /// A finger is on a view with this tag, at this fraction of its width.
    SliderChanged(Tag, f32),
    /// The field's text is now this.
    Text { field: String, text: String },
    /// The keyboard's enter key was pressed in a field of one line.
    Action { field: String },
    /// A time that [`App::next_wakeup`] returned has come.
    Alarm,
    /// The result of [`AppContext::ask_permission`].
    PermissionResult { permission: &'static str, granted: bool },
    /// Back was pressed, or the user touched outside a dialog. An app that has nowhere to go back
    /// to calls [`AppContext::finish`].
    Back,
}

/// What an app can read while it draws.
pub(crate) struct DrawContext<'a> {
    /// Width and height of its window, in dp.
    pub(crate) size: (f32, f32),
    /// Height of the status bar at the top and of the gesture bar at the bottom, in dp.
    pub(crate) insets: (f32, f32),
    /// Full class name of the activity to draw.
    pub(crate) activity: &'a str,
    /// Its preferences.
    pub(crate) store: &'a Preferences,
    /// All installed packages, by package name.
    pub(crate) packages: &'a [&'a Manifest],
    /// The phone's settings.
    pub(crate) settings: &'a Settings,
    /// The phone's model and version.
    pub(crate) about: &'a About,
    /// Major Android release.
    pub(crate) android: u32,
    /// Whose manner the phone has.
    pub(crate) platform: Platform,
    /// The battery state.
    pub(crate) battery: Battery,
    /// The phone's simulated location: latitude and longitude in degrees.
    pub(crate) location: Option<(f64, f64)>,
    /// The contents of shared storage.
    pub(crate) storage: &'a [StorageEntry],
    /// The time of day.
    pub(crate) clock: DateTime,
    /// Time since boot.
    pub(crate) now: Duration,
    /// Scroll offsets and their owner; see [`DrawContext::scrolled`].
    pub(crate) scrolls: (&'a Scrolls, &'a str),
    /// Pixels per dp.
    pub(crate) scale: f32,
}

impl DrawContext<'_> {
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

/// What an app can ask of the phone; done after the app has returned.
pub(crate) struct AppContext<'a> {
    pub(crate) store: &'a mut Preferences,
    /// Time since boot.
    pub(crate) now: Duration,
    /// What its package declares that it offers to other programs.
    pub(crate) descriptor: &'a Descriptor,
    /// Whether the app is on a lit screen.
    pub(crate) in_front: bool,
    pub(crate) asked: Vec<Request>,
}

/// One request.
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
    Storage(StorageRequest),
    AskPermission(&'static str),
    Notify { tag: String, title: String, text: String, data: Option<String> },
    Dismiss(String),
    Setting { table: String, name: String, value: String },
}

impl AppContext<'_> {
    /// Finishes the top activity; the one below, or the app below, shows.
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

    /// Focuses a field, once it is on the screen, and shows the keyboard.
    pub(crate) fn focus(&mut self, field: &'static str) {
        self.asked.push(Request::Focus(field));
    }

    /// Clears the focus and hides the keyboard.
    pub(crate) fn unfocus(&mut self) {
        self.asked.push(Request::Unfocus);
    }

    /// Shows a toast for two seconds.
    pub(crate) fn toast(&mut self, text: impl Into<String>) {
        self.asked.push(Request::Toast(text.into()));
    }

    /// Scrolls a container to its start.
    pub(crate) fn scroll_to_top(&mut self, id: &'static str) {
        self.asked.push(Request::ScrollToTop(id));
    }

    /// Changes a setting of the phone.
    pub(crate) fn set(&mut self, table: &str, name: &str, value: impl Into<String>) {
        let (table, name) = (table.to_owned(), name.to_owned());
        self.asked.push(Request::Setting { table, name, value: value.into() });
    }

    /// Requests a change of shared storage.
    pub(crate) fn request(&mut self, request: StorageRequest) {
        self.asked.push(Request::Storage(request));
    }

    /// Posts a notification; it replaces an earlier one with the same tag. Tapping it starts the
    /// app with `data`, if any.
    pub(crate) fn notify(&mut self, tag: String, title: &str, text: &str, data: Option<String>) {
        let (title, text) = (title.to_owned(), text.to_owned());
        self.asked.push(Request::Notify { tag, title, text, data });
    }

    /// Removes its notification with that tag.
    pub(crate) fn dismiss(&mut self, tag: String) {
        self.asked.push(Request::Dismiss(tag));
    }

    /// Requests a permission from the app's manifest; the result arrives as
    /// [`Event::PermissionResult`], at once if it is already decided.
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
    use crate::packages::Component;

    #[test]
    fn components_are_shortened_as_on_android() {
        let inside = Component { package: "com.x".into(), activity: "com.x.Main".into() };
        let outside = Component { package: "com.x".into(), activity: "com.xy.Main".into() };
        assert_eq!(inside.short(), "com.x/.Main");
        assert_eq!(outside.short(), "com.x/com.xy.Main");
    }
}

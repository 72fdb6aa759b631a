//! Which apps the operator allows, and what is known about a phone's apps without asking it again.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::{AppId, Foreground, Key, KeyCode};
use tokio::time::Instant;

use crate::allowed_apps::AllowedApps;

/// How long what was in front counts. The screen changes by itself, too: a splash screen opens
/// another app, and the phone's owner may use it.
const FRESH: Duration = Duration::from_secs(1);

/// What callers may do with a phone's apps, and what is known about these.
pub(super) struct AppGuard {
    pub(super) allowed: AllowedApps,
    /// Apps that the launcher shows.
    pub(super) in_launcher: Mutex<HashSet<AppId>>,
    /// What was in front last: when, and under which generation.
    front: Mutex<Option<(Instant, u64, Foreground)>>,
    /// The guarded page of Settings in front, or that it is another page: when, and under which
    /// generation.
    page: Mutex<Option<(Instant, u64, Option<String>)>>,
}

impl AppGuard {
    pub(super) fn new(allowed: AllowedApps) -> Self {
        Self {
            allowed,
            in_launcher: Mutex::default(),
            front: Mutex::default(),
            page: Mutex::default(),
        }
    }

    /// Stores what was in front when the phone was asked under this generation.
    pub(super) fn learn(&self, front: &Foreground, generation: u64) {
        if self.allowed.depend_on_front() {
            *lock(&self.front) = Some((Instant::now(), generation, front.clone()));
        }
    }

    /// Stores apps that the launcher shows.
    pub(super) fn learn_launcher(&self, apps: impl IntoIterator<Item = AppId>) {
        lock(&self.in_launcher).extend(apps);
    }

    pub(super) fn forget(&self) {
        lock(&self.in_launcher).clear();
        *lock(&self.front) = None;
        *lock(&self.page) = None;
    }

    /// Stores which guarded page of Settings was in front, if one was.
    pub(super) fn learn_page(&self, page: Option<String>, generation: u64) {
        *lock(&self.page) = Some((Instant::now(), generation, page));
    }

    /// The guarded page of Settings, if it was asked for a short time ago and no action followed.
    pub(super) fn page(&self, generation: u64) -> Option<Option<String>> {
        let known = lock(&self.page);
        let known = known.as_ref().filter(|(at, of, _)| *of == generation && at.elapsed() < FRESH);
        known.map(|(_, _, page)| page.clone())
    }

    /// What is in front, if it was seen a short time ago and no action followed.
    pub(super) fn front(&self, generation: u64) -> Option<Foreground> {
        let known = lock(&self.front);
        let known = known.as_ref().filter(|(at, of, _)| *of == generation && at.elapsed() < FRESH);
        known.map(|(_, _, front)| front.clone())
    }
}

/// Whether a key does nothing in an app but leave it, or is the phone's: back, home, recents, power
/// and volume.
pub(super) fn leaves_an_app(key: Key) -> bool {
    /// HOME, BACK, VOLUME_UP, VOLUME_DOWN, POWER, VOLUME_MUTE, APP_SWITCH, SLEEP and WAKEUP of
    /// `android.view.KeyEvent`.
    const CODES: [u16; 9] = [3, 4, 24, 25, 26, 164, 187, 223, 224];
    match key {
        Key::Back | Key::Home | Key::Power | Key::VolumeUp | Key::VolumeDown => true,
        Key::Menu => false,
        Key::Android(KeyCode(code)) => CODES.contains(&code),
    }
}

//! The phone's apps. To add one: its file (or folder) here, its `mod` line, and its line in
//! [`APPS`]. `records` stores what the user entered into an app.

mod akhbar;
mod attendance;
mod bank;
mod browser;
mod calendar;
mod clock;
mod contacts;
mod dates;
mod files;
pub(crate) mod generic_app;
mod launcher;
mod maps;
mod members;
mod messages;
mod notes;
mod odd_app;
mod records;
mod seeded;
mod settings;
mod shop;
mod tools;

pub use self::contacts::Contact;
pub use self::seeded::{SeededArticle, SeededPlace};

use crate::app::{App, BuiltInApp, InstalledApp, Preferences};
use crate::packages::{ComponentKind, Manifest};

/// Every app, by package name.
const APPS: &[fn(u64) -> InstalledApp] = &[
    InstalledApp::of::<akhbar::Akhbar>,
    InstalledApp::of::<bank::Bank>,
    InstalledApp::of::<browser::Browser>,
    InstalledApp::of::<calendar::Calendar>,
    InstalledApp::of::<clock::ClockApp>,
    InstalledApp::of::<contacts::Contacts>,
    InstalledApp::of::<files::Files>,
    InstalledApp::of::<launcher::Launcher>,
    InstalledApp::of::<maps::Maps>,
    InstalledApp::of::<members::Members>,
    InstalledApp::of::<messages::Messages>,
    InstalledApp::of::<notes::Notes>,
    InstalledApp::of::<settings::SettingsApp>,
    InstalledApp::of::<shop::Shop>,
];

/// The first user id of apps on Android (`Process.FIRST_APPLICATION_UID`).
const FIRST_UID: u32 = 10_000;

/// All preinstalled apps, on a phone with this seed.
pub(crate) fn installed(seed: u64) -> Vec<InstalledApp> {
    let mut apps: Vec<InstalledApp> = APPS.iter().map(|install| install(seed)).collect();
    apps.sort_by(|a, b| a.manifest.package.cmp(&b.manifest.package));
    for (app, uid) in apps.iter_mut().zip(FIRST_UID + 101..) {
        app.manifest.uid = uid;
    }
    apps
}

/// Creates an app's process, on a phone with that seed.
type AppFactory = Box<dyn Fn(u64) -> Box<dyn App> + Send>;

/// The implementation of an APK's app: just a screen with its name, unless its package and service
/// are among those whose behaviour the phone knows.
pub(super) fn factory(manifest: &Manifest) -> AppFactory {
    let declared = manifest.installation.iter().flat_map(|it| &it.declared.components);
    let mut services = declared.filter(|it| it.class == ComponentKind::Service);
    let mut has = |service| services.any(|it| it.name == service);
    match manifest.package.as_str() {
        attendance::PACKAGE if has(attendance::SERVICE) => {
            Box::new(|seed| Box::new(attendance::Attendance::new(seed)))
        }
        shop::PACKAGE if has(shop::SERVICE) => Box::new(|seed| Box::new(shop::Shop::new(seed))),
        odd_app::PACKAGE if has(odd_app::SERVICE) => {
            let shown = generic_app::GenericApp::of(manifest);
            Box::new(move |_| Box::new(odd_app::OddApp::of(shown.clone())))
        }
        _ => {
            let shown = generic_app::GenericApp::of(manifest);
            Box::new(move |_| Box::new(shown.clone()))
        }
    }
}

/// The articles of Shop, by number.
pub(super) fn articles(seed: u64) -> Vec<SeededArticle> {
    shop::articles(seed)
}

/// The package of Contacts.
pub(super) const CONTACTS: &str = <contacts::Contacts as BuiltInApp>::DESCRIPTION.android.package;

/// The people of Contacts that stored these values.
pub(super) fn people(seed: u64, store: &Preferences) -> Vec<Contact> {
    contacts::everyone(seed, store)
}

/// The places of Maps, in search order.
pub(super) fn places(seed: u64) -> Vec<SeededPlace> {
    maps::places(seed)
}

//! The apps of the phone. To add one: its file (or folder) here, its `mod` line, and its line in
//! [`APPS`]. `records` keeps what a person wrote into an app.

mod akhbar;
mod attendance;
mod bank;
mod browser;
mod calendar;
mod clock;
mod contacts;
mod dates;
mod files;
mod launcher;
mod maps;
mod members;
mod messages;
mod notes;
mod odd;
mod records;
mod settings;
mod shop;
pub(crate) mod stranger;
mod tools;

use super::app::{App, Manifest};
use super::decided::{Article, Place};
use super::packages::Class;
use super::tasks::Installed;

/// Every app, by package name.
const APPS: &[fn(u64) -> Installed] = &[
    Installed::of::<akhbar::Akhbar>,
    Installed::of::<bank::Bank>,
    Installed::of::<browser::Browser>,
    Installed::of::<calendar::Calendar>,
    Installed::of::<clock::ClockApp>,
    Installed::of::<contacts::Contacts>,
    Installed::of::<files::Files>,
    Installed::of::<launcher::Launcher>,
    Installed::of::<maps::Maps>,
    Installed::of::<members::Members>,
    Installed::of::<messages::Messages>,
    Installed::of::<notes::Notes>,
    Installed::of::<settings::SettingsApp>,
    Installed::of::<shop::Shop>,
];

/// User ids of apps begin here on Android (`Process.FIRST_APPLICATION_UID`).
const FIRST_UID: u32 = 10_000;

/// All apps as installed on a phone with this seed.
pub(crate) fn installed(seed: u64) -> Vec<Installed> {
    let mut apps: Vec<Installed> = APPS.iter().map(|install| install(seed)).collect();
    apps.sort_by(|a, b| a.manifest.package.cmp(&b.manifest.package));
    for (app, uid) in apps.iter_mut().zip(FIRST_UID + 101..) {
        app.manifest.uid = uid;
    }
    apps
}

/// A process of an app, started anew on a phone with that seed.
type Make = Box<dyn Fn(u64) -> Box<dyn App> + Send>;

/// What is behind the APK of an app: nothing but its name on a screen, unless its package and its service are among those whose ways the
/// phone knows.
pub(super) fn behind(manifest: &Manifest) -> Make {
    let declared = manifest.installation.iter().flat_map(|it| &it.declared.components);
    let mut services = declared.filter(|it| it.class == Class::Service);
    let mut has = |service| services.any(|it| it.name == service);
    match manifest.package.as_str() {
        attendance::PACKAGE if has(attendance::SERVICE) => {
            Box::new(|seed| Box::new(attendance::Attendance::new(seed)))
        }
        shop::PACKAGE if has(shop::SERVICE) => Box::new(|seed| Box::new(shop::Shop::new(seed))),
        odd::PACKAGE if has(odd::SERVICE) => {
            let shown = stranger::Stranger::of(manifest);
            Box::new(move |_| Box::new(odd::Odd::of(shown.clone())))
        }
        _ => {
            let shown = stranger::Stranger::of(manifest);
            Box::new(move |_| Box::new(shown.clone()))
        }
    }
}

/// What Shop sells, by number.
pub(super) fn articles(seed: u64) -> Vec<Article> {
    shop::articles(seed)
}

/// What Maps knows, in the order in which a search lists it.
pub(super) fn places(seed: u64) -> Vec<Place> {
    maps::places(seed)
}

//! The apps of the phone. To add one: its file (or folder) here, its `mod` line, and its line in
//! [`APPS`]. `records` keeps what a person wrote into an app.

mod akhbar;
mod bank;
mod browser;
mod calendar;
mod clock;
mod contacts;
mod files;
mod launcher;
mod maps;
mod members;
mod messages;
mod notes;
mod records;
mod settings;
mod shop;
pub(crate) mod stranger;

use super::decided::{Article, Place};
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

/// What Shop sells, by number.
pub(super) fn articles(seed: u64) -> Vec<Article> {
    shop::articles(seed)
}

/// What Maps knows, in the order in which a search lists it.
pub(super) fn places(seed: u64) -> Vec<Place> {
    maps::places(seed)
}

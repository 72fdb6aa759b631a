//! Scenarios on the whole world: what a finger and a keyboard can do, and that pixels and trees
//! agree. The small screen keeps them fast.

mod agreement;
mod akhbar;
mod appearance;
mod bank;
mod browser;
mod calendar;
mod caret;
mod clock;
mod contacts;
mod files;
mod fling;
mod gestures;
mod hostile;
mod ios;
mod members;
mod messages;
mod notes;
mod notifications;
mod overlays;
mod permissions;
mod restart;
mod scenarios;
mod seeding;
mod settings;
mod shop;

use std::time::Duration;

use crate::scene::{Node, WindowKind};
use crate::world::{Setup, World};
use thumbwire_virtual_screen::{Display, Point, TouchPhase};

pub(super) const MAPS: &str = "com.google.android.apps.maps";
pub(super) const SETTINGS: &str = "com.android.settings";
pub(super) const CONTACTS: &str = "com.google.android.contacts";
pub(super) const NOTES: &str = "com.android.notes";
pub(super) const MESSAGES: &str = "com.google.android.apps.messaging";
pub(super) const SHOP: &str = "com.example.shop";
pub(super) const BROWSER: &str = "com.android.chrome";
pub(super) const CALENDAR: &str = "com.google.android.calendar";
pub(super) const FILES: &str = "com.android.documentsui";
pub(super) const BANK: &str = "com.example.bank";
pub(super) const MEMBERS: &str = "com.example.members";
pub(super) const AKHBAR: &str = "com.example.akhbar";
pub(super) const CLOCK: &str = "com.google.android.deskclock";
pub(super) const SMALL: Display = Display { width: 480, height: 900, density: 192, rotation: 0 };

pub(super) fn phone() -> World {
    World::new(Setup { display: SMALL, ..Setup::default() })
}

/// A phone that shows Maps.
pub(super) fn maps() -> World {
    let mut world = phone();
    world.start(MAPS, None).unwrap();
    world
}

/// A phone that shows Settings after tapping these, in order.
pub(super) fn settings(taps: &[&str]) -> World {
    let mut world = phone();
    world.start(SETTINGS, None).unwrap();
    tap_all(&mut world, taps);
    world
}

/// A phone that shows an app after tapping these, in order.
pub(super) fn app(package: &str, taps: &[&str]) -> World {
    let mut world = phone();
    world.start(package, None).unwrap();
    tap_all(&mut world, taps);
    world
}

/// Taps these in order, scrolling down to those that are off the screen or cut off at its end.
pub(super) fn tap_all(world: &mut World, taps: &[&str]) {
    for what in taps {
        for _ in 0..12 {
            let root = &world.scene().focused().unwrap().root;
            let scroller = root.walk().find(|node| node.flags.scrollable);
            let Some(list) = scroller.map(|node| node.bounds) else { break };
            let cut = match named(root, what) {
                Some(node) => {
                    node.full.bottom.min(node.bounds.top + list.height()) - node.bounds.bottom
                }
                None => list.height() / 3 * 2,
            };
            if cut <= 0 {
                break;
            }
            let (middle, half) = (list.center(), (cut + 24).min(list.height() / 3 * 2) / 2);
            drag(world, (middle.x, middle.y + half), (middle.x, middle.y - half));
        }
        tap(world, what);
    }
}

/// A phone that shows the restaurants.
pub(super) fn restaurants() -> World {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    type_text(&mut world, "restaurants\n");
    world
}

pub(super) fn node(world: &mut World, id: &str) -> Option<Node> {
    world.scene().focused().unwrap().root.find(id).cloned()
}

pub(super) fn shows(world: &mut World, text: &str) -> bool {
    let root = &world.scene().focused().unwrap().root;
    root.walk().any(|node| node.text == text || node.description == text)
}

/// The texts of all nodes with this id, from top to bottom.
pub(super) fn texts(world: &mut World, id: &str) -> Vec<String> {
    let root = &world.scene().focused().unwrap().root;
    let ends = |node: &&Node| node.id.as_deref().is_some_and(|full| full.ends_with(id));
    root.walk().filter(ends).map(|node| node.text.clone()).collect()
}

pub(super) fn tap_at(world: &mut World, at: Point) {
    world.pointer(TouchPhase::Down, at);
    world.pointer(TouchPhase::Up, at);
}

/// The node with this id, or else with this text or description.
fn named<'n>(root: &'n Node, what: &str) -> Option<&'n Node> {
    let says = |node: &&Node| node.text == what || node.description == what;
    root.find(what).or_else(|| root.walk().find(says))
}

/// Taps the node with this id, or else with this text or description.
pub(super) fn tap(world: &mut World, what: &str) {
    let root = &world.scene().focused().unwrap().root;
    let found = named(root, what);
    let at = found.unwrap_or_else(|| panic!("no {what} on the screen")).bounds.center();
    tap_at(world, at);
}

/// Taps a key of the soft keyboard by its name.
pub(super) fn press(world: &mut World, name: &str) {
    let scene = world.scene();
    let keys = scene.windows.iter().find(|window| window.kind == WindowKind::InputMethod);
    let key = keys.expect("no keyboard").root.walk().find(|node| node.description == name);
    let at = key.unwrap_or_else(|| panic!("no key {name}")).bounds.center();
    tap_at(world, at);
}

pub(super) fn type_text(world: &mut World, text: &str) {
    for ch in text.chars() {
        assert!(world.type_char(ch), "no field accepted {ch:?}");
    }
}

pub(super) fn drag(world: &mut World, from: (i32, i32), to: (i32, i32)) {
    let point = |(x, y)| Point { x, y };
    world.pointer(TouchPhase::Down, point(from));
    for step in 1..=4 {
        let along = |from: i32, to: i32| from + (to - from) * step / 4;
        world.pointer(TouchPhase::Move, point((along(from.0, to.0), along(from.1, to.1))));
    }
    world.pointer(TouchPhase::Up, point(to));
}

pub(super) fn wait(world: &mut World, time: Duration) {
    world.advance(world.uptime() + time);
}

//! Arbitrary input breaks nothing.

use proptest::prelude::*;

use super::*;
use crate::input::KeyCode;
use crate::packages::Intent;
use crate::storage::StorageEntry;

/// An operation on a phone.
#[derive(Debug, Clone)]
enum FuzzOp {
    Touch(u8, i32, i32),
    Key(u32),
    Type(char),
    Wait(u64),
    Turn(u8),
    Size(i32, i32),
    Density(i32),
    Start(usize),
    Geo(String),
    Stop,
    Intent(usize, String),
    Storage(Vec<String>),
    Keep(usize, String, String),
    /// The system covers the app, or ends it.
    Interrupt(u8),
}

fn deed() -> impl Strategy<Value = FuzzOp> {
    prop_oneof![
        8 => (0_u8..16, -50..600_i32, -50..1000_i32).prop_map(|(phase, x, y)| FuzzOp::Touch(phase, x, y)),
        1 => (0_u8..16, any::<i32>(), any::<i32>()).prop_map(|(phase, x, y)| FuzzOp::Touch(phase, x, y)),
        3 => (0_u32..300).prop_map(FuzzOp::Key),
        3 => any::<char>().prop_map(FuzzOp::Type),
        2 => (0_u64..5000).prop_map(FuzzOp::Wait),
        1 => any::<u8>().prop_map(FuzzOp::Turn),
        1 => (-10..1500_i32, -10..1500_i32).prop_map(|(width, height)| FuzzOp::Size(width, height)),
        1 => (-10..2000_i32).prop_map(FuzzOp::Density),
        2 => any::<usize>().prop_map(FuzzOp::Start),
        1 => ".{0,20}".prop_map(FuzzOp::Geo),
        1 => Just(FuzzOp::Stop),
        1 => (0_usize..6, ".{0,20}").prop_map(|(scheme, rest)| FuzzOp::Intent(scheme, rest)),
        1 => prop::collection::vec(".{0,20}", 0..20).prop_map(FuzzOp::Storage),
        1 => (any::<usize>(), "[a-z]{1,8}/[0-9]{1,3}(/[a-z]{1,6})?", ".{0,20}")
            .prop_map(|(app, key, value)| FuzzOp::Keep(app, key, value)),
        1 => any::<u8>().prop_map(FuzzOp::Interrupt),
    ]
}

fn perform(world: &mut World, deed: &FuzzOp) {
    match deed {
        FuzzOp::Touch(phase, x, y) => {
            let phases = [TouchPhase::Down, TouchPhase::Move, TouchPhase::Up, TouchPhase::Cancel];
            // The first finger as often as the other two together.
            let finger = u32::from(phase / 4 % 4).saturating_sub(1);
            world.finger(finger, phases[usize::from(*phase) % 4], Point { x: *x, y: *y });
        }
        FuzzOp::Key(code) => world.key(KeyCode(*code)),
        FuzzOp::Type(ch) => {
            world.type_char(*ch);
        }
        FuzzOp::Wait(ms) => wait(world, Duration::from_millis(*ms)),
        FuzzOp::Turn(rotation) => world.set_rotation(*rotation),
        FuzzOp::Size(width, height) => world.set_size_override(Some((*width, *height))),
        FuzzOp::Density(density) => world.set_density_override(Some(*density)),
        FuzzOp::Start(which) => {
            let packages: Vec<String> =
                world.packages().iter().map(|app| app.package.clone()).collect();
            world.start(&packages[which % packages.len()], None).unwrap();
        }
        FuzzOp::Geo(query) => {
            let data = Some(format!("geo:{query}?q={query}"));
            let _ = world.start_intent(&Intent { data, ..Intent::default() });
        }
        FuzzOp::Stop => {
            world.force_stop(MAPS);
        }
        FuzzOp::Intent(scheme, rest) => {
            let scheme = ["geo", "http", "https", "sms", "smsto", "tel"][scheme % 6];
            let data = Some(format!("{scheme}:{rest}"));
            let _ = world.start_intent(&Intent { data, ..Intent::default() });
        }
        FuzzOp::Storage(paths) => {
            let stored = |path: &String| StorageEntry {
                path: path.clone(),
                folder: path.len().is_multiple_of(2),
                size: path.len() as u64,
                modified: u64::MAX,
            };
            world.set_storage(paths.iter().map(stored).collect());
        }
        FuzzOp::Keep(app, key, value) => {
            let packages: Vec<String> =
                world.packages().iter().map(|app| app.package.clone()).collect();
            world.set_preference(&packages[app % packages.len()], key, Some(value));
        }
        FuzzOp::Interrupt(what) => {
            let package = world.foreground().package;
            match what % 6 {
                0 => world.pop_up("Title", "Text"),
                1 => drop(world.stop_responding(&package)),
                2 => world.open_shade(*what > 127),
                3 => drop(world.notify(&package, "Title", "é\n\u{0}")),
                4 => drop(world.grant(&package, "android.permission.CAMERA")),
                _ => drop(world.crash(&package, "java.lang.Error: no")),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_operations_never_break_the_phone(deeds in prop::collection::vec(deed(), 1..60)) {
        let mut world = maps();
        for deed in &deeds {
            perform(&mut world, deed);
            let screen = world.display().bounds();
            for window in &world.scene().windows {
                for node in window.root.walk().skip(1) {
                    prop_assert!(!node.bounds.is_empty() && screen.encloses(&node.bounds));
                }
            }
        }
        let (width, height) = (world.display().width, world.display().height);
        if width * height < 1_000_000 {
            let frame = world.frame();
            prop_assert_eq!(frame.rgba.len(), (width * height * 4) as usize);
        }
    }
}

#[test]
fn touches_far_outside_the_screen_do_nothing() {
    let mut world = maps();
    let before = world.scene().clone();
    for x in [i32::MIN, -1, 480, i32::MAX] {
        for y in [i32::MIN, -1, 900, i32::MAX] {
            tap_at(&mut world, Point { x, y });
        }
    }
    assert_eq!(*world.scene(), before);
}

#[test]
fn world_can_be_sent_to_another_thread() {
    fn send<T: Send>(_: &T) {}
    send(&phone());
}

#[test]
fn tiny_screen_with_huge_density_keeps_everything_inside() {
    let mut world = maps();
    let deeds =
        [FuzzOp::Touch(0, 0, 175), FuzzOp::Wait(500), FuzzOp::Size(0, 0), FuzzOp::Density(891)];
    for deed in &deeds {
        perform(&mut world, deed);
    }
    let screen = world.display().bounds();
    for window in &world.scene().windows {
        for node in window.root.walk().skip(1) {
            assert!(
                !node.bounds.is_empty() && screen.encloses(&node.bounds),
                "{:?} {:?} {:?} {:?} in {screen:?}",
                window.kind,
                node.class,
                node.id,
                node.bounds
            );
        }
    }
}

#[test]
fn apps_accept_arbitrary_preferences() {
    let keys = [
        "alarm/0/hour",
        "stopwatch/since",
        "stopwatch/before",
        "timer/length",
        "timer/since",
        "timer/run",
        "message/3/thread",
        "read/0",
        "thread/5/name",
        "cart/001",
        "order/0/total",
        "event/0/day",
        "event/0/time",
        "booking/0/cents",
        "booking/0/account",
        "visit/0/url",
        "member/0/email",
        "signed in",
        "saved/1",
        "note/0/title",
        "alarm/0/on",
        "answer/0",
        "tell/0",
    ];
    let values = [
        "yes",
        "",
        "-1",
        "18446744073709551615",
        "9223372036854775807",
        "99:99",
        "2024-02-31",
        "é\u{0}\n",
    ];
    for value in values {
        let mut world = phone();
        let packages: Vec<String> =
            world.packages().iter().map(|app| app.package.clone()).collect();
        for package in &packages {
            for key in keys {
                world.set_preference(package, key, Some(value));
            }
            world.start(package, None).unwrap();
            for tab in ["Stopwatch", "Timer", "Current account", "Orders"] {
                if shows(&mut world, tab) {
                    tap(&mut world, tab);
                }
            }
            wait(&mut world, Duration::from_secs(1));
            assert!(world.scene().focused().is_some());
        }
    }
}

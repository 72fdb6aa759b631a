//! Whatever comes in, nothing breaks.

use proptest::prelude::*;

use super::*;
use crate::world::{Intent, Key, Stored};

/// Something that can be done to a phone.
#[derive(Debug, Clone)]
enum Deed {
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
    /// The system puts something before the app, or ends it.
    Interrupt(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        8 => (0_u8..4, -50..600_i32, -50..1000_i32).prop_map(|(phase, x, y)| Deed::Touch(phase, x, y)),
        1 => (0_u8..4, any::<i32>(), any::<i32>()).prop_map(|(phase, x, y)| Deed::Touch(phase, x, y)),
        3 => (0_u32..300).prop_map(Deed::Key),
        3 => any::<char>().prop_map(Deed::Type),
        2 => (0_u64..5000).prop_map(Deed::Wait),
        1 => any::<u8>().prop_map(Deed::Turn),
        1 => (-10..1500_i32, -10..1500_i32).prop_map(|(width, height)| Deed::Size(width, height)),
        1 => (-10..2000_i32).prop_map(Deed::Density),
        2 => any::<usize>().prop_map(Deed::Start),
        1 => ".{0,20}".prop_map(Deed::Geo),
        1 => Just(Deed::Stop),
        1 => (0_usize..6, ".{0,20}").prop_map(|(scheme, rest)| Deed::Intent(scheme, rest)),
        1 => prop::collection::vec(".{0,20}", 0..20).prop_map(Deed::Storage),
        1 => (any::<usize>(), "[a-z]{1,8}/[0-9]{1,3}(/[a-z]{1,6})?", ".{0,20}")
            .prop_map(|(app, key, value)| Deed::Keep(app, key, value)),
        1 => any::<u8>().prop_map(Deed::Interrupt),
    ]
}

fn perform(world: &mut World, deed: &Deed) {
    match deed {
        Deed::Touch(phase, x, y) => {
            let phases = [Phase::Down, Phase::Move, Phase::Up, Phase::Cancel];
            world.pointer(phases[usize::from(*phase) % 4], Point { x: *x, y: *y });
        }
        Deed::Key(code) => world.key(Key(*code)),
        Deed::Type(ch) => {
            world.type_char(*ch);
        }
        Deed::Wait(ms) => wait(world, Duration::from_millis(*ms)),
        Deed::Turn(rotation) => world.set_rotation(*rotation),
        Deed::Size(width, height) => world.set_size_override(Some((*width, *height))),
        Deed::Density(density) => world.set_density_override(Some(*density)),
        Deed::Start(which) => {
            let packages: Vec<String> =
                world.packages().iter().map(|app| app.package.clone()).collect();
            world.start(&packages[which % packages.len()], None).unwrap();
        }
        Deed::Geo(query) => {
            let data = Some(format!("geo:{query}?q={query}"));
            let _ = world.start_intent(&Intent { data, ..Intent::default() });
        }
        Deed::Stop => {
            world.force_stop(MAPS);
        }
        Deed::Intent(scheme, rest) => {
            let scheme = ["geo", "http", "https", "sms", "smsto", "tel"][scheme % 6];
            let data = Some(format!("{scheme}:{rest}"));
            let _ = world.start_intent(&Intent { data, ..Intent::default() });
        }
        Deed::Storage(paths) => {
            let stored = |path: &String| Stored {
                path: path.clone(),
                folder: path.len().is_multiple_of(2),
                size: path.len() as u64,
                modified: u64::MAX,
            };
            world.set_storage(paths.iter().map(stored).collect());
        }
        Deed::Keep(app, key, value) => {
            let packages: Vec<String> =
                world.packages().iter().map(|app| app.package.clone()).collect();
            world.keep(&packages[app % packages.len()], key, Some(value));
        }
        Deed::Interrupt(what) => {
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
    fn no_deed_of_any_kind_breaks_the_phone(deeds in prop::collection::vec(deed(), 1..60)) {
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
fn a_world_can_be_handed_to_another_thread() {
    fn send<T: Send>(_: &T) {}
    send(&phone());
}

#[test]
fn a_tiny_screen_of_a_huge_density_keeps_everything_inside() {
    let mut world = maps();
    let deeds = [Deed::Touch(0, 0, 175), Deed::Wait(500), Deed::Size(0, 0), Deed::Density(891)];
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
fn an_app_takes_whatever_is_put_among_the_values_that_it_keeps() {
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
                world.keep(package, key, Some(value));
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

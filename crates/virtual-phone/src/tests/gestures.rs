//! Double taps, and drag and drop.

use super::*;
use crate::input::KeyCode;

fn tap_twice(world: &mut World, at: Point, ms: u64) {
    tap_at(world, at);
    wait(world, Duration::from_millis(ms));
    tap_at(world, at);
}

#[test]
fn double_tap_zooms_the_map_but_two_slow_taps_do_not() {
    let mut world = maps();
    let before = world.frame();
    let middle = Point { x: 240, y: 500 };
    tap_twice(&mut world, middle, 400);
    assert_eq!(world.frame(), before);
    wait(&mut world, Duration::from_millis(400));
    tap_twice(&mut world, middle, 100);
    let close = world.frame();
    assert_ne!(close, before);
    wait(&mut world, Duration::from_millis(400));
    tap_at(&mut world, middle);
    tap_at(&mut world, Point { x: 20, y: 500 });
    assert_eq!(world.frame(), close, "the second one was too far off");
    world.grant(MAPS, "android.permission.ACCESS_FINE_LOCATION").unwrap();
    tap(&mut world, "mylocation_button");
    assert_eq!(world.frame(), before);
}

/// Two fingers on a diagonal around a point, whose distance goes from one number of pixels to
/// another.
fn pinch(world: &mut World, at: Point, from: i32, to: i32) {
    let places = |distance: i32| {
        let half = (f64::from(distance) / 8.0_f64.sqrt()) as i32;
        [Point { x: at.x - half, y: at.y + half }, Point { x: at.x + half, y: at.y - half }]
    };
    let all = |world: &mut World, phase, distance| {
        for (finger, place) in (0..).zip(places(distance)) {
            world.finger(finger, phase, place);
        }
    };
    all(world, TouchPhase::Down, from);
    for step in 1..=20 {
        wait(world, Duration::from_millis(10));
        all(world, TouchPhase::Move, from + (to - from) * step / 20);
    }
    all(world, TouchPhase::Up, to);
}

#[test]
fn two_fingers_zoom_the_map_in_and_out() {
    let mut world = maps();
    let before = world.frame();
    let middle = Point { x: 240, y: 500 };
    pinch(&mut world, middle, 250, 500);
    let close = world.frame();
    assert_ne!(close, before);
    pinch(&mut world, middle, 250, 260);
    assert_eq!(world.frame(), close, "they hardly moved");
    pinch(&mut world, middle, 560, 210);
    assert_eq!(world.frame(), before, "it is not smaller than at first");
    let log: Vec<&str> = world
        .log()
        .lines()
        .filter(|line| line.tag == "VirtualInput")
        .map(|line| line.text.as_str())
        .collect();
    assert_eq!(log[0], "pinch 240,500 by 1.81 on com.google.android.apps.maps:id/map_view");
    assert_eq!(log.len(), 3, "{log:?}");
}

#[test]
fn second_finger_makes_neither_a_tap_nor_a_swipe() {
    let mut world = maps();
    let before = world.frame();
    let chip = Point { x: 60, y: 150 };
    world.finger(0, TouchPhase::Down, chip);
    world.finger(1, TouchPhase::Down, Point { x: 300, y: 600 });
    world.finger(1, TouchPhase::Up, Point { x: 300, y: 600 });
    world.finger(0, TouchPhase::Move, Point { x: 60, y: 600 });
    world.finger(0, TouchPhase::Up, Point { x: 60, y: 600 });
    assert_eq!(world.frame(), before);
    // Fingers that were on a screen that went off are forgotten.
    world.finger(1, TouchPhase::Down, chip);
    world.key(KeyCode::POWER);
    world.finger(1, TouchPhase::Up, chip);
    world.key(KeyCode::POWER);
    world.dismiss_keyguard();
    assert_eq!(world.frame(), before);
    tap(&mut world, "search_omnibox_text_box");
    assert_ne!(world.frame(), before, "one finger taps again");
}

#[test]
fn double_tap_enlarges_web_text_except_on_links() {
    let mut world = app(BROWSER, &[]);
    let heading = |world: &mut World| {
        let root = &world.scene().focused().unwrap().root;
        root.find("webview")
            .unwrap()
            .walk()
            .find(|node| !node.text.is_empty() && node.class.ends_with(".View"))
            .unwrap()
            .bounds
    };
    let before = heading(&mut world);
    tap_twice(&mut world, before.center(), 100);
    assert!(heading(&mut world).height() > before.height());
    tap_twice(&mut world, before.center(), 100);
    assert_eq!(heading(&mut world), before);
    tap_all(&mut world, &["The last keepers"]);
    assert!(shows(&mut world, "The last keepers"));
}

#[test]
fn dragged_note_takes_another_notes_place() {
    let mut world = app(NOTES, &[]);
    let titles = |world: &mut World| texts(world, "id/index_note_title");
    let before = titles(&mut world);
    let place = |world: &mut World, title: &str| {
        let root = &world.scene().focused().unwrap().root;
        root.walk().find(|node| node.text == title).unwrap().bounds.center()
    };
    let (from, to) = (place(&mut world, &before[3]), place(&mut world, &before[0]));
    world.pointer(TouchPhase::Down, from);
    wait(&mut world, Duration::from_millis(500));
    let lifted = |world: &mut World| {
        let root = &world.scene().focused().unwrap().root;
        root.walk().filter(|node| node.flags.selected).count()
    };
    assert_eq!(lifted(&mut world), 1);
    world.pointer(TouchPhase::Move, to);
    world.pointer(TouchPhase::Up, to);
    assert_eq!(lifted(&mut world), 0);
    let after = titles(&mut world);
    assert_ne!(after, before);
    assert_eq!(after[0], before[3]);
    world.force_stop(NOTES);
    world.start(NOTES, None).unwrap();
    assert_eq!(titles(&mut world), after, "the order is kept");
    let order =
        world.preferences(NOTES).iter().find(|(key, _)| *key == "order").map(|(_, ids)| ids.len());
    assert!(order.is_some());
    world.set_preference(NOTES, "order", None);
    assert_eq!(titles(&mut world), before);
    world.pointer(TouchPhase::Down, from);
    wait(&mut world, Duration::from_millis(600));
    world.pointer(TouchPhase::Up, Point { x: 240, y: 60 });
    assert_eq!(titles(&mut world), before, "let go nowhere");
}

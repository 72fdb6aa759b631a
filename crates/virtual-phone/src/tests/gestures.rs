//! Double taps, and drag and drop.

use super::*;

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

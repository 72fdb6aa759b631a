//! Lists that go on after a fast finger.

use super::*;

/// Moves a finger along in steps of 10 ms and lifts it.
fn swipe(world: &mut World, from: (i32, i32), to: (i32, i32), ms: u64) {
    let point = |(x, y)| Point { x, y };
    world.pointer(Phase::Down, point(from));
    let steps = i32::try_from(ms / 10).unwrap();
    for step in 1..=steps {
        wait(world, Duration::from_millis(10));
        let along = |from: i32, to: i32| from + (to - from) * step / steps;
        world.pointer(Phase::Move, point((along(from.0, to.0), along(from.1, to.1))));
    }
    world.pointer(Phase::Up, point(to));
}

/// How far the list of 500 products is scrolled.
fn offset(world: &mut World) -> i32 {
    node(world, "product_list").unwrap().touch.scrolled
}

#[test]
fn a_fast_swipe_goes_on_by_itself_and_comes_to_rest() {
    let mut world = app(SHOP, &[]);
    swipe(&mut world, (240, 700), (240, 400), 100);
    let left = offset(&mut world);
    assert_eq!(left, 300, "the list followed the finger");
    assert!(world.keeps_moving());
    let mut before = left;
    while world.keeps_moving() {
        wait(&mut world, Duration::from_millis(100));
        let now = offset(&mut world);
        assert!(now >= before);
        before = now;
    }
    assert!(before > 1_000, "{before}");
    wait(&mut world, Duration::from_secs(5));
    assert_eq!(offset(&mut world), before);
}

#[test]
fn a_slow_swipe_hardly_goes_on_and_one_that_rests_not_at_all() {
    let mut world = app(SHOP, &[]);
    swipe(&mut world, (240, 700), (240, 400), 1_000);
    wait(&mut world, Duration::from_secs(5));
    assert!((300..330).contains(&offset(&mut world)), "{}", offset(&mut world));
    let mut world = app(SHOP, &[]);
    let point = |y| Point { x: 240, y };
    world.pointer(Phase::Down, point(700));
    wait(&mut world, Duration::from_millis(20));
    world.pointer(Phase::Move, point(400));
    wait(&mut world, Duration::from_millis(60));
    world.pointer(Phase::Up, point(400));
    assert!(!world.keeps_moving());
    assert_eq!(offset(&mut world), 300);
}

#[test]
fn the_same_time_in_other_steps_comes_to_the_same_place() {
    let come = |step: u64| {
        let mut world = app(SHOP, &[]);
        swipe(&mut world, (240, 700), (240, 400), 100);
        for _ in 0..300 / step {
            wait(&mut world, Duration::from_millis(step));
        }
        offset(&mut world)
    };
    assert_eq!(come(10), come(300));
}

#[test]
fn a_touch_stops_it_and_taps_nothing() {
    let mut world = app(SHOP, &[]);
    swipe(&mut world, (240, 700), (240, 400), 100);
    wait(&mut world, Duration::from_millis(100));
    let at = offset(&mut world);
    tap_at(&mut world, Point { x: 240, y: 500 });
    assert!(!world.keeps_moving());
    wait(&mut world, Duration::from_secs(1));
    assert_eq!(offset(&mut world), at, "it stands, and no product was opened");
    tap_at(&mut world, Point { x: 240, y: 500 });
    assert!(node(&mut world, "product_list").is_none(), "the next tap opens one");
}

#[test]
fn it_stops_at_the_end_and_with_the_screen_that_is_left() {
    let mut world = app(SHOP, &[]);
    for _ in 0..4 {
        swipe(&mut world, (240, 400), (240, 800), 50);
    }
    assert!(!world.keeps_moving(), "there is nothing before the beginning");
    assert_eq!(offset(&mut world), 0);
    swipe(&mut world, (240, 700), (240, 400), 60);
    world.key(crate::world::Key::HOME);
    assert!(!world.keeps_moving());
}

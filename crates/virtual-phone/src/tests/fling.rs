//! Lists that fling after a fast finger.

use super::*;

/// Moves a finger in steps of 10 ms and lifts it.
fn swipe(world: &mut World, from: (i32, i32), to: (i32, i32), ms: u64) {
    let point = |(x, y)| Point { x, y };
    world.pointer(TouchPhase::Down, point(from));
    let steps = i32::try_from(ms / 10).unwrap();
    for step in 1..=steps {
        wait(world, Duration::from_millis(10));
        let along = |from: i32, to: i32| from + (to - from) * step / steps;
        world.pointer(TouchPhase::Move, point((along(from.0, to.0), along(from.1, to.1))));
    }
    world.pointer(TouchPhase::Up, point(to));
}

/// How far the list of 500 products is scrolled.
fn offset(world: &mut World) -> i32 {
    node(world, "product_list").unwrap().touch.scrolled
}

#[test]
fn fast_swipe_flings_and_stops() {
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
fn slow_swipe_hardly_flings() {
    let mut world = app(SHOP, &[]);
    swipe(&mut world, (240, 700), (240, 400), 1_000);
    wait(&mut world, Duration::from_secs(5));
    assert!((300..330).contains(&offset(&mut world)), "{}", offset(&mut world));
    let mut world = app(SHOP, &[]);
    let point = |y| Point { x: 240, y };
    world.pointer(TouchPhase::Down, point(700));
    wait(&mut world, Duration::from_millis(20));
    world.pointer(TouchPhase::Move, point(400));
    wait(&mut world, Duration::from_millis(60));
    world.pointer(TouchPhase::Up, point(400));
    assert!(!world.keeps_moving());
    assert_eq!(offset(&mut world), 300);
}

#[test]
fn fling_is_independent_of_time_steps() {
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
fn touch_stops_a_fling_without_tapping() {
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
fn fling_stops_at_the_end_and_when_leaving() {
    let mut world = app(SHOP, &[]);
    for _ in 0..4 {
        swipe(&mut world, (240, 400), (240, 800), 50);
    }
    assert!(!world.keeps_moving(), "there is nothing before the beginning");
    assert_eq!(offset(&mut world), 0);
    swipe(&mut world, (240, 700), (240, 400), 60);
    world.key(crate::input::KeyCode::HOME);
    assert!(!world.keeps_moving());
}

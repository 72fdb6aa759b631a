//! Setting alarms, a timer that ends, and a stopwatch that never lets the screen become idle.

use super::*;
use crate::input::KeyCode;

fn time(world: &mut World, id: &str) -> String {
    node(world, id).unwrap().text
}

#[test]
fn running_stopwatch_keeps_the_screen_changing() {
    let mut world = app(CLOCK, &["Stopwatch"]);
    assert!(!world.keeps_moving());
    tap(&mut world, "Start");
    assert!(world.keeps_moving());
    wait(&mut world, Duration::from_millis(61_230));
    assert_eq!(time(&mut world, "stopwatch_time_text"), "01:01");
    assert_eq!(time(&mut world, "stopwatch_hundredths_text"), "23");
    tap(&mut world, "Pause");
    assert!(!world.keeps_moving());
    wait(&mut world, Duration::from_secs(5));
    assert_eq!(time(&mut world, "stopwatch_time_text"), "01:01");
    tap(&mut world, "Start");
    wait(&mut world, Duration::from_secs(1));
    assert_eq!(time(&mut world, "stopwatch_time_text"), "01:02");
    world.key(KeyCode::HOME);
    assert!(!world.keeps_moving(), "it runs, but nobody sees it");
    wait(&mut world, Duration::from_secs(3600));
    world.start(CLOCK, None).unwrap();
    assert_eq!(time(&mut world, "stopwatch_time_text"), "1:01:02");
    tap(&mut world, "Reset");
    assert_eq!(time(&mut world, "stopwatch_time_text"), "00:00");
}

#[test]
fn lap_times_start_at_the_previous_lap() {
    let mut world = app(CLOCK, &["Stopwatch", "Start"]);
    wait(&mut world, Duration::from_secs(3));
    tap(&mut world, "Lap");
    wait(&mut world, Duration::from_secs(4));
    tap(&mut world, "Lap");
    assert_eq!(texts(&mut world, "id/lap_time"), ["00:04.00", "00:03.00"]);
}

#[test]
fn screen_is_idle_after_the_timer_ends() {
    let taps = ["Timer", "timer_setup_digit_1", "timer_setup_digit_3", "timer_setup_digit_0"];
    let mut world = app(CLOCK, &taps);
    assert_eq!(time(&mut world, "timer_setup_time"), "00h 01m 30s");
    tap(&mut world, "fab");
    wait(&mut world, Duration::from_secs(60));
    assert_eq!(time(&mut world, "timer_time_text"), "00:30");
    tap(&mut world, "+1:00");
    assert_eq!(time(&mut world, "timer_time_text"), "01:30");
    wait(&mut world, Duration::from_secs(89));
    assert!(world.keeps_moving() && !shows(&mut world, "Time's up"));
    wait(&mut world, Duration::from_secs(1));
    assert!(!world.keeps_moving() && shows(&mut world, "Time's up"));
    tap(&mut world, "Stop");
    assert!(node(&mut world, "timer_setup_time").is_some());
}

#[test]
fn alarm_can_be_added_toggled_changed_and_deleted() {
    let mut world = app(CLOCK, &["Add alarm", "Decrease hour", "Increase minute", "label_edit"]);
    type_text(&mut world, "Early train\n");
    tap(&mut world, "Save");
    assert_eq!(texts(&mut world, "id/digital_clock"), ["6:05", "8:30", "9:00"]);
    assert!(shows(&mut world, "Early train"));
    assert!(node(&mut world, "onoff").unwrap().flags.checked);
    tap(&mut world, "onoff_touch");
    assert!(!node(&mut world, "onoff").unwrap().flags.checked);
    let kept = world.preferences(CLOCK);
    assert!(
        kept.contains(&("alarm/2/label", "Early train")) && kept.contains(&("alarm/2/on", "no"))
    );
    tap_all(&mut world, &["alarm_item", "Delete alarm"]);
    assert_eq!(texts(&mut world, "id/digital_clock"), ["8:30", "9:00"]);
    tap(&mut world, "alarm_item");
    world.key(KeyCode::BACK);
    assert_eq!(texts(&mut world, "id/digital_clock").len(), 2, "back leaves it as it was");
}

#[test]
fn alarm_can_be_seeded() {
    let mut world = app(CLOCK, &[]);
    for (key, value) in [("alarm/0/hour", "23"), ("alarm/0/minute", "59"), ("alarm/0/on", "yes")] {
        assert!(world.set_preference(CLOCK, key, Some(value)));
    }
    assert_eq!(texts(&mut world, "id/digital_clock"), ["9:00", "23:59"]);
    assert!(!world.set_preference("no.such.app", "x", None));
}

//! Finding a day, adding events, editing and deleting them.

use super::*;
use crate::input::KeyCode;

#[test]
fn month_shows_its_days_and_the_selected_days_events() {
    let mut world = app(CALENDAR, &[]);
    assert!(shows(&mut world, "March 2024") && shows(&mut world, "Tuesday, 5 March"));
    assert_eq!(texts(&mut world, "id/day_cell").len(), 31);
    assert_eq!(texts(&mut world, "id/event_title").len(), 2);
    tap(&mut world, "16 March, 1 event");
    assert_eq!(texts(&mut world, "id/event_title"), ["Emma's birthday"]);
    assert_eq!(texts(&mut world, "id/event_time"), ["All day"]);
    world.key(KeyCode::BACK);
    assert!(shows(&mut world, "Tuesday, 5 March"), "back leads to today first");
}

#[test]
fn buttons_and_swipes_change_the_month() {
    let mut world = app(CALENDAR, &["Next month"]);
    assert!(shows(&mut world, "April 2024"));
    drag(&mut world, (380, 300), (100, 305));
    assert!(shows(&mut world, "May 2024"));
    for _ in 0..5 {
        drag(&mut world, (100, 300), (380, 305));
    }
    assert!(shows(&mut world, "December 2023"));
    tap(&mut world, "Jump to today");
    assert!(shows(&mut world, "March 2024"));
}

#[test]
fn event_can_be_added_changed_and_deleted() {
    let mut world = app(CALENDAR, &["20 March", "Create new event"]);
    type_text(&mut world, "Train to Lübeck\nPlatform 4\n");
    tap_all(&mut world, &["Later day", "Earlier time", "Save"]);
    assert!(shows(&mut world, "Thursday, 21 March"));
    assert!(shows(&mut world, "8:45, Platform 4"));
    let kept = world.preferences(CALENDAR);
    assert!(
        kept.contains(&("event/9/day", "2024-03-21")) && kept.contains(&("event/9/time", "8:45"))
    );
    tap_all(&mut world, &["Train to Lübeck", "Edit event", "All day", "Save"]);
    assert!(shows(&mut world, "All day, Platform 4"));
    tap_all(&mut world, &["Train to Lübeck", "Delete event", "Cancel"]);
    assert_eq!(node(&mut world, "title").unwrap().text, "Train to Lübeck");
    tap_all(&mut world, &["Delete event", "Delete"]);
    assert!(!shows(&mut world, "Train to Lübeck"));
}

#[test]
fn date_changes_at_midnight() {
    let mut world = app(CALENDAR, &[]);
    wait(&mut world, Duration::from_secs(14 * 3600));
    assert!(shows(&mut world, "Wednesday, 6 March"));
}

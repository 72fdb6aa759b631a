//! The caret: where touches and keys put it, and what is typed there.

use super::*;
use crate::input::KeyCode;

const NOTE: &str = "edit_note_text";
const SEARCH: &str = "search_omnibox_edit_text";

/// A note that is being written.
fn note(text: &str) -> World {
    let mut world = app(NOTES, &["New note"]);
    type_text(&mut world, text);
    world
}

/// Where the next character goes, found by typing one and deleting it.
fn place(world: &mut World) -> usize {
    type_text(world, "\u{2603}");
    let at = world.focused_text().unwrap().find('\u{2603}').unwrap();
    world.key(KeyCode::DEL);
    at
}

/// The places where touches along a line put the caret, each once, in order.
fn places_along(world: &mut World, id: &str, y: i32) -> Vec<usize> {
    let bounds = node(world, id).unwrap().bounds;
    let mut places = Vec::new();
    for x in (bounds.left..bounds.right).step_by(2) {
        tap_at(world, Point { x, y });
        // Taps in quick succession would be double taps.
        wait(world, Duration::from_millis(400));
        places.push(place(world));
    }
    assert!(places.is_sorted(), "{places:?}");
    places.dedup();
    places
}

#[test]
fn tap_puts_the_caret_between_the_nearest_characters() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    type_text(&mut world, "iWé l.");
    let y = node(&mut world, SEARCH).unwrap().bounds.center().y;
    assert_eq!(places_along(&mut world, SEARCH, y), [0, 1, 2, 4, 5, 6, 7]);
    // Beyond the end it is at the end, and what is typed goes there.
    let bounds = node(&mut world, SEARCH).unwrap().bounds;
    tap_at(&mut world, Point { x: bounds.right - 2, y });
    type_text(&mut world, "!");
    assert_eq!(world.focused_text().as_deref(), Some("iWé l.!"));
}

#[test]
fn tap_into_a_long_text_hits_the_part_that_is_seen() {
    let mut world = maps();
    tap(&mut world, "search_omnibox_text_box");
    let text = "0123456789".repeat(12);
    type_text(&mut world, &text);
    let bounds = node(&mut world, SEARCH).unwrap().bounds;
    tap_at(&mut world, Point { x: bounds.left + 4, y: bounds.center().y });
    let at = place(&mut world);
    assert!(at > 40 && at < text.len(), "the start is scrolled away: {at}");
}

#[test]
fn tap_in_a_note_hits_the_line_under_the_finger() {
    let mut world = note("one\n\nthree");
    let field = node(&mut world, NOTE).unwrap().bounds;
    let mut hit = Vec::new();
    for y in (field.top..field.bottom).step_by(4) {
        tap_at(&mut world, Point { x: field.left + 1, y });
        wait(&mut world, Duration::from_millis(400));
        hit.push(place(&mut world));
    }
    assert!(hit.is_sorted(), "{hit:?}");
    hit.dedup();
    assert_eq!(hit, [0, 4, 5], "the starts of the three lines");
    tap_at(&mut world, Point { x: field.right - 2, y: field.top + 6 });
    assert_eq!(place(&mut world), 3, "the end of the first line");
}

#[test]
fn home_and_end_go_to_the_ends_of_the_line() {
    let mut world = note("one\ntwo\nthree");
    world.key(KeyCode::MOVE_HOME);
    assert_eq!(place(&mut world), 8);
    world.key(KeyCode::DPAD_UP);
    world.key(KeyCode::MOVE_END);
    assert_eq!(place(&mut world), 7);
    world.key(KeyCode::DPAD_RIGHT);
    assert_eq!(place(&mut world), 8);
    world.key(KeyCode::DPAD_LEFT);
    world.key(KeyCode::DEL);
    assert_eq!(world.focused_text().as_deref(), Some("one\ntw\nthree"));
    world.key(KeyCode::DPAD_UP);
    world.key(KeyCode::DPAD_DOWN);
    world.key(KeyCode::DPAD_DOWN);
    type_text(&mut world, "X");
    assert_eq!(world.focused_text().as_deref(), Some("one\ntw\nthrXee"), "as far along");
}

#[test]
fn end_of_a_wrapped_line_is_before_its_last_space() {
    let words = "word ".repeat(30);
    let mut world = note(&words);
    world.key(KeyCode::DPAD_UP);
    world.key(KeyCode::MOVE_END);
    let at = place(&mut world);
    assert!(at < words.len() && words[at..].starts_with(' '), "{at}");
    world.key(KeyCode::MOVE_HOME);
    let start = place(&mut world);
    assert!(0 < start && start < at && words[..start].ends_with(' '), "{start}");
}

#[test]
fn tap_into_a_password_counts_its_dots() {
    let mut world = app(BANK, &[]);
    let field = world.scene().focused().unwrap().root.walk().find(|node| node.flags.password);
    let id = field.and_then(|node| node.id.clone()).expect("the bank asks for a password");
    tap(&mut world, &id);
    type_text(&mut world, "aéb");
    let y = node(&mut world, &id).unwrap().bounds.center().y;
    assert_eq!(places_along(&mut world, &id, y), [0, 1, 3, 4]);
}

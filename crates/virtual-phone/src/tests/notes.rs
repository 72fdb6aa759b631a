//! Writing notes, reading them again, and deleting them.

use super::*;
use crate::input::KeyCode;

fn notes(taps: &[&str]) -> World {
    let mut world = phone();
    world.start(NOTES, None).unwrap();
    tap_all(&mut world, taps);
    world
}

#[test]
fn multi_line_note_is_stored_and_shown_again() {
    let mut world = notes(&["New note"]);
    type_text(&mut world, "first line\nsecond\n\nlast é");
    tap(&mut world, "editable_title");
    type_text(&mut world, "Plans\n");
    assert_eq!(world.focused_text().as_deref(), Some("first line\nsecond\n\nlast é"));
    tap(&mut world, "Navigate up");
    assert!(shows(&mut world, "Plans") && shows(&mut world, "first line\nsecond\n\nlast é"));
    assert_eq!(texts(&mut world, "id/index_note_title")[0], "Plans", "the newest comes first");
    world.force_stop(NOTES);
    world.start(NOTES, None).unwrap();
    tap(&mut world, "Plans");
    assert_eq!(node(&mut world, "edit_note_text").unwrap().text, "first line\nsecond\n\nlast é");
    assert!(!world.keyboard_shown(), "a note is opened to be read");
}

#[test]
fn empty_note_is_not_saved() {
    let mut world = notes(&[]);
    let before = texts(&mut world, "id/browse_note").len();
    tap(&mut world, "New note");
    type_text(&mut world, "x");
    world.key(KeyCode::DEL);
    world.key(KeyCode::BACK);
    world.key(KeyCode::BACK);
    assert_eq!(texts(&mut world, "id/browse_note").len(), before);
}

#[test]
fn deleting_a_note_needs_confirmation() {
    let mut world = notes(&["Shopping", "Delete note", "Cancel"]);
    assert_eq!(node(&mut world, "editable_title").unwrap().text, "Shopping");
    tap_all(&mut world, &["Delete note", "Delete"]);
    assert!(node(&mut world, "notes_grid").is_some());
    assert!(!shows(&mut world, "Shopping"));
}

#[test]
fn long_note_scrolls_with_the_caret() {
    let mut world = notes(&["New note"]);
    for line in 0..60 {
        type_text(&mut world, &format!("line {line}\n"));
    }
    let field = node(&mut world, "edit_note_text").unwrap();
    let window = world.scene().focused().unwrap().bounds;
    assert!(field.full.height() > window.height(), "longer than the page");
    assert!(field.full.bottom <= window.bottom, "its end can be seen");
    assert!(node(&mut world, "editable_title").is_none(), "its beginning is scrolled away");
    for _ in 0..60 {
        world.key(KeyCode::DPAD_UP);
    }
    let field = node(&mut world, "edit_note_text").unwrap();
    assert!(field.full.top >= 0, "the caret is brought back into view: {:?}", field.full);
    world.key(KeyCode::BACK);
    let end = node(&mut world, "edit_note_text").unwrap().full.bottom;
    drag(&mut world, (240, 700), (240, 500));
    assert_eq!(node(&mut world, "edit_note_text").unwrap().full.bottom, end - 200);
}

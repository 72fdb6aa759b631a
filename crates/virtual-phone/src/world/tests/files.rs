//! Looking through shared storage that was handed in, and wishing to change it.

use super::*;
use crate::world::{Key, Stored, Wish};

fn stored(path: &str, size: u64) -> Stored {
    let folder = size == 0;
    Stored { path: path.to_owned(), folder, size, modified: 1_709_632_800 }
}

fn files(taps: &[&str]) -> World {
    let mut world = app(FILES, &[]);
    world.set_storage(vec![
        stored("Download", 0),
        stored("Download/Bills", 0),
        stored("Download/Bills/March 2024.pdf", 48_213),
        stored("Download/photo.JPG", 2_400_000),
        stored("notes.txt", 12),
    ]);
    tap_all(&mut world, taps);
    world
}

#[test]
fn folders_are_entered_and_left_by_back() {
    let mut world = files(&[]);
    assert!(world.lists_storage());
    assert_eq!(texts(&mut world, "android:id/title"), ["Download", "notes.txt"]);
    tap_all(&mut world, &["Download", "Bills", "March 2024.pdf"]);
    assert!(
        shows(&mut world, "48.21 kB") && shows(&mut world, "/sdcard/Download/Bills/March 2024.pdf")
    );
    for titles in [&["March 2024.pdf"][..], &["Bills", "photo.JPG"], &["Download", "notes.txt"]] {
        world.key(Key::BACK);
        assert_eq!(texts(&mut world, "android:id/title"), titles);
    }
    world.key(Key::BACK);
    assert!(!world.lists_storage());
}

#[test]
fn a_new_folder_and_a_deletion_are_wished_for_and_shown_once_they_came_true() {
    let mut world = files(&["Download", "New folder"]);
    type_text(&mut world, "a/b: Trip");
    tap(&mut world, "OK");
    assert_eq!(world.take_wishes(), [Wish::MakeFolder("Download/ab: Trip".to_owned())]);
    assert!(!shows(&mut world, "ab: Trip"), "nobody has made it yet");
    tap_all(&mut world, &["photo.JPG", "Delete", "OK"]);
    assert_eq!(world.take_wishes(), [Wish::Delete("Download/photo.JPG".to_owned())]);
    world.set_storage(vec![stored("Download", 0), stored("Download/ab: Trip", 0)]);
    assert_eq!(texts(&mut world, "android:id/title"), ["ab: Trip"]);
}

#[test]
fn a_folder_is_held_to_delete_it() {
    let mut world = files(&[]);
    let at = node(&mut world, "item_root").unwrap().bounds.center();
    world.pointer(Phase::Down, at);
    wait(&mut world, Duration::from_millis(600));
    world.pointer(Phase::Up, at);
    assert!(shows(&mut world, "Delete \u{201c}Download\u{201d}?"));
    tap(&mut world, "Cancel");
    assert!(world.take_wishes().is_empty());
}

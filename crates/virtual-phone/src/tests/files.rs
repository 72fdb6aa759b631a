//! Browsing the shared storage that was set, and requesting changes.

use super::*;
use crate::input::KeyCode;
use crate::storage::{StorageEntry, StorageRequest};

fn stored(path: &str, size: u64) -> StorageEntry {
    let folder = size == 0;
    StorageEntry { path: path.to_owned(), folder, size, modified: 1_709_632_800 }
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
fn folders_are_opened_and_left_with_back() {
    let mut world = files(&[]);
    assert!(world.lists_storage());
    assert_eq!(texts(&mut world, "android:id/title"), ["Download", "notes.txt"]);
    tap_all(&mut world, &["Download", "Bills", "March 2024.pdf"]);
    assert!(
        shows(&mut world, "48.21 kB") && shows(&mut world, "/sdcard/Download/Bills/March 2024.pdf")
    );
    for titles in [&["March 2024.pdf"][..], &["Bills", "photo.JPG"], &["Download", "notes.txt"]] {
        world.key(KeyCode::BACK);
        assert_eq!(texts(&mut world, "android:id/title"), titles);
    }
    world.key(KeyCode::BACK);
    assert!(!world.lists_storage());
}

#[test]
fn file_changes_show_once_they_are_done() {
    let mut world = files(&["Download", "New folder"]);
    type_text(&mut world, "a/b: Trip");
    tap(&mut world, "OK");
    assert_eq!(world.take_requests(), [StorageRequest::MakeFolder("Download/ab: Trip".to_owned())]);
    assert!(!shows(&mut world, "ab: Trip"), "nobody has made it yet");
    tap_all(&mut world, &["photo.JPG", "Delete", "OK"]);
    assert_eq!(world.take_requests(), [StorageRequest::Delete("Download/photo.JPG".to_owned())]);
    world.set_storage(vec![stored("Download", 0), stored("Download/ab: Trip", 0)]);
    assert_eq!(texts(&mut world, "android:id/title"), ["ab: Trip"]);
}

#[test]
fn long_press_deletes_a_folder() {
    let mut world = files(&[]);
    let at = node(&mut world, "item_root").unwrap().bounds.center();
    world.pointer(TouchPhase::Down, at);
    wait(&mut world, Duration::from_millis(600));
    world.pointer(TouchPhase::Up, at);
    assert!(shows(&mut world, "Delete \u{201c}Download\u{201d}?"));
    tap(&mut world, "Cancel");
    assert!(world.take_requests().is_empty());
}

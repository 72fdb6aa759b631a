//! Turning the screen of phones that do not let everybody, by what such phones print.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Scripted, capture};
use thumbwire_device::{Acted, Device as _, Error, Orientation, Remedy};

const UPRIGHT: &str =
    "  Display: mDisplayId=0\n    init=1080x2400 440dpi cur=1080x2400 app=1080x2270\n";

/// Turns a phone that says this to landscape; gives what came of it, and the commands that it was asked.
async fn turn(says: &[(&'static str, &str)]) -> (Result<(), Error>, Vec<String>) {
    let usual = [
        ("dumpsys window displays", UPRIGHT),
        ("settings get", "1\n0\n"),
        ("[ -s", "thumbwire-orientation 1 test 1 0 end\n"),
    ];
    let says = says.iter().chain(&usual);
    let says = says.map(|(asked, said)| (*asked, said.as_bytes().to_vec())).collect();
    let (phone, device) = Scripted::attach(says).await;
    let turned = device.set_orientation(Orientation::Landscape, "test").await;
    (turned, phone.asked())
}

/// What a Xiaomi phone prints.
fn security_exception() -> Option<String> {
    let said = capture("shell/errors/settings-put_SecurityException.txt")?;
    Some(String::from_utf8(said).unwrap())
}

#[tokio::test]
async fn the_journal_is_written_before_the_screen_is_turned() {
    let (turned, asked) = turn(&[]).await;
    turned.unwrap();
    let place = |begins: &str| asked.iter().position(|command| command.starts_with(begins));
    let (kept, put) = (place("[ -s").unwrap(), place("settings put").unwrap());
    assert!(kept < put, "{asked:?}");
}

#[tokio::test]
async fn settings_that_are_locked_away_are_named_with_the_switch_that_opens_them() {
    let Some(exception) = security_exception() else { return };
    let refused = "\nException occurred while executing 'user-rotation':\njava.lang.SecurityException: Requires SET_ORIENTATION permission\n";
    let (turned, asked) = turn(&[("settings put", &exception), ("wm ", refused)]).await;
    let error = turned.unwrap_err();
    let words = error.to_string();
    assert!(words.contains("WRITE_SECURE_SETTINGS"), "{words}");
    assert!(words.contains("switch on \"USB debugging (Security settings)\""), "{words}");
    assert_eq!((error.acted(), error.remedy()), (Acted::No, Remedy::AimElsewhere));
    let last = asked.last().unwrap();
    assert!(last.starts_with("rm -f "), "nothing was turned, nothing is to be restored: {asked:?}");
}

#[tokio::test]
async fn the_window_manager_turns_where_settings_are_locked_away() {
    let Some(exception) = security_exception() else { return };
    let (turned, asked) = turn(&[("settings put", &exception)]).await;
    turned.unwrap();
    assert_eq!(asked.last().unwrap(), "wm user-rotation lock 1 || wm set-user-rotation lock 1");
}

#[tokio::test]
async fn a_phone_without_settings_cannot_and_is_asked_no_more() {
    let missing = "/system/bin/sh: settings: not found\r\n";
    let (turned, asked) = turn(&[("settings get", missing)]).await;
    assert!(matches!(turned, Err(Error::Unsupported { .. })), "{turned:?}");
    assert!(!asked.iter().any(|command| command.contains("put")), "{asked:?}");
}

#[tokio::test]
async fn a_screen_whose_journal_cannot_be_kept_is_not_turned() {
    let full = "/system/bin/sh: can't create /data/local/tmp/thumbwire-orientation: No space left on device\r\n";
    let (turned, asked) = turn(&[("[ -s", full)]).await;
    let words = turned.unwrap_err().to_string();
    assert!(words.contains("No space left on device"), "{words}");
    assert!(!asked.iter().any(|command| command.contains("put")), "{asked:?}");
}

#[tokio::test]
async fn a_screen_that_was_turned_before_is_not_asked_for_its_settings_again() {
    let kept = "thumbwire-orientation 1 other 0 2 end\r\n";
    let (turned, asked) = turn(&[("cat ", kept)]).await;
    turned.unwrap();
    assert!(!asked.iter().any(|command| command.contains("get")), "{asked:?}");
}

//! Rotating the screen of phones that restrict it, with the output of such phones.

use crate::common::Scripted;
use thumbwire_device::{DisplayControl as _, Error, Orientation, SideEffect};
use thumbwire_test_support::capture;

const UPRIGHT: &str =
    "  Display: mDisplayId=0\n    init=1080x2400 440dpi cur=1080x2400 app=1080x2270\n";

/// Rotates a phone with these answers to landscape; returns the result and the commands it
/// received.
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

/// Printed by a Xiaomi phone.
fn security_exception() -> Option<String> {
    let output = capture("shell/errors/settings-put_SecurityException.txt")?;
    Some(String::from_utf8(output).unwrap())
}

#[tokio::test]
async fn journal_is_written_before_the_screen_rotates() {
    let (turned, asked) = turn(&[]).await;
    turned.unwrap();
    let place = |begins: &str| asked.iter().position(|command| command.starts_with(begins));
    let (kept, put) = (place("[ -s").unwrap(), place("settings put").unwrap());
    assert!(kept < put, "{asked:?}");
}

#[tokio::test]
async fn locked_settings_name_the_developer_option() {
    let Some(exception) = security_exception() else { return };
    let refused = "\nException occurred while executing 'user-rotation':\njava.lang.SecurityException: Requires SET_ORIENTATION permission\n";
    let (turned, asked) = turn(&[("settings put", &exception), ("wm ", refused)]).await;
    let error = turned.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("WRITE_SECURE_SETTINGS"), "{text}");
    assert!(text.contains("turn on \"USB debugging (Security settings)\""), "{text}");
    assert_eq!(error.acted(), SideEffect::None);
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    let last = asked.last().unwrap();
    assert!(last.starts_with("rm -f "), "nothing rotated, so nothing to restore: {asked:?}");
}

#[tokio::test]
async fn window_manager_rotates_if_settings_are_locked() {
    let Some(exception) = security_exception() else { return };
    let (turned, asked) = turn(&[("settings put", &exception)]).await;
    turned.unwrap();
    assert_eq!(asked.last().unwrap(), "wm user-rotation lock 1 || wm set-user-rotation lock 1");
}

#[tokio::test]
async fn phone_without_settings_is_unsupported() {
    let missing = "/system/bin/sh: settings: not found\r\n";
    let (turned, asked) = turn(&[("settings get", missing)]).await;
    assert!(matches!(turned, Err(Error::Unsupported { .. })), "{turned:?}");
    assert!(!asked.iter().any(|command| command.contains("put")), "{asked:?}");
}

#[tokio::test]
async fn screen_does_not_rotate_without_a_journal() {
    let full = "/system/bin/sh: can't create /data/local/tmp/thumbwire-orientation: No space left on device\r\n";
    let (turned, asked) = turn(&[("[ -s", full)]).await;
    let text = turned.unwrap_err().to_string();
    assert!(text.contains("No space left on device"), "{text}");
    assert!(!asked.iter().any(|command| command.contains("put")), "{asked:?}");
}

#[tokio::test]
async fn existing_journal_skips_reading_the_settings() {
    let kept = "thumbwire-orientation 1 other 0 2 end\r\n";
    let (turned, asked) = turn(&[("cat ", kept)]).await;
    turned.unwrap();
    assert!(!asked.iter().any(|command| command.contains("get")), "{asked:?}");
}

//! `screencap`: secure windows, and the headers of old and new phones.

use crate::common::Wired;
use thumbwire_adb::{exec, services::shell::read_to_end};
use thumbwire_virtual_android::Setup;

const NOTES: &str = "com.google.android.keep";

async fn raw(wired: &Wired) -> Vec<u8> {
    let stream = exec(&wired.adb, "screencap").await.expect("opened");
    read_to_end(stream, 64 << 20).await.expect("read")
}

/// The fraction of black pixels in these rows of a raw screenshot.
fn black(raw: &[u8], header: usize, rows: std::ops::Range<usize>) -> f64 {
    let row = 1080 * 4;
    let part = &raw[header + rows.start * row..header + rows.end * row];
    let black = part.chunks_exact(4).filter(|pixel| *pixel == [0, 0, 0, 255]).count();
    black as f64 / (part.len() / 4) as f64
}

#[tokio::test]
async fn secure_window_is_black_but_dumpable() {
    let wired = Wired::new();
    let launcher = wired.phone.world(|world| world.foreground().package);
    let seen = wired.phone.world(thumbwire_virtual_phone::World::frame);
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(black(&raw(&wired).await, 16, 200..2300) < 0.1);
    wired.phone.world(|world| world.set_secure(&launcher, true));
    let secure = raw(&wired).await;
    assert!(black(&secure, 16, 200..2300) > 0.99, "the window is black");
    assert!(black(&secure, 16, 0..80) < 0.999, "the status bar is not");
    assert_eq!(wired.stdout("uiautomator dump /dev/tty").await, dump);
    assert!(
        wired.phone.world(thumbwire_virtual_phone::World::frame) == seen,
        "a person sees what they saw"
    );
    // Another app is not black.
    wired.phone.world(|world| world.set_secure(&launcher, false));
    wired.phone.world(|world| world.set_secure(NOTES, true));
    assert!(black(&raw(&wired).await, 16, 200..2300) < 0.1);
}

#[tokio::test]
async fn window_report_shows_secure_windows() {
    for (android, plain, secure) in [
        (
            14,
            "fl=LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR",
            "fl=LAYOUT_IN_SCREEN SECURE LAYOUT_INSET_DECOR",
        ),
        (4, "fl=#1810100", "fl=#1812100"),
    ] {
        let wired = Wired::made(Setup { android, ..Setup::default() });
        let windows = async || {
            let output = wired.run("dumpsys window windows").await;
            String::from_utf8(output.stdout).expect("text")
        };
        let stdout = windows().await;
        assert!(stdout.contains(plain), "{android}: {stdout}");
        let launcher = wired.phone.world(|world| world.foreground().package);
        wired.phone.world(|world| world.set_secure(&launcher, true));
        let stdout = windows().await;
        assert!(
            stdout.contains(secure) && stdout.matches(secure).count() == 1,
            "{android}: {stdout}"
        );
    }
}

#[tokio::test]
async fn before_android_9_the_raw_header_has_three_words() {
    let wired = Wired::made(Setup { android: 4, ..Setup::default() });
    // Into a file, because such a phone's output goes through a terminal.
    wired.run("screencap /sdcard/x.raw").await;
    let file = |path: &'static str| wired.phone.files(|files| files.read(path)).expect("there");
    let raw = file("/sdcard/x.raw");
    assert_eq!(raw.as_ref().len(), 12 + 1080 * 2400 * 4);
    assert_eq!(raw.as_ref()[..12], [0x38, 4, 0, 0, 0x60, 9, 0, 0, 1, 0, 0, 0]);
    // A file gets the same bytes, unless its name ends in PNG.
    wired.run("screencap /sdcard/x.png").await;
    assert!(file("/sdcard/x.png").as_ref().starts_with(b"\x89PNG"));
}

//! Recorded output for apps, focus, screen and battery, through the whole driver: golden files hold
//! the results; unreadable output is an error with the phone's message.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use thumbwire_adb::daemon::{self, Handler, ServiceRefused, Services, handler};
use thumbwire_adb::{Banner, DirectTransport, Features};
use thumbwire_device::android::Android;
use thumbwire_device::{AppId, AppList, Device as _, Foreground, Gesture, Point};
use thumbwire_test_support::{CaptureSet, capture_sets, captured_files};
use tokio::io::AsyncWriteExt as _;

/// The command for a tree.
const DUMP: &str =
    "uiautomator dump /dev/tty; echo; echo == windows; dumpsys power; dumpsys window -a";

/// A phone that answers some commands with recorded output, and all others like mksh.
struct Recorded(BTreeMap<&'static str, Vec<u8>>);

impl Services for Recorded {
    fn banner(&self) -> Banner {
        Banner::phone("recorded", "Recorded", "recorded", Features::default())
    }

    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let command =
            service.trim_end_matches('\0').strip_prefix("shell:").ok_or(ServiceRefused)?;
        let name = command.split(' ').next().unwrap_or_default();
        let missing = format!("/system/bin/sh: {name}: not found\r\n");
        let output = self.0.get(command).cloned().unwrap_or_else(|| missing.into_bytes());
        Ok(handler(async move |mut stream| {
            let _ = stream.write_all(&output).await;
        }))
    }
}

async fn phone(output: impl IntoIterator<Item = (&'static str, Vec<u8>)>) -> Android {
    let (near, far) = tokio::io::duplex(1 << 20);
    tokio::spawn(daemon::serve(far, Arc::new(Recorded(output.into_iter().collect()))));
    Android::attach("recorded", Arc::new(DirectTransport::from_io(near))).await.unwrap()
}

/// The captures of these folders whose names contain that text, by folder and name.
fn files(set: CaptureSet, of: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (folder, part) in of {
        files.extend(set.files(folder).into_iter().filter(|file| file.name().contains(part)));
    }
    files.iter().map(|file| (file.name(), file.bytes())).collect()
}

/// Compares the result for a set of captures with its golden file.
macro_rules! assert_golden {
    ($set:expr, $out:expr) => {
        insta::with_settings!({ snapshot_suffix => $set.name() }, {
            insta::assert_snapshot!($out);
        })
    };
}

#[tokio::test]
async fn the_focus_is_read_out_of_every_recorded_window_dump() {
    for set in capture_sets() {
        let mut out = String::new();
        let of = [("android-4.4.4", "-dumpsys-window-windows"), ("shell/window", "")];
        for (name, output) in files(set, &of) {
            let device = phone([("dumpsys power; dumpsys window -a", output)]).await;
            let focus = match device.foreground().await {
                Ok(Foreground::App(focus)) => format!("{} | {}", focus.app.0, focus.screen),
                Ok(front) => front.to_string(),
                Err(error) => format!("error: {}", first_line(&error.to_string())),
            };
            writeln!(out, "{name}: {focus}").unwrap();
        }
        assert_golden!(set, out);
    }
}

#[tokio::test]
async fn the_screen_is_read_out_of_every_recorded_display_dump() {
    for set in capture_sets() {
        let mut out = String::new();
        let of = [
            ("android-4.4.4", "-dumpsys-window-displays"),
            ("shell/window", "displays"),
            ("shell/activity", "xiaomi"),
        ];
        for (name, output) in files(set, &of) {
            let device = phone([("dumpsys window displays", output)]).await;
            let size = match device.screen_size().await {
                Ok(size) => format!("{}x{}", size.width, size.height),
                Err(error) => format!("error: {}", first_line(&error.to_string())),
            };
            writeln!(out, "{name}: {size}").unwrap();
        }
        assert_golden!(set, out);
    }
}

#[tokio::test]
async fn info_is_read_out_of_every_recorded_list_of_properties_and_battery() {
    for set in capture_sets() {
        let mut out = String::new();
        let displays = b"  Display: mDisplayId=0\n    init=1x2 3dpi cur=1x2\n".to_vec();
        let of = [("android-4.4.4", "011-getprop"), ("shell/getprop", "")];
        for (name, output) in files(set, &of) {
            let answers = [("getprop", output), ("dumpsys window displays", displays.clone())];
            let device = phone(answers).await;
            let info = device.info().await.unwrap();
            writeln!(
                out,
                "{name}: {:?} {:?}, Android {:?}, API {:?}",
                info.manufacturer, info.model, info.os_version, info.api_level
            )
            .unwrap();
            assert_eq!(info.battery, None, "no battery output here");
        }
        let of = [("android-4.4.4", "035-dumpsys-battery"), ("shell/battery", "")];
        for (name, output) in files(set, &of) {
            let answers =
                [("dumpsys battery", output), ("dumpsys window displays", displays.clone())];
            writeln!(out, "{name}: {:?}", phone(answers).await.info().await.unwrap().battery)
                .unwrap();
        }
        assert_golden!(set, out);
    }
}

#[tokio::test]
async fn apps_are_read_out_of_every_recorded_list() {
    for set in capture_sets() {
        let mut out = String::new();
        let of = [
            ("android-4.4.4", "092-pm"),
            ("android-4.4.4", "095-pm"),
            ("shell/pmlist", "pm-list-s"),
            ("shell/errors", "pm-list"),
        ];
        for (name, output) in files(set, &of) {
            let text = String::from_utf8_lossy(&output).into_owned();
            let answers = [("pm list packages", output), ("pm list packages -3", Vec::new())];
            match phone(answers).await.apps().await {
                Ok(AppList { apps, .. }) => {
                    assert_eq!(apps.len(), text.matches("package:").count(), "{name}");
                    assert!(
                        apps.iter()
                            .all(|app| app.system && !app.id.0.contains(char::is_whitespace))
                    );
                    writeln!(out, "{name}: {} apps, the first {}", apps.len(), apps[0].id.0)
                        .unwrap();
                }
                Err(error) => {
                    writeln!(out, "{name}: error: {}", first_line(&error.to_string())).unwrap();
                }
            }
        }
        assert_golden!(set, out);
    }
}

/// Recorded output of programs that failed, without a status.
#[tokio::test]
async fn every_recorded_failure_reports_the_phones_message() {
    let files = |folder: &str, part: &str| {
        let files = captured_files(folder).into_iter().filter(|file| file.name().contains(part));
        files.map(|file| (file.name(), file.bytes())).collect::<Vec<_>>()
    };
    let tap = Gesture::Tap { at: Point { x: 1, y: 2 } };
    for (name, output) in files("shell/errors", "input-tap") {
        let device = phone([("input tap 1 2", output)]).await;
        let error = device.touch(tap).await.unwrap_err().to_string();
        assert!(error.contains("SecurityException"), "{name}: {error}");
    }
    for (name, output) in files("shell/errors", "uiautomator_") {
        let text = String::from_utf8_lossy(&output).trim().to_owned();
        let error = phone([(DUMP, output)])
            .await
            .tree(thumbwire_device::TreeDetail::Full)
            .await
            .unwrap_err();
        assert!(error.to_string().contains(&text), "{name}: {error}");
    }
    let launch = "monkey --pct-syskeys 0 -p 'com.x' -c android.intent.category.LAUNCHER 1";
    for (name, output) in
        ["149-monkey", "151-monkey"].map(|part| files("android-4.4.4", part)).concat()
    {
        let text = String::from_utf8_lossy(&output).lines().next().unwrap().to_owned();
        let error =
            phone([(launch, output)]).await.launch(&AppId("com.x".into()), &[]).await.unwrap_err();
        assert!(error.to_string().contains(&text), "{name}: {error}");
    }
    let wrong = ["071-input", "076-input", "079-input", "086-input"];
    for (name, output) in wrong.map(|part| files("android-4.4.4", part)).concat() {
        let device = phone([("input tap 1 2", output)]).await;
        let error = device.touch(tap).await.unwrap_err().to_string();
        assert!(error.contains("Error: "), "{name}: {error}");
    }
    // A phone without any programs.
    let empty = phone([]).await;
    for error in [
        empty.touch(tap).await.unwrap_err(),
        empty.tree(thumbwire_device::TreeDetail::Full).await.unwrap_err(),
        empty.screenshot().await.unwrap_err(),
        empty.foreground().await.unwrap_err(),
        empty.screen_size().await.unwrap_err(),
        empty.launch(&AppId("com.x".into()), &[]).await.unwrap_err(),
        empty.info().await.unwrap_err(),
        empty.apps().await.unwrap_err(),
    ] {
        assert!(error.to_string().contains("not found"), "{error}");
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

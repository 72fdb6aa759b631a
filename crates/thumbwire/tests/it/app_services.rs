//! What a device tells of apps and their services, and how it reads their packages, against the releases of the virtual phone.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::Direct;
use thumbwire_device::android::Android;
use thumbwire_device::{AppId, Component, Delivery, Device as _, Error, Letter, Undelivered};
use thumbwire_virtual_phone::{Odd, Setup, VirtualPhone};

const ACTION: &str = "mobile.mcp.SERVICE";
const CLOCK_IN: &str = "org.example.clockin";
const RELEASES: [&str; 4] = ["4.4", "9", "14", "16"];

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
    fs::read(folder.join(name)).unwrap()
}

fn phone(release: &str) -> VirtualPhone {
    // Shown where a test fails.
    println!("Android {release}");
    VirtualPhone::new(Setup::of_release(release).unwrap())
}

async fn attach(phone: &VirtualPhone) -> Android {
    Android::attach("v", Arc::new(Direct::over(phone.in_memory()))).await.unwrap()
}

fn tool() -> Component {
    let class = format!("{CLOCK_IN}.ToolService");
    Component { app: AppId(CLOCK_IN.into()), class }
}

#[tokio::test]
async fn a_service_is_found_by_its_action_and_its_package_is_read_in_parts() {
    // The app is made for Android 8 and later.
    for release in &RELEASES[1..] {
        let phone = phone(release);
        let apk = fixture("clock-in.apk");
        phone.install(&[&apk]).unwrap();
        let device = attach(&phone).await;
        let found = device.services(ACTION).await.unwrap();
        assert!(found.contains(&tool()), "{found:?}");
        assert_eq!(device.services("no.such.ACTION").await.unwrap(), []);

        let package = device.package(&tool().app).await.unwrap();
        assert_eq!((package.version_code, package.files.len()), (7, 1), "{package:?}");
        assert!(!package.updated.is_empty());
        let (path, length) = (&package.files[0], apk.len() as u64);
        assert_eq!(device.file_length(path).await.unwrap(), length);
        for (from, most) in [(0, length), (1, 5), (length - 70, 400), (4090, 9000), (length, 9)] {
            let part = device.read_file(path, from, most).await.unwrap();
            let end = (from + most).min(length) as usize;
            assert!(part == apk[from as usize..end], "{from} {most}");
        }
    }
}

/// 4.4 has no `exec:`: what comes through its terminal is taken back.
#[tokio::test]
async fn parts_of_a_file_are_the_same_bytes_on_every_release() {
    let bytes: Vec<u8> =
        (0..20_000_u32).map(|n| [b'\r', b'\n', n as u8][(n % 3) as usize]).collect();
    for release in RELEASES {
        let phone = phone(release);
        phone.files(|files| files.write("/sdcard/it's $x", &bytes, 0o644)).unwrap();
        let device = attach(&phone).await;
        for (from, length) in [(0, 20_000), (0, 1), (4095, 4098), (19_999, 5), (30_000, 1), (7, 0)]
        {
            let part = device.read_file("/sdcard/it's $x", from, length).await.unwrap();
            let at = |place: u64| (place as usize).min(bytes.len());
            assert!(part == bytes[at(from)..at(from + length)], "{from} {length}");
        }
        let error = device.read_file("/sdcard/none", 0, 5).await.unwrap_err();
        assert!(matches!(error, Error::Failed { .. }), "{error}");
        let error = device.file_length("/sdcard/none").await.unwrap_err();
        assert!(matches!(error, Error::Failed { .. }), "{error}");
        assert!(device.read_file("/sdcard/it's $x", 0, 1 << 40).await.is_err());
    }
}

#[tokio::test]
async fn a_phone_without_dd_gives_parts_all_the_same() {
    for release in RELEASES {
        let phone = phone(release);
        phone.files(|files| files.write("/sdcard/f", b"0123456789", 0o644)).unwrap();
        let err = "/system/bin/sh: dd: not found\n".into();
        phone.set_odd("dd", Some(Odd { err, status: 127, ..Odd::default() }));
        let device = attach(&phone).await;
        assert_eq!(&device.read_file("/sdcard/f", 3, 4).await.unwrap()[..], b"3456");
        assert_eq!(&device.read_file("/sdcard/f", 8, 4).await.unwrap()[..], b"89");
    }
}

#[tokio::test]
async fn an_app_is_looked_into_or_not_there() {
    for release in RELEASES {
        let device = attach(&phone(release)).await;
        let package = device.package(&AppId("com.android.settings".into())).await.unwrap();
        assert!(package.version_code > 0 && package.files[0].ends_with(".apk"), "{package:?}");
        for missing in ["com.nope", "r", "com.android.settings; reboot"] {
            let error = device.package(&AppId(missing.into())).await.unwrap_err();
            assert!(matches!(error, Error::NoSuchApp { .. }), "{error}");
        }
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_is_not_started() {
    for release in RELEASES {
        let device = attach(&phone(release)).await;
        let to = Component { app: AppId("com.nope".into()), class: "com.nope.S".into() };
        let extras = vec![("mobile-mcp-request".to_owned(), "{\"a\":\"it's\"}".to_owned())];
        let mut letter = Letter { to, extras, callbacks: vec![], wanted: vec![] };
        let error = device.start_service(&letter).await.unwrap_err();
        assert!(error.to_string().contains("no service com.nope/com.nope.S"), "{error}");
        letter.extras[0].1 = "x".repeat(200_000);
        let error = device.start_service(&letter).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        letter.extras[0].1 = "😀".into();
        let error = device.start_service(&letter).await.unwrap_err().to_string();
        assert_eq!(error.contains("emoji"), release == "4.4", "{error}");
    }
}

#[tokio::test]
async fn phones_before_android_16_have_no_app_functions() {
    for release in &RELEASES[..3] {
        let device = attach(&phone(release)).await;
        let error = device.app_functions(None).await.unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
}

const NOTES: &str = "com.android.notes";

/// A request in the dialect of the published sample.
fn find_notes() -> Letter {
    let request = r#"{"id":"9","capability":{"id":"find_notes","input":{"words":"tomatoes"}}}"#;
    Letter {
        to: Component { app: AppId(NOTES.into()), class: format!("{NOTES}.ToolService") },
        extras: vec![("request".into(), request.into())],
        callbacks: vec!["mcp_callback".into(), "callback".into()],
        wanted: vec!["response".into()],
    }
}

#[tokio::test]
async fn a_letter_to_an_app_of_the_phone_is_answered_on_every_release() {
    for release in RELEASES {
        let phone = phone(release);
        let device = attach(&phone).await;
        let letter = find_notes();
        let found = device.services(ACTION).await.unwrap();
        assert!(found.contains(&letter.to), "{found:?}");
        let package = device.package(&letter.to.app).await.unwrap();
        let beginning = device.read_file(&package.files[0], 0, 4).await.unwrap();
        assert_eq!(&beginning[..], b"PK\x03\x04", "{package:?}");

        let limit = Duration::from_secs(10);
        for _ in 0..2 {
            let came = device.courier(&letter, limit).await.unwrap();
            let Delivery::Answered(answer) = came else { panic!("{came:?}") };
            let [(key, value)] = &answer.extras[..] else { panic!("{answer:?}") };
            assert!(key == "response" && value.contains("\"count\":1"), "{answer:?}");
            // Since Android 7 the callback comes by the system, which does not tell whose it is.
            assert_eq!(answer.uid.is_some(), release == "4.4", "{answer:?}");
        }
        let main = "org.thumbwire.helper.Main".to_owned();
        let starts = phone.commands().into_iter().filter(|it| it.argv.contains(&main));
        assert_eq!(starts.count(), 1, "one helper for both");
        let mut nobody = letter.clone();
        nobody.to.class = "no.such.Class".into();
        let came = device.courier(&nobody, limit).await.unwrap();
        assert_eq!(came, Delivery::Not(Undelivered::NotFound));
        device.settle().await;
    }
}

#[tokio::test]
async fn without_the_helper_a_letter_is_sent_alone() {
    for release in RELEASES {
        let mut setup = Setup::of_release(release).unwrap();
        setup.helper = false;
        let phone = VirtualPhone::new(setup);
        let device = attach(&phone).await;
        let letter = find_notes();
        let error = device.courier(&letter, Duration::from_secs(10)).await.unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        let sent = || -> Vec<String> {
            let commands = phone.commands().into_iter().filter(|command| command.argv[0] == "am");
            commands.map(|command| command.argv[1].clone()).collect()
        };
        assert!(sent().is_empty());
        // Its app is in the background: the first attempt is refused since Android 8, and then the app is spared.
        device.start_service(&letter).await.unwrap();
        match release {
            "4.4" => assert_eq!(sent(), ["startservice"]),
            _ => assert_eq!(sent(), ["startservice", "startservice"]),
        }
    }
}

#[tokio::test]
async fn a_service_that_wants_a_permission_is_not_started() {
    for release in &RELEASES[1..] {
        let phone = phone(release);
        phone.install(&[&fixture("clock-in.apk")]).unwrap();
        let device = attach(&phone).await;
        let letter = Letter { to: tool(), extras: vec![], callbacks: vec![], wanted: vec![] };
        let error = device.start_service(&letter).await.unwrap_err();
        let told = error.to_string().contains("org.example.clockin.USE");
        assert!(told && matches!(error, Error::Refused { .. }), "{error}");
    }
}

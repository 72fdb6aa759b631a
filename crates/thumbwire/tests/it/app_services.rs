//! App services and package reading by the device driver, on every release of the virtual phone.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::DirectTransport;
use thumbwire_device::android::{Android, HelperMode};
use thumbwire_device::{
    AppId, AppIntegration as _, AppManagement as _, Component, Device as _, DeviceFiles as _,
    Error, ServiceReply, ServiceRequest, StartServiceError,
};
use thumbwire_virtual_android::{ProgramStub, Setup, VirtualPhone};

const ACTION: &str = "mobile.mcp.SERVICE";
const CLOCK_IN: &str = "org.example.clockin";
const RELEASES: [&str; 4] = ["4.4", "9", "14", "16"];

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
    fs::read(folder.join(name)).unwrap()
}

fn phone(release: &str) -> VirtualPhone {
    // Shown when a test fails.
    println!("Android {release}");
    VirtualPhone::new(Setup::of_release(release).unwrap())
}

async fn attach(phone: &VirtualPhone) -> Android {
    Android::attach("v", Arc::new(DirectTransport::from_io(phone.in_memory()))).await.unwrap()
}

fn tool() -> Component {
    let class = format!("{CLOCK_IN}.ToolService");
    Component { app: AppId(CLOCK_IN.into()), class }
}

#[tokio::test]
async fn service_is_found_by_action_and_its_package_is_read_partially() {
    // The app requires Android 8.
    for release in &RELEASES[1..] {
        let phone = phone(release);
        let apk = fixture("clock-in.apk");
        phone.install(&[&apk]).unwrap();
        let device = attach(&phone).await;
        let found = device.find_services(ACTION).await.unwrap();
        assert!(found.contains(&tool()), "{found:?}");
        assert_eq!(device.find_services("no.such.ACTION").await.unwrap(), []);

        let package = device.package_info(&tool().app).await.unwrap();
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

/// Android 4.4 has no `exec:`: its terminal's changes are undone.
#[tokio::test]
async fn file_ranges_are_identical_on_every_release() {
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
async fn file_ranges_work_without_dd() {
    for release in RELEASES {
        let phone = phone(release);
        phone.files(|files| files.write("/sdcard/f", b"0123456789", 0o644)).unwrap();
        let err = "/system/bin/sh: dd: not found\n".into();
        phone.stub_program("dd", Some(ProgramStub { err, status: 127, ..ProgramStub::default() }));
        let device = attach(&phone).await;
        assert_eq!(&device.read_file("/sdcard/f", 3, 4).await.unwrap()[..], b"3456");
        assert_eq!(&device.read_file("/sdcard/f", 8, 4).await.unwrap()[..], b"89");
    }
}

#[tokio::test]
async fn app_is_inspected_or_reported_missing() {
    for release in RELEASES {
        let device = attach(&phone(release)).await;
        let package = device.package_info(&AppId("com.android.settings".into())).await.unwrap();
        assert!(package.version_code > 0 && package.files[0].ends_with(".apk"), "{package:?}");
        let inspect = async |id: &str| device.package_info(&AppId(id.into())).await.unwrap_err();
        let error = inspect("com.nope").await;
        assert!(matches!(error, Error::NoSuchApp { .. }), "{error}");
        for invalid in ["r", "com.android.settings; reboot"] {
            let error = inspect(invalid).await;
            assert!(matches!(error, Error::InvalidAppId { .. }), "{error}");
        }
    }
}

#[tokio::test]
async fn missing_service_is_not_started() {
    for release in RELEASES {
        let device = attach(&phone(release)).await;
        let to = Component { app: AppId("com.nope".into()), class: "com.nope.S".into() };
        let extras = vec![("mobile-mcp-request".to_owned(), "{\"a\":\"it's\"}".to_owned())];
        let mut letter = ServiceRequest { to, extras, callbacks: vec![], result_extras: vec![] };
        let error = device.start_service(&letter).await.unwrap_err();
        assert!(error.to_string().contains("no such service: com.nope/com.nope.S"), "{error}");
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
        let error = device.list_functions(None).await.unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
}

const NOTES: &str = "com.android.notes";

/// A request in the format of the published sample.
fn find_notes() -> ServiceRequest {
    let request = r#"{"id":"9","capability":{"id":"find_notes","input":{"words":"tomatoes"}}}"#;
    ServiceRequest {
        to: Component { app: AppId(NOTES.into()), class: format!("{NOTES}.ToolService") },
        extras: vec![("request".into(), request.into())],
        callbacks: vec!["mcp_callback".into(), "callback".into()],
        result_extras: vec!["response".into()],
    }
}

#[tokio::test]
async fn service_request_gets_a_reply_on_every_release() {
    for release in RELEASES {
        let phone = phone(release);
        let device = attach(&phone).await;
        let letter = find_notes();
        let found = device.find_services(ACTION).await.unwrap();
        assert!(found.contains(&letter.to), "{found:?}");
        let package = device.package_info(&letter.to.app).await.unwrap();
        let beginning = device.read_file(&package.files[0], 0, 4).await.unwrap();
        assert_eq!(&beginning[..], b"PK\x03\x04", "{package:?}");

        let limit = Duration::from_secs(10);
        for _ in 0..2 {
            let result = device.call_service(&letter, limit).await.unwrap();
            let ServiceReply::Answered(answer) = result else { panic!("{result:?}") };
            let [(key, value)] = &answer.extras[..] else { panic!("{answer:?}") };
            assert!(key == "response" && value.contains("\"count\":1"), "{answer:?}");
            // Since Android 7 the callback comes through the system, which hides the sender.
            assert_eq!(answer.uid.is_some(), release == "4.4", "{answer:?}");
        }
        let main = "org.thumbwire.helper.Main".to_owned();
        let starts = phone.commands().into_iter().filter(|it| it.argv.contains(&main));
        assert_eq!(starts.count(), 1, "one helper for both");
        let mut nobody = letter.clone();
        nobody.to.class = "no.such.Class".into();
        let result = device.call_service(&nobody, limit).await.unwrap();
        assert_eq!(result, ServiceReply::NotStarted(StartServiceError::NotFound));
        device.restore_borrowed().await;
    }
}

#[tokio::test]
async fn without_the_helper_a_request_gets_no_reply() {
    for release in RELEASES {
        let mut setup = Setup::of_release(release).unwrap();
        setup.helper = false;
        let phone = VirtualPhone::new(setup);
        let device = attach(&phone).await.with_helper(HelperMode::Off);
        let letter = find_notes();
        let error = device.call_service(&letter, Duration::from_secs(10)).await.unwrap_err();
        assert!(matches!(error, Error::HelperMissing { .. }), "{error}");
        let sent = || -> Vec<String> {
            let commands = phone.commands().into_iter();
            let words = commands.filter(|command| command.argv[0] == "am");
            let words = words.map(|command| command.argv[1].clone());
            words.filter(|word| word != "get-current-user").collect()
        };
        assert!(sent().is_empty());
        // The app is in the background: since Android 8 the first attempt is refused, and then the
        // app is exempted.
        device.start_service(&letter).await.unwrap();
        match release {
            "4.4" => assert_eq!(sent(), ["startservice"]),
            _ => assert_eq!(sent(), ["startservice", "startservice"]),
        }
    }
}

#[tokio::test]
async fn service_requiring_a_permission_is_not_started() {
    for release in &RELEASES[1..] {
        let phone = phone(release);
        phone.install(&[&fixture("clock-in.apk")]).unwrap();
        let device = attach(&phone).await;
        let letter =
            ServiceRequest { to: tool(), extras: vec![], callbacks: vec![], result_extras: vec![] };
        let error = device.start_service(&letter).await.unwrap_err();
        let out = error.to_string().contains("org.example.clockin.USE");
        assert!(out && matches!(error, Error::Refused { .. }), "{error}");
    }
}

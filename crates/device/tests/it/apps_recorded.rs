//! Recorded output of `dumpsys package` through the whole driver: services by action, and apps with
//! their versions. Golden files hold the results.

use std::fmt::Write as _;

use crate::common::Scripted;
use thumbwire_device::{AppId, AppIntegration as _, AppManagement as _, Error};
use thumbwire_test_support::{capture, capture_sets};

/// The complete report of a phone with Android 4.4.4.
const REPORT: &str = "android-4.4.4/106-dumpsys-package.out";

#[tokio::test]
async fn services_are_read_out_of_the_report_of_an_old_phone() {
    let output = capture(REPORT).unwrap();
    let (phone, device) = Scripted::attach(vec![("dumpsys package", output)]).await;
    let mut out = String::new();
    for action in [
        "android.service.dreams.DreamService",
        "com.android.services.telephony.common.ICallHandlerService",
        "share_stopwatch",
        // Actions of an activity, of a provider, and of a service with a type.
        "android.intent.action.MAIN",
        "android.content.action.DOCUMENTS_PROVIDER",
        "com.android.contacts.VIEW_NOTIFICATION",
        "mobile.mcp.SERVICE",
    ] {
        let found = device.find_services(action).await.unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        writeln!(out, "{action}: {}", found.join(", ")).unwrap();
    }
    assert!(phone.asked().iter().all(|command| command == "dumpsys package"));
    insta::assert_snapshot!(out);
}

/// Reads each app of the report. Android 4.4 names the file there, so `pm`, which takes a second,
/// is not needed.
#[tokio::test]
async fn every_app_of_an_old_phone_is_parsed() {
    let output = capture(REPORT).unwrap();
    let text = String::from_utf8_lossy(&output).into_owned();
    let names = text.lines().filter_map(|line| line.strip_prefix("  Package [")?.split(']').next());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let (phone, device) = Scripted::attach(vec![("dumpsys package", output)]).await;
    assert_eq!(names.len(), text.matches("    versionCode=").count());
    for name in &names {
        let package = device.package_info(&AppId(name.clone())).await.unwrap();
        let [file] = &package.files[..] else { panic!("{package:?}") };
        assert!(file.ends_with(".apk") && package.version_code > 0, "{package:?}");
        assert!(package.updated.starts_with("2026-11-21 04:"), "{package:?}");
        assert!(text.contains(&format!("codePath={file}")));
    }
    assert!(phone.asked().iter().all(|command| !command.starts_with("pm")));
    let missing = device.package_info(&AppId("com.nope".into())).await;
    assert!(missing.is_err());
}

/// Reports of other phones, where `pm path` lists the files.
#[tokio::test]
async fn the_apps_of_every_recorded_report_are_looked_into() {
    for set in capture_sets() {
        let mut out = String::new();
        for file in set.files("shell/package") {
            let (output, text) = (file.bytes(), file.text());
            let heads = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("Package [")?.split_once("] ("));
            let mut names: Vec<String> = heads.map(|(name, _)| name.to_owned()).collect();
            names.sort();
            names.dedup();
            let path = b"package:/data/app/x/base.apk\npackage:/data/app/x/split_a.apk\n".to_vec();
            let (_, device) =
                Scripted::attach(vec![("dumpsys package", output), ("pm path", path)]).await;
            for name in names {
                let read = match device.package_info(&AppId(name.clone())).await {
                    Ok(package) => format!(
                        "{} {:?}, {:?}, {:?}",
                        package.version_code, package.version_name, package.updated, package.files
                    ),
                    Err(error) => format!("error: {}", error.to_string().lines().next().unwrap()),
                };
                writeln!(out, "{}: {name}: {read}", file.name()).unwrap();
            }
        }
        insta::with_settings!({ snapshot_suffix => set.name() }, {
            insta::assert_snapshot!(out);
        });
    }
}

#[tokio::test]
async fn missing_app_is_recognized_in_recorded_output() {
    let Some(output) = capture("shell/am/dumpsys-package_not-found.txt") else { return };
    let (_, device) = Scripted::attach(vec![("dumpsys package", output)]).await;
    let error = device.package_info(&AppId("com.funnyenglish.app".into())).await.unwrap_err();
    assert!(matches!(error, Error::NoSuchApp { .. }), "{error}");
}

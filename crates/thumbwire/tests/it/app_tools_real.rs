//! APKs built by Debian's tools (`.ci/parts apk`), installed by a stock `adb` on the virtual phone:
//! discovered, linted, called.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use thumbwire_test_support::real;

use serde_json::Value;

use crate::stock_adb::{Phone, Stock};
use crate::support::thumbwire;

/// An APK built by `.ci/parts apk`.
fn built(name: &str) -> Option<PathBuf> {
    real("apk", name)
}

fn linted(file: &Path) -> (String, Option<i32>) {
    let output = thumbwire().args(["app-tools", "lint"]).arg(file).output().unwrap();
    (String::from_utf8([output.stdout, output.stderr].concat()).unwrap(), output.status.code())
}

#[test]
fn freshly_built_app_is_installed_found_linted_and_called() {
    let Some(apk) = built("attendance.apk") else { return };
    let (said, code) = linted(&apk);
    assert_eq!(code, Some(0), "{said}");
    let Some(stock) = Stock::start() else { return };
    let phone = Phone::start("1");
    stock.adb(&["connect", &phone.address]);
    let installed = stock.adb(&["-s", &phone.address, "install", apk.to_str().unwrap()]);
    assert!(installed.status.success(), "{installed:?}");

    let on = ["--device", &phone.address];
    let (list, code) = stock.thumbwire(&[&["app-tools", "list", "--json"], &on[..]].concat());
    assert_eq!(code, Some(0), "{list}");
    let rows: Value = serde_json::from_str(&list).unwrap();
    let rows = rows.as_array().unwrap();
    let row = rows.iter().find(|row| row["package"] == "org.example.attendance").unwrap();
    assert_eq!(row["findings"], serde_json::json!([]));
    let ids: Vec<_> =
        row["capabilities"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["clock_in_today", "query_clock_in", "make_up_clock_in"]);

    // Since Android 8, the service of an app that never ran cannot be started.
    let launch = ["call", "mobile_launch_app", r#"{"bundle_id":"org.example.attendance"}"#];
    let (said, code) = stock.thumbwire(&[&launch[..], &on[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    let call = ["app-tools", "call", "org.example.attendance", "make_up_clock_in"];
    let date = r#"{"date":"2020-01-02"}"#;
    let (said, code) = stock.thumbwire(&[&call[..], &[date], &on[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    let call = ["app-tools", "call", "org.example.attendance", "query_clock_in", "--json"];
    let (said, code) = stock.thumbwire(&[&call[..], &[date], &on[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    let out: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(out["output"]["has_clocked_in"], true, "{said}");
}

/// The example of docs/app-tools.md, after Android's resource compiler.
#[test]
fn example_for_app_developers_survives_aapt() {
    let Some(framework) = built("framework-res.apk") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/app-tools/clock-in");
    let service = fs::read_to_string(example.join("AndroidManifest-tool.xml")).unwrap();
    let manifest = format!(
        "<manifest xmlns:android=\"http://schemas.android.com/apk/res/android\" package=\"org.example.clockin\" \
         android:versionCode=\"1\"><application android:hasCode=\"false\">{service}</application></manifest>"
    );
    fs::write(at("AndroidManifest.xml"), manifest).unwrap();
    let mut aapt = Command::new("aapt");
    aapt.args(["package", "-f", "-M"])
        .arg(at("AndroidManifest.xml"))
        .arg("-S")
        .arg(example.join("res"));
    let packed = aapt.arg("-I").arg(framework).arg("-F").arg(at("tool.apk")).output().unwrap();
    assert!(packed.status.success(), "{packed:?}");
    let (said, code) = linted(&at("tool.apk"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("org.example.clockin, 3 capabilities, no findings\n"), "{said}");
}

//! `thumbwire doctor`: what it finds on virtual phones and on a computer without a phone.

use thumbwire::doctor::{self, Finding, Options};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_device::android::HelperMode;
use thumbwire_virtual_android::{ProgramStub, Setup, VirtualPhone};
use thumbwire_virtual_phone::KeyCode;

use crate::stock_adb::Phone;
use crate::support::thumbwire;

/// A phone with a quarter of the usual pixels: screenshots and recordings are drawn in software.
fn release(name: &str) -> VirtualPhone {
    let mut setup = Setup::of_release(name).unwrap();
    if setup.display.width > 1000 {
        setup.display.width /= 2;
        setup.display.height /= 2;
        setup.display.density /= 2;
    }
    VirtualPhone::new(setup)
}

/// The findings about one virtual phone that has been prepared, without those about files.
async fn findings(phone: &VirtualPhone, helper: HelperMode) -> String {
    let provider = VirtualPhoneProvider::new(phone.clone()).with_helper(helper);
    let phones = DeviceProviders::default().with(provider);
    let options = Options {
        config_file: None,
        adb_server: "127.0.0.1:9",
        adb_key: None,
        token: None,
        app_tools: None,
        phones: &phones,
        device: Some(VIRTUAL),
    };
    let findings = doctor::check(&options).await;
    let about_phone = findings.iter().filter(|found| found.subject.starts_with("phone"));
    let lines = about_phone.map(|Finding { subject, severity, detail, fix }| {
        let next = fix.as_ref().map_or_else(String::new, |fix| format!("\n        next: {fix}"));
        format!("{:8}{subject}: {detail}{next}\n", severity.name())
    });
    lines.collect()
}

#[tokio::test(start_paused = true)]
async fn findings_tell_what_a_phone_is_how_fast_and_what_it_lacks() {
    let newest = release(Setup::releases().last().unwrap());
    let old = release("4.4");
    let mut all = String::new();
    for (name, phone, helper) in [
        ("newest", &newest, HelperMode::Auto),
        ("Android 4.4 with the helper", &old, HelperMode::Auto),
        ("the same without it", &old, HelperMode::Off),
    ] {
        all.push_str(&format!("-- {name}\n{}", findings(phone, helper).await));
    }
    let dark = release("9");
    dark.world(|world| world.key(KeyCode::POWER));
    all.push_str(&format!("-- dark\n{}", findings(&dark, HelperMode::Off).await));
    let broken = release("9");
    broken.stub_program("uiautomator", Some(ProgramStub::printing("Killed\n")));
    all.push_str(&format!("-- no tree\n{}", findings(&broken, HelperMode::Off).await));
    insta::assert_snapshot!("phones", all);
}

/// As a newcomer without a phone meets it.
#[test]
fn computer_without_a_phone_names_the_next_step() {
    let home = tempfile::tempdir().unwrap();
    let run = |flags: &[&str]| {
        let mut command = thumbwire();
        command
            .env("HOME", home.path())
            // A long path would wrap its line.
            .env("XDG_CONFIG_HOME", home.path())
            .env_remove("XDG_STATE_HOME")
            .env("ADB_SERVER_SOCKET", "tcp:127.0.0.1:9")
            .arg("doctor");
        command.args(flags).output().unwrap()
    };
    let ended = run(&[]);
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let table = String::from_utf8(ended.stdout).unwrap();
    let table = table.replace(&*home.path().to_string_lossy(), "HOME");
    // The build and the system are those of this computer, and may take two lines.
    let about = regex_lite::Regex::new(r"(?s)thumbwire: [0-9].*? on .*?\n(  ok +conf)").unwrap();
    let table = about.replace(&table, "thumbwire: VERSION, on SYSTEM\n$1");
    insta::assert_snapshot!("without_a_phone", table);
    let ended = run(&["--json", "--device", "virtual"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let findings: Vec<Finding> = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(findings.iter().any(|found| found.subject == "phone virtual"), "{findings:?}");
}

#[test]
fn phone_with_an_address_needs_no_adb_server() {
    let phone = Phone::start("1");
    let home = tempfile::tempdir().unwrap();
    let mut command = thumbwire();
    command.env("HOME", home.path()).env("ADB_SERVER_SOCKET", "tcp:127.0.0.1:9");
    let ended = command.args(["doctor", "--device", &phone.address]).output().unwrap();
    let table = String::from_utf8(ended.stdout).unwrap();
    assert!(table.contains("note     adb server"), "{table}");
    assert_eq!(ended.status.code(), Some(0), "{table}");
}

#[test]
fn releases_are_of_the_virtual_phone() {
    let output = thumbwire().args(["doctor", "--android", "4.4"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("add `--device virtual`"), "{error}");
}

//! `mobile_install_app` and `mobile_uninstall_app` on phones of several releases: what the phone
//! has afterwards, what it refuses, and that nothing stays behind.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::ObserveMode;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;

const HELLO: &str = "org.example.hello";
const RELEASES: [&str; 5] = ["4.4", "9", "11", "14", "16"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk")
}

/// A phone without a helper, which keeps a folder of its own.
fn on(release: &str) -> Caller {
    let setup = Setup { helper: false, ..Setup::of_release(release).unwrap() };
    with_input(Caller::of(VirtualPhone::new(setup)), &fixtures())
}

fn with_input(caller: Caller, folder: &Path) -> Caller {
    let surface = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &[ToolGroup::Install]);
    let input_files = Some(InputFolder::new(folder));
    let options = SessionOptions { input_files, ..SessionOptions::default() };
    Caller { surface, ..caller.with_options(options) }
}

fn apk(name: &str) -> Value {
    json!({ "path": format!("{name}.apk") })
}

/// The version code of the installed app, as the phone itself knows it.
fn installed(caller: &Caller, package: &str) -> Option<u64> {
    caller.phone.world(|world| {
        let there = world.packages().into_iter().find(|it| it.package == package)?;
        Some(there.version_code)
    })
}

/// What is in the folder of temporary files.
fn left_behind(caller: &Caller) -> Vec<String> {
    let list = caller.phone.files(|files| files.list("/data/local/tmp")).unwrap();
    list.into_iter()
        .map(|(name, _)| name)
        .filter(|name| ![".", ".."].contains(&name.as_str()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn app_is_installed_updated_and_uninstalled_on_every_release() {
    for release in RELEASES {
        let caller = on(release);
        let said = caller.said("mobile_install_app", apk("hello-1")).await;
        assert_eq!(said, "Installed org.example.hello 1.0 (1)", "{release}");
        assert_eq!(installed(&caller, HELLO), Some(1), "{release}");
        let said = caller.said("mobile_install_app", apk("hello-1")).await;
        assert_eq!(said, "Installed org.example.hello 1.0 (1) again", "{release}");
        let said = caller.said("mobile_install_app", apk("hello-2")).await;
        assert_eq!(said, "Updated org.example.hello from 1.0 (1) to 2.0 (2)", "{release}");
        assert_eq!(installed(&caller, HELLO), Some(2), "{release}");
        let listed = caller.said("mobile_list_apps", json!({})).await;
        assert!(listed.contains(HELLO), "{release}: {listed}");
        caller.said("mobile_launch_app", json!({ "bundle_id": HELLO })).await;

        let named = json!({ "bundle_id": HELLO });
        let said = caller.said("mobile_uninstall_app", named.clone()).await;
        assert_eq!(said, "Uninstalled org.example.hello and deleted its data", "{release}");
        assert_eq!(installed(&caller, HELLO), None, "{release}");
        let again = caller.refused("mobile_uninstall_app", named).await;
        assert!(again.starts_with("App not found: org.example.hello\n"), "{release}: {again}");
        assert_eq!(left_behind(&caller), [""; 0], "{release}");
    }
}

/// What phones refuse, in their own words and in ours.
#[tokio::test(start_paused = true)]
async fn refusals_are_explained_and_end_with_the_next_step() {
    let mut out = String::new();
    for release in RELEASES {
        writeln!(out, "# Android {release}").unwrap();
        let caller = on(release);
        caller.said("mobile_install_app", apk("hello-1")).await;
        let other = caller.refused("mobile_install_app", apk("hello-1-other-key")).await;
        writeln!(out, "hello-1-other-key: {other}").unwrap();
        caller.said("mobile_install_app", apk("hello-2")).await;
        for name in [
            "hello-1",
            "hello-1-unsigned",
            "future",
            "native",
            "test-only",
            "v1-only",
            "split-base",
        ] {
            let (failed, said) = caller.call("mobile_install_app", apk(name)).await;
            writeln!(out, "{name}: {}{said}", if failed { "" } else { "(done) " }).unwrap();
        }
        assert_eq!(
            installed(&caller, HELLO),
            Some(2),
            "{release}: a refused update changes nothing"
        );
        let test = json!({ "path": "test-only.apk", "allow_test_only": true });
        let (_, said) = caller.call("mobile_install_app", test).await;
        writeln!(out, "test-only, allowed: {said}").unwrap();
        caller.phone.files(|files| files.fill());
        let full = caller.refused("mobile_install_app", apk("clock-in")).await;
        writeln!(out, "disk full: {full}\n").unwrap();
        assert_eq!(left_behind(&caller), [""; 0], "{release}");
    }
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn file_that_is_no_package_never_reaches_the_phone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("text.apk", b"no package");
    write("empty.apk", b"");
    let whole = std::fs::read(fixtures().join("hello-1.apk")).unwrap();
    write("half.apk", &whole[..whole.len() / 2]);
    std::fs::copy(fixtures().join("split-config.apk"), folder.path().join("split.apk")).unwrap();
    let secret = tempfile::NamedTempFile::new().unwrap();
    let outside = secret.path().display().to_string();

    let phone = VirtualPhone::new(Setup::default());
    let caller = with_input(Caller::of(phone), folder.path());
    for path in ["text.apk", "empty.apk", "half.apk"] {
        let said = caller.refused("mobile_install_app", json!({ "path": path })).await;
        assert!(
            said.starts_with(&format!(
                "Invalid argument: cannot read {path:?} as an Android package (APK): "
            )),
            "{said}"
        );
    }
    let split = caller.refused("mobile_install_app", json!({ "path": "split.apk" })).await;
    assert!(
        split.contains("\"config.en\", one of several packages of org.example.split"),
        "{split}"
    );
    for (path, why) in [
        ("", "`path` must not be empty"),
        ("-r", "No such file"),
        ("nope.apk", "No such file"),
        (".", "not a regular file"),
        ("a\0.apk", "cannot open"),
        ("x'; reboot; '.apk\n", "No such file"),
        ("../secret", "only files in"),
        ("/etc/passwd", "only files in"),
        (&outside, "only files in"),
        (&"x".repeat(100_000), "cannot open"),
    ] {
        let said = caller.refused("mobile_install_app", json!({ "path": path })).await;
        assert!(said.starts_with("Invalid argument: ") && said.contains(why), "{path:?}: {said}");
        assert!(said.len() < 1000, "{}", said.len());
    }
    assert!(caller.phone.commands().is_empty(), "{:?}", caller.phone.commands());
}

#[tokio::test(start_paused = true)]
async fn without_a_folder_nothing_can_be_sent() {
    let surface = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &[ToolGroup::Install]);
    let caller = Caller { surface, ..Caller::of(VirtualPhone::new(Setup::default())) };
    let said = caller.refused("mobile_install_app", apk("hello-1")).await;
    assert!(said.starts_with("Refused: this server may send no files"), "{said}");
    assert!(said.contains("Next: the operator can name a folder: `thumbwire serve --input DIR`"));
}

#[tokio::test(start_paused = true)]
async fn apps_that_came_with_the_phone_are_not_uninstalled() {
    for release in ["4.4", "14"] {
        let caller = on(release);
        let said =
            caller.refused("mobile_uninstall_app", json!({ "bundle_id": "com.android.settings" }));
        let said = said.await;
        assert!(
            said.starts_with("Refused: com.android.settings came with the phone and cannot be"),
            "{said}"
        );
        for hostile in ["-k com.android.notes", "--user 0", "com.x; reboot", "a\0b.c", "com.x\n-k"]
        {
            let said =
                caller.refused("mobile_uninstall_app", json!({ "bundle_id": hostile })).await;
            assert!(said.contains(" cannot be an app's id: "), "{hostile:?}: {said}");
        }
        let ran = caller.phone.commands();
        assert!(!ran.iter().any(|record| format!("{record:?}").contains("uninstall")), "{ran:?}");
    }
}

/// The caller gives up while the phone installs.
#[tokio::test(start_paused = true)]
async fn abandoned_installation_leaves_no_file() {
    for release in RELEASES {
        let caller = on(release);
        let command = if release == "4.4" { "pm install" } else { "package install" };
        caller.phone.add_fault(format!("slow:ms=60000,on={command}").parse().unwrap());
        let limit = Duration::from_secs(20);
        let (failed, said) = caller.call_within(limit, "mobile_install_app", apk("hello-1")).await;
        assert!(failed && said.contains("the action may have happened"), "{release}: {said}");
        caller.session.end().await;
        assert_eq!(left_behind(&caller), [""; 0], "{release}");
        assert_eq!(caller.phone.injections().len(), 1, "{release}");
    }
}

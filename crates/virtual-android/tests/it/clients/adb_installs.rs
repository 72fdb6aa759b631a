//! Stock `adb` installs apps, each generation in its own way: `exec:cmd package`, `abb_exec:`, and
//! a pushed file with `pm`.

use crate::clients::adb::{connect_again, each};
use crate::clients::bench::{Adb, Bench, apks};
use thumbwire_virtual_android::Setup;

const HELLO: &str = "org.example.hello";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_is_installed_updated_started_and_removed() {
    each(async |bench: &Bench| {
        let apk = |name: &str| format!("{}/{name}.apk", apks());
        for streaming in ["--streaming", "--no-streaming"] {
            let output = bench.adb(&["install", streaming, &apk("hello-1")]).await.well();
            assert!(output.contains("Success"), "{output}");
            let output = bench.adb(&["install", streaming, "-r", &apk("hello-2")]).await.well();
            assert!(output.contains("Success"), "{output}");
            let dumped = bench.adb(&["shell", "dumpsys", "package", HELLO]).await.well();
            assert!(dumped.contains("versionCode=2 "), "{dumped}");
            let back = bench.adb(&["install", streaming, &apk("hello-1")]).await;
            assert_eq!(back.status, Some(1), "{back:?}");
            assert!(back.both().contains("INSTALL_FAILED_VERSION_DOWNGRADE"), "{back:?}");
            let other = apk("hello-1-other-key");
            let other = bench.adb(&["install", streaming, "-r", "-d", &other]).await;
            assert!(other.both().contains("INSTALL_FAILED_UPDATE_INCOMPATIBLE"), "{other:?}");
            let path = bench.adb(&["shell", "pm", "path", HELLO]).await.well();
            let path = path.trim().strip_prefix("package:").expect("a path");
            let pushed = bench.adb(&["push", &apk("hello-1"), path]).await;
            assert!(pushed.both().contains("Permission denied"), "{pushed:?}");
            bench.adb(&["pull", path, "back.apk"]).await.well();
            let returned = std::fs::read(bench.path("back.apk")).expect("pulled");
            assert!(returned == std::fs::read(apk("hello-2")).expect("read"));
            let launch =
                ["shell", "monkey", "-p", HELLO, "-c", "android.intent.category.LAUNCHER", "1"];
            bench.adb(&launch).await.well();
            let focus = bench.adb(&["shell", "dumpsys window | grep mCurrentFocus"]).await.well();
            assert!(focus.contains(&format!(" {HELLO}/")), "{focus}");
            assert_eq!(bench.adb(&["uninstall", HELLO]).await.well(), "Success\n");
            assert_eq!(bench.adb(&["shell", "pm", "list", "packages", HELLO]).await.well(), "");
        }
        let left = bench.adb(&["shell", "ls /data/local/tmp"]).await.well();
        assert_eq!(left, "thumbwire-helper-1.jar\n", "adb takes away what it pushed");
        // One app from several files.
        let parts = [apk("split-base"), apk("split-config")];
        let alone = bench.adb(&["install", &parts[0]]).await;
        assert!(alone.both().contains("INSTALL_FAILED_MISSING_SPLIT"), "{alone:?}");
        let output = bench.adb(&["install-multiple", &parts[0], &parts[1]]).await.well();
        assert!(output.contains("Success"), "{output}");
        let none = bench.adb(&["uninstall", "no.such.app"]).await;
        assert!(none.status == Some(1) && none.text().starts_with("Failure ["), "{none:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_that_is_no_app_is_refused() {
    each(async |bench: &Bench| {
        let whole = std::fs::read(format!("{}/split-base.apk", apks())).expect("read");
        for bytes in [&b"garbage"[..], &whole[..whole.len() / 2]] {
            std::fs::write(bench.path("broken.apk"), bytes).expect("written");
            for streaming in ["--streaming", "--no-streaming"] {
                let output = bench.adb(&["install", streaming, "broken.apk"]).await;
                assert_ne!(output.status, Some(0), "{output:?}");
                assert!(output.both().contains("Failed to parse"), "{output:?}");
            }
        }
        assert_eq!(bench.adb(&["shell", "ls -d /data/app/vmdl*"]).await.text(), "");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_installs_on_every_release() {
    for (release, version) in [("4.4", Adb::V29), ("9", Adb::V34), ("16", Adb::V36)] {
        let setup = Setup::of_release(release).expect("known");
        let Some(bench) = Bench::start(version, setup).await else { continue };
        println!("{release}");
        let output = bench.adb(&["install", &format!("{}/hello-1.apk", apks())]).await;
        assert!(output.status == Some(0) && output.both().contains("Success"), "{output:?}");
        let path = bench.adb(&["shell", "pm", "path", HELLO]).await.well();
        assert!(path.starts_with("package:/data/app/"), "{path}");
        bench.phone.unplug();
        bench.phone.plug();
        connect_again(&bench).await;
        assert!(bench.adb(&["uninstall", HELLO]).await.text().starts_with("Success"));
    }
}

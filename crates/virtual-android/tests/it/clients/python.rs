//! Clients for Python: adbutils, which uses an adb server, and adb-shell, which speaks ADB itself.

use crate::clients::bench::{Adb, Bench, apks};
use thumbwire_test_support::real;
use thumbwire_virtual_android::Setup;

/// Runs a script on a phone of each of these releases.
async fn drive(script: &str, mode: &str, releases: &[&str]) {
    let Some(interpreter) = real("adb36", "bin/python") else { return };
    for release in releases {
        println!("Android {release}");
        let setup = Setup::of_release(release).expect("known");
        let Some(bench) = Bench::start(Adb::V36, setup).await else { return };
        bench.script(&interpreter, script, &[mode, release, &apks()]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adbutils_does_all_it_can() {
    drive("adbutils_drives.py", "all", &["14"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adbutils_drives_every_release() {
    drive("adbutils_drives.py", "core", &["4.4", "9", "16"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adb_shell_does_all_it_can() {
    drive("adb_shell_drives.py", "all", &["14"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adb_shell_drives_every_release() {
    // Not 4.4: its adbd serves one host, and here that is the bench's adb server.
    drive("adb_shell_drives.py", "core", &["9", "16"]).await;
}

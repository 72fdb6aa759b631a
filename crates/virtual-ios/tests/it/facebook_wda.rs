//! facebook-wda, a client for Python, drives the phone: `tests/python/facebook_wda_drives.py` has
//! its own assertions.
//!
//! `THUMBWIRE_PYTHON_WDA` names a Python with `facebook-wda` 1.5.4; without one the test is
//! skipped, unless `THUMBWIRE_REQUIRE_REAL=1`.

use std::process::Command;

use crate::client::Served;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn facebook_wda_does_all_it_can() {
    let python = std::env::var("THUMBWIRE_PYTHON_WDA").unwrap_or_else(|_| "python3".into());
    let probe = Command::new(&python).args(["-c", "import wda"]).output();
    let there = probe.is_ok_and(|output| output.status.success());
    let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|value| value == "1");
    assert!(there || !required, "{python} (THUMBWIRE_PYTHON_WDA) cannot import wda");
    if !there {
        println!("skipped: no Python with facebook-wda (THUMBWIRE_PYTHON_WDA)");
        return;
    }
    let served = Served::new().await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/facebook_wda_drives.py");
    let mut judge = Command::new(python);
    judge.args([script, &served.url()]);
    let output = tokio::task::spawn_blocking(move || judge.output()).await.unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{errors}", String::from_utf8_lossy(&output.stdout));
}

//! A real Appium server with its UiAutomator2 and XCUITest drivers, and scripts for its Python
//! client.
//!
//! `.ci/parts appium` installs them: npm's `appium`, its two drivers and `node`, and a Python with
//! `Appium-Python-Client` and `uiautomator2`.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use thumbwire_test_support::{missing, real};

/// The Android SDK of Debian's package `adb`, as Appium wants it.
const SDK: &str = "/usr/lib/android-sdk";

/// The folder with Appium, if it is installed.
pub(crate) fn appium() -> Option<PathBuf> {
    let folder = real("appium", "")?;
    for path in ["node_modules/appium-uiautomator2-driver", "node_modules/appium-xcuitest-driver"] {
        real("appium", path)?;
    }
    let adb = Path::new(SDK).join("platform-tools/adb");
    if !adb.exists() {
        missing("appium", format_args!("no {}", adb.display()));
        return None;
    }
    Some(folder)
}

/// An Appium server; it ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(folder: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let bin = folder.join("node_modules/.bin");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut child = Command::new(bin.join("appium"))
            .args(["server", "--address", "127.0.0.1", "--port", &port.to_string()])
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("APPIUM_HOME", folder)
            .env("ANDROID_HOME", SDK)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let started = lines.any(|line| line.unwrap().contains("listener started"));
        assert!(started, "Appium does not start");
        // A full pipe would block the server.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://127.0.0.1:{port}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a script of `tests/python`; returns what it printed.
pub(crate) fn run(python: &Path, script: &str, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    printed
}

//! A virtual phone on an in-memory wire, used as any host would.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

pub mod helper;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use thumbwire_adb::{CommandOutput, DirectTransport, run};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::TouchPhase;
use tokio::process::Command;

/// A phone and a host's connection to it.
pub struct Wired {
    pub phone: VirtualPhone,
    pub adb: DirectTransport,
}

impl Wired {
    pub fn new() -> Self {
        Self::made(Setup::default())
    }

    pub fn made(setup: Setup) -> Self {
        let phone = VirtualPhone::new(setup);
        let served = phone.clone();
        let adb = DirectTransport::with_connector("the virtual phone", move || {
            let io: Box<dyn thumbwire_base::Io> = Box::new(served.in_memory());
            async move { Ok(io) }
        });
        Self { phone, adb }
    }

    pub async fn run(&self, command: &str) -> CommandOutput {
        run(&self.adb, command).await.expect("the phone answers")
    }

    /// Standard output of a command that must succeed.
    pub async fn stdout(&self, command: &str) -> String {
        let output = self.run(command).await;
        assert_eq!(output.status, Some(0), "{command}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Status, standard output and standard error.
    pub async fn all(&self, command: &str) -> (i32, String, String) {
        let output = self.run(command).await;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (output.status.expect("a status"), text(output.stdout), text(output.stderr))
    }

    /// The commands that ran since the last call.
    pub fn commands(&self) -> Vec<Vec<String>> {
        self.phone.commands().into_iter().map(|record| record.argv).collect()
    }
}

/// Taps the control with the text `words`, as a finger does.
pub fn tap(wired: &Wired, text: &str) {
    wired.phone.world(|world| {
        let nodes = world.scene().focused().expect("a window").root.walk();
        let node = nodes.into_iter().find(|node| node.text == text || node.description == text);
        let at = node.unwrap_or_else(|| panic!("no node has the text {text:?}")).bounds.center();
        world.pointer(TouchPhase::Down, at);
        world.pointer(TouchPhase::Up, at);
    });
}

/// Quotes a string as one shell word: the simplest quoting, written separately so that it cannot
/// share a bug with the product's.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A capture from `../shared/data`, or `None` (with a message) if that folder is missing.
pub fn capture(path: &str) -> Option<String> {
    let root = std::env::var_os("THUMBWIRE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    match std::fs::read(root.join(path)) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).replace("\r\n", "\n")),
        Err(error) => {
            let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|v| v == "1");
            assert!(!required, "the capture {path} is required: {error}");
            println!("skipped: no {path}");
            None
        }
    }
}

/// The available stock `adb` programs, oldest first: the one in the path, and those that
/// `.ci/real-clients` unpacks, Debian's 34 and Google's 36. Missing ones are reported.
pub fn stock_adbs() -> impl Iterator<Item = PathBuf> {
    let real = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/real");
    let programs = [PathBuf::from("adb"), real.join("adb34/run"), real.join("adb36/adb")];
    programs.into_iter().filter(|program| {
        let found = std::process::Command::new(program).arg("version").output().is_ok();
        if !found {
            let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|v| v == "1");
            assert!(!required, "{} is required but cannot be run", program.display());
            println!("skipped: no {}", program.display());
        }
        found
    })
}

/// An `adb` with its own server, which does not search for phones.
pub fn lone_adb(program: &Path, home: &Path, port: u16) -> Command {
    let mut command = Command::new(program);
    command
        .env("HOME", home)
        .env("TMPDIR", home)
        .env("ANDROID_ADB_SERVER_PORT", port.to_string())
        .env("ADB_MDNS", "0")
        .env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")
        .env_remove("ADB_SERVER_SOCKET")
        .env_remove("ANDROID_SERIAL")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

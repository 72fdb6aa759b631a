//! A virtual phone on an in-memory wire, used as any host would.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

pub mod difference;
pub mod helper;

use std::path::PathBuf;
use thumbwire_adb::{CommandOutput, DirectTransport, run};
use thumbwire_test_support::{program, real};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::TouchPhase;

/// A phone and a host's connection to it.
pub struct Wired {
    pub phone: VirtualPhone,
    pub adb: DirectTransport,
    /// Checked at the end.
    _crashes: NoCrashes,
}

/// Fails a test in which a program of the phone panicked, which a script sees only as status 139.
struct NoCrashes(VirtualPhone);

impl Drop for NoCrashes {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let crashes = self.0.crashes();
            assert!(crashes.is_empty(), "programs panicked: {crashes:?}");
        }
    }
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
        Self { _crashes: NoCrashes(phone.clone()), phone, adb }
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

/// A capture as text with Unix line ends.
pub fn capture(path: &str) -> Option<String> {
    let bytes = thumbwire_test_support::capture(path)?;
    Some(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}

/// The stock `adb` programs, oldest first: the one in the path, and those that `.ci/parts adb34`
/// and `.ci/parts adb36` install, Debian's and Google's.
pub fn stock_adbs() -> impl Iterator<Item = PathBuf> {
    [program("adb"), real("adb34", "run"), real("adb36", "adb")].into_iter().flatten()
}

/// Runs a command without blocking the phone, which may live in the same thread.
pub fn spawned(command: std::process::Command) -> tokio::process::Command {
    let mut command = tokio::process::Command::from(command);
    command.kill_on_drop(true);
    command
}

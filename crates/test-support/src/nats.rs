//! A NATS server of its own for a test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::real;

/// What is written is on the disk before it is confirmed.
const ON_DISK: &str = ", sync_interval: always";

/// A server on a free port of this computer, with a folder of its own. It ends with the test.
pub struct NatsServer {
    program: PathBuf,
    folder: TempDir,
    /// Its port.
    pub port: u16,
    child: Child,
}

impl NatsServer {
    /// The server of today; `None` if it is not installed, which the test then says.
    pub fn start() -> Option<Self> {
        Some(Self::of(&real("nats", "bin/nats-server")?, ON_DISK, ""))
    }

    /// The same with more settings.
    pub fn with(settings: &str) -> Option<Self> {
        Some(Self::of(&real("nats", "bin/nats-server")?, ON_DISK, settings))
    }

    /// Debian's, which is too old.
    pub fn old() -> Option<Self> {
        Some(Self::of(&real("nats", "old/usr/sbin/nats-server")?, "", ""))
    }

    fn of(program: &Path, jetstream: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the server");
        let at = |name: &str| folder.path().join(name);
        let store = at("store");
        let config = format!(
            "host: 127.0.0.1\njetstream {{ store_dir: \"{}\"{jetstream} }}\n{settings}\n",
            store.display()
        );
        std::fs::write(at("config"), config).expect("the server's configuration");
        // The server writes the port that it got, so no other test can take it.
        let child = started(program, folder.path(), "-1");
        let port = port_of(folder.path());
        Self { program: program.to_owned(), folder, port, child }
    }

    /// Kills the server without a warning, and starts it again at the same port.
    pub fn kill_and_start(&mut self) {
        self.kill();
        self.child = started(&self.program, self.folder.path(), &self.port.to_string());
        port_of(self.folder.path());
    }

    /// Kills the server without a warning.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for file in std::fs::read_dir(self.folder.path()).expect("the server's folder").flatten() {
            if file.file_name().to_string_lossy().ends_with(".ports") {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn started(program: &Path, folder: &Path, port: &str) -> Child {
    let log = std::fs::File::create(folder.join("log")).expect("the server's log");
    Command::new(program)
        .arg("--config")
        .arg(folder.join("config"))
        .args(["--port", port, "--ports_file_dir"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the server starts")
}

/// Waits until the server has written its port.
fn port_of(folder: &Path) -> u16 {
    let began = std::time::Instant::now();
    while began.elapsed() < std::time::Duration::from_secs(20) {
        let files = std::fs::read_dir(folder).expect("the server's folder").flatten();
        let mut found = files.filter(|file| file.file_name().to_string_lossy().ends_with(".ports"));
        let text = found.next().and_then(|file| std::fs::read_to_string(file.path()).ok());
        let url = text.as_deref().and_then(|text| text.split("://127.0.0.1:").nth(1));
        let port = url.and_then(|rest| rest.split('"').next()).and_then(|port| port.parse().ok());
        if let Some(port) = port {
            return port;
        }
        std::thread::yield_now();
    }
    panic!("{}", std::fs::read_to_string(folder.join("log")).unwrap_or_default());
}

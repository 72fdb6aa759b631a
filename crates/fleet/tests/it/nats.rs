//! A NATS server of its own for a test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use thumbwire_fleet::{ConnectError, Connection, Credentials};
use thumbwire_test_support::real;

/// What is written is on the disk before it is confirmed.
const ON_DISK: &str = ", sync_interval: always";

/// A server on a free port of this computer, with a folder of its own. It ends with the test.
pub(crate) struct NatsServer {
    program: PathBuf,
    folder: TempDir,
    pub(crate) port: u16,
    child: Child,
}

impl NatsServer {
    /// The server of today; `None` if it is not installed, which the test then says.
    pub(crate) fn start() -> Option<Self> {
        Some(Self::of(&real("nats", "bin/nats-server")?, ON_DISK, ""))
    }

    /// The same with more settings.
    pub(crate) fn with(settings: &str) -> Option<Self> {
        Some(Self::of(&real("nats", "bin/nats-server")?, ON_DISK, settings))
    }

    /// Debian's, which is too old.
    pub(crate) fn old() -> Option<Self> {
        Some(Self::of(&real("nats", "old/usr/sbin/nats-server")?, "", ""))
    }

    fn of(program: &Path, jetstream: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let store = at("store");
        let config = format!(
            "host: 127.0.0.1\njetstream {{ store_dir: \"{}\"{jetstream} }}\n{settings}\n",
            store.display()
        );
        std::fs::write(at("config"), config).unwrap();
        // The server writes the port that it got, so no other test can take it.
        let child = started(program, folder.path(), "-1");
        let port = port_of(folder.path());
        Self { program: program.to_owned(), folder, port, child }
    }

    /// Kills the server without a warning, and starts it again at the same port.
    pub(crate) fn kill_and_start(&mut self) {
        self.kill();
        self.child = started(&self.program, self.folder.path(), &self.port.to_string());
        port_of(self.folder.path());
    }

    /// Kills the server without a warning.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for file in std::fs::read_dir(self.folder.path()).unwrap().flatten() {
            if file.file_name().to_string_lossy().ends_with(".ports") {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Connects with TLS.
    pub(crate) async fn connect_by_tls(
        &self,
        credentials: &Credentials,
    ) -> Result<Connection, ConnectError> {
        Connection::open(&format!("tls://127.0.0.1:{}", self.port), credentials, "tls").await
    }

    /// Connects as this user, whose password is the name.
    pub(crate) async fn connect_as(&self, user: &str) -> Connection {
        let url = format!("nats://{user}:{user}@127.0.0.1:{}", self.port);
        Connection::open(&url, &Credentials::default(), user).await.unwrap()
    }

    pub(crate) async fn connect(&self, name: &str) -> Connection {
        connect(self.port, name).await
    }

    pub(crate) async fn try_connect(&self, name: &str) -> Result<Connection, ConnectError> {
        Connection::open(&self.url(), &Credentials::default(), name).await
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A connection to the server at a port.
pub(crate) async fn connect(port: u16, name: &str) -> Connection {
    let url = format!("nats://127.0.0.1:{port}");
    Connection::open(&url, &Credentials::default(), name).await.unwrap()
}

fn started(program: &Path, folder: &Path, port: &str) -> Child {
    let log = std::fs::File::create(folder.join("log")).unwrap();
    Command::new(program)
        .arg("--config")
        .arg(folder.join("config"))
        .args(["--port", port, "--ports_file_dir"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Waits until the server has written its port.
fn port_of(folder: &Path) -> u16 {
    let began = std::time::Instant::now();
    while began.elapsed() < std::time::Duration::from_secs(20) {
        let files = std::fs::read_dir(folder).unwrap().flatten();
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

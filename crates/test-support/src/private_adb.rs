//! A private adb server.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// An adb server of its own, which does not look for phones; it ends with the test.
#[derive(Debug)]
pub struct PrivateAdb {
    program: PathBuf,
    home: TempDir,
    port: u16,
    environment: Vec<(String, String)>,
    /// Whether the port is ours; otherwise the server there must not be ended.
    is_running: bool,
}

/// How often a server is started on another port.
const MAX_TRIES: usize = 4;

impl PrivateAdb {
    /// Starts a server of the `adb` from the path; `None` if there is none.
    pub fn start() -> Option<Self> {
        Some(Self::start_with(&crate::program("adb")?, &[]))
    }

    /// Starts a server of this adb with these variables in its environment.
    pub fn start_with(program: &Path, environment: &[(&str, &str)]) -> Self {
        // Between the search for a free port and the start somebody else may take it.
        let mut refusal = None;
        for _ in 0..MAX_TRIES {
            match Self::try_start(program, environment) {
                Ok(server) => return server,
                Err(output) => refusal = Some(output),
            }
        }
        panic!("{} does not start a server: {refusal:?}", program.display())
    }

    /// A server on a port that is free now; what adb printed if it does not start.
    fn try_start(program: &Path, environment: &[(&str, &str)]) -> Result<Self, Output> {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.unwrap_or_else(|error| panic!("no free port: {error}")).port();
        let home = TempDir::new().unwrap_or_else(|error| panic!("no folder: {error}"));
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        let environment = environment.iter().map(owned).collect();
        let mut server =
            Self { program: program.to_owned(), home, port, environment, is_running: false };
        let started = server.run(&["start-server"]);
        server.is_running = started.status.success();
        if server.is_running { Ok(server) } else { Err(started) }
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The adb program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A folder for files of the test, and adb's home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// A command of any program that talks to an adb server: it finds this one and no other.
    pub fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env("HOME", self.home())
            .env("TMPDIR", self.home())
            .env("ANDROID_ADB_SERVER_PORT", self.port.to_string())
            .env("ADB_MDNS", "0")
            .env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env_remove("ADB_SERVER_SOCKET")
            .env_remove("ANDROID_ADB_SERVER_ADDRESS")
            .env_remove("ANDROID_SERIAL")
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A command of adb.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_of(&self.program);
        command.args(arguments);
        command
    }

    /// Runs adb to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output();
        output.unwrap_or_else(|error| panic!("{}: {error}", self.program.display()))
    }
}

impl Drop for PrivateAdb {
    fn drop(&mut self) {
        if self.is_running {
            let _ = self.command(&["kill-server"]).output();
        }
    }
}

//! A stock `adb` with a private server, to which our phones can be connected.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::net::TcpListener;
use std::process::Output;
use std::time::Duration;

use tempfile::TempDir;
use thumbwire_adb::AdbServer;
use tokio::process::Command;

use super::TinyPhone;

/// Generous: a busy machine is no failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A private adb server, and a phone of ours that is connected to it.
pub(crate) struct Stock {
    pub(crate) home: TempDir,
    port: u16,
    pub(crate) phone: TinyPhone,
    pub(crate) serial: String,
}

impl Stock {
    /// With its phone connected. `None` when there is no adb here.
    pub(crate) async fn start() -> Option<Self> {
        let mut stock = Self::without_phone().await?;
        let phone = TinyPhone::modern();
        stock.serial = phone.listen().await;
        stock.phone = phone;
        let said = stock.adb(&["connect", &stock.serial]).await;
        assert!(stdout(&said).contains("connected to"), "{said:?}");
        Some(stock)
    }

    /// The server alone. `None` when there is no adb here.
    pub(crate) async fn without_phone() -> Option<Self> {
        if std::process::Command::new("adb").arg("version").output().is_err() {
            assert!(
                std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_none_or(|value| value != "1"),
                "adb is required here and cannot be run"
            );
            println!("skipped: no adb");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (phone, serial) = (TinyPhone::default(), String::new());
        let stock = Self { home: TempDir::new().unwrap(), port, phone, serial };
        stock.adb(&["start-server"]).await;
        Some(stock)
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("adb");
        command
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .env("ANDROID_ADB_SERVER_PORT", self.port.to_string())
            .env("ADB_MDNS", "0")
            .env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")
            .env_remove("ADB_SERVER_SOCKET")
            .env_remove("ANDROID_SERIAL")
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true);
        command
    }

    pub(crate) async fn adb(&self, arguments: &[&str]) -> Output {
        let output = self.command().args(arguments).output();
        tokio::time::timeout(PATIENCE, output).await.expect("adb hangs").unwrap()
    }

    /// Looks until its list of devices gives the phone this state.
    pub(crate) async fn until_state(&self, state: &str) {
        let line = format!("{}\t{state}", self.serial);
        let looking = async {
            while !stdout(&self.adb(&["devices"]).await).contains(&line) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, looking).await.expect("its phone never got into that state");
    }

    pub(crate) fn server(&self) -> AdbServer {
        AdbServer::new(format!("127.0.0.1:{}", self.port))
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        let _ = self.command().into_std().arg("kill-server").output();
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

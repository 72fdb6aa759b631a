//! A stock `adb` with a private server that our phones connect to.

use std::net::TcpListener;
use std::process::Output;
use std::time::Duration;

use tempfile::TempDir;
use thumbwire_adb::AdbServer;
use tokio::process::Command;

use super::TinyPhone;

/// Generous: a busy machine is not a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A private adb server with one of our phones connected.
pub(crate) struct Stock {
    pub(crate) home: TempDir,
    port: u16,
    pub(crate) phone: TinyPhone,
    pub(crate) serial: String,
}

impl Stock {
    /// With its phone connected. `None` if adb is not installed.
    pub(crate) async fn start() -> Option<Self> {
        let mut stock = Self::without_phone().await?;
        let phone = TinyPhone::modern();
        stock.serial = phone.listen().await;
        stock.phone = phone;
        let output = stock.adb(&["connect", &stock.serial]).await;
        assert!(stdout(&output).contains("connected to"), "{output:?}");
        Some(stock)
    }

    /// The server only. `None` if adb is not installed.
    pub(crate) async fn without_phone() -> Option<Self> {
        if std::process::Command::new("adb").arg("version").output().is_err() {
            assert!(
                std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_none_or(|value| value != "1"),
                "adb is required but cannot be run"
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

    /// Polls its device list until the phone has this state.
    pub(crate) async fn until_state(&self, state: &str) {
        let line = format!("{}\t{state}", self.serial);
        let looking = async {
            while !stdout(&self.adb(&["devices"]).await).contains(&line) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, looking).await.expect("its phone never reached that state");
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

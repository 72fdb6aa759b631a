//! A stock `adb` with a private server that our phones connect to.

use std::process::Output;
use std::time::Duration;

use thumbwire_adb::AdbServer;
use thumbwire_test_support::PrivateAdb;
use tokio::process::Command;

use super::TinyPhone;

/// Generous: a busy machine is not a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A private adb server with one of our phones connected.
pub(crate) struct Stock {
    pub(crate) server: PrivateAdb,
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
        let server = PrivateAdb::start()?;
        Some(Self { server, phone: TinyPhone::default(), serial: String::new() })
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::from(self.server.command(&[]));
        command.kill_on_drop(true);
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
        AdbServer::new(format!("127.0.0.1:{}", self.server.port()))
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

//! What is Appium's own in the conversation: its status, its session and the session's settings.

use std::time::Duration;

use thumbwire_webdriver::{Command, NewSession, ServerStatus, SessionCommand};

use super::{Appium, AppiumCapabilities, not_appium};
use crate::webdriver::{
    HttpClient, Operation, STATUS_LIMIT, ServerProfile, SessionPlan, WebDriverClient, unreadable,
};
use crate::{Error, Platform};

const STATUS: Operation = Operation::new("tell the server's state", "reading the server's state");

/// Time limit for creating a session: Appium installs its server on the phone, and builds WebDriverAgent for an iPhone.
const CREATION: Duration = Duration::from_secs(300);

/// Time limit for ending one: Appium restores what it has changed on the phone.
const ENDING: Duration = Duration::from_secs(15);

/// How long UiAutomator2 waits until the screen is idle (`waitForIdleTimeout`), in milliseconds. Its default of 10 s makes each
/// source of an endless animation take 10 s; whether a screen has settled is decided by our callers.
const ANDROID_IDLE_MS: u64 = 100;

/// How deep UiAutomator2's source may be (`snapshotMaxDepth`, 70 by default).
const ANDROID_DEPTH: u64 = 300;

/// As for WebDriverAgent without Appium (`ios/wda/client.rs`).
const IOS_DEPTH: u64 = 60;

/// The same, in seconds.
const IOS_IDLE_S: u64 = 2;

/// A client of the server at this URL, with the session of these capabilities.
///
/// # Errors
/// [`Error::Refused`] if it is not a URL.
pub(super) fn client(
    url: &str,
    capabilities: &AppiumCapabilities,
) -> Result<WebDriverClient, Error> {
    let platform = capabilities.platform();
    let server = ServerProfile {
        name: "the Appium server",
        address: "the address of the Appium server",
        example: "http://127.0.0.1:4723",
        start: "Start it with `appium`, or correct the URL of `--appium`",
        lost_again: "the Appium server ends the session each time; another client may be using the phone",
        // `proxyCommand` of appium-uiautomator2-driver, before it passes the command on.
        dead_session: Some("because the instrumentation process is not running"),
        takes_credentials: true,
        platform,
    };
    let settings = match platform {
        Platform::Android => {
            [("snapshotMaxDepth", ANDROID_DEPTH), ("waitForIdleTimeout", ANDROID_IDLE_MS)]
        }
        Platform::Ios => [("snapshotMaxDepth", IOS_DEPTH), ("waitForIdleTimeout", IOS_IDLE_S)],
    };
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
    let settings = SessionCommand::SetSettings { settings: settings.collect() };
    let plan = SessionPlan {
        request: NewSession::new(capabilities.all().0.clone()),
        limit: CREATION,
        settings: Some(Command::from(settings)),
        is_exclusive: true,
        ending: ENDING,
    };
    Ok(WebDriverClient::over(HttpClient::new(server, url)?, plan))
}

impl Appium {
    /// Asks the server whether it takes sessions.
    ///
    /// # Errors
    /// [`Error::NotConnected`] if it is not an Appium server, [`Error::NotReady`] with its reason if it takes none.
    pub(super) async fn check_server(&self) -> Result<(), Error> {
        let address = self.server.address();
        let response = self.server.read_within(STATUS, SessionCommand::Status, STATUS_LIMIT).await;
        let response = response.map_err(|error| not_appium(error, address))?;
        let status = ServerStatus::from_response(&response)
            .map_err(|error| unreadable(&SessionCommand::Status.into(), &error));
        let status = status.map_err(|error| not_appium(error, address))?;
        // A grid whose phones are all in use is not ready either, but has our session if there is one.
        match status.ready {
            Some(false) if !self.server.has_session().await => {
                Err(STATUS.not_ready(status.message.unwrap_or_else(|| "not ready".into())))
            }
            _ => Ok(()),
        }
    }
}

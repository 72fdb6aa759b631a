//! What is WebDriverAgent's own in the conversation: its session and its settings.
//!
//! WebDriverAgent has one session at a time; another client, or its own restart, ends ours.

use std::time::Duration;

use thumbwire_webdriver::{Command, NewSession, SessionCommand};

use crate::webdriver::{HttpClient, Operation, ServerProfile, SessionPlan, WebDriverClient};
use crate::{Error, Platform};

/// WebDriverAgent, for messages.
pub(super) const WDA: ServerProfile = ServerProfile {
    name: "WebDriverAgent",
    address: "the address of WebDriverAgent",
    example: "http://127.0.0.1:8100",
    start: "Start WebDriverAgent on the phone; over USB, forward its port with `iproxy 8100 8100`",
    lost_again: "another client takes WebDriverAgent's session each time",
    dead_session: None,
    takes_credentials: false,
    platform: Platform::Ios,
};

/// Its MJPEG stream, for messages.
pub(super) const MJPEG: ServerProfile = ServerProfile {
    name: "WebDriverAgent's MJPEG stream",
    address: "the address of the MJPEG stream",
    example: "http://127.0.0.1:9100",
    start: "Correct its URL; over USB, forward its port with `iproxy 9100 9100`",
    ..WDA
};

/// Time limit for creating a session. WebDriverAgent looks for the app in front and waits for it.
const CREATION: Duration = Duration::from_secs(30);

/// WebDriverAgent ends a session at once, or is gone.
const ENDING: Duration = Duration::from_secs(2);

/// How deep a snapshot may be (`snapshotMaxDepth`). XCTest fails for some apps above about 60 with
/// `kAXErrorIllegalArgument`; WebDriverAgent's default of 50 cuts off React Native's screens.
const DEPTH: u64 = 60;

/// The depth after XCTest has refused the other one.
const SAFE_DEPTH: u64 = 40;

/// How long a snapshot may take (`customSnapshotTimeout`, earlier `snapshotTimeout`), in seconds: shorter than our own limit
/// for a source, so that WebDriverAgent is free again when we give up. WebDriverAgent 9.0 has removed both, and ignores them
/// as any setting that it does not know.
const SNAPSHOT_S: u64 = 20;

/// How long an action waits until the app is idle (`waitForIdleTimeout`), in seconds. The default of 10 s makes each tap
/// on an endless animation take 10 s.
const IDLE_S: u64 = 2;

const SETTINGS: Operation =
    Operation::new("change WebDriverAgent's settings", "changing WebDriverAgent's settings");

/// A WebDriverAgent that is reached by this client.
pub(super) fn client(http: HttpClient) -> WebDriverClient {
    let settings = settings_command(&[
        ("snapshotMaxDepth", DEPTH),
        ("customSnapshotTimeout", SNAPSHOT_S),
        ("snapshotTimeout", SNAPSHOT_S),
        ("waitForIdleTimeout", IDLE_S),
    ]);
    let plan = SessionPlan {
        // Without an app, the session begins with what is in front, and ends without ending it.
        request: NewSession::new(<_>::default()),
        limit: CREATION,
        settings: Some(settings),
        is_exclusive: false,
        ending: ENDING,
    };
    WebDriverClient::over(http, plan)
}

/// Changes settings of the session; a WebDriverAgent ignores those it does not know.
pub(super) async fn set(wda: &WebDriverClient, settings: &[(&str, u64)]) -> Result<(), Error> {
    wda.read(SETTINGS, settings_command(settings)).await.map(drop)
}

/// Makes snapshots shallower, after XCTest has refused the usual depth.
pub(super) async fn limit_depth(wda: &WebDriverClient) -> Result<(), Error> {
    set(wda, &[("snapshotMaxDepth", SAFE_DEPTH)]).await
}

fn settings_command(settings: &[(&str, u64)]) -> Command {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
    SessionCommand::SetSettings { settings: settings.collect() }.into()
}

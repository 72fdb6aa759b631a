//! Apps: starting, ending, and which are active.
//!
//! WebDriverAgent cannot list installed apps; it knows only those that are active.

use std::time::Duration;

use thumbwire_webdriver::{ActiveApp, AppCommand, AppState};

use super::Ios;
use crate::app_name::check_bundle_id;
use crate::webdriver::{Operation, unreadable};
use crate::{App, AppId, Error, Foreground, Front};

const LAUNCH: Operation = Operation::new("start the app", "starting the app");
const STOP: Operation = Operation::new("stop the app", "stopping the app");
const STATE: Operation = Operation::new("tell the app's state", "reading the app's state");
const LIST: Operation = Operation::new("list the apps", "listing apps");
const FRONT: Operation = Operation::new("tell the app in front", "reading the app in front");

/// An app may take long to start, above all for the first time.
const LAUNCH_LIMIT: Duration = Duration::from_secs(60);

impl Ios {
    /// Starts an app, or brings it to the front if it runs.
    pub(super) async fn start(&self, app: &AppId) -> Result<String, Error> {
        check_bundle_id(app)?;
        let bundle_id = app.0.clone();
        let command = match self.app_state(app).await? {
            AppState::NotInstalled | AppState::NotRunning => AppCommand::Launch {
                bundle_id,
                arguments: None,
                environment: None,
                // Apps with an endless animation never come to rest.
                wait_for_quiescence: Some(false),
            },
            AppState::Suspended | AppState::Background | AppState::Foreground => {
                AppCommand::Activate { bundle_id }
            }
        };
        match self.wda.act_within(LAUNCH, command, LAUNCH_LIMIT).await {
            Err(Error::Failed { text, .. } | Error::Refused { reason: text, .. })
                if is_missing(&text) =>
            {
                Err(Error::NoSuchApp { app: app.0.clone() })
            }
            done => done.map(|_| String::new()),
        }
    }

    pub(super) async fn terminate(&self, app: &AppId) -> Result<(), Error> {
        check_bundle_id(app)?;
        // The response is whether it ran.
        self.wda.act(STOP, AppCommand::Terminate { bundle_id: app.0.clone() }).await.map(drop)
    }

    async fn app_state(&self, app: &AppId) -> Result<AppState, Error> {
        let command = AppCommand::State { bundle_id: app.0.clone() };
        match self.wda.read(STATE, command.clone()).await {
            Ok(response) => AppState::from_response(&response)
                .map_err(|error| unreadable(&command.into(), &error)),
            Err(Error::Unsupported { .. }) => Ok(AppState::NotRunning),
            Err(error) => Err(error),
        }
    }

    /// The active apps, in the phone's order.
    pub(super) async fn active_apps(&self) -> Result<Vec<App>, Error> {
        let response = self.wda.read(LIST, AppCommand::List).await?;
        let list = response.value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut apps: Vec<App> = Vec::new();
        for id in list.iter().filter_map(|app| app.get("bundleId")?.as_str()) {
            let id = AppId(id.to_owned());
            if apps.iter().all(|app| app.id != id) {
                apps.push(App { system: id.0.starts_with("com.apple."), id });
            }
        }
        Ok(apps)
    }

    /// The app in front; `None` if the server does not tell.
    pub(super) async fn active_app(&self) -> Result<Option<AppId>, Error> {
        match self.wda.read(FRONT, AppCommand::ActiveInfo).await {
            Ok(response) => {
                let app = ActiveApp::from_response(&response)
                    .map_err(|error| unreadable(&AppCommand::ActiveInfo.into(), &error))?;
                Ok(Some(AppId(app.bundle_id)).filter(|app| !app.0.is_empty()))
            }
            Err(Error::Unsupported { .. } | Error::NotReady { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn read_front(&self) -> Result<Front, Error> {
        if self.is_locked().await? {
            return Ok(Front::Keyguard);
        }
        Ok(self.active_app().await?.map_or(Front::Unknown, front))
    }
}

/// What is in front if this app is. `com.apple.springboard`, the home screen, is an app like any other.
pub(super) fn front(app: AppId) -> Front {
    Front::App(Foreground { app, screen: String::new() })
}

/// Whether the error says that the app is not installed: code 4 of FBSOpenApplication's error domains on real phones (iOS 16),
/// a text on simulators and from earlier WebDriverAgents.
fn is_missing(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("fbsopenapplication") && text.contains("code=4")
        || ["not installed", "unknown to frontboard"].iter().any(|part| text.contains(part))
}

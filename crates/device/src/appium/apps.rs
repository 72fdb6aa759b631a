//! Apps: listing, starting, ending, clearing, and which one is in front.

use std::time::Duration;

use async_trait::async_trait;
use thumbwire_webdriver::{ActiveApp, AppOperation, AppState, MobileCommand};

use super::{Appium, script, unreadable};
use crate::app_name::{check_bundle_id, check_name};
use crate::webdriver::Operation;
use crate::{App, AppData, AppId, AppList, Error, Foreground, Front, Platform};

const LAUNCH: Operation = Operation::new("start the app", "starting the app");
const STOP: Operation = Operation::new("stop the app", "stopping the app");
const STATE: Operation = Operation::new("tell the app's state", "reading the app's state");
const LIST: Operation = Operation::new("list the apps", "listing apps");
const FRONT: Operation = Operation::new("tell the app in front", "reading the app in front");
const CLEAR: Operation = Operation::new("clear the app's data", "clearing an app's data");

/// An app may take long to start, above all for the first time.
const LAUNCH_LIMIT: Duration = Duration::from_secs(60);

impl Appium {
    fn check_app(&self, app: &AppId) -> Result<(), Error> {
        match self.identity.platform {
            Platform::Android => check_name(app),
            Platform::Ios => check_bundle_id(app),
        }
    }

    /// Starts an app, or brings it to the front if it runs.
    pub(super) async fn activate(&self, app: &AppId) -> Result<String, Error> {
        self.require_app(app).await?;
        let command = MobileCommand::app(AppOperation::Activate, self.driver(), &app.0);
        match self.server.act_within(LAUNCH, script(command), LAUNCH_LIMIT).await {
            Err(Error::Failed { text, .. }) if is_not_launchable(&text) => {
                Err(Error::NotLaunchable { app: app.0.clone() })
            }
            done => done.map(|_| String::new()),
        }
    }

    pub(super) async fn terminate(&self, app: &AppId) -> Result<(), Error> {
        self.require_app(app).await?;
        // The response is whether it ran.
        let command = MobileCommand::app(AppOperation::Terminate, self.driver(), &app.0);
        self.run(STOP, command).await.map(drop)
    }

    /// # Errors
    /// [`Error::NoSuchApp`] if the app is not installed.
    async fn require_app(&self, app: &AppId) -> Result<(), Error> {
        self.check_app(app)?;
        let command = MobileCommand::app(AppOperation::QueryState, self.driver(), &app.0);
        let response = self.ask(STATE, command).await?;
        let state = AppState::from_response(&response)
            .map_err(|error| unreadable("mobile: queryAppState", error.to_string()))?;
        match state {
            AppState::NotInstalled => Err(Error::NoSuchApp { app: app.0.clone() }),
            _ => Ok(()),
        }
    }

    /// The installed apps. UiAutomator2 does not say which are the system's; an iPhone that is not on the server's own USB
    /// tells only which one is in front.
    pub(super) async fn installed_apps(&self) -> Result<AppList, Error> {
        if self.is_android() {
            let apps = self.list_apps(MobileCommand::new("listApps")).await?;
            let apps = apps.into_iter().map(|id| App { id, system: false });
            return Ok(apps.collect::<Vec<_>>().into());
        }
        let mut all = Vec::new();
        for (kind, system) in [("User", false), ("System", true)] {
            let command = MobileCommand::new("listApps").arg("applicationType", kind);
            let apps = match self.list_apps(command).await {
                Err(Error::NotReady { text, .. }) => {
                    tracing::info!("cannot list the installed apps: {text}");
                    let front = self.active_app().await?;
                    let is_system = |app: &AppId| app.0.starts_with("com.apple.");
                    let apps =
                        front.map(|id| App { system: is_system(&id), id }).into_iter().collect();
                    return Ok(AppList { apps, is_complete: false });
                }
                apps => apps?,
            };
            all.extend(apps.into_iter().map(|id| App { id, system }));
        }
        Ok(all.into())
    }

    /// Reads `mobile: listApps`: an object by the app's id.
    async fn list_apps(&self, command: MobileCommand) -> Result<Vec<AppId>, Error> {
        let response = self.ask(LIST, command).await?;
        let apps = response.value.as_object();
        let apps = apps.ok_or_else(|| unreadable("mobile: listApps", "it is not an object"))?;
        Ok(apps.keys().map(|id| AppId(id.clone())).collect())
    }

    pub(super) async fn read_front(&self) -> Result<Front, Error> {
        if self.is_locked().await? {
            return Ok(Front::Keyguard);
        }
        if !self.is_android() {
            let app = self.active_app().await?;
            return Ok(app.map_or(Front::Unknown, |app| front(app, String::new())));
        }
        let response = self.ask(FRONT, MobileCommand::new("getCurrentPackage")).await?;
        match response.value.as_str().filter(|package| !package.is_empty()) {
            Some(package) => {
                let screen = self.read_activity(package).await?;
                Ok(front(AppId(package.to_owned()), screen))
            }
            None => Ok(Front::Unknown),
        }
    }

    /// The class of the activity in front, which is this app's; empty if the phone does not tell.
    pub(super) async fn read_activity(&self, package: &str) -> Result<String, Error> {
        match self.ask(FRONT, MobileCommand::new("getCurrentActivity")).await {
            Ok(response) => Ok(whole_class(package, response.value.as_str().unwrap_or_default())),
            Err(Error::Unsupported { .. } | Error::NotReady { .. }) => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    /// The app in front on iOS; `None` if the server does not tell.
    pub(super) async fn active_app(&self) -> Result<Option<AppId>, Error> {
        match self.ask(FRONT, MobileCommand::new("activeAppInfo")).await {
            Ok(response) => {
                let app = ActiveApp::from_response(&response)
                    .map_err(|error| unreadable("mobile: activeAppInfo", error.to_string()))?;
                Ok(Some(AppId(app.bundle_id)).filter(|app| !app.0.is_empty()))
            }
            Err(Error::Unsupported { .. } | Error::NotReady { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What is in front if this app is, at this screen.
pub(super) fn front(app: AppId, screen: String) -> Front {
    match &*app.0 {
        // The notification shade and other windows of the system.
        "com.android.systemui" => Front::System { title: app.0 },
        _ => Front::App(Foreground { app, screen }),
    }
}

/// The activity's class: Appium shortens `com.example.app.Main` to `.Main`.
fn whole_class(package: &str, activity: &str) -> String {
    match activity.starts_with('.') {
        true => format!("{package}{activity}"),
        false => activity.to_owned(),
    }
}

/// Whether the error says that an installed app has nothing to start (`resolveLaunchableActivity` in appium-adb).
fn is_not_launchable(text: &str) -> bool {
    ["Unable to resolve the launchable activity", "Cannot resolve", "launchable activity"]
        .iter()
        .any(|part| text.contains(part))
}

#[async_trait]
impl AppData for Appium {
    async fn clear_data(&self, app: &AppId) -> Result<(), Error> {
        self.require_app(app).await?;
        let command = MobileCommand::app(AppOperation::Clear, self.driver(), &app.0);
        self.run(CLEAR, command).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_are_whole_classes() {
        assert_eq!(whole_class("a.b", ".Main"), "a.b.Main");
        assert_eq!(whole_class("a.b", "c.d.Main"), "c.d.Main");
        assert_eq!(whole_class("a.b", ""), "");
    }

    #[test]
    fn window_of_the_system_is_not_an_app() {
        assert_eq!(front(AppId("com.android.systemui".into()), String::new()).app(), None);
        assert!(front(AppId("a.b".into()), String::new()).app().is_some());
    }
}

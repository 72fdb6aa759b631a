//! Apps: listing, starting, ending, clearing, and which one is in front.
//!
//! WebDriverAgent cannot list installed apps; it knows only those that are active.

use std::time::Duration;

use async_trait::async_trait;
use thumbwire_webdriver::{
    ActiveApp, AppCommand, AppOperation, AppState, AppiumDriver, Command, MobileCommand, Response,
};

use super::client::{Operation, RequestError, if_available};
use super::dialect::{Dialect, PhoneCommand, script};
use super::{WebDriverPhone, unreadable};
use crate::app_name::{check_bundle_id, check_name};
use crate::{
    App, AppData, AppId, AppList, Error, Foreground, ForegroundApp, LaunchArgument, Platform,
};

const LAUNCH: Operation = Operation::new("start the app", "starting the app");
const STOP: Operation = Operation::new("stop the app", "stopping the app");
const STATE: Operation = Operation::new("tell the app's state", "reading the app's state");
const LIST: Operation = Operation::new("list the apps", "listing apps");
const FRONT: Operation = Operation::new("tell the app in front", "reading the app in front");
const CLEAR: Operation = Operation::new("clear the app's data", "clearing an app's data");

/// An app may take long to start, above all for the first time.
const LAUNCH_LIMIT: Duration = Duration::from_secs(60);

impl WebDriverPhone {
    fn check_app(&self, app: &AppId) -> Result<(), Error> {
        match self.identity.platform {
            Platform::Android => check_name(app),
            Platform::Ios => check_bundle_id(app),
        }
    }

    /// Starts an app, or brings it to the front if it runs.
    pub(super) async fn start(
        &self,
        app: &AppId,
        arguments: &[LaunchArgument],
    ) -> Result<String, Error> {
        let command = self.start_command(app, arguments).await?;
        match self.client.act_within(LAUNCH, command, LAUNCH_LIMIT).await {
            Err(failure) if is_missing(&failure) => Err(Error::NoSuchApp { app: app.0.clone() }),
            Err(failure) if is_not_launchable(&failure) => {
                Err(Error::NotLaunchable { app: app.0.clone() })
            }
            done => Ok(done.map(|_| String::new())?),
        }
    }

    async fn start_command(
        &self,
        app: &AppId,
        arguments: &[LaunchArgument],
    ) -> Result<Command, Error> {
        if !arguments.is_empty() && self.dialect != Dialect::WebDriverAgent {
            let what = "starting an app with arguments by Appium";
            return Err(Error::Unsupported { what, platform: self.identity.platform });
        }
        if self.dialect != Dialect::WebDriverAgent {
            self.require_app(app).await?;
            return Ok(PhoneCommand::ActivateApp(app).command(self.dialect));
        }
        self.check_app(app)?;
        let state = match self.read_app_state(app).await.map_err(Error::from) {
            Err(Error::Unsupported { .. }) => AppState::NotRunning,
            state => state?,
        };
        Ok(match state {
            // WebDriverAgent says `NotInstalled` of apps that it does not know, too.
            // One that runs is ended and started again: its arguments are those of its process.
            AppState::Suspended | AppState::Background | AppState::Foreground
                if arguments.is_empty() =>
            {
                PhoneCommand::ActivateApp(app).command(self.dialect)
            }
            _ => AppCommand::Launch {
                bundle_id: app.0.clone(),
                arguments: (!arguments.is_empty()).then(|| process_arguments(arguments)),
                environment: None,
                // Apps with an endless animation never come to rest.
                wait_for_quiescence: Some(false),
            }
            .into(),
        })
    }

    pub(super) async fn terminate(&self, app: &AppId) -> Result<(), Error> {
        match self.dialect {
            Dialect::WebDriverAgent => self.check_app(app)?,
            Dialect::UiAutomator2 | Dialect::XcuiTest => self.require_app(app).await?,
        }
        // The response is whether it ran.
        Ok(self.run(STOP, PhoneCommand::TerminateApp(app)).await.map(drop)?)
    }

    async fn read_app_state(&self, app: &AppId) -> Result<AppState, RequestError> {
        self.ask_as(STATE, PhoneCommand::AppState(app), AppState::from_response).await
    }

    /// # Errors
    /// [`Error::NoSuchApp`] if the app is not installed.
    async fn require_app(&self, app: &AppId) -> Result<(), Error> {
        self.check_app(app)?;
        match self.read_app_state(app).await? {
            AppState::NotInstalled => Err(Error::NoSuchApp { app: app.0.clone() }),
            _ => Ok(()),
        }
    }

    /// The active apps that WebDriverAgent knows, in the phone's order.
    pub(super) async fn active_apps(&self) -> Result<AppList, Error> {
        let response = self.client.read(LIST, AppCommand::List).await?;
        let list = response.value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut apps: Vec<App> = Vec::new();
        for id in list.iter().filter_map(|app| app.get("bundleId")?.as_str()) {
            let app = ios_app(AppId(id.to_owned()));
            if !apps.contains(&app) {
                apps.push(app);
            }
        }
        Ok(AppList { apps, is_complete: false })
    }

    /// The installed apps that Appium lists. UiAutomator2 does not say which are the system's; an
    /// iPhone that is not on the server's own USB reports only which one is in front.
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
                    let apps = self.active_app().await?.map(ios_app).into_iter().collect();
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
        let response = self.ask_script(LIST, command).await?;
        let apps = response.value.as_object();
        let apps = apps.ok_or_else(|| unreadable("mobile: listApps", "it is not an object"))?;
        Ok(apps.keys().map(|id| AppId(id.clone())).collect())
    }

    pub(super) async fn read_front(&self) -> Result<Foreground, Error> {
        if self.is_locked().await? {
            return Ok(Foreground::Keyguard);
        }
        if !self.is_android() {
            let app = self.active_app().await?;
            return Ok(app.map_or(Foreground::Unknown, |app| front(app, String::new())));
        }
        let response = self.ask_script(FRONT, MobileCommand::new("getCurrentPackage")).await?;
        match response.value.as_str().filter(|package| !package.is_empty()) {
            Some(package) => {
                let screen = self.read_activity(package).await?;
                Ok(front(AppId(package.to_owned()), screen))
            }
            None => Ok(Foreground::Unknown),
        }
    }

    /// The class of Android's activity in front, which is this app's; empty if the phone does not
    /// report it.
    pub(super) async fn read_activity(&self, package: &str) -> Result<String, Error> {
        let response = self.ask_script(FRONT, MobileCommand::new("getCurrentActivity")).await;
        let response: Option<Response> = if_available(response)?;
        let activity = response.as_ref().and_then(|response| response.value.as_str());
        Ok(whole_class(package, activity.unwrap_or_default()))
    }

    /// The app in front on iOS; `None` if the server does not say.
    pub(super) async fn active_app(&self) -> Result<Option<AppId>, Error> {
        let app = self.ask_as(FRONT, PhoneCommand::ActiveApp, ActiveApp::from_response).await;
        let app = if_available(app)?.map(|app| AppId(app.bundle_id));
        Ok(app.filter(|app| !app.0.is_empty()))
    }
}

fn ios_app(id: AppId) -> App {
    App { system: id.0.starts_with("com.apple."), id }
}

/// What is in front if this app is, at this screen. `com.apple.springboard`, the home screen, is an
/// app like any other.
pub(super) fn front(app: AppId, screen: String) -> Foreground {
    match &*app.0 {
        // The notification shade and other windows of Android.
        "com.android.systemui" => Foreground::System { title: app.0 },
        _ => Foreground::App(ForegroundApp { app, screen }),
    }
}

/// The activity's class: Appium shortens `com.example.app.Main` to `.Main`.
fn whole_class(package: &str, activity: &str) -> String {
    match activity.starts_with('.') {
        true => format!("{package}{activity}"),
        false => activity.to_owned(),
    }
}

/// Whether the app is not installed: code 4 of FBSOpenApplication's error domains on iPhones (iOS
/// 16), a text on simulators and from earlier WebDriverAgents.
fn is_missing(failure: &RequestError) -> bool {
    failure.mentions(&["fbsopenapplication"]) && failure.mentions(&["code=4"])
        || failure.mentions(&["not installed", "unknown to frontboard"])
}

/// Whether an installed app has nothing to start (`resolveLaunchableActivity` in appium-adb).
fn is_not_launchable(failure: &RequestError) -> bool {
    failure.mentions(&["Cannot resolve", "launchable activity"])
}

#[async_trait]
impl AppData for WebDriverPhone {
    async fn clear_data(&self, app: &AppId) -> Result<(), Error> {
        self.require_app(app).await?;
        let command = MobileCommand::app(AppOperation::Clear, AppiumDriver::UiAutomator2, &app.0);
        Ok(self.client.act(CLEAR, script(command)).await.map(drop)?)
    }
}

/// `-name value`, which an app reads from its user defaults, as Maestro passes them.
fn process_arguments(arguments: &[LaunchArgument]) -> Vec<String> {
    let named = |name: &str| match name.starts_with('-') {
        true => name.to_owned(),
        false => format!("-{name}"),
    };
    arguments.iter().flat_map(|it| [named(&it.name), it.value.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LaunchValue;

    #[test]
    fn arguments_are_those_of_user_defaults() {
        let argument = |name: &str, value| LaunchArgument { name: name.into(), value };
        let arguments = [
            argument("seed", LaunchValue::Whole(7)),
            argument("-fresh", LaunchValue::Flag(true)),
            argument("name", LaunchValue::Text("a b".into())),
        ];
        let expected = ["-seed", "7", "-fresh", "true", "-name", "a b"];
        assert_eq!(process_arguments(&arguments), expected);
    }

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

//! Apps and device info: what may be served from the cache, and which app a caller means.
//!
//! Start with [`AttachedDevice::apps`] and [`AttachedDevice::launch`]. Every listing is filtered
//! from one cached list of all apps, so user and system apps never mix. App numbers refer to the
//! most recent listing.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use thumbwire_device::{
    App, AppId, AppList, Foreground, Key, LaunchArgument, LauncherApps, SideEffect, is_home_screen,
};
use tokio::time::{Instant, sleep};

use super::app_names;
use super::attached_device::AttachedDevice;
use super::cache::InstalledApps;
use super::labels::LabelledApp;
use crate::action::{
    AppFilter, AppSelector, Cause, Failure, InfoResult, Label, LabelledApps, LaunchResult,
    NumberedList, Outcome,
};
use crate::snapshot::parse_exactly;

/// How long app numbers are used without asking the phone again (UFO MobileAgent servers: apps
/// cache).
const NUMBERS_FRESH: Duration = Duration::from_secs(300);

/// How long labels may be read for a list of apps, and to find the app that a name means. The rest
/// is read by later calls.
const LISTING: Duration = Duration::from_secs(3);
const LAUNCHING: Duration = Duration::from_secs(5);

/// How long an app may take to come to the front; how long another one has to be there before it
/// counts as what the app handed over to; how long nothing may be known; and the pause between two
/// looks.
const STARTING: Duration = Duration::from_secs(6);
const HANDED_OVER: Duration = Duration::from_millis(1500);
const UNSEEN: Duration = Duration::from_millis(600);
const LOOKING: Duration = Duration::from_millis(200);

/// How many matching apps are tried at most. Each app without an activity to start takes an old
/// phone 2 s.
const MAX_TRIED: usize = 5;

impl AttachedDevice {
    pub(super) async fn info(&self, max_age: Duration) -> Result<Outcome, Failure> {
        let known = &self.screen.cache.info;
        let out = |info, earlier| {
            Outcome::Info(InfoResult { identity: self.identity().clone(), info, earlier })
        };
        if let Some(info) = known.recent(max_age) {
            return Ok(out(info, true));
        }
        let generation = self.screen.generation();
        let asked = known.ask(&self.screen.generation);
        let info = self.device.info().await.map_err(|error| self.failed(&error))?;
        self.screen.learn_size(info.screen, generation);
        known.keep(asked, info.clone());
        Ok(out(info, false))
    }

    /// The apps of this kind whose id contains the text.
    pub(super) async fn apps(
        &self,
        which: AppFilter,
        containing: &str,
        max_age: Duration,
    ) -> Result<Outcome, Failure> {
        self.filtered(which, containing, max_age).await.map(|list| Outcome::Apps(list.apps))
    }

    /// The same, as a list.
    async fn filtered(
        &self,
        which: AppFilter,
        containing: &str,
        max_age: Duration,
    ) -> Result<AppList, Failure> {
        let InstalledApps { apps, is_complete, at } = self.installed(max_age).await?;
        let is_wanted = |app: &&App| {
            let of_kind = match which {
                AppFilter::User => !app.system,
                AppFilter::System => app.system,
                AppFilter::All => true,
            };
            of_kind && app.id.0.contains(containing)
        };
        let apps: Vec<App> = apps.iter().filter(is_wanted).cloned().collect();
        let numbered = &self.screen.cache.numbered;
        let out = InstalledApps { apps: apps.clone().into(), is_complete, at };
        numbered.keep(numbered.ask(&self.screen.generation), out);
        Ok(AppList { apps, is_complete })
    }

    /// All apps, from the phone or from a cached list no older than that.
    pub(super) async fn installed(&self, max_age: Duration) -> Result<InstalledApps, Failure> {
        let known = &self.screen.cache.apps;
        if let Some(installed) = known.recent(max_age) {
            return Ok(installed);
        }
        let (asked, at) = (known.ask(&self.screen.generation), Instant::now());
        let AppList { apps, is_complete } =
            self.device.apps().await.map_err(|error| self.failed(&error))?;
        let installed = InstalledApps { apps: apps.into(), is_complete, at };
        known.keep(asked, installed.clone());
        Ok(installed)
    }

    /// Starts the selected app.
    pub(super) async fn launch(&self, choice: &AppSelector) -> Result<Outcome, Failure> {
        match choice {
            AppSelector::Id(app) => self.launch_by_id(app).await,
            AppSelector::ListIndex(number) => {
                self.start(&self.app_by_index(number).await?, &[]).await
            }
            AppSelector::Named(word) => self.launch_by_name(word).await,
        }
    }

    /// Starts an app with these arguments.
    pub(super) async fn start(
        &self,
        app: &AppId,
        arguments: &[LaunchArgument],
    ) -> Result<Outcome, Failure> {
        // The phone starts only what its launcher shows.
        self.refuse_new_app(app)?;
        let _turn = self.screen.acting.lock().await;
        let done = self.launch_and_see(app, arguments).await?;
        self.screen.guard.learn_launcher([app.clone()]);
        Ok(done)
    }

    async fn launch_and_see(
        &self,
        app: &AppId,
        arguments: &[LaunchArgument],
    ) -> Result<Outcome, Failure> {
        let before = self.look_in_front().await;
        let output = self.act(self.device.launch(app, arguments)).await?;
        self.launched(app, output, &before).await
    }

    /// Opens an address. Not behind a lock screen: the phone would wait there for the app to be
    /// drawn.
    pub(super) async fn open_url(&self, url: &str) -> Result<Outcome, Failure> {
        if let Some(scheme) = self.screen.guard.allowed.refused_scheme(url) {
            return Err(Cause::LinkNotAllowed { scheme }.into());
        }
        let _turn = self.screen.acting.lock().await;
        let before = self.look_in_front().await;
        if let Some(state) = before.lock() {
            return Err(Cause::Locked(state).into());
        }
        self.refuse_link_to_other_app(url).await?;
        let opening = async { self.device.links()?.open_link(url).await };
        let opened = self.act(opening).await?;
        let front = self.look_in_front().await;
        let named = || front.app().map(|front| front.app.clone());
        let app = opened.clone().or_else(named).unwrap_or_else(|| AppId(String::new()));
        if let Err(refused) = self.refuse_new_app(&app) {
            // The app that opens an address may pass it on. What it opened is left at once.
            self.act(self.device.press(Key::Home)).await?;
            return Err(Failure { side_effect: SideEffect::Possible, ..refused });
        }
        match opened {
            Some(app) => self.launched(&app, String::new(), &before).await,
            None => Ok(Outcome::Launched(LaunchResult {
                app,
                text: String::new(),
                locked: front.lock(),
                in_front: None,
            })),
        }
    }

    /// The outcome of a start: the app is seen in front, or what it handed over to, or a lock
    /// screen, which it survives.
    ///
    /// # Errors
    /// If it does not come to the front: what was there before still is, or the home screen, or the
    /// app crashed.
    async fn launched(
        &self,
        app: &AppId,
        text: String,
        before: &Foreground,
    ) -> Result<Outcome, Failure> {
        let began = Instant::now();
        let front = loop {
            let front = self.look_in_front().await;
            let patience = match &front {
                Foreground::App(shown) if shown.app == *app => Duration::ZERO,
                Foreground::Keyguard | Foreground::ScreenOff => Duration::ZERO,
                Foreground::System { title } if is_crash(title) => Duration::ZERO,
                Foreground::Unknown => UNSEEN,
                shown if is_elsewhere(shown, before) => HANDED_OVER,
                _ => STARTING,
            };
            if began.elapsed() >= patience {
                break front;
            }
            sleep(LOOKING).await;
        };
        let failed = match &front {
            Foreground::App(shown) if shown.app == *app => false,
            Foreground::System { title } => is_crash(title) && title.contains(&app.0),
            Foreground::App(_) => !is_elsewhere(&front, before),
            Foreground::Unknown | Foreground::Keyguard | Foreground::ScreenOff => false,
        };
        if failed {
            let text = format!("{app} was started, but {front} is in front");
            let cause = Cause::DeviceError { text };
            return Err(Failure { cause, side_effect: SideEffect::Possible });
        }
        let other = match &front {
            Foreground::App(shown) if shown.app != *app => Some(front.to_string()),
            Foreground::System { .. } => Some(front.to_string()),
            _ => None,
        };
        let locked = front.lock();
        Ok(Outcome::Launched(LaunchResult { app: app.clone(), text, locked, in_front: other }))
    }

    /// The app with this number in the most recent listing. If the listing is old, the phone is
    /// asked whether the app is still installed; the number keeps its app even if its position
    /// changed.
    async fn app_by_index(&self, number: &str) -> Result<AppId, Failure> {
        let refuse = |reason: Option<&str>, none: bool| {
            let (number, reason) = (number.to_owned(), reason.map(str::to_owned));
            Failure::from(Cause::StaleReference { list: NumberedList::Apps, number, reason, none })
        };
        let Some(last) = self.screen.cache.numbered.last() else {
            return Err(refuse(None, true));
        };
        let place = parse_exactly::<usize>(number).and_then(|counted| counted.checked_sub(1));
        let Some(app) = place.and_then(|place| last.value.apps.get(place)) else {
            return Err(refuse(None, false));
        };
        if last.value.at.elapsed() > NUMBERS_FRESH {
            let installed = self.installed(NUMBERS_FRESH).await?.apps;
            if !installed.iter().any(|known| known.id == app.id) {
                return Err(refuse(Some("it is no longer installed"), false));
            }
        }
        Ok(app.id.clone())
    }

    /// Apps of this kind, with the names that the launcher shows.
    pub(super) async fn labelled_apps(&self, which: AppFilter) -> Result<Outcome, Failure> {
        let (apps, launcher) =
            tokio::join!(self.filtered(which, "", Duration::ZERO), self.launcher_apps());
        let AppList { apps, is_complete } = apps?;
        let listed: HashSet<&AppId> = apps.iter().map(|app| &app.id).collect();
        let labels = self.labelled(launcher, LISTING, |app| listed.contains(app)).await?;
        let has_labels = labels.is_some();
        let mut labels: HashMap<AppId, Label> =
            labels.into_iter().flatten().map(|it| (it.app, it.label)).collect();
        let with_label = |app: App| {
            let label = labels.remove(&app.id);
            (app, label)
        };
        let apps = apps.into_iter().map(with_label).collect();
        Ok(Outcome::LabelledApps(LabelledApps { apps, has_labels, is_complete }))
    }

    /// The labels of the apps that are `wanted`; `None` if the phone did not list them.
    async fn labelled(
        &self,
        launcher: Result<Option<LauncherApps>, Failure>,
        within: Duration,
        wanted: impl Fn(&AppId) -> bool,
    ) -> Result<Option<Vec<LabelledApp>>, Failure> {
        let Some(launcher) = launcher.or_else(without_labels)? else { return Ok(None) };
        self.labels(&launcher, within, wanted).await.map(Some).or_else(without_labels)
    }

    /// Starts the app with that id. An app that calls itself like an id that is not installed is
    /// not started: it would get what is meant for another.
    async fn launch_by_id(&self, app: &AppId) -> Result<Outcome, Failure> {
        let not_found = match self.start(app, &[]).await {
            Err(failure) if matches!(failure.cause, Cause::AppNotFound { .. }) => failure,
            done => return done,
        };
        let labels = self.labelled(self.launcher_apps().await, LAUNCHING, |_| true).await;
        let labels = labels.ok().flatten().unwrap_or_default();
        match app_names::called(&app.0, &labels) {
            Some(cause) => Err(Failure { cause, ..not_found }),
            None => Err(not_found),
        }
    }

    /// Starts the app that a name means. Of parts of ids the first one that can be started counts:
    /// `contacts` also matches the contacts provider, which has no activity.
    async fn launch_by_name(&self, word: &str) -> Result<Outcome, Failure> {
        let word = word.trim();
        if word.is_empty() {
            let reason = "the app name is empty; give its name, its id, or a part of it".into();
            return Err(Cause::InvalidArgument { reason }.into());
        }
        // Always ask the phone: the caller may mean an app that was just installed.
        let (installed, launcher) =
            tokio::join!(self.installed(Duration::ZERO), self.launcher_apps());
        let installed = installed?.apps;
        let labels = self.labelled(launcher, LAUNCHING, |_| true).await?.unwrap_or_default();
        let meant = app_names::meant(word, &installed, &labels)?;
        let (meant, others): (Vec<_>, Vec<_>) =
            meant.into_iter().partition(|app| self.refuse_new_app(app).is_ok());
        if let ([], [other, ..]) = (&meant[..], &others[..]) {
            self.refuse_new_app(other)?;
        }
        let _turn = self.screen.acting.lock().await;
        let mut unlaunchable = None;
        for app in meant.into_iter().take(MAX_TRIED) {
            match self.launch_and_see(app, &[]).await {
                Ok(done) => return Ok(done),
                Err(Failure { cause: Cause::AppNotFound { .. }, .. }) => {}
                Err(failure) if matches!(failure.cause, Cause::AppNotLaunchable { .. }) => {
                    unlaunchable.get_or_insert(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(unlaunchable.unwrap_or_else(|| Cause::AppNotFound { app: word.into() }.into()))
    }
}

/// Whether another app is in front than before, and not the home screen.
fn is_elsewhere(front: &Foreground, before: &Foreground) -> bool {
    let Some(shown) = front.app() else { return false };
    !is_home_screen(&shown.app.0) && before.app().is_none_or(|before| before.app != shown.app)
}

/// Whether a window of the system says that an app crashed or hangs (AOSP, `AppErrorDialog`,
/// `AppNotRespondingDialog`).
fn is_crash(title: &str) -> bool {
    title.starts_with("Application Error") || title.starts_with("Application Not Responding")
}

/// A phone whose launcher cannot be asked still has ids. A phone that is lost has nothing.
fn without_labels<T>(failure: Failure) -> Result<Option<T>, Failure> {
    match failure.cause {
        Cause::DeviceNotConnected { .. } | Cause::DeviceNotAuthorized { .. } => Err(failure),
        cause => {
            tracing::debug!("no labels: {cause}");
            Ok(None)
        }
    }
}

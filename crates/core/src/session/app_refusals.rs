//! Refuses apps that the operator does not allow: to manage them, and to act on their screens.
//!
//! Start with [`AttachedDevice::refuse_app`] and [`AttachedDevice::refuse_if_guarded`]. Looking is
//! always possible, and so is leaving an app. What is in front is known from the last look, if no
//! action followed; otherwise the phone is asked, in the same round trip that tells whether it is
//! locked.

use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::{AppId, Foreground};

use super::attached_device::AttachedDevice;
use super::settings_pages::SETTINGS;
use crate::action::{Cause, Failure};
use crate::allowed_apps::AppRule;

/// Why an app is refused if nobody knows whether the launcher shows it.
const UNLISTED: &str = "the phone did not tell whether its launcher shows it";

/// Why an act is refused if nobody knows where it would land.
const UNKNOWN: &str = "the phone does not say which app is in front, and not every app may be used";

/// Why an address is refused if nobody knows which app would open it.
const UNKNOWN_OPENER: &str = "the phone does not say which app would open the address, and not every app may be used: \
                              launch an app that is allowed and go there in it";

/// The app to which the notification shade and other windows of the system count.
const SYSTEM_WINDOWS: &str = "com.android.systemui";

impl AttachedDevice {
    /// Refuses to manage an app that callers may not use.
    pub(super) async fn refuse_app(&self, app: &AppId) -> Result<(), Failure> {
        let guard = &self.screen.guard;
        if guard.allowed.rule(app) != AppRule::IfInLauncher {
            return self.refuse_new_app(app);
        }
        if lock(&guard.in_launcher).contains(app) {
            return Ok(());
        }
        let reason = match self.launcher_apps().await {
            Ok(Some(listing)) => {
                guard.learn_launcher(listing.apps.into_iter().map(|it| it.app));
                "the launcher does not show it, so it is a part of the system or of another app"
            }
            Err(lost @ Failure { cause: Cause::DeviceNotConnected { .. }, .. }) => {
                return Err(lost);
            }
            Ok(None) | Err(_) => UNLISTED,
        };
        if lock(&guard.in_launcher).contains(app) {
            return Ok(());
        }
        // An app that is not there is not found, as without a limit.
        let installed = self.installed(Duration::ZERO).await?;
        match !installed.is_complete || installed.apps.iter().any(|known| known.id == *app) {
            true => {
                Err(Cause::AppNotAllowed { app: app.0.clone(), reason: Some(reason.into()) }.into())
            }
            false => Err(Cause::AppNotFound { app: app.0.clone() }.into()),
        }
    }

    /// The same for an app that the launcher need not show: one that is not installed yet, or that
    /// has other rules, too.
    pub(super) fn refuse_new_app(&self, app: &AppId) -> Result<(), Failure> {
        match self.screen.guard.allowed.rule(app) {
            AppRule::Allowed | AppRule::IfInLauncher => Ok(()),
            AppRule::NotAllowed => {
                Err(Cause::AppNotAllowed { app: app.0.clone(), reason: None }.into())
            }
        }
    }

    /// Refuses an address that an app would open that callers may not use. If the phone does not
    /// say which app that is, every address is refused.
    pub(super) async fn refuse_link_to_other_app(&self, address: &str) -> Result<(), Failure> {
        let allowed = &self.screen.guard.allowed;
        if !allowed.are_named() || allowed.are_all() {
            return Ok(());
        }
        let asking = async { self.device.links()?.app_for_link(address).await };
        match asking.await.map_err(|error| self.failed(&error))? {
            Some(app) => self.refuse_new_app(&app),
            None => Err(Cause::Refused { reason: UNKNOWN_OPENER.into() }.into()),
        }
    }

    /// Refuses to act on the screen of an app that callers may not use, where the phone does not
    /// say what is in front, and on some pages of Settings ([`super::settings_pages`]). A lock
    /// screen is guarded elsewhere.
    pub(super) async fn refuse_if_guarded(&self) -> Result<(), Failure> {
        let guard = &self.screen.guard;
        if !guard.allowed.depend_on_front() {
            return Ok(());
        }
        let seen = guard.front(self.screen.generation());
        let is_limited = guard.allowed.are_named() && !guard.allowed.are_all();
        // A phone changes by itself, and an allowed app can arrange that.
        let seen = match seen {
            Some(seen) if is_limited && !self.is_still_in_front(&seen).await => None,
            seen => seen,
        };
        let front = match seen {
            Some(front) => front,
            // No window above an activity of another app leads to a page of Settings.
            None if !guard.allowed.are_named() && self.is_other_activity(SETTINGS).await => {
                return Ok(());
            }
            None => self.look_in_front().await,
        };
        if let Foreground::App(front) = &front
            && front.app.0 == SETTINGS
            && guard.allowed.guards_settings()
        {
            self.refuse_guarded_page(front).await?;
        }
        if !guard.allowed.are_named() {
            return Ok(());
        }
        let app = match front {
            Foreground::App(front) => front.app,
            // A reply can be typed into a notification, for one.
            Foreground::System { .. } => AppId(SYSTEM_WINDOWS.into()),
            Foreground::Keyguard | Foreground::ScreenOff => return Ok(()),
            Foreground::Unknown if guard.allowed.are_all() => return Ok(()),
            Foreground::Unknown => return Err(Cause::NotReady { text: UNKNOWN.into() }.into()),
        };
        match guard.allowed.rule(&app) {
            AppRule::NotAllowed => {
                let reason = Some("it is in front, and may only be looked at or left");
                Err(Cause::AppNotAllowed { app: app.0, reason: reason.map(Into::into) }.into())
            }
            AppRule::Allowed | AppRule::IfInLauncher => Ok(()),
        }
    }
}

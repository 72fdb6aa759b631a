//! The app "Appium Settings" (`io.appium.settings`), once it is installed: what Appium's driver
//! needs of it.
//!
//! Its activity starts a foreground service and finishes at once, so the screen stays as it is. Its
//! receiver of the clipboard answers in base64; other receivers get no answer, which the driver
//! reports as a failure. Source of names and replies: the package `io.appium.settings` on npm.

use crate::phone::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thumbwire_virtual_phone::{BroadcastResult, Intent, ServiceName};

const PACKAGE: &str = "io.appium.settings";
/// The service that keeps it running.
const SERVICE: &str = "io.appium.settings.ForegroundService";
/// What its receivers answer for success (`Activity.RESULT_OK`).
const OK: i32 = -1;

fn is_installed(phone: &State) -> bool {
    phone.world.packages().iter().any(|manifest| manifest.package == PACKAGE)
}

/// Starts the app, if the intent means its main activity. `false` if it means another one.
pub(super) fn start(phone: &mut State, intent: &Intent) -> bool {
    let Some(component) = &intent.component else { return false };
    if component.package != PACKAGE
        || !component.activity.ends_with(".Settings")
        || !is_installed(phone)
    {
        return false;
    }
    let to = ServiceName { package: PACKAGE.to_owned(), class: SERVICE.to_owned() };
    phone.world.start_own_service(&to)
}

/// The answer of its receiver; `None` if the broadcast is for others.
pub(super) fn broadcast(phone: &mut State, intent: &Intent) -> Option<BroadcastResult> {
    let is_for_it = intent.component.as_ref().is_some_and(|to| to.package == PACKAGE);
    if !is_for_it || phone.world.pid_of(PACKAGE).is_none() {
        return None;
    }
    match intent.action.as_deref()? {
        "io.appium.settings.clipboard.get" => {
            let text = phone.world.clipboard().unwrap_or_default();
            Some(BroadcastResult { result: OK, data: Some(STANDARD.encode(text)) })
        }
        _ => None,
    }
}

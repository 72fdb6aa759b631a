//! Failures in this toolset: the specification's text, then details, then the next move.

use crate::action::{Cause, Failure};
use crate::toolset::{RejectedCall, RejectionReason, Reply};
use thumbwire_base::truncate;
use thumbwire_base::visible::{name, visible};

pub(super) fn refuse(rejected: &RejectedCall<'_>) -> Reply {
    Reply::error(match &rejected.reason {
        RejectionReason::Failure(failure) => failure_text(failure),
        RejectionReason::InvalidArguments(violations) => {
            // Only the first one: the next call reports the rest.
            let reason = violations.first().map_or_else(String::new, ToString::to_string);
            failure_text(&Cause::InvalidArgument { reason }.into())
        }
    })
}

/// A failure as text: the specification's text, and the next move on its own line.
pub fn failure_text(failure: &Failure) -> String {
    let output = match &failure.cause {
        Cause::DeviceNotConnected { device, reason }
        | Cause::DeviceNotAnswering { device, reason } => {
            format!("Device not connected: {}\n{reason}", truncate(device, MAX_NAME))
        }
        Cause::DeviceNotReady { device, state } => {
            let (device, state) = (truncate(device, MAX_NAME), truncate(state, MAX_NAME));
            format!("Device not connected: {device}\nits state is {state}")
        }
        Cause::DeviceNotAuthorized { device } => {
            format!("Refused: the phone {device} has not authorized this computer")
        }
        Cause::DeviceNotAllowed { device } => {
            format!("Refused: the device {} is not allowed", truncate(device, MAX_NAME))
        }
        Cause::AppNotAllowed { app, reason } => {
            let app = Cause::AppNotAllowed { app: truncate(app, MAX_NAME), reason: reason.clone() };
            format!("Refused: {app}")
        }
        Cause::NoDeviceChosen { devices } if devices.is_empty() => {
            "Refused: no device selected and none connected".into()
        }
        Cause::NoDeviceChosen { devices } => {
            let list: Vec<_> = devices
                .iter()
                .map(|phone| format!("{} ({})", name(&phone.id), phone.state))
                .collect();
            format!("Refused: no device selected; devices: {}", list.join(", "))
        }
        Cause::AppNotFound { app } => format!("App not found: {}", truncate(app, MAX_NAME)),
        Cause::AppNotLaunchable { app } => {
            let app = Cause::AppNotLaunchable { app: truncate(app, MAX_NAME) };
            format!("Refused: {app}")
        }
        Cause::PackageRefused { .. } => {
            format!("Refused: {}", truncate(&failure.cause.to_string(), MAX_REFUSAL))
        }
        Cause::AmbiguousApp { name, candidates } => {
            let (name, candidates) = (truncate(name, MAX_NAME), candidates.clone());
            format!("Refused: {}", Cause::AmbiguousApp { name, candidates })
        }
        Cause::AppToolNotFound { app, tool, reason } => {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!("\n{reason}"));
            let (tool, app) = (truncate(tool, MAX_NAME), truncate(app, MAX_NAME));
            format!("App tool not found: {tool} of {app}{reason}")
        }
        Cause::AppNotTrusted { app, reason } => {
            let app = truncate(app, MAX_NAME);
            format!("Refused: tools of {app} are not allowed: {reason}")
        }
        Cause::NoAppReply { what, reason } => {
            let what = truncate(what, MAX_NAME);
            format!("Refused: cannot receive the reply to {what}: {reason}")
        }
        Cause::ElementNotFound { sought, reason } => {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!("\n{reason}"));
            format!("Element not found: {}{reason}", truncate(sought, MAX_NAME))
        }
        Cause::IndexOutOfRange { .. }
        | Cause::StaleReference { .. }
        | Cause::NoSuchRecording { .. }
        | Cause::NoSuchMonitor { .. }
        | Cause::InvalidFileName { .. } => {
            format!("Invalid argument: {}", truncate(&failure.cause.to_string(), MAX_NAME))
        }
        Cause::TimedOut { what, after } | Cause::ConditionNotMet { what, after } => {
            let (what, after) = (truncate(what, MAX_NAME), after.as_secs_f64().round());
            format!("Operation timed out: {what} after {after} s")
        }
        Cause::PlatformNotSupported { what, platform } => {
            format!("Platform not supported: {what} on {platform}")
        }
        Cause::InvalidArgument { reason } => format!("Invalid argument: {reason}"),
        Cause::Refused { reason } => format!("Refused: {reason}"),
        Cause::BackgroundStartRestricted { .. }
        | Cause::DeviceBusy { .. }
        | Cause::DeviceTakenOver { .. }
        | Cause::TakenByUser { .. }
        | Cause::LeaseLost { .. }
        | Cause::SettingsPageNotAllowed { .. }
        | Cause::LinkNotAllowed { .. }
        | Cause::TooManyActive { .. }
        | Cause::TooManyLooks { .. }
        | Cause::Locked(_)
        | Cause::NoInputFolder
        | Cause::TextNotTypable(_)
        | Cause::NoFocusedField { .. }
        | Cause::HelperMissing { .. }
        | Cause::TypingTooLong { .. } => {
            format!("Refused: {}", failure.cause)
        }
        Cause::StepFailed { reason } => format!("Step failed: {reason}"),
        Cause::NotReady { text: said } | Cause::DeviceError { text: said } => {
            // An app can have a say in what the phone's programs print.
            format!("Refused: {}", visible(said))
        }
        Cause::Cancelled => "Refused: the call was cancelled".into(),
    };
    format!("{output}\nNext: {}", failure.next_step())
}

/// Names in messages are truncated: callers and phones may send very long ones.
const MAX_NAME: usize = 200;

/// The same for what a phone says about a package.
const MAX_REFUSAL: usize = 500;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use thumbwire_device::SideEffect;

    use super::*;

    #[test]
    fn messages_have_a_bounded_length() {
        let book = || "b".repeat(1_000_000);
        let causes = [
            Cause::DeviceNotConnected { device: book(), reason: "gone".into() },
            Cause::DeviceNotReady { device: book(), state: book() },
            Cause::DeviceNotAllowed { device: book() },
            Cause::AppNotFound { app: book() },
            Cause::AppNotLaunchable { app: book() },
            Cause::ElementNotFound { sought: book(), reason: None },
            Cause::TimedOut { what: book(), after: Duration::from_secs(1) },
        ];
        for cause in causes {
            assert!(failure_text(&Failure { cause, side_effect: SideEffect::None }).len() < 1000);
        }
    }
}

//! Why a call failed, as a sentence for the policy.
//!
//! Start with [`reason`]. Toolsets end their errors with the next move of their own clients:
//! another tool to call, a flag to start the server with. A policy has neither: it sees a screen in
//! each step and has a few functions. So the policy gets a failure of the phone in the failure's
//! own words, with a move that the policy can make.

use thumbwire_base::truncate;
use thumbwire_base::visible::visible;
use thumbwire_core::action::{Cause, Failure, NumberedList, UserTurn};
use thumbwire_device::SideEffect;

use super::FunctionError;

/// The longest reason, in characters.
const MAX_REASON: usize = 800;

/// Why a call failed, on one line.
pub(crate) fn reason(error: &FunctionError) -> String {
    match error {
        FunctionError::Phone(failure) => text(failure),
        FunctionError::Rejected(reason) => one_line(&truncate(reason, MAX_REASON)),
    }
}

/// A failure with what the policy can do about it.
pub(crate) fn text(failure: &Failure) -> String {
    let cause = truncate(&failure.cause.to_string(), MAX_REASON);
    format!("{}; {}", one_line(&cause), next_step(failure))
}

fn one_line(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("; ")
}

/// What the policy can do, with its functions and its screen.
fn next_step(failure: &Failure) -> String {
    let advice = match &failure.cause {
        Cause::StaleReference { list: NumberedList::Apps, .. } | Cause::AppNotFound { .. } => {
            "use a package of [Installed Apps], or a word of the app's name"
        }
        Cause::AmbiguousApp { .. } => "use the package of the one that is meant",
        Cause::StaleReference { .. } | Cause::ElementNotFound { .. } => {
            "take the id from the current list of controls"
        }
        Cause::Locked(_) => {
            "wake the phone with press_key KEYCODE_WAKEUP and swipe up; if it asks for a code, only the user can unlock it"
        }
        Cause::TypingTooLong { fits, .. } => {
            // Nothing was typed.
            return format!("type it in parts of at most {fits} characters");
        }
        Cause::DeviceNotConnected { .. }
        | Cause::DeviceNotAnswering { .. }
        | Cause::DeviceNotReady { .. }
        | Cause::NoDeviceChosen { .. } => {
            "wait a moment; if the phone does not come back, end with FAIL"
        }
        Cause::DeviceNotAuthorized { .. } => {
            "end with FAIL and say that the phone asks whether to trust this computer"
        }
        Cause::DeviceBusy { .. } => "wait a moment and try again",
        Cause::LeaseLost { .. } | Cause::TakenByUser { turn: UserTurn::Acted, .. } => {
            "look at the screen before you go on"
        }
        Cause::TakenByUser { turn: UserTurn::Acting, .. } => "wait, and try again",
        Cause::TakenByUser { turn: UserTurn::Stopped, .. } => {
            "end with FAIL and say that the user has stopped the work"
        }
        Cause::DeviceTakenOver { .. } => {
            "end with FAIL and say that the user has taken the phone over"
        }
        Cause::DeviceNotAllowed { .. }
        | Cause::AppNotAllowed { .. }
        | Cause::SettingsPageNotAllowed { .. }
        | Cause::LinkNotAllowed { .. }
        | Cause::AppNotTrusted { .. }
        | Cause::NoInputFolder
        | Cause::HelperMissing { .. } => {
            "find a way without it, or end with FAIL and say that the operator of Thumbwire has to allow it"
        }
        Cause::NoAppReply { .. }
        | Cause::AppToolNotFound { .. }
        | Cause::BackgroundStartRestricted { .. } => "use the app on its screen instead",
        Cause::IndexOutOfRange { .. }
        | Cause::NoSuchRecording { .. }
        | Cause::NoSuchMonitor { .. }
        | Cause::TooManyActive { .. }
        | Cause::TooManyLooks { .. }
        | Cause::InvalidFileName { .. }
        | Cause::AppNotLaunchable { .. }
        | Cause::PackageRefused { .. }
        | Cause::TextNotTypable(_)
        | Cause::NoFocusedField { .. }
        | Cause::TimedOut { .. }
        | Cause::StepFailed { .. }
        | Cause::ConditionNotMet { .. }
        | Cause::PlatformNotSupported { .. }
        | Cause::InvalidArgument { .. }
        | Cause::Refused { .. }
        | Cause::NotReady { .. }
        | Cause::DeviceError { .. }
        | Cause::Cancelled => return failure.next_step(),
    };
    match failure.side_effect {
        SideEffect::None => advice.into(),
        SideEffect::Possible => format!("the action may have happened: {advice}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use regex_lite::Regex;
    use thumbwire_core::action::{ClientName, FileNameError, Holder};
    use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
    use thumbwire_core::toolset::{ObserveMode, android, ufo};
    use thumbwire_device::{LockState, Platform, UntypableText};

    use super::*;

    /// One of each kind.
    fn causes() -> Vec<Cause> {
        let text = || "it said \u{1b}[2J\nso".to_owned();
        let device = || "127.0.0.1:5555".to_owned();
        let app = || "com.example.app".to_owned();
        let wait = Duration::from_millis(1500);
        vec![
            Cause::DeviceNotConnected { device: device(), reason: text() },
            Cause::DeviceNotAnswering { device: device(), reason: text() },
            Cause::DeviceNotReady { device: device(), state: "offline".into() },
            Cause::DeviceNotAuthorized { device: device() },
            Cause::DeviceNotAllowed { device: device() },
            Cause::AppNotAllowed { app: app(), reason: Some("it installs apps".into()) },
            Cause::SettingsPageNotAllowed { page: "Reset".into() },
            Cause::LinkNotAllowed { scheme: "tel".into() },
            Cause::NoDeviceChosen { devices: Vec::new() },
            Cause::AppNotFound { app: app() },
            Cause::AppNotLaunchable { app: app() },
            Cause::PackageRefused { code: "INSTALL_FAILED_OTHER".into(), text: text() },
            Cause::NoInputFolder,
            Cause::AmbiguousApp { name: "Maps".into(), candidates: vec![app()] },
            Cause::ElementNotFound { sought: "3".into(), reason: Some(text()) },
            Cause::NoFocusedField { act: "type".into() },
            Cause::IndexOutOfRange { index: 3, found: 2 },
            Cause::StaleReference {
                list: NumberedList::Controls,
                number: "3".into(),
                reason: Some("stale reference".into()),
                none: false,
            },
            Cause::StaleReference {
                list: NumberedList::Apps,
                number: "3".into(),
                reason: None,
                none: true,
            },
            Cause::NoSuchRecording { id: "r1".into(), known: Vec::new() },
            Cause::NoSuchMonitor { id: "m1".into(), known: Vec::new() },
            Cause::InvalidFileName { name: "a/b".into(), reason: FileNameError::Folder },
            Cause::TooManyActive { what: "recordings".into(), max: 2 },
            Cause::TooManyLooks { max: 32 },
            Cause::AppToolNotFound { app: app(), tool: "add".into(), reason: None },
            Cause::AppNotTrusted { app: app(), reason: text() },
            Cause::NoAppReply { what: "add".into(), reason: "the helper is off".into() },
            Cause::BackgroundStartRestricted { what: "add".into(), text: text() },
            Cause::Locked(LockState::Keyguard),
            Cause::Locked(LockState::ScreenOff),
            Cause::TypingTooLong { characters: 9, needed: wait, left: wait, fits: 4 },
            Cause::TextNotTypable(UntypableText::Control(vec!['\t'])),
            Cause::TextNotTypable(UntypableText::Keyless(vec!['ü'])),
            Cause::TimedOut { what: "tap".into(), after: wait },
            Cause::StepFailed { reason: text() },
            Cause::ConditionNotMet { what: "wait".into(), after: wait },
            Cause::PlatformNotSupported { what: "keys".into(), platform: Platform::Ios },
            Cause::HelperMissing { what: "the clipboard".into() },
            Cause::InvalidArgument { reason: text() },
            Cause::DeviceBusy {
                device: device(),
                holder: Holder { client: ClientName::clean("other"), process: None, since: wait },
                remaining: wait,
            },
            Cause::DeviceTakenOver { device: device(), remaining: wait },
            Cause::TakenByUser { device: device(), turn: UserTurn::Acting },
            Cause::TakenByUser { device: device(), turn: UserTurn::Acted },
            Cause::TakenByUser { device: device(), turn: UserTurn::Stopped },
            Cause::LeaseLost { device: device() },
            Cause::Refused { reason: text() },
            Cause::NotReady { text: text() },
            Cause::DeviceError { text: text() },
            Cause::Cancelled,
        ]
    }

    /// Names that a policy cannot call, text of `{:?}`, and lines of a log.
    fn is_foreign(text: &str) -> Option<String> {
        let sets = [
            mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::ALL),
            android::toolset(),
            ufo::data(),
            ufo::action(),
        ];
        let names: BTreeSet<String> =
            sets.into_iter().flat_map(|set| set.tools).map(|tool| tool.name).collect();
        let own = crate::functions::phone::PhoneFunctions { lists_apps: false };
        let own: Vec<String> = crate::functions::FunctionProvider::functions(&own)
            .into_iter()
            .map(|it| it.name)
            .collect();
        let is_word = |name: &&String| {
            let pattern = Regex::new(&format!(r"\b{name}\b")).unwrap();
            !own.contains(name) && name.contains('_') && pattern.is_match(text)
        };
        let shapes = [
            r"\b(mobile|android)_[a-z_]+",
            r"\b[A-Z][A-Za-z]+ \{",
            r"\b(Err|Ok|Some|None|Outcome|Failure|Cause)\b[({]",
            r"\b(ERROR|WARN|INFO|DEBUG) ",
            r"[\x00-\x1f]",
        ];
        let shaped = shapes.iter().find(|shape| Regex::new(shape).unwrap().is_match(text));
        names.iter().find(is_word).cloned().or_else(|| shaped.map(|shape| (*shape).to_owned()))
    }

    #[test]
    fn every_kind_of_failure_is_told_in_the_policys_own_words() {
        let all = causes();
        let codes: BTreeSet<&str> = all.iter().map(Cause::code).collect();
        let source = include_str!("../../../core/src/action/failure.rs");
        let (_, body) = source.split_once("fn kind(&self)").unwrap();
        let (body, _) = body.split_once("impl From<Cause>").unwrap();
        assert_eq!(
            codes.len(),
            body.matches("\", CauseClass::").count(),
            "each kind is here: {codes:?}"
        );
        for cause in all {
            for side_effect in [SideEffect::None, SideEffect::Possible] {
                let told = text(&Failure { cause: cause.clone(), side_effect });
                assert_eq!(is_foreign(&told), None, "{told}");
                let says = told.contains("may have happened");
                let nothing =
                    matches!(cause, Cause::TypingTooLong { .. } | Cause::TextNotTypable(_));
                assert_eq!(says, side_effect == SideEffect::Possible && !nothing, "{told}");
            }
        }
    }

    #[test]
    fn foreign_text_is_recognized() {
        for text in [
            "call get_ui_tree first",
            "use mobile_tap_element",
            "unexpected outcome: Tapped { x: 1 }",
            "Err(Gone)",
            "2026-11-27T09:00:00Z  WARN thumbwire: no",
        ] {
            assert!(is_foreign(text).is_some(), "{text}");
        }
        assert_eq!(is_foreign("press_key KEYCODE_BACK, then click_control 3 \"Save (all)\""), None);
    }
}

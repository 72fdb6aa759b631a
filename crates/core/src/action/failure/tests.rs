//! Each cause and its class.

use super::*;
use crate::action::ClientName;

/// One of each kind, by class.
fn causes() -> Vec<(CauseClass, Vec<Cause>)> {
    let text = || "text".to_owned();
    let (device, app) = (|| "127.0.0.1:5555".to_owned(), || "com.example.app".to_owned());
    let wait = Duration::from_secs(1);
    vec![
        (
            CauseClass::Usage,
            vec![
                Cause::InvalidArgument { reason: text() },
                Cause::InvalidFileName { name: "a/b".into(), reason: FileNameError::Folder },
            ],
        ),
        (
            CauseClass::NoDevice,
            vec![
                Cause::DeviceNotConnected { device: device(), reason: text() },
                Cause::DeviceNotAnswering { device: device(), reason: text() },
                Cause::DeviceNotReady { device: device(), state: "offline".into() },
                Cause::DeviceNotAuthorized { device: device() },
                Cause::NoDeviceChosen { devices: Vec::new() },
            ],
        ),
        (
            CauseClass::NotFound,
            vec![
                Cause::AppNotFound { app: app() },
                Cause::AmbiguousApp { name: text(), candidates: vec![app()] },
                Cause::AppToolNotFound { app: app(), tool: text(), reason: None },
                Cause::ElementNotFound { sought: text(), reason: None },
                Cause::NoFocusedField { act: text() },
                Cause::IndexOutOfRange { index: 3, found: 2 },
                Cause::StaleReference {
                    list: NumberedList::Apps,
                    number: text(),
                    reason: None,
                    none: true,
                },
                Cause::NoSuchRecording { id: text(), known: Vec::new() },
                Cause::NoSuchMonitor { id: text(), known: Vec::new() },
            ],
        ),
        (
            CauseClass::Refused,
            vec![
                Cause::DeviceNotAllowed { device: device() },
                Cause::AppNotAllowed { app: app(), reason: None },
                Cause::SettingsPageNotAllowed { page: text() },
                Cause::LinkNotAllowed { scheme: "tel".into() },
                Cause::AppNotTrusted { app: app(), reason: text() },
                Cause::NoInputFolder,
                Cause::DeviceBusy {
                    device: device(),
                    holder: Holder {
                        client: ClientName::clean("other"),
                        process: None,
                        since: wait,
                    },
                    remaining: wait,
                },
                Cause::LeaseLost { device: device() },
                Cause::DeviceTakenOver { device: device(), remaining: wait },
                Cause::TakenByUser { device: device(), turn: UserTurn::Acting },
                Cause::Refused { reason: text() },
            ],
        ),
        (
            CauseClass::Limit,
            vec![
                Cause::TooManyActive { what: "recordings".into(), max: 2 },
                Cause::TooManyLooks { max: 32 },
                Cause::TypingTooLong { characters: 9, needed: wait, left: wait, fits: 4 },
            ],
        ),
        (
            CauseClass::TimedOut,
            vec![
                Cause::TimedOut { what: text(), after: wait },
                Cause::ConditionNotMet { what: text(), after: wait },
            ],
        ),
        (
            CauseClass::Failed,
            vec![
                Cause::AppNotLaunchable { app: app() },
                Cause::PackageRefused { code: text(), text: text() },
                Cause::NoAppReply { what: text(), reason: "the helper is off".into() },
                Cause::BackgroundStartRestricted { what: text(), text: text() },
                Cause::Locked(LockState::Keyguard),
                Cause::TextNotTypable(UntypableText::Control(vec!['\t'])),
                Cause::StepFailed { reason: text() },
                Cause::PlatformNotSupported { what: text(), platform: Platform::Ios },
                Cause::HelperMissing { what: "the clipboard".into() },
                Cause::NotReady { text: text() },
                Cause::DeviceError { text: text() },
            ],
        ),
        (CauseClass::Cancelled, vec![Cause::Cancelled]),
    ]
}

#[test]
fn every_cause_has_its_class() {
    let mut codes = std::collections::BTreeSet::new();
    for (class, causes) in causes() {
        for cause in causes {
            assert_eq!(cause.class(), class, "{}", cause.code());
            assert!(codes.insert(cause.code()), "{} is here twice", cause.code());
        }
    }
    for cause in causes().into_iter().flat_map(|(_, causes)| causes) {
        let failure = Failure { cause, side_effect: SideEffect::Possible };
        let json = serde_json::to_string(&failure).unwrap();
        assert_eq!(serde_json::from_str::<Failure>(&json).unwrap(), failure, "{json}");
        assert!(json.contains(failure.cause.code()), "{json}");
    }
    let rows = include_str!("../failure.rs").matches(", CauseClass::").count();
    assert_eq!(codes.len(), rows, "each cause is here: {codes:?}");
}

#[test]
fn next_step_says_what_each_phone_lacks() {
    let phone = |id: &str, state: &str| ListedDevice {
        id: id.into(),
        platform: Platform::Android,
        model: String::new(),
        state: state.into(),
        kind: DeviceKind::Physical,
        properties: Vec::new(),
    };
    let next =
        |devices: Vec<ListedDevice>| Failure::from(Cause::NoDeviceChosen { devices }).next_step();
    let steps = next(vec![phone("A", "unauthorized"), phone("B", "offline")]);
    assert!(steps.starts_with("A: ") && steps.contains("; B: replug"), "{steps}");
    let built_in = ListedDevice { kind: DeviceKind::BuiltIn, ..phone("virtual", "device") };
    assert!(next(vec![built_in, phone("B", "recovery")]).starts_with("B: restart"));
    let steps = next(vec![phone("A", "device"), phone("B", "offline")]);
    assert!(steps.starts_with("select one"), "{steps}");
    let many = next((0..9).map(|nth| phone(&nth.to_string(), "offline")).collect());
    assert!(many.ends_with("; and 4 more"), "{many}");
}

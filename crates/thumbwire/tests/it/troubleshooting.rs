//! `docs/troubleshooting.md`: symptoms in a newcomer's words, messages and next steps in the
//! program's.
//!
//! The parts between its marks are written by these tests (`just bless`), so no advice on
//! the page differs from what the program says.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use thumbwire::doctor::{self, Options, Severity};
use thumbwire_core::action::{
    Cause, ClientName, DeviceKind, Failure, Holder, ListedDevice, NumberedList,
};
use thumbwire_core::providers::DeviceProviders;
use thumbwire_core::toolset::mobile::failure_text;
use thumbwire_device::{LockState, Platform, SideEffect, UntypableText};
use thumbwire_test_support::assert_golden;

/// What a reader sees, and the failure behind it.
type Row = (&'static str, Failure);

/// What `thumbwire doctor` finds on a computer on which everything is wrong: what a reader sees,
/// the finding and what mends it.
async fn computer() -> Vec<(&'static str, String, String)> {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str| home.path().join(name);
    thumbwire_core::adb_key::read_or_make(&file("adbkey"), "me").unwrap();
    std::fs::write(file("token"), "0123456789abcdef0123456789abcdef").unwrap();
    std::fs::write(file("app-tools.json"), "broken").unwrap();
    for name in ["adbkey", "token", "app-tools.json"] {
        std::fs::set_permissions(file(name), PermissionsExt::from_mode(0o644)).unwrap();
    }
    let phones = DeviceProviders::default();
    let options = Options {
        config_file: None,
        adb_server: "127.0.0.1:9",
        adb_key: Some(file("adbkey")),
        token: Some(file("token")),
        app_tools: Some(file("app-tools.json")),
        phones: &phones,
        device: None,
    };
    let problems = doctor::check(&options).await.into_iter();
    let problems = problems.filter(|found| found.severity == Severity::Problem);
    let shown = |text: &str| {
        let folder = home.path().display().to_string();
        text.replace(&folder, "FOLDER").replace("127.0.0.1:9", "localhost:5037")
    };
    let rows = problems.map(|found| {
        let symptom = match &*found.subject {
            "adb key" => "Others can read the key for phones",
            "HTTP token" => "Others can read the token of HTTP clients",
            "trusted app tools" => "The list of trusted apps cannot be read",
            "adb server" => "No adb server runs",
            other => panic!("{other} is not on the page"),
        };
        let message = format!("{}: {}", found.subject, shown(&found.detail));
        (symptom, message, shown(&found.fix.unwrap()))
    });
    rows.collect()
}

fn phone(state: &str) -> Failure {
    in_state("R58M12ABCD", Platform::Android, state)
}

fn in_state(id: &str, platform: Platform, state: &str) -> Failure {
    let phone = ListedDevice {
        id: id.into(),
        platform,
        model: String::new(),
        state: state.into(),
        kind: DeviceKind::Physical,
        properties: Vec::new(),
    };
    phone.not_ready().unwrap()
}

fn connecting() -> Vec<Row> {
    let two = ["R58M12ABCD", "emulator-5554"].map(|id| ListedDevice {
        id: id.into(),
        platform: Platform::Android,
        model: String::new(),
        state: ListedDevice::READY.into(),
        kind: DeviceKind::Physical,
        properties: Vec::new(),
    });
    let device = || "192.168.1.20:5555".to_owned();
    vec![
        ("No phone is found", Cause::NoDeviceChosen { devices: Vec::new() }.into()),
        ("There are several phones", Cause::NoDeviceChosen { devices: two.into() }.into()),
        ("The phone has not allowed this computer", phone("unauthorized")),
        ("The phone is offline", phone("offline")),
        ("The phone is still authorizing", phone("authorizing")),
        ("The phone is still connecting", phone("connecting")),
        ("Linux denies access to the USB device", phone("no permissions (missing udev rules?)")),
        ("The phone is in recovery mode", phone("recovery")),
        ("The phone waits for an update", phone("sideload")),
        ("The phone shows its bootloader", phone("bootloader")),
        ("The phone was given to another program", phone("detached")),
        (
            "Nothing answers at the address",
            Cause::DeviceNotConnected { device: device(), reason: "connection refused".into() }
                .into(),
        ),
        (
            "An old phone accepts the connection and says nothing",
            Cause::DeviceNotAnswering {
                device: device(),
                reason: "it accepts connections and answers none".into(),
            }
            .into(),
        ),
        ("The Appium server does not answer", phone(ListedDevice::NO_APPIUM)),
        ("The WebDriverAgent of `--wda` does not answer", phone(ListedDevice::NO_WDA)),
    ]
}

fn iphones() -> Vec<Row> {
    use thumbwire_device::iphone::Missing;
    let rows = Missing::ALL.map(|missing| {
        let symptom = match missing {
            Missing::Pairing => "The iPhone is not paired",
            Missing::Trust => "The iPhone asks whether to trust this computer",
            Missing::Unlocking => "The iPhone was not unlocked since it was started",
            Missing::ValidPairRecord => "The iPhone was erased or restored",
            Missing::DeveloperMode => "Developer mode is off",
            Missing::WebDriverAgent => "No WebDriverAgent runs on the iPhone",
            Missing::Tunnel => "No WebDriverAgent runs on an iPhone with iOS 17 or later",
            Missing::Answer => "The iPhone does not answer",
            Missing::SimulatorUrl => "A simulator is listed, but cannot be used",
        };
        (symptom, in_state("00008030-001C2D", Platform::Ios, missing.state()))
    });
    rows.into()
}

fn screen() -> Vec<Row> {
    let wait = |what: &str| (what.to_owned(), Duration::from_secs(20));
    let (look, tap) = (wait("reading the screen"), wait("tapping the element"));
    let (idle, killed) = (
        "dump of the screen: ERROR: could not get idle state.",
        "dump of the screen: it was killed, and nothing came",
    );
    let app = || "com.example.app".to_owned();
    vec![
        ("The screen is off", Cause::Locked(LockState::ScreenOff).into()),
        ("The phone is locked", Cause::Locked(LockState::Keyguard).into()),
        (
            "An element is not found",
            Cause::ElementNotFound { sought: "\"Sign in\"".into(), reason: None }.into(),
        ),
        (
            "A ref or a number is refused",
            Cause::StaleReference {
                list: NumberedList::Controls,
                number: "e12".into(),
                reason: Some("it is gone".into()),
                none: false,
            }
            .into(),
        ),
        ("The screen cannot be read", Cause::NotReady { text: idle.into() }.into()),
        ("The phone's own program fails", Cause::DeviceError { text: killed.into() }.into()),
        (
            "A call takes too long, and nothing was done",
            Cause::TimedOut { what: look.0, after: look.1 }.into(),
        ),
        (
            "A call takes too long, and may have acted",
            Failure {
                cause: Cause::TimedOut { what: tap.0, after: tap.1 },
                side_effect: SideEffect::Possible,
            },
        ),
        ("An app is not found", Cause::AppNotFound { app: app() }.into()),
        (
            "Several apps have the name",
            Cause::AmbiguousApp {
                name: "Store".into(),
                candidates: vec!["com.example.store".into(), "com.example.shop".into()],
            }
            .into(),
        ),
        ("An app cannot be launched", Cause::AppNotLaunchable { app: app() }.into()),
        (
            "The phone refuses a package",
            Cause::PackageRefused {
                code: "INSTALL_FAILED_UPDATE_INCOMPATIBLE".into(),
                text: String::new(),
            }
            .into(),
        ),
        (
            "Not every phone can do this",
            Cause::PlatformNotSupported { what: "the back key".into(), platform: Platform::Ios }
                .into(),
        ),
    ]
}

fn typing() -> Vec<Row> {
    vec![
        (
            "Some characters cannot be typed",
            Cause::TextNotTypable(UntypableText::Keyless(vec!['é', '漢'])).into(),
        ),
        (
            "A text is too long for one call",
            Cause::TypingTooLong {
                characters: 2_000,
                needed: Duration::from_secs(180),
                left: Duration::from_secs(60),
                fits: 600,
            }
            .into(),
        ),
        (
            "The helper is off, or does not start",
            Cause::HelperMissing { what: "the clipboard".into() }.into(),
        ),
    ]
}

fn refused() -> Vec<Row> {
    let app = || "com.example.app".to_owned();
    vec![
        (
            "A phone is not allowed",
            Cause::DeviceNotAllowed { device: "192.168.1.20:5555".into() }.into(),
        ),
        ("An app is not allowed", Cause::AppNotAllowed { app: app(), reason: None }.into()),
        (
            "A page of Settings may only be looked at",
            Cause::SettingsPageNotAllowed { page: "ResetDashboardFragment".into() }.into(),
        ),
        (
            "An address would call or write to someone",
            Cause::LinkNotAllowed { scheme: "tel".into() }.into(),
        ),
        ("No file may be sent", Cause::NoInputFolder.into()),
        (
            "Another client uses the phone",
            Cause::DeviceBusy {
                device: "R58M12ABCD".into(),
                holder: Holder {
                    client: ClientName::clean("claude-code"),
                    process: None,
                    since: Duration::from_secs(12),
                },
                remaining: Duration::from_secs(24),
            }
            .into(),
        ),
        (
            "An app's tools are not allowed",
            Cause::AppNotTrusted {
                app: app(),
                reason: "the operator has not allowed this app".into(),
            }
            .into(),
        ),
        (
            "An app's tool cannot be started",
            Cause::BackgroundStartRestricted {
                what: "add_note of com.example.app".into(),
                text: "app is in background uid null".into(),
            }
            .into(),
        ),
    ]
}

/// Words in lines of at most 118 characters.
fn wrapped(text: &str, start: &str) -> String {
    let (mut lines, mut line) = (String::new(), start.to_owned());
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() > 117 {
            let _ = writeln!(lines, "{}", line.trim_end());
            line = start.to_owned();
        }
        let _ = write!(line, "{word} ");
    }
    format!("{lines}{}\n", line.trim_end())
}

/// Each failure with its message and the next step, as they are printed.
fn printed(rows: Vec<Row>) -> Vec<(&'static str, String, String)> {
    let rows = rows.into_iter().map(|(symptom, failure)| {
        let printed = failure_text(&failure);
        let (message, next) = printed.rsplit_once("\nNext: ").unwrap();
        (symptom, message.replace('\n', "; "), next.to_owned())
    });
    rows.collect()
}

/// A heading for each symptom, with the message and the next step as a sentence.
fn section(rows: Vec<(&str, String, String)>) -> String {
    let mut section = String::new();
    for (symptom, message, next) in rows {
        let _ = write!(section, "\n### {symptom}\n\n{}\n", wrapped(&message, "> "));
        let next = match next.starts_with('`') {
            true => format!("run {next}"),
            false => next,
        };
        let mut next = next.chars();
        let first = next.next().unwrap().to_uppercase();
        section.push_str(&wrapped(&format!("{first}{}.", next.as_str()), ""));
    }
    section
}

#[tokio::test]
async fn troubleshooting_says_what_the_program_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/troubleshooting.md");
    let mut page = std::fs::read_to_string(&file).unwrap();
    let sections = [
        ("computer", computer().await),
        ("connecting", printed(connecting())),
        ("iphones", printed(iphones())),
        ("screen", printed(screen())),
        ("typing", printed(typing())),
        ("refused", printed(refused())),
    ];
    for (name, rows) in sections {
        let marks = ["begin", "end"].map(|edge| format!("<!-- {name}: {edge} -->\n"));
        let (before, rest) = page.split_once(&marks[0]).expect("the page has the mark");
        let (_, after) = rest.split_once(&marks[1]).expect("the page has the mark");
        page = format!("{before}{}{}\n{}{after}", marks[0], section(rows), marks[1]);
    }
    assert_golden(&file, &page);
}

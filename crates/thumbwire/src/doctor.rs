//! Checks what tools need before one is called: the files of this computer, the adb server, and
//! each phone.
//!
//! Start with [`check`], whose findings `thumbwire doctor` prints. It reads and asks only: it
//! creates no file, starts no server and touches no phone's screen. A phone gets the helper's file,
//! unless that is off.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::join_all;
use serde::{Deserialize, Serialize};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{DeviceKind, Failure, ListedDevice};
use thumbwire_core::adb_key;
use thumbwire_core::app_tools::{FileStore, TrustStore as _};
use thumbwire_core::providers::DeviceProviders;
use thumbwire_device::{Check, Device, Error, Facets, HelperStatus, Platform, TreeDetail};
use thumbwire_mcp::http_token;
use tokio::time::{Instant, timeout};

use crate::shell_quote::shell_quote;

/// What to check.
pub struct Options<'a> {
    /// The configuration file, and whether it exists; `None` without a home directory.
    pub config_file: Option<(PathBuf, bool)>,
    /// `HOST:PORT` of the adb server.
    pub adb_server: &'a str,
    /// File with adb's private key.
    pub adb_key: Option<PathBuf>,
    /// File with the token of HTTP clients.
    pub token: Option<PathBuf>,
    /// File with the trusted app tools.
    pub app_tools: Option<PathBuf>,
    /// Where phones are found.
    pub phones: &'a DeviceProviders,
    /// The only phone to check; `None` means every listed one.
    pub device: Option<&'a str>,
}

/// What was found about one thing that tools need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was checked, such as `adb server` or `phone R58M12ABCD`.
    pub subject: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub detail: String,
    /// What mends or improves it: a command, or a step on the phone; `None` if there is nothing to
    /// do.
    pub fix: Option<String>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing to do.
    Ok,
    /// Tools work, but not all of them, or slowly.
    Note,
    /// Tools fail until it is mended.
    Problem,
}

impl Severity {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

impl Finding {
    fn new(subject: impl Into<String>, severity: Severity, detail: impl Into<String>) -> Self {
        Self { subject: subject.into(), severity, detail: detail.into(), fix: None }
    }

    fn ok(subject: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(subject, Severity::Ok, detail)
    }

    fn with_fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

/// Timeout for everything that one phone is asked.
const PHONE: Duration = Duration::from_secs(60);

/// A look at a screen that lasts longer makes an agent wait more than the model does.
const SLOW_LOOK: Duration = Duration::from_secs(2);

/// Checks this computer first, then all phones at the same time.
pub async fn check(options: &Options<'_>) -> Vec<Finding> {
    let mut findings = files(options);
    let listed = options.phones.list().await;
    let (server, is_up) = adb_server(options, &listed).await;
    findings.push(server);
    // What an adb server that is not up lacks, its own finding says.
    let broken = listed.iter().filter(|phone| phone.kind == DeviceKind::Provider && is_up);
    findings.extend(broken.map(|provider| {
        let finding = Finding::new(provider.id.clone(), Severity::Problem, provider.state.clone());
        finding.with_fix(provider.next_step().unwrap_or_default())
    }));
    findings.extend(phones(options, listed, is_up).await);
    findings
}

/// The files that Thumbwire reads on this computer.
fn files(options: &Options<'_>) -> Vec<Finding> {
    let mut findings = vec![match &options.config_file {
        Some((path, true)) => Finding::ok("configuration", path.display().to_string()),
        Some((path, false)) => {
            Finding::ok("configuration", format!("defaults; {} does not exist", path.display()))
        }
        None => Finding::ok("configuration", "defaults"),
    }];
    findings.push(match &options.adb_key {
        Some(path) => check_key(path),
        None => Finding::new("adb key", Severity::Note, "no home directory to keep it in")
            .with_fix("set HOME; phones that are reached by HOST:PORT ask for a key"),
    });
    if let Some(path) = &options.token {
        findings.push(match http_token::check(path) {
            Ok(true) => Finding::ok("HTTP token", path.display().to_string()),
            Ok(false) => Finding::ok("HTTP token", "none yet; `serve --http` makes one"),
            Err(error) => split_fix("HTTP token", &error),
        });
    }
    if let Some(path) = options.app_tools.as_deref().filter(|path| path.exists()) {
        findings.push(match FileStore::new(path).pins() {
            Ok(_) => Finding::ok("trusted app tools", path.display().to_string()),
            Err(error) => Finding::new("trusted app tools", Severity::Problem, error)
                .with_fix(format!("`rm {}`, then trust the apps again", in_shell(path))),
        });
    }
    findings
}

/// A path for a command to copy.
fn in_shell(path: &Path) -> String {
    shell_quote(&path.display().to_string())
}

/// A message whose last sentences say what to do.
fn split_fix(subject: &str, message: &str) -> Finding {
    let (detail, fix) = message.split_once(". ").unwrap_or((message, ""));
    let finding = Finding::new(subject, Severity::Problem, detail);
    if fix.is_empty() { finding } else { finding.with_fix(fix) }
}

/// The key that authenticates this computer to phones. A phone asks for it only if it is reached by
/// its address: an adb server has read the key itself.
fn check_key(path: &Path) -> Finding {
    const SUBJECT: &str = "adb key";
    let (shown, name) = (path.display(), in_shell(path));
    match adb_key::check(path) {
        Ok(adb_key::KeyState::Private) => Finding::ok(SUBJECT, shown.to_string()),
        Ok(adb_key::KeyState::Missing) => {
            Finding::ok(SUBJECT, format!("none yet; {shown} is made when a phone asks for one"))
        }
        Ok(adb_key::KeyState::ReadableByOthers) => {
            Finding::new(SUBJECT, Severity::Problem, format!("other users can read {shown}"))
                .with_fix(format!("`chmod 600 {name}`"))
        }
        Err(error) => Finding::new(SUBJECT, Severity::Problem, error).with_fix(format!(
            "`mv {name} {name}.broken`; a new one is made when a phone asks, and each phone has to authorize it once"
        )),
    }
}

/// The adb server, and whether it answers.
async fn adb_server(options: &Options<'_>, listed: &[ListedDevice]) -> (Finding, bool) {
    const SUBJECT: &str = "adb server";
    let address = options.adb_server;
    match AdbServer::new(address).version().await {
        Ok(version) => {
            let is_its = |phone: &&ListedDevice| {
                phone.platform == Platform::Android
                    && phone.kind != DeviceKind::Provider
                    && options.phones.owner(&phone.id).is_none()
            };
            let count = listed.iter().filter(is_its).count();
            let phones = match count {
                1 => "1 phone".to_owned(),
                count => format!("{count} phones"),
            };
            (Finding::ok(SUBJECT, format!("{address}, version {version}, {phones}")), true)
        }
        Err(error) => {
            let is_direct = |device: &str| {
                options.phones.owns(device) || options.phones.unlisted(device).is_some()
            };
            let is_needed = options.device.is_none_or(|device| !is_direct(device));
            let severity = if is_needed { Severity::Problem } else { Severity::Note };
            let finding = Finding::new(SUBJECT, severity, format!("failed to {error}"));
            let fix = match error {
                thumbwire_adb::Error::NotReachable { .. } => {
                    "`adb start-server`; a phone with an address and the built-in one need no server: \
                     `--device HOST:PORT`, `--device virtual`"
                }
                // Something is there that does not answer as an adb server does.
                _ => "`adb kill-server`, then `adb start-server`",
            };
            (finding.with_fix(fix), false)
        }
    }
}

/// The phones.
async fn phones(options: &Options<'_>, listed: Vec<ListedDevice>, is_up: bool) -> Vec<Finding> {
    let checked: Vec<ListedDevice> = match options.device {
        Some(id) => {
            let found = listed.into_iter().find(|phone| phone.id == id);
            found.or_else(|| options.phones.unlisted(id)).into_iter().collect()
        }
        None => DeviceKind::candidates(&listed).into_iter().cloned().collect(),
    };
    if checked.is_empty() {
        let finding = match options.device {
            Some(id) => Finding::new(format!("phone {id}"), Severity::Problem, "not connected")
                .with_fix("`adb devices` lists the ids of the connected phones"),
            None => Finding::new("phones", Severity::Problem, "none is connected").with_fix(
                "switch on USB debugging in the phone's developer options and plug it in; or try the built-in phone: \
                 `thumbwire doctor --device virtual`",
            ),
        };
        // That the server is not up is a finding already; without it no phone could be listed.
        let explained = !is_up && options.device.is_none();
        return if explained { Vec::new() } else { vec![finding] };
    }
    let checks = checked.iter().map(|phone| async move {
        let late = || {
            let detail = format!("no answer for {} s", PHONE.as_secs());
            vec![
                Finding::new(subject(&phone.id, None), Severity::Problem, detail)
                    .with_fix("replug the phone; restart it if that does not help"),
            ]
        };
        timeout(PHONE, check_phone(options.phones, phone)).await.unwrap_or_else(|_| late())
    });
    join_all(checks).await.into_iter().flatten().collect()
}

/// The name of a finding about a phone.
fn subject(id: &str, part: Option<&str>) -> String {
    part.map_or_else(|| format!("phone {id}"), |part| format!("phone {id}: {part}"))
}

/// One phone: whether it is ready, what it is, how fast, and what it cannot do.
async fn check_phone(phones: &DeviceProviders, phone: &ListedDevice) -> Vec<Finding> {
    let id = &phone.id;
    let is_connectable = phone.state == ListedDevice::NOT_YET;
    if let Some(fix) = phone.next_step().filter(|_| !is_connectable) {
        let state = format!("its state is \"{}\"", phone.state);
        return vec![Finding::new(subject(id, None), Severity::Problem, state).with_fix(fix)];
    }
    match phones.open(id).await {
        Ok(device) => {
            let findings = ask_phone(id, &*device).await;
            device.restore_borrowed().await;
            device.disconnect().await;
            findings
        }
        Err(failure) => vec![failed(subject(id, None), &failure)],
    }
}

async fn ask_phone(id: &str, device: &dyn Device) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.push(match device.info().await {
        Ok(info) => {
            let api = info.api_level.map_or(String::new(), |level| format!(" (API {level})"));
            let (maker, model, version) = (info.manufacturer, info.model, info.os_version);
            let (width, height) = (info.screen.width, info.screen.height);
            let platform = device.identity().platform;
            Finding::ok(
                subject(id, None),
                format!("{maker} {model}, {platform} {version}{api}, {width}x{height} pixels"),
            )
        }
        // Nothing else would work, and each attempt would take as long.
        Err(error) => return vec![broken(id, None, &error)],
    });
    if let Ok(health) = device.health_checks() {
        let checked = health.check_health().await.map(|health| health.checks).unwrap_or_default();
        findings
            .extend(checked.iter().filter(|check| !check.passed).map(|check| unwell(id, check)));
    }
    // A dark screen, or one that another tool reads, cannot be read.
    if findings.iter().all(|found| found.severity == Severity::Ok) {
        findings.push(speed(id, device).await);
    }
    if let Ok(editing) = device.text_editing() {
        // A letter that no key of an Android phone types.
        if let Err(error) = editing.check_text("é").await {
            findings.push(untypable(id, &error));
        }
    }
    if let Ok(checks) = device.helper_checks() {
        findings.push(helper(id, checks.check_helper().await));
    }
    let features: Vec<&str> = device.facets().features().collect();
    let missing: Vec<&str> =
        Facets::FEATURES.iter().copied().filter(|name| !features.contains(name)).collect();
    if !missing.is_empty() {
        let names = missing.join(", ").replace('_', " ");
        findings.push(Finding::new(
            subject(id, Some("abilities")),
            Severity::Note,
            format!("not on this phone: {names}"),
        ));
    }
    findings
}

fn broken(id: &str, part: Option<&str>, error: &Error) -> Finding {
    failed(subject(id, part), &Failure::of_device(id, error))
}

fn failed(subject: String, failure: &Failure) -> Finding {
    Finding::new(subject, Severity::Problem, failure.cause.to_string())
        .with_fix(failure.next_step())
}

/// A failed health check.
fn unwell(id: &str, check: &Check) -> Finding {
    let (part, fix) = match &*check.name {
        "screen_state" => ("screen", "switch the screen on and unlock it, or call `mobile_unlock`"),
        "ui_service" => ("reading the screen", "end the other tool, or restart the phone"),
        _ => ("connection", "replug the phone"),
    };
    let part = Some(part);
    Finding::new(subject(id, part), Severity::Problem, check.details.clone()).with_fix(fix)
}

/// How long a look and a screenshot take: most of what a caller waits for.
async fn speed(id: &str, device: &dyn Device) -> Finding {
    let part = Some("speed");
    let began = Instant::now();
    if let Err(error) = device.tree(TreeDetail::Full).await {
        return broken(id, Some("reading the screen"), &error);
    }
    let tree_time = began.elapsed();
    let began = Instant::now();
    if let Err(error) = device.screenshot().await {
        return broken(id, Some("screenshot"), &error);
    }
    let screenshot_time = began.elapsed();
    let detail = format!(
        "reading the screen takes {:.1} s, a screenshot {:.1} s",
        tree_time.as_secs_f64(),
        screenshot_time.as_secs_f64()
    );
    let severity = if tree_time > SLOW_LOOK { Severity::Note } else { Severity::Ok };
    Finding::new(subject(id, part), severity, detail)
}

/// Text that the phone's keys cannot type.
fn untypable(id: &str, error: &Error) -> Finding {
    let part = Some("text");
    match error {
        Error::Untypable(text) => Finding::new(
            subject(id, part),
            Severity::Note,
            "only characters that have keys can be typed, no \"é\"",
        )
        .with_fix(text.next_step()),
        other => broken(id, part, other),
    }
}

/// The helper on the phone.
fn helper(id: &str, status: Result<HelperStatus, Error>) -> Finding {
    let subject = subject(id, Some("helper"));
    match status {
        Ok(HelperStatus::Running) => Finding::ok(subject, "it starts and answers"),
        Ok(HelperStatus::Off) => Finding::ok(subject, "off, by `--helper off`"),
        Err(error) => Finding::new(subject, Severity::Problem, error.to_string())
            .with_fix("use `--helper off` to work without it"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    #[cfg(unix)]
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A computer without phones whose files are in `home`.
    async fn check_files(home: &Path, adb_server: &str) -> Vec<Finding> {
        let phones = DeviceProviders::adb(AdbServer::new(adb_server));
        let options = Options {
            config_file: Some((home.join("config.toml"), false)),
            adb_server,
            adb_key: Some(home.join("adbkey")),
            token: Some(home.join("token")),
            app_tools: Some(home.join("app-tools.json")),
            phones: &phones,
            device: None,
        };
        super::check(&options).await
    }

    fn find<'a>(findings: &'a [Finding], subject: &str) -> &'a Finding {
        findings.iter().find(|found| found.subject == subject).unwrap()
    }

    #[tokio::test]
    async fn missing_files_are_fine_and_none_is_created() {
        let home = tempfile::tempdir().unwrap();
        let findings = check_files(home.path(), "127.0.0.1:9").await;
        for subject in ["configuration", "adb key", "HTTP token"] {
            assert_eq!(find(&findings, subject).severity, Severity::Ok, "{subject}");
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        let server = find(&findings, "adb server");
        assert_eq!(server.severity, Severity::Problem);
        assert!(server.fix.as_deref().unwrap().starts_with("`adb start-server`"), "{server:?}");
        assert_eq!(findings.len(), 4, "what follows from the missing server is not repeated");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn each_broken_file_names_the_command_that_mends_it() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let (key, token, pins) = (at("adbkey"), at("token"), at("app-tools.json"));
        adb_key::read_or_make(&key, "me@here").unwrap();
        http_token::read_or_make(&token).unwrap();
        for file in [&key, &token] {
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        fs::write(&pins, "{").unwrap();
        let findings = check_files(home.path(), "127.0.0.1:9").await;
        for (subject, command) in [
            ("adb key", format!("`chmod 600 {}`", key.display())),
            ("HTTP token", format!("Run `chmod 600 {}`", token.display())),
            ("trusted app tools", format!("`rm {}`", pins.display())),
        ] {
            let found = find(&findings, subject);
            assert_eq!(found.severity, Severity::Problem, "{subject}");
            let fix = found.fix.as_deref().unwrap_or_default();
            assert!(fix.starts_with(&command), "{fix}");
        }
        fs::write(&key, "not a key").unwrap();
        let findings = check_files(home.path(), "127.0.0.1:9").await;
        let fix = find(&findings, "adb key").fix.clone().unwrap();
        assert!(fix.starts_with(&format!("`mv {0} {0}.broken`", key.display())), "{fix}");
    }

    /// Something else listens where the adb server should be.
    #[tokio::test]
    async fn program_that_is_no_adb_server_is_recognized() {
        let other = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = other.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            use tokio::io::AsyncWriteExt as _;
            while let Ok((mut stream, _)) = other.accept().await {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        });
        let home = tempfile::tempdir().unwrap();
        let findings = check_files(home.path(), &address).await;
        let server = find(&findings, "adb server");
        assert_eq!(server.severity, Severity::Problem, "{server:?}");
        assert!(server.fix.as_deref().unwrap().contains("kill-server"), "{server:?}");
    }
}

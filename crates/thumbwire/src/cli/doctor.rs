//! `thumbwire doctor`

mod table;

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(feature = "virtual-phone")]
use thumbwire_virtual_android::{ClockMode, Setup, VirtualPhone};

use super::helper_flag::HELPER_MODES;
use super::one_of::one_of;
use super::style::sanitize;
use super::{CliError, PhoneSources, phones_with, print, print_styled, terminal_prompt};
use crate::config::Config;
use crate::doctor::{
    self, CheckResult, Finding, Options, Report, SetupOptions, Severity, TestApp, checks,
};
use thumbwire_core::action::{
    AppFilter, Call, Cause, DeviceKind, Failure, ListedDevice, Question, TypedPerform as _,
    UserAnswer, agrees, request,
};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::providers::{BUILT_IN, DeviceProviders, VIRTUAL, VIRTUAL_IOS};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_device::android::HelperMode;
use thumbwire_device::{AppId, Key, Platform};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Phone to check: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios` [default: the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    sources: PhoneSources,
    /// Android release of the built-in virtual phone, such as 4.4, at the speed of real phones
    #[cfg(feature = "virtual-phone")]
    #[arg(long, value_name = "RELEASE")]
    android: Option<String>,
    /// Without a MODE, try each operation of the helper on the phone once, and tell how long it
    /// took and what stays there. With one, whether the other checks use it: `auto`, `require` or
    /// `off`
    #[arg(long, value_name = "MODE", value_parser = one_of(HELPER_MODES), num_args = 0..=1, conflicts_with_all = ["compare"])]
    helper: Option<Option<HelperMode>>,
    /// Check only what tools need: files of this computer, the adb server, and each phone's state,
    /// speed and helper. Calls no tool; without `--device` all phones are checked
    #[arg(long, conflicts_with_all = ["full", "only"])]
    setup: bool,
    /// Call every tool, not only those that change nothing: opens apps, taps, types and rotates the
    /// screen
    #[arg(long)]
    full: bool,
    /// An APK to try the tools on that install, clear and uninstall apps; one with an icon, not
    /// installed on the phone
    #[arg(long, value_name = "FILE", requires = "full")]
    apk: Option<PathBuf>,
    /// Check only the tools with these names, to repeat a check
    #[arg(long, value_name = "TOOL", num_args = 1..)]
    only: Vec<String>,
    /// Do not ask before a real phone is operated
    #[arg(long, short = 'y')]
    yes: bool,
    /// Print the report as JSON
    #[arg(short, long)]
    json: bool,
    /// Print saved JSON reports side by side as Markdown, without using a phone
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["device", "full", "json", "apk", "setup"])]
    compare: Vec<PathBuf>,
}

impl Arguments {
    fn helper_mode(&self) -> HelperMode {
        match self.helper {
            None => HelperMode::Auto,
            // To try the helper it has to be there.
            Some(None) => HelperMode::Require,
            Some(Some(mode)) => mode,
        }
    }
}

/// The table's width in columns, so that it fits into a message or an issue.
const WIDTH: usize = 100;

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    if !arguments.compare.is_empty() {
        let reports: Result<Vec<Report>, CliError> =
            arguments.compare.iter().map(|file| read(file)).collect();
        print(&table::markdown(&reports?))?;
        return Ok(0);
    }
    if let Some(name) =
        arguments.only.iter().find(|name| !checks().iter().any(|check| check.tool == **name))
    {
        return Err(CliError::usage(format!(
            "unknown tool {name:?}. Run `thumbwire tools` to list them"
        )));
    }
    let config = &arguments.sources.applied_to(config)?;
    let phones = providers(&arguments, config)?;
    if arguments.setup {
        let findings = setup(&arguments, config, &phones).await;
        return print_findings(&findings, arguments.json, config);
    }
    if arguments.helper == Some(None) {
        let (device, _) = chosen(arguments.device.clone(), &phones).await?;
        let findings = doctor::try_helper(&phones, &device).await;
        return print_findings(&findings, arguments.json, config);
    }
    let (device, transport) = match chosen(arguments.device.clone(), &phones).await {
        Ok(chosen) => chosen,
        Err(failure) => {
            // The reason why no phone is ready is often on this computer.
            if !arguments.json {
                print_findings(&setup(&arguments, config, &phones).await, false, config)?;
            }
            return Err(failure.into());
        }
    };
    if arguments.full && !BUILT_IN.contains(&device.as_str()) && !arguments.yes {
        consent(&device, arguments.apk.as_deref()).await?;
    }
    let folder = || {
        tempfile::tempdir()
            .map_err(|error| CliError::failed(format!("cannot create a temporary folder: {error}")))
    };
    let (files, input) = (folder()?, folder()?);
    let test_app = match &arguments.apk {
        Some(apk) => Some(test_app(apk, input.path()).await?),
        None => None,
    };
    let app = test_app.as_ref().map(|test| test.app.clone());
    let options = SessionOptions {
        files: Some(ArtifactStore::new(files.path())),
        input_files: Some(InputFolder::new(input.path())),
        clock: || jiff::Zoned::now().datetime(),
        ..SessionOptions::from(Some(device.clone()))
    };
    let session = Session::new(phones, options);
    let options = Options {
        device,
        transport: transport.to_owned(),
        files: files.path().into(),
        input: input.path().into(),
        test_app,
        full: arguments.full,
        only: arguments.only,
    };
    if let Some(app) = &app {
        refuse_installed(&session, app).await?;
    }
    let show = |result: &CheckResult| {
        if std::io::stderr().is_terminal() {
            eprintln!("{:8}{}", result.verdict.name(), result.tool);
        }
    };
    let mut signals = super::shutdown::ShutdownSignal::new();
    let ended = tokio::select! {
        report = doctor::run(&session, options, &show) => Some(report),
        () = signals.ending() => None,
    };
    if ended.is_none() && arguments.full {
        let call = Call::with_timeout(Duration::from_secs(10));
        if let Some(app) = app {
            let _ = session.request(&call, request::UninstallApp(app)).await;
        }
        let _ = session.request(&call, request::Press(Key::Home)).await;
    }
    session.end().await;
    let Some(report) = ended else {
        return Err(CliError::failed("interrupted: check what the phone shows"));
    };
    let report = report?;
    if arguments.json {
        print_json(&report)?;
    } else {
        print(&table::terminal(&report, WIDTH, has_colours(config)))?;
    }
    Ok(u8::from(report.has_failures()))
}

fn has_colours(config: &Config) -> bool {
    config.colours && std::io::stdout().is_terminal()
}

fn print_json(value: &(impl serde::Serialize + Sync)) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|error| CliError::failed(error.to_string()))?;
    print(&format!("{text}\n"))
}

/// Prints what was found, and returns the exit code.
fn print_findings(findings: &[Finding], json: bool, config: &Config) -> Result<u8, CliError> {
    match json {
        true => print_json(&findings)?,
        false => print_styled(&table::setup(findings, WIDTH, has_colours(config)))?,
    }
    Ok(u8::from(findings.iter().any(|found| found.severity == Severity::Problem)))
}

/// Checks what tools need.
async fn setup(arguments: &Arguments, config: &Config, phones: &DeviceProviders) -> Vec<Finding> {
    let file = &config.file;
    let options = SetupOptions {
        config_file: file.path.clone().map(|path| (path, file.exists)),
        adb_server: &config.adb_server,
        adb_key: config.adb_key.clone(),
        token: config.token.clone(),
        app_tools: config.app_tools.clone(),
        phones,
        device: arguments.device.as_deref(),
    };
    doctor::check_setup(&options).await
}

fn read(file: &Path) -> Result<Report, CliError> {
    let failed =
        |error: String| CliError::usage(format!("cannot read {}: {error}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text)
        .map_err(|error| failed(format!("expected a report of `doctor --json`: {error}")))
}

/// The phones that may be checked.
#[cfg(feature = "virtual-phone")]
fn providers(arguments: &Arguments, config: &Config) -> Result<DeviceProviders, CliError> {
    use thumbwire_core::providers::VirtualPhoneProvider;
    let device = arguments.device.as_deref();
    let helper = arguments.helper_mode();
    let Some(name) = &arguments.android else {
        return Ok(phones_with(config, device, helper));
    };
    if device != Some(VIRTUAL) {
        return Err(CliError::usage("--android is for the virtual phone: add `--device virtual`"));
    }
    let Some(setup) = Setup::of_release(name) else {
        let releases = Setup::releases().collect::<Vec<_>>().join(", ");
        return Err(CliError::usage(format!(
            "unknown Android release {name:?}; available: {releases}"
        )));
    };
    let phone = VirtualPhone::new(Setup { clock: ClockMode::Real, ..setup });
    Ok(DeviceProviders::default().with(VirtualPhoneProvider::new(phone).with_helper(helper)))
}

/// The phones that may be checked.
#[cfg(not(feature = "virtual-phone"))]
fn providers(arguments: &Arguments, config: &Config) -> Result<DeviceProviders, CliError> {
    Ok(phones_with(config, arguments.device.as_deref(), arguments.helper_mode()))
}

/// The id of the phone, and how it is reached.
pub(super) async fn chosen(
    device: Option<String>,
    phones: &DeviceProviders,
) -> Result<(String, &'static str), Failure> {
    match device.as_deref() {
        Some(id @ VIRTUAL) => return Ok((id.to_owned(), "built-in virtual phone")),
        Some(id @ VIRTUAL_IOS) => return Ok((id.to_owned(), "built-in virtual iPhone")),
        _ => {}
    }
    let listed = phones.list().await;
    let mut ready = DeviceKind::candidates(&listed);
    ready.retain(|phone| phone.is_ready());
    // How a listed phone is reached.
    let way = |phone: &ListedDevice| {
        phones.owner(&phone.id).unwrap_or(match phone.platform {
            Platform::Android => "adb server",
            Platform::Ios => "WebDriverAgent",
        })
    };
    match (device, ready.as_slice()) {
        (Some(id), _) => {
            let phone = listed.iter().find(|phone| phone.id == id);
            let way = phone.map_or("adbd over TCP", way);
            Ok((id, way))
        }
        (None, [only]) => Ok((only.id.clone(), way(only))),
        (None, _) => Err(Cause::NoDeviceChosen { devices: listed }.into()),
    }
}

/// Copies an APK to where it may be sent from, and reads what it is.
async fn test_app(apk: &Path, input: &Path) -> Result<TestApp, CliError> {
    const NAME: &str = "app.apk";
    fs::copy(apk, input.join(NAME))
        .map_err(|error| CliError::usage(format!("cannot read {}: {error}", apk.display())))?;
    let reading = async { InputFolder::new(input).open(NAME).await?.read_manifest().await };
    let manifest = reading
        .await
        .map_err(|error| CliError::usage(format!("{}: cannot {error}", apk.display())))?;
    let (app, permissions) = (AppId(manifest.package), manifest.permissions);
    Ok(TestApp { file: NAME.to_owned(), app, permissions })
}

/// Refuses an app that is on the phone: the checks would end with it uninstalled.
async fn refuse_installed(session: &Session, app: &AppId) -> Result<(), CliError> {
    let (which, containing) = (AppFilter::All, app.0.clone());
    let asked = request::ListApps { which, containing, max_age: Duration::ZERO };
    let apps = session.request(&Call::with_timeout(Duration::from_secs(60)), asked).await?;
    match apps.iter().any(|listed| listed.id == *app) {
        true => Err(CliError::usage(format!(
            "--apk: {app} is installed on this phone and would lose its data; use the APK of another app"
        ))),
        false => Ok(()),
    }
}

/// Asks the user whether the phone may be operated.
async fn consent(device: &str, apk: Option<&Path>) -> Result<(), CliError> {
    let user = terminal_prompt::person(None);
    if !user.is_interactive() {
        return Err(CliError::usage(
            "`doctor --full` operates the phone, and nobody can be asked here: add `--yes`",
        ));
    }
    let question = format!(
        "Operate {} for some minutes? Thumbwire opens and closes Settings or another app that came with the phone, taps, \
         swipes, types into a search field and clears it, rotates the screen, records it, writes a file and removes it, \
         with the helper zooms a map and sets the clipboard, which it puts back, and goes home at the end. It {}. [y/N]",
        sanitize(device),
        match apk {
            None => "sends, deletes and installs nothing".to_owned(),
            Some(file) => format!(
                "installs and uninstalls {}, and sends and deletes nothing else",
                sanitize(&file.display().to_string())
            ),
        }
    );
    match user.ask(&Question::open(question)).await {
        UserAnswer::Text(answer) if agrees(&answer) => Ok(()),
        _ => Err(CliError::failed("not started: the phone was not touched")),
    }
}

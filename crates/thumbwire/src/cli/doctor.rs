//! `thumbwire doctor`

use std::io::IsTerminal as _;

#[cfg(feature = "virtual-phone")]
use thumbwire_virtual_android::{ClockMode, Setup, VirtualPhone};

use super::helper_flag::HelperFlag;
use super::style::{LineStyle, Style, sanitize};
use super::{CliError, PhoneSources, phones_with, print, print_styled, version};
use crate::config::Config;
use crate::doctor::{self, Finding, Options, Severity};
use thumbwire_core::providers::DeviceProviders;
#[cfg(feature = "virtual-phone")]
use thumbwire_core::providers::VIRTUAL;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Phone to check: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios` [default: all that are connected]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    sources: PhoneSources,
    /// Android release of the built-in virtual phone, such as 4.4, at the speed of real phones
    #[cfg(feature = "virtual-phone")]
    #[arg(long, value_name = "RELEASE")]
    android: Option<String>,
    #[command(flatten)]
    helper: HelperFlag,
    /// Print the findings as JSON
    #[arg(short, long)]
    json: bool,
}

/// The table's width in columns, so that it fits into a message or an issue.
const WIDTH: usize = 100;

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.sources.applied_to(config)?;
    let phones = providers(&arguments, config)?;
    let file = &config.file;
    let options = Options {
        config_file: file.path.clone().map(|path| (path, file.exists)),
        adb_server: &config.adb_server,
        adb_key: config.adb_key.clone(),
        token: config.token.clone(),
        app_tools: config.app_tools.clone(),
        phones: &phones,
        device: arguments.device.as_deref(),
    };
    let program = Finding {
        subject: "thumbwire".into(),
        severity: Severity::Ok,
        detail: format!("{}, on {}", *version::VERSION, version::system()),
        fix: None,
    };
    let mut findings = vec![program];
    findings.extend(doctor::check(&options).await);
    findings.extend(fleet(config).await);
    if arguments.json {
        let text = serde_json::to_string_pretty(&findings);
        print(&format!("{}\n", text.map_err(|error| CliError::failed(error.to_string()))?))?;
    } else {
        let colours = config.colours && std::io::stdout().is_terminal();
        print_styled(&table(&findings, WIDTH, colours))?;
    }
    Ok(u8::from(findings.iter().any(|found| found.severity == Severity::Problem)))
}

/// What was found of the fleet of the settings: NATS, then each phone that is not ready.
#[cfg(feature = "fleet")]
async fn fleet(config: &Config) -> Vec<Finding> {
    use std::collections::BTreeSet;
    use thumbwire_fleet::{Connection, Door};
    let Some(fleet) = &config.fleet else { return Vec::new() };
    let finding = |subject: &str, severity, detail: String, fix: Option<String>| Finding {
        subject: subject.to_owned(),
        severity,
        detail,
        fix,
    };
    let opened = async {
        let connection =
            Connection::open(&fleet.url, &fleet.credentials, "thumbwire doctor").await?;
        let version = connection.server_version();
        Ok((Door::open(connection).await?, version))
    };
    let opened: Result<_, thumbwire_fleet::ConnectError> = opened.await;
    let (door, version) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let fix = Some(error.next_step().to_owned());
            return vec![finding("fleet", Severity::Problem, error.to_string(), fix)];
        }
    };
    let phones = door.phones();
    let nodes: BTreeSet<&str> = phones.iter().map(|phone| phone.node.as_str()).collect();
    let (phone_count, node_count) = (phones.len(), nodes.len());
    let detail = format!("NATS {version}, nodes: {node_count}, phones: {phone_count}");
    let mut findings = vec![match phones.is_empty() {
        false => finding("fleet", Severity::Ok, detail, None),
        true => {
            let fix = "start `thumbwire node --nats URL` on a computer with phones".to_owned();
            finding("fleet", Severity::Problem, detail, Some(fix))
        }
    }];
    findings.extend(phones.iter().filter(|phone| !phone.device.is_ready()).map(|phone| {
        let fix = phone.device.next_step().map(str::to_owned);
        finding(
            &format!("phone {}", phone.device.id),
            Severity::Note,
            phone.device.state.clone(),
            fix,
        )
    }));
    findings
}

#[cfg(not(feature = "fleet"))]
async fn fleet(_: &Config) -> Vec<Finding> {
    Vec::new()
}

/// What was found, for a terminal.
fn table(findings: &[Finding], width: usize, colours: bool) -> String {
    let style = LineStyle { width: Some(width), colours };
    let mut lines = vec!["thumbwire doctor: this computer and its phones".to_owned()];
    for Finding { subject, severity, detail, fix } in findings {
        let tone = match severity {
            Severity::Ok => Style::Plain,
            Severity::Note => Style::Warning,
            Severity::Problem => Style::Bad,
        };
        let head = (tone, format!("  {:7}  ", severity.name()));
        let words = format!("{}: {}", sanitize(subject), sanitize(detail));
        lines.extend(style.set(&head, &vec![(tone, words)]));
        let next = fix.iter().flat_map(|fix| {
            let head = (Style::Plain, format!("  {:7}  Next: ", ""));
            style.set(&head, &vec![(Style::Plain, sanitize(fix))])
        });
        lines.extend(next);
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The phones that may be checked.
#[cfg(feature = "virtual-phone")]
fn providers(arguments: &Arguments, config: &Config) -> Result<DeviceProviders, CliError> {
    use thumbwire_core::providers::VirtualPhoneProvider;
    let device = arguments.device.as_deref();
    let helper = arguments.helper.mode();
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
    Ok(phones_with(config, arguments.device.as_deref(), arguments.helper.mode()))
}

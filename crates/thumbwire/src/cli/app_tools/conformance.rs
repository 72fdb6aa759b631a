//! `thumbwire app-tools conformance`: checks an installed app against every MUST of the protocol.
//!
//! [`requirement`] is the list, and judges an app's files by what lint found. [`probes`] plans
//! requests to the running tool and judges its answers; this module sends them to the phone. It
//! bypasses the app-tool host, which would repair many of the violations. Naming the app allows
//! only requests that a tool must reject; capabilities that may act are named one by one.

mod probes;
mod requirement;
mod response_form;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use thumbwire_apk::Source;
use thumbwire_device::{
    AppId, Component, Device, Error, ServiceReply, ServiceRequest, StartServiceError,
};
use thumbwire_mobile_mcp::{Descriptor, ExtraKeys, Extras};

use super::super::style::{LineStyle, Style};
use super::super::{self as cli, CliError, PhoneSources, print, print_styled};
use super::lint::package;
use super::render::{self, sanitize};
use crate::config::Config;
use probes::{OF_TOOLS, Plan, ProbeOptions, ProbeResult};
use requirement::{Party, Requirement, Verdict};
use thumbwire_core::action::Failure;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Package of the app
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, or `virtual` [default: the only one
    /// connected]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    sources: PhoneSources,
    /// Capability that may be called several times, with harmless arguments, such as
    /// `add_note={"text":"test"}` (repeatable)
    #[arg(long, value_name = "CAPABILITY=JSON")]
    call: Vec<String>,
    /// Timeout of each answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=120))]
    timeout: u64,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.sources.applied_to(config)?;
    let options = options(&arguments.call)?;
    let device = device(arguments.device, config).await?;
    let app = AppId(arguments.package);
    let failed = |error: Error| CliError::from(Failure::of_device(&device.identity().id, &error));
    let package = async { device.packages()?.package_info(&app).await };
    let package = package.await.map_err(failed)?;
    let Some(base) = package.files.first() else {
        return Err(CliError::failed(format!(
            "the phone does not report where {app} is installed"
        )));
    };
    let source = PackageFile { device: Arc::clone(&device), path: base.clone() };
    let out = package::read(source).await;
    let out = out.map_err(|reason| CliError::failed(format!("cannot read {app}: {reason}")))?;
    let findings: Vec<_> = out.found.into_iter().map(|found| found.finding).collect();
    let mut judged: Vec<ProbeResult> = requirement::judge_files(&findings)
        .into_iter()
        .map(|(must, verdict)| ProbeResult { must, what: String::new(), verdict })
        .collect();
    judged.extend(match out.tools.into_iter().next() {
        Some((class, descriptor)) => {
            fits(&options, &descriptor)?;
            let limit = Duration::from_secs(arguments.timeout);
            let to = Component { app: app.clone(), class };
            ask(&*device, to, &descriptor, &options, limit).await?
        }
        None => untried("the app has no service with a descriptor"),
    });
    let rows = rows(judged);
    match arguments.json {
        true => print(&format!("{:#}\n", Value::from_iter(rows.iter().map(Row::json))))?,
        false => print_styled(&table(&app, &rows, render::ink(config.colours)))?,
    }
    let is_kept = |row: &Row| matches!(row.verdict, Verdict::Met | Verdict::NotTested(_));
    Ok(u8::from(!rows.iter().all(is_kept)))
}

/// The capabilities that may be called, from `--call`.
fn options(calls: &[String]) -> Result<ProbeOptions, CliError> {
    let mut options = ProbeOptions::default();
    for call in calls {
        let (id, arguments) = call.split_once('=').unwrap_or((call, "{}"));
        let arguments = serde_json::from_str(arguments).map_err(|error| {
            CliError::usage(format!("--call {id}: expected one JSON object: {error}"))
        })?;
        options.calls.insert(id.to_owned(), arguments);
    }
    Ok(options)
}

/// Checks that the capabilities of `--call` exist and accept their arguments. A typo would
/// otherwise silently leave checks untested.
///
/// # Errors
/// Wrong usage; the message lists the capabilities.
fn fits(options: &ProbeOptions, descriptor: &Descriptor) -> Result<(), CliError> {
    for (id, arguments) in &options.calls {
        let Some(one) = descriptor.capabilities.iter().find(|one| one.id == *id) else {
            let ids: Vec<_> =
                descriptor.capabilities.iter().take(20).map(|one| sanitize(&one.id)).collect();
            let offered = ids.join(", ");
            return Err(CliError::usage(format!(
                "--call {id}: no such capability; the app offers {offered}"
            )));
        };
        if let Some(refusal) = one.argument_error(arguments) {
            return Err(CliError::usage(format!(
                "--call {id}: {}",
                sanitize(&refusal.to_string())
            )));
        }
    }
    Ok(())
}

/// Connects to the phone.
async fn device(id: Option<String>, config: &Config) -> Result<Arc<dyn Device>, CliError> {
    let phones = cli::phones(config, None);
    let id = cli::devices::chosen(id, &phones).await?;
    Ok(phones.open(&id).await?)
}

/// Sends all planned requests to the tool.
async fn ask(
    device: &dyn Device,
    to: Component,
    descriptor: &Descriptor,
    options: &ProbeOptions,
    limit: Duration,
) -> Result<Vec<ProbeResult>, CliError> {
    let mut last = 0;
    let begun = thumbwire_core::random::hex::<9>().map_err(CliError::failed)?;
    // Unique ids in the form of UUID version 4 (RFC 9562, 5.4).
    let mut next_id = || {
        last += 1;
        format!(
            "{}-{}-4{}-8{}-{last:012x}",
            &begun[..8],
            &begun[8..12],
            &begun[12..15],
            &begun[15..18]
        )
    };
    let plan: Plan = probes::plan(descriptor, options, &mut next_id);
    let mut run = probes::Run::new(plan);
    let keys = ExtraKeys::default();
    while let Some(probe) = run.next() {
        let request = ServiceRequest {
            to: to.clone(),
            extras: probe.extras.clone().into_iter().collect(),
            callbacks: keys.callback.clone(),
            result_extras: keys.response.iter().chain(&keys.id).cloned().collect(),
        };
        let calling = async { device.app_services()?.call_service(&request, limit).await };
        let answer: Option<Extras> = match calling.await {
            Ok(ServiceReply::Answered(answer)) => Some(answer.extras.into_iter().collect()),
            Ok(ServiceReply::NoReply) => None,
            Ok(ServiceReply::NotStarted(reason)) => {
                return Ok(untried(&undelivered(&reason)));
            }
            Err(Error::HelperMissing { .. }) => {
                return Ok(untried("needs Thumbwire's helper on the phone to receive answers"));
            }
            Err(error) => return Err(Failure::of_device(&device.identity().id, &error).into()),
        };
        run.on_reply(answer.as_ref());
    }
    Ok(run.finish())
}

/// Why a service was not started, and what to do.
fn undelivered(reason: &StartServiceError) -> String {
    match reason {
        StartServiceError::NotFound => "the phone has no such service".into(),
        StartServiceError::Refused(said) => {
            format!("the phone refused to start the service: {said}")
        }
        StartServiceError::BackgroundRestricted(_) => {
            "the app is in the background; launch it first".into()
        }
        StartServiceError::TooLarge { max } => {
            format!("a request is longer than {max} UTF-16 code units")
        }
    }
}

/// Marks all checks of a running tool as untested.
fn untried(reason: &str) -> Vec<ProbeResult> {
    let judged = OF_TOOLS.iter().map(|must| ProbeResult {
        must: *must,
        what: String::new(),
        verdict: Verdict::NotTested(reason.to_owned()),
    });
    judged.collect()
}

/// The verdict on a MUST, over all its probes.
#[derive(Debug, PartialEq)]
struct Row {
    must: Requirement,
    /// The probe that failed.
    what: String,
    verdict: Verdict,
}

/// One row per MUST, in probe order, with its worst verdict.
fn rows(judged: Vec<ProbeResult>) -> Vec<Row> {
    let badness = |verdict: &Verdict| match verdict {
        Verdict::Violated(_) => 3,
        Verdict::NoReply => 2,
        Verdict::Met => 1,
        Verdict::NotTested(_) => 0,
    };
    let mut rows: Vec<Row> = Vec::new();
    for ProbeResult { must, what, verdict } in judged {
        match rows.iter_mut().find(|row| row.must.name == must.name) {
            None => rows.push(Row { must, what, verdict }),
            Some(row) if badness(&verdict) > badness(&row.verdict) => {
                *row = Row { must, what, verdict };
            }
            Some(_) => {}
        }
    }
    rows
}

impl Row {
    fn json(&self) -> Value {
        let reason = match &self.verdict {
            Verdict::Violated(reason) | Verdict::NotTested(reason) => Some(reason),
            Verdict::Met | Verdict::NoReply => None,
        };
        json!({
            "requirement": self.must.name,
            "section": Some(self.must.section).filter(|it| !it.is_empty()),
            "party": self.must.party.name(),
            "statement": self.must.demands,
            "verdict": self.verdict.name(),
            "detail": Some(&self.what).filter(|it| !it.is_empty()),
            "reason": reason,
        })
    }
}

fn table(app: &AppId, rows: &[Row], style: LineStyle) -> String {
    let width = rows.iter().map(|row| row.must.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut whose = None;
    for row in rows {
        if whose != Some(row.must.party) {
            let gap = if whose.is_some() { "\n" } else { "" };
            let of = match row.must.party {
                Party::Files => "files",
                Party::Tool => "running tool",
            };
            text.push_str(&format!(
                "{gap}{}: {of}\n",
                style.painted(Style::Bold, &sanitize(&app.0))
            ));
            whose = Some(row.must.party);
        }
        let (mark, tone, words) = match &row.verdict {
            Verdict::Met => ("✓", Style::Good, (Style::Dim, row.must.demands.to_owned())),
            Verdict::Violated(reason) => {
                let what =
                    if row.what.is_empty() { String::new() } else { format!("{}: ", row.what) };
                ("✗", Style::Bad, (Style::Plain, sanitize(&format!("{what}{reason}"))))
            }
            Verdict::NoReply => {
                let what = if row.what.is_empty() { "request" } else { &row.what };
                (
                    "✗",
                    Style::Bad,
                    (Style::Plain, sanitize(&format!("{what}: no readable response"))),
                )
            }
            Verdict::NotTested(reason) => {
                ("–", Style::Warning, (Style::Plain, format!("not tested: {}", sanitize(reason))))
            }
        };
        let head = format!("  {mark} {:width$}  {:5}  ", row.must.name, row.must.section);
        text.push_str(&style.lines((tone, &head), &vec![words]));
    }
    let count =
        |wanted: &[&str]| rows.iter().filter(|row| wanted.contains(&row.verdict.name())).count();
    text.push_str(&format!(
        "\n{} passed, {} failed, {} not tested\n",
        count(&["kept"]),
        count(&["broken", "silent"]),
        count(&["untried"])
    ));
    text
}

/// An APK on the phone.
struct PackageFile {
    device: Arc<dyn Device>,
    path: String,
}

#[async_trait]
impl Source for PackageFile {
    async fn length(&self) -> Result<u64, String> {
        let asking = async { self.device.device_files()?.file_length(&self.path).await };
        asking.await.map_err(|error| error.to_string())
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let reading =
            async { self.device.device_files()?.read_file(&self.path, from, length).await };
        reading.await.map_err(|error| error.to_string())
    }
}

//! `thumbwire app-tools conformance`: an installed app, held against each MUST of the protocol.
//!
//! What is asked and how answers are judged is `thumbwire_mobile_mcp::conformance`'s; here it is sent to a phone, past the bridge, which
//! would mend half of what is to be seen. Naming the app allows the requests that no tool may carry out; those that make it act are
//! named one by one.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use thumbwire_apk::Source;
use thumbwire_device::{AppId, Component, Delivery, Device, Error, Letter, Undelivered};
use thumbwire_mobile_mcp::conformance::probes::{self, Care, Judged, Plan};
use thumbwire_mobile_mcp::conformance::{MUSTS, Must, Verdict, Whose, files};
use thumbwire_mobile_mcp::{Descriptor, Extras, Keys};
use thumbwire_virtual_phone::{Setup, VirtualPhone};

use super::super::live::{Ink, Tone};
use super::super::{self as cli, Ended, print};
use super::lint::package;
use super::telling::{self, harmless};
use crate::action::{Cause, Failure};
use crate::config::Config;
use crate::session::VIRTUAL;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The app
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// The phone: an adb serial, HOST:PORT of an adbd, or `virtual` for the built-in one [default: the only one attached]
    #[arg(long, value_name = "ID")]
    device: Option<String>,
    /// A capability that may be called, with arguments that do no harm: `add_note={"text":"test"}`; it is called several times. May be
    /// given several times
    #[arg(long, value_name = "CAPABILITY=JSON")]
    call: Vec<String>,
    /// How long the tool may take for one answer
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=120))]
    time: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let care = care(&arguments.call)?;
    let device = device(arguments.device, config).await?;
    let app = AppId(arguments.package);
    let failed = |error: Error| Ended::from(Failure::of_device(&device.identity().id, &error));
    let package = device.package(&app).await.map_err(failed)?;
    let Some(base) = package.files.first() else {
        return Err(Ended::failed(format!("the phone does not tell where the files of {app} are")));
    };
    let source = OnPhone { device: Arc::clone(&device), path: base.clone() };
    let told = package::read(source).await;
    let told = told.map_err(|why| Ended::failed(format!("{app} cannot be read: {why}")))?;
    let findings: Vec<_> = told.found.into_iter().map(|found| found.finding).collect();
    let mut judged: Vec<Judged> = files::judge(&findings)
        .into_iter()
        .map(|(must, verdict)| Judged { must, what: String::new(), verdict })
        .collect();
    judged.extend(match told.tools.into_iter().next() {
        Some((class, descriptor)) => {
            fits(&care, &descriptor)?;
            let limit = Duration::from_secs(arguments.time);
            let to = Component { app: app.clone(), class };
            ask(&*device, to, &descriptor, &care, limit).await?
        }
        None => untried("there is no service with a descriptor to ask"),
    });
    let rows = rows(judged);
    match arguments.json {
        true => print(&format!("{:#}\n", Value::from_iter(rows.iter().map(Row::json))))?,
        false => print(&table(&app, &rows, telling::ink(config.colours)))?,
    }
    let is_kept = |row: &Row| matches!(row.verdict, Verdict::Kept | Verdict::Untried(_));
    Ok(u8::from(!rows.iter().all(is_kept)))
}

/// What may be called.
fn care(calls: &[String]) -> Result<Care, Ended> {
    let mut care = Care::default();
    for call in calls {
        let (id, arguments) = call.split_once('=').unwrap_or((call, "{}"));
        let arguments = serde_json::from_str(arguments).map_err(|error| {
            Ended::usage(format!("--call {id}: the arguments must be one JSON object: {error}"))
        })?;
        care.calls.insert(id.to_owned(), arguments);
    }
    Ok(care)
}

/// That what may be called is there, with such arguments: a name that is mistyped would leave its MUSTs untried without a word.
///
/// # Errors
/// Wrong usage, with what there is.
fn fits(care: &Care, descriptor: &Descriptor) -> Result<(), Ended> {
    for (id, arguments) in &care.calls {
        let Some(one) = descriptor.capabilities.iter().find(|one| one.id == *id) else {
            let ids: Vec<_> =
                descriptor.capabilities.iter().take(20).map(|one| harmless(&one.id)).collect();
            let there = ids.join(", ");
            return Err(Ended::usage(format!("--call {id}: the app offers {there}")));
        };
        if let Some(refusal) = one.refusal(arguments) {
            return Err(Ended::usage(format!("--call {id}: {}", harmless(&refusal.to_string()))));
        }
    }
    Ok(())
}

/// The phone, connected.
async fn device(id: Option<String>, config: &Config) -> Result<Arc<dyn Device>, Ended> {
    let mut phones = cli::phones(config);
    let id = match id {
        Some(id) => id,
        None => {
            let there = phones.list().await?;
            match there.as_slice() {
                [one] => one.id.clone(),
                _ => return Err(Failure::from(Cause::NoDeviceChosen { there }).into()),
            }
        }
    };
    if id == VIRTUAL {
        phones = phones.with_virtual(VirtualPhone::new(Setup::default()));
    }
    Ok(phones.open(&id).await?)
}

/// Asks the tool all that is to be asked.
async fn ask(
    device: &dyn Device,
    to: Component,
    descriptor: &Descriptor,
    care: &Care,
    limit: Duration,
) -> Result<Vec<Judged>, Ended> {
    let mut last = 0;
    let begun = crate::random::hex::<9>().map_err(Ended::failed)?;
    // Of the form of a UUID, version 4 (RFC 9562, 5.4), and each another one.
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
    let plan: Plan = probes::plan(descriptor, care, &mut next_id);
    let mut run = probes::Run::new(plan);
    let keys = Keys::default();
    while let Some(probe) = run.next() {
        let letter = Letter {
            to: to.clone(),
            extras: probe.extras.clone().into_iter().collect(),
            callbacks: keys.callback.clone(),
            wanted: keys.response.iter().chain(&keys.id).cloned().collect(),
        };
        let answer: Option<Extras> = match device.courier(&letter, limit).await {
            Ok(Delivery::Answered(answer)) => Some(answer.extras.into_iter().collect()),
            Ok(Delivery::Silent) => None,
            Ok(Delivery::Not(why)) => {
                return Ok(untried(&undelivered(&why)));
            }
            Err(Error::Unsupported { .. }) => {
                return Ok(untried("needs Thumbwire's helper on the phone, to hear answers"));
            }
            Err(error) => return Err(Failure::of_device(&device.identity().id, &error).into()),
        };
        run.heard(answer.as_ref());
    }
    Ok(run.finish())
}

/// Why a service was not started, and what helps.
fn undelivered(why: &Undelivered) -> String {
    match why {
        Undelivered::NotFound => "the phone knows no such service".into(),
        Undelivered::Refused(said) => format!("the phone does not start the service: {said}"),
        Undelivered::Background(_) => "the app is in the background; launch it first".into(),
        Undelivered::TooLarge { most } => format!("a request is larger than {most} UTF-16 units"),
    }
}

/// That nothing of a running tool was tried.
fn untried(why: &str) -> Vec<Judged> {
    let musts = MUSTS.iter().filter(|must| must.whose == Whose::Tool);
    let judged = musts.map(|must| Judged {
        must: *must,
        what: String::new(),
        verdict: Verdict::Untried(why.to_owned()),
    });
    judged.collect()
}

/// What came of a MUST, of all that was tried for it.
#[derive(Debug, PartialEq)]
struct Row {
    must: Must,
    /// What was done when it was broken.
    what: String,
    verdict: Verdict,
}

/// A row a MUST, in the order in which they were tried. The worst that was seen counts.
fn rows(judged: Vec<Judged>) -> Vec<Row> {
    let badness = |verdict: &Verdict| match verdict {
        Verdict::Broken(_) => 3,
        Verdict::Silent => 2,
        Verdict::Kept => 1,
        Verdict::Untried(_) => 0,
    };
    let mut rows: Vec<Row> = Vec::new();
    for Judged { must, what, verdict } in judged {
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
        let why = match &self.verdict {
            Verdict::Broken(why) | Verdict::Untried(why) => Some(why),
            Verdict::Kept | Verdict::Silent => None,
        };
        json!({
            "must": self.must.name,
            "section": Some(self.must.section).filter(|it| !it.is_empty()),
            "whose": self.must.whose.name(),
            "demands": self.must.demands,
            "verdict": self.verdict.name(),
            "what": Some(&self.what).filter(|it| !it.is_empty()),
            "why": why,
        })
    }
}

fn table(app: &AppId, rows: &[Row], ink: Ink) -> String {
    let width = rows.iter().map(|row| row.must.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut whose = None;
    for row in rows {
        if whose != Some(row.must.whose) {
            let gap = if whose.is_some() { "\n" } else { "" };
            let of = match row.must.whose {
                Whose::Files => "in its files",
                Whose::Tool => "while it runs",
                Whose::Agent => "as an agent",
            };
            text.push_str(&format!("{gap}{} {of}\n", ink.painted(Tone::Bold, &harmless(&app.0))));
            whose = Some(row.must.whose);
        }
        let (mark, tone, words) = match &row.verdict {
            Verdict::Kept => ("✓", Tone::Good, (Tone::Dim, row.must.demands.to_owned())),
            Verdict::Broken(why) => {
                let what =
                    if row.what.is_empty() { String::new() } else { format!("{}: ", row.what) };
                ("✗", Tone::Bad, (Tone::Plain, harmless(&format!("{what}{why}"))))
            }
            Verdict::Silent => {
                let what = if row.what.is_empty() { "asked" } else { &row.what };
                (
                    "✗",
                    Tone::Bad,
                    (
                        Tone::Plain,
                        harmless(&format!("{what}: there was no answer that can be read")),
                    ),
                )
            }
            Verdict::Untried(why) => {
                ("–", Tone::Heed, (Tone::Plain, format!("not tried: {}", harmless(why))))
            }
        };
        let head = format!("  {mark} {:width$}  {:5}  ", row.must.name, row.must.section);
        for line in ink.set(&(tone, head), &vec![words]) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    let count =
        |wanted: &[&str]| rows.iter().filter(|row| wanted.contains(&row.verdict.name())).count();
    text.push_str(&format!(
        "\n{} kept, {} broken, {} not tried\n",
        count(&["kept"]),
        count(&["broken", "silent"]),
        count(&["untried"])
    ));
    text
}

/// A package where it lies on the phone.
struct OnPhone {
    device: Arc<dyn Device>,
    path: String,
}

#[async_trait]
impl Source for OnPhone {
    async fn length(&self) -> Result<u64, String> {
        self.device.file_length(&self.path).await.map_err(|error| error.to_string())
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        self.device.read_file(&self.path, from, length).await.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_the_app_does_not_offer_or_would_refuse_is_wrong_usage() {
        let written = r#"<mobile-mcp-capabilities version="1.0">
            <capability id="add_note" description="Adds a note" version="1">
                <input><param name="text" type="string" required="true" description="It" /></input>
            </capability>
        </mobile-mcp-capabilities>"#;
        let descriptor = thumbwire_mobile_mcp::descriptor::read(written).descriptor;
        let code = |call: &str| {
            let said = care(&[call.to_owned()]).and_then(|care| fits(&care, &descriptor));
            said.map_or_else(|ended| ended.code, |()| 0)
        };
        assert_eq!(code(r#"add_note={"text":"test"}"#), 0);
        for call in ["add_nte={}", "add_note={}", r#"add_note={"text":1}"#] {
            assert_eq!(code(call), 2, "{call}");
        }
    }
}

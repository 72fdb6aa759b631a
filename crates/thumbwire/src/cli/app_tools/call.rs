//! `thumbwire app-tools call`: one capability of an app, by hand.

use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_device::AppId;

use super::super::{Ended, print, terminal};
use super::whom::Whom;
use super::{listing, telling};
use crate::action::{Action, Answered, AppCall, Call, Heard, Outcome, Perform as _, Phase};
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The app; naming it allows this one call
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// What it is to do; `thumbwire app-tools describe PACKAGE` tells what there is
    #[arg(value_name = "CAPABILITY")]
    capability: String,
    /// Its arguments, a JSON object
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    #[command(flatten)]
    whom: Whom,
    /// The full class name of the service, where the app has several with the same capability
    #[arg(long, value_name = "CLASS")]
    service: Option<String>,
    /// Send it and wait for no answer: all that can be done without our helper on the phone
    #[arg(long)]
    send_only: bool,
    /// How long the app may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..=600))]
    time: u64,
    /// Print the whole answer as JSON
    #[arg(long)]
    json: bool,
    /// Tell how long each part took, on standard error
    #[arg(long)]
    timings: bool,
}

/// What looking for the app's tools, and asking a person, may take beside the call itself.
const BESIDE: Duration = Duration::from_secs(30);

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let given: Map<String, Value> =
        serde_json::from_str(&arguments.arguments).map_err(|error| {
            Ended::usage(format!(
                "the arguments must be one JSON object such as '{{\"date\": \"2026-05-04\"}}': {error}"
            ))
        })?;
    let patience = Duration::from_secs(arguments.time);
    let session = arguments.whom.session(config, Some(&arguments.package), Some(patience))?;
    let limit = BESIDE + patience;
    let call = Call { ask: terminal::person(None), ..Call::within(limit) };
    let action = Action::CallAppTool(AppCall {
        app: AppId(arguments.package),
        service: arguments.service,
        tool: arguments.capability,
        arguments: given,
        send_only: arguments.send_only,
    });
    // The call finds the app's tools by itself; asked before, it can be told apart how long that takes.
    let found = match arguments.timings {
        true => listing::ask(&session).await.map(|catalog| catalog.phases.clone()),
        false => Ok(Vec::new()),
    };
    let outcome = session.perform(&call, action).await;
    session.end().await;
    let mut phases = found?;
    let answered = match outcome? {
        Outcome::Answered(answered) => answered,
        _ => return Err(Ended::failed("the call was answered by something else")),
    };
    phases.extend(answered.phases.iter().copied());
    let code = match arguments.json {
        true => as_json(&answered, &phases)?,
        false => tell(&answered)?,
    };
    if arguments.timings {
        eprint!("{}", telling::phases(&phases));
    }
    Ok(code)
}

/// Prints what was heard: the app's values to standard output, everything else beside it.
fn tell(answered: &Answered) -> Result<u8, Ended> {
    match &answered.heard {
        Heard::Sent => {
            eprintln!("Sent. No answer can come: see on the screen what became of it.");
            Ok(0)
        }
        Heard::Answer { success, message, output, warnings } => {
            for warning in warnings {
                eprintln!("warning: {}", telling::harmless(warning));
            }
            if !message.is_empty() {
                eprintln!("{}", telling::harmless(message));
            } else if !success {
                eprintln!("The app says that it failed, and not why.");
            }
            if *success || !output.is_empty() {
                print(&format!("{:#}\n", Value::Object(output.clone())))?;
            }
            Ok(u8::from(!success))
        }
    }
}

fn as_json(answered: &Answered, phases: &[(Phase, Duration)]) -> Result<u8, Ended> {
    let (mut told, code) = match &answered.heard {
        Heard::Sent => (json!({ "status": "sent" }), 0),
        Heard::Answer { success, message, output, warnings } => {
            let status = if *success { "success" } else { "failure" };
            let told = json!({
                "status": status, "message": message, "output": output, "warnings": warnings,
            });
            (told, u8::from(!success))
        }
    };
    told["package"] = answered.app.0.as_str().into();
    told["capability"] = answered.tool.as_str().into();
    let phases = phases
        .iter()
        .map(|(phase, took)| json!({ "phase": phase.name(), "ms": took.as_secs_f64() * 1000.0 }));
    told["phases"] = Value::from_iter(phases);
    print(&format!("{told:#}\n"))?;
    Ok(code)
}

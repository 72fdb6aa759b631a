//! `thumbwire app-tools call`: calls one capability of an app.

use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_device::AppId;

use super::super::{CliError, print, terminal_prompt};
use super::flags::AppToolsFlags;
use super::{list, render};
use crate::config::Config;
use thumbwire_core::action::{
    AppToolCall, AppToolPhase, AppToolReply, AppToolResult, Call, TypedPerform as _, request,
};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Package of the app; naming it allows this one call
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// Capability to call; see `thumbwire app-tools describe PACKAGE`
    #[arg(value_name = "CAPABILITY")]
    capability: String,
    /// Arguments, as a JSON object
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    #[command(flatten)]
    flags: AppToolsFlags,
    /// Full class name of the service, if several services of the app have the capability
    #[arg(long, value_name = "CLASS")]
    service: Option<String>,
    /// Don't wait for an answer; works without Thumbwire's helper on the phone
    #[arg(long)]
    send_only: bool,
    /// Timeout of the app's answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// Print the whole answer as JSON
    #[arg(short, long)]
    json: bool,
    /// Print how long each phase took, to standard error
    #[arg(long)]
    timings: bool,
}

/// Extra time for finding the app's tools and asking the user.
const BESIDE: Duration = Duration::from_secs(30);

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let parsed: Map<String, Value> =
        serde_json::from_str(&arguments.arguments).map_err(|error| {
            CliError::usage(format!(
                "invalid arguments: expected one JSON object such as '{{\"date\": \"2026-05-04\"}}': {error}"
            ))
        })?;
    let timeout = Duration::from_secs(arguments.timeout);
    let session = arguments.flags.session(config, Some(&arguments.package), Some(timeout)).await?;
    let limit = BESIDE + timeout;
    let call = Call { ask: terminal_prompt::person(None), ..Call::with_timeout(limit) };
    let asked = request::CallAppTool(AppToolCall {
        app: AppId(arguments.package),
        service: arguments.service,
        tool: arguments.capability,
        arguments: parsed,
        send_only: arguments.send_only,
    });
    // The call itself would find the app's tools; listing them first measures that part separately.
    let found = match arguments.timings {
        true => list::ask(&session).await.map(|catalog| catalog.phases.clone()),
        false => Ok(Vec::new()),
    };
    let result = session.request(&call, asked).await;
    session.end().await;
    let mut phases = found?;
    let result = result?;
    phases.extend(result.phases.iter().copied());
    let code = match arguments.json {
        true => as_json(&result, &phases)?,
        false => print_result(&result)?,
    };
    if arguments.timings {
        eprint!("{}", render::phases(&phases));
    }
    Ok(code)
}

/// Prints the reply: the app's output to standard output, everything else to standard error.
fn print_result(result: &AppToolResult) -> Result<u8, CliError> {
    match &result.heard {
        AppToolReply::Sent => {
            eprintln!("Sent without waiting for an answer. Check the screen for the result.");
            Ok(0)
        }
        AppToolReply::Answer { success, message, output, warnings } => {
            for warning in warnings {
                eprintln!("warning: {}", render::sanitize(warning));
            }
            if !message.is_empty() {
                eprintln!("{}", render::sanitize(message));
            } else if !success {
                eprintln!("The app reported a failure without a reason.");
            }
            if *success || !output.is_empty() {
                print(&format!("{:#}\n", Value::Object(output.clone())))?;
            }
            Ok(u8::from(!success))
        }
    }
}

fn as_json(result: &AppToolResult, phases: &[(AppToolPhase, Duration)]) -> Result<u8, CliError> {
    let (mut json, code) = match &result.heard {
        AppToolReply::Sent => (json!({ "status": "sent" }), 0),
        AppToolReply::Answer { success, message, output, warnings } => {
            let status = if *success { "success" } else { "failure" };
            let out = json!({
                "status": status, "message": message, "output": output, "warnings": warnings,
            });
            (out, u8::from(!success))
        }
    };
    json["package"] = result.app.0.as_str().into();
    json["capability"] = result.tool.as_str().into();
    let phases = phases
        .iter()
        .map(|(phase, took)| json!({ "phase": phase.name(), "ms": took.as_secs_f64() * 1000.0 }));
    json["phases"] = Value::from_iter(phases);
    print(&format!("{json:#}\n"))?;
    Ok(code)
}

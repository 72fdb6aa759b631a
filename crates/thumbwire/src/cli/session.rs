//! `thumbwire session`: the process behind `look`, `tap` and the other short verbs.
//!
//! A [`resident`] process of the user's keeps a core session, so that refs last from one command to
//! the next. The first command starts it; it ends by itself some time after the last one. Start
//! with [`client`]: it connects through a private [`socket`], on which [`message`]s are lines of
//! JSON. All commands of a user are one client, whichever terminal they come from.

#[cfg(unix)]
mod client;
mod message;
#[cfg(unix)]
mod next_step;
#[cfg(unix)]
mod resident;
#[cfg(unix)]
mod socket;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::log_flag::LogFlag;
use super::{CliError, call, print};
use crate::config::Config;
#[cfg(unix)]
pub(super) use client::call_tool;
pub(super) use message::{Answer, ToolCall};
use message::{Ended, Status};

/// How long the process waits for another call.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// What a process that a command has started says when it listens.
#[cfg(unix)]
const READY: &str = "ready";

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Print the session as JSON
    #[arg(short, long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// End the session; its refs and its virtual phone end with it
    End,
    /// Choose the phone of the commands that name none
    Use {
        /// Phone, as `--device` takes it
        #[arg(value_name = "ID")]
        device: String,
    },
    /// Call any tool of the `mobile` toolset in the session; see `thumbwire tools`
    Call {
        /// Name of the tool
        tool: String,
        /// Arguments, as a JSON object
        #[arg(default_value = "{}", value_name = "JSON")]
        arguments: String,
        /// Phone to use [default: that of the session]
        #[arg(short, long, value_name = "ID")]
        device: Option<String>,
        /// Print the whole result as JSON
        #[arg(short, long)]
        json: bool,
        /// Directory for images
        #[arg(short, long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
    },
    /// Run the session in the foreground, with its log on standard error
    Serve {
        /// End after this long without a call
        #[arg(long, value_name = "SECONDS", default_value_t = IDLE.as_secs())]
        idle: u64,
        /// Report on standard output when it is ready, and leave the terminal
        #[arg(long, hide = true)]
        detached: bool,
        #[command(flatten)]
        log: LogFlag,
    },
}

impl Arguments {
    /// How much the process logs.
    pub(super) fn log(&self) -> LogFlag {
        match &self.verb {
            Some(Verb::Serve { log, .. }) => *log,
            _ => LogFlag::default(),
        }
    }
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    match arguments.verb {
        None => {
            let status = client::status(config).await?;
            print(&match (arguments.json, status) {
                (true, status) => format!("{}\n", json!(status)),
                (false, Some(status)) => shown(&status),
                (false, None) => {
                    "no session; the first `look`, `tap` or other short command starts one\n".into()
                }
            })?;
        }
        Some(Verb::End) => print(match client::end(config).await? {
            Ended::Itself => "the session has ended\n",
            Ended::Killed => "the session did not answer and was killed\n",
            Ended::Before => "no session\n",
        })?,
        Some(Verb::Use { device }) => {
            let tool = ToolCall::new("mobile_use_device", json!({ "device_id": &device }));
            let answer = call_tool(config, tool).await?;
            match answer.code {
                0 => print(&format!("The session uses {device}\n"))?,
                _ => call::print_text(&answer.reply)?,
            }
            return Ok(answer.code);
        }
        Some(Verb::Call { tool, arguments, device, json, out }) => {
            let arguments = call::parse_arguments(&arguments)?;
            let call = ToolCall { tool, arguments, device };
            let name = call.tool.clone();
            let Answer { code, reply } = call_tool(config, call).await?;
            match json {
                true => print(&format!("{reply}\n"))?,
                false => call::print_reply(&reply, &name, &out)?,
            }
            return Ok(code);
        }
        Some(Verb::Serve { idle, detached, log: _ }) => {
            return resident::run(config, Duration::from_secs(idle), detached).await;
        }
    }
    Ok(0)
}

fn shown(status: &Status) -> String {
    let Status { device, since, calls, version, process, idle } = status;
    let rows = [
        ("phone", device.as_deref().unwrap_or("none yet").to_owned()),
        ("since", since.clone()),
        ("calls", calls.to_string()),
        ("version", version.clone()),
        ("process", process.to_string()),
        ("ends", format!("after {idle} s without a call, or by `thumbwire session end`")),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        let _ = writeln!(text, "{name:<9}{value}");
    }
    text
}

#[cfg(not(unix))]
pub(super) use not_here::call_tool;
#[cfg(not(unix))]
use not_here::{client, resident};

/// Windows has no such sockets in tokio.
#[cfg(not(unix))]
mod not_here {
    use super::{Answer, CliError, Config, ToolCall};

    fn not_here<T>() -> Result<T, CliError> {
        Err(CliError::failed(
            "the session is not available on Windows yet. Use `thumbwire call` or `thumbwire serve`",
        ))
    }

    pub(in crate::cli) async fn call_tool(_: &Config, _: ToolCall) -> Result<Answer, CliError> {
        not_here()
    }

    pub(super) mod client {
        use super::super::{CliError, Config, Ended, Status};

        pub(in crate::cli) async fn status(_: &Config) -> Result<Option<Status>, CliError> {
            super::not_here()
        }

        pub(in crate::cli) async fn end(_: &Config) -> Result<Ended, CliError> {
            super::not_here()
        }
    }

    pub(super) mod resident {
        use super::super::{CliError, Config, Duration};

        pub(in crate::cli) async fn run(_: &Config, _: Duration, _: bool) -> Result<u8, CliError> {
            super::not_here()
        }
    }
}

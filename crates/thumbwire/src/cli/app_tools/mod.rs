//! `thumbwire app-tools`: what apps offer to programs, for whoever makes such apps and whoever uses them.
//!
//! [`lint`] and [`new`] work on files; [`listing`] and [`call`] are asked of a phone, by the same actions as any caller's;
//! [`conformance`] asks a tool what no caller would, by the device itself. Which apps may be
//! called is [`whom`]'s. docs/app-tools.md tells all of them.

mod call;
mod conformance;
mod lint;
mod listing;
mod new;
mod telling;
mod whom;

pub(super) use telling::millis;
pub(super) use whom::Allow;

use super::Ended;
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Hold an APK or a descriptor (mcp_capabilities.xml) against the rules of the Mobile-MCP Intent protocol.
    ///
    /// Each finding is a line `FILE:LINE:COLUMN: RULE: what is wrong, and what would be right`. Exit codes: 0 nothing is fatal, 1 something
    /// is, 2 a file cannot be read.
    Lint(lint::Arguments),
    /// Make the files of a tool app from a short TOML: descriptor, manifest's piece, Kotlin service.
    New(new::Arguments),
    /// List the apps on a phone that offer something, and what.
    List(listing::List),
    /// Tell all that one app says of what it offers.
    Describe(listing::Describe),
    /// Have an app do something that it offers.
    Call(call::Arguments),
    /// Trust an app's tools from now on, as they are: by its signer and its words.
    Trust(listing::Trust),
    /// Hold an installed app against each MUST of the protocol: its files, and the tool while it runs.
    ///
    /// By itself it sends only requests that no tool may carry out; `--call` names capabilities that may be called, several times, for the
    /// rest. Exit codes: 0 no MUST was seen broken, 1 one was, or the tool does not answer.
    Conformance(conformance::Arguments),
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    match arguments.verb {
        Verb::Lint(arguments) => lint::run(arguments, config).await,
        Verb::New(arguments) => new::run(&arguments),
        Verb::List(arguments) => listing::list(arguments, config).await,
        Verb::Describe(arguments) => listing::describe(arguments, config).await,
        Verb::Call(arguments) => call::run(arguments, config).await,
        Verb::Trust(arguments) => listing::trust(arguments, config).await,
        Verb::Conformance(arguments) => conformance::run(arguments, config).await,
    }
}

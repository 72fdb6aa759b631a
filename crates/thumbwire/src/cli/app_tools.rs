//! `thumbwire app-tools`: the tools that apps offer, for developers and users of such apps.
//!
//! [`lint`] works on files; [`list`] and [`call`] use a phone through the same actions as any caller;
//! [`conformance`] talks to the device directly, to send requests that no caller
//! would. [`flags`] has the flags that allow apps. See docs/app-tools.md.

mod call;
mod conformance;
mod flags;
mod lint;
mod list;
mod render;

pub(super) use flags::AllowFlags;
#[cfg(all(feature = "agent", feature = "virtual-phone"))]
pub(super) use render::millis;

use super::CliError;
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Check APKs and descriptors (mcp_capabilities.xml) against the Mobile-MCP Intent protocol.
    ///
    /// Each finding is a line `FILE:LINE:COLUMN: RULE: problem, and how to fix it`. Exit codes: 0
    /// no fatal finding, 1 at least one, 2 a file cannot be read.
    Lint(lint::Arguments),
    /// List the tools that apps on a phone offer.
    List(list::ListArgs),
    /// Show an app's tools in full.
    Describe(list::DescribeArgs),
    /// Call an app's tool.
    Call(call::Arguments),
    /// Trust an app's tools as they are now, with its signer and descriptions.
    Trust(list::TrustArgs),
    /// Check an installed app against every MUST of the protocol: its files and the running tool.
    ///
    /// By default, only requests that a tool must reject are sent. The other checks call
    /// capabilities, several times each; name those that may be called with `--call`. Exit codes: 0
    /// no violation found, 1 a violation, or the tool does not answer.
    Conformance(conformance::Arguments),
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    match arguments.verb {
        Verb::Lint(arguments) => lint::run(arguments, config).await,
        Verb::List(arguments) => list::list(arguments, config).await,
        Verb::Describe(arguments) => list::describe(arguments, config).await,
        Verb::Call(arguments) => call::run(arguments, config).await,
        Verb::Trust(arguments) => list::trust(arguments, config).await,
        Verb::Conformance(arguments) => conformance::run(arguments, config).await,
    }
}

//! `thumbwire app-tools lint`: checks a tool app's files against the protocol's rules.
//!
//! Start with [`run`]. `thumbwire-mobile-mcp` has the rules and `thumbwire-apk` reads packages;
//! this module detects the kind of each file ([`file`](mod@file)), collects the findings
//! ([`report`]) and prints them ([`render`]).

mod file;
pub(super) mod package;
mod render;
mod report;

use std::path::PathBuf;

use thumbwire_mobile_mcp::Mode;

use super::super::{CliError, print, print_styled};
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// APKs, or descriptors as XML text
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON: one object per file, with its findings
    #[arg(short, long)]
    json: bool,
    /// Count a finding as fatal only if it keeps agents, Thumbwire included, from calling the tool
    #[arg(long)]
    lenient: bool,
    /// Print the rules as a Markdown table, then exit
    #[arg(long, exclusive = true)]
    rules: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    if arguments.rules {
        print(&thumbwire_mobile_mcp::table())?;
        return Ok(0);
    }
    let mode = if arguments.lenient { Mode::Lenient } else { Mode::Strict };
    let mut seen = Vec::new();
    for file in &arguments.files {
        seen.push(file::lint(file).await);
    }
    match arguments.json {
        true => {
            let rows = seen.iter().map(|one| render::json(one, mode));
            print(&format!("{:#}\n", serde_json::Value::from_iter(rows)))?;
        }
        false => {
            let style = super::render::ink(config.colours);
            for one in &seen {
                print_styled(&render::file(one, mode, style))?;
            }
            if seen.len() > 1 {
                print_styled(&render::sum(&seen, mode, style))?;
            }
        }
    }
    Ok(match () {
        () if seen.iter().any(|one| one.report.is_err()) => 2,
        () if seen.iter().any(|one| one.is_fatal(mode)) => 1,
        () => 0,
    })
}

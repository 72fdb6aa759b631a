//! `thumbwire app-tools lint`: what a tool app has against the rules, from its files alone.
//!
//! Begin with [`run`]. What the rules are is `thumbwire-mobile-mcp`'s matter, and reading packages `thumbwire-apk`'s; here files are told
//! apart by what they hold ([`inspect`]), and findings told ([`telling`]).

mod inspect;
pub(super) mod package;
mod telling;

use std::path::PathBuf;

use thumbwire_mobile_mcp::Mode;

use super::super::{Ended, print};
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// APKs, and descriptors as XML text
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON: an object a file, with its findings
    #[arg(long)]
    json: bool,
    /// Count as fatal only what keeps agents from calling the tool, as this program's own bridge does
    #[arg(long)]
    lenient: bool,
    /// Print the rules, as a table in Markdown, and look at no file
    #[arg(long, exclusive = true)]
    rules: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    if arguments.rules {
        print(&thumbwire_mobile_mcp::table())?;
        return Ok(0);
    }
    let mode = if arguments.lenient { Mode::Lenient } else { Mode::Strict };
    let mut seen = Vec::new();
    for file in &arguments.files {
        seen.push(inspect::file(file).await);
    }
    match arguments.json {
        true => {
            let rows = seen.iter().map(|one| telling::json(one, mode));
            print(&format!("{:#}\n", serde_json::Value::from_iter(rows)))?;
        }
        false => {
            let ink = super::telling::ink(config.colours);
            for one in &seen {
                print(&telling::file(one, mode, ink))?;
            }
            if seen.len() > 1 {
                print(&telling::sum(&seen, mode, ink))?;
            }
        }
    }
    Ok(match () {
        () if seen.iter().any(|one| one.told.is_err()) => 2,
        () if seen.iter().any(|one| one.is_fatal(mode)) => 1,
        () => 0,
    })
}

//! `thumbwire trace`: what a recorded run tells.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Ended, print, replay};
use crate::config::Config;
use crate::random;
use crate::trace::format::FILE;
use crate::trace::{Story, report, show};

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Print a run, a line a step
    Show {
        /// The run's folder
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make one HTML page of a run, with all its pictures
    Report {
        /// The run's folder
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// The page's file [default: report.html in the run's folder]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Repeat a run on a phone, without a model as long as things are as they were
    ///
    /// Before each round the screen is held against the recorded one: the app in front, what it says, and the controls that are
    /// acted on. Where they differ the model decides from there on; without one the replay ends, and says what differs.
    Replay(Box<replay::Arguments>),
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    match arguments.verb {
        Verb::Show { run, json } => {
            let story = open(&run)?;
            if json {
                let told = json!({ "notes": story.notes, "lines": story.lines });
                print(&format!("{told:#}\n"))?;
            } else {
                print(&show(&story))?;
            }
        }
        Verb::Report { run, out } => {
            let out = out.unwrap_or_else(|| run.join(PAGE));
            let size = report(&run, &out)? as f64 / 1e6;
            print(&format!("{} ({size:.1} MB)\n", out.display()))?;
        }
        Verb::Replay(arguments) => return replay::run(*arguments, config).await,
    }
    Ok(0)
}

/// The page's name, where nobody says otherwise.
pub(super) const PAGE: &str = "report.html";

/// Makes the page of a run; gives its size in bytes.
pub(super) fn report(run: &Path, out: &Path) -> Result<usize, Ended> {
    let nonce = random::hex::<16>().map_err(Ended::failed)?;
    let page = report::page(&open(run)?, &nonce);
    std::fs::write(out, &page)
        .map_err(|error| Ended::failed(format!("cannot write {}: {error}", out.display())))?;
    Ok(page.len())
}

fn open(run: &Path) -> Result<Story, Ended> {
    Story::open(run).map_err(|error| {
        let run_is = run.display();
        match error.kind() {
            std::io::ErrorKind::NotFound if run.is_dir() => Ended::failed(format!(
                "{run_is} is no run: it holds no {FILE}; a run is a folder such as logs/run-TIME"
            )),
            _ => Ended::failed(format!("cannot read the run in {run_is}: {error}")),
        }
    })
}

//! `thumbwire trace`: shows and exports recorded runs.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{CliError, print};
use thumbwire_base::files::{self, Folder};
use thumbwire_core::random;
use thumbwire_core::trace::format::FILE;
use thumbwire_core::trace::report::{Pictures, SUITE, Suite, suite_page};
use thumbwire_core::trace::{Trace, report, show};
#[cfg(feature = "agent")]
use thumbwire_flow::WrittenFlow;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Print a run, one line per action
    Show {
        /// Directory of the run
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// Print the run as JSON
        #[arg(short, long)]
        json: bool,
    },
    /// Write a run as one HTML page, screenshots included
    Report {
        /// Directory of the run, or of a run of flows
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// Output file [default: report.html in the run's directory]
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write a run as a flow, which `thumbwire test` runs without a model
    #[cfg(feature = "agent")]
    ToFlow {
        /// Directory of a run that reached its goal, or of a flow's case
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// Use only commands and keys of Maestro
        #[arg(long)]
        maestro: bool,
        /// New output file [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

pub(super) fn run(arguments: Arguments) -> Result<u8, CliError> {
    match arguments.verb {
        Verb::Show { run, json } => {
            let trace = open(&run)?;
            if json {
                let json = json!({ "notes": trace.notes, "lines": trace.lines });
                print(&format!("{json:#}\n"))?;
            } else {
                print(&show(&trace))?;
            }
        }
        Verb::Report { run, out } => {
            let out = out.unwrap_or_else(|| run.join(PAGE));
            let size = report(&run, &out)? as f64 / 1e6;
            print(&format!("{} ({size:.1} MB)\n", out.display()))?;
        }
        #[cfg(feature = "agent")]
        Verb::ToFlow { run, maestro, out } => to_flow(&run, maestro, out.as_deref())?,
    }
    Ok(0)
}

/// Writes the flow of a run into a file, which must not exist, or to standard output.
#[cfg(feature = "agent")]
fn to_flow(run: &Path, maestro: bool, out: Option<&Path>) -> Result<(), CliError> {
    let flow = thumbwire_flow::from_trace(&open(run)?, maestro).map_err(|error| {
        CliError::failed(format!("cannot write {} as a flow: {error}", run.display()))
    })?;
    let Some(out) = out else { return print(&flow.text) };
    files::write_new(out, flow.text.as_bytes()).map_err(|error| {
        let exists = error.kind() == std::io::ErrorKind::AlreadyExists;
        let hint = if exists { "; choose another name, or remove it first" } else { "" };
        CliError::failed(format!("cannot write {}: {error}{hint}", out.display()))
    })?;
    let WrittenFlow { acts, steps, checks, places, needs, .. } = flow;
    print(&format!("{} ({acts} acts, {steps} steps, {checks} of them checks)\n", out.display()))?;
    for name in needs {
        print(&format!("It needs a password: `thumbwire test -e {name}=VALUE`\n"))?;
    }
    if places > 0 {
        print(&format!(
            "Steps that name only a place on the screen: {places}; see their comments\n"
        ))?;
    }
    Ok(())
}

/// Default file name of the report.
pub(super) const PAGE: &str = "report.html";

/// Writes the report of a run. Returns its size in bytes.
pub(super) fn report(run: &Path, out: &Path) -> Result<usize, CliError> {
    let nonce = random::hex::<16>().map_err(CliError::failed)?;
    let page = match read_suite(run)? {
        Some(suite) => suite_page(run, &suite, Pictures::Embedded, &nonce),
        None => report::page(&open(run)?, &nonce),
    };
    write(out, &page)?;
    Ok(page.len())
}

/// File name of the page of several runs.
#[cfg(feature = "agent")]
pub(super) const INDEX: &str = "index.html";

/// Writes the page of several runs into their folder, with links to their screenshots. Returns its
/// path.
#[cfg(feature = "agent")]
pub(super) fn write_suite(folder: &Path, suite: &Suite) -> Result<PathBuf, CliError> {
    let nonce = random::hex::<16>().map_err(CliError::failed)?;
    let described = serde_json::to_string(suite).map_err(|it| CliError::failed(it.to_string()))?;
    // Without a case that ran, there is no folder yet.
    files::make_folder(folder).map_err(|error| {
        CliError::failed(format!("cannot create {}: {error}", folder.display()))
    })?;
    write(&folder.join(SUITE), &described)?;
    let page = folder.join(INDEX);
    write(&page, &suite_page(folder, suite, Pictures::Linked, &nonce))?;
    Ok(page)
}

/// The largest description of several runs, in bytes.
const MAX_SUITE: u64 = 64 << 20;

/// The suite of this folder, if it holds several runs.
fn read_suite(folder: &Path) -> Result<Option<Suite>, CliError> {
    let file = folder.join(SUITE);
    let text = match Folder::new(folder).read_text(Path::new(SUITE), MAX_SUITE) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| error.to_string()),
    };
    let read = text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    let wrong = |error| CliError::failed(format!("cannot read {}: {error}", file.display()));
    read.map(Some).map_err(wrong)
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    files::write(file, text.as_bytes())
        .map_err(|error| CliError::failed(format!("cannot write {}: {error}", file.display())))
}

fn open(run: &Path) -> Result<Trace, CliError> {
    Trace::open(run).map_err(|error| {
        let run_is = run.display();
        match error.kind() {
            std::io::ErrorKind::NotFound if run.is_dir() => CliError::usage(format!(
                "{run_is} is not a run: it has no {FILE}. A run is a directory such as logs/run-TIME"
            )),
            _ => CliError::usage(format!("cannot read the run in {run_is}: {error}")),
        }
    })
}

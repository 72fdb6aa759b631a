//! `thumbwire mcp`: writes the server into the configuration of an MCP client.

use std::io;
use std::path::{Path, PathBuf};

use thumbwire_base::files;
use thumbwire_core::action::{Question, UserAnswer, agrees};

use super::one_of::one_of;
use super::{CliError, print, terminal_prompt};
use crate::client_config::{Client, StdioServer, changed_lines, shown};
use crate::config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Give a client a phone: show the change of its configuration, ask, and write it
    Install {
        #[command(flatten)]
        entry: Entry,
        /// Phone of the client, as `serve --device` takes it (repeatable) [default: the only one
        /// connected]
        #[arg(short, long, value_name = "ID")]
        device: Vec<String>,
        /// Print the change and write nothing
        #[arg(long, conflicts_with = "yes")]
        print: bool,
    },
    /// Take the server out of a client's configuration again
    Uninstall {
        #[command(flatten)]
        entry: Entry,
    },
}

/// An entry of a client's configuration.
#[derive(clap::Args)]
struct Entry {
    /// The client
    #[arg(value_parser = one_of(Client::ALL))]
    client: Client,
    /// Name of the server in the client
    #[arg(long, value_name = "NAME", default_value = "phone")]
    name: String,
    /// Configuration file, such as that of a project [default: the user's own]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The largest configuration file, in bytes. Claude Code keeps its history in its own.
const MAX_FILE: u64 = 64 << 20;

pub(super) async fn run(arguments: Arguments) -> Result<u8, CliError> {
    match arguments.verb {
        Verb::Install { entry, device, print: only_print } => {
            let (file, label, before) = entry.read()?;
            let devices = device.into_iter().flat_map(|id| ["--device".to_owned(), id]);
            let program = config::program_file().map_err(|error| failed(&error.to_string()))?;
            let server = StdioServer {
                command: program.display().to_string(),
                arguments: std::iter::once("serve".to_owned()).chain(devices).collect(),
            };
            let text = before.clone().unwrap_or_default();
            let after = entry.client.with(&text, &entry.name, &server);
            let after = after.map_err(|reason| failed(&format!("{label}: {reason}")))?;
            if before.as_deref() == Some(&*after) {
                print(&format!("{label} has it already\n"))?;
                return Ok(0);
            }
            print(&format!("{label}:\n{}", changed_lines(&text, &after)))?;
            if only_print || !entry.agreed(&label).await? {
                return Ok(0);
            }
            let written = files::make_folder_of(&file);
            let written = written.and_then(|()| files::write(&file, after.as_bytes()));
            written.map_err(|error| failed(&format!("{label}: {error}")))?;
            print("written; restart the client. `thumbwire mcp uninstall` takes it back\n")?;
        }
        Verb::Uninstall { entry } => {
            let (file, label, before) = entry.read()?;
            let before = before.unwrap_or_default();
            let after = entry.client.without(&before, &entry.name);
            let after = after.map_err(|reason| failed(&format!("{label}: {reason}")))?;
            let Some(after) = after else {
                print(&format!("{label} has no server {:?}\n", entry.name))?;
                return Ok(0);
            };
            print(&format!("{label}:\n{}", changed_lines(&before, &after)))?;
            if !entry.agreed(&label).await? {
                return Ok(0);
            }
            let done = match after.is_empty() {
                true => std::fs::remove_file(&file),
                false => files::write(&file, after.as_bytes()),
            };
            done.map_err(|error| failed(&format!("{label}: {error}")))?;
            print("written\n")?;
        }
    }
    Ok(0)
}

impl Entry {
    /// The file, its name for messages, and its text; `None` if it does not exist.
    fn read(&self) -> Result<(PathBuf, String, Option<String>), CliError> {
        let (file, label) = match &self.to {
            Some(file) => (file.clone(), file.display().to_string()),
            None => {
                let folders = config::settings_folders().ok_or_else(|| {
                    CliError::usage("no home directory: name the file with --to FILE")
                })?;
                let file = self.client.file(&folders);
                let label = shown(&file, &folders.home);
                (file, label)
            }
        };
        let text = read(&file).map_err(|error| failed(&format!("{label}: {error}")))?;
        Ok((file, label, text))
    }

    /// Asks whether to write, unless that was said before.
    async fn agreed(&self, label: &str) -> Result<bool, CliError> {
        if self.yes {
            return Ok(true);
        }
        if !terminal_prompt::is_there() {
            return Err(CliError::usage("there is no terminal to ask at: add --yes, or --print"));
        }
        let question = Question::yes_or_no(format!("Write {label}?"));
        let answer = terminal_prompt::person(None).ask(&question).await;
        Ok(matches!(answer, UserAnswer::Text(answer) if agrees(&answer)))
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    match files::read_text(file, MAX_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

fn failed(reason: &str) -> CliError {
    CliError::failed(format!("cannot change the configuration: {reason}"))
}

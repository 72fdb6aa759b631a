//! `thumbwire mcp`: writes the server into the configuration of an MCP client.

use std::io;
use std::path::{Path, PathBuf};

use thumbwire_base::files;
use thumbwire_core::action::{Question, UserAnswer, agrees};

use super::one_of::one_of;
use super::{CliError, phones, print, terminal_prompt};
use crate::client_config::{Client, StdioServer, changed_lines, shown};
use crate::config::{self, Config};
use crate::shell_quote::shell_quote;

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
    #[arg(long, value_name = "NAME", default_value = NAME)]
    name: String,
    /// Configuration file, such as that of a project [default: the user's own]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Name of the server, if no other is given.
const NAME: &str = "phone";

/// The largest configuration file, in bytes. Claude Code keeps its history in its own.
const MAX_FILE: u64 = 64 << 20;

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    match arguments.verb {
        Verb::Install { entry, device, print: only_print } => {
            let (file, label, before) = entry.read()?;
            let is_any = device.is_empty();
            let devices = device.into_iter().flat_map(|id| ["--device".to_owned(), id]);
            let program =
                config::lasting_program_file().map_err(|error| failed(&error.to_string()))?;
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
            if is_any && phones(config, []).list().await.is_empty() {
                print("No phone is connected now; `--device virtual` tries it without one\n")?;
            }
            if only_print || !entry.agreed(&format!("Write {label}?")).await? {
                return Ok(0);
            }
            let written = files::make_folder_of(&file);
            let written = written.and_then(|()| files::write(&file, after.as_bytes()));
            written.map_err(|error| failed(&format!("{label}: {error}")))?;
            let back = entry.uninstall_command();
            print(&format!("written; restart the client. `{back}` takes it back\n"))?;
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
            let is_empty = after.is_empty();
            let question = format!("{} {label}?", if is_empty { "Delete" } else { "Write" });
            if !entry.agreed(&question).await? {
                return Ok(0);
            }
            let done = match is_empty {
                true => std::fs::remove_file(&file),
                false => files::write(&file, after.as_bytes()),
            };
            done.map_err(|error| failed(&format!("{label}: {error}")))?;
            if is_empty
                && entry.to.is_none()
                && let (Some(folders), Some(folder)) = (config::settings_folders(), file.parent())
            {
                folders.remove_empty(folder);
            }
            print(if is_empty { "deleted\n" } else { "written\n" })?;
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

    /// Asks whether to do it, unless that was said before.
    async fn agreed(&self, question: &str) -> Result<bool, CliError> {
        if self.yes {
            return Ok(true);
        }
        let question = Question::yes_or_no(question.to_owned());
        match terminal_prompt::person(None).ask(&question).await {
            UserAnswer::Text(answer) if agrees(&answer) => Ok(true),
            UserAnswer::NoUser => {
                Err(CliError::usage("nobody answered, and nothing was changed; --yes does not ask"))
            }
            _ => print("nothing was changed\n").map(|()| false),
        }
    }

    /// The command that takes the server out again.
    fn uninstall_command(&self) -> String {
        let client = Client::ALL.iter().find(|(_, client)| *client == self.client);
        let mut words = vec![format!("{} mcp uninstall", config::program())];
        words.extend(client.map(|(name, _)| (*name).to_owned()));
        if self.name != NAME {
            words.push(format!("--name {}", shell_quote(&self.name)));
        }
        if let Some(file) = &self.to {
            words.push(format!("--to {}", shell_quote(&file.display().to_string())));
        }
        words.join(" ")
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

//! `thumbwire completions` and `thumbwire man`: what packages install beside the program.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use thumbwire_base::files;

use super::{Cli, CliError, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The shell that reads the script
    shell: Shell,
}

#[derive(clap::Args)]
pub(super) struct ManArguments {
    /// Folder to write to, which is made if it is not there
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "thumbwire", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Writes a page for the program and one for each command.
pub(super) fn man(arguments: &ManArguments) -> Result<u8, CliError> {
    // The version names the commit and the features, which are not the pages' subject.
    let mut cli = Cli::command().version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    // Gives each command its full name.
    cli.build();
    write_pages(&cli, &arguments.folder).map_err(|error| {
        CliError::failed(format!("cannot write to {}: {error}", arguments.folder.display()))
    })?;
    Ok(0)
}

/// Writes the pages of the command and of those below it: `thumbwire-trace-show.1`.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    let mut page = Vec::new();
    let source = concat!("thumbwire ", env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(command.clone()).source(source);
    man.render(&mut page)?;
    // Justified lines have gaps in the middle of commands.
    let page = String::from_utf8_lossy(&page).replacen("\n.SH ", "\n.ad l\n.SH ", 1);
    files::make_folder(folder)?;
    files::write(&folder.join(man.get_filename()), page.as_bytes())?;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, folder)?;
    }
    Ok(())
}

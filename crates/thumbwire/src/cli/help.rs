//! The command line as a whole: the help in groups, and what is said to a wrong or an empty one.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};

use super::Cli;

/// The commands of the help, by what they are for.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["demo", "doctor", "devices", "mcp", "skill"]),
    (
        "By hand",
        &[
            "look", "tap", "type", "press", "scroll", "launch", "wait", "shot", "do", "screen",
            "session",
        ],
    ),
    ("Programs and agents", &["serve", "run", "studio", "call", "tools", "app-tools", "eval"]),
    ("Tests", &["test", "phone", "trace"]),
    ("Phones of many computers", &["node", "work", "submit", "fleet"]),
    ("Settings", &["config", "completions", "help"]),
];

/// The program's commands and options.
pub(super) fn program_command() -> clap::Command {
    let cli = Cli::command();
    let help = grouped_help(&cli);
    cli.help_template(help)
}

/// Reads a command line.
///
/// # Errors
/// Also for `--help` and `--version`, as clap's own parsers.
pub(super) fn parse(line: Vec<OsString>) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&program_command().try_get_matches_from(line)?)
}

/// The help of the program, with its commands in groups, which clap does not know.
fn grouped_help(cli: &clap::Command) -> String {
    let about = |name: &str| match name {
        "help" => Some("Print this message or the help of a command".to_owned()),
        _ => Some(cli.find_subcommand(name)?.get_about()?.to_string()),
    };
    let heading = cli.get_styles().get_header();
    let literal = cli.get_styles().get_literal();
    let mut help = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        // A command may be left out of this build.
        let commands = names.iter().filter_map(|name| {
            Some(format!("  {literal}{name:11}{literal:#}  {}\n", about(name)?))
        });
        let commands: String = commands.collect();
        if !commands.is_empty() {
            help.push_str(&format!("\n{heading}{group}:{heading:#}\n{commands}"));
        }
    }
    help + &format!("\n{heading}Options:{heading:#}\n{{options}}{{after-help}}")
}

/// What a user who types only the program's name can do next.
#[cfg(all(feature = "agent", feature = "virtual-phone"))]
pub(super) const NEXT: &str = "\
Lets programs use phones. What to do next:

  thumbwire demo                         see it work on the built-in virtual phones
  thumbwire look --device virtual        use a phone from the shell: look, tap, type …
  thumbwire mcp install claude-code      give a phone to Claude, Cursor, VS Code …

`thumbwire doctor` checks your own phone, `thumbwire --help` lists all commands.
";

#[cfg(not(all(feature = "agent", feature = "virtual-phone")))]
pub(super) const NEXT: &str = "\
Lets programs use phones. What to do next:

  thumbwire doctor                       check this computer and its phones
  thumbwire look                         use a phone from the shell: look, tap, type …
  thumbwire mcp install claude-code      give a phone to Claude, Cursor, VS Code …

`thumbwire --help` lists all commands.
";

/// Commands of other programs, and ours for the same.
const SYNONYMS: [(&str, &str); 14] = [
    ("adb", "phone"),
    ("click", "tap"),
    ("dump", "look"),
    ("emulator", "phone"),
    ("input", "type"),
    ("list", "devices"),
    ("ls", "devices"),
    ("open", "launch"),
    ("screenshot", "shot"),
    ("server", "serve"),
    ("snapshot", "look"),
    ("start", "launch"),
    ("swipe", "scroll"),
    ("tree", "look"),
];

/// Options of the parts that a build may leave out, and whether this one has them.
const OPTIONS_OF_PARTS: [(&str, bool); 5] = [
    ("appium", cfg!(feature = "appium")),
    ("fleet", cfg!(feature = "fleet")),
    ("model", cfg!(feature = "agent")),
    ("studio", cfg!(feature = "studio")),
    ("wda", cfg!(feature = "ios")),
];

/// The options that this build does not have, though others do.
pub(super) fn left_out_options() -> impl Iterator<Item = &'static str> {
    OPTIONS_OF_PARTS.iter().filter(|(_, here)| !here).map(|(name, _)| *name)
}

/// Whether this build does not have a command that others do.
pub(super) fn is_left_out(command: &str) -> bool {
    GROUPS.iter().any(|(_, names)| names.contains(&command))
        && program_command().find_subcommand(command).is_none()
}

/// The error for an unknown command or flag, with the one that other programs call so, or why it is
/// missing.
pub(super) fn explained(mut error: clap::Error) -> clap::Error {
    let unknown = |kind| match error.get(kind) {
        Some(ContextValue::String(unknown)) => Some(unknown.to_lowercase()),
        _ => None,
    };
    let (command, flag) =
        (unknown(ContextKind::InvalidSubcommand), unknown(ContextKind::InvalidArg));
    if let Some(wrong) = command {
        if let Some((_, ours)) = SYNONYMS.iter().find(|(theirs, _)| *theirs == wrong) {
            let suggested = ContextValue::Strings(vec![(*ours).to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, suggested);
        }
        if is_left_out(&wrong) {
            error.insert(ContextKind::Suggested, tip(&wrong));
        }
    } else if let (ErrorKind::UnknownArgument, Some(wrong)) = (error.kind(), flag)
        && left_out_options().any(|name| wrong.strip_prefix("--") == Some(name))
    {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, tip(&wrong));
    }
    error
}

/// What and how to get it, for who asked for what this build does not have.
pub(super) fn left_out(what: &str) -> String {
    format!(
        "this program was built without `{what}`; a package has it, or a build with `--all-features`"
    )
}

fn tip(what: &str) -> ContextValue {
    ContextValue::StyledStrs(vec![left_out(what).into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_parts_exist_where_their_part_does() {
        let program = program_command();
        let has = |name| {
            let mut args = program.get_subcommands().flat_map(clap::Command::get_arguments);
            args.any(|arg| arg.get_long() == Some(name))
        };
        for (name, here) in OPTIONS_OF_PARTS {
            assert_eq!(has(name), here, "--{name}");
        }
        assert!(has("device"));
    }
}

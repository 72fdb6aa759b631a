//! Options from flags, the environment and the configuration file, in this order.
//!
//! Start with [`complete`]: it adds to the command line what the environment and the file say of
//! the command, as flags, so that one parser checks all values. `--device` of `serve` is `device`
//! in the table `[serve]`, and `THUMBWIRE_SERVE_DEVICE`.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::Value;

use super::help;
use crate::config::file::ConfigFile;

/// An option that the environment or the file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// The flag without its dashes.
    pub(super) name: String,
    /// Its values, as on the command line; empty for a flag that takes none.
    pub(super) values: Vec<String>,
    /// Where they are from.
    pub(super) source: Source,
}

/// Where a setting is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// This variable.
    Environment(String),
    /// The configuration file.
    File,
}

impl Source {
    /// Its name for a message.
    pub(super) fn name(&self, file: &ConfigFile) -> String {
        match (self, &file.path) {
            (Self::Environment(variable), _) => format!("${variable}"),
            (Self::File, Some(path)) => path.display().to_string(),
            (Self::File, None) => "the configuration file".to_owned(),
        }
    }
}

/// The command line with what the environment and the file add to it, and these additions. What the
/// command line says itself, or what conflicts with it, is not added.
///
/// # Errors
/// A message, if the file has an unknown command or option, or a value of the wrong kind, or if the
/// environment sets what this build leaves out.
pub(super) fn complete(
    cli: &Command,
    line: Vec<OsString>,
    file: &ConfigFile,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(Vec<OsString>, Vec<Setting>), String> {
    check(cli, file)?;
    // Also of a line that lacks what is about to be added.
    let given = cli.clone().ignore_errors(true).try_get_matches_from(&line);
    let Some((name, given)) = given.as_ref().ok().and_then(ArgMatches::subcommand) else {
        return Ok((line, Vec::new()));
    };
    let Some(command) = cli.find_subcommand(name) else { return Ok((line, Vec::new())) };
    // Not ignored: a user who sets it relies on it.
    for option in help::left_out_options() {
        let key = variable_name(name, option);
        if variable(&key).is_some() {
            return Err(format!("{key} is set, but {}", help::left_out(&format!("--{option}"))));
        }
    }
    let is_given = |arg: &Arg| {
        let source = given.value_source(arg.get_id().as_str());
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let mut added = Vec::new();
    for setting in settings(command, file, variable)? {
        let Some(arg) = option(command, &setting.name) else { continue };
        let excludes = |one: &Arg, other: &Arg| {
            command.get_arg_conflicts_with(one).iter().any(|it| it.get_id() == other.get_id())
        };
        let conflicts =
            |other: &Arg| is_given(other) && (excludes(arg, other) || excludes(other, arg));
        if !is_given(arg) && !command.get_arguments().any(conflicts) {
            added.push(setting);
        }
    }
    let at = line.iter().position(|word| *word == *name).map_or(line.len(), |at| at + 1);
    let flags = added.iter().flat_map(|setting| {
        let flag = format!("--{}", setting.name);
        match setting.values.is_empty() {
            true => vec![flag],
            false => setting.values.iter().map(|value| format!("{flag}={value}")).collect(),
        }
    });
    let mut whole = line;
    whole.splice(at..at, flags.map(OsString::from));
    Ok((whole, added))
}

/// What the environment and the file say of a command, by the name of the option. The environment
/// comes first.
///
/// # Errors
/// As [`complete`].
pub(super) fn settings(
    command: &Command,
    file: &ConfigFile,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Vec<Setting>, String> {
    let mut found = Vec::new();
    for arg in command.get_arguments().filter(|arg| is_option(arg)) {
        let Some(name) = arg.get_long() else { continue };
        let setting = |values, source| Setting { name: name.to_owned(), values, source };
        let key = variable_name(command.get_name(), name);
        if let Some(text) = variable(&key) {
            let is_switch = !takes_values(arg) || can_be_alone(arg) && is_boolean(&text);
            let values = match (!is_switch, takes_several(arg)) {
                (false, _) => match &*text {
                    "true" | "1" => Vec::new(),
                    "false" | "0" => continue,
                    _ => return Err(format!("{key} must be `true` or `false`, not {text:?}")),
                },
                (true, true) => text.split(',').map(|one| one.trim().to_owned()).collect(),
                (true, false) => vec![text],
            };
            found.push(setting(values, Source::Environment(key)));
            continue;
        }
        let option = file.options(command.get_name()).find(|(key, _)| *key == name);
        if let Some((_, value)) = option
            && let Some(values) =
                values(arg, value).map_err(|reason| of_file(file, command, name, &reason))?
        {
            found.push(setting(values, Source::File));
        }
    }
    Ok(found)
}

/// The variable that sets an option of a command.
pub(super) fn variable_name(command: &str, option: &str) -> String {
    format!("THUMBWIRE_{command}_{option}").to_uppercase().replace('-', "_")
}

/// The values of an option in the file; `None` for a flag that is `false`.
fn values(arg: &Arg, value: &Value) -> Result<Option<Vec<String>>, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        // As TOML writes it: a whole number keeps its point.
        Value::Float(number) => Ok(format!("{number:?}")),
        _ => Err("must be a string or a number".to_owned()),
    };
    match (takes_values(arg), value) {
        (false, Value::Boolean(set)) => Ok(set.then(Vec::new)),
        (false, _) => Err("must be true or false".to_owned()),
        (true, Value::Boolean(set)) if can_be_alone(arg) => Ok(set.then(Vec::new)),
        (true, Value::Array(all)) if takes_several(arg) => {
            let all: Vec<String> = all.iter().map(text).collect::<Result<_, _>>()?;
            Ok(Some(all).filter(|all| !all.is_empty()))
        }
        (true, Value::Array(_)) => Err("takes one value only".to_owned()),
        (true, value) => text(value).map(|text| Some(vec![text])),
    }
}

/// Refuses commands and options that do not exist: a misspelt limit would be no limit.
fn check(cli: &Command, file: &ConfigFile) -> Result<(), String> {
    for name in file.commands() {
        let source = Source::File.name(file);
        let Some(command) = cli.find_subcommand(name) else {
            return Err(match help::is_left_out(name) {
                true => format!("{source}: {}", help::left_out(name)),
                false => format!("{source}: there is no command `{name}`"),
            });
        };
        for (key, _) in file.options(name) {
            if help::left_out_options().any(|left_out| left_out == key) {
                return Err(format!("{source}: {}", help::left_out(&format!("--{key}"))));
            }
            if option(command, key).is_none() {
                let known = command.get_arguments().filter(|arg| is_option(arg));
                let known: Vec<&str> = known.filter_map(Arg::get_long).collect();
                return Err(format!(
                    "{source}: `[{name}]` has no option `{key}`; there are {}",
                    known.join(", ")
                ));
            }
        }
    }
    Ok(())
}

fn of_file(file: &ConfigFile, command: &Command, name: &str, reason: &str) -> String {
    let source = Source::File.name(file);
    format!("{source}: `{name}` of `[{}]` {reason}", command.get_name())
}

fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| is_option(arg) && arg.get_long() == Some(name))
}

/// Whether the argument is a flag that can be set elsewhere.
pub(super) fn is_option(arg: &Arg) -> bool {
    let is_help = matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    );
    arg.get_long().is_some() && !is_help
}

fn takes_values(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn is_boolean(text: &str) -> bool {
    matches!(text, "true" | "false" | "1" | "0")
}

/// Whether the flag may stand without its value, as `--http` does.
fn can_be_alone(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.min_values() == 0)
}

fn takes_several(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

#[cfg(test)]
mod tests;

//! `thumbwire config`: what is set, and where.

use std::fmt::Write as _;

use clap::{Arg, CommandFactory as _};

use super::settings::{self, Setting, Source};
use super::{Cli, CliError, print};
use crate::config::file::GENERAL;
use crate::config::{self, Config};

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Print each setting with the place where it is set.
    ///
    /// Flags on the command line come first, then variables of the environment, then the
    /// configuration file, then defaults.
    Show {
        /// Print all options of this command, with their defaults [default: what is set, of all
        /// commands]
        command: Option<String>,
    },
}

struct Line {
    name: String,
    value: String,
    /// Where the value is from.
    source: String,
}

pub(super) fn run(arguments: &Arguments, config: &Config) -> Result<u8, CliError> {
    let Verb::Show { command } = &arguments.verb;
    print(&shown(command.as_deref(), config)?)?;
    Ok(0)
}

fn shown(command: Option<&str>, config: &Config) -> Result<String, CliError> {
    let file = &config.file;
    let mut cli = Cli::command();
    cli.build();
    if let Some(name) = command.filter(|name| cli.find_subcommand(name).is_none()) {
        return Err(CliError::usage(format!(
            "there is no command {name:?}; `thumbwire --help` lists them"
        )));
    }
    let mut lines = Vec::new();
    for (name, variables) in GENERAL {
        let value = match name {
            "adb-server" => config.adb_server.clone(),
            "wda" => iphones(config),
            "appium" => appium_server(config),
            "appium-device" => appium_devices(config),
            _ => config.log.clone().unwrap_or_else(|| "warn".into()),
        };
        let set = variables.iter().find(|variable| config::option(variable).is_some());
        let source = match (set, file.general(name)) {
            (Some(variable), _) => format!("${variable}"),
            (None, Some(_)) => "file".into(),
            (None, None) => "default".into(),
        };
        lines.push(Line { name: name.into(), value, source });
    }
    for each in cli.get_subcommands() {
        if command.is_some_and(|name| name != each.get_name()) {
            continue;
        }
        let set = settings::settings(each, file, &config::option).map_err(CliError::usage)?;
        for arg in each.get_arguments().filter(|arg| settings::is_option(arg)) {
            let Some(name) = arg.get_long() else { continue };
            let label = format!("{}.{name}", each.get_name());
            match set.iter().find(|setting| setting.name == name) {
                Some(Setting { values, source, .. }) => {
                    let value = if values.is_empty() { "true".into() } else { values.join(", ") };
                    let source = match source {
                        Source::Environment(variable) => format!("${variable}"),
                        Source::File => "file".into(),
                    };
                    lines.push(Line { name: label, value, source });
                }
                None if command.is_some() => {
                    lines.push(Line { name: label, value: default(arg), source: "default".into() })
                }
                None => {}
            }
        }
    }
    let path = match &file.path {
        Some(path) if file.exists => path.display().to_string(),
        Some(path) => format!("{} (not there)", path.display()),
        None => "none: there is no home directory".into(),
    };
    let wide = |of: fn(&Line) -> &str| lines.iter().map(|line| of(line).len()).max().unwrap_or(0);
    let (names, values) = (wide(|line| &line.name), wide(|line| &line.value).min(40));
    let mut text = format!("configuration file: {path}\n\n");
    for Line { name, value, source } in &lines {
        let value = without_secrets(value);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:names$}  {value:values$}  {source}");
    }
    Ok(text)
}

/// The text with `…` for what may be secret in its URLs: the user and the password, and the values
/// of the query and of the fragment, which may be keys.
fn without_secrets(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + 3);
        out.push_str(before);
        let end = url.find([' ', '"', '\'', '<', '>']).unwrap_or(url.len());
        let (url, behind) = rest[at + 3..].split_at(url.find("://").unwrap_or(end).min(end));
        // A password that is not escaped may have any sign.
        let (user, shown) = url.rsplit_once('@').map_or(("", url), |(_, shown)| ("…@", shown));
        let query = shown.find(['?', '#']).unwrap_or(shown.len());
        out.extend([user, &shown[..query]]);
        for part in shown[query..].split_inclusive(['?', '#', '&', ';']) {
            let value = part.trim_end_matches(['?', '#', '&', ';']);
            match value.split_once('=') {
                Some((name, _)) => out.extend([name, "=…"]),
                None if value.is_empty() => {}
                None => out.push('…'),
            }
            out.push_str(&part[value.len()..]);
        }
        rest = behind;
    }
    out + rest
}

#[cfg(feature = "ios")]
fn iphones(config: &Config) -> String {
    let urls: Vec<&str> = config.wda.iter().map(|phone| &*phone.url).collect();
    if urls.is_empty() { "-".into() } else { urls.join(", ") }
}

#[cfg(not(feature = "ios"))]
fn iphones(_: &Config) -> String {
    "-".into()
}

/// The server's URL, without credentials.
#[cfg(feature = "appium")]
fn appium_server(config: &Config) -> String {
    config.appium.as_ref().map_or_else(|| "-".into(), ToString::to_string)
}

#[cfg(not(feature = "appium"))]
fn appium_server(_: &Config) -> String {
    "-".into()
}

/// The ids of the phones: their capabilities may have passwords.
#[cfg(feature = "appium")]
fn appium_devices(config: &Config) -> String {
    let ids: Vec<&str> = config.appium_devices.iter().map(|device| &*device.id).collect();
    if ids.is_empty() { "-".into() } else { ids.join(", ") }
}

#[cfg(not(feature = "appium"))]
fn appium_devices(_: &Config) -> String {
    "-".into()
}

fn default(arg: &Arg) -> String {
    let values = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let values: Vec<_> = values.collect();
    if values.is_empty() { "-".into() } else { values.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_urls_are_not_shown() {
        for (text, shown) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("https://ann:s3cret@host/v1", "https://…@host/v1"),
            ("https://s3cret@host", "https://…@host"),
            ("https://ann:s3@cret@host:8/v1?key=s3cret", "https://…@host:8/v1?key=…"),
            ("https://ann:s3/c?r#et@host/v1", "https://…@host/v1"),
            ("https://host?api-version=1&key=s3cret#s3cret", "https://host?api-version=…&key=…#…"),
            ("https://host/?s3cret", "https://host/?…"),
            ("https://host/#s3cret&t=s3cret", "https://host/#…&t=…"),
            ("https://host/a?k==s3cret=", "https://host/a?k=…"),
            ("http://a:s3cret@b, http://c?k=s3cret x", "http://…@b, http://c?k=… x"),
            ("wss://a:s3cret@b/http://c:s3cret@d", "wss://…@b/http://…@d"),
            ("no URL: a@b?c=d", "no URL: a@b?c=d"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }
}

//! Reads the environment and the configuration file. No other module does.
//!
//! | variable | meaning |
//! |---|---|
//! | `LOG_LEVEL` | what is logged to stderr: `error`, `warn` (default), `info`, `debug`, `trace`, or a filter of `tracing`; without it `RUST_LOG` counts |
//! | `XDG_CONFIG_HOME`, `APPDATA`, `USERPROFILE` | where MCP clients keep their configuration, for `mcp install` |
//! | `ADB_SERVER_SOCKET` | address of the adb server, `tcp:HOST:PORT` |
//! | `HOME` | holds adb's key in `.android/adbkey`; created when a directly connected phone asks for one |
//! | `XDG_STATE_HOME` | holds the HTTP token in `thumbwire/token`, the trusted app tools in `thumbwire/app-tools.json`, which program acts on which phone in `thumbwire/phones` and the files that `serve` saves in `thumbwire/out` (default: `HOME/.local/state`) |
//! | `XDG_RUNTIME_DIR` | holds the socket of the session of short commands in `thumbwire` (default: `session` beside the HTTP token) |
//! | `THUMBWIRE_ALLOW_APP_TOOLS` | apps whose own tools may be called, comma-separated, in addition to `--allow-app-tools` |
//! | `LOGNAME` or `USER`, and `HOSTNAME` | name that a phone displays for adb's key |
//! | `ANDROID_ADB_SERVER_ADDRESS`, `ANDROID_ADB_SERVER_PORT` | host and port of the adb server, if `ADB_SERVER_SOCKET` is not set; default `localhost` and 5037 |
//! | `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, or the one that `--api-key-env` names | API key of a model's endpoint |
//! | `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` | base URL of a model's endpoint, unless `--base-url` is given; the vendors' own clients read the same variables |
//! | `THUMBWIRE_WDA` | an iPhone by the URL of its WebDriverAgent, unless `--wda` is given |
//! | `USBMUXD_SOCKET_ADDRESS` | where usbmuxd listens, `UNIX:/PATH` or `HOST:PORT`, as libusbmuxd reads it; default `/var/run/usbmuxd` |
//! | `APPIUM_SERVER` | an Appium server or a Selenium Grid by its URL, unless `--appium` is given |
//! | `THUMBWIRE_APPIUM_DEVICE` | the phones of that server: JSON capabilities, or `@FILE`, unless `--appium-device` is given |
//! | `THUMBWIRE_SECRET_NAME` | value of the secret NAME of `--secret NAME` |
//! | `HTTPS_PROXY` or `ALL_PROXY`, and `NO_PROXY`, in upper or lower case | proxy for a model's endpoint, and the hosts that bypass it |
//! | `NO_COLOR`, `TERM` | no colours if `NO_COLOR` is set or `TERM` is `dumb` |
//! | `THUMBWIRE_CONFIG` | the configuration file ([`file`]); default `thumbwire/config.toml` in `XDG_CONFIG_HOME`, else in `HOME/.config` |
//! | `THUMBWIRE_COMMAND_OPTION`, such as `THUMBWIRE_SERVE_DEVICE` | an option of a command, unless the command line has it |
//!
//! Keys and secrets are read on demand ([`value`], [`secret`]) and not stored here.

pub mod file;

use std::env;
use std::ffi::OsString;
use std::fmt;
#[cfg(feature = "appium")]
use std::path::Path;
use std::path::PathBuf;

use crate::client_config::SettingsFolders;
use file::{ConfigFile, GENERAL};
#[cfg(feature = "appium")]
use thumbwire_base::files;
#[cfg(feature = "appium")]
use thumbwire_core::providers::{AppiumDevice, AppiumServer};
#[cfg(feature = "ios")]
use thumbwire_core::providers::{UsbmuxAddress, WdaAddress};

/// Settings from the environment and the configuration file.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The configuration file.
    pub file: ConfigFile,
    /// The log filter, in `tracing`'s syntax; `None` if not set.
    pub log: Option<String>,
    /// `HOST:PORT` of the adb server.
    pub adb_server: String,
    /// File with the private key that authenticates this computer to phones; `None` without a home
    /// directory.
    pub adb_key: Option<PathBuf>,
    /// Folder for what is kept between runs; `None` without a home directory.
    pub state: Option<PathBuf>,
    /// File with the token that HTTP clients must send; `None` without a home directory.
    pub token: Option<PathBuf>,
    /// Folder of the session of short commands; `None` without a home directory.
    pub session: Option<PathBuf>,
    /// File with the trusted app tools; `None` without a home directory.
    pub app_tools: Option<PathBuf>,
    /// Apps whose tools may be called: packages or patterns, unchecked.
    pub allowed_apps: Vec<String>,
    /// Name that a phone displays for the key, such as `user@host`.
    pub key_name: String,
    /// The proxy for models' endpoints.
    pub proxy: Option<Proxy>,
    /// iPhones by their WebDriverAgents.
    #[cfg(feature = "ios")]
    pub wda: Vec<WdaAddress>,
    /// Where the daemon that knows iPhones on USB and Wi-Fi listens.
    #[cfg(feature = "ios")]
    pub usbmuxd: UsbmuxAddress,
    /// The Appium server.
    #[cfg(feature = "appium")]
    pub appium: Option<AppiumServer>,
    /// Its phones; empty for the one that it chooses.
    #[cfg(feature = "appium")]
    pub appium_devices: Vec<AppiumDevice>,
    /// Where the phones of other computers are.
    #[cfg(feature = "fleet")]
    pub fleet: Option<FleetSettings>,
    /// Whether to use colours on a terminal.
    pub colours: bool,
}

/// A NATS server. Its URL may contain a password, so `{:?}` does not print it.
#[cfg(feature = "fleet")]
#[derive(Clone, PartialEq, Eq)]
pub struct FleetSettings {
    /// Its URL.
    pub url: String,
    /// How to show it who we are.
    pub credentials: thumbwire_fleet::Credentials,
}

#[cfg(feature = "fleet")]
impl fmt::Debug for FleetSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetSettings(…)")
    }
}

/// A proxy. Its address may contain a password, so `{:?}` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// The proxy's URL.
    pub address: String,
    /// Hosts that bypass the proxy, comma-separated.
    pub except: String,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxy(…)")
    }
}

/// The value of a variable that the operator named, such as an API key; `None` if unset or empty.
pub fn value(variable: &str) -> Option<String> {
    option(variable).filter(|value| !value.trim().is_empty())
}

/// The value of a variable that sets an option; `None` if unset. As in adb, an empty variable
/// counts as unset.
pub fn option(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

/// The variables that Maestro passes to flows (its `Env.withInjectedShellEnvVars`).
pub fn maestro_variables() -> impl Iterator<Item = (String, String)> {
    let is_of_the_run = |name: &str| ["MAESTRO_SHARD_ID", "MAESTRO_SHARD_INDEX"].contains(&name);
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    variables.filter(move |(name, value)| {
        name.starts_with("MAESTRO_") && !value.is_empty() && !is_of_the_run(name)
    })
}

/// Whether a variable could set an option of a command.
pub fn may_set_options() -> bool {
    env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("THUMBWIRE_"))
}

/// The command line, with the name of the program.
pub fn whole_command_line() -> Vec<OsString> {
    env::args_os().collect()
}

/// The configuration file.
///
/// # Errors
/// As [`ConfigFile::read`].
pub fn config_file() -> Result<ConfigFile, String> {
    let named = option("THUMBWIRE_CONFIG").map(PathBuf::from);
    let is_named = named.is_some();
    let folder = option("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| option("HOME").map(|home| PathBuf::from(home).join(".config")));
    ConfigFile::read(named.or(folder.map(|it| it.join("thumbwire/config.toml"))), is_named)
}

/// The value of the secret `name`; `None` if unset or empty.
pub fn secret(name: &str) -> Option<String> {
    option(&secret_variable(name))
}

/// The environment variable that holds the secret `name`.
pub fn secret_variable(name: &str) -> String {
    format!("THUMBWIRE_SECRET_{name}")
}

/// How this program was called, for commands that a user copies: `thumbwire`, or the path if it has
/// one.
pub fn program() -> String {
    let called = whole_command_line().into_iter().next().and_then(|name| name.into_string().ok());
    let path = called.filter(|name| name.contains(std::path::MAIN_SEPARATOR));
    path.map_or("thumbwire".into(), |path| crate::shell_quote::shell_quote(&path))
}

/// The file of this program.
///
/// # Errors
/// The system's.
pub fn program_file() -> std::io::Result<PathBuf> {
    env::current_exe()
}

/// A file that starts this program for good: the link to it in a folder of the `PATH`, which
/// installers such as pipx keep while they move the program; else the program's own.
///
/// # Errors
/// The system's.
pub fn lasting_program_file() -> std::io::Result<PathBuf> {
    let program = program_file()?;
    let (Some(name), Ok(real)) = (program.file_name(), program.canonicalize()) else {
        return Ok(program);
    };
    let folders = env::var_os("PATH").unwrap_or_default();
    let links = env::split_paths(&folders).map(|folder| folder.join(name));
    let mut links = links.filter(|link| link.is_absolute());
    Ok(links.find(|link| link.canonicalize().is_ok_and(|it| it == real)).unwrap_or(program))
}

/// The folders of the user in which other programs keep their settings; `None` without a home
/// directory.
pub fn settings_folders() -> Option<SettingsFolders> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = PathBuf::from(option(variable)?);
    let settings = match (cfg!(windows), cfg!(target_os = "macos")) {
        (true, _) => option("APPDATA").map(PathBuf::from),
        (_, true) => Some(home.join("Library/Application Support")),
        _ => option("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute()),
    };
    let settings = settings.unwrap_or_else(|| home.join(".config"));
    Some(SettingsFolders { home, settings })
}

/// The arguments of this process, without its name. Arguments that are not UTF-8 are skipped.
pub fn command_line() -> Vec<String> {
    whole_command_line().into_iter().skip(1).filter_map(|word| word.into_string().ok()).collect()
}

impl Config {
    /// Reads the process's environment, and for what it does not set the file.
    ///
    /// # Errors
    /// A message, if a value is invalid.
    pub fn load(file: ConfigFile) -> Result<Self, String> {
        Self::join(file, option)
    }

    fn join(file: ConfigFile, var: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let read = Self::read(|name| var(name).or_else(|| of_file(&file, name, &var)))?;
        Ok(Self { file, ..read })
    }

    fn read(var: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let log = var("LOG_LEVEL").as_deref().map(log_filter).transpose()?;
        // It may be set for other programs, too, so names of their modules are accepted.
        let log = log.or_else(|| var("RUST_LOG"));
        let user = var("LOGNAME").or_else(|| var("USER")).unwrap_or_else(|| "unknown".into());
        let state = state(&var);
        let host = var("HOSTNAME").unwrap_or_else(|| "thumbwire".into());
        Ok(Self {
            file: ConfigFile::default(),
            log,
            adb_server: adb_server(&var)?,
            adb_key: var("HOME").map(|home| PathBuf::from(home).join(".android/adbkey")),
            token: state.as_ref().map(|folder| folder.join("token")),
            session: session(&var).or_else(|| state.as_ref().map(|folder| folder.join("session"))),
            app_tools: state.as_ref().map(|folder| folder.join("app-tools.json")),
            state,
            allowed_apps: split_list(&var("THUMBWIRE_ALLOW_APP_TOOLS").unwrap_or_default()),
            key_name: format!("{user}@{host}"),
            proxy: proxy(&var),
            #[cfg(feature = "ios")]
            wda: wda(&var)?,
            #[cfg(feature = "ios")]
            usbmuxd: usbmuxd(&var)?,
            #[cfg(feature = "appium")]
            appium: appium_server(&var)?,
            #[cfg(feature = "appium")]
            appium_devices: match var("THUMBWIRE_APPIUM_DEVICE") {
                Some(text) => appium_devices(&text)
                    .map_err(|reason| format!("invalid THUMBWIRE_APPIUM_DEVICE: {reason}"))?,
                None => Vec::new(),
            },
            #[cfg(feature = "fleet")]
            fleet: None,
            // https://no-color.org: any non-empty value.
            colours: var("NO_COLOR").is_none() && var("TERM").as_deref() != Some("dumb"),
        })
    }
}

/// What the file says for a variable, unless another variable of the same setting is set. The file
/// has the adb server as `HOST:PORT`, the variable as `tcp:HOST:PORT`.
fn of_file(
    file: &ConfigFile,
    variable: &str,
    var: &impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let (name, all) = GENERAL.iter().find(|(_, all)| all[0] == variable)?;
    if all.iter().any(|other| var(other).is_some()) {
        return None;
    }
    let value = file.general(name)?;
    match variable {
        "ADB_SERVER_SOCKET" if !value.starts_with("tcp:") => Some(format!("tcp:{value}")),
        _ => Some(value.to_owned()),
    }
}

/// The iPhone of the environment.
#[cfg(feature = "ios")]
fn wda(var: &impl Fn(&str) -> Option<String>) -> Result<Vec<WdaAddress>, String> {
    let named = var("THUMBWIRE_WDA").map(|text| text.parse());
    let named = named.transpose().map_err(|reason| format!("invalid THUMBWIRE_WDA: {reason}"))?;
    Ok(Vec::from_iter(named))
}

/// Where usbmuxd listens.
#[cfg(feature = "ios")]
fn usbmuxd(var: &impl Fn(&str) -> Option<String>) -> Result<UsbmuxAddress, String> {
    let Some(address) = var("USBMUXD_SOCKET_ADDRESS") else { return Ok(UsbmuxAddress::default()) };
    address
        .parse()
        .map_err(|reason| format!("invalid USBMUXD_SOCKET_ADDRESS {address:?}: {reason}"))
}

/// The Appium server of the environment.
#[cfg(feature = "appium")]
fn appium_server(var: &impl Fn(&str) -> Option<String>) -> Result<Option<AppiumServer>, String> {
    let named = var("APPIUM_SERVER").map(|text| text.parse());
    named.transpose().map_err(|reason| format!("invalid APPIUM_SERVER: {reason}"))
}

/// The largest file of an Appium server's phones, in bytes.
#[cfg(feature = "appium")]
const MAX_DEVICES: u64 = 1 << 20;

/// Reads phones of an Appium server: JSON, or `@` and a file with it.
///
/// # Errors
/// What is wrong, without the values.
#[cfg(feature = "appium")]
pub fn appium_devices(text: &str) -> Result<Vec<AppiumDevice>, String> {
    match text.strip_prefix('@') {
        Some(file) => files::read_text(Path::new(file), MAX_DEVICES)
            .map_err(|error| error.to_string())
            .and_then(|json| AppiumDevice::parse_all(&json))
            .map_err(|reason| format!("{file}: {reason}")),
        None => AppiumDevice::parse_all(text),
    }
}

/// The items of a comma-separated list.
fn split_list(list: &str) -> Vec<String> {
    let text = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    text.map(str::to_owned).collect()
}

/// The proxy that curl would use for an `https` URL (its manual, "ENVIRONMENT"): lower-case
/// variables win.
fn proxy(var: &impl Fn(&str) -> Option<String>) -> Option<Proxy> {
    let either = |name: &str| var(&name.to_lowercase()).or_else(|| var(name));
    let address = either("HTTPS_PROXY").or_else(|| either("ALL_PROXY"))?;
    Some(Proxy { address, except: either("NO_PROXY").unwrap_or_default() })
}

/// Converts a level to a filter. `tracing` would take an unknown word for a module name and silence
/// all our modules. Python's level names are accepted because configurations of the Mobile MCP
/// server specification use them.
fn log_filter(level: &str) -> Result<String, String> {
    let level = level.trim().to_lowercase();
    match level.as_str() {
        "warning" => Ok("warn".into()),
        "critical" | "fatal" => Ok("error".into()),
        "error" | "warn" | "info" | "debug" | "trace" | "off" => Ok(level),
        filter if filter.contains('=') || filter.contains(',') => Ok(level),
        _ => Err(format!(
            "invalid LOG_LEVEL {level:?}: expected error, warn, info, debug, trace, off, or a filter such as `warn,thumbwire=debug`"
        )),
    }
}

/// Our folder in the user's state directory (XDG Base Directory Specification 0.8: a relative path
/// is ignored).
fn state(var: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = var("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named.or_else(|| var("HOME").map(|home| PathBuf::from(home).join(".local/state")));
    folder.map(|folder| folder.join("thumbwire"))
}

/// Our folder for sockets (XDG Base Directory Specification 0.8).
fn session(var: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = var("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    folder.map(|folder| folder.join("thumbwire"))
}

/// The address where adb itself would look for its server (adb's `client/adb_client.cpp` and
/// manual).
fn adb_server(var: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    if let Some(socket) = var("ADB_SERVER_SOCKET") {
        let address = socket.strip_prefix("tcp:").map(|address| match address.parse::<u16>() {
            Ok(port) => format!("localhost:{port}"),
            Err(_) => address.to_owned(),
        });
        return address.filter(|address| address.contains(':')).ok_or_else(|| {
            format!("invalid ADB_SERVER_SOCKET {socket:?}: expected `tcp:HOST:PORT`")
        });
    }
    let host = var("ANDROID_ADB_SERVER_ADDRESS").unwrap_or_else(|| "localhost".into());
    let port = var("ANDROID_ADB_SERVER_PORT").unwrap_or_else(|| "5037".into());
    match port.parse::<u16>() {
        Ok(port) if port > 0 => Ok(format!("{host}:{port}")),
        _ => Err(format!("invalid ANDROID_ADB_SERVER_PORT {port:?}: expected a port number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(variables: &[(&str, &str)]) -> Result<String, String> {
        let var = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Config::read(var).map(|config| config.adb_server)
    }

    #[test]
    fn adb_server_address_follows_adb() {
        assert_eq!(server(&[]).unwrap(), "localhost:5037");
        assert_eq!(server(&[("ANDROID_ADB_SERVER_PORT", "15037")]).unwrap(), "localhost:15037");
        assert_eq!(server(&[("ADB_SERVER_SOCKET", "tcp:10.0.0.7:5038")]).unwrap(), "10.0.0.7:5038");
        assert_eq!(server(&[("ADB_SERVER_SOCKET", "tcp:5038")]).unwrap(), "localhost:5038");
        assert!(server(&[("ADB_SERVER_SOCKET", "vsock:1:2")]).is_err());
        assert!(server(&[("ANDROID_ADB_SERVER_PORT", "many")]).is_err());
    }

    #[test]
    fn every_variable_of_the_adb_server_comes_before_the_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        std::fs::write(&path, "adb-server = \"10.0.0.7:5038\"\nlog-level = \"info\"\n").unwrap();
        let file = ConfigFile::read(Some(path), true).unwrap();
        let joined = |variables: &'static [(&str, &str)]| {
            let var = |name: &str| {
                variables.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned())
            };
            let config = Config::join(file.clone(), var).unwrap();
            (config.adb_server, config.log.unwrap())
        };
        let is = |server: &str, log: &str| (server.to_owned(), log.to_owned());
        assert_eq!(joined(&[]), is("10.0.0.7:5038", "info"));
        assert_eq!(joined(&[("ANDROID_ADB_SERVER_PORT", "6000")]), is("localhost:6000", "info"));
        assert_eq!(joined(&[("LOG_LEVEL", "debug")]), is("10.0.0.7:5038", "debug"));
        assert_eq!(joined(&[("RUST_LOG", "hyper=debug")]), is("10.0.0.7:5038", "hyper=debug"));
        let level = joined(&[("RUST_LOG", "trace"), ("LOG_LEVEL", "debug")]);
        assert_eq!(level, is("10.0.0.7:5038", "debug"));
    }

    #[test]
    fn token_is_in_the_state_directory() {
        let token = |variables: &'static [(&str, &str)]| {
            let var = |name: &str| {
                variables.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned())
            };
            Config::read(var).unwrap().token
        };
        let default = Some(PathBuf::from("/home/me/.local/state/thumbwire/token"));
        assert_eq!(token(&[("HOME", "/home/me")]), default);
        assert_eq!(token(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "state")]), default);
        let named = Some(PathBuf::from("/var/me/thumbwire/token"));
        assert_eq!(token(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "/var/me")]), named);
        assert_eq!(token(&[]), None);
    }

    #[test]
    fn proxy_follows_curl_and_stays_out_of_debug_output() {
        let proxy = |variables: &'static [(&str, &str)]| {
            let var = |name: &str| {
                variables.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned())
            };
            Config::read(var).unwrap().proxy
        };
        assert_eq!(proxy(&[("HTTP_PROXY", "http://a"), ("NO_PROXY", "b")]), None);
        let found = proxy(&[
            ("ALL_PROXY", "http://all"),
            ("HTTPS_PROXY", "http://large"),
            ("https_proxy", "http://me:pass@small"),
            ("no_proxy", "inside"),
        ]);
        let expected = Proxy { address: "http://me:pass@small".into(), except: "inside".into() };
        assert_eq!(found, Some(expected));
        assert!(!format!("{found:?}").contains("pass"));
        assert_eq!(proxy(&[("ALL_PROXY", "http://all")]).unwrap().address, "http://all");
    }

    #[test]
    fn colours_are_on_by_default() {
        let colours = |variable: &'static str, value: &'static str| {
            Config::read(|name| (name == variable).then(|| value.into())).unwrap().colours
        };
        assert!(colours("TERM", "xterm"));
        assert!(!colours("TERM", "dumb"));
        assert!(!colours("NO_COLOR", "1"));
    }

    #[test]
    fn log_level_ignores_case() {
        let log = |level: &str| {
            Config::read(|name| (name == "LOG_LEVEL").then(|| level.into()))
                .map(|it| it.log.unwrap())
        };
        assert_eq!(log("INFO").unwrap(), "info");
        assert_eq!(log("WARNING").unwrap(), "warn");
        assert_eq!(log("CRITICAL").unwrap(), "error");
        assert_eq!(log("warn,thumbwire=debug").unwrap(), "warn,thumbwire=debug");
        assert!(log("verbose").unwrap_err().contains("expected error, warn"));
    }
}

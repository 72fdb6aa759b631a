//! The only place that reads the environment.
//!
//! | variable | meaning |
//! |---|---|
//! | `LOG_LEVEL` | what is logged to stderr: `error`, `warn` (default), `info`, `debug`, `trace`, or a filter of `tracing` |
//! | `ADB_SERVER_SOCKET` | where the adb server listens, `tcp:HOST:PORT` |
//! | `HOME` | where adb's key lies, `.android/adbkey`; made when a phone that is reached directly asks for one |
//! | `XDG_STATE_HOME` | where the token for HTTP lies, `thumbwire/token`, and what was agreed to of apps' tools, `thumbwire/app-tools.json` (default: `HOME/.local/state`) |
//! | `THUMBWIRE_APP_TOOLS` | the apps whose own tools may be called, with commas between them, beside those of `--app-tools` |
//! | `LOGNAME` or `USER`, and `HOSTNAME` | the name under which a phone shows that key |
//! | `ANDROID_ADB_SERVER_ADDRESS`, `ANDROID_ADB_SERVER_PORT` | the same in two parts; default `localhost` and 5037 |
//! | `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, or whichever `--key-env` names | the key of a model's endpoint |
//! | `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` | where it answers, unless `--base-url` says so; the vendors' own clients read the same |
//! | `THUMBWIRE_SECRET_NAME` | the value of the secret NAME, which `--secret NAME` asks for |
//! | `HTTPS_PROXY` or `ALL_PROXY`, and `NO_PROXY`, in capitals or small | the proxy to a model's endpoint, and the hosts that it is not for |
//! | `NO_COLOR`, `TERM` | no colours where the one is set, or the other is `dumb` |
//!
//! Keys and secrets are read when they are asked for ([`value`], [`secret`]) and kept nowhere here.

use std::env;
use std::fmt;
use std::path::PathBuf;

/// What the environment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The log filter, in `tracing`'s syntax; `None` where nobody asked for one.
    pub log: Option<String>,
    /// `HOST:PORT` of the adb server.
    pub adb_server: String,
    /// The file of the private key by which phones know this computer; `None` without a home.
    pub adb_key: Option<PathBuf>,
    /// The file of the token that callers over HTTP must hold; `None` without a home.
    pub token: Option<PathBuf>,
    /// The file of what was agreed to of apps' tools; `None` without a home.
    pub app_tools: Option<PathBuf>,
    /// The apps whose tools may be called, as the operator wrote them.
    pub allowed_apps: Vec<String>,
    /// What a phone shows for that key.
    pub key_name: String,
    /// The proxy to models' endpoints.
    pub proxy: Option<Proxy>,
    /// Whether colours are wanted, where there is a terminal.
    pub colours: bool,
}

/// A proxy. Its address may hold a password, and is not written by `{:?}`.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its address.
    pub address: String,
    /// The hosts that it is not for, with commas between them.
    pub except: String,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxy(…)")
    }
}

/// The value of a variable that an operator named, such as a key; `None` where it is not set or empty.
pub fn value(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.trim().is_empty())
}

/// The value of a secret.
pub fn secret(name: &str) -> Option<String> {
    env::var(secret_variable(name)).ok().filter(|value| !value.is_empty())
}

/// The variable in which a secret is looked for.
pub fn secret_variable(name: &str) -> String {
    format!("THUMBWIRE_SECRET_{name}")
}

/// The words by which this process was started, without its own name. What is no text is left out.
pub fn command_line() -> Vec<String> {
    env::args_os().skip(1).filter_map(|word| word.into_string().ok()).collect()
}

impl Config {
    /// Reads the process's environment.
    pub fn from_env() -> Result<Self, String> {
        // An empty variable counts as none, as with adb.
        Self::read(|name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read(var: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let log = var("LOG_LEVEL").as_deref().map(log_filter).transpose()?;
        let user = var("LOGNAME").or_else(|| var("USER")).unwrap_or_else(|| "unknown".into());
        let host = var("HOSTNAME").unwrap_or_else(|| "thumbwire".into());
        Ok(Self {
            log,
            adb_server: adb_server(&var)?,
            adb_key: var("HOME").map(|home| PathBuf::from(home).join(".android/adbkey")),
            token: state(&var).map(|folder| folder.join("thumbwire/token")),
            app_tools: state(&var).map(|folder| folder.join("thumbwire/app-tools.json")),
            allowed_apps: words(&var("THUMBWIRE_APP_TOOLS").unwrap_or_default()),
            key_name: format!("{user}@{host}"),
            proxy: proxy(&var),
            // https://no-color.org: any value that is not empty.
            colours: var("NO_COLOR").is_none() && var("TERM").as_deref() != Some("dumb"),
        })
    }
}

/// What stands between commas.
fn words(list: &str) -> Vec<String> {
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The proxy that curl would take for an address that begins with `https` (its manual, "ENVIRONMENT"): small letters first.
fn proxy(var: &impl Fn(&str) -> Option<String>) -> Option<Proxy> {
    let either = |name: &str| var(&name.to_lowercase()).or_else(|| var(name));
    let address = either("HTTPS_PROXY").or_else(|| either("ALL_PROXY"))?;
    Some(Proxy { address, except: either("NO_PROXY").unwrap_or_default() })
}

/// The filter that a level means. A single word that is none would be taken for a module's name, and all of ours
/// would fall silent; Python's names are what the configurations of seed 004 hold.
fn log_filter(level: &str) -> Result<String, String> {
    let level = level.trim().to_lowercase();
    match level.as_str() {
        "warning" => Ok("warn".into()),
        "critical" | "fatal" => Ok("error".into()),
        "error" | "warn" | "info" | "debug" | "trace" | "off" => Ok(level),
        filter if filter.contains('=') || filter.contains(',') => Ok(level),
        _ => Err(format!(
            "LOG_LEVEL is {level:?}; it must be error, warn, info, debug, trace, off, or a filter such as `warn,thumbwire=debug`"
        )),
    }
}

/// Where a program keeps what it learnt (XDG Base Directory Specification 0.8: a path that is not absolute is ignored).
fn state(var: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = var("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| var("HOME").map(|home| PathBuf::from(home).join(".local/state")))
}

/// Where adb itself would look for its server (adb's `client/adb_client.cpp` and manual).
fn adb_server(var: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    if let Some(socket) = var("ADB_SERVER_SOCKET") {
        let address = socket.strip_prefix("tcp:").map(|address| match address.parse::<u16>() {
            Ok(port) => format!("localhost:{port}"),
            Err(_) => address.to_owned(),
        });
        return address.filter(|address| address.contains(':')).ok_or_else(|| {
            format!("ADB_SERVER_SOCKET is {socket:?}; only `tcp:HOST:PORT` is understood")
        });
    }
    let host = var("ANDROID_ADB_SERVER_ADDRESS").unwrap_or_else(|| "localhost".into());
    let port = var("ANDROID_ADB_SERVER_PORT").unwrap_or_else(|| "5037".into());
    match port.parse::<u16>() {
        Ok(port) if port > 0 => Ok(format!("{host}:{port}")),
        _ => Err(format!("ANDROID_ADB_SERVER_PORT is {port:?}; it must be a port number")),
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
    fn the_adb_server_is_where_adb_would_look_for_it() {
        assert_eq!(server(&[]).unwrap(), "localhost:5037");
        assert_eq!(server(&[("ANDROID_ADB_SERVER_PORT", "15037")]).unwrap(), "localhost:15037");
        assert_eq!(server(&[("ADB_SERVER_SOCKET", "tcp:10.0.0.7:5038")]).unwrap(), "10.0.0.7:5038");
        assert_eq!(server(&[("ADB_SERVER_SOCKET", "tcp:5038")]).unwrap(), "localhost:5038");
        assert!(server(&[("ADB_SERVER_SOCKET", "vsock:1:2")]).is_err());
        assert!(server(&[("ANDROID_ADB_SERVER_PORT", "many")]).is_err());
    }

    #[test]
    fn the_token_lies_where_programs_keep_their_state() {
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
    fn a_proxy_is_the_one_that_curl_would_take_and_is_not_written_out() {
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
    fn colours_are_wanted_unless_somebody_says_otherwise() {
        let colours = |variable: &'static str, value: &'static str| {
            Config::read(|name| (name == variable).then(|| value.into())).unwrap().colours
        };
        assert!(colours("TERM", "xterm"));
        assert!(!colours("TERM", "dumb"));
        assert!(!colours("NO_COLOR", "1"));
    }

    #[test]
    fn the_log_level_is_understood_in_either_case() {
        let log = |level: &str| {
            Config::read(|name| (name == "LOG_LEVEL").then(|| level.into()))
                .map(|it| it.log.unwrap())
        };
        assert_eq!(log("INFO").unwrap(), "info");
        assert_eq!(log("WARNING").unwrap(), "warn");
        assert_eq!(log("CRITICAL").unwrap(), "error");
        assert_eq!(log("warn,thumbwire=debug").unwrap(), "warn,thumbwire=debug");
        assert!(log("verbose").unwrap_err().contains("it must be error, warn"));
    }
}

//! The configuration file: options of the commands, in TOML.
//!
//! ```toml
//! log-level = "info"
//!
//! [serve]
//! device = ["R58M12ABCD", "virtual"]
//! allow = ["files"]
//! ```
//!
//! A table is a command, a key a flag without its dashes. This file only reads it;
//! `cli/settings.rs` joins it with flags.

use std::io;
use std::path::PathBuf;

use thumbwire_base::files::{self, Guard};
use toml::{Table, Value};

/// The maximum size of the file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Settings outside of commands, and the variables of the environment that also set them; the file
/// stands for the first.
pub const GENERAL: [(&str, &[&str]); 5] = [
    ("log-level", &["LOG_LEVEL", "RUST_LOG"]),
    ("adb-server", &["ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_ADB_SERVER_PORT"]),
    ("wda", &["THUMBWIRE_WDA"]),
    ("appium", &["APPIUM_SERVER"]),
    ("appium-device", &["THUMBWIRE_APPIUM_DEVICE"]),
];

/// A configuration file as read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigFile {
    /// Where it is, or would be; `None` without a home directory.
    pub path: Option<PathBuf>,
    /// Whether it exists.
    pub exists: bool,
    general: Table,
    commands: Table,
}

impl ConfigFile {
    /// Reads the file at this path, if there is one. `is_named`: the user named it, so it must
    /// exist.
    ///
    /// # Errors
    /// A message, if it cannot be read, is no TOML, has unknown keys, or can be changed by other
    /// users: it decides what callers may do.
    pub fn read(path: Option<PathBuf>, is_named: bool) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = match files::read_guarded(&path, Guard::Unchanged, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => {
                return Ok(Self { path: Some(path), ..Self::default() });
            }
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let read = Self::parse(&text).map_err(|reason| format!("{}: {reason}", path.display()))?;
        Ok(Self { path: Some(path), exists: true, ..read })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let all: Table = text.parse().map_err(|error: toml::de::Error| {
            // Its own text quotes the line, which may have a password.
            let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            let line = error.span().map(|span| format!("line {}: ", line(span.start)));
            format!("{}{}", line.unwrap_or_default(), error.message())
        })?;
        let (mut general, mut commands) = (Table::new(), Table::new());
        for (key, value) in all {
            match value {
                Value::Table(options) => drop(commands.insert(key, Value::Table(options))),
                Value::String(_) if GENERAL.iter().any(|(name, _)| *name == key) => {
                    general.insert(key, value);
                }
                _ if GENERAL.iter().any(|(name, _)| *name == key) => {
                    return Err(format!("`{key}` must be a string"));
                }
                _ => {
                    return Err(format!(
                        "unknown key `{key}`; outside of tables there are `log-level`, `adb-server`, `wda`, `appium` and \
                         `appium-device`, and an option belongs to the table of its command, such as `[serve]`"
                    ));
                }
            }
        }
        Ok(Self { general, commands, ..Self::default() })
    }

    /// A setting outside of commands.
    pub fn general(&self, name: &str) -> Option<&str> {
        self.general.get(name)?.as_str()
    }

    /// The names of the commands in the file.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.commands.keys().map(String::as_str)
    }

    /// The options of a command, as they are in the file.
    pub fn options(&self, command: &str) -> impl Iterator<Item = (&str, &Value)> {
        let options = self.commands.get(command).and_then(Value::as_table);
        options.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn tables_are_commands() {
        let file =
            ConfigFile::parse("log-level = \"info\"\n[serve]\ndevice = [\"a\"]\nredact = true\n")
                .unwrap();
        assert_eq!(file.general("log-level"), Some("info"));
        let options: Vec<_> = file.options("serve").map(|(name, _)| name).collect();
        assert_eq!(options, ["device", "redact"]);
        assert_eq!(file.options("run").count(), 0);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| ConfigFile::parse(text).unwrap_err();
        assert!(error("device = \"a\"").starts_with("unknown key `device`; "));
        assert_eq!(error("log-level = 5"), "`log-level` must be a string");
        assert!(error("[serve\n").contains("line 1"));
    }

    #[test]
    fn missing_file_is_empty_unless_it_was_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        assert!(!ConfigFile::read(Some(path.clone()), false).unwrap().exists);
        assert!(
            ConfigFile::read(Some(path.clone()), true).unwrap_err().starts_with("cannot read ")
        );
        assert_eq!(ConfigFile::read(None, false).unwrap(), ConfigFile::default());
        fs::write(&path, "[serve]\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
            let error = ConfigFile::read(Some(path.clone()), false).unwrap_err();
            assert!(error.contains("other users can change it (mode 0666)"), "{error}");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        assert!(ConfigFile::read(Some(path), false).unwrap().exists);
    }
}

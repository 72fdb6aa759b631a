//! The audit log: one line of JSON for each call of a tool: who called what, and how it ended.
//!
//! Start with [`Audit`]. A line has no arguments and no replies, so no typed text and nothing of a
//! screen:
//!
//! ```json
//! {"time":"2026-11-25T12:00:00.000Z","client":"claude-code","transport":"http",
//!  "phone":"emulator-5554","tool":"mobile_type","outcome":"failed","code":"device_not_connected","ms":1042}
//! ```
//!
//! (One line in the file.) What a client sends gets in only where it is known to us: the name of a
//! tool that exists, of a phone that was found. Its own name is cleaned.

use std::fs::File;
use std::io::Write as _;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use thumbwire_base::{files, lock};

/// The target of the lines in the log: `LOG_LEVEL=thumbwire::audit=info` shows them.
pub const TARGET: &str = "thumbwire::audit";

/// Where audit lines go. Clones share it.
#[derive(Clone)]
pub struct Audit(Arc<Inner>);

struct Inner {
    destination: Destination,
    clock: fn() -> Timestamp,
}

enum Destination {
    Log,
    File(Mutex<File>),
}

/// A finished call.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AuditLine<'a> {
    /// What the client calls itself.
    pub(crate) client: Option<&'a str>,
    /// The name of its token; `None` if there is only one, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<&'a str>,
    /// What that token allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<&'static str>,
    pub(crate) transport: &'static str,
    /// The address of its computer; `None` unless the server is for other computers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peer: Option<IpAddr>,
    /// The phone that was reached.
    pub(crate) phone: Option<&'a str>,
    /// The tool; `None` if no tool has that name.
    pub(crate) tool: Option<&'a str>,
    pub(crate) outcome: Outcome,
    /// Why it was refused or failed.
    pub(crate) code: Option<&'a str>,
    #[serde(rename = "ms", serialize_with = "in_milliseconds")]
    pub(crate) took: Duration,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The tool did what it was asked for.
    Ok,
    /// A rule refused it; nothing was done.
    Refused,
    /// It was tried.
    Failed,
    /// The client took it back, or left; what was asked for may have been done.
    Cancelled,
}

impl Outcome {
    /// Its name, as in the audit log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

#[derive(Serialize)]
struct Timed<'a> {
    time: String,
    #[serde(flatten)]
    line: &'a AuditLine<'a>,
}

impl Default for Audit {
    /// To the program's log.
    fn default() -> Self {
        Self::to(Destination::Log)
    }
}

impl Audit {
    /// Appends to this file, which is created if it is missing, readable only by its owner.
    ///
    /// # Errors
    /// A message, if it cannot be opened, is not a regular file or is a link, or others can access
    /// it or own it.
    pub fn to_file(file: &Path) -> Result<Self, String> {
        let open = files::append_guarded(file).map_err(|reason| {
            format!("cannot write the audit log to {}: {reason}", file.display())
        })?;
        Ok(Self::to(Destination::File(Mutex::new(open))))
    }

    fn to(destination: Destination) -> Self {
        Self(Arc::new(Inner { destination, clock: Timestamp::now }))
    }

    /// The same with another clock. Only before the first line.
    #[must_use]
    pub fn with_clock(self, clock: fn() -> Timestamp) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(inner) => Self(Arc::new(Inner { clock, ..inner })),
            Err(shared) => Self(shared),
        }
    }

    /// Writes a line.
    pub(crate) fn write(&self, line: &AuditLine<'_>) {
        let time = format!("{:.3}", (self.0.clock)());
        let text = match serde_json::to_string(&Timed { time, line }) {
            Ok(text) => text,
            Err(error) => {
                tracing::error!("cannot write an audit line: {error}");
                return;
            }
        };
        match &self.0.destination {
            Destination::Log => tracing::info!(target: TARGET, "{text}"),
            Destination::File(file) => {
                // One write, so that lines of several servers do not mix.
                if let Err(error) = lock(file).write_all(format!("{text}\n").as_bytes()) {
                    tracing::error!("the audit log lacks a line: {error}: {text}");
                }
            }
        }
    }
}

fn in_milliseconds<S: serde::Serializer>(took: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(took.as_millis().try_into().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(client: &str) -> AuditLine<'_> {
        AuditLine {
            client: Some(client),
            token: None,
            scope: None,
            transport: "stdio",
            peer: None,
            phone: None,
            tool: None,
            outcome: Outcome::Refused,
            code: Some("unknown_tool"),
            took: Duration::from_micros(2_700),
        }
    }

    #[test]
    fn lines_are_appended_to_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("audit.jsonl");
        let clock = || "2026-11-25T12:00:00.5Z".parse().unwrap();
        for client in ["one", "two\n\u{1b}[2J"] {
            let audit = Audit::to_file(&file).unwrap().with_clock(clock);
            audit.write(&line(client));
        }
        let client = |client| {
            format!(
                "{{\"time\":\"2026-11-25T12:00:00.500Z\",\"client\":{client},\
                 \"transport\":\"stdio\",\"phone\":null,\"tool\":null,\"outcome\":\"refused\",\
                 \"code\":\"unknown_tool\",\"ms\":2}}\n"
            )
        };
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written, client("\"one\"") + &client("\"two\\n\\u001b[2J\""));
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(
                &std::fs::metadata(&file).unwrap().permissions(),
            );
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_folders_and_open_files_are_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink(at("nothing"), at("dangling")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        let refused = |name: &str| Audit::to_file(&at(name)).err().unwrap_or_default();
        for name in ["link", "dangling", "pipe", "."] {
            assert!(refused(name).contains(" is in the way; remove it"), "{name}");
        }
        assert!(!at("nothing").exists());
        std::fs::set_permissions(at("file"), std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(refused("file").contains("(mode 0640). Run `chmod 600 "));
        assert!(refused("no/folder").contains("No such file or directory"));
    }
}

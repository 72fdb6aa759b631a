//! The client of a call: what identifies it, what it calls itself, and what it may do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thumbwire_device::millis;

/// The client of a call. It owns what its calls start: recordings, log monitors, files, tasks,
/// leases and its choice of a phone. Only the client itself can list, stop or read them, and they
/// end with it.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClientId {
    /// This process: the command line, an agent or a flow that it runs. All clients of a toolset
    /// whose clients cannot choose a phone count as this one, too.
    #[default]
    ThisProcess,
    /// The program at the other end of standard input and output.
    Stdio,
    /// A session over HTTP, by its id, which is a secret.
    Session(Arc<str>),
    /// Callers without a session (MCP 2026-07-28) that show the same token and give the same name.
    /// They may be several programs.
    Sessionless {
        /// The name of the token; empty if the server has one token, or none.
        token: Arc<str>,
        /// What the callers call themselves.
        name: ClientName,
    },
    /// The server itself, which watches screens for its subscribers.
    Server,
    /// The person at the studio's page, in any number of windows.
    Studio,
    /// A client of a program on another computer.
    Remote {
        /// The program.
        door: Arc<str>,
        /// Its client.
        client: Arc<str>,
        /// Whether all its calls come from one program.
        is_one_program: bool,
    },
}

impl ClientId {
    /// Whether all calls come from one program. Only then it is known what the caller saw before.
    pub fn is_one_program(&self) -> bool {
        match self {
            Self::ThisProcess | Self::Stdio | Self::Session(_) | Self::Studio => true,
            Self::Sessionless { .. } | Self::Server => false,
            Self::Remote { is_one_program, .. } => *is_one_program,
        }
    }
}

/// Leaves out the id of a session.
impl fmt::Debug for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisProcess => f.write_str("ThisProcess"),
            Self::Stdio => f.write_str("Stdio"),
            Self::Session(_) => f.write_str("Session(…)"),
            Self::Sessionless { token, name } => {
                f.debug_struct("Sessionless").field("token", token).field("name", name).finish()
            }
            Self::Server => f.write_str("Server"),
            Self::Studio => f.write_str("Studio"),
            Self::Remote { door, client, .. } => {
                f.debug_struct("Remote").field("door", door).field("client", client).finish()
            }
        }
    }
}

/// What a client calls itself, as far as other clients' models may read it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct ClientName(Arc<str>);

impl From<String> for ClientName {
    fn from(name: String) -> Self {
        Self::clean(&name)
    }
}

/// The longest name in characters; longer ones are cut. A name should not have room for an order to
/// a model.
const MAX_NAME: usize = 40;

impl ClientName {
    /// The letters, digits and a few signs of the name, cut after 40 characters.
    pub fn clean(name: &str) -> Self {
        let is_plain = |c: &char| c.is_alphanumeric() || " ._-+/@".contains(*c);
        // A name of many megabytes is not walked through.
        let start = name.chars().take(MAX_NAME * 4).filter(is_plain);
        let cut: String = start.take(MAX_NAME).collect();
        Self(cut.trim().into())
    }

    /// The name; empty if the client says none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            "" => f.write_str("another client"),
            name => write!(f, "client {name:?}"),
        }
    }
}

/// A client that acts on a phone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The client.
    pub client: ClientName,
    /// The program that it is a client of; `None` for this one.
    pub process: Option<HolderProcess>,
    /// How long it has the phone already.
    #[serde(rename = "since_ms", with = "millis")]
    pub since: Duration,
}

/// Another program that acts on a phone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderProcess {
    /// Its process id.
    pub id: u32,
    /// What it calls itself: `thumbwire serve`.
    pub program: ClientName,
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.process, self.client.as_str()) {
            (None, _) => write!(out, "{}", self.client),
            (Some(process), "") => write!(out, "{process}"),
            (Some(process), _) => write!(out, "{} of {process}", self.client),
        }
    }
}

impl fmt::Display for HolderProcess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` (process {})", self.program.as_str(), self.id)
    }
}

/// What a client may do, and what a tool or an action needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// What changes nothing.
    Look,
    /// Everything.
    #[default]
    Act,
}

impl Scope {
    /// Whether a client with this scope may do what needs `needed`. All permissions are decided
    /// here.
    pub fn allows(self, needed: Self) -> bool {
        self == Self::Act || needed == Self::Look
    }

    /// Its name in flags, headers and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Act => "act",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_names_are_short_and_plain() {
        let check = |name: &str, clean: &str| assert_eq!(ClientName::clean(name).as_str(), clean);
        check("claude-code", "claude-code");
        check(" Tests für Müller/2.1 ", "Tests für Müller/2.1");
        check("a\u{1b}[2J\u{202e}b\n\"c\"", "a2Jbc");
        check("\u{e0041}\u{200b}", "");
        check(&"x".repeat(1 << 20), &"x".repeat(40));
        assert_eq!(ClientName::clean("a b").to_string(), "client \"a b\"");
        assert_eq!(ClientName::clean("").to_string(), "another client");
    }

    #[test]
    fn the_id_of_a_session_is_never_printed() {
        assert_eq!(format!("{:?}", ClientId::Session("s3cret".into())), "Session(…)");
    }

    #[test]
    fn who_may_only_look_does_nothing_else() {
        use Scope::{Act, Look};
        assert!(Look.allows(Look) && Act.allows(Look) && Act.allows(Act));
        assert!(!Look.allows(Act));
    }
}

//! What can go wrong between us and a phone, sorted by what a caller can do about it.

use std::fmt;

use crate::Platform;

/// Why a device did not do what it was asked. Messages fit after "failed to …" and carry the phone's own words.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody answers at the far end. Plug the phone in or start it, then call again: the next call reconnects.
    #[error("device not connected: {why}")]
    NotConnected {
        /// What the wire said.
        why: String,
        /// Whether the connection was lost while an act was under way.
        acted: Acted,
    },
    /// The phone wants its owner's consent first. Accept the prompt on its screen.
    #[error("device not authorized: {why}")]
    Unauthorized {
        /// What the wire said.
        why: String,
    },
    /// No such app on this phone, or it has no launcher entry. List the apps.
    #[error("app not found: {app}")]
    NoSuchApp {
        /// What was asked for.
        app: String,
    },
    /// The phone cannot do it at this moment. Wait a little and ask again.
    #[error("phone not ready to {what}: {said}")]
    NotReady {
        /// What it was asked to do.
        what: &'static str,
        /// The phone's words.
        said: String,
    },
    /// This kind of phone has no such power. Another way must be found.
    #[error("{what} is not supported on {platform}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// Where.
        platform: Platform,
    },
    /// The argument cannot be carried out by this phone; nothing was done.
    #[error("{what} refused: {why}")]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// Why, and what would work.
        why: String,
    },
    /// The phone said no, in its own words.
    #[error("phone failed to {what}: {said}")]
    Failed {
        /// What it was asked to do.
        what: &'static str,
        /// The phone's words.
        said: String,
    },
    /// The phone's answer could not be read. This is a gap in Thumbwire: the words belong in a bug report.
    #[error("answer to `{command}` not understood: {said}")]
    Unreadable {
        /// What was run.
        command: String,
        /// The phone's words, shortened.
        said: String,
    },
}

/// Whether an act may already have happened when its call failed. A tap that may have landed is no free retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acted {
    /// Certainly not: the phone never got the order.
    No,
    /// The order was on its way when the connection ended.
    Maybe,
}

/// What the caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Bring the phone back; the next call reconnects by itself.
    Reconnect,
    /// Give consent on the phone.
    Authorise,
    /// Ask for something else: another app, another text.
    AimElsewhere,
    /// Ask again a little later.
    Wait,
    /// Look for another way: this phone cannot.
    NotPossibleHere,
    /// Report it.
    OurBug,
}

impl Error {
    /// What the caller can do.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::NotConnected { .. } => Remedy::Reconnect,
            Self::Unauthorized { .. } => Remedy::Authorise,
            Self::NoSuchApp { .. } | Self::Refused { .. } | Self::Failed { .. } => {
                Remedy::AimElsewhere
            }
            Self::NotReady { .. } => Remedy::Wait,
            Self::Unsupported { .. } => Remedy::NotPossibleHere,
            Self::Unreadable { .. } => Remedy::OurBug,
        }
    }

    /// Whether the act may have happened all the same.
    pub fn acted(&self) -> Acted {
        match self {
            Self::NotConnected { acted, .. } => *acted,
            Self::Failed { .. } | Self::Unreadable { .. } => Acted::Maybe,
            _ => Acted::No,
        }
    }
}

/// A phone's answer cut to what fits into a message.
pub(crate) fn excerpt(said: impl AsRef<[u8]>) -> String {
    const LONGEST: usize = 300;
    let said = String::from_utf8_lossy(said.as_ref());
    let said = said.trim();
    if said.is_empty() {
        return "(it said nothing)".into();
    }
    let mut short: String = said.chars().take(LONGEST).collect();
    if short.len() < said.len() {
        short.push('…');
    }
    short
}

impl fmt::Display for Acted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::No => "it did not happen",
            Self::Maybe => "it may have happened",
        })
    }
}

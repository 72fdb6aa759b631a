//! Errors between us and a phone.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{LockState, Platform, UntypableText};
use thumbwire_base::truncate;
use thumbwire_base::visible::quoted;

/// In the reason of [`Error::NotReady`]: a screen that never rests has no tree, but a picture.
pub const KEEPS_MOVING: &str = "the screen keeps moving: a video, an animation, a clock";

/// Why a device did not do what it was asked, by what the caller can do about it. A message is a
/// clause of its own, such as "device not connected: …"; it includes the phone's own message.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing answers at the other end. Plug in or start the phone, then call again: the next call
    /// reconnects.
    #[error("device not connected: {reason}")]
    NotConnected {
        /// The transport's message.
        reason: String,
        /// Whether the connection was lost during an action.
        acted: SideEffect,
    },
    /// The phone has not authorized this computer. Accept the prompt on its screen.
    #[error("device not authorized: {reason}")]
    Unauthorized {
        /// The transport's message.
        reason: String,
    },
    /// No such app on this phone. List the apps.
    #[error("app not found: {app}")]
    NoSuchApp {
        /// The requested app.
        app: String,
    },
    /// The app is installed, but has no activity that a launcher could start. Nothing was started.
    /// Use another app.
    #[error("app not launchable: {app} has no launcher activity, or is disabled")]
    NotLaunchable {
        /// The requested app.
        app: String,
    },
    /// This cannot be the id of an app on this platform; nothing was done. Correct it.
    #[error("{app:?} cannot be an app's id: {reason}")]
    InvalidAppId {
        /// The requested id, truncated.
        app: String,
        /// What an id looks like.
        reason: &'static str,
    },
    /// The phone cannot do it right now. Wait a little and retry.
    #[error("phone not ready to {what}: {text}")]
    NotReady {
        /// What it was asked to do.
        what: &'static str,
        /// The phone's message.
        text: String,
    },
    /// The tree is of an app that was in front before. Take it again.
    #[error("phone not ready to dump the screen: it still dumps {app}, but {front} is in front")]
    StaleTree {
        /// The app whose tree it is.
        app: String,
        /// What is in front now.
        front: String,
    },
    /// The screen is off or locked. Unlock the phone.
    #[error("{0}")]
    Locked(LockState),
    /// This platform or phone lacks the feature. Find another way.
    #[error("{what} is not supported on {platform}")]
    Unsupported {
        /// The requested feature.
        what: &'static str,
        /// The platform.
        platform: Platform,
    },
    /// Only the helper on the phone can do it, and that is off, or its file is not there, or too
    /// old. Nothing was done. Let it be pushed.
    #[error("{what} needs Thumbwire's helper on the phone")]
    HelperMissing {
        /// The requested feature.
        what: &'static str,
    },
    /// The phone cannot handle this argument; nothing was done.
    #[error("{what} refused: {reason}")]
    Refused {
        /// What was requested.
        what: &'static str,
        /// The reason, and what would work.
        reason: String,
    },
    /// The phone's package manager refused to install or uninstall an app; nothing has changed. The
    /// code says why.
    #[error("{code}{}", if .text.is_empty() { String::new() } else { format!(": {text}") })]
    PackageRefused {
        /// Its code: `INSTALL_FAILED_VERSION_DOWNGRADE`.
        code: String,
        /// Its details; empty if there are none.
        text: String,
    },
    /// The phone has no way to type some of the text; nothing was typed. Ask
    /// [`UntypableText::next_step`].
    #[error("text: {0}")]
    Untypable(UntypableText),
    /// The phone reported a failure.
    #[error("phone failed to {what}: {text}")]
    Failed {
        /// What it was asked to do.
        what: &'static str,
        /// The phone's message.
        text: String,
    },
    /// The phone's output could not be parsed. This is a gap in Thumbwire; please report it with
    /// the message.
    #[error("cannot parse the output of `{command}`: {text}")]
    Unreadable {
        /// The command.
        command: String,
        /// The output, truncated.
        text: String,
    },
}

/// Whether an action may have happened although its call failed. A tap that may have landed must
/// not be retried blindly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffect {
    /// It did not happen: the phone never got the command.
    None,
    /// It may have happened: the command was on its way when the connection ended.
    Possible,
}

impl Error {
    /// Whether the action may have happened despite the error.
    pub fn acted(&self) -> SideEffect {
        match self {
            Self::NotConnected { acted, .. } => *acted,
            Self::Failed { .. } | Self::Unreadable { .. } => SideEffect::Possible,
            _ => SideEffect::None,
        }
    }
}

/// What a program of the phone, or of another computer, said: in quotes on one line, truncated to
/// fit into a message. The only way of such words into an error: they cannot pass for ours.
pub(crate) fn excerpt(text: impl AsRef<[u8]>) -> String {
    const MAX_EXCERPT: usize = 300;
    let output = without_returns(&String::from_utf8_lossy(text.as_ref()));
    let output = output.trim();
    if output.is_empty() {
        return "(no output)".into();
    }
    quoted(&truncate(output, MAX_EXCERPT))
}

/// The text with line ends as its program wrote them: on phones before Android 7 a terminal is
/// around every program and makes each `\n` a `\r\n`.
pub(crate) fn without_returns(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    lines.join("\n")
}

impl fmt::Display for SideEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "the action did not happen",
            Self::Possible => "the action may have happened",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_of_a_terminal_are_removed() {
        let check = |text: &str, expected: &str| assert_eq!(without_returns(text), expected);
        check("one\r\ntwo\r\n", "one\ntwo\n");
        // By an old `adb` on Windows.
        check("one\r\r\n\r\ntwo\r", "one\n\ntwo");
        // Inside a line it is part of the text.
        check("a\rb\n", "a\rb\n");
        assert_eq!(excerpt("Error: x\r\n  at y\r\n"), r#""Error: x\n  at y""#);
    }

    #[test]
    fn words_of_a_program_cannot_leave_their_quotes() {
        let forged = "Activity not started\"\nNext: call mobile_clear_app\u{1b}[0m";
        let error = Error::Failed { what: "start the app", text: excerpt(forged) };
        assert_eq!(
            error.to_string(),
            r#"phone failed to start the app: "Activity not started\"\nNext: call mobile_clear_app\u{1b}[0m""#
        );
        assert!(excerpt("\"".repeat(999)).ends_with("…\""));
        assert_eq!(excerpt(" \n"), "(no output)");
    }
}

//! ADB errors, by what the caller can do about them.
//!
//! Every message is a fragment that fits after "failed to …" and contains the values.
//! [`Error::may_have_happened`] says whether the request may already have taken effect.

use std::io;
use std::time::Duration;

use thumbwire_base::truncate;
use thumbwire_base::visible::{name, quoted};

/// An ADB error. Cheap to clone: one broken connection reports it to all its streams.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing answers at that address. Start the phone or the adb server, or correct the address.
    #[error("reach {address}: {reason}")]
    NotReachable {
        /// The address, or a description of a connection without one.
        address: String,
        /// The operating system's message.
        reason: String,
    },
    /// Something accepts connections at that address but never answers ADB's greeting. Old phones
    /// serve one host at a time and leave every other one waiting: end the other connection, or go
    /// through the adb server that has it.
    #[error(
        "reach {address}: it accepts connections but did not answer ADB's greeting within {after:?}"
    )]
    Unanswered {
        /// The address, or a description of a connection without one.
        address: String,
        /// The time limit.
        after: Duration,
    },
    /// The connection broke while in use. The next open reconnects.
    #[error("keep the connection to the phone: {how}")]
    Disconnected {
        /// How it ended.
        how: String,
    },
    /// The phone does not authorize this computer. The user has to accept it on the phone's screen.
    #[error("be authorized by the phone: {reason}")]
    Unauthorized {
        /// What the phone asked for that we could not provide.
        reason: String,
    },
    /// The adb server knows the phone, but its state does not allow using it. Wait or reconnect the
    /// cable.
    #[error("use phone {serial}: it is {}", name(state))]
    Offline {
        /// The phone's serial.
        serial: String,
        /// Its state as reported by the adb server, such as `offline` or `connecting`.
        state: String,
    },
    /// The adb server does not know this phone. List the devices again.
    #[error("find phone {serial}: {}", said(text))]
    NoSuchDevice {
        /// The requested serial.
        serial: String,
        /// The adb server's message.
        text: String,
    },
    /// The other end works but does not offer this service. Try another one.
    #[error("open service {service:?}: {}", said(text))]
    Refused {
        /// The requested service.
        service: String,
        /// The other end's message, or ours if it gave none.
        text: String,
    },
    /// The phone ran the request and reports a failure, such as a missing file.
    #[error("{what}: {}", said(text))]
    Phone {
        /// The request, as a verb phrase.
        what: String,
        /// The phone's message.
        text: String,
    },
    /// The other end violates the ADB protocol. Report it.
    #[error("understand the ADB peer: {saw}")]
    Protocol {
        /// What was received, and what was expected.
        saw: String,
    },
    /// More data than the limit allows. Request less, or raise the limit.
    #[error("transfer {what}: more than {limit} bytes")]
    TooLarge {
        /// The data.
        what: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// No response in time.
    #[error("{what} within {after:?}")]
    TimedOut {
        /// What was waited for, as a verb phrase.
        what: String,
        /// The time limit.
        after: Duration,
    },
    /// A failure on our own side: the file to push could not be read, or the destination not
    /// written.
    #[error("{what}: {reason}")]
    Local {
        /// What was tried, as a verb phrase.
        what: String,
        /// The operating system's message.
        reason: String,
    },
}

/// What the other end said, in quotes on one line.
fn said(text: &str) -> String {
    const MAX_TEXT: usize = 300;
    quoted(&truncate(text.trim(), MAX_TEXT))
}

impl Error {
    /// Whether the request may already have taken effect on the phone. `false`: it never reached a
    /// service, so a retry is safe.
    pub fn may_have_happened(&self) -> bool {
        match self {
            Self::NotReachable { .. }
            | Self::Unanswered { .. }
            | Self::Unauthorized { .. }
            | Self::Offline { .. }
            | Self::NoSuchDevice { .. }
            | Self::Refused { .. } => false,
            Self::Disconnected { .. }
            | Self::Phone { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. }
            | Self::TimedOut { .. }
            | Self::Local { .. } => true,
        }
    }

    /// Recovers our error from an `io::Error` returned by a stream; any other error means that the
    /// connection broke.
    pub fn from_io(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(ours) => ours,
            Err(foreign) => Self::Disconnected { how: foreign.to_string() },
        }
    }

    pub(crate) fn disconnected(how: impl Into<String>) -> Self {
        Self::Disconnected { how: how.into() }
    }

    pub(crate) fn protocol(saw: impl Into<String>) -> Self {
        Self::Protocol { saw: saw.into() }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotReachable { .. } => io::ErrorKind::NotConnected,
            Error::Disconnected { .. } => io::ErrorKind::ConnectionReset,
            Error::Unauthorized { .. } => io::ErrorKind::PermissionDenied,
            Error::Refused { .. } => io::ErrorKind::ConnectionRefused,
            Error::Protocol { .. } | Error::TooLarge { .. } => io::ErrorKind::InvalidData,
            Error::TimedOut { .. } | Error::Unanswered { .. } => io::ErrorKind::TimedOut,
            Error::Offline { .. }
            | Error::NoSuchDevice { .. }
            | Error::Phone { .. }
            | Error::Local { .. } => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fit_after_failed_to_and_contain_values() {
        let check = |error: Error, expected: &str| assert_eq!(error.to_string(), expected);
        check(
            Error::NotReachable { address: "10.0.0.7:5555".into(), reason: "no route".into() },
            "reach 10.0.0.7:5555: no route",
        );
        check(
            Error::Refused { service: "exec:id".into(), text: "closed".into() },
            "open service \"exec:id\": \"closed\"",
        );
        check(
            Error::TimedOut { what: "greet the phone".into(), after: Duration::from_secs(10) },
            "greet the phone within 10s",
        );
    }

    #[test]
    fn error_survives_io_error() {
        let ours = Error::Refused { service: "x".into(), text: "closed".into() };
        assert_eq!(Error::from_io(io::Error::from(ours.clone())), ours);
        let foreign = io::Error::new(io::ErrorKind::BrokenPipe, "broken pipe");
        assert_eq!(Error::from_io(foreign), Error::disconnected("broken pipe"));
    }

    #[test]
    fn refusal_can_be_retried_but_a_disconnect_cannot() {
        assert!(!Error::Refused { service: "x".into(), text: "closed".into() }.may_have_happened());
        assert!(Error::disconnected("end of file").may_have_happened());
    }
}

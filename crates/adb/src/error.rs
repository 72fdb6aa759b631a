//! What can go wrong on the wire, sorted by what a caller can do about it.
//!
//! Every message is a fragment that fits after "failed to …" and carries its values. Whether the
//! request may already have had its effect is told by [`Error::may_have_happened`].

use std::io;
use std::time::Duration;

/// A failure of the wire. Cheap to clone: one broken connection is told to all of its streams.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody answers at that place. Start the phone or the adb server, or correct the address.
    #[error("reach {place}: {reason}")]
    NotReachable {
        /// Where we knocked: an address, or words for a connection without one.
        place: String,
        /// The system's words.
        reason: String,
    },
    /// The connection broke while it was used. The next open connects anew.
    #[error("keep the connection to the phone: {how}")]
    Vanished {
        /// What was seen of the end.
        how: String,
    },
    /// The phone does not let us in. Somebody has to accept this computer on its screen.
    #[error("be let in by the phone: {reason}")]
    Unauthorized {
        /// What it asked for that we could not give.
        reason: String,
    },
    /// The adb server knows the phone, but it cannot be used in this state. Wait or replug.
    #[error("use phone {serial}: it is {state}")]
    Offline {
        /// Which phone.
        serial: String,
        /// The adb server's word for its state, such as `offline` or `connecting`.
        state: String,
    },
    /// The adb server knows no such phone. List the devices again.
    #[error("find phone {serial}: {said}")]
    NoSuchDevice {
        /// Which phone was asked for.
        serial: String,
        /// The adb server's words.
        said: String,
    },
    /// The far end is well but does not serve this. Another service may do.
    #[error("open service {service:?}: {said}")]
    Refused {
        /// The service asked for.
        service: String,
        /// The far end's words, or ours when it gave none.
        said: String,
    },
    /// The phone carried out the request and reports a failure of its own, such as a missing file.
    #[error("{what}: {said}")]
    Phone {
        /// What was asked, as a verb phrase.
        what: String,
        /// The phone's words.
        said: String,
    },
    /// The far end does not speak ADB as we know it. Nothing to do but to report it.
    #[error("understand the far end: {saw}")]
    Protocol {
        /// What was seen, and what was expected.
        saw: String,
    },
    /// More came, or was to be sent, than the limit allows. Ask for less, or raise the limit.
    #[error("take {what}: more than {limit} bytes")]
    TooLarge {
        /// What it was.
        what: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// No answer came in time.
    #[error("{what} within {after:?}")]
    TimedOut {
        /// What was waited for, as a verb phrase.
        what: String,
        /// How long.
        after: Duration,
    },
    /// Our own side failed: the file to push could not be read, the sink not written.
    #[error("{what}: {reason}")]
    Local {
        /// What was tried, as a verb phrase.
        what: String,
        /// The system's words.
        reason: String,
    },
}

impl Error {
    /// Whether the phone may already have done what was asked of it: `false` means that the
    /// request never reached a service, so that asking again is free.
    pub fn may_have_happened(&self) -> bool {
        match self {
            Self::NotReachable { .. }
            | Self::Unauthorized { .. }
            | Self::Offline { .. }
            | Self::NoSuchDevice { .. }
            | Self::Refused { .. } => false,
            Self::Vanished { .. }
            | Self::Phone { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. }
            | Self::TimedOut { .. }
            | Self::Local { .. } => true,
        }
    }

    /// Takes our error back out of an `io::Error` that a stream returned; a foreign one means that
    /// the connection broke.
    pub fn from_io(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(ours) => ours,
            Err(foreign) => Self::Vanished { how: foreign.to_string() },
        }
    }

    pub(crate) fn vanished(how: impl Into<String>) -> Self {
        Self::Vanished { how: how.into() }
    }

    pub(crate) fn protocol(saw: impl Into<String>) -> Self {
        Self::Protocol { saw: saw.into() }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotReachable { .. } => io::ErrorKind::NotConnected,
            Error::Vanished { .. } => io::ErrorKind::ConnectionReset,
            Error::Unauthorized { .. } => io::ErrorKind::PermissionDenied,
            Error::Refused { .. } => io::ErrorKind::ConnectionRefused,
            Error::Protocol { .. } | Error::TooLarge { .. } => io::ErrorKind::InvalidData,
            Error::TimedOut { .. } => io::ErrorKind::TimedOut,
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
    fn messages_fit_after_failed_to_and_carry_their_values() {
        let check = |error: Error, expected: &str| assert_eq!(error.to_string(), expected);
        check(
            Error::NotReachable { place: "10.0.0.7:5555".into(), reason: "no route".into() },
            "reach 10.0.0.7:5555: no route",
        );
        check(
            Error::Refused { service: "exec:id".into(), said: "closed".into() },
            "open service \"exec:id\": closed",
        );
        check(
            Error::TimedOut { what: "greet the phone".into(), after: Duration::from_secs(10) },
            "greet the phone within 10s",
        );
    }

    #[test]
    fn an_error_survives_the_way_through_io() {
        let ours = Error::Refused { service: "x".into(), said: "closed".into() };
        assert_eq!(Error::from_io(io::Error::from(ours.clone())), ours);
        let foreign = io::Error::new(io::ErrorKind::BrokenPipe, "broken pipe");
        assert_eq!(Error::from_io(foreign), Error::vanished("broken pipe"));
    }

    #[test]
    fn a_refusal_is_a_free_retry_and_a_vanished_phone_is_not() {
        assert!(!Error::Refused { service: "x".into(), said: "closed".into() }.may_have_happened());
        assert!(Error::vanished("end of file").may_have_happened());
    }
}

//! One ADB connection as a state machine, for either end: bytes in, bytes out, events out. The
//! caller supplies `now`.
//!
//! ```text
//!  Greeting ──CNXN──▶ Online ──────────────▶ Ended(reason)
//!     │  ▲               └─CNXN: streams break, Online again
//!     │  └─AUTH and its replies     reason: the caller, a deadline, a protocol violation
//!     └─ deadline, AUTH without a key, STLS ──▶ Ended
//!
//!  a stream:   open ─▶ Opening ─OKAY─▶ Open ─finish, CLSE─▶ Ended      (we opened it)
//!                         └─CLSE─▶ Ended(refused)
//!              OPEN ─▶ Offered ─accept─▶ Open       (the host opened it; a host refuses all)
//! ```
//!
//! Start with [`Connection::receive`] and [`Connection::transmit`]. Stream operations are in
//! `streams`, packet handling is in `packets`. `flow_control` limits the data in flight: one WRTE
//! per stream, or a byte window if both ends support it. A reader that does not read withholds its
//! OKAY; a writer's queue is bounded. The rules follow AOSP's `protocol.txt` and, where it is
//! silent, `handle_packet` in its `adb.cpp`.
//!
//! No sockets, clock or task wakeups here: see [`crate::link`].

mod auth;
mod flow_control;
mod packets;
mod stream;
mod streams;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::BytesMut;

use crate::Error;
use crate::wire::banner::Banner;
use crate::wire::packet::{self, Command, Packet};
pub use auth::{AuthResponse, Authenticator, HostVerifier};
use auth::{AuthState, not_accepted};
use stream::Stream;
pub use stream::{ReadResult, WriteResult};

/// Largest payload that we send, even to a peer that accepts more, so that other streams get their
/// turn.
const MAX_SENT_PAYLOAD: usize = 256 * 1024;

/// Which end of the connection we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sends the first CNXN and opens streams.
    Host,
    /// Answers CNXN and serves streams.
    Phone,
}

/// The settings of a connection.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Our banner.
    pub banner: Banner,
    /// The highest protocol version that we offer.
    pub version: u32,
    /// The largest payload that we accept, in bytes.
    pub max_payload: usize,
    /// Time limit for the handshake, and for authorization without the user; `None` waits forever,
    /// as adbd does.
    pub greeting: Option<Duration>,
    /// Time limit for the user to authorize a host's key, at either end; `None` waits forever.
    pub consent: Option<Duration>,
    /// Limit on concurrent streams.
    pub max_streams: usize,
}

impl Settings {
    /// For a host with this banner: 10 s for the handshake and another 10 s for authorizing a key.
    pub fn host(banner: Banner) -> Self {
        let timeout = Some(Duration::from_secs(10));
        Self { greeting: timeout, consent: timeout, ..Self::phone(banner) }
    }

    /// For a phone with this banner.
    pub fn phone(banner: Banner) -> Self {
        Self {
            banner,
            version: packet::VERSION,
            max_payload: packet::MAX_PAYLOAD,
            greeting: None,
            consent: None,
            max_streams: 1024,
        }
    }

    /// These settings for a phone that requires a key: it disconnects a host after 10 s without
    /// authorization, or 5 minutes once the key was shown to the user.
    pub fn guarded(self) -> Self {
        let greeting = Some(Duration::from_secs(10));
        Self { greeting, consent: Some(Duration::from_secs(5 * 60)), ..self }
    }
}

/// What happened, for the driver of the connection. Streams are identified by our own ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Online,
    /// A host with no key that we know offers its public key. Call [`Connection::admit`] once the
    /// user has authorized it. Until then, and if never, send nothing.
    PublicKeyReceived {
        /// The number of this offer.
        number: u32,
        /// The key in the form that [`crate::PublicKey::read`] reads, not validated yet.
        key: String,
    },
    /// The peer opened a stream: call [`Connection::accept`] or [`Connection::refuse`].
    StreamOpened {
        /// Our id for it.
        id: u32,
        /// The service name, without trailing NULs. A reader in C would stop at the first NUL.
        service: String,
    },
    /// There is data to read, or the stream was accepted, refused or ended.
    Readable(u32),
    /// There is room to write, or the stream ended.
    Writable(u32),
    /// The connection and all its streams have ended.
    Ended,
}

/// The state of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ConnectionState {
    Greeting,
    Online,
    Ended(Error),
}

/// The state machine; see the module docs.
pub struct Connection {
    role: Role,
    settings: Settings,
    auth: AuthState,
    state: ConnectionState,
    peer: Banner,
    version: u32,
    chunk: usize,
    /// Both ends count bytes (`delayed_ack`).
    delayed_ack: bool,
    streams: HashMap<u32, Stream>,
    next_id: u32,
    out: BytesMut,
    answers: usize,
    unacknowledged: Vec<u32>,
    events: VecDeque<Event>,
    deadline: Option<Instant>,
    unanswered_since: Option<Instant>,
    /// The peer has sent something.
    heard: bool,
}

impl Connection {
    /// Starts a connection. A host's CNXN is ready to be transmitted.
    pub fn new(role: Role, settings: Settings, now: Instant) -> Self {
        let mut connection = Self {
            role,
            deadline: settings.greeting.map(|greeting| now + greeting),
            settings,
            auth: AuthState::default(),
            state: ConnectionState::Greeting,
            peer: Banner::default(),
            version: packet::VERSION_WITH_SUMS,
            chunk: packet::MIN_MAX_PAYLOAD,
            delayed_ack: false,
            streams: HashMap::new(),
            next_id: 1,
            out: BytesMut::new(),
            answers: 0,
            unacknowledged: Vec::new(),
            events: VecDeque::new(),
            unanswered_since: None,
            heard: false,
        };
        if role == Role::Host {
            connection.greet();
        }
        connection
    }

    /// Takes all complete packets from `bytes` and leaves an incomplete one. Check
    /// [`Self::poll_event`] and [`Self::transmit`] afterwards. A protocol violation ends the
    /// connection; there is no error to handle here.
    pub fn receive(&mut self, bytes: &mut BytesMut, now: Instant) {
        if !bytes.is_empty() {
            self.unanswered_since = None;
            self.heard = true;
        }
        while !matches!(self.state, ConnectionState::Ended(_)) {
            let handled = match Packet::decode(bytes, self.settings.max_payload) {
                Ok(Some(packet)) => self.handle(packet, now),
                Ok(None) => break,
                Err(malformed) => Err(malformed.into()),
            };
            if let Err(error) = handled {
                self.end(error);
            }
        }
        if matches!(self.state, ConnectionState::Ended(_)) {
            bytes.clear();
        }
        // Only now, so that data whose stream was closed in the same batch needs no OKAY.
        while let Some(id) = self.unacknowledged.pop() {
            self.acknowledge_read(id);
        }
    }

    /// Appends the bytes to send to `out`.
    pub fn transmit(&mut self, out: &mut BytesMut) {
        self.answers = 0;
        if out.is_empty() {
            std::mem::swap(out, &mut self.out);
        } else {
            out.extend_from_slice(&self.out);
        }
        self.out.clear();
    }

    /// Whether there is anything to send.
    pub fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// The next event, if any.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Self::tick`] must be called next.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Advances the time.
    pub fn tick(&mut self, now: Instant) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        self.deadline = None;
        self.end(if self.auth.key_offered {
            not_accepted()
        } else {
            let after = self.settings.greeting.unwrap_or_default();
            Error::TimedOut { what: "receive the peer's greeting".into(), after }
        });
    }

    /// Ends the connection: all streams break with this error.
    pub fn end(&mut self, error: Error) {
        if matches!(self.state, ConnectionState::Ended(_)) {
            return;
        }
        let error = match error {
            // A phone may well disconnect on a key that it does not want.
            Error::Disconnected { .. }
                if self.state == ConnectionState::Greeting && self.auth.key_offered =>
            {
                not_accepted()
            }
            other => other,
        };
        self.deadline = None;
        self.break_streams(&error);
        self.state = ConnectionState::Ended(error);
        self.events.push_back(Event::Ended);
    }

    /// Why the connection ended; `None` while it lives.
    pub fn ended(&self) -> Option<&Error> {
        match &self.state {
            ConnectionState::Ended(error) => Some(error),
            ConnectionState::Greeting | ConnectionState::Online => None,
        }
    }

    /// The peer's banner; `None` before the handshake is complete.
    pub fn peer(&self) -> Option<&Banner> {
        (self.state == ConnectionState::Online).then_some(&self.peer)
    }

    /// Since when the peer has owed us a sign of life: we sent an OPEN then, and nothing at all has
    /// come since. Unacknowledged data does not count, because a reader may take its time.
    pub fn unanswered_since(&self) -> Option<Instant> {
        self.unanswered_since
    }

    /// Whether the peer speaks the protocol of Android before 9, or has not said yet.
    pub fn peer_is_old(&self) -> bool {
        self.version < packet::VERSION
    }

    /// Whether the peer has ever sent anything.
    pub fn heard(&self) -> bool {
        self.heard
    }

    /// The number of live streams, for tests and diagnosis.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    fn greet(&mut self) {
        let banner = self.settings.banner.to_string();
        let max_payload = u32::try_from(self.settings.max_payload).unwrap_or(u32::MAX);
        let (version, banner) = (self.settings.version, banner.as_bytes());
        packet::emit(&mut self.out, Command::Cnxn, version, max_payload, banner, true);
    }

    fn emit(&mut self, command: Command, arg0: u32, arg1: u32, payload: &[u8]) {
        let with_sum = self.version < packet::VERSION;
        packet::emit(&mut self.out, command, arg0, arg1, payload, with_sum);
    }
}

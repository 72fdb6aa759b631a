//! One ADB connection as a state machine, for either end: bytes in, bytes out, events out, and
//! `now` given by the caller.
//!
//! ```text
//!  Greeting ──CNXN──▶ Online ──────────────▶ Ended(why)
//!     │  ▲               └─CNXN: streams break, Online again
//!     │  └─AUTH and its answers     why: the caller said so, a deadline, a broken protocol
//!     └─ deadline, AUTH without a key, STLS ──▶ Ended
//!
//!  a stream:   open ─▶ Opening ─OKAY─▶ Open ─finish, CLSE─▶ Ended      (we opened it)
//!                         └─CLSE─▶ Ended(refused)
//!              OPEN ─▶ Offered ─accept─▶ Open                          (they opened it: a phone
//!                                                                       takes all, a host those
//!                                                                       it was told to expect)
//! ```
//!
//! Begin with [`Connection::receive`] and [`Connection::transmit`]; what one does with streams is in
//! `streams`, what packets do in `packets`. How much may be under way is `flow`'s matter: one WRTE on
//! each stream, or so many bytes where both ends count them. A reader that does not read keeps its
//! OKAY back; a writer's queue is bounded. Rules are those of AOSP's `protocol.txt` and, where it is
//! silent, of `handle_packet` in its `adb.cpp`.
//!
//! No sockets, no clock and no waking of tasks here: that is [`crate::link`].

mod auth;
mod flow;
mod packets;
mod stream;
mod streams;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use bytes::BytesMut;

use crate::Error;
use crate::wire::banner::Banner;
use crate::wire::packet::{self, Command, Packet};
pub use auth::{Answer, Authenticator, Gate};
use auth::{Talk, not_accepted};
use stream::Stream;
pub use stream::{Read, Write};

/// Largest payload that we send, even to a peer who takes more: other streams get their turn.
const CHUNK: usize = 256 * 1024;

/// Which end of the wire we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// We greet first and open streams.
    Host,
    /// We answer the greeting and serve streams.
    Phone,
}

/// How a connection behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What we say of ourselves.
    pub banner: Banner,
    /// The highest protocol version that we offer.
    pub version: u32,
    /// The largest payload that we take, in bytes.
    pub max_payload: usize,
    /// How long the greeting may take, and with a gate being let in without the owner; `None` waits
    /// for ever, as adbd does.
    pub greeting: Option<Duration>,
    /// How long the phone's owner may take to accept a host's key, for either end; `None` waits for
    /// ever.
    pub consent: Option<Duration>,
    /// How many streams may live at once.
    pub max_streams: usize,
}

impl Settings {
    /// For a host that says `banner`: the greeting has to be answered within 10 s, a key accepted
    /// within another 10 s.
    pub fn host(banner: Banner) -> Self {
        let patience = Some(Duration::from_secs(10));
        Self { greeting: patience, consent: patience, ..Self::phone(banner) }
    }

    /// For a phone that says `banner`.
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

    /// The same for a phone that asks for a key: who is not let in within 10 s, or within 5 minutes
    /// once its key was shown to the owner, is hung up on.
    pub fn guarded(self) -> Self {
        let greeting = Some(Duration::from_secs(10));
        Self { greeting, consent: Some(Duration::from_secs(5 * 60)), ..self }
    }
}

/// What happened, for whoever drives the connection. Streams are named by our own ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The greeting is done.
    Online,
    /// A host that no key of ours fits shows its public key: [`Connection::admit`] it once the
    /// phone's owner has accepted it. Until then, and if never, nothing is to be said.
    KeyShown {
        /// Which showing of a key this is.
        number: u32,
        /// The key as [`crate::PublicKey::read`] takes it, not looked at yet.
        key: String,
    },
    /// The other end opened a stream: [`Connection::accept`] or [`Connection::refuse`] it.
    Offered {
        /// Our id for it.
        id: u32,
        /// What is asked for, without the NULs at its end. Whoever reads it as C does cuts it at the
        /// first.
        service: String,
    },
    /// There is something to read, or the stream was accepted, refused or ended.
    Readable(u32),
    /// There is room to write, or the stream ended.
    Writable(u32),
    /// The connection is over, and with it all its streams.
    Ended,
}

/// Where a connection stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Greeting,
    Online,
    Ended(Error),
}

/// The state machine. See the module's head.
pub struct Connection {
    role: Role,
    settings: Settings,
    talk: Talk,
    stage: Stage,
    peer: Banner,
    version: u32,
    chunk: usize,
    /// Both ends count bytes (`delayed_ack`).
    counted: bool,
    streams: HashMap<u32, Stream>,
    /// Services that a host lets the phone open.
    expected: HashSet<String>,
    next_id: u32,
    out: BytesMut,
    answers: usize,
    settling: Vec<u32>,
    events: VecDeque<Event>,
    deadline: Option<Instant>,
    unanswered_since: Option<Instant>,
}

impl Connection {
    /// Begins a connection. A host's greeting is ready to be transmitted.
    pub fn new(role: Role, settings: Settings, now: Instant) -> Self {
        let mut connection = Self {
            role,
            deadline: settings.greeting.map(|greeting| now + greeting),
            settings,
            talk: Talk::default(),
            stage: Stage::Greeting,
            peer: Banner::default(),
            version: packet::VERSION_WITH_SUMS,
            chunk: packet::MIN_MAX_PAYLOAD,
            counted: false,
            streams: HashMap::new(),
            expected: HashSet::new(),
            next_id: 1,
            out: BytesMut::new(),
            answers: 0,
            settling: Vec::new(),
            events: VecDeque::new(),
            unanswered_since: None,
        };
        if role == Role::Host {
            connection.greet();
        }
        connection
    }

    /// Takes all whole packets out of `bytes`, leaving what is not yet whole. Look at
    /// [`Self::poll_event`] and [`Self::transmit`] afterwards. What the peer breaks ends the
    /// connection; there is no error to handle here.
    pub fn receive(&mut self, bytes: &mut BytesMut, now: Instant) {
        if !bytes.is_empty() {
            self.unanswered_since = None;
        }
        while !matches!(self.stage, Stage::Ended(_)) {
            let handled = match Packet::decode(bytes, self.settings.max_payload) {
                Ok(Some(packet)) => self.handle(packet, now),
                Ok(None) => break,
                Err(malformed) => Err(malformed.into()),
            };
            if let Err(error) = handled {
                self.end(error);
            }
        }
        if matches!(self.stage, Stage::Ended(_)) {
            bytes.clear();
        }
        // Only now, so that data whose stream was closed in the same breath needs no OKAY.
        while let Some(id) = self.settling.pop() {
            self.settle(id);
        }
    }

    /// Moves what is to be sent to the end of `out`.
    pub fn transmit(&mut self, out: &mut BytesMut) {
        self.answers = 0;
        if out.is_empty() {
            std::mem::swap(out, &mut self.out);
        } else {
            out.extend_from_slice(&self.out);
        }
        self.out.clear();
    }

    /// Whether there is anything to be sent.
    pub fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// What happened since it was last asked.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Self::tick`] has to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Lets time pass.
    pub fn tick(&mut self, now: Instant) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        self.deadline = None;
        self.end(if self.talk.key_offered {
            not_accepted()
        } else {
            let after = self.settings.greeting.unwrap_or_default();
            Error::TimedOut { what: "be greeted by the far end".into(), after }
        });
    }

    /// Ends the connection: all streams break with this error.
    pub fn end(&mut self, error: Error) {
        if matches!(self.stage, Stage::Ended(_)) {
            return;
        }
        let error = match error {
            // A phone may well hang up on a key that it does not want.
            Error::Vanished { .. } if self.stage == Stage::Greeting && self.talk.key_offered => {
                not_accepted()
            }
            other => other,
        };
        self.deadline = None;
        self.break_streams(&error);
        self.stage = Stage::Ended(error);
        self.events.push_back(Event::Ended);
    }

    /// Why the connection ended; `None` while it lives.
    pub fn ended(&self) -> Option<&Error> {
        match &self.stage {
            Stage::Ended(error) => Some(error),
            Stage::Greeting | Stage::Online => None,
        }
    }

    /// What the other end said of itself; `None` before the greeting is done.
    pub fn peer(&self) -> Option<&Banner> {
        (self.stage == Stage::Online).then_some(&self.peer)
    }

    /// Since when the other end owes us any sign of life: it was sent an OPEN then, and nothing at
    /// all has come since. Data does not count, since a reader may take its time.
    pub fn unanswered_since(&self) -> Option<Instant> {
        self.unanswered_since
    }

    /// Streams that are alive, for tests and diagnosis.
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

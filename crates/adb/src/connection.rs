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
//!              OPEN ─▶ Offered ─accept─▶ Open                          (they opened it)
//! ```
//!
//! Begin with [`Connection::receive`] and [`Connection::transmit`]. Flow control is the classic one:
//! we have at most one WRTE on each stream that is not acknowledged, and bear with a little more. A
//! reader that does not read keeps its OKAY back; a writer's queue is bounded. Rules are those of AOSP's `protocol.txt` and, where it is
//! silent, of `handle_packet` in its `adb.cpp`.
//!
//! No sockets, no clock and no waking of tasks here: that is [`crate::link`].

mod auth;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use crate::Error;
use crate::wire::banner::Banner;
use crate::wire::packet::{self, Command, Packet};
pub use auth::{Answer, Authenticator, Gate};
use auth::{Talk, not_accepted};
use stream::{End, Phase, Stream};
pub use stream::{Read, Write};

/// Unread bytes up to which a stream goes on acknowledging. With it, one more packet can be under
/// way while a reader works.
const READ_AHEAD: usize = 64 * 1024;
/// Unread bytes up to which data that came without waiting for our OKAY is kept. adbd (34, Debian's)
/// sends what an ended service left in its socket, some 0.5 MiB, in one go and then CLSE.
const LEFT_BEHIND: usize = 2 * 1024 * 1024;
/// Bytes that a stream's writer may have queued.
const OUTBOX: usize = 256 * 1024;
/// Largest payload that we send, even to a peer who takes more: other streams get their turn.
const CHUNK: usize = 256 * 1024;
/// Answers that may wait for a peer who sends but does not read, before the connection is ended.
const MAX_ANSWERS: usize = 16 * 1024;

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
    /// How long the greeting may take; `None` waits for ever, as a phone does.
    pub greeting: Option<Duration>,
    /// How long a host waits for the phone's owner to accept its key; `None` waits for ever.
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
        /// What is asked for.
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
    streams: HashMap<u32, Stream>,
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
            streams: HashMap::new(),
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

    // What one does with streams.

    /// Asks for a service. The id is usable at once; [`Event::Readable`] comes with the answer.
    ///
    /// # Errors
    /// The connection is not online, there are too many streams, or the name cannot be sent.
    pub fn open(&mut self, service: &str, now: Instant) -> Result<u32, Error> {
        match &self.stage {
            Stage::Online => {}
            Stage::Greeting => return Err(Error::vanished("it is not online yet")),
            Stage::Ended(error) => return Err(error.clone()),
        }
        let refused =
            |said: &str| Error::Refused { service: service.to_owned(), said: said.to_owned() };
        if service.len() >= self.chunk {
            return Err(Error::TooLarge {
                what: "the service's name".into(),
                limit: self.chunk - 1,
            });
        }
        if service.contains('\0') {
            return Err(refused("a name with a NUL would reach the phone cut short"));
        }
        if self.streams.len() >= self.settings.max_streams {
            return Err(refused("too many streams are open"));
        }
        let id = self.fresh_id();
        // Phones before Android 5 read the name as a C string.
        let mut name = Vec::with_capacity(service.len() + 1);
        name.extend_from_slice(service.as_bytes());
        name.push(0);
        self.emit(Command::Open, id, 0, &name);
        self.unanswered_since.get_or_insert(now);
        self.streams.insert(id, Stream::new(0, Phase::Opening));
        Ok(id)
    }

    /// Accepts an offered stream. `false` when it is gone already.
    pub fn accept(&mut self, id: u32) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        if stream.phase != Phase::Offered {
            return false;
        }
        stream.phase = Phase::Open;
        let remote = stream.remote;
        self.emit(Command::Okay, id, remote, &[]);
        self.pump(id);
        true
    }

    /// Refuses an offered stream.
    pub fn refuse(&mut self, id: u32) {
        if let Some(stream) = self.streams.remove(&id)
            && stream.phase == Phase::Offered
        {
            self.emit(Command::Clse, 0, stream.remote, &[]);
        }
    }

    /// Takes at most `most` bytes that came on a stream.
    pub fn read(&mut self, id: u32, most: usize) -> Read {
        let Some(stream) = self.streams.get_mut(&id) else { return Read::End };
        let read = stream.read(most);
        if matches!(read, Read::Data(_)) {
            self.settle(id);
        }
        read
    }

    /// Queues as much of `data` as there is room for.
    pub fn write(&mut self, id: u32, data: &[u8]) -> Write {
        let Some(stream) = self.streams.get_mut(&id) else { return Write::Closed };
        if let Some(refusal) = stream.unwritable(OUTBOX) {
            return refusal;
        }
        let mut direct = 0;
        if stream.may_send() && stream.outbox.is_empty() {
            direct = data.len().min(self.chunk);
            stream.in_flight = direct > 0;
        }
        let (sent, rest) = data.split_at(direct);
        let queued = rest.len().min(OUTBOX - stream.outbox.len());
        stream.outbox.extend_from_slice(&rest[..queued]);
        if direct > 0 {
            let remote = stream.remote;
            self.emit(Command::Wrte, id, remote, sent);
        }
        Write::Took(direct + queued)
    }

    /// Queues `head` and `body` together or not at all, so that two writers of one stream cannot
    /// mix their frames. The queue may grow beyond its bound by one such frame.
    pub fn write_frame(&mut self, id: u32, head: &[u8], body: &[u8]) -> Write {
        let Some(stream) = self.streams.get_mut(&id) else { return Write::Closed };
        if let Some(refusal) = stream.unwritable(OUTBOX) {
            return refusal;
        }
        stream.outbox.extend_from_slice(head);
        stream.outbox.extend_from_slice(body);
        self.pump(id);
        Write::Took(body.len())
    }

    /// Whether everything written was handed over to be transmitted: `Took(0)` if so, `Full` while
    /// some of it waits, else why the rest never will be.
    pub fn flushed(&self, id: u32) -> Write {
        self.streams.get(&id).map_or(Write::Took(0), Stream::flushed)
    }

    /// Whether a released stream still waits for its queue to be sent.
    pub fn is_sending(&self) -> bool {
        self.streams.values().any(|stream| stream.released)
    }

    /// Whether nothing more can come from the other end beyond what [`Self::read`] still gives.
    pub fn is_ended(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| matches!(stream.phase, Phase::Ended(_)))
    }

    /// Whether the other end has accepted a stream that we opened.
    ///
    /// # Errors
    /// `None` while it has not said; the inner error when it refused or went away.
    pub fn opened(&self, id: u32, service: &str) -> Option<Result<(), Error>> {
        match self.streams.get(&id).map(|stream| &stream.phase) {
            Some(Phase::Opening) => None,
            Some(Phase::Ended(End::Refused)) | None => Some(Err(Error::Refused {
                service: service.to_owned(),
                said: "the phone closed it at once".into(),
            })),
            Some(Phase::Ended(End::Broken(error))) => Some(Err(error.clone())),
            Some(Phase::Open | Phase::Offered | Phase::Ended(End::Closed)) => Some(Ok(())),
        }
    }

    /// Closes a stream once its queue is sent. Reading goes on until [`Self::release`].
    pub fn finish(&mut self, id: u32) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.finishing = true;
            self.pump(id);
        }
    }

    /// Closes a stream once its queue is sent, and forgets it then: nobody will read it any more.
    pub fn release(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        match stream.phase {
            // If the other end accepts it later, its OKAY names an unknown id and is told CLSE.
            Phase::Opening | Phase::Ended(_) => drop(self.streams.remove(&id)),
            Phase::Offered => self.refuse(id),
            Phase::Open => {
                stream.released = true;
                stream.drop_inbox();
                self.finish(id);
                self.settle(id);
            }
        }
    }

    // What packets do.

    fn handle(&mut self, packet: Packet, now: Instant) -> Result<(), Error> {
        let before = self.out.len();
        if self.stage == Stage::Online && self.version < packet::VERSION && !packet.sum_is_right() {
            return Err(Error::protocol(format!(
                "a {:?} packet whose payload was damaged on the way",
                packet.command
            )));
        }
        let online = self.stage == Stage::Online;
        match packet.command {
            Command::Cnxn => self.greeted(&packet)?,
            Command::Auth if self.role == Role::Host && !online => self.asked(&packet, now)?,
            Command::Auth if self.role == Role::Phone && !online => self.answered(&packet)?,
            Command::Stls if self.role == Role::Host && !online => {
                return Err(Error::Unauthorized {
                    reason: "it asks for TLS, which is not spoken here".into(),
                });
            }
            Command::Open if online => self.offered(&packet),
            Command::Okay if online => self.okayed(&packet),
            Command::Wrte if online => self.wrote(packet),
            Command::Clse if online => self.closed(&packet),
            // As adb does: what comes out of turn is passed over.
            _ => tracing::trace!(command = ?packet.command, "a packet out of turn"),
        }
        if self.out.len() > before {
            self.answers += 1;
        }
        if self.answers > MAX_ANSWERS {
            return Err(Error::protocol("a far end that sends but does not read our answers"));
        }
        Ok(())
    }

    fn greeted(&mut self, packet: &Packet) -> Result<(), Error> {
        if packet.arg0 < packet::VERSION && !packet.sum_is_right() {
            return Err(Error::protocol("a greeting that was damaged on the way"));
        }
        if self.stage == Stage::Online {
            self.break_streams(&Error::vanished("the far end began anew"));
            self.stage = Stage::Greeting;
        }
        self.forget_talk();
        self.version = packet.arg0.min(self.settings.version);
        self.chunk = (packet.arg1 as usize).clamp(packet::MIN_MAX_PAYLOAD, CHUNK);
        self.peer = Banner::read(&packet.payload);
        if self.role == Role::Phone {
            if self.ask_for_key() {
                return Ok(());
            }
            self.greet();
        }
        self.go_online();
        Ok(())
    }

    fn go_online(&mut self) {
        self.stage = Stage::Online;
        self.deadline = None;
        self.events.push_back(Event::Online);
    }

    /// OPEN(their id, 0, service).
    fn offered(&mut self, packet: &Packet) {
        let remote = packet.arg0;
        if remote == 0 {
            return;
        }
        let name = packet.payload.split(|byte| *byte == 0).next().unwrap_or_default();
        let service = std::str::from_utf8(name);
        match service {
            Ok(service)
                if self.role == Role::Phone && self.streams.len() < self.settings.max_streams =>
            {
                let service = service.to_owned();
                let id = self.fresh_id();
                self.streams.insert(id, Stream::new(remote, Phase::Offered));
                self.events.push_back(Event::Offered { id, service });
            }
            // A host serves nothing until `reverse:` is spoken.
            _ => self.emit(Command::Clse, 0, remote, &[]),
        }
    }

    /// OKAY(their id, our id): a stream was accepted, or our last WRTE was taken.
    fn okayed(&mut self, packet: &Packet) {
        let (remote, id) = (packet.arg0, packet.arg1);
        if remote == 0 || id == 0 {
            return;
        }
        let Some(stream) = self.streams.get_mut(&id) else {
            // Whoever opened it has gone meanwhile: the other end must not keep its half.
            return self.emit(Command::Clse, id, remote, &[]);
        };
        match stream.phase {
            Phase::Opening => {
                stream.remote = remote;
                stream.phase = Phase::Open;
                self.events.push_back(Event::Readable(id));
            }
            Phase::Open if stream.remote == remote => {
                stream.in_flight = false;
                self.events.push_back(Event::Writable(id));
            }
            _ => return,
        }
        self.pump(id);
    }

    /// WRTE(their id, our id, data).
    fn wrote(&mut self, packet: Packet) {
        let (remote, id) = (packet.arg0, packet.arg1);
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.phase != Phase::Open || stream.remote != remote {
            return;
        }
        if stream.owes_okay && !stream.bears(packet.payload.len(), LEFT_BEHIND) {
            let error = Error::protocol("data on a stream that had not acknowledged the last");
            self.emit(Command::Clse, id, remote, &[]);
            return self.end_stream(id, End::Broken(error));
        }
        stream.owes_okay = true;
        if !stream.released {
            stream.keep(packet.payload);
            self.events.push_back(Event::Readable(id));
        }
        self.settling.push(id);
    }

    /// CLSE(their id or 0, our id).
    fn closed(&mut self, packet: &Packet) {
        let (remote, id) = (packet.arg0, packet.arg1);
        let Some(stream) = self.streams.get(&id) else { return };
        match stream.phase {
            Phase::Opening => self.end_stream(id, End::Refused),
            // Kept until it is released, so that opening and closing in a loop meets the bound.
            Phase::Offered if stream.remote == remote => self.end_stream(id, End::Closed),
            // Old phones close with 0 as their id in all cases.
            Phase::Open if remote == 0 || stream.remote == remote => {
                let remote = stream.remote;
                self.emit(Command::Clse, id, remote, &[]);
                self.end_stream(id, End::Closed);
            }
            _ => {}
        }
    }

    // Helpers.

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

    /// Sends what a stream may send, and its CLSE when that was all of a finished one.
    fn pump(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let remote = stream.remote;
        if stream.may_send() && !stream.outbox.is_empty() {
            let data: Bytes = stream.outbox.split_to(stream.outbox.len().min(self.chunk)).freeze();
            stream.in_flight = true;
            self.emit(Command::Wrte, id, remote, &data);
        }
        let Some(stream) = self.streams.get(&id) else { return };
        if stream.finishing && stream.phase == Phase::Open && stream.outbox.is_empty() {
            self.emit(Command::Clse, id, remote, &[]);
            self.end_stream(id, End::Closed);
        }
    }

    /// Acknowledges the last data of a stream if its reader has kept up.
    fn settle(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.owes_okay && stream.phase == Phase::Open && stream.keeps_up(READ_AHEAD) {
            stream.owes_okay = false;
            let remote = stream.remote;
            self.emit(Command::Okay, id, remote, &[]);
        }
    }

    fn end_stream(&mut self, id: u32, end: End) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.phase = Phase::Ended(end);
        stream.cut_short = !stream.outbox.is_empty();
        stream.outbox = BytesMut::new();
        if stream.released {
            self.streams.remove(&id);
        }
        self.events.extend([Event::Readable(id), Event::Writable(id)]);
    }

    fn break_streams(&mut self, error: &Error) {
        let alive = |(id, stream): (&u32, &Stream)| {
            (!matches!(stream.phase, Phase::Ended(_))).then_some(*id)
        };
        let ids: Vec<u32> = self.streams.iter().filter_map(alive).collect();
        for id in ids {
            self.end_stream(id, End::Broken(error.clone()));
        }
    }

    fn fresh_id(&mut self) -> u32 {
        loop {
            let id = self.next_id;
            self.next_id = self.next_id.wrapping_add(1);
            if id != 0 && !self.streams.contains_key(&id) {
                return id;
            }
        }
    }
}

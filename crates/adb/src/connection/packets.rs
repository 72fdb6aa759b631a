//! What packets do to a [`Connection`]. The talk about keys is `auth`'s matter.

use std::time::Instant;

use super::flow::Flow;
use super::stream::{End, Phase, Stream};
use super::{CHUNK, Connection, Event, Role, Stage};
use crate::Error;
use crate::wire::banner::{Banner, DELAYED_ACK};
use crate::wire::packet::{self, Command, Packet};

/// Answers that may wait for a peer who sends but does not read, before the connection is ended.
pub(super) const MAX_ANSWERS: usize = 16 * 1024;

impl Connection {
    pub(super) fn handle(&mut self, packet: Packet, now: Instant) -> Result<(), Error> {
        let before = self.out.len();
        if self.stage == Stage::Online && self.version < packet::VERSION && !packet.sum_is_right() {
            return Err(Error::protocol(format!(
                "a {:?} packet whose payload was damaged on the way",
                packet.command
            )));
        }
        let online = self.stage == Stage::Online;
        match packet.command {
            Command::Cnxn => self.greeted(&packet, now)?,
            Command::Auth if self.role == Role::Host && !online => self.asked(&packet, now)?,
            Command::Auth if self.role == Role::Phone && !online => self.answered(&packet, now)?,
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

    fn greeted(&mut self, packet: &Packet, now: Instant) -> Result<(), Error> {
        if packet.arg0 < packet::VERSION && !packet.sum_is_right() {
            return Err(Error::protocol("a greeting that was damaged on the way"));
        }
        if self.stage == Stage::Online {
            self.break_streams(&Error::vanished("the far end began anew"));
            self.stage = Stage::Greeting;
        }
        self.forget_talk();
        self.version = packet.arg0.min(self.settings.version);
        // The smaller of both: `atransport::update_version` in AOSP's adb, which hangs up on more.
        let largest = (packet.arg1 as usize).min(self.settings.max_payload);
        self.chunk = largest.clamp(packet::MIN_MAX_PAYLOAD, CHUNK);
        self.peer = Banner::read(&packet.payload);
        self.counted =
            self.settings.banner.features.has(DELAYED_ACK) && self.peer.features.has(DELAYED_ACK);
        if self.role == Role::Phone {
            if self.ask_for_key(now) {
                return Ok(());
            }
            self.greet();
        }
        self.go_online();
        Ok(())
    }

    pub(super) fn go_online(&mut self) {
        self.stage = Stage::Online;
        self.deadline = None;
        self.events.push_back(Event::Online);
    }

    /// OPEN(their id, 0 or what they let us send, service).
    fn offered(&mut self, packet: &Packet) {
        let remote = packet.arg0;
        if remote == 0 {
            return;
        }
        // As adbd does: hosts end it with a NUL, and `abb` has NULs between its arguments.
        match std::str::from_utf8(&packet.payload).map(|name| name.trim_end_matches('\0')) {
            // adbd, too, refuses who counts otherwise than both have agreed.
            Ok(service) if self.takes(service) && self.counted == (packet.arg1 > 0) => {
                let service = service.to_owned();
                let id = self.fresh_id();
                let flow = Flow::new(self.counted, packet.arg1);
                self.streams.insert(id, Stream::new(remote, Phase::Offered, flow));
                self.events.push_back(Event::Offered { id, service });
            }
            _ => self.emit(Command::Clse, 0, remote, &[]),
        }
    }

    /// Whether the other end may open it, and there is room.
    fn takes(&self, service: &str) -> bool {
        let may = self.role == Role::Phone || self.expected.contains(service);
        may && self.streams.len() < self.settings.max_streams
    }

    /// OKAY(their id, our id, nothing or bytes that were read): a stream was accepted, or our last WRTE was taken.
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
                stream.flow.acknowledged(&packet.payload);
                self.events.push_back(Event::Readable(id));
            }
            Phase::Open if stream.remote == remote => {
                stream.flow.acknowledged(&packet.payload);
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
        if !stream.came(packet.payload.len()) {
            let error = Error::protocol("data on a stream that had not acknowledged the last");
            self.emit(Command::Clse, id, remote, &[]);
            return self.end_stream(id, End::Broken(error));
        }
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
}

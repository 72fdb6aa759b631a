//! Packet handling of a [`Connection`]. Authentication is in `auth`.

use std::time::Instant;

use super::flow_control::FlowControl;
use super::stream::{Stream, StreamEnd, StreamState};
use super::{Connection, ConnectionState, Event, MAX_SENT_PAYLOAD, Role};
use crate::Error;
use crate::wire::banner::{Banner, DELAYED_ACK};
use crate::wire::packet::{self, Command, Packet};

/// Limit on unsent replies to a peer that sends but does not read, before the connection ends.
pub(super) const MAX_ANSWERS: usize = 16 * 1024;

impl Connection {
    pub(super) fn handle(&mut self, packet: Packet, now: Instant) -> Result<(), Error> {
        let before = self.out.len();
        if self.state == ConnectionState::Online
            && self.version < packet::VERSION
            && !packet.checksum_matches()
        {
            return Err(Error::protocol(format!(
                "a {:?} packet with a wrong checksum",
                packet.command
            )));
        }
        let online = self.state == ConnectionState::Online;
        match packet.command {
            Command::Cnxn => self.on_cnxn(&packet, now)?,
            Command::Auth if self.role == Role::Host && !online => {
                self.on_auth_as_host(&packet, now)?
            }
            Command::Auth if self.role == Role::Phone && !online => {
                self.on_auth_as_phone(&packet, now)?
            }
            Command::Stls if self.role == Role::Host && !online => {
                return Err(Error::Unauthorized {
                    reason: "it requires TLS, which is not supported".into(),
                });
            }
            Command::Open if online => self.on_open(&packet),
            Command::Okay if online => self.on_okay(&packet),
            Command::Wrte if online => self.on_wrte(packet),
            Command::Clse if online => self.on_clse(&packet),
            // As adb does: ignore unexpected packets.
            _ => tracing::trace!(command = ?packet.command, "ignoring an unexpected packet"),
        }
        if self.out.len() > before {
            self.answers += 1;
        }
        if self.answers > MAX_ANSWERS {
            return Err(Error::protocol("it sends but does not read our responses"));
        }
        Ok(())
    }

    fn on_cnxn(&mut self, packet: &Packet, now: Instant) -> Result<(), Error> {
        if packet.arg0 < packet::VERSION && !packet.checksum_matches() {
            return Err(Error::protocol("a greeting with a wrong checksum"));
        }
        if self.state == ConnectionState::Online {
            self.break_streams(&Error::disconnected("the peer restarted the connection"));
            self.state = ConnectionState::Greeting;
        }
        self.reset_auth();
        self.version = packet.arg0.min(self.settings.version);
        // The smaller of both: `atransport::update_version` in AOSP's adb, which disconnects on
        // more.
        let max_payload = (packet.arg1 as usize).min(self.settings.max_payload);
        self.chunk = max_payload.clamp(packet::MIN_MAX_PAYLOAD, MAX_SENT_PAYLOAD);
        self.peer = Banner::read(&packet.payload);
        self.delayed_ack =
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
        self.state = ConnectionState::Online;
        self.deadline = None;
        self.events.push_back(Event::Online);
    }

    /// OPEN(their id, 0 or their window, service).
    fn on_open(&mut self, packet: &Packet) {
        let remote = packet.arg0;
        if remote == 0 {
            return;
        }
        // As adbd does: hosts end it with a NUL, and `abb` has NULs between its arguments.
        match std::str::from_utf8(&packet.payload).map(|name| name.trim_end_matches('\0')) {
            // adbd, too, refuses a peer that deviates from the negotiated flow control.
            Ok(service) if self.accepts_stream() && self.delayed_ack == (packet.arg1 > 0) => {
                let service = service.to_owned();
                let id = self.fresh_id();
                let flow = FlowControl::new(self.delayed_ack, packet.arg1);
                self.streams.insert(id, Stream::new(remote, StreamState::Offered, flow));
                self.events.push_back(Event::StreamOpened { id, service });
            }
            _ => self.emit(Command::Clse, 0, remote, &[]),
        }
    }

    /// Whether the peer may open a stream, and there is room for one. A host refuses all: they
    /// would reach into its computer.
    fn accepts_stream(&self) -> bool {
        self.role == Role::Phone && self.streams.len() < self.settings.max_streams
    }

    /// OKAY(their id, our id, nothing or a byte count): a stream was accepted, or our last WRTE was
    /// received.
    fn on_okay(&mut self, packet: &Packet) {
        let (remote, id) = (packet.arg0, packet.arg1);
        if remote == 0 || id == 0 {
            return;
        }
        let Some(stream) = self.streams.get_mut(&id) else {
            // The opener has gone: close the stream at the other end, too.
            return self.emit(Command::Clse, id, remote, &[]);
        };
        match stream.state {
            StreamState::Opening => {
                stream.remote = remote;
                stream.state = StreamState::Open;
                stream.flow.acknowledged(&packet.payload);
                self.events.push_back(Event::Readable(id));
            }
            StreamState::Open if stream.remote == remote => {
                stream.flow.acknowledged(&packet.payload);
                self.events.push_back(Event::Writable(id));
            }
            _ => return,
        }
        self.pump(id);
    }

    /// WRTE(their id, our id, data).
    fn on_wrte(&mut self, packet: Packet) {
        let (remote, id) = (packet.arg0, packet.arg1);
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.state != StreamState::Open || stream.remote != remote {
            return;
        }
        if !stream.on_wrte(packet.payload.len()) {
            let error = Error::protocol("data on a stream before our OKAY");
            self.emit(Command::Clse, id, remote, &[]);
            return self.end_stream(id, StreamEnd::Broken(error));
        }
        if !stream.released {
            stream.push_received(packet.payload);
            self.events.push_back(Event::Readable(id));
        }
        self.unacknowledged.push(id);
    }

    /// CLSE(their id or 0, our id).
    fn on_clse(&mut self, packet: &Packet) {
        let (remote, id) = (packet.arg0, packet.arg1);
        let Some(stream) = self.streams.get(&id) else { return };
        match stream.state {
            StreamState::Opening => self.end_stream(id, StreamEnd::Refused),
            // Kept until it is released, so that opening and closing in a loop hits the limit.
            StreamState::Offered if stream.remote == remote => {
                self.end_stream(id, StreamEnd::Closed)
            }
            // Old phones always close with 0 as their id.
            StreamState::Open if remote == 0 || stream.remote == remote => {
                let remote = stream.remote;
                self.emit(Command::Clse, id, remote, &[]);
                self.end_stream(id, StreamEnd::Closed);
            }
            _ => {}
        }
    }
}

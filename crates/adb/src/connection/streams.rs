//! Stream operations of a [`Connection`]: open, accept, read, write, close. Each public function is
//! one call from [`crate::link`]; packet handling is in `packets`.

use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::flow_control::{FlowControl, WINDOW};
use super::stream::{ReadResult, Stream, StreamEnd, StreamState, WriteResult};
use super::{Connection, ConnectionState, Event};
use crate::Error;
use crate::wire::packet::Command;

/// Limit on the bytes that a stream's writer may queue.
pub(super) const OUTBOX: usize = 256 * 1024;

impl Connection {
    /// Opens a service. The id is usable immediately; [`Event::Readable`] signals the reply.
    ///
    /// # Errors
    /// The connection is not online, there are too many streams, or the name cannot be sent.
    pub fn open(&mut self, service: &str, now: Instant) -> Result<u32, Error> {
        match &self.state {
            ConnectionState::Online => {}
            ConnectionState::Greeting => {
                return Err(Error::disconnected("the connection is not online yet"));
            }
            ConnectionState::Ended(error) => return Err(error.clone()),
        }
        let refused =
            |text: &str| Error::Refused { service: service.to_owned(), text: text.to_owned() };
        if service.len() >= self.chunk {
            return Err(Error::TooLarge { what: "the service name".into(), limit: self.chunk - 1 });
        }
        // adbd passes all names but `abb` to C.
        if service.contains('\0') && !service.starts_with("abb") {
            return Err(refused("a name with a NUL would be truncated on the phone"));
        }
        if self.streams.len() >= self.settings.max_streams {
            return Err(refused("too many streams are open"));
        }
        let id = self.fresh_id();
        // Phones before Android 5 read the name as a C string.
        let mut name = Vec::with_capacity(service.len() + 1);
        name.extend_from_slice(service.as_bytes());
        name.push(0);
        let window = if self.delayed_ack { WINDOW } else { 0 };
        self.emit(Command::Open, id, window, &name);
        self.unanswered_since.get_or_insert(now);
        self.streams.insert(
            id,
            Stream::new(0, StreamState::Opening, FlowControl::new(self.delayed_ack, 0)),
        );
        Ok(id)
    }

    /// Accepts an offered stream. `false` if it is already gone.
    pub fn accept(&mut self, id: u32) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        if stream.state != StreamState::Offered {
            return false;
        }
        stream.state = StreamState::Open;
        let remote = stream.remote;
        let window = WINDOW.to_le_bytes();
        self.emit(Command::Okay, id, remote, if self.delayed_ack { &window } else { &[] });
        self.pump(id);
        true
    }

    /// Refuses an offered stream.
    pub fn refuse(&mut self, id: u32) {
        if let Some(stream) = self.streams.remove(&id)
            && stream.state == StreamState::Offered
        {
            self.emit(Command::Clse, 0, stream.remote, &[]);
        }
    }

    /// Reads at most `max` bytes from a stream.
    pub fn read(&mut self, id: u32, max: usize) -> ReadResult {
        let Some(stream) = self.streams.get_mut(&id) else { return ReadResult::End };
        let read = stream.read(max);
        if matches!(read, ReadResult::Data(_)) {
            self.acknowledge_read(id);
        }
        read
    }

    /// Queues as much of `data` as fits.
    pub fn write(&mut self, id: u32, data: &[u8]) -> WriteResult {
        let Some(stream) = self.streams.get_mut(&id) else { return WriteResult::Closed };
        if let Some(refusal) = stream.unwritable(OUTBOX) {
            return refusal;
        }
        let mut direct = 0;
        if stream.may_send() && stream.outbox.is_empty() {
            direct = data.len().min(self.chunk);
            if direct > 0 {
                stream.flow.sent(direct);
            }
        }
        let (sent, rest) = data.split_at(direct);
        let queued = rest.len().min(OUTBOX - stream.outbox.len());
        stream.outbox.extend_from_slice(&rest[..queued]);
        if direct > 0 {
            let remote = stream.remote;
            self.emit(Command::Wrte, id, remote, sent);
            self.pump(id);
        }
        WriteResult::Queued(direct + queued)
    }

    /// Queues `head` and `body` together or not at all, so that two writers of one stream cannot
    /// mix their frames. One such frame may exceed the queue's limit.
    pub fn write_frame(&mut self, id: u32, head: &[u8], body: &[u8]) -> WriteResult {
        let Some(stream) = self.streams.get_mut(&id) else { return WriteResult::Closed };
        if let Some(refusal) = stream.unwritable(OUTBOX) {
            return refusal;
        }
        stream.outbox.extend_from_slice(head);
        stream.outbox.extend_from_slice(body);
        self.pump(id);
        WriteResult::Queued(body.len())
    }

    /// Whether everything written was passed on for transmission: `Queued(0)` if so, `Full` while
    /// some of it waits, otherwise why the rest never will be.
    pub fn flushed(&self, id: u32) -> WriteResult {
        self.streams.get(&id).map_or(WriteResult::Queued(0), Stream::flushed)
    }

    /// Whether a released stream still has queued data to send.
    pub fn is_sending(&self) -> bool {
        self.streams.values().any(|stream| stream.released)
    }

    /// Whether the peer can send nothing beyond what [`Self::read`] still returns.
    pub fn is_ended(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| matches!(stream.state, StreamState::Ended(_)))
    }

    /// Whether the peer has accepted a stream that we opened.
    ///
    /// # Errors
    /// `None` while it has not replied; the inner error if it refused or disconnected.
    pub fn opened(&self, id: u32, service: &str) -> Option<Result<(), Error>> {
        match self.streams.get(&id).map(|stream| &stream.state) {
            Some(StreamState::Opening) => None,
            Some(StreamState::Ended(StreamEnd::Refused)) | None => Some(Err(Error::Refused {
                service: service.to_owned(),
                text: "the phone closed it immediately".into(),
            })),
            Some(StreamState::Ended(StreamEnd::Broken(error))) => Some(Err(error.clone())),
            Some(
                StreamState::Open | StreamState::Offered | StreamState::Ended(StreamEnd::Closed),
            ) => Some(Ok(())),
        }
    }

    /// Closes a stream once its queue is sent. Reading continues until [`Self::release`].
    pub fn finish(&mut self, id: u32) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.finishing = true;
            self.pump(id);
        }
    }

    /// Closes a stream once its queue is sent, and then forgets it: it has no reader any more.
    pub fn release(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        match stream.state {
            // If the peer accepts it later, its OKAY has an unknown id and gets CLSE.
            StreamState::Opening | StreamState::Ended(_) => drop(self.streams.remove(&id)),
            StreamState::Offered => self.refuse(id),
            StreamState::Open => {
                stream.released = true;
                stream.discard_received();
                self.finish(id);
                self.acknowledge_read(id);
            }
        }
    }

    // Helpers, also used by packet handling.

    /// Sends what a stream may send, and CLSE after a finished stream's last data.
    pub(super) fn pump(&mut self, id: u32) {
        while let Some(stream) = self.streams.get_mut(&id)
            && stream.may_send()
            && !stream.outbox.is_empty()
        {
            let data: Bytes = stream.outbox.split_to(stream.outbox.len().min(self.chunk)).freeze();
            stream.flow.sent(data.len());
            let remote = stream.remote;
            self.emit(Command::Wrte, id, remote, &data);
        }
        let Some(stream) = self.streams.get(&id) else { return };
        let remote = stream.remote;
        if stream.finishing && stream.state == StreamState::Open && stream.outbox.is_empty() {
            self.emit(Command::Clse, id, remote, &[]);
            self.end_stream(id, StreamEnd::Closed);
        }
    }

    /// Acknowledges a stream's data if its reader has kept up.
    pub(super) fn acknowledge_read(&mut self, id: u32) {
        if let Some(stream) = self.streams.get_mut(&id)
            && stream.state == StreamState::Open
            && let Some(payload) = stream.take_due_okay()
        {
            let remote = stream.remote;
            self.emit(Command::Okay, id, remote, &payload);
        }
    }

    pub(super) fn end_stream(&mut self, id: u32, end: StreamEnd) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.state = StreamState::Ended(end);
        stream.cut_short = !stream.outbox.is_empty();
        stream.outbox = BytesMut::new();
        if stream.released {
            self.streams.remove(&id);
        }
        self.events.extend([Event::Readable(id), Event::Writable(id)]);
    }

    pub(super) fn break_streams(&mut self, error: &Error) {
        let alive = |(id, stream): (&u32, &Stream)| {
            (!matches!(stream.state, StreamState::Ended(_))).then_some(*id)
        };
        let ids: Vec<u32> = self.streams.iter().filter_map(alive).collect();
        for id in ids {
            self.end_stream(id, StreamEnd::Broken(error.clone()));
        }
    }

    pub(super) fn fresh_id(&mut self) -> u32 {
        loop {
            let id = self.next_id;
            self.next_id = self.next_id.wrapping_add(1);
            if id != 0 && !self.streams.contains_key(&id) {
                return id;
            }
        }
    }
}

//! What one does with the streams of a [`Connection`]: open, accept, read, write, close. Each public
//! function is one call of [`crate::link`]; what packets do to streams is `packets`' matter.

use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::flow::{Flow, WINDOW};
use super::stream::{End, Phase, Read, Stream, Write};
use super::{Connection, Event, Stage};
use crate::Error;
use crate::wire::packet::Command;

/// Bytes that a stream's writer may have queued.
pub(super) const OUTBOX: usize = 256 * 1024;

/// Names that a host may expect at once.
pub(super) const MAX_EXPECTED: usize = 64;

impl Connection {
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
        // All but `abb` are handed to C.
        if service.contains('\0') && !service.starts_with("abb") {
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
        let window = if self.counted { WINDOW } else { 0 };
        self.emit(Command::Open, id, window, &name);
        self.unanswered_since.get_or_insert(now);
        self.streams.insert(id, Stream::new(0, Phase::Opening, Flow::new(self.counted, 0)));
        Ok(id)
    }

    /// Lets the phone open streams of this name from now on. A host refuses all others, as an adb
    /// server does: they would reach into its computer.
    ///
    /// # Errors
    /// It is expected already, or too much is.
    pub fn expect(&mut self, service: &str) -> Result<(), Error> {
        let refused =
            |said: &str| Error::Refused { service: service.to_owned(), said: said.to_owned() };
        if self.expected.len() >= MAX_EXPECTED {
            return Err(refused("the phone may open too many services already"));
        }
        if !self.expected.insert(service.to_owned()) {
            return Err(refused("the phone may open it already"));
        }
        Ok(())
    }

    /// Lets the phone open streams of this name no longer. Those that it has opened go on.
    pub fn unexpect(&mut self, service: &str) {
        self.expected.remove(service);
    }

    /// Accepts an offered stream. `false` when it is gone already.
    pub fn accept(&mut self, id: u32) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        if stream.phase != Phase::Offered {
            return false;
        }
        stream.phase = Phase::Open;
        let remote = stream.remote;
        let window = WINDOW.to_le_bytes();
        self.emit(Command::Okay, id, remote, if self.counted { &window } else { &[] });
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

    // Helpers, of packets too.

    /// Sends what a stream may send, and its CLSE when that was all of a finished one.
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
        if stream.finishing && stream.phase == Phase::Open && stream.outbox.is_empty() {
            self.emit(Command::Clse, id, remote, &[]);
            self.end_stream(id, End::Closed);
        }
    }

    /// Acknowledges data of a stream if its reader has kept up.
    pub(super) fn settle(&mut self, id: u32) {
        if let Some(stream) = self.streams.get_mut(&id)
            && stream.phase == Phase::Open
            && let Some(payload) = stream.due()
        {
            let remote = stream.remote;
            self.emit(Command::Okay, id, remote, &payload);
        }
    }

    pub(super) fn end_stream(&mut self, id: u32, end: End) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.phase = Phase::Ended(end);
        stream.cut_short = !stream.outbox.is_empty();
        stream.outbox = BytesMut::new();
        if stream.released {
            self.streams.remove(&id);
        }
        self.events.extend([Event::Readable(id), Event::Writable(id)]);
    }

    pub(super) fn break_streams(&mut self, error: &Error) {
        let alive = |(id, stream): (&u32, &Stream)| {
            (!matches!(stream.phase, Phase::Ended(_))).then_some(*id)
        };
        let ids: Vec<u32> = self.streams.iter().filter_map(alive).collect();
        for id in ids {
            self.end_stream(id, End::Broken(error.clone()));
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

#[cfg(test)]
mod tests {
    use super::super::tests::{online_host, read_all, said, tell};
    use super::*;

    const REFUSED: Command = Command::Clse;

    fn offered(host: &mut Connection) -> Option<u32> {
        std::iter::from_fn(|| host.poll_event()).find_map(|event| match event {
            Event::Offered { id, .. } => Some(id),
            _ => None,
        })
    }

    #[test]
    fn a_host_takes_only_what_it_expects_and_only_as_long() {
        let mut host = online_host();
        host.expect("tcp:80").unwrap();
        for name in [&b"tcp:8"[..], b"tcp:800", b"tcp:22\0", b"tcp:22\0tcp:80", b"", b"\xff"] {
            tell(&mut host, Command::Open, 5, 0, name);
            assert_eq!(offered(&mut host), None, "{name:?}");
            assert_eq!(said(&mut host), [(REFUSED, 0, 5, vec![])]);
        }
        // Older phones end the name with a NUL.
        for (remote, name) in [(6, &b"tcp:80"[..]), (7, b"tcp:80\0")] {
            tell(&mut host, Command::Open, remote, 0, name);
            let id = offered(&mut host).unwrap();
            assert!(host.accept(id));
            assert_eq!(said(&mut host), [(Command::Okay, id, remote, vec![])]);
        }
        host.unexpect("tcp:80");
        tell(&mut host, Command::Open, 8, 0, b"tcp:80");
        assert_eq!(said(&mut host), [(REFUSED, 0, 8, vec![])]);
        assert_eq!(host.streams(), 2, "those that were taken go on");
        tell(&mut host, Command::Wrte, 6, 1, b"still here");
        assert_eq!(read_all(&mut host, 1).0, b"still here");
    }

    #[test]
    fn a_name_is_expected_once_and_not_without_end() {
        let mut host = online_host();
        for n in 0..MAX_EXPECTED {
            host.expect(&format!("tcp:{n}")).unwrap();
        }
        assert!(matches!(host.expect("one more"), Err(Error::Refused { .. })));
        host.unexpect("tcp:0");
        assert!(matches!(host.expect("tcp:1"), Err(Error::Refused { .. })), "it is expected");
        host.expect("tcp:0").unwrap();
    }
}

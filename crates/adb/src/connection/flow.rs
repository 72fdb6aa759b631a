//! How much one end may send on a stream, and what it owes the other for what came.
//!
//! The classic way is one WRTE at a time, each answered by an OKAY. Where both ends announce
//! `delayed_ack` (adbd since Android 14; adb from 2023 on, when told to), bytes are counted instead:
//!
//! ```text
//!  host                                            phone
//!  OPEN(id, window, name)                          takes the window as its credit
//!  takes what OKAY carries as its credit           OKAY(id, id, window as 4 bytes)
//!  WRTE, WRTE, … while there is credit             OKAY(id, id, bytes that left the queue)
//! ```
//!
//! A credit may go below zero: who has any sends one whole packet. Source: `connect_to_remote` and
//! `local_socket_ack` in `sockets.cpp`, `handle_packet` in `adb.cpp` of AOSP's adb. No packets and no
//! queues here: [`super::streams`] and [`super::packets`] send what this says.

use super::stream::Stream;

/// What we let the other end send before it has to wait, in bytes. AOSP lets it send 32 MiB; a
/// reader of ours that does not read should not cost so much.
pub(super) const WINDOW: u32 = 2 * 1024 * 1024;
/// The credit that we use, of however much we are given: the rest would only wait in a queue of ours.
pub(super) const MAX_CREDIT: i64 = 1024 * 1024;
/// Unread bytes up to which a stream goes on acknowledging. With it, one more packet can be under
/// way while a reader works.
pub(super) const READ_AHEAD: usize = 64 * 1024;
/// Bytes that are read before they are acknowledged, unless the reader has read them all.
const STEP: usize = 256 * 1024;
/// Unread bytes up to which data that came without waiting for our OKAY is kept. adbd (34, Debian's)
/// sends what an ended service left in its socket, some 0.5 MiB, in one go and then CLSE.
pub(super) const LEFT_BEHIND: usize = 2 * 1024 * 1024;

/// One stream's two accounts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Flow {
    /// Packet by packet.
    Classic {
        /// A WRTE of ours waits for its OKAY.
        in_flight: bool,
        /// A WRTE of theirs waits for our OKAY.
        owes_okay: bool,
    },
    /// Byte by byte.
    Counted {
        /// What we may send.
        credit: i64,
        /// What came and was not acknowledged yet.
        unacknowledged: usize,
    },
}

impl Flow {
    /// For a new stream; `counted` where both ends have agreed to it, with what the other end lets
    /// us send, nothing as long as it has not said.
    pub(super) fn new(counted: bool, credit: u32) -> Self {
        if counted {
            let credit = i64::from(credit).min(MAX_CREDIT);
            Self::Counted { credit, unacknowledged: 0 }
        } else {
            Self::Classic { in_flight: false, owes_okay: false }
        }
    }

    pub(super) fn may_send(&self) -> bool {
        match self {
            Self::Classic { in_flight, .. } => !in_flight,
            Self::Counted { credit, .. } => *credit > 0,
        }
    }

    /// We sent a WRTE.
    pub(super) fn sent(&mut self, length: usize) {
        match self {
            Self::Classic { in_flight, .. } => *in_flight = true,
            Self::Counted { credit, .. } => *credit -= length as i64,
        }
    }

    /// An OKAY came with this payload: the first, which accepts a stream, or one for our WRTE.
    pub(super) fn acknowledged(&mut self, payload: &[u8]) {
        match (self, payload.try_into()) {
            (Self::Classic { in_flight, .. }, _) => *in_flight = false,
            // It may be negative, says AOSP.
            (Self::Counted { credit, .. }, Ok(bytes)) => {
                *credit =
                    (*credit + i64::from(i32::from_le_bytes(bytes))).clamp(-MAX_CREDIT, MAX_CREDIT);
            }
            (Self::Counted { .. }, Err(_)) => {
                tracing::debug!(length = payload.len(), "an OKAY that does not count bytes");
            }
        }
    }
}

impl Stream {
    /// A WRTE came. `false` when there was no leave for it, and too much waits for the reader.
    pub(super) fn came(&mut self, length: usize) -> bool {
        let unread = self.unread().saturating_add(length);
        match &mut self.flow {
            Flow::Classic { owes_okay, .. } => {
                let bears = !*owes_okay || unread <= LEFT_BEHIND;
                *owes_okay = true;
                bears
            }
            Flow::Counted { unacknowledged, .. } => {
                *unacknowledged = unacknowledged.saturating_add(length);
                unread <= WINDOW as usize + LEFT_BEHIND
            }
        }
    }

    /// The payload of the OKAY that is due now, if one is, which counts as sent.
    pub(super) fn due(&mut self) -> Option<Vec<u8>> {
        let unread = self.unread();
        match &mut self.flow {
            Flow::Classic { owes_okay, .. } => {
                let due = *owes_okay && unread <= READ_AHEAD;
                *owes_okay &= !due;
                due.then(Vec::new)
            }
            Flow::Counted { unacknowledged, .. } => {
                let read = unacknowledged.saturating_sub(unread);
                if read == 0 || (unread > 0 && read < STEP) {
                    return None;
                }
                *unacknowledged -= read;
                // What came is bounded far below 2 GiB.
                Some(i32::try_from(read).unwrap_or(i32::MAX).to_le_bytes().to_vec())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::streams::OUTBOX;
    use super::super::tests::{Pair, read_all, said, tell};
    use super::super::{CHUNK, Connection, Event, Read, Role, Settings, Write};
    use super::*;
    use crate::wire::banner::{Banner, Features};
    use crate::wire::packet::{self, Command};
    use std::time::Instant;

    const THIRTY_TWO_MIB: [u8; 4] = [0, 0, 0, 2];

    fn both_count(settings: &mut Settings) {
        settings.banner.features = Features::read("shell_v2,delayed_ack");
    }

    /// An end that counts, greeted by one that does, with nothing left to say.
    fn online(role: Role) -> Connection {
        let banner = Banner::host(Features::read("delayed_ack"));
        let mut end = Connection::new(role, Settings::phone(banner), Instant::now());
        let greeting = b"x::features=shell_v2,delayed_ack";
        tell(&mut end, Command::Cnxn, packet::VERSION, 1 << 20, greeting);
        said(&mut end);
        while end.poll_event().is_some() {}
        end
    }

    #[test]
    fn bytes_are_counted_only_where_both_ends_announce_it() {
        for (theirs, window) in [("shell_v2", 0), ("delayed_ack", WINDOW)] {
            let banner = Banner::host(Features::read("delayed_ack"));
            let mut host = Connection::new(Role::Host, Settings::host(banner), Instant::now());
            let greeting = format!("device::features={theirs}");
            tell(&mut host, Command::Cnxn, packet::VERSION, 1 << 20, greeting.as_bytes());
            said(&mut host);
            let id = host.open("exec:x", Instant::now()).unwrap();
            let open = said(&mut host).remove(0);
            assert_eq!((open.1, open.2), (id, window));
        }
    }

    #[test]
    fn a_host_says_what_it_takes_and_sends_what_it_may() {
        let mut host = online(Role::Host);
        let id = host.open("exec:cat", Instant::now()).unwrap();
        said(&mut host);
        host.write(id, b"early");
        assert_eq!(said(&mut host), [], "nothing may be sent before the phone says how much");
        tell(&mut host, Command::Okay, 9, id, &6_i32.to_le_bytes());
        host.write(id, b"more");
        assert_eq!(
            said(&mut host),
            [(Command::Wrte, id, 9, b"early".to_vec()), (Command::Wrte, id, 9, b"more".to_vec())],
            "who may send one byte sends a packet"
        );
        host.write(id, b"last");
        tell(&mut host, Command::Okay, 9, id, &3_i32.to_le_bytes());
        assert_eq!(said(&mut host), [], "6 - 5 - 4 + 3 is nothing");
        tell(&mut host, Command::Okay, 9, id, &1_i32.to_le_bytes());
        assert_eq!(said(&mut host), [(Command::Wrte, id, 9, b"last".to_vec())]);
    }

    #[test]
    fn a_phone_says_what_it_takes_and_what_was_read() {
        let mut phone = online(Role::Phone);
        tell(&mut phone, Command::Open, 5, 32 << 20, b"exec:cat\0");
        let Some(Event::Offered { id, .. }) = phone.poll_event() else { panic!("not offered") };
        assert!(phone.accept(id));
        assert_eq!(said(&mut phone), [(Command::Okay, id, 5, WINDOW.to_le_bytes().to_vec())]);
        tell(&mut phone, Command::Wrte, 5, id, b"one");
        tell(&mut phone, Command::Wrte, 5, id, b"three");
        assert_eq!(said(&mut phone), [], "nobody has read it");
        assert_eq!(read_all(&mut phone, id).0, b"onethree");
        assert_eq!(said(&mut phone), [(Command::Okay, id, 5, 8_i32.to_le_bytes().to_vec())]);
        // It has 32 MiB of leave, and uses one.
        let mut sent = 0;
        while let Write::Took(taken) = phone.write(id, &vec![7; CHUNK]) {
            sent += taken;
        }
        let on_the_way: usize = said(&mut phone).iter().map(|packet| packet.3.len()).sum();
        assert_eq!(on_the_way as i64, MAX_CREDIT);
        assert_eq!(sent, on_the_way + OUTBOX);
    }

    #[test]
    fn who_counts_otherwise_than_agreed_is_refused() {
        let mut phone = online(Role::Phone);
        tell(&mut phone, Command::Open, 5, 0, b"exec:cat\0");
        assert_eq!(said(&mut phone), [(Command::Clse, 0, 5, vec![])]);
        let mut plain = Pair::with(|_| {}, usize::MAX);
        tell(&mut plain.phone, Command::Open, 5, 32 << 20, b"exec:cat\0");
        assert_eq!(said(&mut plain.phone), [(Command::Clse, 0, 5, vec![])]);
    }

    #[test]
    fn an_acknowledgement_may_take_back_and_a_malformed_one_says_nothing() {
        let mut host = online(Role::Host);
        let id = host.open("exec:cat", Instant::now()).unwrap();
        said(&mut host);
        tell(&mut host, Command::Okay, 9, id, &THIRTY_TWO_MIB);
        for payload in [
            &i32::MIN.to_le_bytes()[..],
            &i32::MAX.to_le_bytes(),
            b"",
            b"12345",
            &(-(MAX_CREDIT as i32)).to_le_bytes(),
        ] {
            tell(&mut host, Command::Okay, 9, id, payload);
        }
        host.write(id, b"x");
        assert_eq!(said(&mut host), []);
        tell(&mut host, Command::Okay, 9, id, &2_i32.to_le_bytes());
        assert_eq!(said(&mut host), [(Command::Wrte, id, 9, b"x".to_vec())]);
    }

    #[test]
    fn a_reader_that_does_not_read_stops_a_writer_who_counts() {
        let mut pair = Pair::with(both_count, usize::MAX);
        let (at_host, at_phone) = pair.open("exec:yes");
        let (block, mut written) = (vec![7; 100_000], 0);
        while let Write::Took(taken) = pair.phone.write(at_phone, &block) {
            written += taken;
            pair.carry();
            assert!(written <= WINDOW as usize + OUTBOX + CHUNK);
        }
        let mut read = 0;
        while let (data, Read::Wait) = read_all(&mut pair.host, at_host)
            && !data.is_empty()
        {
            read += data.len();
            pair.carry();
        }
        assert_eq!(read, written);
        assert!(matches!(pair.phone.write(at_phone, &block), Write::Took(_)));
    }

    #[test]
    fn a_writer_beyond_its_leave_loses_its_stream() {
        let mut phone = online(Role::Phone);
        tell(&mut phone, Command::Open, 5, 1, b"exec:cat\0");
        let Some(Event::Offered { id, .. }) = phone.poll_event() else { panic!("not offered") };
        phone.accept(id);
        let most = WINDOW as usize + LEFT_BEHIND;
        for _ in 0..=most / (1 << 20) {
            tell(&mut phone, Command::Wrte, 5, id, &vec![0; 1 << 20]);
        }
        let (data, end) = read_all(&mut phone, id);
        assert_eq!(data.len(), most);
        assert!(matches!(end, Read::Broken(crate::Error::Protocol { .. })));
    }
}

//! Flow control: how much one end may send on a stream, and what it owes the other for received
//! data.
//!
//! The classic way is one WRTE at a time, each acknowledged by an OKAY. If both ends announce
//! `delayed_ack` (adbd since Android 14; adb since 2023, opt-in), bytes are counted instead:
//!
//! ```text
//!  host                                            phone
//!  OPEN(id, window, name)                          takes the window as its credit
//!  takes the OKAY's value as its credit            OKAY(id, id, window as 4 bytes)
//!  WRTE, WRTE, … while there is credit             OKAY(id, id, bytes that left the queue)
//! ```
//!
//! The credit may become negative: any positive credit allows one whole packet. Source:
//! `connect_to_remote` and `local_socket_ack` in `sockets.cpp`, `handle_packet` in `adb.cpp` of
//! AOSP's adb. This module only keeps count; [`super::streams`] and [`super::packets`] send.

/// The window that we grant, in bytes. AOSP grants 32 MiB; a stalled reader of ours should not cost
/// that much.
pub(super) const WINDOW: u32 = 2 * 1024 * 1024;
/// The part of a granted credit that we use: the rest would only wait in our queue.
pub(super) const MAX_CREDIT: i64 = 1024 * 1024;
/// A stream keeps acknowledging below this many unread bytes, so that one more packet is in flight
/// while a reader works.
pub(super) const READ_AHEAD: usize = 64 * 1024;
/// Bytes read before they are acknowledged, unless the reader has read everything.
const STEP: usize = 256 * 1024;
/// Limit on unread data that arrived without waiting for our OKAY. adbd (34, Debian's) sends what
/// an ended service left in its socket, about 0.5 MiB, at once and then CLSE.
pub(super) const LEFT_BEHIND: usize = 2 * 1024 * 1024;

/// One stream's flow control in both directions.
#[derive(Debug, Clone, Copy)]
pub(super) enum FlowControl {
    /// One packet at a time.
    Classic {
        /// Our WRTE waits for its OKAY.
        in_flight: bool,
        /// Their WRTE waits for our OKAY.
        owes_okay: bool,
    },
    /// Counted in bytes.
    DelayedAck {
        /// What we may send.
        credit: i64,
        /// Received but not acknowledged.
        unacknowledged: usize,
    },
}

impl FlowControl {
    /// For a new stream. `delayed_ack` if both ends negotiated it; `credit` is what the peer has
    /// granted, 0 until it says.
    pub(super) fn new(delayed_ack: bool, credit: u32) -> Self {
        if delayed_ack {
            let credit = i64::from(credit).min(MAX_CREDIT);
            Self::DelayedAck { credit, unacknowledged: 0 }
        } else {
            Self::Classic { in_flight: false, owes_okay: false }
        }
    }

    pub(super) fn may_send(&self) -> bool {
        match self {
            Self::Classic { in_flight, .. } => !in_flight,
            Self::DelayedAck { credit, .. } => *credit > 0,
        }
    }

    /// We sent a WRTE.
    pub(super) fn sent(&mut self, length: usize) {
        match self {
            Self::Classic { in_flight, .. } => *in_flight = true,
            Self::DelayedAck { credit, .. } => *credit -= length as i64,
        }
    }

    /// An OKAY arrived with this payload: the first one, which accepts a stream, or one for our
    /// WRTE.
    pub(super) fn acknowledged(&mut self, payload: &[u8]) {
        match (self, payload.try_into()) {
            (Self::Classic { in_flight, .. }, _) => *in_flight = false,
            // AOSP allows it to be negative.
            (Self::DelayedAck { credit, .. }, Ok(bytes)) => {
                *credit =
                    (*credit + i64::from(i32::from_le_bytes(bytes))).clamp(-MAX_CREDIT, MAX_CREDIT);
            }
            (Self::DelayedAck { .. }, Err(_)) => {
                tracing::debug!(length = payload.len(), "OKAY without a byte count");
            }
        }
    }
    /// A WRTE arrived, after which `unread` bytes are unread. `false` if it was not allowed and too
    /// much is unread.
    pub(super) fn received(&mut self, length: usize, unread: usize) -> bool {
        match self {
            Self::Classic { owes_okay, .. } => {
                let bears = !*owes_okay || unread <= LEFT_BEHIND;
                *owes_okay = true;
                bears
            }
            Self::DelayedAck { unacknowledged, .. } => {
                *unacknowledged = unacknowledged.saturating_add(length);
                unread <= WINDOW as usize + LEFT_BEHIND
            }
        }
    }

    /// The payload of an OKAY that is due while `unread` bytes are unread, if any; it then counts
    /// as sent.
    pub(super) fn take_due_okay(&mut self, unread: usize) -> Option<Vec<u8>> {
        match self {
            Self::Classic { owes_okay, .. } => {
                let due = *owes_okay && unread <= READ_AHEAD;
                *owes_okay &= !due;
                due.then(Vec::new)
            }
            Self::DelayedAck { unacknowledged, .. } => {
                let read = unacknowledged.saturating_sub(unread);
                if read == 0 || (unread > 0 && read < STEP) {
                    return None;
                }
                *unacknowledged -= read;
                // Received data is limited far below 2 GiB.
                Some(i32::try_from(read).unwrap_or(i32::MAX).to_le_bytes().to_vec())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::streams::OUTBOX;
    use super::super::tests::{Pair, read_all, take_sent, tell};
    use super::super::{
        Connection, Event, MAX_SENT_PAYLOAD, ReadResult, Role, Settings, WriteResult,
    };
    use super::*;
    use crate::wire::banner::{Banner, Features};
    use crate::wire::packet::{self, Command};
    use std::time::Instant;

    const THIRTY_TWO_MIB: [u8; 4] = [0, 0, 0, 2];

    fn both_count(settings: &mut Settings) {
        settings.banner.features = Features::read("shell_v2,delayed_ack");
    }

    /// An online connection with flow control in bytes, and nothing left to send.
    fn online(role: Role) -> Connection {
        let banner = Banner::host(Features::read("delayed_ack"));
        let mut end = Connection::new(role, Settings::phone(banner), Instant::now());
        let greeting = b"x::features=shell_v2,delayed_ack";
        tell(&mut end, Command::Cnxn, packet::VERSION, 1 << 20, greeting);
        take_sent(&mut end);
        while end.poll_event().is_some() {}
        end
    }

    #[test]
    fn bytes_are_counted_only_if_both_ends_announce_it() {
        for (theirs, window) in [("shell_v2", 0), ("delayed_ack", WINDOW)] {
            let banner = Banner::host(Features::read("delayed_ack"));
            let mut host = Connection::new(Role::Host, Settings::host(banner), Instant::now());
            let greeting = format!("device::features={theirs}");
            tell(&mut host, Command::Cnxn, packet::VERSION, 1 << 20, greeting.as_bytes());
            take_sent(&mut host);
            let id = host.open("exec:x", Instant::now()).unwrap();
            let open = take_sent(&mut host).remove(0);
            assert_eq!((open.1, open.2), (id, window));
        }
    }

    #[test]
    fn host_grants_a_window_and_respects_its_credit() {
        let mut host = online(Role::Host);
        let id = host.open("exec:cat", Instant::now()).unwrap();
        take_sent(&mut host);
        host.write(id, b"early");
        assert_eq!(take_sent(&mut host), [], "nothing may be sent before the phone says how much");
        tell(&mut host, Command::Okay, 9, id, &6_i32.to_le_bytes());
        host.write(id, b"more");
        assert_eq!(
            take_sent(&mut host),
            [(Command::Wrte, id, 9, b"early".to_vec()), (Command::Wrte, id, 9, b"more".to_vec())],
            "credit for one byte allows a packet"
        );
        host.write(id, b"last");
        tell(&mut host, Command::Okay, 9, id, &3_i32.to_le_bytes());
        assert_eq!(take_sent(&mut host), [], "6 - 5 - 4 + 3 is nothing");
        tell(&mut host, Command::Okay, 9, id, &1_i32.to_le_bytes());
        assert_eq!(take_sent(&mut host), [(Command::Wrte, id, 9, b"last".to_vec())]);
    }

    #[test]
    fn phone_grants_a_window_and_acknowledges_reads() {
        let mut phone = online(Role::Phone);
        tell(&mut phone, Command::Open, 5, 32 << 20, b"exec:cat\0");
        let Some(Event::StreamOpened { id, .. }) = phone.poll_event() else {
            panic!("not offered")
        };
        assert!(phone.accept(id));
        assert_eq!(take_sent(&mut phone), [(Command::Okay, id, 5, WINDOW.to_le_bytes().to_vec())]);
        tell(&mut phone, Command::Wrte, 5, id, b"one");
        tell(&mut phone, Command::Wrte, 5, id, b"three");
        assert_eq!(take_sent(&mut phone), [], "nobody has read it");
        assert_eq!(read_all(&mut phone, id).0, b"onethree");
        assert_eq!(take_sent(&mut phone), [(Command::Okay, id, 5, 8_i32.to_le_bytes().to_vec())]);
        // It has 32 MiB of credit, and uses one.
        let mut sent = 0;
        while let WriteResult::Queued(taken) = phone.write(id, &vec![7; MAX_SENT_PAYLOAD]) {
            sent += taken;
        }
        let on_the_way: usize = take_sent(&mut phone).iter().map(|packet| packet.3.len()).sum();
        assert_eq!(on_the_way as i64, MAX_CREDIT);
        assert_eq!(sent, on_the_way + OUTBOX);
    }

    #[test]
    fn deviating_flow_control_is_refused() {
        let mut phone = online(Role::Phone);
        tell(&mut phone, Command::Open, 5, 0, b"exec:cat\0");
        assert_eq!(take_sent(&mut phone), [(Command::Clse, 0, 5, vec![])]);
        let mut plain = Pair::with(|_| {}, usize::MAX);
        tell(&mut plain.phone, Command::Open, 5, 32 << 20, b"exec:cat\0");
        assert_eq!(take_sent(&mut plain.phone), [(Command::Clse, 0, 5, vec![])]);
    }

    #[test]
    fn negative_okay_counts_and_malformed_okay_is_ignored() {
        let mut host = online(Role::Host);
        let id = host.open("exec:cat", Instant::now()).unwrap();
        take_sent(&mut host);
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
        assert_eq!(take_sent(&mut host), []);
        tell(&mut host, Command::Okay, 9, id, &2_i32.to_le_bytes());
        assert_eq!(take_sent(&mut host), [(Command::Wrte, id, 9, b"x".to_vec())]);
    }

    #[test]
    fn idle_reader_stops_a_byte_counting_writer() {
        let mut pair = Pair::with(both_count, usize::MAX);
        let (at_host, at_phone) = pair.open("exec:yes");
        let (block, mut written) = (vec![7; 100_000], 0);
        while let WriteResult::Queued(taken) = pair.phone.write(at_phone, &block) {
            written += taken;
            pair.exchange();
            assert!(written <= WINDOW as usize + OUTBOX + MAX_SENT_PAYLOAD);
        }
        let mut read = 0;
        while let (data, ReadResult::Wait) = read_all(&mut pair.host, at_host)
            && !data.is_empty()
        {
            read += data.len();
            pair.exchange();
        }
        assert_eq!(read, written);
        assert!(matches!(pair.phone.write(at_phone, &block), WriteResult::Queued(_)));
    }

    #[test]
    fn writer_beyond_its_credit_loses_its_stream() {
        let mut phone = online(Role::Phone);
        tell(&mut phone, Command::Open, 5, 1, b"exec:cat\0");
        let Some(Event::StreamOpened { id, .. }) = phone.poll_event() else {
            panic!("not offered")
        };
        phone.accept(id);
        let max = WINDOW as usize + LEFT_BEHIND;
        for _ in 0..=max / (1 << 20) {
            tell(&mut phone, Command::Wrte, 5, id, &vec![0; 1 << 20]);
        }
        let (data, end) = read_all(&mut phone, id);
        assert_eq!(data.len(), max);
        assert!(matches!(end, ReadResult::Broken(crate::Error::Protocol { .. })));
    }
}

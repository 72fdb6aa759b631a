//! Two state machines back to back, or one fed by hand: no sockets, no waiting. Authentication is
//! tested next to its code.

use super::flow_control::{LEFT_BEHIND, READ_AHEAD};
use super::packets::MAX_ANSWERS;
use super::streams::OUTBOX;
use super::*;
use crate::wire::banner::Features;
use crate::wire::packet::emit;
use proptest::prelude::*;

/// A host and a phone whose bytes are transferred by hand.
pub(super) struct Pair {
    pub(super) host: Connection,
    pub(super) phone: Connection,
    now: Instant,
    /// The number of bytes transferred at once.
    piece: usize,
    to_phone: BytesMut,
    to_host: BytesMut,
}

impl Pair {
    fn new() -> Self {
        Self::with(|_| {}, usize::MAX)
    }

    pub(super) fn with(change: impl Fn(&mut Settings), piece: usize) -> Self {
        let now = Instant::now();
        let mut host = Settings::host(Banner::host(Features::read("shell_v2")));
        let mut phone = Settings::phone(Banner::phone("vp", "Model", "vp", Features::read("cmd")));
        change(&mut host);
        change(&mut phone);
        let mut pair = Self {
            host: Connection::new(Role::Host, host, now),
            phone: Connection::new(Role::Phone, phone, now),
            now,
            piece,
            to_phone: BytesMut::new(),
            to_host: BytesMut::new(),
        };
        pair.exchange();
        pair
    }

    /// Transfers bytes both ways until neither end has more to send.
    pub(super) fn exchange(&mut self) {
        loop {
            let mut wire = BytesMut::new();
            self.host.transmit(&mut wire);
            let mut back = BytesMut::new();
            self.phone.transmit(&mut back);
            if wire.is_empty() && back.is_empty() {
                return;
            }
            for piece in wire.chunks(self.piece) {
                self.to_phone.extend_from_slice(piece);
                self.phone.receive(&mut self.to_phone, self.now);
            }
            for piece in back.chunks(self.piece) {
                self.to_host.extend_from_slice(piece);
                self.host.receive(&mut self.to_host, self.now);
            }
        }
    }

    /// Opens a stream and accepts it. Returns its ids at the host and at the phone.
    pub(super) fn open(&mut self, service: &str) -> (u32, u32) {
        let id = self.host.open(service, self.now).unwrap();
        self.exchange();
        let offered = offered(&mut self.phone).unwrap();
        assert_eq!(offered.1, service);
        assert!(self.phone.accept(offered.0));
        self.exchange();
        assert_eq!(self.host.opened(id, service), Some(Ok(())));
        (id, offered.0)
    }
}

/// Stock adb offers 1 MiB to everyone. It disconnects from an old phone that sends more than the 4
/// KiB of its own CNXN.
#[test]
fn end_with_small_packets_sends_small_packets() {
    let small = |settings: &mut Settings| {
        if settings.greeting.is_none() {
            settings.max_payload = packet::MIN_MAX_PAYLOAD;
        }
    };
    let mut pair = Pair::with(small, usize::MAX);
    let (_, at_phone) = pair.open("shell:x");
    pair.phone.write(at_phone, &[7; 10_000]);
    let sizes: Vec<usize> =
        take_sent(&mut pair.phone).into_iter().map(|(.., payload)| payload.len()).collect();
    assert_eq!(sizes, [packet::MIN_MAX_PAYLOAD]);
}

fn offered(connection: &mut Connection) -> Option<(u32, String)> {
    while let Some(event) = connection.poll_event() {
        if let Event::StreamOpened { id, service } = event {
            return Some((id, service));
        }
    }
    None
}

/// Everything that can be read now, and how it ended.
pub(super) fn read_all(connection: &mut Connection, id: u32) -> (Vec<u8>, ReadResult) {
    let mut all = Vec::new();
    loop {
        match connection.read(id, 1000) {
            ReadResult::Data(data) => all.extend_from_slice(&data),
            end => return (all, end),
        }
    }
}

fn packets(bytes: &mut BytesMut) -> Vec<(Command, u32, u32, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(packet) = Packet::decode(bytes, packet::MAX_PAYLOAD).unwrap() {
        all.push((packet.command, packet.arg0, packet.arg1, packet.payload.to_vec()));
    }
    all
}

/// The packets that an end sends next.
pub(super) fn take_sent(connection: &mut Connection) -> Vec<(Command, u32, u32, Vec<u8>)> {
    let mut out = BytesMut::new();
    connection.transmit(&mut out);
    packets(&mut out)
}

/// Delivers one packet to an end.
pub(super) fn tell(
    connection: &mut Connection,
    command: Command,
    arg0: u32,
    arg1: u32,
    payload: &[u8],
) {
    let mut bytes = BytesMut::new();
    emit(&mut bytes, command, arg0, arg1, payload, true);
    connection.receive(&mut bytes, Instant::now());
    assert!(bytes.is_empty());
}

/// A host that is online, with its CNXN already taken.
pub(super) fn online_host() -> Connection {
    let mut host = Connection::new(
        Role::Host,
        Settings::host(Banner::host(Features::default())),
        Instant::now(),
    );
    tell(&mut host, Command::Cnxn, packet::VERSION, 1 << 20, b"device::features=cmd");
    assert_eq!(take_sent(&mut host).len(), 1);
    while host.poll_event().is_some() {}
    host
}

#[test]
fn both_ends_learn_the_peers_banner() {
    for piece in [1, 7, usize::MAX] {
        let pair = Pair::with(|_| {}, piece);
        assert_eq!(pair.host.peer().unwrap().model(), Some("Model"));
        assert!(pair.host.peer().unwrap().features.has("cmd"));
        assert!(pair.phone.peer().unwrap().features.has("shell_v2"));
        assert_eq!(pair.host.deadline(), None);
    }
}

#[test]
fn data_flows_both_ways_at_any_split() {
    for piece in [1, 5, 4096, usize::MAX] {
        let mut pair = Pair::with(|_| {}, piece);
        let (at_host, at_phone) = pair.open("shell:cat");
        for round in 0..3u8 {
            assert_eq!(pair.host.write(at_host, &[round, 1]), WriteResult::Queued(2));
            assert_eq!(pair.phone.write(at_phone, &[round, 2, 3]), WriteResult::Queued(3));
        }
        pair.exchange();
        let (data, end) = read_all(&mut pair.phone, at_phone);
        assert_eq!((data, end), (vec![0, 1, 1, 1, 2, 1], ReadResult::Wait));
        let (data, end) = read_all(&mut pair.host, at_host);
        assert_eq!((data, end), (vec![0, 2, 3, 1, 2, 3, 2, 2, 3], ReadResult::Wait));
    }
}

#[test]
fn many_streams_share_the_connection() {
    let mut pair = Pair::new();
    let streams: Vec<_> = (0..50).map(|n| pair.open(&format!("shell:{n}"))).collect();
    for (n, (at_host, _)) in streams.iter().enumerate() {
        pair.host.write(*at_host, format!("to {n}").as_bytes());
    }
    pair.exchange();
    for (n, (_, at_phone)) in streams.iter().enumerate().rev() {
        assert_eq!(read_all(&mut pair.phone, *at_phone).0, format!("to {n}").into_bytes());
    }
}

#[test]
fn stream_has_one_unacknowledged_write_at_a_time() {
    let mut host = online_host();
    let id = host.open("shell:cat", Instant::now()).unwrap();
    tell(&mut host, Command::Okay, 9, id, &[]);
    take_sent(&mut host);
    host.write(id, b"one");
    host.write(id, b"two");
    host.write(id, b"three");
    assert_eq!(take_sent(&mut host), [(Command::Wrte, id, 9, b"one".to_vec())]);
    tell(&mut host, Command::Okay, 9, id, &[]);
    assert_eq!(take_sent(&mut host), [(Command::Wrte, id, 9, b"twothree".to_vec())]);
}

#[test]
fn idle_reader_stops_the_writer() {
    let mut pair = Pair::new();
    let (at_host, at_phone) = pair.open("exec:yes");
    let block = vec![7; 100_000];
    let mut written = 0;
    for _ in 0..100 {
        if let WriteResult::Queued(n) = pair.phone.write(at_phone, &block) {
            written += n;
        }
        pair.exchange();
    }
    assert_eq!(pair.phone.write(at_phone, &block), WriteResult::Full);
    assert!(written <= OUTBOX + 2 * MAX_SENT_PAYLOAD + READ_AHEAD, "{written} bytes are in flight");

    let mut read = 0;
    loop {
        let (data, _) = read_all(&mut pair.host, at_host);
        if data.is_empty() {
            break;
        }
        read += data.len();
        pair.exchange();
    }
    assert_eq!(read, written);
    assert!(matches!(pair.phone.write(at_phone, &block), WriteResult::Queued(_)));
}

#[test]
fn unread_stream_does_not_block_another() {
    let mut pair = Pair::new();
    let (_, stuck) = pair.open("exec:yes");
    let (at_host, lively) = pair.open("exec:date");
    for _ in 0..20 {
        pair.phone.write(stuck, &vec![0; MAX_SENT_PAYLOAD]);
        pair.exchange();
    }
    pair.phone.write(lively, b"now");
    pair.exchange();
    assert_eq!(read_all(&mut pair.host, at_host).0, b"now");
}

#[test]
fn queued_data_arrives_before_the_close() {
    let mut pair = Pair::new();
    let (at_host, at_phone) = pair.open("exec:cat big");
    let big = vec![42; OUTBOX + MAX_SENT_PAYLOAD];
    assert_eq!(pair.phone.write(at_phone, &big), WriteResult::Queued(big.len()));
    pair.phone.release(at_phone);
    let mut read = Vec::new();
    let end = loop {
        pair.exchange();
        match read_all(&mut pair.host, at_host) {
            (data, ReadResult::Wait) => read.extend(data),
            (data, end) => {
                read.extend(data);
                break end;
            }
        }
    };
    assert_eq!(end, ReadResult::End);
    assert_eq!(read.len(), big.len());
    assert_eq!(pair.phone.streams(), 0, "a released stream is forgotten once it is sent");
}

#[test]
fn data_and_close_in_one_batch_both_arrive() {
    // Real adbd sends CLSE right after the last WRTE, without waiting for the OKAY.
    let mut host = online_host();
    let id = host.open("exec:date", Instant::now()).unwrap();
    take_sent(&mut host);
    let mut bytes = BytesMut::new();
    emit(&mut bytes, Command::Okay, 5, id, &[], true);
    emit(&mut bytes, Command::Wrte, 5, id, b"noon", true);
    emit(&mut bytes, Command::Clse, 5, id, &[], true);
    host.receive(&mut bytes, Instant::now());
    assert_eq!(read_all(&mut host, id), (b"noon".to_vec(), ReadResult::End));
    assert_eq!(
        take_sent(&mut host),
        [(Command::Clse, id, 5, vec![])],
        "CLSE is answered, WRTE needs none"
    );
    assert_eq!(host.write(id, b"late"), WriteResult::Closed);
}

#[test]
fn finishing_keeps_received_data_readable() {
    let mut pair = Pair::new();
    let (at_host, at_phone) = pair.open("shell:cat");
    pair.phone.write(at_phone, b"kept");
    pair.exchange();
    pair.host.finish(at_host);
    pair.exchange();
    assert_eq!(pair.host.write(at_host, b"x"), WriteResult::Closed);
    assert_eq!(read_all(&mut pair.host, at_host), (b"kept".to_vec(), ReadResult::End));
    assert_eq!(read_all(&mut pair.phone, at_phone), (vec![], ReadResult::End));
}

#[test]
fn a_refused_service_says_so() {
    let mut pair = Pair::new();
    let id = pair.host.open("nosuch:", pair.now).unwrap();
    pair.exchange();
    let (at_phone, _) = offered(&mut pair.phone).unwrap();
    pair.phone.refuse(at_phone);
    pair.exchange();
    assert!(matches!(pair.host.opened(id, "nosuch:"), Some(Err(Error::Refused { .. }))));
    pair.host.release(id);
    assert_eq!((pair.host.streams(), pair.phone.streams()), (0, 0));
}

#[test]
fn stream_dropped_while_opening_closes_at_the_phone() {
    let mut pair = Pair::new();
    let id = pair.host.open("shell:sleep 9", pair.now).unwrap();
    pair.host.release(id);
    pair.exchange();
    let (at_phone, _) = offered(&mut pair.phone).unwrap();
    assert!(pair.phone.accept(at_phone));
    pair.exchange();
    assert!(pair.phone.is_ended(at_phone));
    assert_eq!(pair.host.streams(), 0);
}

#[test]
fn data_written_while_opening_is_sent_on_accept() {
    let mut pair = Pair::new();
    let id = pair.host.open("shell:cat", pair.now).unwrap();
    pair.host.write(id, b"early");
    pair.exchange();
    let (at_phone, _) = offered(&mut pair.phone).unwrap();
    pair.phone.write(at_phone, b"welcome");
    pair.phone.finish(at_phone);
    assert!(pair.phone.accept(at_phone));
    pair.exchange();
    assert_eq!(read_all(&mut pair.host, id), (b"welcome".to_vec(), ReadResult::End));
}

#[test]
fn stray_packets_get_adbs_replies() {
    let check = |command, arg0, arg1, answer: &[(Command, u32, u32, Vec<u8>)]| {
        let mut host = online_host();
        tell(&mut host, command, arg0, arg1, b"");
        assert_eq!(take_sent(&mut host), answer, "{command:?}({arg0}, {arg1})");
        assert_eq!(host.ended(), None);
    };
    check(Command::Okay, 5, 77, &[(Command::Clse, 77, 5, vec![])]);
    check(Command::Okay, 0, 77, &[]);
    check(Command::Wrte, 5, 77, &[]);
    check(Command::Clse, 5, 77, &[]);
    check(Command::Clse, 5, 0, &[]);
    check(Command::Sync, 1, 1, &[]);
    check(Command::Auth, 1, 0, &[]);
    check(Command::Open, 0, 0, &[]);
    check(Command::Open, 5, 0, &[(Command::Clse, 0, 5, vec![])]);
}

#[test]
fn packet_with_a_foreign_stream_id_is_ignored() {
    let mut host = online_host();
    let id = host.open("shell:", Instant::now()).unwrap();
    tell(&mut host, Command::Okay, 5, id, &[]);
    tell(&mut host, Command::Wrte, 6, id, b"not ours");
    tell(&mut host, Command::Clse, 6, id, &[]);
    assert_eq!(read_all(&mut host, id), (vec![], ReadResult::Wait));
    tell(&mut host, Command::Clse, 0, id, &[]);
    assert_eq!(read_all(&mut host, id), (vec![], ReadResult::End), "id 0 closes any stream");
}

#[test]
fn ended_services_leftover_data_arrives_unacknowledged() {
    let mut host = online_host();
    let id = host.open("exec:cat big", Instant::now()).unwrap();
    tell(&mut host, Command::Okay, 5, id, &[]);
    take_sent(&mut host);
    for n in 0..4u8 {
        tell(&mut host, Command::Wrte, 5, id, &vec![n; 2 * READ_AHEAD]);
    }
    tell(&mut host, Command::Clse, 5, id, &[]);
    let (data, end) = read_all(&mut host, id);
    assert_eq!(data, [0, 1, 2, 3].map(|n| vec![n; 2 * READ_AHEAD]).concat());
    assert_eq!(end, ReadResult::End);
    assert_eq!(take_sent(&mut host), [(Command::Clse, id, 5, vec![])]);
}

#[test]
fn unsolicited_data_is_acknowledged_after_reading() {
    let mut host = online_host();
    let id = host.open("exec:cat big", Instant::now()).unwrap();
    tell(&mut host, Command::Okay, 5, id, &[]);
    take_sent(&mut host);
    tell(&mut host, Command::Wrte, 5, id, &vec![0; READ_AHEAD + 1]);
    tell(&mut host, Command::Wrte, 5, id, b"more");
    assert_eq!(take_sent(&mut host), []);
    read_all(&mut host, id);
    assert_eq!(take_sent(&mut host), [(Command::Okay, id, 5, vec![])]);
}

#[test]
fn writer_ignoring_flow_control_loses_its_stream() {
    let mut host = online_host();
    let id = host.open("exec:yes", Instant::now()).unwrap();
    tell(&mut host, Command::Okay, 5, id, &[]);
    let max = LEFT_BEHIND / READ_AHEAD;
    for _ in 0..=max {
        tell(&mut host, Command::Wrte, 5, id, &vec![0; READ_AHEAD]);
    }
    let (data, end) = read_all(&mut host, id);
    assert_eq!(data.len(), max * READ_AHEAD, "no more than that is kept");
    assert!(matches!(end, ReadResult::Broken(Error::Protocol { .. })));

    assert_eq!(host.ended(), None, "the other streams live on");
}

#[test]
fn writer_of_single_bytes_is_stopped() {
    let mut host = online_host();
    let id = host.open("exec:yes", Instant::now()).unwrap();
    tell(&mut host, Command::Okay, 5, id, &[]);
    take_sent(&mut host);
    let mut written = 0;
    loop {
        tell(&mut host, Command::Wrte, 5, id, b"y");
        written += 1;
        if take_sent(&mut host).is_empty() {
            break;
        }
        assert!(written <= READ_AHEAD, "each costs a byte");
    }
    let ReadResult::Data(piece) = host.read(id, usize::MAX) else { panic!("nothing to read") };
    assert!(piece.len() >= 16 * 1024, "they are coalesced");
    assert_eq!(
        take_sent(&mut host),
        [(Command::Okay, id, 5, vec![])],
        "and continues after reading"
    );
}

#[test]
fn live_ids_are_not_reused() {
    let mut host = online_host();
    host.next_id = u32::MAX;
    let first = host.open("a:", Instant::now()).unwrap();
    let second = host.open("b:", Instant::now()).unwrap();
    host.next_id = u32::MAX;
    let third = host.open("c:", Instant::now()).unwrap();
    assert_eq!((first, second, third), (u32::MAX, 1, 2), "0 names no stream");
}

#[test]
fn streams_are_limited_at_both_ends() {
    let mut pair = Pair::with(|settings| settings.max_streams = 2, usize::MAX);
    pair.open("a:");
    pair.open("b:");
    assert!(matches!(pair.host.open("c:", pair.now), Err(Error::Refused { .. })));
    tell(&mut pair.phone, Command::Open, 9, 0, b"c:\0");
    assert_eq!(take_sent(&mut pair.phone), [(Command::Clse, 0, 9, vec![])]);
}

#[test]
fn opening_and_closing_in_a_loop_hits_the_limit() {
    let mut pair = Pair::with(|settings| settings.max_streams = 2, usize::MAX);
    for theirs in 1..=5 {
        tell(&mut pair.phone, Command::Open, theirs, 0, b"a:\0");
        let id = pair.phone.next_id - 1;
        tell(&mut pair.phone, Command::Clse, theirs, id, b"");
    }
    let offers: Vec<_> = std::iter::from_fn(|| offered(&mut pair.phone)).collect();
    assert_eq!(offers.len(), 2);
    assert!(!pair.phone.accept(offers[0].0), "it is gone already");
    take_sent(&mut pair.phone);
    for (id, _) in offers {
        pair.phone.release(id);
    }
    assert_eq!(take_sent(&mut pair.phone), [], "what they closed is not refused");
    assert_eq!(pair.phone.streams(), 0);
}

#[test]
fn handshake_times_out() {
    let now = Instant::now();
    let mut host = Connection::new(Role::Host, Settings::host(Banner::default()), now);
    let deadline = host.deadline().unwrap();
    host.tick(deadline - Duration::from_millis(1));
    assert_eq!(host.ended(), None);
    host.tick(deadline);
    assert!(matches!(host.ended(), Some(Error::TimedOut { .. })));
    assert_eq!(host.poll_event(), Some(Event::Ended));
}

#[test]
fn old_peer_gets_checksums_and_corruption_is_detected() {
    let mut pair = Pair::with(|settings| settings.version = packet::VERSION_WITH_SUMS, usize::MAX);
    let (at_host, at_phone) = pair.open("shell:cat");
    pair.host.write(at_host, b"sum me");
    let mut wire = BytesMut::new();
    pair.host.transmit(&mut wire);
    let mut damaged = wire.clone();
    pair.phone.receive(&mut wire, pair.now);
    assert_eq!(read_all(&mut pair.phone, at_phone).0, b"sum me");
    damaged[packet::HEADER] ^= 1;
    pair.phone.receive(&mut damaged, pair.now);
    assert!(pair.phone.ended().unwrap().to_string().contains("wrong checksum"));
}

#[test]
fn old_peer_gets_small_payloads() {
    let mut host = Connection::new(Role::Host, Settings::host(Banner::default()), Instant::now());
    tell(&mut host, Command::Cnxn, packet::VERSION_WITH_SUMS, 4096, b"device::\0");
    let id = host.open("exec:cat", Instant::now()).unwrap();
    tell(&mut host, Command::Okay, 5, id, &[]);
    take_sent(&mut host);
    host.write(id, &[0; 10_000]);
    assert_eq!(take_sent(&mut host)[0].3.len(), 4096);
    assert!(matches!(host.open(&"x".repeat(4096), Instant::now()), Err(Error::TooLarge { .. })));
}

#[test]
fn second_cnxn_breaks_streams_and_continues() {
    let mut pair = Pair::new();
    let (_, at_phone) = pair.open("shell:");
    tell(&mut pair.phone, Command::Cnxn, packet::VERSION, 1 << 20, b"host::");
    assert!(matches!(
        read_all(&mut pair.phone, at_phone).1,
        ReadResult::Broken(Error::Disconnected { .. })
    ));
    assert!(pair.phone.peer().is_some());
}

#[test]
fn ended_connection_reports_its_error_to_every_stream() {
    let mut pair = Pair::new();
    let (at_host, at_phone) = pair.open("exec:date");
    pair.phone.write(at_phone, b"half");
    pair.exchange();
    let reason = Error::disconnected("cable pulled");
    pair.host.end(reason.clone());
    assert_eq!(
        read_all(&mut pair.host, at_host),
        (b"half".to_vec(), ReadResult::Broken(reason.clone()))
    );
    assert_eq!(pair.host.write(at_host, b"x"), WriteResult::Broken(reason.clone()));
    assert_eq!(pair.host.open("x:", pair.now), Err(reason));
}

#[test]
fn unanswered_open_is_reported_with_its_start() {
    let mut host = online_host();
    assert_eq!(host.unanswered_since(), None);
    let start = Instant::now();
    let id = host.open("shell:", start).unwrap();
    host.open("shell:", start + Duration::from_secs(1)).unwrap();
    host.release(id);
    assert_eq!(host.unanswered_since(), Some(start), "dropped or not, it was never answered");
    tell(&mut host, Command::Clse, 0, id, &[]);
    assert_eq!(host.unanswered_since(), None);
}

#[test]
fn service_name_with_nul_is_not_truncated() {
    let mut host = online_host();
    assert!(matches!(host.open("shell:a\0b", Instant::now()), Err(Error::Refused { .. })));
    assert_eq!(take_sent(&mut host), []);
}

#[test]
fn peer_that_never_reads_replies_is_disconnected() {
    let mut host = online_host();
    for _ in 0..=MAX_ANSWERS {
        tell(&mut host, Command::Okay, 5, 77, &[]);
    }
    assert!(matches!(host.ended(), Some(Error::Protocol { .. })));
}

/// A random packet with a valid header. Ids and sizes are small, so that they often collide.
fn any_packet() -> impl Strategy<Value = (Command, u32, u32, Vec<u8>)> {
    let command = prop::sample::select(vec![
        Command::Cnxn,
        Command::Auth,
        Command::Open,
        Command::Okay,
        Command::Wrte,
        Command::Clse,
        Command::Sync,
    ]);
    (command, 0u32..6, 0u32..6, prop::collection::vec(any::<u8>(), 0..40))
}

proptest! {
    #[test]
    fn garbage_never_panics(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        for role in [Role::Host, Role::Phone] {
            let now = Instant::now();
            let mut connection = Connection::new(role, Settings::phone(Banner::default()), now);
            connection.receive(&mut BytesMut::from(&noise[..]), now);
        }
    }

    #[test]
    fn random_packets_keep_everything_bounded(
        packets in prop::collection::vec(any_packet(), 0..200),
        phone: bool,
        delayed_ack: bool,
    ) {
        let now = Instant::now();
        let role = if phone { Role::Phone } else { Role::Host };
        let features = Features::read(if delayed_ack { "delayed_ack" } else { "cmd" });
        let mut connection = Connection::new(role, Settings::phone(Banner::host(features)), now);
        tell(&mut connection, Command::Cnxn, packet::VERSION, 1 << 20, b"x::features=delayed_ack");
        for round in 0..3 {
            let _ = connection.open(&format!("s{round}:"), now);
        }
        for (command, arg0, arg1, payload) in packets {
            tell(&mut connection, command, arg0, arg1, &payload);
            while let Some(event) = connection.poll_event() {
                match event {
                    Event::StreamOpened { id, .. } if id % 2 == 0 => drop(connection.accept(id)),
                    Event::StreamOpened { id, .. } => connection.refuse(id),
                    Event::Readable(id) if id % 3 == 0 => drop(connection.read(id, 8)),
                    Event::Writable(id) => drop(connection.write(id, b"abc")),
                    _ => {}
                }
            }
            prop_assert!(connection.streams() <= connection.settings.max_streams);
        }
        connection.end(Error::disconnected("done"));
        let ids: Vec<u32> = connection.streams.keys().copied().collect();
        for id in ids {
            let (_, end) = read_all(&mut connection, id);
            prop_assert!(matches!(end, ReadResult::End | ReadResult::Broken(_)));
            connection.release(id);
        }
        prop_assert_eq!(connection.streams(), 0);
    }

    #[test]
    fn written_data_is_read_at_any_split(
        writes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 0..20),
        piece in 1usize..5000,
        delayed_ack: bool,
    ) {
        let count = |settings: &mut Settings| {
            if delayed_ack {
                settings.banner.features = Features::read("delayed_ack");
            }
        };
        let mut pair = Pair::with(count, piece);
        let (at_host, at_phone) = pair.open("exec:cat");
        let mut read = Vec::new();
        for data in &writes {
            prop_assert_eq!(pair.host.write(at_host, data), WriteResult::Queued(data.len()));
            pair.exchange();
            read.extend(read_all(&mut pair.phone, at_phone).0);
        }
        pair.host.release(at_host);
        pair.exchange();
        let (rest, end) = read_all(&mut pair.phone, at_phone);
        read.extend(rest);
        prop_assert_eq!(read, writes.concat());
        prop_assert_eq!(end, ReadResult::End);
    }
}

#[test]
fn host_refuses_every_stream_of_the_phone() {
    let mut host = online_host();
    for name in [&b"tcp:22"[..], b"tcp:22\0", b"", b"\xff"] {
        tell(&mut host, Command::Open, 5, 0, name);
        assert_eq!(take_sent(&mut host), [(Command::Clse, 0, 5, vec![])], "{name:?}");
        assert!(host.poll_event().is_none_or(|event| event == Event::Online), "{name:?}");
    }
    assert_eq!(host.streams(), 0);
}

//! Two links over a pipe: what the loop and its handles add to the state machine.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::wire::packet::{self, Command};
use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A host and a phone over a pipe that holds `room` bytes.
async fn pair(room: usize) -> (Link, Link) {
    let (near, far) = tokio::io::duplex(room);
    let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
    tokio::spawn(driver);
    let (phone, driver) = Link::start(far, Role::Phone, Settings::phone(Banner::default()));
    tokio::spawn(driver);
    host.online().await.unwrap();
    (host, phone)
}

async fn open(host: &Link, phone: &Link) -> (LinkStream, LinkStream) {
    let (at_host, at_phone) =
        tokio::join!(host.open("a:"), async { phone.offered().await.unwrap().accept() });
    (at_host.unwrap(), at_phone)
}

#[tokio::test]
async fn a_stream_carries_bytes_both_ways() {
    for room in [1, 64, 1 << 20] {
        let (host, phone) = pair(room).await;
        let (mut at_host, mut at_phone) = open(&host, &phone).await;
        at_host.write_all(b"ping").await.unwrap();
        let mut four = [0; 4];
        at_phone.read_exact(&mut four).await.unwrap();
        assert_eq!(&four, b"ping");
        at_phone.write_all(b"pong").await.unwrap();
        at_host.read_exact(&mut four).await.unwrap();
        assert_eq!(&four, b"pong");
    }
}

#[tokio::test]
async fn dropped_stream_delivers_written_data() {
    let (host, phone) = pair(4096).await;
    let (mut at_host, mut at_phone) = open(&host, &phone).await;
    let sent = vec![9; 3_000_000];
    let writing = {
        let sent = sent.clone();
        tokio::spawn(async move { at_phone.write_all(&sent).await })
    };
    let mut read = Vec::new();
    at_host.read_to_end(&mut read).await.unwrap();
    writing.await.unwrap().unwrap();
    assert!(read == sent);
}

#[tokio::test]
async fn stream_dropped_with_its_link_delivers_written_data() {
    let (host, phone) = pair(4096).await;
    let (mut at_host, mut at_phone) = open(&host, &phone).await;
    at_host.write_all(&[9; 400_000]).await.unwrap();
    drop(at_host);
    drop(host);
    let mut read = Vec::new();
    at_phone.read_to_end(&mut read).await.unwrap();
    assert_eq!(read.len(), 400_000);
}

#[tokio::test(start_paused = true)]
async fn peer_that_stops_reading_does_not_block_the_loop() {
    // It greets, accepts stream 1, and then neither reads nor disconnects.
    let (near, mut far) = tokio::io::duplex(4096);
    let mut output = BytesMut::new();
    packet::emit(&mut output, Command::Cnxn, packet::VERSION, 1 << 20, b"device::", true);
    packet::emit(&mut output, Command::Okay, 5, 1, &[], true);
    let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
    let driving = tokio::spawn(driver);
    far.write_all(&output[..output.len() - packet::HEADER]).await.unwrap();
    let (at_host, accepted) = tokio::join!(host.open("a:"), async {
        host.online().await.unwrap();
        far.write_all(&output[output.len() - packet::HEADER..]).await
    });
    accepted.unwrap();
    let mut at_host = at_host.unwrap();
    at_host.write_all(&[9; 400_000]).await.unwrap();
    drop((at_host, host));
    let ended = tokio::time::timeout(Duration::from_secs(60), driving).await;
    assert!(matches!(
        ended.expect("the loop is still running").unwrap(),
        Error::Disconnected { .. }
    ));
    drop(far);
}

#[tokio::test]
async fn closed_stream_notifies_reader_and_writer() {
    let (host, phone) = pair(4096).await;
    let (at_host, mut at_phone) = open(&host, &phone).await;
    drop(at_host);
    at_phone.closed().await;
    assert_eq!(at_phone.read(&mut [0; 8]).await.unwrap(), 0);
    let error = at_phone.write_all(b"late").await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn shutdown_ends_both_directions() {
    let (host, phone) = pair(4096).await;
    let (mut at_host, mut at_phone) = open(&host, &phone).await;
    at_host.write_all(b"last words").await.unwrap();
    at_host.shutdown().await.unwrap();
    let mut read = String::new();
    at_phone.read_to_string(&mut read).await.unwrap();
    assert_eq!(read, "last words");
}

#[tokio::test]
async fn discarded_data_is_not_reported_as_flushed() {
    for vanishes in [false, true] {
        let (host, phone) = pair(4096).await;
        let (mut at_host, at_phone) = open(&host, &phone).await;
        // Nobody reads, so the second part has to wait for the OKAY of the first.
        at_host.write_all(&[1; 256 * 1024]).await.unwrap();
        at_host.write_all(&[2; 1024]).await.unwrap();
        if vanishes {
            host.shared.lock().connection.end(Error::disconnected("cable pulled"));
        } else {
            at_phone.finish();
            at_host.closed().await;
        }
        assert!(at_host.flush().await.is_err());
        assert!(at_host.shutdown().await.is_err());
    }
}

#[tokio::test]
async fn dropped_incoming_stream_is_refused() {
    let (host, phone) = pair(4096).await;
    let (opened, ()) =
        tokio::join!(host.open("no:"), async { drop(phone.offered().await.unwrap()) });
    assert!(matches!(opened, Err(Error::Refused { service, .. }) if service == "no:"));
}

#[tokio::test]
async fn disconnect_breaks_every_stream() {
    let (near, far) = tokio::io::duplex(4096);
    let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
    tokio::spawn(driver);
    let (phone, driver) = Link::start(far, Role::Phone, Settings::phone(Banner::default()));
    let driving = tokio::spawn(driver);
    let (mut at_host, _at_phone) = open(&host, &phone).await;
    driving.abort();
    let error = at_host.read(&mut [0; 8]).await.unwrap_err();
    assert!(matches!(Error::from_io(error), Error::Disconnected { .. }));
    assert!(matches!(host.open("b:").await, Err(Error::Disconnected { .. })));
    assert!(phone.offered().await.is_none(), "the dropped end is notified, too");
}

#[tokio::test(start_paused = true)]
async fn handshake_times_out() {
    let (near, _far) = tokio::io::duplex(4096);
    let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
    let (online, ended) = tokio::join!(host.online(), driver);
    assert!(matches!(&ended, Error::TimedOut { after, .. } if after.as_secs() == 10));
    assert_eq!(online, Err(ended));
}

#[tokio::test]
async fn loop_ends_without_users() {
    let (near, far) = tokio::io::duplex(4096);
    let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
    let driving = tokio::spawn(driver);
    let (phone, driver) = Link::start(far, Role::Phone, Settings::phone(Banner::default()));
    tokio::spawn(driver);
    let (at_host, at_phone) = open(&host, &phone).await;
    drop(host);
    let echo = async {
        (&at_host).write_all(b"x").await.unwrap();
        (&at_phone).read(&mut [0; 1]).await.unwrap()
    };
    assert_eq!(echo.await, 1, "a stream keeps its link alive");
    drop(at_host);
    assert!(matches!(driving.await.unwrap(), Error::Disconnected { .. }));
}

#[tokio::test(start_paused = true)]
async fn closing_gives_an_old_peer_time_to_forget_its_host() {
    for (version, expected) in [(packet::VERSION, 0), (packet::VERSION_WITH_SUMS, 100)] {
        let (near, far) = tokio::io::duplex(4096);
        let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
        tokio::spawn(driver);
        let settings = Settings { version, ..Settings::phone(Banner::default()) };
        let (phone, driver) = Link::start(far, Role::Phone, settings);
        let serving = tokio::spawn(driver);
        let (mut at_host, _at_phone) = open(&host, &phone).await;
        let began = tokio::time::Instant::now();
        host.close().await;
        assert_eq!(began.elapsed().as_millis(), expected);
        assert!(serving.is_finished(), "the phone has noticed");
        let error = at_host.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(Error::from_io(error), Error::disconnected("the connection was closed"));
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_an_unpolled_loop_ends_its_connection() {
    let (near, _far) = tokio::io::duplex(64);
    let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
    drop(driver);
    let online = tokio::time::timeout(Duration::from_secs(10), host.online()).await;
    assert!(online.expect("it waits forever").is_err());
}

#[tokio::test]
async fn frames_of_two_writers_never_mix() {
    let (host, phone) = pair(1000).await;
    let (mut at_host, at_phone) = open(&host, &phone).await;
    let at_phone = Arc::new(at_phone);
    let write = |byte: u8| {
        let stream = at_phone.clone();
        tokio::spawn(async move {
            for _ in 0..200 {
                stream.write_frame(&[byte], &[byte; 4999]).await.unwrap();
            }
        })
    };
    let writers = [write(b'a'), write(b'b')];
    drop(at_phone);
    let mut read = Vec::new();
    at_host.read_to_end(&mut read).await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(read.len(), 2 * 200 * 5000);
    assert!(read.chunks(5000).all(|frame| frame.iter().all(|byte| *byte == frame[0])));
}

#[tokio::test]
async fn waiting_tasks_do_not_wake_each_other() {
    let (near, _far) = tokio::io::duplex(4096);
    let (host, driver) = Link::start(near, Role::Host, Settings::host(Banner::default()));
    let host = Arc::new(host);
    let looked = Arc::new(AtomicUsize::new(0));
    let waiting: Vec<_> = (0..100)
        .map(|_| {
            let (host, looked) = (host.clone(), looked.clone());
            tokio::spawn(async move {
                let mut online = pin!(host.online());
                poll_fn(|cx| {
                    looked.fetch_add(1, Ordering::SeqCst);
                    online.as_mut().poll(cx)
                })
                .await
            })
        })
        .collect();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(looked.load(Ordering::SeqCst) < 1000, "they polled {looked:?} times");
    drop(driver);
    for task in waiting {
        assert!(task.await.unwrap().is_err(), "each is notified");
    }
}

//! Connecting to phones that serve one host, that do not answer, and that ask for a key.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::TinyPhone;
use crate::common::owner::Owner;
use thumbwire_adb::{DirectTransport, Error, Key, Transport as _, daemon, run};
use thumbwire_base::Io;
use tokio::io::{AsyncReadExt as _, DuplexStream};
use tokio::time::{Instant, sleep, timeout};

/// An adbd of Android 4.4 over TCP: it registers its host under one name, and neither reads nor
/// closes a connection made while that name is taken.
#[derive(Clone, Default)]
struct OneHost {
    taken: Arc<AtomicBool>,
    ignored: Arc<Mutex<Vec<DuplexStream>>>,
    dials: Arc<AtomicUsize>,
}

impl OneHost {
    fn accept(&self) -> DuplexStream {
        self.dials.fetch_add(1, Ordering::SeqCst);
        let (near, far) = tokio::io::duplex(64 * 1024);
        if self.taken.swap(true, Ordering::SeqCst) {
            self.ignored.lock().unwrap().push(far);
            return near;
        }
        let phone = self.clone();
        tokio::spawn(async move {
            let _ = daemon::serve(far, Arc::new(TinyPhone::default())).await;
            phone.taken.store(false, Ordering::SeqCst);
        });
        near
    }

    fn host(&self) -> DirectTransport {
        let phone = self.clone();
        DirectTransport::with_connector("the old phone", move || {
            std::future::ready(Ok(Box::new(phone.accept()) as Box<dyn Io>))
        })
    }

    fn dials(&self) -> usize {
        self.dials.load(Ordering::SeqCst)
    }
}

async fn answers(host: &DirectTransport) -> Result<(), Error> {
    run(host, "say hello").await.map(|said| assert_eq!(said.stdout, b"hello"))
}

#[tokio::test(start_paused = true)]
async fn dead_connection_is_followed_by_another_after_3_s() {
    let phone = OneHost::default();
    let last = phone.host();
    answers(&last).await.unwrap();
    // The next host comes before the phone has noticed that the last one is gone.
    drop(last);
    let (next, began) = (phone.host(), Instant::now());
    answers(&next).await.unwrap();
    assert_eq!((began.elapsed(), phone.dials()), (Duration::from_secs(3), 3));
}

#[tokio::test(start_paused = true)]
async fn closed_connection_is_noticed_before_the_next_one_comes() {
    let phone = OneHost::default();
    for calls in 1..=20 {
        let (host, began) = (phone.host(), Instant::now());
        answers(&host).await.unwrap();
        assert_eq!((began.elapsed(), phone.dials()), (Duration::ZERO, calls));
        host.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn held_phone_is_reported_within_10_s_and_works_once_it_is_free() {
    let phone = OneHost::default();
    let holder = phone.host();
    answers(&holder).await.unwrap();
    let (host, began) = (phone.host(), Instant::now());
    let error = answers(&host).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "reach the old phone: it accepts connections but did not answer ADB's greeting within 10s"
    );
    assert!(matches!(error, Error::Unanswered { .. }) && !error.may_have_happened());
    assert_eq!(host.last_failure().await, Some(error));
    assert_eq!((began.elapsed(), phone.dials()), (Duration::from_secs(10), 4));
    answers(&holder).await.unwrap();
    holder.close().await;
    answers(&host).await.unwrap();
    assert_eq!(host.last_failure().await, None);
}

#[tokio::test(start_paused = true)]
async fn caller_who_leaves_ends_all_connections() {
    let phone = OneHost { taken: Arc::new(true.into()), ..OneHost::default() };
    let host = phone.host();
    assert!(timeout(Duration::from_secs(5), answers(&host)).await.is_err());
    let ignored = std::mem::take(&mut *phone.ignored.lock().unwrap());
    assert_eq!(ignored.len(), 2);
    for mut far in ignored {
        let mut greeting = Vec::new();
        let left = timeout(Duration::from_secs(60), far.read_to_end(&mut greeting)).await;
        left.expect("it is closed").unwrap();
        assert!(greeting.starts_with(b"CNXN"));
    }
}

#[tokio::test(start_paused = true)]
async fn slow_phone_keeps_its_first_connection() {
    let phone = OneHost::default();
    let dialed = phone.clone();
    let host = DirectTransport::with_connector("the slow phone", move || {
        let (near, mut middle) = tokio::io::duplex(64 * 1024);
        let mut far = dialed.accept();
        tokio::spawn(async move {
            sleep(Duration::from_secs(7)).await;
            let _ = tokio::io::copy_bidirectional(&mut middle, &mut far).await;
        });
        std::future::ready(Ok(Box::new(near) as Box<dyn Io>))
    });
    let began = Instant::now();
    answers(&host).await.unwrap();
    assert_eq!((began.elapsed(), phone.dials()), (Duration::from_secs(7), 3));
}

#[tokio::test(start_paused = true)]
async fn closing_waits_a_second_for_a_phone_that_does_not_close() {
    let phone = OneHost::default();
    let dialed = phone.clone();
    let host = DirectTransport::with_connector("a phone without a cable", move || {
        let (near, mut middle) = tokio::io::duplex(64 * 1024);
        let mut far = dialed.accept();
        tokio::spawn(async move {
            let copying = tokio::io::copy_bidirectional(&mut middle, &mut far);
            let _ = timeout(Duration::from_secs(1), copying).await;
            // The cable is out: no byte and no end passes.
            std::future::pending::<()>().await;
        });
        std::future::ready(Ok(Box::new(near) as Box<dyn Io>))
    });
    answers(&host).await.unwrap();
    sleep(Duration::from_secs(2)).await;
    let began = Instant::now();
    host.close().await;
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    host.close().await;
    assert_eq!(began.elapsed(), Duration::from_secs(1), "there is nothing left to close");
}

/// A phone that takes one connection only, and answers it after some time.
#[tokio::test(start_paused = true)]
async fn slow_phone_that_refuses_further_connections_is_reached() {
    let (near, far) = tokio::io::duplex(4096);
    let near = Mutex::new(Some(near));
    let host = DirectTransport::with_connector("a slow phone", move || {
        let refused = Error::NotReachable { address: "it".into(), reason: "refused".into() };
        let io = near.lock().unwrap().take().ok_or(refused);
        std::future::ready(io.map(|io| Box::new(io) as Box<dyn Io>))
    });
    tokio::spawn(async move {
        sleep(Duration::from_secs(8)).await;
        thumbwire_adb::daemon::serve(far, Arc::new(TinyPhone::modern())).await
    });
    let began = Instant::now();
    answers(&host).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(8));
}

#[tokio::test(start_paused = true)]
async fn phone_that_ends_its_connection_and_refuses_the_next_is_gone() {
    let (near, far) = tokio::io::duplex(4096);
    let near = Mutex::new(Some(near));
    let host = DirectTransport::with_connector("a rebooting phone", move || {
        let refused = Error::NotReachable { address: "it".into(), reason: "refused".into() };
        let io = near.lock().unwrap().take().ok_or(refused);
        std::future::ready(io.map(|io| Box::new(io) as Box<dyn Io>))
    });
    tokio::spawn(async move {
        sleep(Duration::from_secs(5)).await;
        drop(far);
    });
    let began = Instant::now();
    let error = answers(&host).await.unwrap_err();
    assert!(matches!(error, Error::NotReachable { .. }), "{error:?}");
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

/// A second connection right after the first would be ignored by an old phone.
#[tokio::test]
async fn key_is_read_when_the_phone_asks_and_used_on_the_same_connection() {
    let key = Arc::new(Key::generate().unwrap());
    for asks in [false, true] {
        let (owner, _asked) = Owner::new(&[&key]);
        let (dials, reads) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let dialed = dials.clone();
        let host = DirectTransport::with_connector("the phone", move || {
            dialed.fetch_add(1, Ordering::SeqCst);
            let (near, far) = tokio::io::duplex(64 * 1024);
            let phone = Arc::new(TinyPhone::default());
            match asks {
                true => drop(tokio::spawn(daemon::serve_with_auth(far, phone, owner.clone()))),
                false => drop(tokio::spawn(daemon::serve(far, phone))),
            }
            std::future::ready(Ok(Box::new(near) as Box<dyn Io>))
        });
        let (read, source) = (reads.clone(), key.clone());
        let host = host.with_key_source(
            move || {
                read.fetch_add(1, Ordering::SeqCst);
                Some(source.clone())
            },
            "me@here",
        );
        answers(&host).await.unwrap();
        let counts = (dials.load(Ordering::SeqCst), reads.load(Ordering::SeqCst));
        assert_eq!(counts, (1, usize::from(asks)));
    }
}

#[tokio::test]
async fn phone_that_asks_for_a_key_that_cannot_be_read_is_not_authorized() {
    let (owner, _asked) = Owner::new(&[]);
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(daemon::serve_with_auth(far, Arc::new(TinyPhone::default()), owner));
    let host = DirectTransport::from_io(near).with_key_source(|| None, "me@here");
    assert!(matches!(answers(&host).await, Err(Error::Unauthorized { .. })));
}

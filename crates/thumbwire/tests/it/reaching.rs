//! The session and the phones that it reaches: many at once, and those that go, ask for a key, hang or fall silent; what the caller is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use thumbwire::action::{
    Action, Call, Cause, Choice, Failure, Outcome, Perform as _, Shape, Target, Typing,
};
use thumbwire::session::{OurKey, Phones, Session, VIRTUAL};
use thumbwire_adb::daemon::shell::ShellIo;
use thumbwire_adb::daemon::{self, Doorkeeper, Handler, Refused, Services, handler};
use thumbwire_adb::wire::banner::{Banner, Features};
use thumbwire_adb::{AdbServer, Direct, PublicKey, Stream, Transport};
use thumbwire_device::android::Android;
use thumbwire_device::{Acted, AppId, Device as _, Gesture, Key, Point};
use thumbwire_virtual_phone::{Setup, VirtualPhone};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::wire::{MAPS, ask, focused, held, nowhere};

/// A virtual phone on TCP and a session that reaches it by address.
async fn on_tcp() -> (Session, VirtualPhone, String) {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    let session = Session::new(Phones::new(nowhere()), Some(address.clone()));
    (session, phone, address)
}

#[tokio::test]
async fn a_phone_that_vanishes_is_not_connected_and_works_again_once_it_is_back() {
    let (session, phone, address) = on_tcp().await;
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.unplug();
    let asked = Instant::now();
    let failure = ask(&session, Action::Press(Key::Home)).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!(device, address);
    assert!(asked.elapsed() < Duration::from_secs(60), "within the deadline");
    phone.plug();
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test]
async fn a_phone_that_vanishes_while_it_works_says_that_it_may_have_acted() {
    let (session, phone, _) = on_tcp().await;
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    // The phone takes the order and is unplugged before it answers.
    phone.hold();
    let session = Arc::new(session);
    let asking = tokio::spawn({
        let session = Arc::clone(&session);
        async move { ask(&session, Action::Press(Key::Home)).await }
    });
    phone.until_held().await;
    phone.unplug();
    let failure = asking.await.unwrap().unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::Maybe);
    phone.release();
    phone.plug();
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

/// What is logged on this test's thread.
#[derive(Clone, Default)]
struct Logged(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn eleven_phones_are_driven_at_once_by_one_session_and_the_last_brings_a_warning() {
    use tracing_subscriber::util::SubscriberInitExt as _;
    let log = Logged::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _logging = subscriber.set_default();
    let mut phones = Vec::new();
    for seed in 1..=11 {
        let phone = VirtualPhone::new(Setup { seed, ..Setup::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let served = phone.clone();
        tokio::spawn(async move { served.listen(listener).await });
        phones.push((address, phone));
    }
    let session = Session::new(Phones::new(nowhere()), None);
    let drive = async |address: String| {
        let call = Call::within(Duration::from_secs(60)).on(Some(address));
        let launch = Action::Launch(Choice::Id(AppId(MAPS.into())));
        session.perform(&call, launch).await.unwrap();
        let text = Target::text("Search here");
        session.perform(&call, Action::TapElement(text)).await.unwrap();
        let typed = Action::Type(Typing::of(format!("at {}", call.device.as_deref().unwrap())));
        session.perform(&call, typed).await.unwrap();
    };
    let all = phones.iter().map(|(address, _)| drive(address.clone()));
    futures::future::join_all(all).await;
    for (address, phone) in &phones {
        assert_eq!(focused(phone), Some(format!("at {address}")), "each got its own text");
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("WARN").count(), 1, "{log}");
    assert!(log.contains("is phone 11 of this session; up to 10 are recommended"), "{log}");
}

/// A phone that asks for a key; its owner consents when told to.
struct Guarded {
    consents: AtomicBool,
    shown: std::sync::Mutex<Vec<String>>,
}

impl Services for Guarded {
    fn banner(&self) -> Banner {
        Banner::phone("p", "Guarded", "d", Features::read("shell_v2"))
    }

    fn open(&self, _service: &str) -> Result<Handler, Refused> {
        Ok(handler(async |stream| ShellIo::new(stream).control.exit(0).await))
    }
}

impl Doorkeeper for Guarded {
    fn knows(&self, token: &[u8], signature: &[u8]) -> bool {
        let shown = self.shown.lock().unwrap();
        let known = shown.iter().filter_map(|line| PublicKey::read(line).ok());
        self.consents.load(Ordering::SeqCst)
            && known.into_iter().any(|key| key.signed(token, signature))
    }

    fn consents(&self, key: String) -> BoxFuture<'static, bool> {
        self.shown.lock().unwrap().push(key);
        Box::pin(std::future::ready(self.consents.load(Ordering::SeqCst)))
    }
}

#[tokio::test]
async fn a_phone_that_asks_for_a_key_is_shown_ours_and_works_once_its_owner_consents() {
    let guarded = Arc::new(Guarded { consents: false.into(), shown: std::sync::Mutex::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = Arc::clone(&guarded);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(daemon::serve_guarded(stream, served.clone(), served.clone()));
        }
    });
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("adbkey");
    let source = move || thumbwire::key::read_or_make(&file, "me@here").map(Arc::new);
    // The owner's refusal is not told to a host; it is seen by the time that passes.
    let (name, consent) = ("me@here".into(), Duration::from_millis(200));
    let phones = Phones::new(nowhere());
    let phones = phones.with_key(OurKey { source: Box::new(source), name, consent });
    let session = Session::new(phones, None);
    let choose = || Action::UseDevice { device: address.clone(), platform: None };

    let call = Call::within(Duration::from_secs(30));
    let failure = session.perform(&call, choose()).await.unwrap_err();
    assert_eq!(failure.cause, Cause::DeviceNotAuthorized { device: address.clone() });
    assert_eq!(failure.acted, Acted::No);
    assert!(guarded.shown.lock().unwrap()[0].ends_with(" me@here"));

    guarded.consents.store(true, Ordering::SeqCst);
    let Outcome::Using(identity) = ask(&session, choose()).await.unwrap() else { panic!() };
    assert_eq!(identity.model, "Guarded");
    let shown = guarded.shown.lock().unwrap();
    assert!(shown.iter().all(|key| *key == shown[0]), "the same key each time");
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_falls_silent_is_not_connected_within_the_deadline() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.silence(true);
    let asked = Instant::now();
    let call = Call::within(Duration::from_secs(10));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::Maybe);
    assert!(asked.elapsed() <= Duration::from_secs(10), "{:?}", asked.elapsed());
    phone.silence(false);
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_is_only_slow_times_out_and_stays_connected() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.hold();
    let call = Call::within(Duration::from_secs(10));
    let failure = session.perform(&call, Action::LOOK).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::TimedOut { .. }), "{failure:?}");
    phone.release();
    ask(&session, Action::LOOK).await.unwrap();
}

#[tokio::test]
async fn a_cancelled_call_gives_way_at_once() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.hold();
    let call = Call::within(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let (done, ()) = tokio::join!(session.perform(&call, Action::LOOK), async {
        phone.until_held().await;
        cancelled.cancel();
    });
    assert_eq!(done.unwrap_err().cause, Cause::Cancelled);
    phone.release();
    ask(&session, Action::LOOK).await.unwrap();
}

/// Something that takes connections and never says a word.
async fn hole() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[tokio::test]
async fn an_adb_server_that_hangs_holds_up_no_call_to_another_phone() {
    let (_hole, server) = hole().await;
    let phone = VirtualPhone::new(Setup::default());
    let session = Session::new(Phones::new(AdbServer::new(server)).with_virtual(phone), None);
    let waiting = ask(&session, Action::Screenshot(Shape::default()));
    let using = async {
        // Asked after the other call has begun to wait.
        tokio::task::yield_now().await;
        let call = Call::within(Duration::from_secs(2));
        let action = Action::UseDevice { device: VIRTUAL.into(), platform: None };
        session.perform(&call, action).await
    };
    tokio::select! {
        biased;
        done = waiting => panic!("{done:?}"),
        used = using => assert!(matches!(used, Ok(Outcome::Using(_))), "{used:?}"),
    }
}

#[tokio::test]
async fn a_phone_that_never_greets_is_not_connected_and_nothing_was_done() {
    let (_hole, address) = hole().await;
    let session = Session::new(Phones::new(nowhere()), Some(address.clone()));
    let call = Call::within(Duration::from_millis(400));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!((device, failure.acted), (address, Acted::No));
}

#[tokio::test]
async fn choosing_a_phone_that_never_greets_does_not_blame_the_chosen_one() {
    let (_hole, address) = hole().await;
    let (session, _phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    let call = Call::within(Duration::from_millis(400));
    let action = Action::UseDevice { device: address.clone(), platform: None };
    let failure = session.perform(&call, action).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!(device, address);
}

#[tokio::test]
async fn a_phone_named_by_its_address_needs_no_adb_server_that_is_well() {
    use tokio::io::AsyncWriteExt as _;
    let (listener, server) = hole().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request").await;
        }
    });
    let (_, _phone, address) = on_tcp().await;
    let session = Session::new(Phones::new(AdbServer::new(server)), Some(address));
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test]
async fn a_phone_lost_before_the_tap_went_out_says_that_nothing_was_done() {
    let (session, phone, _) = on_tcp().await;
    ask(&session, Action::LOOK).await.unwrap();
    phone.hold();
    let tap = Action::Touch(Gesture::Tap { at: Point { x: 5, y: 5 } });
    let (done, ()) = tokio::join!(ask(&session, tap), async {
        // It is asked for the size of its screen first.
        phone.until_held().await;
        phone.unplug();
    });
    let failure = done.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::No);
}

#[tokio::test]
async fn a_call_cancelled_before_its_turn_says_that_nothing_was_done() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.hold();
    let call = Call::within(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let first = ask(&session, Action::Press(Key::Home));
    let second = async {
        tokio::join!(session.perform(&call, Action::Press(Key::Back)), async {
            phone.until_held().await;
            cancelled.cancel();
        })
    };
    tokio::select! {
        biased;
        done = first => panic!("{done:?}"),
        (done, ()) = second => {
            let expected = Failure { cause: Cause::Cancelled, acted: Acted::No };
            assert_eq!(done.unwrap_err(), expected);
        }
    }
}

#[tokio::test]
async fn the_virtual_phone_is_not_taken_silently_though_it_was_named_once() {
    let phone = VirtualPhone::new(Setup::default());
    let session = Session::new(Phones::new(nowhere()).with_virtual(phone), None);
    let failure = ask(&session, Action::Press(Key::Home)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::NoDeviceChosen { .. }), "{failure:?}");
}

/// A way to a phone that is cut after some openings.
struct CutAfter {
    way: Direct,
    left: AtomicUsize,
}

#[async_trait]
impl Transport for CutAfter {
    async fn open(&self, service: &str) -> Result<Stream, thumbwire_adb::Error> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_err() {
            let (place, reason) = ("the phone".into(), "unplugged".into());
            return Err(thumbwire_adb::Error::NotReachable { place, reason });
        }
        self.way.open(service).await
    }
    async fn features(&self) -> Result<Features, thumbwire_adb::Error> {
        self.way.features().await
    }
    async fn banner(&self) -> Result<Banner, thumbwire_adb::Error> {
        self.way.banner().await
    }
}

#[tokio::test]
async fn a_phone_lost_in_the_middle_of_a_text_says_that_some_was_typed() {
    for (left, acted) in [(0, Acted::No), (1, Acted::Maybe)] {
        let phone = VirtualPhone::new(Setup::default());
        let way = CutAfter { way: Direct::over(phone.in_memory()), left: AtomicUsize::new(left) };
        let device = Android::attach("cut", Arc::new(way)).await.unwrap();
        let error = device.type_text("user\nsecret").await.unwrap_err();
        assert!(matches!(error, thumbwire_device::Error::NotConnected { .. }), "{error}");
        assert_eq!(error.acted(), acted);
    }
}

#[tokio::test]
async fn what_answers_but_is_no_phone_is_not_connected() {
    use tokio::io::AsyncWriteExt as _;
    let (listener, address) = hole().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let session = Session::new(Phones::new(nowhere()), Some(address));
    let failure = ask(&session, Action::Screenshot(Shape::default())).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
}

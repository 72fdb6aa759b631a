//! The session and its phones: many at once, and phones that disconnect, require a key, hang or
//! stop responding; what the caller learns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use thumbwire_adb::daemon::shell::ShellIo;
use thumbwire_adb::daemon::{self, Handler, HostAuthorizer, ServiceRefused, Services, handler};
use thumbwire_adb::wire::banner::{Banner, Features};
use thumbwire_adb::{AdbServer, DirectTransport, PublicKey, Stream, Transport};
use thumbwire_core::action::{
    Action, AppSelector, Call, Cause, Failure, ListedDevice, Outcome, Perform as _,
    ScreenshotOptions, Target, TextInput,
};
use thumbwire_core::providers::{
    AdbDirectProvider, DeviceProviders, HostKey, VIRTUAL, VirtualPhoneProvider,
};
use thumbwire_core::session::Session;
use thumbwire_device::android::{Android, HelperMode};
use thumbwire_device::{AppId, Device as _, Gesture, Key, Point, SideEffect};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::wire::{MAPS, ask, focused, held, nowhere};

/// A virtual phone on TCP and a session that connects to it by address.
async fn on_tcp() -> (Session, VirtualPhone, String) {
    on_tcp_by(DeviceProviders::adb(nowhere())).await
}

/// The same by these providers.
async fn on_tcp_by(providers: DeviceProviders) -> (Session, VirtualPhone, String) {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    let session = Session::new(providers, Some(address.clone()));
    (session, phone, address)
}

#[tokio::test]
async fn disconnected_phone_works_again_once_it_is_back() {
    let (session, phone, address) = on_tcp().await;
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
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
async fn disconnect_during_an_action_may_have_acted() {
    // Without the helper, whose start would be the first program to pause.
    let direct = AdbDirectProvider::default().with_helper(HelperMode::Off);
    let (session, phone, _) = on_tcp_by(DeviceProviders::default().with(direct)).await;
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    // The phone receives the command and is unplugged before it replies.
    phone.pause_programs();
    let session = Arc::new(session);
    let asking = tokio::spawn({
        let session = Arc::clone(&session);
        async move { ask(&session, Action::Press(Key::Home)).await }
    });
    phone.wait_until_paused().await;
    phone.unplug();
    let failure = asking.await.unwrap().unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.side_effect, SideEffect::Possible);
    phone.resume_programs();
    phone.plug();
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

/// Log output of this test's thread.
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
async fn one_session_drives_eleven_phones_and_warns_after_ten() {
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
    let session = Session::new(DeviceProviders::adb(nowhere()), None);
    let drive = async |address: String| {
        let call = Call::with_timeout(Duration::from_secs(60)).on(Some(address));
        let launch = Action::Launch(AppSelector::Id(AppId(MAPS.into())));
        session.perform(&call, launch).await.unwrap();
        let text = Target::text("Search here");
        session.perform(&call, Action::TapElement(text)).await.unwrap();
        let typed = Action::Type(TextInput::of(format!("at {}", call.device.as_deref().unwrap())));
        session.perform(&call, typed).await.unwrap();
    };
    let all = phones.iter().map(|(address, _)| drive(address.clone()));
    futures::future::join_all(all).await;
    for (address, phone) in &phones {
        assert_eq!(focused(phone), Some(format!("at {address}")), "each got its own text");
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("WARN").count(), 1, "{log}");
    assert!(log.contains("is phone 11 in this session; at most 10 are recommended"), "{log}");
}

/// A phone that requires a key; its user accepts when told to.
struct Guarded {
    consents: AtomicBool,
    shown: std::sync::Mutex<Vec<String>>,
}

impl Services for Guarded {
    fn banner(&self) -> Banner {
        Banner::phone("p", "Guarded", "d", Features::read("shell_v2"))
    }

    fn open(&self, _service: &str) -> Result<Handler, ServiceRefused> {
        Ok(handler(async |stream| ShellIo::new(stream).control.exit(0).await))
    }
}

impl HostAuthorizer for Guarded {
    fn is_authorized(&self, token: &[u8], signature: &[u8]) -> bool {
        let shown = self.shown.lock().unwrap();
        let known = shown.iter().filter_map(|line| PublicKey::read(line).ok());
        self.consents.load(Ordering::SeqCst)
            && known.into_iter().any(|key| key.signed(token, signature))
    }

    fn request_consent(&self, key: String) -> BoxFuture<'static, bool> {
        self.shown.lock().unwrap().push(key);
        Box::pin(std::future::ready(self.consents.load(Ordering::SeqCst)))
    }
}

#[tokio::test]
async fn phone_works_once_its_user_accepts_our_key() {
    let guarded = Arc::new(Guarded { consents: false.into(), shown: std::sync::Mutex::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = Arc::clone(&guarded);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(daemon::serve_with_auth(stream, served.clone(), served.clone()));
        }
    });
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("adbkey");
    let source = move || thumbwire_core::adb_key::read_or_make(&file, "me@here").map(Arc::new);
    // A host does not learn of a refusal; it has to time out.
    let (name, consent) = ("me@here".into(), Duration::from_millis(200));
    let key = Arc::new(HostKey { source: Box::new(source), name, consent });
    let phones = DeviceProviders::default().with(AdbDirectProvider::default().with_key(key));
    let session_phones = phones.clone();
    let session = Session::new(phones, None);
    let choose = || Action::SelectDevice { device: address.clone(), platform: None };

    let call = Call::with_timeout(Duration::from_secs(30));
    let failure = session.perform(&call, choose()).await.unwrap_err();
    assert_eq!(failure.cause, Cause::DeviceNotAuthorized { device: address.clone() });
    assert_eq!(failure.side_effect, SideEffect::None);
    assert!(guarded.shown.lock().unwrap()[0].ends_with(" me@here"));

    // Listed as adb lists it, also by a tool that connects to learn the state.
    let named = Session::new(session_phones.clone(), Some(address.clone()));
    assert_eq!(states(&named, true).await, [(String::new(), "unauthorized".to_owned())]);

    guarded.consents.store(true, Ordering::SeqCst);
    let Outcome::DeviceSelected(identity) = ask(&session, choose()).await.unwrap() else {
        panic!()
    };
    assert_eq!(identity.model, "Guarded");
    let shown = guarded.shown.lock().unwrap().clone();
    assert!(shown.iter().all(|key| *key == shown[0]), "the same key each time");
    // A list that does not connect knows nothing of it; one that does has the state and the model.
    let named = Session::new(session_phones, Some(address.clone()));
    let not_yet = (String::new(), ListedDevice::NOT_YET.to_owned());
    assert_eq!(states(&named, false).await, [not_yet]);
    assert_eq!(states(&named, true).await, [("Guarded".to_owned(), "device".to_owned())]);
}

#[tokio::test]
async fn phone_that_cannot_be_reached_is_listed_with_the_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let session = Session::new(DeviceProviders::adb(nowhere()), Some(address));
    let [(model, state)] = &states(&session, true).await[..] else { panic!("one phone") };
    assert!(model.is_empty() && state.starts_with("not connected: "), "{state}");
    assert!(state.contains("refused"), "{state}");
}

/// The models and states of the listed phones.
async fn states(session: &Session, connect: bool) -> Vec<(String, String)> {
    match ask(session, Action::ListDevices { platform: None, connect }).await {
        Ok(Outcome::Devices(there)) => {
            there.into_iter().map(|phone| (phone.model, phone.state)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn silent_phone_counts_as_disconnected_in_time() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    phone.silence(true);
    let asked = Instant::now();
    let call = Call::with_timeout(Duration::from_secs(10));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.side_effect, SideEffect::Possible);
    assert!(asked.elapsed() <= Duration::from_secs(10), "{:?}", asked.elapsed());
    phone.silence(false);
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn slow_phone_times_out_and_stays_connected() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    phone.pause_programs();
    let call = Call::with_timeout(Duration::from_secs(10));
    let failure = session.perform(&call, Action::LOOK).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::TimedOut { .. }), "{failure:?}");
    phone.resume_programs();
    ask(&session, Action::LOOK).await.unwrap();
}

#[tokio::test]
async fn cancelled_call_gives_way_at_once() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    phone.pause_programs();
    let call = Call::with_timeout(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let (done, ()) = tokio::join!(session.perform(&call, Action::LOOK), async {
        phone.wait_until_paused().await;
        cancelled.cancel();
    });
    assert_eq!(done.unwrap_err().cause, Cause::Cancelled);
    phone.resume_programs();
    ask(&session, Action::LOOK).await.unwrap();
}

/// A server that accepts connections and never sends anything.
async fn hole() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[tokio::test]
async fn hanging_adb_server_does_not_block_other_phones() {
    let (_hole, server) = hole().await;
    let phone = VirtualPhone::new(Setup::default());
    let session = Session::new(
        DeviceProviders::adb(AdbServer::new(server)).with(VirtualPhoneProvider::new(phone)),
        None,
    );
    let waiting = ask(&session, Action::Screenshot(ScreenshotOptions::default()));
    let using = async {
        // Called after the other call has started to wait.
        tokio::task::yield_now().await;
        let call = Call::with_timeout(Duration::from_secs(2));
        let action = Action::SelectDevice { device: VIRTUAL.into(), platform: None };
        session.perform(&call, action).await
    };
    tokio::select! {
        biased;
        done = waiting => panic!("{done:?}"),
        used = using => assert!(matches!(used, Ok(Outcome::DeviceSelected(_))), "{used:?}"),
    }
}

#[tokio::test]
async fn phone_without_cnxn_is_not_connected_and_nothing_was_done() {
    let (_hole, address) = hole().await;
    let session = Session::new(DeviceProviders::adb(nowhere()), Some(address.clone()));
    let call = Call::with_timeout(Duration::from_millis(400));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!((device, failure.side_effect), (address, SideEffect::None));
}

#[tokio::test]
async fn failed_selection_does_not_blame_the_selected_phone() {
    let (_hole, address) = hole().await;
    let (session, _phone) = held();
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    let call = Call::with_timeout(Duration::from_millis(400));
    let action = Action::SelectDevice { device: address.clone(), platform: None };
    let failure = session.perform(&call, action).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!(device, address);
}

#[tokio::test]
async fn phone_by_address_works_with_a_broken_adb_server() {
    use tokio::io::AsyncWriteExt as _;
    let (listener, server) = hole().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request").await;
        }
    });
    let (_, _phone, address) = on_tcp().await;
    let session = Session::new(DeviceProviders::adb(AdbServer::new(server)), Some(address));
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test]
async fn disconnect_before_the_tap_did_nothing() {
    let (session, phone, _) = on_tcp().await;
    ask(&session, Action::LOOK).await.unwrap();
    phone.pause_programs();
    let tap = Action::Touch(Gesture::Tap { at: Point { x: 5, y: 5 } });
    let (done, ()) = tokio::join!(ask(&session, tap), async {
        // The screen size is requested first.
        phone.wait_until_paused().await;
        phone.unplug();
    });
    let failure = done.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.side_effect, SideEffect::None);
}

#[tokio::test]
async fn call_cancelled_while_queued_did_nothing() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    phone.pause_programs();
    let call = Call::with_timeout(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let first = ask(&session, Action::Press(Key::Home));
    let second = async {
        tokio::join!(session.perform(&call, Action::Press(Key::Back)), async {
            phone.wait_until_paused().await;
            cancelled.cancel();
        })
    };
    tokio::select! {
        biased;
        done = first => panic!("{done:?}"),
        (done, ()) = second => {
            let expected = Failure { cause: Cause::Cancelled, side_effect: SideEffect::None };
            assert_eq!(done.unwrap_err(), expected);
        }
    }
}

#[tokio::test]
async fn virtual_phone_is_never_selected_implicitly() {
    let phone = VirtualPhone::new(Setup::default());
    let session =
        Session::new(DeviceProviders::adb(nowhere()).with(VirtualPhoneProvider::new(phone)), None);
    let failure = ask(&session, Action::Press(Key::Home)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::NoDeviceChosen { .. }), "{failure:?}");
}

/// A transport that disconnects after some opened services.
struct CutAfter {
    way: DirectTransport,
    left: AtomicUsize,
}

#[async_trait]
impl Transport for CutAfter {
    async fn open(&self, service: &str) -> Result<Stream, thumbwire_adb::Error> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_err() {
            let (place, reason) = ("the phone".into(), "unplugged".into());
            return Err(thumbwire_adb::Error::NotReachable { address: place, reason });
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
async fn disconnect_while_typing_reports_partial_text() {
    for (left, acted) in [(0, SideEffect::None), (1, SideEffect::Possible)] {
        let phone = VirtualPhone::new(Setup::default());
        let way = CutAfter {
            way: DirectTransport::from_io(phone.in_memory()),
            left: AtomicUsize::new(left),
        };
        let device = Android::attach("cut", Arc::new(way)).await.unwrap();
        let device = device.with_helper(HelperMode::Off);
        let error = device.type_text("user\nsecret").await.unwrap_err();
        assert!(matches!(error, thumbwire_device::Error::NotConnected { .. }), "{error}");
        assert_eq!(error.acted(), acted);
    }
}

#[tokio::test]
async fn server_that_is_not_a_phone_is_not_connected() {
    use tokio::io::AsyncWriteExt as _;
    let (listener, address) = hole().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let session = Session::new(DeviceProviders::adb(nowhere()), Some(address));
    let failure =
        ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
}

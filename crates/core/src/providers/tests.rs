//! Providers in order, and an adb server's device tracking.

mod one_host;

use std::sync::Mutex;
use std::time::Duration;

use thumbwire_adb::AdbServer;
use thumbwire_device::Platform;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::*;
use crate::action::{Cause, DeviceKind};

fn phone(id: &str, state: &str) -> ListedDevice {
    ListedDevice {
        id: id.into(),
        platform: Platform::Android,
        model: String::new(),
        state: state.into(),
        kind: DeviceKind::Physical,
        properties: Vec::new(),
    }
}

/// A provider with scripted answers, which records what it is asked to open.
#[derive(Default)]
struct Scripted {
    owned: &'static str,
    unknown: bool,
    has: &'static str,
    reason: Option<&'static str>,
    /// How long it takes to list its phones.
    slow: Duration,
    /// Whether it cannot list its phones.
    is_broken: bool,
    asked: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl DeviceProvider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        sleep(self.slow).await;
        if self.is_broken {
            return Err(Cause::DeviceError { text: "ill".into() }.into());
        }
        Ok([self.has].iter().filter(|id| !id.is_empty()).map(|id| phone(id, "device")).collect())
    }

    fn owns(&self, id: &str) -> bool {
        id == self.owned
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        self.asked.lock().unwrap().push(id.to_owned());
        match () {
            () if self.unknown => {
                let output = "ill".into();
                Ok(OpenResult::Unknown(Cause::DeviceError { text: output }.into()))
            }
            // Its phone is listed and never opens.
            () if id == self.has => Err(Cause::DeviceNotAuthorized { device: id.into() }.into()),
            () => Ok(OpenResult::NotMine(self.reason.map(str::to_owned))),
        }
    }
}

async fn refused(providers: &DeviceProviders, id: &str) -> Cause {
    providers.open(id).await.err().expect("nobody opens it").cause
}

#[tokio::test]
async fn an_id_that_one_provider_owns_is_opened_by_no_other() {
    let first = Scripted { has: "mine", ..Scripted::default() };
    let asked = Arc::clone(&first.asked);
    let last = Scripted { owned: "mine", ..Scripted::default() };
    let providers = DeviceProviders::default().with(first).with(last);
    let cause = refused(&providers, "mine").await;
    assert!(matches!(cause, Cause::DeviceNotConnected { .. }), "{cause:?}");
    assert!(asked.lock().unwrap().is_empty());
    assert!(providers.owns("mine") && !providers.owns("other"));
}

#[tokio::test]
async fn the_first_provider_that_has_a_phone_opens_it() {
    let last = Scripted { has: "one", ..Scripted::default() };
    let asked = Arc::clone(&last.asked);
    let first = Scripted { has: "one", ..Scripted::default() };
    let providers = DeviceProviders::default().with(first).with(last);
    let cause = refused(&providers, "one").await;
    assert_eq!(cause, Cause::DeviceNotAuthorized { device: "one".into() });
    assert!(asked.lock().unwrap().is_empty());
    assert_eq!(providers.list().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn slow_providers_list_at_the_same_time_and_keep_their_order() {
    let slow =
        |has, seconds| Scripted { has, slow: Duration::from_secs(seconds), ..Scripted::default() };
    let providers = DeviceProviders::default().with(slow("a", 3)).with(slow("b", 2));
    let began = tokio::time::Instant::now();
    let ids: Vec<String> = providers.list().await.into_iter().map(|it| it.id).collect();
    assert_eq!((ids, began.elapsed()), (vec!["a".into(), "b".into()], Duration::from_secs(3)));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_or_hangs_is_a_row_and_hides_no_phones() {
    let broken = Scripted { is_broken: true, ..Scripted::default() };
    let hanging = Scripted { slow: Duration::from_secs(600), ..Scripted::default() };
    let has = Scripted { has: "one", ..Scripted::default() };
    let providers = DeviceProviders::default().with(broken).with(hanging).with(has);
    let began = tokio::time::Instant::now();
    let listed = providers.list().await;
    assert_eq!(began.elapsed(), MAX_LISTING);
    let states: Vec<&str> = listed.iter().map(|phone| &*phone.state).collect();
    let late = "cannot list phones: no answer within 4 s";
    assert_eq!(states, ["cannot list phones: ill", late, "device"]);
    assert!(listed[0].next_step().unwrap().contains("restart that program"));
    let [only] = DeviceKind::candidates(&listed)[..] else { panic!("{listed:?}") };
    assert_eq!(only.id, "one", "a provider is no phone");
}

#[tokio::test]
async fn a_listed_phone_is_opened_without_asking_the_providers_before_its_own() {
    let first = Scripted::default();
    let asked = Arc::clone(&first.asked);
    let has = Scripted { has: "one", ..Scripted::default() };
    let providers = DeviceProviders::default().with(first).with(has);
    providers.list().await;
    let cause = refused(&providers, "one").await;
    assert_eq!(cause, Cause::DeviceNotAuthorized { device: "one".into() });
    assert!(asked.lock().unwrap().is_empty());
}

#[cfg(feature = "virtual-phone")]
#[tokio::test]
async fn an_id_like_that_of_a_built_in_phone_is_answered_with_their_ids() {
    let providers = DeviceProviders::default().with(VirtualPhoneProvider::default());
    let Cause::DeviceNotConnected { reason, .. } = refused(&providers, "virtual-io").await else {
        panic!("another cause");
    };
    assert_eq!(reason, "the built-in phones are `virtual` and `virtual-ios`");
}

#[tokio::test]
async fn a_broken_provider_fails_only_if_no_other_has_the_phone() {
    let ill = || Scripted { unknown: true, ..Scripted::default() };
    let has = Scripted { has: "one", ..Scripted::default() };
    let providers = DeviceProviders::default().with(ill()).with(has);
    let cause = refused(&providers, "one").await;
    assert_eq!(cause, Cause::DeviceNotAuthorized { device: "one".into() });
    assert_eq!(refused(&providers, "two").await, Cause::DeviceError { text: "ill".into() });
}

#[tokio::test]
async fn a_phone_of_no_provider_is_not_connected_for_all_their_reasons() {
    let because = |reason| Scripted { reason: Some(reason), ..Scripted::default() };
    let providers = DeviceProviders::default().with(because("a")).with(because("b"));
    let (device, reason) = ("x".to_owned(), "a; b".to_owned());
    assert_eq!(refused(&providers, "x").await, Cause::DeviceNotConnected { device, reason });
}

#[test]
fn only_ready_phones_are_reported() {
    let mut ready = ReadyDevices::default();
    let lost = |id: &str| DeviceChange::Lost(id.into());
    let mut update = |list: &[(&str, &str)]| {
        ready.update(list.iter().map(|(id, state)| phone(id, state)).collect())
    };
    assert_eq!(update(&[("a", "unauthorized")]), []);
    assert_eq!(update(&[("a", "device")]), [DeviceChange::Connected(phone("a", "device"))]);
    assert_eq!(update(&[("a", "device"), ("b", "offline")]), []);
    let changes = update(&[("a", "offline"), ("b", "device")]);
    assert_eq!(changes, [lost("a"), DeviceChange::Connected(phone("b", "device"))]);
    assert_eq!(update(&[]), [lost("b")]);
}

/// The next connection to an adb server, which asks to track devices.
async fn tracking(listener: &TcpListener) -> TcpStream {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut asked = [0; "0014host:track-devices-l".len()];
    socket.read_exact(&mut asked).await.unwrap();
    assert_eq!(&asked, b"0014host:track-devices-l");
    socket.write_all(b"OKAY").await.unwrap();
    socket
}

async fn send(socket: &mut TcpStream, list: &str) {
    socket.write_all(format!("{:04x}{list}", list.len()).as_bytes()).await.unwrap();
}

#[tokio::test]
async fn an_adb_server_that_exits_loses_its_phones_and_is_connected_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = AdbServer::new(listener.local_addr().unwrap().to_string());
    let provider = AdbServerProvider::new(server).with_retry(Duration::ZERO);
    let mut changes = provider.watch();
    let mut out = async || match changes.next().await.unwrap() {
        DeviceChange::Connected(phone) => format!("+{}", phone.id),
        DeviceChange::Lost(id) => format!("-{id}"),
    };
    let server = async {
        let mut socket = tracking(&listener).await;
        send(&mut socket, "R58M1 offline transport_id:1\n").await;
        send(&mut socket, "R58M1 device transport_id:1\nR58M2 device transport_id:2\n").await;
        drop(socket);
        let mut socket = tracking(&listener).await;
        send(&mut socket, "R58M2 device transport_id:1\n").await;
        socket
    };
    let watching = async {
        let mut all = Vec::new();
        for _ in 0..5 {
            all.push(out().await);
        }
        all
    };
    let (_socket, changes) = tokio::join!(server, watching);
    assert_eq!(changes, ["+R58M1", "+R58M2", "-R58M1", "-R58M2", "+R58M2"]);
}

#[cfg(feature = "virtual-phone")]
#[tokio::test]
async fn the_virtual_phone_is_reported_once_it_is_opened() {
    let providers = DeviceProviders::default().with(VirtualPhoneProvider::default());
    let mut changes = providers.watch();
    assert!(providers.list().await.is_empty());
    let device = providers.open(VIRTUAL).await.expect("it opens");
    assert_eq!(device.identity().id, VIRTUAL);
    let Some(DeviceChange::Connected(phone)) = changes.next().await else { panic!() };
    assert_eq!((phone.id.as_str(), phone.kind), (VIRTUAL, DeviceKind::BuiltIn));
    assert_eq!(changes.next().await, None);
    assert_eq!(providers.list().await, [phone]);
}

#[test]
fn only_addresses_have_an_entry_of_their_own() {
    let providers = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"));
    for (id, address) in
        [("10.0.0.7:5555", true), ("[::1]:5555", true), ("R58M1", false), ("a:b", false)]
    {
        assert_eq!(providers.unlisted(id).is_some(), address, "{id}");
    }
}

/// A server on the loopback address that counts who connects.
async fn listening() -> (String, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connected = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&connected);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            *counter.lock().unwrap() += 1;
        }
    });
    (address, connected)
}

#[tokio::test]
async fn address_that_is_not_allowed_is_never_connected() {
    let (address, connected) = listening().await;
    for patterns in [vec![], vec!["emulator-*".to_owned()], vec![address.replace("127", "1*")]] {
        let phones = DeviceProviders::default()
            .with(Scripted { has: "R58M", ..Scripted::default() })
            .with(AdbDirectProvider::default())
            .with_allowed(AllowedDevices::new([], patterns.clone()));
        let is_reached = patterns.iter().any(|pattern| pattern.starts_with("1*"));
        let cause = refused(&phones, &address).await;
        let refusal = Cause::DeviceNotAllowed { device: address.clone() };
        assert_eq!(cause == refusal, !is_reached, "{patterns:?}: {cause}");
        assert_eq!(*connected.lock().unwrap() > 0, is_reached, "{patterns:?}");
        assert_eq!(phones.unlisted(&address).is_some(), is_reached, "{patterns:?}");
    }
}

#[tokio::test]
async fn limit_hides_what_it_does_not_allow() {
    let phones = |patterns: &[&str]| {
        DeviceProviders::default()
            .with(Scripted { has: "R58M", ..Scripted::default() })
            .with(Scripted { has: "emulator-5554", ..Scripted::default() })
            .with_allowed(AllowedDevices::new([], patterns.iter().map(|&it| it.to_owned())))
    };
    let listed = async |patterns: &[&str]| -> Vec<String> {
        let listed = phones(patterns).list().await;
        listed.into_iter().map(|phone| phone.id).collect()
    };
    assert_eq!(listed(&[]).await, ["R58M", "emulator-5554"]);
    assert_eq!(listed(&["emulator-*"]).await, ["emulator-5554"]);
    // A phone that is there and one that is not are refused alike.
    for id in ["R58M", "R59X"] {
        let refusal = Cause::DeviceNotAllowed { device: id.into() };
        assert_eq!(refused(&phones(&["emulator-*"]), id).await, refusal);
    }
}

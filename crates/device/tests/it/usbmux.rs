//! iPhones found by usbmuxd, driven through the daemon of the client's own tests.

#[allow(dead_code, reason = "the client's own tests use more of it")]
#[path = "../../../usbmux/tests/it/daemon.rs"]
mod daemon;
#[path = "../../../usbmux/tests/it/pairing.rs"]
mod pairing;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::iphone::{Iphone, Missing};
use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_device::{AppId, AppList, Device as _, Error, Foreground, SideEffect, StreamOptions};
use thumbwire_usbmux::UsbmuxClient;
use thumbwire_virtual_ios::{Profile, Setup, VirtualIphone};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use daemon::{Daemon, Phone, Trust, UDID};
use pairing::Pairing;

/// A virtual iPhone whose WebDriverAgent and stream are on ports of a phone.
struct Served {
    virtual_phone: VirtualIphone,
    ports: BTreeMap<u16, SocketAddr>,
    _servers: JoinSet<()>,
}

impl Served {
    async fn new() -> Self {
        let virtual_phone =
            VirtualIphone::new(Setup { profile: Profile::Instant, ..Setup::default() });
        let mut ports = BTreeMap::new();
        let mut servers = JoinSet::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        ports.insert(8100, listener.local_addr().unwrap());
        let phone = virtual_phone.clone();
        servers.spawn(async move { phone.serve(listener).await.unwrap() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        ports.insert(9100, listener.local_addr().unwrap());
        let phone = virtual_phone.clone();
        servers.spawn(async move { phone.serve_mjpeg(listener).await.unwrap() });
        Self { virtual_phone, ports, _servers: servers }
    }

    fn phone(&self) -> Phone {
        Phone { ports: self.ports.clone(), ..Phone::new(UDID) }
    }
}

async fn examine(client: &UsbmuxClient) -> Iphone {
    Iphone::examine(client, &client.list().await.unwrap()[0]).await
}

/// What this phone lacks.
async fn missing(phone: Phone) -> Option<Missing> {
    let daemon = Daemon::start([phone]).await;
    examine(&daemon.client()).await.missing
}

#[tokio::test]
async fn phone_says_what_it_is_and_lacks_only_a_web_driver_agent() {
    let daemon = Daemon::start([Phone::new(UDID)]).await;
    let iphone = examine(&daemon.client()).await;
    let values = &iphone.values;
    assert_eq!(
        [&*values.name, &*values.product_type, &*values.product_version],
        ["Ana’s iPhone", "iPhone12,8", "16.7.10"]
    );
    assert_eq!(iphone.missing, Some(Missing::WebDriverAgent));
    // Before iOS 16 there was no developer mode.
    let old = Phone { version: "15.8", developer_mode: None, ..Phone::new(UDID) };
    assert_eq!(missing(old).await, Some(Missing::WebDriverAgent));
    let new = Phone { version: "18.1", ..Phone::new(UDID) };
    assert_eq!(missing(new).await, Some(Missing::Tunnel));
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let with = |trust| Phone { trust, ..Phone::new(UDID) };
    for (phone, expected) in [
        (with(Trust::Unpaired), Missing::Pairing),
        (with(Trust::Refuses("InvalidHostID")), Missing::Pairing),
        (with(Trust::Refuses("UserDeniedPairing")), Missing::Pairing),
        (with(Trust::Refuses("PairingDialogResponsePending")), Missing::Trust),
        (with(Trust::Refuses("PasswordProtected")), Missing::Unlocking),
        (with(Trust::Refuses("SomethingNew")), Missing::Answer),
        (Phone { developer_mode: Some(false), ..Phone::new(UDID) }, Missing::DeveloperMode),
        (Phone { is_huge: true, ..Phone::new(UDID) }, Missing::Answer),
    ] {
        assert_eq!(missing(phone).await, Some(expected));
    }
    // It says what it is to every computer.
    let daemon = Daemon::start([with(Trust::Unpaired)]).await;
    assert_eq!(examine(&daemon.client()).await.values.product_type, "iPhone12,8");
}

#[tokio::test]
async fn phone_with_another_certificate_than_the_paired_one_needs_another_pairing() {
    let phone = Phone { shown: Pairing::other(), ..Phone::new(UDID) };
    let daemon = Daemon::start([phone]).await;
    assert_eq!(examine(&daemon.client()).await.missing, Some(Missing::ValidPairRecord));
}

#[tokio::test]
async fn phone_that_refuses_the_certificate_of_this_computer_needs_another_pairing() {
    let shown = Pairing::shared().of_another_computer();
    let phone = Phone { shown, ..Phone::new(UDID) };
    assert_eq!(missing(phone).await, Some(Missing::ValidPairRecord));
}

#[tokio::test]
async fn phone_that_hangs_is_given_up() {
    let silent = Phone { is_silent: true, ..Phone::new(UDID) };
    assert_eq!(missing(silent).await, Some(Missing::Answer));
}

#[tokio::test]
async fn phone_is_driven_through_the_daemon() {
    let served = Served::new().await;
    let daemon = Daemon::start([served.phone()]).await;
    assert_eq!(examine(&daemon.client()).await.missing, None);
    let ios = WebDriverPhone::attach_usbmux(UDID, &daemon.client(), UDID).await.unwrap();
    assert_eq!(ios.identity().id, UDID);
    assert_eq!(ios.screenshot().await.unwrap().size, ios.screen_size().await.unwrap());
    ios.launch(&AppId("com.example.bank".into()), &[]).await.unwrap();
    let Foreground::App(front) = ios.foreground().await.unwrap() else { panic!("no app in front") };
    assert_eq!(front.app.0, "com.example.bank");
    let taps = served.virtual_phone.commands().len();
    assert!(taps > 3, "{taps} commands reached WebDriverAgent");
    // The stream is on another port.
    let options = StreamOptions { max_side: None, gap: Duration::from_millis(1) };
    let streaming = ios.facets().screen_streaming.unwrap();
    let mut stream = streaming.stream_screen(options).await.unwrap().unwrap();
    assert_eq!(stream.next().await.unwrap().size, ios.screen_size().await.unwrap());
    // The apps are the phone's, not only the active ones.
    let list = ios.apps().await.unwrap();
    assert!(list.is_complete);
    let apps: Vec<_> = list.apps.into_iter().map(|app| (app.id.0, app.system)).collect();
    let app = |id: &str, system| (id.to_owned(), system);
    let expected = [
        app("com.apple.Preferences", true),
        app("com.example.a-b", false),
        app("com.example.bank", false),
    ];
    assert_eq!(apps, expected);
}

#[tokio::test]
async fn apps_of_an_unpaired_phone_are_the_active_ones() {
    let served = Served::new().await;
    let daemon = Daemon::start([Phone { trust: Trust::Unpaired, ..served.phone() }]).await;
    let ios = WebDriverPhone::attach_usbmux(UDID, &daemon.client(), UDID).await.unwrap();
    ios.launch(&AppId("com.example.bank".into()), &[]).await.unwrap();
    let AppList { apps, is_complete } = ios.apps().await.unwrap();
    assert!(!is_complete);
    assert!(apps.iter().any(|app| app.id.0 == "com.example.bank"));
    assert!(apps.iter().all(|app| app.id.0 != "com.example.a-b"));
}

#[tokio::test]
async fn phone_that_is_unplugged_is_lost_and_found_again_under_its_new_number() {
    let served = Served::new().await;
    let daemon = Daemon::start([]).await;
    let id = daemon.plug(served.phone());
    let ios = WebDriverPhone::attach_usbmux(UDID, &daemon.client(), UDID).await.unwrap();
    daemon.unplug(id);
    let error = ios.probe().await.unwrap_err();
    let Error::NotConnected { reason, acted } = &error else { panic!("{error}") };
    assert!(reason.contains("usbmuxd does not have this iPhone"), "{reason}");
    assert_eq!(*acted, SideEffect::None);
    daemon.plug(served.phone());
    ios.probe().await.unwrap();
}

/// A server that takes a request, has the phone unplugged, and never answers.
#[tokio::test]
async fn phone_that_is_unplugged_during_an_act_leaves_it_open_whether_it_happened() {
    let served = Served::new().await;
    let daemon = Daemon::start([]).await;
    let id = daemon.plug(served.phone());
    let ios = WebDriverPhone::attach_usbmux(UDID, &daemon.client(), UDID).await.unwrap();
    ios.screen_size().await.unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    daemon.change(id, |phone| _ = phone.ports.insert(8100, address));
    let unplugging = Arc::clone(&daemon);
    tokio::spawn(async move {
        let (stream, _) = silent.accept().await.unwrap();
        stream.readable().await.unwrap();
        unplugging.unplug(id);
        drop(stream);
    });
    let error = ios.stop(&AppId("com.example.bank".into())).await.unwrap_err();
    assert!(matches!(error, Error::NotConnected { .. }), "{error}");
    assert_eq!(error.acted(), SideEffect::Possible);
}

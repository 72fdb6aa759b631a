//! iPhones on USB and Wi-Fi, from the list to the first screenshot, and `thumbwire devices` with a
//! usbmuxd. The daemon is the one of the client's tests.

#[allow(dead_code, reason = "the driver's tests use more of it")]
#[path = "../../../usbmux/tests/it/daemon.rs"]
mod daemon;
#[allow(dead_code, reason = "the driver's tests use more of it")]
#[path = "../../../usbmux/tests/it/pairing.rs"]
mod pairing;

use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::Value;
use thumbwire_core::action::{Cause, ListedDevice};
use thumbwire_core::providers::{
    AllowedDevices, DeviceChange, DeviceProviders, SimulatorProvider, UsbmuxProvider,
};
use thumbwire_device::iphone::Missing;
use thumbwire_virtual_ios::{Profile, Setup, VirtualIphone};
use tokio::net::TcpListener;

use crate::support::thumbwire;
use daemon::{Daemon, Fault, Phone, Trust, UDID};

const UNPAIRED: &str = "00008110-000A11112222801E";

/// A phone whose WebDriverAgent is that of a virtual iPhone.
async fn ready_phone() -> Phone {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let phone = VirtualIphone::new(Setup { profile: Profile::Instant, ..Setup::default() });
    tokio::spawn(async move { phone.serve(listener).await });
    Phone { ports: [(8100, address)].into(), ..Phone::new(UDID) }
}

fn unpaired() -> Phone {
    Phone { trust: Trust::Unpaired, ..Phone::new(UNPAIRED) }
}

fn providers(daemon: &Daemon) -> DeviceProviders {
    let address = daemon.address.to_string().parse().unwrap();
    DeviceProviders::default().with(UsbmuxProvider::new(address)).with(SimulatorProvider::default())
}

/// The ids and states of a list.
fn states(listed: &[ListedDevice]) -> Vec<(&str, &str)> {
    listed.iter().map(|phone| (&*phone.id, &*phone.state)).collect()
}

#[tokio::test]
async fn phones_are_listed_with_what_they_lack_and_opened_if_they_are_ready() {
    let daemon = Daemon::start([ready_phone().await, unpaired()]).await;
    let phones = providers(&daemon);
    let listed = phones.list().await;
    let not_paired = Missing::Pairing.state();
    assert_eq!(states(&listed), [(UDID, "device"), (UNPAIRED, not_paired)]);
    assert_eq!(listed[0].model, "Ana’s iPhone (iPhone12,8, iOS 16.7.10)");
    let device = phones.open(UDID).await.unwrap();
    assert_eq!(device.screenshot().await.unwrap().size, device.screen_size().await.unwrap());
    let Err(failure) = phones.open(UNPAIRED).await else { panic!("opened") };
    assert!(matches!(&failure.cause, Cause::DeviceNotReady { state, .. } if *state == not_paired));
    assert_eq!(failure.next_step(), Missing::Pairing.next_step());
    // What the daemon does not list is not opened, whatever answers there.
    let Err(failure) = phones.open("00008030-00000000000000FF").await else { panic!("opened") };
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }));
}

#[tokio::test]
async fn phone_without_a_web_driver_agent_is_refused_with_the_next_step() {
    for (version, missing) in [("16.7.10", Missing::WebDriverAgent), ("17.4.1", Missing::Tunnel)] {
        let daemon = Daemon::start([Phone { version, ..Phone::new(UDID) }]).await;
        let Err(failure) = providers(&daemon).open(UDID).await else { panic!("opened") };
        let Cause::DeviceNotReady { state, .. } = &failure.cause else { panic!("{failure:?}") };
        assert_eq!((&**state, &*failure.next_step()), (missing.state(), missing.next_step()));
    }
}

#[tokio::test]
async fn phone_that_is_not_allowed_is_neither_listed_nor_asked() {
    let daemon = Daemon::start([ready_phone().await, unpaired()]).await;
    let allowed = AllowedDevices::new([UNPAIRED.to_owned()], []);
    let phones = providers(&daemon).with_allowed(allowed);
    let Err(failure) = phones.open(UDID).await else { panic!("opened") };
    assert!(matches!(failure.cause, Cause::DeviceNotAllowed { .. }));
    assert_eq!(daemon.requests(), [""; 0]);
    let listed = phones.list().await;
    assert_eq!(states(&listed), [(UNPAIRED, Missing::Pairing.state())]);
}

#[tokio::test]
async fn phones_are_reported_when_they_are_ready_and_when_they_are_unplugged() {
    let daemon = Daemon::start([unpaired()]).await;
    let mut changes = providers(&daemon).watch();
    let (plugging, phone) = (Arc::clone(&daemon), ready_phone().await);
    let (change, id) = tokio::join!(changes.next(), async move { plugging.plug(phone) });
    let Some(DeviceChange::Connected(phone)) = change else { panic!("{change:?}") };
    assert_eq!(phone.id, UDID);
    daemon.unplug(id);
    assert_eq!(changes.next().await, Some(DeviceChange::Lost(UDID.to_owned())));
}

/// The rows that `thumbwire devices --json` prints for iPhones.
async fn listed_by_command(daemon: &Daemon) -> Vec<Value> {
    let mut command = tokio::process::Command::from(thumbwire());
    command.args(["devices", "--json"]);
    command.env("USBMUXD_SOCKET_ADDRESS", daemon.address.to_string());
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let is_attached = |row: &Value| row["platform"] == "ios" && row["built_in"] == false;
    rows.into_iter().filter(is_attached).collect()
}

#[tokio::test]
async fn command_line_lists_iphones_and_does_not_wait_for_a_daemon_that_hangs() {
    let daemon = Daemon::start([ready_phone().await, unpaired()]).await;
    let rows = listed_by_command(&daemon).await;
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [UDID, UNPAIRED]);
    assert_eq!(rows[1]["next"], Missing::Pairing.next_step());
    daemon.set_fault(Some(Fault::Hang));
    let rows = listed_by_command(&daemon).await;
    assert_eq!((rows.len(), rows[0]["id"].as_str()), (1, Some("usbmuxd")), "{rows:?}");
    let state = rows[0]["state"].as_str().unwrap();
    assert!(state.contains("no answer from usbmuxd within 1s"), "{state}");
}

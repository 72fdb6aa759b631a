//! A stock `adb` with our phone end, and our transport through its server back to our phone.
//!
//! Each test starts and ends a private adb server. Without an `adb` program they are skipped,
//! unless `THUMBWIRE_REQUIRE_REAL` is set.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::common::stock::{PATIENCE, Stock, stdout};
use crate::common::{pattern, text};
use thumbwire_adb::services::sync::{list, pull, push, stat};
use thumbwire_adb::wire::devices::DeviceState;
use thumbwire_adb::{Error, Transport, exec, run};

#[tokio::test(flavor = "multi_thread")]
async fn stock_adb_runs_commands() {
    let Some(stock) = Stock::start().await else { return };

    let listed = stdout(&stock.adb(&["devices", "-l"]).await);
    assert!(listed.contains(&stock.serial), "{listed}");
    assert!(listed.contains("product:tiny model:Tiny_Phone device:tiny"), "{listed}");

    let both = stock.adb(&["shell", "both"]).await;
    assert_eq!(both.status.code(), Some(9));
    assert_eq!((&both.stdout[..], &both.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));

    assert_eq!(stock.adb(&["shell", "exit 3"]).await.status.code(), Some(3));
    assert_eq!(stock.adb(&["shell", "-x", "say old"]).await.stdout, b"old", "without shell v2");
    assert_eq!(stock.adb(&["exec-out", "flood 300000"]).await.stdout.len(), 300_000);

    let (one, two) =
        tokio::join!(stock.adb(&["shell", "say one"]), stock.adb(&["shell", "flood 100000"]));
    assert_eq!(one.stdout, b"one");
    assert_eq!(two.stdout.len(), 100_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_stock_client_ends_its_command() {
    let Some(stock) = Stock::start().await else { return };
    let mut client = stock.command().args(["shell", "hang"]).spawn().unwrap();
    // A later command on the same connection gets a reply: by then the first was sent.
    while stock.phone.opened.load(Ordering::SeqCst) == 0 {
        stock.adb(&["get-state"]).await;
    }
    client.kill().await.unwrap();
    while stock.phone.left_alone.load(Ordering::SeqCst) == 0 {
        stock.adb(&["get-state"]).await;
    }
    assert_eq!(stock.adb(&["shell", "say well"]).await.stdout, b"well");
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_adb_transfers_files() {
    let Some(stock) = Stock::start().await else { return };
    let near = |name: &str| stock.server.home().join(name);
    for length in [0, 1, 64 * 1024, 5 * 1024 * 1024] {
        let sent = pattern(length);
        std::fs::write(near("sent"), &sent).unwrap();
        let pushed = stock.adb(&["push", near("sent").to_str().unwrap(), "/sdcard/f"]).await;
        assert!(pushed.status.success(), "{pushed:?}");
        let pulled = stock.adb(&["pull", "/sdcard/f", near("back").to_str().unwrap()]).await;
        assert!(pulled.status.success(), "{pulled:?}");
        assert!(std::fs::read(near("back")).unwrap() == sent, "{length} bytes");
    }
    let refused = stock.adb(&["push", near("sent").to_str().unwrap(), "/system/f"]).await;
    assert!(!refused.status.success());
    let output = [stdout(&refused), String::from_utf8_lossy(&refused.stderr).into()].concat();
    assert!(output.contains("Read-only file system"), "{output}");
    let listed = stdout(&stock.adb(&["shell", "say still well"]).await);
    assert_eq!(listed, "still well");
}

#[tokio::test(flavor = "multi_thread")]
async fn services_work_through_a_stock_server() {
    let Some(stock) = Stock::start().await else { return };
    let server = stock.server();
    assert!(server.version().await.unwrap() >= 31);

    let devices = server.devices().await.unwrap();
    assert_eq!(devices.len(), 1);
    assert_eq!((&devices[0].serial, &devices[0].state), (&stock.serial, &DeviceState::Device));
    assert_eq!(devices[0].property("model"), Some("Tiny_Phone"));

    let phone = Arc::new(server.device(&stock.serial));
    assert!(phone.features().await.unwrap().has("shell_v2"));
    assert_eq!(phone.banner().await.unwrap().product(), Some("tiny"));

    let output = run(&*phone, "both").await.unwrap();
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    assert_eq!(output.status, Some(9));
    assert_eq!(run(&*phone, "cat").await.unwrap().status, Some(0));
    assert_eq!(text(exec(&*phone, "say raw").await.unwrap()).await, "raw");

    for length in [0, 1, 64 * 1024, 5 * 1024 * 1024] {
        let sent = pattern(length);
        push(&*phone, "/sdcard/f", 0o644, 1, &sent[..]).await.unwrap();
        assert!(pull(&*phone, "/sdcard/f", length).await.unwrap() == sent, "{length} bytes");
    }
    assert_eq!(stat(&*phone, "/sdcard/f").await.unwrap().size, 5 * 1024 * 1024);
    assert_eq!(list(&*phone, "/sdcard").await.unwrap()[0].name, "f");

    let error = phone.open("nosuch:").await.err();
    assert!(matches!(error, Some(Error::Refused { .. })), "{error:?}");
    let error = server.device("nobody").open("shell:x").await.err();
    assert!(matches!(error, Some(Error::NoSuchDevice { .. })), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_server_reports_phones_coming_and_going() {
    let Some(stock) = Stock::start().await else { return };
    let mut tracker = stock.server().track_devices().await.unwrap();
    let mut until = async |wanted: Option<DeviceState>| {
        let out = async {
            loop {
                let devices = tracker.next().await.unwrap();
                let states: Vec<_> = devices.iter().map(|listed| listed.state.clone()).collect();
                if states == Vec::from_iter(wanted.clone()) {
                    return devices;
                }
            }
        };
        tokio::time::timeout(PATIENCE, out).await.expect("the server reports it")
    };
    let listed = until(Some(DeviceState::Device)).await;
    assert_eq!((&listed[0].serial, listed[0].property("device")), (&stock.serial, Some("tiny")));
    stock.adb(&["disconnect", &stock.serial]).await;
    until(None).await;
    stock.adb(&["connect", &stock.serial]).await;
    until(Some(DeviceState::Device)).await;
    stock.adb(&["kill-server"]).await;
    let error = tracker.next().await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_server_is_not_restarted_but_used_when_back() {
    let Some(stock) = Stock::start().await else { return };
    let phone = stock.server().device(&stock.serial);
    assert_eq!(run(&phone, "exit 3").await.unwrap().status, Some(3));
    stock.adb(&["kill-server"]).await;
    // It acknowledges the kill before it exits.
    let gone = async {
        while !matches!(run(&phone, "exit 3").await, Err(Error::NotReachable { .. })) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the server ends");
    stock.adb(&["start-server"]).await;
    let error = run(&phone, "exit 3").await.unwrap_err();
    assert!(matches!(error, Error::NoSuchDevice { .. }), "it no longer knows the phone: {error}");
    stock.adb(&["connect", &stock.serial]).await;
    assert_eq!(run(&phone, "exit 3").await.unwrap().status, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_server_resolves_ambiguous_serials() {
    let Some(stock) = Stock::start().await else { return };
    let server = stock.server();
    let listed = server.devices().await.unwrap();
    let number = listed[0].property("transport_id").unwrap().parse().unwrap();
    // A name with a colon that is not an address selects the transport first, like an unusual
    // serial.
    for phone in
        [server.device("model:Tiny_Phone"), server.device_by_transport_id("(none)", number)]
    {
        assert!(phone.features().await.unwrap().has("shell_v2"), "{phone:?}");
        assert_eq!(run(&phone, "exit 3").await.unwrap().status, Some(3));
    }
    for phone in [server.device("model:Nobody"), server.device_by_transport_id(&stock.serial, 999)]
    {
        let error = phone.features().await.unwrap_err();
        assert!(matches!(error, Error::NoSuchDevice { .. }), "{phone:?}: {error}");
    }
}

//! Which phone a call without a device uses.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::action::{DefaultDevice, HealthResult, ListedDevice, SelectionReason};
use crate::providers::{VIRTUAL, VirtualPhoneProvider};

/// An adb server that serves only this list, which may change.
async fn server(list: &Arc<Mutex<String>>) -> AdbServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let list = Arc::clone(list);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let list = lock(&list).clone();
            let mut asked = [0; "000ehost:devices-l".len()];
            let _ = socket.read_exact(&mut asked).await;
            let _ = socket.write_all(format!("OKAY{:04x}{list}", list.len()).as_bytes()).await;
        }
    });
    AdbServer::new(address.to_string())
}

/// A session over this list, with connections to all its phones and to the selected one.
async fn listing<'a>(
    list: &str,
    named: impl IntoIterator<Item = &'a str>,
) -> (Session, Arc<Mutex<String>>) {
    let list = Arc::new(Mutex::new(list.to_owned()));
    let phones = DeviceProviders::adb(server(&list).await).with(VirtualPhoneProvider::default());
    let session = Session::new(
        phones,
        SessionOptions {
            devices: named.into_iter().map(str::to_owned).collect(),
            ..SessionOptions::default()
        },
    );
    for id in ["emulator-5554", "R58M1", "R58M2", VIRTUAL] {
        let mut phone = Fake::new(Vec::new());
        Arc::get_mut(&mut phone).unwrap().identity.id = id.into();
        session.keep(id, phone);
    }
    (session, list)
}

async fn any(session: &Session) -> (String, SelectionReason) {
    match ask(session, Action::SelectDefaultDevice).await {
        Ok(Outcome::DefaultDeviceSelected(DefaultDevice { device: listed, reason })) => {
            assert!(listed.is_ready(), "{listed:?}");
            (listed.id, reason)
        }
        other => panic!("{other:?}"),
    }
}

const EMULATOR: &str = "emulator-5554          device product:sdk model:sdk transport_id:1\n";
const FIRST: &str = "R58M1                  device product:a model:A transport_id:2\n";
const SECOND: &str = "R58M2                  device product:b model:B transport_id:3\n";
const OFFLINE: &str = "R58M1                  offline transport_id:2\n";

#[tokio::test]
async fn physical_phone_is_preferred_and_stays_selected_while_ready() {
    let (session, list) = listing(&[EMULATOR, FIRST, SECOND].concat(), None).await;
    assert_eq!(any(&session).await, ("R58M1".into(), SelectionReason::FirstPhysical));
    *lock(&list) = [SECOND, FIRST, EMULATOR].concat();
    assert_eq!(any(&session).await, ("R58M1".into(), SelectionReason::AlreadySelected));
    *lock(&list) = [OFFLINE, EMULATOR, SECOND].concat();
    assert_eq!(any(&session).await, ("R58M2".into(), SelectionReason::FirstPhysical));
    *lock(&list) = [OFFLINE, EMULATOR].concat();
    assert_eq!(any(&session).await, ("emulator-5554".into(), SelectionReason::FirstEmulator));
    // Calls without a device now use this one.
    assert_eq!(
        SessionCall::new(&session, &Call::with_timeout(Duration::from_secs(60)), &Action::LOOK)
            .chosen_id()
            .await
            .unwrap(),
        "emulator-5554"
    );
}

#[tokio::test]
async fn virtual_phone_is_selected_only_by_name() {
    let (session, _) = listing("", None).await;
    let failure = ask(&session, Action::SelectDefaultDevice).await.unwrap_err();
    assert_eq!(failure, Cause::NoDeviceChosen { devices: Vec::new() }.into());
    let (session, _) = listing(FIRST, Some(VIRTUAL)).await;
    assert_eq!(any(&session).await, (VIRTUAL.into(), SelectionReason::AlreadySelected));
}

#[tokio::test]
async fn of_several_named_phones_a_call_must_name_or_select_one() {
    // Only one of them is connected, and still it may not be the one that is meant.
    let (session, _) = listing(FIRST, ["R58M1", "127.0.0.1:9"]).await;
    let failure = ask(&session, Action::CurrentApp).await.unwrap_err();
    let Cause::NoDeviceChosen { devices } = failure.cause else { panic!("{failure:?}") };
    let devices: Vec<_> = devices.iter().map(|phone| (&*phone.id, &*phone.state)).collect();
    assert_eq!(devices, [("R58M1", "device"), ("127.0.0.1:9", ListedDevice::NOT_YET)]);
    let call = Call::with_timeout(Duration::from_secs(9)).on(Some("R58M1".into()));
    session.perform(&call, Action::CurrentApp).await.unwrap();
    assert!(
        SessionCall::new(&session, &call, &Action::LOOK).chosen_id().await.is_err(),
        "naming one does not select it"
    );
    let select = Action::SelectDevice { device: "R58M1".into(), platform: None };
    ask(&session, select).await.unwrap();
    assert_eq!(
        SessionCall::new(&session, &call, &Action::LOOK).chosen_id().await.unwrap(),
        "R58M1"
    );
}

#[tokio::test]
async fn unready_phones_are_listed_in_the_error() {
    let (session, _) = listing(OFFLINE, None).await;
    let failure = ask(&session, Action::SelectDefaultDevice).await.unwrap_err();
    let Cause::NoDeviceChosen { devices } = failure.cause else { panic!("{failure:?}") };
    let devices: Vec<_> = devices.iter().map(|phone| (&*phone.id, &*phone.state)).collect();
    assert_eq!(devices, [("R58M1", "offline")]);
}

#[tokio::test]
async fn phone_selected_by_address_gets_connected() {
    // Nothing listens there.
    let (session, _) = listing(FIRST, Some("127.0.0.1:9")).await;
    let failure = ask(&session, Action::SelectDefaultDevice).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    session.keep("127.0.0.1:9", Fake::new(Vec::new()));
    let done = ask(&session, Action::SelectDefaultDevice).await;
    assert!(
        matches!(
            done,
            Ok(Outcome::DefaultDeviceSelected(DefaultDevice {
                reason: SelectionReason::AlreadySelected,
                ..
            }))
        ),
        "{done:?}"
    );
}

#[tokio::test]
async fn health_result_names_its_phone() {
    let session = over(&Fake::new(Vec::new()));
    let Ok(Outcome::Health(HealthResult { identity, health })) =
        ask(&session, Action::Health).await
    else {
        panic!()
    };
    assert_eq!((&*identity.id, health.is_well()), ("fake", true));
}

//! Which phone is chosen by a caller who names none.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::action::Chosen;

/// An adb server that knows nothing but this list, which may change.
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

/// A session over this list; every phone of it answers, and those that are reached by their address.
async fn listing(list: &str, chosen: Option<&str>) -> (Session, Arc<Mutex<String>>) {
    let list = Arc::new(Mutex::new(list.to_owned()));
    let phones = Phones::new(server(&list).await);
    let session = Session::new(phones, chosen.map(str::to_owned));
    for id in ["emulator-5554", "R58M1", "R58M2", VIRTUAL] {
        let mut phone = Fake::new(Vec::new());
        Arc::get_mut(&mut phone).unwrap().identity.id = id.into();
        session.keep(id, phone);
    }
    (session, list)
}

async fn any(session: &Session) -> (String, Chosen) {
    match ask(session, Action::UseAnyDevice).await {
        Ok(Outcome::Chosen(listed, why)) => {
            assert!(listed.is_ready(), "{listed:?}");
            (listed.id, why)
        }
        other => panic!("{other:?}"),
    }
}

const EMULATOR: &str = "emulator-5554          device product:sdk model:sdk transport_id:1\n";
const FIRST: &str = "R58M1                  device product:a model:A transport_id:2\n";
const SECOND: &str = "R58M2                  device product:b model:B transport_id:3\n";
const OFFLINE: &str = "R58M1                  offline transport_id:2\n";

#[tokio::test]
async fn a_physical_phone_is_chosen_before_an_emulator_and_stays_chosen_while_it_is_ready() {
    let (session, list) = listing(&[EMULATOR, FIRST, SECOND].concat(), None).await;
    assert_eq!(any(&session).await, ("R58M1".into(), Chosen::FirstPhysical));
    *lock(&list) = [SECOND, FIRST, EMULATOR].concat();
    assert_eq!(any(&session).await, ("R58M1".into(), Chosen::Before));
    *lock(&list) = [OFFLINE, EMULATOR, SECOND].concat();
    assert_eq!(any(&session).await, ("R58M2".into(), Chosen::FirstPhysical));
    *lock(&list) = [OFFLINE, EMULATOR].concat();
    assert_eq!(any(&session).await, ("emulator-5554".into(), Chosen::FirstEmulator));
    // Whoever names no phone from now on gets that one.
    assert_eq!(session.chosen_id().await.unwrap(), "emulator-5554");
}

#[tokio::test]
async fn the_built_in_phone_is_chosen_where_it_was_named_only() {
    let (session, _) = listing("", None).await;
    let failure = ask(&session, Action::UseAnyDevice).await.unwrap_err();
    assert_eq!(failure, Cause::NoDeviceChosen { there: Vec::new() }.into());
    let (session, _) = listing(FIRST, Some(VIRTUAL)).await;
    assert_eq!(any(&session).await, (VIRTUAL.into(), Chosen::Before));
}

#[tokio::test]
async fn where_no_phone_is_ready_those_that_are_there_are_told() {
    let (session, _) = listing(OFFLINE, None).await;
    let failure = ask(&session, Action::UseAnyDevice).await.unwrap_err();
    let Cause::NoDeviceChosen { there } = failure.cause else { panic!("{failure:?}") };
    let there: Vec<_> = there.iter().map(|phone| (&*phone.id, &*phone.state)).collect();
    assert_eq!(there, [("R58M1", "offline")]);
}

#[tokio::test]
async fn a_phone_chosen_by_its_address_is_connected_to() {
    // Nobody listens there.
    let (session, _) = listing(FIRST, Some("127.0.0.1:9")).await;
    let failure = ask(&session, Action::UseAnyDevice).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    session.keep("127.0.0.1:9", Fake::new(Vec::new()));
    let done = ask(&session, Action::UseAnyDevice).await;
    assert!(matches!(done, Ok(Outcome::Chosen(_, Chosen::Before))), "{done:?}");
}

#[tokio::test]
async fn a_phones_health_says_whose_it_is() {
    let session = over(&Fake::new(Vec::new()));
    let Ok(Outcome::Health(identity, health)) = ask(&session, Action::Health).await else {
        panic!()
    };
    assert_eq!((&*identity.id, health.is_well()), ("fake", true));
}

//! Screen rotation and its restoration: within a session, by the next one, and by the whole
//! program.

use std::time::Duration;

use serde_json::json;
use thumbwire_adb::{AdbServer, DirectTransport};
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform as _, ScreenshotOptions};
use thumbwire_core::providers::DeviceProviders;
use thumbwire_core::session::Session;
use thumbwire_device::Orientation::{Landscape, Portrait};
use thumbwire_device::android::Android;
use thumbwire_device::{Device as _, DisplayControl as _, Error, Orientation, RotationOwner, Size};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::Display;
use tokio::net::TcpListener;

use crate::support::{McpProcess, thumbwire};

const JOURNAL: &str = "/data/local/tmp/thumbwire-orientation";

/// A virtual phone on TCP, and its address.
async fn on_tcp() -> (VirtualPhone, String) {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    (phone, address)
}

/// A separate session, like another program's.
fn session(address: &str) -> Session {
    Session::new(DeviceProviders::adb(AdbServer::new("127.0.0.1:9")), Some(address.to_owned()))
}

async fn ask(session: &Session, action: Action) -> Result<Outcome, Failure> {
    session.perform(&Call::with_timeout(Duration::from_secs(60)), action).await
}

async fn turn(session: &Session, orientation: Orientation) {
    ask(session, Action::SetOrientation(orientation)).await.unwrap();
}

/// `accelerometer_rotation`, `user_rotation`, and whether a journal exists on the phone.
fn held(phone: &VirtualPhone) -> (String, String, bool) {
    let setting = |name| phone.world(|world| world.setting("system", name).unwrap().to_owned());
    (setting("accelerometer_rotation"), setting("user_rotation"), journal(phone).is_some())
}

fn journal(phone: &VirtualPhone) -> Option<String> {
    let read = phone.files(|files| files.read(JOURNAL)).ok()?;
    Some(String::from_utf8_lossy(read.as_ref()).into_owned())
}

fn as_found() -> (String, String, bool) {
    ("1".into(), "0".into(), false)
}

fn turned() -> (String, String, bool) {
    ("0".into(), "1".into(), true)
}

#[tokio::test]
async fn rotation_is_visible_and_restored_at_session_end() {
    let (phone, address) = on_tcp().await;
    let session = session(&address);
    let picture =
        async || match ask(&session, Action::Screenshot(ScreenshotOptions::default())).await {
            Ok(Outcome::Screenshot(picture)) => (picture.size.width, picture.size.height),
            other => panic!("{other:?}"),
        };
    assert_eq!(picture().await, (1080, 2400));
    turn(&session, Landscape).await;
    assert_eq!(picture().await, (2400, 1080));
    let Outcome::Snapshot(look) = ask(&session, Action::LOOK).await.unwrap() else { panic!() };
    assert_eq!(look.tree.rotation, 1);
    assert_eq!(held(&phone), turned());
    session.end().await;
    assert_eq!(held(&phone), as_found());
    // Ending twice does no harm.
    let commands = phone.commands().len();
    session.end().await;
    assert_eq!(phone.commands().len(), commands);
}

#[tokio::test]
async fn second_rotation_keeps_the_original_state() {
    let (phone, address) = on_tcp().await;
    phone.world(|world| {
        world.put_setting("system", "accelerometer_rotation", "0");
        world.put_setting("system", "user_rotation", "3");
    });
    let session = session(&address);
    for orientation in [Portrait, Landscape, Portrait] {
        turn(&session, orientation).await;
    }
    session.end().await;
    assert_eq!(held(&phone), ("0".into(), "3".into(), false));
}

#[tokio::test]
async fn next_session_restores_a_left_over_rotation() {
    let (phone, address) = on_tcp().await;
    let killed = session(&address);
    turn(&killed, Landscape).await;
    drop(killed);
    assert_eq!(held(&phone), turned());
    let next = session(&address);
    ask(&next, Action::CurrentApp).await.unwrap();
    assert_eq!(held(&phone), as_found());
}

#[tokio::test]
async fn reconnecting_session_keeps_its_rotation() {
    let (phone, address) = on_tcp().await;
    let session = session(&address);
    turn(&session, Landscape).await;
    phone.unplug();
    ask(&session, Action::CurrentApp).await.unwrap_err();
    phone.plug();
    ask(&session, Action::CurrentApp).await.unwrap();
    assert_eq!(held(&phone), turned());
    session.end().await;
    assert_eq!(held(&phone), as_found());
}

#[tokio::test]
async fn first_of_two_sessions_decides_what_is_restored() {
    let (phone, address) = on_tcp().await;
    let (one, two) = (session(&address), session(&address));
    for session in [&one, &two] {
        ask(session, Action::CurrentApp).await.unwrap();
    }
    turn(&one, Landscape).await;
    let kept = journal(&phone);
    turn(&two, Portrait).await;
    assert_eq!(journal(&phone), kept);
    two.end().await;
    assert_eq!(journal(&phone), kept, "the other session restores it");
    one.end().await;
    assert_eq!(held(&phone), as_found());
}

#[tokio::test]
async fn connecting_costs_one_extra_command() {
    let (phone, address) = on_tcp().await;
    let session = session(&address);
    let commands = || phone.commands().into_iter().map(|command| command.argv.join(" "));
    ask(&session, Action::CurrentApp).await.unwrap();
    let first: Vec<_> = commands().collect();
    assert_eq!((first.len(), first[0].as_str()), (3, format!("cat {JOURNAL}").as_str()));
    ask(&session, Action::CurrentApp).await.unwrap();
    assert_eq!(commands().filter(|command| command.starts_with("cat ")).count(), 1);
}

#[tokio::test]
async fn corrupt_journal_is_ignored() {
    let (phone, address) = on_tcp().await;
    for garbage in [&b"\xff\0\x1b[2J"[..], b"thumbwire-orientation 1 a 1 7 end", &[b'x'; 100_000]] {
        phone.files(|files| files.write(JOURNAL, garbage, 0o600)).unwrap();
        let session = session(&address);
        ask(&session, Action::CurrentApp).await.unwrap();
        turn(&session, Landscape).await;
        session.end().await;
        assert_eq!(held(&phone), as_found());
    }
}

#[tokio::test]
async fn landscape_tablet_rotates_to_portrait() {
    let display = Display { width: 2000, height: 1200, density: 240, rotation: 0 };
    let phone = VirtualPhone::new(Setup { display, ..Setup::default() });
    let way = DirectTransport::from_io(phone.in_memory());
    let device = Android::attach("tablet", std::sync::Arc::new(way)).await.unwrap();
    assert_eq!(device.orientation().await.unwrap(), Landscape);
    device.set_orientation(Portrait, "test").await.unwrap();
    assert_eq!(device.orientation().await.unwrap(), Portrait);
    assert_eq!(device.screen_size().await.unwrap(), Size { width: 1200, height: 2000 });
    assert!(!device.restore_orientation(RotationOwner::Session("other")).await.unwrap());
    assert!(!device.restore_orientation(RotationOwner::OtherThan("test")).await.unwrap());
    assert!(device.restore_orientation(RotationOwner::Session("test")).await.unwrap());
    assert_eq!(held(&phone), as_found());
    let refused = device.set_orientation(Portrait, "two words").await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
}

#[tokio::test]
async fn size_and_density_overrides_apply_in_any_rotation() {
    let phone = VirtualPhone::new(Setup::default());
    let way = DirectTransport::from_io(phone.in_memory());
    let device = Android::attach("smaller", std::sync::Arc::new(way)).await.unwrap();
    // Sixteen by nine, landscape, on a portrait phone.
    phone.world(|world| {
        world.set_size_override(Some((1280, 720)));
        world.set_density_override(Some(320));
    });
    for (orientation, width, height) in [(Portrait, 720, 1280), (Landscape, 1280, 720)] {
        device.set_orientation(orientation, "test").await.unwrap();
        let info = device.info().await.unwrap();
        assert_eq!((info.screen, info.orientation), (Size { width, height }, orientation));
        assert_eq!(info.density, Some(320));
        assert_eq!(device.screenshot().await.unwrap().size, info.screen);
    }
    phone.world(|world| world.set_density_override(None));
    assert_eq!(device.info().await.unwrap().density, Some(420));
}

/// A phone for other programs, while the test waits for them.
fn for_programs() -> (tokio::runtime::Runtime, VirtualPhone, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (phone, address) = runtime.block_on(on_tcp());
    (runtime, phone, address)
}

#[test]
fn server_restores_rotation_when_its_client_disconnects() {
    let (_runtime, phone, address) = for_programs();
    let mut server = McpProcess::connected(&["--device", &address]);
    let turn = |orientation| json!({ "orientation": orientation });
    let replies = [
        server.call("mobile_set_orientation", turn("landscape")),
        server.call("mobile_set_orientation", turn("landscape")),
        server.call("mobile_set_orientation", turn("upside down")),
    ];
    insta::assert_json_snapshot!("replies_to_turning", replies);
    assert_eq!(held(&phone), turned());
    assert_eq!(server.close(), Some(0));
    assert_eq!(held(&phone), as_found());
}

#[cfg(unix)]
#[test]
fn server_restores_rotation_on_shutdown() {
    let (_runtime, phone, address) = for_programs();
    for signal in ["TERM", "INT", "HUP"] {
        let mut server = McpProcess::connected(&["--device", &address]);
        server.say("mobile_set_orientation", json!({ "orientation": "landscape" }));
        assert_eq!(held(&phone), turned());
        assert_eq!(server.end_by(signal), Some(0), "{signal}");
        assert_eq!(held(&phone), as_found(), "{signal}");
    }
}

#[test]
fn manual_calls_keep_rotation_and_a_server_restores_it() {
    let (_runtime, phone, address) = for_programs();
    let call = |tool: &str, arguments: &str| {
        let mut command = thumbwire();
        let called = command.args(["call", tool, arguments, "--device", &address]).output();
        assert!(called.unwrap().status.success(), "{tool}");
    };
    call("mobile_set_orientation", r#"{"orientation": "landscape"}"#);
    call("mobile_get_current_app", "{}");
    assert_eq!(held(&phone), turned());
    let mut server = McpProcess::connected(&["--device", &address]);
    server.call("mobile_get_current_app", json!({}));
    assert_eq!(held(&phone), as_found());
}

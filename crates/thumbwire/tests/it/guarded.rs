//! Phones that ask for a key, with the virtual phone's own door: refused, accepted later, known from then on.

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use thumbwire::action::{Action, Call, Cause, Outcome, Perform as _};
use thumbwire::session::{OurKey, Phones, Session};
use thumbwire_adb::{AdbServer, PublicKey};
use thumbwire_device::{Acted, Key};
use thumbwire_virtual_phone::{Setup, VirtualPhone};
use tokio::net::TcpListener;

/// A guarded phone of that release, its address, and a user's home.
async fn guarded(release: &str) -> (VirtualPhone, String, TempDir) {
    let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
    phone.set_guarded(true);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    (phone, address, tempfile::tempdir().unwrap())
}

/// A session of a user with that home, whose phones' owners get so long to accept a key.
fn session(home: &TempDir, address: &str, consent: Duration) -> Session {
    let file = home.path().join("adbkey");
    let source = Box::new(move || thumbwire::key::read_or_make(&file, "me@here").map(Arc::new));
    let phones = Phones::new(AdbServer::new("127.0.0.1:9"));
    let phones = phones.with_key(OurKey { source, name: "me@here".into(), consent });
    Session::new(phones, Some(address.to_owned()))
}

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(30);

async fn press(session: &Session) -> Result<Outcome, thumbwire::action::Failure> {
    session.perform(&Call::within(Duration::from_secs(60)), Action::Press(Key::Home)).await
}

#[tokio::test]
async fn a_key_that_nobody_accepts_is_not_authorized_and_nothing_was_done() {
    for release in ["14", "4.4"] {
        let (phone, address, home) = guarded(release).await;
        let failure = press(&session(&home, &address, SHORT)).await.unwrap_err();
        assert_eq!(failure.cause, Cause::DeviceNotAuthorized { device: address });
        assert_eq!(failure.acted, Acted::No);
        assert!(phone.commands().is_empty());
    }
}

#[tokio::test]
async fn a_key_that_is_accepted_is_let_in_and_known_from_then_on() {
    for release in ["14", "4.4"] {
        let (phone, address, home) = guarded(release).await;
        let asking = session(&home, &address, LONG);
        let (pressed, key) = tokio::join!(press(&asking), async {
            let key = phone.until_key_shown().await;
            phone.answer_key(true);
            key
        });
        pressed.unwrap();
        assert!(key.ends_with(" me@here"), "{key}");
        assert_eq!(phone.key_shown(), None);
        // Another program of the same user: nobody is asked, so a short wait is enough.
        press(&session(&home, &address, SHORT)).await.unwrap();
        // The owner thinks better of it.
        phone.forget_keys();
        let failure = press(&session(&home, &address, SHORT)).await.unwrap_err();
        assert!(matches!(failure.cause, Cause::DeviceNotAuthorized { .. }), "{failure:?}");
        phone.trust(&PublicKey::read(&key).unwrap());
        press(&session(&home, &address, SHORT)).await.unwrap();
    }
}

#[tokio::test]
async fn a_key_that_was_refused_can_be_accepted_the_next_time() {
    let (phone, address, home) = guarded("14").await;
    let asking = session(&home, &address, SHORT);
    let (refused, ()) = tokio::join!(press(&asking), async {
        phone.until_key_shown().await;
        phone.answer_key(false);
    });
    assert!(matches!(refused.unwrap_err().cause, Cause::DeviceNotAuthorized { .. }));
    assert_eq!(phone.key_shown(), None, "the question went with its host");
    let asking = session(&home, &address, LONG);
    let (pressed, ()) = tokio::join!(press(&asking), async {
        phone.until_key_shown().await;
        phone.answer_key(true);
    });
    pressed.unwrap();
}

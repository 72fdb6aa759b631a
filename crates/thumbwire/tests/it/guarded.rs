//! Phones that require a key, on the virtual phone: refused, accepted later, remembered.

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use thumbwire_adb::PublicKey;
use thumbwire_core::action::{Action, Call, Cause, Outcome, Perform as _};
use thumbwire_core::providers::{AdbDirectProvider, DeviceProviders, HostKey};
use thumbwire_core::session::Session;
use thumbwire_device::{Key, SideEffect};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::net::TcpListener;

/// A phone of this release that requires a key, its address, and a user's home folder.
async fn guarded(release: &str) -> (VirtualPhone, String, TempDir) {
    let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
    phone.set_guarded(true);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    (phone, address, tempfile::tempdir().unwrap())
}

/// A session of the user with this home; phones give their users `consent` to accept a key.
fn session(home: &TempDir, address: &str, consent: Duration) -> Session {
    let file = home.path().join("adbkey");
    let source =
        Box::new(move || thumbwire_core::adb_key::read_or_make(&file, "me@here").map(Arc::new));
    let key = Arc::new(HostKey { source, name: "me@here".into(), consent });
    let phones = DeviceProviders::default().with(AdbDirectProvider::default().with_key(key));
    Session::new(phones, Some(address.to_owned()))
}

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(30);

async fn press(session: &Session) -> Result<Outcome, thumbwire_core::action::Failure> {
    session.perform(&Call::with_timeout(Duration::from_secs(60)), Action::Press(Key::Home)).await
}

#[tokio::test]
async fn ignored_key_is_unauthorized_and_nothing_was_done() {
    for release in ["14", "4.4"] {
        let (phone, address, home) = guarded(release).await;
        let failure = press(&session(&home, &address, SHORT)).await.unwrap_err();
        assert_eq!(failure.cause, Cause::DeviceNotAuthorized { device: address });
        assert_eq!(failure.side_effect, SideEffect::None);
        assert!(phone.commands().is_empty());
    }
}

#[tokio::test]
async fn accepted_key_is_authorized_and_remembered() {
    for release in ["14", "4.4"] {
        let (phone, address, home) = guarded(release).await;
        let asking = session(&home, &address, LONG);
        let (pressed, key) = tokio::join!(press(&asking), async {
            let key = phone.wait_for_key().await;
            phone.answer_key(true);
            key
        });
        pressed.unwrap();
        assert!(key.ends_with(" me@here"), "{key}");
        assert_eq!(phone.key_shown(), None);
        // Android 4.4 serves one host at a time.
        asking.end().await;
        // Another program of the same user: nobody is asked, so a short wait is enough.
        let other = session(&home, &address, SHORT);
        press(&other).await.unwrap();
        other.end().await;
        // The user revokes the authorization.
        phone.forget_keys();
        let refused = session(&home, &address, SHORT);
        let failure = press(&refused).await.unwrap_err();
        assert!(matches!(failure.cause, Cause::DeviceNotAuthorized { .. }), "{failure:?}");
        refused.end().await;
        phone.trust(&PublicKey::read(&key).unwrap());
        press(&session(&home, &address, SHORT)).await.unwrap();
    }
}

#[tokio::test]
async fn refused_key_can_be_accepted_later() {
    let (phone, address, home) = guarded("14").await;
    let asking = session(&home, &address, SHORT);
    let (refused, ()) = tokio::join!(press(&asking), async {
        phone.wait_for_key().await;
        phone.answer_key(false);
    });
    assert!(matches!(refused.unwrap_err().cause, Cause::DeviceNotAuthorized { .. }));
    assert_eq!(phone.key_shown(), None, "the prompt disappeared with its host");
    let asking = session(&home, &address, LONG);
    let (pressed, ()) = tokio::join!(press(&asking), async {
        phone.wait_for_key().await;
        phone.answer_key(true);
    });
    pressed.unwrap();
}

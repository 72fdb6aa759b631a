//! What sessions with one state store share, and what they do not.

use super::*;
use crate::action::{AppFilter, CacheKind};
use crate::state_store::{MemoryStore, StateStore};

const MINUTE: Duration = Duration::from_secs(60);

/// A session of this client, connected to this phone and another one.
fn session(store: &Arc<dyn StateStore>, client: &str, phone: &Arc<Fake>) -> Session {
    let session = Session::new(DeviceProviders::default(), None);
    let session = session.with_state_store(Arc::clone(store), client);
    let mut other = Fake::new(Vec::new());
    Arc::get_mut(&mut other).unwrap().identity.id = "other".into();
    session.keep("other", other);
    session.keep("fake", Arc::<Fake>::clone(phone));
    session
}

fn store() -> Arc<dyn StateStore> {
    Arc::new(MemoryStore::default())
}

async fn select(session: &Session, device: &str) {
    let device = device.to_owned();
    ask(session, Action::SelectDevice { device, platform: None }).await.unwrap();
}

/// The phone that a call without a device uses.
async fn selected(session: &Session) -> String {
    match ask(session, Action::Health).await {
        Ok(Outcome::Health(identity, _)) => identity.id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_client_has_its_own_selection_which_outlives_its_session() {
    let (store, phone) = (store(), Fake::new(Vec::new()));
    let (ann, bob) = (session(&store, "ann", &phone), session(&store, "bob", &phone));
    select(&ann, "fake").await;
    select(&bob, "other").await;
    assert_eq!(selected(&ann).await, "fake");
    assert_eq!(selected(&bob).await, "other");
    drop(bob);
    assert_eq!(selected(&session(&store, "bob", &phone)).await, "other");
}

#[tokio::test(start_paused = true)]
async fn action_on_a_phone_leased_to_another_client_is_refused() {
    let (store, phone) = (store(), Fake::new(vec![label("Pay", [0, 0, 50, 50])]));
    phone.keys.add_permits(9);
    let (ann, bob) = (session(&store, "ann", &phone), session(&store, "bob", &phone));
    select(&ann, "fake").await;
    select(&bob, "fake").await;
    let lease = bob.leases().acquire("fake", &"bob".into(), MINUTE).await.unwrap();
    let refused = ask(&ann, Action::Press(Key::Back)).await.unwrap_err();
    let text = "device fake is busy: client \"bob\" acts on it, for another 60 s or longer";
    assert_eq!(refused.cause.to_string(), text);
    assert_eq!(refused.side_effect, SideEffect::None);
    ask(&ann, Action::LOOK).await.expect("looking needs no lease");
    ask(&bob, Action::Press(Key::Back)).await.expect("it is the holder");
    bob.leases().release(lease).await.unwrap();
    ask(&ann, Action::Press(Key::Back)).await.expect("the lease was released");
    ann.leases().acquire("fake", &"ann".into(), MINUTE).await.unwrap();
    ask(&bob, Action::Press(Key::Back)).await.expect_err("it is another's");
    tokio::time::advance(MINUTE).await;
    ask(&bob, Action::Press(Key::Back)).await.expect("the lease has ended");
}

#[tokio::test(start_paused = true)]
async fn app_list_is_shared_and_invalidated_for_all() {
    let (store, phone) = (store(), Fake::new(Vec::new()));
    let (ann, bob) = (session(&store, "ann", &phone), session(&store, "bob", &phone));
    let list = async |session: &Session| {
        let list =
            Action::ListApps { which: AppFilter::All, containing: String::new(), max_age: MINUTE };
        ask(session, list).await.unwrap();
        phone.listed.load(Ordering::SeqCst)
    };
    select(&ann, "fake").await;
    select(&bob, "fake").await;
    assert_eq!(list(&ann).await, 1);
    assert_eq!(list(&bob).await, 1);
    ask(&bob, Action::InvalidateCache(CacheKind::Apps)).await.unwrap();
    assert_eq!(list(&ann).await, 2);
}

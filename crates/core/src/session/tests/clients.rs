//! Several clients of one session.

use super::*;

/// A call of one of several clients.
fn of(client: &str) -> Call {
    let mut call = Call::with_timeout(Duration::from_secs(60));
    call.client = client.into();
    call
}

/// A session connected to the phones `fake` and `other`.
fn two_phones() -> (Session, Arc<Fake>) {
    let phone = Fake::new(Vec::new());
    phone.keys.add_permits(99);
    let session = over(&phone);
    let mut other = Fake::new(Vec::new());
    Arc::get_mut(&mut other).unwrap().identity.id = "other".into();
    session.keep("other", other);
    (session, phone)
}

async fn choose(session: &Session, client: &str, device: &str) {
    let choice = Action::SelectDevice { device: device.to_owned(), platform: None };
    session.perform(&of(client), choice).await.unwrap();
}

/// The phone that a call of this client without a device uses.
async fn used(session: &Session, client: &str) -> String {
    match session.perform(&of(client), Action::Health).await {
        Ok(Outcome::Health(identity, _)) => identity.id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn each_client_has_its_own_choice_until_it_is_not_used_for_a_day() {
    let (session, _) = two_phones();
    choose(&session, "ann", "other").await;
    choose(&session, "", "other").await;
    assert_eq!(used(&session, "bob").await, "fake", "the configured one");
    choose(&session, "bob", "fake").await;
    choose(&session, "", "fake").await;
    assert_eq!(used(&session, "ann").await, "other");
    for _ in 0..3 {
        tokio::time::advance(Duration::from_secs(20 * 60 * 60)).await;
        assert_eq!(used(&session, "ann").await, "other", "it is used");
    }
    tokio::time::advance(Duration::from_secs(26 * 60 * 60)).await;
    assert_eq!(used(&session, "ann").await, "fake", "the configured one");
}

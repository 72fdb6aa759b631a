//! Several clients of one session.

use tokio::time::sleep;

use super::*;
use crate::action::{HealthResult, ListedDevice};
use crate::providers::{DeviceProvider, OpenResult};

/// A call of one of several clients.
fn of(client: &str) -> Call {
    let mut call = Call::with_timeout(Duration::from_secs(60));
    call.client = self::client(client);
    call
}

fn client(id: &str) -> ClientId {
    ClientId::Session(id.into())
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
        Ok(Outcome::Health(HealthResult { identity, .. })) => identity.id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_client_has_its_own_choice_until_it_leaves() {
    let (session, _) = two_phones();
    choose(&session, "ann", "other").await;
    assert_eq!(used(&session, "bob").await, "fake", "the configured one");
    choose(&session, "bob", "fake").await;
    assert_eq!(used(&session, "ann").await, "other");
    session.client_left(&client("bob")).await;
    assert_eq!(used(&session, "ann").await, "other");
    session.client_left(&client("ann")).await;
    assert_eq!(used(&session, "ann").await, "fake", "the configured one");
}

/// A phone that takes a second to open.
struct SlowToOpen {
    phone: Arc<Fake>,
    opened: Arc<AtomicUsize>,
}

#[async_trait]
impl DeviceProvider for SlowToOpen {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        Ok(Vec::new())
    }

    async fn open(&self, _id: &str) -> Result<OpenResult, Failure> {
        sleep(Duration::from_secs(1)).await;
        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(OpenResult::Opened(Arc::<Fake>::clone(&self.phone)))
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_first_calls_one_opens_the_phone() {
    let opened = Arc::default();
    let slow = SlowToOpen { phone: Fake::new(Vec::new()), opened: Arc::clone(&opened) };
    let session = Session::new(DeviceProviders::default().with(slow), Some("fake".into()));
    tokio::join!(used(&session, "ann"), used(&session, "bob"));
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

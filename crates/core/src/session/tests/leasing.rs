//! Several clients of one session that act on one phone.

use futures::future::join_all;

use super::studio::{Studio, in_leased_studios};
use super::*;
use crate::action::{CallState, ClientName, Scope};

const SECOND: Duration = Duration::from_secs(1);

/// A call of one of several clients, whose id is a secret.
fn of(client: &str) -> Call {
    let mut call = Call::with_timeout(SECOND * 600);
    call.client = id(client);
    call.client_name = ClientName::clean(client);
    call
}

fn id(client: &str) -> ClientId {
    ClientId::Session(format!("secret-{client}").into())
}

fn leased(phone: &Arc<Fake>) -> Session {
    over_with(phone, SessionOptions { lease_time: SECOND * 30, ..SessionOptions::default() })
}

/// A session with a phone that presses keys at once.
fn quick() -> (Session, Arc<Fake>) {
    let phone = Fake::new(vec![]);
    phone.keys.add_permits(99);
    (leased(&phone), phone)
}

async fn press(session: &Session, client: &str) -> Result<Outcome, Failure> {
    session.perform(&of(client), Action::Press(Key::Back)).await
}

fn busy(pressed: Result<Outcome, Failure>) -> String {
    match pressed {
        Err(failure @ Failure { cause: Cause::DeviceBusy { .. }, .. }) => {
            assert_eq!(failure.side_effect, SideEffect::None);
            failure.cause.to_string()
        }
        other => panic!("{other:?}"),
    }
}

/// Lets the background tasks run.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn while_one_client_acts_others_may_only_look() {
    let (session, _phone) = quick();
    press(&session, "ann").await.unwrap();
    settle().await;
    tokio::time::advance(SECOND * 20).await;
    let refused = session.perform(&of("bob"), Action::Press(Key::Back)).await.unwrap_err();
    assert_eq!(
        refused.cause.to_string(),
        "device fake is busy: client \"ann\" acts on it, for another 10 s or longer"
    );
    assert_eq!(
        refused.next_step(),
        "try again in 10 s, or use another device; screenshots and lists are allowed meanwhile"
    );
    session.perform(&of("bob"), Action::LOOK).await.expect("looking needs no lease");
    press(&session, "ann").await.expect("it is the holder's");
    settle().await;
    tokio::time::advance(SECOND * 29).await;
    busy(press(&session, "bob").await);
    tokio::time::advance(SECOND).await;
    press(&session, "bob").await.expect("the lease has ended");
    busy(press(&session, "ann").await);
}

#[tokio::test(start_paused = true)]
async fn a_long_act_keeps_its_lease_and_others_are_refused_at_once() {
    let phone = Fake::new(vec![]);
    let session = Arc::new(leased(&phone));
    let acting = Arc::clone(&session);
    let acting = tokio::spawn(async move { press(&acting, "ann").await });
    settle().await;
    for _ in 0..20 {
        tokio::time::advance(SECOND * 10).await;
        settle().await;
        let asked = Instant::now();
        let text = busy(press(&session, "bob").await);
        assert!(text.contains("for another 30 s or longer"), "{text}");
        assert_eq!(asked.elapsed(), Duration::ZERO, "it did not wait for its turn");
    }
    phone.keys.add_permits(9);
    acting.await.unwrap().unwrap();
    settle().await;
    busy(press(&session, "bob").await);
    tokio::time::advance(SECOND * 30).await;
    press(&session, "bob").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn of_many_clients_that_act_at_once_one_acts() {
    let (session, _phone) = quick();
    let clients: Vec<String> = (0..50).map(|number| format!("client {number}")).collect();
    let pressed = join_all(clients.iter().map(|client| press(&session, client))).await;
    let acted: Vec<_> = pressed.iter().filter(|pressed| pressed.is_ok()).collect();
    assert_eq!(acted.len(), 1);
    for refused in pressed.into_iter().filter(Result::is_err) {
        busy(refused);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_holds_the_phone_between_its_acts() {
    let (session, _phone) = quick();
    let run = of("ann");
    session.perform(&run.clone(), Action::Press(Key::Back)).await.unwrap();
    for _ in 0..30 {
        tokio::time::advance(SECOND * 10).await;
        settle().await;
        busy(press(&session, "bob").await);
    }
    assert_eq!(run.state.phone(), Some("fake"));
    drop(run);
    settle().await;
    busy(press(&session, "bob").await);
    tokio::time::advance(SECOND * 30).await;
    press(&session, "bob").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_holds_the_phone_from_its_first_look_on() {
    let (session, _phone) = quick();
    let run = Call { exclusive: true, ..of("ann") };
    session.perform(&run, Action::LOOK).await.unwrap();
    busy(press(&session, "bob").await);
    let other = Call { exclusive: true, ..of("bob") };
    busy(session.perform(&other, Action::LOOK).await);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_gives_its_phone_back() {
    let (session, _phone) = quick();
    press(&session, "ann").await.unwrap();
    settle().await;
    session.client_left(&id("bob")).await;
    busy(press(&session, "bob").await);
    session.client_left(&id("ann")).await;
    press(&session, "bob").await.expect("the holder has left");
}

#[tokio::test(start_paused = true)]
async fn what_still_acts_for_a_client_that_left_is_not_interrupted() {
    let phone = Fake::new(vec![]);
    let session = Arc::new(leased(&phone));
    let acting = Arc::clone(&session);
    let acting = tokio::spawn(async move { press(&acting, "ann").await });
    settle().await;
    session.client_left(&id("ann")).await;
    tokio::time::advance(SECOND * 300).await;
    settle().await;
    busy(press(&session, "bob").await);
    phone.keys.add_permits(9);
    acting.await.unwrap().unwrap();
    settle().await;
    press(&session, "bob").await.expect("its last act has ended");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_act_leaves_a_lease_that_ends() {
    let phone = Fake::new(vec![]);
    let session = leased(&phone);
    let acting = press(&session, "ann");
    assert!(tokio::time::timeout(SECOND, acting).await.is_err());
    settle().await;
    busy(press(&session, "bob").await);
    tokio::time::advance(SECOND * 30).await;
    phone.keys.add_permits(1);
    press(&session, "bob").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_recording_holds_the_phone_until_it_ends_or_its_client_leaves() {
    for leaves in [false, true] {
        let phone = Studio::new("fake");
        let (session, _root) = in_leased_studios(&[&phone], SECOND * 30);
        let start = || Action::StartRecording {
            name: None,
            duration: SECOND * 120,
            bit_rate: None,
            size: None,
        };
        let started = session.perform(&of("ann"), start()).await.unwrap();
        let Outcome::Recording(started) = started else { panic!("{started:?}") };
        settle().await;
        tokio::time::advance(SECOND * 60).await;
        settle().await;
        busy(session.perform(&of("bob"), start()).await);
        let stop = || Action::StopRecording { recording: Some(started.id.clone()), fetch: false };
        let refused = session.perform(&of("bob"), stop()).await.unwrap_err();
        let cause = Cause::NoSuchRecording { id: started.id.clone(), known: Vec::new() };
        assert_eq!(refused.cause, cause, "it is another client's");
        match leaves {
            true => session.client_left(&id("ann")).await,
            false => drop(session.perform(&of("ann"), stop()).await.unwrap()),
        }
        settle().await;
        tokio::time::advance(SECOND * if leaves { 0 } else { 30 }).await;
        session.perform(&of("bob"), start()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_gives_all_phones_back() {
    let (session, _phone) = quick();
    press(&session, "ann").await.unwrap();
    settle().await;
    assert!(session.lease("fake").is_some());
    session.end().await;
    assert_eq!(session.lease("fake"), None);
}

#[tokio::test(start_paused = true)]
async fn without_a_lease_time_clients_take_turns() {
    let phone = Fake::new(vec![]);
    phone.keys.add_permits(99);
    let session = over(&phone);
    for _ in 0..3 {
        press(&session, "ann").await.unwrap();
        press(&session, "bob").await.unwrap();
    }
    assert_eq!(session.lease("fake"), None, "nothing was acquired");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_may_only_look_acts_on_nothing() {
    let (session, _phone) = quick();
    let look = Call { scope: Scope::Look, ..of("ann") };
    let duration = SECOND * 5;
    for act in [
        Action::Press(Key::Back),
        Action::SetClipboard("x".into()),
        Action::StartRecording { name: None, duration, bit_rate: None, size: None },
        Action::StopRecording { recording: None, fetch: true },
        Action::StopMonitor(None),
        Action::SaveScreenshot { name: None, fetch: false },
        Action::TrustAppTools(AppId("a.b".into())),
    ] {
        let refused = session.perform(&look, act).await.unwrap_err();
        assert_eq!(refused.cause.to_string(), "this client may only look at phones");
    }
    session.perform(&look, Action::LOOK).await.unwrap();
    press(&session, "bob").await.expect("nothing was leased");
}

#[test]
fn a_call_without_a_phone_holds_nothing() {
    let state = CallState::default();
    assert_eq!(state.phone(), None);
    assert!(!state.holds("fake"));
}

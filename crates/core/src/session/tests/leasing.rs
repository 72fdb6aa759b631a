//! Several clients of one session that act on one phone.

use futures::future::join_all;

use super::studio::{Studio, in_leased_studios};
use super::*;
use crate::action::{CallState, ClientName, Scope, UserTurn};
use crate::phone_locks::{PhoneLocks, TAKEN_FOR};
use crate::session::UserHold;

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
        "device fake is busy: client \"ann\" has had it for 20 s, and keeps it for another 10 s or longer"
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

/// A session of another program on this computer, whose leases are in this folder.
fn of_program(phone: &Arc<Fake>, folder: &std::path::Path) -> Session {
    let locks = PhoneLocks { clock: tokio_time, ..PhoneLocks::new(folder.into(), "thumbwire run") };
    let options =
        SessionOptions { lease_time: SECOND * 30, locks: Some(locks), ..SessionOptions::default() };
    over_with(phone, options)
}

/// The name of the tests' phone among all programs.
const PHONE: &str = "fake of 127.0.0.1:9";

/// The clock of the tests, which stands still unless it is advanced.
fn tokio_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    SECOND * 1_000_000 + START.get_or_init(Instant::now).elapsed()
}

/// Sessions of two programs on the same phone.
fn two_programs(folder: &std::path::Path) -> (Session, Session) {
    tokio_time();
    let phone = Fake::new(vec![]);
    phone.keys.add_permits(99);
    (of_program(&phone, folder), of_program(&phone, folder))
}

#[tokio::test(start_paused = true)]
async fn programs_of_a_computer_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_programs(folder.path());
    press(&first, "ann").await.unwrap();
    settle().await;
    tokio::time::advance(SECOND * 20).await;
    let refused = second.perform(&of("bob"), Action::Press(Key::Back)).await.unwrap_err();
    let process = std::process::id();
    assert_eq!(
        refused.cause.to_string(),
        format!(
            "device fake is busy: client \"ann\" of `thumbwire run` (process {process}) has had it for 20 s, and keeps it for another 10 s or longer"
        )
    );
    assert!(
        refused
            .next_step()
            .ends_with("; the user can take it over with `thumbwire devices --take-over fake`"),
        "{}",
        refused.next_step()
    );
    second.perform(&of("bob"), Action::LOOK).await.expect("looking needs no lease");
    press(&first, "ann").await.expect("it is the holder's");
    settle().await;
    tokio::time::advance(SECOND * 30).await;
    press(&second, "bob").await.expect("the lease has ended");
    busy(press(&first, "ann").await);
    second.client_left(&id("bob")).await;
    press(&first, "ann").await.expect("the other client has left");
}

#[tokio::test(start_paused = true)]
async fn program_that_has_ended_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_programs(folder.path());
    press(&first, "ann").await.unwrap();
    settle().await;
    busy(press(&second, "bob").await);
    drop(first);
    press(&second, "bob").await.expect("the system gave the lease back");
}

#[tokio::test(start_paused = true)]
async fn program_that_slept_past_its_lease_does_not_act_after_another() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_programs(folder.path());
    let phone = Fake::new(vec![]);
    let slow = of_program(&phone, folder.path());
    drop((first, second));
    // Its press is on its way to the phone for longer than any lease.
    let slow = Arc::new(slow);
    let acting = tokio::spawn({
        let slow = Arc::clone(&slow);
        async move { press(&slow, "ann").await }
    });
    settle().await;
    let (other, _) = two_programs(folder.path());
    busy(press(&other, "bob").await);
    phone.keys.add_permits(1);
    acting.await.unwrap().unwrap();
    settle().await;
    tokio::time::advance(SECOND * 31).await;
    press(&other, "bob").await.expect("the lease has ended");
    phone.keys.add_permits(1);
    busy(press(&slow, "ann").await);
}

#[tokio::test(start_paused = true)]
async fn user_takes_a_phone_over() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_programs(folder.path());
    let locks = PhoneLocks { clock: tokio_time, ..PhoneLocks::new(folder.path().into(), "user") };
    assert_eq!(locks.take_over(PHONE).unwrap(), None, "nobody acts on it");
    press(&first, "ann").await.unwrap();
    settle().await;
    let holder = locks.take_over(PHONE).unwrap().expect("somebody acts on it");
    assert_eq!(holder.client.as_str(), "ann");
    assert_eq!(locks.holder(PHONE).unwrap(), None);
    // Both sessions of this test are one process: the phone is kept from both.
    for session in [&first, &second] {
        let refused = session.perform(&of("ann"), Action::Press(Key::Back)).await.unwrap_err();
        assert_eq!(
            refused.cause.to_string(),
            "the user has taken device fake over from this program, for another 60 s or longer"
        );
    }
    tokio::time::advance(TAKEN_FOR).await;
    press(&first, "ann").await.expect("the minute is over");
}

#[tokio::test(start_paused = true)]
async fn program_that_cannot_be_understood_still_holds_its_phone() {
    use thumbwire_base::files::{HeldFile, turn};
    let folder = tempfile::tempdir().unwrap();
    let (first, _) = two_programs(folder.path());
    let file = folder.path().join("fake%20of%20127.0.0.1%3A9.json");
    let held = HeldFile::put(&file, "of another version").unwrap();
    let refused = press(&first, "ann").await.unwrap_err();
    assert_eq!(refused.cause.to_string(), "another program acts on fake, and does not say which");
    drop(held);
    let other_turn = turn(&folder.path().join("turn")).unwrap();
    let refused = press(&first, "ann").await.unwrap_err();
    assert_eq!(refused.cause.to_string(), "another program is just taking a phone");
    drop(other_turn);
    press(&first, "ann").await.expect("it has ended");
}

#[tokio::test(start_paused = true)]
async fn folder_that_cannot_be_used_stops_nobody() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (first, _) = two_programs(&file.path().join("phones"));
    press(&first, "ann").await.expect("other programs are not seen, and the phone is");
}

#[tokio::test(start_paused = true)]
async fn act_under_a_lease_that_went_on_is_refused() {
    let (session, _phone) = quick();
    press(&session, "ann").await.unwrap();
    settle().await;
    let numbered = |revision| {
        let mut call = of("ann");
        call.lease = Some(revision);
        call
    };
    let first = session.lease("fake").unwrap().revision;
    tokio::time::advance(SECOND * 31).await;
    session.perform(&numbered(first), Action::Press(Key::Back)).await.expect("nobody else had it");
    assert_eq!(session.lease("fake").unwrap().revision, first, "it went on to nobody");
    settle().await;
    tokio::time::advance(SECOND * 31).await;
    press(&session, "bob").await.unwrap();
    settle().await;
    tokio::time::advance(SECOND * 31).await;
    let refused = session.perform(&numbered(first), Action::Press(Key::Back)).await.unwrap_err();
    assert_eq!(refused.cause, Cause::LeaseLost { device: "fake".into() });
    assert_eq!(session.lease("fake"), None);
    press(&session, "ann").await.expect("after a look it may act again");
    assert!(session.lease("fake").unwrap().revision > first);
}

#[tokio::test(start_paused = true)]
async fn lease_is_renewed_and_taken_over() {
    let (session, _phone) = quick();
    press(&session, "ann").await.unwrap();
    settle().await;
    tokio::time::advance(SECOND * 20).await;
    session.renew_lease("fake", &id("bob"));
    session.renew_lease("fake", &id("ann"));
    tokio::time::advance(SECOND * 20).await;
    busy(press(&session, "bob").await);
    assert_eq!(session.take_over("fake").unwrap().owner, id("ann"));
    let refused = session.perform(&of("ann"), Action::Press(Key::Back)).await.unwrap_err();
    assert!(matches!(refused.cause, Cause::DeviceTakenOver { .. }), "{refused:?}");
    press(&session, "bob").await.expect("the phone is the others'");
}

/// A press of a program that the person at the studio has paused.
fn paused_press(
    session: &Arc<Session>,
    call: Call,
) -> tokio::task::JoinHandle<Result<Outcome, Failure>> {
    let session = Arc::clone(session);
    tokio::spawn(async move { session.perform(&call, Action::Press(Key::Back)).await })
}

fn by_person() -> Call {
    Call { client: ClientId::Studio, ..of("studio") }
}

fn turn(refused: Result<Outcome, Failure>) -> UserTurn {
    match refused {
        Err(Failure { cause: Cause::TakenByUser { turn, .. }, side_effect: SideEffect::None }) => {
            turn
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_acts_on_a_leased_phone_and_the_program_looks_again() {
    let (session, _phone) = quick();
    let session = Arc::new(session);
    press(&session, "ann").await.unwrap();
    busy(session.perform(&by_person(), Action::Press(Key::Back)).await);
    session.hold_for_user("fake", &ClientId::Studio, UserHold::Paused, None);
    let waits = paused_press(&session, of("ann"));
    settle().await;
    session.perform(&of("ann"), Action::LOOK).await.expect("looking is allowed meanwhile");
    session.perform(&by_person(), Action::Press(Key::Back)).await.expect("the person may act");
    assert!(!waits.is_finished());
    session.hand_back("fake");
    assert_eq!(turn(waits.await.unwrap()), UserTurn::Acted);
    press(&session, "ann").await.expect("after a look it goes on, under the lease it had");
    assert_eq!(session.user_hold("fake"), None);
}

#[tokio::test(start_paused = true)]
async fn a_pause_without_an_act_of_the_person_changes_nothing() {
    let (session, _phone) = quick();
    let session = Arc::new(session);
    session.hold_for_user("fake", &ClientId::Studio, UserHold::Paused, Some(SECOND * 15));
    let waits = paused_press(&session, of("ann"));
    settle().await;
    assert!(!waits.is_finished());
    tokio::time::advance(SECOND * 16).await;
    waits.await.unwrap().expect("the hold has ended by itself");
}

#[tokio::test(start_paused = true)]
async fn acts_prolong_a_hold_for_a_time_and_do_not_shorten_a_pause() {
    let (session, _phone) = quick();
    let hold = |time| session.hold_for_user("fake", &ClientId::Studio, UserHold::Paused, time);
    hold(Some(SECOND * 15));
    tokio::time::advance(SECOND * 10).await;
    hold(Some(SECOND * 15));
    tokio::time::advance(SECOND * 10).await;
    assert_eq!(session.user_hold("fake"), Some(UserHold::Paused));
    hold(None);
    hold(Some(SECOND));
    tokio::time::advance(SECOND * 60).await;
    assert_eq!(session.user_hold("fake"), Some(UserHold::Paused));
}

#[tokio::test(start_paused = true)]
async fn a_call_at_its_deadline_reports_that_the_user_has_the_phone() {
    let (session, _phone) = quick();
    let session = Arc::new(session);
    session.hold_for_user("fake", &ClientId::Studio, UserHold::Paused, None);
    let waits =
        paused_press(&session, Call { deadline: Instant::now() + SECOND * 10, ..of("ann") });
    settle().await;
    tokio::time::advance(SECOND * 9).await;
    assert_eq!(turn(waits.await.unwrap()), UserTurn::Acting);
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_a_run_and_refuses_single_acts() {
    let (session, _phone) = quick();
    session.hold_for_user("fake", &ClientId::Studio, UserHold::Stopped, None);
    assert_eq!(turn(press(&session, "ann").await), UserTurn::Stopped);
    let run = Call { exclusive: true, ..of("bob") };
    session.perform(&run, Action::LOOK).await.expect_err("a run's look needs the phone too");
    assert!(run.cancelled.is_cancelled());
    session.hand_back("fake");
    press(&session, "ann").await.expect("handed back");
}

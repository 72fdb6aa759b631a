//! Looks that are served again, and when they are not.

use super::*;
use crate::action::{Cache, Looking};

const FIVE_SECONDS: Duration = Duration::from_secs(5);

fn looking(no_older_than: Duration) -> Action {
    Action::Look(Looking { no_older_than, ..Looking::default() })
}

async fn look(session: &Session, action: Action) -> Arc<crate::look::Look> {
    match ask(session, action).await {
        Ok(Outcome::Look(look)) => look,
        other => panic!("{other:?}"),
    }
}

fn back(phone: &Fake) -> Action {
    phone.keys.add_permits(1);
    Action::Press(Key::Back)
}

#[tokio::test(start_paused = true)]
async fn a_look_is_served_again_as_long_as_the_caller_bears_its_age() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let first = look(&session, Action::LOOK).await;
    tokio::time::advance(FIVE_SECONDS).await;
    assert!(Arc::ptr_eq(&first, &look(&session, looking(FIVE_SECONDS)).await));
    assert_eq!(lock(&phone.looked).len(), 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    look(&session, looking(FIVE_SECONDS)).await;
    assert_eq!(lock(&phone.looked).len(), 2);
    look(&session, Action::LOOK).await;
    assert_eq!(lock(&phone.looked).len(), 3, "zero asks the phone");
}

#[tokio::test(start_paused = true)]
async fn no_look_is_served_again_after_an_act_nor_one_begun_before_it() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    look(&session, Action::LOOK).await;
    ask(&session, back(&phone)).await.unwrap();
    lock(&phone.tree).nodes[0].text = "Paid".into();
    let after = look(&session, looking(FIVE_SECONDS)).await;
    assert_eq!(after.tree.nodes[0].text, "Paid");
    let (before, done) = tokio::join!(ask(&session, Action::LOOK), ask(&session, back(&phone)));
    done.unwrap();
    let Ok(Outcome::Look(before)) = before else { panic!("{before:?}") };
    let later = look(&session, looking(FIVE_SECONDS)).await;
    assert!(!Arc::ptr_eq(&before, &later), "it was begun before the act");
}

#[tokio::test(start_paused = true)]
async fn a_compressed_look_is_kept_beside_the_full_one_whose_numbers_stay() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let full = look(&session, Action::LOOK).await;
    lock(&phone.tree).nodes[0] = label("Other", [0, 0, 50, 50]);
    let compressed = Looking { detail: Detail::Compressed, no_older_than: FIVE_SECONDS };
    let small = look(&session, Action::Look(compressed)).await;
    assert!(Arc::ptr_eq(&small, &look(&session, Action::Look(compressed)).await));
    assert!(Arc::ptr_eq(&full, &look(&session, looking(FIVE_SECONDS)).await));
    assert_eq!(*lock(&phone.looked), [Detail::Full, Detail::Compressed]);
    ask(&session, number("e1")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_turn_to_look_is_served_what_the_other_saw() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let (one, two) =
        tokio::join!(look(&session, looking(FIVE_SECONDS)), look(&session, looking(FIVE_SECONDS)));
    assert!(Arc::ptr_eq(&one, &two));
    assert_eq!(lock(&phone.looked).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_is_asked_anew_and_nothing_else() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let controls = Action::Controls { no_older_than: FIVE_SECONDS };
    let forget = async |cache| ask(&session, Action::Forget(cache)).await.unwrap();
    ask(&session, controls.clone()).await.unwrap();
    forget(Cache::Tree).await;
    ask(&session, controls.clone()).await.unwrap();
    assert_eq!(lock(&phone.looked).len(), 1, "the controls are still known");
    let seen = look(&session, looking(FIVE_SECONDS)).await;
    forget(Cache::Controls).await;
    assert!(Arc::ptr_eq(&seen, &look(&session, looking(FIVE_SECONDS)).await));
    let unknown = ask(&session, Action::TapElement(Target::Control("1".into()))).await;
    let Err(Failure { cause: Cause::NotListed { none: true, .. }, .. }) = unknown else {
        panic!("{unknown:?}")
    };
    ask(&session, controls).await.unwrap();
    assert_eq!(lock(&phone.looked).len(), 3);
    forget(Cache::All).await;
    look(&session, looking(FIVE_SECONDS)).await;
    assert_eq!(lock(&phone.looked).len(), 4);
}

#[tokio::test]
async fn forgetting_reaches_no_phone() {
    let nowhere = Session::new(Phones::new(AdbServer::new("127.0.0.1:9")), None);
    ask(&nowhere, Action::Forget(Cache::All)).await.unwrap();
    let gone = Session::new(Phones::new(AdbServer::new("127.0.0.1:9")), Some("gone".into()));
    ask(&gone, Action::Forget(Cache::All)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn waiting_makes_nothing_stale_and_ends_when_the_caller_wants_it_no_more() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let seen = look(&session, Action::LOOK).await;
    let began = Instant::now();
    ask(&session, Action::Wait(Duration::from_secs(2))).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert!(Arc::ptr_eq(&seen, &look(&session, looking(FIVE_SECONDS)).await));
    let call = Call::within(Duration::from_secs(90));
    let waiting = session.perform(&call, Action::Wait(Duration::from_secs(60)));
    let taken_back = async {
        tokio::time::advance(Duration::from_secs(1)).await;
        call.cancelled.cancel();
    };
    let (waited, ()) = tokio::join!(waiting, taken_back);
    let failure = waited.unwrap_err();
    assert_eq!((failure.cause, failure.acted), (Cause::Cancelled, Acted::No));
    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

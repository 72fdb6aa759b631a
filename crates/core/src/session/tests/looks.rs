//! Which snapshots are served from the cache.

use super::*;
use crate::action::{CacheKind, ControlNumber, SnapshotOptions};

const FIVE_SECONDS: Duration = Duration::from_secs(5);

fn looking(max_age: Duration) -> Action {
    Action::Snapshot(SnapshotOptions { max_age, ..SnapshotOptions::default() })
}

async fn look(session: &Session, action: Action) -> Arc<crate::snapshot::Snapshot> {
    match ask(session, action).await {
        Ok(Outcome::Snapshot(look)) => look,
        other => panic!("{other:?}"),
    }
}

fn back(phone: &Fake) -> Action {
    phone.keys.add_permits(1);
    Action::Press(Key::Back)
}

#[tokio::test(start_paused = true)]
async fn snapshot_is_served_up_to_the_requested_age() {
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
async fn no_snapshot_from_before_an_action_is_served() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    look(&session, Action::LOOK).await;
    ask(&session, back(&phone)).await.unwrap();
    lock(&phone.tree).nodes[0].text = "Paid".into();
    let after = look(&session, looking(FIVE_SECONDS)).await;
    assert_eq!(after.tree.nodes[0].text, "Paid");
    let (before, done) = tokio::join!(ask(&session, Action::LOOK), ask(&session, back(&phone)));
    done.unwrap();
    let Ok(Outcome::Snapshot(before)) = before else { panic!("{before:?}") };
    let later = look(&session, looking(FIVE_SECONDS)).await;
    assert!(!Arc::ptr_eq(&before, &later), "it was started before the action");
}

#[tokio::test(start_paused = true)]
async fn compressed_snapshot_keeps_the_full_ones_refs() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let full = look(&session, Action::LOOK).await;
    lock(&phone.tree).nodes[0] = label("Other", [0, 0, 50, 50]);
    let compressed = SnapshotOptions { detail: TreeDetail::Compressed, max_age: FIVE_SECONDS };
    let small = look(&session, Action::Snapshot(compressed)).await;
    assert!(Arc::ptr_eq(&small, &look(&session, Action::Snapshot(compressed)).await));
    assert!(Arc::ptr_eq(&full, &look(&session, looking(FIVE_SECONDS)).await));
    assert_eq!(*lock(&phone.looked), [TreeDetail::Full, TreeDetail::Compressed]);
    ask(&session, number("e1")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn waiting_caller_shares_the_other_callers_snapshot() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let (one, two) =
        tokio::join!(look(&session, looking(FIVE_SECONDS)), look(&session, looking(FIVE_SECONDS)));
    assert!(Arc::ptr_eq(&one, &two));
    assert_eq!(lock(&phone.looked).len(), 1);
}

#[tokio::test]
async fn callers_who_wait_for_a_dump_share_the_next_one() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let looks = (0..20).map(|_| look(&session, Action::LOOK));
    let looks = futures::future::join_all(looks).await;
    assert_eq!(lock(&phone.looked).len(), 2, "the first was begun before the others came");
    assert!(looks[1..].iter().all(|one| Arc::ptr_eq(one, &looks[1])));
    look(&session, Action::LOOK).await;
    assert_eq!(lock(&phone.looked).len(), 3, "it came later");
}

#[tokio::test(start_paused = true)]
async fn invalidation_reloads_only_its_own_cache() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let controls = Action::Controls { max_age: FIVE_SECONDS };
    let forget = async |cache| ask(&session, Action::InvalidateCache(cache)).await.unwrap();
    ask(&session, controls.clone()).await.unwrap();
    forget(CacheKind::Tree).await;
    ask(&session, controls.clone()).await.unwrap();
    assert_eq!(lock(&phone.looked).len(), 1, "the controls are still known");
    let seen = look(&session, looking(FIVE_SECONDS)).await;
    forget(CacheKind::Controls).await;
    assert!(Arc::ptr_eq(&seen, &look(&session, looking(FIVE_SECONDS)).await));
    let unknown = ask(&session, Action::TapElement(Target::listed(ControlNumber::at(0)))).await;
    let Err(Failure { cause: Cause::StaleReference { none: true, .. }, .. }) = unknown else {
        panic!("{unknown:?}")
    };
    ask(&session, controls).await.unwrap();
    assert_eq!(lock(&phone.looked).len(), 3);
    forget(CacheKind::All).await;
    look(&session, looking(FIVE_SECONDS)).await;
    assert_eq!(lock(&phone.looked).len(), 4);
}

#[tokio::test]
async fn invalidation_contacts_no_phone() {
    let nowhere = Session::new(DeviceProviders::adb(AdbServer::new("127.0.0.1:9")), None);
    ask(&nowhere, Action::InvalidateCache(CacheKind::All)).await.unwrap();
    let gone =
        Session::new(DeviceProviders::adb(AdbServer::new("127.0.0.1:9")), Some("gone".into()));
    ask(&gone, Action::InvalidateCache(CacheKind::All)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn look_after_a_wait_is_new_and_a_wait_can_be_cancelled() {
    let phone = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&phone);
    let seen = look(&session, Action::LOOK).await;
    let began = Instant::now();
    ask(&session, Action::Wait(Duration::from_secs(2))).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert!(!Arc::ptr_eq(&seen, &look(&session, looking(FIVE_SECONDS)).await));
    let call = Call::with_timeout(Duration::from_secs(90));
    let waiting = session.perform(&call, Action::Wait(Duration::from_secs(60)));
    let taken_back = async {
        tokio::time::advance(Duration::from_secs(1)).await;
        call.cancelled.cancel();
    };
    let (waited, ()) = tokio::join!(waiting, taken_back);
    let failure = waited.unwrap_err();
    assert_eq!((failure.cause, failure.side_effect), (Cause::Cancelled, SideEffect::None));
    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

#[tokio::test]
async fn picture_comes_without_a_list_from_a_screen_that_never_rests() {
    let phone = Fake::new(Vec::new());
    phone.keeps_moving.store(true, Ordering::SeqCst);
    let size = *lock(&phone.size);
    let image = Image { format: Format::Png, bytes: vec![1].into() };
    let picture = Screenshot { image, size, blank: None };
    *lock(&phone.pictures) = vec![picture.clone(), picture];
    phone.shutter.add_permits(9);
    let session = over(&phone);
    let both = Action::ScreenshotAndSnapshot(ScreenshotOptions::default());
    let Ok(Outcome::ScreenshotAndSnapshot(both)) = ask(&session, both).await else { panic!() };
    assert!(both.snapshot.refs.is_empty());
    assert!(
        both.snapshot.tree.unread.as_ref().is_some_and(|reason| reason.contains("keeps moving"))
    );
    let failure = ask(&session, Action::Snapshot(SnapshotOptions::default())).await.unwrap_err();
    assert!(failure.next_step().contains("take a screenshot"), "{failure:?}");
}

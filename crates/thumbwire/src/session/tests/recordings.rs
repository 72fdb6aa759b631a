//! Recordings that go on from call to call, on phones that a test holds.

use super::studio::{Studio, in_studios, kept, plug};
use super::*;
use crate::action::Recorded;

async fn start(session: &Session, name: &str, seconds: u64) -> Result<Recorded, Failure> {
    let lasting = Duration::from_secs(seconds);
    let name = (!name.is_empty()).then(|| name.to_owned());
    let start = Action::StartRecording { name, lasting, bit_rate: None, size: None };
    match ask(session, start).await? {
        Outcome::Recording(recorded) => Ok(recorded),
        other => panic!("{other:?}"),
    }
}

async fn stop(session: &Session, id: &str) -> Result<Recorded, Failure> {
    let stop = Action::StopRecording { recording: Some(id.into()), fetch: true };
    let call = Call::within(Duration::from_secs(20));
    match session.perform(&call, stop).await? {
        Outcome::Recording(recorded) => Ok(recorded),
        other => panic!("{other:?}"),
    }
}

async fn several(session: &Session, action: Action) -> Vec<Recorded> {
    match session.perform(&Call::within(Duration::from_secs(20)), action).await {
        Ok(Outcome::Recordings(all)) => all,
        other => panic!("{other:?}"),
    }
}

async fn listed(session: &Session) -> Vec<String> {
    let all = several(session, Action::ListRecordings).await;
    all.into_iter().map(|one| one.id).collect()
}

fn running(phone: &Studio) -> usize {
    phone.running.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_recording_goes_on_until_it_is_stopped_and_comes_here() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let started = start(&session, "", 180).await.unwrap();
    assert_eq!(started.id, "fake_recording_20240901_121314.mp4");
    assert_eq!(started.on_phone, "/sdcard/recording_20240901_121314.mp4");
    assert_eq!((started.process, started.lasting.as_secs()), (4321, 180));
    tokio::time::advance(Duration::from_secs(42)).await;
    assert_eq!(listed(&session).await, [started.id.as_str()]);
    let stopped = stop(&session, &started.id).await.unwrap();
    assert_eq!(stopped.running, Duration::from_secs(42));
    assert!(stopped.warnings.is_empty(), "{:?}", stopped.warnings);
    let here = stopped.here.unwrap().unwrap();
    assert_eq!(std::fs::read(&here.path).unwrap(), phone.video);
    assert_eq!(kept(&root, "assets"), ["recording_20240901_121314.mp4"]);
    assert!(listed(&session).await.is_empty());
    assert_eq!(running(&phone), 0);
    assert!(lock(&phone.files).is_empty());
    let failure = stop(&session, &started.id).await.unwrap_err();
    assert_eq!(failure.cause, Cause::NoSuchRecording { id: started.id, there: Vec::new() });
}

#[tokio::test(start_paused = true)]
async fn phones_record_side_by_side_and_are_stopped_together() {
    let (one, two) = (Studio::new("one"), Studio::new("two"));
    let (session, root) = in_studios(&[&one, &two]);
    let first = start(&session, "a", 60).await.unwrap();
    let on_two = Call::within(Duration::from_secs(15)).on(Some("two".into()));
    let lasting = Duration::from_secs(60);
    let second =
        Action::StartRecording { name: Some("a".into()), lasting, bit_rate: None, size: None };
    session.perform(&on_two, second).await.unwrap();
    assert_eq!(listed(&session).await, ["one_a.mp4", "two_a.mp4"]);
    // The same file once more would be written by two.
    for same in ["a", "A.MP4"] {
        let failure = start(&session, same, 60).await.unwrap_err();
        assert!(matches!(failure.cause, Cause::Refused { .. }), "{same}: {failure:?}");
    }
    *lock(&one.stopping) = Duration::from_secs(3);
    *lock(&two.stopping) = Duration::from_secs(3);
    let asked = Instant::now();
    let stopped = several(&session, Action::StopRecording { recording: None, fetch: true }).await;
    assert_eq!(asked.elapsed(), Duration::from_secs(3));
    assert!(stopped.iter().all(|one| matches!(one.here, Some(Ok(_)))), "{stopped:?}");
    assert_eq!(stopped[0].id, first.id);
    assert_eq!(kept(&root, "assets"), ["a-2.mp4", "a.mp4"]);
    assert!(
        several(&session, Action::StopRecording { recording: None, fetch: true }).await.is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn five_record_at_once_and_no_sixth() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    for number in 1..=5 {
        start(&session, &number.to_string(), 10).await.unwrap();
    }
    let failure = start(&session, "6", 10).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TooMany { what: "recordings", most: 5 });
    assert_eq!(running(&phone), 5);
    // Those whose time is over count no more, and are listed still.
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(11)).await;
    start(&session, "6", 10).await.unwrap();
    assert_eq!(listed(&session).await.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_recording_takes_one_second_to_ten_minutes() {
    let phone = Studio::new("fake");
    *lock(&phone.longest) = Duration::from_secs(1000);
    let (session, _root) = in_studios(&[&phone]);
    for (seconds, taken) in [(0, false), (1, true), (600, true), (601, false)] {
        let done = start(&session, &seconds.to_string(), seconds).await;
        match done {
            Ok(started) => assert!(taken && started.warnings.is_empty(), "{started:?}"),
            Err(failure) => {
                assert!(!taken && matches!(failure.cause, Cause::InvalidArgument { .. }));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_records_no_longer_than_three_minutes_says_so() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    let started = start(&session, "long", 600).await.unwrap();
    assert_eq!(started.lasting, Duration::from_secs(180));
    let cut = "this phone records for 180 s at most, not for the 600 s that were asked for";
    assert_eq!(started.warnings, [cut]);
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(400)).await;
    assert_eq!(listed(&session).await, ["fake_long.mp4"]);
    let stopped = stop(&session, "fake_long.mp4").await.unwrap();
    assert_eq!(stopped.running, Duration::from_secs(180));
    assert_eq!(stopped.warnings, [cut, "it ended by itself after 180.0 s"]);
    assert!(matches!(stopped.here, Some(Ok(_))), "{stopped:?}");
}

#[tokio::test(start_paused = true)]
async fn a_recording_that_is_not_whole_is_told_and_stays_on_the_phone() {
    let phone = Studio::new("fake");
    phone.whole.store(false, Ordering::SeqCst);
    let (session, root) = in_studios(&[&phone]);
    start(&session, "cut", 10).await.unwrap();
    let stopped = stop(&session, "fake_cut.mp4").await.unwrap();
    let why = stopped.here.unwrap().unwrap_err();
    assert!(why.contains("it is not whole: it has no `moov`"), "{why}");
    assert!(why.contains("it stays on the phone: /sdcard/cut.mp4"), "{why}");
    assert!(kept(&root, "assets").is_empty());
    assert!(lock(&phone.files).contains_key("/sdcard/cut.mp4"));
    // It is listed until it is let go.
    assert_eq!(listed(&session).await, ["fake_cut.mp4"]);
    let away = Action::StopRecording { recording: None, fetch: false };
    assert_eq!(several(&session, away).await.len(), 1);
    assert!(listed(&session).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_recording_that_takes_longer_to_fetch_than_a_call_goes_on_coming() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    start(&session, "big", 10).await.unwrap();
    *lock(&phone.fetching) = Duration::from_secs(60);
    let stopped = stop(&session, "fake_big.mp4").await.unwrap();
    let why = stopped.here.unwrap().unwrap_err();
    assert!(why.contains("still coming") && why.contains("stays listed"), "{why}");
    assert_eq!(running(&phone), 0);
    let began = Instant::now();
    let mut stops = 1;
    while stop(&session, "fake_big.mp4").await.unwrap().here.unwrap().is_err() {
        stops += 1;
    }
    assert!(stops > 1 && began.elapsed() < Duration::from_secs(60), "it was not begun anew");
    assert!(listed(&session).await.is_empty());
    assert_eq!(kept(&root, "assets"), ["big.mp4"]);
    // Who does not want it any more, or leaves, leaves no half file.
    start(&session, "unwanted", 10).await.unwrap();
    assert!(stop(&session, "fake_unwanted.mp4").await.unwrap().here.unwrap().is_err());
    let away = Action::StopRecording { recording: None, fetch: false };
    assert_eq!(several(&session, away).await.len(), 1);
    session.end().await;
    assert_eq!(kept(&root, "assets"), ["big.mp4"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_is_given_up_goes_on_and_can_be_asked_again() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, "slow", 100).await.unwrap();
    *lock(&phone.stopping) = Duration::from_secs(25);
    let failure = stop(&session, "fake_slow.mp4").await.unwrap_err();
    assert!(matches!(failure.cause, Cause::TimedOut { .. }), "{failure:?}");
    assert_eq!(listed(&session).await, ["fake_slow.mp4"]);
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(10)).await;
    assert_eq!(running(&phone), 0, "the order to stop was carried out all the same");
    *lock(&phone.stopping) = Duration::ZERO;
    assert!(stop(&session, "fake_slow.mp4").await.unwrap().here.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_recording_that_goes_on_though_it_was_stopped_stays_listed() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, "stuck", 100).await.unwrap();
    *lock(&phone.unstoppable) =
        Some(|| Error::NotReady { what: "end the recording", said: "process 4321 goes on".into() });
    let failure = stop(&session, "fake_stuck.mp4").await.unwrap_err();
    assert!(matches!(failure.cause, Cause::NotReady { .. }), "{failure:?}");
    let away = Action::StopRecording { recording: None, fetch: false };
    let all = several(&session, away).await;
    assert!(all[0].unstopped.as_ref().unwrap().contains("goes on"), "{all:?}");
    assert_eq!((listed(&session).await.len(), running(&phone)), (1, 1));
    *lock(&phone.unstoppable) = None;
    assert!(stop(&session, "fake_stuck.mp4").await.unwrap().here.unwrap().is_ok());
    assert_eq!((listed(&session).await.len(), running(&phone)), (0, 0));
    // One that has ended, and failed, can be stopped by nobody any more.
    start(&session, "bad", 100).await.unwrap();
    *lock(&phone.unstoppable) =
        Some(|| Error::Failed { what: "record the screen", said: "encoder failed".into() });
    let failure = stop(&session, "fake_bad.mp4").await.unwrap_err();
    assert!(matches!(failure.cause, Cause::PhoneFailed { .. }), "{failure:?}");
    assert!(listed(&session).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_recording_of_a_phone_that_is_gone_is_known_until_it_is_back() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    start(&session, "a", 100).await.unwrap();
    phone.unplug(true);
    let failure = stop(&session, "fake_a.mp4").await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(listed(&session).await, ["fake_a.mp4"]);
    let all = several(&session, Action::StopRecording { recording: None, fetch: true }).await;
    assert_eq!(
        all[0].unstopped.as_deref(),
        Some("device fake is not connected: no adb server knows it")
    );
    assert_eq!(all[0].here, None);
    plug(&session, &phone);
    assert!(stop(&session, "fake_a.mp4").await.unwrap().here.unwrap().is_ok());
    assert_eq!(kept(&root, "assets"), ["a.mp4"]);
}

#[tokio::test(start_paused = true)]
async fn two_who_stop_the_same_recording_fetch_it_once() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    start(&session, "a", 100).await.unwrap();
    let (one, two) = tokio::join!(stop(&session, "fake_a.mp4"), stop(&session, "fake_a.mp4"));
    assert!(one.unwrap().here.unwrap().is_ok());
    assert!(matches!(two.unwrap_err().cause, Cause::NoSuchRecording { .. }));
    assert_eq!(kept(&root, "assets"), ["a.mp4"]);
    start(&session, "b", 100).await.unwrap();
    let all = || several(&session, Action::StopRecording { recording: None, fetch: true });
    let (one, two) = tokio::join!(all(), all());
    assert_eq!((one.len(), two.len()), (1, 0), "{two:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_leaves_no_recording_running() {
    let (one, two) = (Studio::new("one"), Studio::new("two"));
    let (session, _root) = in_studios(&[&one, &two]);
    start(&session, "a", 100).await.unwrap();
    start(&session, "b", 100).await.unwrap();
    *lock(&one.stopping) = Duration::from_secs(2);
    let asked = Instant::now();
    session.end().await;
    assert_eq!(asked.elapsed(), Duration::from_secs(2));
    assert_eq!(running(&one), 0);
    // The files are whole, on the phone.
    assert_eq!(lock(&one.files)["/sdcard/a.mp4"], one.video);
    assert!(matches!(start(&session, "c", 10).await.unwrap_err().cause, Cause::Refused { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_hangs_holds_up_the_end_for_seconds_only() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, "a", 100).await.unwrap();
    *lock(&phone.stopping) = Duration::from_secs(1000);
    let asked = Instant::now();
    session.end().await;
    assert!(asked.elapsed() <= Duration::from_secs(5), "{:?}", asked.elapsed());
}

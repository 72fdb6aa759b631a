//! Screen recordings on fake phones.

use super::studio::{Studio, in_studios, kept, plug};
use super::*;
use crate::action::RecordingInfo;

async fn start(session: &Session, name: &str, seconds: u64) -> Result<RecordingInfo, Failure> {
    let duration = Duration::from_secs(seconds);
    let name = (!name.is_empty()).then(|| name.to_owned());
    let start = Action::StartRecording { name, duration, bit_rate: None, size: None };
    match ask(session, start).await? {
        Outcome::Recording(recorded) => Ok(recorded),
        other => panic!("{other:?}"),
    }
}

async fn stop(session: &Session, id: &str) -> Result<RecordingInfo, Failure> {
    let stop = Action::StopRecording { recording: Some(id.into()), fetch: true };
    let call = Call::with_timeout(Duration::from_secs(20));
    match session.perform(&call, stop).await? {
        Outcome::Recordings(mut all) => Ok(all.remove(0)),
        other => panic!("{other:?}"),
    }
}

async fn several(session: &Session, action: Action) -> Vec<RecordingInfo> {
    match session.perform(&Call::with_timeout(Duration::from_secs(20)), action).await {
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
async fn recording_runs_until_stopped_and_is_fetched() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let started = start(&session, "", 180).await.unwrap();
    assert_eq!(started.id, "fake_recording_20240901_121314.mp4");
    assert_eq!(started.on_phone, "/sdcard/recording_20240901_121314.mp4");
    assert_eq!((started.process, started.duration.as_secs()), (4321, 180));
    tokio::time::advance(Duration::from_secs(42)).await;
    assert_eq!(listed(&session).await, [started.id.as_str()]);
    let stopped = stop(&session, &started.id).await.unwrap();
    assert_eq!(stopped.running, Duration::from_secs(42));
    assert!(stopped.warnings.is_empty(), "{:?}", stopped.warnings);
    let here = stopped.local_file.unwrap().unwrap();
    assert_eq!(std::fs::read(&here.path).unwrap(), phone.video);
    assert_eq!(kept(&root, "assets"), ["recording_20240901_121314.mp4"]);
    assert!(listed(&session).await.is_empty());
    assert_eq!(running(&phone), 0);
    assert!(lock(&phone.files).is_empty());
    let failure = stop(&session, &started.id).await.unwrap_err();
    assert_eq!(failure.cause, Cause::NoSuchRecording { id: started.id, known: Vec::new() });
}

#[tokio::test(start_paused = true)]
async fn phones_record_in_parallel_and_stop_together() {
    let (one, two) = (Studio::new("one"), Studio::new("two"));
    let (session, root) = in_studios(&[&one, &two]);
    let first = start(&session, "a", 60).await.unwrap();
    let on_two = Call::with_timeout(Duration::from_secs(15)).on(Some("two".into()));
    let duration = Duration::from_secs(60);
    let second =
        Action::StartRecording { name: Some("a".into()), duration, bit_rate: None, size: None };
    session.perform(&on_two, second).await.unwrap();
    assert_eq!(listed(&session).await, ["one_a.mp4", "two_a.mp4"]);
    // Two recordings must not write the same file.
    for same in ["a", "A.MP4"] {
        let failure = start(&session, same, 60).await.unwrap_err();
        assert!(matches!(failure.cause, Cause::Refused { .. }), "{same}: {failure:?}");
    }
    *lock(&one.stopping) = Duration::from_secs(3);
    *lock(&two.stopping) = Duration::from_secs(3);
    let asked = Instant::now();
    let stopped = several(&session, Action::StopRecording { recording: None, fetch: true }).await;
    assert_eq!(asked.elapsed(), Duration::from_secs(3));
    assert!(stopped.iter().all(|one| matches!(one.local_file, Some(Ok(_)))), "{stopped:?}");
    assert_eq!(stopped[0].id, first.id);
    assert_eq!(kept(&root, "assets"), ["a-2.mp4", "a.mp4"]);
    assert!(
        several(&session, Action::StopRecording { recording: None, fetch: true }).await.is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn at_most_five_recordings_are_active() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    for number in 1..=5 {
        start(&session, &number.to_string(), 10).await.unwrap();
    }
    let failure = start(&session, "6", 10).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TooManyActive { what: "recordings".into(), max: 5 });
    assert_eq!(running(&phone), 5);
    // Ended recordings no longer count, but are still listed.
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(11)).await;
    start(&session, "6", 10).await.unwrap();
    assert_eq!(listed(&session).await.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn recording_time_limit_is_one_second_to_ten_minutes() {
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
async fn shorter_recording_limit_of_a_phone_is_reported() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    let started = start(&session, "long", 600).await.unwrap();
    assert_eq!(started.duration, Duration::from_secs(180));
    let cut = "this phone records for at most 180 s, not the requested 600 s";
    assert_eq!(started.warnings, [cut]);
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(400)).await;
    assert_eq!(listed(&session).await, ["fake_long.mp4"]);
    let stopped = stop(&session, "fake_long.mp4").await.unwrap();
    assert_eq!(stopped.running, Duration::from_secs(180));
    assert_eq!(stopped.warnings, [cut, "the recording ended by itself after 180.0 s"]);
    assert!(matches!(stopped.local_file, Some(Ok(_))), "{stopped:?}");
}

#[tokio::test(start_paused = true)]
async fn incomplete_recording_is_reported_and_kept_on_the_phone() {
    let phone = Studio::new("fake");
    phone.whole.store(false, Ordering::SeqCst);
    let (session, root) = in_studios(&[&phone]);
    start(&session, "cut", 10).await.unwrap();
    let stopped = stop(&session, "fake_cut.mp4").await.unwrap();
    let reason = stopped.local_file.unwrap().unwrap_err();
    assert!(reason.contains("it is incomplete: it has no `moov` box"), "{reason}");
    assert!(reason.contains("the file is still on the phone: /sdcard/cut.mp4"), "{reason}");
    assert!(kept(&root, "assets").is_empty());
    assert!(lock(&phone.files).contains_key("/sdcard/cut.mp4"));
    // It stays listed until it is discarded.
    assert_eq!(listed(&session).await, ["fake_cut.mp4"]);
    let away = Action::StopRecording { recording: None, fetch: false };
    assert_eq!(several(&session, away).await.len(), 1);
    assert!(listed(&session).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn long_transfer_continues_after_the_call() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    start(&session, "big", 10).await.unwrap();
    *lock(&phone.fetching) = Duration::from_secs(60);
    let stopped = stop(&session, "fake_big.mp4").await.unwrap();
    let reason = stopped.local_file.unwrap().unwrap_err();
    assert!(
        reason.contains("still being transferred") && reason.contains("stays listed"),
        "{reason}"
    );
    assert_eq!(running(&phone), 0);
    let began = Instant::now();
    let mut stops = 1;
    while stop(&session, "fake_big.mp4").await.unwrap().local_file.unwrap().is_err() {
        stops += 1;
    }
    assert!(
        stops > 1 && began.elapsed() < Duration::from_secs(60),
        "the transfer was not restarted"
    );
    assert!(listed(&session).await.is_empty());
    assert_eq!(kept(&root, "assets"), ["big.mp4"]);
    // Discarding a recording or ending the session removes partial files.
    start(&session, "unwanted", 10).await.unwrap();
    assert!(stop(&session, "fake_unwanted.mp4").await.unwrap().local_file.unwrap().is_err());
    let away = Action::StopRecording { recording: None, fetch: false };
    assert_eq!(several(&session, away).await.len(), 1);
    session.end().await;
    assert_eq!(kept(&root, "assets"), ["big.mp4"]);
}

#[tokio::test(start_paused = true)]
async fn cancelled_stop_continues_and_can_be_repeated() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, "slow", 100).await.unwrap();
    *lock(&phone.stopping) = Duration::from_secs(25);
    let failure = stop(&session, "fake_slow.mp4").await.unwrap_err();
    assert!(matches!(failure.cause, Cause::TimedOut { .. }), "{failure:?}");
    assert_eq!(listed(&session).await, ["fake_slow.mp4"]);
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(10)).await;
    assert_eq!(running(&phone), 0, "the stop order was still performed");
    *lock(&phone.stopping) = Duration::ZERO;
    assert!(stop(&session, "fake_slow.mp4").await.unwrap().local_file.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn unstoppable_recording_stays_listed() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, "stuck", 100).await.unwrap();
    *lock(&phone.unstoppable) =
        Some(|| Error::NotReady { what: "end the recording", text: "process 4321 goes on".into() });
    let failure = stop(&session, "fake_stuck.mp4").await.unwrap_err();
    assert!(matches!(failure.cause, Cause::NotReady { .. }), "{failure:?}");
    let away = Action::StopRecording { recording: None, fetch: false };
    let all = several(&session, away).await;
    assert!(all[0].unstopped.as_ref().unwrap().contains("goes on"), "{all:?}");
    assert_eq!((listed(&session).await.len(), running(&phone)), (1, 1));
    *lock(&phone.unstoppable) = None;
    assert!(stop(&session, "fake_stuck.mp4").await.unwrap().local_file.unwrap().is_ok());
    assert_eq!((listed(&session).await.len(), running(&phone)), (0, 0));
    // A failed recording that has ended cannot be stopped again.
    start(&session, "bad", 100).await.unwrap();
    *lock(&phone.unstoppable) =
        Some(|| Error::Failed { what: "record the screen", text: "encoder failed".into() });
    let failure = stop(&session, "fake_bad.mp4").await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceError { .. }), "{failure:?}");
    assert!(listed(&session).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn recording_of_a_lost_phone_stays_listed() {
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
        Some("device fake is not connected: the adb server does not list it")
    );
    assert_eq!(all[0].local_file, None);
    plug(&session, &phone);
    assert!(stop(&session, "fake_a.mp4").await.unwrap().local_file.unwrap().is_ok());
    assert_eq!(kept(&root, "assets"), ["a.mp4"]);
}

#[tokio::test(start_paused = true)]
async fn concurrent_stops_fetch_a_recording_once() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    start(&session, "a", 100).await.unwrap();
    let (one, two) = tokio::join!(stop(&session, "fake_a.mp4"), stop(&session, "fake_a.mp4"));
    assert!(one.unwrap().local_file.unwrap().is_ok());
    assert!(matches!(two.unwrap_err().cause, Cause::NoSuchRecording { .. }));
    assert_eq!(kept(&root, "assets"), ["a.mp4"]);
    start(&session, "b", 100).await.unwrap();
    let all = || several(&session, Action::StopRecording { recording: None, fetch: true });
    let (one, two) = tokio::join!(all(), all());
    assert_eq!((one.len(), two.len()), (1, 0), "{two:?}");
}

#[tokio::test(start_paused = true)]
async fn ended_session_stops_its_recordings() {
    let (one, two) = (Studio::new("one"), Studio::new("two"));
    let (session, _root) = in_studios(&[&one, &two]);
    start(&session, "a", 100).await.unwrap();
    start(&session, "b", 100).await.unwrap();
    *lock(&one.stopping) = Duration::from_secs(2);
    let asked = Instant::now();
    session.end().await;
    assert_eq!(asked.elapsed(), Duration::from_secs(2));
    assert_eq!(running(&one), 0);
    // The files on the phone are complete.
    assert_eq!(lock(&one.files)["/sdcard/a.mp4"], one.video);
    assert!(matches!(start(&session, "c", 10).await.unwrap_err().cause, Cause::Refused { .. }));
}

#[tokio::test(start_paused = true)]
async fn hanging_phone_delays_the_end_by_seconds_only() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, "a", 100).await.unwrap();
    *lock(&phone.stopping) = Duration::from_secs(1000);
    let asked = Instant::now();
    session.end().await;
    assert!(asked.elapsed() <= Duration::from_secs(5), "{:?}", asked.elapsed());
}

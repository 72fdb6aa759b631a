//! Logs that are followed from call to call, on phones that a test holds.

use std::path::Path;

use thumbwire_device::{LogFilter, Priority};

use super::studio::{Studio, in_studios, kept, plug};
use super::*;
use crate::action::Monitor;

fn filter() -> LogFilter {
    LogFilter { tag: None, priority: Priority::Info }
}

async fn start(session: &Session, file: Option<&str>) -> Result<Monitor, Failure> {
    let start = Action::StartMonitor { filter: filter(), file: file.map(str::to_owned) };
    match ask(session, start).await? {
        Outcome::Monitor(monitor) => Ok(monitor),
        other => panic!("{other:?}"),
    }
}

async fn stop(session: &Session, id: &str) -> Result<Monitor, Failure> {
    match ask(session, Action::StopMonitor(Some(id.into()))).await? {
        Outcome::Monitor(monitor) => Ok(monitor),
        other => panic!("{other:?}"),
    }
}

async fn listed(session: &Session) -> Vec<Monitor> {
    match ask(session, Action::ListMonitors).await {
        Ok(Outcome::Monitors(all)) => all,
        other => panic!("{other:?}"),
    }
}

/// Lets time pass, and whoever waits for it do its work.
async fn pass(seconds: u64) {
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(seconds)).await;
}

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_followed_log_is_written_as_logcat_shows_it_and_counted() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    phone.write([1]);
    let monitor = start(&session, Some("session")).await.unwrap();
    assert_eq!(monitor.id, "logmon_fake_20240901_121314");
    let file = monitor.file.unwrap();
    assert_eq!(file, root.path().join("logs/session.log"));
    phone.write([2, 3]);
    pass(1).await;
    // A reader need not wait for the end.
    let written = "2024-09-01 12:13:14.002    12   345 I Tag     : entry 2\n\
                   2024-09-01 12:13:14.003    12   345 I Tag     : entry 3\n";
    assert_eq!(text(&file), written);
    let [one] = &listed(&session).await[..] else { panic!() };
    assert_eq!((one.entries, one.running.as_secs(), &one.ended), (2, 1, &None));
    let stopped = stop(&session, &monitor.id).await.unwrap();
    assert_eq!(stopped.entries, 2);
    assert_eq!(lock(&phone.log).readers, 0, "the log is followed no more on the phone either");
    assert!(listed(&session).await.is_empty());
    let failure = stop(&session, &monitor.id).await.unwrap_err();
    assert_eq!(failure.cause, Cause::NoSuchMonitor { id: monitor.id, there: Vec::new() });
}

#[tokio::test(start_paused = true)]
async fn a_log_without_a_file_is_counted() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    start(&session, None).await.unwrap();
    phone.write(0..100);
    pass(1).await;
    assert_eq!(listed(&session).await[0].entries, 100);
    assert!(kept(&root, "logs").is_empty());
    let Ok(Outcome::Monitors(all)) = ask(&session, Action::StopMonitor(None)).await else {
        panic!()
    };
    assert_eq!(all.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_log_goes_on_after_its_last_entry_when_the_phone_was_lost() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    let monitor = start(&session, Some("a")).await.unwrap();
    phone.write([1]);
    pass(1).await;
    phone.unplug(true);
    pass(100).await;
    let [one] = &listed(&session).await[..] else { panic!() };
    assert_eq!((one.entries, &one.ended), (1, &None));
    phone.write([2]);
    plug(&session, &phone);
    pass(31).await;
    phone.write([3]);
    pass(1).await;
    assert_eq!(lock(&phone.log).asked, [None, Some("entry 1".to_owned())]);
    let stopped = stop(&session, &monitor.id).await.unwrap();
    assert_eq!(stopped.entries, 3);
    let text = text(&stopped.file.unwrap());
    let lines: Vec<_> = text.lines().map(|line| line.rsplit(": ").next().unwrap()).collect();
    let [first, "unplugged", gap, "entry 2", "entry 3"] = lines[..] else { panic!("{text}") };
    assert_eq!(first, "entry 1");
    assert!(gap.starts_with("--------- followed again after 1"), "{gap}");
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_is_lost_without_a_word_is_missed() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, Some("a")).await.unwrap();
    pass(1).await;
    // Nobody tells the reader.
    phone.gone.store(true, Ordering::SeqCst);
    pass(28).await;
    assert_eq!(lock(&phone.log).readers, 1);
    pass(2).await;
    assert_eq!(lock(&phone.log).readers, 0);
    plug(&session, &phone);
    pass(31).await;
    assert_eq!(lock(&phone.log).asked.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_filter_that_is_refused_later_ends_the_log() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    let monitor = start(&session, Some("a")).await.unwrap();
    phone.unplug(true);
    pass(2).await;
    lock(&phone.log).refuses = true;
    plug(&session, &phone);
    pass(100).await;
    let [one] = &listed(&session).await[..] else { panic!() };
    assert_eq!(one.ended.as_deref(), Some("following the log refused: the filter"));
    assert!(one.running < Duration::from_secs(10), "{:?}", one.running);
    assert_eq!(stop(&session, &monitor.id).await.unwrap().ended, one.ended);
}

#[tokio::test(start_paused = true)]
async fn ten_logs_are_followed_at_once_and_no_eleventh() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..10 {
        ids.insert(start(&session, Some("same")).await.unwrap().id);
    }
    assert_eq!(ids.len(), 10, "started in one second, each has an id of its own");
    assert_eq!(kept(&root, "logs").len(), 10);
    let failure = start(&session, None).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TooMany { what: "monitors", most: 10 });
    session.end().await;
    assert_eq!(lock(&phone.log).readers, 0);
    assert!(matches!(start(&session, None).await.unwrap_err().cause, Cause::Refused { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_dropped_follows_nothing() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, Some("a")).await.unwrap();
    drop(session);
    pass(1).await;
    assert_eq!(lock(&phone.log).readers, 0);
}

#[tokio::test]
async fn a_log_is_read_in_part_and_emptied_first_where_that_is_wanted() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    phone.write(0..6000);
    let read =
        async |most, clear| ask(&session, Action::ReadLog { filter: filter(), most, clear }).await;
    for (most, count) in [(1, 1), (5000, 5000)] {
        let Ok(Outcome::Log(entries)) = read(most, false).await else { panic!() };
        assert_eq!(entries.len(), count);
        assert_eq!(entries.last().unwrap().message, "entry 5999");
    }
    for most in [0, 5001] {
        let failure = read(most, true).await.unwrap_err();
        assert!(matches!(failure.cause, Cause::InvalidArgument { .. }), "{failure:?}");
    }
    assert_eq!(lock(&phone.log).cleared, 0);
    let Ok(Outcome::Log(entries)) = read(10, true).await else { panic!() };
    assert!(entries.is_empty());
}

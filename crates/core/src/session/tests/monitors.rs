//! Log monitors on fake phones.

use std::path::Path;

use thumbwire_device::{LogFilter, Priority};

use super::studio::{Studio, in_studios, kept, plug};
use super::*;
use crate::action::LogMonitor;

fn filter() -> LogFilter {
    LogFilter { tag: None, priority: Priority::Info }
}

async fn start(session: &Session, file: Option<&str>) -> Result<LogMonitor, Failure> {
    let start = Action::StartMonitor { filter: filter(), file: file.map(str::to_owned) };
    match ask(session, start).await? {
        Outcome::Monitor(monitor) => Ok(monitor),
        other => panic!("{other:?}"),
    }
}

async fn stop(session: &Session, id: &str) -> Result<LogMonitor, Failure> {
    match ask(session, Action::StopMonitor(Some(id.into()))).await? {
        Outcome::Monitors(mut all) => Ok(all.remove(0)),
        other => panic!("{other:?}"),
    }
}

async fn listed(session: &Session) -> Vec<LogMonitor> {
    match ask(session, Action::ListMonitors).await {
        Ok(Outcome::Monitors(all)) => all,
        other => panic!("{other:?}"),
    }
}

/// Advances time and lets waiting tasks run.
async fn pass(seconds: u64) {
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(seconds)).await;
}

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[tokio::test(start_paused = true)]
async fn monitor_writes_logcat_lines_and_counts_them() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    phone.write([1]);
    let monitor = start(&session, Some("session")).await.unwrap();
    assert_eq!(monitor.id, "logmon_fake_20240901_121314");
    let file = monitor.file.unwrap();
    assert_eq!(file, root.path().join("logs/session.log"));
    phone.write([2, 3]);
    pass(1).await;
    // Entries can be read before the monitor ends.
    let written = "2024-09-01 12:13:14.002    12   345 I Tag     : entry 2\n\
                   2024-09-01 12:13:14.003    12   345 I Tag     : entry 3\n";
    assert_eq!(text(&file), written);
    let [one] = &listed(&session).await[..] else { panic!() };
    assert_eq!((one.entries, one.running.as_secs(), &one.ended), (2, 1, &None));
    let stopped = stop(&session, &monitor.id).await.unwrap();
    assert_eq!(stopped.entries, 2);
    assert_eq!(lock(&phone.log).readers, 0, "the phone's log stream is closed too");
    assert!(listed(&session).await.is_empty());
    let failure = stop(&session, &monitor.id).await.unwrap_err();
    assert_eq!(failure.cause, Cause::NoSuchMonitor { id: monitor.id, known: Vec::new() });
}

#[tokio::test(start_paused = true)]
async fn monitor_without_a_file_counts_entries() {
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
async fn monitor_resumes_after_the_last_entry_of_a_lost_phone() {
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
    assert!(gap.starts_with("--------- following resumed after 1"), "{gap}");
}

#[tokio::test(start_paused = true)]
async fn monitor_detects_a_silently_lost_phone() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, Some("a")).await.unwrap();
    pass(1).await;
    // The reader is not notified.
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
async fn filter_refused_on_reconnect_ends_the_monitor() {
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
async fn at_most_ten_monitors_are_active() {
    let phone = Studio::new("fake");
    let (session, root) = in_studios(&[&phone]);
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..10 {
        ids.insert(start(&session, Some("same")).await.unwrap().id);
    }
    assert_eq!(ids.len(), 10, "monitors started in the same second have different ids");
    assert_eq!(kept(&root, "logs").len(), 10);
    let failure = start(&session, None).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TooManyActive { what: "monitors".into(), max: 10 });
    session.end().await;
    assert_eq!(lock(&phone.log).readers, 0);
    assert!(matches!(start(&session, None).await.unwrap_err().cause, Cause::Refused { .. }));
}

#[tokio::test(start_paused = true)]
async fn dropped_session_stops_its_monitors() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    start(&session, Some("a")).await.unwrap();
    drop(session);
    pass(1).await;
    assert_eq!(lock(&phone.log).readers, 0);
}

#[tokio::test]
async fn log_read_is_limited_and_clears_on_request() {
    let phone = Studio::new("fake");
    let (session, _root) = in_studios(&[&phone]);
    phone.write(0..6000);
    let read =
        async |max, clear| ask(&session, Action::ReadLog { filter: filter(), max, clear }).await;
    for (max, count) in [(1, 1), (5000, 5000)] {
        let Ok(Outcome::Log(entries)) = read(max, false).await else { panic!() };
        assert_eq!(entries.len(), count);
        assert_eq!(entries.last().unwrap().message, "entry 5999");
    }
    for max in [0, 5001] {
        let failure = read(max, true).await.unwrap_err();
        assert!(matches!(failure.cause, Cause::InvalidArgument { .. }), "{failure:?}");
    }
    assert_eq!(lock(&phone.log).cleared, 0);
    let Ok(Outcome::Log(entries)) = read(10, true).await else { panic!() };
    assert!(entries.is_empty());
}

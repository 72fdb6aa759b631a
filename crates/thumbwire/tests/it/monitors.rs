//! Logs of virtual phones, followed over real ADB across a disconnect.

use thumbwire_core::action::{Action, LogMonitor, Outcome};
use thumbwire_device::{LogFilter, Priority};

use crate::recordings::{Studio, pass, processes};

impl Studio {
    async fn follow(&self, tag: Option<&str>, file: Option<&str>) -> LogMonitor {
        let filter = LogFilter { tag: tag.map(str::to_owned), priority: Priority::Info };
        let start = Action::StartMonitor { filter, file: file.map(str::to_owned) };
        match self.ask(start).await {
            Ok(Outcome::Monitor(monitor)) => monitor,
            other => panic!("{other:?}"),
        }
    }

    fn write(&self, tag: &str, text: &str) {
        self.phone.world(|world| world.write_log('I', tag, 77, text));
    }

    async fn followed(&self) -> LogMonitor {
        match self.ask(Action::ListMonitors).await {
            Ok(Outcome::Monitors(mut all)) => all.remove(0),
            other => panic!("{other:?}"),
        }
    }

    async fn stop_all(&self) -> Vec<LogMonitor> {
        match self.ask(Action::StopMonitor(None)).await {
            Ok(Outcome::Monitors(all)) => all,
            other => panic!("{other:?}"),
        }
    }
}

/// The messages of a followed log.
fn said(monitor: &LogMonitor) -> Vec<String> {
    let text = std::fs::read_to_string(monitor.file.as_ref().unwrap()).unwrap();
    text.lines().map(|line| line.rsplit(": ").next().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn followed_log_survives_a_disconnect() {
    for release in ["4.4", "9", "14"] {
        let studio = Studio::of(release);
        studio.write("Shop", "before");
        let monitor = studio.follow(Some("Shop"), Some("shop")).await;
        for words in ["one", "two"] {
            studio.write("Shop", words);
            studio.write("Other", words);
        }
        pass(1).await;
        assert_eq!(said(&monitor), ["one", "two"], "{release}");
        studio.phone.unplug();
        pass(40).await;
        // The phone's own clock advances as well.
        studio.phone.world(|world| world.advance(std::time::Duration::from_secs(40)));
        studio.write("Shop", "while away");
        assert_eq!((studio.followed().await.entries, studio.followed().await.ended), (2, None));
        studio.phone.plug();
        pass(40).await;
        studio.write("Shop", "three");
        pass(1).await;
        let stopped = studio.stop_all().await.remove(0);
        assert_eq!(stopped.entries, 4, "{release}: {:?}", said(&stopped));
        let lines = said(&stopped);
        let [one, two, lost, back, away, three] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!([one, two, away, three], ["one", "two", "while away", "three"], "{release}");
        assert!(!lost.is_empty() && back.starts_with("--------- following resumed"), "{lines:?}");
        while processes(&studio.phone, "logcat").await > 0 {}
    }
}

#[tokio::test(start_paused = true)]
async fn several_logs_are_followed_with_their_own_filters() {
    let studio = Studio::of("14");
    studio.follow(Some("One"), Some("same")).await;
    studio.follow(Some("Two"), Some("same")).await;
    studio.follow(None, None).await;
    studio.write("One", "1");
    studio.write("Two", "2");
    pass(1).await;
    let stopped = studio.stop_all().await;
    let entries: Vec<_> = stopped.iter().map(|monitor| monitor.entries).collect();
    assert_eq!(entries, [1, 1, 2]);
    assert_eq!((said(&stopped[0]), said(&stopped[1])), (vec!["1".into()], vec!["2".into()]));
    assert!(stopped[1].file.as_ref().unwrap().ends_with("logs/same-2.log"));
}

#[tokio::test(start_paused = true)]
async fn session_end_stops_its_logs_on_the_phone() {
    let studio = Studio::of("14");
    studio.follow(None, Some("a")).await;
    assert_eq!(processes(&studio.phone, "logcat").await, 1);
    studio.session.end().await;
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        while processes(&studio.phone, "logcat").await > 0 {}
    });
    assert!(ended.await.is_ok(), "logcat is still running");
}

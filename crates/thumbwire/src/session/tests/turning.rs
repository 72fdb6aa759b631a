//! Turning a screen that follows late, or never.

use thumbwire_device::{Orientation, TurnedBy};

use super::*;

/// How the fake's screen turns.
pub(super) struct Turning {
    now: Orientation,
    ordered: Option<Orientation>,
    /// How often it is still seen as it was, once it is ordered to turn; `None` is for ever.
    lag: Option<u32>,
    restored: Vec<bool>,
}

impl Default for Turning {
    fn default() -> Self {
        Self { now: Orientation::Portrait, ordered: None, lag: Some(0), restored: Vec::new() }
    }
}

impl Turning {
    pub(super) fn see(&mut self) -> Orientation {
        match (self.ordered, &mut self.lag) {
            (Some(ordered), Some(0)) => self.now = ordered,
            (Some(_), Some(lag)) => *lag -= 1,
            _ => {}
        }
        self.now
    }

    pub(super) fn order(&mut self, orientation: Orientation) {
        self.ordered = Some(orientation);
    }

    pub(super) fn restore(&mut self, turned: TurnedBy<'_>) -> bool {
        self.restored.push(matches!(turned, TurnedBy::This(_)));
        true
    }
}

fn landscape() -> Action {
    Action::SetOrientation(Orientation::Landscape)
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_turns_late_is_waited_for() {
    let device = Fake::new(Vec::new());
    let session = over(&device);
    lock(&device.turning).lag = Some(4);
    let asked = Instant::now();
    ask(&session, landscape()).await.unwrap();
    assert_eq!(asked.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_keeps_the_screen_is_named_after_a_bounded_wait() {
    let device = Fake::new(Vec::new());
    let session = over(&device);
    lock(&device.turning).lag = None;
    let asked = Instant::now();
    let failure = ask(&session, landscape()).await.unwrap_err();
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    let Cause::PhoneFailed { said } = &failure.cause else { panic!("{failure:?}") };
    assert!(said.contains("the app in front keeps it as it is"), "{said}");
    assert_eq!(failure.acted, Acted::Maybe);
    session.end().await;
    assert_eq!(lock(&device.turning).restored, [true], "the order itself is taken back");
}

#[tokio::test(start_paused = true)]
async fn no_look_is_under_way_while_a_screen_turns() {
    let device = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&device);
    lock(&device.turning).lag = Some(2);
    let seen_at = async {
        ask(&session, Action::LOOK).await.unwrap();
        Instant::now()
    };
    let began = Instant::now();
    let (turned, seen_at) = tokio::join!(ask(&session, landscape()), seen_at);
    turned.unwrap();
    assert!(seen_at - began >= Duration::from_millis(500), "{:?}", seen_at - began);
    ask(&session, number("e1")).await.unwrap();
}

#[tokio::test]
async fn what_was_listed_before_the_screen_turned_is_refused() {
    let device = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&device);
    ask(&session, Action::LOOK).await.unwrap();
    ask(&session, landscape()).await.unwrap();
    assert_eq!(why(ask(&session, number("e1")).await), "it was listed before the last action");
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_hangs_holds_up_the_end_of_a_session_for_seconds_only() {
    let device = Fake::new(Vec::new());
    let session = Arc::new(over(&device));
    ask(&session, landscape()).await.unwrap();
    // A key that is never carried out keeps the phone's turn.
    let pressing = tokio::spawn({
        let session = Arc::clone(&session);
        async move { ask(&session, Action::Press(Key::Back)).await }
    });
    tokio::task::yield_now().await;
    let asked = Instant::now();
    session.end().await;
    assert!(asked.elapsed() <= Duration::from_secs(5), "{:?}", asked.elapsed());
    assert!(lock(&device.turning).restored.is_empty());
    pressing.abort();
}

#[tokio::test]
async fn a_session_that_turned_nothing_asks_nothing_at_its_end() {
    let device = Fake::new(Vec::new());
    let session = over(&device);
    ask(&session, Action::LOOK).await.unwrap();
    session.end().await;
    let by_hand = over(&device).leaving_screens();
    ask(&by_hand, landscape()).await.unwrap();
    by_hand.end().await;
    assert!(lock(&device.turning).restored.is_empty());
}

#[test]
fn no_two_sessions_have_the_same_name() {
    let names: std::collections::BTreeSet<String> =
        (0..100).map(|_| crate::session::turning::name()).collect();
    assert_eq!(names.len(), 100);
    assert!(names.iter().all(|name| name.len() == 32));
}

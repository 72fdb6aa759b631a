//! Rotating a screen that follows late or never.

use thumbwire_device::{Orientation, RotationOwner};

use super::*;

/// How the fake's screen rotates.
pub(super) struct Turning {
    now: Orientation,
    ordered: Option<Orientation>,
    /// How many reads still return the old orientation after a rotation; `None` for all.
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

    pub(super) fn restore(&mut self, turned: RotationOwner<'_>) -> bool {
        self.restored.push(matches!(turned, RotationOwner::Session(_)));
        true
    }
}

fn landscape() -> Action {
    Action::SetOrientation(Orientation::Landscape)
}

#[tokio::test(start_paused = true)]
async fn late_rotation_is_waited_for() {
    let device = Fake::new(Vec::new());
    let session = over(&device);
    lock(&device.turning).lag = Some(4);
    let asked = Instant::now();
    ask(&session, landscape()).await.unwrap();
    assert_eq!(asked.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn fixed_orientation_is_reported_after_a_bounded_wait() {
    let device = Fake::new(Vec::new());
    let session = over(&device);
    lock(&device.turning).lag = None;
    let asked = Instant::now();
    let failure = ask(&session, landscape()).await.unwrap_err();
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    let Cause::DeviceError { text } = &failure.cause else { panic!("{failure:?}") };
    assert!(text.contains("the foreground app has a fixed orientation"), "{text}");
    assert_eq!(failure.side_effect, SideEffect::Possible);
    session.end().await;
    assert_eq!(lock(&device.turning).restored, [true], "the request itself is undone");
}

#[tokio::test(start_paused = true)]
async fn no_snapshot_is_taken_during_a_rotation() {
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
async fn refs_from_before_a_rotation_are_found_again() {
    let device = Fake::new(vec![label("Pay", [0, 0, 50, 50])]);
    let session = over(&device);
    ask(&session, Action::LOOK).await.unwrap();
    ask(&session, landscape()).await.unwrap();
    lock(&device.tree).nodes = vec![label("Pay", [50, 0, 100, 20])];
    let Ok(Outcome::Tapped(tapped)) = ask(&session, number("e1")).await else { panic!("a tap") };
    assert_eq!(tapped.at, Point { x: 75, y: 10 });
}

#[tokio::test(start_paused = true)]
async fn hanging_phone_delays_the_end_of_a_session_by_seconds() {
    let device = Fake::new(Vec::new());
    let session = Arc::new(over(&device));
    ask(&session, landscape()).await.unwrap();
    // A key press that never completes holds the action lock.
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
async fn session_without_rotations_restores_nothing() {
    let device = Fake::new(Vec::new());
    let session = over(&device);
    ask(&session, Action::LOOK).await.unwrap();
    session.end().await;
    let by_hand =
        over_with(&device, SessionOptions { keep_orientation: true, ..SessionOptions::default() });
    ask(&by_hand, landscape()).await.unwrap();
    by_hand.end().await;
    assert!(lock(&device.turning).restored.is_empty());
}

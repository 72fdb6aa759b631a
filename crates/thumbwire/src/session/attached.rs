//! A phone as one call holds it: its device, and what the session knows of its screen.
//!
//! Begin with [`Attached::act`], which decides what is stale. What is seen of the phone is in `looks`, what is tapped in
//! `aim`, and what is remembered in `recall`; here is what needs no more than the device. Finding the phone, and the
//! call's deadline, are [`super::Session`]'s matter.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex as Moment};
use std::time::Duration;

use thumbwire_device::{Acted, AppId, Device, Error, Gesture, Identity, Key, Point, Size};
use tokio::sync::Mutex;

use super::lock;
use super::pictures::Pictures;
use super::recall::Memory;
use crate::action::{Cause, Direction, Failure, Outcome};

/// What this session knows of a phone's screen.
pub(super) struct Screen {
    /// Counts the acts: what was learnt under another number is stale.
    pub(super) generation: AtomicU64,
    pub(super) memory: Memory,
    /// The number that the next new element gets.
    pub(super) next_control: Arc<AtomicU32>,
    pub(super) size: Moment<Option<Size>>,
    /// Whether this session has turned it.
    pub(super) turned: AtomicBool,
    /// Acts go one after the other, in the order in which they came.
    pub(super) acting: Mutex<()>,
    /// So do looks: Android's accessibility service has one user at a time, and a second dump ends the first.
    pub(super) looking: Mutex<()>,
    pub(super) pictures: Pictures,
}

impl Screen {
    /// A screen of which nothing is known.
    pub(super) fn new(next_control: Arc<AtomicU32>) -> Self {
        Self {
            generation: AtomicU64::new(0),
            memory: Memory::default(),
            next_control,
            size: Moment::default(),
            turned: AtomicBool::new(false),
            acting: Mutex::default(),
            looking: Mutex::default(),
            pictures: Pictures::default(),
        }
    }

    /// Forgets what was learnt, and makes stale what is being learnt.
    pub(super) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.memory.forget_connection();
        *lock(&self.size) = None;
        self.pictures.forget();
    }
}

/// A phone as one call holds it.
pub(super) struct Attached {
    pub(super) device: Arc<dyn Device>,
    pub(super) screen: Arc<Screen>,
    /// Set when this call's order goes out.
    ordered: AtomicBool,
}

impl Attached {
    pub(super) fn new(device: Arc<dyn Device>, screen: Arc<Screen>) -> Self {
        Self { device, screen, ordered: AtomicBool::new(false) }
    }

    pub(super) fn identity(&self) -> &Identity {
        self.device.identity()
    }

    pub(super) fn id(&self) -> &str {
        &self.identity().id
    }

    /// Whether this call's order may have reached the phone.
    pub(super) fn acted(&self) -> Acted {
        if self.ordered.load(Ordering::SeqCst) { Acted::Maybe } else { Acted::No }
    }

    pub(super) async fn settle(&self) {
        self.device.settle().await;
    }

    pub(super) async fn answers(&self) -> Result<(), Failure> {
        self.device.probe().await.map_err(|error| self.failed(&error))
    }

    pub(super) async fn health(&self) -> Result<Outcome, Failure> {
        let health = self.device.health().await.map_err(|error| self.failed(&error))?;
        Ok(Outcome::Health(self.identity().clone(), health))
    }

    pub(super) async fn current_app(&self) -> Result<Outcome, Failure> {
        let current = self.device.foreground().await.map_err(|error| self.failed(&error))?;
        Ok(Outcome::Current(current))
    }

    pub(super) async fn touch(&self, gesture: Gesture) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        if let Some(why) = self.outside(gesture).await? {
            return Err(Cause::InvalidArgument { why }.into());
        }
        self.act(self.device.touch(gesture)).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn press(&self, key: Key) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        self.act(self.device.press(key)).await?;
        Ok(Outcome::Done)
    }

    /// Swipes from the middle of the screen; the way ends at the screen's edge where it would lead beyond.
    pub(super) async fn swipe(
        &self,
        direction: Direction,
        distance: Option<i32>,
        lasting: Duration,
    ) -> Result<Outcome, Failure> {
        if let Some(distance) = distance.filter(|distance| *distance < 1) {
            let why = format!("a swipe over {distance} pixels leads nowhere; 1 is the least");
            return Err(Cause::InvalidArgument { why }.into());
        }
        let _turn = self.screen.acting.lock().await;
        let screen = self.device.screen_size().await.map_err(|error| self.failed(&error))?;
        let [from, to] = swipe_from_middle(screen, direction, distance);
        self.act(self.device.touch(Gesture::Swipe { from, to, lasting })).await?;
        Ok(Outcome::Swiped { from, to, screen })
    }

    /// Swipes from the middle of the screen, where what scrolls most likely is, to short of its edge, which belongs to
    /// the system's own gestures. A longer way takes several swipes.
    pub(super) async fn scroll(
        &self,
        direction: Direction,
        distance: f64,
    ) -> Result<Outcome, Failure> {
        const LONGEST: f64 = 0.4;
        /// Slow enough that the content stops with the finger and is not flung on.
        const LASTING: Duration = Duration::from_millis(500);
        let _turn = self.screen.acting.lock().await;
        let size = self.device.screen_size().await.map_err(|error| self.failed(&error))?;
        let swipes = (distance / LONGEST).ceil().max(1.0);
        let swipe = scroll_swipe(size, direction, distance / swipes, LASTING);
        for _ in 0..swipes as u32 {
            self.act(self.device.touch(swipe)).await?;
        }
        Ok(Outcome::Done)
    }

    pub(super) async fn stop(&self, app: &AppId) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        self.act(self.device.stop(app)).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn clear_data(&self, app: &AppId) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        self.act(self.device.clear_data(app)).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn permit(
        &self,
        app: &AppId,
        permission: &str,
        granted: bool,
    ) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        self.act(self.device.permit(app, permission, granted)).await?;
        Ok(Outcome::Done)
    }

    /// Carries out an order that may change the screen. What was learnt before is stale from the moment on in which
    /// it begins, and so is what was learnt while it went on.
    pub(super) async fn act<T>(
        &self,
        order: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        self.order(async { order.await.map_err(|error| self.failed(&error)) }).await
    }

    /// The same of an order that says its own failures.
    pub(super) async fn order<T>(
        &self,
        order: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.ordered.store(true, Ordering::SeqCst);
        let _bump = Bump::begin(&self.screen.generation);
        self.screen.pictures.forget();
        order.await
    }

    /// Says where a gesture would leave the screen: a touch outside it would do nothing and say nothing.
    pub(super) async fn outside(&self, gesture: Gesture) -> Result<Option<String>, Failure> {
        let leaves = |Size { width, height }: Size| {
            let inside = |at: &Point| (0..width).contains(&at.x) && (0..height).contains(&at.y);
            gesture.ends().into_iter().find(|at| !inside(at))
        };
        let known = *lock(&self.screen.size);
        if known.is_some_and(|size| leaves(size).is_none()) {
            return Ok(None);
        }
        // Never asked, or turned since.
        let size = self.device.screen_size().await.map_err(|error| self.failed(&error))?;
        *lock(&self.screen.size) = Some(size);
        Ok(leaves(size).map(|Point { x, y }| {
            let Size { width, height } = size;
            format!("({x}, {y}) lies outside the screen, which is {width} wide and {height} high")
        }))
    }

    pub(super) fn failed(&self, error: &Error) -> Failure {
        Failure::of_device(self.id(), error)
    }
}

/// The finger's way in this direction, so many pixels or a third of the shorter side (seed 003's `swipe_direction`).
fn swipe_from_middle(screen: Size, direction: Direction, distance: Option<i32>) -> [Point; 2] {
    let Size { width, height } = screen;
    let from = Point { x: width / 2, y: height / 2 };
    let way = distance.unwrap_or(width.min(height) / 3);
    let (dx, dy) = match direction {
        Direction::Up => (0, -way),
        Direction::Down => (0, way),
        Direction::Left => (-way, 0),
        Direction::Right => (way, 0),
    };
    let on_screen = |at: i32, way: i32, side: i32| at.saturating_add(way).min(side - 1).max(0);
    [from, Point { x: on_screen(from.x, dx, width), y: on_screen(from.y, dy, height) }]
}

/// The finger's way that moves the content by this part of the screen: down the screen shows what is further down, so
/// the finger goes up.
fn scroll_swipe(size: Size, direction: Direction, part: f64, lasting: Duration) -> Gesture {
    let middle = Point { x: size.width / 2, y: size.height / 2 };
    let way = |side: i32| (f64::from(side) * part).round() as i32;
    let (dx, dy) = match direction {
        Direction::Up => (0, -way(size.height)),
        Direction::Down => (0, way(size.height)),
        Direction::Left => (-way(size.width), 0),
        Direction::Right => (way(size.width), 0),
    };
    let to = Point { x: middle.x - dx, y: middle.y - dy };
    Gesture::Swipe { from: middle, to, lasting }
}

/// Raises the generation when an act begins and again when it ends, also when it is given up half-way.
struct Bump<'a>(&'a AtomicU64);

impl<'a> Bump<'a> {
    fn begin(generation: &'a AtomicU64) -> Self {
        generation.fetch_add(1, Ordering::SeqCst);
        Self(generation)
    }
}

impl Drop for Bump<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

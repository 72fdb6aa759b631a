//! A phone as one call sees it: its device and the session's cached screen state.
//!
//! Start with [`AttachedDevice::act`], which decides what becomes stale. Snapshots are in
//! `snapshots`, tap targets in `target`, caches in `cache`; this file holds what needs only the
//! device. Finding the phone and enforcing the call's deadline belong to [`super::Session`].

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use thumbwire_device::{AppId, Device, Error, Gesture, Identity, Key, Point, SideEffect, Size};
use tokio::sync::Mutex;

use super::app_guard::{AppGuard, leaves_an_app};
use super::cache::DeviceCache;
use super::known_lock::KnownLock;
use super::leasing::Leases;
use super::look_queue::{LookQueue, LookTurn, Looker};
use super::screen_size::KnownSize;
use super::screenshots::{CapturePermit, ScreenshotCache};
use crate::action::{
    Call, Cause, ClientId, Direction, Failure, HealthResult, Outcome, SwipeResult,
};
use crate::allowed_apps::AllowedApps;

/// What this session knows about a phone's screen.
pub(super) struct PhoneState {
    /// Counts actions. Data loaded under another value is stale.
    pub(super) generation: AtomicU64,
    pub(super) cache: DeviceCache,
    pub(super) leases: Leases,
    /// The ref number that the next new element gets.
    pub(super) next_ref: Arc<AtomicU32>,
    pub(super) size: KnownSize,
    pub(super) lock: KnownLock,
    /// Whether this session has rotated the screen.
    pub(super) turned: AtomicBool,
    /// Serializes actions, in the order in which they arrive.
    pub(super) acting: Mutex<()>,
    /// Serializes snapshots: Android's UiAutomation has one owner at a time, and a second dump
    /// kills the first.
    pub(super) looking: LookQueue,
    pub(super) pictures: ScreenshotCache,
    /// What callers may do with its apps.
    pub(super) guard: AppGuard,
}

impl PhoneState {
    /// A screen with empty caches.
    pub(super) fn new(leases: &Leases, allowed: &AllowedApps, next_ref: Arc<AtomicU32>) -> Self {
        Self {
            guard: AppGuard::new(allowed.clone()),
            generation: AtomicU64::new(0),
            cache: DeviceCache::default(),
            leases: leases.clone(),
            next_ref,
            size: KnownSize::default(),
            lock: KnownLock::default(),
            turned: AtomicBool::new(false),
            acting: Mutex::default(),
            looking: LookQueue::default(),
            pictures: ScreenshotCache::default(),
        }
    }

    /// The present action count.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Stores a size that the phone was asked for under this generation, unless an action followed.
    pub(super) fn learn_size(&self, size: Size, generation: u64) {
        if generation == self.generation() {
            self.size.learn(size, generation);
        }
    }

    /// Drops what is cached and makes loads in progress stale.
    pub(super) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.cache.forget_connection();
        self.size.forget();
        self.lock.forget();
        self.guard.forget();
        self.pictures.forget();
    }
}

/// A phone as one call sees it.
pub(super) struct AttachedDevice {
    pub(super) device: Arc<dyn Device>,
    pub(super) screen: Arc<PhoneState>,
    /// Set when this call's command is sent.
    ordered: AtomicBool,
    /// The client that acts; unset for what the session does by itself.
    client: OnceLock<ClientId>,
    /// Who looks; unset for what the session does by itself.
    looker: OnceLock<Looker>,
}

impl AttachedDevice {
    pub(super) fn new(device: Arc<dyn Device>, screen: Arc<PhoneState>) -> Self {
        let (ordered, client, looker) = Default::default();
        Self { device, screen, ordered, client, looker }
    }

    pub(super) fn identity(&self) -> &Identity {
        self.device.identity()
    }

    pub(super) fn id(&self) -> &str {
        &self.identity().id
    }

    /// Whether this call's command may have reached the phone.
    pub(super) fn acted(&self) -> SideEffect {
        if self.ordered.load(Ordering::SeqCst) { SideEffect::Possible } else { SideEffect::None }
    }

    /// Acquires the phone's lease for an act of this call, until the call ends.
    ///
    /// # Errors
    /// If another client holds it.
    pub(super) fn acquire_lease(&self, call: &Call) -> Result<(), Failure> {
        let _ = self.client.set(call.client.clone());
        self.screen.leases.hold_for(self.id(), call)
    }

    /// Looks are those of this call.
    pub(super) fn looks_for(&self, call: &Call) {
        let _ = self.looker.set(Looker::of(call));
    }

    /// Waits until this call may take a snapshot.
    ///
    /// # Errors
    /// If too many looks of its client wait.
    pub(super) async fn look_turn(&self) -> Result<LookTurn, Failure> {
        self.screen.looking.turn(self.looker()).await
    }

    /// Waits until this call may take a picture.
    ///
    /// # Errors
    /// If too many looks of its client wait.
    pub(super) async fn picture_turn(&self) -> Result<CapturePermit<'_>, Failure> {
        self.screen.pictures.turn(self.looker()).await
    }

    fn looker(&self) -> &Looker {
        self.looker.get_or_init(Looker::default)
    }

    /// Refuses to act on a phone that is leased to another client.
    fn check_lease(&self) -> Result<(), Failure> {
        let client = self.client.get().unwrap_or(&ClientId::ThisProcess);
        self.screen.leases.check(self.id(), client)
    }

    pub(super) async fn restore(&self) {
        self.device.restore_borrowed().await;
    }

    pub(super) async fn disconnect(&self) {
        self.device.disconnect().await;
    }

    pub(super) async fn answers(&self) -> Result<(), Failure> {
        self.device.probe().await.map_err(|error| self.failed(&error))
    }

    pub(super) async fn health(&self) -> Result<Outcome, Failure> {
        let checking = async { self.device.health_checks()?.check_health().await };
        let health = checking.await.map_err(|error| self.failed(&error))?;
        Ok(Outcome::Health(HealthResult { identity: self.identity().clone(), health }))
    }

    pub(super) async fn current_app(&self) -> Result<Outcome, Failure> {
        let generation = self.screen.generation();
        let front = self.device.foreground().await.map_err(|error| self.failed(&error))?;
        self.learn_front(&front, generation);
        Ok(Outcome::Foreground(front))
    }

    pub(super) async fn touch(&self, gesture: Gesture) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        if let Some(reason) = self.outside(gesture).await? {
            return Err(Cause::InvalidArgument { reason }.into());
        }
        self.refuse_if_guarded().await?;
        self.refuse_if_locked(gesture).await?;
        self.act(self.device.touch(gesture)).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn press(&self, key: Key) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        if !leaves_an_app(key) {
            self.refuse_if_guarded().await?;
        }
        self.screen.lock.forget();
        self.act(self.device.press(key)).await?;
        Ok(Outcome::Done)
    }

    /// Swipes from the center of the screen. The path is cut at the screen's edge.
    pub(super) async fn swipe(
        &self,
        direction: Direction,
        distance: Option<i32>,
        duration: Duration,
    ) -> Result<Outcome, Failure> {
        if let Some(distance) = distance.filter(|distance| *distance < 1) {
            let reason = format!("swipe distance must be at least 1 pixel, not {distance}");
            return Err(Cause::InvalidArgument { reason }.into());
        }
        let _turn = self.screen.acting.lock().await;
        let screen = self.screen_size().await?;
        let [from, to] = swipe_from_middle(screen, direction, distance);
        self.swipe_once(Gesture::Swipe { from, to, duration }).await?;
        Ok(Outcome::Swiped(SwipeResult { from, to, screen }))
    }

    /// Swipes across the center, where scrollable content most likely is, and stops short of the
    /// edges, which belong to system gestures. Longer distances take several swipes. Sideways one
    /// swipe goes as far as it can: a page that was moved less than 0.6 of its width turns back
    /// (`ViewPager.determineTargetPage`).
    pub(super) async fn scroll(
        &self,
        direction: Direction,
        distance: f64,
    ) -> Result<Outcome, Failure> {
        let max_distance = match direction {
            Direction::Up | Direction::Down => 0.4,
            Direction::Left | Direction::Right => 0.8,
        };
        /// Slow enough that the content stops with the finger instead of being flung.
        const LASTING: Duration = Duration::from_millis(500);
        let _turn = self.screen.acting.lock().await;
        let size = self.screen_size().await?;
        let swipes = (distance / max_distance).ceil().max(1.0);
        let swipe = scroll_swipe(size, direction, distance / swipes, LASTING);
        for _ in 0..swipes as u32 {
            self.swipe_once(swipe).await?;
        }
        Ok(Outcome::Done)
    }

    /// Swipes or pinches on the content, which moves it but does not rotate the screen. The caller
    /// holds the action lock.
    pub(super) async fn swipe_once(&self, swipe: Gesture) -> Result<(), Failure> {
        self.refuse_if_guarded().await?;
        self.refuse_if_locked(swipe).await?;
        self.act(self.device.touch(swipe)).await?;
        self.screen.size.is_unchanged(self.screen.generation());
        Ok(())
    }

    /// The size of the screen, from the phone only if no look since the last action showed it.
    pub(super) async fn screen_size(&self) -> Result<Size, Failure> {
        match self.screen.size.current(self.screen.generation()) {
            Some(size) => Ok(size),
            None => self.ask_screen_size().await,
        }
    }

    async fn ask_screen_size(&self) -> Result<Size, Failure> {
        let generation = self.screen.generation();
        let size = self.device.screen_size().await.map_err(|error| self.failed(&error))?;
        self.screen.learn_size(size, generation);
        Ok(size)
    }

    pub(super) async fn stop(&self, app: &AppId) -> Result<Outcome, Failure> {
        self.refuse_app(app).await?;
        let _turn = self.screen.acting.lock().await;
        self.act(self.device.stop(app)).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn clear_data(&self, app: &AppId) -> Result<Outcome, Failure> {
        self.refuse_app(app).await?;
        let _turn = self.screen.acting.lock().await;
        self.act(async { self.device.app_data()?.clear_data(app).await }).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn permit(
        &self,
        app: &AppId,
        permission: &str,
        granted: bool,
    ) -> Result<Outcome, Failure> {
        self.refuse_app(app).await?;
        let _turn = self.screen.acting.lock().await;
        let granting =
            async { self.device.app_permissions()?.set_permission(app, permission, granted).await };
        self.act(granting).await?;
        Ok(Outcome::Done)
    }

    /// Runs a command that may change the screen. Cached data becomes stale when it starts, and so
    /// does data loaded while it runs.
    pub(super) async fn act<T>(
        &self,
        order: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        self.run_action(async { order.await.map_err(|error| self.failed(&error)) }).await
    }

    /// Resets [`Self::acted`], after a command that the phone could not run.
    pub(super) fn forget_acts(&self) {
        self.ordered.store(false, Ordering::SeqCst);
    }

    /// [`Self::act`] for a future with its own [`Failure`]s. Refused if another client holds the
    /// phone's lease.
    pub(super) async fn run_action<T>(
        &self,
        order: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.check_lease()?;
        self.ordered.store(true, Ordering::SeqCst);
        let _bump = GenerationGuard::begin(&self.screen.generation);
        self.screen.pictures.forget();
        order.await
    }

    /// Runs a command that changes the phone, but nothing that its screen shows. Refused if another
    /// client holds the phone's lease.
    pub(super) async fn act_unseen<T>(
        &self,
        order: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        self.check_lease()?;
        self.ordered.store(true, Ordering::SeqCst);
        order.await.map_err(|error| self.failed(&error))
    }

    /// Why a gesture would leave the screen, if it would: Android ignores such a touch without an
    /// error.
    pub(super) async fn outside(&self, gesture: Gesture) -> Result<Option<String>, Failure> {
        let leaves = |Size { width, height }: Size| {
            let inside = |at: &Point| (0..width).contains(&at.x) && (0..height).contains(&at.y);
            gesture.ends().into_iter().find(|at| !inside(at))
        };
        let known = self.screen.size.last();
        if known.is_some_and(|size| leaves(size).is_none()) {
            return Ok(None);
        }
        // The size was never read, or the screen was rotated since.
        let size = self.ask_screen_size().await?;
        Ok(leaves(size).map(|Point { x, y }| {
            let Size { width, height } = size;
            format!("({x}, {y}) is outside the screen, which is {width} wide and {height} high")
        }))
    }

    pub(super) fn failed(&self, error: &Error) -> Failure {
        Failure::of_device(self.id(), error)
    }
}

/// The finger's path in this direction: the given pixels, or a third of the shorter side (Android
/// MCP server reference, `swipe_direction`).
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

/// The finger's path that scrolls by this part of the screen. Scrolling down reveals what is
/// further down, so the finger moves up.
fn scroll_swipe(size: Size, direction: Direction, part: f64, duration: Duration) -> Gesture {
    let middle = Point { x: size.width / 2, y: size.height / 2 };
    let way = |side: i32| (f64::from(side) * part).round() as i32;
    let (dx, dy) = match direction {
        Direction::Up => (0, -way(size.height)),
        Direction::Down => (0, way(size.height)),
        Direction::Left => (-way(size.width), 0),
        Direction::Right => (way(size.width), 0),
    };
    // A long way begins on the other side of the middle.
    let from = Point { x: middle.x + (dx / 2), y: middle.y };
    let to = Point { x: from.x - dx, y: from.y - dy };
    Gesture::Swipe { from, to, duration }
}

/// Raises the generation when an action starts and again when it ends, also if it is cancelled
/// halfway.
struct GenerationGuard<'a>(&'a AtomicU64);

impl<'a> GenerationGuard<'a> {
    fn begin(generation: &'a AtomicU64) -> Self {
        generation.fetch_add(1, Ordering::SeqCst);
        Self(generation)
    }
}

impl Drop for GenerationGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrolling_sideways_goes_across_most_of_the_screen() {
        let size = Size { width: 480, height: 800 };
        for (direction, part, path) in [
            (Direction::Down, 0.4, [240, 400, 240, 80]),
            (Direction::Up, 0.4, [240, 400, 240, 720]),
            (Direction::Right, 0.8, [432, 400, 48, 400]),
            (Direction::Left, 0.8, [48, 400, 432, 400]),
        ] {
            let Gesture::Swipe { from, to, .. } =
                scroll_swipe(size, direction, part, Duration::ZERO)
            else {
                panic!("a swipe");
            };
            assert_eq!([from.x, from.y, to.x, to.y], path, "{direction:?}");
        }
    }
}

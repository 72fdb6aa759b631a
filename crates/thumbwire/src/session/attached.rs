//! A phone as one call holds it: its device, and what the session knows of its screen.
//!
//! Begin with [`Attached::act`] and [`Attached::aim`]: between them they decide what is stale, and that nothing is
//! tapped blind. Finding the phone, and the call's deadline, are [`super::Session`]'s matter.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex as Moment};
use std::time::Duration;

use thumbwire_device::find::{Found, Sought, find, find_hidden};
use thumbwire_device::{
    Acted, AppId, Detail, Device, Error, Gesture, Identity, Key, Point, Screenshot, Size,
};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::lock;
use super::pictures::Pictures;
use crate::action::{Apps, Cause, Direction, Failure, Hit, Outcome, Target};
use crate::look::{Control, Look};

/// How long a listing may be taken for the screen without looking again (seed 000's control cache).
const LISTING_FRESH: Duration = Duration::from_secs(5);

/// What this session knows of a phone's screen.
pub(super) struct Screen {
    /// Counts the acts: what was learnt under another number is stale.
    generation: AtomicU64,
    listing: Moment<Option<Listing>>,
    next_control: Arc<AtomicU32>,
    pub(super) size: Moment<Option<Size>>,
    /// Whether this session has turned it.
    pub(super) turned: AtomicBool,
    /// Acts go one after the other, in the order in which they came.
    pub(super) acting: Mutex<()>,
    /// So do looks: Android's accessibility service has one user at a time, and a second dump ends the first.
    pub(super) looking: Mutex<()>,
    pictures: Pictures,
}

/// The last listing, and the generation in which it was asked for.
#[derive(Clone)]
struct Listing {
    look: Arc<Look>,
    generation: u64,
    taken: Instant,
}

impl Screen {
    /// A screen of which nothing is known.
    pub(super) fn new(next_control: Arc<AtomicU32>) -> Self {
        Self {
            generation: AtomicU64::new(0),
            listing: Moment::default(),
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
        *lock(&self.listing) = None;
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

    /// Whether it is this connection that it holds.
    pub(super) fn is_over(&self, device: &Arc<dyn Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
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

    pub(super) async fn info(&self) -> Result<Outcome, Failure> {
        let info = self.device.info().await.map_err(|error| self.failed(&error))?;
        *lock(&self.screen.size) = Some(info.screen);
        Ok(Outcome::Info { identity: self.identity().clone(), info, earlier: false })
    }

    pub(super) async fn apps(&self, which: Apps) -> Result<Outcome, Failure> {
        let mut apps = self.device.apps().await.map_err(|error| self.failed(&error))?;
        apps.retain(|app| match which {
            Apps::User => !app.system,
            Apps::System => app.system,
            Apps::All => true,
        });
        Ok(Outcome::Apps(apps))
    }

    pub(super) async fn current_app(&self) -> Result<Outcome, Failure> {
        let current = self.device.foreground().await.map_err(|error| self.failed(&error))?;
        Ok(Outcome::Current(current))
    }

    pub(super) async fn screenshot(&self) -> Result<Screenshot, Failure> {
        let Screen { pictures, generation, .. } = &*self.screen;
        self.learn(pictures.recent(generation, self.device.screenshot()).await)
    }

    /// Picture and tree, begun together so that they show the same moment as nearly as the phone allows. Where an act came
    /// between, they are taken once more.
    pub(super) async fn snapshot(&self) -> Result<(Screenshot, Arc<Look>), Failure> {
        let Screen { pictures, generation, looking, .. } = &*self.screen;
        for _ in 0..2 {
            // Nobody else waits for both: the order cannot lock anybody out.
            let _looking = looking.lock().await;
            let turn = pictures.turn().await;
            let before = generation.load(Ordering::SeqCst);
            let picture =
                async { self.learn(turn.take(generation, self.device.screenshot()).await) };
            let both = tokio::try_join!(picture, self.look_in_turn())?;
            if generation.load(Ordering::SeqCst) == before {
                return Ok(both);
            }
        }
        let said = "another call acted on the screen while it was being looked at, twice".into();
        Err(Cause::NotReady { said }.into())
    }

    /// A picture tells the screen's size.
    fn learn(&self, taken: Result<Screenshot, Error>) -> Result<Screenshot, Failure> {
        let picture = taken.map_err(|error| self.failed(&error))?;
        *lock(&self.screen.size) = Some(picture.size);
        Ok(picture)
    }

    /// Looks at the screen and numbers its elements.
    pub(super) async fn look(&self) -> Result<Arc<Look>, Failure> {
        let _turn = self.screen.looking.lock().await;
        self.look_in_turn().await
    }

    async fn look_in_turn(&self) -> Result<Arc<Look>, Failure> {
        let generation = self.screen.generation.load(Ordering::SeqCst);
        let taken = Instant::now();
        let tree = self.device.tree(Detail::Full).await.map_err(|error| self.failed(&error))?;
        let mut listing = lock(&self.screen.listing);
        let last = listing.as_ref().map(|last| &*last.look);
        if last.is_some_and(|last| last.tree.rotation != tree.rotation) {
            // The screen was turned: its sides are others now.
            *lock(&self.screen.size) = None;
        }
        let look = Arc::new(Look::number(tree, last, &self.screen.next_control));
        *listing = Some(Listing { look: Arc::clone(&look), generation, taken });
        Ok(look)
    }

    pub(super) async fn touch(&self, gesture: Gesture) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        if let Some(why) = self.outside(gesture).await? {
            return Err(Cause::InvalidArgument { why }.into());
        }
        self.act(self.device.touch(gesture)).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn tap_element(&self, target: &Target) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        Ok(Outcome::Tapped(self.tap_on(target).await?))
    }

    /// Aims and taps, within the turn that the caller has.
    pub(super) async fn tap_on(&self, target: &Target) -> Result<Hit, Failure> {
        let hit = self.aim(target).await?;
        let tap = Gesture::Tap { at: hit.at };
        if let Some(why) = self.outside(tap).await? {
            let sought = target.to_string();
            let why = Some(format!("its middle {why}; scroll it into view"));
            return Err(Cause::ElementNotFound { sought, why }.into());
        }
        self.act(self.device.touch(tap)).await?;
        Ok(hit)
    }

    /// The look that was listed last, and whether nothing was done since.
    pub(super) fn last_look(&self) -> Option<(Arc<Look>, bool)> {
        let last = lock(&self.screen.listing).clone()?;
        let unacted = last.generation == self.screen.generation.load(Ordering::SeqCst);
        Some((last.look, unacted))
    }

    pub(super) async fn press(&self, key: Key) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        self.act(self.device.press(key)).await?;
        Ok(Outcome::Done)
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

    pub(super) async fn launch(&self, app: &AppId) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        let said = self.act(self.device.launch(app)).await?;
        Ok(Outcome::Launched { app: app.clone(), said })
    }

    /// Carries out an order that may change the screen. What was learnt before is stale from the moment on in which
    /// it begins, and so is what was learnt while it went on.
    pub(super) async fn act<T>(
        &self,
        order: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        self.ordered.store(true, Ordering::SeqCst);
        let _bump = Bump::begin(&self.screen.generation);
        self.screen.pictures.forget();
        order.await.map_err(|error| self.failed(&error))
    }

    /// Says where a gesture would leave the screen: a touch outside it would do nothing and say nothing.
    async fn outside(&self, gesture: Gesture) -> Result<Option<String>, Failure> {
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

    /// Where a tap on the target goes. Nothing is tapped blind: a number from an old
    /// listing is looked for again, and refused when it is gone or could be several.
    async fn aim(&self, target: &Target) -> Result<Hit, Failure> {
        let (id, text) = match target {
            Target::Named { id, text } => (id.as_deref(), text.as_deref()),
            Target::Control(_) | Target::Match(..) => return Err(super::unbuilt()),
        };
        let refuse = |why: Option<String>| {
            Failure::from(Cause::ElementNotFound { sought: target.to_string(), why })
        };
        if let Some(number) = id.and_then(Control::read_number) {
            return self.aim_at_number(number).await.map_err(|miss| match miss {
                Miss::Why(why) => refuse(Some(why)),
                Miss::Failed(failure) => failure,
            });
        }
        let look = self.look().await?;
        let words = [id.map(Sought::Id), text.map(Sought::Text)];
        for sought in words.into_iter().flatten() {
            match find(&look.tree, sought) {
                Found::One(node) => return hit(&look, node).map_err(|why| refuse(Some(why))),
                Found::Several(nodes) => return Err(refuse(Some(look.describe_several(&nodes)))),
                Found::None => {}
            }
        }
        let hidden = words.into_iter().flatten().find_map(|it| find_hidden(&look.tree, it));
        Err(refuse(hidden.map(|(_, why)| {
            format!("it is there, but nothing of it shows: {}; scroll it into view", why.why())
        })))
    }

    async fn aim_at_number(&self, number: u32) -> Result<Hit, Miss> {
        let last = lock(&self.screen.listing).clone();
        let Some(last) = last else {
            return Err(Miss::Why("nothing has been listed yet".into()));
        };
        let Some(node) = last.look.node_of(number) else {
            return Err(Miss::Why("it is not in the last listing".into()));
        };
        if last.generation != self.screen.generation.load(Ordering::SeqCst) {
            return Err(Miss::Why("it was listed before the last action".into()));
        }
        if last.taken.elapsed() <= LISTING_FRESH {
            return hit(&last.look, node).map_err(Miss::Why);
        }
        let now = self.look().await.map_err(Miss::Failed)?;
        match now.same_as(&last.look, node) {
            Found::One(node) => hit(&now, node).map_err(Miss::Why),
            Found::None => Err(Miss::Why(
                "it is no longer on the screen, or says something else by now".into(),
            )),
            Found::Several(nodes) => Err(Miss::Why(now.describe_several(&nodes))),
        }
    }

    pub(super) fn failed(&self, error: &Error) -> Failure {
        Failure::of_device(self.id(), error)
    }
}

/// A tap on a node of a look.
///
/// # Errors
/// Why it would not reach it, in words.
fn hit(look: &Arc<Look>, node: usize) -> Result<Hit, String> {
    let at = look.aim(node)?;
    Ok(Hit { at, look: Arc::clone(look), node, of: 1 })
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

/// Why a numbered control was not hit.
enum Miss {
    Why(String),
    Failed(Failure),
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

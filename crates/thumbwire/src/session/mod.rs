//! One piece of work on phones: the chosen device, the numbered controls, and what an action makes stale.
//!
//! Begin with [`Session`], which is the one [`Perform`] that reaches phones. [`Phones`] knows which there are and
//! opens them. There is no shell text here and no JSON, and
//! nothing of a tool's dialect.

mod phones;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_device::find::{Found, Sought, find};
use thumbwire_device::{Acted, Device, Error, Gesture, Platform, Point, Size};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};

use crate::action::{Action, Call, Cause, Failure, Outcome, Perform, Target};
use crate::look::{Control, Look};
pub use phones::{Phones, VIRTUAL};

/// How long a listing may be taken for the screen without looking again (seed 000's control cache).
const LISTING_FRESH: Duration = Duration::from_secs(5);

/// The part of a call's time that is kept for finding out whether a silent phone is still there.
const PROBE: Duration = Duration::from_secs(1);

/// One piece of work on phones.
pub struct Session {
    phones: Phones,
    /// The phones in use, by id.
    attached: Mutex<BTreeMap<String, Arc<Attached>>>,
    chosen: Mutex<Option<String>>,
    /// The number that the next new control gets, on whichever phone.
    next_control: Arc<AtomicU32>,
}

/// A phone in use, and what this session knows of its screen.
struct Attached {
    device: Arc<dyn Device>,
    /// Counts the acts: what was learnt under another number is stale.
    generation: AtomicU64,
    /// The last listing and the generation it was asked for in.
    listing: Mutex<Option<Listing>>,
    next_control: Arc<AtomicU32>,
    /// Acts go one after the other, in the order in which they came.
    acting: Mutex<()>,
    size: Mutex<Option<Size>>,
}

#[derive(Clone)]
struct Listing {
    look: Arc<Look>,
    generation: u64,
    taken: Instant,
}

impl Session {
    /// A session over these phones. `chosen` is the device to use until a caller chooses another.
    pub fn new(phones: Phones, chosen: Option<String>) -> Self {
        Self {
            phones,
            attached: Mutex::default(),
            chosen: Mutex::new(chosen),
            next_control: Arc::new(AtomicU32::new(1)),
        }
    }

    /// The phone that a call is for, connected.
    async fn attached(&self, call: &Call) -> Result<Arc<Attached>, Failure> {
        let id = match &call.device {
            Some(id) => id.clone(),
            None => self.chosen_id().await?,
        };
        self.attach(&id).await
    }

    /// The chosen phone; without a choice, the only one that is there. That is remembered, so that a second
    /// phone plugged in later does not change what is driven.
    async fn chosen_id(&self) -> Result<String, Failure> {
        let mut chosen = self.chosen.lock().await;
        if let Some(id) = &*chosen {
            return Ok(id.clone());
        }
        let there = self.phones.list().await?;
        match there.iter().filter(|phone| phone.is_ready()).collect::<Vec<_>>().as_slice() {
            [only] => Ok(chosen.insert(only.id.clone()).clone()),
            _ => Err(Cause::NoDeviceChosen { there }.into()),
        }
    }

    async fn attach(&self, id: &str) -> Result<Arc<Attached>, Failure> {
        if let Some(attached) = self.attached.lock().await.get(id) {
            return Ok(Arc::clone(attached));
        }
        // Not under the lock: a phone that does not answer must not hold up the others.
        let device = self.phones.open(id).await?;
        let mut all = self.attached.lock().await;
        let attached = all.entry(id.to_owned()).or_insert_with(|| {
            Arc::new(Attached {
                device,
                generation: AtomicU64::new(0),
                listing: Mutex::default(),
                next_control: Arc::clone(&self.next_control),
                acting: Mutex::default(),
                size: Mutex::default(),
            })
        });
        Ok(Arc::clone(attached))
    }

    async fn carry_out(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        match action {
            Action::ListDevices { platform } => {
                let mut there = self.phones.list().await?;
                there.retain(|phone| platform.is_none_or(|platform| phone.platform == platform));
                Ok(Outcome::Devices(there))
            }
            Action::UseDevice { device, platform } => self.choose(&device, platform).await,
            Action::Screenshot => self.attached(call).await?.screenshot().await,
            Action::Look => self.attached(call).await?.look().await.map(Outcome::Look),
            Action::Touch(gesture) => self.attached(call).await?.touch(gesture).await,
            Action::TapElement(target) => self.attached(call).await?.tap_element(&target).await,
            Action::TypeText(text) => {
                let attached = self.attached(call).await?;
                let _turn = attached.acting.lock().await;
                attached.act(attached.device.type_text(&text)).await
            }
            Action::Press(key) => {
                let attached = self.attached(call).await?;
                let _turn = attached.acting.lock().await;
                attached.act(attached.device.press(key)).await
            }
            Action::Launch(app) => {
                let attached = self.attached(call).await?;
                let _turn = attached.acting.lock().await;
                attached.act(attached.device.launch(&app)).await
            }
        }
    }

    async fn choose(&self, id: &str, platform: Option<Platform>) -> Result<Outcome, Failure> {
        if platform == Some(Platform::Ios) {
            let what = format!("driving {id}");
            return Err(Cause::PlatformNotSupported { what, platform: Platform::Ios }.into());
        }
        let attached = self.attach(id).await?;
        attached.answers().await?;
        *self.chosen.lock().await = Some(id.to_owned());
        Ok(Outcome::Using(attached.device.identity().clone()))
    }

    /// Forgets a phone that is away, and with it the connection and all that was learnt of its screen: the next
    /// call begins anew.
    async fn let_go(&self, id: &str) {
        self.attached.lock().await.remove(id);
    }

    /// What to say when a call's time ran out: a phone that no longer answers anything is not connected.
    async fn out_of_time(
        &self,
        call: &Call,
        what: String,
        given: Duration,
        acted: Acted,
    ) -> Failure {
        let id = match &call.device {
            Some(id) => Some(id.clone()),
            None => self.chosen.lock().await.clone(),
        };
        let attached = match &id {
            Some(id) => self.attached.lock().await.get(id).cloned(),
            None => None,
        };
        if let Some(attached) = attached {
            let answers = timeout_at(call.deadline, attached.answers()).await;
            if !matches!(answers, Ok(Ok(()))) {
                let device = attached.id().to_owned();
                let why = "it stopped answering".into();
                return Failure { cause: Cause::DeviceNotConnected { device, why }, acted };
            }
        }
        Failure { cause: Cause::TimedOut { what, after: given }, acted }
    }
}

#[async_trait]
impl Perform for Session {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let what = action.to_string();
        let acted = if action.acts() { Acted::Maybe } else { Acted::No };
        let given = call.deadline.saturating_duration_since(Instant::now());
        let work = timeout(given - PROBE.min(given / 4), self.carry_out(call, action));
        tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Err(Failure { cause: Cause::Cancelled, acted }),
            done = work => {
                let done = match done {
                    Ok(done) => done,
                    Err(_) => Err(self.out_of_time(call, what, given, acted).await),
                };
                if let Err(Failure { cause: Cause::DeviceNotConnected { device, .. }, .. }) = &done {
                    self.let_go(device).await;
                }
                done
            }
        }
    }
}

impl Attached {
    fn id(&self) -> &str {
        &self.device.identity().id
    }

    fn failed(&self, error: &Error) -> Failure {
        Failure::of_device(self.id(), error)
    }

    async fn answers(&self) -> Result<(), Failure> {
        self.device.probe().await.map_err(|error| self.failed(&error))
    }

    async fn screenshot(&self) -> Result<Outcome, Failure> {
        let picture = self.device.screenshot().await.map_err(|error| self.failed(&error))?;
        *self.size.lock().await = Some(picture.size);
        Ok(Outcome::Picture(picture))
    }

    /// Looks at the screen and numbers its elements.
    async fn look(&self) -> Result<Arc<Look>, Failure> {
        let generation = self.generation.load(Ordering::SeqCst);
        let taken = Instant::now();
        let tree = self.device.tree().await.map_err(|error| self.failed(&error))?;
        let mut listing = self.listing.lock().await;
        let look = Arc::new(Look::number(
            tree,
            listing.as_ref().map(|last| &*last.look),
            &self.next_control,
        ));
        *listing = Some(Listing { look: Arc::clone(&look), generation, taken });
        Ok(look)
    }

    async fn touch(&self, gesture: Gesture) -> Result<Outcome, Failure> {
        let _turn = self.acting.lock().await;
        self.check_inside(gesture).await?;
        self.act(self.device.touch(gesture)).await
    }

    async fn tap_element(&self, target: &Target) -> Result<Outcome, Failure> {
        let _turn = self.acting.lock().await;
        let (at, name) = self.aim(target).await?;
        self.act(self.device.touch(Gesture::Tap { at })).await?;
        Ok(Outcome::Tapped { at, name })
    }

    /// Carries out an order that may change the screen. What was learnt before is stale from the moment on in which
    /// it begins, and so is what was learnt while it went on.
    async fn act(
        &self,
        order: impl Future<Output = Result<(), Error>>,
    ) -> Result<Outcome, Failure> {
        let _bump = Bump::begin(&self.generation);
        order.await.map_err(|error| self.failed(&error))?;
        Ok(Outcome::Done)
    }

    /// A touch outside the screen would do nothing and say nothing.
    async fn check_inside(&self, gesture: Gesture) -> Result<(), Failure> {
        let mut size = self.size.lock().await;
        if size.is_none() {
            *size = Some(self.device.screen_size().await.map_err(|error| self.failed(&error))?);
        }
        // The screen may have been turned since: what fits either way is let through.
        let inside = |size: Size, at: Point| {
            let longest = size.width.max(size.height);
            (0..longest).contains(&at.x) && (0..longest).contains(&at.y)
        };
        let outside = |size: Size| gesture.ends().into_iter().find(|&at| !inside(size, at));
        match size.and_then(|size| Some((size, outside(size)?))) {
            None => Ok(()),
            Some((Size { width, height }, Point { x, y })) => {
                let why = format!(
                    "({x}, {y}) lies outside the screen, which is {width} wide and {height} high"
                );
                Err(Cause::InvalidArgument { why }.into())
            }
        }
    }

    /// Where a tap on the target goes, and what it is called. Nothing is tapped blind: a number from an old
    /// listing is looked for again, and refused when it is gone or could be several.
    async fn aim(&self, target: &Target) -> Result<(Point, String), Failure> {
        let refuse = |why: Option<String>| {
            Failure::from(Cause::ElementNotFound { sought: target.to_string(), why })
        };
        if let Some(number) = target.id.as_deref().and_then(Control::read_number) {
            return self.aim_at_number(number).await.map_err(|miss| match miss {
                Miss::Why(why) => refuse(Some(why)),
                Miss::Failed(failure) => failure,
            });
        }
        let look = self.look().await?;
        let words =
            [target.id.as_deref().map(Sought::Id), target.text.as_deref().map(Sought::Text)];
        for sought in words.into_iter().flatten() {
            match find(&look.tree, sought) {
                Found::One(node) => return Ok(look.aim(node)),
                Found::Several(nodes) => return Err(refuse(Some(look.describe_several(&nodes)))),
                Found::None => {}
            }
        }
        Err(refuse(None))
    }

    async fn aim_at_number(&self, number: u32) -> Result<(Point, String), Miss> {
        let last = self.listing.lock().await.clone();
        let Some(last) = last else {
            return Err(Miss::Why("nothing has been listed yet".into()));
        };
        let Some(node) = last.look.node_of(number) else {
            return Err(Miss::Why("it is not in the last listing".into()));
        };
        if last.generation != self.generation.load(Ordering::SeqCst) {
            return Err(Miss::Why("it was listed before the last action".into()));
        }
        if last.taken.elapsed() <= LISTING_FRESH {
            return Ok(last.look.aim(node));
        }
        let now = self.look().await.map_err(Miss::Failed)?;
        match now.same_as(&last.look, node) {
            Found::One(node) => Ok(now.aim(node)),
            Found::None => Err(Miss::Why("it is no longer on the screen".into())),
            Found::Several(nodes) => Err(Miss::Why(now.describe_several(&nodes))),
        }
    }
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

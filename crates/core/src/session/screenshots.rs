//! Screenshots of one phone: taken one at a time, shared between callers, cached briefly, and
//! converted as the caller wants.
//!
//! Start with [`ScreenshotCache::turn`]. A caller who arrives while a screenshot is being taken
//! does not get that one, which started too early; it waits for the next, which all waiting callers
//! share. [`super::attached_device`] supplies the action count.

use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::image::{self, fit, fits};
use thumbwire_device::{Error, FormatPreference, Screenshot};
use tokio::time::Instant;

use super::look_queue::{LookQueue, LookTurn, Looker};
use crate::action::{Cause, Failure, ScreenshotOptions};

/// How long a screenshot may be served again if no action happened. A screenshot takes a phone 0.3
/// to 2.6 s, and screens change by themselves. One second saves the second of two requests in a row
/// (a tool that wants screenshot and tree, two callers at once) and is less than a model takes
/// between two steps.
const FRESH: Duration = Duration::from_secs(1);

/// The screenshot cache of one screen.
#[derive(Default)]
pub(super) struct ScreenshotCache {
    taking: LookQueue,
    /// Orders requests, starts and arrivals, which a clock may not tell apart.
    events: AtomicU64,
    last: StdMutex<Option<CachedScreenshot>>,
}

/// The last screenshot.
struct CachedScreenshot {
    picture: Screenshot,
    /// The action count when it started.
    generation: u64,
    began: u64,
    arrived: u64,
    at: Instant,
}

/// The permit to take a screenshot, and when its holder asked for it.
pub(super) struct CapturePermit<'a> {
    pictures: &'a ScreenshotCache,
    asked: u64,
    _held: LookTurn,
}

impl ScreenshotCache {
    /// Waits for the permit.
    ///
    /// # Errors
    /// If too many looks of this looker wait.
    pub(super) async fn turn(&self, looker: &Looker) -> Result<CapturePermit<'_>, Failure> {
        let asked = self.event();
        Ok(CapturePermit { pictures: self, asked, _held: self.taking.turn(looker).await? })
    }

    /// Drops the cached screenshot.
    pub(super) fn forget(&self) {
        *lock(&self.last) = None;
    }

    fn event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::SeqCst)
    }
}

impl CapturePermit<'_> {
    /// The cached screenshot, if it is fresh and no action happened since, or if another caller
    /// started it after the permit's holder asked. A JPEG is not converted to another format: who
    /// asks for a lossless one gets it.
    pub(super) fn cached(&self, generation: u64, format: FormatPreference) -> Option<Screenshot> {
        let last = lock(&self.pictures.last);
        let last = last.as_ref().filter(|last| last.generation == generation)?;
        let taken = last.picture.image.format;
        if !taken.is_lossless() && !format.is_met_by(taken) {
            return None;
        }
        let shared = last.began > self.asked;
        let fresh = last.arrived < self.asked && last.at.elapsed() <= FRESH;
        (shared || fresh).then(|| last.picture.clone())
    }

    /// Takes and caches a screenshot.
    pub(super) async fn take(
        self,
        generation: &AtomicU64,
        take: impl Future<Output = Result<Screenshot, Error>>,
    ) -> Result<Screenshot, Error> {
        let began = self.pictures.event();
        let generation = generation.load(Ordering::SeqCst);
        let picture = take.await?;
        let (arrived, at) = (self.pictures.event(), Instant::now());
        let taken = CachedScreenshot { picture: picture.clone(), generation, began, arrived, at };
        *lock(&self.pictures.last) = Some(taken);
        Ok(picture)
    }
}

/// Converts the screenshot to the requested format and size, on a blocking thread.
pub(super) async fn shaped(
    picture: Screenshot,
    options: ScreenshotOptions,
) -> Result<Screenshot, Failure> {
    let ScreenshotOptions { format, max_bytes: most_bytes, .. } = options;
    if fits(&picture.image, format, most_bytes) {
        return Ok(picture);
    }
    let Screenshot { image, size, blank } = picture;
    let fitting = tokio::task::spawn_blocking(move || fit(image, format, most_bytes)).await;
    let cause = match fitting {
        Ok(Ok(image)) => return Ok(Screenshot { image, size, blank }),
        Ok(Err(reason @ image::Error::TooLarge { .. })) => {
            Cause::Refused { reason: format!("failed to {reason}") }
        }
        Ok(Err(reason)) => Cause::DeviceError { text: format!("failed to {reason}") },
        Err(reason) => {
            Cause::DeviceError { text: format!("failed to convert the screenshot: {reason}") }
        }
    };
    Err(cause.into())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use thumbwire_device::{Format, Image, Size};
    use tokio::sync::Semaphore;
    use tokio::time::advance;

    use super::*;

    /// A fake camera: each screenshot carries its number.
    struct Shutter {
        pictures: ScreenshotCache,
        generation: AtomicU64,
        taken: AtomicUsize,
        /// One permit per screenshot that may finish.
        permits: Semaphore,
    }

    impl Shutter {
        fn new(permits: usize) -> Self {
            Self {
                pictures: ScreenshotCache::default(),
                generation: AtomicU64::new(0),
                taken: AtomicUsize::new(0),
                permits: Semaphore::new(permits),
            }
        }

        async fn shoot(&self) -> Result<Screenshot, Error> {
            let number = self.taken.fetch_add(1, Ordering::SeqCst) + 1;
            self.permits.acquire().await.unwrap().forget();
            let image = Image { format: Format::Png, bytes: vec![number as u8].into() };
            Ok(Screenshot { image, size: Size { width: 1, height: 1 }, blank: None })
        }

        /// The number of the screenshot served now.
        async fn observe(&self) -> u8 {
            let format = FormatPreference::AsTaken;
            let Ok(turn) = self.pictures.turn(&Looker::default()).await else { panic!("refused") };
            let picture = match turn.cached(self.generation.load(Ordering::SeqCst), format) {
                Some(picture) => picture,
                None => turn.take(&self.generation, self.shoot()).await.unwrap(),
            };
            picture.image.bytes[0]
        }

        fn act(&self) {
            self.generation.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn screenshot_is_cached_for_a_second() {
        let phone = Shutter::new(9);
        assert_eq!(phone.observe().await, 1);
        advance(FRESH).await;
        assert_eq!(phone.observe().await, 1);
        advance(Duration::from_millis(1)).await;
        assert_eq!(phone.observe().await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn no_cached_screenshot_is_served_after_an_action() {
        let phone = Shutter::new(9);
        assert_eq!(phone.observe().await, 1);
        phone.act();
        assert_eq!(phone.observe().await, 2);
        phone.act();
        phone.pictures.forget();
        assert_eq!(phone.observe().await, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn screenshot_started_before_an_action_is_not_cached() {
        let phone = Shutter::new(0);
        let (first, ()) = tokio::join!(phone.observe(), async {
            tokio::task::yield_now().await;
            phone.act();
            phone.permits.add_permits(9);
        });
        assert_eq!(first, 1, "a caller from before the action still gets its screenshot");
        assert_eq!(phone.observe().await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_callers_share_the_next_screenshot() {
        let phone = Shutter::new(0);
        let later = async {
            tokio::task::yield_now().await;
            assert_eq!(phone.taken.load(Ordering::SeqCst), 1, "one is in progress");
            let permits = async { phone.permits.add_permits(9) };
            let (one, two, ()) = tokio::join!(phone.observe(), phone.observe(), permits);
            [one, two]
        };
        let (first, later) = tokio::join!(phone.observe(), later);
        assert_eq!((first, later), (1, [2, 2]));
        assert_eq!(phone.taken.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_caller_passes_the_permit_on() {
        let phone = Shutter::new(0);
        let given_up = tokio::time::timeout(Duration::from_secs(1), phone.observe()).await;
        assert!(given_up.is_err());
        phone.permits.add_permits(1);
        assert_eq!(phone.observe().await, 2);
    }
}

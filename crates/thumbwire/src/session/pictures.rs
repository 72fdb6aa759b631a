//! Pictures of one phone's screen: taken one at a time, shared, kept for a moment, and shaped as the caller wants.
//!
//! Begin with [`Pictures::recent`]. Who asks while a picture is being taken does not get that one, which began before
//! they asked: they wait for the next, and all who wait then share it. Taking one is the device's matter; when the screen
//! was acted upon is [`super::attached`]'s, which hands its count in.

use std::sync::Mutex as Moment;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use thumbwire_device::picture::{self, fit, fits};
use thumbwire_device::{Error, Screenshot};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::lock;
use crate::action::{Cause, Failure, Shape};

/// How long a picture may be served again while nothing is done between. A phone takes 0.3 to 2.6 s for one, and changes by
/// itself: a second spares the second of two looks in a row (a tool that wants the picture beside the tree, two callers at
/// once), and is less than a model takes from one look to the next.
const FRESH: Duration = Duration::from_secs(1);

/// What is kept of the pictures of one screen.
#[derive(Default)]
pub(super) struct Pictures {
    taking: Mutex<()>,
    /// Counts askings, beginnings and arrivals in the order in which they happen, which a clock may not tell apart.
    events: AtomicU64,
    last: Moment<Option<Taken>>,
}

/// The last picture.
struct Taken {
    picture: Screenshot,
    /// The count of acts when it began.
    generation: u64,
    began: u64,
    arrived: u64,
    at: Instant,
}

/// The turn to take a picture, and when its holder asked for it.
pub(super) struct Turn<'a> {
    pictures: &'a Pictures,
    asked: u64,
    _held: MutexGuard<'a, ()>,
}

impl Pictures {
    /// A picture of now: a kept one where that is fresh and nothing was done since, one that another caller began after
    /// this was asked, or a new one.
    pub(super) async fn recent(
        &self,
        generation: &AtomicU64,
        take: impl Future<Output = Result<Screenshot, Error>>,
    ) -> Result<Screenshot, Error> {
        let turn = self.turn().await;
        match turn.kept(generation.load(Ordering::SeqCst)) {
            Some(picture) => Ok(picture),
            None => turn.take(generation, take).await,
        }
    }

    /// Waits for one's turn.
    pub(super) async fn turn(&self) -> Turn<'_> {
        let asked = self.event();
        Turn { pictures: self, asked, _held: self.taking.lock().await }
    }

    /// Lets the kept picture go.
    pub(super) fn forget(&self) {
        *lock(&self.last) = None;
    }

    fn event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::SeqCst)
    }
}

impl Turn<'_> {
    /// The kept picture, where it may be served to who has this turn.
    fn kept(&self, generation: u64) -> Option<Screenshot> {
        let last = lock(&self.pictures.last);
        let last = last.as_ref().filter(|last| last.generation == generation)?;
        let shared = last.began > self.asked;
        let fresh = last.arrived < self.asked && last.at.elapsed() <= FRESH;
        (shared || fresh).then(|| last.picture.clone())
    }

    /// Takes a picture and keeps it.
    pub(super) async fn take(
        self,
        generation: &AtomicU64,
        take: impl Future<Output = Result<Screenshot, Error>>,
    ) -> Result<Screenshot, Error> {
        let began = self.pictures.event();
        let generation = generation.load(Ordering::SeqCst);
        let picture = take.await?;
        let (arrived, at) = (self.pictures.event(), Instant::now());
        let taken = Taken { picture: picture.clone(), generation, began, arrived, at };
        *lock(&self.pictures.last) = Some(taken);
        Ok(picture)
    }
}

/// The picture in the shape that the caller wants. What it takes of computing goes on beside the calls of others.
pub(super) async fn shaped(picture: Screenshot, shape: Shape) -> Result<Screenshot, Failure> {
    let Shape { format, most_bytes } = shape;
    if fits(&picture.image, format, most_bytes) {
        return Ok(picture);
    }
    let Screenshot { image, size, blank } = picture;
    let fitting = tokio::task::spawn_blocking(move || fit(image, format, most_bytes)).await;
    let cause = match fitting {
        Ok(Ok(image)) => return Ok(Screenshot { image, size, blank }),
        Ok(Err(why @ picture::Error::TooLarge { .. })) => {
            Cause::Refused { why: format!("failed to {why}") }
        }
        Ok(Err(why)) => Cause::PhoneFailed { said: format!("failed to {why}") },
        Err(why) => Cause::PhoneFailed { said: format!("failed to shape the picture: {why}") },
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

    /// A phone's shutter: each picture says which one it is.
    struct Shutter {
        pictures: Pictures,
        generation: AtomicU64,
        taken: AtomicUsize,
        /// One picture may be finished for each.
        permits: Semaphore,
    }

    impl Shutter {
        fn new(permits: usize) -> Self {
            Self {
                pictures: Pictures::default(),
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

        /// The number of the picture that is served now.
        async fn look(&self) -> u8 {
            let picture = self.pictures.recent(&self.generation, self.shoot()).await.unwrap();
            picture.image.bytes[0]
        }

        fn act(&self) {
            self.generation.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_picture_is_served_again_for_a_second() {
        let phone = Shutter::new(9);
        assert_eq!(phone.look().await, 1);
        advance(FRESH).await;
        assert_eq!(phone.look().await, 1);
        advance(Duration::from_millis(1)).await;
        assert_eq!(phone.look().await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn no_picture_comes_back_after_an_act() {
        let phone = Shutter::new(9);
        assert_eq!(phone.look().await, 1);
        phone.act();
        assert_eq!(phone.look().await, 2);
        phone.act();
        phone.pictures.forget();
        assert_eq!(phone.look().await, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_picture_that_was_begun_before_an_act_is_not_kept_after_it() {
        let phone = Shutter::new(0);
        let (first, ()) = tokio::join!(phone.look(), async {
            tokio::task::yield_now().await;
            phone.act();
            phone.permits.add_permits(9);
        });
        assert_eq!(first, 1, "who asked before the act gets what it asked for");
        assert_eq!(phone.look().await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_while_one_is_taken_shares_the_next() {
        let phone = Shutter::new(0);
        let later = async {
            tokio::task::yield_now().await;
            assert_eq!(phone.taken.load(Ordering::SeqCst), 1, "one is being taken");
            let permits = async { phone.permits.add_permits(9) };
            let (one, two, ()) = tokio::join!(phone.look(), phone.look(), permits);
            [one, two]
        };
        let (first, later) = tokio::join!(phone.look(), later);
        assert_eq!((first, later), (1, [2, 2]));
        assert_eq!(phone.taken.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_leaves_the_turn_to_the_next() {
        let phone = Shutter::new(0);
        let given_up = tokio::time::timeout(Duration::from_secs(1), phone.look()).await;
        assert!(given_up.is_err());
        phone.permits.add_permits(1);
        assert_eq!(phone.look().await, 2);
    }
}

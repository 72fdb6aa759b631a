//! What one sees of a phone: its screen as a picture, as a tree with numbered elements, as both; and what is served again.
//!
//! Begin with [`Attached::look`]. When something was done is [`super::attached`]'s to count; how long an answer may be
//! served again is the caller's to say.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use thumbwire_device::{Detail, Error, Screenshot};

use super::attached::{Attached, Screen};
use super::lock;
use crate::action::{Cause, Failure, Looking};
use crate::look::Look;

impl Attached {
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
            let both = tokio::try_join!(picture, self.look_in_turn(Detail::Full))?;
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

    /// Looks at the screen as it is now, and numbers its elements.
    pub(super) async fn look_now(&self) -> Result<Arc<Look>, Failure> {
        self.look(Looking::default()).await
    }

    /// Looks at the screen; a look that is recent enough, with nothing done since, is served again.
    pub(super) async fn look(&self, looking: Looking) -> Result<Arc<Look>, Failure> {
        if let Some(seen) = self.seen(looking) {
            return Ok(seen);
        }
        let _turn = self.screen.looking.lock().await;
        // Another caller may have looked meanwhile.
        match self.seen(looking) {
            Some(seen) => Ok(seen),
            None => self.look_in_turn(looking.detail).await,
        }
    }

    fn seen(&self, Looking { detail, no_older_than }: Looking) -> Option<Arc<Look>> {
        let Screen { memory, generation, .. } = &*self.screen;
        memory.looks(detail).unchanged(generation, no_older_than)
    }

    /// The same within the turn to look that the caller has. Only a full look is a new listing: in a compressed one
    /// elements are missing that are still there, and their numbers keep their meaning.
    pub(super) async fn look_in_turn(&self, detail: Detail) -> Result<Arc<Look>, Failure> {
        let Screen { memory, generation, next_control, .. } = &*self.screen;
        let (seen, listing) = (memory.looks(detail), &memory.listing);
        let (asked, listed) = (seen.ask(generation), listing.ask(generation));
        let tree = self.device.tree(detail).await.map_err(|error| self.failed(&error))?;
        let last = listing.last().map(|last| last.value);
        if last.as_ref().is_some_and(|last| last.tree.rotation != tree.rotation) {
            // The screen was turned: its sides are others now.
            *lock(&self.screen.size) = None;
        }
        let look = Arc::new(Look::number(tree, last.as_deref(), next_control));
        seen.keep(asked, Arc::clone(&look));
        if detail == Detail::Full {
            listing.keep(listed, Arc::clone(&look));
        }
        Ok(look)
    }

    /// The look that was listed last, and whether nothing was done since.
    pub(super) fn last_look(&self) -> Option<(Arc<Look>, bool)> {
        let last = self.screen.memory.listing.last()?;
        let unacted = last.is_of(&self.screen.generation);
        Some((last.value, unacted))
    }
}

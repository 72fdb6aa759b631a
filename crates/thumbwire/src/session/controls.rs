//! The controls by seed 000's rules: listed, served again, and hit by their numbers.
//!
//! A listing may be served again for as long as the caller bears its age; its numbers live longer. They mean something
//! until the next listing or the next act. A model takes its time: a number older than some seconds is looked for on the
//! screen as it is by then, and the listing stays as it is for the next number.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::Detail;
use thumbwire_device::find::Found;

use super::aim::{BEFORE_AN_ACT, GONE, LISTING_FRESH, Miss, hit};
use super::attached::{Attached, Screen};
use crate::action::{Cause, Controls, Failure, Hit};
use crate::look::Numbers;

impl Attached {
    /// The controls on the screen; a list that is recent enough, with nothing done since, is served again.
    pub(super) async fn controls(&self, no_older_than: Duration) -> Result<Arc<Controls>, Failure> {
        let Screen { memory, generation, looking, .. } = &*self.screen;
        let listed = || memory.controls.unchanged(generation, no_older_than);
        if let Some(listed) = listed() {
            return Ok(listed);
        }
        let _turn = looking.lock().await;
        // Another caller may have listed them meanwhile.
        if let Some(listed) = listed() {
            return Ok(listed);
        }
        let asked = memory.controls.ask(generation);
        let controls = Arc::new(Controls::of(self.look_in_turn(Detail::Full).await?));
        memory.controls.keep(asked, Arc::clone(&controls));
        Ok(controls)
    }

    /// Where a tap on the control of this number goes.
    pub(super) async fn aim_at_control(&self, number: &str) -> Result<Hit, Miss> {
        let refuse = |why: Option<String>, none: bool| {
            let number = number.to_owned();
            Miss::from(Failure::from(Cause::NotListed { list: "controls", number, why, none }))
        };
        let Some(last) = self.screen.memory.controls.last() else {
            return Err(refuse(None, true));
        };
        let Some(node) = last.value.node_of(number) else {
            return Err(refuse(None, false));
        };
        if !last.is_of(&self.screen.generation) {
            return Err(refuse(Some(BEFORE_AN_ACT.into()), false));
        }
        let listed = &*last.value;
        if last.age() <= LISTING_FRESH {
            return hit(&listed.look, node, Numbers::Unknown);
        }
        let now = Controls::of(self.look_now().await?);
        match now.same_as(listed, node) {
            Found::One(node) => hit(&now.look, node, Numbers::Unknown),
            Found::None => Err(refuse(Some(GONE.into()), false)),
            Found::Several(nodes) => {
                Err(refuse(Some(now.look.describe_several(&nodes, Numbers::Unknown)), false))
            }
        }
    }
}

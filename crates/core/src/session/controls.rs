//! Controls by the rules of the UFO MobileAgent servers: listing, caching, and taps by id.
//!
//! The caller says how old a cached list may be; ids live longer, until the next list or the next action. Models are
//! slow: an id older than a few seconds is looked up on the current screen, and the list stays valid for the next id.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::TreeDetail;
use thumbwire_device::find::FindResult;

use super::attached_device::{AttachedDevice, ScreenCache};
use super::target::{BEFORE_AN_ACT, GONE, LISTING_FRESH, TargetError, hit};
use crate::action::{Cause, Controls, Failure, TapResult};
use crate::snapshot::RefVisibility;

impl AttachedDevice {
    /// The controls on the screen, or the cached list if it is recent enough and no action happened since.
    pub(super) async fn controls(&self, no_older_than: Duration) -> Result<Arc<Controls>, Failure> {
        let ScreenCache { memory, generation, looking, .. } = &*self.screen;
        let listed = || memory.controls.unchanged(generation, no_older_than);
        if let Some(listed) = listed() {
            return Ok(listed);
        }
        let _turn = looking.lock().await;
        // Another caller may have listed them in the meantime.
        if let Some(listed) = listed() {
            return Ok(listed);
        }
        let asked = memory.controls.ask(generation);
        let controls = Arc::new(Controls::of(self.snapshot_exclusive(TreeDetail::Full).await?));
        memory.controls.keep(asked, Arc::clone(&controls));
        Ok(controls)
    }

    /// Where a tap on the control with this id goes.
    pub(super) async fn aim_at_control(&self, number: &str) -> Result<TapResult, TargetError> {
        let refuse = |reason: Option<String>, none: bool| {
            let number = number.to_owned();
            TargetError::from(Failure::from(Cause::StaleReference {
                list: "controls",
                number,
                reason,
                none,
            }))
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
            return hit(&listed.snapshot, node, RefVisibility::Unknown);
        }
        let now = Controls::of(self.take_snapshot().await?);
        match now.same_as(listed, node) {
            FindResult::One(node) => hit(&now.snapshot, node, RefVisibility::Unknown),
            FindResult::None => Err(refuse(Some(GONE.into()), false)),
            FindResult::Ambiguous(nodes) => Err(refuse(
                Some(now.snapshot.describe_several(&nodes, RefVisibility::Unknown)),
                false,
            )),
        }
    }
}

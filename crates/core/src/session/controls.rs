//! Controls by the rules of the UFO MobileAgent servers: listing and caching.
//!
//! The caller says how old a cached list may be; ids live longer, until the next list or the next
//! action. [`super::target`] looks them up.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::{FormatPreference, Screenshot, TreeDetail};

use super::attached_device::{AttachedDevice, PhoneState};
use crate::action::{Controls, Failure};

impl AttachedDevice {
    /// The controls on the screen, or the cached list if it is recent enough and no action happened
    /// since.
    pub(super) async fn controls(&self, max_age: Duration) -> Result<Arc<Controls>, Failure> {
        let PhoneState { cache, generation, .. } = &*self.screen;
        let listed = || cache.controls.unchanged(generation, max_age);
        if let Some(listed) = listed() {
            return Ok(listed);
        }
        let _turn = self.look_turn().await?;
        // Another caller may have listed them in the meantime.
        if let Some(listed) = listed() {
            return Ok(listed);
        }
        let asked = cache.controls.ask(generation);
        let controls = Arc::new(Controls::of(self.snapshot_exclusive(TreeDetail::Full).await?));
        cache.controls.keep(asked, Arc::clone(&controls));
        Ok(controls)
    }

    /// A screenshot and the controls of the same moment.
    pub(super) async fn screenshot_and_controls(
        &self,
        format: FormatPreference,
    ) -> Result<(Screenshot, Arc<Controls>), Failure> {
        let (screenshot, snapshot, asked) = self.screenshot_and_snapshot(format).await?;
        let controls = Arc::new(Controls::of(snapshot));
        self.screen.cache.controls.keep(asked, Arc::clone(&controls));
        Ok((screenshot, controls))
    }
}

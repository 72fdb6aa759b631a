//! What apps offer, listed and called: the bridge's work on the phone that a call is for.

use std::time::Duration;

use thumbwire_device::AppId;
use tokio::time::Instant;

use super::attached::Attached;
use super::{PROBE, Session};
use crate::action::{AppCall, Call, Failure, Outcome};
use crate::bridge::{Bridge, BridgeOptions};

/// What stays of a call's time when an app's answer is given up: the way there and back.
const WAY: Duration = Duration::from_millis(250);

impl Session {
    /// The same session, with apps met in this way. Without, what they offer is listed and nothing of it may be called.
    pub fn with_bridge(mut self, options: BridgeOptions) -> Self {
        self.bridge = Bridge::new(options);
        self
    }

    /// Whether the tools of any app may be called: the operator's list names one, or one was trusted.
    pub fn may_call_apps(&self) -> bool {
        self.bridge.allows_any()
    }
}

impl Attached {
    pub(super) async fn app_tools(
        &self,
        bridge: &Bridge,
        no_older_than: Duration,
    ) -> Result<Outcome, Failure> {
        let catalog = bridge.catalog(&*self.device, no_older_than).await?;
        Ok(Outcome::AppTools(catalog.into()))
    }

    /// All that can be asked and checked is, before it is this call's turn.
    pub(super) async fn call_app_tool(
        &self,
        bridge: &Bridge,
        call: &Call,
        wanted: AppCall,
    ) -> Result<Outcome, Failure> {
        let ready = bridge.ready(&*self.device, wanted, &*call.ask).await?;
        let _turn = self.screen.acting.lock().await;
        let left = call.deadline.saturating_duration_since(Instant::now());
        // Before the session itself gives up: the bridge can say of what.
        let limit = left.saturating_sub(PROBE + WAY).max(left / 4);
        self.order(bridge.send(&*self.device, ready, limit)).await.map(Outcome::Answered)
    }

    pub(super) async fn trust_app_tools(
        &self,
        bridge: &Bridge,
        app: &AppId,
    ) -> Result<Outcome, Failure> {
        bridge.trust(&*self.device, app).await?;
        Ok(Outcome::Done)
    }
}

//! Lists and calls app tools on the phone that a call is for. The work is done in
//! [`crate::app_tools`].

use std::time::Duration;

use thumbwire_device::AppId;
use tokio::time::Instant;

use super::attached_device::AttachedDevice;
use super::{PROBE, Session};
use crate::action::{AppToolCall, Call, Failure, Outcome};
use crate::app_tools::AppToolHost;

/// How much of a call's time is reserved for the round trip around waiting for the app's reply.
const WAY: Duration = Duration::from_millis(250);

impl Session {
    /// Whether the tools of any app may be called: the operator's allow list is not empty, or an
    /// app was trusted by name.
    pub fn may_call_apps(&self) -> bool {
        self.app_tools.allows_any()
    }
}

impl AttachedDevice {
    pub(super) async fn app_tools(
        &self,
        host: &AppToolHost,
        max_age: Duration,
    ) -> Result<Outcome, Failure> {
        let catalog = host.catalog(&*self.device, max_age).await?;
        Ok(Outcome::AppTools(catalog.into()))
    }

    /// Does all lookups and checks before waiting for this call's turn.
    pub(super) async fn call_app_tool(
        &self,
        host: &AppToolHost,
        call: &Call,
        wanted: AppToolCall,
    ) -> Result<Outcome, Failure> {
        self.refuse_new_app(&wanted.app)?;
        let ready = host.ready(&*self.device, wanted, &*call.ask).await?;
        let _turn = self.screen.acting.lock().await;
        let left = call.deadline.saturating_duration_since(Instant::now());
        // End before the session's own timeout: only this code can say what timed out.
        let limit = left.saturating_sub(PROBE + WAY).max(left / 4);
        self.run_action(host.send(&*self.device, ready, limit)).await.map(Outcome::AppToolResult)
    }

    pub(super) async fn trust_app_tools(
        &self,
        host: &AppToolHost,
        app: &AppId,
    ) -> Result<Outcome, Failure> {
        host.trust(&*self.device, app).await?;
        Ok(Outcome::Done)
    }
}

//! The helper's operation `front`: the activity in front, and whether anybody can see it.

use crate::latency;
use crate::phone::VirtualPhone;
use serde_json::{Value, json};

/// `front`
pub(super) async fn front(phone: &VirtualPhone) -> Value {
    phone.run_work(latency::HELPER_FRONT).await;
    phone.with(|phone| {
        let world = &mut phone.world;
        let front = world.foreground();
        let activity = format!("{}/{}", front.package, front.activity);
        json!({ "on": world.screen_on(), "locked": world.keyguard_shown(), "activity": activity })
    })
}

//! The helper's operation `events`, which reports what changes on the screen until it is cancelled.

use super::super::dump;
use super::error::HelperError;
use super::{Answer, Helper};
use crate::phone::State;
use serde_json::json;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long another tool may hold UiAutomation.
const LIMIT: Duration = Duration::from_secs(3);

/// What is on the screen, to tell whether it changed.
#[derive(PartialEq)]
struct SeenState {
    window: String,
    content: u64,
}

impl SeenState {
    fn of(phone: &mut State) -> Self {
        let mut hasher = DefaultHasher::new();
        dump::tree_for_helper(phone, usize::MAX, false).hash(&mut hasher);
        let focused = phone.world.scene().focused();
        let window = focused.map_or(String::new(), |window| window.title.clone());
        Self { window, content: hasher.finish() }
    }

    /// The event that leads from an earlier one to this one.
    fn since(&self, before: &Self) -> Option<&'static str> {
        if self.window != before.window {
            return Some("window");
        }
        (self.content != before.content).then_some("content")
    }
}

/// `events`: sends each to `tell`; ends when cancelled.
pub(super) async fn watch(
    helper: &Helper,
    tell: &mpsc::Sender<Answer>,
) -> Result<Answer, HelperError> {
    let mut using = helper.use_automation(LIMIT).await?;
    let phone = &helper.phone;
    let _ = tell.send(Answer::of(json!({ "listening": true }))).await;
    let mut before = phone.peek(SeenState::of);
    loop {
        let changed = phone.changed();
        let now = phone.peek(SeenState::of);
        if let Some(event) = now.since(&before) {
            let _ = tell.send(Answer::of(json!({ "event": event }))).await;
        }
        before = now;
        let gave_way;
        (using, gave_way) = helper.give_way(using).await?;
        if gave_way {
            // Something may have changed meanwhile.
            let _ = tell.send(Answer::of(json!({ "event": "content" }))).await;
            continue;
        }
        tokio::select! {
            () = changed => {},
            () = phone.tick() => phone.with(|_| {}),
        }
    }
}

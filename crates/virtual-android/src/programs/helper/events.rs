//! The helper's operations `quiet`, which waits until the screen rests, and `events`, which reports what happens until it
//! is cancelled.

use super::super::dump;
use super::error::HelperError;
use super::fields::{millis, time_limit};
use super::wire::Header;
use super::{Answer, Helper};
use crate::phone::{State, VirtualPhone};
use serde_json::{Value, json};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;
use tokio::sync::mpsc;

/// What is reported unless the host says. Of the kinds of a real phone `screen`, `content`, `toast` and `notification` come.
const USUAL: [&str; 4] = ["screen", "windows", "toast", "notification"];

/// `quiet`
pub(super) async fn quiet(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let idle = millis(header, "idle_ms", 10_000, 300)?;
    let limit = millis(header, "limit_ms", 60_000, 5_000)?;
    let uptime = || helper.phone.read(|phone| phone.world.uptime());
    let from = uptime();
    let _using = helper.use_automation(limit.min(Duration::from_secs(3))).await?;
    let quiet = helper.wait_until_still(idle, limit).await;
    let waited = uptime().saturating_sub(from).as_millis() as u64;
    Ok(Answer::of(json!({ "quiet": quiet, "waited_ms": waited, "events": 0 })))
}

/// What is on the screen, to tell whether it changed.
#[derive(PartialEq)]
struct SeenState {
    window: String,
    package: String,
    content: u64,
    toast: Option<String>,
    notifications: usize,
}

impl SeenState {
    fn of(phone: &mut State) -> Self {
        let mut hasher = DefaultHasher::new();
        dump::tree_for_helper(phone, usize::MAX).hash(&mut hasher);
        let scene = phone.world.scene();
        let focused = scene.focused();
        let window = focused.map_or(String::new(), |window| window.title.clone());
        let package = focused.map_or(String::new(), |window| window.package.clone());
        Self {
            window,
            package,
            content: hasher.finish(),
            toast: phone.world.toast_text().map(str::to_owned),
            notifications: phone.world.notifications().len(),
        }
    }

    /// The kinds of events that lead from an earlier one to this one, with their texts.
    fn since(&self, before: &Self) -> Vec<(&'static str, Vec<String>)> {
        let mut kinds = Vec::new();
        if self.window != before.window {
            kinds.push(("screen", vec![self.window.clone()]));
        } else if self.content != before.content {
            kinds.push(("content", Vec::new()));
        }
        if self.toast != before.toast
            && let Some(toast) = &self.toast
        {
            kinds.push(("toast", vec![toast.clone()]));
        }
        if self.notifications > before.notifications {
            kinds.push(("notification", Vec::new()));
        }
        kinds
    }
}

/// `events`: sends each to `tell` until the limit; ends when cancelled.
pub(super) async fn watch(
    helper: &Helper,
    header: &Header,
    tell: &mpsc::Sender<Answer>,
) -> Result<Answer, HelperError> {
    let kinds = kinds(header)?;
    let limit = time_limit(header, "limit_ms")?;
    let _using = helper.use_automation(Duration::from_secs(3)).await?;
    let phone = &helper.phone;
    let _ = tell.send(Answer::of(json!({ "listening": true }))).await;
    let mut before = phone.peek(SeenState::of);
    let over = phone.sleep_real(limit);
    tokio::pin!(over);
    let mut sent = 0;
    loop {
        let changed = phone.changed();
        let now = phone.peek(SeenState::of);
        for (kind, texts) in now.since(&before) {
            if !kinds.contains(&kind.to_owned()) {
                continue;
            }
            sent += 1;
            let at = uptime_ms(phone);
            let event = json!({
                "kind": kind, "package": now.package, "class": "", "texts": texts, "at_ms": at,
            });
            let _ = tell.send(Answer::of(json!({ "event": event }))).await;
        }
        before = now;
        tokio::select! {
            () = changed => {},
            () = phone.tick() => phone.with(|_| {}),
            () = &mut over => return Ok(Answer::of(json!({ "sent": sent }))),
        }
    }
}

fn uptime_ms(phone: &VirtualPhone) -> u64 {
    phone.read(|phone| phone.world.uptime()).as_millis() as u64
}

fn kinds(header: &Header) -> Result<Vec<String>, HelperError> {
    let wrong = |what: &str| HelperError::wrong("kinds", what);
    let Some(list) = header.get("kinds").filter(|list| !list.is_null()) else {
        return Ok(USUAL.map(str::to_owned).to_vec());
    };
    let list = list.as_array().filter(|list| list.len() <= 32);
    let list = list.ok_or_else(|| wrong("a list of at most 32 values"))?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    list.iter().map(|value| text(value).ok_or_else(|| wrong("a list of strings"))).collect()
}

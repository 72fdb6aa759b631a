//! Dismisses alerts of Android that cover the app, for flows with `autoDismissAlerts`.
//!
//! [`AlertDismisser`] is a decorator around [`Perform`], so that no step sees an alert. Dialogs
//! that ask for permissions are not alerts: `launchApp` grants those.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use thumbwire_base::lock;
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform, TypedPerform as _, request};
use thumbwire_core::snapshot::{RefVisibility, Snapshot};
use thumbwire_device::{Gesture, Node};

use super::crash::{self, Crash};

/// A phone whose alerts are dismissed.
pub(super) struct AlertDismisser {
    inner: Arc<dyn Perform>,
    /// The last screen without an alert; `None` if something was done since.
    screen: Mutex<Option<Arc<Snapshot>>>,
    dismissed: Mutex<Dismissed>,
}

/// Alerts that were dismissed.
#[derive(Debug, Default)]
pub(super) struct Dismissed {
    /// What they said.
    pub(super) titles: Vec<String>,
    /// The crashes and ANRs that they were about.
    pub(super) crashes: Vec<Crash>,
}

/// More alerts in a row come again and again.
const MAX_ALERTS: usize = 3;

impl AlertDismisser {
    pub(super) fn new(inner: Arc<dyn Perform>) -> Self {
        Self { inner, screen: Mutex::default(), dismissed: Mutex::default() }
    }

    /// The alerts since the last call.
    pub(super) fn take_dismissed(&self) -> Dismissed {
        std::mem::take(&mut lock(&self.dismissed))
    }

    /// Looks at the screen, and dismisses what covers it. Whether there was an alert.
    async fn uncover(&self, call: &Call) -> bool {
        for nth in 0..=MAX_ALERTS {
            let seen = self.inner.request(call, request::Snapshot(<_>::default())).await;
            let Ok(snapshot) = seen else { return nth > 0 };
            if nth == MAX_ALERTS || !self.dismiss(call, &snapshot).await {
                *lock(&self.screen) = Some(snapshot);
                return nth > 0;
            }
        }
        true
    }

    /// Dismisses the alert on this screen. `false` if there is none.
    async fn dismiss(&self, call: &Call, snapshot: &Snapshot) -> bool {
        let Some((button, title)) = alert(snapshot) else { return false };
        let Ok(at) = snapshot.tap_point(button, RefVisibility::Unknown) else { return false };
        if self.inner.request(call, request::Touch(Gesture::Tap { at })).await.is_err() {
            return false;
        }
        let mut dismissed = lock(&self.dismissed);
        dismissed.titles.push(title);
        dismissed.crashes.extend(crash::dialog(snapshot));
        true
    }
}

#[async_trait]
impl Perform for AlertDismisser {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        if !action.changes_screen() {
            let outcome = self.inner.perform(call, action.clone()).await?;
            let Some(snapshot) = snapshot_of(&outcome) else { return Ok(outcome) };
            if !self.dismiss(call, snapshot).await {
                *lock(&self.screen) = Some(Arc::clone(snapshot));
                return Ok(outcome);
            }
            self.uncover(call).await;
            return self.inner.perform(call, action).await;
        }
        if lock(&self.screen).is_none() {
            self.uncover(call).await;
        }
        let before = lock(&self.screen).take();
        let outcome = self.inner.perform(call, action.clone()).await;
        let was_covered = self.uncover(call).await;
        let after = lock(&self.screen).clone();
        // The alert took it instead of the app.
        match was_covered && is_input(&action) && is_same_screen(before, after) {
            true => {
                let outcome = self.inner.perform(call, action).await;
                self.uncover(call).await;
                outcome
            }
            false => outcome,
        }
    }
}

fn is_input(action: &Action) -> bool {
    matches!(
        action,
        Action::Touch(_)
            | Action::Swipe { .. }
            | Action::Scroll { .. }
            | Action::Type(_)
            | Action::Press(_)
    )
}

fn snapshot_of(outcome: &Outcome) -> Option<&Arc<Snapshot>> {
    match outcome {
        Outcome::Snapshot(snapshot) => Some(snapshot),
        Outcome::ScreenshotAndSnapshot(both) => Some(&both.snapshot),
        _ => None,
    }
}

fn is_same_screen(before: Option<Arc<Snapshot>>, after: Option<Arc<Snapshot>>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let is_of_app = |node: &&Node| *node.package != *SYSTEM_UI;
    before.tree.nodes.iter().filter(is_of_app).eq(after.tree.nodes.iter().filter(is_of_app))
}

const SYSTEM_UI: &str = "com.android.systemui";

/// The button that dismisses an alert of the system, and what the alert says.
fn alert(snapshot: &Snapshot) -> Option<(usize, String)> {
    // What commits the user least comes first: "Wait", "Close app", then "No", "Later", "OK"
    // (`app_anr_dialog.xml`, `app_error_dialog.xml`, `alert_dialog.xml`).
    const BUTTONS: [&str; 5] = ["aerr_wait", "aerr_close", "button2", "button3", "button1"];
    let nodes = &snapshot.tree.nodes;
    let visible = |id: &str| {
        let is_it = |node: &Node| {
            ["android", SYSTEM_UI].contains(&&*node.package)
                && node.id.strip_prefix("android:id/") == Some(id)
        };
        (0..nodes.len()).find(|&at| is_it(&nodes[at]) && !snapshot.shown(at).is_empty())
    };
    let button = BUTTONS.iter().find_map(|id| visible(id))?;
    let title = visible("alertTitle").or_else(|| visible("title")).or_else(|| visible("message"));
    Some((button, title.map_or_else(String::new, |at| nodes[at].name().to_owned())))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::Tree;

    use super::*;

    #[test]
    fn alerts_are_those_of_the_system_with_the_button_that_commits_least() {
        let node = |package: &str, id: &str, text: &str| Node {
            package: package.into(),
            id: format!("android:id/{id}").into(),
            text: text.into(),
            bounds: thumbwire_device::Rect { left: 0, top: 0, right: 9, bottom: 9 },
            ..Node::default()
        };
        let found = |nodes: Vec<Node>| {
            let tree = Tree { nodes, ..Tree::default() };
            let snapshot = Snapshot::number(tree, None, &AtomicU32::new(1));
            let found = alert(&snapshot)?;
            Some((snapshot.tree.nodes[found.0].text.to_string(), found.1))
        };
        let update = |package| {
            vec![
                node(package, "alertTitle", "Software update"),
                node(package, "button1", "Install"),
                node(package, "button2", "Later"),
            ]
        };
        let later = Some(("Later".to_owned(), "Software update".to_owned()));
        assert_eq!(found(update("com.android.systemui")), later);
        assert_eq!(found(update("com.android.settings")), None);
        let hangs =
            vec![node("android", "aerr_close", "Close"), node("android", "aerr_wait", "Wait")];
        assert_eq!(found(hangs), Some(("Wait".to_owned(), String::new())));
        // Which app opens a link is for the flow to say.
        assert_eq!(found(vec![node("android", "button_once", "Just once")]), None);
    }
}

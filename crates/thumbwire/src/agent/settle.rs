//! After an action: the screen is looked at, what came of it judged, and what can be set right without thinking is.
//!
//! Begin with [`Settling::settle`]. What there is to find is [`super::verify`]'s; here is who looks, waits and repairs, each within
//! bounds: for one action another look or two, and one repair.

use std::sync::Arc;
use std::time::Duration;

use super::aim;
use super::hands::Hands;
use super::reply::Doing;
use super::scene::Scene;
use super::verify::{Deed, Finding, Kind, Repair, Step, verify};
use super::watch::{Event, Watch};
use crate::action::{Action, Controls, Outcome};
use crate::surface::bridged::is_app_tool;

/// How long a look may take.
const LOOK: Duration = Duration::from_secs(25);

/// Looks after what came of an action.
pub(super) struct Settling<'a> {
    pub(super) hands: &'a Hands<'a>,
    pub(super) watch: &'a dyn Watch,
    /// Whether more is done than looking again.
    pub(super) repair: bool,
}

/// What came of an action, all told.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Sentences for whoever decides.
    pub(super) says: Vec<String>,
    /// What stays wrong.
    pub(super) kinds: Vec<Kind>,
    /// The screen at the end.
    pub(super) after: Scene,
}

/// What was tried for one deed.
#[derive(Default)]
struct Tries {
    /// For what was looked again; once each.
    looked: Vec<Kind>,
    /// For what something was done; once for all.
    repaired: Option<Kind>,
}

impl Tries {
    /// The mildest that was not tried yet.
    fn next<'a>(&mut self, finding: &'a Finding, repair: bool) -> Option<&'a Repair> {
        let kind = finding.kind;
        let next = finding.repairs.iter().find(|one| match one {
            Repair::LookAgain(_) => !self.looked.contains(&kind),
            Repair::Do(_) => repair && self.repaired.is_none(),
        });
        match next {
            Some(Repair::LookAgain(_)) => self.looked.push(kind),
            Some(Repair::Do(_)) => self.repaired = Some(kind),
            None => {}
        }
        next
    }
}

impl Settling<'_> {
    /// Judges what a deed led to from `before`, and sets it right where that needs no thinking.
    pub(super) async fn settle(&self, before: &Scene, deed: &Deed<'_>) -> Settled {
        let judged = |after: &Scene| verify(before, deed, after).into_iter().next();
        let mut tries = Tries::default();
        let mut says = Vec::new();
        let mut after = scene(self.hands).await;
        let mut found = judged(&after);
        while let Some(finding) = found {
            let Some(repair) = tries.next(&finding, self.repair) else {
                let in_vain = tries.repaired == Some(finding.kind);
                let more = if in_vain { " It was tried to set it right, in vain." } else { "" };
                says.push(self.noticed(format!("{}{more}", finding.says)));
                return Settled { says, kinds: vec![finding.kind], after };
            };
            match repair {
                Repair::LookAgain(time) => self.pause(*time).await,
                Repair::Do(steps) => self.carry_out(steps).await,
            }
            after = scene(self.hands).await;
            found = judged(&after);
            let gone = found.as_ref().is_none_or(|now| now.kind != finding.kind);
            if gone && matches!(repair, Repair::Do(_)) {
                says.push(self.noticed(set_right(finding.kind).into()));
            }
        }
        Settled { says, kinds: Vec::new(), after }
    }

    fn noticed(&self, says: String) -> String {
        self.watch.tell(&Event::Noticed(&says));
        says
    }

    async fn pause(&self, time: Duration) {
        // A wait that fails is over early, and the next look tells the same.
        let _ = self.hands.perform(Action::Wait(time), time + LOOK).await;
    }

    async fn carry_out(&self, steps: &[Step]) {
        for step in steps {
            let Some(doing) = self.aimed(step).await else { return };
            if !self.hands.act(&doing).await.succeeded() {
                return;
            }
        }
    }

    /// The step's call with its control's number by now; `None` where it is gone.
    async fn aimed(&self, step: &Step) -> Option<Doing> {
        let Some((listed, node)) = &step.target else { return Some(step.doing.clone()) };
        let number = listed.nodes.iter().position(|at| at == node)? + 1;
        let mut doing = step.doing.clone();
        doing.arguments.insert("control_id".into(), number.to_string().into());
        doing.arguments.insert("control_name".into(), listed.look.tree.nodes[*node].name().into());
        let now = controls(self.hands).await?;
        aim::found_again(&doing, listed, &now).ok()
    }
}

/// What was set right, for whoever decides: they have to know of it.
fn set_right(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "What was typed was not in the field at first, and was typed once more.",
        Kind::WrongApp => "The app did not come to the front at first, and was started once more.",
        Kind::Crashed => {
            "The app crashed. The message was closed and the app started again: it is at its beginning, and what was not saved is lost."
        }
        Kind::NotResponding => "The app did not answer; it was waited for, and answers again.",
        Kind::Keyboard => {
            "The keyboard lay over the control. What the tap wrote was taken back, the keyboard hidden, and the control tapped."
        }
        Kind::Moved => {
            "The control had moved by the time the tap came down, and was tapped where it lies now."
        }
        Kind::Nothing | Kind::End | Kind::Toggle | Kind::LeftApp | Kind::SystemWindow => {
            "Something was not as it should be, and was set right."
        }
    }
}

/// The screen as it is now, as far as it can be read.
pub(super) async fn scene(hands: &Hands<'_>) -> Scene {
    let controls = controls(hands).await;
    let front = match hands.perform(Action::CurrentApp, LOOK).await {
        Ok(Outcome::Current(front)) => front,
        _ => None,
    };
    Scene::new(controls, front.as_ref())
}

/// The controls as they are now, which become the last listing; `None` where they cannot be read.
pub(super) async fn controls(hands: &Hands<'_>) -> Option<Arc<Controls>> {
    let list = Action::Controls { no_older_than: Duration::ZERO };
    match hands.perform(list, LOOK).await {
        Ok(Outcome::Controls(controls)) => Some(controls),
        _ => None,
    }
}

/// Whether a call does something after which a look is worth its time. What an app does by itself may show, and may put a window
/// before whoever uses it.
pub(super) fn is_act(function: &str) -> bool {
    is_app_tool(function)
        || matches!(
            function,
            "tap"
                | "swipe"
                | "type_text"
                | "launch_app"
                | "press_key"
                | "click_control"
                | "scroll"
                | "long_press"
        )
}

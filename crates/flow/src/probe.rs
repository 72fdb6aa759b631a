//! Watches the steps of a case, and makes the app that they meet a mutated one.
//!
//! Start with [`Mutation`]. A decorator around [`Perform`] makes it, so it is the same on any
//! phone. `prove` chooses the mutations.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_base::lock;
use thumbwire_core::action::{
    Action, AppSelector, Call, Failure, LaunchResult, Outcome, Perform, Readback,
    ScreenshotAndSnapshot, TypeResult,
};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::find::{HiddenReason, Visibility};
use thumbwire_device::text_field::{is_showing_hint, is_text_field};
use thumbwire_device::{AppId, Node, TypingMethod};

use super::plan::{Assertion, Condition, FlowStep, StepKind};

/// What is wrong with an app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Mutation {
    /// Touches, keys, texts and launches of the command on these lines of the flow do nothing,
    /// although the phone reports success.
    NoEffect(Range<u32>),
    /// An element is gone.
    Gone(Label),
    /// Elements with this text say something else.
    OtherText(String),
    /// This text is shown in text fields only.
    NotKept(String),
}

/// What tells an element apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Label {
    /// Its text, description or hint.
    Text(String),
    /// Its id, if it has no text.
    Id(String),
}

/// What a mutated element says.
const OTHER_TEXT: &str = "Qwxz";

/// Watches a case; with a mutation, the case meets a mutated app.
#[derive(Debug, Default)]
pub struct Probe {
    mutation: Option<Mutation>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The steps that have begun, as indices; the outermost first.
    open: Vec<usize>,
    steps: Vec<SeenStep>,
}

/// A step that ran.
#[derive(Debug, Clone)]
pub(super) struct SeenStep {
    /// The line of the flow's file where it is, or the step that it is in.
    pub(super) line: u32,
    /// With the values that its scripts had.
    pub(super) kind: StepKind,
    /// Whether it touched, typed, pressed or launched something.
    pub(super) acts: bool,
    /// The element that it wanted to see or to touch.
    pub(super) element: Option<FoundElement>,
}

/// An element that a step wanted.
#[derive(Debug, Clone)]
pub(super) struct FoundElement {
    pub(super) label: Label,
    pub(super) is_field: bool,
}

impl Probe {
    pub(super) fn new(mutation: Option<Mutation>) -> Arc<Self> {
        Arc::new(Self { mutation, seen: Mutex::default() })
    }

    /// The steps that ran, in the order in which they began.
    pub(super) fn steps(&self) -> Vec<SeenStep> {
        lock(&self.seen).steps.clone()
    }

    pub(super) fn begins(&self, step: &FlowStep) {
        let mut seen = lock(&self.seen);
        let line = seen.open.first().map_or(step.at.line, |&outer| seen.steps[outer].line);
        let number = seen.steps.len();
        let kind = step.kind.clone();
        seen.steps.push(SeenStep { line, kind, acts: false, element: None });
        seen.open.push(number);
    }

    /// How long a step waits that may wait this long: what a mutated app does not show at once
    /// never comes.
    pub(super) fn max_wait(&self, timeout: Duration) -> Duration {
        const MAX_WAIT: Duration = Duration::from_secs(2);
        if self.mutation.is_some() { timeout.min(MAX_WAIT) } else { timeout }
    }

    pub(super) fn ends(&self) {
        lock(&self.seen).open.pop();
    }

    /// The present step looks for an element, and finds this one.
    pub(super) fn found(&self, node: &Node) {
        let texts = [&node.text, &node.description, &node.hint];
        let text = texts.into_iter().find(|text| !text.trim().is_empty());
        let label = match text {
            Some(text) => Label::Text(text.to_string()),
            None if !node.id.is_empty() => Label::Id(node.id.to_string()),
            None => return,
        };
        let mut seen = lock(&self.seen);
        let Some(&step) = seen.open.last() else { return };
        let step = &mut seen.steps[step];
        let is_wanted = !step.kind.holds_others()
            && !matches!(
                step.kind,
                StepKind::Expect(Assertion::NotVisible(_))
                    | StepKind::Condition(Condition::NotVisible(_))
            );
        step.element = is_wanted.then(|| FoundElement { label, is_field: is_text_field(node) });
    }

    /// A phone with the mutated app.
    pub(super) fn of(self: &Arc<Self>, inner: Arc<dyn Perform>) -> Arc<dyn Perform> {
        Arc::new(ProbedPerform { inner, probe: Arc::clone(self) })
    }

    /// Notes that the present step acts; whether that has no effect.
    fn acts(&self) -> bool {
        let mut seen = lock(&self.seen);
        let Some(&number) = seen.open.last() else { return false };
        let step = &mut seen.steps[number];
        step.acts = true;
        matches!(&self.mutation, Some(Mutation::NoEffect(lines)) if lines.contains(&step.line))
    }
}

struct ProbedPerform {
    inner: Arc<dyn Perform>,
    probe: Arc<Probe>,
}

#[async_trait]
impl Perform for ProbedPerform {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        if let Some(outcome) = without_effect(&action)
            && self.probe.acts()
        {
            return Ok(outcome);
        }
        let outcome = self.inner.perform(call, action).await?;
        let Some(mutation) = &self.probe.mutation else { return Ok(outcome) };
        Ok(match outcome {
            Outcome::Snapshot(snapshot) => Outcome::Snapshot(mutation.applied_to(snapshot)),
            Outcome::ScreenshotAndSnapshot(both) => {
                let snapshot = mutation.applied_to(both.snapshot);
                Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot { snapshot, ..both })
            }
            other => other,
        })
    }
}

/// What a phone reports of an action of a user. `None` for what prepares a phone.
fn without_effect(action: &Action) -> Option<Outcome> {
    Some(match action {
        Action::Touch(_) | Action::Swipe { .. } | Action::Scroll { .. } | Action::Press(_) => {
            Outcome::Done
        }
        Action::Type(_) => {
            let (by, field) = (TypingMethod::Keys, Readback::NoField);
            Outcome::Typed(TypeResult { by, field, into: None, tapped: false })
        }
        Action::Launch(AppSelector::Id(app)) | Action::LaunchWith { app, .. } => launched(app),
        Action::OpenUrl(_) => launched(&AppId(String::new())),
        _ => return None,
    })
}

fn launched(app: &AppId) -> Outcome {
    let (app, text) = (app.clone(), String::new());
    Outcome::Launched(LaunchResult { app, text, locked: None, in_front: None })
}

impl Mutation {
    /// The screen of the mutated app.
    fn applied_to(&self, snapshot: Arc<Snapshot>) -> Arc<Snapshot> {
        let mut mutated = Arc::unwrap_or_clone(snapshot);
        let mut gone_in = None;
        for (node, showing) in mutated.tree.nodes.iter_mut().zip(&mut mutated.showing) {
            let mut texts = [&mut node.text, &mut node.description, &mut node.hint];
            if let Self::OtherText(text) = self {
                for own in texts.into_iter().filter(|own| ***own == **text) {
                    *own = OTHER_TEXT.into();
                }
                continue;
            }
            let is_inside = gone_in.is_some_and(|depth| node.depth > depth);
            let is_gone = match self {
                Self::Gone(Label::Id(id)) => *node.id == **id,
                Self::NotKept(text) => {
                    let has_text = texts.iter().any(|own| own.contains(text.as_str()));
                    let is_typed = is_text_field(node) && !is_showing_hint(node);
                    has_text && !is_typed
                }
                Self::Gone(Label::Text(text)) => texts.iter().any(|own| ***own == **text),
                Self::NoEffect(_) | Self::OtherText(_) => false,
            };
            if is_gone && !is_inside {
                gone_in = Some(node.depth);
            } else if !is_inside {
                gone_in = None;
                continue;
            }
            texts = [&mut node.text, &mut node.description, &mut node.hint];
            texts.into_iter().for_each(|own| *own = "".into());
            node.id = "".into();
            *showing = Visibility::Hidden(HiddenReason::NotDisplayed);
        }
        Arc::new(mutated)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::{Rect, Tree};

    use super::*;

    /// A list with a row that has a text and an icon, and a field.
    fn screen() -> Arc<Snapshot> {
        let node = |parent, depth, text: &str, id: &str, class: &str| Node {
            parent,
            depth,
            text: text.into(),
            id: id.into(),
            class: class.into(),
            bounds: Rect { left: 0, top: 0, right: 100, bottom: 20 },
            ..Node::default()
        };
        let mut nodes = vec![
            node(None, 0, "", "list", "android.widget.ListView"),
            node(Some(0), 1, "", "row", "android.widget.LinearLayout"),
            node(Some(1), 2, "Buy Milk", "title", "android.widget.TextView"),
            node(Some(1), 2, "", "icon", "android.widget.ImageView"),
            node(Some(0), 1, "Milk", "field", "android.widget.EditText"),
        ];
        nodes[3].description = "Delete".into();
        Arc::new(Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1)))
    }

    /// What a mutated app shows of the screen.
    fn shown(mutation: &Mutation) -> Vec<String> {
        let screen = mutation.applied_to(screen());
        let nodes = screen.tree.nodes.iter().enumerate();
        let shown = nodes.filter(|(at, _)| !screen.shown(*at).is_empty());
        shown.map(|(_, node)| format!("{} {}{}", node.id, node.text, node.description)).collect()
    }

    #[test]
    fn a_mutation_changes_what_it_is_about() {
        let all = ["list ", "row ", "title Buy Milk", "icon Delete", "field Milk"];
        assert_eq!(shown(&Mutation::NoEffect(1..2)), all);
        let text = |text: &str| Label::Text(text.into());
        let without = |gone: &[&str]| {
            all.iter().copied().filter(|one| !gone.contains(one)).collect::<Vec<_>>()
        };
        assert_eq!(shown(&Mutation::Gone(text("Delete"))), without(&["icon Delete"]));
        let row = ["row ", "title Buy Milk", "icon Delete"];
        assert_eq!(shown(&Mutation::Gone(Label::Id("row".into()))), without(&row));
        assert_eq!(shown(&Mutation::NotKept("Milk".into())), without(&["title Buy Milk"]));
        let other = shown(&Mutation::OtherText("Milk".into()));
        assert_eq!(other[..4], all[..4]);
        assert_eq!(other[4], format!("field {OTHER_TEXT}"));
    }
}

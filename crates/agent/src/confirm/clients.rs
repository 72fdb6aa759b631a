//! A decorator that asks the user before risky acts of a server's clients.
//!
//! Start with [`ConfirmedPerform`]. What is risky is judged as for the agent, by what is on the
//! screen at that moment. An act that needs approval and gets none is refused.

use std::sync::Arc;

use async_trait::async_trait;
use thumbwire_core::action::{
    Action, Call, Cause, ElementSelector, Failure, Outcome, Perform, TextInput, TypedPerform as _,
    request,
};
use thumbwire_core::snapshot::Snapshot;

use super::risk::{Act, Verdict, verdict};
use super::{ConfirmMode, Unapproved, agreed};

/// A [`Perform`] around another one: acts that need it are done only when the user agrees.
pub struct ConfirmedPerform<P> {
    inner: P,
    mode: ConfirmMode,
}

impl<P> ConfirmedPerform<P> {
    /// Asks before the acts that this mode says.
    pub fn new(inner: P, mode: ConfirmMode) -> Self {
        Self { inner, mode }
    }
}

#[async_trait]
impl<P: Perform> Perform for ConfirmedPerform<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        if self.mode == ConfirmMode::Never || !action.needs_lease() {
            return self.inner.perform(call, action).await;
        }
        if let Some(question) = self.question(call, &action).await? {
            approve(call, &question).await?;
            // The user took a while, and the screen may have changed by itself.
            if self.question(call, &action).await? != Some(question) {
                return Err(refused(
                    "the screen changed while the user was asked; look at it again",
                ));
            }
        }
        self.inner.perform(call, action).await
    }
}

impl<P: Perform> ConfirmedPerform<P> {
    /// The question to the user before the action, if one is needed.
    ///
    /// # Errors
    /// Its element is not there.
    async fn question(&self, call: &Call, action: &Action) -> Result<Option<String>, Failure> {
        let (screen, target) = match Act::of_action(action, None, None).needs_screen() {
            true => self.screen(call, action).await?,
            false => (None, None),
        };
        let act = Act::of_action(action, screen.as_deref(), target);
        let mut judged = verdict(&act, screen.as_deref());
        // An element may be located on the screen of the last list, which is some seconds old.
        if let (Some(node), Some(listed)) = (target, &screen) {
            let at = listed.tree.nodes[node].bounds.center();
            let present = self.present(call).await;
            judged = judged.or(|| verdict(&act.at(at), present.as_deref()));
        }
        let risk = match judged {
            Verdict::Harmless => None,
            Verdict::Risky(risk) => Some(risk),
            Verdict::Unknown(button) => button.judged(None),
        };
        if let Some(risk) = risk {
            let front = screen.as_ref().and_then(|screen| screen.tree.front.app());
            return Ok(Some(risk.question(front.map(|front| &*front.app.0))));
        }
        let asks = self.mode == ConfirmMode::Always;
        Ok(asks.then(|| format!("About to {action}. Go ahead?")))
    }

    /// The present screen, and the element that the action is for; no screen if it cannot be read.
    ///
    /// # Errors
    /// The element is not there.
    async fn screen(
        &self,
        call: &Call,
        action: &Action,
    ) -> Result<(Option<Arc<Snapshot>>, Option<usize>), Failure> {
        let target = match action {
            Action::TapElement(target) => Some((target, false)),
            Action::Type(TextInput { into: Some(target), .. }) => Some((target, true)),
            _ => None,
        };
        if let Some((target, for_text)) = target {
            let locate = request::Locate { target: target.clone(), for_text };
            let found = self.inner.request(call, locate).await?;
            return Ok((Some(found.snapshot), Some(found.node)));
        }
        Ok((self.present(call).await, None))
    }

    /// The present screen, if it can be read.
    async fn present(&self, call: &Call) -> Option<Arc<Snapshot>> {
        let everything = request::FindElements(ElementSelector::default());
        let screen = self.inner.request(call, everything).await.ok()?;
        Some(screen.snapshot)
    }
}

/// # Errors
/// The user did not agree.
async fn approve(call: &Call, question: &str) -> Result<(), Failure> {
    let reason = match agreed(call, question).await {
        Ok(()) => return Ok(()),
        Err(Unapproved::Said) => "the user said no",
        Err(Unapproved::Declined) => "the user declined",
        Err(Unapproved::Dismissed) => {
            "the user closed the question without an answer, which counts as no"
        }
        Err(Unapproved::Ended) => "the call ended before the user answered",
        Err(Unapproved::Nobody) => {
            let reason = format!(
                "the user has to agree to this, and the client cannot ask ({question}); use a client that has elicitation, or let the operator serve with `--confirm never`"
            );
            return Err(refused(reason));
        }
    };
    Err(refused(reason))
}

fn refused(reason: impl Into<String>) -> Failure {
    Cause::Refused { reason: reason.into() }.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use thumbwire_core::action::{AskUser, Direction, FoundElements, Question, TapResult, Target};
    use thumbwire_core::action::{SnapshotOptions, UserAnswer};
    use thumbwire_device::{AppId, Gesture, Key, KeyCode, Point, Rect};

    use super::*;
    use crate::safeguards::screen_state::ScreenState;
    use crate::safeguards::screen_state::made::{node, scene};

    /// A phone that shows this, and records what is done.
    struct Phone(ScreenState, Mutex<Vec<String>>);

    #[async_trait]
    impl Perform for Phone {
        async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
            let Self(screen, done) = self;
            let snapshot = Arc::clone(&screen.controls.as_ref().unwrap().snapshot);
            let named = |text: &str| snapshot.tree.nodes.iter().position(|it| &*it.text == text);
            match action {
                Action::FindElements(_) => {
                    Ok(Outcome::Elements(FoundElements { snapshot, nodes: Vec::new() }))
                }
                Action::Locate { target: Target::Named { text: Some(text), .. }, .. } => {
                    let Some(node) = named(&text) else {
                        return Err(refused("it is not there"));
                    };
                    let at = snapshot.tree.nodes[node].bounds.center();
                    Ok(Outcome::Tapped(TapResult { at, snapshot, node, of: 1 }))
                }
                action => {
                    done.lock().unwrap().push(action.to_string());
                    Ok(Outcome::Done)
                }
            }
        }
    }

    /// A user who answers this, and records the questions.
    struct Person(&'static str, Mutex<Vec<String>>);

    #[async_trait]
    impl AskUser for Person {
        async fn ask(&self, question: &Question) -> UserAnswer {
            self.1.lock().unwrap().push(question.text.clone());
            UserAnswer::Text(self.0.into())
        }
    }

    fn screen() -> ScreenState {
        let mut page = node("FrameLayout", "", 0);
        page.bounds = Rect { left: 0, top: 0, right: 400, bottom: 800 };
        page.flags.clickable = false;
        let inside = |class: &str, text: &str, at| {
            let mut it = node(class, text, at);
            (it.parent, it.depth) = (Some(0), 1);
            it
        };
        let mut delete = inside("Button", "Delete note", 7);
        delete.bounds = Rect { left: 0, top: 350, right: 400, bottom: 450 };
        delete.flags.focused = true;
        scene("app", vec![page, inside("Button", "Edit", 1), inside("EditText", "Hi", 2), delete])
    }

    /// How many questions an action brought, and whether it was done.
    async fn tried(mode: ConfirmMode, answer: &'static str, action: Action) -> (usize, bool) {
        let person = Arc::new(Person(answer, Mutex::default()));
        let ask = Arc::clone(&person) as Arc<dyn AskUser>;
        let call = Call { ask, ..Call::with_timeout(Duration::from_secs(9)) };
        let guarded = ConfirmedPerform::new(Phone(screen(), Mutex::default()), mode);
        let done = guarded.perform(&call, action).await.is_ok();
        assert_eq!(done, !guarded.inner.1.lock().unwrap().is_empty());
        (person.1.lock().unwrap().len(), done)
    }

    #[tokio::test]
    async fn whatever_presses_a_risky_button_is_asked_about() {
        let at = Point { x: 200, y: 400 };
        let near = Point { x: 203, y: 398 };
        let millis = Duration::from_millis(300);
        let touch = Action::Touch;
        for action in [
            touch(Gesture::Tap { at }),
            touch(Gesture::DoubleTap { at }),
            touch(Gesture::LongPress { at, held: millis }),
            touch(Gesture::Swipe { from: at, to: near, duration: millis }),
            touch(Gesture::Swipe { from: at, to: Point { x: 0, y: 400 }, duration: millis }),
            touch(Gesture::Swipe { from: at, to: Point { x: 200, y: 100 }, duration: millis }),
            touch(Gesture::Drag { from: Point { x: 5, y: 60 }, to: at, duration: millis }),
            Action::TapElement(Target::text("Delete note")),
            Action::Swipe { direction: Direction::Up, distance: Some(3), duration: millis },
            Action::Swipe { direction: Direction::Left, distance: None, duration: millis },
            Action::Scroll { direction: Direction::Down, distance: 0.001 },
            Action::Scroll { direction: Direction::Down, distance: 0.5 },
            Action::Press(Key::Android(KeyCode::from_name("ENTER").unwrap())),
            Action::Press(Key::Android(KeyCode::from_name("SPACE").unwrap())),
            Action::Type(TextInput::of("\n")),
            Action::Type(TextInput { submit: true, ..TextInput::of("x") }),
            Action::UninstallApp(AppId("app".into())),
            Action::ClearData(AppId("app".into())),
            Action::OpenUrl("tel:+15550100".into()),
        ] {
            let risky = ConfirmMode::Risky;
            assert_eq!(tried(risky, "no", action.clone()).await, (1, false), "{action}");
            assert_eq!(tried(risky, "yes", action.clone()).await, (1, true), "{action}");
            assert_eq!(
                tried(ConfirmMode::Never, "no", action.clone()).await,
                (0, true),
                "{action}"
            );
        }
        for action in [
            touch(Gesture::Tap { at: Point { x: 5, y: 60 } }),
            touch(Gesture::Swipe {
                from: Point { x: 200, y: 600 },
                to: Point { x: 200, y: 100 },
                duration: millis,
            }),
            Action::TapElement(Target::text("Edit")),
            Action::Type(TextInput { into: Some(Target::text("Hi")), ..TextInput::of("x") }),
            Action::Press(Key::Back),
            Action::OpenUrl("https://example.org/".into()),
        ] {
            assert_eq!(
                tried(ConfirmMode::Risky, "no", action.clone()).await,
                (0, true),
                "{action}"
            );
            assert_eq!(
                tried(ConfirmMode::Always, "no", action.clone()).await,
                (1, false),
                "{action}"
            );
        }
        let snapshot = Action::Snapshot(SnapshotOptions::default());
        assert_eq!(tried(ConfirmMode::Always, "no", snapshot).await, (0, true));
        let gone = Action::TapElement(Target::text("Gone"));
        assert_eq!(tried(ConfirmMode::Risky, "yes", gone).await, (0, false));
    }

    /// A phone whose list shows "Edit" where there is "Delete note" meanwhile.
    struct ChangedPhone(AtomicBool);

    #[async_trait]
    impl Perform for ChangedPhone {
        async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
            let one_button = |text: &str| {
                let state = scene("app", vec![node("Button", text, 0)]);
                Arc::clone(&state.controls.as_ref().unwrap().snapshot)
            };
            match action {
                Action::FindElements(_) => {
                    let (snapshot, nodes) = (one_button("Delete note"), Vec::new());
                    Ok(Outcome::Elements(FoundElements { snapshot, nodes }))
                }
                Action::Locate { .. } => {
                    let snapshot = one_button("Edit");
                    let at = snapshot.tree.nodes[0].bounds.center();
                    Ok(Outcome::Tapped(TapResult { at, snapshot, node: 0, of: 1 }))
                }
                _ => {
                    self.0.store(true, Ordering::SeqCst);
                    Ok(Outcome::Done)
                }
            }
        }
    }

    #[tokio::test]
    async fn element_of_an_old_list_is_judged_by_what_is_there_now() {
        let guarded =
            ConfirmedPerform::new(ChangedPhone(AtomicBool::new(false)), ConfirmMode::Risky);
        let call = Call::with_timeout(Duration::from_secs(9));
        let tapped = guarded.perform(&call, Action::TapElement(Target::text("Edit")));
        let refused = tapped.await.unwrap_err().cause.to_string();
        assert!(refused.contains("About to tap \"Delete note\""), "{refused}");
        assert!(!guarded.inner.0.load(Ordering::SeqCst), "it was not tapped");
    }
}

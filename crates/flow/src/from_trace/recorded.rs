//! The acts of a recorded run, each with the screen before and after it. Actions that
//! only look are left out.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use thumbwire_core::action::{Action, AppSelector, Controls, ElementId, Target, TextInput};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::trace::format::{ActionResult, StoredOutcome, StoredSnapshot, TraceRecord};
use thumbwire_core::trace::{RecordedAction, Trace};
use thumbwire_device::{AppId, Gesture, Node, Point, Rect, is_home_screen, text_field};

use super::secret;

/// What a run did.
pub(super) struct Act {
    /// Counted from 1 in the run, looks included.
    pub(super) action_id: u32,
    pub(super) action: Action,
    /// Where it touched the screen.
    pub(super) points: Vec<Point>,
    /// The app that it started.
    pub(super) launched: Option<String>,
    /// The last screen that was read before it.
    pub(super) before: Option<Rc<Screen>>,
    /// The last screen that was read before the next act.
    pub(super) after: Option<Rc<Screen>>,
}

/// A screen as it was read.
pub(super) struct Screen {
    pub(super) snapshot: Snapshot,
    /// The app that has most of it.
    pub(super) app: String,
    pub(super) bounds: Rect,
}

/// The acts of a run, without those that failed or had no effect.
pub(super) fn acts(trace: &Trace) -> Vec<Act> {
    let mut actions: Vec<&RecordedAction> =
        trace.entries.iter().flat_map(|entry| &entry.actions).collect();
    actions.sort_by_key(|action| action.action_id);
    let (mut acts, mut screen): (Vec<Act>, Option<Rc<Screen>>) = (Vec::new(), None);
    for action in actions {
        if let Some(file) = action.snapshot() {
            screen = Screen::read(trace, &file).map(Rc::new);
            if let Some(act) = acts.last_mut() {
                act.after = screen.clone();
            }
        }
        if is_look(&action.action) || failed_without_effect(&action.end) {
            continue;
        }
        let points = action.touch().unwrap_or_default();
        let launched = match (&action.end, &action.action) {
            (ActionResult::Outcome(StoredOutcome::Launched { app }), _) => Some(app.clone()),
            (_, Action::Launch(AppSelector::Id(AppId(app)))) => Some(app.clone()),
            _ => None,
        };
        acts.push(Act {
            action_id: action.action_id,
            action: action.action.clone(),
            points: points.into_iter().map(|[x, y]| Point { x, y }).collect(),
            launched,
            before: screen.clone(),
            after: None,
        });
    }
    acts.iter_mut().for_each(Act::launch_instead_of_tap);
    // A flow's `launchApp` grants all permissions.
    let launched: Vec<String> = acts.iter().filter_map(|act| act.launched.clone()).collect();
    acts.retain(|act| match &act.action {
        Action::SetPermission { app, granted: true, .. } => !launched.contains(&app.0),
        _ => true,
    });
    let interrupted: Vec<bool> = (0..acts.len()).map(|at| is_done_again(&acts[at..])).collect();
    let acts = acts.into_iter().zip(interrupted).filter(|(_, again)| !again).map(|(act, _)| act);
    without_detours(acts)
}

/// The acts without those that were undone or changed nothing, and a text that was typed letter by
/// letter as one.
fn without_detours(acts: impl Iterator<Item = Act>) -> Vec<Act> {
    let mut kept: Vec<Act> = Vec::new();
    for act in acts {
        if kept.last().is_some_and(|last| last.is_undone_by(&act))
            && let Some(undone) = kept.pop()
        {
            kept.push(Act { before: undone.before, ..act });
        } else if let Some(last) = kept.last_mut()
            && let Some(whole) = last.continued_by(&act)
        {
            last.action = Action::Type(whole);
            last.after = act.after;
        } else if !act.is_in_vain() {
            kept.push(act);
        }
    }
    kept
}

/// Whether the first act met a dialog of the system, and was done again after it: the same touch on
/// the same screen, or the same text in the same field.
fn is_done_again(acts: &[Act]) -> bool {
    let [act, later @ ..] = acts else { return false };
    let meets_dialog = act.after.as_ref().is_some_and(|screen| screen.dialog().is_some());
    let Some(again) = later.iter().find(|act| !act.is_in_dialog()).filter(|_| meets_dialog) else {
        return false;
    };
    if let (Action::Type(one), Action::Type(other)) = (&act.action, &again.action) {
        return one.text == other.text && act.field().is_some() && act.field() == again.field();
    }
    let is_same_screen = match (&act.before, &again.before) {
        (Some(one), Some(other)) => one.snapshot.tree.nodes == other.snapshot.tree.nodes,
        _ => false,
    };
    is_same_screen && again.action == act.action && again.points == act.points
}

/// Whether an action changes nothing that a flow is about.
fn is_look(action: &Action) -> bool {
    let changes = action.changes_screen()
        || matches!(action, Action::SetClipboard(_) | Action::PushFile { .. })
        || action.awaited_ref().is_some();
    // A flow unlocks the phone when it starts.
    !changes || matches!(action, Action::Unlock)
}

fn failed_without_effect(end: &ActionResult) -> bool {
    matches!(end, ActionResult::Failure { may_have_happened: false, .. })
}

/// The phones that a run acted on.
pub(super) fn phones(trace: &Trace) -> BTreeSet<&str> {
    let devices = trace.lines.iter().filter_map(|line| match line {
        TraceRecord::Action { device, .. } => device.as_deref(),
        _ => None,
    });
    devices.collect()
}

impl Act {
    /// A tap on an app's icon starts the app, wherever the icon is the next time.
    fn launch_instead_of_tap(&mut self) {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return };
        let is_tap =
            matches!(self.action, Action::Touch(Gesture::Tap { .. }) | Action::TapElement(_));
        let is_app = !is_home_screen(&after.app)
            && after.app != "com.android.systemui"
            && after.dialog().is_none()
            && AppId::parse(&after.app).is_ok();
        if is_tap && is_home_screen(&before.app) && is_app {
            self.action = Action::Launch(AppSelector::Id(AppId(after.app.clone())));
            self.launched = Some(after.app.clone());
            self.points.clear();
        }
    }

    /// The direction of the finger, if it scrolls: `None` for a swipe from the top edge, which
    /// opens what is above the app.
    pub(super) fn scrolls(&self) -> Option<&'static str> {
        let is_swipe = matches!(
            self.action,
            Action::Touch(Gesture::Swipe { .. }) | Action::Swipe { .. } | Action::Scroll { .. }
        );
        if let Action::Scroll { direction, .. } = self.action {
            return Some(direction.name());
        }
        let &[from, to] = self.points.as_slice() else { return None };
        let (right, down) = (to.x.saturating_sub(from.x), to.y.saturating_sub(from.y));
        let height = self.before.as_ref().map_or(0, |screen| screen.bounds.bottom);
        match right.unsigned_abs() > down.unsigned_abs() {
            _ if !is_swipe || (down > 0 && from.y < height / 20) => None,
            true if right > 0 => Some("left"),
            true => Some("right"),
            false if down > 0 => Some("up"),
            false => Some("down"),
        }
    }

    /// A point of the screen in percent, in pixels if its size is not known.
    pub(super) fn place(&self, point: Point) -> String {
        let bounds = self.before.as_ref().map(|screen| screen.bounds);
        match bounds.filter(|bounds| !bounds.is_empty()) {
            Some(bounds) => share(bounds, point),
            None => format!("{},{}", point.x, point.y),
        }
    }

    /// Whether it moved nothing: a list was at its end.
    fn is_in_vain(&self) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return false };
        self.scrolls().is_some() && before.snapshot.tree.nodes == after.snapshot.tree.nodes
    }

    /// Whether the next act replaces what it typed.
    fn is_undone_by(&self, next: &Self) -> bool {
        let (Action::Type(first), Action::Type(second)) = (&self.action, &next.action) else {
            return false;
        };
        let is_same = self.field().is_some() && self.field() == next.field();
        second.clear && !first.submit && is_same
    }

    /// What both typed, if the next act goes on with a text in the same field.
    fn continued_by(&self, next: &Self) -> Option<TextInput> {
        let (Action::Type(first), Action::Type(second)) = (&self.action, &next.action) else {
            return None;
        };
        // A field for one digit passes the focus on.
        let focused = |act: &Self| {
            let screen = act.before.as_deref()?;
            let field = screen.node(screen.field(None)?);
            Some((field.id.clone(), field.class.clone(), field.bounds.left, field.bounds.top))
        };
        let is_same_field = first.into.is_some() || focused(self) == focused(next);
        let goes_on = second.into.is_none() && !second.clear && !first.submit && is_same_field;
        let are_plain = [first, second]
            .iter()
            .all(|input| secret(&input.text).is_none() && !input.text.contains('\n'));
        let text = format!("{}{}", first.text, second.text);
        (goes_on && are_plain).then(|| TextInput { text, submit: second.submit, ..first.clone() })
    }

    /// The node that must be there, if the act only says so.
    pub(super) fn checked_node(&self) -> Option<usize> {
        let id = self.action.awaited_ref()?;
        let snapshot = &self.before.as_ref()?.snapshot;
        snapshot.refs.iter().find(|listed| listed.id == id).map(|listed| listed.node)
    }

    /// What tells the field apart that it typed into.
    fn field(&self) -> Option<[&str; 2]> {
        let Action::Type(TextInput { into, .. }) = &self.action else { return None };
        let screen = self.before.as_deref()?;
        let node = screen.node(screen.field(Some(into.as_ref()?))?);
        Some([&*node.id, &*node.class]).filter(|[id, _]| !id.is_empty())
    }

    /// Whether it was done in a dialog of the system.
    pub(super) fn is_in_dialog(&self) -> bool {
        self.before.as_ref().is_some_and(|screen| screen.dialog().is_some())
    }
}

impl Screen {
    fn read(trace: &Trace, file: &str) -> Option<Self> {
        let stored = trace.file(file).ok()?;
        let stored: StoredSnapshot<'_> = serde_json::from_slice(&stored).ok()?;
        Some(Self::of(stored.into_snapshot()))
    }

    pub(super) fn of(snapshot: Snapshot) -> Self {
        let nodes = || snapshot.tree.nodes.iter();
        let app = snapshot.main_app().to_owned();
        let (right, bottom) = (|node: &Node| node.bounds.right, |node: &Node| node.bounds.bottom);
        let bounds = Rect {
            left: 0,
            top: 0,
            right: nodes().map(right).max().unwrap_or_default(),
            bottom: nodes().map(bottom).max().unwrap_or_default(),
        };
        Self { snapshot, app, bounds }
    }

    /// A button of a dialog by which the system interrupts: it asks for a permission, or tells of
    /// an update or a crash.
    pub(super) fn dialog(&self) -> Option<usize> {
        self.visible().find(|&at| {
            let node = self.node(at);
            let asks = ["permissioncontroller", "packageinstaller"];
            let is_alert = ["android", "com.android.systemui"].contains(&&*node.package)
                && node.id.starts_with("android:id/button");
            let is_asked = asks.iter().any(|end| node.package.ends_with(end));
            is_alert || (is_asked && node.flags.clickable)
        })
    }

    /// The texts and check marks of the screen, without those of the phone's own bars.
    pub(super) fn words(&self) -> Vec<(&str, &str, &str, bool)> {
        let has_content = |node: &&Node| {
            let has_words = !node.text.is_empty() || !node.description.is_empty();
            *node.package != *"com.android.systemui" && (has_words || node.flags.checkable)
        };
        let nodes = self.snapshot.tree.nodes.iter().filter(has_content);
        nodes.map(|node| (&*node.text, &*node.description, &*node.id, node.flags.checked)).collect()
    }

    pub(super) fn node(&self, at: usize) -> &Node {
        &self.snapshot.tree.nodes[at]
    }

    /// Whether a node is a part of an iPhone's keyboard.
    pub(super) fn is_keyboard(&self, at: usize) -> bool {
        let mut around = std::iter::successors(Some(at), |&at| self.node(at).parent);
        around.any(|at| self.node(at).class.ends_with("Keyboard"))
    }

    /// The nodes that can be seen and tapped, in document order.
    pub(super) fn visible(&self) -> impl Iterator<Item = usize> {
        let snapshot = &self.snapshot;
        (0..snapshot.tree.nodes.len())
            .filter(|&at| !snapshot.shown(at).is_empty() && snapshot.covered_by(at).is_none())
    }

    /// The field that text was typed into: the one that was named, else the one with the focus.
    pub(super) fn field(&self, into: Option<&Target>) -> Option<usize> {
        match into {
            None => text_field::focused(&self.snapshot.tree),
            Some(Target::Listed(ElementId::Ref(id))) => {
                self.snapshot.refs.iter().find(|one| one.id == *id).map(|one| one.node)
            }
            Some(Target::Listed(ElementId::Number(number))) => {
                Controls::of(Arc::new(self.snapshot.clone())).node_of(*number)
            }
            Some(Target::Named { id, text }) => self.only_field(|node| {
                let is = |of: &str, wanted: &str| {
                    of == wanted || of.rsplit('/').next() == wanted.rsplit('/').next()
                };
                let texts = [&*node.text, &*node.hint, &*node.description];
                match (id, text) {
                    (Some(id), _) => is(&node.id, id) || *node.description == **id,
                    (None, text) => text.as_ref().is_some_and(|text| texts.contains(&&**text)),
                }
            }),
            // A selector's text is only a part.
            Some(Target::Selector { selector, .. }) => self.only_field(|node| {
                let has = |wanted: &Option<String>, is: &str| {
                    wanted.as_ref().is_none_or(|wanted| is.contains(wanted.as_str()))
                };
                has(&selector.text, &node.text)
                    && has(&selector.id, &node.id)
                    && has(&selector.description, &node.description)
            }),
        }
    }

    /// The only text field like this.
    fn only_field(&self, is: impl Fn(&Node) -> bool) -> Option<usize> {
        let is_meant = |&at: &usize| text_field::is_text_field(self.node(at)) && is(self.node(at));
        let mut all = self.visible().filter(is_meant);
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }
}

/// The area of a rectangle.
pub(super) fn size(rect: Rect) -> i64 {
    let side = |from: i32, to: i32| i64::from(to) - i64::from(from);
    side(rect.left, rect.right).saturating_mul(side(rect.top, rect.bottom))
}

/// Where a point is in a rectangle, in percent.
pub(super) fn share(rect: Rect, point: Point) -> String {
    let part = |at: i32, from: i32, to: i32| {
        let length = (f64::from(to) - f64::from(from)).max(1.0);
        let share = (f64::from(at) - f64::from(from)) * 100.0 / length;
        (share.round() as i32).clamp(0, 100)
    };
    let (x, y) = (part(point.x, rect.left, rect.right), part(point.y, rect.top, rect.bottom));
    format!("{x}%,{y}%")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_core::action::ElementRef;
    use thumbwire_device::{Flags, Tree};

    use super::*;

    fn typed(text: &str, change: impl FnOnce(&mut TextInput)) -> Act {
        let mut input = TextInput { text: text.into(), ..TextInput::default() };
        change(&mut input);
        let action = Action::Type(input);
        Act { action_id: 1, action, points: Vec::new(), launched: None, before: None, after: None }
    }

    fn texts(acts: impl IntoIterator<Item = Act>) -> Vec<String> {
        let texts = without_detours(acts.into_iter()).into_iter().map(|act| match act.action {
            Action::Type(input) => format!("{}{}", input.text, if input.submit { "⏎" } else { "" }),
            other => format!("{other:?}"),
        });
        texts.collect()
    }

    #[test]
    fn text_that_was_typed_letter_by_letter_is_one() {
        let field = || Some(Target::Listed(ElementId::Ref(ElementRef(3))));
        let acts = [
            typed("T", |input| input.into = field()),
            typed("e", |_| {}),
            typed("a", |input| input.submit = true),
            typed("M", |_| {}),
            typed("ilk", |input| input.into = field()),
            typed("x", |input| input.clear = true),
        ];
        assert_eq!(texts(acts), ["Tea⏎", "M", "ilk", "x"]);
        let secret = [typed("a", |_| {}), typed("{{PIN}}", |_| {}), typed("b", |_| {})];
        assert_eq!(texts(secret), ["a", "{{PIN}}", "b"]);
    }

    #[test]
    fn digits_for_a_field_each_are_typed_apart() {
        let screen = |left: i32| {
            let field = Node {
                class: "android.widget.EditText".into(),
                bounds: Rect { left, top: 0, right: left + 9, bottom: 9 },
                flags: Flags { focused: true, ..Flags::default() },
                ..Node::default()
            };
            let tree = Tree { nodes: vec![field], ..Tree::default() };
            Some(Rc::new(Screen::of(Snapshot::number(tree, None, &AtomicU32::new(1)))))
        };
        let digit = |text: &str, left| Act { before: screen(left), ..typed(text, |_| {}) };
        assert_eq!(texts([digit("1", 0), digit("2", 20), digit("3", 20)]), ["1", "23"]);
    }
}

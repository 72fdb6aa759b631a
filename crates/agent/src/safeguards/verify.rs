//! Compares the effect of an action with its purpose.
//!
//! Start with [`verify`]: from the screen before, the call and the screen after, it derives
//! [`Anomaly`]s, each a sentence for the policy, with the [`Repair`]s to try in turn if no decision
//! is needed. Pure: [`super::follow_up`] reads the screen, waits and repairs.

mod moved_target;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_device::{ByteString, Node, is_home_screen, text_field};

use super::screen_state::ScreenState;
use crate::policy::decision::FunctionCall;
use crate::policy::observation::AnomalyKind;
use thumbwire_core::action::Controls;
use thumbwire_core::snapshot::find_again;

/// How long a screen without a change gets: a tree taken during a transition may still be the old
/// screen's.
const MOMENT: Duration = Duration::from_millis(1000);

/// A call that was made or attempted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptedCall<'a> {
    /// The call.
    pub call: &'a FunctionCall,
    /// Whether the tool reports success.
    pub success: bool,
    /// The app that it started, if it started one.
    pub launched: Option<&'a str>,
}

/// Something unexpected on the screen.
#[derive(Debug, Clone)]
pub(crate) struct Anomaly {
    /// Its kind.
    pub kind: AnomalyKind,
    /// What was seen and what to try, as sentences for the policy.
    pub text: String,
    /// What may repair it, the mildest first.
    pub repairs: Vec<Repair>,
}

/// A way to repair an anomaly.
#[derive(Debug, Clone)]
pub(crate) enum Repair {
    /// Read the screen again after this time.
    Recheck(Duration),
    /// Make these calls, one after the other, until one fails.
    Act(Vec<RepairAction>),
}

/// A call of a repair.
#[derive(Debug, Clone)]
pub(crate) struct RepairAction {
    /// The call. Its control id is filled in from `target` when it is made.
    pub call: FunctionCall,
    /// The control that it is for: the index of a node in these controls' snapshot.
    pub target: Option<(Arc<Controls>, usize)>,
}

/// Compares the effect of a call with its purpose. Empty if nothing is wrong, or if a screen could
/// not be read.
pub(crate) fn verify(
    before: &ScreenState,
    attempted: &AttemptedCall<'_>,
    after: &ScreenState,
) -> Vec<Anomaly> {
    let check = Check { before, attempted, after };
    if let Some(finding) = check.dialog() {
        return vec![finding];
    }
    if !attempted.success {
        return Vec::new();
    }
    let found = match &*attempted.call.function {
        "launch_app" => check.launch(),
        "type_text" => check.text().or_else(|| check.left()),
        "click_control" | "tap" => check
            .keyboard()
            .or_else(|| check.left())
            .or_else(|| check.moved())
            .or_else(|| check.neighbour())
            .or_else(|| check.toggle())
            .or_else(|| check.nothing_changed()),
        "swipe" | "scroll" | "press_key" | "drag" | "double_tap" => {
            check.left().or_else(|| check.nothing_changed())
        }
        // They may lead to another app.
        "back" | "home" | "recents" => check.nothing_changed(),
        _ => None,
    };
    found.into_iter().collect()
}

/// Finds a window that covers the app now and did not before, although nothing was done in between.
pub(crate) fn new_window_in_front(before: &ScreenState, now: &ScreenState) -> Option<Anomaly> {
    let deed = AttemptedCall { call: &FunctionCall::default(), success: true, launched: None };
    Check { before, attempted: &deed, after: now }.dialog()
}

struct Check<'a> {
    before: &'a ScreenState,
    attempted: &'a AttemptedCall<'a>,
    after: &'a ScreenState,
}

impl Check<'_> {
    fn text_argument(&self, name: &str) -> Option<&str> {
        self.attempted.call.arguments.get(name).and_then(Value::as_str)
    }

    /// The control that the call was for.
    fn target(&self) -> Option<(&Arc<Controls>, usize)> {
        let controls = self.before.controls.as_ref()?;
        Some((controls, controls.node_of(self.attempted.call.control()?)?))
    }

    /// A system window: an app that crashed or is not responding (`aerr_*` are the ids in AOSP's
    /// `app_error_dialog.xml` and `app_anr_dialog.xml` since Android 7), a question, an alert.
    fn dialog(&self) -> Option<Anomaly> {
        let controls = self.after.controls.as_ref()?;
        let by_id =
            |id: &str| controls.iter().find(|(_, node)| node.id == format!("android:id/{id}"));
        let shown = || quoted(control_texts(controls));
        let press = |id: &str| {
            // A web page chooses its ids freely.
            let (number, _) = by_id(id).filter(|(_, node)| is_of_system(&node.package))?;
            let node = controls.node_of(number)?;
            Some(RepairAction { call: click(), target: Some((Arc::clone(controls), node)) })
        };
        if let Some(wait) = press("aerr_wait") {
            let text = format!(
                "An app is not responding: {}. Tap \"Wait\" and give it time, or close it and start it again.",
                shown()
            );
            return Some(Anomaly {
                kind: AnomalyKind::NotResponding,
                text,
                repairs: vec![Repair::Act(vec![wait])],
            });
        }
        if let Some(close) = press("aerr_close").or_else(|| press("aerr_restart")) {
            let mut steps = vec![close];
            steps.extend(self.before.app.as_deref().filter(|app| !is_of_system(app)).map(start));
            let text = format!(
                "An app has crashed: {}. Close the dialog and start the app again; unsaved changes are lost.",
                shown()
            );
            return Some(Anomaly {
                kind: AnomalyKind::Crashed,
                text,
                repairs: vec![Repair::Act(steps)],
            });
        }
        // The nodes decide: the focus may still be reported for the app.
        let owner =
            |screen: &ScreenState| screen.nodes().next().map(|(_, node)| node.package.clone());
        let (was, is) = (owner(self.before), owner(self.after)?);
        if !is_of_system(&is) || was.as_deref().is_none_or(is_of_system) {
            return None;
        }
        let text = format!(
            "A system window ({is}) covers the app: {}. The app gets no touches until you answer it: tap one of its buttons, or \
             press KEYCODE_BACK.",
            shown()
        );
        Some(Anomaly { kind: AnomalyKind::SystemWindow, text, repairs: Vec::new() })
    }

    fn launch(&self) -> Option<Anomaly> {
        let app = self.attempted.launched.or_else(|| self.text_argument("package_name"))?;
        let is_there = |scene: &ScreenState| {
            scene.app.as_deref() == Some(app) || scene.nodes().any(|(_, node)| node.package == app)
        };
        // An unreadable screen proves nothing.
        if is_there(self.after) || (self.after.app.is_none() && self.after.controls.is_none()) {
            return None;
        }
        let front = self.after.app.as_deref().unwrap_or("nothing");
        let text = format!(
            "{app} was started, but {front} is in front. Wait for it, or start it again; if that does not help, start it from the \
             home screen."
        );
        let repairs = vec![Repair::Recheck(2 * MOMENT), Repair::Act(vec![start(app)])];
        Some(Anomaly { kind: AnomalyKind::WrongApp, text, repairs })
    }

    /// Another app is in front, and nobody asked for that.
    fn left(&self) -> Option<Anomaly> {
        let (was, is) = (self.before.app.as_deref()?, self.after.app.as_deref()?);
        let asked = self.text_argument("key_code").is_some_and(|key| {
            ["HOME", "BACK", "APP_SWITCH", "POWER"].iter().any(|name| key.ends_with(name))
                || key == "3"
                || key == "4"
        });
        if was == is || is_home_screen(was) || asked {
            return None;
        }
        let text = if is_home_screen(is) {
            format!(
                "The home screen is in front now instead of {was}: the app was closed or has crashed. Start it again if you still \
                 need it."
            )
        } else {
            format!(
                "{is} is in front now instead of {was}. If you did not intend that, go back with {}.",
                self.after.way_back()
            )
        };
        Some(Anomaly { kind: AnomalyKind::LeftApp, text, repairs: vec![] })
    }

    fn text(&self) -> Option<Anomaly> {
        let text = self.text_argument("text").filter(|text| !text.is_empty())?;
        let cleared = self.attempted.call.arguments.get("clear_current_text") == Some(&json!(true));
        let (controls, node) = self.target()?;
        let was = &controls.snapshot.tree.nodes[node];
        let now = self.after.controls.as_ref()?;
        let nodes = &now.snapshot.tree.nodes;
        let place = text_field::focused(&now.snapshot.tree)
            .filter(|&at| (&nodes[at].id, &nodes[at].class) == (&was.id, &was.class))
            .or_else(|| {
                nodes.iter().position(|it| {
                    (&it.id, &it.class, it.bounds) == (&was.id, &was.class, was.bounds)
                })
            })?;
        let field = &nodes[place];
        if field.flags.password
            || !text_field::is_text_field(field)
            || plain(&field.text).contains(&plain(text))
        {
            return None;
        }
        let shows = &*field.text;
        let what = match shows {
            "" => "The field is empty".to_owned(),
            shows if text_field::is_showing_hint(field) || was.text == shows => {
                format!("The field shows {}, as before", quoted([shows]))
            }
            shows => format!("The field shows {}", quoted([shows])),
        };
        let text = format!(
            "{what}: the typed text is not there. Tap the field and type it again with clear_current_text; if that does not help, \
             use the on-screen keyboard, or check whether the field accepts this text."
        );
        // Retyping would lose text that was to be kept.
        let held = was.text.is_empty() || text_field::is_showing_hint(was) || cleared;
        let number = now.number_of(place);
        let again = number.filter(|_| held).map(|_| {
            let mut arguments = self.attempted.call.arguments.clone();
            arguments.insert("clear_current_text".into(), true.into());
            let call = FunctionCall { function: "type_text".into(), arguments };
            Repair::Act(vec![RepairAction { call, target: Some((Arc::clone(now), place)) }])
        });
        let repairs = [Repair::Recheck(MOMENT)].into_iter().chain(again).collect();
        Some(Anomaly { kind: AnomalyKind::TextMismatch, text, repairs })
    }

    /// A tap meant for something else typed into the focused field, because the keyboard covered
    /// the target. The keyboard is a window of its own, which no dump shows.
    fn keyboard(&self) -> Option<Anomaly> {
        let (controls, target) = self.target()?;
        let now = self.after.controls.as_ref()?;
        let place = text_field::focused(&now.snapshot.tree)?;
        let field = &now.snapshot.tree.nodes[place];
        let same = |node: &&Node| (&node.id, &node.class) == (&field.id, &field.class);
        let fields = controls.snapshot.tree.nodes.iter().filter(same);
        let [was] = fields.collect::<Vec<_>>()[..] else { return None };
        let came_up = !was.flags.focused;
        let aimed_at = &controls.snapshot.tree.nodes[target];
        if text_field::is_text_field(aimed_at)
            || self.before.screen != self.after.screen
            || field.flags.password
        {
            return None;
        }
        let held = |node: &Node| match text_field::is_showing_hint(node) {
            true => ByteString::new(),
            false => node.text.clone(),
        };
        let (was, is) = (held(was), held(field));
        // The keys of a calculator have one-letter names and type them.
        let is_named = aimed_at.name().chars().count() > 2;
        // Some keys type nothing: then only the field's focus has changed.
        let alone = || {
            came_up
                && self
                    .before
                    .texts()
                    .changed(&self.after.texts())
                    .is_some_and(|keys| keys.len() == 1)
        };
        let wrote = is_a_key_apart(&was, &is);
        if !(wrote || (was == is && alone())) || !is_named {
            return None;
        }
        let text = format!(
            "The keyboard covers {}: the tap hit one of its keys instead. Hide the keyboard with KEYCODE_BACK, check that the focused \
             field shows the same as before, and tap again.",
            quoted([aimed_at.name()])
        );
        let field = Some((Arc::clone(now), place));
        let arguments = json!({ "text": *was, "clear_current_text": true });
        let back = RepairAction {
            call: doing("press_key", json!({ "key_code": "KEYCODE_BACK" })),
            target: None,
        };
        let again = RepairAction { call: click(), target: Some((Arc::clone(controls), target)) };
        let undo =
            wrote.then(|| RepairAction { call: doing("type_text", arguments), target: field });
        let steps = undo.into_iter().chain([back, again]).collect();
        // If the field had the focus before, the app's own keys may write into it.
        let repairs = if came_up { vec![Repair::Act(steps)] } else { Vec::new() };
        Some(Anomaly { kind: AnomalyKind::KeyboardCovers, text, repairs })
    }

    /// A checkbox or switch that should have changed.
    fn toggle(&self) -> Option<Anomaly> {
        let (controls, target) = self.target()?;
        let nodes = &controls.snapshot.tree.nodes;
        let inside = |&at: &usize| at == target || controls.snapshot.is_inside(at, target);
        let mut boxes = (0..nodes.len()).filter(|&at| nodes[at].flags.checkable).filter(inside);
        let (Some(at), None) = (boxes.next(), boxes.next()) else { return None };
        let was = nodes[at].flags;
        if !was.enabled || (was.checked && nodes[at].class.ends_with("RadioButton")) {
            return None;
        }
        let now = &self.after.controls.as_ref()?.snapshot;
        let thumbwire_device::find::FindResult::One(place) =
            find_again(&controls.snapshot, at, now)
        else {
            return None;
        };
        if self.before.screen != self.after.screen
            || now.tree.nodes[place].flags.checked != was.checked
        {
            return None;
        }
        let is = if was.checked { "checked" } else { "not checked" };
        let text = format!(
            "{} is {is}, as before the tap. Check again, then tap it again, or tap the box itself.",
            quoted([nodes[target].name()])
        );
        Some(Anomaly {
            kind: AnomalyKind::ToggleUnchanged,
            text,
            repairs: vec![Repair::Recheck(MOMENT)],
        })
    }

    fn nothing_changed(&self) -> Option<Anomaly> {
        let (was, is) = (self.before.controls.as_ref()?, self.after.controls.as_ref()?);
        let places =
            |controls: &Controls| controls.iter().map(|(_, node)| node.bounds).collect::<Vec<_>>();
        let ran = Duration::from_secs(30);
        let same = self.before.texts().is_similar_to(&self.after.texts(), ran, &Default::default());
        if !same || places(was) != places(is) {
            return None;
        }
        let (kind, text) = match &*self.attempted.call.function {
            "swipe" | "scroll" => (
                AnomalyKind::EndOfList,
                "Nothing moved: the list is at its end, or nothing there can scroll. Swipe the other way, or somewhere else.",
            ),
            "press_key" | "back" | "home" | "recents" => (
                AnomalyKind::NoEffect,
                "Nothing on the screen changed after the key press. Try something else.",
            ),
            "drag" => (
                AnomalyKind::NoEffect,
                "Nothing on the screen changed after the drag. Start at the handle, or hold longer: try something else.",
            ),
            _ => (
                AnomalyKind::NoEffect,
                "Nothing on the screen changed after the tap: it may take longer, or that place does not react to taps. Try another \
                 control instead of repeating the tap.",
            ),
        };
        Some(Anomaly { kind, text: text.into(), repairs: vec![Repair::Recheck(MOMENT)] })
    }
}

/// Whether a single key press turns one text into the other.
fn is_a_key_apart(was: &str, is: &str) -> bool {
    let (was, is): (Vec<char>, Vec<char>) = (was.chars().collect(), is.chars().collect());
    let (short, long) = if was.len() < is.len() { (&was, &is) } else { (&is, &was) };
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    long.len() == short.len() + 1 && short[same..] == long[same + 1..]
}

/// How the sentence for the policy starts if a call changed nothing.
pub(crate) const NOTHING_CHANGED: &str = "Nothing on the screen changed";
/// How it starts if a list is at its end.
pub(crate) const NOTHING_MOVED: &str = "Nothing moved";

/// Packages of the system whose windows cover apps: alerts, the notification shade, permission
/// requests.
pub(crate) fn is_of_system(package: &str) -> bool {
    matches!(package, "android" | "com.android.systemui")
        || package.ends_with(".permissioncontroller")
        || package.ends_with(".packageinstaller")
}

fn doing(function: &str, arguments: Value) -> FunctionCall {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    FunctionCall { function: function.into(), arguments }
}

fn click() -> FunctionCall {
    doing("click_control", json!({}))
}

fn start(app: &str) -> RepairAction {
    RepairAction { call: doing("launch_app", json!({ "package_name": app })), target: None }
}

/// Letters and digits in lower case: fields reformat phone numbers, amounts and capitals.
fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|it| it.is_alphanumeric()).collect();
    match kept.is_empty() {
        true => text.trim().to_owned(),
        false => kept.to_lowercase(),
    }
}

/// The texts of a screen.
fn control_texts(controls: &Controls) -> impl Iterator<Item = &str> {
    let named = |node: &&Node| !node.text.is_empty() || !node.description.is_empty();
    controls.iter().map(|(_, node)| node).filter(named).map(Node::name)
}

/// The first few texts, quoted and shortened for a sentence.
fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    const MAX_TEXTS: usize = 5;
    const MAX_TEXT: usize = 60;
    let quote = |word: &str| format!("{:?}", word.chars().take(MAX_TEXT).collect::<String>());
    words.into_iter().take(MAX_TEXTS).map(quote).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;

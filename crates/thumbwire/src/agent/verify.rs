//! What an action led to, held against what it was for.
//!
//! Begin with [`verify`]: from the screen before, the deed with its reply, and the screen after come [`Finding`]s, each a
//! sentence for whoever decides, and where something can be set right without thinking the [`Repair`]s to try in turn.
//! Pure: who looks, waits and repairs is [`super::settle`].

mod moved;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_device::{Node, field};

use super::reply::Doing;
use super::scene::Scene;
use crate::action::Controls;

/// How long a screen that shows no change is given: trees taken while screens switch may still be the old one's.
const MOMENT: Duration = Duration::from_millis(1000);

/// Something that was done, or tried.
#[derive(Debug, Clone, Copy)]
pub struct Deed<'a> {
    /// What was asked for.
    pub doing: &'a Doing,
    /// Whether the tool says that it was done.
    pub success: bool,
    /// The tool's reply; null where it gave none.
    pub reply: &'a Value,
}

/// Something that was noticed.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Of which kind.
    pub kind: Kind,
    /// What was seen, and what to try.
    pub says: String,
    /// What may set it right, the mildest first.
    pub repairs: Vec<Repair>,
}

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The screen is as it was.
    Nothing,
    /// It is as it was after a swipe: the list is at its end.
    End,
    /// A field does not hold what was typed.
    Text,
    /// A box was ticked or unticked, and is as it was.
    Toggle,
    /// Another app is in front than the one that was started.
    WrongApp,
    /// The app was left.
    LeftApp,
    /// An app has crashed.
    Crashed,
    /// An app does not answer.
    NotResponding,
    /// A window of the system stands before the app.
    SystemWindow,
    /// The keyboard lay over what was aimed at.
    Keyboard,
    /// What was aimed at lay elsewhere by the time of the tap.
    Moved,
}

/// What may set something right.
#[derive(Debug, Clone)]
pub enum Repair {
    /// Another look after so long.
    LookAgain(Duration),
    /// These, one after the other, unless one fails.
    Do(Vec<Step>),
}

/// A step of a repair.
#[derive(Debug, Clone)]
pub struct Step {
    /// What is done; its control is the target's number by then.
    pub doing: Doing,
    /// The control that it is for: a place in the nodes of these controls' look.
    pub target: Option<(Arc<Controls>, usize)>,
}

/// Holds what came of a deed against what it was for. Empty where nothing stands against it, or a screen could not be read.
pub fn verify(before: &Scene, deed: &Deed<'_>, after: &Scene) -> Vec<Finding> {
    let check = Check { before, deed, after };
    if let Some(finding) = check.dialog() {
        return vec![finding];
    }
    if !deed.success {
        return Vec::new();
    }
    let found = match &*deed.doing.function {
        "launch_app" => check.launch(),
        "type_text" => check.text().or_else(|| check.left()),
        "click_control" | "tap" => check
            .keyboard()
            .or_else(|| check.left())
            .or_else(|| check.moved())
            .or_else(|| check.neighbour())
            .or_else(|| check.toggle())
            .or_else(|| check.nothing()),
        "swipe" | "scroll" | "press_key" => check.left().or_else(|| check.nothing()),
        _ => None,
    };
    found.into_iter().collect()
}

/// What stands before the app now, and did not before, with nothing done between.
pub fn standing(before: &Scene, now: &Scene) -> Option<Finding> {
    let deed = Deed { doing: &Doing::default(), success: true, reply: &Value::Null };
    Check { before, deed: &deed, after: now }.dialog()
}

struct Check<'a> {
    before: &'a Scene,
    deed: &'a Deed<'a>,
    after: &'a Scene,
}

impl Check<'_> {
    fn word(&self, name: &str) -> Option<&str> {
        self.deed.doing.arguments.get(name).and_then(Value::as_str)
    }

    /// The control that the deed was for.
    fn target(&self) -> Option<(&Arc<Controls>, usize)> {
        let controls = self.before.controls.as_ref()?;
        Some((controls, controls.node_of(self.word("control_id")?)?))
    }

    /// A window of the system: an app that crashed or does not answer (`aerr_*` are the ids of AOSP's `app_error_dialog.xml` and
    /// `app_anr_dialog.xml` since Android 7), a question, an alert.
    fn dialog(&self) -> Option<Finding> {
        let controls = self.after.controls.as_ref()?;
        let by_id =
            |id: &str| controls.iter().find(|(_, node)| node.id == format!("android:id/{id}"));
        let says = || quoted(words(controls));
        let press = |id: &str| {
            let (number, _) = by_id(id)?;
            let node = *controls.nodes.get(number - 1)?;
            Some(Step { doing: click(), target: Some((Arc::clone(controls), node)) })
        };
        if let Some(wait) = press("aerr_wait") {
            let says = format!(
                "An app does not answer: {}. Tap \"Wait\" and give it time, or close it and start it again.",
                says()
            );
            return Some(Finding {
                kind: Kind::NotResponding,
                says,
                repairs: vec![Repair::Do(vec![wait])],
            });
        }
        if let Some(close) = press("aerr_close").or_else(|| press("aerr_restart")) {
            let mut steps = vec![close];
            steps.extend(self.before.app.as_deref().filter(|app| !is_of_system(app)).map(start));
            let says = format!(
                "An app has crashed: {}. Close the message and start the app again; what was not saved is lost.",
                says()
            );
            return Some(Finding { kind: Kind::Crashed, says, repairs: vec![Repair::Do(steps)] });
        }
        // Its nodes tell; the focus may still be told as the app's.
        let owner = |scene: &Scene| scene.nodes().next().map(|(_, node)| node.package.clone());
        let (was, is) = (owner(self.before), owner(self.after)?);
        if !is_of_system(&is) || was.as_deref().is_none_or(is_of_system) {
            return None;
        }
        let says = format!(
            "A window of the system ({is}) stands before the app: {}. The app gets no touch until it is answered: choose one of its \
             buttons, or press KEYCODE_BACK.",
            says()
        );
        Some(Finding { kind: Kind::SystemWindow, says, repairs: Vec::new() })
    }

    fn launch(&self) -> Option<Finding> {
        let app = self.deed.reply["package_name"].as_str().or_else(|| self.word("package_name"))?;
        let is_there = |scene: &Scene| {
            scene.app.as_deref() == Some(app) || scene.nodes().any(|(_, node)| node.package == app)
        };
        // Nothing is known of a screen that could not be read.
        if is_there(self.after) || (self.after.app.is_none() && self.after.controls.is_none()) {
            return None;
        }
        let front = self.after.app.as_deref().unwrap_or("nothing");
        let says = format!(
            "{app} was started, and yet {front} is in front. Wait for it, or start it again; if it stays so, start it from the home \
             screen."
        );
        let repairs = vec![Repair::LookAgain(2 * MOMENT), Repair::Do(vec![start(app)])];
        Some(Finding { kind: Kind::WrongApp, says, repairs })
    }

    /// The app that was in front is not, and nobody asked for that.
    fn left(&self) -> Option<Finding> {
        let (was, is) = (self.before.app.as_deref()?, self.after.app.as_deref()?);
        let asked = self.word("key_code").is_some_and(|key| {
            ["HOME", "BACK", "APP_SWITCH", "POWER"].iter().any(|name| key.ends_with(name))
                || key == "3"
                || key == "4"
        });
        if was == is || is_home(was) || asked {
            return None;
        }
        let says = if is_home(is) {
            format!(
                "The home screen is in front now, and {was} is not: it was closed, or has crashed. Start it again if it is still \
                 needed."
            )
        } else {
            format!(
                "{is} is in front now, no longer {was}. If that was not meant, go back by KEYCODE_BACK."
            )
        };
        Some(Finding { kind: Kind::LeftApp, says, repairs: vec![] })
    }

    fn text(&self) -> Option<Finding> {
        let text = self.word("text").filter(|text| !text.is_empty())?;
        let cleared = self.deed.doing.arguments.get("clear_current_text") == Some(&json!(true));
        let (controls, node) = self.target()?;
        let was = &controls.look.tree.nodes[node];
        let now = self.after.controls.as_ref()?;
        let nodes = &now.look.tree.nodes;
        let place = field::focused(&now.look.tree)
            .filter(|&at| (&nodes[at].id, &nodes[at].class) == (&was.id, &was.class))
            .or_else(|| {
                nodes.iter().position(|it| {
                    (&it.id, &it.class, it.bounds) == (&was.id, &was.class, was.bounds)
                })
            })?;
        let field = &nodes[place];
        if field.flags.password
            || !field::takes_text(field)
            || plain(&field.text).contains(&plain(text))
        {
            return None;
        }
        let shows = field.text.as_str();
        let what = match shows {
            "" => "The field is empty".to_owned(),
            shows if field::shows_hint(field) || shows == was.text => {
                format!("The field shows {}, as before", quoted([shows]))
            }
            shows => format!("The field shows {}", quoted([shows])),
        };
        let says = format!(
            "{what}: what was typed is not there. Tap the field and type it again, with clear_current_text; if it stays so, type on \
             the keyboard of the screen, or see whether the field takes such text."
        );
        // What the field held before would be lost where it was to be kept.
        let held = was.text.is_empty() || field::shows_hint(was) || cleared;
        let number = now.nodes.iter().position(|&it| it == place);
        let again = number.filter(|_| held).map(|_| {
            let mut arguments = self.deed.doing.arguments.clone();
            arguments.insert("clear_current_text".into(), true.into());
            let doing = Doing { function: "type_text".into(), arguments };
            Repair::Do(vec![Step { doing, target: Some((Arc::clone(now), place)) }])
        });
        let repairs = [Repair::LookAgain(MOMENT)].into_iter().chain(again).collect();
        Some(Finding { kind: Kind::Text, says, repairs })
    }

    /// A tap that was meant for something else wrote into the field that has the focus: the keyboard lay over its target. It is a
    /// window of its own, which no dump shows.
    fn keyboard(&self) -> Option<Finding> {
        let (controls, target) = self.target()?;
        let now = self.after.controls.as_ref()?;
        let place = field::focused(&now.look.tree)?;
        let field = &now.look.tree.nodes[place];
        let same = |node: &&Node| (&node.id, &node.class) == (&field.id, &field.class);
        let fields = controls.look.tree.nodes.iter().filter(same);
        let [was] = fields.collect::<Vec<_>>()[..] else { return None };
        let came_up = !was.flags.focused;
        let aimed_at = &controls.look.tree.nodes[target];
        if field::takes_text(aimed_at)
            || self.before.screen != self.after.screen
            || field.flags.password
        {
            return None;
        }
        let held = |node: &Node| match field::shows_hint(node) {
            true => String::new(),
            false => node.text.clone(),
        };
        let (was, is) = (held(was), held(field));
        // The keys of a calculator write what they are called.
        let is_named = aimed_at.name().chars().count() > 2;
        // Some keys write nothing: then the field alone has changed, by coming to have the focus.
        let alone = || {
            came_up
                && self
                    .before
                    .words()
                    .changed(&self.after.words())
                    .is_some_and(|keys| keys.len() == 1)
        };
        let wrote = is_a_key_apart(&was, &is);
        if !(wrote || (was == is && alone())) || !is_named {
            return None;
        }
        let says = format!(
            "The keyboard lies over {}: the tap went to a key of it, and not there. Hide the keyboard by KEYCODE_BACK, see that the field \
             with the focus is as it was, and tap again.",
            quoted([aimed_at.name()])
        );
        let field = Some((Arc::clone(now), place));
        let arguments = json!({ "text": was, "clear_current_text": true });
        let back =
            Step { doing: doing("press_key", json!({ "key_code": "KEYCODE_BACK" })), target: None };
        let again = Step { doing: click(), target: Some((Arc::clone(controls), target)) };
        let undo = wrote.then(|| Step { doing: doing("type_text", arguments), target: field });
        let steps = undo.into_iter().chain([back, again]).collect();
        // Where it was up before, the field may be one that its app's own keys write into.
        let repairs = if came_up { vec![Repair::Do(steps)] } else { Vec::new() };
        Some(Finding { kind: Kind::Keyboard, says, repairs })
    }

    /// A box that should have been ticked or unticked.
    fn toggle(&self) -> Option<Finding> {
        let (controls, target) = self.target()?;
        let nodes = &controls.look.tree.nodes;
        let inside = |&at: &usize| at == target || controls.look.is_inside(at, target);
        let mut boxes = (0..nodes.len()).filter(|&at| nodes[at].flags.checkable).filter(inside);
        let (Some(at), None) = (boxes.next(), boxes.next()) else { return None };
        let was = nodes[at].flags;
        if !was.enabled || (was.checked && nodes[at].class.ends_with("RadioButton")) {
            return None;
        }
        let now = &self.after.controls.as_ref()?.look;
        let thumbwire_device::find::Found::One(place) = now.same_as(&controls.look, at) else {
            return None;
        };
        if self.before.screen != self.after.screen
            || now.tree.nodes[place].flags.checked != was.checked
        {
            return None;
        }
        let is = if was.checked { "ticked" } else { "not ticked" };
        let says = format!(
            "{} is {is}, as before the tap. Look once more, then tap it again, or on the box itself.",
            quoted([nodes[target].name()])
        );
        Some(Finding { kind: Kind::Toggle, says, repairs: vec![Repair::LookAgain(MOMENT)] })
    }

    fn nothing(&self) -> Option<Finding> {
        let (was, is) = (self.before.controls.as_ref()?, self.after.controls.as_ref()?);
        let places =
            |controls: &Controls| controls.iter().map(|(_, node)| node.bounds).collect::<Vec<_>>();
        let ran = Duration::from_secs(30);
        let same = self.before.words().is_like(&self.after.words(), ran, &Default::default());
        if !same || places(was) != places(is) {
            return None;
        }
        let (kind, says) = match &*self.deed.doing.function {
            "swipe" | "scroll" => (
                Kind::End,
                "Nothing moved: the list is at its end, or nothing there can be scrolled. Swipe the other way, or elsewhere.",
            ),
            "press_key" => {
                (Kind::Nothing, "Nothing on the screen changed after the key. Try something else.")
            }
            _ => (
                Kind::Nothing,
                "Nothing on the screen changed after the tap: it may take longer, or that place takes no tap. Try another control, \
                 rather than the same once more.",
            ),
        };
        Some(Finding { kind, says: says.into(), repairs: vec![Repair::LookAgain(MOMENT)] })
    }
}

/// Whether one key of a keyboard makes the one of the other.
fn is_a_key_apart(was: &str, is: &str) -> bool {
    let (was, is): (Vec<char>, Vec<char>) = (was.chars().collect(), is.chars().collect());
    let (short, long) = if was.len() < is.len() { (&was, &is) } else { (&is, &was) };
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    long.len() == short.len() + 1 && short[same..] == long[same + 1..]
}

/// What belongs to the system and stands before apps: alerts, the shade, questions about permissions.
pub(super) fn is_of_system(package: &str) -> bool {
    matches!(package, "android" | "com.android.systemui")
        || package.ends_with(".permissioncontroller")
        || package.ends_with(".packageinstaller")
}

/// Launchers call themselves so (AOSP's Launcher3 and Quickstep, the Pixel's, Samsung's, Nova).
fn is_home(package: &str) -> bool {
    ["launcher", "quickstep", "trebuchet"].iter().any(|word| package.contains(word))
        || package.ends_with(".home")
}

fn doing(function: &str, arguments: Value) -> Doing {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Doing { function: function.into(), arguments }
}

fn click() -> Doing {
    doing("click_control", json!({}))
}

fn start(app: &str) -> Step {
    Step { doing: doing("launch_app", json!({ "package_name": app })), target: None }
}

/// Letters and digits alone: fields set phone numbers, amounts and capitals in their own way.
fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|it| it.is_alphanumeric()).collect();
    match kept.is_empty() {
        true => text.trim().to_owned(),
        false => kept.to_lowercase(),
    }
}

/// The first words of a screen.
fn words(controls: &Controls) -> impl Iterator<Item = &str> {
    let named = |node: &&Node| !node.text.is_empty() || !node.description.is_empty();
    controls.iter().map(|(_, node)| node).filter(named).map(Node::name)
}

/// A few words of the phone's, short enough for a sentence.
fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 5;
    const LONGEST: usize = 60;
    let quote = |word: &str| format!("{:?}", word.chars().take(LONGEST).collect::<String>());
    words.into_iter().take(MOST).map(quote).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;

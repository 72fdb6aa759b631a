//! Writes a flow that does what a recorded run did, and checks what came of it.
//!
//! Start with [`from_trace`]. `recorded` finds the acts of a run and the screens around them,
//! `naming` names what was touched, `checks` makes assertions, `wording` writes texts. The result
//! is read back by [`read`] before it is returned. Nothing here accesses a phone or a file.

mod checks;
mod naming;
mod recorded;
#[cfg(test)]
mod tests;
mod wording;

use std::path::Path;
use std::rc::Rc;

use serde_json::{Map, Value, json};
use thumbwire_core::action::{Action, TextInput};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::trace::{REDACTED, Trace};
use thumbwire_core::yaml::to_yaml;
use thumbwire_device::text_field::{is_showing_hint, is_text_field};
use thumbwire_device::{AppId, Gesture, Key, Orientation, is_home_screen};

use super::parse::{key_name, read};
use naming::{Name, Naming, Touched, typed_text};
use recorded::{Act, Screen, acts, phones};
use wording::{Kind, Parameters, escape, has_word, script_string};

/// A flow that was made of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFlow {
    /// The text of its file.
    pub text: String,
    /// The number of acts that it repeats.
    pub acts: usize,
    /// The number of its steps, checks included.
    pub steps: usize,
    /// How many of them are checks.
    pub checks: usize,
    /// How many of them name a place, not an element.
    pub places: usize,
    /// The parameters that it needs from outside, because they are passwords.
    pub needs: Vec<String>,
}

/// Makes a flow of a run. With `maestro` it has only commands and keys of Maestro.
///
/// # Errors
/// Why the run cannot be a flow, and what in it cannot be.
pub fn from_trace(trace: &Trace, maestro: bool) -> Result<WrittenFlow, String> {
    check(trace)?;
    let acts = acts(trace);
    let parameters = parameters(trace, &acts)?;
    let naming = Naming { parameters: &parameters, maestro };
    let mut writer = Writer::new(&naming, &acts);
    for (at, act) in acts.iter().enumerate() {
        let from = writer.steps.len();
        writer.act(at).map_err(|what| format!("action {} of the run: {what}", act.action_id))?;
        writer.only_if_asked(at, from);
        writer.checks(at);
    }
    let steps = with_repeats(writer.steps);
    let Some(app) = writer.app else {
        return Err("the run has no app: nothing in it can be repeated".into());
    };
    let text = document(trace, &app, &parameters, &steps);
    let files = |_: &Path| Ok(text.clone());
    read("flow.yaml", &<_>::default(), &files).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        format!("the flow cannot be read back, which is a bug: {}", errors.join("; "))
    })?;
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    Ok(WrittenFlow {
        acts: acts.len(),
        steps: steps.len(),
        checks: count(|step| step.name().starts_with("assert")),
        places: count(|step| step.comment.is_some()),
        needs: parameters.of_kind(Kind::Secret).map(|one| one.name.clone()).collect(),
        text,
    })
}

/// The most lasting selector that means this node alone, as a flow has it.
pub(super) fn lasting_selector(snapshot: &Snapshot, node: usize) -> Option<Value> {
    let parameters = Parameters::default();
    let naming = Naming { parameters: &parameters, maestro: false };
    let screen = Screen::of(snapshot.clone());
    let name = naming.name(&screen, &Touched::node(node))?;
    Some(name.written(&parameters))
}

/// A selector by which a check finds this node: by what it shows, if that was typed.
pub(super) fn check_selector(snapshot: &Snapshot, node: usize) -> Option<Value> {
    let typed = typed_text(&Screen::of(snapshot.clone()), node);
    let typed = typed.map(|name| name.written(&Parameters::default()));
    typed.or_else(|| lasting_selector(snapshot, node))
}

/// Refuses runs that are not known to have worked, and those whose texts are missing.
fn check(trace: &Trace) -> Result<(), String> {
    match &trace.ended {
        Some((status, _)) if status == "FINISH" => {}
        None if trace.goals.is_empty() => {}
        _ if trace.case.is_some() => {}
        _ => return Err("the run did not reach its goal: only one that did becomes a flow".into()),
    }
    if trace.case.as_ref().is_some_and(|case| !case.passed) {
        return Err("the case failed: only one that passed becomes a flow".into());
    }
    let phones = phones(trace);
    if phones.len() > 1 {
        return Err(format!("the run used {} phones; a flow has one", phones.len()));
    }
    Ok(())
}

/// The typed texts: those that came from the goal vary.
fn parameters(trace: &Trace, acts: &[Act]) -> Result<Parameters, String> {
    let mut parameters = Parameters::default();
    for act in acts {
        let Action::Type(TextInput { text, into, .. }) = &act.action else { continue };
        if text.contains(REDACTED) {
            let what = "the run was recorded with `--redact`: the texts that it typed are missing";
            return Err(what.into());
        }
        let screen = act.before.as_deref();
        let node = screen.and_then(|screen| Some(screen.node(screen.field(into.as_ref())?)));
        let is_of_goal = trace.goals.iter().any(|goal| has_word(&goal.request, text));
        let is_password = node.is_some_and(|node| node.flags.password);
        let kind = match (is_of_goal && text.trim() == text, is_password) {
            (true, _) => Kind::Parameter,
            (false, true) => Kind::Secret,
            (false, false) => Kind::Literal,
        };
        if text.is_empty() || secret(text).is_some() {
            continue;
        }
        let field = node.map(|node| {
            let id = node.id.rsplit('/').next().unwrap_or_default();
            let label = [&*node.hint, &*node.description].into_iter().find(|text| !text.is_empty());
            // A sentence makes no good name of a parameter.
            let is_name = |label: &&str| {
                label.split_whitespace().count() <= 2 && !label.contains(char::is_numeric)
            };
            label.filter(is_name).unwrap_or(id)
        });
        parameters.add(text, field.unwrap_or_default(), kind);
    }
    Ok(parameters)
}

/// An id of an app, which a file may have made up.
fn app_id(app: &str) -> Result<String, String> {
    AppId::parse(app).map(|app| app.0).map_err(|_| format!("{app:?} is not the id of an app"))
}

/// The name of the secret that a text is: `{{PIN}}`.
fn secret(text: &str) -> Option<&str> {
    let name = text.strip_prefix("{{")?.strip_suffix("}}")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// A command, and what a reader has to know about it.
#[derive(Clone)]
struct Step {
    command: Value,
    comment: Option<&'static str>,
}

impl Step {
    fn name(&self) -> &str {
        match &self.command {
            Value::Object(all) => all.keys().next().map_or("", String::as_str),
            word => word.as_str().unwrap_or_default(),
        }
    }
}

/// Why a step has a place.
const NO_NAME: &str = "Nothing names this element alone on its screen: a place.";

/// Writes the steps of a flow.
struct Writer<'a> {
    naming: &'a Naming<'a>,
    acts: &'a [Act],
    /// What each act touched, and its name.
    touched: Vec<Option<(Touched, Option<Name>)>>,
    /// The app under test.
    app: Option<String>,
    /// The apps that were launched.
    launched: Vec<String>,
    /// The screens before the acts.
    screens: Vec<Rc<Screen>>,
    steps: Vec<Step>,
}

impl<'a> Writer<'a> {
    fn new(naming: &'a Naming<'a>, acts: &'a [Act]) -> Self {
        let touched = acts.iter().map(|act| {
            let screen = act.before.as_deref()?;
            let touched = match &act.action {
                Action::Type(TextInput { into: Some(into), .. }) => {
                    screen.field(Some(into)).map(Touched::node)
                }
                Action::Observe(_) => act.checked_node().map(Touched::node),
                _ if act.points.len() == 1 => Touched::at(screen, act.points[0]),
                _ => None,
            }?;
            let name = naming.name(screen, &touched);
            Some((touched, name))
        });
        let touched = touched.collect();
        let screens = acts.iter().filter_map(|act| act.before.clone()).collect();
        let (app, launched, steps) = (None, Vec::new(), Vec::new());
        let mut writer = Self { naming, acts, touched, app, launched, screens, steps };
        writer.begin();
        writer
    }

    /// Brings the phone to where the run began.
    fn begin(&mut self) {
        let Some(first) = self.acts.first() else { return };
        if first.launched.is_some()
            || matches!(first.action, Action::Stop(_) | Action::ClearData(_))
        {
            return;
        }
        let app = first.before.as_ref().map(|screen| screen.app.clone());
        let Some(app) = app.filter(|app| AppId::parse(app).is_ok()) else { return };
        match is_home_screen(&app) {
            true => self.push("pressKey", "Home".into()),
            false => {
                self.push_word("launchApp");
                self.launched.push(app.clone());
            }
        }
        self.app = Some(app);
    }

    fn push(&mut self, name: &str, value: Value) {
        self.steps.push(Step { command: json!({ name: value }), comment: None });
    }

    fn push_word(&mut self, name: &str) {
        self.steps.push(Step { command: name.into(), comment: None });
    }

    fn name(&self, at: usize) -> Option<&Name> {
        self.touched.get(at)?.as_ref()?.1.as_ref()
    }

    /// # Errors
    /// Why a flow cannot do it.
    fn act(&mut self, at: usize) -> Result<(), String> {
        let act = &self.acts[at];
        let maestro = self.naming.maestro;
        let only_ours = |what: &str| match maestro {
            true => Err(format!("Maestro has no command for {what}; leave out --maestro")),
            false => Ok(()),
        };
        if act.scrolls().is_some() {
            self.scroll(at);
            return Ok(());
        }
        match &act.action {
            Action::Touch(Gesture::Tap { .. }) | Action::TapElement(_) => {
                self.touch(at, "tapOn", None)
            }
            Action::Observe(_) => {
                let shown = act.before.as_deref().zip(act.checked_node());
                let typed = shown.and_then(|(screen, node)| typed_text(screen, node));
                let name = typed.as_ref().or(self.name(at));
                let name = name.ok_or("the element that must be there cannot be named")?;
                let check = name.written(self.naming.parameters);
                self.push("assertVisible", check);
            }
            Action::Touch(Gesture::DoubleTap { .. }) => self.touch(at, "doubleTapOn", None),
            Action::Touch(Gesture::LongPress { held, .. }) => {
                let held = u64::try_from(held.as_millis()).ok().filter(|_| !maestro);
                self.touch(at, "longPressOn", held)
            }
            Action::Touch(Gesture::Swipe { .. }) | Action::Swipe { .. } => self.swipe(act)?,
            Action::Type(input) => self.typed(at, input)?,
            Action::Press(key) => {
                let key = Key::from_any_name(key.name().trim_start_matches("KEYCODE_"));
                let key = key.ok_or("a flow cannot press this key")?;
                if key == Key::Back {
                    self.push_word("back");
                    return Ok(());
                }
                let name = key_name(key).map_or_else(|| key.name(), Into::into);
                if name.starts_with("KEYCODE_") {
                    only_ours(&format!("the key {name}"))?;
                }
                self.push("pressKey", (*name).into());
            }
            Action::Launch(_) | Action::LaunchWith { .. } => self.launch(at)?,
            Action::OpenUrl(url) => {
                self.app = self.app.take().or_else(|| act.launched.clone());
                let url = self.naming.parameters.typed(url);
                self.push("openLink", url.into());
            }
            Action::Stop(AppId(app)) | Action::ClearData(AppId(app)) => {
                app_id(app)?;
                // A launch of it comes next, and does this too.
                if self.acts.get(at + 1).is_none_or(|next| next.launched.as_ref() != Some(app)) {
                    let is_stop = matches!(act.action, Action::Stop(_));
                    let name = if is_stop { "stopApp" } else { "clearState" };
                    self.push(name, app.as_str().into());
                }
                self.app.get_or_insert_with(|| app.clone());
            }
            Action::SetPermission { app: AppId(app), permission, granted } => {
                let value = if *granted { "allow" } else { "deny" };
                let permissions = json!({ app_id(permission)?: value });
                let keys = json!({ "appId": app_id(app)?, "permissions": permissions });
                self.push("setPermissions", keys);
            }
            Action::SetLocation(place) => {
                self.push("setLocation", json!(place));
            }
            Action::SetOrientation(orientation) => {
                let is_portrait = *orientation == Orientation::Portrait;
                let name = if is_portrait { "PORTRAIT" } else { "LANDSCAPE_LEFT" };
                self.push("setOrientation", name.into());
            }
            Action::SetClipboard(text) => {
                only_ours("the phone's clipboard")?;
                let text = self.naming.parameters.typed(text);
                self.push("setDeviceClipboard", text.into());
            }
            other => return Err(format!("a flow cannot {other}")),
        }
        Ok(())
    }

    /// Starts an app: afresh at first, later as it was left.
    fn launch(&mut self, at: usize) -> Result<(), String> {
        let act = &self.acts[at];
        let app = act.launched.as_deref().ok_or("it is not known which app it launched")?;
        let app = app_id(app)?;
        let before = at.checked_sub(1).map(|at| &self.acts[at].action);
        let mut keys = Map::new();
        if self.app.as_ref().is_some_and(|own| *own != app) {
            keys.insert("appId".into(), app.as_str().into());
        }
        match before {
            Some(Action::ClearData(AppId(of))) if *of == app => {
                keys.insert("clearState".into(), true.into());
            }
            Some(Action::Stop(AppId(of))) if *of == app => {}
            _ if self.launched.contains(&app) => {
                keys.insert("stopApp".into(), false.into());
            }
            _ => {}
        }
        if let Action::LaunchWith { arguments, .. } = &act.action {
            let text = |text: String| self.naming.parameters.typed(&text);
            let all = arguments
                .iter()
                .map(|one| (text(one.name.clone()), text(one.value.to_string()).into()));
            keys.insert("arguments".into(), Value::Object(all.collect()));
        }
        self.app.get_or_insert_with(|| app.clone());
        self.launched.push(app);
        match keys.is_empty() {
            true => self.push_word("launchApp"),
            false => self.push("launchApp", keys.into()),
        }
        Ok(())
    }

    fn touch(&mut self, at: usize, command: &str, held: Option<u64>) {
        let act = &self.acts[at];
        let (inside, name) = match &self.touched[at] {
            Some((touched, Some(name))) => (touched.inside.clone(), Some(name)),
            _ => (None, None),
        };
        let point = inside.or_else(|| name.is_none().then(|| act.place(act.points[0])));
        let mut keys = name.map(|name| name.keys(self.naming.parameters)).unwrap_or_default();
        keys.extend(point.map(|point| ("point".to_owned(), point.into())));
        keys.extend(held.map(|held| ("duration".to_owned(), held.into())));
        let element = name.map(|name| name.written(self.naming.parameters));
        let is_text = keys.len() == 1 && element.as_ref().is_some_and(Value::is_string);
        let arguments = element.filter(|_| is_text).unwrap_or(Value::Object(keys));
        let comment = name.is_none().then_some(NO_NAME);
        self.steps.push(Step { command: json!({ command: arguments }), comment });
    }

    /// Makes steps from here on conditional, if the run did them in a dialog of the system: it may
    /// not be there next time.
    fn only_if_asked(&mut self, at: usize, from: usize) {
        let act = &self.acts[at];
        let Some((screen, button)) =
            act.before.as_deref().and_then(|screen| Some((screen, screen.dialog()?)))
        else {
            return;
        };
        let own = self.name(at).cloned();
        let name = own.or_else(|| self.naming.name(screen, &Touched::node(button)));
        let Some(name) = name.filter(|_| act.launched.is_none()) else { return };
        let commands: Vec<Value> = self.steps.drain(from..).map(|step| step.command).collect();
        let visible = name.written(self.naming.parameters);
        self.push("runFlow", json!({ "when": { "visible": visible }, "commands": commands }));
    }

    fn swipe(&mut self, act: &Act) -> Result<(), String> {
        let &[from, to] = act.points.as_slice() else {
            return Err("it is not known where it swiped".into());
        };
        let mut keys = json!({ "start": act.place(from), "end": act.place(to) });
        if let Action::Touch(Gesture::Swipe { duration, .. }) | Action::Swipe { duration, .. } =
            &act.action
        {
            keys["duration"] = json!(duration.as_millis() as u64);
        }
        self.push("swipe", keys);
        Ok(())
    }

    /// Scrolls as far as the run did, or until what it touched next is visible.
    fn scroll(&mut self, at: usize) {
        let act = &self.acts[at];
        let direction = act.scrolls();
        let goes_on = |act: &Act| act.scrolls() == direction;
        if at.checked_sub(1).is_some_and(|at| goes_on(&self.acts[at]))
            && self.steps.last().is_some_and(|step| step.name() == "scrollUntilVisible")
        {
            return;
        }
        let is_other = |act: &Act| !goes_on(act) && !act.is_in_dialog();
        let until = (at..self.acts.len()).find(|&at| is_other(&self.acts[at]));
        let name = until.and_then(|until| self.name(until)).cloned().filter(|name| {
            let screens = self.acts[at..until.unwrap_or(at)].iter().map(|act| &act.before);
            let is_hidden = |screen: &Option<Rc<Screen>>| {
                screen.as_ref().is_some_and(|screen| name.find(screen).is_empty())
            };
            screens.into_iter().all(is_hidden)
        });
        match name {
            Some(name) => {
                // At the edge of the screen it may be under the bar of the system.
                let element = name.written(self.naming.parameters);
                let mut keys = json!({ "element": element, "centerElement": true });
                if let Some(direction) = direction.filter(|direction| *direction != "down") {
                    keys["direction"] = direction.to_uppercase().into();
                }
                self.push("scrollUntilVisible", keys);
            }
            None if self.swipe(act).is_ok() => {}
            None if direction == Some("down") => self.push_word("scroll"),
            // The finger moves the other way.
            None => {
                let fingers = [("up", "DOWN"), ("left", "RIGHT"), ("right", "LEFT")];
                let finger = fingers.iter().find(|(name, _)| Some(*name) == direction);
                self.push(
                    "swipe",
                    json!({ "direction": finger.map_or("UP", |(_, finger)| finger) }),
                );
            }
        }
    }

    fn typed(&mut self, at: usize, input: &TextInput) -> Result<(), String> {
        let act = &self.acts[at];
        let screen = act.before.as_deref();
        let field = screen.and_then(|screen| Some((screen, screen.field(input.into.as_ref())?)));
        let is_focused = field.is_some_and(|(screen, at)| screen.node(at).flags.focused);
        let is_empty = field.is_some_and(|(screen, at)| {
            let node = screen.node(at);
            node.text.is_empty() || is_showing_hint(node)
        });
        // A tap in the middle of a text would move the cursor there.
        if input.into.is_some() && !(is_focused && !is_empty && !input.clear) {
            let Some(name) = self.name(at) else {
                return Err("the field that it typed into cannot be named".into());
            };
            let element = name.written(self.naming.parameters);
            self.push("tapOn", element);
        }
        if input.clear && !is_empty {
            self.push_word("eraseText");
        }
        if self.naming.maestro && secret(&input.text).is_none() && input.text.contains("{{") {
            return Err("Maestro has no secrets inside other texts; leave out --maestro".into());
        }
        if !input.text.is_empty() {
            let text = match secret(&input.text).filter(|_| self.naming.maestro) {
                Some(name) => format!("${{{name}}}"),
                None => self.naming.parameters.typed(&input.text),
            };
            self.push("inputText", text.into());
        }
        if input.submit {
            self.push("pressKey", "Enter".into());
        }
        Ok(())
    }

    /// What was touched before and is gone after an act.
    fn gone(&self, at: usize, after: &Screen) -> Option<Value> {
        let touched = self.acts[..at].iter().zip(&self.touched).filter_map(|(act, touched)| {
            let (_, name) = touched.as_ref()?;
            Some((Rc::clone(act.before.as_ref()?), name.clone()?))
        });
        let touched: Vec<(Rc<Screen>, Name)> = touched.collect();
        self.naming.gone(&touched, after)
    }

    fn change(&self, at: usize) -> Change {
        /// How many new texts are worth a check.
        const MAX_TEXTS: usize = 3;
        let act = &self.acts[at];
        let mut change = Change {
            action_id: act.action_id,
            is_visible: true,
            checks: Vec::new(),
            kept: Vec::new(),
        };
        let (Some(before), Some(after)) = (act.before.as_deref(), act.after.as_deref()) else {
            return change;
        };
        change.is_visible = before.words() != after.words();
        let naming = self.naming;
        change.checks.extend(self.name(at).and_then(|name| naming.checked(name, before, after)));
        let screens = &self.screens;
        change.checks.extend(naming.appeared(Some(before), after, None, true, screens, MAX_TEXTS));
        change.checks.extend(self.gone(at, after));
        for one in naming.parameters.except(Kind::Secret) {
            let text = one.value.as_str();
            let shown = |screen: &Screen, in_field: bool| {
                screen.visible().find(|&at| {
                    let node = screen.node(at);
                    let is_set = is_text_field(node) && !is_showing_hint(node);
                    let texts = [&*node.text, &*node.description];
                    is_set == in_field && texts.iter().any(|own| own.contains(text))
                })
            };
            let is_typed_now = matches!(&act.action, Action::Type(input) if input.text == text);
            let typed = if is_typed_now { shown(after, true) } else { None };
            let is_kept = text.len() > 2 && shown(before, false).is_none();
            let kept = if is_kept { shown(after, false) } else { None };
            let Some(node) = typed.or(kept).map(|at| after.node(at)) else { continue };
            let pattern = match *node.text == *text {
                true => naming.parameters.pattern(text),
                false => naming.parameters.part(text),
            };
            let check = json!({ "assertVisible": pattern });
            if typed.is_some() {
                change.checks.push(check);
                continue;
            }
            change.kept.push((text.to_owned(), check));
            // A message that was sent may still be in its field, if it was not.
            if shown(before, true).is_some() && !node.id.is_empty() {
                let id = escape(node.id.rsplit('/').next().unwrap_or_default());
                change.checks.push(json!({ "assertVisible": { "text": pattern, "id": id } }));
            }
        }
        change
    }

    /// Checks what an act changed.
    fn checks(&mut self, at: usize) {
        let act = &self.acts[at];
        if act.checked_node().is_some() {
            return;
        }
        // A dialog of the system may not be there next time, and what it hid is checked later.
        let has_dialog = |screen: &&Screen| screen.dialog().is_some();
        let Some(after) = act.after.as_deref().filter(|it| !has_dialog(it)) else { return };
        let is_last = at + 1 == self.acts.len();
        let before = act.before.as_deref();
        if act.scrolls().is_some() && !is_last {
            return;
        }
        let types = matches!(&act.action, Action::Type(input) if !input.submit);
        let mut found = Vec::new();
        if let (Some(name), Some(before)) = (self.name(at), before) {
            found.extend(self.naming.checked(name, before, after));
        }
        if !types || is_last {
            let next = self.name(at + 1);
            found.extend(self.naming.appeared(before, after, next, is_last, &self.screens, 1));
            found.extend(self.gone(at, after));
        }
        for check in found {
            let is_known = self.steps.iter().rev().take(4).any(|step| step.command == check);
            if !is_known {
                self.steps.push(Step { command: check, comment: None });
            }
        }
    }
}

/// What an act of a run changed on the screen.
pub(super) struct Change {
    /// The number of its action in the run.
    pub(super) action_id: u32,
    /// Whether the screen says something else after it.
    pub(super) is_visible: bool,
    /// Checks of what it changed, the most telling first.
    pub(super) checks: Vec<Value>,
    /// The texts typed before it that are shown outside of fields since then, each with a check.
    pub(super) kept: Vec<(String, Value)>,
}

/// What the acts of a flow's run changed. `typed` has the texts that it typed, with what the flow
/// says for them.
pub(super) fn changes(trace: &Trace, typed: &[(String, String)]) -> Vec<Change> {
    let acts = acts(trace);
    let mut parameters = Parameters::default();
    let is_plain = |text: &str| secret(text).is_none() && !text.is_empty();
    for (written, text) in typed.iter().filter(|(_, text)| is_plain(text)) {
        let name = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match name.filter(|name| !name.is_empty() && name.chars().all(is_part)) {
            Some(name) => parameters.add_named(name, text, Kind::Parameter),
            None => parameters.add_named("", text, Kind::Literal),
        }
    }
    let naming = Naming { parameters: &parameters, maestro: false };
    let writer = Writer::new(&naming, &acts);
    (0..acts.len()).map(|at| writer.change(at)).collect()
}

/// A check that a text is shown.
pub(super) fn shows(text: &str) -> Value {
    json!({ "assertVisible": escape(text) })
}

/// Joins several taps on the same element.
fn with_repeats(steps: Vec<Step>) -> Vec<Step> {
    /// Two taps could be taken for one double tap.
    const MIN_REPEATS: usize = 3;
    /// Between taps, in milliseconds. The run looked at the screen meanwhile.
    const DELAY: u32 = 500;
    let mut joined = Vec::new();
    for same in steps.chunk_by(|one, other| one.command == other.command) {
        let mut keys = match &same[0].command["tapOn"] {
            Value::String(text) => Map::from_iter([("text".to_owned(), text.as_str().into())]),
            Value::Object(keys) => keys.clone(),
            _ => Map::new(),
        };
        if same.len() < MIN_REPEATS || keys.is_empty() {
            joined.extend(same.iter().cloned());
            continue;
        }
        keys.insert("repeat".into(), same.len().into());
        keys.insert("delay".into(), DELAY.into());
        joined.push(Step { command: json!({ "tapOn": keys }), comment: same[0].comment });
    }
    joined
}

/// The text of the file.
fn document(trace: &Trace, app: &str, parameters: &Parameters, steps: &[Step]) -> String {
    const MAX_NAME: usize = 100;
    let mut header = Map::new();
    header.insert("appId".into(), app.into());
    let goal = trace.goals.first().map(|goal| goal.request.as_str());
    let name = trace.case.as_ref().map(|case| case.case.as_str()).or(goal);
    if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
        let name = thumbwire_base::truncate(name, MAX_NAME);
        header.insert("name".into(), name.replace("${", "\\${").into());
    }
    let values = parameters.of_kind(Kind::Parameter).map(|one| {
        let default = script_string(&one.value);
        (one.name.clone(), Value::from(format!("${{{} || {default}}}", one.name)))
    });
    let values: Map<String, Value> = values.collect();
    if !values.is_empty() {
        header.insert("env".into(), values.into());
    }
    let mut text = to_yaml(&header.into());
    text.push_str("---\n");
    for step in steps {
        text.extend(step.comment.map(|comment| format!("# {comment}\n")));
        text.push_str(&to_yaml(&json!([step.command])));
    }
    text
}

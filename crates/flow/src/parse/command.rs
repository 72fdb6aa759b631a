//! Commands: their table, and what all of them have in common (`label`, `optional`, `timeout`).
//!
//! Start with [`COMMANDS`] and [`REFUSED`]. To add a command, add its row and its function.

use std::sync::Arc;

use super::arguments::Arguments;
use super::context::{ParseContext, suggestion};
use super::{
    LateCommand, MAX_STEPS, Reader, SHORT_LOOKUP, Scope, app, assertion, control, gesture, text,
};
use crate::error::{SourceLocation, nearest};
use crate::plan::{FlowStep, LateStep, StepKind};
use crate::yaml::{Value, ValueKind};
use thumbwire_core::action::Action;

/// How a command becomes a step.
#[derive(Clone, Copy)]
pub(super) enum Parser {
    /// It is always the same step.
    Word(fn() -> StepKind),
    /// It depends on its arguments.
    Simple(fn(&mut Arguments<'_>, &mut ParseContext) -> Option<StepKind>),
    /// It has other commands in it.
    Nesting(fn(&mut Reader<'_>, &mut Arguments<'_>, &mut ParseContext) -> Option<StepKind>),
}

use Parser::{Nesting, Simple, Word};

/// The commands: Maestro's, then ours; each with the shortest value that it takes.
pub(super) const COMMANDS: [(&str, &str, Parser); 65] = [
    ("launchApp", "", Simple(app::launch)),
    ("stopApp", "", Simple(app::stop)),
    ("killApp", "", Simple(app::stop)),
    ("clearState", "", Simple(app::clear_state)),
    ("clearKeychain", "", Word(|| StepKind::ClearKeychain)),
    ("setPermissions", ": { permissions: { camera: deny } }", Simple(app::set_permissions)),
    ("openLink", ": https://example.com", Simple(app::open_link)),
    ("setLocation", ": { latitude: 48.86, longitude: 2.29 }", Simple(app::set_location)),
    ("travel", ": { points: [\"48.86, 2.29\", \"48.87, 2.31\"] }", Simple(app::travel)),
    ("tapOn", ": Text", Simple(gesture::tap)),
    ("doubleTapOn", ": Text", Simple(gesture::double_tap)),
    ("longPressOn", ": Text", Simple(gesture::long_press)),
    ("swipe", ": { direction: UP }", Simple(gesture::swipe)),
    ("scroll", "", Word(gesture::scroll)),
    ("scrollUntilVisible", ": { element: Text }", Simple(gesture::scroll_until_visible)),
    ("back", "", Word(gesture::back)),
    ("pressKey", ": Enter", Simple(gesture::press_key)),
    ("hideKeyboard", "", Word(|| StepKind::HideKeyboard)),
    ("hide keyboard", "", Word(|| StepKind::HideKeyboard)),
    ("addMedia", ": [photo.png]", Simple(app::add_media)),
    ("setAirplaneMode", "", Simple(app::system_setting)),
    ("toggleAirplaneMode", "", Simple(app::system_setting)),
    ("setDarkMode", "", Simple(app::system_setting)),
    ("toggleDarkMode", "", Simple(app::system_setting)),
    ("assertDarkMode", "", Simple(app::system_setting)),
    ("assertLightMode", "", Simple(app::system_setting)),
    ("setOrientation", ": LANDSCAPE_LEFT", Simple(gesture::set_orientation)),
    ("inputText", ": text", Simple(text::input)),
    ("inputRandomText", "", Simple(text::input_random)),
    ("inputRandomNumber", "", Simple(text::input_random)),
    ("inputRandomEmail", "", Simple(text::input_random)),
    ("inputRandomPersonName", "", Simple(text::input_random)),
    ("inputRandomCityName", "", Simple(text::input_random)),
    ("inputRandomCountryName", "", Simple(text::input_random)),
    ("inputRandomColorName", "", Simple(text::input_random)),
    ("eraseText", "", Simple(text::erase)),
    ("copyTextFrom", ": Text", Simple(text::copy)),
    ("pasteText", "", Word(|| StepKind::Paste)),
    ("setClipboard", ": text", Simple(text::set_clipboard)),
    ("assertVisible", ": Text", Simple(assertion::visible)),
    ("assertNotVisible", ": Text", Simple(assertion::not_visible)),
    ("assertTrue", ": ${output.count > 1}", Simple(assertion::is_true)),
    ("extendedWaitUntil", ": { visible: Text, timeout: 30000 }", Simple(assertion::wait_until)),
    ("waitForAnimationToEnd", "", Simple(assertion::wait_for_animation)),
    ("assertScreenshot", ": goldens/home", Simple(assertion::golden)),
    ("takeScreenshot", ": name", Simple(assertion::screenshot)),
    ("startRecording", ": name", Simple(assertion::start_recording)),
    ("stopRecording", "", Word(assertion::stop_recording)),
    ("runFlow", ": login.yaml", Nesting(control::run_flow)),
    ("repeat", ": { times: 3, commands: [back] }", Nesting(control::repeat)),
    ("retry", ": { maxRetries: 2, commands: [back] }", Nesting(control::retry)),
    ("runScript", ": user.js", Nesting(control::run_script)),
    ("evalScript", ": ${output.count = 1}", Simple(control::eval_script)),
    ("action", "", Simple(gesture::action)),
    ("assertApp", ": com.example.app", Simple(assertion::app)),
    ("assertCount", ": { element: Text, count: 2 }", Simple(assertion::element_count)),
    ("assertDeviceClipboard", ": text", Simple(assertion::device_clipboard)),
    ("assertState", ": { element: Text, checked: true }", Simple(assertion::state)),
    ("case", "", Simple(control::misplaced_case)),
    ("goal", ": what to reach", Simple(control::goal)),
    ("installApp", ": app.apk", Simple(app::install)),
    ("pasteDeviceClipboard", "", Word(|| StepKind::PasteDeviceClipboard)),
    ("setDeviceClipboard", ": text", Simple(text::set_device_clipboard)),
    ("unlock", "", Word(|| StepKind::Act(Action::Unlock))),
    ("wait", ": 500", Simple(assertion::wait)),
];

const PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/flows.md");

/// Commands that are not supported, and what to do instead.
const REFUSED: [(&str, &str); 3] = [
    ("assertWithAI", "use `goal`, which asks a model"),
    ("assertNoDefectsWithAI", "use `goal`, which asks a model"),
    ("extractTextWithAI", "use `copyTextFrom` with the element that has the text"),
];

/// Commands that are optional if their element is.
const WITH_ELEMENT: [&str; 3] = ["extendedWaitUntil", "scrollUntilVisible", "swipe"];

impl Reader<'_> {
    /// Reads a list of commands.
    pub(super) fn commands(
        &mut self,
        value: &Value,
        scope: &Scope,
        context: &mut ParseContext,
    ) -> Vec<FlowStep> {
        if context.is_running() {
            return Vec::new();
        }
        let listed = match value.kind {
            ValueKind::Null => &[],
            _ => context.list(value, "the commands"),
        };
        let mut steps = Vec::new();
        for one in listed {
            if !self.count_step() {
                let what = format!(
                    "the flow has more than {MAX_STEPS} steps, including the flows that it runs"
                );
                context.error(&one.at, what);
                break;
            }
            steps.extend(self.command(one, scope, context));
        }
        steps
    }

    /// Reads one command: a word, or a map of one key.
    pub(super) fn command(
        &mut self,
        value: &Value,
        scope: &Scope,
        context: &mut ParseContext,
    ) -> Option<FlowStep> {
        let outer = context.take_pending();
        let read = self.timely_command(value, scope, context);
        let is_late = context.take_pending() && !context.is_running();
        context.set_pending(outer);
        let late = || LateCommand { command: value.clone(), scope: scope.clone() };
        let late: Option<Arc<dyn LateStep>> = if is_late { Some(Arc::new(late())) } else { None };
        read.map(|step| FlowStep { late, ..step })
    }

    /// Reads one command with what is known of its texts.
    fn timely_command(
        &mut self,
        value: &Value,
        scope: &Scope,
        context: &mut ParseContext,
    ) -> Option<FlowStep> {
        let nothing = Value { at: value.at.clone(), kind: ValueKind::Null };
        let (word, at, inner) = match &value.kind {
            ValueKind::Text(word) => (word.as_str(), &value.at, &nothing),
            ValueKind::Map(entries) => match entries.as_slice() {
                [(key, inner)] => (key.name.as_str(), &key.at, inner),
                [] => {
                    context.error(&value.at, "this command is empty");
                    return None;
                }
                [(first, _), (second, _), ..] => {
                    context.error(&second.at, format!(
                        "a command has one key, but this one has `{}` and `{}`; indent what belongs to `{}`, or start a new command with `- `",
                        first.name, second.name, first.name
                    ));
                    return None;
                }
            },
            ValueKind::Null | ValueKind::List(_) => {
                let what = format!("a command must be a word or a map, not {}", value.kind());
                context.error(&value.at, what);
                return None;
            }
        };
        let refused = REFUSED.into_iter().find(|(name, _)| *name == word);
        let refused = refused.map(|(name, _)| (name, "", Simple(refuse)));
        let known = COMMANDS.into_iter().find(|(name, ..)| *name == word).or(refused);
        let Some((name, form, parser)) = known else {
            unknown(word, at, context);
            return None;
        };
        let mut map = match inner.kind {
            ValueKind::Map(_) => context.map(inner, &format!("`{name}`")),
            _ => None,
        };
        let (label, optional) = match &mut map {
            Some(map) => {
                (map.text("label", context), map.boolean("optional", context).unwrap_or_default())
            }
            None => (None, false),
        };
        let of = format!("`{name}`");
        // Errors about an empty value point to its key.
        let keyed = Value { at: at.clone(), kind: ValueKind::Null };
        let inner = if inner.kind == ValueKind::Null { &keyed } else { inner };
        let mut arguments =
            Arguments { name, form, of, value: inner, map, scope, timeout: None, retry: 0 };
        context.has_optional_element = false;
        let kind = match parser {
            Word(step) => {
                arguments.take_no_value(context);
                Some(step())
            }
            Simple(parse) => parse(&mut arguments, context),
            Nesting(parse) => parse(self, &mut arguments, context),
        };
        let Arguments { of, map, mut timeout, retry, .. } = arguments;
        if let Some(mut map) = map {
            // Some commands have a `timeout` with a meaning of its own, and have taken it.
            timeout = timeout.or_else(|| map.time("timeout", context));
            map.end(context, &of);
        }
        let optional = optional || (WITH_ELEMENT.contains(&name) && context.has_optional_element);
        let inherited = if optional { scope.timeout.min(SHORT_LOOKUP) } else { scope.timeout };
        let timeout = timeout.unwrap_or(inherited);
        let kind = kind?;
        for step in std::iter::once(&kind).chain(kind.nested().iter().map(|step| &step.kind)) {
            if let StepKind::Unavailable(what) = step
                && !matches!(parser, Nesting(_))
            {
                context.need(at, what.clone(), optional);
            }
        }
        // A command of several steps, or of none, is called by its name.
        let is_unnamed = match &kind {
            StepKind::When { conditions, .. } => conditions.is_empty(),
            StepKind::Unavailable(_) => true,
            _ => false,
        };
        let name = label.or_else(|| is_unnamed.then(|| name.to_owned()));
        Some(FlowStep { at: at.clone(), name, kind, optional, retry, timeout, late: None })
    }
}

/// A command of [`REFUSED`], with any keys.
fn refuse(arguments: &mut Arguments<'_>, _: &mut ParseContext) -> Option<StepKind> {
    let (name, instead) = REFUSED.into_iter().find(|(name, _)| *name == arguments.name)?;
    arguments.map = None;
    Some(StepKind::Unavailable(format!("`{name}` is not supported: {instead}")))
}

fn unknown(word: &str, at: &SourceLocation, context: &mut ParseContext) {
    let hint = nearest(word, COMMANDS.into_iter().map(|(name, ..)| name));
    let hint = match hint {
        Some(_) => suggestion(hint),
        None => format!("; {PAGE} lists the commands"),
    };
    context.error(at, format!("unknown command `{word}`{hint}"));
}

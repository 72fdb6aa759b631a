//! The steps of a skill, from those of a run: what was done to what, on which screen, and which
//! values came from the screen.
//!
//! Start with [`Draft::of`]. What cannot be described without its place is left to the policy
//! ([`THINK`]). A value that the run typed or answered, and that was on a screen before, is read
//! again next time ([`super::screen::reading`]).

use serde_json::{Map, Value};
use thumbwire_core::action::Controls;
use thumbwire_core::trace::format::CallRecord;

use super::format::{Expectation, NodeDescription, Reading, SkillStep, SwipeDirection, THINK};
use super::goal::candidates;
use super::nodes::{describe, find, node, shown_texts, visible};
use super::parameters::GoalParameters;
use super::recorded::{RecordedRun, RecordedStep, is_of_place};
use super::screen::{all_texts, changed_figures, expect, reading, rows_like};
use super::template::{Part, Values, has_words, parts, places, to_template};

/// What a run did, as steps.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) platform: &'static str,
    pub(super) apps: Vec<String>,
    pub(super) steps: Vec<SkillStep>,
    pub(super) end: Expectation,
    pub(super) read: Vec<Reading>,
    pub(super) answer: Option<String>,
}

/// A value that is read at the start of a recorded step.
struct ScreenValue {
    at: usize,
    reading: Reading,
    value: String,
}

impl Draft {
    /// The steps of a run whose goal has these values.
    ///
    /// # Errors
    /// The run typed a password that is not a secret, or something that would be taken for a place.
    pub(super) fn of(
        run: &RecordedRun,
        goal: &GoalParameters,
        values: &Values,
    ) -> Result<Self, String> {
        let mut found: Vec<ScreenValue> = Vec::new();
        for (at, step) in run.steps.iter().enumerate() {
            for action in step.actions.iter().filter(|action| action.function == "type_text") {
                let text = action.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
                let typed_before = typed_until(run, at);
                find_values(text, run, at, values, &typed_before, &mut found)?;
                check_password(step, action, text, &with_values(values, &found))?;
            }
        }
        let (answer, at_end) = answer(run, goal, values, &mut found)?;
        let mut known = values.clone();
        let (mut steps, mut apps) = (Vec::new(), Vec::new());
        let last = run.steps.len() - 1;
        let mut end = Expectation::default();
        let mut part = 0;
        for (at, step) in run.steps.iter().enumerate() {
            let here = found.iter().filter(|it| it.at == at && !at_end.contains(&it.reading.name));
            let read: Vec<&ScreenValue> = here.collect();
            let mut before = expectation(step, &known, &goal.constants);
            let earlier = at.checked_sub(1).map(|at| &run.steps[at]);
            if let Some(earlier) = earlier.filter(|earlier| earlier.front.app == step.front.app)
                && let (Some(was), Some(now)) = (&earlier.controls, &step.controls)
            {
                let figures = changed_figures(was, now, &known);
                before.shows.extend(
                    figures
                        .into_iter()
                        .filter(|text| !before.shows.contains(text))
                        .collect::<Vec<_>>(),
                );
            }
            let leaves = step.actions.first().is_some_and(|action| action.function == "launch_app");
            if leaves && let Some(controls) = &step.controls {
                // What the run learned here, and was not read, is in what it did next: then this
                // must be the same.
                let is_read = found.iter().any(|it| (part..=at).contains(&it.at));
                if at > 0 && !is_read {
                    before.shows = all_texts(controls, &known);
                }
                part = at;
            }
            for (text, in_field) in &step.checked {
                let template = to_template(text, &known)?;
                let texts = if *in_field { &mut before.typed } else { &mut before.shows };
                if !texts.contains(&template) {
                    texts.push(template);
                }
            }
            if at == last && step.actions.is_empty() {
                end = before;
                break;
            }
            known.extend(read.iter().map(|it| (it.reading.name.clone(), it.value.clone())));
            for (number, action) in step.actions.iter().enumerate() {
                let mut one = act(step, action, &known)?;
                if goal.has_choice() && is_chosen(step, action, &one) {
                    one = SkillStep { function: THINK.into(), ..SkillStep::default() };
                }
                if number == 0 {
                    one.thought = step.thought.clone();
                    // An app can be started from anywhere, but not before the step before it is
                    // checked.
                    let anywhere = steps.is_empty() && action.function == "launch_app";
                    one.before = (!anywhere).then(|| before.clone());
                    one.read = read.iter().map(|it| it.reading.clone()).collect();
                    one.if_shown = step.is_of_system() && !steps.is_empty();
                }
                if number + 1 == step.actions.len()
                    && let Some(next) = run.steps.get(at + 1)
                {
                    one.no_change = next.is_unchanged;
                    one.checks = checked_after(&one, next, &known);
                }
                if action.function == "launch_app" {
                    let app = action.arguments.get("package_name").and_then(Value::as_str);
                    let app = app.unwrap_or_default().to_owned();
                    apps.extend((!apps.contains(&app)).then_some(app));
                }
                steps.push((at, one));
            }
            if at == last {
                // The run ended with these actions: nothing says how the screen was after them.
                end = Expectation::default();
            }
        }
        let read = found.into_iter().filter(|it| at_end.contains(&it.reading.name));
        let (read, steps) = (read.map(|it| it.reading).collect(), scrolled(steps, run, &known));
        Ok(Self { platform: platform(run), apps, steps, end, read, answer })
    }
}

fn with_values(values: &Values, found: &[ScreenValue]) -> Values {
    let mut known = values.clone();
    known.extend(found.iter().map(|it| (it.reading.name.clone(), it.value.clone())));
    known
}

/// Whether the target is a row of a list that the goal does not name: it may have been the
/// cheapest.
fn is_chosen(step: &RecordedStep, action: &CallRecord, one: &SkillStep) -> bool {
    let (Some(target), Some((controls, at))) = (&one.target, step.target(action)) else {
        return false;
    };
    target.templates().all(|text| places(text).next().is_none()) && rows_like(controls, at) > 1
}

/// Whether the target of a step is checked on the next screen.
fn checked_after(step: &SkillStep, next: &RecordedStep, known: &Values) -> Option<bool> {
    let target = step.target.as_ref().filter(|target| target.checked.is_some())?;
    let controls = next.controls.as_ref()?;
    let now = NodeDescription { checked: None, ..target.clone() };
    let at = find(&now, controls, known).ok()?;
    Some(node(controls, at).flags.checked)
}

fn platform(run: &RecordedRun) -> &'static str {
    let controls = run.steps.iter().filter_map(|step| step.controls.as_ref());
    let mut nodes = controls.flat_map(|controls| &controls.snapshot.tree.nodes);
    match nodes.any(|node| node.class.starts_with("XCUIElementType")) {
        true => "ios",
        false => "android",
    }
}

fn expectation(step: &RecordedStep, known: &Values, constants: &[String]) -> Expectation {
    match &step.controls {
        Some(controls) => expect(&step.front, controls, known, constants),
        None => Expectation { app: step.front.app.clone(), ..Expectation::default() },
    }
}

/// Refuses a password in plain text that is not from the goal.
fn check_password(
    step: &RecordedStep,
    action: &CallRecord,
    text: &str,
    values: &Values,
) -> Result<(), String> {
    let into_password =
        step.target(action).is_some_and(|(controls, at)| node(controls, at).flags.password);
    let template = to_template(text, values)?;
    let is_secret = template.contains("{{") || places(&template).next().is_some();
    match into_password && !is_secret {
        true => Err(format!(
            "step {} typed a password that is not in the goal; run it with `--secret NAME`, so that only the name is saved",
            step.number
        )),
        false => Ok(()),
    }
}

/// The texts typed before a step.
fn typed_until(run: &RecordedRun, at: usize) -> Vec<String> {
    let actions = run.steps[..at].iter().flat_map(|step| &step.actions);
    let typed = actions.filter(|action| action.function == "type_text");
    typed.filter_map(|it| Some(it.arguments.get("text")?.as_str()?.to_owned())).collect()
}

/// Finds the values in a text that were on a screen up to this step, and were not typed before.
fn find_values(
    text: &str,
    run: &RecordedRun,
    until: usize,
    values: &Values,
    typed: &[String],
    found: &mut Vec<ScreenValue>,
) -> Result<(), String> {
    let known = with_values(values, found);
    let template = to_template(text, &known)?;
    for part in parts(&template) {
        let Part::Text(literal) = part else { continue };
        let whole = literal.trim();
        let tokens = whole
            .split_whitespace()
            .flat_map(|token| [token, token.trim_end_matches(['.', ',', ';', '!', '?', ':'])]);
        let is_data = |token: &&str| token.contains(|it: char| it.is_numeric() || it == '@');
        let is_long = whole.chars().count() > 2;
        let is_all =
            is_long && (whole == template.trim() || was_shown(run, |shown| shown == whole));
        let all = Some(whole).filter(|whole| is_all || is_data(whole));
        for value in all.into_iter().chain(tokens.filter(is_data)) {
            if typed.iter().any(|text| has_words(text, value)) {
                continue;
            }
            let name = free_name(&known);
            // Nothing is read from the screen on which the run began with another app.
            let begins = run.steps[0].actions.first();
            let begins = begins.is_some_and(|action| action.function == "launch_app");
            let screens = run.steps[..=until].iter().enumerate().skip(usize::from(begins)).rev();
            let place = screens.filter_map(|(at, step)| Some((at, step.controls.as_ref()?)));
            let mut places =
                place.filter_map(|(at, it)| Some((at, reading(&name, value, it, values)?)));
            if let Some((at, reading)) = places.next() {
                found.push(ScreenValue { at, reading, value: value.to_owned() });
                return find_values(text, run, until, values, typed, found);
            }
        }
    }
    Ok(())
}

fn free_name(known: &Values) -> String {
    let mut names = (1..).map(|number| format!("READ{number}"));
    names.find(|name| !known.contains_key(name)).unwrap_or_default()
}

/// The answer as a template, and the names of what is read for it at the end; no answer if it
/// cannot be derived.
fn answer(
    run: &RecordedRun,
    goal: &GoalParameters,
    values: &Values,
    found: &mut Vec<ScreenValue>,
) -> Result<(Option<String>, Vec<String>), String> {
    let last = run.steps.len() - 1;
    let result = run.steps[last].result.trim();
    let before = found.len();
    find_values(result, run, last, values, &[], found)?;
    if result.is_empty() {
        return Ok((Some(String::new()), Vec::new()));
    }
    let template = to_template(result, &with_values(values, found))?;
    let is_read = places(&template).any(|place| found.iter().any(|it| it.reading.name == place));
    let literal: String = parts(&template)
        .into_iter()
        .map(|part| if let Part::Text(text) = part { text } else { "" })
        .collect();
    let data = candidates(&literal).into_iter().map(|it| &literal[it.place]);
    let unexplained = literal.contains(|it: char| it.is_numeric())
        || (goal.goal.contains('?') && !is_read)
        || (!is_read && was_shown(run, |shown| shown == result))
        || data
            .filter(|it| !has_words(&run.goal, it))
            .any(|it| was_shown(run, |shown| has_words(shown, it)));
    if unexplained {
        found.truncate(before);
        return Ok((None, Vec::new()));
    }
    let at_last = |it: &&ScreenValue| it.at == last && run.steps[last].actions.is_empty();
    let at_end = found[before..].iter().filter(at_last).map(|it| it.reading.name.clone());
    Ok((Some(template), at_end.collect()))
}

/// Whether a screen showed a text of this kind.
fn was_shown(run: &RecordedRun, is: impl Fn(&str) -> bool) -> bool {
    let mut screens = run.steps.iter().filter_map(|step| step.controls.as_ref());
    screens.any(|controls| visible(controls).any(|at| shown_texts(node(controls, at)).any(&is)))
}

/// An action as a step, without its screen.
fn act(step: &RecordedStep, action: &CallRecord, known: &Values) -> Result<SkillStep, String> {
    let think = || Ok(SkillStep { function: THINK.into(), ..SkillStep::default() });
    let mut arguments = Map::new();
    for (name, value) in action.arguments.iter().filter(|(name, _)| !is_of_place(name)) {
        arguments.insert(name.clone(), template_of(value, known)?);
    }
    let function = action.function.clone();
    let is_at = |name: &str| action.arguments.contains_key(name);
    let typed = arguments.get("text").and_then(Value::as_str).filter(|_| function == "type_text");
    if function == "ask" || typed.is_some_and(|typed| is_copied(step, typed)) {
        return think();
    }
    if function == "swipe" {
        let Some(swipe) = direction(step, action) else { return think() };
        return Ok(SkillStep { function, arguments, swipe: Some(swipe), ..SkillStep::default() });
    }
    if ["start_x", "start_y", "end_x", "end_y"].into_iter().any(is_at) {
        return think();
    }
    if !(is_at("control_id") || is_at("x") && is_at("y")) {
        return Ok(SkillStep { function, arguments, ..SkillStep::default() });
    }
    let Some((controls, at)) = step.target(action) else { return think() };
    match describe(controls, at, known)? {
        Some(target) => {
            Ok(SkillStep { function, arguments, target: Some(target), ..SkillStep::default() })
        }
        None => think(),
    }
}

/// Whether a typed text has a line that was on the screen before, and not from the goal or read:
/// next time it may be another.
fn is_copied(step: &RecordedStep, typed: &str) -> bool {
    let Some(controls) = &step.controls else { return false };
    let shown: Vec<&str> = visible(controls)
        .flat_map(|at| shown_texts(node(controls, at)).flat_map(str::lines))
        .collect();
    let lines = typed.lines().map(str::trim).filter(|line| line.chars().count() > 2);
    lines
        .filter(|line| places(line).next().is_none() && !line.contains("{{"))
        .any(|line| shown.contains(&line))
}

fn template_of(value: &Value, known: &Values) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => to_template(text, known)?.into(),
        Value::Array(all) => {
            all.iter().map(|one| template_of(one, known)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(all) => {
            let pairs = all.iter().map(|(name, one)| Ok((name.clone(), template_of(one, known)?)));
            pairs.collect::<Result<Map<_, _>, String>>()?.into()
        }
        plain => plain.clone(),
    })
}

/// Where a swipe leads; `None` if it says no more than where.
fn direction(step: &RecordedStep, action: &CallRecord) -> Option<SwipeDirection> {
    let whole = |name: &str| action.arguments.get(name)?.as_f64();
    let from = (whole("start_x")?, whole("start_y")?);
    let (right, down) = (whole("end_x")? - from.0, whole("end_y")? - from.1);
    let nodes = &step.controls.as_ref()?.snapshot.tree.nodes;
    let height = nodes.iter().map(|node| node.bounds.bottom).max()?;
    Some(match right.abs() > down.abs() {
        true if right > 0.0 => SwipeDirection::Right,
        true => SwipeDirection::Left,
        false if down > 0.0 && from.1 * 30.0 < f64::from(height) => SwipeDirection::FromTop,
        false if down > 0.0 => SwipeDirection::Down,
        false => SwipeDirection::Up,
    })
}

/// Joins scrolls that went on until the next target came into view.
fn scrolled(steps: Vec<(usize, SkillStep)>, run: &RecordedRun, known: &Values) -> Vec<SkillStep> {
    let scrolls = |step: &SkillStep| {
        (step.function == "scroll" || step.swipe.is_some())
            && step.swipe != Some(SwipeDirection::FromTop)
    };
    let hidden = |at: usize, target: &NodeDescription| {
        let controls: Option<&Controls> = run.steps[at].controls.as_deref();
        controls.is_some_and(|controls| find(target, controls, known).is_err())
    };
    let mut joined: Vec<SkillStep> = Vec::new();
    for (index, (at, step)) in steps.iter().enumerate() {
        let mut step = step.clone();
        let next = steps[index + 1..].iter().find(|(_, next)| !scrolls(next));
        let target = next.and_then(|(_, next)| next.target.as_ref());
        step.until_target = scrolls(&step) && target.is_some_and(|target| hidden(*at, target));
        let goes_on = joined.last().is_some_and(|last| {
            last.until_target
                && step.until_target
                && (last.swipe, &last.function) == (step.swipe, &step.function)
        });
        if !goes_on {
            joined.push(step);
        }
    }
    joined
}

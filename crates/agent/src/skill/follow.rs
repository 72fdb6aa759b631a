//! Follows one skill: where it is, what it does next on a screen, and what differs.
//!
//! Start with [`Following::next`]. It reads no phone: the screen is passed in.

use std::sync::Arc;

use serde_json::{Map, Value};
use thumbwire_core::action::Controls;
use thumbwire_core::snapshot::RefVisibility;

use super::format::{NodeDescription, Skill, SkillStep, SwipeDirection, THINK};
use super::nodes::{self, find, node};
use super::screen::{FrontScreen, compare, read};
use super::template::{Values, fill, fill_arguments};
use crate::policy::decision::{AgentStatus, Decision, FunctionCall};
use crate::policy::observation::{Function, Observation};
use crate::safeguards::verify::{NOTHING_CHANGED, NOTHING_MOVED};

/// How many swipes a target that is not in view is worth.
const MAX_SWIPES: u32 = 15;

/// A skill that is being followed.
#[derive(Debug, Clone)]
pub(super) struct Following {
    pub(super) skill: Arc<Skill>,
    /// The values of parameters, and of what was read so far.
    values: Values,
    /// The next step.
    at: usize,
    /// The call of the last step, until it is known to have succeeded.
    called: Option<FunctionCall>,
    /// The step that it was of, until its effect is seen.
    acted: Option<usize>,
    /// How often the present screen was waited for.
    pub(super) waits: u32,
    /// How often the present step was repeated.
    swipes: u32,
    /// Whether the last call failed: then the screen is not waited for.
    pub(super) acted_in_vain: bool,
    /// The calls so far, for the other policy.
    done: Vec<String>,
}

/// What a skill does next.
#[derive(Debug)]
pub(super) enum NextMove {
    /// This.
    Decide(Decision),
    /// The other policy decides one step.
    Think,
}

impl Following {
    pub(super) fn new(skill: Skill, values: Values) -> Self {
        let skill = Arc::new(skill);
        let (done, called) = (Vec::new(), None);
        let acted = None;
        Self {
            skill,
            values,
            at: 0,
            called,
            acted,
            waits: 0,
            swipes: 0,
            acted_in_vain: false,
            done,
        }
    }

    /// Whether the next step needs the size of the screen.
    pub(super) fn swipes(&self) -> bool {
        self.skill.steps.get(self.at).is_some_and(|step| step.swipe.is_some())
    }

    /// Whether another app is in front than the next step needs.
    pub(super) fn is_away(&self, app: Option<&str>) -> bool {
        let needs = match self.skill.steps.get(self.at) {
            Some(step) => step.before.as_ref(),
            None => Some(&self.skill.end),
        };
        needs.is_some_and(|needs| !needs.app.is_empty() && app != Some(&*needs.app))
    }

    /// What comes next on this screen.
    ///
    /// # Errors
    /// What differs from what the skill expects.
    pub(super) fn next(
        &mut self,
        front: &FrontScreen,
        controls: &Controls,
        observation: &Observation,
        functions: &[Function],
        size: Option<(i32, i32)>,
    ) -> Result<NextMove, String> {
        self.check_last_call(observation)?;
        self.check_effect(controls)?;
        loop {
            let skill = Arc::clone(&self.skill);
            let Some(step) = skill.steps.get(self.at) else { return self.finish(front, controls) };
            let expected = self.matches(step, front, controls);
            if expected.is_err() && step.if_shown && self.next_matches(front, controls) {
                self.go_on();
                continue;
            }
            expected?;
            for reading in &step.read {
                let value = read(reading, controls, &self.values)?;
                self.values.insert(reading.name.clone(), value);
            }
            if step.function == THINK {
                self.go_on();
                return Ok(NextMove::Think);
            }
            if step.until_target {
                let target =
                    skill.steps[self.at + 1..].iter().find_map(|next| next.target.as_ref());
                let target = target.ok_or("it scrolls to nothing")?;
                match find(target, controls, &self.values) {
                    Ok(_) => {
                        self.go_on();
                        continue;
                    }
                    Err(reason) if self.swipes >= MAX_SWIPES => {
                        return Err(format!("{reason}, after {MAX_SWIPES} swipes"));
                    }
                    Err(_) => {}
                }
            }
            let call = self.call(step, controls, functions, size)?;
            return Ok(NextMove::Decide(self.decide(step, call)));
        }
    }

    /// Checks that the last call succeeded.
    fn check_last_call(&mut self, observation: &Observation) -> Result<(), String> {
        let Some(called) = self.called.take() else { return Ok(()) };
        if observation.last_success_actions.last().is_some_and(|last| last.call == called) {
            let step = self.acted.and_then(|at| self.skill.steps.get(at));
            let unchanged = observation.feedback.iter().any(|it| it.contains(NOTHING_CHANGED));
            if unchanged && step.is_some_and(|step| !step.no_change && !step.until_target) {
                self.acted_in_vain = true;
                return Err(format!("{} changed nothing", called.function));
            }
            let at_end = observation.feedback.iter().any(|it| it.contains(NOTHING_MOVED));
            if at_end && step.is_some_and(|step| step.until_target) {
                self.acted_in_vain = true;
                return Err("the list is at its end, and the next target is not in it".into());
            }
            return Ok(());
        }
        self.acted_in_vain = true;
        let reason = observation.feedback.last().map_or("it failed", String::as_str);
        Err(format!("{} did not succeed: {reason}", called.function))
    }

    /// Checks that what can be checked is as it was after the last step.
    fn check_effect(&mut self, controls: &Controls) -> Result<(), String> {
        let Some(step) = self.acted.and_then(|at| self.skill.steps.get(at)) else { return Ok(()) };
        if let (Some(target), Some(checked)) = (&step.target, step.checks) {
            let after = NodeDescription { checked: Some(checked), ..target.clone() };
            find(&after, controls, &self.values)?;
        }
        self.acted = None;
        Ok(())
    }

    fn matches(
        &self,
        step: &SkillStep,
        front: &FrontScreen,
        controls: &Controls,
    ) -> Result<(), String> {
        match &step.before {
            // A scrolled list shows other rows.
            Some(before) if self.swipes > 0 && before.app == front.app => Ok(()),
            Some(before) => compare(before, front, controls, &self.values),
            None => Ok(()),
        }
    }

    /// Whether the step after the next one, or the end, can come now.
    fn next_matches(&self, front: &FrontScreen, controls: &Controls) -> bool {
        match self.skill.steps.get(self.at + 1) {
            Some(next) => {
                let target =
                    |target: &NodeDescription| find(target, controls, &self.values).is_ok();
                next.before.is_some()
                    && self.matches(next, front, controls).is_ok()
                    && next.target.as_ref().is_none_or(target)
            }
            None => compare(&self.skill.end, front, controls, &self.values).is_ok(),
        }
    }

    fn go_on(&mut self) {
        self.at += 1;
        (self.waits, self.swipes) = (0, 0);
    }

    /// The call of a step, with the present number or place of its control.
    fn call(
        &self,
        step: &SkillStep,
        controls: &Controls,
        functions: &[Function],
        size: Option<(i32, i32)>,
    ) -> Result<FunctionCall, String> {
        let function = functions.iter().find(|function| function.name == step.function);
        let function = function.ok_or_else(|| format!("there is no function {}", step.function))?;
        let mut arguments = fill_arguments(&step.arguments, &self.values)?;
        if let Some(target) = &step.target {
            let at = find(target, controls, &self.values)?;
            arguments.extend(place(function, controls, at)?);
        }
        if let Some(swipe) = step.swipe {
            let (width, height) = size.ok_or("the size of the screen is unknown")?;
            // A swipe that starts on the keyboard moves nothing.
            let keyboard = controls.snapshot.tree.keyboard.map(|keyboard| keyboard.top);
            let nodes = controls.snapshot.tree.nodes.iter().map(|node| node.bounds.bottom).max();
            let low = [keyboard, nodes].into_iter().flatten().filter(|low| *low * 3 > height).min();
            arguments.extend(across(swipe, (width, height.min(low.unwrap_or(height)))));
        }
        Ok(FunctionCall { function: step.function.clone(), arguments })
    }

    fn decide(&mut self, step: &SkillStep, call: FunctionCall) -> Decision {
        let (number, count) = (self.at + 1, self.skill.steps.len());
        let name = &self.skill.name;
        let mut thought = format!("Skill {name}, step {number} of {count}");
        if !step.thought.is_empty() {
            thought.push_str(&format!(": {}", step.thought));
        }
        let target = step.target.as_ref().map(|it| format!(" {}", nodes::name(it, &self.values)));
        self.done.push(format!("{}{}", call.function, target.unwrap_or_default()));
        (self.called, self.acted) = (Some(call.clone()), Some(self.at));
        if step.until_target {
            self.swipes += 1;
            self.waits = 0;
        } else {
            self.go_on();
        }
        Decision { thought, actions: vec![call], ..Decision::default() }
    }

    fn finish(&mut self, front: &FrontScreen, controls: &Controls) -> Result<NextMove, String> {
        compare(&self.skill.end, front, controls, &self.values)?;
        let skill = Arc::clone(&self.skill);
        for reading in &skill.read {
            let value = read(reading, controls, &self.values)?;
            self.values.insert(reading.name.clone(), value);
        }
        let Some(answer) = &skill.answer else {
            self.acted_in_vain = true;
            return Err("the skill has no answer: all of its steps are done, say what the user wants to know".into());
        };
        let result = fill(answer, &self.values)?;
        let comment = format!("All steps of the skill {} are done.", skill.name);
        let status = AgentStatus::Finish;
        Ok(NextMove::Decide(Decision { status, result, comment, ..Decision::default() }))
    }

    /// Whether the screen at the end says that the goal is reached; false if it says nothing about
    /// it.
    ///
    /// # Errors
    /// What differs.
    pub(super) fn is_at_end(
        &self,
        front: &FrontScreen,
        controls: &Controls,
    ) -> Result<bool, String> {
        compare(&self.skill.end, front, controls, &self.values)?;
        let Skill { end, read, steps, .. } = &*self.skill;
        let is_set = steps.last().is_some_and(|step| step.checks.is_some());
        Ok(is_set || !(end.shows.is_empty() && end.typed.is_empty() && read.is_empty()))
    }

    /// After a window of another app: the step begins again.
    pub(super) fn interrupted(&mut self) {
        (self.waits, self.called) = (0, None);
    }

    /// The note for the other policy when it decides a single step.
    pub(super) fn request_for_step(&self) -> String {
        format!(
            "A skill ({}) was followed up to here: {}. Decide only the next step; then the skill goes on.",
            self.skill.name,
            self.summary()
        )
    }

    /// The note for the other policy when it takes over.
    pub(super) fn handover(&self, differs: &str) -> String {
        format!(
            "A skill ({}) was followed up to here: {}. Do not repeat what is done. Then something differed: {differs}.",
            self.skill.name,
            self.summary()
        )
    }

    fn summary(&self) -> String {
        match self.done.is_empty() {
            true => "nothing was done yet".into(),
            false => {
                format!("{} of {} steps, {}", self.at, self.skill.steps.len(), self.done.join(", "))
            }
        }
    }
}

/// The arguments that say where, as the function wants them: a control's number, or the point to
/// touch.
fn place(
    function: &Function,
    controls: &Controls,
    at: usize,
) -> Result<Map<String, Value>, String> {
    let properties = function.schema.get("properties").and_then(Value::as_object);
    let takes = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
    let mut place = Map::new();
    if takes("control_id") {
        let number = controls.number_of(at).ok_or("its control has no number")?;
        place.insert("control_id".into(), number.to_string().into());
        if takes("control_name") {
            place.insert("control_name".into(), node(controls, at).name().into());
        }
    } else if takes("x") && takes("y") {
        let point = controls.snapshot.tap_point(at, RefVisibility::Unknown)?;
        place.insert("x".into(), point.x.into());
        place.insert("y".into(), point.y.into());
    } else {
        return Err(format!("{} cannot be told what to act on", function.name));
    }
    Ok(place)
}

/// The ends of a swipe on a screen of this size.
fn across(swipe: SwipeDirection, (width, height): (i32, i32)) -> [(String, Value); 4] {
    let part = |whole: i32, tenths: i32| whole / 10 * tenths;
    let (x, y) = (width / 2, height / 2);
    let [start, end] = match swipe {
        SwipeDirection::Up => [(x, part(height, 7)), (x, part(height, 3))],
        SwipeDirection::Down => [(x, part(height, 3)), (x, part(height, 7))],
        SwipeDirection::Left => [(part(width, 8), y), (part(width, 2), y)],
        SwipeDirection::Right => [(part(width, 2), y), (part(width, 8), y)],
        SwipeDirection::FromTop => [(x, 2), (x, part(height, 7))],
    };
    [("start_x", start.0), ("start_y", start.1), ("end_x", end.0), ("end_y", end.1)]
        .map(|(name, at)| (name.to_owned(), at.into()))
}

//! What a step takes beyond one action: setting a number, typing, and recovering when a step's
//! target is not visible.

use serde_json::json;

use super::super::script::{
    ScriptStep, ScriptSwipe, ScriptTarget, VisibleControl, fill, switch_of, up_button,
};
use super::stepper::ScriptStepper;
use super::{act, back, call, launch, wait};
use thumbwire_agent::{AgentStatus, Decision, FunctionCall};

/// How often to type a text that does not appear.
const MAX_TEXTS: u32 = 6;
/// How often to return to a step before trying another.
const MAX_TRIES: usize = 2;

impl ScriptStepper<'_> {
    /// Whether the number next to `tap` moves away from the target. The number is read from text in
    /// the format of `shows`: `10:45` if that is `10:15`.
    pub(super) fn overshot(&mut self, tap: &ScriptTarget, shows: &ScriptTarget) -> bool {
        let shows = shows.texts();
        let Some(wanted) = shows.first() else { return false };
        let Some(tap) = self.seen.find(tap) else { return self.state.turned };
        let (x, y) = self.seen.rows[tap].middle();
        let form = |text: &str| text.chars().filter(|c| !c.is_alphanumeric()).collect::<String>();
        let alike = self.seen.rows.iter().filter(|row| {
            row.name.chars().any(|c| c.is_ascii_digit())
                && shows.iter().any(|text| form(&row.name) == form(text))
        });
        let near = |row: &&VisibleControl| {
            let (other_x, other_y) = row.middle();
            (x - other_x).pow(2) + (y - other_y).pow(2)
        };
        let off = alike.min_by_key(near).map(|row| number(&row.name).abs_diff(number(wanted)));
        if let (Some(before), Some(now)) = (self.state.off, off)
            && now > before
        {
            self.state.turned = !self.state.turned;
        }
        self.state.off = off;
        self.state.turned
    }

    /// Types a text unless it is there already.
    pub(super) fn write(&mut self, target: &ScriptTarget, text: &str) -> Option<Decision> {
        let (at, text) = (self.state.at, fill(text, &self.read()));
        let target = self.filled(target);
        let Some(row) = self.seen.find(&target) else {
            return Some(self.lost());
        };
        let shows = &self.seen.rows[row].name;
        let is_there = plain(shows) == plain(&text) || (is_hidden(shows) && self.state.times > 0);
        if is_there || self.state.times >= MAX_TEXTS {
            self.go_on();
            return None;
        }
        self.state.times += 1;
        self.state.lost = 0;
        let arguments = json!({
            "text": text,
            "control_id": self.seen.ids[row],
            "control_name": self.seen.names[row],
            "clear_current_text": true,
        });
        Some(self.perform(at, "Type it.", call("type_text", arguments)))
    }

    /// The next step's target is not visible.
    pub(super) fn lost(&mut self) -> Decision {
        self.state.lost += 1;
        let lost = self.state.lost;
        if self.seen.rows.is_empty() || lost == 1 {
            return match lost {
                0..=6 => act("It is not visible; wait.", wait(1.0)),
                _ => self.launch_again(),
            };
        }
        if let Some(step) = self.known_step() {
            self.state.tried.push(step);
            self.state.at = step;
            self.state.times = 0;
            if let Some(decision) = self.step(&self.script[step]) {
                return decision;
            }
            return act("Check again.", wait(0.5));
        }
        if self.state.returns > 0 && lost > 3 {
            // The last tap had succeeded and led elsewhere.
            self.go_to_next_part();
            return act("It seems to be done.", wait(0.5));
        }
        match lost {
            ..=5 => self.go_back("This is the wrong page; go back."),
            6..=12 => self.launch_again(),
            _ => Decision {
                status: AgentStatus::Fail,
                comment: "I cannot find the way to the next step.".into(),
                ..Decision::default()
            },
        }
    }

    /// Goes to the page before this one, on an iPhone by the button at its top left.
    pub(super) fn go_back(&mut self, reason: &str) -> Decision {
        if !self.seen.rows.iter().any(VisibleControl::is_of_ios) {
            return act(reason, back());
        }
        match self.seen.find(&up_button()) {
            Some(row) => act(reason, self.click(row)),
            None => self.launch_again(),
        }
    }

    pub(super) fn launch_again(&mut self) -> Decision {
        let (begin, package) = self.part();
        match package {
            Some(package) => {
                self.state.at = begin + 1;
                self.state.times = 0;
                act("Start the app again.", launch(package))
            }
            None => {
                self.state.at = 0;
                act(
                    "Start over from the home screen.",
                    call("press_key", json!({ "key_code": "KEYCODE_HOME" })),
                )
            }
        }
    }

    /// The latest step of this part whose target is visible; text fields last, because many pages
    /// have them.
    pub(super) fn known_step(&self) -> Option<usize> {
        let (begin, _) = self.part();
        let end = (self.state.furthest.max(self.state.at) + 1).min(self.script.len() - 1);
        let tries = |step| self.state.tried.iter().filter(|&&tried| tried == step).count();
        let steps = || {
            let others = (begin..=end).rev().filter(|&step| step != self.state.at);
            others.filter(|&step| tries(step) < MAX_TRIES)
        };
        let shows =
            |step: &usize| self.target_of(*step).is_some_and(|target| self.seen.shows(&target));
        let writes = |step: &usize| matches!(self.script[*step], ScriptStep::Type(..));
        let named = steps().filter(|step| !writes(step)).find(shows);
        named.or_else(|| steps().filter(writes).find(shows))
    }

    /// The target of a step.
    pub(super) fn target_of(&self, step: usize) -> Option<ScriptTarget> {
        match self.script.get(step)? {
            ScriptStep::Tap(target)
            | ScriptStep::LongPress(target)
            | ScriptStep::Type(target, _)
            | ScriptStep::SetSwitch(target, _) => Some(self.filled(target)),
            ScriptStep::TapUntil { tap, .. } => Some(self.filled(tap)),
            _ => None,
        }
    }

    /// A step of the form about to be sent whose effect is missing: a stray tap may have changed
    /// it. Each step is redone once.
    pub(super) fn undo_step(&self) -> Option<usize> {
        let is_of_form = |step: &ScriptStep| {
            matches!(
                step,
                ScriptStep::Type(..)
                    | ScriptStep::SetSwitch(..)
                    | ScriptStep::TapUntil { back: Some(_), .. }
            )
        };
        let form = (0..self.state.at).rev().take_while(|&at| is_of_form(&self.script[at]));
        let form = form.filter(|at| !self.state.redone.contains(at));
        let differs = |at: &usize| match &self.script[*at] {
            ScriptStep::Type(target, text) => {
                let text = fill(text, &self.read());
                self.seen.find(&self.filled(target)).is_some_and(|row| {
                    let row = &self.seen.rows[row];
                    row.is_field() && !is_hidden(&row.name) && plain(&row.name) != plain(&text)
                })
            }
            ScriptStep::SetSwitch(target, on) => switch_of(&self.filled(target), &self.seen.rows)
                .is_some_and(|row| self.seen.rows[row].checked != *on),
            ScriptStep::TapUntil { tap, shows, .. } => {
                self.seen.shows(&self.filled(tap)) && !self.seen.shows(&self.filled(shows))
            }
            _ => false,
        };
        form.filter(differs).last()
    }

    /// What was tapped last is still visible: the tap missed.
    pub(super) fn retry(&mut self) -> Option<Decision> {
        const MAX_ENDS: u32 = 3;
        let last = self.script.len().checked_sub(1)?;
        let ScriptStep::Tap(target) = &self.script[last] else { return None };
        let row = self.seen.find(&self.filled(target))?;
        self.state.times += 1;
        let click = self.click(row);
        (self.state.times <= MAX_ENDS)
            .then(|| self.perform(last, "It is still visible; tap again.", click))
    }

    pub(super) fn finished(&self) -> Decision {
        let answer = self.script.iter().rev().find_map(|step| match step {
            ScriptStep::Answer(words) => Some(fill(words, &self.read())),
            _ => None,
        });
        let result = answer.unwrap_or_default();
        let comment = "All steps are done.".into();
        Decision { status: AgentStatus::Finish, result, comment, ..Decision::default() }
    }

    pub(super) fn go_on(&mut self) {
        self.state.at += 1;
        self.state.times = 0;
        self.state.lost = 0;
        (self.state.off, self.state.turned) = (None, false);
        if self.state.at > self.state.furthest {
            self.state.tried.clear();
        }
    }

    /// Skips the steps up to the next launch, because they are done.
    pub(super) fn go_to_next_part(&mut self) {
        let later = (self.state.at..self.script.len())
            .find(|&at| matches!(self.script[at], ScriptStep::Launch(_) | ScriptStep::Answer(_)));
        self.state.at = later.unwrap_or(self.script.len());
        self.state.times = 0;
    }

    pub(super) fn read(&self) -> Vec<String> {
        let mut read = self.state.read.clone();
        read.sort_by_key(|(step, _)| *step);
        read.into_iter().map(|(_, text)| text).collect()
    }

    /// Keeps what this step read, unless it was here before, and goes on.
    pub(super) fn remember(&mut self, text: String) {
        let at = self.state.at;
        if self.state.read.iter().all(|(step, _)| *step != at) {
            self.state.read.push((at, text));
        }
        self.go_on();
    }

    pub(super) fn filled(&self, target: &ScriptTarget) -> ScriptTarget {
        target.filled(&self.read())
    }

    pub(super) fn tap(&mut self, target: &ScriptTarget, reason: &str) -> Option<Decision> {
        let row = self.seen.find(target)?;
        Some(act(reason, self.click(row)))
    }

    pub(super) fn click(&self, row: usize) -> FunctionCall {
        let (id, name) = (&self.seen.ids[row], &self.seen.names[row]);
        call("click_control", json!({ "control_id": id, "control_name": name }))
    }

    /// Screen size. It is smaller while the keyboard is up, and a window that fills only a part
    /// does not tell it.
    pub(super) fn size(&self) -> (i32, i32) {
        const MIN_HEIGHT: i32 = 600;
        if self.seen.size.1 < MIN_HEIGHT { self.state.size } else { self.seen.size }
    }

    pub(super) fn swipe(&self, direction: ScriptSwipe) -> FunctionCall {
        let size = match (self.seen.by_id, direction) {
            (true, ScriptSwipe::Up) => return call("scroll", json!({ "direction": "down" })),
            (true, ScriptSwipe::Down) => return call("scroll", json!({ "direction": "up" })),
            // The text does not tell the size; any phone is larger.
            (true, ScriptSwipe::FromTop) => (400, 900),
            (false, _) => self.size(),
        };
        let [(start_x, start_y), (end_x, end_y)] = direction.across(size);
        let arguments = json!({
            "start_x": start_x, "start_y": start_y, "end_x": end_x, "end_y": end_y, "duration": 800,
        });
        call("swipe", arguments)
    }

    pub(super) fn long_press(&self, row: usize) -> FunctionCall {
        if self.seen.by_id {
            let (id, name) = (&self.seen.ids[row], &self.seen.names[row]);
            return call("long_press", json!({ "control_id": id, "control_name": name }));
        }
        let (x, y) = self.seen.rows[row].middle();
        call("long_press", json!({ "x": x, "y": y, "duration": 1.0 }))
    }

    /// An action for a step; the next agent step checks its effect.
    pub(super) fn perform(&mut self, step: usize, reason: &str, call: FunctionCall) -> Decision {
        self.state.last = Some((step, call.clone()));
        act(reason, call)
    }
}

/// The digits of a text as one number.
fn number(text: &str) -> u64 {
    let digits = text.chars().filter_map(|c| c.to_digit(10)).take(12);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit))
}

/// Whether a field shows dots instead of its content.
fn is_hidden(shows: &str) -> bool {
    !shows.is_empty() && shows.chars().all(|c| c == '•')
}

/// A text without the characters that a field formats in its own way.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

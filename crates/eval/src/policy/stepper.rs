//! Makes one decision: what to do about the current observation, and where in the script to
//! continue.

use serde_json::json;

use super::super::script::{ScriptStep, ScriptSwipe, like, sum, switch_of, with_text};
use super::parsed_observation::ParsedObservation;
use super::{act, call, launch, wait};
use thumbwire_agent::{Decision, FunctionCall};

/// Progress through the script.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// The next step.
    pub(crate) at: usize,
    /// The furthest step started in this app.
    pub(crate) furthest: usize,
    /// Texts read so far, by step.
    pub(crate) read: Vec<(usize, String)>,
    /// The last step executed, and its function call.
    pub(crate) last: Option<(usize, FunctionCall)>,
    /// Consecutive agent steps in which the next script step's target was not visible.
    pub(crate) lost: u32,
    /// How often this step was executed, for steps that repeat.
    pub(crate) times: u32,
    /// Distance of the number being set from its target, to notice when it grows and reverse.
    pub(crate) off: Option<u64>,
    pub(crate) turned: bool,
    /// The largest screen size seen.
    pub(crate) size: (i32, i32),
    /// The steps returned to since the last one that made progress, in order, with repeats.
    pub(crate) tried: Vec<usize>,
    /// How often this part was restarted because another app was in front at its end.
    pub(crate) returns: u32,
    /// How often a page opened by a stray tap was left.
    pub(crate) strayed: u32,
    /// Steps that were redone because they had no visible effect.
    pub(crate) again: Vec<ScriptStep>,
    /// Form steps that were redone before the form was sent.
    pub(crate) redone: Vec<usize>,
}

/// Maximum repeats of typing a text, scrolling a list, or tapping.
const MAX_REPEATS: u32 = 24;
/// How often to scroll a list forward before scrolling back.
const MAX_FORWARD: u32 = 8;
/// Maximum restarts of a part because another app is in front at its end.
const MAX_RETURNS: u32 = 3;
/// Maximum repeats of a step without visible effect: some steps have none.
const MAX_AGAIN: usize = 2;
/// How often to leave a page opened by a stray tap.
const MAX_STRAYED: u32 = 3;

/// Makes one decision.
pub(crate) struct ScriptStepper<'a> {
    pub(crate) script: &'a [ScriptStep],
    pub(crate) state: &'a mut Progress,
    pub(crate) seen: ParsedObservation,
}

impl<'a> ScriptStepper<'a> {
    /// Starts from the current observation.
    pub(crate) fn new(
        script: &'a [ScriptStep],
        state: &'a mut Progress,
        seen: ParsedObservation,
    ) -> Self {
        // What is visible at the moment may fill only a part of the screen.
        state.size.0 = state.size.0.max(seen.size.0);
        state.size.1 = state.size.1.max(seen.size.1);
        Self { script, state, seen }
    }

    pub(crate) fn decide(&mut self) -> Decision {
        if let Some(decision) = self.interruption() {
            return decision;
        }
        if let Some(decision) = self.verify_last() {
            return decision;
        }
        if let Some(decision) = self.elsewhere() {
            return decision;
        }
        // Skips steps that need no action; each iteration skips one or decides.
        for _ in 0..=self.script.len() {
            let Some(step) = self.script.get(self.state.at) else {
                if let Some(decision) = self.retry() {
                    return decision;
                }
                return self.finished();
            };
            if let Some(decision) = self.step(step) {
                return decision;
            }
        }
        act("Check again.", wait(1.0))
    }

    /// Handles an unexpected system dialog.
    fn interruption(&mut self) -> Option<Decision> {
        let hangs = like("isn't responding|is not responding");
        let fell = like("keeps stopping|has stopped");
        if self.seen.shows(&hangs) {
            // A touch on an app that was not responding had no effect.
            if let Some((step, _)) = self.state.last.take() {
                self.state.at = self.state.at.min(step);
            }
            return self.tap(&with_text("Wait"), "The app is not responding; wait for it.");
        }
        if self.seen.shows(&fell) {
            self.begin_again();
            return self.tap(
                &with_text("Close app").or(with_text("OK")),
                "The app crashed; close the dialog.",
            );
        }
        if self.seen.shows(&with_text("Later")) && self.seen.shows(&with_text("Install")) {
            return self.tap(&with_text("Later"), "A system alert; not now.");
        }
        None
    }

    /// Checks whether the last action had its effect.
    fn verify_last(&mut self) -> Option<Decision> {
        if self.seen.crashed {
            self.begin_again();
        }
        let (step, doing) = self.state.last.take()?;
        let done = self.seen.last_done.as_ref() == Some(&doing);
        if done && !self.seen.failed {
            return None;
        }
        if self.seen.strayed && self.state.strayed < MAX_STRAYED {
            self.state.strayed += 1;
            self.state.at = self.state.at.min(step);
            return Some(self.go_back("The wrong page opened; go back."));
        }
        // An action reported as failed may have worked anyway: then the next step's target is
        // visible.
        let shows = |step| self.target_of(step).is_some_and(|target| self.seen.shows(&target));
        let next = (step + 1..self.script.len()).find(|&next| self.target_of(next).is_some());
        // Many pages have text fields, so a field proves nothing if the step's own target is
        // visible too.
        let tells = |&next: &usize| {
            shows(next) && !(matches!(self.script[next], ScriptStep::Type(..)) && shows(step))
        };
        let next_is_shown = next.as_ref().is_some_and(tells);
        let aimless = self.target_of(step).is_none();
        let again = || self.state.again.iter().filter(|done| **done == self.script[step]).count();
        if done && !self.seen.moved && again() >= MAX_AGAIN {
            return None;
        }
        if !next_is_shown && (shows(step) || (aimless && !done)) {
            self.state.again.push(self.script[step].clone());
            self.state.at = self.state.at.min(step);
        }
        None
    }

    /// The app of this part of the script, and the step at which the part starts.
    pub(crate) fn part(&self) -> (usize, Option<&'static str>) {
        let before = self.script.iter().enumerate().take(self.state.at);
        let mut launches = before.filter_map(|(at, step)| match step {
            ScriptStep::Launch(package) => Some((at, *package)),
            _ => None,
        });
        launches.next_back().map_or((0, None), |(at, package)| (at, Some(package)))
    }

    /// Another app is in front than the one needed.
    fn elsewhere(&mut self) -> Option<Decision> {
        let app = self.seen.app.clone()?;
        let (begin, package) = self.part();
        let package = package?;
        let is_of_system = ["permissioncontroller", "systemui", "android"]
            .iter()
            .any(|part| app == *part || app.ends_with(&format!(".{part}")));
        if app == package || is_of_system {
            return None;
        }
        // The end of a part may have led elsewhere, or its app crashed at the last tap.
        let next = self.script.get(self.state.at);
        if next.is_none_or(|step| matches!(step, ScriptStep::Launch(_) | ScriptStep::Answer(_))) {
            let last = self.script.get(self.state.at - 1);
            let touched = last
                .is_some_and(|step| matches!(step, ScriptStep::Tap(_) | ScriptStep::LongPress(_)));
            if !touched || self.state.returns >= MAX_RETURNS {
                return None;
            }
            self.state.returns += 1;
        }
        self.state.at = begin + 1;
        self.state.times = 0;
        Some(self.perform(begin, "Another app is in front; start the right one.", launch(package)))
    }

    /// Restarts this app's part: unsaved changes are lost.
    fn begin_again(&mut self) {
        self.state.at = self.part().0;
        self.state.times = 0;
        self.state.last = None;
        self.state.redone.clear();
    }

    /// The action a step needs now; `None` if it needs no more.
    pub(crate) fn step(&mut self, step: &ScriptStep) -> Option<Decision> {
        let at = self.state.at;
        self.state.furthest = self.state.furthest.max(at);
        match step {
            ScriptStep::Launch(package) => {
                self.state.furthest = at;
                self.go_on();
                return Some(self.perform(at, "Start the app.", launch(package)));
            }
            ScriptStep::Answer(_) => self.go_on(),
            ScriptStep::Press(key) => {
                self.go_on();
                let key = json!({ "key_code": format!("KEYCODE_{key}") });
                return Some(self.perform(at, "Press the key.", call("press_key", key)));
            }
            ScriptStep::Swipe(direction) => {
                self.go_on();
                return Some(self.perform(at, "Swipe.", self.swipe(*direction)));
            }
            _ if self.seen.rows.is_empty() => return Some(self.lost()),
            ScriptStep::SkipIfVisible(target) => match self.seen.shows(&self.filled(target)) {
                true => self.go_to_next_part(),
                false => self.go_on(),
            },
            ScriptStep::Read(target) => {
                let target = self.filled(target);
                let Some(row) = self.seen.find(&target) else { return Some(self.lost()) };
                let text = target.read(&self.seen.rows[row].name);
                self.remember(text);
            }
            ScriptStep::Count(target) => match self.filled(target).count(&self.seen.rows) {
                0 => return Some(self.lost()),
                count => self.remember(count.to_string()),
            },
            ScriptStep::Sum => {
                let sum = sum(&self.read());
                self.remember(sum);
            }
            ScriptStep::ScrollTo(target, direction) => {
                if !self.seen.shows(&self.filled(target)) {
                    self.state.times += 1;
                    // Anything in the other direction is found on the way back.
                    let direction = if self.state.times <= MAX_FORWARD {
                        *direction
                    } else {
                        ScriptSwipe::Down
                    };
                    return Some(match self.state.times > MAX_REPEATS {
                        true => self.lost(),
                        false => self.perform(
                            at,
                            "It must be further down; scroll.",
                            self.swipe(direction),
                        ),
                    });
                }
                self.go_on();
            }
            ScriptStep::TapUntil { tap, back, shows, .. } => {
                let (tap, shows) = (self.filled(tap), self.filled(shows));
                if !self.seen.shows(&shows) {
                    self.state.times += 1;
                    let tap = match back {
                        Some(back) if self.overshot(&tap, &shows) => self.filled(back),
                        _ => tap,
                    };
                    return Some(match self.seen.find(&tap) {
                        Some(row) if self.state.times <= MAX_REPEATS => {
                            self.state.lost = 0;
                            self.perform(at, "Tap it once more.", self.click(row))
                        }
                        _ => self.lost(),
                    });
                }
                self.go_on();
            }
            ScriptStep::SetSwitch(target, on) => {
                let Some(row) = switch_of(&self.filled(target), &self.seen.rows) else {
                    return Some(self.lost());
                };
                if self.seen.rows[row].checked != *on {
                    self.state.times += 1;
                    return Some(match self.state.times > MAX_REPEATS {
                        true => self.lost(),
                        false => self.perform(at, "Flip the switch.", self.click(row)),
                    });
                }
                self.go_on();
            }
            ScriptStep::Type(target, text) => return self.write(target, text),
            ScriptStep::Tap(target) => {
                let Some(row) = self.seen.find(&self.filled(target)) else {
                    return Some(self.lost());
                };
                if let Some(other) = self.undo_step() {
                    self.state.redone.push(other);
                    self.state.at = other;
                    self.state.times = 0;
                    return self.step(&self.script[other]);
                }
                let click = self.click(row);
                self.go_on();
                return Some(self.perform(at, "Tap it.", click));
            }
            ScriptStep::LongPress(target) => {
                let Some(row) = self.seen.find(&self.filled(target)) else {
                    return Some(self.lost());
                };
                let hold = self.long_press(row);
                self.go_on();
                return Some(self.perform(at, "Long-press it.", hold));
            }
        }
        None
    }
}

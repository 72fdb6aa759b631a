//! One decision after the other: what to do about what is seen, and where in the script that leads.

use serde_json::json;

use super::super::script::{Step, Way, like, says, switch_of};
use super::seen::Seen;
use super::{act, back, doing, launch, wait};
use crate::agent::{Decision, Doing, Sight};

/// How far it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// The next step.
    pub(super) at: usize,
    /// The furthest step of this app's that was begun.
    pub(super) furthest: usize,
    /// What was read, by step.
    pub(super) read: Vec<(usize, String)>,
    /// The step that was done last, and what that was.
    pub(super) last: Option<(usize, Doing)>,
    /// Rounds in a row in which the next step's target did not show.
    pub(super) lost: u32,
    /// How often this step was done, for those that are done several times.
    pub(super) times: u32,
    /// How far the number that is being set was from where it should be, and whether that grew: then it is set back.
    pub(super) off: Option<u64>,
    pub(super) turned: bool,
    /// The largest that was seen of the screen.
    pub(super) size: (i32, i32),
    /// The steps that were gone back to since the last one that led on, each time it was.
    pub(super) tried: Vec<usize>,
    /// How often this part was begun again because another app was in front at its end.
    pub(super) returns: u32,
    /// How often a page was left that a tap opened by mistake.
    pub(super) strayed: u32,
    /// The steps that were done again since nothing showed of them.
    pub(super) again: Vec<Step>,
    /// The steps of forms that were done once more before the form was sent.
    pub(super) redone: Vec<usize>,
}

/// How often a text is typed, a list moved on, a thing tapped.
const MOST: u32 = 24;
/// How often a list is moved on before it is moved back.
const FURTHEST: u32 = 8;
/// How often a part is begun again because another app is in front at its end.
const MOST_RETURNS: u32 = 3;
/// How often a step is done again of which nothing shows: some are meant so.
const MOST_AGAIN: usize = 2;
/// How often a page is left that a tap opened by mistake.
const MOST_STRAYED: u32 = 3;

/// One decision.
pub(super) struct Follower<'a> {
    pub(super) script: &'a [Step],
    pub(super) state: &'a mut Progress,
    pub(super) seen: Seen,
}

impl<'a> Follower<'a> {
    /// What sees this now.
    pub(super) fn new(script: &'a [Step], state: &'a mut Progress, sight: &Sight) -> Self {
        let seen = Seen::of(sight);
        // What shows at a moment may fill a part of the screen alone.
        state.size.0 = state.size.0.max(seen.size.0);
        state.size.1 = state.size.1.max(seen.size.1);
        Self { script, state, seen }
    }

    pub(super) fn decide(&mut self, sight: &Sight) -> Decision {
        if let Some(decision) = self.interruption() {
            return decision;
        }
        if let Some(decision) = self.look_back(sight) {
            return decision;
        }
        if let Some(decision) = self.elsewhere() {
            return decision;
        }
        // Steps that want nothing done are passed; each turn passes one, or decides.
        for _ in 0..=self.script.len() {
            let Some(step) = self.script.get(self.state.at) else {
                if let Some(decision) = self.once_more() {
                    return decision;
                }
                return self.finished();
            };
            if let Some(decision) = self.step(step) {
                return decision;
            }
        }
        act("Look again.", wait(1.0))
    }

    /// A window of the system that nobody asked for.
    fn interruption(&mut self) -> Option<Decision> {
        let hangs = like("isn't responding|is not responding");
        let fell = like("keeps stopping|has stopped");
        if self.seen.shows(&hangs) {
            // A touch that an app was too busy for has led to nothing.
            if let Some((step, _)) = self.state.last.take() {
                self.state.at = self.state.at.min(step);
            }
            return self.tap(&says("Wait"), "The app does not respond; wait for it.");
        }
        if self.seen.shows(&fell) {
            self.begin_again();
            return self.tap(&says("Close app").or(says("OK")), "The app fell; close it.");
        }
        if self.seen.shows(&says("Later")) && self.seen.shows(&says("Install")) {
            return self.tap(&says("Later"), "An alert of the system; not now.");
        }
        None
    }

    /// Whether the last act did what it was for.
    fn look_back(&mut self, sight: &Sight) -> Option<Decision> {
        if self.seen.crashed {
            self.begin_again();
        }
        let (step, doing) = self.state.last.take()?;
        let done = sight.last_success_actions.last().is_some_and(|last| last.doing == doing);
        if done && !self.seen.failed {
            return None;
        }
        if self.seen.strayed && self.state.strayed < MOST_STRAYED {
            self.state.strayed += 1;
            self.state.at = self.state.at.min(step);
            return Some(act("Another page opened than was meant; go back.", back()));
        }
        // An act that is said to have failed may have led on all the same: then what comes next shows.
        let shows = |step| self.target_of(step).is_some_and(|aim| self.seen.shows(&aim));
        let next = (step + 1..self.script.len()).find(|&next| self.target_of(next).is_some());
        // A field, which many pages have, tells nothing where the step's own target shows too.
        let tells = |&next: &usize| {
            shows(next) && !(matches!(self.script[next], Step::Write(..)) && shows(step))
        };
        let led_on = next.as_ref().is_some_and(tells);
        let aimless = self.target_of(step).is_none();
        let again = || self.state.again.iter().filter(|done| **done == self.script[step]).count();
        if done && !self.seen.moved && again() >= MOST_AGAIN {
            return None;
        }
        if !led_on && (shows(step) || (aimless && !done)) {
            self.state.again.push(self.script[step].clone());
            self.state.at = self.state.at.min(step);
        }
        None
    }

    /// The app of this part of the script, and where it begins.
    pub(super) fn part(&self) -> (usize, Option<&'static str>) {
        let before = self.script.iter().enumerate().take(self.state.at);
        let mut launches = before.filter_map(|(at, step)| match step {
            Step::Launch(package) => Some((at, *package)),
            _ => None,
        });
        launches.next_back().map_or((0, None), |(at, package)| (at, Some(package)))
    }

    /// Another app is in front than the one that is needed.
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
        // A part that is over may have led elsewhere, or its app fell at the last tap.
        let next = self.script.get(self.state.at);
        if next.is_none_or(|step| matches!(step, Step::Launch(_) | Step::Answer(_))) {
            let last = self.script.get(self.state.at - 1);
            let touched = last.is_some_and(|step| matches!(step, Step::Tap(_) | Step::Hold(_)));
            if !touched || self.state.returns >= MOST_RETURNS {
                return None;
            }
            self.state.returns += 1;
        }
        self.state.at = begin + 1;
        self.state.times = 0;
        Some(self.done(begin, "Another app is in front; start the right one.", launch(package)))
    }

    /// From the beginning of this app's part: what was not kept is lost.
    fn begin_again(&mut self) {
        self.state.at = self.part().0;
        self.state.times = 0;
        self.state.last = None;
        self.state.redone.clear();
    }

    /// What a step asks for now; `None` where it asks for nothing more.
    pub(super) fn step(&mut self, step: &Step) -> Option<Decision> {
        let at = self.state.at;
        self.state.furthest = self.state.furthest.max(at);
        match step {
            Step::Launch(package) => {
                self.state.furthest = at;
                self.go_on();
                return Some(self.done(at, "Start the app.", launch(package)));
            }
            Step::Answer(_) => self.go_on(),
            Step::Press(key) => {
                self.go_on();
                let key = json!({ "key_code": format!("KEYCODE_{key}") });
                return Some(self.done(at, "Press the key.", doing("press_key", key)));
            }
            Step::Swipe(way) => {
                self.go_on();
                return Some(self.done(at, "Move the screen.", self.swipe(*way)));
            }
            _ if self.seen.rows.is_empty() => return Some(self.lost()),
            Step::Enough(aim) => match self.seen.shows(&self.filled(aim)) {
                true => self.go_to_next_part(),
                false => self.go_on(),
            },
            Step::Read(aim) => {
                let aim = self.filled(aim);
                let Some(row) = self.seen.find(&aim) else { return Some(self.lost()) };
                if self.state.read.iter().all(|(step, _)| *step != at) {
                    self.state.read.push((at, aim.read(&self.seen.rows[row].name)));
                }
                self.go_on();
            }
            Step::Seek(aim, way) => {
                if !self.seen.shows(&self.filled(aim)) {
                    self.state.times += 1;
                    // What lies the other way is found on the way back.
                    let way = if self.state.times <= FURTHEST { *way } else { Way::Down };
                    return Some(match self.state.times > MOST {
                        true => self.lost(),
                        false => self.done(at, "It must be further on.", self.swipe(way)),
                    });
                }
                self.go_on();
            }
            Step::Until { tap, back, shows, .. } => {
                let (tap, shows) = (self.filled(tap), self.filled(shows));
                if !self.seen.shows(&shows) {
                    self.state.times += 1;
                    let tap = match back {
                        Some(back) if self.has_gone_too_far(&tap, &shows) => self.filled(back),
                        _ => tap,
                    };
                    return Some(match self.seen.find(&tap) {
                        Some(row) if self.state.times <= MOST => {
                            self.state.lost = 0;
                            self.done(at, "Once more.", self.click(row))
                        }
                        _ => self.lost(),
                    });
                }
                self.go_on();
            }
            Step::Switch(aim, on) => {
                let Some(row) = switch_of(&self.filled(aim), &self.seen.rows) else {
                    return Some(self.lost());
                };
                if self.seen.rows[row].checked != *on {
                    self.state.times += 1;
                    return Some(match self.state.times > MOST {
                        true => self.lost(),
                        false => self.done(at, "Turn the switch.", self.click(row)),
                    });
                }
                self.go_on();
            }
            Step::Write(aim, text) => return self.write(aim, text),
            Step::Tap(aim) => {
                let Some(row) = self.seen.find(&self.filled(aim)) else { return Some(self.lost()) };
                if let Some(other) = self.undone() {
                    self.state.redone.push(other);
                    self.state.at = other;
                    self.state.times = 0;
                    return self.step(&self.script[other]);
                }
                let click = self.click(row);
                self.go_on();
                return Some(self.done(at, "Tap it.", click));
            }
            Step::Hold(aim) => {
                let Some(row) = self.seen.find(&self.filled(aim)) else { return Some(self.lost()) };
                let (x, y) = self.seen.rows[row].middle();
                let hold = doing("long_press", json!({ "x": x, "y": y, "duration": 1.0 }));
                self.go_on();
                return Some(self.done(at, "Hold it.", hold));
            }
        }
        None
    }
}

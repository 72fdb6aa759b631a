//! Minds without a model, to be measured by: one that follows a script, one that does nothing, one that claims success.
//!
//! [`Scripted`] is given a task's script as a person gives hints ("tap New note, then write …") and sees what a model sees, a [`Sight`];
//! where things are on the screen it finds by itself, and it reacts to what it sees as a sensible model would: it answers alerts, waits
//! for an app that does not respond, starts one again that is gone, types once more what was lost, goes back where it does not know the
//! page. It is fixed: no part of it knows which fault a phone has.
//!
//! ```text
//!  an alert, an app that hangs or fell ──► answered
//!  another app in front ─────────────────► launched again, and on where the screen says
//!  the step's target shows ──────────────► done; what failed or changed nothing is done again
//!  it does not ──────────────────────────► wait · a step whose target shows · back · launch again · give up
//! ```

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::script::{Aim, Shown, Step, Way, fill, like, says, switch_of};
use crate::action::Call;
use crate::agent::{
    Decision, Doing, Mind, Prompt, Sight, Status, Thinking, Undecided, Watch, readable,
};

/// Does nothing, round after round.
#[derive(Debug)]
pub struct Idle;

#[async_trait]
impl Mind for Idle {
    fn name(&self) -> String {
        "idle".into()
    }

    async fn decide(&self, _: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        Ok(thought(Decision { actions: vec![wait(1.0)], ..Decision::default() }))
    }
}

/// Claims at once that all is done.
#[derive(Debug)]
pub struct Claims;

#[async_trait]
impl Mind for Claims {
    fn name(&self) -> String {
        "claims success".into()
    }

    async fn decide(&self, _: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        let done = "It is done.".to_owned();
        let status = Status::Finish;
        Ok(thought(Decision { status, result: done.clone(), comment: done, ..Decision::default() }))
    }
}

/// Follows a script by what it sees.
#[derive(Debug)]
pub struct Scripted {
    script: Vec<Step>,
    state: Mutex<Progress>,
}

/// How far it is.
#[derive(Debug, Default)]
struct Progress {
    /// The next step.
    at: usize,
    /// The furthest step of this app's that was begun.
    furthest: usize,
    /// What was read, by step.
    read: Vec<(usize, String)>,
    /// The step that was done last, and what that was.
    last: Option<(usize, Doing)>,
    /// Rounds in a row in which the next step's target did not show.
    lost: u32,
    /// How often this step was done, for those that are done several times.
    times: u32,
    /// How far the number that is being set was from where it should be, and whether that grew: then it is set back.
    off: Option<u64>,
    turned: bool,
    /// The largest that was seen of the screen.
    size: (i32, i32),
    /// How often the last tap of all was made again.
    ends: u32,
    /// The steps that were gone back to since the last one that led on, each time it was.
    tried: Vec<usize>,
}

/// How often a text is typed, a list moved on, a thing tapped.
const MOST: u32 = 24;
/// How often a list is moved on before it is moved back.
const FURTHEST: u32 = 8;
/// How often a text that does not show is typed.
const MOST_TEXTS: u32 = 6;
/// How often the last tap is made again: what it led to may have the same name.
const MOST_ENDS: u32 = 3;
/// How often a step is gone back to before another is tried.
const MOST_TRIES: usize = 2;

impl Scripted {
    /// A mind that follows this script.
    pub fn new(script: Vec<Step>) -> Self {
        Self { script, state: Mutex::default() }
    }
}

#[async_trait]
impl Mind for Scripted {
    fn name(&self) -> String {
        "scripted".into()
    }

    async fn decide(&self, sight: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Seen::of(sight);
        // What shows at a moment may fill a part of the screen alone.
        state.size.0 = state.size.0.max(seen.size.0);
        state.size.1 = state.size.1.max(seen.size.1);
        let mut follower = Follower { script: &self.script, state: &mut state, seen };
        Ok(thought(follower.decide(sight)))
    }
}

fn thought(decision: Decision) -> Thinking {
    let response = json!(decision).to_string();
    Thinking { prompt: Prompt::default(), response, decision, ..Thinking::default() }
}

/// What a sight comes to.
struct Seen {
    rows: Vec<Shown>,
    ids: Vec<String>,
    app: Option<String>,
    /// Whether an observation says that the last action did not do what it was for.
    failed: bool,
    size: (i32, i32),
}

impl Seen {
    fn of(sight: &Sight) -> Self {
        let told = readable(&sight.current_controls);
        let shows = told.iter().filter(|row| !row.state.iter().any(|word| word == "hidden"));
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        for row in shows {
            rows.push(Shown {
                name: row.name.clone(),
                kind: row.kind.clone(),
                rect: row.rect,
                checked: row.state.iter().any(|word| word == "checked"),
            });
            ids.push(row.id.clone());
        }
        let all = told.iter();
        let size =
            all.fold((0, 0), |(right, low), row| (right.max(row.rect[2]), low.max(row.rect[3])));
        let failed = sight.observations.iter().any(|words| {
            let words = words.to_lowercase();
            ["nothing on the screen changed", "as before", "not there", "failed", "refused"]
                .iter()
                .any(|sign| words.contains(sign))
        });
        Self { rows, ids, app: sight.app.clone(), failed, size }
    }

    fn find(&self, aim: &Aim) -> Option<usize> {
        aim.find(&self.rows)
    }

    fn shows(&self, aim: &Aim) -> bool {
        self.find(aim).is_some()
    }
}

/// One decision.
struct Follower<'a> {
    script: &'a [Step],
    state: &'a mut Progress,
    seen: Seen,
}

impl Follower<'_> {
    fn decide(&mut self, sight: &Sight) -> Decision {
        if let Some(decision) = self.interruption() {
            return decision;
        }
        self.look_back(sight);
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
    fn look_back(&mut self, sight: &Sight) {
        let Some((step, doing)) = self.state.last.take() else { return };
        let done = sight.last_success_actions.last().is_some_and(|last| last.doing == doing);
        // What is to be done several times on end shows nothing in between, and is counted.
        let neighbours = [step.checked_sub(1), step.checked_add(1)];
        let same = |at: usize| self.script.get(at) == self.script.get(step);
        let counted = neighbours.into_iter().flatten().any(same);
        if done && (counted || !self.seen.failed) {
            return;
        }
        // An act that is said to have failed may have led on all the same: then what comes next shows.
        let shows = |step| self.target_of(step).is_some_and(|aim| self.seen.shows(&aim));
        let next = (step + 1..self.script.len()).find(|&next| self.target_of(next).is_some());
        let led_on = next.is_some_and(shows);
        let aimless = self.target_of(step).is_none();
        if !led_on && (shows(step) || (aimless && !done)) {
            if step + 1 == self.script.len() {
                self.state.ends += 1;
                if self.state.ends > MOST_ENDS {
                    return;
                }
            }
            self.state.at = self.state.at.min(step);
        }
    }

    /// The app of this part of the script, and where it begins.
    fn part(&self) -> (usize, Option<&'static str>) {
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
        if app == package || is_of_system || self.state.at >= self.script.len() {
            return None;
        }
        if matches!(self.script[self.state.at], Step::Launch(_) | Step::Answer(_)) {
            return None;
        }
        self.state.at = begin + 1;
        self.state.times = 0;
        Some(self.done(begin, "Another app is in front; start the right one.", launch(package)))
    }

    /// From the beginning of this app's part: what was not kept is lost.
    fn begin_again(&mut self) {
        self.state.at = self.part().0;
        (self.state.times, self.state.ends) = (0, 0);
        self.state.last = None;
    }

    /// What a step asks for now; `None` where it asks for nothing more.
    fn step(&mut self, step: &Step) -> Option<Decision> {
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

    /// Whether the number beside `tap` moves away from the one that is to show. It is told by what has the form of `shows`: `10:45`
    /// where that is `10:15`.
    fn has_gone_too_far(&mut self, tap: &Aim, shows: &Aim) -> bool {
        let Aim::Says(wanted) = shows else { return false };
        let Some(tap) = self.seen.find(tap) else { return self.state.turned };
        let (x, y) = self.seen.rows[tap].middle();
        let form = |text: &str| text.chars().filter(|c| !c.is_alphanumeric()).collect::<String>();
        let alike = self.seen.rows.iter().filter(|row| {
            row.name.chars().any(|c| c.is_ascii_digit()) && form(&row.name) == form(wanted)
        });
        let near = |row: &&Shown| {
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

    /// Types a text unless it is there.
    fn write(&mut self, aim: &Aim, text: &str) -> Option<Decision> {
        let (at, text) = (self.state.at, fill(text, &self.read()));
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let aim = self.filled(aim);
        let Some(row) = self.seen.find(&aim) else {
            return Some(self.lost());
        };
        let shows = &self.seen.rows[row].name;
        let dots = !shows.is_empty() && shows.chars().all(|c| c == '•');
        let there = plain(shows) == plain(&text) || (dots && self.state.times > 0);
        if there || self.state.times >= MOST_TEXTS {
            self.go_on();
            return None;
        }
        self.state.times += 1;
        self.state.lost = 0;
        let arguments = json!({
            "text": text,
            "control_id": self.seen.ids[row],
            "control_name": shows,
            "clear_current_text": true,
        });
        Some(self.done(at, "Write it.", doing("type_text", arguments)))
    }

    /// The next step's target does not show.
    fn lost(&mut self) -> Decision {
        self.state.lost += 1;
        let lost = self.state.lost;
        if self.seen.rows.is_empty() || lost == 1 {
            return match lost {
                0..=6 => act("It does not show; wait.", wait(1.0)),
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
            return act("Look again.", wait(0.5));
        }
        match lost {
            ..=5 => act(
                "This is another page; go back.",
                doing("press_key", json!({ "key_code": "KEYCODE_BACK" })),
            ),
            6..=12 => self.launch_again(),
            _ => Decision {
                status: Status::Fail,
                comment: "I am lost.".into(),
                ..Decision::default()
            },
        }
    }

    fn launch_again(&mut self) -> Decision {
        let (begin, package) = self.part();
        match package {
            Some(package) => {
                self.state.at = begin + 1;
                self.state.times = 0;
                act("Start the app again.", launch(package))
            }
            None => {
                self.state.at = 0;
                act("Begin again.", doing("press_key", json!({ "key_code": "KEYCODE_HOME" })))
            }
        }
    }

    /// The latest step of this part whose target shows; fields, which many pages have, last.
    fn known_step(&self) -> Option<usize> {
        let (begin, _) = self.part();
        let end = (self.state.furthest.max(self.state.at) + 1).min(self.script.len() - 1);
        let tries = |step| self.state.tried.iter().filter(|&&tried| tried == step).count();
        let steps = || {
            let others = (begin..=end).rev().filter(|&step| step != self.state.at);
            others.filter(|&step| tries(step) < MOST_TRIES)
        };
        let shows = |step: &usize| self.target_of(*step).is_some_and(|aim| self.seen.shows(&aim));
        let writes = |step: &usize| matches!(self.script[*step], Step::Write(..));
        let named = steps().filter(|step| !writes(step)).find(shows);
        named.or_else(|| steps().filter(writes).find(shows))
    }

    /// What a step is done to.
    fn target_of(&self, step: usize) -> Option<Aim> {
        match self.script.get(step)? {
            Step::Tap(aim) | Step::Hold(aim) | Step::Write(aim, _) | Step::Switch(aim, _) => {
                Some(self.filled(aim))
            }
            Step::Until { tap, .. } => Some(self.filled(tap)),
            _ => None,
        }
    }

    /// What was tapped at the end still shows: the tap went elsewhere.
    fn once_more(&mut self) -> Option<Decision> {
        let last = self.script.len().checked_sub(1)?;
        let Step::Tap(aim) = &self.script[last] else { return None };
        let row = self.seen.find(&self.filled(aim))?;
        self.state.ends += 1;
        let click = self.click(row);
        (self.state.ends <= MOST_ENDS).then(|| self.done(last, "It still shows.", click))
    }

    fn finished(&self) -> Decision {
        let answer = self.script.iter().rev().find_map(|step| match step {
            Step::Answer(words) => Some(fill(words, &self.read())),
            _ => None,
        });
        let result = answer.unwrap_or_default();
        let comment = "All steps are done.".into();
        Decision { status: Status::Finish, result, comment, ..Decision::default() }
    }

    fn go_on(&mut self) {
        self.state.at += 1;
        self.state.times = 0;
        self.state.lost = 0;
        (self.state.off, self.state.turned) = (None, false);
        if self.state.at > self.state.furthest {
            self.state.tried.clear();
        }
    }

    /// What follows up to the next launch has been done.
    fn go_to_next_part(&mut self) {
        let later = (self.state.at..self.script.len())
            .find(|&at| matches!(self.script[at], Step::Launch(_) | Step::Answer(_)));
        self.state.at = later.unwrap_or(self.script.len());
        self.state.times = 0;
    }

    fn read(&self) -> Vec<String> {
        let mut read = self.state.read.clone();
        read.sort_by_key(|(step, _)| *step);
        read.into_iter().map(|(_, text)| text).collect()
    }

    fn filled(&self, aim: &Aim) -> Aim {
        aim.filled(&self.read())
    }

    fn tap(&mut self, aim: &Aim, why: &str) -> Option<Decision> {
        let row = self.seen.find(aim)?;
        Some(act(why, self.click(row)))
    }

    fn click(&self, row: usize) -> Doing {
        let (id, name) = (&self.seen.ids[row], &self.seen.rows[row].name);
        doing("click_control", json!({ "control_id": id, "control_name": name }))
    }

    /// How large the screen is: less high while the keyboard is up, and not told by a window that fills a part of it.
    fn size(&self) -> (i32, i32) {
        const LEAST: i32 = 600;
        if self.seen.size.1 < LEAST { self.state.size } else { self.seen.size }
    }

    fn swipe(&self, way: Way) -> Doing {
        let [(start_x, start_y), (end_x, end_y)] = way.across(self.size());
        let arguments = json!({
            "start_x": start_x, "start_y": start_y, "end_x": end_x, "end_y": end_y, "duration": 800,
        });
        doing("swipe", arguments)
    }

    /// An act that a step asks for; the next round looks back at it.
    fn done(&mut self, step: usize, why: &str, doing: Doing) -> Decision {
        self.state.last = Some((step, doing.clone()));
        act(why, doing)
    }
}

/// The digits of a text, as one number.
fn number(text: &str) -> u64 {
    let digits = text.chars().filter_map(|c| c.to_digit(10)).take(12);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit))
}

fn act(why: &str, doing: Doing) -> Decision {
    Decision { thought: why.into(), actions: vec![doing], ..Decision::default() }
}

fn doing(function: &str, arguments: Value) -> Doing {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Doing { function: function.into(), arguments }
}

fn launch(package: &str) -> Doing {
    doing("launch_app", json!({ "package_name": package }))
}

fn wait(seconds: f64) -> Doing {
    doing("wait", json!({ "seconds": seconds }))
}

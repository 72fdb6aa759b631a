//! What a step takes beyond one act: setting a number, writing, and finding the way again where a step's target does not show.

use serde_json::json;

use super::super::script::{Aim, Shown, Step, Way, fill, switch_of};
use super::follower::Follower;
use super::{act, back, doing, launch, wait};
use crate::agent::{Decision, Doing, Status};

/// How often a text that does not show is typed.
const MOST_TEXTS: u32 = 6;
/// How often a step is gone back to before another is tried.
const MOST_TRIES: usize = 2;

impl Follower<'_> {
    /// Whether the number beside `tap` moves away from the one that is to show. It is told by what has the form of `shows`: `10:45`
    /// where that is `10:15`.
    pub(super) fn has_gone_too_far(&mut self, tap: &Aim, shows: &Aim) -> bool {
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
    pub(super) fn write(&mut self, aim: &Aim, text: &str) -> Option<Decision> {
        let (at, text) = (self.state.at, fill(text, &self.read()));
        let aim = self.filled(aim);
        let Some(row) = self.seen.find(&aim) else {
            return Some(self.lost());
        };
        let shows = &self.seen.rows[row].name;
        let there = plain(shows) == plain(&text) || (is_hidden(shows) && self.state.times > 0);
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
    pub(super) fn lost(&mut self) -> Decision {
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
        if self.state.returns > 0 && lost > 3 {
            // The last tap had done it, and led elsewhere.
            self.go_to_next_part();
            return act("It seems to be done.", wait(0.5));
        }
        match lost {
            ..=5 => act("This is another page; go back.", back()),
            6..=12 => self.launch_again(),
            _ => Decision {
                status: Status::Fail,
                comment: "I am lost.".into(),
                ..Decision::default()
            },
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
                act("Begin again.", doing("press_key", json!({ "key_code": "KEYCODE_HOME" })))
            }
        }
    }

    /// The latest step of this part whose target shows; fields, which many pages have, last.
    pub(super) fn known_step(&self) -> Option<usize> {
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
    pub(super) fn target_of(&self, step: usize) -> Option<Aim> {
        match self.script.get(step)? {
            Step::Tap(aim) | Step::Hold(aim) | Step::Write(aim, _) | Step::Switch(aim, _) => {
                Some(self.filled(aim))
            }
            Step::Until { tap, .. } => Some(self.filled(tap)),
            _ => None,
        }
    }

    /// A step of the form that is about to be sent whose outcome is not there: a tap that went astray may have changed it. Each is
    /// done again once.
    pub(super) fn undone(&self) -> Option<usize> {
        let is_of_form = |step: &Step| {
            matches!(step, Step::Write(..) | Step::Switch(..) | Step::Until { back: Some(_), .. })
        };
        let form = (0..self.state.at).rev().take_while(|&at| is_of_form(&self.script[at]));
        let form = form.filter(|at| !self.state.redone.contains(at));
        let differs = |at: &usize| match &self.script[*at] {
            Step::Write(aim, text) => {
                let text = fill(text, &self.read());
                self.seen.find(&self.filled(aim)).is_some_and(|row| {
                    let row = &self.seen.rows[row];
                    row.is_field() && !is_hidden(&row.name) && plain(&row.name) != plain(&text)
                })
            }
            Step::Switch(aim, on) => switch_of(&self.filled(aim), &self.seen.rows)
                .is_some_and(|row| self.seen.rows[row].checked != *on),
            Step::Until { tap, shows, .. } => {
                self.seen.shows(&self.filled(tap)) && !self.seen.shows(&self.filled(shows))
            }
            _ => false,
        };
        form.filter(differs).last()
    }

    /// What was tapped at the end still shows: the tap went elsewhere.
    pub(super) fn once_more(&mut self) -> Option<Decision> {
        const MOST_ENDS: u32 = 3;
        let last = self.script.len().checked_sub(1)?;
        let Step::Tap(aim) = &self.script[last] else { return None };
        let row = self.seen.find(&self.filled(aim))?;
        self.state.times += 1;
        let click = self.click(row);
        (self.state.times <= MOST_ENDS).then(|| self.done(last, "It still shows.", click))
    }

    pub(super) fn finished(&self) -> Decision {
        let answer = self.script.iter().rev().find_map(|step| match step {
            Step::Answer(words) => Some(fill(words, &self.read())),
            _ => None,
        });
        let result = answer.unwrap_or_default();
        let comment = "All steps are done.".into();
        Decision { status: Status::Finish, result, comment, ..Decision::default() }
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

    /// What follows up to the next launch has been done.
    pub(super) fn go_to_next_part(&mut self) {
        let later = (self.state.at..self.script.len())
            .find(|&at| matches!(self.script[at], Step::Launch(_) | Step::Answer(_)));
        self.state.at = later.unwrap_or(self.script.len());
        self.state.times = 0;
    }

    pub(super) fn read(&self) -> Vec<String> {
        let mut read = self.state.read.clone();
        read.sort_by_key(|(step, _)| *step);
        read.into_iter().map(|(_, text)| text).collect()
    }

    pub(super) fn filled(&self, aim: &Aim) -> Aim {
        aim.filled(&self.read())
    }

    pub(super) fn tap(&mut self, aim: &Aim, why: &str) -> Option<Decision> {
        let row = self.seen.find(aim)?;
        Some(act(why, self.click(row)))
    }

    pub(super) fn click(&self, row: usize) -> Doing {
        let (id, name) = (&self.seen.ids[row], &self.seen.rows[row].name);
        doing("click_control", json!({ "control_id": id, "control_name": name }))
    }

    /// How large the screen is: less high while the keyboard is up, and not told by a window that fills a part of it.
    pub(super) fn size(&self) -> (i32, i32) {
        const LEAST: i32 = 600;
        if self.seen.size.1 < LEAST { self.state.size } else { self.seen.size }
    }

    pub(super) fn swipe(&self, way: Way) -> Doing {
        let [(start_x, start_y), (end_x, end_y)] = way.across(self.size());
        let arguments = json!({
            "start_x": start_x, "start_y": start_y, "end_x": end_x, "end_y": end_y, "duration": 800,
        });
        doing("swipe", arguments)
    }

    /// An act that a step asks for; the next round looks back at it.
    pub(super) fn done(&mut self, step: usize, why: &str, doing: Doing) -> Decision {
        self.state.last = Some((step, doing.clone()));
        act(why, doing)
    }
}

/// The digits of a text, as one number.
fn number(text: &str) -> u64 {
    let digits = text.chars().filter_map(|c| c.to_digit(10)).take(12);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit))
}

/// Whether a field shows dots in place of what it holds.
fn is_hidden(shows: &str) -> bool {
    !shows.is_empty() && shows.chars().all(|c| c == '•')
}

/// A text without what a field sets in its own way.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

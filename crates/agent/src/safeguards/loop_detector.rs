//! Detects loops: the same actions on the same screens, again and again.
//!
//! Start with [`LoopDetector::on_call`], called once per step. A loop of one to three steps is
//! reported when it has been repeated twice, and is hopeless when it is repeated twice more; a
//! single step has ten attempts. Screens are compared by [`ScreenText`], so clocks make no
//! difference, nor does what changes with nothing done ([`LoopDetector::on_idle_step`]). Steps that
//! only wait, ask or read are ignored; filling a form and scrolling a list change the screen each
//! time. Calls that were refused are not made, and do not come here.

use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

use thumbwire_device::Node;

use super::screen_state::{ScreenState, ScreenText};
use crate::policy::decision::FunctionCall;
use thumbwire_core::action::ControlNumber;

/// The longest loop that is detected, in steps.
const MAX_STEPS: usize = 3;

/// How many passes it takes to report a loop, and to call it hopeless.
const REPORTED: usize = 3;
const HOPELESS: usize = REPORTED + 2;
/// A single step is hopeless later, because some actions must be repeated without visible effect:
/// seven taps on the build number enable the developer options (`DevelopmentSettingsEnabler.java`),
/// reported in a toast that no dump shows.
const HOPELESS_ALONE: usize = 10;

/// How many self-changing controls are remembered.
const MAX_UNSTEADY: usize = 200;

/// Detects loops.
#[derive(Debug, Default)]
pub(crate) struct LoopDetector {
    steps: VecDeque<StepFingerprint>,
    unsteady: HashSet<u64>,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoopWarning {
    /// What was repeated and what to do instead, as a sentence for the policy.
    pub text: String,
    /// Whether it was reported before and has been repeated twice since.
    pub hopeless: bool,
}

#[derive(Debug)]
struct StepFingerprint {
    words: ScreenText,
    /// The calls and their targets, in comparable form.
    calls: String,
    /// The calls as text.
    text: String,
    at: Duration,
}

impl LoopDetector {
    /// Ignores controls that changed between these two moments, although nothing was done.
    pub(crate) fn on_idle_step(&mut self, earlier: &ScreenState, later: &ScreenState) {
        for key in earlier.texts().changed(&later.texts()).into_iter().flatten() {
            if self.unsteady.len() < MAX_UNSTEADY {
                self.unsteady.insert(key);
            }
        }
    }

    /// These calls are made on this screen, `at` after the start of the run. Returns the loop that
    /// they close.
    pub(crate) fn on_call(
        &mut self,
        screen: &ScreenState,
        actions: &[FunctionCall],
        at: Duration,
    ) -> Option<LoopWarning> {
        let acts: Vec<&FunctionCall> = actions.iter().filter(|call| acts(call)).collect();
        if acts.is_empty() {
            return None;
        }
        let join = |each: fn(&ScreenState, &FunctionCall) -> String| {
            acts.iter().map(|call| each(screen, call)).collect::<Vec<_>>().join(", then ")
        };
        let step = StepFingerprint {
            words: screen.texts(),
            calls: join(compared),
            text: join(call_text),
            at,
        };
        self.steps.push_back(step);
        while self.steps.len() > MAX_STEPS * HOPELESS {
            self.steps.pop_front();
        }
        (1..=MAX_STEPS.min(self.steps.len())).find_map(|length| self.detect(length))
    }

    fn detect(&self, length: usize) -> Option<LoopWarning> {
        let count = self.steps.len();
        let same = |round: usize| {
            // Each pass is compared with the last one: a clock that is being set runs away.
            (0..length).all(|at| {
                let last = count - length + at;
                last.checked_sub(round * length).is_some_and(|earlier| {
                    let (one, other) = (&self.steps[earlier], &self.steps[last]);
                    let between = other.at.saturating_sub(one.at);
                    one.calls == other.calls
                        && one.words.is_similar_to(&other.words, between, &self.unsteady)
                })
            })
        };
        let hopeless = if length == 1 { HOPELESS_ALONE } else { HOPELESS };
        let times = 1 + (1..hopeless).take_while(|&round| same(round)).count();
        (times >= REPORTED).then(|| LoopWarning {
            text: self.describe(length, times),
            hopeless: times >= hopeless,
        })
    }

    fn describe(&self, length: usize, times: usize) -> String {
        let newest = self.steps.iter().skip(self.steps.len() - length);
        let mut steps = String::new();
        for (at, step) in newest.enumerate() {
            let _ = write!(steps, "{}{}", if at == 0 { "" } else { "; " }, step.text);
        }
        let what = match length {
            1 => "the same step on the same screen".to_owned(),
            _ => format!("the same {length} screens"),
        };
        format!(
            "You are in a loop: {what}, {times} times now ({steps}). This leads nowhere: try another control, scroll, \
             go back, or find another way; if there is none, end with FAIL and say why."
        )
    }
}

/// Whether a function affects the phone's screen.
fn acts(call: &FunctionCall) -> bool {
    !matches!(&*call.function, "" | "wait" | "ask" | "invalidate_cache" | "remember")
        && !call.function.starts_with("get_")
        && call.function != "capture_screenshot"
}

/// A call in comparable form. The control is identified by its properties, because numbers shift
/// when a banner appears.
fn compared(screen: &ScreenState, call: &FunctionCall) -> String {
    let mut arguments = call.arguments.clone();
    arguments.remove("control_name");
    let target = call.control().and_then(|number| face(screen, number));
    if let Some(face) = target {
        arguments.insert("control_id".into(), face.into());
    }
    format!("{}{}", call.function, serde_json::Value::from(arguments))
}

/// Identifies a control: id, class, name, and its index among equals.
fn face(screen: &ScreenState, number: ControlNumber) -> Option<String> {
    let face = |node: &Node| format!("{} {} {}", node.id, node.class, node.name());
    let (_, node) = screen.nodes().find(|(counted, _)| *counted == number)?;
    let it = face(node);
    let nth = screen
        .nodes()
        .take_while(|(counted, _)| *counted < number)
        .filter(|(_, node)| face(node) == it);
    Some(format!("{it} {}", nth.count()))
}

/// A call as text.
fn call_text(screen: &ScreenState, call: &FunctionCall) -> String {
    const MAX_TEXT: usize = 40;
    let word = |name: &str| call.arguments.get(name).and_then(|value| value.as_str());
    let cut = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
    let control = || {
        let number = call.control()?;
        let (_, node) = screen.nodes().find(|(counted, _)| *counted == number)?;
        Some(cut(node.name()))
    };
    match control().or_else(|| word("control_name").map(cut)) {
        Some(name) => format!("{} on {name:?}", call.function),
        None => format!(
            "{}{}",
            call.function,
            cut(&serde_json::Value::from(call.arguments.clone()).to_string())
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::safeguards::screen_state::made::{buttons, node, scene};

    fn call(function: &str, arguments: serde_json::Value) -> FunctionCall {
        FunctionCall {
            function: function.into(),
            arguments: arguments.as_object().cloned().unwrap(),
        }
    }

    fn click(id: &str) -> FunctionCall {
        call("click_control", json!({ "control_id": id, "control_name": "x" }))
    }

    /// The steps, counted from 1, at which a loop is reported, and those at which it is hopeless. A
    /// step takes five seconds.
    fn watch(rounds: &[(ScreenState, Vec<FunctionCall>)]) -> (Vec<usize>, Vec<usize>) {
        let mut loops = LoopDetector::default();
        let (mut warned, mut hopeless) = (Vec::new(), Vec::new());
        for (at, (screen, actions)) in rounds.iter().enumerate() {
            let now = Duration::from_secs(5 * at as u64);
            if let Some(circle) = loops.on_call(screen, actions, now) {
                (if circle.hopeless { &mut hopeless } else { &mut warned }).push(at + 1);
            }
        }
        (warned, hopeless)
    }

    fn round(names: &[&str], id: &str) -> (ScreenState, Vec<FunctionCall>) {
        (buttons(names), vec![click(id)])
    }

    #[test]
    fn repeated_step_is_reported_then_hopeless() {
        let rounds: Vec<_> = (0..11).map(|_| round(&["Next", "Back"], "1")).collect();
        assert_eq!(watch(&rounds), ((3..10).collect(), vec![10, 11]));
    }

    #[test]
    fn loops_of_two_and_three_screens_are_found() {
        let all = [round(&["List"], "1"), round(&["Detail"], "1"), round(&["Menu", "Out"], "2")];
        for (length, warned, hopeless) in [(2, 6, 10), (3, 9, 15)] {
            let rounds: Vec<_> = (0..hopeless).map(|at| all[at % length].clone()).collect();
            let (first, end) = watch(&rounds);
            assert_eq!((first[0], end.as_slice()), (warned, [hopeless].as_slice()));
        }
    }

    #[test]
    fn leaving_a_loop_resets_the_count() {
        let mut rounds: Vec<_> = (0..4).map(|_| round(&["Next"], "1")).collect();
        rounds.push(round(&["Other"], "1"));
        rounds.extend((0..2).map(|_| round(&["Next"], "1")));
        assert_eq!(watch(&rounds), (vec![3, 4], vec![]));
    }

    #[test]
    fn clocks_and_counters_do_not_hide_a_loop() {
        let at = |n: usize| buttons(&["Open", &format!("10:0{}", n / 4), &format!("{n} viewers")]);
        let mut loops = LoopDetector::default();
        let mut found = None;
        for n in 0..3 {
            found = loops.on_call(&at(n * 2), &[click("1")], Duration::from_secs(20 * n as u64));
            // The policy takes its time, and the counter goes on.
            loops.on_idle_step(&at(n * 2), &at(n * 2 + 1));
        }
        let says = found.unwrap().text;
        assert!(says.contains("click_control on \"Open\""), "{says}");
    }

    #[test]
    fn value_changed_by_our_taps_is_not_a_loop() {
        let rounds: Vec<_> = (0..9).map(|n| round(&["+", &n.to_string()], "1")).collect();
        assert_eq!(watch(&rounds), (vec![], vec![]));
        let rounds: Vec<_> =
            (0..9).map(|n| round(&["+", &format!("07:{:02}", n * 2)], "1")).collect();
        assert_eq!(watch(&rounds), (vec![], vec![]));
    }

    #[test]
    fn waiting_typing_and_scrolling_are_not_loops() {
        let waiting = (buttons(&["Loading"]), vec![call("wait", json!({ "seconds": 5 }))]);
        assert_eq!(watch(&vec![waiting; 9]), (vec![], vec![]));

        let form = |filled: i32| {
            let field = |at| node("EditText", if at < filled { "x" } else { "" }, at);
            scene("app", (0..9).map(field).collect())
        };
        let typed = |at: i32| {
            let id = (at + 1).to_string();
            vec![call("type_text", json!({ "text": "x", "control_id": id, "control_name": "" }))]
        };
        let rounds: Vec<_> = (0..9).map(|at| (form(at), typed(at))).collect();
        assert_eq!(watch(&rounds), (vec![], vec![]));

        let swipe = json!({ "start_x": 1, "start_y": 9, "end_x": 1, "end_y": 2 });
        let list = |at: i32| {
            let rows = (at * 3..at * 3 + 6).zip(0..);
            scene(
                "app",
                rows.map(|(row, place)| node("TextView", &format!("Row {row}"), place)).collect(),
            )
        };
        let rounds: Vec<_> =
            (0..9).map(|at| (list(at), vec![call("swipe", swipe.clone())])).collect();
        assert_eq!(watch(&rounds), (vec![], vec![]));
    }

    #[test]
    fn banner_changes_numbers_but_not_the_call() {
        let plain = buttons(&["Open", "Close"]);
        let calls = |screen: &ScreenState, id: &str| compared(screen, &click(id));
        let shifted = buttons(&["News", "Open", "Close"]);
        assert_eq!(calls(&plain, "2"), calls(&shifted, "3"));
        assert_ne!(calls(&plain, "1"), calls(&plain, "2"));
        let rows = buttons(&["Buy", "Buy"]);
        assert_ne!(calls(&rows, "1"), calls(&rows, "2"));
    }
}

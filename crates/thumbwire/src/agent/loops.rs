//! Going round in circles: the same steps on the same screens, again and again.
//!
//! Begin with [`Loops::did`], which is told of each round. A circle of one to three steps is found when it was gone round
//! twice more; whoever decides is told then, and when it goes round twice again all the same, that is hopeless; a single step has ten tries. Screens are
//! compared by [`Words`], so that a clock makes no difference, and what changes with nothing done ([`Loops::idled`]) makes none
//! either. Rounds that only wait, ask or look count for nothing; a form that fills and a list that moves are other screens each
//! time.

use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

use thumbwire_device::Node;

use super::reply::Doing;
use super::scene::{Scene, Words};

/// The longest circle that is looked for.
const LONGEST: usize = 3;

/// How often a circle is gone round when it is told, and when it is hopeless.
const TOLD: usize = 3;
const HOPELESS: usize = TOLD + 2;
/// A single step is hopeless only then: some are meant to be repeated with nothing to be seen of it, such as the seven taps on the build
/// number that make a developer (`DevelopmentSettingsEnabler.java`), told of in a toast that no dump shows.
const HOPELESS_ALONE: usize = 10;

/// How many controls are remembered as changing by themselves.
const MOST_UNSTEADY: usize = 200;

/// Watches for circles.
#[derive(Debug, Default)]
pub struct Loops {
    steps: VecDeque<Step>,
    unsteady: HashSet<u64>,
}

/// A circle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// What is said of it: what was tried, and that something else should be.
    pub says: String,
    /// Whether it was told before, and gone round twice since.
    pub hopeless: bool,
}

#[derive(Debug)]
struct Step {
    words: Words,
    /// What was done, and to what, in a form that can be compared.
    did: String,
    /// The same as it is told.
    told: String,
    at: Duration,
}

impl Loops {
    /// Nothing was done between these two moments: what changed all the same tells nothing from now on.
    pub fn idled(&mut self, earlier: &Scene, later: &Scene) {
        for key in earlier.words().changed(&later.words()).into_iter().flatten() {
            if self.unsteady.len() < MOST_UNSTEADY {
                self.unsteady.insert(key);
            }
        }
    }

    /// This was done on that screen, so long after the run began. Gives the circle that it closed.
    pub fn did(&mut self, screen: &Scene, actions: &[Doing], at: Duration) -> Option<Circle> {
        let acts: Vec<&Doing> = actions.iter().filter(|doing| acts(doing)).collect();
        if acts.is_empty() {
            return None;
        }
        let join = |each: fn(&Scene, &Doing) -> String| {
            acts.iter().map(|doing| each(screen, doing)).collect::<Vec<_>>().join(", then ")
        };
        let step = Step { words: screen.words(), did: join(compared), told: join(told), at };
        self.steps.push_back(step);
        while self.steps.len() > LONGEST * HOPELESS {
            self.steps.pop_front();
        }
        (1..=LONGEST.min(self.steps.len())).find_map(|length| self.circle(length))
    }

    fn circle(&self, length: usize) -> Option<Circle> {
        let count = self.steps.len();
        let same = |round: usize| {
            // Each time round against the last time: a clock that is set runs away from itself.
            (0..length).all(|at| {
                let last = count - length + at;
                last.checked_sub(round * length).is_some_and(|earlier| {
                    let (one, other) = (&self.steps[earlier], &self.steps[last]);
                    let between = other.at.saturating_sub(one.at);
                    one.did == other.did && one.words.is_like(&other.words, between, &self.unsteady)
                })
            })
        };
        let hopeless = if length == 1 { HOPELESS_ALONE } else { HOPELESS };
        let times = 1 + (1..hopeless).take_while(|&round| same(round)).count();
        (times >= TOLD)
            .then(|| Circle { says: self.say(length, times), hopeless: times >= hopeless })
    }

    fn say(&self, length: usize, times: usize) -> String {
        let newest = self.steps.iter().skip(self.steps.len() - length);
        let mut steps = String::new();
        for (at, step) in newest.enumerate() {
            let _ = write!(steps, "{}{}", if at == 0 { "" } else { "; " }, step.told);
        }
        let what = match length {
            1 => "the same step on the same screen".to_owned(),
            _ => format!("the same {length} screens"),
        };
        format!(
            "You are going round in circles: {what}, {times} times now ({steps}). It does not lead on: try another \
             control, scroll, go back, or take another way; if there is none, end with FAIL and say why."
        )
    }
}

/// Whether a function does something to the phone's screen.
fn acts(doing: &Doing) -> bool {
    !matches!(&*doing.function, "" | "wait" | "ask" | "invalidate_cache" | "remember")
        && !doing.function.starts_with("get_")
        && doing.function != "capture_screenshot"
}

/// A call so that it can be compared: a control by what it is, since numbers change when a banner comes.
fn compared(screen: &Scene, doing: &Doing) -> String {
    let mut arguments = doing.arguments.clone();
    arguments.remove("control_name");
    let target =
        arguments.get("control_id").and_then(|id| id.as_str()).and_then(|id| face(screen, id));
    if let Some(face) = target {
        arguments.insert("control_id".into(), face.into());
    }
    format!("{}{}", doing.function, serde_json::Value::from(arguments))
}

/// A control by its id, class, and name, and its place among those of the same.
fn face(screen: &Scene, number: &str) -> Option<String> {
    let face = |node: &Node| format!("{} {} {}", node.id, node.class, node.name());
    let place = number.parse::<usize>().ok()?;
    let (_, node) = screen.nodes().find(|(counted, _)| *counted == place)?;
    let it = face(node);
    let nth = screen
        .nodes()
        .take_while(|(counted, _)| *counted < place)
        .filter(|(_, node)| face(node) == it);
    Some(format!("{it} {}", nth.count()))
}

/// A call in words.
fn told(screen: &Scene, doing: &Doing) -> String {
    const MOST: usize = 40;
    let word = |name: &str| doing.arguments.get(name).and_then(|value| value.as_str());
    let cut = |text: &str| text.chars().take(MOST).collect::<String>();
    let control = || {
        let number = word("control_id")?.parse::<usize>().ok()?;
        let (_, node) = screen.nodes().find(|(counted, _)| *counted == number)?;
        Some(cut(node.name()))
    };
    match control().or_else(|| word("control_name").map(cut)) {
        Some(name) => format!("{} on {name:?}", doing.function),
        None => format!(
            "{}{}",
            doing.function,
            cut(&serde_json::Value::from(doing.arguments.clone()).to_string())
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::scene::made::{buttons, node, scene};
    use super::*;

    fn doing(function: &str, arguments: serde_json::Value) -> Doing {
        Doing { function: function.into(), arguments: arguments.as_object().cloned().unwrap() }
    }

    fn click(id: &str) -> Doing {
        doing("click_control", json!({ "control_id": id, "control_name": "x" }))
    }

    /// In which of these rounds, counted from 1, a circle is told, and in which it is hopeless. Each takes five seconds.
    fn watch(rounds: &[(Scene, Vec<Doing>)]) -> (Vec<usize>, Vec<usize>) {
        let mut loops = Loops::default();
        let (mut told, mut hopeless) = (Vec::new(), Vec::new());
        for (at, (screen, actions)) in rounds.iter().enumerate() {
            let now = Duration::from_secs(5 * at as u64);
            if let Some(circle) = loops.did(screen, actions, now) {
                (if circle.hopeless { &mut hopeless } else { &mut told }).push(at + 1);
            }
        }
        (told, hopeless)
    }

    fn round(names: &[&str], id: &str) -> (Scene, Vec<Doing>) {
        (buttons(names), vec![click(id)])
    }

    #[test]
    fn one_step_that_leads_nowhere_is_told_the_third_time_and_hopeless_the_tenth() {
        let rounds: Vec<_> = (0..11).map(|_| round(&["Next", "Back"], "1")).collect();
        assert_eq!(watch(&rounds), ((3..10).collect(), vec![10, 11]));
    }

    #[test]
    fn circles_of_two_and_three_screens_are_found_within_two_repeats() {
        let all = [round(&["List"], "1"), round(&["Detail"], "1"), round(&["Menu", "Out"], "2")];
        for (length, told, hopeless) in [(2, 6, 10), (3, 9, 15)] {
            let rounds: Vec<_> = (0..hopeless).map(|at| all[at % length].clone()).collect();
            let (first, end) = watch(&rounds);
            assert_eq!((first[0], end.as_slice()), (told, [hopeless].as_slice()));
        }
    }

    #[test]
    fn who_leaves_the_circle_begins_anew() {
        let mut rounds: Vec<_> = (0..4).map(|_| round(&["Next"], "1")).collect();
        rounds.push(round(&["Other"], "1"));
        rounds.extend((0..2).map(|_| round(&["Next"], "1")));
        assert_eq!(watch(&rounds), (vec![3, 4], vec![]));
    }

    #[test]
    fn a_clock_and_a_counter_that_runs_by_itself_hide_no_circle() {
        let at = |n: usize| buttons(&["Open", &format!("10:0{}", n / 4), &format!("{n} viewers")]);
        let mut loops = Loops::default();
        let mut found = None;
        for n in 0..3 {
            found = loops.did(&at(n * 2), &[click("1")], Duration::from_secs(20 * n as u64));
            // A mind takes its time, and the counter goes on.
            loops.idled(&at(n * 2), &at(n * 2 + 1));
        }
        let says = found.unwrap().says;
        assert!(says.contains("click_control on \"Open\""), "{says}");
    }

    #[test]
    fn a_number_that_moves_because_of_us_is_no_circle() {
        let rounds: Vec<_> = (0..9).map(|n| round(&["+", &n.to_string()], "1")).collect();
        assert_eq!(watch(&rounds), (vec![], vec![]));
        let rounds: Vec<_> =
            (0..9).map(|n| round(&["+", &format!("07:{:02}", n * 2)], "1")).collect();
        assert_eq!(watch(&rounds), (vec![], vec![]));
    }

    #[test]
    fn waiting_filling_a_form_and_scrolling_are_no_circles() {
        let waiting = (buttons(&["Loading"]), vec![doing("wait", json!({ "seconds": 5 }))]);
        assert_eq!(watch(&vec![waiting; 9]), (vec![], vec![]));

        let form = |filled: i32| {
            let field = |at| node("EditText", if at < filled { "x" } else { "" }, at);
            scene("app", (0..9).map(field).collect())
        };
        let typed = |at: i32| {
            let id = (at + 1).to_string();
            vec![doing("type_text", json!({ "text": "x", "control_id": id, "control_name": "" }))]
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
            (0..9).map(|at| (list(at), vec![doing("swipe", swipe.clone())])).collect();
        assert_eq!(watch(&rounds), (vec![], vec![]));
    }

    #[test]
    fn a_banner_that_comes_and_goes_changes_numbers_and_not_what_is_done() {
        let plain = buttons(&["Open", "Close"]);
        let did = |screen: &Scene, id: &str| compared(screen, &click(id));
        let shifted = buttons(&["News", "Open", "Close"]);
        assert_eq!(did(&plain, "2"), did(&shifted, "3"));
        assert_ne!(did(&plain, "1"), did(&plain, "2"));
        let rows = buttons(&["Buy", "Buy"]);
        assert_ne!(did(&rows, "1"), did(&rows, "2"));
    }
}

//! A screen as the safeguards compare it: which app is in front, and what its controls say.
//!
//! Begin with [`Scene`], a screen at one moment. [`Words`] is what it says, held so that two moments can be compared though
//! a clock ran on between them. Nothing here looks at a phone or knows the time; both are handed in.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use regex_lite::{Captures, Regex};
use thumbwire_device::{Foreground, Node, field};

use crate::action::Controls;

/// How many controls of a screen are compared. A list that is longer tells itself by its beginning.
const MOST_ROWS: usize = 500;

/// A screen at one moment.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The app that has the focus; `None` where that is not known, or none has it.
    pub app: Option<String>,
    /// Its screen, in the platform's words; empty where unknown.
    pub screen: String,
    /// What it shows; `None` where it could not be read.
    pub controls: Option<Arc<Controls>>,
}

impl Scene {
    /// These controls, with this in front.
    pub fn new(controls: Option<Arc<Controls>>, front: Option<&Foreground>) -> Self {
        Self {
            app: front.map(|front| front.app.0.clone()),
            screen: front.map(|front| front.screen.clone()).unwrap_or_default(),
            controls,
        }
    }

    /// The nodes of its controls, each with its number in the list.
    pub fn nodes(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.controls.iter().flat_map(|controls| controls.iter())
    }

    /// What it says.
    pub fn words(&self) -> Words {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let row = |(_, node): (usize, &Node)| {
            let face = sum(&(&node.class, &node.id));
            let nth = seen.entry(face).or_default();
            *nth += 1;
            Row::of(node, sum(&(face, *nth)))
        };
        let rows = self.nodes().take(MOST_ROWS).map(row).collect();
        Words { app: self.app.clone(), screen: self.screen.clone(), rows }
    }
}

/// What a screen says, without what runs by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    app: Option<String>,
    screen: String,
    rows: Vec<Row>,
}

/// What a control says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// Which one it is: by class, id, and its place among those of the same.
    key: u64,
    /// Its words, with a sign for each time of day or length of time.
    said: String,
    /// The times that were there.
    readings: Vec<Reading>,
    /// Whether it is ticked, chosen, greyed out, in focus.
    state: [bool; 4],
}

/// A time of day, or a length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    seconds: u64,
    /// Seconds to its next sign: 60 for `10:05`.
    grain: u64,
}

impl Row {
    fn of(node: &Node, key: u64) -> Self {
        let mut readings = Vec::new();
        let mut said = format!("{}\n{}", node.text, node.description);
        // What somebody typed is no clock.
        if !field::takes_text(node) {
            said = TIMES.replace_all(&said, |time: &Captures<'_>| read(time, &mut readings)).into();
        }
        let flags = node.flags;
        let state = [flags.checked, flags.selected, !flags.enabled, flags.focused];
        Self { key, said, readings, state }
    }

    fn is_like(&self, other: &Self, between: Duration, unsteady: &HashSet<u64>) -> bool {
        self.key == other.key
            && self.state == other.state
            && (unsteady.contains(&self.key)
                || (self.said == other.said
                    && self.readings.len() == other.readings.len()
                    && self
                        .readings
                        .iter()
                        .zip(&other.readings)
                        .all(|(a, b)| ran_on(*a, *b, between))))
    }
}

/// Whether a clock may have gone from one to the other in that time. One that somebody sets goes faster.
fn ran_on(one: Reading, other: Reading, between: Duration) -> bool {
    one.grain == other.grain && one.seconds.abs_diff(other.seconds) <= between.as_secs() + one.grain
}

/// `10:05`, `10:05:30`, `4 seconds`, `5 min`.
static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    let clock = r"\b(\d{1,2}):(\d{2})(?::(\d{2}))?\b";
    let length = r"\b(\d{1,6})\s?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b";
    // Fixed, and compiled by a test.
    Regex::new(&format!("(?i){clock}|{length}")).expect("a pattern that compiles")
});

fn read(time: &Captures<'_>, readings: &mut Vec<Reading>) -> &'static str {
    let number = |at: usize| time.get(at).and_then(|it| it.as_str().parse::<u64>().ok());
    let reading = match (number(1), number(2), number(3)) {
        // Of two numbers nobody knows whether they are hours and minutes; these run slower, and so excuse less.
        (Some(hours), Some(minutes), None) => {
            Reading { seconds: (hours * 60 + minutes) * 60, grain: 60 }
        }
        (Some(hours), Some(minutes), Some(seconds)) => {
            Reading { seconds: (hours * 60 + minutes) * 60 + seconds, grain: 1 }
        }
        _ => {
            let unit = time.get(5).map_or("", |it| it.as_str());
            let grain = match unit.chars().next().map(|first| first.to_ascii_lowercase()) {
                Some('h') => 3600,
                Some('m') => 60,
                _ => 1,
            };
            Reading { seconds: number(4).unwrap_or(0) * grain, grain }
        }
    };
    readings.push(reading);
    "\u{231a}"
}

impl Words {
    /// Whether the two are the same screen, seen with so much time between. What is `unsteady` may say anything.
    pub(super) fn is_like(&self, other: &Self, between: Duration, unsteady: &HashSet<u64>) -> bool {
        (&self.app, &self.screen, self.rows.len()) == (&other.app, &other.screen, other.rows.len())
            && self.rows.iter().zip(&other.rows).all(|(a, b)| a.is_like(b, between, unsteady))
    }

    /// What changed by itself from this moment to a later one at which nothing had been done: controls that are the same and
    /// say something else. `None` where more than words changed.
    pub(super) fn changed(&self, later: &Self) -> Option<Vec<u64>> {
        let same = (&self.app, &self.screen, self.rows.len())
            == (&later.app, &later.screen, later.rows.len());
        let pairs = || self.rows.iter().zip(&later.rows);
        (same && pairs().all(|(a, b)| a.key == b.key))
            .then(|| pairs().filter(|(a, b)| a != b).map(|(a, _)| a.key).collect())
    }

    /// How much of what this one says the other says too, in its own order or another: 0 to 1. Clocks are left out.
    pub(super) fn found_in(&self, other: &Self) -> f64 {
        match self.rows.len() {
            0 => 1.0,
            all => 1.0 - self.missing(other).len() as f64 / all as f64,
        }
    }

    /// What this one says and the other does not: the first words of each control, which may be none.
    pub(super) fn missing_in<'a>(&'a self, other: &Self) -> impl Iterator<Item = &'a str> {
        self.missing(other).into_iter().map(|row| row.said.trim().lines().next().unwrap_or(""))
    }

    fn missing(&self, other: &Self) -> Vec<&Row> {
        let there: HashSet<(u64, &str)> =
            other.rows.iter().map(|row| (row.key, &*row.said)).collect();
        let words: HashSet<&str> = other.rows.iter().map(|row| &*row.said).collect();
        let says = |row: &&Row| match row.said.trim() {
            "" => there.contains(&(row.key, &*row.said)),
            _ => words.contains(&*row.said),
        };
        self.rows.iter().filter(|row| !says(row)).collect()
    }
}

fn sum(it: &impl std::hash::Hash) -> u64 {
    let mut sum = DefaultHasher::new();
    it.hash(&mut sum);
    sum.finish()
}

/// Screens for tests of the rooms beside.
#[cfg(test)]
pub(super) mod made {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::{Flags, Rect, Tree};

    use super::*;
    use crate::look::Look;

    /// A control of this class, saying this, at a place in a list.
    pub(crate) fn node(class: &str, text: &str, at: i32) -> Node {
        let bounds = Rect { left: 0, top: at * 50, right: 400, bottom: at * 50 + 50 };
        Node {
            class: format!("android.widget.{class}"),
            package: "app".into(),
            text: text.into(),
            bounds,
            flags: Flags { clickable: true, enabled: true, ..Flags::default() },
            ..Node::default()
        }
    }

    pub(crate) fn controls(nodes: Vec<Node>) -> Arc<Controls> {
        let look = Look::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1));
        Arc::new(Controls::of(Arc::new(look)))
    }

    /// A screen of an app with these controls.
    pub(crate) fn scene(app: &str, nodes: Vec<Node>) -> Scene {
        Scene { app: Some(app.into()), screen: "Main".into(), controls: Some(controls(nodes)) }
    }

    /// A screen of buttons.
    pub(crate) fn buttons(names: &[&str]) -> Scene {
        let nodes = (0..).zip(names).map(|(at, name)| node("Button", name, at)).collect();
        scene("app", nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::made::{buttons, node, scene};
    use super::*;

    fn alike(one: &str, other: &str, seconds: u64) -> bool {
        let words = |text| buttons(&["Save", text]).words();
        words(one).is_like(&words(other), Duration::from_secs(seconds), &HashSet::new())
    }

    #[test]
    fn a_clock_that_ran_on_leaves_a_screen_the_same_and_one_that_was_set_does_not() {
        assert!(alike("10:05", "10:06", 5));
        assert!(!alike("10:05", "10:08", 5));
        assert!(alike("0 minutes 4 seconds", "0 minutes 9 seconds", 5));
        assert!(alike("updated 5 min ago", "updated 6 min ago", 30));
        assert!(alike("00:00:58", "00:01:03", 5));
        assert!(!alike("10:05", "10:05:00", 5));
        // A number alone may be what somebody works on.
        assert!(!alike("5", "6", 5));
        assert!(!alike("5", "55", 5));
    }

    #[test]
    fn what_somebody_typed_is_no_clock() {
        let words = |text| scene("app", vec![node("EditText", text, 0)]).words();
        assert!(!words("10:05").is_like(&words("10:06"), Duration::from_secs(5), &HashSet::new()));
    }

    #[test]
    fn a_tick_a_focus_and_another_app_make_another_screen() {
        let none = HashSet::new();
        let words = |app: &str, change: fn(&mut Node)| {
            let mut it = node("CheckBox", "Wi-Fi", 0);
            change(&mut it);
            scene(app, vec![it]).words()
        };
        let plain = words("app", |_| {});
        assert!(plain.is_like(&words("app", |_| {}), Duration::ZERO, &none));
        for other in [
            words("other", |_| {}),
            words("app", |node| node.flags.checked = true),
            words("app", |node| node.flags.focused = true),
            words("app", |node| node.flags.enabled = false),
        ] {
            assert!(!plain.is_like(&other, Duration::ZERO, &none));
        }
    }

    #[test]
    fn what_changes_with_nothing_done_is_told_from_a_new_screen() {
        let (one, two) = (buttons(&["3 messages", "Open"]), buttons(&["4 messages", "Open"]));
        let changed = one.words().changed(&two.words()).unwrap();
        assert_eq!(changed.len(), 1);
        let unsteady = changed.into_iter().collect();
        assert!(one.words().is_like(&two.words(), Duration::ZERO, &unsteady));
        assert_eq!(one.words().changed(&buttons(&["Open"]).words()), None);
    }

    #[test]
    fn a_screen_is_found_in_another_by_what_it_says() {
        let (one, two) = (buttons(&["A", "B", "C", "10:05"]), buttons(&["Ad", "C", "B", "10:59"]));
        assert_eq!(one.words().found_in(&two.words()), 0.75);
        assert_eq!(one.words().missing_in(&two.words()).collect::<Vec<_>>(), ["A"]);
        assert_eq!(Scene::default().words().found_in(&two.words()), 1.0);
    }
}

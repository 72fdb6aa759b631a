//! A screen as the safeguards compare it: the app in front, and the text of its controls.
//!
//! Start with [`ScreenState`], a screen at one moment. [`ScreenText`] is its text, in a form that
//! can be compared although clocks have advanced. Nothing here reads a phone or the time; both are
//! passed in.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use regex_lite::{Captures, Regex};
use thumbwire_device::{ForegroundApp, Node, text_field};

use thumbwire_core::action::{ControlNumber, Controls};

/// How many controls are compared. The start of a longer list identifies it.
const MAX_ROWS: usize = 500;

/// A screen at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScreenState {
    /// The app that has the focus, if known.
    pub app: Option<String>,
    /// Its screen, as the platform names it; empty if unknown.
    pub screen: String,
    /// Its controls; `None` if they could not be read.
    pub controls: Option<Arc<Controls>>,
}

impl ScreenState {
    /// A screen with these controls and this foreground.
    pub(crate) fn new(controls: Option<Arc<Controls>>, front: Option<&ForegroundApp>) -> Self {
        Self {
            app: front.map(|front| front.app.0.clone()),
            screen: front.map(|front| front.screen.clone()).unwrap_or_default(),
            controls,
        }
    }

    /// The screen with these controls. What is in front comes with their tree; if the phone does
    /// not say, it is the app whose window the list shows.
    pub(crate) fn of(controls: Arc<Controls>) -> Self {
        let tree = &controls.snapshot.tree;
        let shown = || {
            let mut packages = controls.iter().map(|(_, node)| &*node.package);
            packages.find(|package| !package.is_empty()).map(str::to_owned)
        };
        let front = tree.front.app();
        let app = front.map(|front| front.app.0.clone()).or_else(shown);
        let screen = front.map(|front| front.screen.clone()).unwrap_or_default();
        Self { app, screen, controls: Some(controls) }
    }

    /// The nodes of its controls, each with its number in the list.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (ControlNumber, &Node)> {
        self.controls.iter().flat_map(|controls| controls.iter())
    }

    /// What goes back from it, after "go back with": a key on Android, a button on iOS.
    pub(crate) fn way_back(&self) -> &'static str {
        match self.nodes().any(|(_, node)| node.class.starts_with("XCUIElementType")) {
            true => "the button at the top left",
            false => "KEYCODE_BACK",
        }
    }

    /// Its text.
    pub(crate) fn texts(&self) -> ScreenText {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let row = |(_, node): (ControlNumber, &Node)| {
            let face = sum(&(&node.class, &node.id));
            let nth = seen.entry(face).or_default();
            *nth += 1;
            Row::of(node, sum(&(face, *nth)))
        };
        let rows = self.nodes().take(MAX_ROWS).map(row).collect();
        ScreenText { app: self.app.clone(), screen: self.screen.clone(), rows }
    }
}

/// The text of a screen, without running clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScreenText {
    app: Option<String>,
    screen: String,
    rows: Vec<Row>,
}

/// The text of a control.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// Identifies the control: class, id, and its index among equals.
    key: u64,
    /// Its text, with times and durations replaced by a symbol.
    text: String,
    /// The values of those times and durations.
    readings: Vec<ClockValue>,
    /// Whether it is checked, selected, disabled, focused.
    state: [bool; 4],
}

/// A time of day or a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClockValue {
    seconds: u64,
    /// Its resolution in seconds: 60 for `10:05`.
    grain: u64,
}

impl Row {
    fn of(node: &Node, key: u64) -> Self {
        let mut readings = Vec::new();
        let mut text = format!("{}\n{}", node.text, node.description);
        // Typed text is not a clock.
        if !text_field::is_text_field(node) {
            text = TIMES.replace_all(&text, |time: &Captures<'_>| read(time, &mut readings)).into();
        }
        let flags = node.flags;
        let state = [flags.checked, flags.selected, !flags.enabled, flags.focused];
        Self { key, text, readings, state }
    }

    fn is_similar_to(&self, other: &Self, between: Duration, unsteady: &HashSet<u64>) -> bool {
        self.key == other.key
            && self.state == other.state
            && (unsteady.contains(&self.key)
                || (self.text == other.text
                    && self.readings.len() == other.readings.len()
                    && self
                        .readings
                        .iter()
                        .zip(&other.readings)
                        .all(|(a, b)| only_clock_changed(*a, *b, between))))
    }
}

/// Whether a running clock can explain the difference after this time. A clock that someone sets
/// moves faster.
fn only_clock_changed(one: ClockValue, other: ClockValue, between: Duration) -> bool {
    one.grain == other.grain && one.seconds.abs_diff(other.seconds) <= between.as_secs() + one.grain
}

/// Matches `10:05`, `10:05:30`, `4 seconds`, `5 min`.
static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    let clock = r"\b(\d{1,2}):(\d{2})(?::(\d{2}))?\b";
    let length = r"\b(\d{1,6})\s?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b";
    // The pattern is fixed, and a test compiles it.
    Regex::new(&format!("(?i){clock}|{length}")).expect("a pattern that compiles")
});

fn read(time: &Captures<'_>, readings: &mut Vec<ClockValue>) -> &'static str {
    let number = |at: usize| time.get(at).and_then(|it| it.as_str().parse::<u64>().ok());
    let reading = match (number(1), number(2), number(3)) {
        // Two numbers may be hours and minutes or minutes and seconds. Hours and minutes advance
        // slower, so they excuse less.
        (Some(hours), Some(minutes), None) => {
            ClockValue { seconds: (hours * 60 + minutes) * 60, grain: 60 }
        }
        (Some(hours), Some(minutes), Some(seconds)) => {
            ClockValue { seconds: (hours * 60 + minutes) * 60 + seconds, grain: 1 }
        }
        _ => {
            let unit = time.get(5).map_or("", |it| it.as_str());
            let grain = match unit.chars().next().map(|first| first.to_ascii_lowercase()) {
                Some('h') => 3600,
                Some('m') => 60,
                _ => 1,
            };
            ClockValue { seconds: number(4).unwrap_or(0) * grain, grain }
        }
    };
    readings.push(reading);
    "\u{231a}"
}

impl ScreenText {
    /// Whether both are the same screen, `between` apart. The text of `unsteady` controls is
    /// ignored.
    pub(crate) fn is_similar_to(
        &self,
        other: &Self,
        between: Duration,
        unsteady: &HashSet<u64>,
    ) -> bool {
        (&self.app, &self.screen, self.rows.len()) == (&other.app, &other.screen, other.rows.len())
            && self.rows.iter().zip(&other.rows).all(|(a, b)| a.is_similar_to(b, between, unsteady))
    }

    /// The controls whose text changed by itself between this moment and a later one with no action
    /// in between. `None` if more than texts changed.
    pub(crate) fn changed(&self, later: &Self) -> Option<Vec<u64>> {
        let same = (&self.app, &self.screen, self.rows.len())
            == (&later.app, &later.screen, later.rows.len());
        let pairs = || self.rows.iter().zip(&later.rows);
        (same && pairs().all(|(a, b)| a.key == b.key))
            .then(|| pairs().filter(|(a, b)| a != b).map(|(a, _)| a.key).collect())
    }

    /// The share of this screen's texts that the other has too, in any order: 0 to 1. Clocks are
    /// ignored.
    pub(crate) fn found_in(&self, other: &Self) -> f64 {
        let keyed: HashSet<(u64, &str)> =
            other.rows.iter().map(|row| (row.key, &*row.text)).collect();
        let text: HashSet<&str> = other.rows.iter().map(|row| &*row.text).collect();
        let has = |row: &&Row| match row.text.trim() {
            "" => keyed.contains(&(row.key, &*row.text)),
            _ => text.contains(&*row.text),
        };
        match self.rows.len() {
            0 => 1.0,
            all => self.rows.iter().filter(has).count() as f64 / all as f64,
        }
    }
}

fn sum(it: &impl std::hash::Hash) -> u64 {
    let mut sum = DefaultHasher::new();
    it.hash(&mut sum);
    sum.finish()
}

/// Screens for tests of other modules.
#[cfg(test)]
pub(crate) mod made {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::{Flags, Rect, Tree};

    use super::*;
    use thumbwire_core::snapshot::Snapshot;

    /// A control of this class with this text, at an index in a list.
    pub(crate) fn node(class: &str, text: &str, at: i32) -> Node {
        let bounds = Rect { left: 0, top: at * 50, right: 400, bottom: at * 50 + 50 };
        Node {
            class: format!("android.widget.{class}").into(),
            package: "app".into(),
            text: text.into(),
            bounds,
            flags: Flags { clickable: true, enabled: true, ..Flags::default() },
            ..Node::default()
        }
    }

    pub(crate) fn controls(nodes: Vec<Node>) -> Arc<Controls> {
        let snapshot =
            Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1));
        Arc::new(Controls::of(Arc::new(snapshot)))
    }

    /// A screen of an app with these controls.
    pub(crate) fn scene(app: &str, nodes: Vec<Node>) -> ScreenState {
        ScreenState {
            app: Some(app.into()),
            screen: "Main".into(),
            controls: Some(controls(nodes)),
        }
    }

    /// A screen of buttons.
    pub(crate) fn buttons(names: &[&str]) -> ScreenState {
        let nodes = (0..).zip(names).map(|(at, name)| node("Button", name, at)).collect();
        scene("app", nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::made::{buttons, node, scene};
    use super::*;

    fn alike(one: &str, other: &str, seconds: u64) -> bool {
        let words = |text| buttons(&["Save", text]).texts();
        words(one).is_similar_to(&words(other), Duration::from_secs(seconds), &HashSet::new())
    }

    #[test]
    fn running_clock_is_ignored_and_set_clock_is_not() {
        assert!(alike("10:05", "10:06", 5));
        assert!(!alike("10:05", "10:08", 5));
        assert!(alike("0 minutes 4 seconds", "0 minutes 9 seconds", 5));
        assert!(alike("updated 5 min ago", "updated 6 min ago", 30));
        assert!(alike("00:00:58", "00:01:03", 5));
        assert!(!alike("10:05", "10:05:00", 5));
        // A bare number may be what the user is working on.
        assert!(!alike("5", "6", 5));
        assert!(!alike("5", "55", 5));
    }

    #[test]
    fn typed_text_is_not_a_clock() {
        let words = |text| scene("app", vec![node("EditText", text, 0)]).texts();
        assert!(!words("10:05").is_similar_to(
            &words("10:06"),
            Duration::from_secs(5),
            &HashSet::new()
        ));
    }

    #[test]
    fn check_focus_and_app_changes_make_another_screen() {
        let none = HashSet::new();
        let text = |app: &str, change: fn(&mut Node)| {
            let mut it = node("CheckBox", "Wi-Fi", 0);
            change(&mut it);
            scene(app, vec![it]).texts()
        };
        let plain = text("app", |_| {});
        assert!(plain.is_similar_to(&text("app", |_| {}), Duration::ZERO, &none));
        for other in [
            text("other", |_| {}),
            text("app", |node| node.flags.checked = true),
            text("app", |node| node.flags.focused = true),
            text("app", |node| node.flags.enabled = false),
        ] {
            assert!(!plain.is_similar_to(&other, Duration::ZERO, &none));
        }
    }

    #[test]
    fn self_changing_text_differs_from_a_new_screen() {
        let (one, two) = (buttons(&["3 messages", "Open"]), buttons(&["4 messages", "Open"]));
        let changed = one.texts().changed(&two.texts()).unwrap();
        assert_eq!(changed.len(), 1);
        let unsteady = changed.into_iter().collect();
        assert!(one.texts().is_similar_to(&two.texts(), Duration::ZERO, &unsteady));
        assert_eq!(one.texts().changed(&buttons(&["Open"]).texts()), None);
    }

    #[test]
    fn screen_similarity_counts_shared_texts() {
        let (one, two) = (buttons(&["A", "B", "C", "10:05"]), buttons(&["Ad", "C", "B", "10:59"]));
        assert_eq!(one.texts().found_in(&two.texts()), 0.75);
        assert_eq!(ScreenState::default().texts().found_in(&two.texts()), 1.0);
    }
}

//! The script of a task: steps that name what a person reads on the screen, never its position.
//!
//! A [`ScriptStep`] says what to do and an [`ScriptTarget`] what to do it to, found among the
//! [`VisibleControl`] controls. The oracle runs a script literally; the scripted policy uses it as
//! hints and finds its own way (`policy`). Scripts are written for Android; [`ScriptStep::on_ios`]
//! says the same for an iPhone. Nothing here accesses a phone.

use regex_lite::Regex;

/// A step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptStep {
    /// Brings an app to the front, by package or bundle id.
    Launch(&'static str),
    /// Taps it.
    Tap(ScriptTarget),
    /// Long-presses it for a second.
    LongPress(ScriptTarget),
    /// Replaces the text of a field. `{0}` is the first text read.
    Type(ScriptTarget, String),
    /// Scrolls until it is visible.
    ScrollTo(ScriptTarget, ScriptSwipe),
    /// Taps repeatedly until `shows` is visible, up to `max` times.
    TapUntil {
        /// What to tap.
        tap: ScriptTarget,
        /// What undoes a tap, if anything does.
        back: Option<ScriptTarget>,
        /// Visible when done.
        shows: ScriptTarget,
        /// Maximum number of taps.
        max: u32,
    },
    /// Taps the switch next to this text unless it is in the given state.
    SetSwitch(ScriptTarget, bool),
    /// Presses a key, by its name in `KeyEvent.java` without `KEYCODE_`.
    Press(&'static str),
    /// Swipes across the screen.
    Swipe(ScriptSwipe),
    /// Reads its text; for a pattern with a group, that group.
    Read(ScriptTarget),
    /// Reads how many controls match.
    Count(ScriptTarget),
    /// Reads the sum of the whole numbers read so far.
    Sum,
    /// If this is visible, skips the steps up to the next launch, because they are done.
    SkipIfVisible(ScriptTarget),
    /// Answers the user's question.
    Answer(String),
}

impl ScriptStep {
    /// The same step on an iPhone: apps have bundle ids, and instead of a back key there is a
    /// button at the top left.
    pub fn on_ios(self, bundle_id: impl FnOnce(&'static str) -> &'static str) -> Self {
        match self {
            Self::Launch(package) => Self::Launch(bundle_id(package)),
            Self::Press("BACK") => Self::Tap(up_button()),
            Self::Tap(ScriptTarget::Text(text))
                if ["Navigate up", "Back", ARABIC_UP].contains(&&*text) =>
            {
                Self::Tap(up_button())
            }
            // A bar that only looks like a field on Android is one on iOS.
            Self::Tap(ScriptTarget::Text(text)) if text.starts_with("Search ") => {
                Self::Tap(like(format!("^{}$", regex_lite::escape(&text))))
            }
            step => step,
        }
    }
}

/// Direction of a swipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptSwipe {
    /// Upwards: shows what is further down.
    Up,
    /// Downwards: shows what is further up.
    Down,
    /// Downwards from the top edge: opens the notification shade.
    FromTop,
}

impl ScriptSwipe {
    /// Start and end point on a screen of this size.
    pub fn across(self, (width, height): (i32, i32)) -> [(i32, i32); 2] {
        let (x, high, low) = (width / 2, height * 3 / 10, height * 7 / 10);
        match self {
            Self::Up => [(x, low), (x, high)],
            Self::Down => [(x, high), (x, low)],
            Self::FromTop => [(x, 2), (x, low)],
        }
    }
}

/// The target of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptTarget {
    /// A control with exactly this text that is not a text field.
    Text(String),
    /// A control whose text matches this pattern, including text fields.
    Pattern(String),
    /// The text field with this index among those on the screen, starting at 0.
    Field(usize),
    /// Of all controls that match the first, the one vertically nearest to the second.
    SameRow(Box<ScriptTarget>, Box<ScriptTarget>),
    /// The first if it is visible, else the second.
    Or(Box<ScriptTarget>, Box<ScriptTarget>),
}

/// See [`ScriptTarget::Text`].
pub fn with_text(text: impl Into<String>) -> ScriptTarget {
    ScriptTarget::Text(text.into())
}

/// See [`ScriptTarget::Pattern`].
pub fn like(pattern: impl Into<String>) -> ScriptTarget {
    ScriptTarget::Pattern(pattern.into())
}

/// See [`ScriptTarget::Field`].
pub fn field(place: usize) -> ScriptTarget {
    ScriptTarget::Field(place)
}

/// "Navigate up" of the Arabic app.
pub(crate) const ARABIC_UP: &str = "التنقل إلى أعلى";

/// The button at the top left of an iPhone's page that leads to the one before it.
pub fn up_button() -> ScriptTarget {
    with_text("Navigate up").or(with_text("Back")).or(with_text("Cancel"))
}

impl ScriptTarget {
    /// See [`ScriptTarget::SameRow`].
    pub fn beside(self, other: ScriptTarget) -> Self {
        Self::SameRow(Box::new(self), Box::new(other))
    }

    /// See [`ScriptTarget::Or`].
    pub fn or(self, other: ScriptTarget) -> Self {
        Self::Or(Box::new(self), Box::new(other))
    }

    /// This target, with the texts read so far in place of `{0}`, `{1}` and so on.
    pub fn filled(&self, read: &[String]) -> Self {
        match self {
            Self::Text(words) => Self::Text(fill(words, read)),
            Self::Pattern(pattern) => {
                let read: Vec<String> = read.iter().map(|text| regex_lite::escape(text)).collect();
                Self::Pattern(fill(pattern, &read))
            }
            Self::Field(place) => Self::Field(*place),
            Self::SameRow(one, other) => one.filled(read).beside(other.filled(read)),
            Self::Or(one, other) => one.filled(read).or(other.filled(read)),
        }
    }

    /// The texts that it may have, as far as it names them.
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::Or(one, other) => [one.texts(), other.texts()].concat(),
            Self::Pattern(_) | Self::Field(_) | Self::SameRow(..) => Vec::new(),
        }
    }

    /// Its index among the visible controls.
    pub fn find(&self, shown: &[VisibleControl]) -> Option<usize> {
        match self {
            Self::Or(one, other) => one.find(shown).or_else(|| other.find(shown)),
            Self::SameRow(what, other) => {
                let beside = &shown[other.find(shown)?];
                let fits = what.all(shown).into_iter();
                fits.min_by_key(|&at| beside.distance(&shown[at]))
            }
            _ => self.all(shown).into_iter().next(),
        }
    }

    /// The indices of all matching controls.
    fn all(&self, shown: &[VisibleControl]) -> Vec<usize> {
        let fits: Box<dyn Fn(&VisibleControl) -> bool> = match self {
            Self::Text(words) => Box::new(move |one| one.name == *words && !one.is_field()),
            Self::Pattern(pattern) => match Regex::new(pattern) {
                Ok(pattern) => Box::new(move |one| pattern.is_match(&one.name)),
                Err(_) => Box::new(|_| false),
            },
            Self::Field(place) => {
                let fields = shown.iter().enumerate().filter(|(_, one)| one.is_field());
                return fields.map(|(at, _)| at).skip(*place).take(1).collect();
            }
            Self::SameRow(..) | Self::Or(..) => return self.find(shown).into_iter().collect(),
        };
        shown.iter().enumerate().filter(|(_, one)| fits(one)).map(|(at, _)| at).collect()
    }

    /// How many of the visible controls match. An iPhone's cell and the text in it are one.
    pub fn count(&self, shown: &[VisibleControl]) -> usize {
        let all = self.all(shown);
        let is_inside_another = |at: usize| {
            let inner = &shown[at];
            let mut outer = all.iter().filter(|other| **other < at).map(|other| &shown[*other]);
            inner.is_of_ios()
                && outer.any(|outer| outer.name == inner.name && outer.encloses(inner))
        };
        all.iter().filter(|at| !is_inside_another(**at)).count()
    }

    /// The text to read from it: all of it, or the group of a pattern with a group.
    pub fn read(&self, text: &str) -> String {
        let group = |pattern: &str| {
            let found = Regex::new(pattern).ok()?.captures(text)?.get(1)?.as_str().to_owned();
            Some(found)
        };
        match self {
            Self::Pattern(pattern) => group(pattern).unwrap_or_else(|| text.to_owned()),
            Self::SameRow(what, _) => what.read(text),
            Self::Or(one, _) => one.read(text),
            Self::Text(_) | Self::Field(_) => text.to_owned(),
        }
    }
}

/// What the names of XCUITest's types begin with.
const XCUI: &str = "XCUIElementType";

/// A visible control, as listed in an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleControl {
    /// Its text.
    pub name: String,
    /// The last part of its class, or its XCUITest type.
    pub kind: String,
    /// Left, top, right, bottom, in screenshot pixels.
    pub rect: [i32; 4],
    /// Whether it is checked.
    pub checked: bool,
    /// Its line in a list that says nothing of places; the rectangle then means nothing.
    pub line: Option<i32>,
}

impl VisibleControl {
    /// Where a tap goes.
    pub fn middle(&self) -> (i32, i32) {
        let [left, top, right, bottom] = self.rect;
        ((left + right) / 2, (top + bottom) / 2)
    }

    /// How far another control is from it, vertically. In a list without places a value follows its
    /// label, so what comes before is farther.
    fn distance(&self, other: &Self) -> i32 {
        const BEFORE: i32 = 6;
        match (self.line, other.line) {
            (Some(at), Some(other)) if other < at => (at - other) * BEFORE,
            (Some(at), Some(other)) => other - at,
            _ => (other.middle().1 - self.middle().1).abs(),
        }
    }

    fn encloses(&self, other: &Self) -> bool {
        let [left, top, right, bottom] = self.rect;
        left <= other.rect[0]
            && top <= other.rect[1]
            && right >= other.rect[2]
            && bottom >= other.rect[3]
    }

    /// Whether it is on an iPhone.
    pub(crate) fn is_of_ios(&self) -> bool {
        self.kind.starts_with(XCUI)
    }

    /// Whether it accepts text.
    pub fn is_field(&self) -> bool {
        const IOS: [&str; 4] = ["TextField", "SecureTextField", "SearchField", "TextView"];
        match self.kind.strip_prefix(XCUI) {
            Some(kind) => IOS.contains(&kind),
            None => self.kind.contains("EditText"),
        }
    }

    /// Whether it is a switch or checkbox.
    pub fn is_switch(&self) -> bool {
        let kind = self.kind.strip_prefix(XCUI).unwrap_or(&self.kind);
        ["Switch", "CheckBox", "RadioButton", "ToggleButton"].contains(&kind)
    }
}

/// The index of the switch next to the target, or of the target if it is one.
pub fn switch_of(target: &ScriptTarget, shown: &[VisibleControl]) -> Option<usize> {
    let at = target.find(shown)?;
    if shown[at].is_switch() {
        return Some(at);
    }
    let switches = shown.iter().enumerate().filter(|(_, one)| one.is_switch());
    switches.min_by_key(|(_, one)| shown[at].distance(one)).map(|(at, _)| at)
}

/// A text with the texts read so far in place of `{0}`, `{1}` and so on.
pub fn fill(text: &str, read: &[String]) -> String {
    let places = read.iter().enumerate();
    places.fold(text.to_owned(), |text, (at, read)| text.replace(&format!("{{{at}}}"), read))
}

/// The sum of texts that are whole numbers; others count as zero.
pub fn sum(read: &[String]) -> String {
    let numbers = read.iter().filter_map(|text| text.trim().parse::<u64>().ok());
    numbers.fold(0, u64::saturating_add).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[(&str, &str, i32)]) -> Vec<VisibleControl> {
        let row = |&(name, kind, top): &(&str, &str, i32)| VisibleControl {
            name: name.into(),
            kind: kind.into(),
            rect: [0, top, 100, top + 40],
            checked: false,
            line: None,
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn targets_are_found_at_their_current_position() {
        let screen = shown(&[
            ("Kettle", "EditText", 0),
            ("Kettle", "TextView", 100),
            ("More", "ImageButton", 110),
            ("Pan", "TextView", 300),
            ("More", "ImageButton", 310),
            ("31 m", "TextView", 400),
            ("Wi-Fi", "TextView", 500),
            ("Switch", "Switch", 505),
        ]);
        for (target, place) in [
            (with_text("Kettle"), Some(1)),
            (field(0), Some(0)),
            (field(1), None),
            (with_text("More").beside(with_text("Pan")), Some(4)),
            (with_text("Fewer").or(with_text("Pan")), Some(3)),
            (like(r"^\d+ m$"), Some(5)),
            (like("("), None),
        ] {
            assert_eq!(target.find(&screen), place, "{target:?}");
        }
        assert_eq!(switch_of(&with_text("Wi-Fi"), &screen), Some(7));
        assert_eq!(like(r"^(\d+) m$").read("31 m"), "31");
    }

    #[test]
    fn numbers_are_counted_and_added() {
        let screen =
            shown(&[("Pan", "TextView", 0), ("7", "TextView", 10), ("12", "TextView", 20)]);
        assert_eq!(like(r"^\d+$").count(&screen), 2);
        assert_eq!(sum(&["7".into(), "Pan".into(), " 12".into()]), "19");
        assert_eq!(sum(&[]), "0");
    }

    #[test]
    fn read_texts_fill_the_placeholders() {
        let read = ["a.b".to_owned()];
        assert_eq!(with_text("for {0}").filled(&read), with_text("for a.b"));
        assert_eq!(like("^{0}$").filled(&read), like(r"^a\.b$"));
    }
}

//! What leads to a task's goal, in steps that name what a person reads on the screen and never where it lies.
//!
//! A [`Step`] says what to do, an [`Aim`] what to do it to, found among what the screen [`Shown`]s. The oracle carries a script out as
//! it stands; the scripted policy takes it as hints and finds its own way (`policy`). Nothing here reaches a phone.

use regex_lite::Regex;

/// A step on the way to a goal.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Brings an app to the front, by its package.
    Launch(&'static str),
    /// Taps it.
    Tap(Aim),
    /// Keeps a finger on it for a second.
    Hold(Aim),
    /// Writes this into a field in place of what stands there. `{0}` is what was read first.
    Write(Aim, String),
    /// Moves the list on until it shows.
    Seek(Aim, Way),
    /// Taps the one again and again until the other shows, so many times at most.
    Until {
        /// What is tapped.
        tap: Aim,
        /// What undoes that, where something does.
        back: Option<Aim>,
        /// What shows once it is enough.
        shows: Aim,
        /// Taps at most.
        most: u32,
    },
    /// Taps the switch that stands beside these words, unless it stands as it should.
    Switch(Aim, bool),
    /// Presses a key, by its name in `KeyEvent.java` without `KEYCODE_`.
    Press(&'static str),
    /// Moves a finger across the screen.
    Swipe(Way),
    /// Reads what it says; of a pattern with a group that group.
    Read(Aim),
    /// Where this shows, what follows up to the next launch has been done.
    Enough(Aim),
    /// What the person wanted to know.
    Answer(String),
}

/// Where a finger goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Upwards: shows what lies further down.
    Up,
    /// Downwards: shows what lies further up.
    Down,
    /// Downwards from the upper edge: opens the shade.
    FromTop,
}

impl Way {
    /// From where to where, on a screen of this size.
    pub fn across(self, (width, height): (i32, i32)) -> [(i32, i32); 2] {
        let (x, high, low) = (width / 2, height * 3 / 10, height * 7 / 10);
        match self {
            Self::Up => [(x, low), (x, high)],
            Self::Down => [(x, high), (x, low)],
            Self::FromTop => [(x, 2), (x, low)],
        }
    }
}

/// What a step is done to.
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// What says exactly this and is no field.
    Says(String),
    /// What says something that fits this pattern, fields included.
    Like(String),
    /// The text field with this place among those on the screen, counted from 0.
    Field(usize),
    /// Of all that the first fits, what is nearest in height to what the second means.
    Beside(Box<Aim>, Box<Aim>),
    /// The first where it shows, else the second.
    Or(Box<Aim>, Box<Aim>),
}

/// See [`Aim::Says`].
pub fn says(words: impl Into<String>) -> Aim {
    Aim::Says(words.into())
}

/// See [`Aim::Like`].
pub fn like(pattern: impl Into<String>) -> Aim {
    Aim::Like(pattern.into())
}

/// See [`Aim::Field`].
pub fn field(place: usize) -> Aim {
    Aim::Field(place)
}

impl Aim {
    /// See [`Aim::Beside`].
    pub fn beside(self, other: Aim) -> Self {
        Self::Beside(Box::new(self), Box::new(other))
    }

    /// See [`Aim::Or`].
    pub fn or(self, other: Aim) -> Self {
        Self::Or(Box::new(self), Box::new(other))
    }

    /// The same, with what was read in place of `{0}`, `{1}` and so on.
    pub fn filled(&self, read: &[String]) -> Self {
        match self {
            Self::Says(words) => Self::Says(fill(words, read)),
            Self::Like(pattern) => {
                let read: Vec<String> = read.iter().map(|text| regex_lite::escape(text)).collect();
                Self::Like(fill(pattern, &read))
            }
            Self::Field(place) => Self::Field(*place),
            Self::Beside(one, other) => one.filled(read).beside(other.filled(read)),
            Self::Or(one, other) => one.filled(read).or(other.filled(read)),
        }
    }

    /// Its place among what is shown.
    pub fn find(&self, shown: &[Shown]) -> Option<usize> {
        match self {
            Self::Or(one, other) => one.find(shown).or_else(|| other.find(shown)),
            Self::Beside(what, other) => {
                let beside = shown[other.find(shown)?].middle().1;
                let fits = what.all(shown).into_iter();
                fits.min_by_key(|&at| (shown[at].middle().1 - beside).abs())
            }
            _ => self.all(shown).into_iter().next(),
        }
    }

    /// The places of all that it could mean.
    fn all(&self, shown: &[Shown]) -> Vec<usize> {
        let fits: Box<dyn Fn(&Shown) -> bool> = match self {
            Self::Says(words) => Box::new(move |one| one.name == *words && !one.is_field()),
            Self::Like(pattern) => match Regex::new(pattern) {
                Ok(pattern) => Box::new(move |one| pattern.is_match(&one.name)),
                Err(_) => Box::new(|_| false),
            },
            Self::Field(place) => {
                let fields = shown.iter().enumerate().filter(|(_, one)| one.is_field());
                return fields.map(|(at, _)| at).skip(*place).take(1).collect();
            }
            Self::Beside(..) | Self::Or(..) => return self.find(shown).into_iter().collect(),
        };
        shown.iter().enumerate().filter(|(_, one)| fits(one)).map(|(at, _)| at).collect()
    }

    /// What is read off it: all that it says, or of a pattern with a group that group.
    pub fn read(&self, says: &str) -> String {
        let group = |pattern: &str| {
            let found = Regex::new(pattern).ok()?.captures(says)?.get(1)?.as_str().to_owned();
            Some(found)
        };
        match self {
            Self::Like(pattern) => group(pattern).unwrap_or_else(|| says.to_owned()),
            Self::Beside(what, _) => what.read(says),
            Self::Or(one, _) => one.read(says),
            Self::Says(_) | Self::Field(_) => says.to_owned(),
        }
    }
}

/// Something on the screen, as a list of controls tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What it says.
    pub name: String,
    /// The last part of its class.
    pub kind: String,
    /// Left, top, right, bottom, in pixels of the screenshot.
    pub rect: [i32; 4],
    /// Whether it is on.
    pub checked: bool,
}

impl Shown {
    /// Where a tap goes.
    pub fn middle(&self) -> (i32, i32) {
        let [left, top, right, bottom] = self.rect;
        ((left + right) / 2, (top + bottom) / 2)
    }

    /// Whether it takes text.
    pub fn is_field(&self) -> bool {
        self.kind.contains("EditText")
    }

    /// Whether it has an on and an off.
    pub fn is_switch(&self) -> bool {
        ["Switch", "CheckBox", "RadioButton", "ToggleButton"].contains(&self.kind.as_str())
    }
}

/// The place of the switch that stands beside what `aim` means, or is it.
pub fn switch_of(aim: &Aim, shown: &[Shown]) -> Option<usize> {
    let at = aim.find(shown)?;
    if shown[at].is_switch() {
        return Some(at);
    }
    let height = shown[at].middle().1;
    let switches = shown.iter().enumerate().filter(|(_, one)| one.is_switch());
    switches.min_by_key(|(_, one)| (one.middle().1 - height).abs()).map(|(at, _)| at)
}

/// A text with what was read in place of `{0}`, `{1}` and so on.
pub fn fill(text: &str, read: &[String]) -> String {
    let places = read.iter().enumerate();
    places.fold(text.to_owned(), |text, (at, read)| text.replace(&format!("{{{at}}}"), read))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[(&str, &str, i32)]) -> Vec<Shown> {
        let row = |&(name, kind, top): &(&str, &str, i32)| Shown {
            name: name.into(),
            kind: kind.into(),
            rect: [0, top, 100, top + 40],
            checked: false,
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn what_is_named_is_found_where_it_is_now() {
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
        for (aim, place) in [
            (says("Kettle"), Some(1)),
            (field(0), Some(0)),
            (field(1), None),
            (says("More").beside(says("Pan")), Some(4)),
            (says("Fewer").or(says("Pan")), Some(3)),
            (like(r"^\d+ m$"), Some(5)),
            (like("("), None),
        ] {
            assert_eq!(aim.find(&screen), place, "{aim:?}");
        }
        assert_eq!(switch_of(&says("Wi-Fi"), &screen), Some(7));
        assert_eq!(like(r"^(\d+) m$").read("31 m"), "31");
    }

    #[test]
    fn what_was_read_is_put_where_it_belongs() {
        let read = ["a.b".to_owned()];
        assert_eq!(says("for {0}").filled(&read), says("for a.b"));
        assert_eq!(like("^{0}$").filled(&read), like(r"^a\.b$"));
    }
}

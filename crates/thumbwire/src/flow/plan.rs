//! What a flow file means once it is read: cases, each from a clean start, each a list of steps.
//!
//! Begin with [`Case`]. Whatever a step does to a phone is an [`Action`] of the one vocabulary. Nothing here knows YAML.

use std::fmt;
use std::time::Duration;

use regex_lite::Regex;
use thumbwire_device::AppId;

use super::mistake::Place;
use crate::action::{Action, Criteria, Direction, Target};

/// A flow file that was read and checked.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Its name; its file's where it gives none.
    pub name: String,
    /// Its file, as it was named.
    pub file: String,
    /// The phone that it is for, where it names one.
    pub device: Option<String>,
    /// What is tried, one after the other.
    pub cases: Vec<Case>,
}

/// What is tried in one go: a clean start, then steps.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name, which no other of the flow has.
    pub name: String,
    /// Where it stands.
    pub at: Place,
    /// The app that it is about.
    pub app: Option<AppId>,
    /// Whether all that the app keeps is forgotten first.
    pub reset: bool,
    /// The permissions that the app is given or has taken from it first, by their whole names.
    pub permissions: Vec<(String, bool)>,
    /// Whose crashes fail it.
    pub crashes: Crashes,
    /// What is done and expected.
    pub steps: Vec<Step>,
}

/// Whose crashes, and apps that do not answer, fail a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Crashes {
    /// Those of the apps that it is about and that it launches; of any, where it names none.
    #[default]
    Own,
    /// Anybody's.
    Any,
    /// Nobody's.
    None,
}

/// One thing to do or to expect.
#[derive(Debug, Clone)]
pub struct Step {
    /// Where it stands.
    pub at: Place,
    /// What it is called in the report; `None` is what it does.
    pub name: Option<String>,
    /// What it does.
    pub deed: Deed,
    /// Whether the case goes on where it fails.
    pub optional: bool,
    /// How often it is tried again where it fails.
    pub retry: u32,
    /// How long it waits for what it needs or expects.
    pub patience: Duration,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum Deed {
    /// An action that needs no element.
    Act(Action),
    /// A tap on an element.
    Tap(Sought),
    /// A finger that stays on an element for so long.
    LongPress(Sought, Duration),
    /// Text that is typed.
    Type {
        /// The text.
        text: String,
        /// As it stands in the file, without the parameters' values: a report may be read by others.
        written: String,
        /// The field; `None` is what has the focus.
        into: Option<Sought>,
        /// Whether what the field holds goes first.
        clear: bool,
        /// Whether Enter follows.
        submit: bool,
    },
    /// The screen is scrolled until an element shows.
    ScrollTo {
        /// Which.
        sought: Sought,
        /// Where to.
        direction: Direction,
        /// How far at a time, in screens.
        distance: f64,
        /// How often at most.
        most: u32,
    },
    /// Something must be so.
    Expect(Expected),
    /// A picture and a look for the report.
    Screenshot(Option<String>),
    /// Steps, again and again.
    Repeat {
        /// How often, or at most.
        times: u32,
        /// Until this shows, which is looked for first.
        until: Option<Sought>,
        /// What.
        steps: Vec<Step>,
    },
    /// The steps of another file.
    Run {
        /// The file, as it was named there.
        file: String,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// A goal for the agent, in words.
    Goal(String),
}

/// How a flow names an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sought {
    /// By its text, else its description; the strictest reading counts, and it must be the only one.
    Words(String),
    /// By its parts, and its place among those that answer to them, counted from 0.
    Parts(Criteria, usize),
}

impl Sought {
    /// The same in the one vocabulary.
    pub fn target(&self) -> Target {
        match self {
            Self::Words(words) => Target::text(words),
            Self::Parts(criteria, index) => Target::Match(criteria.clone(), *index),
        }
    }
}

/// What must be so.
#[derive(Debug, Clone)]
pub enum Expected {
    /// It shows.
    Visible(Sought),
    /// It does not.
    Gone(Sought),
    /// What it says, and what it is: all of these.
    Is(Sought, Vec<Trait>),
    /// So many of them show.
    Count(Sought, usize),
    /// This app is in front.
    App(String),
}

/// What an element says or is.
#[derive(Debug, Clone)]
pub enum Trait {
    /// It says that, all of it.
    Equals(String),
    /// It says that among else, whatever the case of letters.
    Contains(String),
    /// What it says answers to a regular expression, somewhere.
    Matches(Regex),
    /// It can be used, or is greyed out.
    Enabled(bool),
    /// It is ticked or on, or not.
    Checked(bool),
    /// It is the chosen one, or not.
    Selected(bool),
    /// It has the focus, or not.
    Focused(bool),
}

impl Case {
    /// Whether it has a step for the agent.
    pub fn has_goal(&self) -> bool {
        any(&self.steps, &|deed| matches!(deed, Deed::Goal(_)))
    }
}

fn any(steps: &[Step], is: &dyn Fn(&Deed) -> bool) -> bool {
    steps.iter().any(|step| {
        is(&step.deed)
            || match &step.deed {
                Deed::Repeat { steps, .. } | Deed::Run { steps, .. } => any(steps, is),
                _ => false,
            }
    })
}

/// Its name, else what it does.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.deed.fmt(f),
        }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Act(action) => action.fmt(f),
            Self::Tap(sought) => write!(f, "tap {sought}"),
            Self::LongPress(sought, held) => {
                write!(f, "long press {sought} for {} s", held.as_secs_f64())
            }
            Self::Type { written, into, clear, submit, .. } => {
                write!(f, "type {written:?}")?;
                if let Some(into) = into {
                    write!(f, " into {into}")?;
                }
                f.write_str(if *clear { ", cleared first" } else { "" })?;
                f.write_str(if *submit { ", then Enter" } else { "" })
            }
            Self::ScrollTo { sought, direction, .. } => {
                write!(f, "scroll {} to {sought}", direction.name())
            }
            Self::Expect(expected) => write!(f, "expect {expected}"),
            Self::Screenshot(None) => f.write_str("screenshot"),
            Self::Screenshot(Some(name)) => write!(f, "screenshot {name:?}"),
            Self::Repeat { times, until: None, .. } => write!(f, "repeat {times} times"),
            Self::Repeat { until: Some(until), .. } => write!(f, "repeat until {until}"),
            Self::Run { file, .. } => write!(f, "run {file}"),
            Self::Goal(goal) => write!(f, "goal {goal:?}"),
        }
    }
}

impl fmt::Display for Sought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Parts(criteria, index) = self else { return self.target().fmt(f) };
        let flags = [("clickable", criteria.clickable), ("enabled", criteria.enabled)];
        let words = self.target().to_string();
        let mut parts: Vec<String> = (!words.is_empty()).then_some(words).into_iter().collect();
        parts.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned()));
        if *index > 0 {
            parts.push(format!("index {index}"));
        }
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible(sought) => sought.fmt(f),
            Self::Gone(sought) => write!(f, "{sought} gone"),
            Self::Count(sought, count) => write!(f, "{count} of {sought}"),
            Self::App(app) => write!(f, "app {app}"),
            Self::Is(sought, traits) => {
                write!(f, "{sought} ")?;
                let traits: Vec<String> = traits.iter().map(ToString::to_string).collect();
                f.write_str(&traits.join(" and "))
            }
        }
    }
}

impl fmt::Display for Trait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is, name) = match self {
            Self::Equals(words) => return write!(f, "equals {words:?}"),
            Self::Contains(words) => return write!(f, "contains {words:?}"),
            Self::Matches(pattern) => return write!(f, "matches /{pattern}/"),
            Self::Enabled(is) => (is, "enabled"),
            Self::Checked(is) => (is, "checked"),
            Self::Selected(is) => (is, "selected"),
            Self::Focused(is) => (is, "focused"),
        };
        write!(f, "{}{name}", if *is { "" } else { "not " })
    }
}

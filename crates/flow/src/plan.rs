//! A parsed flow: cases, each with a clean start and a list of steps.
//!
//! Begin with [`Case`]. Whatever a step does to a phone is an [`Action`]. Nothing here knows YAML.

use std::fmt;
use std::time::Duration;

use regex_lite::Regex;
use thumbwire_device::AppId;

use super::error::SourceLocation;
use thumbwire_core::action::{Action, Direction, ElementSelector, Target};

/// A parsed and checked flow file.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Its name; the file's name by default.
    pub name: String,
    /// Its file, as given.
    pub file: String,
    /// The phone that it is for, if it names one.
    pub device: Option<String>,
    /// Its cases, in order.
    pub cases: Vec<Case>,
}

/// A test case: a clean start, then steps.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name, unique within the flow.
    pub name: String,
    /// Its position.
    pub at: SourceLocation,
    /// The app under test.
    pub app: Option<AppId>,
    /// Whether to clear the app's data first.
    pub reset: bool,
    /// Permissions to grant (`true`) or revoke first, by full name.
    pub permissions: Vec<(String, bool)>,
    /// Whose crashes fail it.
    pub crashes: CrashScope,
    /// The steps.
    pub steps: Vec<FlowStep>,
}

/// Whose crashes and ANRs fail a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CrashScope {
    /// Those of the app under test and the apps that the case launches; of any app if it names none.
    #[default]
    Own,
    /// Any app's.
    Any,
    /// None.
    None,
}

/// One action or assertion.
#[derive(Debug, Clone)]
pub struct FlowStep {
    /// Its position.
    pub at: SourceLocation,
    /// Its name in the report; by default a description of what it does.
    pub name: Option<String>,
    /// What it does.
    pub deed: StepKind,
    /// Whether the case continues if it fails.
    pub optional: bool,
    /// How often to retry it.
    pub retry: u32,
    /// How long to wait for what it needs or expects.
    pub timeout: Duration,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// An action without a target element.
    Act(Action),
    /// A tap on an element.
    Tap(Locator),
    /// A long press on an element, and its duration.
    LongPress(Locator, Duration),
    /// Typing.
    Type {
        /// The text.
        text: String,
        /// The text as written in the file, without parameter values: others may read the report.
        written: String,
        /// The field; `None` for the one with focus.
        into: Option<Locator>,
        /// Whether to clear the field first.
        clear: bool,
        /// Whether to press Enter afterwards.
        submit: bool,
    },
    /// Scrolling until an element is visible.
    ScrollTo {
        /// The element.
        sought: Locator,
        /// The direction.
        direction: Direction,
        /// The distance of each scroll, in screens.
        distance: f64,
        /// The maximum number of scrolls.
        max: u32,
    },
    /// An assertion.
    Expect(Assertion),
    /// A screenshot and a snapshot for the report.
    Screenshot(Option<String>),
    /// Repeated steps.
    Repeat {
        /// The number of repetitions, or the maximum.
        times: u32,
        /// Stop when this is visible; checked before each repetition.
        until: Option<Locator>,
        /// The steps.
        steps: Vec<FlowStep>,
    },
    /// The steps of another file.
    Run {
        /// The file, as named.
        file: String,
        /// Its steps.
        steps: Vec<FlowStep>,
    },
    /// A goal for the agent.
    Goal(String),
}

/// How a flow identifies an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Locator {
    /// By its text, else its description; the strictest match counts, and it must be unique.
    Text(String),
    /// By a selector, and the index among the matches, counted from 0.
    Selector(ElementSelector, usize),
}

impl Locator {
    /// The same as an action's target.
    pub fn target(&self) -> Target {
        match self {
            Self::Text(words) => Target::text(words),
            Self::Selector(criteria, index) => Target::Selector(criteria.clone(), *index),
        }
    }
}

/// An assertion.
#[derive(Debug, Clone)]
pub enum Assertion {
    /// The element is visible.
    Visible(Locator),
    /// The element is not visible.
    NotVisible(Locator),
    /// The element's text and state match all of these.
    HasState(Locator, Vec<ElementState>),
    /// So many of them are visible.
    Count(Locator, usize),
    /// This app is in the foreground.
    AppInForeground(String),
}

/// A property of an element.
#[derive(Debug, Clone)]
pub enum ElementState {
    /// Its text equals this.
    Equals(String),
    /// Its text contains this, ignoring case.
    Contains(String),
    /// Its text has a match of this regular expression.
    Matches(Regex),
    /// It is enabled, or disabled.
    Enabled(bool),
    /// It is checked or on, or not.
    Checked(bool),
    /// It is selected, or not.
    Selected(bool),
    /// It has focus, or not.
    Focused(bool),
}

impl Case {
    /// Whether it has a step for the agent.
    pub fn has_goal(&self) -> bool {
        any(&self.steps, &|deed| matches!(deed, StepKind::Goal(_)))
    }
}

fn any(steps: &[FlowStep], is: &dyn Fn(&StepKind) -> bool) -> bool {
    steps.iter().any(|step| {
        is(&step.deed)
            || match &step.deed {
                StepKind::Repeat { steps, .. } | StepKind::Run { steps, .. } => any(steps, is),
                _ => false,
            }
    })
}

/// Its name, else what it does.
impl fmt::Display for FlowStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.deed.fmt(f),
        }
    }
}

impl fmt::Display for StepKind {
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

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Selector(criteria, index) = self else { return self.target().fmt(f) };
        let flags = [("clickable", criteria.clickable), ("enabled", criteria.enabled)];
        let text = self.target().to_string();
        let mut parts: Vec<String> = (!text.is_empty()).then_some(text).into_iter().collect();
        parts.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned()));
        if *index > 0 {
            parts.push(format!("index {index}"));
        }
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible(sought) => sought.fmt(f),
            Self::NotVisible(sought) => write!(f, "{sought} gone"),
            Self::Count(sought, count) => write!(f, "{count} of {sought}"),
            Self::AppInForeground(app) => write!(f, "app {app}"),
            Self::HasState(sought, traits) => {
                write!(f, "{sought} ")?;
                let traits: Vec<String> = traits.iter().map(ToString::to_string).collect();
                f.write_str(&traits.join(" and "))
            }
        }
    }
}

impl fmt::Display for ElementState {
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

//! A parsed flow: cases, each with a clean start and a list of steps.
//!
//! Start with [`Case`]. Whatever a step does to a phone is an [`Action`]. Nothing here knows YAML.
//! How steps are named in reports is in `describe`.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use regex_lite::Regex;
use thumbwire_device::{AppId, Platform, Point, Rect};

use super::element_pattern::ElementPattern;
use super::error::{FlowError, SourceLocation};
use super::script::{Parameters, ScriptEngine};
use thumbwire_core::action::{Action, Direction};

/// A parsed and checked flow file.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Its name; the file's name by default.
    pub name: String,
    /// Its file, as given.
    pub file: String,
    /// The phone that it is for, if it names one.
    pub device: Option<String>,
    /// Its tags, by which runs select flows.
    pub tags: Vec<String>,
    /// Its properties, for the JUnit file.
    pub properties: Vec<(String, String)>,
    /// Its cases, in order.
    pub cases: Vec<Case>,
    /// The sequence that it is a part of: once one of its flows failed, those after it do not run.
    pub sequence: Option<usize>,
    /// Parameters from outside.
    pub(super) parameters: Parameters,
    /// What its files tell besides their steps.
    pub(super) findings: Findings,
}

impl Flow {
    /// The flow from a step on, counted from 0, on the screen as it is then: its app is not started
    /// afresh.
    #[must_use]
    pub fn from_step(mut self, step: usize) -> Self {
        for case in &mut self.cases {
            case.is_fresh = false;
            case.steps.drain(..step.min(case.steps.len()));
        }
        self
    }

    /// What its steps certainly need and there is not: parameters, scripts, parts of ours.
    pub fn needs(&self) -> impl Iterator<Item = &FlowError> {
        let needs = self.findings.needs.iter();
        needs.filter(|need| !need.may_not_matter).map(|need| &need.error)
    }

    /// The files that its steps need besides flows and scripts: packages, media and screenshots.
    pub fn files(&self) -> BTreeSet<&Path> {
        let steps = self.cases.iter().flat_map(Case::all_steps);
        let files = steps.filter_map(|step| match &step.kind {
            StepKind::Install(file) | StepKind::AddMedia(file) => Some(file),
            StepKind::ExpectScreenshot(golden) => Some(&golden.file),
            _ => None,
        });
        files.map(PathBuf::as_path).collect()
    }

    /// What is wrong with what it does on phones of one platform.
    pub fn errors_on(&self, platform: Platform) -> impl Iterator<Item = &FlowError> {
        let errors = self.findings.on_platform.iter();
        errors.filter(move |(on, _)| *on == platform).map(|(_, error)| error)
    }
}

/// What a file tells besides its steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    /// What steps need that there is not.
    pub(super) needs: Vec<Need>,
    /// The parameters that the files define.
    pub(super) defined: Vec<(String, SourceLocation)>,
    /// All words of all scripts.
    pub(super) words: BTreeSet<String>,
    /// Errors that matter only on phones of this platform.
    pub(super) on_platform: Vec<(Platform, FlowError)>,
    /// What Maestro reads and passes over.
    pub(super) warnings: Vec<FlowError>,
}

/// What a step needs that there is not: a parameter, a script, or a part of ours.
#[derive(Debug, Clone)]
pub(super) struct Need {
    /// What, and what to do about it.
    pub(super) error: FlowError,
    /// Whether the step may not run, or may fail.
    pub(super) may_not_matter: bool,
}

/// A text as its file has it, with its `${…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// Its position.
    pub at: SourceLocation,
}

/// A test case: steps on the phone as it is, or after a clean start.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name, unique within the flow.
    pub name: String,
    /// Its position.
    pub at: SourceLocation,
    /// The app under test, as its file has it.
    pub app: Option<AppId>,
    /// Whether its app is stopped and the home screen shown before it.
    pub is_fresh: bool,
    /// Whose crashes fail it.
    pub crashes: CrashScope,
    /// Whether alerts of the system are dismissed.
    pub auto_dismiss_alerts: bool,
    /// The steps.
    pub steps: Vec<FlowStep>,
    /// Steps to run afterwards, even if a step failed.
    pub afterwards: Vec<FlowStep>,
}

/// Whose crashes and ANRs fail a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CrashScope {
    /// Those of the app under test and the apps that the case launches; of any app if it names
    /// none.
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
    pub kind: StepKind,
    /// Whether the case continues if it fails.
    pub optional: bool,
    /// How often to retry it.
    pub retry: u32,
    /// How long to wait for what it needs or expects.
    pub timeout: Duration,
    /// What it does, if that is known only when it runs. The kind is then only for its name in
    /// reports, and for the steps inside it.
    pub(super) late: Option<Arc<dyn LateStep>>,
}

/// A step whose texts have scripts.
pub(super) trait LateStep: Debug + Send + Sync {
    /// The step with the values that its scripts have now. The steps inside it are those of the
    /// flow as it was read.
    ///
    /// # Errors
    /// What is wrong with a script, or with its value.
    fn now(&self, engine: &mut ScriptEngine) -> Result<FlowStep, String>;
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// An action without a target element.
    Act(Action),
    /// Typing into the field with focus.
    Type {
        /// The text.
        text: String,
        /// The text as written in the file, without parameter values: others may read the report.
        written: String,
    },
    /// Scrolling until an element is visible.
    ScrollTo(ScrollTo),
    /// An assertion.
    Expect(Assertion),
    /// A screenshot and a snapshot for the report.
    Screenshot {
        /// Its name.
        name: String,
        /// Keeps a picture of only this element too.
        crop: Option<Box<ElementPattern>>,
    },
    /// The steps of another file.
    Run {
        /// The file, as named.
        file: String,
        /// Its steps.
        steps: Vec<FlowStep>,
    },
    /// Steps to run if all conditions hold.
    When {
        /// The conditions; with none, the steps always run.
        conditions: Vec<Condition>,
        /// The steps.
        steps: Vec<FlowStep>,
    },
    /// Steps to repeat while all conditions hold.
    While {
        /// The conditions.
        conditions: Vec<Condition>,
        /// The maximum number of repetitions; `None` is [`MAX_ROUNDS`], and reaching that fails.
        times: Option<u32>,
        /// The steps.
        steps: Vec<FlowStep>,
    },
    /// A condition that must hold.
    Condition(Condition),
    /// One or more taps, or a long press.
    Touch(Touch),
    /// A swipe from a place.
    SwipeFrom {
        /// Where it starts.
        from: Place,
        /// Where it ends.
        to: SwipeEnd,
        /// The duration of the movement.
        duration: Duration,
    },
    /// Copies an element's text, for [`StepKind::Paste`] and `maestro.copiedText`.
    Copy(Box<ElementPattern>),
    /// Takes this text as the copied one.
    SetCopied(String),
    /// Types the copied text.
    Paste,
    /// Types a random text.
    TypeRandom(RandomText),
    /// Deletes characters before the cursor: so many, else all of the field.
    Erase(Option<u32>),
    /// Hides the keyboard, if it is shown.
    HideKeyboard,
    /// Clears the keychain of an iPhone; elsewhere there is none.
    ClearKeychain,
    /// Sets permissions of an app, each by its Android name and whether to grant it.
    SetPermissions {
        /// The app.
        app: AppId,
        /// The permissions.
        permissions: Vec<(String, bool)>,
        /// Whether those that the app does not request are passed over.
        requested_only: bool,
    },
    /// Installs an app from a local package, by its path.
    Install(PathBuf),
    /// Copies a picture or film into the phone's gallery, by its path.
    AddMedia(PathBuf),
    /// Defines parameters for the steps after it, up to the end of their list.
    Define(Vec<(String, Written)>),
    /// Evaluates the `${…}` of a text.
    EvalScript(Written),
    /// Runs a script.
    RunScript {
        /// The file, as named.
        file: String,
        /// Its text.
        script: Arc<str>,
        /// Parameters that only the script has.
        env: Vec<(String, Written)>,
    },
    /// Cannot be done, for this reason.
    Unavailable(String),
    /// The phone's clipboard must have this text.
    ExpectDeviceClipboard(String),
    /// Types what the phone's clipboard has.
    PasteDeviceClipboard,
    /// The screen must look like a stored screenshot.
    ExpectScreenshot(Golden),
    /// Waits until the screen stops changing, at most this long.
    WaitUntilIdle(Duration),
    /// A goal for the agent.
    Goal(String),
}

/// The distance of one scroll, in screens: Maestro swipes from the centre to a tenth before the
/// edge.
pub(super) const SCROLL_DISTANCE: f64 = 0.4;

/// Scrolling until an element is visible.
#[derive(Debug, Clone)]
pub struct ScrollTo {
    /// The element.
    pub element: Box<ElementPattern>,
    /// The direction.
    pub direction: Direction,
    /// The maximum time.
    pub within: Duration,
    /// How much of the element must be on the screen, from 0 to 1.
    pub visible_share: f64,
    /// Whether to go on until the element is near the centre of the screen.
    pub center: bool,
}

/// A screenshot that must look like a stored one.
#[derive(Debug, Clone)]
pub struct Golden {
    /// Its name in reports.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// The share of pixels that may differ, from 0 to 1.
    pub tolerance: f64,
    /// By how much the red, green or blue of a pixel may differ without the pixel counting as
    /// different, from 0 to 255.
    pub color_tolerance: u8,
    /// What is not compared.
    pub masks: Vec<Mask>,
    /// Whether the status bar is compared: it shows the time.
    pub with_status_bar: bool,
    /// Compares only this element.
    pub crop: Option<Box<ElementPattern>>,
}

/// A part of the screen that is not compared.
#[derive(Debug, Clone)]
pub enum Mask {
    /// All elements that match.
    Element(Box<ElementPattern>),
    /// A rectangle, in screenshot pixels.
    Rect(Rect),
}

/// How often steps are repeated while a condition holds, if the flow sets no limit.
pub const MAX_ROUNDS: u32 = 1000;

/// A condition of a step.
#[derive(Debug, Clone)]
pub enum Condition {
    /// The phone is of this platform.
    Platform(Platform),
    /// The element is visible.
    Visible(Box<ElementPattern>),
    /// The element is not visible.
    NotVisible(Box<ElementPattern>),
    /// A script or text.
    Expression {
        /// As written.
        written: String,
        /// Whether it is true.
        holds: bool,
    },
}

/// One or more taps, or a long press.
#[derive(Debug, Clone)]
pub struct Touch {
    /// Where.
    pub at: Place,
    /// How long to hold; `None` taps.
    pub held: Option<Duration>,
    /// How many taps.
    pub taps: u32,
    /// The time between them.
    pub pause: Duration,
    /// Whether to tap once more if the screen did not change.
    pub again_if_unchanged: bool,
}

/// A place on the screen.
#[derive(Debug, Clone)]
pub enum Place {
    /// A point.
    Point(RelativePoint),
    /// An element: where a tap on it goes, or a point of its rectangle.
    Element(Box<ElementPattern>, Option<RelativePoint>),
}

/// A point of the screen or of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RelativePoint {
    /// In screenshot pixels from the top left corner.
    Pixels(Point),
    /// In percent of the width and height.
    Percent(f64, f64),
}

/// Where a swipe ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SwipeEnd {
    /// At a point of the screen.
    Point(RelativePoint),
    /// A tenth of the screen before its edge in this direction.
    Edge(Direction),
}

/// A kind of random text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomText {
    /// So many letters.
    Letters(u32),
    /// So many digits.
    Digits(u32),
    /// An email address.
    Email,
    /// A first and a last name.
    PersonName,
    /// A city.
    City,
    /// A country.
    Country,
    /// A colour.
    Color,
}

/// An assertion.
#[derive(Debug, Clone)]
pub enum Assertion {
    /// The element is visible.
    Visible(Box<ElementPattern>),
    /// The element is not visible.
    NotVisible(Box<ElementPattern>),
    /// The element's text and state match all of these.
    HasState(Box<ElementPattern>, Vec<ElementState>),
    /// So many of them are visible.
    Count(Box<ElementPattern>, usize),
    /// This app is in the foreground.
    AppInForeground(AppId),
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
        self.all_steps().any(|step| matches!(step.kind, StepKind::Goal(_)))
    }

    /// The first step that copies a file to the phone: an app, or media.
    pub fn installs(&self) -> Option<&FlowStep> {
        let copies = |kind: &StepKind| matches!(kind, StepKind::Install(_) | StepKind::AddMedia(_));
        self.all_steps().find(|step| copies(&step.kind))
    }

    /// The first place where it clears an app's data, and the app.
    pub fn clears_data(&self) -> Option<(&SourceLocation, &AppId)> {
        self.all_steps().find_map(|step| match &step.kind {
            StepKind::Act(Action::ClearData(app)) => Some((&step.at, app)),
            _ => None,
        })
    }

    /// All steps, each before those nested in it.
    pub(super) fn all_steps(&self) -> impl Iterator<Item = &FlowStep> {
        let mut left: Vec<&FlowStep> = self.steps.iter().chain(&self.afterwards).rev().collect();
        std::iter::from_fn(move || {
            let step = left.pop()?;
            left.extend(step.kind.nested().iter().rev());
            Some(step)
        })
    }
}

impl StepKind {
    /// The steps inside it.
    pub fn nested(&self) -> &[FlowStep] {
        match self {
            Self::Run { steps, .. } | Self::When { steps, .. } | Self::While { steps, .. } => steps,
            _ => &[],
        }
    }

    /// Whether it is made of other steps.
    pub fn holds_others(&self) -> bool {
        matches!(self, Self::Run { .. } | Self::When { .. } | Self::While { .. })
    }
}

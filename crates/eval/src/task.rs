//! Tasks: a goal, the phone's initial state, and success conditions.
//!
//! A [`Task`] makes a [`TaskInstance`] from a seed. A case is pure data: the initial state
//! ([`InitialState`]), the goal in natural language, the oracle's script, and the success
//! conditions ([`SuccessCondition`], checked by `state`). So the judge knows no policy, and
//! conditions can be printed.

use serde::{Deserialize, Serialize};
use thumbwire_virtual_phone::{Platform, World};

use super::script::ScriptStep;

/// A task of the suite.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Its name: family, then what to do, as in `notes-add`.
    pub name: &'static str,
    /// The apps it needs, by launcher label. More than one makes it a cross-app task.
    pub apps: &'static [&'static str],
    /// How long it is.
    pub difficulty: Difficulty,
    /// What it asks of an agent, besides what [`Task::categories`] adds.
    asks: &'static [Category],
    /// What it needs that not every platform has.
    pub needs: &'static [Need],
    /// Makes a case from random parameters.
    pub make: fn(&mut ParamSource<'_>) -> TaskInstance,
}

/// How long a task is, by the oracle's actions: the median of several seeds, which a test checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difficulty {
    /// Up to 5 actions.
    Easy,
    /// 6 to 12 actions.
    Medium,
    /// 13 actions or more.
    Hard,
}

impl Difficulty {
    /// The difficulty of a task for which the oracle takes this many actions.
    pub fn of(oracle_actions: u32) -> Self {
        match oracle_actions {
            ..=5 => Self::Easy,
            6..=12 => Self::Medium,
            13.. => Self::Hard,
        }
    }

    /// Its name: `easy`, `medium` or `hard`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }
}

/// The number of the oracle's actions from which an attempt is [`Category::Long`].
pub const LONG: u32 = 20;

/// What a task asks of an agent. The names are the tags of AndroidWorld (`task_metadata.json`),
/// without `game_playing`, because the phone has no games, and `parameterized`, which all tasks
/// are; `composite` and `long` are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Several controls must be combined, or the right one is hard to tell.
    ComplexUiUnderstanding,
    /// It has several parts, or several apps, that must all be done.
    Composite,
    /// It changes or removes what is there.
    DataEdit,
    /// It enters new data.
    DataEntry,
    /// The user asks a question.
    InformationRetrieval,
    /// The oracle takes 20 actions or more.
    Long,
    /// Something must be counted, added or compared.
    MathCounting,
    /// What one screen shows is needed on a later one.
    Memorization,
    /// It needs more than one app.
    MultiApp,
    /// The same must be done several times.
    Repetition,
    /// The phone is prepared before the task.
    RequiresSetup,
    /// What to do depends on texts among many on the screen.
    ScreenReading,
    /// Something must be searched for.
    Search,
    /// A text must be copied exactly.
    Transcription,
    /// A state must be reached, which may be there in part.
    Verification,
}

impl Category {
    /// Its name, as in AndroidWorld: `information_retrieval`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ComplexUiUnderstanding => "complex_ui_understanding",
            Self::Composite => "composite",
            Self::DataEdit => "data_edit",
            Self::DataEntry => "data_entry",
            Self::InformationRetrieval => "information_retrieval",
            Self::Long => "long",
            Self::MathCounting => "math_counting",
            Self::Memorization => "memorization",
            Self::MultiApp => "multi_app",
            Self::Repetition => "repetition",
            Self::RequiresSetup => "requires_setup",
            Self::ScreenReading => "screen_reading",
            Self::Search => "search",
            Self::Transcription => "transcription",
            Self::Verification => "verification",
        }
    }
}

/// Something that a task needs and that iOS, or the virtual iPhone, does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Files that all apps share, as in `/sdcard`.
    SharedStorage,
    /// A list of notifications, pulled down from the top edge.
    NotificationShade,
    /// A list of all apps besides the home screen.
    AppDrawer,
    /// The developer options of Settings.
    DeveloperOptions,
}

impl Task {
    /// A task that every platform can have.
    pub const fn new(
        name: &'static str,
        apps: &'static [&'static str],
        difficulty: Difficulty,
        asks: &'static [Category],
        make: fn(&mut ParamSource<'_>) -> TaskInstance,
    ) -> Self {
        Self { name, apps, difficulty, asks, needs: &[], make }
    }

    /// This task, which needs something that not every platform has.
    pub const fn needing(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// What an instance of it asks of an agent, in order of the names. Several apps make it
    /// `multi_app` and `composite`, and an initial state `requires_setup`.
    pub fn categories(&self, instance: &TaskInstance) -> Vec<Category> {
        let mut all = self.asks.to_vec();
        if self.apps.len() > 1 {
            all.extend([Category::MultiApp, Category::Composite]);
        }
        if !instance.given.is_empty() {
            all.push(Category::RequiresSetup);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a phone of this platform has what it needs.
    pub fn runs_on(&self, platform: Platform) -> bool {
        platform == Platform::Android || self.needs.is_empty()
    }

    /// The case for a seed on this phone. The same seed and phone give the same case.
    pub fn case(&self, seed: u64, world: &World) -> TaskInstance {
        // Mix the name in, so that tasks differ with the same seed.
        let name = self.name.bytes().fold(seed, |mixed, byte| {
            (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(7)
        });
        let case = (self.make)(&mut ParamSource { random: fastrand::Rng::with_seed(name), world });
        match world.platform() {
            Platform::Android => case,
            Platform::Ios => {
                let steps = case.script.into_iter();
                let script = steps.map(|step| step.on_ios(|package| world.bundle_id_of(package)));
                TaskInstance { script: script.collect(), ..case }
            }
        }
    }
}

/// A task with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskInstance {
    /// The goal in natural language.
    pub goal: String,
    /// Initial state of the phone.
    pub given: Vec<InitialState>,
    /// The steps that lead to the goal.
    pub script: Vec<ScriptStep>,
    /// Success conditions. Any other change counts as a failure.
    pub wants: Vec<SuccessCondition>,
}

/// A part of the phone's initial state.
#[derive(Debug, Clone, PartialEq)]
pub enum InitialState {
    /// A value stored by an app: package, key, value (`docs/virtual-phone.md`).
    AppValue(&'static str, String, String),
    /// A setting: table, name, value.
    Setting(&'static str, &'static str, String),
    /// A file in shared storage, with its size in bytes.
    File(String, usize),
    /// A notification: package, title, text.
    Notification(&'static str, String, String),
}

/// A success condition.
#[derive(Debug, Clone, PartialEq)]
pub enum SuccessCondition {
    /// An app stores these now but did not before: package, keys and values. `<n>` in a key or
    /// value stands for any text, and for the same text in every place.
    AppValues(&'static str, Vec<(String, String)>),
    /// A record was removed: package and key prefix, such as `note/3`.
    RecordRemoved(&'static str, String),
    /// A value was removed: package, key.
    ValueAbsent(&'static str, String),
    /// A setting has this value: table, name, value.
    Setting(&'static str, &'static str, String),
    /// A folder was created.
    Folder(String),
    /// A file was removed.
    NoFile(String),
    /// This app is in the foreground.
    AppInForeground(&'static str),
    /// An app has this permission.
    Granted(&'static str, &'static str),
    /// The clipboard has this text.
    Clipboard(String),
    /// The answer contains this text.
    Answer(String),
}

/// Source of a task's random parameters.
pub struct ParamSource<'a> {
    random: fastrand::Rng,
    /// The phone's state, for what the phone's seed decided.
    pub world: &'a World,
}

impl ParamSource<'_> {
    /// One of these.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())].clone()
    }

    /// `count` distinct ones of these, in random order.
    pub fn some<T: Clone>(&mut self, from: &[T], count: usize) -> Vec<T> {
        let mut all = from.to_vec();
        self.random.shuffle(&mut all);
        all.truncate(count);
        all
    }

    /// A number between the two, inclusive.
    pub fn number(&mut self, from: u64, to: u64) -> u64 {
        self.random.u64(from..=to)
    }

    /// True or false.
    pub fn coin(&mut self) -> bool {
        self.random.bool()
    }
}

//! Tasks: a goal, the phone's initial state, and success conditions.
//!
//! A [`Task`] makes a [`TaskInstance`] from a seed. A case is pure data: the initial state ([`InitialState`]), the goal in natural
//! language, the oracle's script, and the success conditions ([`SuccessCondition`], checked by `state`). So the judge knows no
//! policy, and conditions can be printed.

use thumbwire_virtual_phone::{Platform, World};

use super::script::ScriptStep;

/// A task of the suite.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Its name: family, then what to do, as in `notes-add`.
    pub name: &'static str,
    /// The apps it needs, by launcher label. More than one makes it a cross-app task.
    pub apps: &'static [&'static str],
    /// What it needs that not every platform has.
    pub needs: &'static [Need],
    /// Makes a case from random parameters.
    pub make: fn(&mut ParamSource<'_>) -> TaskInstance,
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
    /// A value stored by an app: package, key, value (`docs/virtual-phone-apps.md`).
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
    /// An app stores these now but did not before: package, keys and values. `<n>` in a key or value stands for any
    /// text, and for the same text in every place.
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

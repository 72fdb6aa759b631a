//! What a task is: words for whoever carries it out, a phone to begin with, what must have come of it.
//!
//! A [`Task`] makes a [`Case`] of a seed. All of a case is data: what stands on the phone before ([`Given`]), the goal in words, the
//! oracle's script, and what must be on the phone afterwards ([`Want`], judged by `state`). So whoever judges knows no policy, and what
//! a case wants can be printed.

use thumbwire_virtual_phone::world::World;

use super::script::Step;

/// A task of the suite.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Its name: its family, then what is to be done, as in `notes-add`.
    pub name: &'static str,
    /// The apps that it needs, by the words on their icons. More than one makes it a task across apps.
    pub apps: &'static [&'static str],
    /// Makes a case of what is drawn.
    pub make: fn(&mut Draw<'_>) -> Case,
}

impl Task {
    /// The case of a seed, for the phone that stands there. The same seed and phone give the same case.
    pub fn case(&self, seed: u64, world: &World) -> Case {
        // Tasks differ although their seeds are the same.
        let name = self.name.bytes().fold(seed, |mixed, byte| {
            (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(7)
        });
        (self.make)(&mut Draw { random: fastrand::Rng::with_seed(name), world })
    }
}

/// A task with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What is wanted, in a person's words.
    pub goal: String,
    /// What stands on the phone before.
    pub given: Vec<Given>,
    /// What leads there.
    pub script: Vec<Step>,
    /// What must have come of it. Anything else that changed counts against it.
    pub wants: Vec<Want>,
}

/// What stands on the phone before a task begins.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// An app keeps this: package, key, value (`docs/virtual-phone-apps.md`).
    Kept(&'static str, String, String),
    /// A setting: table, name, value.
    Setting(&'static str, &'static str, String),
    /// A file of shared storage, with so many bytes.
    File(String, usize),
    /// A notification: package, title, text.
    Notice(&'static str, String, String),
}

/// What must have come of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Want {
    /// An app keeps these now, and did not before: package, keys and values. `<n>` in a key or a value stands for anything, and for the
    /// same wherever it is named again.
    Kept(&'static str, Vec<(String, String)>),
    /// A record is gone: package, and what its keys begin with, such as `note/3`.
    Gone(&'static str, String),
    /// A value is kept no more: package, key.
    Absent(&'static str, String),
    /// A setting stands so: table, name, value.
    Setting(&'static str, &'static str, String),
    /// A folder is there.
    Folder(String),
    /// A file is gone.
    NoFile(String),
    /// This app is in front.
    Front(&'static str),
    /// An app has this permission.
    Granted(&'static str, &'static str),
    /// This was copied.
    Clipboard(String),
    /// The answer holds this.
    Answer(String),
}

/// Where a task draws its parameters from.
pub struct Draw<'a> {
    random: fastrand::Rng,
    /// The phone's inside, for what the phone's seed decided.
    pub world: &'a World,
}

impl Draw<'_> {
    /// One of these.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())].clone()
    }

    /// So many of these, each once, in an order of its own.
    pub fn some<T: Clone>(&mut self, from: &[T], count: usize) -> Vec<T> {
        let mut all = from.to_vec();
        self.random.shuffle(&mut all);
        all.truncate(count);
        all
    }

    /// A number from the one to the other, both included.
    pub fn number(&mut self, from: u64, to: u64) -> u64 {
        self.random.u64(from..=to)
    }

    /// One or the other.
    pub fn coin(&mut self) -> bool {
        self.random.bool()
    }
}

//! The records that awk reads, and its files and commands.

use crate::io::{Input, Output};
use crate::programs::options::Lines;
use std::collections::{BTreeMap, VecDeque};

/// Maximum files and commands that are open at the same time.
pub(super) const OPEN: usize = 256;

/// The operands of the command line as one input.
#[derive(Default)]
pub(super) struct Inputs {
    /// The number of the next operand; `ARGV` may change until it is read.
    pub(super) next: usize,
    pub(super) current: Option<Records>,
    /// Whether a file was read, so that standard input is not.
    pub(super) read: bool,
    /// Whether a file could not be opened.
    pub(super) failed: bool,
}

impl Inputs {
    pub(super) fn skip_file(&mut self) {
        self.current = None;
    }
}

/// A source of records.
pub(super) struct Records {
    pub(super) lines: Lines,
    pub(super) input: Input,
    /// The records that are left, for separators other than a newline.
    pub(super) rest: Option<VecDeque<String>>,
}

/// Files and commands by name.
#[derive(Default)]
pub(super) struct Commands {
    pub(super) read: BTreeMap<String, Records>,
    pub(super) files: BTreeMap<String, Output>,
    /// What was printed to a command, which runs when it is closed.
    pub(super) pipes: BTreeMap<String, Vec<u8>>,
    pub(super) results: BTreeMap<String, VecDeque<String>>,
}

impl Records {
    pub(super) fn new(input: Input) -> Self {
        Self { lines: Lines::new(input.clone()), input, rest: None }
    }
}

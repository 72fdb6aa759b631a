//! Program stubs: captured output in place of a program, for failures that the world does not
//! model.
//!
//! The caller provides the text, from a capture; this room invents none.

/// The output and exit status that replace a program's work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramStub {
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
    /// Its exit status, 0 to 255.
    pub status: i32,
}

impl ProgramStub {
    /// A stub that prints `text` to standard output and exits with 0.
    pub fn printing(text: &str) -> Self {
        Self { out: text.into(), ..Self::default() }
    }
}

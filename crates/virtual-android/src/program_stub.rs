//! Program stubs: captured output in place of a program, for failures that the world does not model.
//!
//! Begin at [`VirtualPhone::stub_program`]. The caller provides the text, from a capture; nothing is invented here.

use crate::phone::VirtualPhone;

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
    /// A stub that prints `words` to standard output and exits with 0.
    pub fn printing(text: &str) -> Self {
        Self { out: text.into(), ..Self::default() }
    }
}

impl VirtualPhone {
    /// Replaces `program` by a stub, whatever its arguments. `None` restores it.
    pub fn stub_program(&self, program: &str, odd: Option<ProgramStub>) {
        self.with(|phone| match odd {
            Some(odd) => drop(phone.odd.insert(program.to_owned(), odd)),
            None => drop(phone.odd.remove(program)),
        });
    }

    /// The stub for `program`, if any.
    pub(crate) fn program_stub(&self, program: &str) -> Option<ProgramStub> {
        self.read(|phone| phone.odd.get(program).cloned())
    }
}

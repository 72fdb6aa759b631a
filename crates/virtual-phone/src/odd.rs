//! Programs that answer oddly: what phones say when something is wrong that the world does not model.
//!
//! Begin at [`VirtualPhone::set_odd`]. The words are the caller's, from a capture; nothing is made up here.

use crate::phone::VirtualPhone;

/// What a program says and how it ends, instead of doing its work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Odd {
    /// To its standard output.
    pub out: Vec<u8>,
    /// To its standard error.
    pub err: Vec<u8>,
    /// Its exit status, 0 to 255.
    pub status: i32,
}

impl Odd {
    /// Words on the standard output, and status 0.
    pub fn saying(words: &str) -> Self {
        Self { out: words.into(), ..Self::default() }
    }
}

impl VirtualPhone {
    /// From now on `program` answers so, whatever it is asked; with `None` it does its work again.
    pub fn set_odd(&self, program: &str, odd: Option<Odd>) {
        self.with(|phone| match odd {
            Some(odd) => drop(phone.odd.insert(program.to_owned(), odd)),
            None => drop(phone.odd.remove(program)),
        });
    }

    /// How `program` answers oddly.
    pub(crate) fn odd(&self, program: &str) -> Option<Odd> {
        self.peek(|phone| phone.odd.get(program).cloned())
    }
}

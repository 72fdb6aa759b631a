//! The tool's end: what section 3.2 demands of a service.

use super::{Descriptor, Extras, Values};

/// What a capability gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// By name; their types are the descriptor's.
    pub values: Values,
    /// In words; empty for none.
    pub message: String,
}

/// An app's own part.
pub trait Tool {
    /// What it can do.
    fn descriptor(&self) -> &Descriptor;

    /// Does it. The arguments fit the descriptor.
    ///
    /// # Errors
    /// Why not, for the answer's message.
    fn call(&mut self, capability: &str, arguments: &Values) -> Result<Output, String>;
}

/// Does for a [`Tool`] what the specification demands of a service.
#[derive(Debug)]
pub struct Dispatcher<T>(pub T);

impl<T: Tool> Dispatcher<T> {
    /// Handles an Intent's text extras and gives those of the answer; `None` where the specification has nothing to answer by: there is no
    /// request, or it has no id. Real tools stay silent then.
    pub fn handle(&mut self, _extras: &Extras) -> Option<Extras> {
        None
    }
}

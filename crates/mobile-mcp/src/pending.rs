//! Which request an answer belongs to (section 3.3).

use std::time::Duration;

use super::{Broken, Response};

/// The requests that are under way. Time is handed in, as a distance from a beginning that the caller chooses.
#[derive(Debug, Default)]
pub struct Pending {}

/// What an answer turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// To this request, in time.
    Answer(Response),
    /// To a request that was given up: its time was over.
    Late(Response),
    /// To a request that was answered before; the first answer counts.
    Duplicate(Response),
    /// To no request of ours.
    Foreign(Response),
    /// Of the right request, for another capability.
    Crossed(Response),
    /// No answer at all.
    Broken(Broken),
}

impl Pending {
    /// A request went out, and is waited for until `deadline`.
    ///
    /// # Errors
    /// When a request of this id is under way already.
    pub fn sent(
        &mut self,
        _id: &str,
        _capability: &str,
        _deadline: Duration,
    ) -> Result<(), String> {
        Ok(())
    }

    /// An answer came.
    pub fn heard(&mut self, _now: Duration, answer: Result<Response, Broken>) -> Heard {
        match answer {
            Ok(answer) => Heard::Foreign(answer),
            Err(broken) => Heard::Broken(broken),
        }
    }
}

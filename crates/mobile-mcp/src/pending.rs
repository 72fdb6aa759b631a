//! Which request an answer belongs to (section 3.3).
//!
//! ```text
//!            sent             heard in time
//!   (unknown) ──► under way ──────────────────► answered ── heard ──► Duplicate
//!       │              │ given up, or heard late     ▲
//!       │ heard        └───────────► given up ── heard: Late
//!       ▼
//!    Foreign      heard for another capability: Crossed, and the request stays where it is
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::words::harmless;
use super::{Broken, Response};

/// The most requests that are waited for at once.
pub(crate) const MOST_UNDER_WAY: usize = 1_024;

/// How many requests that are over are remembered, so that what still comes for them is known.
pub(crate) const REMEMBERED: usize = 1_024;

/// The requests that are under way. Time is handed in, as a distance from a beginning that the caller chooses.
#[derive(Debug, Default)]
pub struct Pending {
    /// By id.
    under_way: BTreeMap<String, Waited>,
    /// By id: whether it was answered.
    over: BTreeMap<String, bool>,
    /// The ids of `over`, the oldest first.
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Waited {
    capability: String,
    deadline: Duration,
}

/// What an answer turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// To this request, in time.
    Answer(Response),
    /// To a request that was given up: its time was over.
    Late(Response),
    /// To a request that was answered before; the first answer counts.
    Duplicate(Response),
    /// To no request of ours, or to one that is long over.
    Foreign(Response),
    /// Of the right request, for another capability. The request is still waited for.
    Crossed(Response),
    /// No answer at all.
    Broken(Broken),
}

impl Pending {
    /// A request went out, and is waited for until `deadline`.
    ///
    /// # Errors
    /// When a request of this id is under way already or was lately, or too many are under way.
    pub fn sent(&mut self, id: &str, capability: &str, deadline: Duration) -> Result<(), String> {
        if self.under_way.contains_key(id) || self.over.contains_key(id) {
            return Err(format!("a request with the id `{}` was sent before", harmless(id, 60)));
        }
        if self.under_way.len() >= MOST_UNDER_WAY {
            return Err(format!("{MOST_UNDER_WAY} requests are under way already"));
        }
        self.under_way
            .insert(id.to_owned(), Waited { capability: capability.to_owned(), deadline });
        Ok(())
    }

    /// An answer came.
    pub fn heard(&mut self, now: Duration, answer: Result<Response, Broken>) -> Heard {
        let answer = match answer {
            Ok(answer) => answer,
            Err(broken) => return Heard::Broken(broken),
        };
        if let Some(waited) = self.under_way.get(&answer.id) {
            if !answer.capability.is_empty() && answer.capability != waited.capability {
                return Heard::Crossed(answer);
            }
            let late = now > waited.deadline;
            self.under_way.remove(&answer.id);
            self.remember(answer.id.clone(), true);
            return if late { Heard::Late(answer) } else { Heard::Answer(answer) };
        }
        match self.over.get_mut(&answer.id) {
            Some(true) => Heard::Duplicate(answer),
            Some(answered) => {
                *answered = true;
                Heard::Late(answer)
            }
            None => Heard::Foreign(answer),
        }
    }

    /// When the next request's time is over; `None` when none is under way.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.under_way.values().map(|waited| waited.deadline).min()
    }

    /// Gives up the requests whose time is over, and says which: the one that was to be answered first, first.
    pub fn expired(&mut self, now: Duration) -> Vec<String> {
        let over = self.under_way.iter().filter(|(_, waited)| now > waited.deadline);
        let mut ids: Vec<_> = over.map(|(id, waited)| (waited.deadline, id.clone())).collect();
        ids.sort();
        let ids: Vec<String> = ids.into_iter().map(|(_, id)| id).collect();
        for id in &ids {
            self.give_up(id);
        }
        ids
    }

    /// Stops waiting for this request; whether it was under way. What still comes for it is late.
    pub fn give_up(&mut self, id: &str) -> bool {
        let was = self.under_way.remove(id).is_some();
        if was {
            self.remember(id.to_owned(), false);
        }
        was
    }

    /// How many requests are under way.
    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    fn remember(&mut self, id: String, answered: bool) {
        if self.order.len() >= REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.over.remove(&oldest);
        }
        self.over.insert(id.clone(), answered);
        self.order.push_back(id);
    }
}

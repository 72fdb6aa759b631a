//! Correlates responses with requests (section 3.3).
//!
//! ```text
//!            sent              heard in time
//!   (unknown) ──► in flight ──────────────────► answered ── heard ──► Duplicate
//!       │              │ given up, or heard late     ▲
//!       │ heard        └───────────► given up ── heard: Late
//!       ▼
//!    Foreign      heard for another capability: Crossed; the request stays in flight
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use thumbwire_base::sanitize;

use super::{MalformedResponse, Response};

/// Limit on requests in flight.
pub(crate) const MAX_IN_FLIGHT: usize = 1_024;

/// How many finished requests are remembered, to classify responses that still arrive.
pub(crate) const MAX_REMEMBERED: usize = 1_024;

/// The requests in flight. The caller supplies the time, as a distance from a start that it
/// chooses.
#[derive(Debug, Default)]
pub struct PendingRequests {
    /// By id.
    in_flight: BTreeMap<String, PendingRequest>,
    /// By id: whether it was answered.
    finished: BTreeMap<String, bool>,
    /// The ids in `finished`, oldest first.
    order: VecDeque<String>,
}

#[derive(Debug)]
struct PendingRequest {
    capability: String,
    deadline: Duration,
}

/// What a response turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseMatch {
    /// The response to this request, in time.
    Expected(Response),
    /// The response to a request that had timed out or been given up.
    Late(Response),
    /// Another response to an answered request; the first one counts.
    Duplicate(Response),
    /// No request of ours, or one finished too long ago to be remembered.
    UnknownRequest(Response),
    /// It names the request but another capability. The request stays in flight.
    WrongCapability(Response),
    /// Not a readable response.
    Malformed(MalformedResponse),
}

impl PendingRequests {
    /// Records a sent request that waits for its response until `deadline`.
    ///
    /// # Errors
    /// The id is in flight or was used recently, or too many requests are in flight.
    pub fn on_sent(
        &mut self,
        id: &str,
        capability: &str,
        deadline: Duration,
    ) -> Result<(), String> {
        if self.in_flight.contains_key(id) || self.finished.contains_key(id) {
            return Err(format!("the request id `{}` was already used", sanitize(id, 60)));
        }
        if self.in_flight.len() >= MAX_IN_FLIGHT {
            return Err(format!("{MAX_IN_FLIGHT} requests are already in flight"));
        }
        self.in_flight
            .insert(id.to_owned(), PendingRequest { capability: capability.to_owned(), deadline });
        Ok(())
    }

    /// Classifies an arriving response.
    pub fn on_response(
        &mut self,
        now: Duration,
        answer: Result<Response, MalformedResponse>,
    ) -> ResponseMatch {
        let answer = match answer {
            Ok(answer) => answer,
            Err(broken) => return ResponseMatch::Malformed(broken),
        };
        if let Some(waited) = self.in_flight.get(&answer.id) {
            if !answer.capability.is_empty() && answer.capability != waited.capability {
                return ResponseMatch::WrongCapability(answer);
            }
            let late = now > waited.deadline;
            self.in_flight.remove(&answer.id);
            self.remember(answer.id.clone(), true);
            return if late {
                ResponseMatch::Late(answer)
            } else {
                ResponseMatch::Expected(answer)
            };
        }
        match self.finished.get_mut(&answer.id) {
            Some(true) => ResponseMatch::Duplicate(answer),
            Some(answered) => {
                *answered = true;
                ResponseMatch::Late(answer)
            }
            None => ResponseMatch::UnknownRequest(answer),
        }
    }

    /// Removes the requests whose deadline has passed and returns their ids, earliest deadline
    /// first.
    pub fn expired(&mut self, now: Duration) -> Vec<String> {
        let over = self.in_flight.iter().filter(|(_, waited)| now > waited.deadline);
        let mut ids: Vec<_> = over.map(|(id, waited)| (waited.deadline, id.clone())).collect();
        ids.sort();
        let ids: Vec<String> = ids.into_iter().map(|(_, id)| id).collect();
        for id in &ids {
            self.give_up(id);
        }
        ids
    }

    /// Stops waiting for a request; returns whether it was in flight. Any later response to it is
    /// late.
    pub fn give_up(&mut self, id: &str) -> bool {
        let was = self.in_flight.remove(id).is_some();
        if was {
            self.remember(id.to_owned(), false);
        }
        was
    }

    /// The number of requests in flight.
    pub fn len(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether no request is in flight.
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    fn remember(&mut self, id: String, answered: bool) {
        if self.order.len() >= MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.finished.remove(&oldest);
        }
        self.finished.insert(id.clone(), answered);
        self.order.push_back(id);
    }
}

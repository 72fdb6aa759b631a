//! Documents that a browser opens by their address, without the token: each once, by a name that
//! nobody can guess.

use std::collections::VecDeque;
use std::sync::Mutex;

use bytes::Bytes;
use thumbwire_base::lock;
use thumbwire_core::random;

/// How many documents wait to be opened; older ones are forgotten.
const MAX_WAITING: usize = 8;

/// The documents that wait, by their tickets.
#[derive(Default)]
pub(super) struct Tickets(Mutex<VecDeque<(String, Bytes)>>);

impl Tickets {
    /// Keeps a document until it is opened. Returns its ticket.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub(super) fn add(&self, document: Bytes) -> Result<String, String> {
        let ticket = random::hex::<16>()?;
        let mut waiting = lock(&self.0);
        waiting.push_back((ticket.clone(), document));
        if waiting.len() > MAX_WAITING {
            waiting.pop_front();
        }
        Ok(ticket)
    }

    /// The document of a ticket, this once.
    pub(super) fn take(&self, ticket: &str) -> Option<Bytes> {
        let mut waiting = lock(&self.0);
        let at = waiting.iter().position(|(known, _)| known == ticket)?;
        waiting.remove(at).map(|(_, document)| document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_good_once() {
        let tickets = Tickets::default();
        let all: Vec<String> = (0..MAX_WAITING + 1)
            .map(|number| tickets.add(Bytes::from(number.to_string())).unwrap())
            .collect();
        assert_eq!(tickets.take(&all[0]), None, "the oldest is forgotten");
        assert_eq!(tickets.take(&all[1]).unwrap(), "1");
        assert_eq!(tickets.take(&all[1]), None);
        assert_eq!(tickets.take(""), None);
    }
}

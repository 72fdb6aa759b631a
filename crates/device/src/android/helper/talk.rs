//! A conversation with the helper: which answer belongs to which request. Bytes in, bytes out; no I/O and no clock.
//!
//! Answers come in any order. One that nobody waits for any more is passed over, so that an answer that is late or comes twice does no
//! harm; what is no answer at all ends the conversation.

use std::collections::BTreeSet;

use bytes::{Bytes, BytesMut};
use serde_json::Value;

use super::frame::{self, Header, Malformed};
use crate::error::excerpt;

/// The most requests that wait at once.
pub(super) const MOST: usize = 64;

/// Requests by number, and bytes of an answer that has not come whole.
#[derive(Debug, Default)]
pub(super) struct Talk {
    last: u64,
    waiting: BTreeSet<u64>,
    heard: BytesMut,
}

/// What the helper answered to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// It did it; what it tells of it.
    Done(Header),
    /// It did not.
    Not(Fault),
}

/// Why the helper did not do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// One word, such as `not_found`.
    pub(super) code: String,
    /// A sentence; empty where it said none.
    pub(super) says: String,
    /// What to try; empty where it said none.
    pub(super) advice: String,
}

/// Why a request was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unasked {
    #[error("{MOST} requests wait for it already")]
    TooMany,
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl Talk {
    /// Begins a request. Gives its number, and the bytes to send.
    pub(super) fn ask(&mut self, op: &str, fields: Header) -> Result<(u64, Bytes), Unasked> {
        if self.waiting.len() >= MOST {
            return Err(Unasked::TooMany);
        }
        let (id, frame) = self.write(op, fields)?;
        self.waiting.insert(id);
        Ok((id, frame))
    }

    /// Waits no longer for that one. Gives the bytes that tell the helper so, if it has not answered.
    pub(super) fn give_up(&mut self, id: u64) -> Option<Bytes> {
        if !self.waiting.remove(&id) {
            return None;
        }
        let of = Header::from_iter([("of".to_owned(), Value::from(id))]);
        self.write("cancel", of).ok().map(|(_, frame)| frame)
    }

    /// The last thing to say. Its answer is not waited for.
    pub(super) fn bye(&mut self) -> Option<Bytes> {
        self.write("bye", Header::new()).ok().map(|(_, frame)| frame)
    }

    /// Takes what came and gives the answers in it to what still waits. Behind a malformed one nothing is read any more.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> (Vec<(u64, Reply)>, Option<Malformed>) {
        self.heard.extend_from_slice(bytes);
        let mut replies = Vec::new();
        loop {
            match frame::read(&mut self.heard).map(|header| header.map(read_reply)) {
                Ok(None) => return (replies, None),
                Ok(Some(Ok((id, reply)))) => {
                    if self.waiting.remove(&id) {
                        replies.push((id, reply));
                    }
                }
                Ok(Some(Err(malformed))) | Err(malformed) => return (replies, Some(malformed)),
            }
        }
    }

    fn write(&mut self, op: &str, fields: Header) -> Result<(u64, Bytes), Malformed> {
        let id = self.last + 1;
        let mut header = Header::from_iter([
            ("id".to_owned(), Value::from(id)),
            ("op".to_owned(), Value::from(op)),
        ]);
        header.extend(fields);
        let frame = frame::write(&header)?;
        self.last = id;
        Ok((id, frame))
    }
}

fn read_reply(header: Header) -> Result<(u64, Reply), Malformed> {
    let shown = || excerpt(Value::from(header.clone()).to_string());
    let id = header.get("id").and_then(Value::as_u64).ok_or_else(|| Malformed::NoId(shown()))?;
    let word = |name: &str| header.get(name).and_then(Value::as_str).map(excerpt);
    let reply = match (word("error"), header.get("ok")) {
        (Some(code), _) => Reply::Not(Fault {
            code,
            says: word("says").unwrap_or_default(),
            advice: word("try").unwrap_or_default(),
        }),
        (None, Some(Value::Bool(true))) => Reply::Done(header),
        _ => return Err(Malformed::NoAnswer(shown())),
    };
    Ok((id, reply))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn header(value: Value) -> Header {
        value.as_object().cloned().unwrap()
    }

    fn frame(value: Value) -> Vec<u8> {
        frame::write(&header(value)).unwrap().to_vec()
    }

    #[test]
    fn answers_in_any_order_come_to_what_they_answer() {
        let mut talk = Talk::default();
        let ids: Vec<u64> = (0..3).map(|_| talk.ask("courier", Header::new()).unwrap().0).collect();
        let answers =
            [2, 0, 1].map(|nth| frame(json!({ "id": ids[nth], "ok": true, "code": nth })));
        let (replies, malformed) = talk.hear(&answers.concat());
        assert_eq!(malformed, None);
        let came: Vec<u64> = replies.iter().map(|(id, _)| *id).collect();
        assert_eq!(came, [ids[2], ids[0], ids[1]]);
    }

    #[test]
    fn late_doubled_and_foreign_answers_are_passed_over() {
        let mut talk = Talk::default();
        let (id, _) = talk.ask("courier", Header::new()).unwrap();
        let cancel = talk.give_up(id).unwrap();
        let mut said = BytesMut::from(&cancel[..]);
        let said = frame::read(&mut said).unwrap().unwrap();
        assert_eq!((&said["op"], &said["of"]), (&json!("cancel"), &json!(id)));
        assert_ne!(said["id"], json!(id), "it has a number of its own");
        let late = frame(json!({ "id": id, "ok": true }));
        assert_eq!(talk.hear(&[&late[..], &late].concat()), (vec![], None));
        assert_eq!(talk.hear(&frame(json!({ "id": 999, "ok": true }))), (vec![], None));
        assert_eq!(talk.give_up(id), None);
    }

    #[test]
    fn a_fault_has_its_code_its_words_and_what_to_try() {
        let mut talk = Talk::default();
        let (id, _) = talk.ask("courier", Header::new()).unwrap();
        let said =
            json!({ "id": id, "error": "refused", "says": "not exported", "try": "x", "new": 1 });
        let (replies, _) = talk.hear(&frame(said));
        let fault =
            Fault { code: "refused".into(), says: "not exported".into(), advice: "x".into() };
        assert_eq!(replies, [(id, Reply::Not(fault))]);
    }

    #[test]
    fn what_is_no_answer_ends_it_and_what_came_before_is_kept() {
        for odd in [json!({ "ok": true }), json!({ "id": "1", "ok": true }), json!({ "id": 1 })] {
            let mut talk = Talk::default();
            let (id, _) = talk.ask("courier", Header::new()).unwrap();
            let good = frame(json!({ "id": id, "ok": true }));
            let (replies, malformed) = talk.hear(&[good, frame(odd.clone())].concat());
            assert_eq!(replies.len(), 1);
            assert!(malformed.is_some(), "{odd}");
        }
    }

    #[test]
    fn so_many_wait_and_no_more() {
        let mut talk = Talk::default();
        for _ in 0..MOST {
            talk.ask("courier", Header::new()).unwrap();
        }
        assert_eq!(talk.ask("courier", Header::new()), Err(Unasked::TooMany));
        talk.give_up(1);
        assert!(talk.ask("courier", Header::new()).is_ok());
    }

    proptest! {
        /// Some requests are given up, the answers come in any order, some twice, in any pieces.
        #[test]
        fn each_request_has_its_own_answer_once(
            order in Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle(),
            given_up in prop::collection::vec(any::<bool>(), 40), doubled in prop::collection::vec(any::<bool>(), 40),
            size in 1..64_usize,
        ) {
            let mut talk = Talk::default();
            let ids: Vec<u64> = (0..40).map(|nth| talk.ask("courier", header(json!({ "n": nth }))).unwrap().0).collect();
            for (id, _) in ids.iter().zip(&given_up).filter(|(_, gone)| **gone) {
                prop_assert!(talk.give_up(*id).is_some());
            }
            let answers: Vec<u8> = order
                .iter()
                .flat_map(|nth| frame(json!({ "id": ids[*nth], "ok": true, "code": nth })).repeat(1 + usize::from(doubled[*nth])))
                .collect();
            let mut came = Vec::new();
            for piece in answers.chunks(size) {
                let (replies, malformed) = talk.hear(piece);
                prop_assert_eq!(malformed, None);
                came.extend(replies);
            }
            let expected: Vec<u64> = order.iter().filter(|nth| !given_up[**nth]).map(|nth| ids[*nth]).collect();
            prop_assert_eq!(came.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
            for (id, reply) in came {
                let Reply::Done(said) = reply else { panic!("{reply:?}") };
                prop_assert_eq!(ids[said["code"].as_u64().unwrap() as usize], id);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..99)) {
            let mut talk = Talk::default();
            let _ = talk.ask("courier", Header::new());
            let _ = talk.hear(&bytes);
        }
    }
}

//! The helper protocol: matches replies to requests. Bytes in, bytes out; no I/O and no clock.
//!
//! Replies come in any order. A reply without a waiting request is ignored, so late and duplicate
//! replies do no harm; anything that is not a reply ends the connection.

use std::collections::BTreeSet;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::Value;

use super::frame::{self, FrameError, Header};
use super::inflate::inflate;
use crate::error::excerpt;
use thumbwire_base::visible::name;

/// Maximum number of pending requests.
pub(super) const MAX_REQUESTS: usize = 64;

/// Pending requests by id, and the bytes of an incomplete reply.
#[derive(Debug, Default)]
pub(super) struct HelperProtocol {
    last: u64,
    waiting: BTreeSet<u64>,
    received: BytesMut,
}

/// The helper's reply to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Success, with the result and the frame's body, which is not compressed any more.
    Done(Header, Bytes),
    /// Success; further replies to this request follow.
    More(Header, Bytes),
    /// Failure.
    Failed(HelperError),
}

/// Why the helper failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HelperError {
    /// Error code, one word such as `not_found`.
    pub(super) code: String,
    /// Error message; may be empty.
    pub(super) message: String,
    /// What to try; may be empty.
    pub(super) advice: String,
}

/// Why a request was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SendError {
    #[error("{MAX_REQUESTS} requests are pending already")]
    TooMany,
    #[error(transparent)]
    Malformed(#[from] FrameError),
}

impl HelperProtocol {
    /// Creates a request. Returns its id and the bytes to send.
    pub(super) fn ask(&mut self, op: &str, fields: Header) -> Result<(u64, Bytes), SendError> {
        if self.waiting.len() >= MAX_REQUESTS {
            return Err(SendError::TooMany);
        }
        let (id, frame) = self.write(op, fields)?;
        self.waiting.insert(id);
        Ok((id, frame))
    }

    /// Stops waiting for a reply. Returns the bytes of a cancel request, unless the reply has
    /// already come.
    pub(super) fn give_up(&mut self, id: u64) -> Option<Bytes> {
        if !self.waiting.remove(&id) {
            return None;
        }
        let of = Header::from_iter([("of".to_owned(), Value::from(id))]);
        self.write("cancel", of).ok().map(|(_, frame)| frame)
    }

    /// The closing request, for this connection or for all. Its reply is not awaited.
    pub(super) fn close_frame(&mut self, all: bool) -> Option<Bytes> {
        let fields = all.then(|| ("all".to_owned(), Value::from(true)));
        self.write("bye", fields.into_iter().collect()).ok().map(|(_, frame)| frame)
    }

    /// Takes received bytes and returns the replies to pending requests. Nothing after a malformed
    /// frame is read.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> (Vec<(u64, Reply)>, Option<FrameError>) {
        self.received.extend_from_slice(bytes);
        let mut replies = Vec::new();
        loop {
            match frame::read(&mut self.received).map(|frame| frame.map(read_reply)) {
                Ok(None) => return (replies, None),
                Ok(Some(Ok((id, reply)))) => {
                    let is_awaited = match &reply {
                        Reply::More(..) => self.waiting.contains(&id),
                        Reply::Done(..) | Reply::Failed(_) => self.waiting.remove(&id),
                    };
                    if is_awaited {
                        replies.push((id, reply));
                    }
                }
                Ok(Some(Err(malformed))) | Err(malformed) => return (replies, Some(malformed)),
            }
        }
    }

    fn write(&mut self, op: &str, fields: Header) -> Result<(u64, Bytes), FrameError> {
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

/// The fields that a reply to any request may have.
#[derive(Deserialize)]
struct ReplyFields {
    id: Option<u64>,
    #[serde(default)]
    ok: bool,
    #[serde(default)]
    more: bool,
    error: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    advice: String,
    inflated: Option<usize>,
}

fn read_reply((header, body): (Header, Bytes)) -> Result<(u64, Reply), FrameError> {
    let shown = || excerpt(Value::from(header.clone()).to_string());
    let fields = ReplyFields::deserialize(&header);
    let fields = fields.map_err(|error| FrameError::Fields(excerpt(error.to_string()), shown()))?;
    let id = fields.id.ok_or_else(|| FrameError::NoId(shown()))?;
    let reply = match fields {
        ReplyFields { error: Some(code), message, advice, .. } => Reply::Failed(HelperError {
            code: name(&code).into_owned(),
            message: if message.is_empty() { message } else { excerpt(message) },
            advice: if advice.is_empty() { advice } else { excerpt(advice) },
        }),
        ReplyFields { ok: true, more, inflated, .. } => {
            let body = inflate(inflated, body)?;
            if more { Reply::More(header, body) } else { Reply::Done(header, body) }
        }
        _ => return Err(FrameError::NoAnswer(shown())),
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
    fn replies_match_requests_in_any_order() {
        let mut protocol = HelperProtocol::default();
        let ids: Vec<u64> =
            (0..3).map(|_| protocol.ask("call_service", Header::new()).unwrap().0).collect();
        let answers =
            [2, 0, 1].map(|nth| frame(json!({ "id": ids[nth], "ok": true, "code": nth })));
        let (replies, malformed) = protocol.receive(&answers.concat());
        assert_eq!(malformed, None);
        let result: Vec<u64> = replies.iter().map(|(id, _)| *id).collect();
        assert_eq!(result, [ids[2], ids[0], ids[1]]);
    }

    #[test]
    fn late_duplicate_and_unknown_replies_are_ignored() {
        let mut protocol = HelperProtocol::default();
        let (id, _) = protocol.ask("call_service", Header::new()).unwrap();
        let cancel = protocol.give_up(id).unwrap();
        let mut output = BytesMut::from(&cancel[..]);
        let (output, _) = frame::read(&mut output).unwrap().unwrap();
        assert_eq!((&output["op"], &output["of"]), (&json!("cancel"), &json!(id)));
        assert_ne!(output["id"], json!(id), "the cancel request has its own id");
        let late = frame(json!({ "id": id, "ok": true }));
        assert_eq!(protocol.receive(&[&late[..], &late].concat()), (vec![], None));
        assert_eq!(protocol.receive(&frame(json!({ "id": 999, "ok": true }))), (vec![], None));
        assert_eq!(protocol.give_up(id), None);
    }

    #[test]
    fn error_has_code_message_and_advice() {
        let mut protocol = HelperProtocol::default();
        let (id, _) = protocol.ask("call_service", Header::new()).unwrap();
        let output = json!({ "id": id, "error": "refused", "message": "not exported", "advice": "x", "new": 1 });
        let (replies, _) = protocol.receive(&frame(output));
        let fault = HelperError {
            code: "refused".into(),
            message: "\"not exported\"".into(),
            advice: "\"x\"".into(),
        };
        assert_eq!(replies, [(id, Reply::Failed(fault))]);
    }

    #[test]
    fn malformed_reply_ends_the_connection_after_earlier_ones() {
        for invalid in [json!({ "ok": true }), json!({ "id": "1", "ok": true }), json!({ "id": 1 })]
        {
            let mut protocol = HelperProtocol::default();
            let (id, _) = protocol.ask("call_service", Header::new()).unwrap();
            let good = frame(json!({ "id": id, "ok": true }));
            let (replies, malformed) = protocol.receive(&[good, frame(invalid.clone())].concat());
            assert_eq!(replies.len(), 1);
            assert!(malformed.is_some(), "{invalid}");
        }
    }

    #[test]
    fn request_with_several_replies_waits_for_the_last() {
        let mut protocol = HelperProtocol::default();
        let (id, _) = protocol.ask("events", Header::new()).unwrap();
        let more = frame(json!({ "id": id, "ok": true, "more": true }));
        let last = frame(json!({ "id": id, "ok": true }));
        let (replies, malformed) = protocol.receive(&[&more[..], &more, &last, &more].concat());
        assert_eq!(malformed, None);
        let kinds: Vec<bool> =
            replies.iter().map(|(_, reply)| matches!(reply, Reply::More(..))).collect();
        assert_eq!(kinds, [true, true, false]);
    }

    #[test]
    fn compressed_body_that_is_not_whole_ends_the_connection() {
        let mut protocol = HelperProtocol::default();
        let (id, _) = protocol.ask("tree", Header::new()).unwrap();
        let (replies, malformed) =
            protocol.receive(&frame(json!({ "id": id, "ok": true, "inflated": 7 })));
        assert_eq!(replies, []);
        assert!(matches!(malformed, Some(FrameError::Compressed(_))), "{malformed:?}");
    }

    #[test]
    fn pending_requests_are_limited() {
        let mut protocol = HelperProtocol::default();
        for _ in 0..MAX_REQUESTS {
            protocol.ask("call_service", Header::new()).unwrap();
        }
        assert_eq!(protocol.ask("call_service", Header::new()), Err(SendError::TooMany));
        protocol.give_up(1);
        assert!(protocol.ask("call_service", Header::new()).is_ok());
    }

    proptest! {
        /// Some requests are cancelled; the replies come in any order, some twice, split at any
        /// offset.
        #[test]
        fn each_request_gets_its_own_reply_once(
            order in Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle(),
            given_up in prop::collection::vec(any::<bool>(), 40), doubled in prop::collection::vec(any::<bool>(), 40),
            size in 1..64_usize,
        ) {
            let mut protocol = HelperProtocol::default();
            let ids: Vec<u64> = (0..40).map(|nth| protocol.ask("call_service", header(json!({ "n": nth }))).unwrap().0).collect();
            for (id, _) in ids.iter().zip(&given_up).filter(|(_, gone)| **gone) {
                prop_assert!(protocol.give_up(*id).is_some());
            }
            let answers: Vec<u8> = order
                .iter()
                .flat_map(|nth| frame(json!({ "id": ids[*nth], "ok": true, "code": nth })).repeat(1 + usize::from(doubled[*nth])))
                .collect();
            let mut result = Vec::new();
            for piece in answers.chunks(size) {
                let (replies, malformed) = protocol.receive(piece);
                prop_assert_eq!(malformed, None);
                result.extend(replies);
            }
            let expected: Vec<u64> = order.iter().filter(|nth| !given_up[**nth]).map(|nth| ids[*nth]).collect();
            prop_assert_eq!(result.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
            for (id, reply) in result {
                let Reply::Done(message, _) = reply else { panic!("{reply:?}") };
                prop_assert_eq!(ids[message["code"].as_u64().unwrap() as usize], id);
            }
        }

        /// A byte of a conversation is changed on its way, and it comes in pieces.
        #[test]
        fn changed_bytes_give_each_request_one_reply_at_most(
            at in any::<prop::sample::Index>(), by in 1..=255_u8, size in 1..64_usize,
        ) {
            let mut protocol = HelperProtocol::default();
            let ids: Vec<u64> = (0..8).map(|_| protocol.ask("tree", Header::new()).unwrap().0).collect();
            let mut bytes: Vec<u8> = ids
                .iter()
                .flat_map(|id| frame(json!({ "id": id, "ok": true, "tree_bytes": 12, "text": "\u{1f600}" })))
                .collect();
            let at = at.index(bytes.len());
            bytes[at] ^= by;
            let mut answered = Vec::new();
            for piece in bytes.chunks(size) {
                let (replies, malformed) = protocol.receive(piece);
                answered.extend(replies.into_iter().map(|(id, _)| id));
                if malformed.is_some() {
                    break;
                }
            }
            prop_assert!(answered.iter().all(|id| ids.contains(id)));
            let mut once = answered.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), answered.len());
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..99)) {
            let mut protocol = HelperProtocol::default();
            let _ = protocol.ask("call_service", Header::new());
            let _ = protocol.receive(&bytes);
        }
    }
}

//! Entries for the fuzz target into readers that are private. Compiled with `--cfg fuzzing` only.

use async_nats::{HeaderMap, Message};

use crate::message::{Assembly, FromNode, PART, PARTS, ToNode, WHOLE};
use crate::selector::Selector;

/// A message in this many parts, in order or not.
pub fn message(count: usize, is_in_order: bool, json: &[u8]) {
    let (mut to_node, mut from_node) = (Assembly::default(), Assembly::default());
    let length = json.len().div_ceil(count.max(1)).max(1);
    for (number, payload) in json.chunks(length).enumerate() {
        let headers = (count > 1).then(|| {
            let mut headers = HeaderMap::new();
            headers.insert(WHOLE, "a");
            headers.insert(PART, (if is_in_order { number } else { number / 2 }).to_string());
            headers.insert(PARTS, count.to_string());
            headers
        });
        let message = Message {
            subject: "thumbwire.node.a".into(),
            reply: None,
            payload: payload.to_vec().into(),
            headers,
            status: None,
            description: None,
            length: payload.len(),
        };
        let _ = to_node.add::<ToNode>(&message);
        let _ = from_node.add::<FromNode>(&message);
    }
}

/// A selector of phones.
pub fn selector(text: &str) {
    if let Ok(selector) = text.parse::<Selector>() {
        assert_eq!(selector.to_string().parse::<Selector>(), Ok(selector));
    }
}

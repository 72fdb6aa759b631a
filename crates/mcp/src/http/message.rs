//! Receives messages: bounded in size, in time, and in what they take of memory together.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::StatusCode;
use futures::stream::StreamExt as _;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::limits::{
    Budget, FREE_BYTES, Limits, MAX_DROPPED, MAX_MESSAGE, MAX_RECEIVING, MAX_VALUES, Taken,
};
use super::rejection::Rejection;
use crate::grant::Share;

/// Receives the bytes of a message, and what they take of the budget until they are dropped. Room
/// is taken as they arrive, whatever length was announced. An oversized message is read and dropped
/// up to a limit, so that its sender gets to read the response.
pub(super) async fn receive(
    body: Body,
    budget: &Budget,
    share: &Share,
    limits: &Limits,
) -> Result<(Bytes, Taken), Rejection> {
    if body.size_hint().lower() > MAX_DROPPED as u64 {
        return Err(too_large());
    }
    let mut taken = budget.take(share, 0)?;
    let mut pieces = body.into_data_stream();
    let (mut message, mut length) = (Vec::new(), 0_usize);
    let latest = Instant::now() + MAX_RECEIVING;
    loop {
        let next = timeout_at(latest.min(Instant::now() + limits.stalled), pieces.next()).await;
        let Ok(piece) = next else { return Err(not_in_time(limits)) };
        let Some(piece) = piece else { break };
        let piece = piece.map_err(|error| {
            Rejection::bad_request(format!("Bad Request: cannot read the message: {error}"))
        })?;
        length += piece.len();
        if length > MAX_DROPPED {
            break;
        }
        if length > MAX_MESSAGE {
            message = Vec::new();
            continue;
        }
        let has = message.capacity();
        if has < length {
            // In steps, so that little of the room is empty.
            let more = length.max(has + has / 4).max(has + 4096);
            taken.add(more.saturating_sub(has.max(FREE_BYTES)))?;
            message.reserve_exact(more - message.len());
        }
        message.extend_from_slice(&piece);
    }
    if length > MAX_MESSAGE { Err(too_large()) } else { Ok((message.into(), taken)) }
}

/// Reads a message.
pub(super) fn parse(message: &[u8]) -> Result<Value, Rejection> {
    if values(message) > MAX_VALUES {
        let text = format!("Invalid Request: the message has more than {MAX_VALUES} JSON values");
        return Err(Rejection::bad_request(text));
    }
    serde_json::from_slice(message).map_err(|error| Rejection::no_json(&error))
}

/// How many values a text of JSON has at most: each one but the first follows one of these signs.
fn values(text: &[u8]) -> usize {
    let (mut count, mut is_quoted, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_quoted,
            b'"' => is_quoted = !is_quoted,
            b',' | b'[' | b'{' | b':' if !is_quoted => count += 1,
            _ => {}
        }
    }
    count
}

fn too_large() -> Rejection {
    let text = format!("Payload Too Large: the limit is {MAX_MESSAGE} bytes");
    Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, text)
}

fn not_in_time(limits: &Limits) -> Rejection {
    let (whole, stalled) = (MAX_RECEIVING.as_secs(), limits.stalled.as_secs());
    let text =
        format!("the message did not arrive within {whole} s, or nothing of it within {stalled} s");
    Rejection::new(StatusCode::REQUEST_TIMEOUT, text)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;
    use serde_json::json;

    use super::*;

    /// A body that never ends after these pieces.
    fn endless(pieces: Vec<Bytes>) -> Body {
        let pieces = stream::iter(pieces).map(Ok::<_, Infallible>);
        Body::from_stream(pieces.chain(stream::pending()))
    }

    fn status(rejection: Rejection) -> u16 {
        rejection.into_response().status().as_u16()
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_message_is_given_up_soon() {
        let (limits, began) = (Limits::default(), Instant::now());
        let budget = Budget::new(1, "bytes");
        let refused =
            receive(endless(vec!["{".into()]), &budget, &Share::Whole, &limits).await.unwrap_err();
        assert_eq!((status(refused), began.elapsed()), (408, limits.stalled));
    }

    #[tokio::test(start_paused = true)]
    async fn messages_take_room_as_they_arrive_and_small_ones_none() {
        let limits = Limits::default();
        let budget = Budget::new(1 << 20, "bytes of messages");
        let share = Share::Part("ann".into());
        let body = |bytes: usize| Body::from("x".repeat(bytes));
        let whole = Body::from(vec![b'x'; 4 << 20]);
        let refused = receive(whole, &budget, &share, &limits).await.unwrap_err();
        assert_eq!(status(refused), 503, "more than a quarter");
        let mut held = Vec::new();
        for _ in 0..2 {
            held.push(receive(body(128 << 10), &budget, &share, &limits).await.unwrap());
        }
        held.push(receive(body(64 << 10), &budget, &share, &limits).await.unwrap());
        // Small ones need no room that others have taken.
        let _all = budget.take(&Share::Whole, (1 << 20) - (128 << 10)).unwrap();
        assert_eq!(receive(body(64 << 10), &budget, &share, &limits).await.unwrap().0.len(), 65536);
        let other = Share::Part("ben".into());
        assert!(receive(body(65 << 10), &budget, &other, &limits).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn an_oversized_message_takes_no_room() {
        let (limits, budget) = (Limits::default(), Budget::new(8 << 20, "bytes of messages"));
        let pieces = vec![Bytes::from(vec![b'x'; 1 << 20]); 9];
        let body = Body::from_stream(stream::iter(pieces).map(Ok::<_, Infallible>));
        let refused = receive(body, &budget, &Share::Whole, &limits).await.unwrap_err();
        assert_eq!(status(refused), 413);
        assert!(budget.take(&Share::Whole, 8 << 20).is_ok());
    }

    #[test]
    fn messages_of_very_many_values_are_refused_before_they_are_read() {
        let text = |count: usize| Value::from(vec![0; count]).to_string().into_bytes();
        assert!(parse(&text(MAX_VALUES - 2)).is_ok());
        assert!(parse(&text(MAX_VALUES)).is_err());
        let typed = json!({ "text": ",[{:\\\"".repeat(MAX_VALUES), "other": [1] });
        assert_eq!(parse(typed.to_string().as_bytes()).unwrap(), typed);
    }
}

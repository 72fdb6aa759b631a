//! The readers of model servers' replies.

use serde_json::Value;

use super::anthropic::Anthropic;
use super::error;
use super::http_model::{PartialResponse, ProviderApi};
use super::openai::OpenAi;
use super::sse::SseParser;

fn providers() -> [Box<dyn ProviderApi>; 2] {
    [
        Box::new(OpenAi::new("gpt-5", "api.openai.com", true)),
        Box::new(Anthropic::new("claude", true)),
    ]
}

/// A whole reply.
pub fn body(bytes: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(bytes) else {
        let _ = error::error_message(&String::from_utf8_lossy(bytes));
        return;
    };
    for provider in providers() {
        let mut reading = PartialResponse::default();
        let _ = provider.parse_response(&body, &mut reading);
    }
}

/// A stream of events, in two pieces.
pub fn stream(bytes: &[u8]) {
    let mut parser = SseParser::default();
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let mut events = parser.push(one);
    events.extend(parser.push(other));
    events.extend(parser.end());
    for provider in providers() {
        let mut reading = PartialResponse::default();
        for event in &events {
            let Ok(event) = serde_json::from_str::<Value>(event) else { continue };
            let _ = provider.parse_event(&event, &mut reading);
        }
    }
}

//! Questions to the person behind a client: MCP's elicitation.
//!
//! A client that declared the capability is sent `elicitation/create` while its call goes on (revisions 2025-06-18 and 2025-11-25): one
//! text field, `answer`. Elsewhere nobody can be asked, and whoever asks is told so at once: without the capability; over HTTP, where a
//! server may not ask in between (`http`); and in revision 2026-07-28, which forbids it. There a call would have to end with its question
//! and be sent again with the answer, which a run that is under way on a phone does not survive.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::json;

use crate::action::{Ask, NobodyThere};

/// The longest answer that is taken, in bytes: more than a person types.
const LONGEST_ANSWER: usize = 64 << 10;

/// Whoever the client of this call can ask.
pub(super) fn person(context: &RequestContext<RoleServer>) -> Arc<dyn Ask> {
    let old = context.protocol_version().is_none_or(|revision| revision.has_initialize());
    let can = context.peer.peer_info().is_some_and(|client| {
        // Who says neither means forms: revision 2025-06-18 knows nothing else.
        let elicitation = client.capabilities.elicitation.as_ref();
        elicitation.is_some_and(|way| way.form.is_some() || way.url.is_none())
    });
    match old && can {
        true => Arc::new(Client(context.peer.clone())),
        false => Arc::new(NobodyThere),
    }
}

/// The person behind this client.
struct Client(Peer<RoleServer>);

#[async_trait]
impl Ask for Client {
    async fn ask(&self, question: &str) -> Option<String> {
        let schema = json!({
            "type": "object",
            "properties": { "answer": { "type": "string", "title": "Answer" } },
            "required": ["answer"],
        });
        let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: harmless(question),
            requested_schema,
        };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        // A person may take as long as the call has; whoever asks gives up with it.
        let sent = self.0.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let answered = match sent {
            Ok(sent) => sent.await_response().await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(ClientResult::ElicitResult(result)) => match result.action {
                ElicitationAction::Accept => answer(result.content.as_ref()?),
                // Declined, or the window was closed.
                _ => None,
            },
            Ok(_) => None,
            Err(error) => {
                tracing::warn!("the client could not be asked: {error}");
                None
            }
        }
    }
}

/// A question may be a model's own: its words must not steer a client's terminal.
fn harmless(question: &str) -> String {
    question.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// What stands in the form. A client may send a number or a choice as it is.
fn answer(content: &serde_json::Value) -> Option<String> {
    let answer = match content.get("answer")? {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => return None,
        other => other.to_string(),
    };
    (!answer.is_empty() && answer.len() <= LONGEST_ANSWER).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_cannot_steer_a_terminal() {
        assert_eq!(harmless("Pay?\n\u{1b}[2JYes"), "Pay?\n\u{fffd}[2JYes");
    }

    #[test]
    fn an_answer_is_what_stands_in_the_field() {
        let check = |content, expected: Option<&str>| {
            assert_eq!(answer(&content).as_deref(), expected, "{content}");
        };
        check(json!({ "answer": "the blue one" }), Some("the blue one"));
        check(json!({ "answer": 7 }), Some("7"));
        check(json!({ "answer": "" }), None);
        check(json!({ "answer": null }), None);
        check(json!({ "other": "x" }), None);
        check(json!("x"), None);
        check(json!({ "answer": "x".repeat(LONGEST_ANSWER + 1) }), None);
    }
}

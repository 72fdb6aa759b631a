//! Questions to the user behind a client: MCP elicitation.
//!
//! A client that declared the capability gets `elicitation/create` during its call (revisions 2025-06-18 and
//! 2025-11-25), with one text field, `answer`. In all other cases there is no user to ask: without the capability; over
//! HTTP, where our server cannot send requests during a call (`http`); and in revision 2026-07-28, which forbids it.
//! There a call would have to end with its question and be sent again with the answer, which a run on a phone does not
//! survive.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::json;

use thumbwire_base::visible::visible_lines;
use thumbwire_core::action::{AskUser, NoUser, UserAnswer};

/// The longest accepted answer, in bytes: more than a person types.
const LONGEST_ANSWER: usize = 64 << 10;

/// The user whom the client of this call can ask.
pub(super) fn person(context: &RequestContext<RoleServer>) -> Arc<dyn AskUser> {
    let old = context.protocol_version().is_none_or(|revision| revision.has_initialize());
    let can = context.peer.peer_info().is_some_and(|client| {
        // A client that declares neither mode means forms, the only mode of revision 2025-06-18.
        let elicitation = client.capabilities.elicitation.as_ref();
        elicitation.is_some_and(|way| way.form.is_some() || way.url.is_none())
    });
    match old && can {
        true => Arc::new(ElicitingUser(context.peer.clone())),
        false => Arc::new(NoUser),
    }
}

/// The user behind this client.
struct ElicitingUser(Peer<RoleServer>);

#[async_trait]
impl AskUser for ElicitingUser {
    async fn ask(&self, question: &str) -> UserAnswer {
        let schema = json!({
            "type": "object",
            "properties": { "answer": { "type": "string", "title": "Answer" } },
            "required": ["answer"],
        });
        let Ok(requested_schema) = serde_json::from_value::<ElicitationSchema>(schema) else {
            return UserAnswer::NoUser;
        };
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: visible_lines(question).into_owned(),
            requested_schema,
        };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        // No timeout of its own: the question ends with the call.
        let sent = self.0.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let answered = match sent {
            Ok(sent) => sent.await_response().await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(ClientResult::ElicitResult(result)) => match result.action {
                ElicitationAction::Accept => {
                    let text = result.content.as_ref().and_then(answer);
                    text.map_or(UserAnswer::Dismissed, UserAnswer::Text)
                }
                ElicitationAction::Decline => UserAnswer::Declined,
                _ => UserAnswer::Dismissed,
            },
            Ok(_) => UserAnswer::NoUser,
            Err(error) => {
                tracing::warn!("cannot ask the user through the client: {error}");
                UserAnswer::NoUser
            }
        }
    }
}

/// The answer in the form. Some clients send a number or a boolean unquoted.
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
    fn answers_are_read_from_the_form() {
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

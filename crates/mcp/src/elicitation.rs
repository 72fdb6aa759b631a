//! Questions to the user behind a client: MCP elicitation.
//!
//! A client that declared the capability is asked with a form of one field, mostly `answer`: a
//! choice where the question has choices, text otherwise. In the revisions before 2026-07-28 the
//! form is a request, `elicitation/create`, that the call sends and waits for ([`ElicitingUser`]).
//! In 2026-07-28 the call's request ends with the form, and the next one brings the answer
//! ([`waiting_calls`](super::waiting_calls)). Without the capability there is no user to ask.
//!
//! Forms must not ask for secrets (revision 2025-11-25, "Elicitation"). A client that can open
//! addresses gets that of a page on this computer instead: what the user types there does not pass
//! the client.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::{Value, json};

use thumbwire_base::visible::visible_lines;
use thumbwire_core::action::{AskUser, Question, SecretPages, UserAnswer};
use thumbwire_core::random;

/// The longest accepted answer, in bytes: more than a person types.
const MAX_ANSWER: usize = 64 << 10;

/// How the user behind a client can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskingMode {
    /// By a request during the call.
    DuringCall,
    /// The call's request ends with the question, and the next one brings the answer.
    BetweenRequests,
    /// Not at all.
    Nobody,
}

/// How the user behind the client of this call can be asked. `has_pages`: whether there are pages
/// for secrets.
pub(super) fn asking_mode(context: &RequestContext<RoleServer>, has_pages: bool) -> AskingMode {
    let client = context.client_capabilities().unwrap_or_default();
    if !(has_forms(&client) || has_pages && has_urls(&client)) {
        return AskingMode::Nobody;
    }
    match context.protocol_version() {
        Some(revision) if !revision.has_initialize() => AskingMode::BetweenRequests,
        _ => AskingMode::DuringCall,
    }
}

/// Whether a client can show forms. One that declares neither mode means forms, the only mode of
/// revision 2025-06-18.
pub(super) fn has_forms(client: &ClientCapabilities) -> bool {
    client.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Whether a client can show its user an address to open.
pub(super) fn has_urls(client: &ClientCapabilities) -> bool {
    client.elicitation.as_ref().is_some_and(|modes| modes.url.is_some())
}

/// The user behind a client that is asked during the call.
pub(super) struct ElicitingUser {
    pub(super) peer: Peer<RoleServer>,
    pub(super) has_forms: bool,
    /// Where the user types secrets; `None` if the client cannot open addresses.
    pub(super) pages: Option<Arc<dyn SecretPages>>,
}

impl ElicitingUser {
    /// Sends a question; `None` if the client does not answer it.
    async fn send(&self, question: ElicitRequest) -> Option<ElicitResult> {
        let request = ServerRequest::ElicitRequest(question);
        // No timeout of its own: the question ends with the call.
        let options = PeerRequestOptions::no_options();
        let answered = match self.peer.send_cancellable_request(request, options).await {
            Ok(sent) => sent.await_response().await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(ClientResult::ElicitResult(result)) => Some(result),
            Ok(_) => None,
            Err(error) => {
                tracing::warn!("cannot ask the user through the client: {error}");
                None
            }
        }
    }
}

#[async_trait]
impl AskUser for ElicitingUser {
    async fn ask(&self, question: &Question) -> UserAnswer {
        let Some(form) = form(question).filter(|_| self.has_forms) else {
            return UserAnswer::NoUser;
        };
        let result = self.send(form).await;
        result.map_or(UserAnswer::NoUser, |result| read_result(&result, question))
    }

    async fn ask_secret(&self, question: &Question) -> UserAnswer {
        let Some(pages) = &self.pages else { return UserAnswer::NoUser };
        let (page, id) = match (pages.open(question), random::hex::<8>()) {
            (Ok(page), Ok(id)) => (page, id),
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!("cannot ask the user for a secret: {error}");
                return UserAnswer::NoUser;
            }
        };
        match self.send(address(question, page.url, id)).await.map(|result| result.action) {
            // The user has agreed to open the address, no more.
            Some(ElicitationAction::Accept) => page.answer.await,
            Some(ElicitationAction::Decline) => UserAnswer::Declined,
            Some(_) => UserAnswer::Dismissed,
            None => UserAnswer::NoUser,
        }
    }
}

/// The address of a page that asks a question. Revision 2026-07-28 has no ids.
pub(super) fn address(question: &Question, url: String, elicitation_id: String) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: visible_lines(&question.text).into_owned(),
        url,
        elicitation_id,
    })
}

/// The form for a question; `None` if it cannot be made, which does not happen with our questions.
pub(super) fn form(question: &Question) -> Option<ElicitRequest> {
    let mut answer = json!({ "type": "string", "title": "Answer" });
    if !question.choices.is_empty() {
        answer["enum"] = question.choices.iter().map(|choice| visible_lines(choice)).collect();
    }
    let name = &*question.name;
    let schema = json!({ "type": "object", "properties": { (name): answer }, "required": [name] });
    let requested_schema = serde_json::from_value::<ElicitationSchema>(schema).ok()?;
    Some(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: visible_lines(&question.text).into_owned(),
        requested_schema,
    }))
}

/// What a client answered to a form.
pub(super) fn read_result(result: &ElicitResult, question: &Question) -> UserAnswer {
    match result.action {
        ElicitationAction::Accept => {
            let text = result.content.as_ref().and_then(|content| answer(content, question));
            text.map_or(UserAnswer::Dismissed, UserAnswer::Text)
        }
        ElicitationAction::Decline => UserAnswer::Declined,
        _ => UserAnswer::Dismissed,
    }
}

/// The answer in the form. If the question has choices, only one of them is an answer, as the form
/// shows it. To an open question some clients send a number unquoted.
fn answer(content: &Value, question: &Question) -> Option<String> {
    let answer = content.get(&*question.name)?;
    if !question.choices.is_empty() {
        let is_meant = |choice: &&String| answer.as_str() == Some(&*visible_lines(choice));
        return question.choices.iter().find(is_meant).cloned();
    }
    let answer = match answer {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => return None,
        other => other.to_string(),
    };
    (!answer.is_empty() && answer.len() <= MAX_ANSWER).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_from_the_form() {
        let check = |content, expected: Option<&str>| {
            assert_eq!(
                answer(&content, &Question::open("Which?")).as_deref(),
                expected,
                "{content}"
            );
        };
        check(json!({ "answer": "the blue one" }), Some("the blue one"));
        check(json!({ "answer": 7 }), Some("7"));
        check(json!({ "answer": "" }), None);
        check(json!({ "answer": null }), None);
        check(json!({ "other": "x" }), None);
        check(json!("x"), None);
        check(json!({ "answer": "x".repeat(MAX_ANSWER + 1) }), None);
    }

    #[test]
    fn only_a_choice_answers_a_question_with_choices() {
        let check = |content, expected: Option<&str>| {
            let question = Question::yes_or_no("Pay?");
            assert_eq!(answer(&content, &question).as_deref(), expected, "{content}");
        };
        check(json!({ "answer": "yes" }), Some("yes"));
        check(json!({ "answer": "no" }), Some("no"));
        for other in [json!("YES"), json!("Yes"), json!(" yes"), json!("y"), json!("ok")] {
            check(json!({ "answer": other }), None);
        }
        check(json!({ "answer": true }), None);
        check(json!({ "answer": false }), None);
        check(json!({ "answer": null }), None);
        check(json!({ "answer": "yes, but not now" }), None);
        check(json!({ "answer": 1 }), None);
        check(json!({ "answer": ["yes"] }), None);
        check(json!({}), None);
    }

    #[test]
    fn form_offers_the_choices() {
        let shown = |question| {
            let form = serde_json::to_value(form(&question).unwrap()).unwrap();
            assert_eq!(form["params"]["requestedSchema"]["required"], json!(["answer"]));
            form["params"]["requestedSchema"]["properties"]["answer"].clone()
        };
        let text = json!({ "type": "string", "title": "Answer" });
        assert_eq!(shown(Question::open("Which?")), text);
        let choice = json!({ "type": "string", "title": "Answer", "enum": ["yes", "no"] });
        assert_eq!(shown(Question::yes_or_no("Pay?")), choice);
    }
}

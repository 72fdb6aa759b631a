//! Calls that wait for the user's answer between two requests (revision 2026-07-28, "Multi
//! round-trip requests").
//!
//! ```text
//! tools/call ─> running ── asks ──> waiting ── tools/call with the answer ──> running ─> result
//!                  │                   │ no answer in time, the server ends, or the request does not match
//!                  └─ client leaves ───┴──> cancelled
//! ```
//!
//! A call is never begun again: its work keeps waiting here, so what it did before the question is
//! done once. The `requestState` is only the name of a waiting call: random, for one use, and good
//! for the same client, tool and arguments. So a client cannot make up an answer, use one twice, or
//! move one to another question.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{
    CallToolRequestParams, ElicitResult, ElicitationAction, ErrorCode, ErrorData, InputRequest,
    InputRequests, InputRequiredResult, InputResponses,
};
use serde_json::{Map, Value};
use thumbwire_base::lock;
use thumbwire_core::action::{AskUser, ClientId, Question, SecretPages, UserAnswer};
use thumbwire_core::toolset::Reply;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::call_log::CallEntry;
use super::elicitation;
use super::grant::Share;
use super::progress::ProgressReports;

/// How long a question waits for its answer, if the call's own deadline leaves as much.
const ANSWER: Duration = Duration::from_secs(5 * 60);

/// The maximum number of waiting calls of a server, and of one client or one token.
const MAX_WAITING: usize = 64;
const MAX_WAITING_OF_ONE: usize = 16;

/// The calls of a server that wait for an answer.
#[derive(Default)]
pub(super) struct WaitingCalls(Mutex<HashMap<String, WaitingCall>>);

struct WaitingCall {
    running: RunningCall,
    asked: AskedQuestion,
}

/// What a call was asked to do, and which client asked.
#[derive(Debug, PartialEq)]
pub(super) struct CallBinding {
    client: ClientId,
    share: Share,
    tool: String,
    arguments: Map<String, Value>,
}

/// A call whose work runs in its own task; it is cancelled when dropped.
pub(super) struct RunningCall {
    pub(super) binding: CallBinding,
    pub(super) entry: CallEntry,
    /// The reply.
    pub(super) work: JoinHandle<Reply>,
    pub(super) questions: mpsc::Receiver<AskedQuestion>,
    pub(super) progress: ProgressReports,
    pub(super) cancelled: CancelOnDrop,
}

/// Cancels a call when dropped.
pub(super) struct CancelOnDrop(pub(super) CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A question, and where its answer goes.
pub(super) struct AskedQuestion {
    question: Question,
    /// The page that asks it; `None` if the client does, with a form.
    page: Option<String>,
    answer: oneshot::Sender<UserAnswer>,
    expires: Instant,
}

impl AskedQuestion {
    /// What is asked.
    pub(super) fn question(&self) -> &Question {
        &self.question
    }

    /// What the client is asked to show; `None` if that cannot be made.
    pub(super) fn request(&self) -> Option<InputRequest> {
        let request = match &self.page {
            Some(url) => elicitation::address(&self.question, url.clone(), String::new()),
            None => elicitation::form(&self.question)?,
        };
        Some(InputRequest::Elicitation(request))
    }

    /// Passes the client's response on.
    pub(super) fn answer(self, response: &Value) {
        let result = serde_json::from_value::<ElicitResult>(response.clone());
        let answer = match result {
            // The user has agreed to open the page, no more.
            Ok(result) if self.page.is_some() && result.action == ElicitationAction::Accept => {
                UserAnswer::Text(String::new())
            }
            Ok(result) => elicitation::read_result(&result, &self.question),
            Err(_) => UserAnswer::Dismissed,
        };
        // The work has ended by itself if nobody receives it.
        let _ = self.answer.send(answer);
    }
}

impl CallBinding {
    /// The binding of this request.
    pub(super) fn new(client: ClientId, share: Share, request: &CallToolRequestParams) -> Self {
        Self {
            client,
            share,
            tool: request.name.to_string(),
            arguments: request.arguments.clone().unwrap_or_default(),
        }
    }

    /// Whose call it is.
    pub(super) fn client(&self) -> &ClientId {
        &self.client
    }

    /// Whose part of the server it takes up.
    pub(super) fn share(&self) -> &Share {
        &self.share
    }

    /// Whether both count against one limit: those of one client, or of one token.
    fn is_alike(&self, other: &Self) -> bool {
        self.client == other.client || self.share != Share::Whole && self.share == other.share
    }
}

impl WaitingCalls {
    /// Keeps a call until its question is answered; returns the result that asks it.
    ///
    /// # Errors
    /// If too many calls wait. The call is cancelled.
    pub(super) fn ask(
        &self,
        running: RunningCall,
        asked: AskedQuestion,
    ) -> Result<InputRequiredResult, ErrorData> {
        let (Some(request), Ok(state)) = (asked.request(), thumbwire_core::random::hex::<32>())
        else {
            return Err(ErrorData::internal_error("cannot ask the user", None));
        };
        let mut table = lock(&self.0);
        forget_expired(&mut table);
        let is_own = |call: &&WaitingCall| call.running.binding.is_alike(&running.binding);
        if table.len() >= MAX_WAITING || table.values().filter(is_own).count() >= MAX_WAITING_OF_ONE
        {
            let text = format!(
                "the call has a question for the user, but {} others wait for their answers: answer them, or try again in {} minutes",
                table.len(),
                ANSWER.as_secs() / 60
            );
            return Err(ErrorData::new(ErrorCode::INVALID_REQUEST, text, None));
        }
        let name = asked.question.name.clone().into_owned();
        table.insert(state.clone(), WaitingCall { running, asked });
        let requests = InputRequests::from([(name, request)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Takes the call that a request continues, and passes its answer on. Without an answer the
    /// question comes back, to be asked again.
    ///
    /// # Errors
    /// If there is no such call for this client, tool and arguments. A call that a wrong request
    /// names is cancelled.
    pub(super) fn resume(
        &self,
        state: &str,
        binding: &CallBinding,
        responses: Option<&InputResponses>,
    ) -> Result<(RunningCall, Option<AskedQuestion>), ErrorData> {
        let waiting = {
            let mut table = lock(&self.0);
            forget_expired(&mut table);
            table.remove(state)
        };
        let refused = |text: &'static str| Err(ErrorData::invalid_params(text, None));
        let Some(WaitingCall { running, asked }) = waiting else {
            return refused(
                "unknown requestState: its question was answered before, or not within its time, or never asked. \
                 Call again without requestState and inputResponses to be asked again",
            );
        };
        if running.binding != *binding {
            return refused(
                "requestState belongs to a call with another tool or other arguments, which is cancelled now. Call again \
                 without requestState and inputResponses to be asked again",
            );
        }
        match responses.and_then(|all| all.get(&*asked.question.name)) {
            None => Ok((running, Some(asked))),
            Some(response) => {
                asked.answer(response);
                Ok((running, None))
            }
        }
    }

    /// Cancels the calls of a client that has left.
    pub(super) fn client_left(&self, client: &ClientId) {
        lock(&self.0).retain(|_, call| call.running.binding.client != *client);
    }
}

/// Drops the calls whose questions have expired; their work was cancelled then.
fn forget_expired(table: &mut HashMap<String, WaitingCall>) {
    let now = Instant::now();
    table.retain(|_, call| call.asked.expires > now && !call.running.work.is_finished());
}

/// The user behind a client that is asked between two requests.
pub(super) struct UserBetweenRequests {
    pub(super) questions: mpsc::Sender<AskedQuestion>,
    /// When the call ends.
    pub(super) deadline: Instant,
    /// Cancels the call.
    pub(super) cancelled: CancellationToken,
    pub(super) has_forms: bool,
    /// Where the user types secrets; `None` if the client cannot open addresses.
    pub(super) pages: Option<Arc<dyn SecretPages>>,
}

impl UserBetweenRequests {
    /// Asks with a form, or with the address of a page.
    async fn send(&self, question: &Question, page: Option<String>) -> UserAnswer {
        let expires = self.deadline.min(Instant::now() + ANSWER);
        let (answer, answered) = oneshot::channel();
        let asked = AskedQuestion { question: question.clone(), page, answer, expires };
        if self.questions.send(asked).await.is_err() {
            return UserAnswer::NoUser;
        }
        match timeout_at(expires, answered).await {
            Ok(answer) => answer.unwrap_or(UserAnswer::NoUser),
            Err(_) => {
                // Nobody fetches the result any more, so nothing more may be done for it.
                self.cancelled.cancel();
                UserAnswer::NoUser
            }
        }
    }
}

#[async_trait]
impl AskUser for UserBetweenRequests {
    async fn ask(&self, question: &Question) -> UserAnswer {
        match self.has_forms {
            true => self.send(question, None).await,
            false => UserAnswer::NoUser,
        }
    }

    async fn ask_secret(&self, question: &Question) -> UserAnswer {
        let Some(pages) = &self.pages else { return UserAnswer::NoUser };
        let page = match pages.open(question) {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!("cannot ask the user for a secret: {error}");
                return UserAnswer::NoUser;
            }
        };
        match self.send(question, Some(page.url)).await {
            UserAnswer::Text(_) => page.answer.await,
            refused => refused,
        }
    }
}

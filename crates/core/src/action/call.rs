//! The context of an action: its phone, its deadline, and the ways back to the caller.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use thumbwire_base::lock;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::client::{ClientId, ClientName, Scope};
use super::failure::Cause;

/// The context of an action: its phone, its deadline, and the ways back to the caller.
#[derive(Clone)]
pub struct Call {
    /// The phone this call is for; `None` is the session's selected phone.
    pub device: Option<String>,
    /// The client that calls.
    pub client: ClientId,
    /// What that client calls itself, for other clients to read; empty if it says nothing.
    pub client_name: ClientName,
    /// The share of the server that it uses: what it shares with other clients of its token. `None`
    /// if each client has its own.
    pub share: Option<Arc<str>>,
    /// What it may do.
    pub scope: Scope,
    /// Whether the phone is needed from the first action on, also if that only looks: for runs,
    /// whose first act comes later.
    pub exclusive: bool,
    /// The number of the lease under which the client has acted on this phone before, if it knows
    /// one. If another client has had the phone since, the act is refused.
    pub lease: Option<u64>,
    /// What the session knows of the call; its clones share it.
    pub state: Arc<CallState>,
    /// When the caller stops waiting.
    pub deadline: Instant,
    /// Cancelled when the caller no longer wants the result.
    pub cancelled: CancellationToken,
    /// Reports progress to the caller.
    pub progress: Arc<dyn Progress>,
    /// Asks the user.
    pub ask: Arc<dyn AskUser>,
}

impl Call {
    /// A call with the timeout `time`, without progress reports and without a user to ask.
    pub fn with_timeout(time: Duration) -> Self {
        Self {
            device: None,
            client: ClientId::default(),
            client_name: ClientName::default(),
            share: None,
            scope: Scope::default(),
            exclusive: false,
            lease: None,
            state: Arc::default(),
            deadline: Instant::now() + time,
            cancelled: CancellationToken::new(),
            progress: Arc::new(NoProgress),
            ask: Arc::new(NoUser),
        }
    }

    /// The same call for this phone.
    pub fn on(mut self, device: Option<String>) -> Self {
        self.device = device;
        self
    }
}

/// What a session knows of a call. It ends with the last clone of the call: then what the call
/// holds is given back.
#[derive(Default)]
pub struct CallState {
    phone: OnceLock<String>,
    held: Mutex<BTreeMap<String, Box<dyn Any + Send>>>,
    under_way: Mutex<Option<String>>,
    is_acting: AtomicBool,
}

impl CallState {
    /// The first phone that the call was for; `None` if it has not been found yet.
    pub fn phone(&self) -> Option<&str> {
        self.phone.get().map(String::as_str)
    }

    /// What the call is doing now: `waiting until "Done" is visible`; `None` before it does
    /// anything. No typed text, but texts of the caller.
    pub fn under_way(&self) -> Option<String> {
        lock(&self.under_way).clone()
    }

    /// Notes what the call is doing now.
    pub(crate) fn does(&self, what: String) {
        *lock(&self.under_way) = Some(what);
    }

    /// Whether the call has acted, or is about to.
    pub(crate) fn is_acting(&self) -> bool {
        self.is_acting.load(Ordering::Relaxed)
    }

    /// Notes that the call acts.
    pub(crate) fn acts(&self) {
        self.is_acting.store(true, Ordering::Relaxed);
    }

    /// Notes which phone the call is for.
    pub(crate) fn found(&self, phone: &str) {
        let _ = self.phone.set(phone.to_owned());
    }

    /// Whether something is held for this phone until the call ends.
    pub fn holds(&self, phone: &str) -> bool {
        lock(&self.held).contains_key(phone)
    }

    /// Holds this for the phone until the call ends.
    pub fn hold(&self, phone: &str, held: impl Any + Send) {
        lock(&self.held).insert(phone.to_owned(), Box::new(held));
    }
}

/// Reports a call's progress to the caller.
pub trait Progress: Send + Sync {
    /// Reports a step: `done` out of `total`, if known, and a message.
    fn report(&self, done: u32, total: Option<u32>, text: &str);
}

/// Drops all progress.
#[derive(Debug, Clone, Copy)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _done: u32, _total: Option<u32>, _words: &str) {}
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What the answer is called in a form.
    pub name: Cow<'static, str>,
    /// What is asked, without the choices.
    pub text: String,
    /// The answers to choose from; empty if any text will do.
    pub choices: Vec<String>,
}

impl Question {
    /// What answers are called, unless a question says otherwise.
    pub const ANSWER: &'static str = "answer";

    /// A question that any text answers.
    pub fn open(text: impl Into<String>) -> Self {
        Self { name: Self::ANSWER.into(), text: text.into(), choices: Vec::new() }
    }

    /// A question to answer with yes or no; read the answer with [`agrees`].
    pub fn yes_or_no(text: impl Into<String>) -> Self {
        let choices = vec!["yes".into(), "no".into()];
        Self { choices, ..Self::open(text) }
    }
}

/// The text with its choices, for a user who types the answer: `Go ahead? (yes / no)`.
impl fmt::Display for Question {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)?;
        if self.choices.is_empty() {
            Ok(())
        } else {
            write!(out, " ({})", self.choices.join(" / "))
        }
    }
}

/// What came of a question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserAnswer {
    /// The user answered; never empty.
    Text(String),
    /// The user refused to answer.
    Declined,
    /// The user closed the question, or answered nothing.
    Dismissed,
    /// Nobody can be asked.
    NoUser,
}

/// Asks the user behind the caller.
#[async_trait]
pub trait AskUser: Send + Sync {
    /// Asks and waits for the answer. A user who types may answer something else than one of the
    /// choices.
    async fn ask(&self, question: &Question) -> UserAnswer;

    /// Asks for a secret without echoing it, past all programs in between. Also
    /// [`UserAnswer::NoUser`] if that is not possible.
    async fn ask_secret(&self, _question: &Question) -> UserAnswer {
        UserAnswer::NoUser
    }

    /// Whether there is a user who may answer.
    fn is_interactive(&self) -> bool {
        true
    }
}

/// Asks the users of programs in another place as well, such as a page that shows the phone.
pub trait AskBeside: Send + Sync {
    /// Asks there too; the first answer counts.
    fn asking(&self, ask: Arc<dyn AskUser>) -> Arc<dyn AskUser>;
}

/// Pages on this computer on which a user types a secret, past the program that needs it typed.
pub trait SecretPages: Send + Sync {
    /// Opens a page that asks this question.
    ///
    /// # Errors
    /// Why there can be no page.
    fn open(&self, question: &Question) -> Result<SecretPage, String>;
}

/// A page on which a user types a secret.
pub struct SecretPage {
    /// Its address, which is good once.
    pub url: String,
    /// What the user typed, or how the page ended. Dropping it closes the page.
    pub answer: BoxFuture<'static, UserAnswer>,
}

/// How an act of a person through a page ended, for the audit log: an extension of the response.
#[derive(Debug, Clone)]
pub struct PageAct {
    /// The phone that was reached.
    pub phone: Option<String>,
    /// How it ended.
    pub end: PageActEnd,
}

/// How an act through a page ended.
#[derive(Debug, Clone)]
pub enum PageActEnd {
    /// As it was meant.
    Done,
    /// A rule of the page refused it.
    Refused(&'static str),
    /// The action failed, or was refused.
    Failed(Cause),
}

/// Whether an answer means yes. Anything but an explicit yes means no.
pub fn agrees(answer: &str) -> bool {
    const YES: [&str; 21] = [
        "y", "yes", "ok", "okay", "sure", "go", "go ahead", "do it", "true", "accept", "ja", "j",
        "oui", "si", "sí", "sì", "sim", "tak", "да", "はい", "是",
    ];
    let answer = answer.trim().trim_end_matches(['.', '!']).to_lowercase();
    YES.contains(&answer.as_str())
}

/// There is no user to ask.
#[derive(Debug, Clone, Copy)]
pub struct NoUser;

#[async_trait]
impl AskUser for NoUser {
    async fn ask(&self, _question: &Question) -> UserAnswer {
        UserAnswer::NoUser
    }

    fn is_interactive(&self) -> bool {
        false
    }
}

//! The context of an action: its phone, its deadline, and the ways back to the caller.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_base::lock;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The context of an action: its phone, its deadline, and the ways back to the caller.
#[derive(Clone)]
pub struct Call {
    /// The phone this call is for; `None` is the session's selected phone.
    pub device: Option<String>,
    /// Which of several clients of one session this is; empty if there is only one.
    pub client: Arc<str>,
    /// What that client calls itself, for other clients to read; empty if it says nothing.
    pub client_name: ClientName,
    /// Whether it may act on phones; if not, it only looks.
    pub may_act: bool,
    /// Whether the phone is needed from the first action on, also if that only looks: for runs, whose first act comes later.
    pub exclusive: bool,
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
            client: Arc::from(""),
            client_name: ClientName::default(),
            may_act: true,
            exclusive: false,
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

/// What a client calls itself, as far as other clients' models may read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientName(Arc<str>);

/// The longest name in characters; longer ones are cut. A name should not have room for an order to a model.
const LONGEST_CLIENT_NAME: usize = 40;

impl ClientName {
    /// The letters, digits and a few signs of the name, cut after 40 characters.
    pub fn clean(name: &str) -> Self {
        let is_plain = |c: &char| c.is_alphanumeric() || " ._-+/@".contains(*c);
        // A name of many megabytes is not walked through.
        let start = name.chars().take(LONGEST_CLIENT_NAME * 4).filter(is_plain);
        let cut: String = start.take(LONGEST_CLIENT_NAME).collect();
        Self(cut.trim().into())
    }

    /// The name; empty if the client says none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            "" => f.write_str("another client"),
            name => write!(f, "client {name:?}"),
        }
    }
}

/// What a session knows of a call. It ends with the last clone of the call: then what the call holds is given back.
#[derive(Default)]
pub struct CallState {
    phone: OnceLock<String>,
    held: Mutex<BTreeMap<String, Box<dyn Any + Send>>>,
    under_way: Mutex<Option<String>>,
}

impl CallState {
    /// The first phone that the call was for; `None` if it has not been found yet.
    pub fn phone(&self) -> Option<&str> {
        self.phone.get().map(String::as_str)
    }

    /// What the call is doing now: `waiting until "Done" is visible`; `None` before it does anything. No typed text, but
    /// texts of the caller.
    pub fn under_way(&self) -> Option<String> {
        lock(&self.under_way).clone()
    }

    /// Notes what the call is doing now.
    pub(crate) fn does(&self, what: String) {
        *lock(&self.under_way) = Some(what);
    }

    /// Notes which phone the call is for.
    pub(crate) fn found(&self, phone: &str) {
        let _ = self.phone.set(phone.to_owned());
    }

    /// Whether something is held for this phone until the call ends.
    pub(crate) fn holds(&self, phone: &str) -> bool {
        lock(&self.held).contains_key(phone)
    }

    /// Holds this for the phone until the call ends.
    pub(crate) fn hold(&self, phone: &str, held: impl Any + Send) {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the answer is called in a form.
    pub name: &'static str,
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
        Self { name: Self::ANSWER, text: text.into(), choices: Vec::new() }
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Asks and waits for the answer. A user who types may answer something else than one of the choices.
    async fn ask(&self, question: &Question) -> UserAnswer;

    /// Asks for a secret without echoing it. Also [`UserAnswer::NoUser`] if that is not possible: MCP's forms must not ask for
    /// secrets (revision 2025-11-25, "Elicitation").
    async fn ask_secret(&self, _question: &Question) -> UserAnswer {
        UserAnswer::NoUser
    }

    /// Whether there is a user who may answer.
    fn is_interactive(&self) -> bool {
        true
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_names_are_short_and_plain() {
        let check = |name: &str, clean: &str| assert_eq!(ClientName::clean(name).as_str(), clean);
        check("claude-code", "claude-code");
        check(" Tests für Müller/2.1 ", "Tests für Müller/2.1");
        check("a\u{1b}[2J\u{202e}b\n\"c\"", "a2Jbc");
        check("\u{e0041}\u{200b}", "");
        check(&"x".repeat(1 << 20), &"x".repeat(40));
        assert_eq!(ClientName::clean("a b").to_string(), "client \"a b\"");
        assert_eq!(ClientName::clean("").to_string(), "another client");
    }
}

//! What goes along with an action: whose it is, how long it may take, and the ports back to the caller.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What goes along with an action: whose it is, how long it may take, and the ports back to the caller.
#[derive(Clone)]
pub struct Call {
    /// The phone this call is for; `None` means the session's chosen one.
    pub device: Option<String>,
    /// When the caller stops waiting.
    pub deadline: Instant,
    /// Set when the caller wants it no more.
    pub cancelled: CancellationToken,
    /// Where to tell how far it is.
    pub progress: Arc<dyn Progress>,
    /// Where to ask the person.
    pub ask: Arc<dyn Ask>,
}

impl Call {
    /// A call that nobody watches and nobody can be asked about, to be answered within `time`.
    pub fn within(time: Duration) -> Self {
        Self {
            device: None,
            deadline: Instant::now() + time,
            cancelled: CancellationToken::new(),
            progress: Arc::new(Unwatched),
            ask: Arc::new(NobodyThere),
        }
    }

    /// The same call for a named phone.
    pub fn on(mut self, device: Option<String>) -> Self {
        self.device = device;
        self
    }
}

/// A port to tell the caller how far a call is.
pub trait Progress: Send + Sync {
    /// Tells of a step: `done` out of `total` where that is known, in words.
    fn tell(&self, done: u32, total: Option<u32>, words: &str);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn tell(&self, _done: u32, _total: Option<u32>, _words: &str) {}
}

/// A port to ask the person behind the caller.
#[async_trait]
pub trait Ask: Send + Sync {
    /// Asks and waits for the answer; `None` when there is nobody to ask or they declined.
    async fn ask(&self, question: &str) -> Option<String>;

    /// Asks for a secret, which nobody sees as it is typed. `None` as well where there is no such way: MCP's forms must not ask for
    /// secrets (revision 2025-11-25, "Elicitation").
    async fn ask_unseen(&self, _question: &str) -> Option<String> {
        None
    }

    /// Whether there is somebody who may answer.
    fn is_there(&self) -> bool {
        true
    }
}

/// Whether an answer agrees. What is not plainly a yes is a no.
pub fn agrees(answer: &str) -> bool {
    const YES: [&str; 21] = [
        "y", "yes", "ok", "okay", "sure", "go", "go ahead", "do it", "true", "accept", "ja", "j",
        "oui", "si", "sí", "sì", "sim", "tak", "да", "はい", "是",
    ];
    let answer = answer.trim().trim_end_matches(['.', '!']).to_lowercase();
    YES.contains(&answer.as_str())
}

/// There is nobody to ask.
#[derive(Debug, Clone, Copy)]
pub struct NobodyThere;

#[async_trait]
impl Ask for NobodyThere {
    async fn ask(&self, _question: &str) -> Option<String> {
        None
    }

    fn is_there(&self) -> bool {
        false
    }
}

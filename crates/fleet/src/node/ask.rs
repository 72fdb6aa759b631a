//! Questions to the user of a door.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use thumbwire_base::lock;
use thumbwire_core::action::{AskUser, Question, UserAnswer};
use tokio::sync::{mpsc, oneshot};

use crate::message::FromNode;

/// The questions of a call that wait for an answer, by their numbers.
#[derive(Clone, Default)]
pub(super) struct Answers(Arc<Mutex<HashMap<u32, oneshot::Sender<UserAnswer>>>>);

impl Answers {
    /// Answers a question. One that nobody asks any more is ignored.
    pub(super) fn give(&self, question: u32, answer: UserAnswer) {
        if let Some(waiting) = lock(&self.0).remove(&question) {
            let _ = waiting.send(answer);
        }
    }
}

/// Asks the user through the door.
pub(super) struct AskDoor {
    say: mpsc::UnboundedSender<FromNode>,
    answers: Answers,
    is_interactive: bool,
    last: AtomicU32,
}

impl AskDoor {
    pub(super) fn new(
        say: mpsc::UnboundedSender<FromNode>,
        answers: Answers,
        is_interactive: bool,
    ) -> Self {
        Self { say, answers, is_interactive, last: AtomicU32::new(0) }
    }

    async fn put(&self, question: &Question, is_secret: bool) -> UserAnswer {
        if !self.is_interactive {
            return UserAnswer::NoUser;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let (give, answer) = oneshot::channel();
        lock(&self.answers.0).insert(number, give);
        let ask = FromNode::Ask { number, question: question.clone(), is_secret };
        if self.say.send(ask).is_err() {
            return UserAnswer::NoUser;
        }
        answer.await.unwrap_or(UserAnswer::NoUser)
    }
}

#[async_trait]
impl AskUser for AskDoor {
    async fn ask(&self, question: &Question) -> UserAnswer {
        self.put(question, false).await
    }

    async fn ask_secret(&self, question: &Question) -> UserAnswer {
        self.put(question, true).await
    }

    fn is_interactive(&self) -> bool {
        self.is_interactive
    }
}

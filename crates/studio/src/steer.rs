//! Steering the programs that use phones: a person pauses or stops them, and answers their
//! questions in the page.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_base::lock;
use thumbwire_core::action::{AskUser, Question, UserAnswer};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::feed::Feed;

/// The questions that wait for an answer.
pub(super) struct Questions {
    feed: Arc<Feed>,
    open: Mutex<OpenQuestions>,
}

#[derive(Default)]
struct OpenQuestions {
    by_number: BTreeMap<u64, OpenQuestion>,
    last: u64,
}

struct OpenQuestion {
    question: Question,
    is_secret: bool,
    asked: Instant,
    answer: oneshot::Sender<UserAnswer>,
}

/// A question on the page, until dropped.
struct ShownQuestion {
    questions: Arc<Questions>,
    number: u64,
    answer: oneshot::Receiver<UserAnswer>,
}

impl Drop for ShownQuestion {
    fn drop(&mut self) {
        let was_open = lock(&self.questions.open).by_number.remove(&self.number).is_some();
        if was_open {
            let text = "a question was answered elsewhere, or is not asked any more";
            self.questions.feed.add("answered", None, text, json!({ "question": self.number }));
        }
    }
}

impl Questions {
    pub(super) fn new(feed: Arc<Feed>) -> Self {
        Self { feed, open: Mutex::default() }
    }

    fn show(self: &Arc<Self>, question: &Question, is_secret: bool) -> ShownQuestion {
        let (sender, answer) = oneshot::channel();
        let mut open = lock(&self.open);
        open.last += 1;
        let number = open.last;
        let asked = Instant::now();
        let entry = OpenQuestion { question: question.clone(), is_secret, asked, answer: sender };
        open.by_number.insert(number, entry);
        drop(open);
        self.feed.add("question", None, &question.text, json!({ "question": number }));
        ShownQuestion { questions: Arc::clone(self), number, answer }
    }

    /// The questions that wait, for the page.
    pub(super) fn list(&self) -> Value {
        let open = lock(&self.open);
        let rows = open.by_number.iter().map(|(number, open)| {
            json!({
                "number": number,
                "text": open.question.text,
                "choices": open.question.choices,
                "secret": open.is_secret,
                "asked_ms_ago": u64::try_from(open.asked.elapsed().as_millis()).unwrap_or(u64::MAX),
            })
        });
        rows.collect()
    }

    /// Answers a question; `None` declines it. The answer itself is told to nobody else.
    ///
    /// # Errors
    /// If it is not asked any more.
    pub(super) fn answer(&self, number: u64, text: Option<String>) -> Result<(), String> {
        let question = lock(&self.open).by_number.remove(&number);
        let question = question.ok_or("this question is not asked any more")?;
        let answer = match text {
            None => UserAnswer::Declined,
            Some(text) if text.is_empty() => UserAnswer::Dismissed,
            Some(text) => UserAnswer::Text(text),
        };
        let sent = question.answer.send(answer);
        sent.map_err(|_| "this question is not asked any more".to_owned())?;
        let text = "a question was answered in the studio";
        self.feed.add("answered", None, text, json!({ "question": number }));
        Ok(())
    }
}

/// Asks the user of a program, and in the page as well; the first answer counts.
pub(super) struct AskInStudio {
    other: Arc<dyn AskUser>,
    questions: Arc<Questions>,
}

impl AskInStudio {
    pub(super) fn new(other: Arc<dyn AskUser>, questions: Arc<Questions>) -> Self {
        Self { other, questions }
    }

    async fn race(
        &self,
        question: &Question,
        is_secret: bool,
        other: impl Future<Output = UserAnswer>,
    ) -> UserAnswer {
        let mut shown = self.questions.show(question, is_secret);
        let mut other = std::pin::pin!(other);
        let mut has_other = true;
        loop {
            tokio::select! {
                answer = &mut shown.answer => return answer.unwrap_or(UserAnswer::NoUser),
                answer = other.as_mut(), if has_other => match answer {
                    UserAnswer::NoUser if self.questions.feed.has_viewers() => has_other = false,
                    answer => return answer,
                },
            }
        }
    }
}

#[async_trait]
impl AskUser for AskInStudio {
    async fn ask(&self, question: &Question) -> UserAnswer {
        self.race(question, false, self.other.ask(question)).await
    }

    async fn ask_secret(&self, question: &Question) -> UserAnswer {
        self.race(question, true, self.other.ask_secret(question)).await
    }

    fn is_interactive(&self) -> bool {
        self.other.is_interactive() || self.questions.feed.has_viewers()
    }
}

#[cfg(test)]
mod tests {
    use thumbwire_core::action::NoUser;

    use super::*;

    struct Answers(UserAnswer);

    #[async_trait]
    impl AskUser for Answers {
        async fn ask(&self, _: &Question) -> UserAnswer {
            self.0.clone()
        }
    }

    struct Silent;

    #[async_trait]
    impl AskUser for Silent {
        async fn ask(&self, _: &Question) -> UserAnswer {
            std::future::pending().await
        }
    }

    fn questions() -> (Arc<Feed>, Arc<Questions>) {
        let feed = Arc::new(Feed::default());
        (Arc::clone(&feed), Arc::new(Questions::new(feed)))
    }

    fn number(questions: &Questions) -> u64 {
        questions.list()[0]["number"].as_u64().unwrap()
    }

    #[tokio::test]
    async fn the_first_answer_counts() {
        let (_feed, questions) = questions();
        let question = Question::yes_or_no("Pay $12?");
        let text = UserAnswer::Text("yes".into());
        let terminal = AskInStudio::new(Arc::new(Answers(text.clone())), Arc::clone(&questions));
        assert_eq!(terminal.ask(&question).await, text);
        assert_eq!(questions.list(), json!([]), "it is not on the page any more");

        let silent = AskInStudio::new(Arc::new(Silent), Arc::clone(&questions));
        let asking = tokio::spawn(async move { silent.ask(&question).await });
        tokio::task::yield_now().await;
        let asked = number(&questions);
        assert_eq!(questions.list()[0]["choices"], json!(["yes", "no"]));
        questions.answer(asked, None).unwrap();
        assert_eq!(asking.await.unwrap(), UserAnswer::Declined);
        assert!(questions.answer(asked, Some("yes".into())).is_err());
    }

    #[tokio::test]
    async fn without_a_page_nobody_is_there() {
        let (feed, questions) = questions();
        let ask = AskInStudio::new(Arc::new(NoUser), Arc::clone(&questions));
        let question = Question::open("Which one?");
        assert!(!ask.is_interactive());
        assert_eq!(ask.ask(&question).await, UserAnswer::NoUser);

        let page = Arc::clone(&feed).stream(0);
        assert!(ask.is_interactive());
        let asking = tokio::spawn(async move { ask.ask_secret(&question).await });
        tokio::task::yield_now().await;
        assert_eq!(questions.list()[0]["secret"], true);
        questions.answer(number(&questions), Some("1234".into())).unwrap();
        assert_eq!(asking.await.unwrap(), UserAnswer::Text("1234".into()));
        drop(page);
        let (_, lines) = feed.lines(0);
        assert!(!lines.contains("1234"), "{lines}");
    }
}

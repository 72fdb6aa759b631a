//! Questions to the person: those that a mind has, and those before a risky act.
//!
//! [`Questions`] supplies the function `ask`. [`Confirm`] says which acts are asked about before they are done, and [`risk`]
//! which act is risky, by the words of the control that it is for. A question goes through [`Call::ask`]; whether anybody is
//! there is the caller's matter. An answer that is a secret is asked for unseen ([`Call::ask`]'s `ask_unseen`) and kept by its name; the
//! mind is told the name alone.

mod risk;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::hands::Supplier;
use super::secrets::Vault;
use super::sight::Function;
use crate::action::{Call, Perform, agrees};
use crate::surface::Reply;
pub use risk::{Risk, risk};

/// Which acts a person is asked about before they are done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confirm {
    /// All that change something.
    Always,
    /// Those that are risky.
    Risky,
    /// None.
    #[default]
    Never,
}

impl Confirm {
    /// The one of that name: `always`, `risky`, `never`.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [("always", Self::Always), ("risky", Self::Risky), ("never", Self::Never)];
        all.into_iter().find(|(known, _)| *known == name).map(|(_, it)| it)
    }
}

/// Asks the person whether something may be done.
///
/// # Errors
/// Why it may not, in words for whoever decides: they said no, or nobody was there to ask.
pub(super) async fn confirmed(call: &Call, question: &str) -> Result<(), String> {
    match call.ask.ask(question).await {
        Some(answer) if agrees(&answer) => Ok(()),
        Some(_) => Err("the person said no: do not try it again, find another way, or end with FAIL".into()),
        None => Err("a person has to agree to this, and nobody answered: find another way, or end with FAIL and say so".into()),
    }
}

/// Supplies the function by which a mind asks the person.
#[derive(Debug)]
pub struct Questions {
    vault: Arc<Vault>,
}

impl Questions {
    /// Answers that are secrets are kept in this vault: the one that the run's [`Secrets`](super::Secrets) have.
    pub fn new(vault: Arc<Vault>) -> Self {
        Self { vault }
    }
}

/// The function's name.
const ASK: &str = "ask";
/// Longer ones are cut.
const LONGEST_QUESTION: usize = 1000;
const MOST_CHOICES: usize = 10;

#[async_trait]
impl Supplier for Questions {
    fn functions(&self) -> Vec<Function> {
        let schema = json!({
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "What you want to know, in a sentence" },
                "choices": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "The answers to choose from, where there are few"
                },
                "secret": {
                    "type": "string",
                    "description": "Where the answer is a password or a code: a name for it, such as PASSWORD. You are not shown the \
                                    answer; type it as {{PASSWORD}}"
                }
            },
            "required": ["question"]
        });
        let description = "Ask the person whom you work for: for what only they know (a password, a code, a choice), or before \
                           something that cannot be undone. Not for what the phone can tell you.";
        vec![Function {
            name: ASK.into(),
            description: description.into(),
            schema: schema.as_object().cloned().unwrap_or_default(),
        }]
    }

    async fn call(
        &self,
        _function: &str,
        arguments: Map<String, Value>,
        call: &Call,
        _perform: &dyn Perform,
    ) -> Result<Reply, String> {
        let word = |name: &str| {
            arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|it| !it.is_empty())
        };
        let Some(question) = word("question") else {
            return Err("`question` is missing: say what you want to know".into());
        };
        let mut question: String = question.chars().take(LONGEST_QUESTION).collect();
        let choices = arguments.get("choices").and_then(Value::as_array).into_iter().flatten();
        let choices: Vec<&str> = choices.filter_map(Value::as_str).take(MOST_CHOICES).collect();
        if !choices.is_empty() {
            question = format!("{question} ({})", choices.join(" / "));
        }
        let secret = word("secret");
        if let Some(name) = secret {
            question = format!("{question} (it is kept as {name}, and not shown to the model)");
        }
        let answer = match secret {
            None => call.ask.ask(&question).await,
            Some(_) => call.ask.ask_unseen(&question).await,
        };
        let Some(answer) = answer.filter(|answer| !answer.trim().is_empty()) else {
            let error = match secret {
                None => "nobody answered: go on without the answer if you can, else end with FAIL and say what you needed to know".to_owned(),
                // Also where a person is there, and no way to ask them unseen.
                Some(name) => format!(
                    "nobody answered, or there is no way to ask for a secret here: end with FAIL and say that {name} is needed, to be \
                     given by `--secret {name}`"
                ),
            };
            return Ok(Reply::json(json!({ "success": false, "error": error })));
        };
        Ok(Reply::json(match secret.map(|name| (name, self.vault.keep(name, answer.clone()))) {
            None => {
                // Who answers with a secret that is known tells its name.
                let answer = self.vault.cleaned(answer.trim());
                json!({ "success": true, "message": format!("The person answered: {answer}") })
            }
            Some((name, Ok(()))) => json!({
                "success": true,
                "message": format!("The person answered; type it as {{{{{name}}}}}"),
            }),
            Some((_, Err(why))) => json!({ "success": false, "error": why }),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::action::{Action, Ask, Failure, Outcome};

    /// A person who says this, and remembers what they were asked; unseen where the mark says so.
    struct Person(Option<&'static str>, Mutex<Vec<String>>);

    #[async_trait]
    impl Ask for Person {
        async fn ask(&self, question: &str) -> Option<String> {
            self.1.lock().unwrap().push(question.into());
            self.0.map(str::to_owned)
        }

        async fn ask_unseen(&self, question: &str) -> Option<String> {
            self.ask(&format!("unseen: {question}")).await
        }
    }

    struct NoPhone;

    #[async_trait]
    impl Perform for NoPhone {
        async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
            panic!("a question is no matter of the phone: {action}")
        }
    }

    fn with(says: Option<&'static str>) -> (Call, Arc<Person>) {
        let person = Arc::new(Person(says, Mutex::default()));
        let call = Call {
            ask: Arc::clone(&person) as Arc<dyn Ask>,
            ..Call::within(Duration::from_secs(9))
        };
        (call, person)
    }

    async fn asked(
        says: Option<&'static str>,
        arguments: Value,
    ) -> (Value, Vec<String>, Vec<String>) {
        let (call, person) = with(says);
        let vault = Arc::new(Vault::default());
        let questions = Questions::new(Arc::clone(&vault));
        let arguments = arguments.as_object().cloned().unwrap();
        let reply = questions.call(ASK, arguments, &call, &NoPhone).await.unwrap();
        let asked = person.1.lock().unwrap().clone();
        (reply.structured.unwrap_or_default(), asked, vault.names())
    }

    #[tokio::test]
    async fn a_question_reaches_the_person_and_the_answer_the_mind() {
        let arguments = json!({ "question": "Which?", "choices": ["red", "blue"] });
        let (reply, asked, _) = asked(Some("blue"), arguments).await;
        assert_eq!(reply["message"], "The person answered: blue");
        assert_eq!(asked, ["Which? (red / blue)"]);
    }

    #[tokio::test]
    async fn an_answer_that_is_a_secret_is_kept_by_its_name_alone() {
        let arguments = json!({ "question": "Your password?", "secret": "PASSWORD" });
        let (reply, questions, names) = asked(Some("hunter2!"), arguments.clone()).await;
        assert_eq!(names, ["PASSWORD"]);
        assert!(questions[0].starts_with("unseen: Your password?"), "{questions:?}");
        assert!(
            reply.to_string().contains("{{PASSWORD}}") && !reply.to_string().contains("hunter2")
        );
        let (reply, _, names) = asked(Some("abc"), arguments).await;
        assert!(names.is_empty() && reply["success"] == false, "{reply}");
    }

    #[tokio::test]
    async fn an_answer_that_holds_a_known_secret_comes_with_its_name() {
        let vault = Arc::new(Vault::new([("PASSWORD".into(), "Tr0ub4dor".into())]).unwrap());
        let (call, _) = with(Some("it is Tr0ub4dor, as ever"));
        let arguments = json!({ "question": "What now?" }).as_object().cloned().unwrap();
        let reply = Questions::new(vault).call(ASK, arguments, &call, &NoPhone).await.unwrap();
        let said = reply.structured.unwrap_or_default();
        assert_eq!(said["message"], "The person answered: it is {{PASSWORD}}, as ever");
    }

    /// A person behind a client that has forms and nothing for secrets.
    struct Forms;

    #[async_trait]
    impl Ask for Forms {
        async fn ask(&self, _question: &str) -> Option<String> {
            Some("hunter2!".into())
        }
    }

    #[tokio::test]
    async fn a_secret_is_never_asked_for_where_it_would_be_seen() {
        let call = Call { ask: Arc::new(Forms), ..Call::within(Duration::from_secs(9)) };
        let vault = Arc::new(Vault::default());
        let arguments = json!({ "question": "Your password?", "secret": "PASSWORD" });
        let arguments = arguments.as_object().cloned().unwrap();
        let questions = Questions::new(Arc::clone(&vault));
        let reply = questions.call(ASK, arguments, &call, &NoPhone).await.unwrap();
        let error = reply.structured.unwrap_or_default()["error"].to_string();
        assert!(error.contains("given by `--secret PASSWORD`"), "{error}");
        assert!(vault.names().is_empty());
    }

    #[tokio::test]
    async fn nobody_there_is_told_and_no_end() {
        for says in [None, Some("  ")] {
            let (reply, ..) = asked(says, json!({ "question": "Which?" })).await;
            assert!(reply["error"].as_str().unwrap().starts_with("nobody answered"), "{reply}");
        }
    }

    #[tokio::test]
    async fn what_is_not_plainly_a_yes_is_a_no() {
        for (says, done) in [
            (Some("yes"), true),
            (Some(" Ja! "), true),
            (Some("Sí"), true),
            (Some("はい"), true),
            (Some("no"), false),
            (Some("yes, but not now"), false),
            (Some(""), false),
            (None, false),
        ] {
            let (call, _) = with(says);
            assert_eq!(confirmed(&call, "May I?").await.is_ok(), done, "{says:?}");
        }
    }

    #[test]
    fn the_operators_words_are_read() {
        assert_eq!(Confirm::from_name("risky"), Some(Confirm::Risky));
        assert_eq!(Confirm::from_name("sometimes"), None);
    }
}

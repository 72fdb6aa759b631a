//! Questions to the user: those that a policy asks, and those before a risky action.
//!
//! [`AskUserFunctions`] provides the function `ask`. [`ConfirmMode`] says which actions need
//! approval, and [`verdict`] which ones are risky, by the text of their target; [`approve`] asks
//! for it. Questions go through [`Call::ask`]; whether anybody is there to answer is up to the
//! caller, and a question ends with its call. A "no" is final: the same act is refused from then on
//! without a question, also by another way and in a resumed run
//! ([`Memory::refused`](crate::run::memory::Memory::refused)). An answer that is a secret is read
//! without echo ([`Call::ask`]'s `ask_secret`) and stored in the vault; the policy learns only its
//! name.

mod clients;
mod risk;

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_base::visible::without_hidden;

use crate::event::AgentEvent;
use crate::functions::{FunctionProvider, FunctionResult, Phone};
use crate::policy::decision::FunctionCall;
use crate::policy::observation::Function;
use crate::secrets::Vault;
pub use clients::ConfirmedPerform;
pub(super) use risk::{Act, UnknownButton, Verdict, touched_label, verdict};
use thumbwire_core::action::{Call, Question, UserAnswer, agrees};
use thumbwire_core::event::EventSink;
use thumbwire_core::trace::format::RefusedAct;

/// Which actions need the user's approval. Without it, and where nobody can be asked, they are
/// refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConfirmMode {
    /// All that change something.
    Always,
    /// Risky ones.
    #[default]
    Risky,
    /// None: the operator answers for what happens.
    Never,
}

impl ConfirmMode {
    /// The mode of this name: `always`, `risky`, `never`.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [("always", Self::Always), ("risky", Self::Risky), ("never", Self::Never)];
        all.into_iter().find(|(known, _)| *known == name).map(|(_, it)| it)
    }
}

/// Why an action was not done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NotDone {
    /// A sentence for the policy.
    pub(super) reason: String,
    /// The act, if the user refused it just now.
    pub(super) refused: Option<RefusedAct>,
}

impl From<String> for NotDone {
    fn from(reason: String) -> Self {
        Self { reason, refused: None }
    }
}

/// Asks the user to approve an act, unless it was refused before.
///
/// # Errors
/// The user said no or gave no answer, now or before; nobody can be asked; or the call ended first.
pub(super) async fn approve(
    call: &Call,
    watch: &dyn EventSink,
    question: &str,
    act: &RefusedAct,
    before: &[RefusedAct],
) -> Result<(), NotDone> {
    if before.iter().any(|refused| is_same(refused, act)) {
        let reason = "the user has refused this before, which is final: do not try it again; find another way, or end with FAIL";
        return Err(reason.to_owned().into());
    }
    if call.ask.is_interactive() {
        AgentEvent::UserAsked { question: question.to_owned() }.send(watch);
    }
    let no = |reason: &str| Err(NotDone { reason: reason.into(), refused: Some(act.clone()) });
    match agreed(call, question).await {
        Ok(()) => Ok(()),
        Err(Unapproved::Said) => {
            no("the user said no: do not try it again; find another way, or end with FAIL")
        }
        Err(Unapproved::Declined) => {
            no("the user declined: do not try it again; find another way, or end with FAIL")
        }
        Err(Unapproved::Dismissed) => no(
            "the user closed the question without an answer, which counts as no: find another way, or end with FAIL and say so",
        ),
        Err(Unapproved::Nobody) => Err(NOBODY.to_owned().into()),
        Err(Unapproved::Ended) => Err("the run ended before the user answered".to_owned().into()),
    }
}

/// Why an act is not approved.
enum Unapproved {
    Said,
    Declined,
    Dismissed,
    Nobody,
    Ended,
}

/// Asks the user to approve something.
async fn agreed(call: &Call, question: &str) -> Result<(), Unapproved> {
    if !call.ask.is_interactive() {
        return Err(Unapproved::Nobody);
    }
    match in_time(call, call.ask.ask(&Question::yes_or_no(question))).await {
        None => Err(Unapproved::Ended),
        Some(UserAnswer::Text(answer)) if agrees(&answer) => Ok(()),
        Some(UserAnswer::Text(_)) => Err(Unapproved::Said),
        Some(UserAnswer::Declined) => Err(Unapproved::Declined),
        Some(UserAnswer::Dismissed) => Err(Unapproved::Dismissed),
        Some(UserAnswer::NoUser) => Err(Unapproved::Nobody),
    }
}

/// Where nobody can be asked.
const NOBODY: &str = "the user has to agree to this, and nobody can be asked here: find another way, or end with FAIL and say that the operator of Thumbwire can allow it with `--confirm never`";

/// The answer to a question; `None` if the call ended before it came.
async fn in_time(call: &Call, answer: impl Future<Output = UserAnswer>) -> Option<UserAnswer> {
    tokio::select! {
        biased;
        () = call.cancelled.cancelled() => None,
        answer = answer => Some(answer),
        () = tokio::time::sleep_until(call.deadline) => None,
    }
}

/// Whether both are the same act: what may happen, in the same app, by a control that says the
/// same. A control may say more in one place than in another (`Pay now`, `Pay now 12 €`), and its
/// row is not always known.
fn is_same(one: &RefusedAct, other: &RefusedAct) -> bool {
    let holds = |one: &str, other: &str| {
        let (one, other) = (words(one), words(other));
        one.contains(&other) || other.contains(&one)
    };
    (&one.what, &one.app) == (&other.what, &other.app)
        && holds(&one.text, &other.text)
        && (one.about.is_empty() || other.about.is_empty() || holds(&one.about, &other.about))
}

/// A text as words with spaces around them, so that one can be looked for in another; the text
/// itself if it has none.
fn words(text: &str) -> String {
    let small = without_hidden(text).to_lowercase();
    let parts = small.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    match parts.collect::<Vec<_>>().join(" ") {
        none if none.is_empty() => small,
        words => format!(" {words} "),
    }
}

/// Provides the function by which a policy asks the user.
#[derive(Debug)]
pub(crate) struct AskUserFunctions {
    vault: Arc<Vault>,
}

impl AskUserFunctions {
    /// Stores secret answers in this vault, which must be that of the run's
    /// [`RedactedPerform`](crate::RedactedPerform).
    pub(crate) fn new(vault: Arc<Vault>) -> Self {
        Self { vault }
    }
}

/// The function's name.
const ASK: &str = "ask";
/// Longer questions are truncated.
const MAX_QUESTION: usize = 1000;
const MAX_CHOICES: usize = 10;

#[async_trait]
impl FunctionProvider for AskUserFunctions {
    fn functions(&self) -> Vec<Function> {
        let schema = json!({
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "What you want to know, in one sentence" },
                "choices": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "The possible answers, if there are few"
                },
                "secret": {
                    "type": "string",
                    "description": "If the answer is a password or a code: a name for it, such as PASSWORD. You do not see the \
                                    answer; type it as {{PASSWORD}}"
                }
            },
            "required": ["question"]
        });
        let description = "Ask the user for what only they know (a password, a code, a choice), or before something that cannot \
                           be undone. Do not ask for what the phone can tell you.";
        vec![Function {
            name: ASK.into(),
            description: description.into(),
            schema: schema.as_object().cloned().unwrap_or_default(),
            acts: false,
        }]
    }

    async fn call(&self, call: &FunctionCall, phone: Phone<'_>) -> FunctionResult {
        let (arguments, call) = (&call.arguments, phone.call);
        let word = |name: &str| {
            arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|it| !it.is_empty())
        };
        let Some(question) = word("question") else {
            return Err("`question` is missing: say what you want to know".into());
        };
        let mut question: String = question.chars().take(MAX_QUESTION).collect();
        let choices = arguments.get("choices").and_then(Value::as_array).into_iter().flatten();
        let choices = choices.filter_map(Value::as_str).map(str::trim).filter(|it| !it.is_empty());
        // Choices of a form must differ.
        let mut seen = HashSet::new();
        let choices = choices.filter(|choice| seen.insert(choice.to_lowercase()));
        let choices: Vec<String> = choices.take(MAX_CHOICES).map(str::to_owned).collect();
        let secret = word("secret");
        if let Some(name) = secret {
            question = format!("{question} (stored as {name}; the model does not see it)");
        }
        let question = Question { choices, ..Question::open(question) };
        let answer = in_time(call, async {
            match secret {
                None => call.ask.ask(&question).await,
                Some(_) => call.ask.ask_secret(&question).await,
            }
        });
        let Some(answer) = answer.await else {
            return Err("the run ended before the user answered".into());
        };
        let (answer, reason) = match answer {
            UserAnswer::Text(text) if !text.trim().is_empty() => (Some(text), ""),
            UserAnswer::Text(_) | UserAnswer::Dismissed => {
                (None, "the user closed the question without an answer")
            }
            UserAnswer::Declined => (None, "the user declined to answer"),
            UserAnswer::NoUser => (None, "nobody can be asked"),
        };
        let Some(answer) = answer else {
            let error = match secret {
                None => format!(
                    "{reason}: go on without the answer if you can; otherwise end with FAIL and say what you needed to know"
                ),
                // Nobody can be asked also if a user is there but cannot be asked without echo.
                Some(name) => format!(
                    "{reason}, or secrets cannot be asked for here: end with FAIL and say that {name} is needed; the user \
                     can pass it with `--secret {name}`"
                ),
            };
            return Err(error.into());
        };
        let message = match secret {
            // If the answer contains a known secret, the policy gets its name.
            None => format!("The user answered: {}", self.vault.cleaned(answer.trim())),
            Some(name) => {
                self.vault.insert(name, answer)?;
                format!("The user answered; type it as {{{{{name}}}}}")
            }
        };
        Ok(message.into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::functions::FunctionError;
    use thumbwire_core::action::{Action, AskUser, Failure, Outcome, Perform};
    use thumbwire_core::event::NoEvents;

    /// A user who gives this answer and records the questions; those without echo are marked.
    struct Person(Option<&'static str>, Mutex<Vec<String>>);

    #[async_trait]
    impl AskUser for Person {
        async fn ask(&self, question: &Question) -> UserAnswer {
            self.1.lock().unwrap().push(question.to_string());
            self.0.map_or(UserAnswer::NoUser, |text| UserAnswer::Text(text.to_owned()))
        }

        fn is_interactive(&self) -> bool {
            self.0.is_some()
        }

        async fn ask_secret(&self, question: &Question) -> UserAnswer {
            self.ask(&Question::open(format!("unseen: {question}"))).await
        }
    }

    struct NoPhone;

    #[async_trait]
    impl Perform for NoPhone {
        async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
            panic!("a question must not reach the phone: {action}")
        }
    }

    fn with(text: Option<&'static str>) -> (Call, Arc<Person>) {
        let person = Arc::new(Person(text, Mutex::default()));
        let call = Call {
            ask: Arc::clone(&person) as Arc<dyn AskUser>,
            ..Call::with_timeout(Duration::from_secs(9))
        };
        (call, person)
    }

    async fn call_ask(
        questions: &AskUserFunctions,
        arguments: Value,
        call: &Call,
    ) -> FunctionResult {
        let arguments = arguments.as_object().cloned().unwrap();
        let asking = FunctionCall { function: ASK.into(), arguments };
        questions.call(&asking, Phone { call, perform: &NoPhone }).await
    }

    async fn asked(
        text: Option<&'static str>,
        arguments: Value,
    ) -> (FunctionResult, Vec<String>, Vec<String>) {
        let (call, person) = with(text);
        let vault = Arc::new(Vault::default());
        let questions = AskUserFunctions::new(Arc::clone(&vault));
        let result = call_ask(&questions, arguments, &call).await;
        let asked = person.1.lock().unwrap().clone();
        (result, asked, vault.names())
    }

    #[tokio::test]
    async fn question_reaches_user_and_answer_reaches_policy() {
        let arguments = json!({ "question": "Which?", "choices": ["red", "blue"] });
        let (reply, asked, _) = asked(Some("blue"), arguments).await;
        assert_eq!(reply.unwrap().message, "The user answered: blue");
        assert_eq!(asked, ["Which? (red / blue)"]);
    }

    #[tokio::test]
    async fn secret_answer_is_stored_and_only_named() {
        let arguments = json!({ "question": "Your password?", "secret": "PASSWORD" });
        let (reply, questions, names) = asked(Some("hunter2!"), arguments.clone()).await;
        assert_eq!(names, ["PASSWORD"]);
        assert!(questions[0].starts_with("unseen: Your password?"), "{questions:?}");
        assert_eq!(reply.unwrap().message, "The user answered; type it as {{PASSWORD}}");
        let (reply, _, names) = asked(Some("abc"), arguments).await;
        assert!(names.is_empty() && reply.is_err(), "{reply:?}");
    }

    #[tokio::test]
    async fn known_secret_in_an_answer_is_redacted() {
        let vault = Arc::new(Vault::new([("PASSWORD".into(), "Tr0ub4dor".into())]).unwrap());
        let (call, _) = with(Some("it is Tr0ub4dor, as ever"));
        let arguments = json!({ "question": "What now?" });
        let reply = call_ask(&AskUserFunctions::new(vault), arguments, &call).await.unwrap();
        assert_eq!(reply.message, "The user answered: it is {{PASSWORD}}, as ever");
    }

    /// A user behind a client that has forms, but no input without echo.
    struct Forms;

    #[async_trait]
    impl AskUser for Forms {
        async fn ask(&self, _question: &Question) -> UserAnswer {
            UserAnswer::Text("hunter2!".into())
        }
    }

    #[tokio::test]
    async fn secret_is_never_asked_for_with_echo() {
        let call = Call { ask: Arc::new(Forms), ..Call::with_timeout(Duration::from_secs(9)) };
        let vault = Arc::new(Vault::default());
        let arguments = json!({ "question": "Your password?", "secret": "PASSWORD" });
        let questions = AskUserFunctions::new(Arc::clone(&vault));
        let reply = call_ask(&questions, arguments, &call).await;
        let Err(FunctionError::Rejected(error)) = reply else { panic!("{reply:?}") };
        assert!(error.contains("pass it with `--secret PASSWORD`"), "{error}");
        assert!(vault.names().is_empty());
    }

    #[tokio::test]
    async fn missing_user_does_not_end_the_run() {
        for (answer, reason) in [
            (None, "nobody can be asked"),
            (Some("  "), "the user closed the question without an answer"),
        ] {
            let (reply, ..) = asked(answer, json!({ "question": "Which?" })).await;
            let Err(FunctionError::Rejected(error)) = reply else { panic!("{reply:?}") };
            assert!(error.starts_with(reason), "{error}");
        }
    }

    #[tokio::test]
    async fn only_an_explicit_yes_confirms() {
        for (answer, done) in [
            (Some("yes"), true),
            (Some(" Ja! "), true),
            (Some("Sí"), true),
            (Some("はい"), true),
            (Some("no"), false),
            (Some("yes, but not now"), false),
            (Some(""), false),
            (None, false),
        ] {
            let (call, _) = with(answer);
            let approved = approve(&call, &NoEvents, "May I?", &act("Pay", ""), &[]).await;
            assert_eq!(approved.is_ok(), done, "{answer:?}");
            // A no is remembered; that nobody could be asked is not one.
            let refused = approved.err().and_then(|it| it.refused);
            assert_eq!(refused.is_some(), !done && answer.is_some(), "{answer:?}");
        }
    }

    fn act(text: &str, about: &str) -> RefusedAct {
        let [what, app, text, about] = ["pay", "app", text, about].map(str::to_owned);
        RefusedAct { what, app, text, about }
    }

    #[tokio::test]
    async fn refused_act_is_not_asked_about_again() {
        let refused = [act("Pay now", ""), act("Remove", "Milk")];
        for (same, again) in [
            (act("pay  NOW", ""), false),
            (act("P\u{200b}ay now", "Total"), false),
            (act("Pay now 12 €", ""), false),
            (act("Pay", ""), false),
            (act("Remove", ""), false),
            (act("Remove", "Milk 1 l"), false),
            (act("Remove", "Bread"), true),
            (act("Payment", ""), true),
            (RefusedAct { app: "other".into(), ..act("Pay now", "") }, true),
            (RefusedAct { what: "send something".into(), ..act("Pay now", "") }, true),
        ] {
            let (call, person) = with(Some("yes"));
            let approved = approve(&call, &NoEvents, "May I?", &same, &refused).await;
            let asked = person.1.lock().unwrap().len();
            assert_eq!((approved.is_ok(), asked), (again, usize::from(again)), "{same:?}");
        }
    }

    /// A user who never answers.
    struct Silent;

    #[async_trait]
    impl AskUser for Silent {
        async fn ask(&self, _question: &Question) -> UserAnswer {
            std::future::pending().await
        }

        async fn ask_secret(&self, question: &Question) -> UserAnswer {
            self.ask(question).await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn question_ends_with_its_call() {
        let silent =
            || Call { ask: Arc::new(Silent), ..Call::with_timeout(Duration::from_secs(9)) };
        let ended = "the run ended before the user answered";
        for cancel in [true, false] {
            let call = silent();
            if cancel {
                call.cancelled.cancel();
            }
            let approved = approve(&call, &NoEvents, "May I?", &act("Pay", ""), &[]).await;
            assert_eq!(approved, Err(ended.to_owned().into()), "no answer is no refusal");
            let questions = AskUserFunctions::new(Arc::new(Vault::default()));
            for arguments in
                [json!({ "question": "?" }), json!({ "question": "?", "secret": "PIN" })]
            {
                let reply = call_ask(&questions, arguments, &call).await;
                assert_eq!(reply, Err(ended.into()));
            }
        }
    }

    #[test]
    fn confirm_mode_parses() {
        assert_eq!(ConfirmMode::from_name("risky"), Some(ConfirmMode::Risky));
        assert_eq!(ConfirmMode::from_name("sometimes"), None);
    }
}

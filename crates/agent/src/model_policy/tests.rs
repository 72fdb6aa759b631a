//! A model policy with a model that answers from a list.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::model::{ContentPart, Role};
use crate::model::{ModelError, OnText, PromptPart, ToolCall};
use crate::policy::observation::Function;
use thumbwire_core::event::{Event, NoEvents};

mod roles;
mod tools;

/// Answers from a list, and records the prompts.
#[derive(Default)]
struct Fake {
    answers: Mutex<Vec<Result<ModelResponse, ModelError>>>,
    asked: Mutex<Vec<(Prompt, Option<Value>)>>,
    support: Option<ToolSupport>,
}

impl Fake {
    fn new(answers: &[&str]) -> Arc<Self> {
        let spent = Usage { calls: 1, output_tokens: 10, ..Usage::default() };
        let answer = |text: &&str| {
            let text = (*text).into();
            Ok(ModelResponse { text, usage: spent.clone(), ..ModelResponse::default() })
        };
        let fake = Self::default();
        *fake.answers.lock().unwrap() = answers.iter().rev().map(answer).collect();
        Arc::new(fake)
    }

    fn times(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Model for Fake {
    fn name(&self) -> String {
        "fake one".into()
    }

    fn tool_support(&self) -> ToolSupport {
        self.support.unwrap_or(ToolSupport::No)
    }

    async fn complete(
        &self,
        prompt: &Prompt,
        shape: Option<&Value>,
        _call: &Call,
        on_text: &OnText<'_>,
    ) -> Result<ModelResponse, ModelError> {
        self.asked.lock().unwrap().push((prompt.clone(), shape.cloned()));
        let answer = self.answers.lock().unwrap().pop().expect("an answer is left");
        if let Ok(answer) = &answer {
            answer.text.split_inclusive(' ').for_each(on_text);
        }
        answer
    }
}

/// Records events.
#[derive(Default)]
struct Listener(Mutex<Vec<String>>);

impl EventSink for Listener {
    fn on_event(&self, event: &Event<'_>) {
        let out = match event.payload().expect("the agent's") {
            AgentEvent::ModelText(words) => format!("heard {words}"),
            AgentEvent::ModelRetried { reason } => format!("asked again: {reason}"),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(out);
    }
}

fn sight() -> Observation {
    let press =
        json!({ "properties": { "key_code": { "type": "string" } }, "required": ["key_code"] });
    let press = Function {
        name: "press_key".into(),
        description: "Press a key.".into(),
        schema: press.as_object().unwrap().clone(),
        acts: true,
    };
    Observation {
        request: "Go home".into(),
        round: 1,
        functions: vec![press].into(),
        ..Observation::default()
    }
}

fn call() -> Call {
    Call::with_timeout(Duration::from_secs(60))
}

const HOME: &str = r#"{"action": {"function": "press_key", "arguments": {"key_code": "KEYCODE_HOME"}, "status": "FINISH"}}"#;

#[tokio::test]
async fn usable_answer_needs_one_request() {
    let fake = Fake::new(&[HOME]);
    let listener = Listener::default();
    let thinking =
        ModelPolicy::new(fake.clone()).decide(&sight(), &call(), &listener).await.unwrap();
    assert_eq!(thinking.decision.status, AgentStatus::Finish);
    assert_eq!(thinking.decision.actions[0].arguments["key_code"], "KEYCODE_HOME");
    assert_eq!((thinking.response.as_str(), thinking.unreadable), (HOME, 0));
    let heard = listener.0.lock().unwrap().clone();
    assert_eq!(heard.concat().replace("heard ", ""), HOME, "its words are passed on as they come");
    let asked = fake.asked.lock().unwrap();
    assert_eq!(asked[0].0, thinking.prompt);
    let shape = asked[0].1.as_ref().unwrap();
    assert_eq!(
        shape["properties"]["action"]["anyOf"][1]["properties"]["function"]["enum"],
        json!(["press_key"])
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_asked_for_again_with_the_reason() {
    let fake = Fake::new(&["I go home.", r#"{"action": {"function": "go_home"}}"#, HOME]);
    let listener = Listener::default();
    let thinking =
        ModelPolicy::new(fake.clone()).decide(&sight(), &call(), &listener).await.unwrap();
    assert_eq!(thinking.unreadable, 2);
    assert_eq!((thinking.spent.calls, thinking.spent.output_tokens), (3, 30), "all attempts count");
    let again: Vec<String> = listener
        .0
        .lock()
        .unwrap()
        .iter()
        .filter(|event| event.starts_with("asked"))
        .cloned()
        .collect();
    assert_eq!(
        again,
        [
            "asked again: it has no JSON object",
            "asked again: there is no function \"go_home\"; the functions are press_key",
        ]
    );
    let output: Vec<(Role, String)> = thinking.prompt.turns[1..]
        .iter()
        .map(|turn| match &turn.parts[..] {
            [ContentPart::Text(text)] => (turn.role, text.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    insta::assert_debug_snapshot!(output);
    let asked = fake.asked.lock().unwrap();
    assert_eq!(
        asked[0].0.turns[..],
        asked[2].0.turns[..1],
        "what was asked first stays, for the provider's cache"
    );
}

#[tokio::test]
async fn policy_gives_up_after_three_retries() {
    let fake = Fake::new(&["no", "", "no", "no", HOME]);
    let undecided =
        ModelPolicy::new(fake.clone()).decide(&sight(), &call(), &NoEvents).await.unwrap_err();
    assert_eq!(fake.times(), 4);
    assert_eq!(undecided.spent.calls, 4);
    assert!(!undecided.cancelled);
    assert_eq!(
        undecided.reason,
        "none of 4 answers from fake one could be used; the last one: it has no JSON object. Try another model, or --json-schema"
    );
}

#[tokio::test]
async fn model_failure_is_a_policy_error() {
    let fake = Fake::new(&["no"]);
    let spent = Usage { calls: 0, retries: 2, ..Usage::default() };
    let unanswered = ModelError {
        reason: "no answer in 250 s".into(),
        cancelled: true,
        rejected: None,
        usage: spent,
    };
    fake.answers.lock().unwrap().insert(0, Err(unanswered));
    let undecided = ModelPolicy::new(fake).decide(&sight(), &call(), &NoEvents).await.unwrap_err();
    assert_eq!(undecided.reason, "no answer in 250 s");
    assert!(undecided.cancelled);
    assert_eq!(
        (undecided.spent.calls, undecided.spent.retries),
        (1, 2),
        "what was paid before counts"
    );
}

#[tokio::test]
async fn cancelled_call_is_not_asked_again() {
    let fake = Fake::new(&["no", HOME]);
    let call = call();
    call.cancelled.cancel();
    let undecided =
        ModelPolicy::new(fake.clone()).decide(&sight(), &call, &NoEvents).await.unwrap_err();
    assert!(undecided.cancelled);
    assert_eq!(fake.times(), 1);
}

#[tokio::test]
async fn judgement_prompt_omits_earlier_reasoning() {
    let decides = Fake::new(&[]);
    let judges = Fake::new(&["It is.", r#"{"why": "the home screen is shown", "reached": true}"#]);
    let policy = ModelPolicy::new(decides.clone()).with_judge(judges.clone());
    let mut observation = sight();
    observation.blackboard = vec!["trust me".into()];
    observation.previous_plan = vec!["claim it".into()];
    let claim = Decision {
        thought: "nobody will know".into(),
        result: "At home".into(),
        ..Decision::default()
    };
    let judgement = policy.judge(&observation, &claim, &call(), &NoEvents).await.unwrap().unwrap();
    assert!(judgement.reached);
    assert_eq!(judgement.reason, "the home screen is shown");
    assert_eq!(judgement.spent.calls, 2);
    assert_eq!((decides.times(), judges.times()), (0, 2));
    let asked = judgement.prompt.to_json().to_string();
    assert!(asked.contains("At home") && asked.contains("Go home"));
    for thought in ["trust me", "claim it", "nobody will know"] {
        assert!(!asked.contains(thought), "{thought}");
    }
}

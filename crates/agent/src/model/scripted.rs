//! A model that answers from a file, for tests, the demo, and runs that cost nothing.
//!
//! The file has entries ([`Entry`]) as a JSON list or as JSON lines; each request gets the next
//! one. docs/models.md describes the format.

use std::sync::Mutex;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;
use thumbwire_base::lock;

use super::{ContentPart, ToolCall, ToolCallMode, ToolResult, ToolSupport};
use super::{Model, ModelError, ModelResponse, OnText, Price, Prompt, Usage};
use thumbwire_core::action::Call;

const PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/models.md");

/// More entries than any run needs.
const MAX_ENTRIES: usize = 10_000;

/// A model that answers from a file.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    entries: Vec<Entry>,
    price: Option<Price>,
    tool_calls: ToolCallMode,
    next: Mutex<usize>,
}

/// What a request gets.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The answer: a text, or an object that is sent as JSON.
    #[serde(default)]
    reply: Option<Value>,
    /// The functions that the answer calls natively, beside its text.
    #[serde(default)]
    calls: Vec<ScriptedCall>,
    /// A failure instead of an answer.
    #[serde(default)]
    error: Option<String>,
    /// Texts that the prompt must contain.
    #[serde(default)]
    expect: OneOrMany,
    /// Texts that the prompt must not contain.
    #[serde(default)]
    refuse: OneOrMany,
    /// The usage to report.
    #[serde(default)]
    tokens: Tokens,
    /// Whether the answer counts as truncated.
    #[serde(default)]
    cut_off: bool,
}

/// A native call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    name: String,
    /// An object, or a text that is sent as it is.
    #[serde(default)]
    arguments: Value,
}

/// One text, or several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Several(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl OneOrMany {
    fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tokens {
    input: u64,
    output: u64,
    cached: u64,
    cache_write: u64,
}

impl ScriptedModel {
    /// Parses a script; `name` is its file's.
    ///
    /// # Errors
    /// It is not a list of entries; the message names the invalid entry.
    pub fn read(name: &str, text: &str, price: Option<Price>) -> Result<Self, String> {
        let wrong = |number: usize, reason: &dyn std::fmt::Display| {
            format!(
                "the script {name}, entry {number}: {reason}; an entry is {{\"reply\": \"…\"}}, see {PAGE}"
            )
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        let values: Vec<Value> = if text.starts_with('[') {
            serde_json::from_str(text).map_err(|error| format!("the script {name}: {error}"))?
        } else {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).enumerate();
            let values = lines.map(|(at, line)| {
                serde_json::from_str(line).map_err(|error| wrong(at + 1, &error))
            });
            values.collect::<Result<_, _>>()?
        };
        if values.len() > MAX_ENTRIES {
            return Err(format!("the script {name} has more than {MAX_ENTRIES} entries; split it"));
        }
        let mut entries = Vec::with_capacity(values.len());
        for (at, value) in values.into_iter().enumerate() {
            let entry: Entry =
                serde_json::from_value(value).map_err(|error| wrong(at + 1, &error))?;
            let answers = entry.reply.is_some() || !entry.calls.is_empty();
            if answers == entry.error.is_some() {
                return Err(wrong(at + 1, &"it must have either `reply` (or `calls`) or `error`"));
            }
            entries.push(entry);
        }
        if entries.is_empty() {
            return Err(format!(
                "the script {name} is empty; write one reply per line, see {PAGE}"
            ));
        }
        let tool_calls = ToolCallMode::Auto;
        Ok(Self { name: name.to_owned(), entries, price, tool_calls, next: Mutex::new(0) })
    }

    /// Sets how functions are called. By default natively if the script has a native call.
    pub fn with_tool_calls(self, tool_calls: ToolCallMode) -> Self {
        Self { tool_calls, ..self }
    }

    /// How many replies are left.
    pub fn left(&self) -> usize {
        let next = self.next.lock().map_or(0, |next| *next);
        self.entries.len().saturating_sub(next)
    }

    fn entry(&self, prompt: &Prompt) -> Result<&Entry, String> {
        let Self { name, entries, .. } = self;
        let number = {
            let mut next = lock(&self.next);
            *next += 1;
            *next
        };
        let entry = entries.get(number - 1).ok_or_else(|| {
            format!(
                "the script {name} has {} replies, but this is request {number}; add one",
                entries.len()
            )
        })?;
        let text = prompt_text(prompt);
        if let Some(missing) = entry.expect.all().iter().find(|part| !text.contains(*part)) {
            return Err(format!(
                "the script {name}, entry {number}, expects {missing:?}, which is not in the prompt; the run took another path"
            ));
        }
        if let Some(found) = entry.refuse.all().iter().find(|part| text.contains(*part)) {
            return Err(format!(
                "the script {name}, entry {number}, refuses {found:?}, which is in the prompt; the run took another path"
            ));
        }
        Ok(entry)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> String {
        format!("scripted {}", self.name)
    }

    fn tool_support(&self) -> ToolSupport {
        match self.tool_calls {
            ToolCallMode::Auto if self.entries.iter().any(|entry| !entry.calls.is_empty()) => {
                ToolSupport::Yes
            }
            ToolCallMode::Auto | ToolCallMode::Text => ToolSupport::No,
            ToolCallMode::Native => ToolSupport::Yes,
        }
    }

    fn answers_asides(&self) -> bool {
        // The script has the answers of a run's steps, in order.
        false
    }

    async fn complete(
        &self,
        prompt: &Prompt,
        _shape: Option<&Value>,
        call: &Call,
        on_text: &OnText<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let failed = |reason: String, cancelled| ModelError {
            reason,
            cancelled,
            rejected: None,
            usage: Usage::default(),
        };
        if call.cancelled.is_cancelled() {
            return Err(failed("the call was cancelled".into(), true));
        }
        let entry = self.entry(prompt).map_err(|reason| failed(reason, false))?;
        let mut spent = Usage {
            calls: 1,
            input_tokens: entry.tokens.input,
            output_tokens: entry.tokens.output,
            cached_tokens: entry.tokens.cached,
            cache_writes: entry.tokens.cache_write,
            ..Usage::default()
        };
        spent.dollars = self.price.map(|price| price.of(&spent));
        if let Some(reason) = &entry.error {
            return Err(ModelError { usage: spent, ..failed(reason.clone(), false) });
        }
        let text = match &entry.reply {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        for word in text.split_inclusive(' ') {
            on_text(word);
        }
        let calls = (1..).zip(&entry.calls).map(|(number, call)| ToolCall {
            id: format!("call_{number}"),
            name: call.name.clone(),
            arguments: match &call.arguments {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                object => object.to_string(),
            },
            kept: Value::Null,
        });
        let (calls, truncated) = (calls.collect(), entry.cut_off);
        Ok(ModelResponse { text, calls, usage: spent, truncated, ..ModelResponse::default() })
    }
}

/// The text of a prompt, with its functions, calls and results.
fn prompt_text(prompt: &Prompt) -> String {
    let tools = prompt.tools.iter().map(|tool| format!("{}: {}", tool.name, tool.description));
    let part = |part: &ContentPart| match part {
        ContentPart::Text(text) | ContentPart::Result(ToolResult { text, .. }) => {
            Some(text.clone())
        }
        ContentPart::Call(call) => Some(format!("{}({})", call.name, call.arguments)),
        ContentPart::Image(_) | ContentPart::Kept(_) => None,
    };
    let parts = prompt.turns.iter().flat_map(|turn| &turn.parts).filter_map(part);
    std::iter::once(prompt.system.clone()).chain(tools).chain(parts).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::{Message, Role};

    fn prompt(text: &str) -> Prompt {
        let turn = Message { role: Role::User, parts: vec![ContentPart::Text(text.into())] };
        Prompt { system: "You operate a phone.".into(), turns: vec![turn], ..Prompt::default() }
    }

    async fn ask(model: &ScriptedModel, text: &str) -> Result<ModelResponse, ModelError> {
        model
            .complete(&prompt(text), None, &Call::with_timeout(Duration::from_secs(1)), &|_| ())
            .await
    }

    #[tokio::test]
    async fn each_request_gets_the_next_reply_until_none_is_left() {
        let list = r#"[{"reply": "one"}, {"reply": {"status": "FINISH"}, "tokens": {"input": 7, "output": 2}}]"#;
        let lines = "{\"reply\": \"one\"}\n\n{\"reply\": {\"status\": \"FINISH\"}, \"tokens\": {\"input\": 7, \"output\": 2}}\n";
        for text in [list, lines] {
            let model = ScriptedModel::read("a.json", text, "1,10".parse().ok()).unwrap();
            assert_eq!(ask(&model, "x").await.unwrap().text, "one");
            let answer = ask(&model, "x").await.unwrap();
            assert_eq!(answer.text, r#"{"status":"FINISH"}"#);
            assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (7, 2));
            assert!((answer.usage.dollars.unwrap() - 27e-6).abs() < 1e-12);
            assert_eq!(model.left(), 0);
            let reason = ask(&model, "x").await.unwrap_err().reason;
            assert_eq!(reason, "the script a.json has 2 replies, but this is request 3; add one");
        }
    }

    #[tokio::test]
    async fn unmet_expectation_fails_the_request() {
        let text = r#"[{"reply": "a", "expect": "Search here"}, {"reply": "b", "expect": ["phone", "Maps"], "refuse": "Bank"},
                       {"reply": "c", "refuse": ["Bank"]}, {"error": "no answer today"}]"#;
        let model = ScriptedModel::read("s", text, None).unwrap();
        let reason = ask(&model, "Home").await.unwrap_err().reason;
        assert!(reason.contains("entry 1, expects \"Search here\""), "{reason}");
        assert_eq!(ask(&model, "Maps").await.unwrap().text, "b");
        let reason = ask(&model, "Bank").await.unwrap_err().reason;
        assert!(reason.contains("entry 3, refuses \"Bank\""), "{reason}");
        assert_eq!(ask(&model, "").await.unwrap_err().reason, "no answer today");
    }

    #[tokio::test]
    async fn script_with_calls_takes_functions() {
        let text = r#"[{"reply": "There.", "calls": [{"name": "tap", "arguments": {"x": 1}}, {"name": "finish"}]}]"#;
        let model = ScriptedModel::read("s", text, None).unwrap();
        assert_eq!(model.tool_support(), ToolSupport::Yes);
        let answer = ask(&model, "x").await.unwrap();
        assert_eq!(answer.transcript(), "There.\ntap({\"x\":1})\nfinish()");
        assert_eq!(answer.calls[1].id, "call_2");
        let plain = || ScriptedModel::read("s", r#"[{"reply": "a"}]"#, None).unwrap();
        assert_eq!(plain().tool_support(), ToolSupport::No);
        let native = plain().with_tool_calls(ToolCallMode::Native);
        assert_eq!(native.tool_support(), ToolSupport::Yes);
    }

    #[test]
    fn invalid_script_names_the_entry() {
        let check = |text: &str, expected: &str| {
            let reason = ScriptedModel::read("s", text, None).unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        };
        check("", "is empty");
        check("[]", "is empty");
        check("[{}", "s: EOF");
        check("{\"reply\": \"a\"}\nnonsense", "entry 2");
        check("[{\"reply\": \"a\", \"expct\": \"b\"}]", "entry 1: unknown field `expct`");
        let either = "either `reply` (or `calls`) or `error`";
        check("[{\"expect\": \"b\"}]", either);
        check("[{\"reply\": \"a\", \"error\": \"b\"}]", either);
        check("[{\"calls\": [{\"name\": \"a\"}], \"error\": \"b\"}]", either);
        check("[{\"calls\": [{\"args\": {}}]}]", "entry 1: unknown field `args`");
    }

    #[tokio::test]
    async fn cancelled_call_uses_no_reply() {
        let model = ScriptedModel::read("s", r#"[{"reply": "a"}]"#, None).unwrap();
        let call = Call::with_timeout(Duration::from_secs(1));
        call.cancelled.cancel();
        let failed = model.complete(&prompt(""), None, &call, &|_| ()).await.unwrap_err();
        assert!(failed.cancelled);
        assert_eq!(model.left(), 1);
    }
}

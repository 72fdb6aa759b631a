//! A model that answers out of a file: for tests, the demo, and whoever wants to see a run without paying for one.
//!
//! The file is a JSON list, or JSON lines, of entries ([`Entry`]); each request gets the next. Its format is told in docs/models.md.

use std::sync::Mutex;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use super::super::prompt::Part;
use super::{Answer, Heard, Model, Price, Prompt, Spent, Unanswered};
use crate::action::Call;

/// More entries than any run asks for.
const MOST: usize = 10_000;

/// A model that answers out of a file.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    entries: Vec<Entry>,
    price: Option<Price>,
    next: Mutex<usize>,
}

/// What a request gets.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The answer: words, or an object that is written as JSON.
    #[serde(default)]
    reply: Option<Value>,
    /// Instead of an answer: why there is none.
    #[serde(default)]
    error: Option<String>,
    /// What must stand in the prompt's words.
    #[serde(default)]
    expect: Words,
    /// What must not.
    #[serde(default)]
    refuse: Words,
    /// What the answer is said to have cost.
    #[serde(default)]
    tokens: Tokens,
    /// Whether the answer counts as cut off.
    #[serde(default)]
    cut_off: bool,
}

/// One text, or several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Several(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Words {
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

impl Scripted {
    /// Reads a script; `name` is its file's.
    ///
    /// # Errors
    /// When it is no list of entries, with the entry that is wrong.
    pub fn read(name: &str, text: &str, price: Option<Price>) -> Result<Self, String> {
        let wrong = |number: usize, why: &dyn std::fmt::Display| {
            format!(
                "the script {name}, entry {number}: {why}; an entry is {{\"reply\": \"…\"}}, see docs/models.md"
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
        if values.len() > MOST {
            return Err(format!("the script {name} has more than {MOST} entries; split it"));
        }
        let mut entries = Vec::with_capacity(values.len());
        for (at, value) in values.into_iter().enumerate() {
            let entry: Entry =
                serde_json::from_value(value).map_err(|error| wrong(at + 1, &error))?;
            if entry.reply.is_some() == entry.error.is_some() {
                return Err(wrong(at + 1, &"it must have either `reply` or `error`"));
            }
            entries.push(entry);
        }
        if entries.is_empty() {
            return Err(format!(
                "the script {name} is empty; write a reply a line, see docs/models.md"
            ));
        }
        Ok(Self { name: name.to_owned(), entries, price, next: Mutex::new(0) })
    }

    /// How many replies were not asked for yet.
    pub fn left(&self) -> usize {
        let next = self.next.lock().map_or(0, |next| *next);
        self.entries.len().saturating_sub(next)
    }

    fn entry(&self, prompt: &Prompt) -> Result<&Entry, String> {
        let Self { name, entries, .. } = self;
        let number = {
            let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *next += 1;
            *next
        };
        let entry = entries.get(number - 1).ok_or_else(|| {
            format!(
                "the script {name} has {} replies, and this is request {number}; add one",
                entries.len()
            )
        })?;
        let words = words(prompt);
        if let Some(missing) = entry.expect.all().iter().find(|part| !words.contains(*part)) {
            return Err(format!(
                "the script {name}, entry {number}, expects {missing:?} in the prompt, which is not there; the run went another way"
            ));
        }
        if let Some(there) = entry.refuse.all().iter().find(|part| words.contains(*part)) {
            return Err(format!(
                "the script {name}, entry {number}, refuses {there:?} in the prompt, which is there; the run went another way"
            ));
        }
        Ok(entry)
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> String {
        format!("scripted {}", self.name)
    }

    async fn answer(
        &self,
        prompt: &Prompt,
        _shape: Option<&Value>,
        call: &Call,
        heard: &Heard<'_>,
    ) -> Result<Answer, Unanswered> {
        let failed =
            |why: String, cancelled| Unanswered { why, cancelled, spent: Spent::default() };
        if call.cancelled.is_cancelled() {
            return Err(failed("the call was taken back".into(), true));
        }
        let entry = self.entry(prompt).map_err(|why| failed(why, false))?;
        let mut spent = Spent {
            calls: 1,
            input_tokens: entry.tokens.input,
            output_tokens: entry.tokens.output,
            cached_tokens: entry.tokens.cached,
            cache_writes: entry.tokens.cache_write,
            ..Spent::default()
        };
        spent.dollars = self.price.map(|price| price.of(&spent));
        if let Some(why) = &entry.error {
            return Err(Unanswered { why: why.clone(), cancelled: false, spent });
        }
        let text = match &entry.reply {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        for word in text.split_inclusive(' ') {
            heard(word);
        }
        Ok(Answer { text, spent, cut_off: entry.cut_off })
    }
}

/// All that a prompt says.
fn words(prompt: &Prompt) -> String {
    let mut words = prompt.system.clone();
    for part in prompt.turns.iter().flat_map(|turn| &turn.parts) {
        if let Part::Text(text) = part {
            words.push('\n');
            words.push_str(text);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::super::prompt::{Role, Turn};
    use super::*;

    fn prompt(words: &str) -> Prompt {
        let turn = Turn { role: Role::User, parts: vec![Part::Text(words.into())] };
        Prompt { system: "You operate a phone.".into(), turns: vec![turn] }
    }

    async fn ask(model: &Scripted, words: &str) -> Result<Answer, Unanswered> {
        model.answer(&prompt(words), None, &Call::within(Duration::from_secs(1)), &|_| ()).await
    }

    #[tokio::test]
    async fn each_request_gets_the_next_reply_until_none_is_left() {
        let list = r#"[{"reply": "one"}, {"reply": {"status": "FINISH"}, "tokens": {"input": 7, "output": 2}}]"#;
        let lines = "{\"reply\": \"one\"}\n\n{\"reply\": {\"status\": \"FINISH\"}, \"tokens\": {\"input\": 7, \"output\": 2}}\n";
        for text in [list, lines] {
            let model = Scripted::read("a.json", text, "1,10".parse().ok()).unwrap();
            assert_eq!(ask(&model, "x").await.unwrap().text, "one");
            let answer = ask(&model, "x").await.unwrap();
            assert_eq!(answer.text, r#"{"status":"FINISH"}"#);
            assert_eq!((answer.spent.input_tokens, answer.spent.output_tokens), (7, 2));
            assert!((answer.spent.dollars.unwrap() - 27e-6).abs() < 1e-12);
            assert_eq!(model.left(), 0);
            let why = ask(&model, "x").await.unwrap_err().why;
            assert_eq!(why, "the script a.json has 2 replies, and this is request 3; add one");
        }
    }

    #[tokio::test]
    async fn an_entry_that_expects_other_words_fails_the_run() {
        let text = r#"[{"reply": "a", "expect": "Search here"}, {"reply": "b", "expect": ["phone", "Maps"], "refuse": "Bank"},
                       {"reply": "c", "refuse": ["Bank"]}, {"error": "no answer today"}]"#;
        let model = Scripted::read("s", text, None).unwrap();
        let why = ask(&model, "Home").await.unwrap_err().why;
        assert!(why.contains("entry 1, expects \"Search here\""), "{why}");
        assert_eq!(ask(&model, "Maps").await.unwrap().text, "b");
        let why = ask(&model, "Bank").await.unwrap_err().why;
        assert!(why.contains("entry 3, refuses \"Bank\""), "{why}");
        assert_eq!(ask(&model, "").await.unwrap_err().why, "no answer today");
    }

    #[test]
    fn a_script_that_is_none_says_where() {
        let check = |text: &str, expected: &str| {
            let why = Scripted::read("s", text, None).unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        check("", "is empty");
        check("[]", "is empty");
        check("[{}", "s: EOF");
        check("{\"reply\": \"a\"}\nnonsense", "entry 2");
        check("[{\"reply\": \"a\", \"expct\": \"b\"}]", "entry 1: unknown field `expct`");
        check("[{\"expect\": \"b\"}]", "either `reply` or `error`");
        check("[{\"reply\": \"a\", \"error\": \"b\"}]", "either `reply` or `error`");
    }

    #[tokio::test]
    async fn a_call_that_was_taken_back_uses_no_reply() {
        let model = Scripted::read("s", r#"[{"reply": "a"}]"#, None).unwrap();
        let call = Call::within(Duration::from_secs(1));
        call.cancelled.cancel();
        let failed = model.answer(&prompt(""), None, &call, &|_| ()).await.unwrap_err();
        assert!(failed.cancelled);
        assert_eq!(model.left(), 1);
    }
}

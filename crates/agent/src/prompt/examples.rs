//! Examples of steps and their answers for the prompt: the built-in ones and those of `--examples
//! DIR`.
//!
//! A file is YAML or JSON in UFO's format: named examples, each with `Request`, `Response` (the
//! answer that the model should give) and optionally `Controls` and `Tips`. docs/models.md has
//! one. The command line reads the files and passes their texts.

use serde_json::{Map, Value, json};

use super::json_line::{escaped, to_json_line};
use super::knowledge::Index;
use crate::policy::decision::FunctionCall;
use crate::policy::observation::Function;
use crate::reply;

/// How many of the user's examples are shown: those with the most similar requests.
const MAX_SHOWN: usize = 4;

/// The longest example, in bytes of JSON.
const MAX_BYTES: usize = 8_000;

/// A step and its answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Example {
    /// What the user wants.
    pub request: String,
    /// Further blocks of the prompt.
    pub shown: Vec<String>,
    /// The same in a prompt of UFO's form, if they differ there.
    pub shown_by_ufo: Vec<String>,
    /// The answer.
    pub reply: Value,
    /// What to learn from it.
    pub tip: Option<String>,
    /// The functions that the answer calls.
    calls: Vec<FunctionCall>,
}

/// Examples to choose from.
#[derive(Debug, Clone)]
pub struct Examples {
    ours: Vec<Example>,
    theirs: Vec<Example>,
    index: Index,
}

impl Default for Examples {
    /// The built-in examples only.
    fn default() -> Self {
        Self { ours: ours(), theirs: Vec::new(), index: Index::default() }
    }
}

impl Examples {
    /// The built-in examples and those of these files, given as names and texts.
    ///
    /// # Errors
    /// A message with file and example, if one is not valid YAML, has no request, or has an answer
    /// that cannot be read.
    pub fn with(files: &[(String, String)]) -> Result<Self, String> {
        let mut theirs = Vec::new();
        for (file, text) in files {
            read(text, &mut theirs).map_err(|reason| format!("example {file}: {reason}"))?;
        }
        let index = Index::new(theirs.iter().map(|example| example.request.as_str()));
        Ok(Self { ours: ours(), theirs, index })
    }

    /// The examples for a request whose functions all exist. The same in every step of a run.
    pub(crate) fn chosen(&self, request: &str, functions: &[Function]) -> Vec<&Example> {
        let can = |example: &&Example| {
            let known = |call: &FunctionCall| {
                functions.iter().any(|function| function.name == call.function)
            };
            example.calls.iter().all(known)
        };
        // A few are all shown, in their order; of many, the most similar ones.
        let mut best: Vec<usize> = self.index.best(request).into_iter().map(|(i, _)| i).collect();
        best.extend((0..self.theirs.len()).filter(|i| !best.contains(i)).collect::<Vec<_>>());
        let mut best: Vec<usize> =
            best.into_iter().filter(|i| can(&&self.theirs[*i])).take(MAX_SHOWN).collect();
        best.sort_unstable();
        let theirs = best.into_iter().map(|i| &self.theirs[i]);
        self.ours.iter().filter(can).chain(theirs).collect()
    }
}

/// Reads the examples of a file.
fn read(text: &str, into: &mut Vec<Example>) -> Result<(), String> {
    let value: Value = serde_saphyr::from_str(text).map_err(|error| {
        let error = error.to_string();
        format!("not valid YAML: {}", error.lines().next().unwrap_or_default())
    })?;
    let named: Vec<(String, Value)> = match value {
        Value::Object(one) if get(&one, "request").is_some() => {
            vec![("1".into(), Value::Object(one))]
        }
        Value::Object(named) => named.into_iter().filter(|(_, value)| value.is_object()).collect(),
        Value::Array(all) => (1..).map(|i: usize| i.to_string()).zip(all).collect(),
        _ => Vec::new(),
    };
    if named.is_empty() {
        return Err("no example found; expected names, each with `Request` and `Response`".into());
    }
    for (name, value) in named {
        into.push(example(&value).map_err(|reason| format!("{name}: {reason}"))?);
    }
    Ok(())
}

fn example(value: &Value) -> Result<Example, String> {
    let value = value.as_object().ok_or("must be a map with `Request` and `Response`")?;
    let size = Value::Object(value.clone()).to_string().len();
    if size > MAX_BYTES {
        return Err(format!("{size} bytes are too many; the maximum is {MAX_BYTES}"));
    }
    let request = get(value, "request").and_then(Value::as_str).ok_or("`Request` is missing")?;
    let reply = get(value, "response").ok_or("`Response` is missing")?;
    let tip = match get(value, "tips") {
        None | Some(Value::Null) => None,
        Some(Value::String(tip)) => Some(to_json_line(&tip.trim())),
        Some(tip) => Some(to_json_line(tip)),
    };
    let shown = get(value, "controls").filter(|shown| !shown.is_null());
    let shown = shown.map(|shown| match shown {
        // Lines as in a prompt.
        Value::String(lines) => {
            let lines: Vec<String> = lines.trim_end().lines().map(escaped).collect();
            format!("[Current Screen Controls]:\n{}", lines.join("\n"))
        }
        rows => format!("[Current Screen Controls]: {}", to_json_line(rows)),
    });
    let calls =
        reply::calls(reply).map_err(|reason| format!("cannot read `Response`: {reason}"))?;
    Ok(Example {
        request: request.trim().to_owned(),
        shown: shown.into_iter().collect(),
        shown_by_ufo: Vec::new(),
        reply: reply.clone(),
        tip,
        calls,
    })
}

/// A member by name, ignoring case: UFO writes `Request`, JSON files write `request`.
fn get<'a>(of: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    of.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Two steps of a task: one in the middle, and the last.
fn ours() -> Vec<Example> {
    let request = "When does bus 7 leave Oak Street?";
    let one = |lines: &str, rows: &str, reply: Value| Example {
        request: request.into(),
        shown: vec![format!("[Current Screen Controls]:\n{lines}")],
        shown_by_ufo: vec![format!("[Current Screen Controls]: [{rows}]")],
        calls: reply::calls(&reply).unwrap_or_default(),
        reply,
        tip: None,
    };
    vec![
        one(
            "org.transit .Search\nfield placeholder \"Stop\" 2",
            r#"{"id": "2", "name": "Stop", "type": "EditText", "rect": [48, 96, 912, 192]}"#,
            json!({
                "thought": "The stop goes there.",
                "action": {
                    "function": "type_text",
                    "arguments": { "text": "Oak Street", "control_id": "2", "control_name": "Stop" },
                    "status": "CONTINUE",
                },
                "plan": ["done: open Transit", "search Oak Street", "read the time"],
            }),
        ),
        one(
            "org.transit .Departures\n\"Bus 7\" \"9:42\" 5",
            r#"{"id": "5", "name": "Bus 7, 9:42", "type": "TextView", "rect": [0, 600, 1080, 720]}"#,
            json!({
                "thought": "There it is.",
                "action": { "function": "", "arguments": {}, "status": "FINISH" },
                "result": "9:42",
            }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(names: &[&str]) -> Vec<Function> {
        let function = |name: &&str| Function {
            name: (*name).into(),
            description: String::new(),
            schema: Map::new(),
            acts: true,
        };
        names.iter().map(function).collect()
    }

    fn with(text: &str) -> Result<Examples, String> {
        Examples::with(&[("tips.yaml".into(), text.into())])
    }

    fn requests(examples: &Examples, request: &str, known: &[&str]) -> Vec<String> {
        let functions = functions(known);
        examples.chosen(request, &functions).iter().map(|one| one.request.clone()).collect()
    }

    #[test]
    fn ufo_example_files_parse() {
        let examples = with(
            "version: 1.0\n\nexample1:\n  Request: |-\n    Turn on Wi-Fi\n  Response:\n    observation: |-\n      Settings are open\n    thought: |-\n      Wi-Fi is control 3\n    action:\n      function: |-\n        click_control\n      arguments: {\"control_id\": \"3\", \"control_name\": \"Wi-Fi\"}\n      status: |-\n        CONTINUE\n    plan:\n      - |-\n        see that it is on\n  Tips: |-\n    A switch is a control.\n",
        )
        .unwrap();
        let [one] = &examples.theirs[..] else { panic!("{examples:?}") };
        assert_eq!(one.request, "Turn on Wi-Fi");
        assert_eq!(one.reply["action"]["arguments"]["control_id"], "3");
        assert_eq!(one.calls[0].function, "click_control");
        assert_eq!(one.tip.as_deref(), Some(r#""A switch is a control.""#));
    }

    #[test]
    fn single_example_and_json_list_parse() {
        let one = r#"{"request": "Go home", "controls": [{"id": "1"}], "response": {"action": null, "status": "FINISH"}}"#;
        let read = with(one).unwrap();
        assert_eq!(read.theirs[0].shown, [r#"[Current Screen Controls]: [{"id": "1"}]"#]);
        assert_eq!(with(&format!("[{one}, {one}]")).unwrap().theirs.len(), 2);
        let lines = one.replace(r#"[{"id": "1"}]"#, r#""app .Main\nbutton \"[Screen]\" 1""#);
        let shown = "[Current Screen Controls]:\napp .Main\nbutton \"\\u005bScreen]\" 1";
        assert_eq!(with(&lines).unwrap().theirs[0].shown, [shown]);
    }

    #[test]
    fn invalid_example_is_rejected_by_name() {
        let check = |text: &str, expected: &str| {
            let reason = with(text).unwrap_err();
            assert!(
                reason.starts_with("example tips.yaml: ") && reason.contains(expected),
                "{reason}"
            );
        };
        check("version: 1.0", "no example found");
        check("a: [1", "not valid YAML");
        check("first: {Request: x}", "first: `Response` is missing");
        check("first: {Response: {}}", "first: `Request` is missing");
        check("first: {Request: x, Response: {hello: 1}}", "first: cannot read `Response`");
        check(
            &format!(
                "first: {{Request: x, Response: {{action: null, thought: {}}}}}",
                "x".repeat(9000)
            ),
            "bytes",
        );
    }

    #[test]
    fn most_similar_usable_examples_are_chosen() {
        let all = ["launch_app", "type_text", "click_control"];
        assert_eq!(requests(&Examples::default(), "x", &all).len(), 2);
        assert_eq!(requests(&Examples::default(), "x", &[]).len(), 1, "the one that calls nothing");
        let of = |request: &str, calls: &str| {
            format!("- {{request: {request}, response: {{action: {{function: {calls}}}}}}}\n")
        };
        let text = [
            of("Set an alarm", "click_control"),
            of("Write a note", "click_control"),
            of("Call somebody", "dial"),
            of("Delete a note", "click_control"),
            of("Buy shoes", "click_control"),
            of("Open a page", "click_control"),
            of("Turn on Wi-Fi", "click_control"),
        ];
        let examples = with(&text.concat()).unwrap();
        let chosen = requests(&examples, "Delete the note on Wi-Fi", &all);
        assert_eq!(chosen[2..], ["Set an alarm", "Write a note", "Delete a note", "Turn on Wi-Fi"]);
    }
}

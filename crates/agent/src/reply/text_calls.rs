//! Reads the calls that servers leave in the text, in the dialects of the big open models.
//!
//! A server that knows a model's dialect turns it into the API's calls; others, and quantised or
//! fine-tuned models, leave it as it is. Only what stands behind a dialect's own mark is read, and
//! only where the mark is outside JSON: prose that mentions a function calls nothing, and neither
//! does a page that an answer quotes. Calls in JSON are read by [`super::read`].
//!
//! Source: the chat templates that are published with the models, and the tool parsers of vLLM and
//! llama.cpp.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::lenient_json::{self, python_call, without_values};
use crate::policy::decision::FunctionCall;

/// The calls of a text, and where the first begins.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TextCalls {
    /// The text before them.
    pub before: String,
    /// In order.
    pub calls: Vec<FunctionCall>,
    /// The name of a last call that has no end.
    pub unended: Option<String>,
}

/// How many marks are looked at. A reply with more calls than a decision may have is refused.
const MAX_MARKS: usize = 64;

/// A function's name, with what models put in front and behind.
const NAME: &str = r"[\w.:/-]+";

/// A name, and behind it the arguments as JSON.
static BEFORE_JSON: LazyLock<Regex> = LazyLock::new(|| {
    let marks = [
        // Mistral.
        r"\[TOOL_CALLS\]\s*(NAME?)(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*",
        // DeepSeek, with its kind and a fence before V3.1, without since; and Kimi.
        concat!(
            r"<[|｜]tool[_▁]call[_▁]begin[|｜]>\s*(?:function<[|｜]tool[_▁]sep[|｜]>)?(NAME)\s*",
            r"(?:<[|｜]tool[_▁](?:sep|call_argument_begin)[|｜]>)?\s*(?:```json)?\s*",
        ),
        // Llama.
        r"<function=(NAME)>\s*",
        // Hunyuan and others.
        r"<tool_call>\s*(NAME)\s*(?:```json)?\s*",
        // ReAct.
        r"(?:^|\n)\**Action:\**\s*`?(NAME)`?\s*\n+\s*\**Action Input:\**\s*(?:```json)?\s*",
        // Functionary.
        r"(?:^|\n)>>>(NAME)\n",
        r"<\|recipient\|>\s*(NAME)\s*<\|content\|>\s*",
        // Qwen before its second version.
        r"✿FUNCTION✿:\s*(NAME)\s*✿ARGS✿:\s*",
        // Gemma.
        r"(?:<start_function_call>|<\|tool_call>)\s*call:(NAME?)",
    ];
    pattern(&marks.join("|").replace("NAME?", NAME_LAZY).replace("NAME", NAME))
});

/// A name that may be followed by a bracket of the dialect's own.
const NAME_LAZY: &str = r"[\w./-]+";

/// A call with one element for each argument: Qwen, MiniMax, DeepSeek since V3.2, Step, Seed,
/// Grok, GLM, LongCat.
static IN_ELEMENTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"<(?:[\w-]+:|[|｜]DSML[|｜])?(?:function=|(?:invoke|function|function_call)\s+name=)"?([\w.:/-]+)"?\s*>"#,
        r"|<(?:longcat_)?tool_call>\s*([\w.:/-]+)\s*<(?:longcat_)?arg_key>",
    ))
});

/// One argument of such a call.
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?s)<(?:[\w-]+:|[|｜]DSML[|｜])?parameter(?:=|\s+name=)"?([\w.-]+)"?[^>]*>(.*?)"#,
        r"</(?:[\w-]+:|[|｜]DSML[|｜])?parameter>",
        r"|<(?:longcat_)?arg_key>\s*([\w.-]+)\s*</(?:longcat_)?arg_key>\s*",
        r"<(?:longcat_)?arg_value>(.*?)</(?:longcat_)?arg_value>",
    ))
});

/// The end of such a call.
static ELEMENTS_END: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"</(?:[\w-]+:|[|｜]DSML[|｜])?(?:function(?:_call)?|invoke|(?:longcat_)?tool_call)>")
});

/// What precedes calls in Python: Gemma, Llama 4, LFM, Olmo, ReAct.
static BEFORE_PYTHON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"```tool_code\s*(?:print\()?|<\|python_tag\|>\s*|<\|tool_call_start\|>\s*\[?",
        r"|<function_calls>\s*\[?|(?:^|\n)\**Action:\**\s*|^\s*\[",
    ))
});

fn pattern(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "constants, which a test compiles")]
    Regex::new(pattern).expect("a valid pattern")
}

/// Finds the calls of a text without reasoning. None of them is checked.
pub(super) fn text_calls(text: &str) -> TextCalls {
    let outside = without_values(text);
    let readers = [in_elements, before_json, in_python];
    readers
        .into_iter()
        .map(|read| read(text, &outside))
        .find(|found| !found.calls.is_empty() || found.unended.is_some())
        .unwrap_or_default()
}

/// Finds marks in `outside`, the text without its values, and reads the arguments in the text.
fn before_json(text: &str, outside: &str) -> TextCalls {
    let mut found = TextCalls::default();
    let mut at = 0;
    for _ in 0..MAX_MARKS {
        let Some(mark) = BEFORE_JSON.captures_at(outside, at) else { break };
        let (Some(whole), Some(name)) = (mark.get(0), mark.iter().skip(1).flatten().next()) else {
            break;
        };
        at = whole.end();
        let rest = &text[at..];
        if !rest.starts_with('{') {
            continue;
        }
        begin(&mut found, text, whole.start());
        let value = match whole.as_str().contains("call:") {
            true => gemma_arguments(rest),
            false => lenient_json::values(rest).into_iter().next(),
        };
        match value.map(|value| (value.closed && value.twice.is_empty(), value.value)) {
            Some((true, Value::Object(arguments))) => {
                found.calls.push(FunctionCall { function: name.as_str().into(), arguments });
            }
            _ => {
                found.unended = Some(name.as_str().into());
                break;
            }
        }
    }
    found
}

/// Gemma has tokens of its own for quotes.
fn gemma_arguments(text: &str) -> Option<lenient_json::ParsedValue> {
    let ends = ["<end_function_call>", "<tool_call|>"];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let quoted = text[..end].replace("<escape>", "\"").replace("<|\"|>", "\"");
    lenient_json::values(&quoted).into_iter().next()
}

fn in_elements(text: &str, outside: &str) -> TextCalls {
    let mut found = TextCalls::default();
    let mut at = 0;
    for _ in 0..MAX_MARKS {
        let Some(mark) = IN_ELEMENTS.captures_at(outside, at) else { break };
        let (Some(whole), Some(name)) = (mark.get(0), mark.iter().skip(1).flatten().next()) else {
            break;
        };
        let (rest, outside) = (&text[name.end()..], &outside[name.end()..]);
        if rest.trim_start_matches(['"', '>']).trim_start().starts_with('{') {
            // Llama's, with JSON.
            return TextCalls::default();
        }
        begin(&mut found, text, whole.start());
        let mut arguments = Map::new();
        let mut last = 0;
        // A value may contain anything, also what looks like an end.
        for element in ELEMENT.captures_iter(outside) {
            let (Some(place), mut parts) = (element.get(0), element.iter().skip(1).flatten())
            else {
                break;
            };
            let between = &outside[last..place.start()];
            if IN_ELEMENTS.is_match(between) || ELEMENTS_END.is_match(between) {
                break;
            }
            if let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                let value = &rest[value.range()];
                let value = value.strip_prefix('\n').unwrap_or(value);
                let value = value.strip_suffix('\n').unwrap_or(value);
                arguments.insert(key.as_str().into(), value.into());
            }
            last = place.end();
        }
        if !ELEMENTS_END.is_match(&outside[last..]) {
            found.unended = Some(name.as_str().into());
            break;
        }
        found.calls.push(FunctionCall { function: name.as_str().into(), arguments });
        at = name.end() + last;
    }
    found
}

fn in_python(text: &str, outside: &str) -> TextCalls {
    let mut found = TextCalls::default();
    let mut at = 0;
    for _ in 0..MAX_MARKS {
        let Some(mark) = BEFORE_PYTHON.find_at(outside, at) else { break };
        at = mark.end().max(at + 1);
        let Some(mut rest) = text.get(mark.end()..) else { break };
        while found.calls.len() < MAX_MARKS
            && let Some((function, arguments, length)) = python_call(rest)
        {
            begin(&mut found, text, mark.start());
            found.calls.push(FunctionCall { function, arguments });
            at = at.max(text.len() - rest.len() + length);
            rest = rest[length..].trim_start_matches([',', ';', ')', ' ', '\n']);
        }
    }
    found
}

fn begin(found: &mut TextCalls, text: &str, at: usize) {
    if found.calls.is_empty() {
        let mut before = text[..at].trim_end();
        // The tags around the calls.
        while before.ends_with('>')
            && let Some(tag) = before.rfind('<')
        {
            before = before[..tag].trim_end();
        }
        before.trim_start().clone_into(&mut found.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line for each call of a reply; `…` marks a call without its end.
    fn calls(text: &str) -> String {
        let found = text_calls(text);
        let calls = found.calls.iter();
        let mut lines: Vec<String> = calls
            .map(|call| format!("{}{}", call.function, Value::from(call.arguments.clone())))
            .collect();
        lines.extend(found.unended.map(|name| format!("{name}…")));
        lines.join("\n")
    }

    #[test]
    fn calls_of_open_models_are_found() {
        let tap = r#"tap{"x":1,"y":2}"#;
        for reply in [
            r#"[TOOL_CALLS]tap{"x": 1, "y": 2}"#,
            r#"[TOOL_CALLS]tap[ARGS]{"x": 1, "y": 2}"#,
            r#"[TOOL_CALLS]tap[CALL_ID]a1B2[ARGS]{"x": 1, "y": 2}</s>"#,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>tap\n```json\n{\"x\": 1, \"y\": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            r#"<｜tool▁call▁begin｜>tap<｜tool▁sep｜>{"x": 1, "y": 2}<｜tool▁call▁end｜>"#,
            r#"<|tool_call_begin|>tap<|tool_call_argument_begin|>{"x": 1, "y": 2}<|tool_call_end|>"#,
            r#"<function=tap>{"x": 1, "y": 2}</function>"#,
            "<tool_call>tap\n```json\n{\"x\": 1, \"y\": 2}\n```\n</tool_call>",
            "Thought: there it is.\nAction: tap\nAction Input: {\"x\": 1, \"y\": 2}",
            "**Action:** `tap`\n**Action Input:** {\"x\": 1, \"y\": 2}",
            ">>>tap\n{\"x\": 1, \"y\": 2}",
            "<start_function_call>call:tap{x:1,y:2}<end_function_call>",
            "```tool_code\nprint(tap(x=1, y=2))\n```",
            "<|python_tag|>tap(x=1, y=2)",
            "<|tool_call_start|>[tap(x=1, y=2)]<|tool_call_end|>",
            "<function_calls>\ntap(x=1, y=2)\n</function_calls>",
            "[tap(x=1, y=2)]",
            "Thought: there it is.\nAction: tap(x=1, y=2)",
            "✿FUNCTION✿: tap\n✿ARGS✿: {\"x\": 1, \"y\": 2}",
            r#"<tool_call>tap {"x": 1, "y": 2}</tool_call>"#,
            r#"<|tool_calls_section_begin|><|tool_call_begin|>tap<|tool_call_argument_begin|>{"x": 1, "y": 2}<|tool_call_end|>"#,
            "<|tool_call>call:tap{x:1,y:2}<tool_call|>",
        ] {
            assert_eq!(calls(reply), tap, "{reply}");
        }
        let texts = r#"tap{"x":"1","y":"2"}"#;
        for reply in [
            "<tool_call>\n<function=tap>\n<parameter=x>\n1\n</parameter>\n<parameter=y>\n2\n</parameter>\n</function>\n</tool_call>",
            "<minimax:tool_call>\n<invoke name=\"tap\">\n<parameter name=\"x\">1</parameter>\n<parameter name=\"y\">2</parameter>\n</invoke>\n</minimax:tool_call>",
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"tap\"><｜DSML｜parameter name=\"x\" string=\"false\">1</｜DSML｜parameter><｜DSML｜parameter name=\"y\" string=\"false\">2</｜DSML｜parameter></｜DSML｜invoke>",
            "<tool_call>tap\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n<arg_key>y</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
            "<longcat_tool_call>tap\n<longcat_arg_key>x</longcat_arg_key>\n<longcat_arg_value>1</longcat_arg_value>\n<longcat_arg_key>y</longcat_arg_key>\n<longcat_arg_value>2</longcat_arg_value>\n</longcat_tool_call>",
            "<xai:function_call name=\"tap\"><parameter name=\"x\">1</parameter><parameter name=\"y\">2</parameter></xai:function_call>",
            "<steptml:invoke name=\"tap\"><steptml:parameter name=\"x\">1</steptml:parameter><steptml:parameter name=\"y\">2</steptml:parameter></steptml:invoke>",
            "<seed:tool_call><function=tap><parameter=x>1</parameter><parameter=y>2</parameter></function></seed:tool_call>",
        ] {
            assert_eq!(calls(reply), texts, "{reply}");
        }
    }

    #[test]
    fn several_calls_keep_their_order() {
        assert_eq!(
            calls(
                "<invoke name=\"back\"></invoke>\n<invoke name=\"wait\"><parameter name=\"s\">1</parameter></invoke>"
            ),
            "back{}\nwait{\"s\":\"1\"}"
        );
        assert_eq!(calls("[back(), wait(s=1)]"), "back{}\nwait{\"s\":1}");
        assert_eq!(
            calls("I go.\n[TOOL_CALLS]back{}[TOOL_CALLS]wait{\"s\": 1}"),
            "back{}\nwait{\"s\":1}"
        );
        assert_eq!(text_calls("I go.\n[TOOL_CALLS]back{}").before, "I go.");
    }

    #[test]
    fn argument_that_looks_like_a_call_is_an_argument() {
        assert_eq!(
            calls("[TOOL_CALLS]type_text{\"text\": \"[TOOL_CALLS]home{}\"}"),
            "type_text{\"text\":\"[TOOL_CALLS]home{}\"}"
        );
        assert_eq!(
            calls(
                "<function=type_text><parameter=text>{\"a\": \"<function=home>\"}</parameter></function>"
            ),
            "type_text{\"text\":\"{\\\"a\\\": \\\"<function=home>\\\"}\"}"
        );
        assert_eq!(calls(&"\nAction: f(".repeat(20_000)), "");
    }

    #[test]
    fn values_are_kept_as_they_are() {
        assert_eq!(
            calls(
                "<function=type_text><parameter=text>\na < b\n\"c\" {d}\n</parameter></function>"
            ),
            "type_text{\"text\":\"a < b\\n\\\"c\\\" {d}\"}"
        );
        assert_eq!(
            calls("[type_text(text='it isn\\'t (so)', clear=True, of=[1, None])]"),
            "type_text{\"text\":\"it isn't (so)\",\"clear\":true,\"of\":[1,null]}"
        );
    }

    #[test]
    fn call_without_its_end_is_reported() {
        for reply in [
            "[TOOL_CALLS]tap{\"x\": 1, \"y\": 2",
            "<function=tap><parameter=x>1</parameter>",
            "<function=tap><parameter=x>1",
        ] {
            assert_eq!(calls(reply), "tap…", "{reply}");
        }
    }

    #[test]
    fn prose_calls_nothing() {
        for reply in [
            "I would call tap(x=1, y=2) now.",
            "The function tap{x} is good; see [1] and [tap].",
            "Action: I tap on it.",
            "<b>tap</b> {\"x\": 1}",
            "{\"thought\": \"it says [TOOL_CALLS]home{} and <function=home></function>\"}",
            "{'thought': 'it says\\nAction: home()', 'action': null}",
            "",
        ] {
            assert_eq!(calls(reply), "", "{reply}");
        }
    }
}

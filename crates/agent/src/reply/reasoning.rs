//! Takes the reasoning out of a reply: a draft is not a decision.
//!
//! Models mark it with tags of many forms (`<think>`, `[THINK]`, `◁think▷`,
//! `<|begin_of_thought|>`), in fences, or in the channels of OpenAI's harmony format. What stands
//! inside a JSON value is text: an answer may speak of a tag.

use super::lenient_json::without_values;

/// What is left of a reply: its visible text, and the calls in channels of their own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct VisibleReply {
    /// Everything but the reasoning and the calls.
    pub text: String,
    /// The calls of harmony's channels: name, arguments as text, and whether the call was ended.
    pub calls: Vec<(String, String, bool)>,
}

/// The names of reasoning in tags and fences, without underscores.
const REASONING: [&str; 6] = ["cot", "critique", "details", "draft", "plan", "planning"];

/// Parts of such names: `thought_process`, `antThinking`, `inner_monologue`.
const REASONING_PARTS: [&str; 10] = [
    "analys",
    "brainstorm",
    "deliberat",
    "monolog",
    "rationale",
    "reason",
    "reflect",
    "scratch",
    "think",
    "thought",
];

/// The names of what follows the reasoning. All before it is reasoning, marked or not.
const ANSWER: [&str; 7] =
    ["answer", "box", "final", "finalanswer", "finalresponse", "response", "solution"];

fn is_reasoning(name: &str) -> bool {
    let is_word = name.chars().all(char::is_alphanumeric);
    REASONING.contains(&name) || is_word && REASONING_PARTS.iter().any(|part| name.contains(part))
}

/// How many tags are taken out; each costs one pass over the text.
const MAX_TAGS: usize = 32;

/// The longest tag, in bytes.
const MAX_TAG: usize = 120;

/// The reply without its reasoning. Some chat templates write the opening tag themselves, so a
/// reply may have only the closing one; without a closing tag, the rest is reasoning.
pub(super) fn visible_reply(reply: &str) -> VisibleReply {
    if let Some(visible) = harmony(reply) {
        return VisibleReply { text: without_tags(&visible.text), ..visible };
    }
    VisibleReply { text: without_tags(reply), calls: Vec::new() }
}

/// The text without tagged and fenced reasoning.
fn without_tags(reply: &str) -> String {
    let mut text = reply.to_owned();
    // Text after the first answer may be a made-up conversation.
    let mut is_answered = false;
    for _ in 0..MAX_TAGS {
        let Some((at, tag)) = first_tag(&text, is_answered) else { return text };
        let after = at + tag.length;
        is_answered |= tag.kind == TagKind::Answer;
        text = match tag.kind {
            TagKind::Closing | TagKind::Answer => text[after..].to_owned(),
            TagKind::Opening => {
                let end = closing(&text[after..], &tag.closed_by).map(|end| after + end);
                format!("{}{}", &text[..at], end.map_or("", |end| &text[end..]))
            }
        };
    }
    // Nobody writes this many: what is left may be reasoning.
    String::new()
}

struct Tag {
    kind: TagKind,
    /// In bytes.
    length: usize,
    closed_by: ClosedBy,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TagKind {
    Opening,
    Closing,
    Answer,
}

enum ClosedBy {
    /// Any closing tag of reasoning.
    Tag,
    /// A line that begins with this fence.
    Fence(String),
    /// The end of a comment, `-->`.
    Comment,
}

/// The first tag outside JSON values, and its place.
fn first_tag(text: &str, is_answered: bool) -> Option<(usize, Tag)> {
    let text = &*without_values(text);
    for (at, c) in text.char_indices() {
        if !matches!(c, '<' | '[' | '◁' | '`') {
            continue;
        }
        let line_begins = text[..at].ends_with('\n') || at == 0;
        let found = tag(&text[at..]).or_else(|| fence(&text[at..]).filter(|_| line_begins));
        if let Some(tag) = found.filter(|tag| !(is_answered && tag.kind == TagKind::Answer)) {
            return Some((at, tag));
        }
    }
    None
}

/// Where the reasoning ends, after its closing tag.
fn closing(text: &str, by: &ClosedBy) -> Option<usize> {
    match by {
        ClosedBy::Fence(fence) => {
            let at = text.find(&format!("\n{fence}"))?;
            Some(at + 1 + fence.len())
        }
        ClosedBy::Comment => text.find("-->").map(|at| at + "-->".len()),
        ClosedBy::Tag => text.char_indices().find_map(|(at, _)| {
            tag(&text[at..]).filter(|tag| tag.kind == TagKind::Closing).map(|tag| at + tag.length)
        }),
    }
}

/// The tag of reasoning that a text begins with.
fn tag(text: &str) -> Option<Tag> {
    if text.starts_with("<!--") {
        return Some(Tag { kind: TagKind::Opening, length: 4, closed_by: ClosedBy::Comment });
    }
    let closes = match text.chars().next()? {
        '<' => '>',
        '[' => ']',
        '◁' => '▷',
        _ => return None,
    };
    let begins = text.chars().next().map_or(1, char::len_utf8);
    let window = &text[..text.floor_char_boundary(MAX_TAG)];
    let ends = window.find(closes)?;
    let mut length = ends + closes.len_utf8();
    let inside = window.get(begins..ends)?.to_lowercase().replace('▁', "_");
    let inside = inside.trim_matches(['|', '｜']);
    let is_bare_channel = inside == "channel";
    let (inside, slash) = match inside.strip_prefix('/') {
        Some(inside) => (inside, true),
        None => (inside, false),
    };
    // The tag's own name: without a namespace and attributes. In brackets, capitals are a name and
    // small letters prose.
    let is_name = closes == ']' && !window[..ends].contains(char::is_lowercase);
    let name = if is_name { inside } else { inside.split_whitespace().next()? };
    let name = name.rsplit(':').next()?;
    let mut words: Vec<&str> = name.split(['_', '-', ' ']).collect();
    let mut kind = if slash { TagKind::Closing } else { TagKind::Opening };
    match (words.first().copied(), words.last().copied()) {
        // Gemma's: `<|channel>thought` and `<channel|>`; MedGemma's `<unused94>thought`.
        _ if is_bare_channel || name == "unused94" => {
            if window.starts_with("<channel") {
                return Some(Tag { kind: TagKind::Closing, length, closed_by: ClosedBy::Tag });
            }
            let word = text[length..].trim_start();
            let word: String = word.chars().take_while(char::is_ascii_alphabetic).collect();
            if !is_reasoning(&word) {
                return None;
            }
            length = text[length..].find(&word)? + length + word.len();
            return Some(Tag { kind: TagKind::Opening, length, closed_by: ClosedBy::Tag });
        }
        _ if name == "unused95" => {
            return Some(Tag { kind: TagKind::Closing, length, closed_by: ClosedBy::Tag });
        }
        (Some("begin" | "start" | "end"), _) => {
            kind = if words[0] == "end" { TagKind::Closing } else { kind };
            words.remove(0);
        }
        (_, Some("begin" | "start" | "end")) => {
            kind = if words.last() == Some(&"end") { TagKind::Closing } else { kind };
            words.pop();
        }
        _ => {}
    }
    if words.first() == Some(&"of") {
        words.remove(0);
    }
    let name = words.concat();
    if kind == TagKind::Opening && ANSWER.contains(&&*name) {
        kind = TagKind::Answer;
    } else if !is_reasoning(&name) {
        return None;
    }
    Some(Tag { kind, length, closed_by: ClosedBy::Tag })
}

/// The fence of reasoning that a line begins with, such as `` ```thinking ``.
fn fence(text: &str) -> Option<Tag> {
    let marks = text.chars().take_while(|mark| *mark == '`').count();
    let line = text.lines().next()?;
    let name = line.get(marks..)?.trim().to_lowercase().replace(['_', '-', ' '], "");
    (marks >= 3 && is_reasoning(&name)).then(|| Tag {
        kind: TagKind::Opening,
        length: line.len(),
        closed_by: ClosedBy::Fence("`".repeat(marks)),
    })
}

/// Reads OpenAI's harmony format, which servers leave in the text if they do not know it: the
/// analysis is reasoning, the commentary has calls, the final channel is the reply. `None` for
/// other texts. Source: OpenAI's guide to the format.
fn harmony(reply: &str) -> Option<VisibleReply> {
    if let Some(visible) = harmony_without_tokens(reply) {
        return Some(visible);
    }
    // A page may have written such tokens into a text that the reply quotes.
    let outside = without_values(reply);
    if !outside.contains("<|channel|>") {
        return None;
    }
    let mut visible = VisibleReply::default();
    let mut from = 0;
    while let Some(found) = outside[from..].find("<|message|>") {
        let header = &outside[from..from + found];
        let header = header.rsplit("<|start|>").next().unwrap_or(header);
        from += found + "<|message|>".len();
        let body = &outside[from..];
        let ends = ["<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"];
        let end = ends.iter().filter_map(|end| body.find(end)).min();
        let content = &reply[from..from + end.unwrap_or(body.len())];
        let channel = header.split("<|channel|>").nth(1).unwrap_or("final").trim_start();
        let recipient = header.split("to=").nth(1).and_then(|to| to.split([' ', '<']).next());
        match recipient {
            Some(name) => visible.calls.push((name.into(), content.into(), end.is_some())),
            None if channel.starts_with("final") => visible.text += content,
            None => {}
        }
        from += content.len();
    }
    Some(visible)
}

/// Harmony after a server took the special tokens out: `analysisWe need …assistantfinal{…}`.
fn harmony_without_tokens(reply: &str) -> Option<VisibleReply> {
    let begins = reply.trim_start();
    if !begins.starts_with("analysis") || begins.starts_with("analysis ") {
        return None;
    }
    let mut visible = VisibleReply::default();
    let call = reply.rfind("assistantcommentary to=");
    let last = reply.rfind("assistantfinal");
    match (call, last) {
        (call, Some(last)) if call.is_none_or(|call| call < last) => {
            reply[last + "assistantfinal".len()..].clone_into(&mut visible.text);
        }
        (Some(call), _) => {
            let call = &reply[call + "assistantcommentary to=".len()..];
            let arguments = call.find('{').unwrap_or(call.len());
            let name = call[..arguments].split_whitespace().next().unwrap_or_default();
            let name = name.strip_suffix("json").unwrap_or(name);
            visible.calls.push((name.into(), call[arguments..].into(), true));
        }
        (None, _) => {}
    }
    Some(visible)
}

#[cfg(test)]
mod tests {
    use super::visible_reply;

    const DRAFT: &str = "{\"action\": \"draft\"}";

    #[test]
    fn only_what_follows_the_reasoning_is_left() {
        for (open, close) in [
            ("<think>", "</think>"),
            ("<THINK>\n", "\n</THINK>"),
            ("<thinking budget=\"4\">", "</thinking>"),
            ("<thought>", "</thought>"),
            ("<reasoning>", "</reasoning>"),
            ("<seed:think>", "</seed:think>"),
            ("<scratch_pad>", "</scratch_pad>"),
            ("<inner_monologue>", "</inner_monologue>"),
            ("<chain_of_thought>", "</chain_of_thought>"),
            ("[THINK]", "[/THINK]"),
            ("◁think▷", "◁/think▷"),
            ("<|think|>", "<|/think|>"),
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("<|START_THINKING|>", "<|END_THINKING|>"),
            ("<｜thinking▁begin｜>", "<｜thinking▁end｜>"),
            ("<|channel>thought\n", "<channel|>"),
            ("<unused94>thought\n", "<unused95>"),
            ("<details type=\"reasoning\">", "</details>"),
            ("<thought_process>", "</thought_process>"),
            ("<internal_reasoning>", "</internal_reasoning>"),
            ("<antThinking>", "</antThinking>"),
            ("<plan>", "</plan>"),
            ("[THOUGHT PROCESS]", "[/THOUGHT PROCESS]"),
            ("<!-- ", " -->"),
            ("```thought process\n", "\n```"),
            ("```thinking\n", "\n```"),
            (
                "<|channel|>analysis<|message|>",
                "<|end|><|start|>assistant<|channel|>final<|message|>",
            ),
            ("analysisLet me see ", "assistantfinal"),
        ] {
            let reply = format!("{open}maybe {DRAFT}{close}{{\"action\": 1}}");
            assert_eq!(visible_reply(&reply).text.trim(), "{\"action\": 1}", "{open}");
            let unended = format!("{open}maybe {DRAFT}");
            assert_eq!(visible_reply(&unended).text.trim(), "", "{open}");
        }
    }

    #[test]
    fn reasoning_is_found_wherever_it_stands() {
        let left = |reply: &str| visible_reply(reply).text;
        assert_eq!(left("Okay.\n<think>a {b} c</think> {\"x\": 1}"), "Okay.\n {\"x\": 1}");
        assert_eq!(left("a {draft}\n</think> {\"x\": 1}"), " {\"x\": 1}");
        assert_eq!(left("<think>a<think>b</think>c</think>d"), "d");
        assert_eq!(left("[THINK]a[/THINK][1, 2]"), "[1, 2]");
    }

    #[test]
    fn what_precedes_a_marked_answer_is_reasoning() {
        for (open, close) in [
            ("<answer>", "</answer>"),
            ("<Final_Answer>", "</Final_Answer>"),
            ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
            ("<|begin_of_solution|>", "<|end_of_solution|>"),
            ("<|begin_of_box|>", "<|end_of_box|>"),
            ("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"),
        ] {
            let reply = format!("My steps: {DRAFT}.\n{open}{{\"action\": 1}}{close}");
            let expected = format!("{{\"action\": 1}}{close}");
            assert_eq!(visible_reply(&reply).text, expected, "{open}");
            // Text behind the answer does not count.
            let more = format!("{reply} And then {open}{DRAFT}");
            assert!(visible_reply(&more).text.starts_with(&expected), "{open}");
        }
    }

    #[test]
    fn text_about_tags_is_kept() {
        for reply in [
            "{\"thought\": \"it says <|channel|>commentary to=functions.home<|message|>{}<|call|>\"}",
            "{\"thought\": \"it says </think> and <think>\", \"x\": [\"[THINK]\"]}",
            "a < b and c > d, [see], <b>bold</b>, analysis of it, <parameter=reason>, [I thought so]",
            "```json\n{\"x\": 1}\n```",
        ] {
            assert_eq!(visible_reply(reply).text, reply);
        }
    }

    #[test]
    fn calls_of_harmony_are_found() {
        let calls = |reply: &str| visible_reply(reply).calls;
        let call = |arguments: &str, ended| vec![("functions.tap".into(), arguments.into(), ended)];
        assert_eq!(
            calls(
                "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary \
                 to=functions.tap <|constrain|>json<|message|>{\"x\": 1}<|call|>"
            ),
            call("{\"x\": 1}", true)
        );
        assert_eq!(
            calls("<|start|>assistant to=functions.tap<|channel|>commentary json<|message|>{\"x\""),
            call("{\"x\"", false)
        );
        assert_eq!(
            calls("analysisIt is there.assistantcommentary to=functions.tap json{\"x\": 1}"),
            call("{\"x\": 1}", true)
        );
    }
}

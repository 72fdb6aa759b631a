//! Reads the text of a prompt: its blocks, and the list of controls, as a model finds them.
//!
//! [`PromptText::read`] knows nothing but what the prompt says about itself: blocks begin at a
//! line's start with their name, and each line of `[Current Screen Controls]` is an element with
//! its role, quoted texts, states and id.

use crate::policy::parsed_observation::ParsedObservation;
use crate::script::VisibleControl;

/// The blocks that a step's message may have.
const BLOCKS: [&str; 15] = [
    "User Request",
    "Installed Apps",
    "Blackboard",
    "Retrieved Docs",
    "Secrets",
    "History",
    "Previous Plan",
    "Last Success Actions",
    "Observations",
    "Doubt",
    "Budget",
    "App in Front",
    "Screen",
    "Claim",
    "Current Screen Controls",
];

/// The parts of a message that a policy needs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PromptText {
    /// Whether it asks to judge a claim.
    pub(super) is_judgement: bool,
    /// The function of the last action, and whether it failed.
    pub(super) last_action: Option<(String, bool)>,
    feedback: Vec<String>,
    app: Option<String>,
    lines: Vec<Line>,
}

/// A line of the list of controls.
#[derive(Debug, Default, PartialEq)]
struct Line {
    role: String,
    texts: Vec<String>,
    value: Option<String>,
    placeholder: Option<String>,
    states: Vec<String>,
    id: Option<String>,
}

impl PromptText {
    /// Reads the message of a step or of a judgement.
    pub(super) fn read(message: &str) -> Self {
        let mut read = Self::default();
        for (name, body) in blocks(message) {
            match name {
                "Claim" => read.is_judgement = true,
                "Observations" => read.feedback = json_texts(&body),
                "App in Front" => read.app = serde_json::from_str(body.trim()).ok(),
                "History" => read.last_action = body.lines().next_back().and_then(action),
                "Current Screen Controls" => {
                    let mut lines = body.lines().skip_while(|line| line.is_empty());
                    let head = lines.next().unwrap_or_default();
                    let front = head.split(' ').next().filter(|word| word.contains('.'));
                    read.app = read.app.or(front.map(str::to_owned));
                    read.lines = lines.map(Line::parse).collect();
                }
                _ => {}
            }
        }
        read
    }

    /// The screen as a script is compared with it: one row for each text of a line, in the order of
    /// the lines.
    pub(super) fn observation(&self) -> ParsedObservation {
        let mut seen = ParsedObservation { app: self.app.clone(), by_id: true, ..<_>::default() };
        for (at, line) in self.lines.iter().enumerate() {
            let number = i32::try_from(at).unwrap_or(i32::MAX / 100);
            for name in line.names() {
                seen.rows.push(VisibleControl {
                    name: name.into(),
                    kind: line.kind().into(),
                    rect: [0, number * 40, 100, number * 40 + 40],
                    checked: line.states.iter().any(|state| state == "on" || state == "checked"),
                    line: Some(number),
                });
                seen.ids.push(line.id.clone().unwrap_or_default());
                seen.names.push(line.first_text().into());
            }
        }
        let has_feedback = |signs: &[&str]| {
            self.feedback.iter().any(|text| {
                let text = text.to_lowercase();
                signs.iter().any(|sign| text.contains(sign))
            })
        };
        seen.failed = has_feedback(&[
            "nothing on the screen changed",
            "as before",
            "not there",
            "failed",
            "refused",
            "did not answer",
            "the tap may have gone",
        ]);
        seen.crashed = has_feedback(&["the app crashed."]);
        seen.moved = has_feedback(&["the tap may have gone"]);
        seen.strayed = has_feedback(&["the control beside it"]);
        seen
    }
}

/// The blocks of a message: name and body.
fn blocks(message: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in message.lines() {
        let begins = line.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
        match begins.and_then(|(name, body)| Some((BLOCKS.iter().find(|it| **it == name)?, body))) {
            Some((name, body)) => found.push((*name, body.trim_start().to_owned())),
            None => {
                if let Some((_, body)) = found.last_mut() {
                    body.push('\n');
                    body.push_str(line);
                }
            }
        }
    }
    found
}

/// The texts of a JSON list, which a remark in brackets may follow.
fn json_texts(body: &str) -> Vec<String> {
    let mut values = serde_json::Deserializer::from_str(body).into_iter::<Vec<String>>();
    values.next().and_then(Result::ok).unwrap_or_default()
}

/// The function of a line of the history, `3. click_control "Add" -> failed: reason`, and whether
/// it failed.
fn action(line: &str) -> Option<(String, bool)> {
    let (number, rest) = line.split_once(". ")?;
    number.trim().parse::<u32>().ok()?;
    let function = rest.split(' ').next()?.to_owned();
    let (mut rest, mut failed) = (rest, false);
    // The arrow after the arguments, not one in their texts.
    while let Some(at) = rest.find(['"', '>']) {
        if rest[at..].starts_with('"') {
            rest = &rest[at + quoted(&rest[at..]).1..];
        } else {
            failed = rest[..at].ends_with('-') && rest[at + 1..].trim_start().starts_with("failed");
            break;
        }
    }
    Some((function, failed))
}

impl Line {
    fn parse(text: &str) -> Self {
        let mut line = Self::default();
        let mut rest = text.trim();
        let mut before = "";
        while !rest.is_empty() {
            let length = if rest.starts_with('"') {
                let (content, length) = quoted(rest);
                match before {
                    "=" => line.value = Some(content),
                    "placeholder" => line.placeholder = Some(content),
                    _ => line.texts.push(content),
                }
                before = "";
                length
            } else if let Some(inside) = rest.strip_prefix('[') {
                let end = inside.find(']').unwrap_or(inside.len());
                line.states.extend(inside[..end].split(", ").map(str::to_owned));
                (end + 2).min(rest.len())
            } else {
                let word = rest.split(' ').next().unwrap_or(rest);
                let is_first = rest.len() == text.trim().len();
                let is_last = word.len() == rest.len();
                if is_last && word.bytes().all(|byte| byte.is_ascii_digit()) {
                    line.id = Some(word.into());
                } else if is_first {
                    line.role = word.into();
                }
                before = word;
                word.len()
            };
            rest = rest[length..].trim_start();
        }
        line
    }

    fn is_field(&self) -> bool {
        self.role == "field"
    }

    /// What a call names the element by.
    fn first_text(&self) -> &str {
        let texts = self.texts.first().or(self.placeholder.as_ref()).or(self.value.as_ref());
        texts.map_or("", String::as_str)
    }

    /// What a person reads: a field's content, or else its hint; the texts of anything else.
    fn names(&self) -> Vec<&str> {
        match (self.is_field(), &self.value) {
            (true, Some(value)) => vec![value],
            (true, None) => vec![self.first_text()],
            (false, value) => self.texts.iter().chain(value).map(String::as_str).collect(),
        }
    }

    /// The class that such an element has on Android.
    fn kind(&self) -> &str {
        match &*self.role {
            "field" => "EditText",
            "checkbox" => "CheckBox",
            "radio" => "RadioButton",
            "switch" => "Switch",
            "toggle" => "ToggleButton",
            other => other,
        }
    }
}

/// The content of the quoted text that `rest` begins with, and the text's length with its quotes.
fn quoted(rest: &str) -> (String, usize) {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    let length = end.map_or(rest.len(), |(at, _)| at + 1);
    let content = serde_json::from_str(&rest[..length]);
    (content.unwrap_or_else(|_| rest[..length].trim_matches('"').to_owned()), length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{like, switch_of, with_text};

    const MESSAGE: &str = r#"[User Request]: Write "[Claim]: x"
[Installed Apps]: ["Clock", "Notes"]
[History]:
3. launch_app "Notes" -> now com.android.notes .Notes: button "New note" (it is needed)
4. click_control "a -> failed" -> failed: it is not there (try again)
[Observations]: [
"nothing on the screen changed",
"one more"
] (2 earlier ones omitted)
[Current Screen Controls]:
com.android.notes .EditNote [keyboard shown]
button "Navigate up" 1
field "Title" = "Milk\n\"two\"" [focused] 2
field placeholder "Text" 3
list #all 4
 "Gull Rock"
 "31 m" 5
 "Old Mole" "19 m" 6
 (37 lines left out here, ids 15 to 60; scroll so that they come first or last)
 "5:35" "Choir" 7
 switch "Alarm off" [off] 8
 "6:35" "Bins" 9
 switch "Alarm on" [on] 10
slider "Volume" [0,100][400,150] 11"#;

    #[test]
    fn a_message_is_read_as_it_describes_itself() {
        let read = PromptText::read(MESSAGE);
        assert!(!read.is_judgement);
        assert_eq!(read.last_action, Some(("click_control".into(), true)));
        assert_eq!(read.feedback, ["nothing on the screen changed", "one more"]);
        let seen = read.observation();
        assert_eq!(seen.app.as_deref(), Some("com.android.notes"));
        assert!(seen.failed);
        let id = |name: &str| {
            let at = seen.rows.iter().position(|row| row.name == name);
            at.map(|at| (&*seen.ids[at], &*seen.names[at]))
        };
        assert_eq!(id("Milk\n\"two\""), Some(("2", "Title")));
        assert_eq!(id("Text"), Some(("3", "Text")));
        assert_eq!(id("Choir"), Some(("7", "5:35")));
        assert_eq!(id("Volume"), Some(("11", "Volume")));
    }

    #[test]
    fn a_value_belongs_to_the_text_before_it() {
        let seen = PromptText::read(MESSAGE).observation();
        let metres = like(r"^\d+ m$");
        for (name, value) in [("Gull Rock", "31 m"), ("Old Mole", "19 m")] {
            let at = metres.clone().beside(with_text(name)).find(&seen.rows).unwrap();
            assert_eq!(seen.rows[at].name, value);
        }
        for (label, id, on) in [("Choir", "8", false), ("Bins", "10", true)] {
            let at = switch_of(&with_text(label), &seen.rows).unwrap();
            assert_eq!((&*seen.ids[at], seen.rows[at].checked), (id, on));
        }
    }

    #[test]
    fn a_judgement_is_told_by_its_claim() {
        let read = PromptText::read("[User Request]: x\n[Claim]: \"It is done.\"");
        assert!(read.is_judgement && read.lines.is_empty());
    }
}

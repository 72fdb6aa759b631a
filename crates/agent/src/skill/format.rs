//! The file of a skill, version 1: what is read, what is refused, what is written.
//!
//! Start with [`Skill`]. A file is YAML or JSON, for people to read and to change. It has no
//! coordinates: a step names its target by what the target is ([`NodeDescription`]). Whatever a
//! file says, its steps are calls like any other: they go through the same questions, limits and
//! checks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::template::{has_place, is_place_name, places, texts_in};

/// The version that this program reads and writes.
pub const VERSION: u32 = 1;

/// The largest file, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The longest name, in characters.
const MAX_NAME: usize = 80;
/// How many steps a skill can have.
const MAX_STEPS: usize = 500;

/// The function of a step that is left to the policy.
pub(super) const THINK: &str = "think";

/// A way to reach a kind of goal, learned from runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// The version of this format.
    pub version: u32,
    /// Its name, by which a model calls it: lower-case words with hyphens.
    pub name: String,
    /// The goal, with places for what varies: `Send {NAME} the message "{MESSAGE}"`.
    pub goal: String,
    /// What varies, by the names of the places.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// The platform: `android` or `ios`.
    pub platform: String,
    /// The apps that it starts, by package or bundle id.
    #[serde(default)]
    pub apps: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<SkillStep>,
    /// The screen after the last step.
    pub end: Expectation,
    /// What to read on that screen, for the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Reading>,
    /// The answer to the user; `None` if the policy has to answer.
    #[serde(default)]
    pub answer: Option<String>,
    /// The runs that it was learned from.
    pub learned: Provenance,
}

/// Where a skill is from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The names of the runs' folders.
    pub runs: Vec<String>,
    /// When the last of them started, RFC 3339.
    pub date: String,
}

/// What varies in a goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// What its values look like.
    pub kind: ParameterKind,
    /// How many words a value has, for `words`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<usize>,
    /// A value from a run; absent if it was typed into a password field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// What the values of a parameter look like in a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// Any text between quotation marks.
    Quoted,
    /// Digits, with `.`, `,`, `:`, `/` and `-` between them.
    Number,
    /// Words without quotation marks, as many as in the runs.
    Words,
}

/// A step of a skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillStep {
    /// Why, in the words of the run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// The screen that it needs; also what the step before it must have led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Expectation>,
    /// Whether it belongs to a window of the system that may not come: then it is skipped.
    #[serde(default, skip_serializing_if = "is_false")]
    pub if_shown: bool,
    /// What to read on that screen first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Reading>,
    /// The function to call; `think` leaves the step to the policy.
    pub function: String,
    /// Its arguments, without those that say where.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// The control that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<NodeDescription>,
    /// Where a swipe leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swipe: Option<SwipeDirection>,
    /// Whether the target is checked afterwards, for what can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<bool>,
    /// Whether the screen did not change in the run. If it does not change although it did then,
    /// something is wrong.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_change: bool,
    /// Whether to repeat it until the next step's target is on the screen; not at all if it is
    /// there already.
    #[serde(default, skip_serializing_if = "is_false")]
    pub until_target: bool,
}

/// Where a finger moves to in a swipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are clear")]
pub enum SwipeDirection {
    Up,
    Down,
    Left,
    Right,
    /// Down from the top edge, which pulls down notifications.
    FromTop,
}

/// What a node is, without its place. Texts are templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeDescription {
    /// Its class.
    pub class: String,
    /// The app that it belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// Its resource id or accessibility identifier.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Its text. A text field has none: what was typed does not make it another field.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Its content description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// A text inside it, if it has none itself, such as a list row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// A text in the same row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// The nearest text above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// Which one it is of the text fields that look the same, and how many there are: `[1, 3]` is
    /// the first of three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<[usize; 2]>,
    /// Whether it is checked, for what can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<bool>,
}

/// What a screen must show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The app in front; any app if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// Its screen, as the platform names it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub screen: String,
    /// Texts that must all be there, because they say what the goal is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<String>,
    /// Texts of the goal that text fields must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub typed: Vec<String>,
    /// Texts; at least half of them must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
}

/// A value that is read from the screen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The name of its place.
    pub name: String,
    /// The node that has it.
    pub from: NodeDescription,
    /// Whether the value is all of the node's text; otherwise it is a part of one line.
    #[serde(default, skip_serializing_if = "is_false")]
    pub whole: bool,
    /// The text before it in its line; the line starts with the value if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
    /// The text after it in its line; the line ends with the value if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// What the value looks like: `9` for digits, `a` for letters, everything else as it is;
    /// anything if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shape: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(it: &bool) -> bool {
    !*it
}

impl Skill {
    /// Reads a file.
    ///
    /// # Errors
    /// A message without the file's name: it is not valid, has another version, or says what a
    /// skill cannot do.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("{} bytes are too many; the maximum is {MAX_BYTES}", text.len()));
        }
        let first_line = |error: &dyn std::fmt::Display| {
            let error = error.to_string();
            format!("not a valid skill: {}", error.lines().next().unwrap_or_default())
        };
        let value: Value = serde_saphyr::from_str(text).map_err(|error| first_line(&error))?;
        match value.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(format!(
                    "version {version} is not supported; this program reads version {VERSION}"
                ));
            }
            None => return Err(format!("`version` is missing; it must be {VERSION}")),
        }
        let skill: Self = serde_json::from_value(value).map_err(|error| first_line(&error))?;
        skill.check()?;
        Ok(skill)
    }

    /// The skill as a file.
    pub fn to_text(&self) -> String {
        thumbwire_core::yaml::to_yaml(&serde_json::to_value(self).unwrap_or_default())
    }

    /// Checks what its fields say.
    ///
    /// # Errors
    /// What it says that a skill cannot do.
    pub(super) fn check(&self) -> Result<(), String> {
        check_name(&self.name)?;
        if self.steps.is_empty() {
            return Err("it has no steps".into());
        }
        if self.steps.len() > MAX_STEPS {
            return Err(format!(
                "{} steps are too many; the maximum is {MAX_STEPS}",
                self.steps.len()
            ));
        }
        if !["android", "ios"].contains(&&*self.platform) {
            return Err(format!("platform {:?}: expected android or ios", self.platform));
        }
        let in_goal: BTreeSet<&str> = places(&self.goal).collect();
        for name in self.parameters.keys() {
            if !is_place_name(name) {
                return Err(format!("parameter {name:?}: use capitals, digits and `_`"));
            }
            if !in_goal.contains(name.as_str()) {
                return Err(format!("parameter {name} is not in the goal"));
            }
        }
        let mut known: BTreeSet<&str> = self.parameters.keys().map(String::as_str).collect();
        let check = |known: &BTreeSet<&str>, text: &str| match places(text)
            .find(|place| !known.contains(place))
        {
            Some(place) => Err(format!("{{{place}}} is neither a parameter nor read before")),
            None => Ok(()),
        };
        check(&known, &self.goal)?;
        for (step, number) in self.steps.iter().zip(1..) {
            let in_step = |reason: String| format!("step {number}: {reason}");
            step.check(&self.apps).map_err(in_step)?;
            for text in step.before.iter().flat_map(Expectation::templates) {
                check(&known, text).map_err(in_step)?;
            }
            for reading in &step.read {
                reading.check(&known).map_err(in_step)?;
                known.insert(&reading.name);
            }
            let arguments = step.arguments.values().flat_map(texts_in);
            for text in arguments.chain(step.target.iter().flat_map(NodeDescription::templates)) {
                check(&known, text).map_err(in_step)?;
            }
        }
        let at_end = |reason: String| format!("at the end: {reason}");
        for text in self.end.templates() {
            check(&known, text).map_err(at_end)?;
        }
        for reading in &self.read {
            reading.check(&known).map_err(at_end)?;
            known.insert(&reading.name);
        }
        check(&known, self.answer.as_deref().unwrap_or_default()).map_err(at_end)
    }
}

/// Checks a skill's name.
///
/// # Errors
/// What a valid name looks like.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let fits = (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-')
        && !name.starts_with('-');
    fits.then_some(()).ok_or_else(|| {
        format!("name {name:?}: use lower-case letters, digits and hyphens, at most {MAX_NAME}")
    })
}

impl SkillStep {
    fn check(&self, apps: &[String]) -> Result<(), String> {
        const PLACES: [&str; 8] =
            ["x", "y", "start_x", "start_y", "end_x", "end_y", "control_id", "control_name"];
        if let Some(place) = PLACES.iter().find(|name| self.arguments.contains_key(**name)) {
            return Err(format!("`{place}` is a place; name the control in `target` instead"));
        }
        if self.function == THINK {
            let acts = self.target.is_some() || self.swipe.is_some() || !self.arguments.is_empty();
            return if acts {
                Err("`think` has neither arguments nor a target".into())
            } else {
                Ok(())
            };
        }
        if self.function.is_empty() || self.function.len() > 200 {
            return Err("`function` must be the name of a function".into());
        }
        if self.function == "launch_app" {
            let app =
                self.arguments.get("package_name").and_then(Value::as_str).unwrap_or_default();
            if !apps.iter().any(|known| known == app) {
                return Err(format!("it starts {app:?}, which is not among the skill's `apps`"));
            }
        }
        if (self.function == "swipe") != self.swipe.is_some() {
            return Err("`swipe` belongs to the function `swipe`".into());
        }
        Ok(())
    }
}

impl NodeDescription {
    pub(super) fn templates(&self) -> impl Iterator<Item = &str> {
        let further = [&self.inside, &self.beside, &self.under].into_iter().flatten();
        [&self.text, &self.label].into_iter().chain(further).map(String::as_str)
    }
}

impl Expectation {
    fn templates(&self) -> impl Iterator<Item = &str> {
        self.shows.iter().chain(&self.typed).chain(&self.texts).map(String::as_str)
    }
}

impl Reading {
    fn check(&self, known: &BTreeSet<&str>) -> Result<(), String> {
        let name = &self.name;
        if !is_place_name(name) {
            return Err(format!("{name:?} is not a name: use capitals, digits and `_`"));
        }
        if known.contains(name.as_str()) {
            return Err(format!("there are two values with the name {name}"));
        }
        let texts = self.from.templates().chain([&*self.after, &*self.before]);
        for text in texts.filter(|text| has_place(text)) {
            if let Some(place) = places(text).find(|place| !known.contains(place)) {
                return Err(format!("{{{place}}} is neither a parameter nor read before"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn skill(change: impl FnOnce(&mut Value)) -> Result<Skill, String> {
        let mut value = json!({
            "version": 1, "name": "notes-add", "goal": "Add the note {TITLE}", "platform": "android",
            "parameters": { "TITLE": { "kind": "words", "words": 1, "example": "Garden" } },
            "apps": ["com.android.notes"],
            "steps": [
                { "function": "launch_app", "arguments": { "package_name": "com.android.notes" } },
                { "function": "type_text", "arguments": { "text": "{TITLE}" },
                  "target": { "class": "android.widget.EditText", "nth": [1, 2] } },
            ],
            "end": { "app": "com.android.notes", "shows": ["{TITLE}"] },
            "answer": "", "learned": { "runs": ["run-1"], "date": "2026-11-27T09:00:00Z" },
        });
        change(&mut value);
        Skill::read(&value.to_string())
    }

    #[test]
    fn written_skill_reads_back() {
        let skill = skill(|_| {}).unwrap();
        assert_eq!(Skill::read(&skill.to_text()).unwrap(), skill, "{}", skill.to_text());
    }

    #[test]
    fn file_that_says_too_much_or_too_little_is_refused() {
        type Change = fn(&mut Value);
        let cases: [(Change, &str); 12] = [
            (|it| it["version"] = 2.into(), "version 2 is not supported"),
            (|it| drop(it.as_object_mut().unwrap().remove("version")), "`version` is missing"),
            (|it| it["steps"][0]["at"] = json!([1, 2]), "unknown field `at`"),
            (|it| it["name"] = "../x".into(), "use lower-case letters"),
            (|it| it["steps"] = json!([]), "it has no steps"),
            (|it| it["goal"] = "Add {OTHER}".into(), "parameter TITLE is not in the goal"),
            (|it| it["goal"] = "Add {TITLE} {X}".into(), "{X} is neither a parameter"),
            (|it| it["steps"][1]["arguments"]["x"] = 5.into(), "step 2: `x` is a place"),
            (
                |it| it["steps"][0]["arguments"]["package_name"] = "com.bank".into(),
                "step 1: it starts \"com.bank\"",
            ),
            (
                |it| it["steps"][1]["arguments"]["text"] = "{LATER}".into(),
                "step 2: {LATER} is neither a parameter nor read before",
            ),
            (|it| it["end"]["texts"] = json!(["{NO}"]), "at the end: {NO}"),
            (|it| it["steps"][1]["function"] = "think".into(), "step 2: `think` has neither"),
        ];
        for (change, reason) in cases {
            let error = skill(change).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        assert!(Skill::read("version: [").unwrap_err().starts_with("not a valid skill"));
        assert!(Skill::read(&" ".repeat(MAX_BYTES + 1)).unwrap_err().contains("too many"));
    }
}

//! The trace format on disk.
//!
//! A run is a folder with `trace.jsonl`, one JSON object per line: first the run, then a record per
//! action, agent step and so on. Files named in records are relative to the folder. An action is
//! recorded as it is; of its outcome there is a summary, because outcomes are large. Every change
//! here, or of an action's JSON, raises [`VERSION`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::tagged;
use crate::action::Action;

/// The version that this program reads and writes.
pub const VERSION: u32 = 1;

/// The file of records in a run's folder.
pub const FILE: &str = "trace.jsonl";

/// One line of the file, a JSON object whose `kind` is the name of the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "most records are actions")]
pub enum TraceRecord {
    /// The first line.
    Run {
        /// The version of this format.
        version: u32,
        /// The program that wrote it, with its version.
        program: String,
        /// When it started, RFC 3339 in UTC.
        started: String,
    },
    /// One action and its result.
    Action {
        /// Counted from 1.
        action_id: u32,
        /// Milliseconds from the start of the run to the start of the action.
        at_ms: u64,
        /// The duration in milliseconds.
        duration_ms: u64,
        /// The device, if the call named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The action.
        action: Action,
        /// Whether the helper or shell commands did the phone's operations:
        /// `{"tree":"helper","tap":"shell"}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backends: Option<Box<BTreeMap<String, String>>>,
        /// Its result: `outcome` or `failure` of the line.
        end: ActionResult,
    },
    /// A goal starts here, or resumes after an interruption.
    Goal(GoalStart),
    /// An agent step: what the policy saw, thought and called. Its actions precede this line.
    AgentStep(Box<AgentStep>),
    /// A step that a flow or a script names: its actions precede this line, and so do the steps
    /// that it consists of.
    NamedStep(Box<NamedStep>),
    /// The result of a flow's case.
    CaseEnd(Box<CaseEnd>),
    /// The end of the goal.
    GoalEnd {
        /// `FINISH`, `FAIL`, or `CONTINUE` if it can be resumed.
        status: String,
        /// The reason or the answer.
        reason: String,
    },
}

impl Serialize for TraceRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = tagged::object::<S>("kind", |json| Self::serialize(self, json))?;
        if matches!(self, Self::Action { .. })
            && let Some(Value::Object(end)) = line.shift_remove("end")
        {
            line.extend(end);
        }
        line.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TraceRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut line = Map::deserialize(deserializer)?;
        // Other kinds have fields with these names, too.
        if line.get("kind").is_some_and(|kind| kind == "action") {
            for end in ["outcome", "failure"] {
                if let Some(value) = line.shift_remove(end) {
                    line.insert("end".to_owned(), Map::from_iter([(end.to_owned(), value)]).into());
                }
            }
        }
        Self::deserialize(tagged::variant::<D>("kind", line)?).map_err(D::Error::custom)
    }
}

/// A goal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GoalStart {
    /// In the user's words.
    pub request: String,
    /// The policy.
    pub policy: String,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
}

/// One step through the four phases of the UFO MobileAgent strategy. Files are relative to the
/// run's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentStep {
    /// Counted from 1.
    pub step: u32,
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The first and last action of this step; `None` if it had none.
    pub action_range: Option<[u32; 2]>,
    /// The screenshot; `annotated` is the same with marks.
    pub screenshot: Option<String>,
    /// See `screenshot`.
    pub annotated: Option<String>,
    /// The file of the snapshot that the decision was based on.
    pub snapshot: Option<String>,
    /// The file of the prompt, in UFO's shape; images are named by their files.
    pub prompt: Option<String>,
    /// The file of the model's reply, verbatim.
    pub response: Option<String>,
    /// The app in the foreground.
    pub app: Option<String>,
    /// The app's screen, as the platform names it; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub screen: String,
    /// Feedback on the previous step, in sentences.
    pub feedback: Vec<String>,
    /// Whether the policy decided. If not, the rest of this record is empty as far as it comes from
    /// a decision.
    pub decided: bool,
    /// What the policy thought.
    pub thought: String,
    /// What it told the user.
    pub comment: String,
    /// Its plan for the next steps.
    pub plan: Vec<String>,
    /// What it wants to remember.
    pub remember: Vec<String>,
    /// The calls it made.
    pub actions: Vec<CallRecord>,
    /// `CONTINUE`, `FINISH` or `FAIL`.
    pub status: String,
    /// The answer, at the end.
    pub result: String,
    /// The judgement of a claim that the goal is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgementRecord>,
    /// Model usage.
    pub usage: Usage,
    /// The duration of each phase in milliseconds, by name.
    pub timings: Map<String, Value>,
    /// Failures in this step, in sentences.
    pub failures: Vec<String>,
}

/// A step with a name of its own. Files are relative to the run's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NamedStep {
    /// Counted from 1, in the order in which the steps began.
    pub step: u32,
    /// The step that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Its name, else what it does.
    pub name: String,
    /// What it does, if the name does not say that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub does: String,
    /// Its position in a file, `notes.yaml:12:7`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// `passed`, `failed`, or `skipped` if it failed and was optional.
    pub status: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What it expected to see, if that was not there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// Why earlier tries failed, if it was repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retried: Vec<String>,
    /// What it waited for, in the words of the last refusal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub waited_for: String,
    /// The first and last action in it; `None` if it had none.
    pub action_range: Option<[u32; 2]>,
    /// The screenshot when it began.
    pub before: Option<String>,
    /// The screenshot when it ended.
    pub after: Option<String>,
    /// What it compared and found different, side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<String>,
}

/// How a flow's case ended. Files are relative to the run's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseEnd {
    /// The flow's name.
    pub flow: String,
    /// The flow's file, as given.
    pub file: String,
    /// The case's name.
    pub case: String,
    /// The attempt, counted from 1.
    pub attempt: u32,
    /// Whether it passed.
    pub passed: bool,
    /// The kind of failure: `expectation`, `step`, `crash`, `anr`, `goal`, `phone` or `time-out`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The crashes in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<CrashRecord>,
    /// The newest lines of the phone's log, if it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// Notes that did not fail it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The screenshot after it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
}

/// A crash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CrashRecord {
    /// What crashed, in a sentence.
    pub what: String,
    /// The stack trace, or what the log has of it.
    pub excerpt: Vec<String>,
}

/// A call of an agent step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The function's name.
    pub function: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Whether it succeeded.
    pub success: bool,
    /// The result, in a sentence.
    pub message: String,
    /// What it changed on the screen, in a few words; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub effect: String,
    /// The control it was for, as an index into the snapshot's nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// Where a touch started and ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touch: Vec<[i32; 2]>,
    /// The act, if the user refused it: a resumed run does not ask about it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedAct>,
}

/// An act that the user refused, by what identifies it: its kind, and the control that would do it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RefusedAct {
    /// What it may do: `pay`, `delete something`.
    pub what: String,
    /// The app in front.
    pub app: String,
    /// The control's text, or what else names the act.
    pub text: String,
    /// The text of its row or of its dialog, if that tells it apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// A judgement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgementRecord {
    /// Whether the goal is reached.
    pub reached: bool,
    /// The reason.
    pub reason: String,
}

/// The usage of models.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Answered requests.
    pub calls: u32,
    /// Retried requests.
    pub retries: u32,
    /// Input tokens, including those read from or written to the provider's cache.
    pub input_tokens: u64,
    /// Input tokens read from the cache.
    pub cached_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_writes: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// The cost in US dollars; `None` if no price is known.
    pub dollars: Option<f64>,
}

impl Usage {
    /// Adds other usage. The sum has no cost if a part with requests has none.
    pub fn add(&mut self, other: &Self) {
        self.dollars = match (self.dollars, other.dollars) {
            (Some(one), Some(two)) => Some(one + two),
            (one, None) if other.calls == 0 => one,
            (None, two) if self.calls == 0 => two,
            _ => None,
        };
        self.calls = self.calls.saturating_add(other.calls);
        self.retries = self.retries.saturating_add(other.retries);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_writes = self.cache_writes.saturating_add(other.cache_writes);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionResult {
    /// It was performed.
    Outcome(StoredOutcome),
    /// It failed.
    Failure {
        /// The reason.
        reason: String,
        /// Whether it may have happened anyway.
        may_have_happened: bool,
    },
}

/// An outcome, a JSON object whose `type` is the name of the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the live outcome or value of the same name")]
pub enum StoredOutcome {
    Devices {
        ids: Vec<String>,
    },
    DeviceSelected {
        device: String,
        model: String,
    },
    Info {
        model: String,
        os_version: String,
    },
    Apps {
        count: usize,
    },
    Foreground {
        app: Option<String>,
        screen: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        front: Option<String>,
    },
    Screenshot {
        file: String,
        width: i32,
        height: i32,
    },
    Snapshot {
        file: String,
        nodes: usize,
        controls: usize,
    },
    ScreenshotAndSnapshot {
        screenshot: Box<StoredOutcome>,
        snapshot: Box<StoredOutcome>,
    },
    Typed {
        by: String,
        field: String,
        shows: Option<String>,
    },
    Tapped {
        x: i32,
        y: i32,
        name: String,
    },
    Swiped {
        from: [i32; 2],
        to: [i32; 2],
    },
    Pinched {
        x: i32,
        y: i32,
    },
    /// How many characters it has; `None` if it is empty. The text may be a password that a person
    /// copied.
    Clipboard {
        characters: Option<usize>,
    },
    Health {
        healthy: bool,
    },
    ScreenshotSaved {
        device_path: String,
    },
    Elements {
        snapshot: Box<StoredOutcome>,
        nodes: Vec<usize>,
    },
    Launched {
        app: String,
    },
    Installed {
        app: String,
        version_code: u64,
    },
    Pushed {
        device_path: String,
        bytes: u64,
    },
    Pulled {
        bytes: u64,
    },
    Log {
        entries: usize,
    },
    Crashes {
        crashes: Vec<String>,
    },
    Notifications {
        count: usize,
    },
    Monitors {
        ids: Vec<String>,
    },
    Recordings {
        ids: Vec<String>,
    },
    AppTools {
        apps: Vec<String>,
    },
    AppToolResult(Box<StoredAppToolResult>),
    Done,
}

impl Serialize for StoredOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outcome = tagged::object::<S>("type", |json| Self::serialize(self, json))?;
        outcome.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let outcome = Map::deserialize(deserializer)?;
        Self::deserialize(tagged::variant::<D>("type", outcome)?).map_err(D::Error::custom)
    }
}

/// The result of an app tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live result's field of the same name")]
pub struct StoredAppToolResult {
    /// `None` if the call was only sent.
    pub success: Option<bool>,
    pub message: String,
    pub output: Map<String, Value>,
}

/// A snapshot in its own file: every node of the tree, with its ref if it has one. Borrows its
/// strings from a live snapshot; one that was read back owns them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredSnapshot<'a> {
    /// The screen's rotation in quarter turns.
    pub rotation: u8,
    /// The nodes, in document order.
    pub nodes: Vec<StoredNode<'a>>,
}

/// One node of a stored snapshot. Only flags that are set are named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live node's field of the same name")]
pub struct StoredNode<'a> {
    pub parent: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<u32>,
    pub class: Cow<'a, str>,
    pub package: Cow<'a, str>,
    pub id: Cow<'a, str>,
    pub text: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub hint: Cow<'a, str>,
    pub description: Cow<'a, str>,
    /// Left, top, right, bottom.
    pub bounds: [i32; 4],
    pub flags: Vec<Cow<'a, str>>,
    /// Why it is not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Cow<'a, str>>,
    /// The index in `nodes` of the node that receives taps on it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn records_are_read_as_they_were_written() {
        let action = |end| TraceRecord::Action {
            action_id: 1,
            at_ms: 2,
            duration_ms: 3,
            device: None,
            action: Action::ListDevices { platform: None, connect: false },
            backends: None,
            end,
        };
        let outcome = StoredOutcome::Foreground { app: None, screen: None, front: None };
        let failure = ActionResult::Failure { reason: "gone".into(), may_have_happened: true };
        let case = CaseEnd { failure: "crash".into(), reason: "gone".into(), ..CaseEnd::default() };
        for (record, key, value) in [
            (
                action(ActionResult::Outcome(StoredOutcome::Done)),
                "outcome",
                json!({"type": "done"}),
            ),
            (
                action(ActionResult::Outcome(outcome)),
                "outcome",
                json!({"type": "foreground", "app": null, "screen": null}),
            ),
            (action(failure), "failure", json!({"reason": "gone", "may_have_happened": true})),
            (TraceRecord::CaseEnd(Box::new(case)), "failure", json!("crash")),
        ] {
            let text = serde_json::to_string(&record).unwrap();
            let json: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json[key], value, "{text}");
            assert_eq!(serde_json::from_str::<TraceRecord>(&text).unwrap(), record, "{text}");
        }
    }
}

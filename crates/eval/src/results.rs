//! The results of an evaluation, as a file stores them (`docs/eval.md`, "Results as JSON").
//!
//! Start with [`EvalResults`]: it is written after each attempt, read again to resume the
//! evaluation, and read by the leaderboard. Not here: files.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thumbwire_agent::model::Usage;

use super::summary::{self, Summary};
use super::trial::Score;

/// The version of the format.
const VERSION: u32 = 1;

/// The results of an evaluation, finished or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalResults {
    /// Version of the format.
    pub version: u32,
    /// What was evaluated.
    #[serde(flatten)]
    pub setup: EvalSetup,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// The number of attempts that the evaluation has when it is finished.
    pub planned: usize,
    /// Why it ended early; `None` if it did not.
    pub stopped: Option<String>,
    /// Model usage of attempts that were interrupted. They have no score, but were paid for.
    pub interrupted: Usage,
    /// The attempts, in the order in which they ended.
    #[serde(default)]
    pub attempts: Vec<Score>,
}

/// What was evaluated: results with another setup are not comparable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalSetup {
    /// Name of the policy, as in the attempts.
    pub policy: String,
    /// `android` or `ios`.
    pub platform: String,
    /// Fault rules.
    pub faults: Vec<String>,
    /// Allowed agent steps for each action of the oracle.
    pub max_steps: u32,
    /// The price of a million tokens in US dollars, as in `--price`; `None` if it is unknown.
    pub price: Option<String>,
}

impl EvalResults {
    /// Results without an attempt.
    pub fn new(setup: EvalSetup, started: String) -> Self {
        Self {
            version: VERSION,
            setup,
            started,
            planned: 0,
            stopped: None,
            interrupted: Usage::default(),
            attempts: Vec::new(),
        }
    }

    /// Parses a file of results.
    ///
    /// # Errors
    /// The text is not a file of results, or has another version.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match value.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(format!("it has version {version} of the format; expected {VERSION}"));
            }
            None => return Err("it has no \"version\": it was not written by `eval --json`".into()),
        }
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Whether a task was attempted with a seed.
    pub fn has(&self, task: &str, seed: u64) -> bool {
        self.attempts.iter().any(|score| score.task == task && score.seed == seed)
    }

    /// Whether an evaluation with this setup can continue these results.
    ///
    /// # Errors
    /// The first difference.
    pub fn continues(&self, setup: &EvalSetup) -> Result<(), String> {
        let EvalSetup { policy, platform, faults, max_steps, price } = &self.setup;
        let known = |price: &Option<String>| price.clone().unwrap_or_else(|| "none".into());
        let pairs = [
            ("policy", policy.clone(), setup.policy.clone()),
            ("platform", platform.clone(), setup.platform.clone()),
            ("faults", faults.join(" "), setup.faults.join(" ")),
            ("max_steps", max_steps.to_string(), setup.max_steps.to_string()),
            ("price", known(price), known(&setup.price)),
        ];
        match pairs.into_iter().find(|(_, was, is)| was != is) {
            None => Ok(()),
            Some((name, was, is)) => Err(format!(
                "the file's {name} is {was:?}, this evaluation's {is:?}: results of both cannot be compared"
            )),
        }
    }

    /// What all attempts have used, interrupted ones included.
    pub fn spent(&self) -> Usage {
        let mut spent = Summary::of(&self.attempts).usage;
        spent.add(&self.interrupted);
        spent
    }

    /// Sets what all attempts have used: what the finished ones did not is of interrupted ones.
    pub fn set_spent(&mut self, spent: &Usage) {
        self.interrupted = difference(spent, &Summary::of(&self.attempts).usage);
    }

    /// The file's JSON: these results, with summaries before the attempts.
    pub fn to_json(&self) -> Value {
        let Ok(Value::Object(mut all)) = serde_json::to_value(self) else {
            return Value::Null;
        };
        let attempts = all.remove("attempts");
        let sums = |groups: Vec<(String, Summary)>| {
            let sums = groups.into_iter().map(|(name, sum)| (name, summary::sum_json(&sum)));
            Value::Object(sums.collect::<Map<_, _>>())
        };
        all.insert("total".into(), summary::sum_json(&Summary::of(&self.attempts)));
        all.insert("by_difficulty".into(), sums(summary::by_difficulty(&self.attempts)));
        all.insert("by_category".into(), sums(summary::by_category(&self.attempts)));
        all.insert("by_app".into(), sums(summary::by_app(&self.attempts)));
        all.insert("attempts".into(), attempts.unwrap_or_default());
        Value::Object(all)
    }
}

/// What `all` has more than `part`.
fn difference(all: &Usage, part: &Usage) -> Usage {
    // Sums of the same prices in another order differ by less.
    const MAX_ROUNDING: f64 = 1e-9;
    let dollars = all.dollars.map(|dollars| dollars - part.dollars.unwrap_or(0.0));
    Usage {
        calls: all.calls.saturating_sub(part.calls),
        retries: all.retries.saturating_sub(part.retries),
        input_tokens: all.input_tokens.saturating_sub(part.input_tokens),
        cached_tokens: all.cached_tokens.saturating_sub(part.cached_tokens),
        cache_writes: all.cache_writes.saturating_sub(part.cache_writes),
        output_tokens: all.output_tokens.saturating_sub(part.output_tokens),
        dollars: dollars.map(|dollars| if dollars < MAX_ROUNDING { 0.0 } else { dollars }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::task::{Category, Difficulty};
    use thumbwire_agent::AgentStatus;

    pub(crate) fn setup() -> EvalSetup {
        EvalSetup {
            policy: "openai m".into(),
            platform: "android".into(),
            faults: Vec::new(),
            max_steps: 3,
            price: Some("1,2".into()),
        }
    }

    pub(crate) fn score(task: &str, seed: u64, success: bool) -> Score {
        Score {
            task: task.into(),
            seed,
            apps: vec!["Notes".into()],
            categories: vec![Category::DataEntry],
            difficulty: Difficulty::Easy,
            goal: "Add a note".into(),
            success,
            reason: String::new(),
            status: AgentStatus::Finish,
            stopped: None,
            steps: 5,
            oracle_steps: 4,
            usage: Usage { calls: 5, input_tokens: 5_000, dollars: Some(0.01), ..Usage::default() },
            phone_ms: 1_000,
            elapsed_ms: 2_000,
            faults: Vec::new(),
            injected_faults: 0,
            policy: "openai m".into(),
            program: "thumbwire 0".into(),
        }
    }

    pub(crate) fn results() -> EvalResults {
        let mut results = EvalResults::new(setup(), "2026-01-02T03:04:05Z".into());
        results.attempts = vec![score("notes-add", 0, true), score("notes-add", 1, false)];
        results
    }

    #[test]
    fn a_file_of_results_is_read_as_it_was_written() {
        let results = results();
        let json = results.to_json();
        assert_eq!(json["total"]["attempts"], 2);
        assert_eq!(json["by_difficulty"]["easy"]["successes"], 1);
        assert_eq!(json["by_category"]["data_entry"]["attempts"], 2);
        assert_eq!(json["attempts"][1]["usage"]["input_tokens"], 5_000);
        assert_eq!(EvalResults::parse(&json.to_string()), Ok(results));
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        for (text, expected) in [
            ("", "EOF"),
            ("[]", "no \"version\""),
            (r#"{"version": 9}"#, "version 9"),
            (r#"{"version": 1}"#, "missing field"),
        ] {
            let reason = EvalResults::parse(text).unwrap_err();
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }

    #[test]
    fn only_the_same_evaluation_is_continued() {
        let results = results();
        assert!(results.has("notes-add", 1) && !results.has("notes-add", 2));
        assert_eq!(results.continues(&setup()), Ok(()));
        let other = EvalSetup { policy: "scripted".into(), ..setup() };
        let reason = results.continues(&other).unwrap_err();
        assert!(reason.contains("policy is \"openai m\""), "{reason}");
    }

    #[test]
    fn interrupted_attempts_count_as_spent() {
        let mut results = results();
        let spent =
            Usage { calls: 11, input_tokens: 10_900, dollars: Some(0.52), ..Usage::default() };
        results.set_spent(&spent);
        assert_eq!((results.interrupted.calls, results.interrupted.input_tokens), (1, 900));
        assert!((results.interrupted.dollars.unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(results.spent().input_tokens, 10_900);
    }
}

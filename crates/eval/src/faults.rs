//! Measures what each kind of fault costs.
//!
//! [`Study::run`] runs the same tasks with the same seeds for each kind of fault. The success rate
//! is relative to all attempts, because the oracle solves every task.

use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_virtual_android::list_of_faults;

use super::meter::Meter;
use super::runner::Plan;
use super::summary::{self, Summary};
use super::trial::{Score, TrialOptions};
use thumbwire_agent::ScreenshotMode;

/// A study of each kind of fault.
pub struct Study {
    /// Tasks, seeds and parallelism; its options are tried with each kind.
    pub plan: Plan,
    /// Kinds to study; [`kinds`] lists all.
    pub kinds: Vec<String>,
    /// Probability of a fault per step.
    pub probability: f64,
}

/// The results: one row per kind, and one without faults.
pub struct FaultStudyResult {
    /// Name and scores of each kind.
    pub rows: Vec<(String, Vec<Score>)>,
}

/// Name of the row without faults.
const NONE: &str = "none";

/// All kinds of faults that a virtual phone has.
pub fn kinds() -> Vec<String> {
    let list = list_of_faults();
    let names = list.lines().filter_map(|line| line.split([':', ' ']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Approximate number of commands that the agent sends to the phone per step: app list, controls,
/// foreground app, one action. For a fault that can strike any command, each command gets this
/// fraction of the step's probability.
const COMMANDS: f64 = 4.0;

/// The rules that make a kind strike with this probability per step.
///
/// Kinds that strike while a host connects come with restarts of adb; otherwise there would be one
/// connection per run.
pub fn rules(kind: &str, probability: f64) -> Vec<String> {
    let each = probability / COMMANDS;
    match kind {
        NONE => Vec::new(),
        "offline" | "slow" | "corrupt-output" | "disk-full" | "adb-restart" => {
            vec![format!("{kind}:p={each}")]
        }
        "unauthorized" | "disconnect" | "corrupt-packets" => {
            vec![format!("{kind}:p={probability}"), format!("adb-restart:p={each}")]
        }
        // Each tap and each text causes one touch, by a command or by the helper.
        "app-crash" | "anr" => {
            ["input tap", "helper tap"].map(|on| format!("{kind}:p={probability},on={on}")).into()
        }
        _ => vec![format!("{kind}:p={probability}")],
    }
}

/// The kinds after which a flow can go on by itself, if it waits for what it needs and dismisses
/// alerts: app and connection stay.
pub const PASSING: [&str; 6] =
    ["slow", "text-lost", "layout-shift", "keyboard", "dump-stale", "popup"];

/// The rule that makes a kind strike in most runs of a flow, and elsewhere in each.
pub fn rule_of_run(kind: &str, nth: u32) -> String {
    match kind {
        "slow" => format!("slow:p=0.2,seed={nth}"),
        // A flow types only a few texts.
        "text-lost" => format!("text-lost:times=1,p=0.5,seed={nth}"),
        kind => format!("{kind}:times=1,p=0.15,seed={nth}"),
    }
}

impl Study {
    /// All options, kind by kind; this plan knows the number of attempts.
    pub fn whole_plan(&self) -> Plan {
        let options = self.rows().flat_map(|kind| {
            self.plan.options.iter().map(move |options| {
                // A window becomes secure before a screenshot of it is taken.
                let blind = kind != "secure-window";
                let pictures = options.pictures.or((!blind).then_some(ScreenshotMode::None));
                let out = options.out.as_ref().map(|out| out.join(kind));
                let faults = rules(kind, self.probability);
                TrialOptions { faults, pictures, out, ..options.clone() }
            })
        });
        Plan { options: options.collect(), ..self.plan.clone() }
    }

    /// Runs all attempts until the meter ends them, and calls `on_score` after each.
    ///
    /// # Errors
    /// If an attempt could not be started.
    pub fn run(
        &self,
        meter: &Arc<Meter>,
        on_score: &(dyn Fn(usize, &Score) + Sync),
    ) -> Result<FaultStudyResult, String> {
        let scores = self.whole_plan().run(meter, &|_, _| true, on_score)?;
        let each = self.plan.options.len().max(1);
        let of_kinds = scores.chunks(each).map(<[Vec<Score>]>::concat);
        let rows = self.rows().map(str::to_owned).zip(of_kinds).collect();
        Ok(FaultStudyResult { rows })
    }

    fn rows(&self) -> impl Iterator<Item = &str> {
        std::iter::once(NONE).chain(self.kinds.iter().map(String::as_str))
    }
}

impl FaultStudyResult {
    /// The lowest success rate of any kind, 0 to 1.
    pub fn lowest(&self) -> f64 {
        self.rows.iter().map(|(_, scores)| Summary::of(scores).rate()).fold(1.0, f64::min)
    }

    /// One row per kind: the success rate in percent, and what it took.
    pub fn table(&self) -> String {
        let head = ["fault", "success", "95 % interval", "steps/oracle", "injected"];
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|(kind, scores)| row(kind, scores)).collect();
        summary::lines(&head.map(str::to_owned), &rows)
    }

    /// The rows as JSON, with the failed attempts.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|(kind, scores)| {
            let failed: Vec<&Score> = scores.iter().filter(|score| !score.success).collect();
            json!({ "fault": kind, "sum": summary::sum_json(&Summary::of(scores)), "failed": failed })
        });
        rows.collect()
    }
}

fn row(kind: &str, scores: &[Score]) -> Vec<String> {
    let sum = Summary::of(scores);
    let (low, high) = sum.interval();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let injected: usize = scores.iter().map(|score| score.injected_faults).sum();
    vec![
        kind.to_owned(),
        format!("{:.1} %", sum.rate() * 100.0),
        format!("{:.1} to {:.1} %", low * 100.0, high * 100.0),
        or_dash(sum.steps_per_oracle().map(|steps| format!("{steps:.2}"))),
        injected.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use thumbwire_virtual_android::Rule;

    use super::*;

    #[test]
    fn every_kind_has_valid_rules() {
        assert!(kinds().len() >= 18, "{:?}", kinds());
        for kind in kinds() {
            let rules = rules(&kind, 0.2);
            assert!(!rules.is_empty());
            for rule in rules {
                assert!(rule.parse::<Rule>().is_ok(), "{rule}");
            }
        }
    }
}

//! Measures what each kind of fault costs, and what each safeguard is worth against it.
//!
//! [`Study::run`] runs the same tasks with the same seeds for each kind of fault and each setting: all safeguards on,
//! and optionally each one off in turn, and all off. The success rate is relative to all attempts, because the oracle
//! solves every task.

use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_virtual_android::list_of_faults;

use super::meter::Meter;
use super::runner::Plan;
use super::summary::{self, Summary};
use super::trial::{Score, TrialOptions};
use thumbwire_agent::{Safeguards, ScreenshotMode};

/// A study of each kind of fault.
pub struct Study {
    /// Tasks, seeds and parallelism; its options are tried with each kind.
    pub plan: Plan,
    /// Kinds to study; [`kinds`] lists all.
    pub kinds: Vec<String>,
    /// Probability of a fault per step.
    pub probability: f64,
    /// Whether to switch off safeguards in turn.
    pub without: bool,
}

/// The results: one row per kind, and one without faults.
pub struct FaultStudyResult {
    /// The safeguard settings, as column names.
    pub settings: Vec<&'static str>,
    /// Name and scores by setting, for each kind.
    pub rows: Vec<(String, Vec<Vec<Score>>)>,
}

/// Name of the row without faults.
const NONE: &str = "none";

/// All kinds of faults that a virtual phone has.
pub fn kinds() -> Vec<String> {
    let list = list_of_faults();
    let names = list.lines().filter_map(|line| line.split([':', ' ']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Approximate number of commands that the agent sends to the phone per step: app list, controls, foreground app, one
/// action. For a fault that can strike any command, each command gets this fraction of the step's probability.
const COMMANDS: f64 = 4.0;

/// The rules that make a kind strike with this probability per step.
///
/// Kinds that strike while a host connects come with restarts of adb; otherwise there would be one connection per run.
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

/// The safeguard settings to compare.
fn settings(without: bool) -> Vec<(&'static str, Safeguards)> {
    let all = Safeguards::default();
    let mut settings = vec![("all on", all)];
    if without {
        settings.extend([
            ("no patience", Safeguards { patience: false, ..all }),
            ("no verification", Safeguards { verification: false, ..all }),
            ("no repair", Safeguards { repair: false, ..all }),
            ("no aim", Safeguards { aim: false, ..all }),
            ("no loops", Safeguards { loops: false, ..all }),
            ("no finish", Safeguards { finish: false, ..all }),
            (
                "none",
                Safeguards {
                    patience: false,
                    verification: false,
                    repair: false,
                    aim: false,
                    loops: false,
                    finish: false,
                },
            ),
        ]);
    }
    settings
}

impl Study {
    /// All options, kind by kind and setting by setting; this plan knows the number of attempts.
    pub fn whole_plan(&self) -> Plan {
        let mut manners = Vec::new();
        for kind in self.rows() {
            for (_, safeguards) in settings(self.without) {
                for manner in &self.plan.manners {
                    // A window becomes secure before a screenshot of it is taken.
                    let blind = kind != "secure-window";
                    let pictures = manner.pictures.or((!blind).then_some(ScreenshotMode::None));
                    let faults = rules(kind, self.probability);
                    let out = manner.out.as_ref().map(|out| out.join(kind));
                    manners.push(TrialOptions {
                        faults,
                        safeguards,
                        pictures,
                        out,
                        ..manner.clone()
                    });
                }
            }
        }
        Plan { manners, ..self.plan.clone() }
    }

    /// Runs all attempts until the meter says stop, and calls `told` after each.
    ///
    /// # Errors
    /// If an attempt could not be started.
    pub fn run(
        &self,
        meter: &Arc<Meter>,
        told: &(dyn Fn(usize, &Score) + Sync),
    ) -> Result<FaultStudyResult, String> {
        let settings: Vec<_> = settings(self.without).into_iter().map(|(name, _)| name).collect();
        let mut scores = self.whole_plan().run_some(meter, &|_, _| true, told)?.into_iter();
        let each = self.plan.manners.len();
        let rows = self.rows().map(|kind| {
            let by_setting =
                settings.iter().map(|_| scores.by_ref().take(each).flatten().collect());
            (kind.to_owned(), by_setting.collect())
        });
        let rows = rows.collect();
        Ok(FaultStudyResult { settings, rows })
    }

    fn rows(&self) -> impl Iterator<Item = &str> {
        std::iter::once(NONE).chain(self.kinds.iter().map(String::as_str))
    }
}

impl FaultStudyResult {
    /// The lowest success rate of any kind with all safeguards on, 0 to 1.
    pub fn lowest(&self) -> f64 {
        let all_on = self.rows.iter().filter_map(|(_, settings)| settings.first());
        all_on.map(|scores| Summary::of(scores).rate()).fold(1.0, f64::min)
    }

    /// One row per kind, one column per setting: the success rate in percent.
    pub fn table(&self) -> String {
        let mut head = vec!["fault".to_owned()];
        head.extend(self.settings.iter().map(|name| (*name).to_owned()));
        let numbers = ["95 % interval", "steps/oracle", "tokens/step", "injected"];
        head.extend(numbers.map(str::to_owned));
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|(kind, settings)| row(kind, settings)).collect();
        summary::lines(&head, &rows)
    }

    /// The same as JSON, with the failed attempts.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|(kind, settings)| {
            let settings = self.settings.iter().zip(settings).map(|(name, scores)| {
                let failed: Vec<&Score> = scores.iter().filter(|score| !score.success).collect();
                json!({ "safeguards": name, "sum": summary::sum_json(&Summary::of(scores)), "failed": failed })
            });
            json!({ "fault": kind, "settings": settings.collect::<Vec<_>>() })
        });
        rows.collect()
    }
}

fn row(kind: &str, settings: &[Vec<Score>]) -> Vec<String> {
    let sums: Vec<Summary> = settings.iter().map(Summary::of).collect();
    let mut cells = vec![kind.to_owned()];
    cells.extend(sums.iter().map(|sum| format!("{:.1} %", sum.rate() * 100.0)));
    let first = sums.first().cloned().unwrap_or_default();
    let (low, high) = first.interval();
    cells.push(format!("{:.1} to {:.1} %", low * 100.0, high * 100.0));
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    cells.push(or_dash(first.steps_per_oracle().map(|steps| format!("{steps:.2}"))));
    cells.push(or_dash(first.tokens_per_step().map(|tokens| format!("{tokens:.0}"))));
    let injected: usize =
        settings.first().map_or(0, |scores| scores.iter().map(|score| score.injected_faults).sum());
    cells.push(injected.to_string());
    cells
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

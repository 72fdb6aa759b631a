//! What each kind of fault costs, and what each safeguard is worth against it.
//!
//! [`Study::run`] attempts the same tasks with the same seeds once for each kind and setting: all safeguards on, and where that is wanted
//! each of them off in turn, and all. A share of the oracle's is a share of all attempts: the oracle reaches each task.

use serde_json::{Value, json};
use thumbwire_virtual_phone::list_of_faults;

use super::runner::Plan;
use super::table::{self, Sum};
use super::trial::{Manner, Score};
use crate::agent::{Pictures, Safeguards};

/// Attempts at each kind of fault.
pub struct Study {
    /// Tasks, seeds and how many at a time; its manners are the ones to be tried with each kind.
    pub plan: Plan,
    /// Which kinds; [`kinds`] are all.
    pub kinds: Vec<String>,
    /// How likely a fault strikes in a step.
    pub probability: f64,
    /// Whether safeguards are switched off in turn.
    pub without: bool,
}

/// What came of it: a row for each kind, and one for none.
pub struct Found {
    /// The settings of the safeguards, as a table names them.
    pub settings: Vec<&'static str>,
    /// For each kind its name, its scores by setting.
    pub rows: Vec<(String, Vec<Vec<Score>>)>,
}

/// The name of the row without faults.
const NONE: &str = "none";

/// All kinds of faults that a virtual phone has.
pub fn kinds() -> Vec<String> {
    let list = list_of_faults();
    let names = list.lines().filter_map(|line| line.split([':', ' ']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Commands that the agent sends to a phone in a step, about: the list of apps, the controls, the app in front, and one that acts. Of a fault
/// that can strike any command, each meets that part of its share of a step.
const COMMANDS: f64 = 4.0;

/// The rules by which a kind strikes about once in so many steps.
///
/// A kind that strikes as a host connects comes with restarts of adb, else there would be one connection in a run.
pub fn rules(kind: &str, probability: f64) -> Vec<String> {
    let each = probability / COMMANDS;
    match kind {
        NONE => Vec::new(),
        "offline" | "slow" | "garbage" | "disk-full" | "adb-restart" => {
            vec![format!("{kind}:p={each}")]
        }
        "unauthorized" | "cut" | "garbage-packets" => {
            vec![format!("{kind}:p={probability}"), format!("adb-restart:p={each}")]
        }
        // Each tap, and each text, brings the finger down once.
        "app-crash" | "anr" => vec![format!("{kind}:p={probability},on=input tap")],
        _ => vec![format!("{kind}:p={probability}")],
    }
}

/// The safeguards' settings that are compared.
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
    /// All manners, kind by kind and setting by setting; how many attempts they make is their plan's to say.
    pub fn whole_plan(&self) -> Plan {
        let mut manners = Vec::new();
        for kind in self.rows() {
            for (_, safeguards) in settings(self.without) {
                for manner in &self.plan.manners {
                    // A window becomes secure before a picture is taken of it.
                    let blind = kind != "secure-window";
                    let pictures = manner.pictures.or((!blind).then_some(Pictures::Text));
                    let faults = rules(kind, self.probability);
                    let out = manner.out.as_ref().map(|out| out.join(kind));
                    manners.push(Manner { faults, safeguards, pictures, out, ..manner.clone() });
                }
            }
        }
        Plan { manners, ..self.plan.clone() }
    }

    /// Attempts all of it, `told` of each.
    ///
    /// # Errors
    /// When an attempt could not be begun.
    pub fn run(&self, told: &(dyn Fn(usize, &Score) + Sync)) -> Result<Found, String> {
        let settings: Vec<_> = settings(self.without).into_iter().map(|(name, _)| name).collect();
        let mut scores = self.whole_plan().run(told)?.into_iter();
        let each = self.plan.manners.len();
        let rows = self.rows().map(|kind| {
            let by_setting =
                settings.iter().map(|_| scores.by_ref().take(each).flatten().collect());
            (kind.to_owned(), by_setting.collect())
        });
        let rows = rows.collect();
        Ok(Found { settings, rows })
    }

    fn rows(&self) -> impl Iterator<Item = &str> {
        std::iter::once(NONE).chain(self.kinds.iter().map(String::as_str))
    }
}

impl Found {
    /// The lowest share of any kind with all safeguards on, 0 to 1.
    pub fn lowest(&self) -> f64 {
        let all_on = self.rows.iter().filter_map(|(_, settings)| settings.first());
        all_on.map(|scores| Sum::of(scores).rate()).fold(1.0, f64::min)
    }

    /// A row for each kind, a column for each setting: how many of a hundred attempts succeed.
    pub fn table(&self) -> String {
        let mut head = vec!["fault".to_owned()];
        head.extend(self.settings.iter().map(|name| (*name).to_owned()));
        head.extend(["95 % interval", "rounds/oracle", "strikes"].map(str::to_owned));
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|(kind, settings)| row(kind, settings)).collect();
        table::lines(&head, &rows)
    }

    /// The same, for programs, with what failed.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|(kind, settings)| {
            let settings = self.settings.iter().zip(settings).map(|(name, scores)| {
                let failed: Vec<&Score> = scores.iter().filter(|score| !score.success).collect();
                json!({ "safeguards": name, "sum": table::sum_json(&Sum::of(scores)), "failed": failed })
            });
            json!({ "fault": kind, "settings": settings.collect::<Vec<_>>() })
        });
        rows.collect()
    }
}

fn row(kind: &str, settings: &[Vec<Score>]) -> Vec<String> {
    let sums: Vec<Sum> = settings.iter().map(Sum::of).collect();
    let mut cells = vec![kind.to_owned()];
    cells.extend(sums.iter().map(|sum| format!("{:.1} %", sum.rate() * 100.0)));
    let first = sums.first().copied().unwrap_or_default();
    let (low, high) = first.interval();
    cells.push(format!("{:.1} to {:.1} %", low * 100.0, high * 100.0));
    cells.push(format!("{:.2}", f64::from(first.steps) / f64::from(first.oracle.max(1))));
    let strikes: usize =
        settings.first().map_or(0, |scores| scores.iter().map(|score| score.strikes).sum());
    cells.push(strikes.to_string());
    cells
}

#[cfg(test)]
mod tests {
    use thumbwire_virtual_phone::Rule;

    use super::*;

    #[test]
    fn each_kind_has_rules_that_the_phone_takes() {
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

//! The limits of a run: steps, time, tokens, money.
//!
//! Start with [`BudgetUsage`], what a run has used so far, and compare it with [`Budgets`]:
//! [`BudgetUsage::remaining`] says what is left, [`BudgetUsage::warning`] warns when that is
//! little, and [`BudgetUsage::over`] says why there can be no further step. Pure: the time is
//! passed in, and prices are up to the models.

use std::time::Duration;

use crate::model::Usage;
use crate::options::{Budgets, Limit};

/// A budget is low when this share is left.
const LOW: f64 = 0.2;

/// What a run has used.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BudgetUsage {
    /// Completed steps.
    pub rounds: u32,
    /// Time since the start.
    pub time: Duration,
    /// The models' usage.
    pub spent: Usage,
    /// The models' usage in the last step: the next one is hardly cheaper, because prompts grow.
    /// `None` before the first.
    pub last: Option<Usage>,
}

/// One budget: its unit, the used amount, the limit, and how to write an amount.
struct Gauge {
    limit: Limit,
    name: &'static str,
    used: f64,
    max: f64,
    /// What the next step will use at least, if known.
    next: f64,
    /// How an amount is written.
    written: fn(f64) -> String,
}

impl BudgetUsage {
    /// What is left: `12 of 50 steps, 3 min of 10 min, $0.40 of $1.00`.
    pub(crate) fn remaining(&self, budgets: &Budgets) -> String {
        let out = |gauge: Gauge| {
            let left = (gauge.written)((gauge.max - gauge.used).max(0.0));
            format!("{left} of {}{}", (gauge.written)(gauge.max), gauge.name)
        };
        self.gauges(budgets).map(out).collect::<Vec<_>>().join(", ")
    }

    /// A sentence for the policy, when a fifth or less of a budget is left.
    pub(crate) fn warning(&self, budgets: &Budgets) -> Option<String> {
        let low = self.gauges(budgets).filter(|it| it.max - it.used <= it.max * LOW);
        let low: Vec<String> = low
            .map(|it| {
                format!(
                    "{} of {}{}",
                    (it.written)((it.max - it.used).max(0.0)),
                    (it.written)(it.max),
                    it.name
                )
            })
            .collect();
        (!low.is_empty()).then(|| {
            format!(
                "The budget is running low: {} left. Take the shortest way to the goal; if it cannot be reached, end with FAIL and say so.",
                low.join(", ")
            )
        })
    }

    /// Why there can be no further step: a budget is used up, or the next step would exceed it.
    /// Checked before each step, so that a run ends between two steps.
    pub(crate) fn over(&self, budgets: &Budgets) -> Option<String> {
        if budgets.dollars.is_some() && self.spent.calls > 0 && self.spent.dollars.is_none() {
            let reason = "cannot keep a budget in dollars: the model's price is unknown; pass its price, or a budget in tokens";
            return Some(reason.into());
        }
        self.gauges(budgets).find_map(|gauge| {
            let Gauge { name, used, max, next, written, .. } = gauge;
            if used >= max {
                return Some(format!("the budget of {}{name} is used up", written(max)));
            }
            (used + next > max).then(|| {
                format!(
                    "the budget of {}{name} is too small for another step: {} left, and the last step took {}",
                    written(max),
                    written(max - used),
                    written(next)
                )
            })
        })
    }

    /// The limit by which there can be no further step; `None` if there can, or if a higher limit
    /// would not help.
    pub(crate) fn limit(&self, budgets: &Budgets) -> Option<Limit> {
        let mut gauges = self.gauges(budgets);
        gauges.find(|it| it.used >= it.max || it.used + it.next > it.max).map(|it| it.limit)
    }

    /// How long a model may take, if time is limited.
    pub(crate) fn time_left(&self, budgets: &Budgets) -> Option<Duration> {
        budgets.time.map(|most| most.saturating_sub(self.time))
    }

    fn gauges(&self, budgets: &Budgets) -> impl Iterator<Item = Gauge> {
        let tokens = |spent: &Usage| (spent.input_tokens + spent.output_tokens) as f64;
        let last = self.last.as_ref();
        let rounds = Gauge {
            limit: Limit::Steps,
            name: " steps",
            used: self.rounds.into(),
            max: budgets.rounds.into(),
            next: 0.0,
            written: |count| format!("{count:.0}"),
        };
        let time = budgets.time.map(|max| Gauge {
            limit: Limit::Time,
            name: "",
            used: self.time.as_secs_f64(),
            max: max.as_secs_f64(),
            next: 0.0,
            written: in_time,
        });
        let tokens = budgets.tokens.map(|max| Gauge {
            limit: Limit::Tokens,
            name: " tokens",
            used: tokens(&self.spent),
            max: max as f64,
            next: last.map(tokens).unwrap_or_default(),
            written: |count| format!("{count:.0}"),
        });
        let dollars = budgets.dollars.map(|max| Gauge {
            limit: Limit::Cost,
            name: "",
            used: self.spent.dollars.unwrap_or_default(),
            max,
            next: last.and_then(|last| last.dollars).unwrap_or_default(),
            written: |dollars| format!("${dollars:.2}"),
        });
        std::iter::once(rounds).chain(time).chain(tokens).chain(dollars)
    }
}

fn in_time(seconds: f64) -> String {
    match seconds {
        // Short times need tenths.
        ..10.0 if seconds.fract() != 0.0 => format!("{seconds:.1} s"),
        ..120.0 => format!("{seconds:.0} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(tokens: u64, dollars: Option<f64>) -> Usage {
        Usage { calls: 1, input_tokens: tokens, dollars, ..Usage::default() }
    }

    fn all() -> Budgets {
        Budgets {
            rounds: 10,
            time: Some(Duration::from_secs(600)),
            tokens: Some(10_000),
            dollars: Some(1.0),
        }
    }

    #[test]
    fn remaining_budget_is_described() {
        let used = BudgetUsage {
            rounds: 2,
            time: Duration::from_secs(505),
            spent: spent(4_000, Some(0.25)),
            last: None,
        };
        assert_eq!(
            used.remaining(&all()),
            "8 of 10 steps, 95 s of 10 min, 6000 of 10000 tokens, $0.75 of $1.00"
        );
        assert_eq!(used.remaining(&Budgets::default()), "48 of 50 steps");
    }

    #[test]
    fn warning_starts_at_one_fifth() {
        let used =
            |rounds| BudgetUsage { rounds, spent: spent(0, Some(0.0)), ..BudgetUsage::default() };
        assert_eq!(used(7).warning(&all()), None);
        let says = used(8).warning(&all()).unwrap();
        assert!(says.starts_with("The budget is running low: 2 of 10 steps left."), "{says}");
    }

    #[test]
    fn each_budget_ends_the_run() {
        let none = BudgetUsage::default();
        assert_eq!(none.over(&all()), None);
        for (used, reason) in [
            (BudgetUsage { rounds: 10, ..none.clone() }, "the budget of 10 steps is used up"),
            (
                BudgetUsage { time: Duration::from_secs(600), ..none.clone() },
                "the budget of 10 min is used up",
            ),
            (
                BudgetUsage { spent: spent(10_000, Some(0.0)), ..none.clone() },
                "the budget of 10000 tokens is used up",
            ),
            (
                BudgetUsage { spent: spent(0, Some(1.5)), ..none.clone() },
                "the budget of $1.00 is used up",
            ),
        ] {
            assert_eq!(used.over(&all()).as_deref(), Some(reason));
            assert!(used.limit(&all()).is_some(), "{reason}");
        }
        assert_eq!(
            BudgetUsage { time: Duration::from_secs(580), ..none }.time_left(&all()),
            Some(Duration::from_secs(20))
        );
    }

    #[test]
    fn step_that_would_exceed_budget_does_not_start() {
        let used = |last: Usage| BudgetUsage {
            rounds: 2,
            spent: spent(7_000, Some(0.6)),
            last: Some(last),
            ..BudgetUsage::default()
        };
        assert_eq!(used(spent(3_000, Some(0.3))).over(&all()), None);
        assert_eq!(
            used(spent(3_500, Some(0.3))).over(&all()).as_deref(),
            Some(
                "the budget of 10000 tokens is too small for another step: 3000 left, and the last step took 3500"
            )
        );
        assert_eq!(
            used(spent(10, Some(0.5))).over(&all()).as_deref(),
            Some(
                "the budget of $1.00 is too small for another step: $0.40 left, and the last step took $0.50"
            )
        );
    }

    #[test]
    fn unknown_price_with_a_cost_limit_ends_run() {
        let used = BudgetUsage { spent: spent(10, None), ..BudgetUsage::default() };
        assert!(used.over(&all()).unwrap().contains("price is unknown"));
        assert_eq!(used.over(&Budgets::default()), None);
        assert_eq!(BudgetUsage::default().over(&all()), None, "nothing was asked yet");
    }
}

//! Where a run ends, whatever is still to be done: rounds, time, tokens, money.
//!
//! Begin with [`Used`], which is what a run has used up so far, and hold it against [`Budgets`]: [`Used::left`] tells what is
//! left in words, [`Used::warning`] when that is little, and [`Used::over`] that the next round would go beyond. Numbers in,
//! words out: the time is handed in, and prices are the models' matter.

use std::time::Duration;

use super::model::Spent;
use super::options::Budgets;

/// A budget is called low when so much of it is left.
const LOW: f64 = 0.2;

/// What a run has used up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Used {
    /// Rounds that are over.
    pub rounds: u32,
    /// Since it began.
    pub time: Duration,
    /// By the models, all together.
    pub spent: Spent,
    /// By the models, in the last round: the next one will hardly be cheaper, since a prompt grows. `None` before the first.
    pub last: Option<Spent>,
}

/// One budget: its unit's name, how much is used, how much there is, and how an amount is told.
struct Gauge {
    name: &'static str,
    used: f64,
    most: f64,
    /// What the next round takes at least, where that is known.
    next: f64,
    told: fn(f64) -> String,
}

impl Used {
    /// What is left, in words: `12 of 50 rounds, 3 min of 10 min, $0.40 of $1.00`.
    pub fn left(&self, budgets: &Budgets) -> String {
        let told = |gauge: Gauge| {
            let left = (gauge.told)((gauge.most - gauge.used).max(0.0));
            format!("{left} of {}{}", (gauge.told)(gauge.most), gauge.name)
        };
        self.gauges(budgets).map(told).collect::<Vec<_>>().join(", ")
    }

    /// A sentence for whoever decides, where a fifth or less of a budget is left.
    pub fn warning(&self, budgets: &Budgets) -> Option<String> {
        let low = self.gauges(budgets).filter(|it| it.most - it.used <= it.most * LOW);
        let low: Vec<String> = low
            .map(|it| {
                format!(
                    "{} of {}{}",
                    (it.told)((it.most - it.used).max(0.0)),
                    (it.told)(it.most),
                    it.name
                )
            })
            .collect();
        (!low.is_empty()).then(|| {
            format!(
                "Little is left: {}. Take the shortest way to the goal; what cannot be done, say so and end with FAIL.",
                low.join(", ")
            )
        })
    }

    /// Why there can be no further round: a budget is used up, or the next round would go beyond it. Asked before each round, so
    /// that a run ends between two.
    pub fn over(&self, budgets: &Budgets) -> Option<String> {
        if budgets.dollars.is_some() && self.spent.calls > 0 && self.spent.dollars.is_none() {
            let why = "a budget in dollars cannot be kept: the model's price is not known; give its price, or a budget in tokens";
            return Some(why.into());
        }
        self.gauges(budgets).find_map(|gauge| {
            let Gauge { name, used, most, next, told } = gauge;
            if used >= most {
                return Some(format!("the budget of {}{name} is used up", told(most)));
            }
            (used + next > most).then(|| {
                format!(
                    "of the budget of {}{name} {} is left, and the last round took {}",
                    told(most),
                    told(most - used),
                    told(next)
                )
            })
        })
    }

    /// How long a model may take, where time is bounded.
    pub fn time_left(&self, budgets: &Budgets) -> Option<Duration> {
        budgets.time.map(|most| most.saturating_sub(self.time))
    }

    fn gauges(&self, budgets: &Budgets) -> impl Iterator<Item = Gauge> {
        let tokens = |spent: &Spent| (spent.input_tokens + spent.output_tokens) as f64;
        let last = self.last.as_ref();
        let rounds = Gauge {
            name: " rounds",
            used: self.rounds.into(),
            most: budgets.rounds.into(),
            next: 0.0,
            told: |count| format!("{count:.0}"),
        };
        let time = budgets.time.map(|most| Gauge {
            name: "",
            used: self.time.as_secs_f64(),
            most: most.as_secs_f64(),
            next: 0.0,
            told: in_time,
        });
        let tokens = budgets.tokens.map(|most| Gauge {
            name: " tokens",
            used: tokens(&self.spent),
            most: most as f64,
            next: last.map(tokens).unwrap_or_default(),
            told: |count| format!("{count:.0}"),
        });
        let dollars = budgets.dollars.map(|most| Gauge {
            name: "",
            used: self.spent.dollars.unwrap_or_default(),
            most,
            next: last.and_then(|last| last.dollars).unwrap_or_default(),
            told: |dollars| format!("${dollars:.2}"),
        });
        std::iter::once(rounds).chain(time).chain(tokens).chain(dollars)
    }
}

fn in_time(seconds: f64) -> String {
    match seconds {
        // Of a short time the tenths count.
        ..10.0 if seconds.fract() != 0.0 => format!("{seconds:.1} s"),
        ..120.0 => format!("{seconds:.0} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(tokens: u64, dollars: Option<f64>) -> Spent {
        Spent { calls: 1, input_tokens: tokens, dollars, ..Spent::default() }
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
    fn what_is_left_is_told_in_words() {
        let used = Used {
            rounds: 2,
            time: Duration::from_secs(505),
            spent: spent(4_000, Some(0.25)),
            last: None,
        };
        assert_eq!(
            used.left(&all()),
            "8 of 10 rounds, 95 s of 10 min, 6000 of 10000 tokens, $0.75 of $1.00"
        );
        assert_eq!(used.left(&Budgets::default()), "48 of 50 rounds");
    }

    #[test]
    fn a_warning_comes_when_a_fifth_is_left() {
        let used = |rounds| Used { rounds, spent: spent(0, Some(0.0)), ..Used::default() };
        assert_eq!(used(7).warning(&all()), None);
        let says = used(8).warning(&all()).unwrap();
        assert!(says.starts_with("Little is left: 2 of 10 rounds."), "{says}");
    }

    #[test]
    fn each_budget_ends_the_run() {
        let none = Used::default();
        assert_eq!(none.over(&all()), None);
        for (used, why) in [
            (Used { rounds: 10, ..none.clone() }, "the budget of 10 rounds is used up"),
            (
                Used { time: Duration::from_secs(600), ..none.clone() },
                "the budget of 10 min is used up",
            ),
            (
                Used { spent: spent(10_000, Some(0.0)), ..none.clone() },
                "the budget of 10000 tokens is used up",
            ),
            (Used { spent: spent(0, Some(1.5)), ..none.clone() }, "the budget of $1.00 is used up"),
        ] {
            assert_eq!(used.over(&all()).as_deref(), Some(why));
        }
        assert_eq!(
            Used { time: Duration::from_secs(580), ..none }.time_left(&all()),
            Some(Duration::from_secs(20))
        );
    }

    #[test]
    fn a_round_that_would_go_beyond_is_not_begun() {
        let used = |last: Spent| Used {
            rounds: 2,
            spent: spent(7_000, Some(0.6)),
            last: Some(last),
            ..Used::default()
        };
        assert_eq!(used(spent(3_000, Some(0.3))).over(&all()), None);
        assert_eq!(
            used(spent(3_500, Some(0.3))).over(&all()).as_deref(),
            Some("of the budget of 10000 tokens 3000 is left, and the last round took 3500")
        );
        assert_eq!(
            used(spent(10, Some(0.5))).over(&all()).as_deref(),
            Some("of the budget of $1.00 $0.40 is left, and the last round took $0.50")
        );
    }

    #[test]
    fn money_that_cannot_be_counted_is_not_spent() {
        let used = Used { spent: spent(10, None), ..Used::default() };
        assert!(used.over(&all()).unwrap().contains("price is not known"));
        assert_eq!(used.over(&Budgets::default()), None);
        assert_eq!(Used::default().over(&all()), None, "nothing was asked yet");
    }
}

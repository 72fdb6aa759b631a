//! Summarizes attempts: tables for a terminal, and summaries as JSON.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::task::Difficulty;
use super::trial::Score;
use thumbwire_agent::model::Usage;

/// A summary of several attempts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Number of attempts.
    pub attempts: u32,
    /// Number of successful attempts.
    pub successes: u32,
    /// Agent steps of the successful attempts.
    pub steps: u32,
    /// Actions that the oracle takes for those.
    pub oracle_steps: u32,
    /// Agent steps of all attempts.
    pub all_steps: u32,
    /// Model usage of all attempts.
    pub usage: Usage,
    /// Time on the phones' clocks, in milliseconds.
    pub phone_ms: u64,
    /// Real time, in milliseconds: the sum of all attempts, also of those that ran at the same
    /// time.
    pub elapsed_ms: u64,
}

impl Summary {
    /// Summarizes these scores.
    pub fn of<'a>(scores: impl IntoIterator<Item = &'a Score>) -> Self {
        let mut sum = Self::default();
        for score in scores {
            sum.attempts += 1;
            sum.all_steps += score.steps;
            sum.usage.add(&score.usage);
            sum.phone_ms += score.phone_ms;
            sum.elapsed_ms += score.elapsed_ms;
            if score.success {
                sum.successes += 1;
                sum.steps += score.steps;
                sum.oracle_steps += score.oracle_steps;
            }
        }
        sum
    }

    /// Agent steps for each action of the oracle, over the successful attempts; `None` if there are
    /// none.
    pub fn steps_per_oracle(&self) -> Option<f64> {
        (self.oracle_steps > 0).then(|| f64::from(self.steps) / f64::from(self.oracle_steps))
    }

    /// Input tokens per agent step, as the model's server counted them. `None` without a model.
    pub fn tokens_per_step(&self) -> Option<f64> {
        let tokens = self.usage.input_tokens;
        (tokens > 0 && self.all_steps > 0).then(|| tokens as f64 / f64::from(self.all_steps))
    }

    /// Cost per attempt in US dollars; `None` if no model was asked, or its price is unknown.
    pub fn cost_per_attempt(&self) -> Option<f64> {
        let dollars = self.usage.dollars?;
        (self.attempts > 0).then(|| dollars / f64::from(self.attempts))
    }

    /// Success rate, 0 to 1.
    pub fn rate(&self) -> f64 {
        f64::from(self.successes) / f64::from(self.attempts.max(1))
    }

    /// The 95 % confidence interval of the success rate (E. B. Wilson, "Probable inference", 1927).
    pub fn interval(&self) -> (f64, f64) {
        // The 97.5 % quantile of the normal distribution.
        const Z: f64 = 1.959_964;
        let (count, rate) = (f64::from(self.attempts.max(1)), self.rate());
        let (squared, scale) = (Z * Z, 1.0 + Z * Z / count);
        let middle = (rate + squared / (2.0 * count)) / scale;
        let half =
            Z / scale * (rate * (1.0 - rate) / count + squared / (4.0 * count * count)).sqrt();
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }

    fn cells(&self, name: &str) -> Vec<String> {
        let (low, high) = self.interval();
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let each = f64::from(self.attempts.max(1));
        vec![
            name.to_owned(),
            format!("{}/{}", self.successes, self.attempts),
            format!("{:.1} %", self.rate() * 100.0),
            format!("{:.0} to {:.0} %", low * 100.0, high * 100.0),
            or_dash(self.steps_per_oracle().map(|steps| format!("{steps:.2}"))),
            or_dash(self.tokens_per_step().map(|tokens| format!("{tokens:.0}"))),
            or_dash(self.cost_per_attempt().map(|dollars| format!("${dollars:.4}"))),
            format!("{:.1} s", self.phone_ms as f64 / each / 1_000.0),
            format!("{:.1} s", self.elapsed_ms as f64 / each / 1_000.0),
        ]
    }
}

/// Column heads; columns from the second on are numbers.
const HEAD: [&str; 9] = [
    "",
    "succeeded",
    "rate",
    "95 % interval",
    "steps/oracle",
    "tokens/step",
    "cost",
    "phone time",
    "time",
];

/// The scores by task, app, category and difficulty, and in total.
pub fn table(scores: &[Score]) -> String {
    let rows = |groups: Vec<(String, Summary)>| -> Vec<Vec<String>> {
        groups.iter().map(|(name, sum)| sum.cells(name)).collect()
    };
    let mut by_difficulty = rows(by_difficulty(scores));
    by_difficulty.push(Summary::of(scores).cells("all tasks"));
    let tables = [
        ("task", rows(by(scores, |score| vec![score.task.clone()]))),
        ("app", rows(by_app(scores))),
        ("category", rows(by_category(scores))),
        ("difficulty", by_difficulty),
    ];
    tables.map(|(first, rows)| plain(first, &rows)).join("\n")
}

/// Summaries by app.
pub fn by_app(scores: &[Score]) -> Vec<(String, Summary)> {
    by(scores, |score| score.apps.clone())
}

/// Summaries by category: an attempt counts in each of its categories.
pub fn by_category(scores: &[Score]) -> Vec<(String, Summary)> {
    by(scores, |score| score.categories.iter().map(|it| it.name().to_owned()).collect())
}

/// Summaries by difficulty, easy first.
pub fn by_difficulty(scores: &[Score]) -> Vec<(String, Summary)> {
    let levels = [Difficulty::Easy, Difficulty::Medium, Difficulty::Hard];
    let each = levels.map(|level| {
        let some = scores.iter().filter(|score| score.difficulty == level);
        (level.name().to_owned(), Summary::of(some))
    });
    each.into_iter().filter(|(_, sum)| sum.attempts > 0).collect()
}

fn by(scores: &[Score], names: impl Fn(&Score) -> Vec<String>) -> Vec<(String, Summary)> {
    let mut groups: BTreeMap<String, Vec<&Score>> = BTreeMap::new();
    for score in scores {
        for name in names(score) {
            groups.entry(name).or_default().push(score);
        }
    }
    groups.into_iter().map(|(name, scores)| (name, Summary::of(scores))).collect()
}

fn plain(first: &str, rows: &[Vec<String>]) -> String {
    let mut head = HEAD.map(str::to_owned);
    first.clone_into(&mut head[0]);
    // For example, there are no costs without a model.
    let has_values: Vec<bool> =
        (0..head.len()).map(|at| rows.iter().any(|row| row[at] != "-")).collect();
    let kept = |cells: &[String]| -> Vec<String> {
        let cells = cells.iter().zip(&has_values).filter(|(_, has_values)| **has_values);
        cells.map(|(cell, _)| cell.clone()).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(|row| kept(row)).collect();
    lines(&kept(&head), &rows)
}

/// A text table: first column left-aligned, the others right-aligned.
pub fn lines(head: &[String], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.to_vec());
    table.add_rows(rows.to_vec());
    for (at, column) in table.column_iter_mut().enumerate() {
        let side = if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(side);
    }
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// A summary as JSON.
pub fn sum_json(sum: &Summary) -> Value {
    let (low, high) = sum.interval();
    json!({
        "attempts": sum.attempts,
        "successes": sum.successes,
        "success_rate": sum.rate(),
        "confidence_interval": [low, high],
        "steps": sum.steps,
        "oracle_steps": sum.oracle_steps,
        "all_steps": sum.all_steps,
        "usage": sum.usage,
        "tokens_per_step": sum.tokens_per_step(),
        "phone_ms": sum.phone_ms,
        "elapsed_ms": sum.elapsed_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_matches_wilson() {
        // Values from R's `binom` package: binom.confint(x, n, methods = "wilson").
        for (successes, attempts, low, high) in
            [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (95, 100, 0.8882, 0.9785)]
        {
            let sum = Summary { attempts, successes, ..Summary::default() };
            let (found_low, found_high) = sum.interval();
            assert!((found_low - low).abs() < 1e-4, "{successes}/{attempts}: {found_low}");
            assert!((found_high - high).abs() < 1e-4, "{successes}/{attempts}: {found_high}");
        }
    }
}

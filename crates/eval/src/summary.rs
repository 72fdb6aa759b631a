//! Summarizes attempts as a table and as JSON.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::prompt_cost::PromptCost;
use super::trial::Score;

/// A summary of several attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Summary {
    /// Number of attempts.
    pub attempts: u32,
    /// Number of successful attempts.
    pub successes: u32,
    /// Agent steps of the successful attempts.
    pub steps: u32,
    /// Actions that the oracle takes for those.
    pub oracle: u32,
    /// Tokens, input and output.
    pub tokens: u64,
    /// The text of the prompts, in tokens.
    pub prompt: PromptCost,
    /// Time on the phones' clocks, in milliseconds.
    pub phone_ms: u64,
}

impl Summary {
    /// Summarizes these scores.
    pub fn of<'a>(scores: impl IntoIterator<Item = &'a Score>) -> Self {
        let mut sum = Self::default();
        for score in scores {
            sum.attempts += 1;
            sum.tokens += score.usage.input_tokens + score.usage.output_tokens;
            sum.prompt.add(score.prompt);
            sum.phone_ms += score.phone_ms;
            if score.success {
                sum.successes += 1;
                sum.steps += score.steps;
                sum.oracle += score.oracle;
            }
        }
        sum
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
        let steps = match self.oracle {
            0 => "-".to_owned(),
            oracle => format!("{:.2}", f64::from(self.steps) / f64::from(oracle)),
        };
        let each = f64::from(self.attempts.max(1));
        vec![
            name.to_owned(),
            format!("{}/{}", self.successes, self.attempts),
            format!("{:.1} %", self.rate() * 100.0),
            format!("{:.0} to {:.0} %", low * 100.0, high * 100.0),
            steps,
            format!("{:.0}", self.tokens as f64 / each),
            format!("{:.0}", self.prompt.per_round()),
            format!("{:.1} s", self.phone_ms as f64 / each / 1_000.0),
        ]
    }
}

/// Column heads; columns from the second on are numbers.
const HEAD: [&str; 8] = [
    "",
    "succeeded",
    "rate",
    "95 % interval",
    "steps/oracle",
    "tokens",
    "prompt/step",
    "phone time",
];

/// The scores by task, by app and in total.
pub fn table(scores: &[Score]) -> String {
    let mut rows = Vec::new();
    for (name, sum) in by(scores, |score| vec![score.task]) {
        rows.push(sum.cells(name));
    }
    let mut text = plain("task", &rows);
    let by_app = by(scores, |score| score.apps.to_vec());
    let mut rows: Vec<_> = by_app.iter().map(|(name, sum)| sum.cells(name)).collect();
    let across: Vec<&Score> = scores.iter().filter(|score| score.apps.len() > 1).collect();
    if !across.is_empty() {
        rows.push(Summary::of(across).cells("more than one app"));
    }
    rows.push(Summary::of(scores).cells("all tasks"));
    text.push('\n');
    text.push_str(&plain("app", &rows));
    text
}

fn by<'a>(
    scores: &'a [Score],
    names: impl Fn(&Score) -> Vec<&'static str>,
) -> BTreeMap<&'static str, Summary> {
    let mut groups: BTreeMap<&'static str, Vec<&'a Score>> = BTreeMap::new();
    for score in scores {
        for name in names(score) {
            groups.entry(name).or_default().push(score);
        }
    }
    groups.into_iter().map(|(name, scores)| (name, Summary::of(scores))).collect()
}

fn plain(first: &str, rows: &[Vec<String>]) -> String {
    let mut head = HEAD;
    head[0] = first;
    lines(&head.map(str::to_owned), rows)
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

/// The scores and their summary as JSON.
pub fn to_json(scores: &[Score]) -> Value {
    json!({ "total": sum_json(&Summary::of(scores)), "scores": scores })
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
        "oracle_steps": sum.oracle,
        "tokens": sum.tokens,
        "prompt_tokens_per_step": sum.prompt.per_round(),
        "phone_ms": sum.phone_ms,
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

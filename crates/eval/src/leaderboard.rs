//! The leaderboard: a table of evaluations in Markdown, one row for each file of results.
//!
//! [`table`] makes the table, [`update`] puts it between the marks of a page.

use thumbwire_base::visible::visible;

use super::results::EvalResults;
use super::summary::{Summary, by_category, by_difficulty};
use super::tasks;

/// Where the table begins and ends in the page.
const BEGIN: &str = "<!-- leaderboard: begin -->";
const END: &str = "<!-- leaderboard: end -->";

/// The columns: those that name groups are filled from the summaries by difficulty and category.
const COLUMNS: [&str; 14] = [
    "policy",
    "program",
    "date",
    "attempts",
    "success",
    "95 % interval",
    "easy",
    "medium",
    "hard",
    "information_retrieval",
    "composite",
    "long",
    "steps/oracle",
    "tokens/step, cost/attempt",
];

/// The table, with the best results first.
pub fn table(results: &[EvalResults]) -> String {
    let mut rows: Vec<(f64, String)> =
        results.iter().map(|result| (Summary::of(&result.attempts).rate(), row(result))).collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut text = format!("| {} |\n|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()));
    text.extend(rows.into_iter().map(|(_, row)| row));
    text
}

fn row(result: &EvalResults) -> String {
    let scores = &result.attempts;
    let sum = Summary::of(scores);
    let groups = [by_difficulty(scores), by_category(scores)].concat();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let percent = |rate: f64| format!("{:.1} %", rate * 100.0);
    let (low, high) = sum.interval();
    let of_group = |name: &str| {
        let sum = groups.iter().find(|(group, _)| group == name).map(|(_, sum)| sum);
        or_dash(sum.map(|sum| percent(sum.rate())))
    };
    let policy = match result.setup.platform.as_str() {
        "android" => result.setup.policy.clone(),
        other => format!("{} ({other})", result.setup.policy),
    };
    let cells = COLUMNS.map(|column| match column {
        "policy" => policy.clone(),
        "program" => scores.last().map_or("", |score| &*score.program).to_owned(),
        "date" => result.started.chars().take(10).collect(),
        "attempts" => sum.attempts.to_string(),
        "success" => percent(sum.rate()),
        "95 % interval" => format!("{:.1} to {:.1} %", low * 100.0, high * 100.0),
        "steps/oracle" => or_dash(sum.steps_per_oracle().map(|steps| format!("{steps:.2}"))),
        "tokens/step, cost/attempt" => format!(
            "{}, {}",
            or_dash(sum.tokens_per_step().map(|tokens| format!("{tokens:.0}"))),
            or_dash(sum.cost_per_attempt().map(|dollars| format!("${dollars:.4}")))
        ),
        group => of_group(group),
    });
    let cells = cells.map(|cell| visible(&cell).replace('|', "\\|").replace(['<', '>'], "_"));
    format!("| {} |\n", cells.join(" | "))
}

/// The page with the table of these results between its marks.
///
/// # Errors
/// The page lacks a mark, or results are incomplete: not of all tasks that their platform has.
pub fn update(page: &str, results: &[EvalResults]) -> Result<String, String> {
    for result in results {
        let seeds = result.attempts.iter().map(|score| score.seed);
        let seeds: std::collections::BTreeSet<u64> = seeds.collect();
        let expected = tasks_on(&result.setup.platform) * seeds.len();
        if result.attempts.len() != expected || expected == 0 {
            return Err(format!(
                "the results of {} have {} attempts, expected {expected}: all tasks with the same seeds. Finish them with --resume",
                result.setup.policy,
                result.attempts.len()
            ));
        }
    }
    let lacks = |mark: &str| format!("the page has no line {mark:?}");
    let (before, rest) = page.split_once(BEGIN).ok_or_else(|| lacks(BEGIN))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| lacks(END))?;
    Ok(format!("{before}{BEGIN}\n\n{}\n{END}{after}", table(results)))
}

/// The number of tasks that a platform has.
fn tasks_on(platform: &str) -> usize {
    let android = platform == "android";
    tasks::all().iter().filter(|task| android || task.needs.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, score};

    const PAGE: &str = include_str!("../../../docs/evidence/leaderboard.md");

    #[test]
    fn rows_are_sorted_by_success() {
        let mut best = results();
        best.setup.policy = "best | one".into();
        best.attempts[1].success = true;
        let table = table(&[results(), best]);
        let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 2 + 2);
        assert!(rows[2].starts_with("| best \\| one | thumbwire 0 | 2026-01-02 | 2 | 100.0 % |"));
        assert!(rows[3].contains("| 50.0 % | 9.5 to 90.5 % | 50.0 % | – | – |"), "{}", rows[3]);
        assert!(rows[3].ends_with("| 1.25 | 1000, $0.0100 |"), "{}", rows[3]);
    }

    #[test]
    fn incomplete_results_stay_out_of_the_page() {
        let reason = update(PAGE, &[results()]).unwrap_err();
        assert!(reason.contains("2 attempts, expected"), "{reason}");
        assert!(update("", &[]).unwrap_err().contains(BEGIN));
        let mut whole = results();
        whole.attempts = tasks::all().iter().map(|task| score(task.name, 4, true)).collect();
        let page = update(PAGE, &[whole]).unwrap();
        assert!(page.contains("| openai m |") && page.contains(END));
        assert_eq!(page.split(BEGIN).next(), PAGE.split(BEGIN).next());
    }

    /// If this fails after tasks were added or the table changed: `just leaderboard`.
    #[test]
    fn page_has_the_baselines_of_the_present_suite() {
        let (_, part) = PAGE.split_once(BEGIN).unwrap();
        let (part, _) = part.split_once(END).unwrap();
        let rows: Vec<Vec<&str>> = part
            .lines()
            .filter(|line| line.starts_with("| "))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        assert_eq!(rows[0][1..=COLUMNS.len()], COLUMNS, "the table's columns changed");
        for policy in ["oracle", "scripted", "idle", "always-finish"] {
            let row = rows.iter().find(|row| row[1] == policy);
            let row = row.unwrap_or_else(|| panic!("no row for {policy}"));
            let attempts: usize = row[4].parse().unwrap();
            let tasks = tasks_on("android");
            assert!(attempts > 0 && attempts.is_multiple_of(tasks), "{attempts} of {tasks} tasks");
        }
    }
}

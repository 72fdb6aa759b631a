//! The figures of a study of skills, as text.

use super::{SkillRun, SkillScore};
use crate::summary::lines;

/// The sums of a study.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SkillSummary {
    /// Tasks, each with each seed.
    pub(super) tasks: usize,
    /// Of these, saved as a skill.
    pub(super) saved: usize,
    /// Calls of the policy in the first runs.
    pub(super) first_calls: u32,
    /// Calls in the second runs with the same parameters.
    pub(super) again_calls: u32,
    /// Successes of these.
    pub(super) again_successes: usize,
    /// Calls for other parameters without a skill.
    pub(super) other_first_calls: u32,
    /// Calls for other parameters with a skill.
    pub(super) other_calls: u32,
    /// Successes of these.
    pub(super) other_successes: usize,
    /// Runs on changed phones.
    pub(super) changed: usize,
    /// Acts of skills on changed phones.
    pub(super) acts: u32,
    /// Of all runs with a skill, those with a wrong act.
    pub(super) wrong: usize,
}

impl SkillSummary {
    /// Sums up these scores.
    pub(super) fn of(scores: &[SkillScore]) -> Self {
        let mut sum = Self::default();
        for score in scores {
            sum.tasks += 1;
            sum.saved += usize::from(score.not_saved.is_empty());
            sum.first_calls += score.first_calls;
            sum.again_calls += score.again.calls;
            sum.again_successes += usize::from(score.again.success);
            sum.other_first_calls += score.other_first_calls;
            sum.other_calls += score.other.calls;
            sum.other_successes += usize::from(score.other.success);
            sum.changed += score.changed.len();
            sum.acts += score.changed.iter().map(|run| run.acts).sum::<u32>();
            sum.wrong += runs(score).filter(|run| !run.wrong.is_empty()).count();
        }
        sum
    }

    /// The share of the first runs' calls that the second runs took, 0 to 1.
    pub(super) fn again(&self) -> f64 {
        share(self.again_calls, self.first_calls)
    }
}

fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all.max(1))
}

fn runs(score: &SkillScore) -> impl Iterator<Item = &SkillRun> {
    [&score.again, &score.other].into_iter().chain(&score.changed)
}

/// A row for each task, the sums, and what went wrong.
pub(super) fn table(scores: &[SkillScore]) -> String {
    let head =
        ["task", "first", "again", "other first", "other again", "changed phones", "acts", "wrong"];
    let mark = |run: &SkillRun| match run.success {
        true => run.calls.to_string(),
        false => format!("{} (failed)", run.calls),
    };
    let row = |score: &SkillScore| {
        let wrong = runs(score).filter(|run| !run.wrong.is_empty()).count();
        let acts: u32 = score.changed.iter().map(|run| run.acts).sum();
        let cells = [
            score.first_calls.to_string(),
            mark(&score.again),
            score.other_first_calls.to_string(),
            mark(&score.other),
            score.changed.len().to_string(),
            acts.to_string(),
            wrong.to_string(),
        ];
        let name = match score.not_saved.is_empty() {
            true => score.task.to_owned(),
            false => format!("{} (not saved)", score.task),
        };
        std::iter::once(name).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = scores.iter().map(row).collect();
    let sum = SkillSummary::of(scores);
    let mut text = lines(&head.map(str::to_owned), &rows);
    for score in scores {
        if !score.not_saved.is_empty() {
            text.push_str(&format!("{}: not saved: {}\n", score.task, score.not_saved));
        }
        for run in [&score.again, &score.other].into_iter().filter(|run| !run.success) {
            text.push_str(&format!("{}, {}: failed: {}\n", score.task, run.phone, run.reason));
        }
        for run in runs(score).filter(|run| !run.wrong.is_empty()) {
            text.push_str(&format!(
                "{}, {}: wrong: {}\n",
                score.task,
                run.phone,
                run.wrong.join("; ")
            ));
        }
    }
    let other = share(sum.other_calls, sum.other_first_calls) * 100.0;
    text.push_str(&format!(
        "\n{} of {} tasks saved as skills.\n\
         Same parameters: {} of {} calls ({:.1} %), {} successes.\n\
         Other parameters: {} of {} calls ({other:.1} %), {} successes.\n\
         Changed phones: {} runs, {} acts. Runs with a wrong act, of all: {}.\n",
        sum.saved,
        sum.tasks,
        sum.again_calls,
        sum.first_calls,
        sum.again() * 100.0,
        sum.again_successes,
        sum.other_calls,
        sum.other_first_calls,
        sum.other_successes,
        sum.changed,
        sum.acts,
        sum.wrong,
    ));
    text
}

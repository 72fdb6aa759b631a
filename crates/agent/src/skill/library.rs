//! The skills of a folder: which one fits a goal, and which ones are similar.
//!
//! Start with [`Skills`]. The command line reads the files. A skill fits if its goal has the same
//! words, with values in all places; the others are ranked by the words that they share with the
//! goal.

use super::format::Skill;
use super::goal::GoalPattern;
use super::template::{Part, Values, parts};
use crate::prompt::knowledge::Index;

/// How many similar skills are offered.
const MAX_OFFERED: usize = 3;

/// Skills to choose from.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    known: Vec<(Skill, GoalPattern)>,
    index: Index,
}

impl Skills {
    /// The skills of these files, given as names and texts.
    ///
    /// # Errors
    /// A message with the file, if one is not valid or two skills have the same name.
    pub fn read(files: &[(String, String)]) -> Result<Self, String> {
        let mut skills = Vec::new();
        for (file, text) in files {
            let skill = Skill::read(text).map_err(|reason| format!("skill {file}: {reason}"))?;
            if skills.iter().any(|known: &Skill| known.name == skill.name) {
                return Err(format!("skill {file}: there is another skill {:?}", skill.name));
            }
            skills.push(skill);
        }
        Self::of(skills)
    }

    /// These skills.
    ///
    /// # Errors
    /// A goal is not a valid pattern.
    pub fn of(skills: Vec<Skill>) -> Result<Self, String> {
        let index = Index::new(skills.iter().map(|skill| skill.goal.as_str()));
        let mut known = Vec::new();
        for skill in skills {
            let pattern = GoalPattern::new(&skill.goal, &skill.parameters)
                .map_err(|reason| format!("skill {}: {reason}", skill.name))?;
            known.push((skill, pattern));
        }
        Ok(Self { known, index })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The skills, in the order of their files.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.known.iter().map(|(skill, _)| skill)
    }

    /// The name of the skill that fits a goal.
    pub fn name_for(&self, goal: &str) -> Option<&str> {
        self.fitting(goal).map(|(skill, _)| skill.name.as_str())
    }

    /// The skill that fits a goal, with the goal's values; of several, the one with the most words
    /// of its own.
    pub(super) fn fitting(&self, goal: &str) -> Option<(&Skill, Values)> {
        let fits = self
            .known
            .iter()
            .filter_map(|(skill, pattern)| Some((skill, pattern.values_in(goal)?)));
        fits.min_by_key(|(skill, _)| std::cmp::Reverse(own_words(skill)))
    }

    /// The skills whose goals share the most words with this one, best first.
    pub(super) fn similar(&self, goal: &str) -> Vec<&Skill> {
        let best = self.index.best(goal);
        let highest = best.first().map_or(0.0, |(_, score)| *score);
        let good = best.into_iter().filter(|(_, score)| *score >= highest / 2.0);
        good.take(MAX_OFFERED).map(|(at, _)| &self.known[at].0).collect()
    }

    /// The skill with this name.
    pub(super) fn named(&self, name: &str) -> Option<&Skill> {
        self.iter().find(|skill| skill.name == name)
    }
}

/// How many characters of a goal are not places.
fn own_words(skill: &Skill) -> usize {
    let text = parts(&skill.goal).into_iter().map(|part| match part {
        Part::Text(text) => text.len(),
        Part::Place(_) => 0,
    });
    text.sum()
}

//! Makes a skill of one run, or of several with the same goal in other words.
//!
//! Start with [`Skill::learn`]. With one run, what varies is guessed from what it made use of
//! ([`super::parameters`]); with several, it is what differs, and the screens keep only what they
//! share.

use super::draft::Draft;
use super::format::{Expectation, Provenance, Skill, SkillStep, VERSION, check_name};
use super::goal::words;
use super::parameters::find;
use super::recorded::RecordedRun;
use super::template::{Part, parts};

impl Skill {
    /// Learns a skill from runs with the same goal. Without `name`, its name is made of the goal.
    ///
    /// # Errors
    /// The goals are not alike, the runs did different things, or a step cannot be saved.
    pub fn learn(runs: &[RecordedRun], name: Option<&str>) -> Result<Self, String> {
        let goal = find(runs)?;
        let name = name.map_or_else(|| name_of(&goal.goal), str::to_owned);
        check_name(&name)?;
        let mut drafts = Vec::new();
        for (run, values) in runs.iter().zip(&goal.values) {
            let draft = Draft::of(run, &goal, values);
            drafts.push(draft.map_err(|reason| format!("{}: {reason}", run.name))?);
        }
        let mut drafts = drafts.into_iter();
        let mut draft = drafts.next().ok_or("there is no run")?;
        for (other, run) in drafts.zip(&runs[1..]) {
            draft = merge(draft, other).map_err(|reason| {
                format!("{} did something else than {}: {reason}", run.name, runs[0].name)
            })?;
        }
        let Draft { platform, apps, steps, end, read, answer } = draft;
        let learned = Provenance {
            runs: runs.iter().map(|run| run.name.clone()).collect(),
            date: runs.iter().map(|run| run.started.clone()).max().unwrap_or_default(),
        };
        let skill = Self {
            version: VERSION,
            name,
            goal: goal.goal,
            parameters: goal.parameters,
            platform: platform.into(),
            apps,
            steps,
            end,
            read,
            answer,
            learned,
        };
        skill.check().map(|()| skill)
    }
}

/// A name of the first words of a goal.
fn name_of(goal: &str) -> String {
    const SMALL: [&str; 12] =
        ["a", "an", "the", "in", "to", "of", "with", "and", "for", "from", "is", "it"];
    const MAX_WORDS: usize = 5;
    let mut named = Vec::new();
    for part in parts(goal) {
        let Part::Text(text) = part else { continue };
        for word in words(text).into_iter().map(|word| text[word].to_lowercase()) {
            let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
            named.extend((!word.is_empty() && !SMALL.contains(&&*word)).then_some(word));
        }
    }
    named.truncate(MAX_WORDS);
    let name = named.join("-");
    let name: String = name.chars().take(60).collect();
    if name.is_empty() { "skill".into() } else { name }
}

/// What two runs have in common.
fn merge(one: Draft, other: Draft) -> Result<Draft, String> {
    if one.platform != other.platform {
        return Err("it ran on another platform".into());
    }
    if one.steps.len() != other.steps.len() {
        return Err(format!("it has {} steps, not {}", other.steps.len(), one.steps.len()));
    }
    let pairs = one.steps.into_iter().zip(other.steps).zip(1..);
    let steps = pairs.map(|((a, b), number)| {
        let what =
            |step: &SkillStep| SkillStep { before: None, thought: String::new(), ..step.clone() };
        if what(&a) != what(&b) {
            return Err(format!("step {number} is not the same"));
        }
        let before = match (a.before, b.before) {
            (Some(a), Some(b)) => Some(common(a, b)?),
            _ => None,
        };
        Ok(SkillStep { before, ..a })
    });
    let steps = steps.collect::<Result<_, String>>()?;
    let end = common(one.end, other.end)?;
    let same_answer = one.answer == other.answer && one.read == other.read;
    let (read, answer) = if same_answer { (one.read, one.answer) } else { Default::default() };
    Ok(Draft { platform: one.platform, apps: one.apps, steps, end, read, answer })
}

fn common(one: Expectation, other: Expectation) -> Result<Expectation, String> {
    if one.app != other.app {
        return Err(format!("{} was in front, not {}", other.app, one.app));
    }
    let both =
        |a: Vec<String>, b: &[String]| a.into_iter().filter(|text| b.contains(text)).collect();
    let screen = if one.screen == other.screen { one.screen } else { String::new() };
    let (shows, typed) = (both(one.shows, &other.shows), both(one.typed, &other.typed));
    Ok(Expectation { app: one.app, screen, shows, typed, texts: both(one.texts, &other.texts) })
}

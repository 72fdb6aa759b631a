//! Finds out what varies in the goals of runs: by their differences, or in a single one by what the
//! run made use of.
//!
//! Start with [`find`]. A word of a goal is a parameter only if the run typed it, or acted on
//! something that shows it. Otherwise another value would change the goal and not what is done.

use std::collections::BTreeMap;
use std::ops::Range;

use super::format::{Parameter, ParameterKind};
use super::goal::{
    Candidate, GoalPattern, candidates, differences, is_used, parameter_name, quoted, words,
};
use super::recorded::RecordedRun;
use super::template::{Values, has_place, has_words};

/// What varies.
#[derive(Debug)]
pub(super) struct GoalParameters {
    /// The goal with places.
    pub(super) goal: String,
    pub(super) parameters: BTreeMap<String, Parameter>,
    /// The values of each run.
    pub(super) values: Vec<Values>,
    /// Words of the goal that may not vary, but say what it is about.
    pub(super) constants: Vec<String>,
}

impl GoalParameters {
    /// Whether the goal wants what a comparison finds, so that another screen may have another
    /// answer.
    pub(super) fn has_choice(&self) -> bool {
        const WORDS: [&str; 16] = [
            "first", "last", "next", "previous", "newest", "latest", "oldest", "earliest", "most",
            "least", "best", "worst", "nearest", "closest", "any", "random",
        ];
        let compares =
            |word: &str| word.len() > 5 && (word.ends_with("est") || word.ends_with("iest"));
        let mut words = words(&self.goal).into_iter().map(|word| self.goal[word].to_lowercase());
        words.any(|word| WORDS.contains(&&*word) || compares(&word))
    }
}

/// Finds the parameters of runs with the same goal.
///
/// # Errors
/// The goals are not alike, or differ in something that the runs made no use of.
pub(super) fn find(runs: &[RecordedRun]) -> Result<GoalParameters, String> {
    let Some((first, others)) = runs.split_first() else { return Err("there is no run".into()) };
    let goal = &first.goal;
    if has_place(goal) {
        return Err("the goal has a word in braces, which would be taken for a parameter".into());
    }
    let others: Vec<&str> = others.iter().map(|run| run.goal.as_str()).collect();
    let varied = differences(goal, &others);
    let used = first.used();
    let mut places = match varied.is_empty() {
        true => by_use(first, &used),
        false => by_difference(goal, varied, &used)?,
    };
    places.sort_by_key(|candidate| candidate.place.start);
    let places = as_many_as_needed(goal, places, &used);
    let (template, mut parameters, values) = named(goal, &places);
    let pattern = GoalPattern::new(&template, &parameters)?;
    let read = |run: &RecordedRun| {
        pattern.values_in(&run.goal).ok_or_else(|| {
            format!("the goals of the runs are not alike: {:?} is not like {template:?}", run.goal)
        })
    };
    let values: Vec<Values> = match runs.len() {
        1 if pattern.values_in(goal).as_ref() != Some(&values) => {
            return Err(format!("the goal is not clear: {template:?} can be read in two ways"));
        }
        _ => runs.iter().map(read).collect::<Result<_, _>>()?,
    };
    for (name, parameter) in &mut parameters {
        let is_secret =
            runs.iter().zip(&values).any(|(run, values)| run.is_password(&values[name]));
        parameter.example = parameter.example.take().filter(|_| !is_secret);
    }
    let constants = candidates(goal).into_iter().map(|candidate| candidate.place);
    let constants = constants
        .filter(|place| {
            places.iter().all(|it| it.place.end <= place.start || place.end <= it.place.start)
        })
        .flat_map(|place| with_numbers(&goal[place]));
    Ok(GoalParameters { goal: template, parameters, constants: constants.collect(), values })
}

/// A word, and the numbers of a time: an app may show the hour and the minute apart.
fn with_numbers(word: &str) -> Vec<String> {
    let numbers = word.split(':').filter(|part| !part.is_empty() && *part != word);
    let is_number = |part: &&str| part.bytes().all(|it| it.is_ascii_digit());
    std::iter::once(word).chain(numbers.filter(is_number)).map(str::to_owned).collect()
}

/// The places of a single goal that its run made use of.
fn by_use(run: &RecordedRun, used: &[String]) -> Vec<Candidate> {
    let goal = &run.goal;
    let mut places: Vec<Candidate> = Vec::new();
    for candidate in candidates(goal) {
        places.extend(made_use_of(goal, candidate, used));
    }
    // A text that was typed as it is in the goal is from there, whatever it looks like.
    for text in run.typed().iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        let found = goal.match_indices(text).find(|_| has_words(goal, text));
        let Some((start, _)) = found else { continue };
        let place = start..start + text.len();
        let overlaps = |it: &Candidate| it.place.start < place.end && place.start < it.place.end;
        if !places.iter().any(overlaps) && !text.contains(['"', '“', '”']) {
            places.push(Candidate { place, kind: ParameterKind::Words });
        }
    }
    places
}

/// A candidate, if its value was used, or the numbers in it, if those were: the alarm at 6:20 is
/// set by tapping 6 and 20.
fn made_use_of(goal: &str, candidate: Candidate, used: &[String]) -> Vec<Candidate> {
    let value = &goal[candidate.place.clone()];
    if is_used(value, used) {
        return vec![candidate];
    }
    if candidate.kind == ParameterKind::Quoted || !value.contains(|it: char| it.is_ascii_digit()) {
        return Vec::new();
    }
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, it) in value.char_indices().filter(|(_, it)| it.is_ascii_digit()) {
        let at = candidate.place.start + at;
        match groups.last_mut() {
            Some(last) if last.end == at => last.end = at + it.len_utf8(),
            _ => groups.push(at..at + it.len_utf8()),
        }
    }
    let is_used = |group: &Range<usize>| is_used(&goal[group.clone()], used);
    match groups.len() > 1 && groups.iter().all(is_used) {
        true => groups
            .into_iter()
            .map(|place| Candidate { place, kind: ParameterKind::Number })
            .collect(),
        false => Vec::new(),
    }
}

fn by_difference(
    goal: &str,
    varied: Vec<Range<usize>>,
    used: &[String],
) -> Result<Vec<Candidate>, String> {
    let quotes = quoted(goal);
    let mut places = Vec::new();
    for place in varied {
        let value = &goal[place.clone()];
        let is_number = value.chars().all(|it| it.is_ascii_digit() || ".,:/-".contains(it));
        let kind = match quotes.contains(&place) {
            true => ParameterKind::Quoted,
            false if is_number => ParameterKind::Number,
            false => ParameterKind::Words,
        };
        let found = made_use_of(goal, Candidate { place, kind }, used);
        if found.is_empty() {
            return Err(format!(
                "the goals differ in {value:?}, but nothing that the runs typed or tapped does: save each run as a skill of its own"
            ));
        }
        places.extend(found);
    }
    Ok(places)
}

/// Joins neighbours that were only used together: a first and a last name.
fn as_many_as_needed(goal: &str, places: Vec<Candidate>, used: &[String]) -> Vec<Candidate> {
    let mut joined: Vec<Candidate> = Vec::new();
    for candidate in places {
        if let Some(last) = joined.last_mut()
            && last.kind != ParameterKind::Quoted
            && candidate.kind != ParameterKind::Quoted
            && goal[last.place.end..candidate.place.start].chars().all(|it| it == ' ')
            && last.place.end < candidate.place.start
        {
            let both = last.place.start..candidate.place.end;
            let alone = |part: &Range<usize>| {
                used.iter().any(|text| {
                    has_words(&text.replace(&goal[both.clone()], ""), &goal[part.clone()])
                })
            };
            if is_used(&goal[both.clone()], used) && !alone(&last.place) && !alone(&candidate.place)
            {
                *last = Candidate { place: both, kind: ParameterKind::Words };
                continue;
            }
        }
        joined.push(candidate);
    }
    joined
}

/// The goal with names in its places, and what is known of each. Equal values are one parameter.
fn named(goal: &str, places: &[Candidate]) -> (String, BTreeMap<String, Parameter>, Values) {
    let (mut template, mut at) = (String::new(), 0);
    let (mut parameters, mut values) = (BTreeMap::new(), Values::new());
    for candidate in places {
        let value = &goal[candidate.place.clone()];
        let known = values.iter().find(|(_, it)| *it == value).map(|(name, _)| name.clone());
        let name = known.unwrap_or_else(|| {
            let base = parameter_name(goal, candidate);
            let numbered = (2..).map(|number| format!("{base}{number}"));
            let mut names = std::iter::once(base.clone()).chain(numbered);
            names.find(|name| !values.contains_key(name)).unwrap_or(base)
        });
        let count = words(value).len().max(value.split_whitespace().count());
        let is_words = candidate.kind == ParameterKind::Words;
        let parameter = Parameter {
            kind: candidate.kind,
            words: is_words.then_some(count),
            example: Some(value.to_owned()),
        };
        // Of two places, the one without quotation marks says more about what fits.
        if is_words || !parameters.contains_key(&name) {
            parameters.insert(name.clone(), parameter);
        }
        values.insert(name.clone(), value.to_owned());
        template.push_str(&goal[at..candidate.place.start]);
        template.push_str(&format!("{{{name}}}"));
        at = candidate.place.end;
    }
    template.push_str(&goal[at..]);
    (template, parameters, values)
}

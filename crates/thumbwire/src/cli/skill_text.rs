//! Recorded skills as text.

use std::fmt::Write as _;

use thumbwire_agent::{NodeDescription, Skill, SkillStep};

/// The goal and the parameters.
pub(super) fn summary(skill: &Skill) -> String {
    let mut out = format!("    {}\n", skill.goal);
    for (name, parameter) in &skill.parameters {
        let example = match &parameter.example {
            Some(example) => format!("such as {example:?}"),
            None => "a password".into(),
        };
        let _ = writeln!(out, "    {name}: {example}");
    }
    let left = skill.steps.iter().filter(|step| step.function == "think").count();
    let left = match left {
        0 => String::new(),
        left => format!(", {left} of them left to the model"),
    };
    let answer = match &skill.answer {
        None => "; the model gives the answer",
        Some(_) => "",
    };
    let _ = writeln!(out, "    {} steps{left}{answer}", skill.steps.len());
    out
}

/// What a skill does, a line for each step.
pub(super) fn shown(skill: &Skill) -> String {
    let mut out = format!("{}\n{}\n", skill.name, summary(skill));
    for (step, number) in skill.steps.iter().zip(1..) {
        for reading in &step.read {
            let _ = writeln!(out, "     read {} from {}", reading.name, target(&reading.from));
        }
        let _ = writeln!(out, "{number:>3}  {}", action(step));
    }
    for reading in &skill.read {
        let _ = writeln!(out, "     read {} from {}", reading.name, target(&reading.from));
    }
    if let Some(answer) = skill.answer.as_ref().filter(|answer| !answer.is_empty()) {
        let _ = writeln!(out, "     answer {answer:?}");
    }
    let runs = skill.learned.runs.join(", ");
    let _ = write!(out, "\nLearned from {runs} on {}.\n", skill.learned.date);
    out
}

fn action(step: &SkillStep) -> String {
    let mut line = step.function.clone();
    if let Some(it) = &step.target {
        let _ = write!(line, " {}", target(it));
    }
    for (name, value) in &step.arguments {
        let _ = write!(line, " {name}={value}");
    }
    if let Some(swipe) = step.swipe {
        let _ = write!(line, " {}", format!("{swipe:?}").to_lowercase());
    }
    if step.until_target {
        line.push_str(", until the next target is there");
    }
    if step.if_shown {
        line.push_str(", if it is shown");
    }
    line
}

fn target(it: &NodeDescription) -> String {
    let class = it.class.rsplit('.').next().unwrap_or_default();
    let texts = [Some(&it.text), Some(&it.label), it.inside.as_ref()].into_iter().flatten();
    let text = texts.into_iter().find(|text| !text.is_empty());
    let mut out = match text {
        Some(text) => format!("{class} {text:?}"),
        None => format!("{class} {}", it.id.rsplit('/').next().unwrap_or_default())
            .trim_end()
            .to_owned(),
    };
    for (word, text) in [("beside", &it.beside), ("under", &it.under)] {
        if let Some(text) = text {
            let _ = write!(out, " {word} {text:?}");
        }
    }
    if let Some([nth, count]) = it.nth {
        let _ = write!(out, " {nth} of {count}");
    }
    out
}

//! `thumbwire skill`: saves runs as skills, and shows and checks the files of skills.
//!
//! [`super::skill_flags`] has the flags by which `run` follows them.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::model_flags::{read, texts};
use super::skill_flags::{ENDINGS, recorded, save};
use super::{CliError, print};
use thumbwire_agent::{NodeDescription, Skill, SkillStep, Skills};
use thumbwire_base::files::Folder;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Save a run that reached its goal as a skill
    ///
    /// With one run, what varies is guessed: words of the goal that the run typed or tapped. With
    /// several runs of the same goal in other words, it is what differs.
    Save {
        /// Directories of the runs
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<PathBuf>,
        /// Name of the skill [default: the first words of the goal]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Directory to write NAME.yaml to [default: skills]
        #[arg(short, long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// List the skills of a directory with their goals
    List {
        /// Directory of skills
        #[arg(value_name = "DIR", default_value = "skills")]
        skills: PathBuf,
    },
    /// Print what a skill does, step by step
    Show {
        /// File of the skill
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check that files are valid skills
    Check {
        /// Files of skills
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

/// The folder `skills`, which the operator has not named. If it is a link, somebody else chose
/// where it leads, and it is not used.
fn own_folder() -> Result<PathBuf, CliError> {
    let folder = PathBuf::from("skills");
    let leads_out = |error: io::Error| {
        CliError::failed(format!("cannot write to skills: {error}; name a folder with --out"))
    };
    Folder::new(".").check(&folder.join("x.yaml")).map_err(leads_out)?;
    Ok(folder)
}

pub(super) fn run(arguments: Arguments) -> Result<u8, CliError> {
    match arguments.verb {
        Verb::Save { runs, name, out, force } => {
            let recorded = runs.iter().map(|run| recorded(run)).collect::<Result<Vec<_>, _>>();
            let skill = Skill::learn(&recorded.map_err(CliError::failed)?, name.as_deref());
            let skill = skill
                .map_err(|reason| CliError::failed(format!("cannot save a skill: {reason}")))?;
            let out = out.map_or_else(own_folder, Ok)?;
            let file = save(&skill, &out, force).map_err(CliError::failed)?;
            print(&format!("{}\n{}", file.display(), summary(&skill)))?;
        }
        Verb::List { skills } => {
            let skills = Skills::read(&texts(&skills, &ENDINGS)?).map_err(CliError::usage)?;
            let lines = skills.iter().map(|skill| format!("{}\n    {}\n", skill.name, skill.goal));
            print(&lines.collect::<String>())?;
        }
        Verb::Show { file } => print(&shown(&open(&file)?))?,
        Verb::Check { files } => {
            for file in files {
                let skill = open(&file)?;
                print(&format!("{}: {} steps\n", file.display(), skill.steps.len()))?;
            }
        }
    }
    Ok(0)
}

fn open(file: &Path) -> Result<Skill, CliError> {
    Skill::read(&read(file)?)
        .map_err(|reason| CliError::usage(format!("{}: {reason}", file.display())))
}

/// The goal and the parameters.
fn summary(skill: &Skill) -> String {
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
fn shown(skill: &Skill) -> String {
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

//! The flags of `run` for skills, and the files of skills: read from a folder, and written to one.
//!
//! A file is a person's: it is never replaced without their word.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::CliError;
use super::model_flags::{ModelFlags, ModelSetup, texts};
use crate::config::Config;
use thumbwire_agent::{Policy, RecordedRun, Skill, SkillPolicy, Skills};
use thumbwire_base::files;
use thumbwire_core::action::Perform;
use thumbwire_core::trace::{self, Trace};

/// Flags for skills.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct SkillFlags {
    /// Directory of skills. One that fits the goal is followed without the model, as long as the
    /// screens are as expected; see docs/agent.md
    #[arg(long, value_name = "DIR", help_heading = SKILLS)]
    skills: Option<PathBuf>,
    /// Save the run as a skill in the directory of skills if it reaches its goal and no skill
    /// fitted it
    #[arg(long, requires = "skills", help_heading = SKILLS)]
    learn: bool,
}

const SKILLS: &str = "Skills";

impl SkillFlags {
    /// Reads the directory. One that `--learn` is about to create is empty.
    pub(super) fn open(&self) -> Result<SkillSetup, CliError> {
        let Some(folder) = &self.skills else { return Ok(SkillSetup::default()) };
        let is_new = self.learn && !has_skills(folder)?;
        let files = if is_new { Vec::new() } else { texts(folder, &ENDINGS)? };
        let skills = Skills::read(&files).map_err(CliError::usage)?;
        Ok(SkillSetup { skills: Arc::new(skills), learn: self.learn.then(|| folder.clone()) })
    }
}

/// The skills of a run, and where it is saved as one.
#[derive(Default)]
pub(super) struct SkillSetup {
    skills: Arc<Skills>,
    learn: Option<PathBuf>,
}

impl SkillSetup {
    /// The model that decides where no skill does. It can be omitted if a skill fits the goal.
    pub(super) fn open_model(
        &self,
        model: &ModelFlags,
        goal: Option<&str>,
        config: &Config,
    ) -> Result<Option<ModelSetup>, CliError> {
        if model.is_there() || self.skills.is_empty() {
            return model.open(config).map(Some);
        }
        match goal.and_then(|goal| self.skills.name_for(goal)) {
            Some(_) => Ok(None),
            None => Err(CliError::usage(
                "no skill fits the goal, and no model is given. Set `--model`, or see the skills' goals with `thumbwire skill list`",
            )),
        }
    }

    /// The policy that follows the skills, if there are any. It reads the screen by `perform`.
    pub(super) fn policy(
        &self,
        inner: Option<Arc<dyn Policy>>,
        perform: Arc<dyn Perform>,
    ) -> Arc<dyn Policy> {
        match inner {
            Some(inner) if self.skills.is_empty() => inner,
            inner => Arc::new(SkillPolicy::new(Arc::clone(&self.skills), inner, perform)),
        }
    }

    /// Saves a run that reached this goal, if that is wanted and no skill fitted. Returns the file.
    ///
    /// # Errors
    /// Why it was not saved.
    pub(super) fn learn(&self, run: &Path, goal: &str) -> Result<Option<PathBuf>, String> {
        let Some(folder) = self.learn.as_ref().filter(|_| self.skills.name_for(goal).is_none())
        else {
            return Ok(None);
        };
        let skill = Skill::learn(&[recorded(run, None)?], None)?;
        save(&skill, folder, false).map(Some)
    }
}

/// The endings of skill files.
pub(super) const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Whether a folder has skill files; one that does not exist has none.
fn has_skills(folder: &Path) -> Result<bool, CliError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries,
    };
    let wrong = |error| CliError::usage(format!("cannot read {}: {error}", folder.display()));
    for entry in entries.map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ENDINGS.contains(&ending) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A recorded run, to learn from; with a goal, one that a person recorded by hand for it.
///
/// # Errors
/// Why it cannot be read, or did not reach its goal.
pub(super) fn recorded(folder: &Path, goal: Option<&str>) -> Result<RecordedRun, String> {
    let wrong =
        |reason: &dyn std::fmt::Display| format!("cannot save {}: {reason}", folder.display());
    if !folder.is_dir() {
        return Err(wrong(&"no such directory"));
    }
    let lines = trace::read(folder).map_err(|error| match error.kind() {
        // Such as the folder of a run of flows.
        io::ErrorKind::NotFound => {
            wrong(&"it has no trace.jsonl; a run of the agent is a directory such as logs/run-TIME")
        }
        _ => wrong(&error),
    })?;
    let trace = Trace::open(folder).map_err(|error| wrong(&error))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let run = match goal {
        Some(_) if !trace.goals.is_empty() => Err("it has a goal of its own".into()),
        Some(goal) => RecordedRun::by_hand(&name, &trace, goal),
        None => RecordedRun::of(&name, &lines, |file| trace.file(file).ok()),
    };
    run.map_err(|reason| wrong(&reason))
}

/// Writes a skill to `NAME.yaml` in a folder, which is created. Another file of this name is
/// replaced only with `force`.
///
/// # Errors
/// The file is there, or cannot be written.
pub(super) fn save(skill: &Skill, folder: &Path, force: bool) -> Result<PathBuf, String> {
    let file = folder.join(format!("{}.yaml", skill.name));
    let wrong = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!(
            "{} exists already. Choose another name with `--name`, or replace it with `--force`",
            file.display()
        ),
        _ => format!("cannot write {}: {error}", file.display()),
    };
    files::make_folder(folder).map_err(wrong)?;
    let write = if force { files::write } else { files::write_new };
    write(&file, skill.to_text().as_bytes()).map_err(wrong)?;
    Ok(file)
}

//! `thumbwire skill`: saves runs as skills, shows and checks the files of skills, and installs
//! `SKILL.md` files for other agents.
//!
//! [`super::skill_flags`] has the flags by which `run` follows them, [`super::skill_documents`] the
//! `SKILL.md` files.

use std::io;
use std::path::{Path, PathBuf};

use super::model_flags::{read, texts};
use super::skill_documents;
use super::skill_flags::{ENDINGS, recorded, save};
use super::skill_install::{self, AGENTS};
use super::skill_text::{shown, summary};
use super::{CliError, print};
use crate::config;
use thumbwire_agent::{Skill, Skills};
use thumbwire_base::files::Folder;
use thumbwire_core::toolset::skills::SkillDocument;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Teach another agent: write `SKILL.md` files about using phones, flows and testing apps
    Install(InstallFlags),
    /// Remove these files again
    Uninstall(InstallFlags),
    /// Save a run that reached its goal, or a recording of the studio, as a skill
    ///
    /// With one run, what varies is guessed: words of the goal that the run typed or tapped. With
    /// several runs of the same goal in other words, it is what differs.
    Save {
        /// Directories of the runs
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<PathBuf>,
        /// What a recording of the studio is for, in the words of a goal
        #[arg(long, value_name = "GOAL")]
        goal: Option<String>,
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

/// Which `SKILL.md` files, and where.
#[derive(clap::Args)]
struct InstallFlags {
    /// The agent: its folder of the user's skills, such as `~/.claude/skills`; `agents` is
    /// `~/.agents/skills`, which several agents read
    #[arg(value_parser = AGENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), required_unless_present = "to")]
    agent: Option<String>,
    /// Another folder, such as `.claude/skills` of a project
    #[arg(long, value_name = "DIR", conflicts_with = "agent")]
    to: Option<PathBuf>,
    /// Recorded skills of this directory, too
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Replace or remove files that differ
    #[arg(long)]
    force: bool,
}

impl InstallFlags {
    fn run(self, change: ChangeFiles) -> Result<u8, CliError> {
        let mut skills = skill_documents::own();
        if let Some(from) = &self.from {
            skills.extend(skill_documents::recorded(from)?);
        }
        let is_agents = self.to.is_none();
        let folder = skill_install::folder(self.agent.as_deref(), self.to)?;
        let (lines, is_kept) = change(&skills, &folder, self.force)?;
        if is_agents && let Some(folders) = config::settings_folders() {
            // After an `uninstall`; after an `install` it is not empty.
            folders.remove_empty(&folder);
        }
        print(&lines)?;
        Ok(u8::from(is_kept))
    }
}

/// [`skill_install::install`] or [`skill_install::uninstall`].
type ChangeFiles = fn(&[SkillDocument], &Path, bool) -> Result<(String, bool), CliError>;

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
        Verb::Install(flags) => return flags.run(skill_install::install),
        Verb::Uninstall(flags) => return flags.run(skill_install::uninstall),
        Verb::Save { runs, goal, name, out, force } => {
            let recorded = runs.iter().map(|run| recorded(run, goal.as_deref()));
            let recorded = recorded.collect::<Result<Vec<_>, _>>();
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

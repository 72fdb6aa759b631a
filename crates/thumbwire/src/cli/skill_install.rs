//! Writes `SKILL.md` files to the folders of agents, and removes them. A file that somebody has
//! changed is kept.

use std::path::{Path, PathBuf};

use thumbwire_base::files;
use thumbwire_core::toolset::skills::SkillDocument;

use super::CliError;
use crate::config;

/// Where agents look for the skills of a user, in the home directory.
pub(super) const AGENTS: &[(&str, &str)] = &[
    ("agents", ".agents/skills"),
    ("claude", ".claude/skills"),
    ("codex", ".agents/skills"),
    ("copilot", ".copilot/skills"),
    ("cursor", ".cursor/skills"),
    ("gemini", ".gemini/skills"),
];

/// The largest file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Written,
    Replaced,
    Removed,
    Same,
    /// It was changed by somebody, and is left as it is.
    Kept,
    Absent,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Replaced => "replaced",
            Self::Removed => "removed",
            Self::Same => "is there already",
            Self::Kept => "differs from this version's and is kept; --force replaces or removes it",
            Self::Absent => "is not there",
        }
    }
}

/// The folder of an agent, or the one that was named.
pub(super) fn folder(agent: Option<&str>, to: Option<PathBuf>) -> Result<PathBuf, CliError> {
    if let Some(folder) = to {
        return Ok(folder);
    }
    let inside = AGENTS.iter().find(|(name, _)| Some(*name) == agent).map(|(_, folder)| *folder);
    let inside =
        inside.ok_or_else(|| CliError::usage("name an agent, or a folder with --to DIR"))?;
    let folders = config::settings_folders()
        .ok_or_else(|| CliError::usage("no home directory: name a folder with --to DIR"))?;
    Ok(folders.home.join(inside))
}

/// Writes the skills into a folder. Returns what happened, a line for each file, and whether one
/// was kept.
pub(super) fn install(
    skills: &[SkillDocument],
    folder: &Path,
    force: bool,
) -> Result<(String, bool), CliError> {
    each(skills, folder, |file, skill, there| match there {
        Some(text) if text == skill.text => Ok(Change::Same),
        Some(_) if !force => Ok(Change::Kept),
        there => {
            files::make_folder_of(file)?;
            files::write(file, skill.text.as_bytes())?;
            Ok(if there.is_some() { Change::Replaced } else { Change::Written })
        }
    })
}

/// Removes the skills from a folder. Returns what happened, a line for each file, and whether one
/// was kept.
pub(super) fn uninstall(
    skills: &[SkillDocument],
    folder: &Path,
    force: bool,
) -> Result<(String, bool), CliError> {
    each(skills, folder, |file, skill, there| match there {
        None => Ok(Change::Absent),
        Some(text) if text != skill.text && !force => Ok(Change::Kept),
        Some(_) => {
            std::fs::remove_file(file)?;
            // Other files in its folder are somebody else's.
            let _ = file.parent().map(std::fs::remove_dir);
            Ok(Change::Removed)
        }
    })
}

fn each(
    skills: &[SkillDocument],
    folder: &Path,
    change: impl Fn(&Path, &SkillDocument, Option<String>) -> std::io::Result<Change>,
) -> Result<(String, bool), CliError> {
    let (mut lines, mut is_kept) = (String::new(), false);
    for skill in skills {
        let file = folder.join(&skill.name).join("SKILL.md");
        let there = match files::read_text(&file, MAX_FILE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        };
        let changed = there.and_then(|there| change(&file, skill, there));
        let changed = changed.map_err(|error| {
            CliError::failed(format!("cannot change {}: {error}", file.display()))
        })?;
        lines.push_str(&format!("{}: {}\n", file.display(), changed.name()));
        is_kept |= changed == Change::Kept;
    }
    Ok((lines, is_kept))
}

//! The files of flows: which of a folder are read, and what they may use.
//!
//! Start with [`read_all`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thumbwire_base::files::{self, Folder};
use thumbwire_core::input_files::InputFolder;
use thumbwire_flow::{Flow, FlowError, GoldenFiles, Shard, Workspace};

use super::{CliError, PERMISSIONS};
use crate::config::maestro_variables;

/// The largest file that a flow names, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The files that make a folder a workspace.
const WORKSPACES: [&str; 2] = ["config.yaml", "config.yml"];

/// The heading of the flags that select cases.
pub(super) const CASES: &str = "Cases";

/// Which flows are read, and which of their cases are run.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct FlowFlags {
    /// Set a parameter, which flows use as `${NAME}` (repeatable)
    #[arg(short = 'e', long, value_name = "NAME=VALUE", value_parser = parameter)]
    pub(super) param: Vec<(String, String)>,
    /// Directory whose files flows may use [default: the nearest one above the flow that is called
    /// `.maestro` or `maestro` or has a `config.yaml`, else the repository, else the flow's own]
    #[arg(long, value_name = "DIR")]
    input: Option<PathBuf>,
    /// Workspace file that says which files of the directories are flows [default: their own
    /// `config.yaml`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run only cases whose name, or `FLOW: CASE`, contains NAME
    #[arg(long, value_name = "NAME", help_heading = CASES)]
    pub(super) only: Option<String>,
    /// Run only shard I of N: 2/3 runs the cases 2, 5, 8 …
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = CASES)]
    pub(super) shard: Option<Shard>,
    /// Run only flows with one of these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = CASES)]
    include_tags: Vec<String>,
    /// Skip flows with one of these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = CASES)]
    exclude_tags: Vec<String>,
}

/// What flows may do besides using apps.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct FlowPermissions {
    /// Allow flows to clear app data (`clearState`)
    #[arg(long = "allow-reset", help_heading = PERMISSIONS)]
    pub(super) reset: bool,
    /// Allow flows to install apps (`installApp`) and to copy media to the phone (`addMedia`)
    #[arg(long = "allow-install", help_heading = PERMISSIONS)]
    pub(super) install: bool,
    /// Allow scripts of flows to reach HOST or HOST:PORT over HTTP (repeatable)
    #[arg(long = "allow-network", value_name = "HOST", help_heading = PERMISSIONS)]
    pub(super) network: Vec<String>,
}

impl FlowFlags {
    /// The parameters of flows from outside.
    pub(super) fn parameters(&self) -> BTreeMap<String, String> {
        let mut parameters: BTreeMap<String, String> = maestro_variables().collect();
        parameters.extend(self.param.iter().cloned());
        parameters
    }
}

/// The folders whose files the flows may use.
pub(super) struct FlowFolders(Vec<Folder>);

impl FlowFolders {
    /// The files of this folder only.
    #[cfg(feature = "fleet")]
    pub(super) fn only(folder: &Path) -> Self {
        Self(vec![Folder::new(folder)])
    }

    /// The folder that the flags name, else those of the flows.
    pub(super) fn of(flows: &[PathBuf], flags: &FlowFlags) -> Self {
        let roots = match &flags.input {
            Some(folder) => vec![absolute(folder)],
            None => flows.iter().map(|flow| project(flow)).collect(),
        };
        Self(roots.into_iter().map(Folder::new).collect())
    }

    /// The packages that flows may install.
    pub(super) fn input(&self) -> InputFolder {
        InputFolder::of(self.0.iter().map(|folder| folder.root().to_owned()))
    }

    /// The folder that a file is in, and its absolute path.
    ///
    /// # Errors
    /// Which folders there are.
    fn find(&self, file: &Path) -> Result<(&Folder, PathBuf), String> {
        let file = absolute(file);
        match self.0.iter().find(|folder| folder.holds(&file)) {
            Some(folder) => Ok((folder, file)),
            None => {
                let roots = self.0.iter().map(|folder| folder.root().display().to_string());
                let roots = roots.collect::<Vec<_>>().join(" and ");
                Err(format!("only files in {roots} can be used; name a wider folder with --input"))
            }
        }
    }

    /// The bytes of a file in one of the folders, at most `max`.
    ///
    /// # Errors
    /// Why it cannot be read.
    #[cfg(feature = "fleet")]
    pub(super) fn read(&self, file: &Path, max: u64) -> Result<Vec<u8>, String> {
        let (folder, file) = self.find(file)?;
        folder.read(&file, max).map_err(|error| error.to_string())
    }

    /// The text of a file in one of the folders.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(super) fn read_text(&self, file: &Path) -> Result<String, String> {
        let (folder, file) = self.find(file)?;
        folder.read_text(&file, MAX_BYTES).map_err(|error| error.to_string())
    }
}

impl GoldenFiles for FlowFolders {
    fn read(&self, file: &Path) -> Result<Option<Vec<u8>>, String> {
        let (folder, file) = self.find(file)?;
        match folder.read(&file, MAX_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), String> {
        let (folder, file) = self.find(file)?;
        folder.write(&file, bytes).map_err(|error| error.to_string())
    }
}

/// The folder of what belongs to a flow or a folder of flows: the nearest one upwards that is
/// called `.maestro` or `maestro` or is a workspace, else the repository, else its own. Workspace
/// and repository are of the same owner.
fn project(flow: &Path) -> PathBuf {
    let flow = absolute(flow);
    let own = match flow.is_dir() {
        true => &flow,
        false => flow.parent().unwrap_or(&flow),
    };
    // Other programs have a `config.yaml` too, and in a shared folder anybody may write one.
    let is_workspace = |file: PathBuf| {
        files::have_one_owner(&file, own)
            && text_of(&file).is_ok_and(|text| Workspace::is_config(&text))
    };
    // A home directory is neither: the folder above it is the system's.
    let is_inside_ones_own =
        |folder: &Path| folder.parent().is_some_and(|above| files::have_one_owner(folder, above));
    let is_project = |folder: &&Path| {
        let name = folder.file_name().unwrap_or_default();
        name == ".maestro"
            || (name == "maestro" && is_inside_ones_own(folder))
            || WORKSPACES.iter().any(|name| is_workspace(folder.join(name)))
    };
    let is_repository = |folder: &&Path| {
        files::have_one_owner(&folder.join(".git"), own) && is_inside_ones_own(folder)
    };
    let mut above = own.ancestors();
    let project = above.clone().find(is_project).or_else(|| above.find(is_repository));
    project.unwrap_or(own).to_owned()
}

/// The absolute path without `..`.
pub(super) fn absolute(path: &Path) -> PathBuf {
    thumbwire_flow::plain(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The flows to run or to check, and what is wrong with others.
#[derive(Default)]
pub(super) struct ReadFlows {
    pub(super) flows: Vec<Flow>,
    /// Each once.
    pub(super) errors: Vec<String>,
    /// How many have other tags.
    pub(super) skipped: usize,
    /// The texts of all files that were read, by their absolute paths.
    pub(super) texts: BTreeMap<PathBuf, String>,
}

impl ReadFlows {
    /// The flows, if all are right.
    pub(super) fn runnable(self) -> Result<Vec<Flow>, CliError> {
        if !self.errors.is_empty() {
            let text = format!("invalid flows, nothing was run:\n{}", self.errors.join("\n"));
            return Err(CliError::usage(text));
        }
        if self.flows.is_empty() && self.skipped > 0 {
            let text = format!("no flow has the tags to run; {} have others", self.skipped);
            return Err(CliError::usage(text));
        }
        Ok(self.flows)
    }
}

/// Reads all flows. With `all`, those of a folder that lists none are all that it has.
pub(super) fn read_all(
    flows: &[PathBuf],
    flags: &FlowFlags,
    folders: &FlowFolders,
    all: bool,
) -> Result<ReadFlows, CliError> {
    let parameters = flags.parameters();
    let texts = RefCell::new(BTreeMap::new());
    let mut read = ReadFlows::default();
    for (number, path) in flows.iter().enumerate() {
        let (mut workspace, files) = flow_files(path, flags, folders, all)?;
        workspace.include_tags.extend_from_slice(&flags.include_tags);
        workspace.exclude_tags.extend_from_slice(&flags.exclude_tags);
        let mut together = Vec::new();
        // The operator may name a link.
        let text_of = |file: &Path| {
            let text = if file == path { text_of(file) } else { folders.read_text(file) }?;
            texts.borrow_mut().insert(absolute(file), text.clone());
            Ok(text)
        };
        for file in files {
            match thumbwire_flow::read(&file.display().to_string(), &parameters, &text_of) {
                Ok(flow) if workspace.selects(&flow) => together.push(flow),
                Ok(_) => read.skipped += 1,
                Err(errors) => {
                    for error in errors.iter().map(ToString::to_string) {
                        // Several flows may run the same wrong file.
                        if !read.errors.contains(&error) {
                            read.errors.push(error);
                        }
                    }
                }
            }
        }
        workspace.sort(&mut together, number);
        read.flows.extend(together);
    }
    read.texts = texts.into_inner();
    Ok(read)
}

/// A named file, or the flows of a folder: those that its `config.yaml` names, else those directly
/// in it. Subfolders may hold flows that these include.
fn flow_files(
    path: &Path,
    flags: &FlowFlags,
    folders: &FlowFolders,
    all: bool,
) -> Result<(Workspace, Vec<PathBuf>), CliError> {
    if !path.is_dir() {
        return Ok((Workspace::default(), vec![path.to_owned()]));
    }
    let workspace = match &flags.config {
        Some(file) => read_workspace(file, &text_of(file))?.unwrap_or_default(),
        None => workspace(path)?,
    };
    let mut inside = Vec::new();
    walk(path, "", &mut inside)?;
    let text = |name: &str| folders.read_text(&path.join(name));
    // A file that cannot be read is refused later, with its reason.
    let is_config = |name: &str| text(name).is_ok_and(|text| Workspace::is_config(&text));
    let (mut listed, others): (Vec<String>, Vec<String>) =
        inside.into_iter().partition(|name| workspace.takes(name) && !is_config(name));
    if listed.is_empty() && all {
        let is_yaml = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml");
        let is_flow = |name: &str| text(name).is_ok_and(|text| text.contains("\n---"));
        listed = others.into_iter().filter(|name| is_yaml(name) && is_flow(name)).collect();
    }
    listed.sort();
    if listed.is_empty() {
        let text = format!(
            "no flow of {} is listed: name a folder of flows, or list them under `flows` in its config.yaml; `--check` shows all that it has",
            path.display()
        );
        return Err(CliError::usage(text));
    }
    Ok((workspace, listed.iter().map(|name| path.join(name)).collect()))
}

/// What the folder's `config.yaml` says, if it has one that is not a flow.
fn workspace(folder: &Path) -> Result<Workspace, CliError> {
    for name in WORKSPACES {
        let file = folder.join(name);
        if !file.is_file() {
            continue;
        }
        let text = Folder::new(folder).read_text(Path::new(name), MAX_BYTES);
        let text = text.map_err(|error| error.to_string());
        if let Some(workspace) = read_workspace(&file, &text)? {
            return Ok(workspace);
        }
    }
    Ok(Workspace::default())
}

/// What a workspace file says; `None` if it is a flow.
fn read_workspace(
    file: &Path,
    text: &Result<String, String>,
) -> Result<Option<Workspace>, CliError> {
    let text = text
        .as_ref()
        .map_err(|reason| CliError::usage(format!("cannot read {}: {reason}", file.display())))?;
    Workspace::read(&file.display().to_string(), text).map_err(|errors| {
        CliError::usage(format!("invalid workspace, nothing was run:\n{}", lines(&errors)))
    })
}

/// The files below a folder, relative to it.
fn walk(folder: &Path, before: &str, files: &mut Vec<String>) -> Result<(), CliError> {
    /// How many parts a name may have.
    const MAX_DEPTH: usize = 16;
    let unread = |error| CliError::usage(format!("cannot read {}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        let kind = entry.file_type().map_err(unread)?;
        // Reading a link is refused later, with its name.
        if kind.is_file() || kind.is_symlink() {
            files.push(name);
        } else if kind.is_dir() && name.matches('/').count() < MAX_DEPTH {
            walk(&path, &format!("{name}/"), files)?;
        }
    }
    Ok(())
}

/// Errors, a line each.
pub(super) fn lines(errors: &[FlowError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Reads a file that the operator named.
fn text_of(path: &Path) -> Result<String, String> {
    files::read_text(path, MAX_BYTES).map_err(|error| error.to_string())
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let read = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let read = read.map(|(name, value)| (name.to_owned(), value.to_owned()));
    read.ok_or_else(|| "expected NAME=VALUE".to_owned())
}

fn shard(text: &str) -> Result<Shard, String> {
    let read = text.split_once('/').and_then(|(nth, of)| {
        let (nth, of) = (nth.parse::<usize>().ok()?, of.parse::<usize>().ok()?);
        (1..=of).contains(&nth).then_some(Shard { nth, of })
    });
    read.ok_or_else(|| "expected I/N, such as 1/3".to_owned())
}

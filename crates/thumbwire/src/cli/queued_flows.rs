//! Runs of flows in the queue of a fleet: what `submit` sends and `work` answers.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use thumbwire_base::files::Folder;
use thumbwire_fleet::queue::RunQueue;
use thumbwire_flow::{CaseResult, Flow, Phone};

use super::flow_files::{FlowFolders, absolute, lines};

/// The largest file of a run, in bytes.
pub(super) const MAX_FILE: usize = 256 << 20;

/// What workers need to know of a run of flows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FlowRequest {
    /// The flow files, in order.
    pub(super) flows: Vec<QueuedFlow>,
    /// The cases, by number.
    pub(super) cases: Vec<QueuedCase>,
    /// The names of all files, without `/` at the beginning: absolute paths at the submitter.
    pub(super) files: Vec<String>,
    /// Which phones they run on, as `--device` selects them, unless a flow names its own.
    pub(super) device: String,
    /// Parameters from outside.
    pub(super) parameters: BTreeMap<String, String>,
    /// Whether typed texts, the content of text fields and pictures are left out of the traces.
    pub(super) redact: bool,
}

/// A flow of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct QueuedFlow {
    /// The name of its file among the run's files.
    pub(super) file: String,
    /// As the submitter named it.
    pub(super) named: String,
}

/// A case of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct QueuedCase {
    /// Its flow, by its place in the list.
    pub(super) flow: usize,
    /// Its place in the flow.
    pub(super) case: usize,
    /// By what it is known in other runs.
    pub(super) name: String,
}

/// How a case ended, as a worker writes it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CaseRecord {
    /// The worker.
    pub(super) worker: String,
    /// The result. Paths are those at the submitter.
    pub(super) result: CaseResult,
    /// The phones that it ran on.
    pub(super) phones: Vec<Phone>,
    /// The files of its traces: `FOLDER/NAME`.
    pub(super) files: Vec<String>,
}

/// What a worker says of a case that begins.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CaseBegun {
    /// Its number.
    pub(super) case: usize,
    /// The phone.
    pub(super) device: String,
    /// How often it was begun, this time included.
    pub(super) attempt: u32,
}

/// The files of a run, in a folder of this computer, and its flows.
pub(super) struct RunFiles {
    folder: TempDir,
    /// The flows, in order. Their paths are in the folder.
    pub(super) flows: Vec<Flow>,
}

impl RunFiles {
    /// Fetches the files of a run into a folder of their own in `parent`, and reads its flows.
    ///
    /// # Errors
    /// If a file cannot be fetched or written, or a flow is invalid.
    pub(super) async fn fetch(
        queue: &RunQueue,
        run: &str,
        request: &FlowRequest,
        parent: &Path,
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir_in(parent).map_err(|error| format!("no folder: {error}"))?;
        let root = Folder::new(folder.path());
        for name in &request.files {
            let content = queue.file(run, &stored(name), MAX_FILE).await;
            let content = content.map_err(|error| error.to_string())?;
            let written = root.write(Path::new(name), &content);
            written.map_err(|error| format!("cannot write {name}: {error}"))?;
        }
        let folders = FlowFolders::only(folder.path());
        let mut flows = Vec::new();
        for QueuedFlow { file, .. } in &request.flows {
            let path = folder.path().join(file).display().to_string();
            let text_of = |file: &Path| folders.read_text(file);
            let flow = thumbwire_flow::read(&path, &request.parameters, &text_of);
            flows.push(flow.map_err(|errors| lines(&errors))?);
        }
        // Another program has written the request.
        let is_known = |case: &QueuedCase| {
            flows.get(case.flow).is_some_and(|flow| case.case < flow.cases.len())
        };
        match request.cases.iter().all(is_known) {
            true => Ok(Self { folder, flows }),
            false => Err("it has cases that its flows do not have".to_owned()),
        }
    }

    /// The folder.
    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }
}

/// The name of a file among the files of a run.
pub(super) fn file_name(path: &Path) -> String {
    let absolute = absolute(path);
    let parts = absolute.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Where a file of the flows is stored.
pub(super) fn stored(name: &str) -> String {
    format!("flows/{name}")
}

/// Where a file of a case's traces is stored.
pub(super) fn stored_trace(case: usize, name: &str) -> String {
    format!("traces/{case}/{name}")
}

/// A value in which paths that begin with one folder begin with another.
///
/// # Errors
/// If the result can no longer be read as this type.
pub(super) fn moved<T: Serialize + DeserializeOwned>(
    value: &T,
    from: &Path,
    to: &str,
) -> serde_json::Result<T> {
    let quoted = |text: &str| -> serde_json::Result<String> {
        Ok(serde_json::to_string(text)?.trim_matches('"').to_owned())
    };
    let folder = quoted(&format!("{}{}", from.display(), std::path::MAIN_SEPARATOR))?;
    let json = serde_json::to_string(value)?;
    serde_json::from_str(&json.replace(&folder, &quoted(to)?))
}

/// The folder of a case's trace among those of a run: workers number their own.
pub(super) fn trace_folder(case: usize, folder: &str) -> PathBuf {
    let name = folder.split_once('-').map_or(folder, |(_, name)| name);
    PathBuf::from(format!("{:03}-{name}", case + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_workers_become_those_of_the_submitter() {
        let value = serde_json::json!({ "at": "/tmp/x/home/ann/a.yaml:3:1", "other": "/tmp/y" });
        let moved = moved(&value, Path::new("/tmp/x"), "/").unwrap();
        let expected = serde_json::json!({ "at": "/home/ann/a.yaml:3:1", "other": "/tmp/y" });
        assert_eq!(moved, expected);
        assert_eq!(trace_folder(41, "001-log-in-try-2"), PathBuf::from("042-log-in-try-2"));
    }
}

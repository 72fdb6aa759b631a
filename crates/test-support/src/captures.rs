//! Captures of real phones: those in this repository, and those that may not be copied into it.

use std::path::{Path, PathBuf};

use crate::{missing, workspace};

/// The variable with the folder of [`CaptureSet::Others`].
const FOLDER: &str = "THUMBWIRE_DATA";

/// One captured file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capture {
    /// Where it is.
    pub path: PathBuf,
}

impl Capture {
    /// The file's name without its folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The content.
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }

    /// The content as text, with U+FFFD for what is not UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

/// Where captures come from. A golden over a folder of captures is one snapshot for each, with
/// [`CaptureSet::name`] as its suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureSet {
    /// `fixtures/captures`: every test run has them.
    Committed,
    /// `../shared/data`, or `THUMBWIRE_DATA`: captures whose licence does not allow a copy here. An
    /// empty `THUMBWIRE_DATA` says that they are not here, and then they are never required.
    Others,
}

impl CaptureSet {
    /// `committed` or `others`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::Others => "others",
        }
    }

    fn root(self) -> PathBuf {
        match self {
            Self::Committed => workspace().join("fixtures/captures"),
            Self::Others => std::env::var_os(FOLDER)
                .map_or_else(|| workspace().join("../shared/data"), PathBuf::from),
        }
    }

    /// The captures of a folder that are in this set, by name; none if it has no such folder.
    pub fn files(self, folder: &str) -> Vec<Capture> {
        let mut files = files_in(&self.root().join(folder));
        if self == Self::Others {
            let committed = Self::Committed.root().join(folder);
            files.retain(|file| !committed.join(file.name()).exists());
        }
        files
    }
}

fn files_in(folder: &Path) -> Vec<Capture> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.is_file());
    let mut files: Vec<_> = paths.map(|path| Capture { path }).collect();
    files.sort();
    files
}

/// The sets that are here: the committed one first, and the other one unless it is missing, which
/// is reported.
pub fn capture_sets() -> Vec<CaptureSet> {
    let others = CaptureSet::Others.root();
    if others.is_dir() {
        return vec![CaptureSet::Committed, CaptureSet::Others];
    }
    report_missing(&others);
    vec![CaptureSet::Committed]
}

fn report_missing(path: &Path) {
    if std::env::var_os(FOLDER).is_some_and(|folder| folder.is_empty()) {
        println!("skipped: captures: no {}; {FOLDER} is empty", path.display());
        return;
    }
    missing("captures", format_args!("no {} ({FOLDER})", path.display()));
}

/// All captures of a folder that are here, the committed ones first.
pub fn captured_files(folder: &str) -> Vec<Capture> {
    capture_sets().into_iter().flat_map(|set| set.files(folder)).collect()
}

/// The content of one capture: the committed file, else that of the other set. `None` if it is
/// missing, which is reported.
pub fn capture(path: &str) -> Option<Vec<u8>> {
    let paths = [CaptureSet::Committed, CaptureSet::Others].map(|set| set.root().join(path));
    match paths.iter().find(|path| path.is_file()) {
        Some(path) => Some(Capture { path: path.clone() }.bytes()),
        None => {
            report_missing(&paths[1]);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths below the set's root.
    fn all_files(set: CaptureSet) -> Vec<String> {
        let root = set.root();
        let mut open = vec![root.clone()];
        let mut files = Vec::new();
        while let Some(path) = open.pop() {
            match std::fs::read_dir(&path) {
                Ok(entries) => open.extend(entries.flatten().map(|entry| entry.path())),
                Err(_) => {
                    let path = path.strip_prefix(&root).expect("it is below");
                    files.push(path.to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        files
    }

    /// Our own recordings have a paragraph, the others a row each.
    #[test]
    fn every_committed_capture_has_its_origin_and_a_licence_that_allows_it() {
        let page = Capture { path: CaptureSet::Committed.root().join("ORIGIN.md") }.text();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
        let listed: Vec<&str> =
            rows.iter().map(|row| row[0]).filter(|file| *file != "file").collect();
        let mut files = all_files(CaptureSet::Committed);
        let folders = ["android-4.4.4/", "originals/ufo/"];
        files.retain(|file| {
            file != "ORIGIN.md" && !folders.iter().any(|folder| file.starts_with(folder))
        });
        assert_eq!(files, listed);
        for row in rows.iter().skip(1) {
            assert!(["Apache-2.0", "MIT", "BSD"].contains(&row[4]), "{row:?}");
        }
    }

    #[test]
    fn committed_captures_equal_those_of_the_other_folder() {
        for file in all_files(CaptureSet::Committed) {
            let [ours, theirs] = [CaptureSet::Committed, CaptureSet::Others]
                .map(|set| Capture { path: set.root().join(&file) });
            let same =
                file == "ORIGIN.md" || !theirs.path.exists() || ours.bytes() == theirs.bytes();
            assert!(same, "{file} differs from {}", theirs.path.display());
        }
    }

    #[test]
    fn no_capture_is_in_both_sets() {
        let names = |set: CaptureSet| -> Vec<String> {
            set.files("uiautomator").iter().map(Capture::name).collect()
        };
        let committed = names(CaptureSet::Committed);
        assert_eq!(committed.len(), 12);
        assert!(names(CaptureSet::Others).iter().all(|name| !committed.contains(name)));
    }
}

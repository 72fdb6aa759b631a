//! The findings in a file.

use thumbwire_mobile_mcp::{Descriptor, Finding, Mode};

/// A checked file.
#[derive(Debug)]
pub(super) struct LintedFile {
    /// Its name on the command line.
    pub(super) file: String,
    /// The report, or why the file cannot be read.
    pub(super) report: Result<LintReport, String>,
}

/// The report on a file.
#[derive(Debug, Default)]
pub(in super::super) struct LintReport {
    /// The kind of file.
    pub(super) kind: FileKind,
    /// The app's package, for an APK.
    pub(super) package: Option<String>,
    /// Ids of the usable capabilities.
    pub(super) capabilities: Vec<String>,
    /// For an APK, the tool services: class name and descriptor.
    pub(in super::super) tools: Vec<(String, Descriptor)>,
    /// Violations of the rules.
    pub(in super::super) found: Vec<LintFinding>,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A descriptor as text.
    #[default]
    Descriptor,
    /// An Android package.
    Apk,
}

/// A finding, with the package entry that it is about.
#[derive(Debug)]
pub(in super::super) struct LintFinding {
    /// The entry in the package; `None` means the file itself.
    pub(super) part: Option<String>,
    /// The finding.
    pub(in super::super) finding: Finding,
}

impl FileKind {
    /// The name used in output.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Descriptor => "descriptor",
            Self::Apk => "apk",
        }
    }
}

impl LintReport {
    /// A short summary: package and number of capabilities.
    pub(super) fn about(&self) -> String {
        let count = match self.capabilities.len() {
            0 => "no capability".to_owned(),
            1 => "1 capability".to_owned(),
            count => format!("{count} capabilities"),
        };
        match &self.package {
            Some(package) => format!("{package}, {count}"),
            None => count,
        }
    }
}

impl LintedFile {
    /// The number of fatal and of other findings.
    pub(super) fn counts(&self, mode: Mode) -> (usize, usize) {
        let found = self.report.as_ref().map_or(&[][..], |report| &report.found[..]);
        let fatal = found.iter().filter(|found| found.finding.is_fatal(mode)).count();
        (fatal, found.len() - fatal)
    }

    /// Whether any finding is fatal.
    pub(super) fn is_fatal(&self, mode: Mode) -> bool {
        self.counts(mode).0 > 0
    }
}

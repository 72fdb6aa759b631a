//! Checks on one phone everything that tools do there, for `thumbwire doctor`.
//!
//! Start with [`checks`], the table: one row per operation with what is checked. [`run`] goes
//! through it with an [`Exam`], which calls the tool and then takes a second look by other means:
//! after a tap another dump, after a launch the app in front, after a recording the boxes of its
//! file. A tool that reports success without an effect fails. [`scene`] finds screens that exist on
//! any phone and can be tapped, scrolled and typed into without leaving anything behind. [`Report`]
//! has the results, without serial numbers and without text of the screen.
//!
//! Not here: flags, questions to the user and printing (`cli/doctor`), and how a tool works.

mod answer;
mod checks;
mod exam;
mod helper;
mod look;
mod mask;
mod report;
mod scene;
mod setup;

use std::path::PathBuf;

use thumbwire_core::action::{Failure, Perform};
use thumbwire_device::AppId;

pub use checks::{Check, checks};
pub use exam::Exam;
pub use helper::try_helper;
pub use mask::Mask;
pub use report::{CheckResult, PhoneSummary, Report, Verdict};
pub use setup::{Finding, SetupOptions, Severity, check_setup};

/// What to check, and where.
pub struct Options {
    /// Id of the phone; the session must use it by default.
    pub device: String,
    /// How the phone is reached, for the report.
    pub transport: String,
    /// The root of the session's [`ArtifactStore`](thumbwire_core::artifacts::ArtifactStore), where
    /// tools save files.
    pub files: PathBuf,
    /// The root of the session's [`InputFolder`](thumbwire_core::input_files::InputFolder), where a
    /// file to send is written.
    pub input: PathBuf,
    /// An app to install and uninstall, for the tools that change apps; without it they are
    /// skipped.
    pub test_app: Option<TestApp>,
    /// Whether to call all tools; otherwise only those that change nothing.
    pub full: bool,
    /// Only tools with these names; empty means all.
    pub only: Vec<String>,
}

/// An app that nobody misses: not installed on the phone.
#[derive(Debug, Clone)]
pub struct TestApp {
    /// The name of its APK in [`Options::input`].
    pub file: String,
    /// Its id.
    pub app: AppId,
    /// The permissions that it asks for.
    pub permissions: Vec<String>,
}

/// A file that checks write to the phone's shared storage, and that is removed at the end.
const LEFT_FILE: &str = "thumbwire-doctor.png";

/// Calls the tools one after another and reports each result as it comes. At the end the typed text
/// is cleared and the phone shows its home screen.
///
/// # Errors
/// If the phone cannot be examined at all: it is not connected, or its screen is off.
pub async fn run(
    session: &dyn Perform,
    options: Options,
    on_result: &(dyn Fn(&CheckResult) + Sync),
) -> Result<Report, Failure> {
    let (full, only) = (options.full, options.only.clone());
    let mut exam = Exam::begin(session, options).await?;
    let mut results = Vec::new();
    for check in checks() {
        let is_wanted = only.is_empty() || only.iter().any(|name| name == check.tool);
        if !is_wanted || (!full && !exam.changes_nothing(check.toolset, check.tool)) {
            continue;
        }
        exam.turn_to(check.toolset, check.tool);
        let found = (check.run)(&mut exam).await;
        let result = exam.result(check.checked, found);
        let (tool, took, detail) = (check.tool, result.took_ms, &result.detail);
        tracing::info!(tool, verdict = result.verdict.name(), took, detail, "checked");
        on_result(&result);
        results.push(result);
    }
    if full {
        exam.restore().await;
    }
    Ok(exam.report(results))
}

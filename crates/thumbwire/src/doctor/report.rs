//! The results of an examination, as they are printed and stored.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The results of all checks on one phone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of the program.
    pub thumbwire: String,
    /// The phone.
    pub phone: PhoneSummary,
    /// Whether all tools were called, or only those that change nothing.
    pub full: bool,
    /// How long everything took, second looks included.
    pub seconds: f64,
    /// The results, by toolset and in the order of its tools.
    pub results: Vec<CheckResult>,
}

/// A phone without what identifies it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhoneSummary {
    /// Manufacturer; may be empty.
    pub manufacturer: String,
    /// Model.
    pub model: String,
    /// `Android` or `iOS`.
    #[serde(default = "android")]
    pub platform: String,
    /// Version of the system, such as `4.4.4`.
    pub os_version: String,
    /// Android API level.
    pub api_level: Option<u32>,
    /// Screen size in pixels, such as `480x800`.
    pub screen: String,
    /// How it is reached: `adb server`, `adbd over TCP`, `WebDriverAgent`, `built-in virtual
    /// phone`, `built-in virtual iPhone`.
    pub transport: String,
}

/// The platform of reports that do not tell it.
fn android() -> String {
    "Android".to_owned()
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The toolset of the tool.
    pub toolset: String,
    /// The tool.
    pub tool: String,
    /// Whether the check passed.
    pub verdict: Verdict,
    /// What is checked by a second look.
    pub checked: String,
    /// Why it failed or was skipped, or what was seen; may be empty.
    pub detail: String,
    /// How long the call took, in milliseconds; `None` if the tool was not called.
    pub took_ms: Option<u64>,
    /// The timeout of the tool, in milliseconds.
    pub budget_ms: u64,
}

/// The verdict on a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second look confirmed the effect.
    Passed,
    /// The call failed, or its effect is missing.
    Failed,
    /// Not checked on this phone, for the reason in the detail.
    Skipped,
}

impl Verdict {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl Report {
    /// How many checks have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.results.iter().filter(|result| result.verdict == verdict).count()
    }

    /// Whether a check failed.
    pub fn has_failures(&self) -> bool {
        self.count(Verdict::Failed) > 0
    }
}

/// Whole milliseconds, the unit of stored times.
pub(super) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

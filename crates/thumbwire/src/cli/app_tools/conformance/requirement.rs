//! Every MUST of the Mobile-MCP specification for an app's files and its running tool.

use thumbwire_mobile_mcp::{Finding, Mode, Rule};

/// Who must keep a MUST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Party {
    /// The tool app's files: its manifest and its descriptor.
    Files,
    /// The tool's running service.
    Tool,
}

impl Party {
    /// The word used in output.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Files => "app's files",
            Self::Tool => "running tool",
        }
    }
}

/// A MUST of the specification, or a consequence of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Requirement {
    /// Its name; for files, the name of the [`Rule`].
    pub(super) name: &'static str,
    /// Its section; empty if it is only good sense.
    pub(super) section: &'static str,
    /// Who must keep it.
    pub(super) party: Party,
    /// The requirement.
    pub(super) demands: &'static str,
}

impl Requirement {
    /// What section 3.2 demands of a running tool.
    pub(super) const fn of_tool(name: &'static str, demands: &'static str) -> Self {
        Self { name, section: "3.2", party: Party::Tool, demands }
    }
}

/// The MUSTs of files.
pub(super) fn of_files() -> impl Iterator<Item = Requirement> {
    let rules =
        Rule::ALL.iter().filter(|rule| !rule.section().is_empty() && rule.is_fatal(Mode::Strict));
    rules.map(|rule| Requirement {
        name: rule.name(),
        section: rule.section(),
        party: Party::Files,
        demands: rule.requirement(),
    })
}

/// The result of testing a MUST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is kept.
    Met,
    /// It is violated: what was seen instead.
    Violated(String),
    /// The tool did not respond, so nothing is known. Whether it responds at all is a MUST of its
    /// own.
    NoReply,
    /// It was not tested: why, and what the test needs.
    NotTested(String),
}

impl Verdict {
    /// The word used in output.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Met => "kept",
            Self::Violated(_) => "broken",
            Self::NoReply => "silent",
            Self::NotTested(_) => "untried",
        }
    }
}

/// For each MUST, whether an app keeps it, by the findings of lint.
pub(super) fn judge_files(findings: &[Finding]) -> Vec<(Requirement, Verdict)> {
    // An unreadable descriptor proves nothing.
    let unread = findings
        .iter()
        .any(|one| matches!(one.rule, Rule::WellFormed | Rule::ToolCapabilities | Rule::Bounds));
    let verdict =
        |must: &Requirement| match findings.iter().find(|one| one.rule.name() == must.name) {
            Some(finding) if finding.position.line > 0 => {
                Verdict::Violated(format!("line {}: {}", finding.position.line, finding.message))
            }
            Some(finding) => Verdict::Violated(finding.message.clone()),
            None if unread && must.section.starts_with("1.2.") => {
                Verdict::NotTested("the descriptor could not be read".into())
            }
            None => Verdict::Met,
        };
    of_files().map(|must| (must, verdict(&must))).collect()
}

//! Each MUST of the specification with what shows whether it is kept: a suite for apps, for tool runtimes, for agents.
//!
//! * [`MUSTS`] is the list; [`table`] prints it for the documents.
//! * [`files`] is about an app's files: [`files::judge`] says of each rule whether an app keeps it, [`files::cases`] tries whoever checks
//!   files (ours, or a stranger's) with an app that keeps the rule and one that breaks it.
//! * [`probes`] is about a tool that runs: [`probes::plan`] makes requests, [`probes::judge`] looks at what came back. Whoever runs them
//!   brings the wire: a [`crate::Dispatcher`] in the same process ([`probes::run`]), or a phone ([`probes::Run`]).
//! * [`agents`] is about what an agent finds and sends, and whether it knows its answers apart.
//!
//! No I/O, no time and no randomness: ids are made by the caller.

pub mod agents;
pub mod files;
mod form;
pub mod probes;

use super::{Mode, Rule};

/// Who has to keep a MUST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// The tool app's files: its manifest and its descriptor.
    Files,
    /// The tool's service, while it runs.
    Tool,
    /// The agent.
    Agent,
}

impl Whose {
    /// The word for it in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "app's files",
            Self::Tool => "running tool",
            Self::Agent => "agent",
        }
    }
}

/// A MUST of the specification, or what follows from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Must {
    /// Its name; of files, that of the [`Rule`].
    pub name: &'static str,
    /// The section that has it; empty for what is only sensible.
    pub section: &'static str,
    /// Who has to keep it.
    pub whose: Whose,
    /// What it demands.
    pub demands: &'static str,
    /// How it is tried.
    pub tried: &'static str,
}

/// What of the specification a running tool and an agent have to keep. Those of files are the rules ([`Rule`]) that have a section and are
/// fatal to lint.
pub const MUSTS: &[Must] = &[
    probes::EXTRACTED,
    probes::VERSION,
    probes::ID,
    probes::CAPABILITY,
    probes::REQUIRED,
    probes::TYPES,
    probes::INVOKED,
    probes::RESPONSE,
    probes::OUTPUT,
    probes::SURVIVES,
    agents::DISCOVERED,
    agents::DESCRIBED,
    agents::LOADED,
    agents::SCHEMA,
    agents::ADDRESSED,
    agents::CALLBACK,
    agents::CORRELATED,
];

/// The MUSTs of files.
pub fn of_files() -> impl Iterator<Item = Must> {
    let rules =
        Rule::ALL.iter().filter(|rule| !rule.section().is_empty() && rule.is_fatal(Mode::Strict));
    rules.map(|rule| Must {
        name: rule.name(),
        section: rule.section(),
        whose: Whose::Files,
        demands: rule.demands(),
        tried: "the manifest and the descriptor are read",
    })
}

/// What came of trying a MUST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept.
    Kept,
    /// It is not: what was seen instead.
    Broken(String),
    /// The tool did not answer, so that nothing can be said. Whether it answers at all is a MUST of its own.
    Silent,
    /// It was not tried: why, and what would be needed.
    Untried(String),
}

impl Verdict {
    /// The word for it in output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken(_) => "broken",
            Self::Silent => "silent",
            Self::Untried(_) => "untried",
        }
    }
}

/// The MUSTs as a table in Markdown, for the documents.
pub fn table() -> String {
    let mut table = String::from(
        "| must | section | whose | demands | how it is tried |\n|---|---|---|---|---|\n",
    );
    for must in of_files().chain(MUSTS.iter().copied()) {
        let section = if must.section.is_empty() { "ours" } else { must.section };
        table.push_str(&format!(
            "| `{}` | {section} | {} | {} | {} |\n",
            must.name,
            must.whose.name(),
            must.demands,
            must.tried,
        ));
    }
    table
}

//! Every MUST of the specification with a test for it: a conformance suite for apps, tool runtimes and agents.
//!
//! * [`MUSTS`] is the list; [`table`] prints it for the docs.
//! * [`files`] covers an app's files: [`files::judge`] reports which rules an app keeps; [`files::cases`] tests any
//!   checker, ours or another, with an app that keeps each rule and one that violates it.
//! * [`probes`] covers a running tool: [`probes::plan`] creates requests, [`probes::judge`] checks the responses. The
//!   caller brings the transport: a [`crate::Dispatcher`] in the same process ([`probes::run`]) or a phone
//!   ([`probes::Run`]).
//! * [`agents`] covers what an agent discovers and sends, and whether it tells its responses apart.
//!
//! No I/O, clock or randomness: the caller supplies the ids.

pub mod agents;
pub mod files;
pub mod probes;
mod response_form;

use super::{Mode, Rule};

/// Who must keep a MUST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// The tool app's files: its manifest and its descriptor.
    Files,
    /// The tool's running service.
    Tool,
    /// The agent.
    Agent,
}

impl Party {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "app's files",
            Self::Tool => "running tool",
            Self::Agent => "agent",
        }
    }
}

/// A MUST of the specification, or a consequence of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// Its name; for files, the name of the [`Rule`].
    pub name: &'static str,
    /// Its section; empty if it is only good sense.
    pub section: &'static str,
    /// Who must keep it.
    pub party: Party,
    /// The requirement.
    pub demands: &'static str,
    /// How it is tested.
    pub tried: &'static str,
}

/// What the specification requires of a running tool and of an agent. The requirements for files are the rules
/// ([`Rule`]) that have a section and are fatal to lint.
pub const MUSTS: &[Requirement] = &[
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
pub fn of_files() -> impl Iterator<Item = Requirement> {
    let rules =
        Rule::ALL.iter().filter(|rule| !rule.section().is_empty() && rule.is_fatal(Mode::Strict));
    rules.map(|rule| Requirement {
        name: rule.name(),
        section: rule.section(),
        party: Party::Files,
        demands: rule.requirement(),
        tried: "the manifest and the descriptor are checked",
    })
}

/// The result of testing a MUST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept.
    Met,
    /// It is violated: what was seen instead.
    Violated(String),
    /// The tool did not respond, so nothing is known. Whether it responds at all is a MUST of its own.
    NoReply,
    /// It was not tested: why, and what the test needs.
    NotTested(String),
}

impl Verdict {
    /// The word used in output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Met => "kept",
            Self::Violated(_) => "broken",
            Self::NoReply => "silent",
            Self::NotTested(_) => "untried",
        }
    }
}

/// The MUSTs as a Markdown table, for the docs.
pub fn table() -> String {
    let mut table = String::from(
        "| requirement | section | party | statement | how it is tested |\n|---|---|---|---|---|\n",
    );
    for must in of_files().chain(MUSTS.iter().copied()) {
        let section = if must.section.is_empty() { "ours" } else { must.section };
        table.push_str(&format!(
            "| `{}` | {section} | {} | {} | {} |\n",
            must.name,
            must.party.name(),
            must.demands,
            must.tried,
        ));
    }
    table
}

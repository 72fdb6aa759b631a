//! What was proved, and what was not: for programs and for people.

use serde::Serialize;

/// The result of a proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The flow's file.
    pub file: String,
    /// How often the flow ran, in all its versions.
    pub runs: usize,
    /// The runs of the shortest flow: first those without faults, then those with each kind.
    pub phones: Vec<RunsResult>,
    /// How many mutants there were.
    pub mutants_before: usize,
    /// On how many of them the flow failed as it was.
    pub killed_before: usize,
    /// The shortest flow on each mutant.
    pub mutants: Vec<MutantResult>,
    /// The number of commands as it was.
    pub steps_before: usize,
    /// The number of commands of the shortest flow.
    pub steps: usize,
    /// How many of these touch, type, press or launch something.
    pub acts: usize,
    /// What was missing.
    pub added: Vec<Added>,
    /// The commands and keys that prove nothing.
    pub dropped: Vec<CommandOfFlow>,
    /// The commands that change nothing that can be seen, and are kept.
    pub idle: Vec<CommandOfFlow>,
    /// Whether the limit of runs or time came first.
    pub is_cut_short: bool,
    /// The shortest flow that was found.
    pub text: String,
}

/// Runs under the same conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunsResult {
    /// The kind of fault, or `no faults`.
    pub phones: String,
    /// How many passed.
    pub passed: usize,
    /// How many ran.
    pub of: usize,
    /// Why the first one failed.
    pub reason: Option<String>,
}

/// The flow on a mutated app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MutantResult {
    /// The command of the flow as it was that it was derived from, counted from 1.
    pub step: usize,
    /// What is wrong with the app.
    pub mutant: String,
    /// The command that failed; `None` if the flow passed.
    pub killed_by: Option<String>,
}

/// A check or a key that was missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Added {
    /// The number of the command; `None` for a key of the header.
    #[serde(skip)]
    pub(super) id: Option<usize>,
    /// The command, or the key.
    pub text: String,
    /// What happens without it.
    pub reason: String,
}

/// A command of the flow as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandOfFlow {
    /// Its number, counted from 1.
    pub step: usize,
    /// The command.
    pub text: String,
}

impl From<(usize, String)> for CommandOfFlow {
    fn from((step, text): (usize, String)) -> Self {
        Self { step, text }
    }
}

impl Proof {
    /// Whether the flow always passed, and failed on every mutant.
    pub fn is_proved(&self) -> bool {
        self.phones.iter().all(|runs| runs.passed == runs.of)
            && self.mutants.iter().all(|mutant| mutant.killed_by.is_some())
    }
}

/// The proof for people. `is_written`: the shortest flow is in a file.
pub fn proof_text(proof: &Proof, is_written: bool) -> String {
    let mut text = format!("{}: {} runs\n", proof.file, proof.runs);
    for RunsResult { phones, passed, of, reason } in &proof.phones {
        let reason = reason.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
        text.push_str(&format!("  {phones}: passes {passed} of {of}{reason}\n"));
    }
    let killed = proof.mutants.iter().filter(|mutant| mutant.killed_by.is_some()).count();
    text.push_str(&format!(
        "  mutants: fails on {killed} of {}; as it was on {} of {}\n",
        proof.mutants.len(),
        proof.killed_before,
        proof.mutants_before
    ));
    text.push_str(&format!("  commands: {}; as it was {}\n", proof.steps, proof.steps_before));
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("\n{title}:\n"));
            lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    };
    let (add, drop) = match is_written {
        true => ("Added", "Dropped, because nothing depends on them"),
        false => ("Add", "These prove nothing"),
    };
    let added = proof.added.iter();
    list(add, added.map(|one| format!("`{}`: {}", one.text, one.reason)).collect());
    let steps = |commands: &[CommandOfFlow]| {
        commands.iter().map(|one| format!("step {} `{}`", one.step, one.text)).collect()
    };
    list(drop, steps(&proof.dropped));
    list("Nothing that can be seen comes of", steps(&proof.idle));
    let survivors = proof.mutants.iter().filter(|mutant| mutant.killed_by.is_none());
    list("Nobody notices when", survivors.map(|one| one.mutant.clone()).collect());
    if proof.is_cut_short {
        text.push_str("\nThe limit came before all was tried; see --max-runs and --timeout.\n");
    }
    text.push_str(if proof.is_proved() { "\nPROVED\n" } else { "\nNOT PROVED\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_says_what_is_not_proved() {
        let runs = |phones: &str, passed, reason: Option<&str>| RunsResult {
            phones: phones.into(),
            passed,
            of: 3,
            reason: reason.map(str::to_owned),
        };
        let mutant = |step, mutant: &str, killed_by: Option<&str>| MutantResult {
            step,
            mutant: mutant.into(),
            killed_by: killed_by.map(str::to_owned),
        };
        let command = |step, text: &str| CommandOfFlow { step, text: text.into() };
        let mut proof = Proof {
            file: "notes.yaml".into(),
            runs: 120,
            phones: vec![
                runs("no faults", 3, None),
                runs("slow", 2, Some("tap \"Save\": element \"Save\" not found")),
            ],
            mutants_before: 4,
            killed_before: 1,
            mutants: vec![
                mutant(3, "step 3 `tapOn: Save` does nothing", Some("assertVisible: Milk")),
                mutant(4, "\"Undo\" of step 4 `tapOn: { id: undo }` says something else", None),
            ],
            steps_before: 6,
            steps: 5,
            acts: 3,
            added: vec![Added {
                id: Some(9),
                text: "assertVisible: Milk".into(),
                reason: "else nobody notices when step 3 `tapOn: Save` does nothing".into(),
            }],
            dropped: vec![command(5, "wait: 2000"), command(2, "assertVisible: Notes")],
            idle: vec![command(1, "tapOn: Title")],
            is_cut_short: true,
            text: String::new(),
        };
        assert!(!proof.is_proved());
        insta::assert_snapshot!(proof_text(&proof, false));
        proof.mutants.pop();
        proof.phones.pop();
        assert!(proof.is_proved() && proof_text(&proof, true).ends_with("\nPROVED\n"));
    }
}

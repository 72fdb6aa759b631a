//! The command that resumes an unfinished run, to be pasted into a shell.
//!
//! Start with [`ResumeCommand`]: the command line that started the run, plus `--resume FOLDER`.

use crate::config;
use crate::shell_quote::shell_quote;
use thumbwire_agent::Limit;
use thumbwire_base::visible::has_hidden;

/// How a run is resumed.
pub(super) struct ResumeCommand {
    /// The arguments of the command line that started or resumed it.
    line: Vec<String>,
    goal: String,
    folder: String,
}

impl ResumeCommand {
    /// For a run of this goal in this folder, started by this command line.
    pub(super) fn of(line: Vec<String>, goal: &str, folder: String) -> Self {
        Self { line, goal: goal.to_owned(), folder }
    }

    /// The command, with a limit raised to this value.
    pub(super) fn command(&self, raised: Option<(Limit, String)>) -> String {
        self.written(&config::program(), raised)
    }

    fn written(&self, program: &str, raised: Option<(Limit, String)>) -> String {
        let raised = raised.map(|(limit, value)| (flag(limit), value));
        let replaced = raised.as_ref().map(|(flag, _)| *flag);
        // `--resume` says where the run is.
        let dropped = |word: &str| {
            let (flag, value) =
                word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
            let is_out = matches!(flag, "--out" | "--resume") || replaced == Some(flag);
            is_out.then_some(value.is_none())
        };
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut words = self.line.iter();
        while let Some(word) = words.next() {
            // Words after `--` are not flags.
            if word == "--" {
                after = words.by_ref().cloned().collect();
                after.insert(0, word.clone());
            } else if let Some(has_value) = dropped(word) {
                if has_value {
                    words.next();
                }
            } else {
                before.push(word.clone());
            }
        }
        if let Some((flag, value)) = &raised {
            before.extend([(*flag).to_owned(), value.clone()]);
        }
        before.extend(["--resume".to_owned(), self.folder.clone()]);
        // The run knows its goal. One with line breaks or invisible characters may not survive a
        // terminal.
        let is_goal =
            |word: &&String| has_hidden(word) || (word.contains('\n') && **word == self.goal);
        let words = before.iter().chain(&after).filter(|word| !is_goal(word));
        let words: Vec<String> = words.map(|word| shell_quote(word)).collect();
        format!("{program} {}", words.join(" "))
    }
}

/// The flag of a limit.
fn flag(limit: Limit) -> &'static str {
    match limit {
        Limit::Steps => "--max-steps",
        Limit::Time => "--timeout",
        Limit::Tokens => "--max-tokens",
        Limit::Cost => "--max-cost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[&str], raised: Option<(Limit, &str)>, command: &str) {
        let line: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let goal = line.get(1).cloned().unwrap_or_default();
        let resume = ResumeCommand::of(line, &goal, "logs/run 1".into());
        let raised = raised.map(|(limit, value)| (limit, value.to_owned()));
        assert_eq!(resume.written("thumbwire", raised), command);
    }

    #[test]
    fn resume_command_repeats_the_original_flags() {
        check(
            &["run", "Search for O'Neill", "--model", "scripted:x", "--out", "there"],
            None,
            r"thumbwire run 'Search for O'\''Neill' --model scripted:x --resume 'logs/run 1'",
        );
        check(
            &["run", "--resume", "logs/run 1", "--device=virtual"],
            None,
            "thumbwire run --device=virtual --resume 'logs/run 1'",
        );
        check(
            &["run", "--out=a b", "--device", "virtual", "--", "--odd goal"],
            None,
            "thumbwire run --device virtual --resume 'logs/run 1' -- '--odd goal'",
        );
        check(
            &["run", "one\ntwo\u{202e}", "--model", "x"],
            None,
            "thumbwire run --model x --resume 'logs/run 1'",
        );
    }

    #[test]
    fn limit_that_ended_the_run_is_raised() {
        let goal = "thumbwire run go";
        check(
            &["run", "go", "--max-steps=3", "--max-tokens", "9"],
            Some((Limit::Steps, "6")),
            &format!("{goal} --max-tokens 9 --max-steps 6 --resume 'logs/run 1'"),
        );
        check(
            &["run", "go", "--max-steps", "3", "--timeout", "1m"],
            Some((Limit::Time, "120s")),
            &format!("{goal} --max-steps 3 --timeout 120s --resume 'logs/run 1'"),
        );
        check(
            &["run", "go"],
            Some((Limit::Steps, "100")),
            &format!("{goal} --max-steps 100 --resume 'logs/run 1'"),
        );
    }
}

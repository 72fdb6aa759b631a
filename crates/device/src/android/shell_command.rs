//! The only place that builds shell commands from text.
//!
//! A [`ShellCommand`] takes fixed text only as `&'static str`, and everything else through
//! [`ShellCommand::arg`], which quotes it: a caller's text can reach the phone's shell only as a
//! single argument.

use std::fmt::Write as _;

use crate::Error;

/// A command line for the phone's shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellCommand(String);

impl ShellCommand {
    /// Starts with fixed text.
    pub(crate) fn new(fixed: &'static str) -> Self {
        Self(fixed.into())
    }

    /// Appends fixed text after a space.
    pub(crate) fn then(mut self, fixed: &'static str) -> Self {
        self.0.push(' ');
        self.0.push_str(fixed);
        self
    }

    /// Appends one argument with exactly the content of `word`, whatever characters it has.
    ///
    /// A NUL is rejected: it would end the string, and the shell would see only half a command.
    pub(crate) fn arg(mut self, word: &str) -> Result<Self, Error> {
        if word.contains('\0') {
            let reason =
                "it contains a NUL character, which is not allowed in commands; remove it".into();
            return Err(Error::Refused { what: "argument", reason });
        }
        self.0.push(' ');
        quote_into(&mut self.0, word);
        Ok(self)
    }

    /// Appends a number.
    pub(crate) fn number(mut self, number: impl Into<i64>) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {}", number.into());
        self
    }

    /// Appends the option `--user`, if a user is known.
    pub(crate) fn for_user(self, user: Option<u32>) -> Self {
        match user {
            Some(user) => self.then("--user").number(user),
            None => self,
        }
    }

    /// The command as the shell gets it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Inside single quotes a POSIX shell expands nothing; a single quote itself must be outside them,
/// escaped.
fn quote_into(line: &mut String, word: &str) {
    line.push('\'');
    for (i, part) in word.split('\'').enumerate() {
        if i > 0 {
            line.push_str(r"'\''");
        }
        line.push_str(part);
    }
    line.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: &str) {
        assert_eq!(ShellCommand::new("x").arg(word).unwrap().as_str(), expected);
    }

    #[test]
    fn argument_stays_one_argument() {
        check("plain", "x 'plain'");
        check("", "x ''");
        check("a  b", "x 'a  b'");
        check("$(reboot) `id` ; & | > <", "x '$(reboot) `id` ; & | > <'");
        check("'; reboot #", r"x ''\''; reboot #'");
        check("\\", r"x '\'");
        check("two\nlines", "x 'two\nlines'");
    }

    #[test]
    fn nul_is_rejected_by_name() {
        let error = ShellCommand::new("x").arg("a\0b").unwrap_err();
        assert!(error.to_string().contains("NUL"), "{error}");
    }
}

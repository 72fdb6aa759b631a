//! The only place that builds shell commands from text.
//!
//! A [`ShellCommand`] takes fixed text only as `&'static str`, and everything else through [`ShellCommand::arg`], which quotes it: a
//! caller's text can reach the phone's shell only as a single argument.

use std::fmt::Write as _;

use crate::Error;

/// How a timed command begins.
const TIMED: &str = "cat /proc/uptime; ";

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

    /// Appends fixed text without a space.
    pub(crate) fn join(mut self, fixed: &'static str) -> Self {
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

    /// The same command between two readings of the phone's uptime. If it fails, a line `status N` follows its output.
    pub(crate) fn timed(self) -> Self {
        Self(format!("{TIMED}{} || echo status $?; cat /proc/uptime", self.0))
    }

    /// The command for a phone before Android 7, if it needs another form. There the script `input` may pass on its
    /// arguments as an unquoted `$*`: a space splits a text into two arguments, and a `*` expands to file names. So
    /// text is passed directly to the program that the script calls.
    ///
    /// Seen on Android 4.4.4 (a bug of the script); the program it calls is that of AOSP's script up to Android 11.
    pub(crate) fn for_legacy_input_script(&self) -> Option<Self> {
        const CALLED: &str = "CLASSPATH=/system/framework/input.jar app_process /system/bin com.android.commands.input.Input text ";
        let (head, line) = match self.0.strip_prefix(TIMED) {
            Some(line) => (TIMED, line),
            None => ("", self.0.as_str()),
        };
        line.strip_prefix("input text ").map(|words| Self(format!("{head}{CALLED}{words}")))
    }

    /// The command as the shell gets it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Inside single quotes a POSIX shell expands nothing; a single quote itself must be outside them, escaped.
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
    fn only_text_bypasses_the_input_script() {
        let text = ShellCommand::new("input text").arg("a b").unwrap().for_legacy_input_script();
        let called = "CLASSPATH=/system/framework/input.jar app_process /system/bin com.android.commands.input.Input text 'a b'";
        assert_eq!(text.unwrap().as_str(), called);
        let timed = ShellCommand::new("input text").arg("a b").unwrap().timed();
        let expected = format!("cat /proc/uptime; {called} || echo status $?; cat /proc/uptime");
        assert_eq!(timed.for_legacy_input_script().unwrap().as_str(), expected);
        assert_eq!(
            ShellCommand::new("input tap").number(1).number(2).for_legacy_input_script(),
            None
        );
    }

    #[test]
    fn nul_is_rejected_by_name() {
        let error = ShellCommand::new("x").arg("a\0b").unwrap_err();
        assert!(error.to_string().contains("NUL"), "{error}");
    }
}

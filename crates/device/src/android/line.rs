//! The one place where words become a shell command.
//!
//! A [`Line`] takes fixed text as `&'static str` only, and everything else through [`Line::word`], which quotes it:
//! what a caller said cannot reach the phone's shell as anything but one argument.

use std::fmt::Write as _;

use crate::Error;

/// A command line for the phone's shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line(String);

impl Line {
    /// Begins with fixed text.
    pub(crate) fn new(fixed: &'static str) -> Self {
        Self(fixed.into())
    }

    /// Goes on with fixed text, after a space.
    pub(crate) fn then(mut self, fixed: &'static str) -> Self {
        self.0.push(' ');
        self.0.push_str(fixed);
        self
    }

    /// Adds one argument that holds exactly `word`, whatever characters it has.
    ///
    /// A NUL is refused: it ends the string on its way, so the shell would see half a command.
    pub(crate) fn word(mut self, word: &str) -> Result<Self, Error> {
        if word.contains('\0') {
            let why = "it holds a NUL character, which no command can carry; leave it out".into();
            return Err(Error::Refused { what: "argument", why });
        }
        self.0.push(' ');
        quote_into(&mut self.0, word);
        Ok(self)
    }

    /// Adds a number.
    pub(crate) fn number(mut self, number: impl Into<i64>) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {}", number.into());
        self
    }

    /// The same for a phone before Android 7, where it needs another form. There the script `input` may hand its arguments
    /// on as a bare `$*`: a space in a text makes two arguments of it, and a `*` becomes the names of files. So text goes to
    /// what the script calls.
    ///
    /// Seen on Android 4.4.4 (the script's mistake); what it calls is as AOSP's script had it until Android 11.
    pub(crate) fn for_old_scripts(&self) -> Option<Self> {
        const CALLED: &str = "CLASSPATH=/system/framework/input.jar app_process /system/bin com.android.commands.input.Input text ";
        self.0.strip_prefix("input text ").map(|words| Self(format!("{CALLED}{words}")))
    }

    /// The command as the shell will read it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Inside single quotes a POSIX shell changes nothing; a single quote itself must stand outside, escaped.
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
        assert_eq!(Line::new("x").word(word).unwrap().as_str(), expected);
    }

    #[test]
    fn a_word_stays_one_word() {
        check("plain", "x 'plain'");
        check("", "x ''");
        check("a  b", "x 'a  b'");
        check("$(reboot) `id` ; & | > <", "x '$(reboot) `id` ; & | > <'");
        check("'; reboot #", r"x ''\''; reboot #'");
        check("\\", r"x '\'");
        check("two\nlines", "x 'two\nlines'");
    }

    #[test]
    fn text_goes_past_the_scripts_of_old_phones_and_all_else_as_it_is() {
        let text = Line::new("input text").word("a b").unwrap().for_old_scripts();
        let called = "CLASSPATH=/system/framework/input.jar app_process /system/bin com.android.commands.input.Input text 'a b'";
        assert_eq!(text.unwrap().as_str(), called);
        assert_eq!(Line::new("input tap").number(1).number(2).for_old_scripts(), None);
    }

    #[test]
    fn a_nul_is_refused_by_name() {
        let error = Line::new("x").word("a\0b").unwrap_err();
        assert!(error.to_string().contains("NUL"), "{error}");
    }
}

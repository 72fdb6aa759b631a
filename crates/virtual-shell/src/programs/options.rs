//! Option parsing and endings that most of toybox's programs share, with the texts of its
//! `lib/args.c`.
//!
//! Start with [`Options::read`] and [`ended`]. A program that uses them returns an [`Outcome`]: its
//! status, or a [`Failure`] that is printed in toybox's form.

use super::Invocation;
use crate::files::Error;
use crate::io::{Abort, Input, Status};
use crate::system::sleep_real;
use futures::future::{BoxFuture, FutureExt};
use std::time::Duration;

/// Maximum bytes for programs that need their whole input.
pub(super) const ALL: u64 = 64 << 20;

/// Maximum bytes of a line; longer ones are cut into several.
pub(super) const LINE: u64 = 1 << 20;

/// How a program ended, or why it failed.
pub(super) type Outcome = Result<i32, Failure>;

/// Why a program ends early.
pub(super) enum Failure {
    Abort(Abort),
    /// Wrong arguments: `NAME: TEXT (see "NAME --help")`, status 1.
    Usage(String),
    /// `NAME: TEXT`, and the status.
    Message(String, i32),
}

impl Failure {
    /// `NAME: TEXT`, status 1.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::Message(text.into(), 1)
    }

    /// `NAME: Need 2 arguments (see …)`
    pub(super) fn needs(arguments: usize) -> Self {
        Self::Usage(match arguments {
            1 => "Needs 1 argument".to_owned(),
            more => format!("Need {more} arguments"),
        })
    }
}

impl From<Abort> for Failure {
    fn from(abort: Abort) -> Self {
        Self::Abort(abort)
    }
}

/// The status of a failed program: some keep 1 for an answer, or have that of the program they run.
fn trouble(name: &str) -> i32 {
    match name {
        "cmp" | "egrep" | "expr" | "fgrep" | "grep" | "sort" => 2,
        "env" | "nohup" | "timeout" => 125,
        _ => 1,
    }
}

/// Runs a program and prints its failure.
pub(super) fn ended(
    call: Invocation,
    run: for<'a> fn(&'a Invocation) -> BoxFuture<'a, Outcome>,
) -> BoxFuture<'static, Status> {
    async move {
        match run(&call).await {
            Ok(status) => Ok(status),
            Err(Failure::Abort(abort)) => Err(abort),
            Err(Failure::Usage(text)) => {
                let name = &call.name;
                let help = match call.userland().toybox_0_8 {
                    false => String::new(),
                    true => format!(" (see \"{name} --help\")"),
                };
                call.err(format!("{name}: {text}{help}\n")).await;
                Ok(trouble(name))
            }
            Err(Failure::Message(text, status)) => {
                call.err(format!("{}: {text}\n", call.name)).await;
                Ok(if status == 1 { trouble(&call.name) } else { status })
            }
        }
    }
    .boxed()
}

/// Options and operands.
#[derive(Debug, Default)]
pub(super) struct Options {
    given: Vec<(char, String)>,
    /// The arguments that are not options.
    pub(super) rest: Vec<String>,
}

impl Options {
    /// Reads options: each letter of `known`, with a value if `:` follows, with an optional
    /// attached value if `;` follows. With `+` in front the first operand ends the options.
    /// `--long=value` is translated by `long`.
    pub(super) fn read(
        args: &[String],
        known: &str,
        long: &[(&str, char)],
    ) -> Result<Self, Failure> {
        let (known, strict) = match known.strip_prefix('+') {
            Some(known) => (known, true),
            None => (known, false),
        };
        let kind = |letter: char| {
            let at = known.find(letter).filter(|_| letter != ':' && letter != ';')?;
            known[at + letter.len_utf8()..].chars().next().or(Some(' '))
        };
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                options.rest.push(arg.clone());
                if strict {
                    break;
                }
                continue;
            };
            if letters == "-" {
                break;
            }
            if let Some(name) = letters.strip_prefix('-') {
                let (name, value) =
                    name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
                let Some((_, letter)) = long.iter().find(|(known, _)| *known == name) else {
                    return Err(Failure::Usage(format!("Unknown option '{}'", &letters[1..])));
                };
                let value = match (kind(*letter), value) {
                    (Some(':'), None) => args
                        .next()
                        .map(String::as_str)
                        .ok_or_else(|| Failure::Usage(format!("Missing argument to --{name}")))?,
                    (_, value) => value.unwrap_or_default(),
                };
                options.given.push((*letter, value.to_owned()));
                continue;
            }
            for (at, letter) in letters.char_indices() {
                let rest = &letters[at + letter.len_utf8()..];
                match kind(letter) {
                    None => {
                        return Err(Failure::Usage(format!("Unknown option '{}'", &letters[at..])));
                    }
                    Some(':') => {
                        let value = match rest {
                            "" => args.next().cloned().ok_or_else(|| {
                                Failure::Usage(format!("Missing argument to -{letter}"))
                            })?,
                            rest => rest.to_owned(),
                        };
                        options.given.push((letter, value));
                        break;
                    }
                    Some(';') => {
                        options.given.push((letter, rest.to_owned()));
                        break;
                    }
                    Some(_) => options.given.push((letter, String::new())),
                }
            }
        }
        options.rest.extend(args.cloned());
        Ok(options)
    }

    pub(super) fn has(&self, letter: char) -> bool {
        self.given.iter().any(|(given, _)| *given == letter)
    }

    /// The last value of an option.
    pub(super) fn value(&self, letter: char) -> Option<&str> {
        self.values(letter).last()
    }

    /// All values of an option, in order.
    pub(super) fn values(&self, letter: char) -> impl Iterator<Item = &str> {
        self.given
            .iter()
            .filter(move |(given, _)| *given == letter)
            .map(|(_, value)| value.as_str())
    }

    /// The options and their values in the order they were given.
    pub(super) fn given(&self) -> impl Iterator<Item = (char, &str)> {
        self.given.iter().map(|(letter, value)| (*letter, value.as_str()))
    }

    /// A number with an optional unit; toybox's `atolx`.
    pub(super) fn number(&self, letter: char) -> Result<Option<u64>, Failure> {
        self.value(letter).map(number).transpose()
    }

    /// At least so many operands.
    pub(super) fn at_least(&self, least: usize) -> Result<(), Failure> {
        if self.rest.len() < least { Err(Failure::needs(least)) } else { Ok(()) }
    }

    /// At most so many operands.
    pub(super) fn at_most(&self, most: usize) -> Result<(), Failure> {
        let plural = if most == 1 { "" } else { "s" };
        if self.rest.len() > most {
            return Err(Failure::Usage(format!("Max {most} argument{plural}")));
        }
        Ok(())
    }

    /// The operands as files to read; standard input without any.
    pub(super) fn files(&self) -> Vec<&str> {
        if self.rest.is_empty() {
            vec!["-"]
        } else {
            self.rest.iter().map(String::as_str).collect()
        }
    }
}

/// `1k`, `0x10`, `2m`: toybox's `atolx`, for amounts.
pub(super) fn number(text: &str) -> Result<u64, Failure> {
    let bad = || Failure::new(format!("not integer: {text}"));
    let digits =
        text.trim_end_matches(|c: char| c.is_ascii_alphabetic() && !text.starts_with("0x"));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let scale: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "c" => 1,
        "b" => 512,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "kd" => 1_000,
        "md" => 1_000_000,
        _ => return Err(bad()),
    };
    value.ok().and_then(|value| value.checked_mul(scale)).ok_or_else(bad)
}

/// A duration such as `1.5`, `2m` or `1h`; toybox's `xparsetime`.
pub(super) fn duration(text: &str) -> Result<Duration, Failure> {
    let digits = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
    let scale = match text.chars().last() {
        Some('m') => 60.0,
        Some('h') => 3_600.0,
        Some('d') => 86_400.0,
        _ => 1.0,
    };
    let seconds = digits.parse::<f64>().ok().filter(|n| n.is_finite());
    seconds
        .and_then(|n| Duration::try_from_secs_f64(n * scale).ok())
        .ok_or_else(|| Failure::new(format!("Not a number '{text}'")))
}

/// The files of a program in turn; one that cannot be opened is reported and remembered in
/// `status`.
pub(super) async fn open(call: &Invocation, path: &str, status: &mut i32) -> Option<Input> {
    match call.open(path) {
        Ok(input) => Some(input),
        Err(reason) => {
            call.err(format!("{}: {path}: {reason}\n", call.name)).await;
            *status = 1;
            None
        }
    }
}

/// The message for a path, with status 1.
pub(super) fn about(path: &str, reason: Error) -> Failure {
    Failure::new(format!("{path}: {reason}"))
}

/// Lines, or records that end with NUL, of an input.
pub(super) struct Lines {
    input: Input,
    /// The records of an input that is not divided by newlines, in reverse.
    records: Option<Vec<Vec<u8>>>,
    end: u8,
}

impl Lines {
    pub(super) fn new(input: Input) -> Self {
        Self::ended_by(input, b'\n')
    }

    /// Records ended by this byte.
    pub(super) fn ended_by(input: Input, end: u8) -> Self {
        Self { input, records: None, end }
    }

    /// The next line without its end, and whether it had one.
    pub(super) async fn next(&mut self) -> Option<(Vec<u8>, bool)> {
        // An input from memory never waits.
        tokio::task::coop::consume_budget().await;
        if self.end == b'\n' {
            let (line, ended) = self.input.until(b'\n', LINE).await;
            return (ended || !line.is_empty()).then_some((line, ended));
        }
        if self.records.is_none() {
            let all = self.input.all(ALL).await;
            let mut records: Vec<Vec<u8>> =
                all.split(|byte| *byte == self.end).map(<[u8]>::to_vec).collect();
            if all.is_empty() || all.ends_with(&[self.end]) {
                records.pop();
            }
            records.reverse();
            self.records = Some(records);
        }
        self.records.as_mut()?.pop().map(|record| (record, true))
    }
}

/// Lets a program that computes without reading or writing yield to others, and lets its time pass.
pub(super) struct Pace(u32);

impl Pace {
    /// Steps between two waits.
    const STEPS: u32 = 4_096;

    /// The phone's time that they take. Estimate: 5 µs for each.
    const TIME: Duration = Duration::from_millis(20);

    pub(super) fn new() -> Self {
        Self(0)
    }

    pub(super) async fn step(&mut self, call: &Invocation) {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(Self::STEPS) {
            // A real wait, so that a clock paused by a test and the other programs go on.
            sleep_real(Some(Duration::from_millis(1))).await;
            if !call.system.follows_real_time() {
                call.system.sleep(Self::TIME).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, duration, number};
    use std::time::Duration;

    fn read(args: &[&str], known: &str) -> Result<String, String> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        match Options::read(&args, known, &[("null", 'z'), ("count", 'n')]) {
            Ok(options) => Ok(format!("{:?} {:?}", options.given, options.rest)),
            Err(super::Failure::Usage(text)) => Err(text),
            Err(_) => Err("another failure".to_owned()),
        }
    }

    #[test]
    fn options_are_read_as_by_toybox() {
        for (args, known, expected) in [
            (&["-ab", "x", "-n3"][..], "abn:", r#"[('a', ""), ('b', ""), ('n', "3")] ["x"]"#),
            (&["-n", "3", "--", "-a"], "an:", r#"[('n', "3")] ["-a"]"#),
            (&["x", "-a"], "+a", r#"[] ["x", "-a"]"#),
            (&["-i.bak", "-"], "i;", r#"[('i', ".bak")] ["-"]"#),
            (&["--null", "--count=4"], "zn:", r#"[('z', ""), ('n', "4")] []"#),
        ] {
            assert_eq!(read(args, known).as_deref(), Ok(expected), "{args:?}");
        }
        for (args, known, expected) in [
            (&["-aQx"][..], "a", "Unknown option 'Qx'"),
            (&["-n"], "n:", "Missing argument to -n"),
            (&["--nope"], "a", "Unknown option 'nope'"),
        ] {
            assert_eq!(read(args, known), Err(expected.to_owned()), "{args:?}");
        }
    }

    #[test]
    fn amounts_and_durations_have_units() {
        for (text, value) in
            [("3", Some(3)), ("2k", Some(2_048)), ("0x10", Some(16)), ("x", None), ("", None)]
        {
            assert_eq!(number(text).ok(), value, "{text}");
        }
        for (text, millis) in
            [("1.5", Some(1_500)), ("2m", Some(120_000)), ("x", None), ("-1", None)]
        {
            assert_eq!(duration(text).ok(), millis.map(Duration::from_millis), "{text}");
        }
    }
}

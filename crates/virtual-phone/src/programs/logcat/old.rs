//! What the `logcat` of Android 4.4 does in its own way: captures `310` to `320`.
//!
//! Whatever it shares with today's is read and printed by [`super`]; here are its words, and the options that it has not.

use super::super::Invocation;
use crate::sh::io::Status;

/// What it prints behind a mistake.
const USAGE: &str = include_str!("../words/android-4.4/logcat.txt");

const SIZES: &str = "/dev/log/main: ring buffer is 1024Kb (163Kb consumed), max entry is 5120b, max payload is 4076b\n\
                     /dev/log/system: ring buffer is 1024Kb (24Kb consumed), max entry is 5120b, max payload is 4076b\n";

/// The formats that it knows. The first is taken when none is asked for.
const FORMATS: [&str; 8] =
    ["brief", "process", "tag", "thread", "raw", "time", "threadtime", "long"];

/// Answers what it answers otherwise; `None` for what both do alike.
pub(super) async fn answer(call: &Invocation) -> Option<Status> {
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let complaint = match arg {
            "-g" => return Some(call.out(SIZES).await.map(|()| 0)),
            "-v" if args.next().is_none_or(|format| !FORMATS.contains(&format)) => {
                "Invalid parameter to -v\n".to_owned()
            }
            "-b" | "-t" | "-f" | "-n" | "-r" => {
                let _ = args.next();
                continue;
            }
            "-B" | "-c" | "-d" | "-s" | "-v" => continue,
            // getopt(3)
            "--" => break,
            option if option.starts_with('-') => {
                let letter = option.chars().nth(1).unwrap_or('-');
                format!("logcat: invalid option -- {letter}\nUnrecognized Option\n")
            }
            _ => continue,
        };
        call.err(format!("{complaint}{USAGE}")).await;
        return Some(Ok(255));
    }
    None
}

/// The arguments with the format that it takes when none is asked for.
pub(super) fn arguments(call: &Invocation) -> Vec<String> {
    let mut args = call.args.clone();
    if !args.iter().any(|arg| arg == "-v") {
        args.splice(0..0, ["-v".to_owned(), FORMATS[0].to_owned()]);
    }
    args
}

/// How it names a buffer.
pub(super) fn path(buffer: &str) -> String {
    format!("/dev/log/{buffer}")
}

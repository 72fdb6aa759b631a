//! What `logcat` does differently on Android 4.4: captures `310` to `320`.
//!
//! [`super`] does what both have in common; here are its texts, and the options that it lacks.

use super::super::Invocation;
use crate::io::Status;

/// What it prints after an error.
const USAGE: &str = include_str!("../words/android-4.4/logcat.txt");

const SIZES: &str = "/dev/log/main: ring buffer is 1024Kb (163Kb consumed), max entry is 5120b, max payload is 4076b\n\
                     /dev/log/system: ring buffer is 1024Kb (24Kb consumed), max entry is 5120b, max payload is 4076b\n";

/// The supported formats; the first is the default.
const FORMATS: [&str; 8] =
    ["brief", "process", "tag", "thread", "raw", "time", "threadtime", "long"];

/// Handles what differs; `None` for what is the same.
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

/// The arguments, with the default format added.
pub(super) fn arguments(call: &Invocation) -> Vec<String> {
    let mut args = call.args.clone();
    if !args.iter().any(|arg| arg == "-v") {
        args.splice(0..0, ["-v".to_owned(), FORMATS[0].to_owned()]);
    }
    args
}

/// Its name for a buffer.
pub(super) fn path(buffer: &str) -> String {
    format!("/dev/log/{buffer}")
}

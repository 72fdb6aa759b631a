//! What `logcat` does differently on Android 4.4: captures `310` to `320`.
//!
//! [`super`] does what both have in common; here are its texts, and the options that it lacks.

use super::super::Invocation;
use super::format::Filter;
use thumbwire_virtual_shell::io::Status;

/// What it prints after an error.
const USAGE: &str = include_str!("../words/android-4.4/logcat.txt");

/// The supported formats; the first is the default.
const FORMATS: [&str; 8] =
    ["brief", "process", "tag", "thread", "raw", "time", "threadtime", "long"];

/// The log devices, their sizes in KiB, and what they hold.
const DEVICES: [(&str, u32, u32); 4] =
    [("main", 1_024, 163), ("system", 1_024, 24), ("radio", 1_024, 9), ("events", 256, 70)];

/// Handles what differs; `None` for what is the same.
pub(super) async fn answer(call: &Invocation) -> Option<Status> {
    let refused = |reason: String| async move {
        call.err(format!("{reason}{USAGE}")).await;
        Some(Ok(255))
    };
    if call.args == ["--help"] {
        return refused(String::new()).await;
    }
    let (mut buffers, mut sizes, mut rotated, mut filed) = (Vec::new(), false, false, false);
    let mut rules = Vec::new();
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let Some(cluster) = arg.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
            rules.push(arg);
            continue;
        };
        // getopt(3)
        if cluster == "-" {
            rules.extend(args.by_ref());
            break;
        }
        for (at, letter) in cluster.char_indices() {
            let rest = &cluster[at + letter.len_utf8()..];
            match letter {
                'B' | 'c' | 'd' | 's' => continue,
                'g' => {
                    sizes = true;
                    continue;
                }
                'r' => rotated = true,
                'b' | 't' | 'v' | 'f' | 'n' => {
                    let Some(value) =
                        Some(rest).filter(|it| !it.is_empty()).or_else(|| args.next())
                    else {
                        return refused(format!(
                            "logcat: option requires an argument -- {letter}\nUnrecognized Option\n"
                        ))
                        .await;
                    };
                    match letter {
                        'b' => buffers.push(value),
                        'v' if !FORMATS.contains(&value) => {
                            return refused("Invalid parameter to -v\n".to_owned()).await;
                        }
                        // The program names the wrong option.
                        'n' if value.parse::<u32>().is_err() => {
                            return refused("Invalid parameter to -r\n".to_owned()).await;
                        }
                        'f' => filed = true,
                        _ => {}
                    }
                }
                other => {
                    return refused(format!(
                        "logcat: invalid option -- {other}\nUnrecognized Option\n"
                    ))
                    .await;
                }
            }
            break;
        }
    }
    if rotated && !filed {
        return refused("-r requires -f as well\n".to_owned()).await;
    }
    if let Some(rule) = rules.iter().find(|rule| is_wrong(rule)) {
        return refused(format!("Invalid filter expression '{rule}'\n")).await;
    }
    if let Some(name) = buffers.iter().find(|name| DEVICES.iter().all(|(known, ..)| known != *name))
    {
        let path = path(name);
        call.err(format!("Unable to open log device '{path}': No such file or directory\n")).await;
        return Some(Ok(1));
    }
    if sizes {
        let default = buffers.is_empty();
        let chosen = DEVICES.iter().filter(|(name, ..)| match default {
            true => ["main", "system"].contains(name),
            false => buffers.contains(name),
        });
        let rows = chosen.map(|(name, size, used)| {
            let path = path(name);
            format!(
                "{path}: ring buffer is {size}Kb ({used}Kb consumed), max entry is 5120b, max payload is 4076b\n"
            )
        });
        return Some(call.out(rows.collect::<String>()).await.map(|()| 0));
    }
    None
}

/// Whether a filter is no `tag:priority`: the priority is missing or unknown.
fn is_wrong(rule: &str) -> bool {
    Filter::default().add(rule).is_none()
}

/// The arguments, with the default format added. A count of lines that is not a number means all of
/// them.
pub(super) fn arguments(call: &Invocation) -> Vec<String> {
    let mut args = Vec::new();
    let mut rest = call.args.iter().peekable();
    while let Some(arg) = rest.next() {
        let all = |count: &&String| count.parse::<u64>().is_ok_and(|count| count > 0);
        if arg == "-t" && rest.peek().is_some_and(|count| !all(count)) {
            rest.next();
            args.push("-d".to_owned());
            continue;
        }
        args.push(arg.clone());
    }
    if !args.iter().any(|arg| arg == "-v") {
        args.splice(0..0, ["-v".to_owned(), FORMATS[0].to_owned()]);
    }
    args
}

/// The usage of `log`, which comes with the system's log.
const LOG_USAGE: &str = "USAGE: log [-p priorityChar] [-t tag] message\n\tpriorityChar should be one of:\n\t\tv,d,i,w,e\n";

/// Why `log` refuses its arguments: `log.c` in `system/core/toolbox`.
pub(super) fn refuses_log(call: &Invocation) -> Option<String> {
    let mut rest = call.args.as_slice();
    while let [option, more @ ..] = rest
        && let Some(letter) = option.strip_prefix('-').filter(|letter| !letter.is_empty())
    {
        let value = more.first();
        rest = more.get(1..).unwrap_or_default();
        match (letter, value) {
            ("p" | "t", None) => {
                return Some(format!("log: option requires an argument -- {letter}\n{LOG_USAGE}"));
            }
            ("p", Some(value))
                if !["v", "d", "i", "w", "e"].contains(&&value.to_lowercase()[..]) =>
            {
                return Some(LOG_USAGE.to_owned());
            }
            ("p" | "t", Some(_)) => {}
            _ => {
                let letter = letter.chars().next().unwrap_or('-');
                return Some(format!("log: invalid option -- {letter}\n{LOG_USAGE}"));
            }
        }
    }
    rest.is_empty().then(|| LOG_USAGE.to_owned())
}

/// Its name for a buffer.
pub(super) fn path(buffer: &str) -> String {
    format!("/dev/log/{buffer}")
}

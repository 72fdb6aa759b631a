//! `logcat` and `log`: what the phone writes down. Formats as in the captures `310` to `317` and `shell`'s logcat files.
//!
//! Without `-d` it goes on with what is written from then on. Buffers other than main and the binary format are not here.

use super::Invocation;
use super::clock::Moment;
use crate::sh::io::Status;
use crate::world::LogLine;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Brief,
    Threadtime,
    Time,
    Long,
    Tag,
    Raw,
    Process,
    Epoch,
}

/// Which lines are wanted: tag to least priority, with one for all others.
struct Filter {
    tags: Vec<(String, u8)>,
    others: u8,
}

const PRIORITIES: &str = "VDIWEFS";

/// `logcat [-d] [-c] [-g] [-v FORMAT] [-t N | -T N] [-s] [-b BUFFER] [TAG:PRIORITY]…`
pub(super) async fn logcat(call: Invocation) -> Status {
    let (mut dump, mut clear, mut size, mut silent, mut last) = (false, false, false, false, None);
    let old = !call.manners().toybox;
    let mut format = if old { Format::Brief } else { Format::Threadtime };
    let mut specs = Vec::new();
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "-d" => dump = true,
            "-c" => clear = true,
            "-g" => size = true,
            "-s" => silent = true,
            "-b" | "-m" | "--pid" | "--buffer" => drop(args.next()),
            "-T" if old => return unknown_of_old(&call, 'T').await,
            "-t" | "-T" => {
                dump |= arg == "-t";
                last = args.next().and_then(|count| count.parse::<usize>().ok());
            }
            "-v" => {
                match args.next().and_then(named).filter(|named| !(old && *named == Format::Epoch))
                {
                    Some(named) => format = named,
                    None if old => {
                        call.err(format!("Invalid parameter to -v\n{OLD_USAGE}")).await;
                        return Ok(255);
                    }
                    None => {
                        call.err("logcat: Invalid parameter to -v\n").await;
                        return Ok(1);
                    }
                }
            }
            option if option.starts_with("-v") => match named(&option[2..]) {
                Some(named) => format = named,
                None => {
                    call.err("logcat: Invalid parameter to -v\n").await;
                    return Ok(1);
                }
            },
            option if option.starts_with("-b") => {}
            option if option.starts_with("--pid=") || option.starts_with("--buffer=") => {}
            option if option.starts_with('-') && old => {
                return unknown_of_old(&call, option.chars().nth(1).unwrap_or('-')).await;
            }
            option if option.starts_with('-') => {
                call.err(format!("logcat: Unrecognized option {option}\n")).await;
                return Ok(1);
            }
            spec => specs.push(spec),
        }
    }
    if size && old {
        call.out("/dev/log/main: ring buffer is 1024Kb (163Kb consumed), max entry is 5120b, max payload is 4076b\n\
                  /dev/log/system: ring buffer is 1024Kb (24Kb consumed), max entry is 5120b, max payload is 4076b\n")
            .await?;
        return Ok(0);
    }
    if size {
        call.out("main: ring buffer is 256 KiB (12 KiB consumed, 12 KiB readable), max entry is 5120 B, max payload is 4068 B\n").await?;
        return Ok(0);
    }
    if clear {
        call.phone.with(|phone| phone.log_cleared = next(&phone.world));
        return Ok(0);
    }
    let filter = Filter::new(&specs, silent);
    call.out(if old {
        "--------- beginning of /dev/log/main\n"
    } else {
        "--------- beginning of main\n"
    })
    .await?;
    let mut from = call.phone.peek(|phone| phone.log_cleared);
    if let Some(last) = last {
        from = call.phone.peek(|phone| {
            let world = &phone.world;
            let wanted: Vec<u64> = numbered(world, from)
                .filter(|(_, line)| filter.takes(line))
                .map(|(at, _)| at)
                .collect();
            wanted.len().checked_sub(last).and_then(|at| wanted.get(at)).copied().unwrap_or(from)
        });
    }
    loop {
        let changed = call.phone.changed();
        let (text, end) = call.phone.peek(|phone| {
            let epoch = phone.world.unix_time() - phone.world.uptime().as_secs();
            let lines = numbered(&phone.world, from).filter(|(_, line)| filter.takes(line));
            (
                lines.map(|(_, line)| shown(line, format, epoch)).collect::<String>(),
                next(&phone.world),
            )
        });
        from = end;
        if !text.is_empty() {
            call.out(text).await?;
        }
        if dump {
            return Ok(0);
        }
        changed.await;
    }
}

/// What logcat prints behind a mistake on Android 4.4.
const OLD_USAGE: &str = include_str!("words/android-4.4/logcat.txt");

/// The capture `320-logcat-T`.
async fn unknown_of_old(call: &Invocation, option: char) -> Status {
    call.err(format!("logcat: invalid option -- {option}\nUnrecognized Option\n{OLD_USAGE}")).await;
    Ok(255)
}

/// `log [-p PRIORITY] [-t TAG] TEXT…`
pub(super) async fn log(call: Invocation) -> Status {
    let (mut priority, mut tag, mut words) = ('I', "log".to_owned(), Vec::new());
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-p" => {
                priority = args
                    .next()
                    .and_then(|p| p.chars().next())
                    .map_or('I', |c| c.to_ascii_uppercase())
            }
            "-t" => tag = args.next().cloned().unwrap_or_default(),
            word => words.push(word),
        }
    }
    if !PRIORITIES.contains(priority) {
        call.err(format!("log: bad -p '{priority}'\n")).await;
        return Ok(1);
    }
    // `LOGGER_ENTRY_MAX_PAYLOAD`
    let text: String = words.join(" ").chars().take(4_068).collect();
    call.phone.with(|phone| phone.world.write_log(priority, &tag, 4_000, &text));
    Ok(0)
}

/// Lines with their numbers counted from the first line ever written, from a number on.
fn numbered(world: &crate::world::World, from: u64) -> impl Iterator<Item = (u64, &LogLine)> {
    let first = world.log().dropped();
    world
        .log()
        .lines()
        .enumerate()
        .map(move |(at, line)| (first + at as u64, line))
        .filter(move |(at, _)| *at >= from)
}

fn next(world: &crate::world::World) -> u64 {
    world.log().dropped() + world.log().lines().len() as u64
}

fn named(name: &str) -> Option<Format> {
    Some(match name {
        "brief" => Format::Brief,
        "threadtime" => Format::Threadtime,
        "time" => Format::Time,
        "long" => Format::Long,
        "tag" => Format::Tag,
        "raw" => Format::Raw,
        "process" => Format::Process,
        "epoch" => Format::Epoch,
        _ => return None,
    })
}

fn shown(line: &LogLine, format: Format, epoch: u64) -> String {
    let at = Moment::new(epoch + line.at.as_secs());
    let time = format!(
        "{:02}-{:02} {:02}:{:02}:{:02}.{:03}",
        at.month,
        at.day,
        at.hour,
        at.minute,
        at.second,
        line.at.subsec_millis()
    );
    let LogLine { priority, tag, pid, text, .. } = line;
    match format {
        Format::Brief => format!("{priority}/{tag:<8}({pid:>5}): {text}\n"),
        Format::Threadtime => format!("{time} {pid:>5} {pid:>5} {priority} {tag:<8}: {text}\n"),
        Format::Time => format!("{time} {priority}/{tag:<8}({pid:>5}): {text}\n"),
        Format::Long => format!("[ {time} {pid:>5}:{pid:>5} {priority}/{tag:<8} ]\n{text}\n\n"),
        Format::Tag => format!("{priority}/{tag:<8}: {text}\n"),
        Format::Raw => format!("{text}\n"),
        Format::Epoch => format!(
            "{:>13}.{:03} {pid:>5} {pid:>5} {priority} {tag:<8}: {text}\n",
            epoch + line.at.as_secs(),
            line.at.subsec_millis()
        ),
        Format::Process => format!("{priority}({pid:>5}) {text}  ({tag})\n"),
    }
}

impl Filter {
    fn new(specs: &[&str], silent: bool) -> Self {
        let rank = |letter: &str| {
            letter.chars().next().and_then(|c| PRIORITIES.find(c.to_ascii_uppercase())).unwrap_or(0)
                as u8
        };
        let mut filter = Self { tags: Vec::new(), others: if silent { 6 } else { 0 } };
        for spec in specs {
            let (tag, least) =
                spec.rsplit_once(':').map_or((*spec, 0), |(tag, letter)| (tag, rank(letter)));
            if tag == "*" {
                filter.others = least;
            } else {
                filter.tags.push((tag.to_owned(), least));
            }
        }
        filter
    }

    fn takes(&self, line: &LogLine) -> bool {
        let least = self
            .tags
            .iter()
            .rfind(|(tag, _)| *tag == line.tag)
            .map_or(self.others, |(_, least)| *least);
        PRIORITIES.find(line.priority).unwrap_or(0) as u8 >= least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn lines_are_shown_as_in_the_captures() {
        let line = LogLine {
            at: Duration::from_millis(1_500),
            priority: 'I',
            tag: "DEBUG".into(),
            pid: 40,
            text: "up".into(),
        };
        let epoch = 1_709_632_800;
        assert_eq!(
            shown(&line, Format::Threadtime, epoch),
            "03-05 10:00:01.500    40    40 I DEBUG   : up\n"
        );
        assert_eq!(shown(&line, Format::Brief, epoch), "I/DEBUG   (   40): up\n");
        let filter = Filter::new(&["DEBUG:W", "*:V"], false);
        assert!(!filter.takes(&line));
        assert!(Filter::new(&["DEBUG"], true).takes(&line));
        assert!(!Filter::new(&[], true).takes(&line));
    }
}

//! `logcat` and `log`: the phone's log.
//!
//! Start with [`logcat`]; `options` parses the options, `format` formats lines. Options, texts and
//! order of work are those of AOSP's `system/logging/logcat/logcat.cpp` of Android 14. Without `-d`
//! or `-t` it follows the log, and ends as soon as nobody reads its output: on a real phone there
//! is always a next line whose write fails.
//!
//! Not here: log file rotation (`-r`, `-n` are accepted), `--proto`, pruning, statistics, zones
//! other than UTC, binary events.

mod format;
mod old;
mod options;

use self::format::PRIORITIES;
use self::options::{LogcatMode, LogcatOptions};
use super::Invocation;
use std::sync::Arc;
use thumbwire_virtual_phone::{Buffer, LogLine, World};
use thumbwire_virtual_shell::files::OpenTarget;
use thumbwire_virtual_shell::io::{Abort, Output, Status};

/// Maximum bytes of an entry's text (`LOGGER_ENTRY_MAX_PAYLOAD`).
const MAX_LENGTH: usize = 4_068;

/// `logcat [OPTION]… [TAG:PRIORITY]…`
pub(super) async fn logcat(call: Invocation) -> Status {
    let is_old = !call.release().userland.toybox;
    if is_old && let Some(answer) = old::answer(&call).await {
        return answer;
    }
    let args = if is_old { old::arguments(&call) } else { call.args.clone() };
    let mut wanted = match LogcatOptions::read(&args, &call.env) {
        Ok(wanted) => wanted,
        Err(reason) => {
            call.err(format!("logcat: {reason}\n")).await;
            return Ok(1);
        }
    };
    if !wanted.warnings.is_empty() {
        call.err(std::mem::take(&mut wanted.warnings)).await;
    }
    match wanted.task {
        LogcatMode::Help => call.out(HELP).await.map(|()| 0),
        LogcatMode::Sizes => call.out(sizes(&call, &wanted)).await.map(|()| 0),
        LogcatMode::SetSize => Ok(0),
        LogcatMode::Last => {
            call.err("logcat: Logcat read failure: No such file or directory\n").await;
            Ok(1)
        }
        LogcatMode::Clear => {
            call.phone.with(|phone| {
                wanted.buffers.iter().for_each(|buffer| phone.world.clear_log(*buffer));
            });
            Ok(0)
        }
        LogcatMode::Print => {
            let output = match &wanted.file {
                None => call.io.stdout.clone(),
                Some(file) => {
                    let path = call.path(file);
                    let opened = call
                        .phone
                        .with(|phone| phone.kernel.files.open_to_write(&path, 0o640, true));
                    match opened {
                        Ok(OpenTarget::File(id)) => Output::File(Arc::clone(&call.system), id),
                        Ok(OpenTarget::Special(_)) => Output::Null,
                        Err(reason) => {
                            let text = match is_old {
                                true => format!("couldn't open output file: {reason}\n"),
                                false => {
                                    format!(
                                        "logcat: couldn't open output file '{file}': {reason}\n"
                                    )
                                }
                            };
                            call.err(text).await;
                            return Ok(1);
                        }
                    }
                }
            };
            print(&call, &wanted, &output).await
        }
    }
}

async fn print(call: &Invocation, options: &LogcatOptions, output: &Output) -> Status {
    let mut printer = Printer {
        options,
        is_old: !call.release().userland.toybox,
        begun: Vec::new(),
        last: None,
        matched: 0,
    };
    let mut from = call.phone.read(|phone| options.first(&phone.world));
    loop {
        let changed = call.phone.changed();
        let bytes = call.phone.read(|phone| {
            let world = &phone.world;
            let since_1970 = world.unix_time() - world.uptime().as_secs();
            let mut bytes = Vec::new();
            for (at, line) in world.log().since(from) {
                if printer.is_done() {
                    break;
                }
                from = at + 1;
                if options.reads(line) {
                    printer.print(line, since_1970, &mut bytes);
                }
            }
            bytes
        });
        if !bytes.is_empty() {
            output.write(&bytes).await?;
        }
        if options.dump || printer.is_done() {
            return Ok(0);
        }
        tokio::select! {
            () = changed => {},
            () = output.closed() => return Err(Abort::Closed),
        }
    }
}

/// Prints entries one after the other.
struct Printer<'a> {
    options: &'a LogcatOptions,
    is_old: bool,
    /// Buffers of which something has been printed.
    begun: Vec<Buffer>,
    last: Option<Buffer>,
    matched: u64,
}

impl Printer<'_> {
    fn is_done(&self) -> bool {
        self.options.max.is_some_and(|most| self.matched >= most)
    }

    fn print(&mut self, line: &LogLine, since_1970: u64, into: &mut Vec<u8>) {
        if self.options.binary {
            into.extend(entry(line, since_1970));
            return;
        }
        if !self.options.filter.takes(line) {
            return;
        }
        let matches =
            self.options.pattern.as_ref().is_none_or(|pattern| pattern.matches(&line.text, false));
        self.matched += u64::from(matches);
        if !matches && !self.options.anyway {
            return;
        }
        if self.last != Some(line.buffer) {
            let known = self.begun.contains(&line.buffer);
            if !known || self.options.dividers {
                let what = if known { "switch to" } else { "beginning of" };
                let name = line.buffer.name();
                let name = if self.is_old { old::path(name) } else { name.to_owned() };
                into.extend(format!("--------- {what} {name}\n").as_bytes());
            }
            self.last = Some(line.buffer);
            self.begun.push(line.buffer);
        }
        into.extend(self.options.shape.shown(line, since_1970).as_bytes());
    }
}

impl LogcatOptions {
    /// The number of the first entry to print. As in logd, `-t N` counts entries of the selected
    /// buffers and process, before filtering by tags and patterns.
    fn first(&self, world: &World) -> u64 {
        let chosen = || world.log().since(0).filter(|(_, line)| self.reads(line));
        if let Some(lines) = self.tail {
            let all: Vec<u64> = chosen().map(|(at, _)| at).collect();
            return all.len().checked_sub(lines).and_then(|at| all.get(at)).copied().unwrap_or(0);
        }
        if let Some(since) = self.since {
            let since_1970 = world.unix_time() - world.uptime().as_secs();
            let time = |line: &LogLine| {
                let seconds = u128::from(since_1970 + line.at.as_secs());
                seconds * 1_000_000_000 + u128::from(line.at.subsec_nanos())
            };
            let now = world.unix_time();
            let since = since.nanos(now);
            return chosen()
                .find(|(_, line)| time(line) >= since)
                .map_or(world.log().next(), |(at, _)| at);
        }
        0
    }

    /// Whether logd returns that entry.
    fn reads(&self, line: &LogLine) -> bool {
        self.buffers.contains(&line.buffer)
            && self.pid.is_none_or(|pid| pid == line.pid)
            && (self.uids.is_empty() || self.uids.contains(&line.uid))
    }
}

/// A binary entry: `struct logger_entry` of `log/log_read.h`, then priority, tag and text.
fn entry(line: &LogLine, since_1970: u64) -> Vec<u8> {
    if line.buffer == Buffer::Events {
        return Vec::new();
    }
    let priority = PRIORITIES.find(line.priority).unwrap_or(0) as u8 + 2;
    let mut payload = vec![priority];
    payload.extend(line.tag.as_bytes());
    payload.push(0);
    payload.extend(line.text.as_bytes().iter().take(MAX_LENGTH - payload.len().min(MAX_LENGTH)));
    payload.push(0);
    let mut bytes = Vec::new();
    bytes.extend((payload.len() as u16).to_le_bytes());
    bytes.extend(28_u16.to_le_bytes());
    let seconds = (since_1970 + line.at.as_secs()) as u32;
    for word in [line.pid, line.pid, seconds, line.at.subsec_nanos(), line.buffer as u32, line.uid]
    {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(payload);
    bytes
}

/// `-g`
fn sizes(call: &Invocation, options: &LogcatOptions) -> String {
    let size = |bytes: usize| match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    };
    call.phone.read(|phone| {
        let line = |buffer: &Buffer| {
            let lines = phone.world.log().since(0).filter(|(_, line)| line.buffer == *buffer);
            // Each entry has a header of 28 bytes, a priority and two terminators.
            let used: usize = lines.map(|(_, line)| 31 + line.tag.len() + line.text.len()).sum();
            format!(
                "{}: ring buffer is 256 KiB ({used} consumed, {used} readable), max entry is 5120 B, max payload is {MAX_LENGTH} B\n",
                buffer.name(),
                used = size(used)
            )
        };
        options.buffers.iter().map(line).collect()
    })
}

/// `log [-p PRIORITY] [-t TAG] TEXT…`
pub(super) async fn log(call: Invocation) -> Status {
    if !call.release().userland.toybox
        && let Some(reason) = old::refuses_log(&call)
    {
        call.err(reason).await;
        return Ok(1);
    }
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
    let text: String = words.join(" ").chars().take(MAX_LENGTH).collect();
    call.phone.with(|phone| phone.world.write_log(priority, &tag, call.running.pid, &text));
    Ok(0)
}

const HELP: &str = "
  Usage: logcat [OPTION]... [FILTERSPEC]...

  General options:

  -b BUFFER, --buffer=BUFFER
      Request alternate ring buffer(s). Options are:
          main system radio events crash default all
      Default is \"main,system,crash,kernel\".
  -c, --clear
      Clear (flush) the entire log and exit.
  -d            Dump the log and then exit (don't block).
  --pid=PID     Only print logs from the given pid.

  Formatting:

  -v, --format=FORMAT         Sets log print format.
  -D, --dividers              Print dividers between each log buffer.
  -B, --binary                Output the log in binary.

  Output files:

  -f, --file=FILE             Log to FILE instead of stdout.

  Logd control:

  -g, --buffer-size
      Get size of the ring buffers within logd.

  Filtering:

  -s                   Set default filter to silent (like filterspec '*:S').
  -e, --regex=EXPR     Only print lines matching ECMAScript regex.
  -m, --max-count=N    Exit after printing <count> lines.
  -t N                 Print most recent <count> lines (implies -d).
  -T N                 Print most recent <count> lines (does not imply -d).
  -t TIME              Print lines since specified time (implies -d).
  -T TIME              Print lines since specified time (not imply -d).
  --uid=UIDS
      Only display log messages from UIDs in the comma-separated list UIDS.
";

//! Formats lines of `logcat`: formats, modifiers, tag filters.
//!
//! Start with [`LogFormat::shown`]. Widths, order and quirks are those of AOSP's
//! `system/logging/liblog/logprint.cpp`; the tests compare them with lines of the captures in
//! `logcat/`.

use thumbwire_virtual_phone::LogLine;
use thumbwire_virtual_shell::programs::date_time;

/// Ascending, with silence last.
pub(super) const PRIORITIES: &str = "VDIWEFS";

/// Maximum bytes of the prefix: the source's buffer has 128 with its terminator.
const PREFIX: usize = 127;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogFormatName {
    Brief,
    Process,
    Tag,
    Thread,
    Raw,
    Time,
    Threadtime,
    Long,
}

/// A format with its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogFormat {
    verb: LogFormatName,
    colour: bool,
    /// Digits of the fraction of a second.
    digits: usize,
    year: bool,
    zone: bool,
    epoch: bool,
    monotonic: bool,
    uid: bool,
}

impl Default for LogFormat {
    fn default() -> Self {
        Self {
            verb: LogFormatName::Threadtime,
            colour: false,
            digits: 3,
            year: false,
            zone: false,
            epoch: false,
            monotonic: false,
            uid: false,
        }
    }
}

impl LogFormat {
    /// Applies one word: `Some(true)` for a format, `Some(false)` for a modifier, `None` for
    /// neither. The phone's clock is in UTC, the only zone it knows.
    pub(super) fn add(&mut self, word: &str) -> Option<bool> {
        let verb = match word {
            "brief" => LogFormatName::Brief,
            "process" => LogFormatName::Process,
            "tag" => LogFormatName::Tag,
            "thread" => LogFormatName::Thread,
            "raw" => LogFormatName::Raw,
            "time" => LogFormatName::Time,
            "threadtime" => LogFormatName::Threadtime,
            "long" => LogFormatName::Long,
            _ => {
                match word {
                    "color" | "colour" => self.colour = true,
                    "usec" => self.digits = self.digits.max(6),
                    "nsec" => self.digits = 9,
                    "year" => self.year = true,
                    "zone" | "UTC" | "GMT" | "Etc/UTC" => self.zone = !self.zone,
                    "epoch" => self.epoch = true,
                    "monotonic" => self.monotonic = true,
                    "uid" => self.uid = true,
                    // Everything printed here is printable, and events have no descriptions.
                    "printable" | "descriptive" => {}
                    _ => return None,
                }
                return Some(false);
            }
        };
        self.verb = verb;
        Some(true)
    }

    /// The entry's lines, each with its prefix.
    pub(super) fn shown(&self, line: &LogLine, since_1970: u64) -> String {
        let LogLine { priority, tag, pid, .. } = line;
        let (time, uid) = (self.time(line, since_1970), self.uid(line.uid));
        let prefix = match self.verb {
            LogFormatName::Tag => format!("{priority}/{tag:<8}: "),
            LogFormatName::Process => format!("{priority}({uid}{pid:>5}) "),
            LogFormatName::Thread => format!("{priority}({uid}{pid:>5}:{pid:>5}) "),
            LogFormatName::Raw => String::new(),
            LogFormatName::Time => format!("{time} {priority}/{tag:<8}({uid}{pid:>5}): "),
            LogFormatName::Threadtime => {
                let uid = uid.replace(':', " ");
                format!("{time} {uid}{pid:>5} {pid:>5} {priority} {tag:<8}: ")
            }
            LogFormatName::Long => {
                format!("[ {time} {uid}{pid:>5}:{pid:>5} {priority}/{tag:<8} ]\n")
            }
            LogFormatName::Brief => format!("{priority}/{tag:<8}({uid}{pid:>5}): "),
        };
        let (before, after) = match (self.colour, priority) {
            (false, _) => (String::new(), ""),
            (true, priority) => (format!("\x1b[{}m", colour(*priority)), "\x1b[0m"),
        };
        let mut prefix = before + &prefix;
        if prefix.len() > PREFIX {
            let end = (0..=PREFIX).rev().find(|at| prefix.is_char_boundary(*at));
            prefix.truncate(end.unwrap_or_default());
        }
        let tail =
            if self.verb == LogFormatName::Process { format!("  ({tag})") } else { String::new() };
        if self.verb == LogFormatName::Long {
            return format!("{prefix}{}{after}\n\n", line.text);
        }
        let text = line.text.strip_suffix('\n').unwrap_or(&line.text);
        text.split('\n').map(|text| format!("{prefix}{text}{after}{tail}\n")).collect()
    }

    fn time(&self, line: &LogLine, since_1970: u64) -> String {
        let seconds = since_1970 + line.at.as_secs();
        let at = date_time(seconds);
        let mut time = match (self.monotonic, self.epoch) {
            (true, _) => format!("{:>6}", line.at.as_secs()),
            (_, true) => format!("{seconds:>19}"),
            _ => {
                let year = if self.year { at.strftime("%Y-").to_string() } else { String::new() };
                format!("{year}{}", at.strftime("%m-%d %T"))
            }
        };
        let nanos = format!("{:09}", line.at.subsec_nanos());
        time.push('.');
        time.push_str(nanos.get(..self.digits).unwrap_or(&nanos));
        if self.zone && !self.epoch && !self.monotonic {
            time.push_str(" +0000");
        }
        time
    }

    /// User names of up to five letters, numbers for all others.
    fn uid(&self, uid: u32) -> String {
        let name = match uid {
            _ if !self.uid => return String::new(),
            0 => Some("root"),
            1_001 => Some("radio"),
            1_007 => Some("log"),
            1_036 => Some("logd"),
            2_000 => Some("shell"),
            _ => None,
        };
        name.map_or_else(|| format!("{uid:>5}:"), |name| format!("{name:>5}:"))
    }
}

/// Foreground colours of ECMA-48.
fn colour(priority: char) -> u8 {
    match priority {
        'D' => 34,
        'I' => 32,
        'W' => 33,
        'E' | 'F' => 31,
        _ => 39,
    }
}

/// Which entries to print: the minimum priority for each tag, and for all others.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    tags: Vec<(String, Option<usize>)>,
    others: usize,
}

impl Filter {
    /// Adds rules such as `Tag:W *:S`, separated by whitespace or commas; `None` if one is invalid.
    /// `*` alone is `*:D`, a tag alone is `tag:V`.
    pub(super) fn add(&mut self, rules: &str) -> Option<()> {
        for rule in rules.split([' ', '\t', ',']).filter(|rule| !rule.is_empty()) {
            let (tag, letter) =
                rule.split_once(':').map_or((rule, None), |(tag, rest)| (tag, Some(rest)));
            if tag.is_empty() {
                return None;
            }
            let least = match letter {
                None => None,
                Some(rest) => match rest.chars().next()?.to_ascii_uppercase() {
                    '*' => None,
                    // `ANDROID_LOG_VERBOSE` is 2, and 8 or more count as that.
                    digit @ '0'..='9' => Some(match digit as usize - '0' as usize {
                        number @ 2..=7 => number - 2,
                        _ => 0,
                    }),
                    letter => Some(PRIORITIES.find(letter)?),
                },
            };
            match tag {
                "*" => self.others = least.unwrap_or(1),
                _ if letter.is_none() => self.tags.push((tag.to_owned(), Some(0))),
                // `tag:*` means the default for all others, by the source's own table.
                _ => self.tags.push((tag.to_owned(), least.or(Some(0)))),
            }
        }
        Some(())
    }

    /// Whether an entry is printed. The last matching rule counts.
    pub(super) fn takes(&self, line: &LogLine) -> bool {
        let rule = self.tags.iter().rfind(|(tag, _)| *tag == line.tag);
        let least = rule.and_then(|(_, least)| *least).unwrap_or(self.others);
        PRIORITIES.find(line.priority).unwrap_or(0) >= least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use thumbwire_virtual_phone::Buffer;

    /// 2024-03-05 10:00:00 UTC.
    const SWITCHED_ON: u64 = 1_709_632_800;

    fn line(priority: char, tag: &str, pid: u32, text: &str) -> LogLine {
        let (at, buffer) = (Duration::from_nanos(1_500_250_125), Buffer::Main);
        LogLine { at, buffer, priority, tag: tag.into(), pid, uid: 1_000, text: text.into() }
    }

    fn check(text: &str, line: &LogLine, expected: &str) {
        let mut shape = LogFormat::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            assert!(shape.add(word).is_some(), "{word}");
        }
        assert_eq!(shape.shown(line, SWITCHED_ON), expected, "{text}");
    }

    #[test]
    fn each_format_has_the_columns_of_the_source_and_the_captures() {
        let short = line('I', "DEBUG", 40, "up");
        check("", &short, "03-05 10:00:01.500    40    40 I DEBUG   : up\n");
        check("brief", &short, "I/DEBUG   (   40): up\n");
        check("process", &short, "I(   40) up  (DEBUG)\n");
        check("tag", &short, "I/DEBUG   : up\n");
        check("thread", &short, "I(   40:   40) up\n");
        check("raw", &short, "up\n");
        check("time", &short, "03-05 10:00:01.500 I/DEBUG   (   40): up\n");
        check("long", &short, "[ 03-05 10:00:01.500    40:   40 I/DEBUG    ]\nup\n\n");
        let wide = line('W', "InterfaceController", 12_345, "no");
        check("brief", &wide, "W/InterfaceController(12345): no\n");
    }

    #[test]
    fn modifiers_change_the_time_and_add_the_user() {
        let short = line('E', "DEBUG", 40, "up");
        check("epoch", &short, "         1709632801.500    40    40 E DEBUG   : up\n");
        check("monotonic,usec", &short, "     1.500250    40    40 E DEBUG   : up\n");
        check("year,zone", &short, "2024-03-05 10:00:01.500 +0000    40    40 E DEBUG   : up\n");
        check("UTC,nsec,time", &short, "03-05 10:00:01.500250125 +0000 E/DEBUG   (   40): up\n");
        check("uid", &short, "03-05 10:00:01.500  1000    40    40 E DEBUG   : up\n");
        check("brief,uid", &short, "E/DEBUG   ( 1000:   40): up\n");
        check("brief,color", &short, "\x1b[31mE/DEBUG   (   40): up\x1b[0m\n");
    }

    #[test]
    fn every_line_has_a_prefix_except_in_long_format() {
        let trace = line('E', "X", 7, "one\n\ttwo\n");
        check("brief", &trace, "E/X       (    7): one\nE/X       (    7): \ttwo\n");
        check("long", &trace, "[ 03-05 10:00:01.500     7:    7 E/X        ]\none\n\ttwo\n\n\n");
        check("tag", &line('I', &"t".repeat(200), 1, "x"), &format!("I/{}x\n", "t".repeat(125)));
    }

    #[test]
    fn last_matching_tag_rule_wins() {
        let takes = |rules: &str, priority| {
            let mut filter = Filter::default();
            filter.add(rules).map(|()| filter.takes(&line(priority, "A", 1, "")))
        };
        assert_eq!(takes("", 'V'), Some(true));
        assert_eq!(takes("*", 'V'), Some(false));
        assert_eq!(takes("A:W", 'I'), Some(false));
        assert_eq!(takes("A:W,*:S", 'W'), Some(true));
        assert_eq!(takes("A *:S", 'V'), Some(true));
        assert_eq!(takes("A:V A:e", 'W'), Some(false));
        assert_eq!(takes("*:S", 'F'), Some(false));
        assert_eq!(takes("A:5", 'W'), Some(true));
        assert_eq!((takes(":W", 'F'), takes("A:Q", 'F'), takes("A:", 'F')), (None, None, None));
    }
}

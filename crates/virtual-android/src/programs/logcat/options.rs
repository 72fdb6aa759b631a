//! The options of `logcat`, parsed as by `getopt_long`.
//!
//! Start with [`LogcatOptions::read`]. Error messages are those of AOSP's `logcat.cpp` of Android
//! 14, without the leading program name.

use super::format::{Filter, LogFormat};
use jiff::ToSpan;
use jiff::civil::Date;
use thumbwire_virtual_phone::Buffer;
use thumbwire_virtual_shell::programs::Matcher;
use thumbwire_virtual_shell::programs::date_time;

/// Separators of the words in one argument.
const SEPARATORS: [char; 8] = [',', ':', ';', ' ', '\t', '\n', '\r', '\x0c'];

/// Short options that take a value.
const VALUED: &str = "tTGfrnvbPme";

/// Long options, their letter, and whether they take a value (`None`: only with `=`).
const LONG: [(&str, char, Option<bool>); 24] = [
    ("binary", 'B', Some(false)),
    ("buffer", 'b', Some(true)),
    ("buffer-size", 'g', None),
    ("clear", 'c', Some(false)),
    ("debug", ' ', Some(false)),
    ("dividers", 'D', Some(false)),
    ("file", 'f', Some(true)),
    ("format", 'v', Some(true)),
    ("grep", 'e', Some(true)),
    ("head", 'm', Some(true)),
    ("help", 'h', Some(false)),
    ("id", ' ', Some(true)),
    ("last", 'L', Some(false)),
    ("max-count", 'm', Some(true)),
    ("pid", 'i', Some(true)),
    ("print", 'a', Some(false)),
    ("prune", 'p', None),
    ("regex", 'e', Some(true)),
    ("rotate-count", 'n', Some(true)),
    ("rotate-kbytes", 'r', Some(true)),
    ("statistics", 'S', Some(false)),
    ("tail", 't', Some(true)),
    ("uid", 'u', Some(true)),
    ("wrap", 'w', None),
];

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogcatMode {
    Print,
    Clear,
    Sizes,
    SetSize,
    Help,
    /// The log of before the last boot, which this phone does not have.
    Last,
}

/// A valid command line.
pub(super) struct LogcatOptions {
    pub(super) task: LogcatMode,
    /// In numerical order.
    pub(super) buffers: Vec<Buffer>,
    pub(super) shape: LogFormat,
    pub(super) filter: Filter,
    pub(super) pattern: Option<Matcher>,
    /// Print lines that do not match too.
    pub(super) anyway: bool,
    /// Exit at the end of the log.
    pub(super) dump: bool,
    pub(super) binary: bool,
    pub(super) dividers: bool,
    /// Start with this many of the last entries,
    pub(super) tail: Option<usize>,
    /// or at that time.
    pub(super) since: Option<Since>,
    /// Exit after this many matching entries.
    pub(super) max: Option<u64>,
    pub(super) pid: Option<u32>,
    pub(super) uids: Vec<u32>,
    pub(super) file: Option<String>,
    /// Lines for stderr.
    pub(super) warnings: String,
}

/// A time on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// Seconds since 1970, and nanoseconds.
    Epoch(u64, u32),
    /// Year (default: the current one), month, day, seconds of the day, nanoseconds.
    Date(Option<i16>, i8, i8, u64, u32),
}

impl LogcatOptions {
    /// Parses the arguments and the two environment variables that replace them.
    pub(super) fn read(args: &[String], env: &[(String, String)]) -> Result<Self, String> {
        let mut wanted = Self {
            task: LogcatMode::Print,
            buffers: Vec::new(),
            shape: LogFormat::default(),
            filter: Filter::default(),
            pattern: None,
            anyway: false,
            dump: false,
            binary: false,
            dividers: false,
            tail: None,
            since: None,
            max: None,
            pid: None,
            uids: Vec::new(),
            file: None,
            warnings: String::new(),
        };
        let (mut rules, mut shaped, mut until) = (Vec::new(), false, false);
        let mut rest = args.iter().map(String::as_str);
        while let Some(arg) = rest.next() {
            if arg == "--" {
                rules.extend(rest.by_ref());
                break;
            }
            if let Some(long) = arg.strip_prefix("--") {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
                let begun: Vec<_> =
                    LONG.iter().filter(|(known, ..)| known.starts_with(name)).collect();
                let exact = begun.iter().find(|(known, ..)| *known == name);
                let (_, letter, valued) = match (exact, begun.as_slice()) {
                    (Some(option), _) => option,
                    (None, [only]) => only,
                    _ => return Err(format!("Unknown option '{arg}'.")),
                };
                let value = match valued {
                    Some(true) => Some(
                        value
                            .or_else(|| rest.next())
                            .ok_or_else(|| format!("Option '{arg}' needs an argument."))?,
                    ),
                    _ => value,
                };
                wanted.option(*letter, value, &mut shaped, &mut until)?;
                continue;
            }
            let Some(cluster) = arg.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
                rules.push(arg);
                continue;
            };
            for (at, letter) in cluster.char_indices() {
                if !"cdDhLtTgGsQfrnvbBSpPme".contains(letter) {
                    return Err(format!("Unknown option '-{letter}'."));
                }
                if !VALUED.contains(letter) {
                    wanted.option(letter, None, &mut shaped, &mut until)?;
                    continue;
                }
                let value = match &cluster[at + 1..] {
                    "" => rest
                        .next()
                        .ok_or_else(|| format!("Option '-{letter}' needs an argument."))?,
                    value => value,
                };
                wanted.option(letter, Some(value), &mut shaped, &mut until)?;
                break;
            }
        }
        wanted.resolve(&rules, env, shaped, until)?;
        Ok(wanted)
    }

    fn option(
        &mut self,
        letter: char,
        value: Option<&str>,
        shaped: &mut bool,
        until: &mut bool,
    ) -> Result<(), String> {
        let given = value.unwrap_or_default();
        let number = || given.parse::<u64>().ok().filter(|number| *number > 0);
        match letter {
            'B' => self.binary = true,
            'D' => self.dividers = true,
            'L' => self.task = LogcatMode::Last,
            'a' => self.anyway = true,
            'c' => self.task = LogcatMode::Clear,
            'd' | 'w' => self.dump = true,
            'h' => self.task = LogcatMode::Help,
            'g' if value.is_none() => self.task = LogcatMode::Sizes,
            'g' | 'G' => {
                let digits = given.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']);
                if !digits.parse::<u32>().is_ok_and(|size| size > 0) {
                    return Err("-G must be specified as <num><multiplier>.".to_owned());
                }
                self.task = LogcatMode::SetSize;
            }
            's' => self.filter.add("*:S").unwrap_or_default(),
            'b' => self.choose(given)?,
            'v' => {
                for word in given.split(SEPARATORS).filter(|word| !word.is_empty()) {
                    *shaped |=
                        self.shape.add(word).ok_or_else(|| format!("Invalid -v '{word}'."))?;
                }
            }
            't' | 'T' => {
                *until |= letter == 't';
                self.dump |= letter == 't';
                if given.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.tail = number().and_then(|number| usize::try_from(number).ok());
                    if self.tail.is_none() {
                        self.warnings +=
                            &format!("WARNING: -{letter} {given} invalid, setting to 1\n");
                        self.tail = Some(1);
                    }
                } else {
                    let since = Since::read(given);
                    self.since = Some(
                        since.ok_or_else(|| format!("-{letter} '{given}' not in time format."))?,
                    );
                }
            }
            'm' => {
                let most = number();
                self.max =
                    Some(most.ok_or_else(|| {
                        format!("-m '{given}' isn't an integer greater than zero.")
                    })?);
            }
            'e' => {
                // The library's error message differs between phones: it throws, and the program
                // aborts.
                let pattern = Matcher::new(given, false, true, false);
                self.pattern = Some(pattern.ok_or_else(|| {
                    "terminating with uncaught exception of type std::__1::regex_error: The parser did not consume the entire regular expression."
                        .to_owned()
                })?);
            }
            'i' if self.pid.is_some() => {
                return Err("Only one --pid argument can be provided.".to_owned());
            }
            'i' => {
                let pid = number().and_then(|pid| u32::try_from(pid).ok());
                self.pid = Some(pid.ok_or_else(|| format!("pid '{given}' out of range."))?);
            }
            'u' => {
                for uid in given.split(SEPARATORS) {
                    let uid = uid.parse().map_err(|_| format!("Unable to parse UID '{uid}'"))?;
                    self.uids.push(uid);
                }
            }
            'f' => self.file = Some(given.to_owned()),
            'r' | 'n' if number().is_none() => return Err(format!("Invalid -{letter} '{given}'.")),
            'S' | 'p' | 'P' => {
                // What `logcat` says if logd does not answer: this one has no statistics and no
                // prune rules.
                return Err("read failure".to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn choose(&mut self, names: &str) -> Result<(), String> {
        for name in names.split(SEPARATORS) {
            match name {
                "default" => self.buffers.extend([Buffer::Main, Buffer::System, Buffer::Crash]),
                "all" => self.buffers.extend(Buffer::ALL),
                name => {
                    let buffer = Buffer::ALL.into_iter().find(|buffer| buffer.name() == name);
                    self.buffers
                        .push(buffer.ok_or_else(|| format!("Unknown -b buffer '{name}'."))?);
                }
            }
        }
        Ok(())
    }

    /// Combines all options.
    fn resolve(
        &mut self,
        rules: &[&str],
        env: &[(String, String)],
        shaped: bool,
        until: bool,
    ) -> Result<(), String> {
        let variable = |name: &str| {
            env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        if self.max.is_some() && until {
            return Err("Cannot use -m (--max-count) and -t together.".to_owned());
        }
        if self.anyway && (self.pattern.is_none() || self.max.is_none()) {
            self.warnings += "WARNING: --print ignored, to be used in combination with\n         --regex <expr> and --max-count <N>\n";
            self.anyway = false;
        }
        if self.buffers.is_empty() {
            self.buffers = vec![Buffer::Main, Buffer::System, Buffer::Crash, Buffer::Kernel];
        }
        // The shell user cannot read buffers that are reserved for the system.
        self.buffers.retain(|buffer| !matches!(buffer, Buffer::Stats | Buffer::Security));
        self.buffers.sort();
        self.buffers.dedup();
        if !shaped && let Some(words) = variable("ANDROID_PRINTF_LOG") {
            for word in words.split(SEPARATORS).filter(|word| !word.is_empty()) {
                if self.shape.add(word).is_none() {
                    self.warnings += &format!("invalid format in ANDROID_PRINTF_LOG '{word}'\n");
                }
            }
        }
        match (rules, variable("ANDROID_LOG_TAGS")) {
            ([], Some(rules)) => self
                .filter
                .add(rules)
                .ok_or_else(|| format!("Invalid filter expression '{rules}' in ANDROID_LOG_TAGS.")),
            (rules, _) => rules.iter().try_for_each(|rule| {
                self.filter.add(rule).ok_or_else(|| format!("Invalid filter expression '{rule}'."))
            }),
        }
    }
}

impl Since {
    /// `MM-DD hh:mm:ss.mmm`, `YYYY-MM-DD hh:mm:ss.mmm` or `sssss.mmm`.
    fn read(text: &str) -> Option<Self> {
        let (whole, fraction) = text.rsplit_once('.')?;
        let digits: String = fraction.chars().take_while(char::is_ascii_digit).take(9).collect();
        let nanos: u32 = format!("{digits:0<9}").parse().ok()?;
        let Some((date, time)) = whole.split_once(' ') else {
            return Some(Self::Epoch(whole.parse().ok()?, nanos));
        };
        let time: Vec<u64> =
            time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let date: Vec<i16> =
            date.split('-').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let [hours @ 0..24, minutes @ 0..60, seconds @ 0..=60] = time[..] else { return None };
        let (year, month @ 1..=12, day @ 1..=31) = (match date[..] {
            [month, day] => (None, month, day),
            [year @ 1970..10_000, month, day] => (Some(year), month, day),
            _ => return None,
        }) else {
            return None;
        };
        let second = hours * 3_600 + minutes * 60 + seconds;
        Some(Self::Date(year, month as i8, day as i8, second, nanos))
    }

    /// Nanoseconds since 1970; a missing year comes from the phone's clock (seconds since 1970).
    pub(super) fn nanos(self, now: u64) -> u128 {
        let (seconds, nanos) = match self {
            Self::Epoch(seconds, nanos) => (seconds, nanos),
            Self::Date(year, month, day, second, nanos) => {
                let year = year.unwrap_or_else(|| date_time(now).year());
                // Like mktime(3): 31 February is 2 or 3 March.
                let first = Date::new(year, month, 1).unwrap_or(Date::MAX);
                let date = first.saturating_add((day - 1).days());
                let days = date.duration_since(Date::constant(1970, 1, 1)).as_hours() / 24;
                (u64::try_from(days).unwrap_or(0) * 86_400 + second, nanos)
            }
        };
        u128::from(seconds) * 1_000_000_000 + u128::from(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<LogcatOptions, String> {
        let args: Vec<String> =
            line.split('|').map(str::to_owned).filter(|arg| !arg.is_empty()).collect();
        LogcatOptions::read(&args, &[])
    }

    fn refused(line: &str) -> String {
        read(line).err().unwrap_or_default()
    }

    #[test]
    fn options_parse_as_by_getopt_long() {
        let wanted = read("-dvbrief|A:W|--max=3|-beveNts").err();
        assert_eq!(wanted.as_deref(), Some("Unknown -b buffer 'eveNts'."));
        let wanted = read("-d|-b|main,crash|A:W|-T5|--pid=7|-b|all").unwrap();
        assert_eq!((wanted.dump, wanted.tail, wanted.pid), (true, Some(5), Some(7)));
        assert_eq!(wanted.buffers.len(), 6);
        assert_eq!(read("-t|0").unwrap().warnings, "WARNING: -t 0 invalid, setting to 1\n");
    }

    #[test]
    fn all_three_time_formats_parse() {
        let since = |text: &str| Since::read(text).map(|since| since.nanos(1_709_632_800));
        let at = |seconds: u128, nanos: u128| Some(seconds * 1_000_000_000 + nanos);
        assert_eq!(since("03-05 10:00:01.5"), at(1_709_632_801, 500_000_000));
        assert_eq!(since("2000-02-29 00:00:00.000"), at(951_782_400, 0));
        assert_eq!(since("2023-02-29 00:00:00.000"), since("2023-03-01 00:00:00.000"));
        assert_eq!(since("1709632801.000001"), at(1_709_632_801, 1_000));
        assert_eq!(
            (since("soon"), since("13-05 10:00:00.0"), since("03-05 10:00.0")),
            (None, None, None)
        );
    }

    #[test]
    fn usage_errors_match_the_source() {
        for (line, reason) in [
            ("-v|pretty", "Invalid -v 'pretty'."),
            ("-Z", "Unknown option '-Z'."),
            ("--colour", "Unknown option '--colour'."),
            ("-b", "Option '-b' needs an argument."),
            ("-t|yesterday", "-t 'yesterday' not in time format."),
            ("-m|0", "-m '0' isn't an integer greater than zero."),
            ("-m|1|-t|1", "Cannot use -m (--max-count) and -t together."),
            ("--pid=0", "pid '0' out of range."),
            ("-G|much", "-G must be specified as <num><multiplier>."),
            ("A:Q", "Invalid filter expression 'A:Q'."),
        ] {
            assert_eq!(refused(line), reason, "{line}");
        }
    }
}

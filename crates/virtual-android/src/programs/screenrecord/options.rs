//! The options of `screenrecord`, parsed as by `getopt_long`, and the error messages.
//!
//! Start with [`read`]. Source: AOSP's `screenrecord.cpp` of Android 14, and of 5 for the time
//! limit, which could not be raised or removed before 14 (the help of Android 11, in a public
//! recorder's tests, still says so).

use crate::programs::Invocation;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_shell::io::Abort;

/// The accepted bit rates per second, and those before Android 5.
const BIT_RATES: std::ops::RangeInclusive<u32> = 100_000..=200_000_000;
const OLD_BIT_RATES: std::ops::RangeInclusive<u32> = 100_000..=100_000_000;

/// The help of Android 4.4.
const OLD_USAGE: &str = include_str!("../words/android-4.4/screenrecord.txt");

/// Options that came later.
const LATER: [&str; 9] = [
    "show-device-info",
    "monotonic-time",
    "persistent-surface",
    "capture-secure",
    "version",
    "output-format",
    "codec-name",
    "bframes",
    "display-id",
];

/// The id of the only physical display, on a phone whose panel has no name of its own (the first of
/// HWC).
const DISPLAY: &str = "4619827259835644672";

/// The parsed options.
#[derive(Debug)]
pub(super) struct ScreenrecordOptions {
    pub(super) verbose: bool,
    pub(super) size: Option<(usize, usize)>,
    pub(super) bit_rate: u32,
    /// `None` for no limit.
    pub(super) limit: Option<u64>,
    pub(super) turned: bool,
    pub(super) overlay: bool,
    pub(super) format: String,
    pub(super) file: String,
}

/// A usage error: the message for stderr, and the exit status.
pub(super) struct UsageError(pub(super) String, pub(super) i32);

/// Parses the command line as `getopt_long` does: options anywhere, by any unambiguous prefix.
pub(super) async fn read(
    call: &Invocation,
) -> Result<Result<ScreenrecordOptions, UsageError>, Abort> {
    const WITHOUT: [&str; 10] = [
        "help",
        "verbose",
        "bugreport",
        "show-device-info",
        "show-frame-time",
        "rotate",
        "monotonic-time",
        "persistent-surface",
        "capture-secure",
        "version",
    ];
    const WITH: [&str; 7] =
        ["size", "bit-rate", "time-limit", "output-format", "codec-name", "bframes", "display-id"];
    let refuse = |reason: String| Ok(Err(UsageError(reason, 2)));
    let is_old = !call.release().userland.toybox;
    let rates = if is_old { OLD_BIT_RATES } else { BIT_RATES };
    let mut wanted = ScreenrecordOptions {
        verbose: false,
        size: None,
        bit_rate: if call.release().userland.toybox { 20_000_000 } else { 4_000_000 },
        limit: Some(180),
        turned: false,
        overlay: false,
        format: "mp4".to_owned(),
        file: String::new(),
    };
    let mut files = Vec::new();
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if arg == "--" {
            files.extend(args.by_ref());
            break;
        }
        let Some(option) = arg.strip_prefix("--") else {
            if arg.len() > 1 && arg.starts_with('-') {
                let letter = arg.chars().nth(1).unwrap_or('-');
                return refuse(match is_old {
                    true => format!("screenrecord: invalid option -- {letter}\n"),
                    false => format!("screenrecord: unknown option -- {}\n", &arg[1..]),
                });
            }
            files.push(arg);
            continue;
        };
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let known = || WITHOUT.iter().chain(&WITH).filter(|name| !is_old || !LATER.contains(name));
        let exact = known().find(|known| **known == name);
        let begun: Vec<&&str> = known().filter(|known| known.starts_with(name)).collect();
        let name = match (exact, begun.as_slice()) {
            (Some(name), _) => *name,
            (None, [only]) => **only,
            (None, []) if is_old => {
                return refuse(format!("screenrecord: unrecognized option `{arg}'\n"));
            }
            (None, []) => return refuse(format!("screenrecord: unknown option -- {name}\n")),
            (None, _) => return refuse(format!("screenrecord: ambiguous option -- {name}\n")),
        };
        if WITHOUT.contains(&name) {
            match name {
                "help" => return Ok(Err(UsageError(usage(call), 0))),
                "version" => return Ok(Err(UsageError("1.4\n".to_owned(), 0))),
                "verbose" => wanted.verbose = true,
                "rotate" => wanted.turned = true,
                "bugreport" | "show-frame-time" => wanted.overlay = true,
                _ => {}
            }
            continue;
        }
        let Some(value) = value.or_else(|| args.next()) else {
            return refuse(match is_old {
                true => format!("screenrecord: option `{arg}' requires an argument\n"),
                false => format!("screenrecord: option requires an argument -- {name}\n"),
            });
        };
        match name {
            "size" => match size(value) {
                Some((0, _) | (_, 0)) => {
                    let (width, height) = size(value).unwrap_or_default();
                    return refuse(format!(
                        "Invalid size {width}x{height}, width and height may not be zero\n"
                    ));
                }
                Some(size) => wanted.size = Some(size),
                None => return refuse(format!("Invalid size '{value}', must be width x height\n")),
            },
            // There were no units before Android 5.
            "bit-rate" => {
                match with_unit(value).filter(|_| !is_old || !value.ends_with(['M', 'm'])) {
                    None if is_old => {
                        let rate = atoi(value) as i32;
                        return refuse(format!(
                            "Bit rate {rate}bps outside acceptable range [100000,100000000]\n"
                        ));
                    }
                    Some(rate) if rates.contains(&rate) => wanted.bit_rate = rate,
                    Some(rate) => {
                        let (least, most) = (rates.start(), rates.end());
                        return refuse(format!(
                            "Bit rate {}bps outside acceptable range [{least},{most}]\n",
                            rate as i32
                        ));
                    }
                    None => return refuse(format!("Unrecognized value: {value}\n")),
                }
            }
            "time-limit" if is_limited(call) => match atoi(value) {
                seconds @ 1..=180 => wanted.limit = Some(seconds),
                seconds => {
                    // It prints an unsigned number as a signed one.
                    let seconds = seconds as i32;
                    return refuse(format!(
                        "Time limit {seconds}s outside acceptable range [1,180]\n"
                    ));
                }
            },
            "time-limit" => {
                match value.trim_start().split(' ').next().unwrap_or_default().parse::<i64>() {
                    Err(_) => return refuse("Error parsing time limit argument\n".to_owned()),
                    Ok(seconds) => match u32::try_from(seconds) {
                        Err(_) => {
                            let most = u32::MAX;
                            return refuse(format!(
                                "Time limit {seconds}s outside acceptable range [0,{most}] seconds\n"
                            ));
                        }
                        Ok(seconds) => wanted.limit = (seconds > 0).then_some(u64::from(seconds)),
                    },
                }
                if wanted.verbose {
                    let seconds = wanted.limit.unwrap_or(u64::from(u32::MAX));
                    call.out(format!("Time limit set to {seconds} seconds\n")).await?;
                }
            }
            "output-format" => match value {
                "mp4" | "h264" | "3gpp" => value.clone_into(&mut wanted.format),
                "webm" | "frames" | "raw-frames" => {
                    // What a phone says that lacks the encoder.
                    return refuse("ERROR: unable to create video/avc codec instance\n".to_owned());
                }
                _ => return refuse(format!("Unknown format '{value}'\n")),
            },
            "display-id" if value != DISPLAY => {
                return refuse("Invalid physical display ID\n".to_owned());
            }
            _ => {}
        }
    }
    match files.as_slice() {
        [file] => (*file).clone_into(&mut wanted.file),
        _ => return refuse("Must specify output file (see --help).\n".to_owned()),
    }
    Ok(Ok(wanted))
}

/// Whether the maximum time limit is three minutes.
fn is_limited(call: &Invocation) -> bool {
    call.release().shape < DumpsysFormat::Fourteen
}

/// atoi(3) into an unsigned number: the leading digits.
fn atoi(text: &str) -> u64 {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len());
    let number = digits[..end].parse::<u32>().unwrap_or(if end > 0 { u32::MAX } else { 0 });
    u64::from(if negative { number.wrapping_neg() } else { number })
}

fn usage(call: &Invocation) -> String {
    if !call.release().userland.toybox {
        return OLD_USAGE.to_owned();
    }
    match is_limited(call) {
        true => USAGE.replace(
            "Default is 180. Set to 0\n    to remove the time limit.",
            "Default / maximum is 180.",
        ),
        false => USAGE.to_owned(),
    }
}

fn size(text: &str) -> Option<(usize, usize)> {
    let (width, height) = text.split_once('x')?;
    Some((width.parse().ok()?, height.parse().ok()?))
}

/// A number of bits, or of megabits with `M`; `k` is not a unit.
fn with_unit(text: &str) -> Option<u32> {
    match text.strip_suffix(['M', 'm']) {
        Some(millions) => millions.parse::<u32>().ok().map(|value| value.saturating_mul(1_000_000)),
        None => text.parse().ok(),
    }
}

const USAGE: &str = "\
Usage: screenrecord [options] <filename>

Android screenrecord v1.4.  Records the device's display to a .mp4 file.

Options:
--size WIDTHxHEIGHT
    Set the video size, e.g. \"1280x720\".  Default is the device's main
    display resolution (if supported), 1280x720 if not.  For best results,
    use a size supported by the AVC encoder.
--bit-rate RATE
    Set the video bit rate, in bits per second.  Value may be specified as
    bits or megabits, e.g. '4000000' is equivalent to '4M'.  Default 20Mbps.
--bugreport
    Add additional information, such as a timestamp overlay, that is helpful
    in videos captured to illustrate bugs.
--time-limit TIME
    Set the maximum recording time, in seconds.  Default is 180. Set to 0
    to remove the time limit.
--display-id ID
    specify the physical display ID to record. Default is the primary display.
    see \"dumpsys SurfaceFlinger --display-id\" for valid display IDs.
--verbose
    Display interesting information on stdout.
--version
    Show Android screenrecord version.
--help
    Show this message.

Recording continues until Ctrl-C is hit or the time limit is reached.

";

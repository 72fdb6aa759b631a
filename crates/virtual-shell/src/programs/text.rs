//! Reading files and pipes: `cat`, `head`, `tail`, `wc`, `base64`, with toybox's texts; `cat` of
//! old phones is in [`old`].

pub(super) mod old;

use super::Invocation;
use super::kernel::pause;
use super::options::{ALL, Failure, Options, Outcome, open};
use crate::files::Error;
use crate::io::{Abort, Input};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// `cat [-etuv] [FILE…]`
pub(super) async fn cat(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "uvte", &[])?;
    let shows = ['e', 't', 'v'].map(|letter| options.has(letter));
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        loop {
            let chunk = input.chunk().await;
            if chunk.is_empty() {
                break;
            }
            call.out(if shows.contains(&true) { visible(&chunk, shows) } else { chunk }).await?;
        }
    }
    Ok(status)
}

/// The bytes with `$` at line ends, `^I` for tabs, and `^X` and `M-X` for what is not text.
fn visible(bytes: &[u8], [ends, tabs, others]: [bool; 3]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        let mut byte = byte;
        if others && byte > 127 {
            shown.extend(b"M-");
            byte -= 128;
        }
        match byte {
            127 if others => shown.extend(b"^?"),
            b'\t' if tabs => shown.extend(b"^I"),
            b'\n' if ends => shown.extend(b"$\n"),
            b'\t' | b'\n' => shown.push(byte),
            ..32 if others => shown.extend([b'^', byte + b'@']),
            other => shown.push(other),
        }
    }
    shown
}

/// The arguments with `-5` as `-n5`.
fn with_count(args: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    if let Some(first) = args.first_mut()
        && let Some(digits) = first.strip_prefix('-')
        && digits.starts_with(|c: char| c.is_ascii_digit())
    {
        *first = format!("-n{digits}");
    }
    args
}

/// Prints `==> NAME <==` before the output of a file, with an empty line between two files.
async fn title(call: &Invocation, path: &str, first: &mut bool) -> Result<(), Abort> {
    let between = if std::mem::take(first) { "" } else { "\n" };
    call.out(format!("{between}==> {path} <==\n")).await
}

/// `head [-qv] [-n LINES] [-c BYTES] [FILE…]`: reads no further than necessary, so that it ends an
/// endless pipe.
pub(super) async fn head(call: &Invocation) -> Outcome {
    let options =
        Options::read(&with_count(&call.args), "n:c:qv", &[("lines", 'n'), ("bytes", 'c')])?;
    let count = |letter| match options.value(letter) {
        Some(text) if text.starts_with('-') => Err(Failure::Usage(format!("-{letter} < 0"))),
        _ => options.number(letter),
    };
    let (lines, bytes) = (count('n')?.unwrap_or(10), count('c')?);
    let titled = (options.rest.len() > 1 || options.has('v')) && !options.has('q');
    let (mut status, mut first) = (0, true);
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        if titled {
            title(call, path, &mut first).await?;
        }
        let mut left = usize::try_from(bytes.unwrap_or(lines)).unwrap_or(usize::MAX);
        while left > 0 {
            let chunk = input.chunk().await;
            if chunk.is_empty() {
                break;
            }
            let mut ends = chunk.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            let end = match bytes {
                Some(_) => left.min(chunk.len()),
                None => ends.nth(left - 1).map_or(chunk.len(), |(at, _)| at + 1),
            };
            let taken = chunk.get(..end).unwrap_or_default();
            left -= match bytes {
                Some(_) => taken.len(),
                None => taken.iter().filter(|byte| **byte == b'\n').count(),
            };
            call.out(taken).await?;
        }
    }
    Ok(status)
}

/// `tail [-fF] [-s SECONDS] [-n [+]LINES] [-c [+]BYTES] [FILE…]`
pub(super) async fn tail(call: &Invocation) -> Outcome {
    let long = [("lines", 'n'), ("bytes", 'c')];
    let options = Options::read(&with_count(&call.args), "fFs:c:n:", &long)?;
    let given = options.given().filter(|(letter, _)| "nc".contains(*letter)).last();
    let (unit, amount) = given.unwrap_or(('n', "10"));
    let count = super::options::number(amount.trim_start_matches(['+', '-']))?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let seconds = options.number('s')?.unwrap_or(1).max(1);
    let (mut status, mut first) = (0, true);
    let mut followed = Vec::new();
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        if options.rest.len() > 1 {
            title(call, path, &mut first).await?;
        }
        let text = input.all(ALL).await;
        let starts: Vec<usize> = match unit {
            'c' => (0..text.len()).collect(),
            _ => {
                let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
                std::iter::once(0)
                    .chain(ends.map(|(at, _)| at + 1))
                    .filter(|at| *at < text.len())
                    .collect()
            }
        };
        let skipped = match amount.starts_with('+') {
            true => count.saturating_sub(1),
            false => starts.len().saturating_sub(count),
        };
        let start = starts.get(skipped).copied().unwrap_or(text.len());
        call.out(text.get(start..).unwrap_or_default()).await?;
        if path != "-" {
            followed.push((path, text.len()));
        }
    }
    let follows = options.has('f') || options.has('F');
    while follows && !followed.is_empty() {
        pause(call, seconds, false).await;
        for (path, seen) in &mut followed {
            let Ok(input) = call.open(path) else { continue };
            let text = input.all(ALL).await;
            // A file that was emptied is read from its start.
            let start = if text.len() < *seen { 0 } else { *seen };
            call.out(text.get(start..).unwrap_or_default()).await?;
            *seen = text.len();
        }
    }
    Ok(status)
}

/// `wc [-lwcm] [FILE…]`
pub(super) async fn wc(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "mcwl", &[])?;
    let all = options.given().next().is_none();
    let every = "lwc".chars().all(|letter| options.has(letter)) && !options.has('m');
    let shown = |letter| options.has(letter) || all && letter != 'm';
    let wide = options.rest.len() > 1 || options.rest.is_empty() && (all || every);
    let width = if wide { 7 } else { 0 };
    let row = |counts: &[usize; 4]| {
        let counts = "lwcm".chars().zip(counts).filter(|(letter, _)| shown(*letter));
        counts.map(|(_, count)| format!("{count:>width$}")).collect::<Vec<_>>().join(" ")
    };
    let (mut status, mut total) = (0, [0; 4]);
    for path in options.files() {
        let counts = match open(call, path, &mut status).await {
            Some(input) => counted(&input).await,
            None if call.open(path).err() == Some(Error::IsADirectory) => [0; 4],
            None => continue,
        };
        total = std::array::from_fn(|at| total[at] + counts[at]);
        let name = if options.rest.is_empty() { String::new() } else { format!(" {path}") };
        call.out(format!("{}{name}\n", row(&counts))).await?;
    }
    if options.rest.len() > 1 {
        call.out(format!("{} total\n", row(&total))).await?;
    }
    Ok(status)
}

/// Lines, words, bytes and characters.
async fn counted(input: &Input) -> [usize; 4] {
    let (mut counts, mut in_word) = ([0; 4], false);
    loop {
        let chunk = input.chunk().await;
        if chunk.is_empty() {
            return counts;
        }
        for byte in &chunk {
            let blank = byte.is_ascii_whitespace() || *byte == 11;
            counts[0] += usize::from(*byte == b'\n');
            counts[1] += usize::from(!blank && !in_word);
            // Bytes that continue a character of UTF-8 begin with the bits 10.
            counts[3] += usize::from(byte & 0xc0 != 0x80);
            in_word = !blank;
        }
        counts[2] += chunk.len();
        tokio::task::coop::consume_budget().await;
    }
}

/// `base64 [-di] [-w COLUMNS] [FILE…]`
pub(super) async fn base64(call: &Invocation) -> Outcome {
    let long = [("decode", 'd'), ("ignore-garbage", 'i'), ("wrap", 'w')];
    let options = Options::read(&call.args, "diw:", &long)?;
    let columns = options.number('w')?.map_or(76, |n| usize::try_from(n).unwrap_or(0));
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&STANDARD, config);
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        let bytes = input.all(ALL).await;
        if options.has('d') {
            let known = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
            let skipped = |byte: &u8| b"\r\n=".contains(byte) || options.has('i');
            // Without `-i` it ends at the first byte that cannot be part of it.
            let valid = bytes.iter().copied().take_while(|byte| known(byte) || skipped(byte));
            let mut text: Vec<u8> = valid.filter(known).collect();
            // One character more is less than a byte.
            if text.len() % 4 == 1 {
                text.pop();
            }
            call.out(engine.decode(&text).unwrap_or_default()).await?;
            continue;
        }
        let text = engine.encode(&bytes).into_bytes();
        let lines: Vec<&[u8]> = match columns {
            0 => vec![&text],
            columns => text.chunks(columns).collect(),
        };
        let mut out = lines.join(&b'\n');
        if columns != 0 && !out.is_empty() {
            out.push(b'\n');
        }
        call.out(out).await?;
    }
    Ok(status)
}

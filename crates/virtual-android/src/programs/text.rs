//! Reading files and pipes: `cat`, `head`, `tail`, `wc`, `grep`, `md5sum`, `base64`, with toybox's
//! texts; those of old phones are in [`old`].

mod old;

use super::Invocation;
use super::regex::Matcher;
use crate::io::{Input, Status};
use md5::{Digest, Md5};
use std::collections::VecDeque;

/// Maximum bytes for programs that need their whole input.
const ALL: u64 = 64 << 20;

/// `cat [FILE…]`
pub(super) async fn cat(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::cat(call).await;
    }
    let mut status = 0;
    for (path, input) in
        inputs(&call, call.args.iter().map(String::as_str).filter(|arg| *arg != "-u").collect())
    {
        match input {
            Err(reason) => status = call.failed(&path, reason).await?,
            Ok(input) => loop {
                let chunk = input.chunk().await;
                if chunk.is_empty() {
                    break;
                }
                call.out(chunk).await?;
            },
        }
    }
    Ok(status)
}

fn inputs(
    call: &Invocation,
    mut paths: Vec<&str>,
) -> Vec<(String, Result<Input, crate::files::Error>)> {
    if paths.is_empty() {
        paths.push("-");
    }
    paths.into_iter().map(|path| (path.to_owned(), call.open(path))).collect()
}

/// `-n N`, `-c N` or `-N`: the count, whether it is bytes, and the other arguments.
fn amount(call: &Invocation) -> Option<(String, bool, Vec<&str>)> {
    let (mut amount, mut bytes, mut paths) = ("10".to_owned(), false, Vec::new());
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            None => paths.push(arg),
            Some("q" | "v") => {}
            Some(option) => {
                let (letter, rest) = match option.strip_prefix(['n', 'c']) {
                    Some(rest) => (option.chars().next(), rest),
                    None => (Some('n'), option),
                };
                bytes = letter == Some('c');
                amount = if rest.is_empty() { args.next()?.to_owned() } else { rest.to_owned() };
            }
        }
    }
    Some((amount, bytes, paths))
}

/// `head [-n LINES] [-c BYTES] [FILE…]`: reads no further than necessary, so that it ends an
/// endless pipe.
pub(super) async fn head(call: Invocation) -> Status {
    let Some((Ok(mut left), bytes, paths)) =
        amount(&call).map(|(n, bytes, paths)| (n.parse::<usize>(), bytes, paths))
    else {
        call.err("head: bad number\n").await;
        return Ok(1);
    };
    let wanted = left;
    let mut status = 0;
    for (path, input) in inputs(&call, paths) {
        left = wanted;
        let input = match input {
            Ok(input) => input,
            Err(reason) => {
                status = call.failed(&path, reason).await?;
                continue;
            }
        };
        while left > 0 {
            let chunk = input.chunk().await;
            if chunk.is_empty() {
                break;
            }
            let end = if bytes {
                left.min(chunk.len())
            } else {
                chunk
                    .iter()
                    .enumerate()
                    .filter(|(_, byte)| **byte == b'\n')
                    .nth(left - 1)
                    .map_or(chunk.len(), |(at, _)| at + 1)
            };
            let taken = chunk.get(..end).unwrap_or_default();
            left -= if bytes {
                taken.len()
            } else {
                taken.iter().filter(|byte| **byte == b'\n').count()
            };
            call.out(taken).await?;
        }
    }
    Ok(status)
}

/// `tail [-n [+]LINES] [-c [+]BYTES] [FILE…]`; following (`-f`) is not supported.
pub(super) async fn tail(call: Invocation) -> Status {
    let parsed = amount(&call).and_then(|(n, bytes, paths)| {
        let from_start = n.starts_with('+');
        Some((n.trim_start_matches('+').parse::<usize>().ok()?, from_start, bytes, paths))
    });
    let Some((count, from_start, bytes, paths)) = parsed else {
        call.err("tail: bad number\n").await;
        return Ok(1);
    };
    let mut status = 0;
    for (path, input) in inputs(&call, paths) {
        let text = match input {
            Ok(input) => input.all(ALL).await,
            Err(reason) => {
                status = call.failed(&path, reason).await?;
                continue;
            }
        };
        let starts: Vec<usize> = if bytes {
            Vec::new()
        } else {
            let after =
                text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(after).filter(|at| *at < text.len()).collect()
        };
        let skipped = |of: usize| {
            if from_start { count.saturating_sub(1).min(of) } else { of.saturating_sub(count) }
        };
        let start = if bytes {
            skipped(text.len())
        } else {
            starts.get(skipped(starts.len())).copied().unwrap_or(text.len())
        };
        call.out(text.get(start..).unwrap_or_default()).await?;
    }
    Ok(status)
}

/// `wc [-lwc] [FILE…]`
pub(super) async fn wc(call: Invocation) -> Status {
    let letters: String = call.args.iter().filter_map(|arg| arg.strip_prefix('-')).collect();
    let paths = call
        .args
        .iter()
        .map(String::as_str)
        .filter(|arg| !arg.starts_with('-') || *arg == "-")
        .collect();
    let mut status = 0;
    for (path, input) in inputs(&call, paths) {
        let text = match input {
            Ok(input) => input.all(ALL).await,
            Err(reason) => {
                status = call.failed(&path, reason).await?;
                continue;
            }
        };
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        let counts: Vec<String> = [('l', lines), ('w', words), ('c', text.len())]
            .into_iter()
            .filter(|(letter, _)| letters.is_empty() || letters.contains(*letter))
            .map(
                |(_, count)| {
                    if letters.len() == 1 { count.to_string() } else { format!("{count:>7}") }
                },
            )
            .collect();
        let name = if path == "-" { String::new() } else { format!(" {path}") };
        call.out(format!("{}{name}\n", counts.join(" "))).await?;
    }
    Ok(status)
}

/// Flags of `grep` without a value, and those with one.
const FLAGS: &str = "ivncqlFExsh";
const VALUES: &str = "eABCm";

/// `grep [-ivncqlFExsh] [-A N] [-B N] [-C N] [-m N] [-e] PATTERN [FILE…]`. Other options, and
/// patterns that are not supported (back references), are refused by name, since ignoring them
/// would print the wrong lines.
pub(super) async fn grep(call: Invocation) -> Status {
    let (mut letters, mut pattern, mut paths) = (String::new(), None, Vec::new());
    let (mut before, mut after, mut most) = (0_usize, 0_usize, u64::MAX);
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let Some(option) = arg.strip_prefix('-').filter(|option| !option.is_empty()) else {
            match pattern {
                None => pattern = Some(arg),
                Some(_) => paths.push(arg),
            }
            continue;
        };
        for (at, letter) in option.char_indices() {
            if FLAGS.contains(letter) {
                letters.push(letter);
                continue;
            }
            let value = match option.get(at + letter.len_utf8()..) {
                Some("") => args.next(),
                rest => rest,
            };
            let number = value.and_then(|value| value.parse::<usize>().ok());
            match (letter, number) {
                ('e', _) if value.is_some() => pattern = value,
                ('A', Some(lines)) => after = lines,
                ('B', Some(lines)) => before = lines,
                ('C', Some(lines)) => (before, after) = (lines, lines),
                ('m', Some(lines)) => most = lines as u64,
                _ => {
                    let what =
                        if VALUES.contains(letter) { "bad number for" } else { "Unknown option" };
                    call.err(format!("grep: {what} '{letter}' (see \"grep --help\")\n")).await;
                    return Ok(2);
                }
            }
            break;
        }
    }
    let Some(pattern) = pattern else {
        call.err("grep: no REGEX\n").await;
        return Ok(2);
    };
    let has = |letter| letters.contains(letter);
    let Some(matcher) = Matcher::new(pattern, has('F'), has('E'), has('i')) else {
        call.err(format!("grep: bad REGEX '{pattern}'\n")).await;
        return Ok(2);
    };
    let many = paths.len() > 1 && !has('h');
    let (mut found, mut failed) = (false, false);
    for (path, input) in inputs(&call, paths) {
        let input = match input {
            Ok(input) => input,
            Err(reason) => {
                if !has('s') {
                    call.failed(&path, reason).await?;
                }
                failed = true;
                continue;
            }
        };
        let (mut count, mut number, mut printed) = (0_u64, 0_u64, 0_u64);
        let (mut waiting, mut owed) = (VecDeque::new(), 0_usize);
        let row = |mark: char, number: u64, line: &[u8]| {
            let mut row = Vec::new();
            if many {
                row.extend(format!("{path}{mark}").bytes());
            }
            if has('n') {
                row.extend(format!("{number}{mark}").bytes());
            }
            row.extend(line);
            row.push(b'\n');
            row
        };
        while count < most || owed > 0 {
            let Some(line) = input.line(1 << 20).await else { break };
            number += 1;
            // Searches text, prints bytes.
            let hit = count < most
                && matcher.matches(&String::from_utf8_lossy(&line), has('x')) != has('v');
            if !hit {
                if owed > 0 {
                    owed -= 1;
                    printed = number;
                    call.out(row('-', number, &line)).await?;
                } else if before > 0 {
                    waiting.push_back((number, line));
                    if waiting.len() > before.min(1_000) {
                        waiting.pop_front();
                    }
                }
                continue;
            }
            found = true;
            count += 1;
            if has('q') {
                return Ok(0);
            }
            if has('l') {
                call.out(format!("{path}\n")).await?;
                break;
            }
            if has('c') {
                continue;
            }
            let first = waiting.front().map_or(number, |(number, _)| *number);
            if before + after > 0 && printed > 0 && first > printed + 1 {
                call.out("--\n").await?;
            }
            for (number, line) in waiting.drain(..) {
                call.out(row('-', number, &line)).await?;
            }
            call.out(row(':', number, &line)).await?;
            (owed, printed) = (after, number);
        }
        if has('c') {
            let name = if many { format!("{path}:") } else { String::new() };
            call.out(format!("{name}{count}\n")).await?;
        }
    }
    Ok(if failed { 2 } else { i32::from(!found) })
}

/// `md5sum [-b] [FILE…]`
pub(super) async fn md5sum(call: Invocation) -> Status {
    let brief = call.arg(0) == Some("-b");
    let mut status = 0;
    for (path, input) in
        inputs(&call, call.args.iter().map(String::as_str).filter(|arg| *arg != "-b").collect())
    {
        match input {
            Err(reason) => status = call.failed(&path, reason).await?,
            Ok(input) => {
                let mut digest = Md5::new();
                loop {
                    let chunk = input.chunk().await;
                    if chunk.is_empty() {
                        break;
                    }
                    digest.update(&chunk);
                }
                let digest: String =
                    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                let name = if brief { String::new() } else { format!("  {path}") };
                call.out(format!("{digest}{name}\n")).await?;
            }
        }
    }
    Ok(status)
}

/// `base64 [-w COLUMNS] [FILE]`, encoding only.
pub(super) async fn base64(call: Invocation) -> Status {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut columns, mut path) = (76, "-");
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "-w" => columns = args.next().and_then(|n| n.parse().ok()).unwrap_or(76),
            "-d" => {
                call.err("base64: decoding is not supported by this phone\n").await;
                return Ok(1);
            }
            other => path = other,
        }
    }
    let input = match call.open(path) {
        Ok(input) => input,
        Err(reason) => return call.failed(path, reason).await,
    };
    let mut text = Vec::new();
    for group in input.all(ALL).await.chunks(3) {
        let word = group.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for place in 0..4 {
            text.push(if place <= group.len() {
                LETTERS[(word >> (18 - 6 * place) & 63) as usize]
            } else {
                b'='
            });
        }
    }
    let lines: Vec<&[u8]> = if columns == 0 { vec![&text] } else { text.chunks(columns).collect() };
    let mut out = lines.join(&b'\n');
    if columns != 0 && !out.is_empty() {
        out.push(b'\n');
    }
    call.out(out).await?;
    Ok(0)
}

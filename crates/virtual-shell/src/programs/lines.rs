//! Whole lines and files: `rev`, `tac`, `nl`, `split`, `cmp`, `comm`, with toybox's texts.

use super::Invocation;
use super::options::{ALL, Failure, Lines, Options, Outcome, about, open};
use std::cmp::Ordering;

/// `rev [FILE…]`: each line reversed.
pub(super) async fn rev(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "", &[])?;
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        let mut lines = Lines::new(input);
        while let Some((mut line, _)) = lines.next().await {
            line.reverse();
            line.push(b'\n');
            call.out(line).await?;
        }
    }
    Ok(status)
}

/// `tac [FILE…]`: the last line first.
pub(super) async fn tac(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "", &[])?;
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        let bytes = input.all(ALL).await;
        for line in bytes.split_inclusive(|byte| *byte == b'\n').rev() {
            call.out(line).await?;
        }
    }
    Ok(status)
}

/// `nl [-b a|t|n] [-n ln|rn|rz] [-s SEPARATOR] [-v START] [-w WIDTH] [FILE…]`
pub(super) async fn nl(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "v:w:b:n:s:", &[])?;
    let (which, form) = (options.value('b').unwrap_or("t"), options.value('n').unwrap_or("rn"));
    if !["a", "t", "n"].contains(&which) {
        return Err(Failure::new(format!("bad -b '{which}'")));
    }
    let width = options.number('w')?.unwrap_or(6).min(1_000) as usize;
    let separator = options.value('s').unwrap_or("\t");
    let mut number = options.number('v')?.unwrap_or(1);
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        let mut lines = Lines::new(input);
        while let Some((line, ended)) = lines.next().await {
            let mut row = String::new();
            if which == "a" || which == "t" && !line.is_empty() {
                row = match form {
                    "ln" => format!("{number:<width$}{separator}"),
                    "rn" => format!("{number:>width$}{separator}"),
                    "rz" => format!("{number:0>width$}{separator}"),
                    form => return Err(Failure::new(format!("bad -n '{form}'"))),
                };
                number += 1;
            } else {
                row.extend(std::iter::repeat_n(' ', width + separator.len()));
            }
            let mut row = row.into_bytes();
            row.extend(line);
            row.extend(ended.then_some(b'\n'));
            call.out(row).await?;
        }
    }
    Ok(status)
}

/// `split [-a LENGTH] [-b BYTES|-l LINES] [INPUT [OUTPUT]]`
pub(super) async fn split(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "a:b:l:", &[])?;
    options.at_most(2)?;
    let length = options.number('a')?.unwrap_or(2).clamp(1, 9) as u32;
    let bytes = options.number('b')?;
    let lines = options.number('l')?.unwrap_or(1_000);
    for size in [bytes.unwrap_or(1), lines] {
        if size == 0 {
            return Err(Failure::new("-l < 1"));
        }
    }
    let path = options.files()[0];
    let text = call.open(path).map_err(|reason| about(path, reason))?.all(ALL).await;
    let prefix = options.rest.get(1).map_or("x", String::as_str);
    let (mut rest, mut nth) = (text.as_slice(), 0_usize);
    while !rest.is_empty() {
        let ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let size = match bytes {
            Some(bytes) => bytes as usize,
            None => ends.map(|(at, _)| at + 1).nth(lines as usize - 1).unwrap_or(rest.len()),
        };
        let (part, more) = rest.split_at(size.min(rest.len()));
        let (mut suffix, mut left) = (Vec::new(), nth);
        for _ in 0..length {
            suffix.insert(0, b'a' + (left % 26) as u8);
            left /= 26;
        }
        if left > 0 {
            return Err(Failure::new("bad suffix"));
        }
        let name = format!("{prefix}{}", String::from_utf8_lossy(&suffix));
        call.create(&name).map_err(|reason| about(&name, reason))?.write(part).await?;
        (rest, nth) = (more, nth + 1);
    }
    Ok(0)
}

/// `cmp [-ls] [-n BYTES] FILE1 [FILE2 [SKIP1 [SKIP2]]]`
pub(super) async fn cmp(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "lsn:", &[("silent", 's'), ("quiet", 's')])?;
    options.at_least(1)?;
    options.at_most(4)?;
    let names = [options.rest[0].as_str(), options.rest.get(1).map_or("-", String::as_str)];
    let length = options.number('n')?.unwrap_or(ALL).min(ALL);
    let mut contents = [Vec::new(), Vec::new()];
    for (nth, name) in names.iter().enumerate() {
        let skip = match options.rest.get(nth + 2) {
            Some(text) => super::options::number(text)?,
            None => 0,
        };
        match call.open(name) {
            Ok(input) => {
                let bytes = input.all(skip.saturating_add(length)).await;
                let start = usize::try_from(skip).unwrap_or(usize::MAX);
                contents[nth] = bytes.get(start..).unwrap_or_default().to_vec();
            }
            Err(_) if options.has('s') => return Ok(2),
            Err(reason) => return Err(about(name, reason)),
        }
    }
    let [first, second] = &contents;
    let (mut status, mut line) = (0, 1);
    for (at, (one, other)) in first.iter().zip(second).enumerate() {
        if one != other {
            status = 1;
            if options.has('l') {
                call.out(format!("{} {one:o} {other:o}\n", at + 1)).await?;
            } else {
                if !options.has('s') {
                    let [one, other] = names;
                    let place = format!("char {}, line {line}", at + 1);
                    call.out(format!("{one} {other} differ: {place}\n")).await?;
                }
                return Ok(1);
            }
        }
        line += u64::from(*one == b'\n');
    }
    let shorter = match first.len().cmp(&second.len()) {
        Ordering::Equal => return Ok(status),
        Ordering::Less => names[0],
        Ordering::Greater => names[1],
    };
    if options.has('s') {
        return Ok(1);
    }
    let bytes = first.len().min(second.len());
    let place = if options.has('l') { String::new() } else { format!(", line {}", line - 1) };
    Err(Failure::new(format!("EOF on {shorter} after byte {bytes}{place}")))
}

/// `comm [-123] FILE1 FILE2`: lines of only the first, only the second, and both sorted files.
pub(super) async fn comm(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "123", &[])?;
    options.at_least(2)?;
    options.at_most(2)?;
    let mut files = Vec::new();
    for path in &options.rest {
        files.push(Lines::new(
            call.open(path).map_err(|reason| Failure::new(format!("No file {path}: {reason}")))?,
        ));
    }
    let [first, second] = files.as_mut_slice() else { return Err(Failure::needs(2)) };
    let mut line = [first.next().await, second.next().await];
    loop {
        let order = match &line {
            [Some((one, _)), Some((other, _))] => one.cmp(other),
            [Some(_), None] => Ordering::Less,
            [None, Some(_)] => Ordering::Greater,
            [None, None] => return Ok(0),
        };
        let column = match order {
            Ordering::Less => 0,
            Ordering::Greater => 1,
            Ordering::Equal => 2,
        };
        let shows = |column| !options.has(['1', '2', '3'][column]);
        let taken = [column != 1, column != 0];
        let text = line[usize::from(!taken[0])].clone().unwrap_or_default().0;
        if shows(column) {
            let tabs = (0..column).filter(|before| shows(*before)).count();
            let mut row = vec![b'\t'; tabs];
            row.extend(text);
            row.push(b'\n');
            call.out(row).await?;
        }
        if taken[0] {
            line[0] = first.next().await;
        }
        if taken[1] {
            line[1] = second.next().await;
        }
    }
}

//! Bytes of files: `od`, `hd`, `xxd`, `strings`, `cmp`, `truncate`, with the texts of toybox and,
//! for `hd` and 4.4's `cmp`, of toolbox.

use super::Invocation;
use super::options::{ALL, Failure, Options, Outcome, about, number, open};
use std::fmt::Write as _;

/// The inputs of a program one after the other.
async fn joined(call: &Invocation, options: &Options, status: &mut i32) -> Vec<u8> {
    let mut all = Vec::new();
    for path in options.files() {
        if let Some(input) = open(call, path, status).await {
            all.extend(input.all(ALL - all.len() as u64).await);
        }
    }
    all
}

/// A way in which `od` shows values: letter and bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape(char, usize);

impl Shape {
    fn parse(text: &str) -> Result<Vec<Self>, Failure> {
        let bad = || Failure::new(format!("bad -t {text}"));
        let (mut shapes, mut chars) = (Vec::new(), text.chars().peekable());
        while let Some(letter) = chars.next() {
            let digits: String =
                std::iter::from_fn(|| chars.next_if(char::is_ascii_digit)).collect();
            let size = match letter {
                'a' | 'c' => 1,
                'd' | 'u' | 'o' | 'x' => match (digits.as_str(), chars.peek()) {
                    ("", Some('C')) => 1,
                    ("", Some('S')) => 2,
                    ("", Some('L')) => 8,
                    ("" | "4", _) => 4,
                    ("1", _) => 1,
                    ("2", _) => 2,
                    ("8", _) => 8,
                    _ => return Err(bad()),
                },
                _ => return Err(bad()),
            };
            chars.next_if(|c| "CSIL".contains(*c));
            shapes.push(Self(letter, size));
        }
        Ok(shapes)
    }

    fn width(self) -> usize {
        match (self.0, self.1) {
            ('a' | 'c', _) => 4,
            ('x', size) => size * 2 + 1,
            ('o', 1) => 4,
            ('o', 2) => 7,
            ('o', 4) => 12,
            ('o', _) => 23,
            ('d' | 'u', 1) => 4 + usize::from(self.0 == 'd'),
            ('d' | 'u', 2) => 6 + usize::from(self.0 == 'd'),
            ('d' | 'u', 4) => 11 + usize::from(self.0 == 'd'),
            _ => 21,
        }
    }

    fn show(self, bytes: &[u8]) -> String {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let value = u64::from_le_bytes(word);
        let signed = match self.1 {
            1 => i64::from(value as i8),
            2 => i64::from(value as i16),
            4 => i64::from(value as i32),
            _ => value as i64,
        };
        match self.0 {
            'a' | 'c' => letter(bytes[0], self.0 == 'a'),
            'x' => format!("{value:0width$x}", width = self.1 * 2),
            'o' => format!("{value:0width$o}", width = self.width() - 1),
            'd' => signed.to_string(),
            _ => value.to_string(),
        }
    }
}

fn letter(byte: u8, named: bool) -> String {
    const NAMES: [&str; 33] = [
        "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr",
        "so", "si", "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub",
        "esc", "fs", "gs", "rs", "us", "sp",
    ];
    match if named { byte & 127 } else { byte } {
        byte if named && byte <= 32 => NAMES[usize::from(byte)].to_owned(),
        127 if named => "del".to_owned(),
        0 => "\\0".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        9 => "\\t".to_owned(),
        10 => "\\n".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        13 => "\\r".to_owned(),
        32..=126 => char::from(byte).to_string(),
        byte => format!("{byte:03o}"),
    }
}

/// `od [-bcdosxv] [-A BASE] [-j SKIP] [-N LENGTH] [-t TYPE] [-w WIDTH] [FILE…]`
pub(super) async fn od(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "j:vw;N:xsodcbA:t:", &[])?;
    let mut shapes = Vec::new();
    for (letter, value) in options.given() {
        shapes.extend(match letter {
            'b' => vec![Shape('o', 1)],
            'c' => vec![Shape('c', 1)],
            'd' => vec![Shape('u', 2)],
            'o' => vec![Shape('o', 2)],
            's' => vec![Shape('d', 2)],
            'x' => vec![Shape('x', 2)],
            't' => Shape::parse(value)?,
            _ => Vec::new(),
        });
    }
    if shapes.is_empty() {
        shapes.push(Shape('o', 2));
    }
    let base = options.value('A').unwrap_or("o").to_owned();
    if !["o", "d", "x", "n"].contains(&base.as_str()) {
        return Err(Failure::new(format!("bad -A '{base}'")));
    }
    let address = |at: usize| match base.as_str() {
        "d" => format!("{at:07}"),
        "x" => format!("{at:06x}"),
        "n" => String::new(),
        _ => format!("{at:07o}"),
    };
    let skip = options.number('j')?.unwrap_or(0) as usize;
    let width = match options.value('w') {
        None => 16,
        Some("") => 32,
        Some(text) => number(text)?.clamp(1, 4_096) as usize,
    };
    let mut status = 0;
    let all = joined(call, &options, &mut status).await;
    let all = all.get(skip.min(all.len())..).unwrap_or_default();
    let max = options.number('N')?.map_or(all.len(), |n| usize::try_from(n).unwrap_or(usize::MAX));
    let all = &all[..max.min(all.len())];
    let column = |shape: Shape| {
        let widest = shapes.iter().map(|shape| shape.width().div_ceil(shape.1)).max().unwrap_or(1);
        (widest * shape.1).max(shape.width())
    };
    let (mut last, mut starred): (Option<&[u8]>, _) = (None, false);
    for (nth, row) in all.chunks(width).enumerate() {
        tokio::task::coop::consume_budget().await;
        if last == Some(row) && !options.has('v') {
            if !starred {
                call.out("*\n").await?;
                starred = true;
            }
            continue;
        }
        (last, starred) = (Some(row), false);
        let mut text = String::new();
        for (line, shape) in shapes.iter().enumerate() {
            let start = address(skip + nth * width);
            text.push_str(&if line == 0 { start } else { " ".repeat(start.len()) });
            for value in row.chunks(shape.1) {
                let _ = write!(text, "{:>width$}", shape.show(value), width = column(*shape));
            }
            text.push('\n');
        }
        call.out(text).await?;
    }
    if base != "n" {
        call.out(format!("{}\n", address(skip + all.len()))).await?;
    }
    Ok(status)
}

/// `hd FILE` of toolbox, as a phone with 4.4.4 prints it: each row with the sum of its bytes.
pub(super) async fn hd(call: &Invocation) -> Outcome {
    let Some(path) = call.args.iter().rfind(|arg| !arg.starts_with('-')) else {
        call.err("Usage: hd [-b base] [-c count] [-r delay] file\n").await;
        return Ok(1);
    };
    let input = match call.open(path) {
        Ok(input) => input,
        Err(reason) => {
            call.err(format!("could not open {path}, {reason}\n")).await;
            return Ok(1);
        }
    };
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u32::from(*byte)).fold(0, u32::wrapping_add);
    let all = input.all(ALL).await;
    for (nth, row) in all.chunks(16).enumerate() {
        let hex: String = row.iter().map(|byte| format!("{byte:02x} ")).collect();
        call.out(format!("{:08x}: {hex}s {:x}\n", nth * 16, sum(row))).await?;
    }
    call.out(format!("sum {:x}\n", sum(&all))).await?;
    Ok(0)
}

/// `xxd [-c COLUMNS] [-g GROUP] [-l LENGTH] [-s SKIP] [-pir] [FILE]`
pub(super) async fn xxd(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "c:l:o:g:piurs:", &[])?;
    options.at_most(2)?;
    let path = options.files()[0].to_owned();
    let input = call.open(&path).map_err(|reason| about(&path, reason))?;
    let all = input.all(ALL).await;
    if options.has('r') {
        call.out(unhex(&all, options.has('p'))).await?;
        return Ok(0);
    }
    let skip = options.number('s')?.unwrap_or(0) as usize;
    let all = all.get(skip.min(all.len())..).unwrap_or_default();
    let max = options.number('l')?.map_or(all.len(), |n| usize::try_from(n).unwrap_or(usize::MAX));
    let all = &all[..max.min(all.len())];
    let default = if options.has('i') {
        12
    } else if options.has('p') {
        30
    } else {
        16
    };
    let columns = options.number('c')?.unwrap_or(default).clamp(1, 256) as usize;
    let group = options.number('g')?.unwrap_or(2) as usize;
    let offset = options.number('o')?.unwrap_or(0) as usize;
    if options.has('i') {
        return include(call, &path, all, columns).await;
    }
    for (nth, row) in all.chunks(columns).enumerate() {
        tokio::task::coop::consume_budget().await;
        let mut text = String::new();
        if options.has('p') {
            text.extend(row.iter().map(|byte| format!("{byte:02x}")));
        } else {
            let _ = write!(text, "{:08x}: ", nth * columns + skip + offset);
            let mut hex = String::new();
            for at in 0..columns {
                match row.get(at) {
                    Some(byte) if options.has('u') => hex.push_str(&format!("{byte:02X}")),
                    Some(byte) => hex.push_str(&format!("{byte:02x}")),
                    None => hex.push_str("  "),
                }
                if group > 0 && (at + 1) % group == 0 {
                    hex.push(' ');
                }
            }
            text.push_str(&hex);
            text.push(' ');
            text.extend(
                row.iter()
                    .map(|byte| if (32..127).contains(byte) { char::from(*byte) } else { '.' }),
            );
        }
        text.push('\n');
        call.out(text).await?;
    }
    Ok(0)
}

async fn include(call: &Invocation, path: &str, all: &[u8], columns: usize) -> Outcome {
    let name: String =
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut text = String::new();
    if path != "-" {
        let _ = writeln!(text, "unsigned char {name}[] = {{");
    }
    let rows: Vec<String> = all
        .chunks(columns)
        .map(|row| row.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(", "))
        .collect();
    let _ = writeln!(text, "  {}", rows.join(",\n  "));
    if path != "-" {
        let _ = writeln!(text, "}};\nunsigned int {name}_len = {};", all.len());
    }
    call.out(text).await?;
    Ok(0)
}

/// The bytes of a hex dump.
fn unhex(text: &[u8], plain: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for line in String::from_utf8_lossy(text).lines() {
        let hex = match (plain, line.split_once(':')) {
            (false, Some((_, rest))) => {
                rest.trim_start().split("  ").next().unwrap_or_default().to_owned()
            }
            _ => line.to_owned(),
        };
        let digits: Vec<u8> =
            hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        out.extend(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    }
    out
}

/// `strings [-fo] [-n LENGTH] [-t o|d|x] [FILE…]`
pub(super) async fn strings(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "t:an:fo", &[])?;
    let least = options.number('n')?.unwrap_or(4).max(1) as usize;
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        let all = input.all(ALL).await;
        let mut start = 0;
        for end in 0..=all.len() {
            if all.get(end).is_some_and(|byte| (32..127).contains(byte) || *byte == b'\t') {
                continue;
            }
            if end - start >= least {
                let name = if options.has('f') { format!("{path}: ") } else { String::new() };
                let place = match options.value('t').or(options.has('o').then_some("o")) {
                    Some("o") => format!("{start:>7o} "),
                    Some("x") => format!("{start:>7x} "),
                    Some(_) => format!("{start:>7} "),
                    None => String::new(),
                };
                let text = String::from_utf8_lossy(&all[start..end]);
                call.out(format!("{name}{place}{text}\n")).await?;
            }
            start = end + 1;
        }
    }
    Ok(status)
}

/// `cmp [-ls] FILE1 [FILE2 [SKIP1 [SKIP2]]]`
pub(super) async fn cmp(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "lsn:b", &[])?;
    if !call.release().toybox && options.rest.len() < 2 {
        call.err("Usage: cmp [-b] [-l] [-n count] file1 file2\n").await;
        return Ok(1);
    }
    options.at_least(1)?;
    let (first, second) = (&options.rest[0], options.rest.get(1).map_or("-", String::as_str));
    let mut files = Vec::new();
    for path in [first.as_str(), second] {
        match call.open(path) {
            Ok(input) => files.push(input.all(ALL).await),
            Err(reason) if !call.release().toybox => {
                call.err(format!("could not open {path}, {reason}\n")).await;
                return Ok(1);
            }
            Err(reason) => {
                call.err(format!("cmp: {path}: {reason}\n")).await;
                return Ok(2);
            }
        }
    }
    let max = options.number('n')?.map_or(usize::MAX, |n| n as usize);
    let (a, b) = (&files[0][..max.min(files[0].len())], &files[1][..max.min(files[1].len())]);
    let mut status = i32::from(a.len() != b.len() && !call.release().toybox);
    for (at, (x, y)) in a.iter().zip(b).enumerate().filter(|(_, (x, y))| x != y) {
        status = 1;
        if options.has('s') {
            return Ok(1);
        }
        if !options.has('l') {
            let line = a[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            call.out(format!("{first} {second} differ: char {}, line {line}\n", at + 1)).await?;
            return Ok(1);
        }
        call.out(format!("{} {x:o} {y:o}\n", at + 1)).await?;
    }
    if a.len() != b.len() {
        let (shorter, length) =
            if a.len() < b.len() { (first.as_str(), a.len()) } else { (second, b.len()) };
        let line = a[..length].iter().filter(|byte| **byte == b'\n').count();
        // toybox starts with 2, and only a difference makes it 1.
        if status == 0 && call.release().toybox {
            status = 2;
        }
        if !options.has('s') {
            let line = if options.has('l') { String::new() } else { format!(", line {line}") };
            call.err(format!("cmp: EOF on {shorter} after byte {length}{line}\n")).await;
        }
    }
    Ok(status)
}

/// `truncate [-c] -s [+-<>/%]SIZE FILE…`
pub(super) async fn truncate(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "cs:", &[("size", 's'), ("no-create", 'c')])?;
    options.at_least(1)?;
    let Some(text) = options.value('s') else { return Err(Failure::Usage("Needs -s".into())) };
    let (kind, digits) = match text.chars().next() {
        Some(kind @ ('+' | '-' | '<' | '>' | '/' | '%')) => (kind, &text[1..]),
        _ => ('=', text),
    };
    let amount = number(digits)?;
    let mut status = 0;
    for path in &options.rest {
        let full = call.path(path);
        let done = call.phone.with(|phone| {
            let stat = phone.files.stat(&full, true).ok();
            if stat.is_none() && options.has('c') {
                return Ok(());
            }
            let old = match &stat {
                Some(_) => phone.files.read(&full)?.as_ref().to_vec(),
                None => Vec::new(),
            };
            let before = old.len() as u64;
            let new = match kind {
                '+' => before.saturating_add(amount),
                '-' => before.saturating_sub(amount),
                '<' => before.min(amount),
                '>' => before.max(amount),
                '/' => before - before % amount.max(1),
                '%' => before.next_multiple_of(amount.max(1)),
                _ => amount,
            };
            // Holes take real space here.
            if new > ALL * 4 {
                return Err(crate::files::Error::NoSpace);
            }
            let mut contents = old;
            contents.resize(new as usize, 0);
            phone.files.write(&full, &contents, stat.map_or(0o666, |stat| stat.mode))
        });
        if let Err(reason) = done {
            call.err(format!("truncate: {path}: {reason}\n")).await;
            status = 1;
        }
    }
    Ok(status)
}

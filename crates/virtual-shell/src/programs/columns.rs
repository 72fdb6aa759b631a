//! Lines and columns: `cut`, `paste`, `uniq`, `tee`, `yes`, with toybox's texts.

use super::Invocation;
use super::options::{ALL, Failure, Lines, Options, Outcome, about, open};

/// Positions from 1: first and last of each range.
struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    fn parse(list: &str, sorted: bool) -> Result<Self, Failure> {
        let bad = || Failure::new(format!("bad arg '{list}'"));
        let mut ranges = Vec::new();
        for item in list.split(',') {
            let number = |text: &str, default| match text {
                "" => Ok(default),
                text => text.parse::<usize>().ok().filter(|n| *n > 0).ok_or_else(bad),
            };
            let range = match item.split_once('-') {
                Some(("", "")) => return Err(bad()),
                Some((first, last)) => (number(first, 1)?, number(last, usize::MAX)?),
                None => (number(item, 0)?, number(item, 0)?),
            };
            if range.0 == 0 || range.1 < range.0 {
                return Err(bad());
            }
            ranges.push(range);
        }
        if sorted {
            ranges.sort_unstable();
            let mut merged: Vec<(usize, usize)> = Vec::new();
            for range in ranges {
                match merged.last_mut() {
                    Some(last) if range.0 <= last.1 => last.1 = last.1.max(range.1),
                    _ => merged.push(range),
                }
            }
            ranges = merged;
        }
        Ok(Self(ranges))
    }

    fn choose<T: Copy>(&self, all: &[T]) -> Vec<T> {
        let chosen = self.0.iter().flat_map(|(first, last)| {
            all.get(first - 1..(*last).min(all.len())).unwrap_or_default()
        });
        chosen.copied().collect()
    }
}

/// `cut [-Ds] -b|-c|-f LIST [-d DELIMITER] [-O DELIMITER] [FILE…]`
pub(super) async fn cut(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "b:c:C:f:F:d:O:Dsnz", &[("output-delimiter", 'O')])?;
    let Some((kind, list)) = options.given().filter(|(letter, _)| "bcCfF".contains(*letter)).last()
    else {
        return Err(Failure::Usage("Needs -CFfcb".into()));
    };
    let ranges = Ranges::parse(list, !options.has('D'))?;
    let delimiter = options.value('d').unwrap_or("\t").as_bytes().to_vec();
    let joint = match (options.value('O'), kind) {
        (Some(joint), _) => joint.as_bytes().to_vec(),
        (None, 'F') => b" ".to_vec(),
        (None, 'f') => delimiter.clone(),
        _ => Vec::new(),
    };
    let end = if options.has('z') { 0 } else { b'\n' };
    let mut status = 0;
    for path in options.files() {
        let Some(input) = open(call, path, &mut status).await else { continue };
        let mut lines = Lines::ended_by(input, end);
        while let Some((line, _)) = lines.next().await {
            let mut chosen = match kind {
                'b' => ranges.choose(&line),
                'c' | 'C' => {
                    let text: Vec<char> = String::from_utf8_lossy(&line).chars().collect();
                    ranges.choose(&text).into_iter().collect::<String>().into_bytes()
                }
                _ => {
                    let words: Vec<&[u8]> = match (kind, options.value('d')) {
                        ('F', None) => line
                            .split(u8::is_ascii_whitespace)
                            .filter(|word| !word.is_empty())
                            .collect(),
                        _ => split(&line, &delimiter),
                    };
                    if words.len() < 2 && options.has('s') {
                        continue;
                    }
                    // A line without a delimiter is printed as it is.
                    if words.len() < 2 {
                        line.clone()
                    } else {
                        ranges.choose(&words).join(joint.as_slice())
                    }
                }
            };
            chosen.push(end);
            call.out(chosen).await?;
        }
    }
    Ok(status)
}

fn split<'a>(line: &'a [u8], delimiter: &[u8]) -> Vec<&'a [u8]> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while !delimiter.is_empty() && at + delimiter.len() <= line.len() {
        if line[at..].starts_with(delimiter) {
            parts.push(&line[start..at]);
            at += delimiter.len();
            start = at;
        } else {
            at += 1;
        }
    }
    parts.push(&line[start..]);
    parts
}

/// `paste [-s] [-d DELIMITERS] [FILE…]`
pub(super) async fn paste(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "sd:", &[])?;
    let text = options.value('d').unwrap_or("\t");
    let mut delimiters = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        delimiters.push(match c {
            '\\' => match chars.next() {
                Some('n') => "\n".to_owned(),
                Some('t') => "\t".to_owned(),
                Some('0') => String::new(),
                other => other.map(String::from).unwrap_or_default(),
            },
            c => c.to_string(),
        });
    }
    if delimiters.is_empty() {
        delimiters.push(String::new());
    }
    let mut files = Vec::new();
    for path in options.files() {
        files.push(Lines::new(call.open(path).map_err(|reason| about(path, reason))?));
    }
    if options.has('s') {
        for mut file in files {
            let (mut row, mut nth) = (Vec::new(), 0);
            while let Some((line, _)) = file.next().await {
                if nth > 0 {
                    row.extend(delimiters[(nth - 1) % delimiters.len()].bytes());
                }
                row.extend(line);
                nth += 1;
                if row.len() as u64 > ALL {
                    return Err(Failure::new("out of memory"));
                }
            }
            row.push(b'\n');
            call.out(row).await?;
        }
        return Ok(0);
    }
    loop {
        let (mut row, mut any) = (Vec::new(), false);
        for (nth, file) in files.iter_mut().enumerate() {
            if nth > 0 {
                row.extend(delimiters[(nth - 1) % delimiters.len()].bytes());
            }
            if let Some((line, _)) = file.next().await {
                any = true;
                row.extend(line);
            }
        }
        if !any {
            return Ok(0);
        }
        row.push(b'\n');
        call.out(row).await?;
    }
}

/// `uniq [-cduiz] [-w CHARS] [-f FIELDS] [-s CHARS] [INPUT [OUTPUT]]`
pub(super) async fn uniq(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "f:s:w:zicdu", &[])?;
    let (fields, skip) = (options.number('f')?.unwrap_or(0), options.number('s')?.unwrap_or(0));
    let width = options.number('w')?.map_or(usize::MAX, |n| n as usize);
    let path = options.files()[0].to_owned();
    let input =
        call.open(&path).map_err(|reason| Failure::new(format!("No file {path}: {reason}")))?;
    let output = match options.rest.get(1) {
        Some(path) => call.create(path).map_err(|reason| about(path, reason))?,
        None => call.io.stdout.clone(),
    };
    let end = if options.has('z') { 0 } else { b'\n' };
    let key = |line: &[u8]| {
        let mut rest = line;
        for _ in 0..fields.min(line.len() as u64) {
            let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            rest = &rest[blank..];
            rest = &rest[rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count()..];
        }
        let rest = &rest[(skip as usize).min(rest.len())..];
        let rest = &rest[..width.min(rest.len())];
        if options.has('i') { rest.to_ascii_lowercase() } else { rest.to_vec() }
    };
    let mut lines = Lines::ended_by(input, end);
    let mut last: Option<(Vec<u8>, u64)> = None;
    loop {
        let next = lines.next().await;
        if let (Some((line, _)), Some((before, count))) = (&next, &mut last)
            && key(line) == key(before)
        {
            *count += 1;
            continue;
        }
        if let Some((line, count)) = last.take()
            && !(options.has('d') && count == 1 || options.has('u') && count > 1)
        {
            let mut row =
                if options.has('c') { format!("{count:>7} ").into_bytes() } else { Vec::new() };
            row.extend(line);
            row.push(end);
            output.write(&row).await?;
        }
        match next {
            Some((line, _)) => last = Some((line, 1)),
            None => return Ok(0),
        }
    }
}

/// `tee [-ai] [FILE…]`
pub(super) async fn tee(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "ai", &[])?;
    let (mut status, mut outputs) = (0, vec![call.io.stdout.clone()]);
    for path in &options.rest {
        let opened = if path == "-" {
            Ok(call.io.stdout.clone())
        } else {
            call.write_to(path, options.has('a'))
        };
        match opened {
            Ok(output) => outputs.push(output),
            Err(reason) => {
                call.err(format!("tee: {path}: {reason}\n")).await;
                status = 1;
            }
        }
    }
    loop {
        let chunk = call.io.stdin.chunk().await;
        if chunk.is_empty() {
            return Ok(status);
        }
        for output in &outputs {
            output.write(&chunk).await?;
        }
        tokio::task::coop::consume_budget().await;
    }
}

/// `yes [WORD…]`
pub(super) async fn yes(call: &Invocation) -> Outcome {
    let line =
        if call.args.is_empty() { "y\n".to_owned() } else { format!("{}\n", call.args.join(" ")) };
    let chunk = line.repeat((4_096 / line.len()).max(1));
    let mut pace = super::options::Pace::new();
    loop {
        call.out(&chunk).await?;
        // A file fills the disk and then fails; nothing fills `/dev/null`.
        tokio::task::coop::consume_budget().await;
        pace.step(call).await;
    }
}

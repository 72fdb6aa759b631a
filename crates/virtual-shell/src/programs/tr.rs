//! `tr`: sets of bytes as in toybox's `tr.c`.

use super::Invocation;
use super::options::{Failure, Options, Outcome};

/// The bytes of a set, with ranges, classes and escapes resolved.
fn expand(text: &str) -> Result<Vec<u8>, Failure> {
    let bytes = text.as_bytes();
    let (mut set, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if let Some(rest) = text.get(at..).and_then(|rest| rest.strip_prefix("[:"))
            && let Some((name, _)) = rest.split_once(":]")
        {
            let in_class: fn(&u8) -> bool = match name {
                "alpha" => u8::is_ascii_alphabetic,
                "digit" => u8::is_ascii_digit,
                "alnum" => u8::is_ascii_alphanumeric,
                "upper" => u8::is_ascii_uppercase,
                "lower" => u8::is_ascii_lowercase,
                "space" => |byte| b" \t\n\r\x0b\x0c".contains(byte),
                "blank" => |byte| b" \t".contains(byte),
                "punct" => u8::is_ascii_punctuation,
                "cntrl" => u8::is_ascii_control,
                "xdigit" => u8::is_ascii_hexdigit,
                "print" => |byte| (32..127).contains(byte),
                "graph" => u8::is_ascii_graphic,
                _ => return Err(Failure::new(format!("bad class '[:{name}:]'"))),
            };
            set.extend((0..=255).filter(in_class));
            at += name.len() + 4;
            continue;
        }
        let (first, after) = letter(bytes, at);
        at = after;
        if bytes.get(at) == Some(&b'-') && at + 1 < bytes.len() {
            let (last, after) = letter(bytes, at + 1);
            if last < first {
                return Err(Failure::new(format!(
                    "bad range '{}-{}'",
                    char::from(first),
                    char::from(last)
                )));
            }
            set.extend(first..=last);
            at = after;
        } else {
            set.push(first);
        }
    }
    Ok(set)
}

/// The byte at that place, and the place after it.
fn letter(bytes: &[u8], at: usize) -> (u8, usize) {
    let byte = bytes.get(at).copied().unwrap_or(0);
    if byte != b'\\' {
        return (byte, at + 1);
    }
    let octal: Vec<u8> = bytes
        .iter()
        .skip(at + 1)
        .take(3)
        .take_while(|byte| (b'0'..=b'7').contains(*byte))
        .copied()
        .collect();
    if !octal.is_empty() {
        let value = octal.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
        return (value as u8, at + 1 + octal.len());
    }
    match bytes.get(at + 1) {
        None => (b'\\', at + 1),
        Some(c) => (super::format::escape(*c).unwrap_or(*c), at + 2),
    }
}

/// `tr [-cdst] SET1 [SET2]`
pub(super) async fn tr(call: &Invocation) -> Outcome {
    let options = Options::read(
        &call.args,
        "+Ccdst",
        &[("complement", 'c'), ("delete", 'd'), ("squeeze-repeats", 's'), ("truncate", 't')],
    )?;
    options.at_least(1)?;
    options.at_most(2)?;
    let mut from = expand(&options.rest[0])?;
    if options.has('c') || options.has('C') {
        from = (0..=255).filter(|byte| !from.contains(byte)).collect();
    }
    let to = options.rest.get(1).map(|text| expand(text)).transpose()?;
    if to.is_none() && !options.has('d') && !options.has('s') {
        return Err(Failure::Usage("Needs 2 arguments".into()));
    }
    let mut map: Vec<u8> = (0..=255).collect();
    let mut delete = [false; 256];
    let mut squeeze = [false; 256];
    if options.has('d') {
        from.iter().for_each(|byte| delete[usize::from(*byte)] = true);
    } else if let Some(to) = &to {
        let Some(last) = to.last() else { return Err(Failure::new("set2 can't be empty string")) };
        for (nth, byte) in from.iter().enumerate() {
            match to.get(nth) {
                Some(new) => map[usize::from(*byte)] = *new,
                None if options.has('t') => {}
                None => map[usize::from(*byte)] = *last,
            }
        }
    }
    if options.has('s') {
        let set = to.as_ref().unwrap_or(&from);
        set.iter().for_each(|byte| squeeze[usize::from(*byte)] = true);
    }
    let mut last = None;
    loop {
        let chunk = call.io.stdin.chunk().await;
        if chunk.is_empty() {
            return Ok(0);
        }
        let mut out = Vec::with_capacity(chunk.len());
        for byte in chunk {
            if delete[usize::from(byte)] {
                continue;
            }
            let byte = map[usize::from(byte)];
            if squeeze[usize::from(byte)] && last == Some(byte) {
                continue;
            }
            last = Some(byte);
            out.push(byte);
        }
        call.out(out).await?;
        tokio::task::coop::consume_budget().await;
    }
}

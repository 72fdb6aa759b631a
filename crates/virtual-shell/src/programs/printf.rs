//! `printf`, with toybox's texts.

use super::Invocation;
use super::format::{Conversion, escape};
use super::options::{Failure, Outcome};

/// Maximum bytes after which the format is not used again.
const MAX_OUTPUT: usize = 1 << 20;

/// `printf FORMAT [ARG…]`: the format is used again while arguments are left. A word that looks
/// like an option is none.
pub(super) async fn printf(call: &Invocation) -> Outcome {
    let args = match call.args.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => call.args.as_slice(),
    };
    let (format, mut values) = args.split_first().ok_or_else(|| Failure::needs(1))?;
    let (mut status, mut size) = (0, 0);
    loop {
        let before = values.len();
        let (mut rest, mut text) = (format.as_str(), Vec::new());
        while let Some(at) = rest.find(['\\', '%']) {
            let (plain, special) = rest.split_at(at);
            text.extend_from_slice(plain.as_bytes());
            rest = &special[1..];
            if special.starts_with('\\') {
                if unescape(&mut rest, &mut text, false) {
                    call.out(text).await?;
                    return Ok(status);
                }
            } else if let Some(after) = rest.strip_prefix('%') {
                text.push(b'%');
                rest = after;
            } else {
                match convert(&mut rest, &mut values, &mut text) {
                    Converted::Done => {}
                    Converted::End => {
                        call.out(text).await?;
                        return Ok(status);
                    }
                    Converted::NoNumber(value) => {
                        call.out(std::mem::take(&mut text)).await?;
                        call.err(format!("printf: bad {value}\n")).await;
                        status = 1;
                    }
                    Converted::NoLetter(letter) => {
                        call.out(text).await?;
                        let place = format.len() - rest.len();
                        return Err(Failure::new(format!("bad %{letter}@{place}")));
                    }
                }
            }
        }
        text.extend_from_slice(rest.as_bytes());
        size += text.len();
        call.out(text).await?;
        if values.is_empty() || values.len() == before || size > MAX_OUTPUT {
            return Ok(status);
        }
    }
}

/// What became of a conversion.
enum Converted {
    Done,
    /// `\c` ended the output.
    End,
    /// Its argument is not a number, or not only one.
    NoNumber(String),
    /// There is no such conversion.
    NoLetter(String),
}

/// Converts what follows a `%`.
fn convert(rest: &mut &str, values: &mut &[String], text: &mut Vec<u8>) -> Converted {
    let mut next = || match values.split_first() {
        Some((value, more)) => {
            *values = more;
            value.as_str()
        }
        None => "",
    };
    let mut specification = String::new();
    let letter = loop {
        let Some(c) = rest.chars().next() else { return Converted::NoLetter(String::new()) };
        *rest = &rest[c.len_utf8()..];
        match c {
            '*' => specification += &integer(next()).0.to_string(),
            c if "-+ #'.0123456789".contains(c) => specification.push(c),
            letter => break letter,
        }
    };
    specification.push(letter);
    let Some((conversion, _)) = Conversion::parse(&specification) else {
        return Converted::NoLetter(letter.to_string());
    };
    let (shown, complete, value) = match letter {
        'b' => {
            let mut value = next();
            while let Some(at) = value.find('\\') {
                text.extend_from_slice(&value.as_bytes()[..at]);
                value = &value[at + 1..];
                if unescape(&mut value, text, true) {
                    return Converted::End;
                }
            }
            text.extend_from_slice(value.as_bytes());
            return Converted::Done;
        }
        'c' => {
            let value = next();
            let first: String = value.chars().take(1).collect();
            (conversion.text(if first.is_empty() { "\0" } else { &first }), true, value)
        }
        's' => {
            let value = next();
            (conversion.text(value), true, value)
        }
        'd' | 'i' | 'o' | 'u' | 'x' | 'X' => {
            let value = next();
            let (number, complete) = integer(value);
            (conversion.integer(number), complete, value)
        }
        'e' | 'E' | 'f' | 'g' | 'G' => {
            let value = next();
            let (number, complete) = float(value);
            (conversion.float(number), complete, value)
        }
        letter => return Converted::NoLetter(letter.to_string()),
    };
    text.extend_from_slice(shown.as_bytes());
    match complete {
        true => Converted::Done,
        false => Converted::NoNumber(format!("%{letter} {value}")),
    }
}

/// The C integer that a text begins with, and whether that is all of it.
fn integer(text: &str) -> (i64, bool) {
    if let Some(c) = text.strip_prefix(['\'', '"']) {
        return (c.chars().next().map_or(0, |c| i64::from(u32::from(c))), true);
    }
    let trimmed = text.trim_start();
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let (radix, digits) = match (digits.strip_prefix("0x"), digits.strip_prefix('0')) {
        (Some(hex), _) => (16, hex),
        (None, Some(octal)) => (8, octal),
        (None, None) => (10, digits),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let value = match &digits[..end] {
        "" => 0,
        digits => i64::from_str_radix(digits, radix).unwrap_or(i64::MAX),
    };
    (if negative { -value } else { value }, end == digits.len())
}

/// The same for a number with a fraction.
fn float(text: &str) -> (f64, bool) {
    let text = text.trim_start();
    if text.is_empty() {
        return (0.0, true);
    }
    let end = text.find(|c: char| !"+-.0123456789eE".contains(c)).unwrap_or(text.len());
    let number = (1..=end).rev().find_map(|end| Some((text[..end].parse::<f64>().ok()?, end)));
    let (number, end) = number.unwrap_or((0.0, 0));
    (number, end == text.len())
}

/// Resolves what follows a backslash; `true` for `\c`. With `zero`, octal digits follow a 0.
fn unescape(rest: &mut &str, text: &mut Vec<u8>, zero: bool) -> bool {
    let Some(c) = rest.chars().next() else {
        text.push(b'\\');
        return false;
    };
    let after = &rest[c.len_utf8()..];
    let (radix, digits, max_digits) = match c {
        'c' => return true,
        'x' => (16, after, 2),
        '0' if zero => (8, after, 3),
        '0'..='7' => (8, *rest, 3),
        'e' => {
            text.push(0x1b);
            *rest = after;
            return false;
        }
        c => {
            match u8::try_from(c).ok().and_then(escape) {
                Some(byte) => {
                    text.push(byte);
                    *rest = after;
                }
                None => text.push(b'\\'),
            }
            return false;
        }
    };
    let values = digits.chars().take(max_digits).map_while(|c| c.to_digit(radix));
    let (length, value) = values.fold((0, 0), |(n, value), digit| (n + 1, value * radix + digit));
    text.push(value as u8);
    *rest = &digits[length..];
    false
}

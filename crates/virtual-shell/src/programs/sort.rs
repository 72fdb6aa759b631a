//! `sort`: keys, types and order as in toybox's `sort.c`.

use super::Invocation;
use super::options::{ALL, Failure, Options, Outcome, about};
use std::cmp::Ordering;

/// The types of a key, and modifiers of its text.
#[derive(Clone, Default)]
struct KeyOrder {
    letters: String,
}

/// `-k START[,END][TYPE]`
struct Key {
    /// Word and character, from 1; 0 characters means the whole word.
    start: (usize, usize),
    end: Option<(usize, usize)>,
    order: KeyOrder,
}

impl Key {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let place = |text: &str| -> Option<(usize, usize)> {
            // Letters may also follow the start: `-k2n,2`.
            let text = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            match text.split_once('.') {
                Some((word, letter)) => Some((word.parse().ok()?, letter.parse().ok()?)),
                None => Some((text.parse().ok()?, 0)),
            }
        };
        let (start, end) = match digits.split_once(',') {
            Some((start, end)) => (place(start)?, Some(place(end)?)),
            None => (place(digits)?, None),
        };
        let letters: String = text.chars().filter(char::is_ascii_alphabetic).collect();
        if start.0 == 0 || !letters.chars().all(|c| "MVbdfginrx".contains(c)) {
            return None;
        }
        Some(Self { start, end, order: KeyOrder { letters } })
    }

    fn text<'a>(&self, line: &'a str, separator: Option<char>) -> &'a str {
        let words = words(line, separator);
        let blanks = self.order.letters.contains('b');
        let Some((first, last)) = words.get(self.start.0 - 1).copied() else { return "" };
        let skip = |from: usize, to: usize, letters: usize| {
            let mut word = &line[from..to];
            let mut at = from;
            if blanks {
                let trimmed = word.trim_start();
                at += word.len() - trimmed.len();
                word = trimmed;
            }
            word.char_indices().nth(letters).map_or(to, |(offset, _)| at + offset)
        };
        let start = skip(first, last, self.start.1.saturating_sub(1));
        let end = match self.end {
            None => line.len(),
            Some((word, letter)) => match words.get(word.saturating_sub(1)) {
                None => line.len(),
                Some((_, to)) if letter == 0 => *to,
                Some((from, to)) => skip(*from, *to, letter),
            },
        };
        line.get(start..end.max(start)).unwrap_or_default()
    }
}

/// The words of a line as ranges. Without a separator a word includes the blanks before it.
fn words(line: &str, separator: Option<char>) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = 0;
    match separator {
        Some(separator) => {
            for (at, c) in line.char_indices().filter(|(_, c)| *c == separator) {
                words.push((start, at));
                start = at + c.len_utf8();
            }
        }
        None => {
            let mut before = ' ';
            for (at, c) in line.char_indices() {
                if c.is_whitespace() && !before.is_whitespace() {
                    words.push((start, at));
                    start = at;
                }
                before = c;
            }
        }
    }
    words.push((start, line.len()));
    words
}

impl KeyOrder {
    fn has(&self, letter: char) -> bool {
        self.letters.contains(letter)
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        let order = if self.has('n') {
            let number = |text: &str| numeric(text);
            number(a).total_cmp(&number(b))
        } else if self.has('g') {
            let number = |text: &str| general(text);
            let (a, b) = (number(a), number(b));
            a.is_some().cmp(&b.is_some()).then(a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)))
        } else if self.has('x') {
            let number = |text: &str| {
                u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).unwrap_or(0)
            };
            number(a).cmp(&number(b))
        } else if self.has('M') {
            month(a).cmp(&month(b))
        } else if self.has('V') {
            versions(a, b)
        } else {
            self.folded(a).as_bytes().cmp(self.folded(b).as_bytes())
        };
        if self.has('r') { order.reverse() } else { order }
    }

    fn folded(&self, text: &str) -> String {
        let mut text = if self.has('b') { text.trim_start().to_owned() } else { text.to_owned() };
        if self.has('d') {
            text.retain(|c| c.is_alphanumeric() || c.is_whitespace());
        }
        if self.has('i') {
            text.retain(|c| !c.is_control());
        }
        if self.has('f') { text.to_uppercase() } else { text }
    }
}

fn prefix(text: &str, allowed: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit() && !allowed.contains(c)).unwrap_or(text.len())
}

/// The number at the start of a text; 0 without one.
fn numeric(text: &str) -> f64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    let whole = prefix(digits, "");
    let fraction = match digits[whole..].strip_prefix('.') {
        Some(rest) => 1 + prefix(rest, ""),
        None => 0,
    };
    // `-0` and `0` are equal.
    digits[..whole + fraction].parse::<f64>().map_or(0.0, |n| if n == 0.0 { 0.0 } else { sign * n })
}

fn general(text: &str) -> Option<f64> {
    let text = text.trim();
    (0..=text.len().min(64)).rev().filter_map(|end| text.get(..end)?.parse().ok()).next()
}

fn month(text: &str) -> usize {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let text: String = text.trim_start().chars().take(3).collect::<String>().to_lowercase();
    MONTHS.iter().position(|month| *month == text).map_or(0, |nth| nth + 1)
}

fn versions(mut a: &str, mut b: &str) -> Ordering {
    while !a.is_empty() && !b.is_empty() {
        let (x, y) = (prefix(a, ""), prefix(b, ""));
        if x > 0 && y > 0 {
            let trim = |text: &str| text.trim_start_matches('0').to_owned();
            let (m, n) = (trim(&a[..x]), trim(&b[..y]));
            let order = m.len().cmp(&n.len()).then(m.cmp(&n));
            if order.is_ne() {
                return order;
            }
            (a, b) = (&a[x..], &b[y..]);
            continue;
        }
        let (c, d) = (a.chars().next(), b.chars().next());
        if c != d {
            return c.cmp(&d);
        }
        let length = c.map_or(0, char::len_utf8);
        (a, b) = (&a[length..], &b[length..]);
    }
    a.len().cmp(&b.len())
}

/// `sort [-CMVbcdfginrsuxz] [-k KEY]… [-t CHAR] [-o FILE] [FILE…]`
pub(super) async fn sort(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "k:t:o:gMVxcCbdfinrsuzS:T:m", &[])?;
    let separator = match options.value('t') {
        Some(text) => {
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (Some('\\'), Some('t')) => Some('\t'),
                (Some(c), None) => Some(c),
                _ => return Err(Failure::new(format!("bad -t '{text}'"))),
            }
        }
        None => None,
    };
    let plain = KeyOrder {
        letters: options
            .given()
            .map(|(letter, _)| letter)
            .filter(|c| "MVbdfginrx".contains(*c))
            .collect(),
    };
    let mut keys = Vec::new();
    for text in options.values('k') {
        let mut key = Key::parse(text).ok_or_else(|| Failure::new(format!("bad key '{text}'")))?;
        if key.order.letters.is_empty() {
            key.order = plain.clone();
        }
        keys.push(key);
    }
    let end = if options.has('z') { 0 } else { b'\n' };
    let mut lines: Vec<String> = Vec::new();
    let mut left = ALL;
    for path in options.files() {
        let input = call.open(path).map_err(|reason| about(path, reason))?;
        let bytes = input.all(left).await;
        left -= bytes.len() as u64;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = text.strip_suffix(char::from(end)).unwrap_or(&text);
        if !text.is_empty() {
            lines.extend(body.split(char::from(end)).map(str::to_owned));
        }
    }
    let compare = |a: &str, b: &str| {
        if keys.is_empty() {
            plain.compare(a, b)
        } else {
            keys.iter()
                .map(|key| key.order.compare(key.text(a, separator), key.text(b, separator)))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        }
    };
    let whole = |a: &str, b: &str| {
        // Lines with equal keys are ordered as a whole, unless `-s` or `-u`.
        let order = compare(a, b);
        if order.is_ne() || options.has('s') || options.has('u') {
            return order;
        }
        let order = a.as_bytes().cmp(b.as_bytes());
        if plain.has('r') { order.reverse() } else { order }
    };
    if options.has('c') || options.has('C') {
        let bad = lines.windows(2).position(|pair| {
            let order = if options.has('u') {
                compare(&pair[0], &pair[1])
            } else {
                whole(&pair[0], &pair[1])
            };
            order.is_gt() || order.is_eq() && options.has('u')
        });
        return match bad {
            None => Ok(0),
            Some(_) if options.has('C') => Ok(1),
            Some(nth) => {
                let path = options.files()[0];
                call.err(format!("sort: {path}: Check line {}\n", nth + 2)).await;
                Ok(1)
            }
        };
    }
    lines.sort_by(|a, b| whole(a, b));
    if options.has('u') {
        lines.dedup_by(|b, a| compare(a, b).is_eq());
    }
    let output = match options.value('o') {
        Some(path) => call.create(path).map_err(|reason| about(path, reason))?,
        None => call.io.stdout.clone(),
    };
    for line in lines {
        let mut row = line.into_bytes();
        row.push(end);
        output.write(&row).await?;
        tokio::task::coop::consume_budget().await;
    }
    Ok(0)
}

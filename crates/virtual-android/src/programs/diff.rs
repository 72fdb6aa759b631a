//! `diff`: the differences of two files in unified form, as toybox prints them.

use super::Invocation;
use super::options::{ALL, Failure, Options, Outcome, about};

/// Maximum lines of a file, and of the work on them.
const LINES: usize = 200_000;
const WORK: usize = 20_000_000;

/// One step from the first file to the second, by line numbers from 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Same(usize, usize),
    Remove(usize),
    Add(usize),
}

/// `diff [-abiqsuw] [-L LABEL] [-U LINES] FILE1 FILE2`
pub(super) async fn diff(call: &Invocation) -> Outcome {
    let options = Options::read(
        &call.args,
        "abBdiNqrTstwuL:U:",
        &[
            ("unified", 'u'),
            ("label", 'L'),
            ("brief", 'q'),
            ("report-identical-files", 's'),
            ("ignore-case", 'i'),
        ],
    )?;
    options.at_least(2)?;
    options.at_most(2)?;
    let mut files = Vec::new();
    for path in &options.rest {
        match call.open(path) {
            Ok(input) => files.push(input.all(ALL).await),
            Err(_) if options.has('N') => files.push(Vec::new()),
            Err(reason) => {
                let Failure::Message(text, _) = about(path, reason) else { return Ok(2) };
                return Err(Failure::Message(text, 2));
            }
        }
    }
    let (first, second) = (&options.rest[0], &options.rest[1]);
    if files[0] == files[1] {
        if options.has('s') {
            call.out(format!("Files {first} and {second} are identical\n")).await?;
        }
        return Ok(0);
    }
    let texts: Vec<Vec<&[u8]>> =
        files.iter().map(|file| file.split_inclusive(|byte| *byte == b'\n').collect()).collect();
    let key = |line: &&[u8]| {
        let mut line = line.to_vec();
        if options.has('w') {
            line.retain(|byte| !byte.is_ascii_whitespace());
        } else if options.has('b') {
            line = line
                .split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join(&b' ');
        }
        if options.has('i') { line.to_ascii_lowercase() } else { line }
    };
    let keys: Vec<Vec<Vec<u8>>> =
        texts.iter().map(|lines| lines.iter().map(key).collect()).collect();
    let binary = files.iter().any(|file| file.contains(&0)) && !options.has('a');
    if keys[0] == keys[1] {
        return Ok(0);
    }
    if options.has('q') || binary {
        let kind = if binary && !options.has('q') { "Binary files" } else { "Files" };
        call.out(format!("{kind} {first} and {second} differ\n")).await?;
        return Ok(1);
    }
    let steps = steps(&keys[0], &keys[1]);
    let around = options.number('U')?.unwrap_or(3).min(1_000_000) as usize;
    let label = |nth: usize| options.values('L').nth(nth).unwrap_or(&options.rest[nth]).to_owned();
    call.out(format!("--- {}\n+++ {}\n", label(0), label(1))).await?;
    for hunk in hunks(&steps, around) {
        tokio::task::coop::consume_budget().await;
        let out = shown(&steps[hunk], &texts[0], &texts[1]);
        call.out(out).await?;
    }
    Ok(1)
}

/// The shortest way from one file to the other, by Myers' greedy algorithm; a plain replacement if
/// it is too long.
fn steps(a: &[Vec<u8>], b: &[Vec<u8>]) -> Vec<Step> {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (mut left, mut right) = (a.len(), b.len());
    while left > same && right > same && a[left - 1] == b[right - 1] {
        (left, right) = (left - 1, right - 1);
    }
    let mut steps: Vec<Step> = (0..same).map(|nth| Step::Same(nth, nth)).collect();
    match middle(&a[same..left], &b[same..right]) {
        Some(middle) => steps.extend(middle.into_iter().map(|step| match step {
            Step::Same(x, y) => Step::Same(x + same, y + same),
            Step::Remove(x) => Step::Remove(x + same),
            Step::Add(y) => Step::Add(y + same),
        })),
        None => {
            steps.extend((same..left).map(Step::Remove));
            steps.extend((same..right).map(Step::Add));
        }
    }
    steps.extend((left..a.len()).map(|nth| Step::Same(nth, nth - left + right)));
    steps
}

fn middle(a: &[Vec<u8>], b: &[Vec<u8>]) -> Option<Vec<Step>> {
    if a.len() + b.len() > LINES {
        return None;
    }
    let most = a.len() + b.len();
    let mut furthest = vec![0_usize; 2 * most + 2];
    let (mut history, mut work) = (Vec::new(), 0);
    let at = |k: isize| (k + most as isize) as usize;
    let mut length = None;
    'search: for d in 0..=most as isize {
        work += 2 * d as usize + 1;
        if work > WORK {
            return None;
        }
        // Only the diagonals reached so far are needed to find the way back.
        let low = at(-d);
        history.push(furthest[low.saturating_sub(1)..=(at(d) + 1).min(2 * most + 1)].to_vec());
        for k in (-d..=d).step_by(2) {
            let down = k == -d || k != d && furthest[at(k - 1)] < furthest[at(k + 1)];
            let mut x = if down { furthest[at(k + 1)] } else { furthest[at(k - 1)] + 1 };
            let mut y = (x as isize - k) as usize;
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[at(k)] = x;
            if x >= a.len() && y >= b.len() {
                length = Some(d);
                break 'search;
            }
        }
    }
    let (mut x, mut y) = (a.len(), b.len());
    let mut steps = Vec::new();
    for d in (0..=length?).rev() {
        let kept = &history[d as usize];
        let start = at(-d).saturating_sub(1);
        let before = |k: isize| kept.get(at(k) - start).copied().unwrap_or(0);
        let k = x as isize - y as isize;
        let down = k == -d || k != d && before(k - 1) < before(k + 1);
        let from = if d == 0 {
            0
        } else if down {
            before(k + 1)
        } else {
            before(k - 1) + 1
        };
        while x > from && y > 0 && x > 0 {
            (x, y) = (x - 1, y - 1);
            steps.push(Step::Same(x, y));
        }
        if d > 0 && down {
            y -= 1;
            steps.push(Step::Add(y));
        } else if d > 0 {
            x -= 1;
            steps.push(Step::Remove(x));
        }
    }
    steps.reverse();
    Some(steps)
}

/// Ranges of steps: changes with some lines around them.
fn hunks(steps: &[Step], around: usize) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for (nth, _) in steps.iter().enumerate().filter(|(_, step)| !matches!(step, Step::Same(..))) {
        let (start, end) = (nth.saturating_sub(around), (nth + around + 1).min(steps.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

fn shown(steps: &[Step], a: &[&[u8]], b: &[&[u8]]) -> Vec<u8> {
    let (mut body, mut removed, mut added) = (Vec::new(), 0, 0);
    let (mut first, mut second) = (None, None);
    for step in steps {
        let (mark, line) = match *step {
            Step::Same(x, y) => {
                first.get_or_insert(x);
                second.get_or_insert(y);
                (removed, added) = (removed + 1, added + 1);
                (b' ', a[x])
            }
            Step::Remove(x) => {
                first.get_or_insert(x);
                removed += 1;
                (b'-', a[x])
            }
            Step::Add(y) => {
                second.get_or_insert(y);
                added += 1;
                (b'+', b[y])
            }
        };
        body.push(mark);
        body.extend(line);
        if !line.ends_with(b"\n") {
            body.extend(b"\n\\ No newline at end of file\n");
        }
    }
    let place = |start: Option<usize>, lines: usize| match (start, lines) {
        (Some(start), 1) => (start + 1).to_string(),
        (Some(start), lines) => format!("{},{lines}", start + 1),
        (None, _) => "0,0".to_owned(),
    };
    let mut out =
        format!("@@ -{} +{} @@\n", place(first, removed), place(second, added)).into_bytes();
    out.extend(body);
    out
}

#[cfg(test)]
mod tests {
    use super::{Step, steps};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_lead_from_one_file_to_the_other(a in "[abc]{0,12}", b in "[abc]{0,12}") {
            let lines = |text: &str| -> Vec<Vec<u8>> { text.bytes().map(|byte| vec![byte]).collect() };
            let (a, b) = (lines(&a), lines(&b));
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for step in steps(&a, &b) {
                match step {
                    Step::Same(x, y) => {
                        prop_assert_eq!(&a[x], &b[y]);
                        left.push(a[x].clone());
                        right.push(b[y].clone());
                    }
                    Step::Remove(x) => left.push(a[x].clone()),
                    Step::Add(y) => right.push(b[y].clone()),
                }
            }
            prop_assert_eq!((left, right), (a, b));
        }
    }
}

//! What changed on the screen between two snapshots, as lines of the list.
//!
//! Start with [`difference`]. `+` is a line that is new or elsewhere, `~` one whose element is the
//! same but tells something else, `e3 -> …` one in the place of another, `-` what is gone: refs,
//! and texts of lines without one. `after e7:` tells where new lines are.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use thumbwire_base::truncate;
use thumbwire_device::Rect;

use super::outline::{Outline, OutlineLine};
use super::{ElementRef, OutlineDetail, Snapshot, matching};

/// What changed on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Nothing that the list shows.
    Nothing,
    /// These lines changed.
    Lines(String),
    /// Another screen, or a whole list that is shorter than its changes.
    Whole(String),
}

/// What changed since an earlier snapshot.
pub fn difference(before: &Snapshot, now: &Snapshot) -> Difference {
    let [old, new] = [before, now].map(|one| Outline::new(one, OutlineDetail::Compact));
    let whole = new.to_string();
    if whole == old.to_string() {
        return Difference::Nothing;
    }
    // What did not fit cannot be compared.
    if now.is_another_screen(before) || old.omitted > 0 || new.omitted > 0 {
        return Difference::Whole(whole);
    }
    let lines = changed_lines(&old, &new);
    if lines.len() < whole.len() { Difference::Lines(lines) } else { Difference::Whole(whole) }
}

fn changed_lines(old: &Outline, new: &Outline) -> String {
    let texts = |outline: &Outline| -> Vec<String> {
        outline.lines.iter().map(|line| format!("{} {}", line.depth, line.text)).collect()
    };
    let (was, is) = (texts(old), texts(new));
    let was: Vec<&str> = was.iter().map(String::as_str).collect();
    let is: Vec<&str> = is.iter().map(String::as_str).collect();
    let ops = capture_diff_slices(Algorithm::Myers, &was, &is);
    let mut gone: Vec<&OutlineLine> = ops
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .flat_map(|op| &old.lines[op.old_range()])
        .collect();
    let gone_refs: HashMap<ElementRef, &OutlineLine> =
        gone.iter().filter_map(|line| Some((line.id?, *line))).collect();
    let mut out = String::new();
    if new.header != old.header {
        let _ = write!(out, "\n{}", new.header);
    }
    let still: HashSet<ElementRef> = new.lines.iter().filter_map(|line| line.id).collect();
    let new_texts: HashSet<&str> = new.lines.iter().map(|line| &*line.text).collect();
    let is_gone = |line: &OutlineLine| match line.id {
        Some(id) => !still.contains(&id),
        None => !new_texts.contains(&*line.text),
    };
    let mut replaced: HashSet<*const OutlineLine> = HashSet::new();
    let was_there: HashSet<ElementRef> = old.lines.iter().filter_map(|line| line.id).collect();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let at = op.new_range();
        let added = &new.lines[at.clone()];
        let outermost = added.iter().map(|line| line.depth).min().unwrap_or_default();
        // As many lines as there were: each takes the place of one.
        let pairs = Some(&old.lines[op.old_range()]).filter(|removed| removed.len() == added.len());
        let mut is_placed = false;
        for (nth, line) in added.iter().enumerate() {
            let changed = line.id.and_then(|id| gone_refs.get(&id));
            if changed.is_some_and(|was| was.text != line.text) {
                let _ = write!(out, "\n~ {}", line.text);
                continue;
            }
            let is_new = line.id.is_none_or(|id| !was_there.contains(&id));
            let other = pairs.map(|removed| &removed[nth]).filter(|other| is_new && is_gone(other));
            if let Some(other) = other {
                replaced.insert(other);
                let name = match other.id {
                    Some(id) => id.to_string(),
                    None => start_of(&other.text),
                };
                let _ = write!(out, "\n{name} -> {}", line.text);
                continue;
            }
            if !is_placed {
                is_placed = true;
                place(&mut out, new.lines[..at.start].last());
            }
            let indent = line.depth - outermost;
            let _ = write!(out, "\n+ {:indent$}{}", "", line.text);
        }
    }
    gone.retain(|line| is_gone(line) && !replaced.contains(&std::ptr::from_ref(*line)));
    let refs: Vec<String> =
        gone.iter().filter_map(|line| line.id).map(|id| id.to_string()).collect();
    if !refs.is_empty() {
        let _ = write!(out, "\n- {}", refs.join(" "));
    }
    for line in gone.iter().filter(|line| line.id.is_none()) {
        let _ = write!(out, "\n- {}", start_of(&line.text));
    }
    out.split_off(1.min(out.len()))
}

/// The maximum length of a text that is gone, in characters: enough to know which one it was.
const MAX_GONE: usize = 40;

/// The start of a line. A quotation that is cut is closed: what follows it is ours again.
fn start_of(line: &str) -> String {
    let mut start = truncate(line, MAX_GONE);
    if start.len() >= line.len() {
        return start;
    }
    let (mut in_quotes, mut escaped) = (false, false);
    for c in start.chars() {
        match c {
            '"' if !escaped => in_quotes = !in_quotes,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    if in_quotes {
        start.push('"');
    }
    start
}

/// Where the lines that follow are: the line above them.
fn place(out: &mut String, above: Option<&OutlineLine>) {
    let _ = match above {
        None => write!(out, "\nfirst:"),
        Some(OutlineLine { id: Some(id), .. }) => write!(out, "\nafter {id}:"),
        Some(OutlineLine { text, .. }) => write!(out, "\nafter {}:", start_of(text)),
    };
}

/// How far the content of a scrolled area moved between two snapshots of one screen, in pixels:
/// right and down are positive. `None` if no element that shows it is visible on both.
pub fn content_moved(before: &Snapshot, now: &Snapshot) -> Option<(i32, i32)> {
    let mut votes: HashMap<(i32, i32), usize> = HashMap::new();
    let areas: Vec<Rect> = (0..now.tree.nodes.len())
        .filter(|&at| now.tree.nodes[at].flags.scrollable)
        .map(|at| now.shown(at))
        .collect();
    let is_inside = |place: Rect| {
        areas.is_empty()
            || areas.iter().any(|area| {
                area.left <= place.left
                    && area.top <= place.top
                    && place.right <= area.right
                    && place.bottom <= area.bottom
                    && *area != place
            })
    };
    for (was, is) in matching::unique_pairs(before, now) {
        let (from, to) = (before.tree.nodes[was].bounds, now.tree.nodes[is].bounds);
        // An element that is cut off at an edge has another size. In a scaled screenshot the same
        // element may be a pixel larger in another place.
        let is_same = |one: i32, other: i32| one.abs_diff(other) <= 1;
        let same_size = is_same(from.right - from.left, to.right - to.left)
            && is_same(from.bottom - from.top, to.bottom - to.top);
        if same_size && is_inside(to) {
            *votes.entry((to.left - from.left, to.top - from.top)).or_default() += 1;
        }
    }
    // What moved says more than titles and bars, which stay.
    let moved =
        votes.iter().filter(|(by, _)| **by != (0, 0)).max_by_key(|(by, count)| (**count, **by));
    match moved {
        Some((by, _)) => Some(*by),
        None => votes.contains_key(&(0, 0)).then_some((0, 0)),
    }
}

#[cfg(test)]
mod tests;

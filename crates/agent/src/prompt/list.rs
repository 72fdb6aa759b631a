//! The list of what is on the screen, and what is left out of it when it does not fit.
//!
//! Of a long list that scrolls, rows in the middle are left out: never what is around it (bars,
//! dialogs, buttons that lie over it), nor the field that has the focus, nor the first line, which
//! tells of windows in front and of the keyboard.

use thumbwire_base::truncate;
use thumbwire_core::snapshot::{LinePlace, NumberedLine};

use crate::options::PromptForm;
use crate::policy::observation::{ControlRow, Observation};
use crate::prompt::coordinates::CoordinateSpace;
use crate::prompt::json_line;

/// The limit for the list, in bytes. A full screen has about a hundred lines of 30 bytes.
const MAX_BYTES: usize = 8_000;
/// How many rows of a list that is cut are kept at each of its ends.
const KEPT_ROWS: usize = 3;
/// The longest name of a row, and of a line when nothing else helps, in characters.
const MAX_NAME: usize = 160;
const MAX_LINE: usize = 300;

/// A line of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListLine {
    /// The line of the screen with this index.
    Shown(usize),
    /// These lines of the screen are left out.
    LeftOut(std::ops::Range<usize>),
}

/// The list, one line per element.
pub(super) fn list(lines: &[NumberedLine], form: PromptForm, space: &CoordinateSpace) -> String {
    let texts: Vec<String> = lines.iter().map(|line| text(line, form, space)).collect();
    let fitted = fit(lines, &texts, MAX_BYTES);
    let too_much = size_of(&fitted, &texts) > MAX_BYTES;
    let written = fitted.iter().map(|one| match one {
        ListLine::Shown(at) if too_much => truncate(&texts[*at], MAX_LINE),
        ListLine::Shown(at) => texts[*at].clone(),
        ListLine::LeftOut(range) => left_out(&lines[range.clone()]),
    });
    written.collect::<Vec<_>>().join("\n")
}

/// A line with its number, and with its place where that is wanted.
fn text(line: &NumberedLine, form: PromptForm, space: &CoordinateSpace) -> String {
    let place = line.place.filter(|place| match place {
        // A number says all but where to touch it.
        LinePlace::Slides(_) => true,
        LinePlace::Centre(_) | LinePlace::Scrolls(_) => {
            form == PromptForm::Coordinates || line.number.is_none()
        }
    });
    let place = place.map_or(String::new(), |place| match place {
        LinePlace::Centre(at) => {
            let at = space.point(at);
            format!(" @{},{}", at.x, at.y)
        }
        LinePlace::Scrolls(area) | LinePlace::Slides(area) => {
            let area = space.rect(area);
            format!(" [{},{}][{},{}]", area.left, area.top, area.right, area.bottom)
        }
    });
    let number = line.number.map_or(String::new(), |number| format!(" {number}"));
    let text = json_line::escaped(&line.text);
    format!("{:depth$}{text}{place}{number}", "", depth = line.depth)
}

/// Whether a list of these lines has a place in it.
pub(super) fn has_places(lines: &[NumberedLine], form: PromptForm) -> bool {
    form == PromptForm::Coordinates
        || lines.iter().any(|line| match line.place {
            Some(LinePlace::Slides(_)) => true,
            Some(_) => line.number.is_none(),
            None => false,
        })
}

fn left_out(lines: &[NumberedLine]) -> String {
    let count = lines.len();
    let numbers: Vec<_> = lines.iter().filter_map(|line| line.number).collect();
    let ids = match (numbers.first(), numbers.last()) {
        (Some(first), Some(last)) if first != last => format!(", ids {first} to {last}"),
        (Some(one), _) => format!(", id {one}"),
        _ => String::new(),
    };
    let depth = lines.first().map_or(0, |line| line.depth);
    format!(
        "{:depth$}({count} lines left out here{ids}; scroll so that they come first or last)",
        ""
    )
}

/// The longest line that [`left_out`] writes, in bytes.
const MARK: usize = 100;

fn size_of(lines: &[ListLine], texts: &[String]) -> usize {
    let size = |line: &ListLine| match line {
        ListLine::Shown(at) => texts[*at].len() + 1,
        ListLine::LeftOut(_) => MARK,
    };
    lines.iter().map(size).sum()
}

/// Which lines are shown so that all fit into `max` bytes.
pub(super) fn fit(lines: &[NumberedLine], texts: &[String], max: usize) -> Vec<ListLine> {
    let mut shown = vec![true; lines.len()];
    let size = |shown: &[bool]| size_of(&grouped(shown), texts);
    if size(&shown) > max {
        // Innermost lists first: a page may be a list of everything. Of those, the longest.
        let mut lists: Vec<std::ops::Range<usize>> = (0..lines.len())
            .filter(|&at| matches!(lines[at].place, Some(LinePlace::Scrolls(_))))
            .map(|at| at + 1..end_of(lines, at))
            .collect();
        lists.sort_by_key(|list| {
            let depth = list.start.checked_sub(1).map_or(0, |at| lines[at].depth);
            (std::cmp::Reverse(depth), std::cmp::Reverse(list.len()))
        });
        for list in lists {
            cut(&list.collect::<Vec<_>>(), lines, &mut shown, |shown| size(shown) > max);
        }
        // A page without a list, or with very long rows: texts before what can be acted on.
        let texts_only: Vec<usize> =
            (1..lines.len()).filter(|&at| lines[at].place.is_none()).collect();
        cut(&texts_only, lines, &mut shown, |shown| size(shown) > max);
        cut(&(1..lines.len()).collect::<Vec<_>>(), lines, &mut shown, |shown| size(shown) > max);
    }
    grouped(&shown)
}

/// Leaves out lines of these, from their middle outwards, as long as that is needed.
fn cut(
    of: &[usize],
    lines: &[NumberedLine],
    shown: &mut [bool],
    is_too_much: impl Fn(&[bool]) -> bool,
) {
    let mut candidates: Vec<usize> =
        of.iter().copied().filter(|&at| shown[at] && !lines[at].is_focused).collect();
    if candidates.len() <= 2 * KEPT_ROWS {
        return;
    }
    candidates.truncate(candidates.len() - KEPT_ROWS);
    candidates.drain(..KEPT_ROWS);
    // The fewest lines around the middle whose absence is enough, found by halving.
    let hidden = |count: usize| {
        let from = (candidates.len() - count) / 2;
        &candidates[from..from + count]
    };
    let fits = |count: usize, shown: &[bool]| {
        let mut trial = shown.to_vec();
        hidden(count).iter().for_each(|&at| trial[at] = false);
        !is_too_much(&trial)
    };
    if !is_too_much(shown) {
        return;
    }
    let (mut few, mut enough) = (0, candidates.len());
    while few + 1 < enough {
        let middle = (few + enough) / 2;
        match fits(middle, shown) {
            true => enough = middle,
            false => few = middle,
        }
    }
    hidden(enough).iter().for_each(|&at| shown[at] = false);
}

/// Where the lines inside this one end.
fn end_of(lines: &[NumberedLine], at: usize) -> usize {
    let inside = lines[at + 1..].iter().take_while(|line| line.depth > lines[at].depth);
    at + 1 + inside.count()
}

fn grouped(shown: &[bool]) -> Vec<ListLine> {
    let mut out: Vec<ListLine> = Vec::new();
    for (at, is_shown) in shown.iter().enumerate() {
        match (is_shown, out.last_mut()) {
            (true, _) => out.push(ListLine::Shown(at)),
            (false, Some(ListLine::LeftOut(range))) => range.end = at + 1,
            (false, _) => out.push(ListLine::LeftOut(at..at + 1)),
        }
    }
    out
}

/// The controls that the list of a prompt shows. A policy without a model must not see more.
pub fn readable(observation: &Observation) -> Vec<ControlRow> {
    let lines = &observation.screen;
    let space = CoordinateSpace::pixels(None);
    let texts: Vec<String> =
        lines.iter().map(|line| text(line, PromptForm::Compact, &space)).collect();
    // Numbers are in document order, as lines are. A row between two lines belongs to the first.
    let mut hidden: Vec<std::ops::Range<usize>> = Vec::new();
    let number = |line: &NumberedLine| line.number.map(|number| number.index());
    for one in fit(lines, &texts, MAX_BYTES) {
        if let ListLine::LeftOut(range) = one
            && let Some(first) = lines[range.clone()].iter().find_map(number)
        {
            let next = lines[range.end..].iter().find_map(number);
            hidden.push(first..next.unwrap_or(usize::MAX));
        }
    }
    let is_hidden = |row: &&ControlRow| {
        let place = row.id.parse::<usize>().ok().and_then(|counted| counted.checked_sub(1));
        place.is_some_and(|place| hidden.iter().any(|range| range.contains(&place)))
    };
    let rows = observation.current_controls.iter().filter(|_| !lines.is_empty());
    rows.filter(|row| !is_hidden(row))
        .map(|row| ControlRow { name: truncate(&row.name, MAX_NAME), ..row.clone() })
        .collect()
}

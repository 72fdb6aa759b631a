//! Where an image has detail that a label must not hide: text, icons, photographs. Plain areas and
//! long straight lines with their rounded corners, such as the borders of buttons, have none.
//!
//! The image is looked at in square cells, and [`Detail`] counts those with detail in any rectangle
//! in constant time.

use thumbwire_device::image::Pixels;
use thumbwire_device::{Rect, Size};

/// The difference of two neighbouring pixels, in one colour, from which it is detail: half of what
/// the palest text has, as letters are smoothed. The steps of gradients and the noise of JPEG are
/// smaller.
const STEP: u8 = 14;

/// The least length of a line in cells: longer than the strokes of letters.
const LINE: usize = 20;

/// The most cells in the rounded corner of a border; a word next to one has more.
const CORNER: usize = 120;

/// Pixels differ from those beside them.
const ACROSS: u8 = 1;
/// Pixels differ from those below them.
const DOWN: u8 = 2;
/// It is part of a line.
const IN_LINE: u8 = 4;
/// It is part of a corner where lines end.
const CORNERED: u8 = 8;

/// The cells of an image that have detail.
pub(super) struct Detail {
    size: Size,
    /// The side of a cell in pixels.
    cell: i32,
    columns: usize,
    /// The number of cells with detail above and to the left of each corner of a cell.
    details: Vec<u32>,
    /// The same for parts of lines.
    lines: Vec<u32>,
}

impl Detail {
    /// Looks at an image in cells of this side.
    pub(super) fn of(pixels: &Pixels, cell: i32) -> Self {
        let size = pixels.size();
        let side = usize::try_from(cell.max(1)).unwrap_or(1);
        let columns = (size.width as usize).div_ceil(side);
        let mut cells = differences(pixels, side, columns);
        mark_lines(&mut cells, columns);
        mark_corners(&mut cells, columns);
        let details = sums(&cells, columns, |cell| cell != 0 && cell & IN_LINE == 0);
        let lines = sums(&cells, columns, |cell| cell & IN_LINE != 0);
        Self { size, cell: cell.max(1), columns, details, lines }
    }

    /// The number of cells with detail that a rectangle touches.
    pub(super) fn count(&self, rect: Rect) -> u32 {
        self.sum(&self.details, rect)
    }

    /// The number of cells that it touches with parts of lines.
    pub(super) fn lines(&self, rect: Rect) -> u32 {
        self.sum(&self.lines, rect)
    }

    /// Whether a rectangle is inside the image.
    pub(super) fn is_on_image(&self, rect: Rect) -> bool {
        let Size { width, height } = self.size;
        rect.left >= 0 && rect.top >= 0 && rect.right <= width && rect.bottom <= height
    }

    /// A range of pixels in parts that are each in one row or column of cells.
    pub(super) fn parts(&self, from: i32, to: i32) -> impl Iterator<Item = (i32, i32)> + use<> {
        let cell = self.cell;
        let cells = from.div_euclid(cell)..=(to - 1).div_euclid(cell);
        cells.map(move |at| ((at * cell).max(from), ((at + 1) * cell).min(to)))
    }

    fn sum(&self, sums: &[u32], rect: Rect) -> u32 {
        let Size { width, height } = self.size;
        let (left, right) = (rect.left.clamp(0, width), rect.right.clamp(0, width));
        let (top, bottom) = (rect.top.clamp(0, height), rect.bottom.clamp(0, height));
        if left >= right || top >= bottom {
            return 0;
        }
        let first = |at: i32| (at / self.cell) as usize;
        let end = |at: i32| ((at + self.cell - 1) / self.cell) as usize;
        let at = |row: usize, column: usize| sums[row * (self.columns + 1) + column];
        let (top, bottom) = (first(top), end(bottom));
        let (left, right) = (first(left), end(right));
        at(bottom, right) + at(top, left) - at(top, right) - at(bottom, left)
    }
}

/// Of each cell, in which directions its pixels differ.
fn differences(pixels: &Pixels, side: usize, columns: usize) -> Vec<u8> {
    let stride = pixels.size().width as usize * 3;
    let rows: Vec<&[u8]> = pixels.rgb().chunks_exact(stride).collect();
    let mut cells = vec![0; columns * rows.len().div_ceil(side)];
    let (mut across, mut down) = (vec![0_u8; stride], vec![0_u8; stride]);
    for (band, cells) in cells.chunks_exact_mut(columns).enumerate() {
        across.fill(0);
        down.fill(0);
        let first = band * side;
        for at in first..(first + side).min(rows.len()) {
            let row = rows[at];
            note(&mut across, row, &row[3.min(stride)..]);
            if let Some(below) = rows.get(at + 1) {
                note(&mut down, row, below);
            }
        }
        let parts = across.chunks(side * 3).zip(down.chunks(side * 3));
        for (cell, (across, down)) in cells.iter_mut().zip(parts) {
            let differ = |part: &[u8]| part.iter().any(|&step| step >= STEP);
            *cell = u8::from(differ(across)) * ACROSS + u8::from(differ(down)) * DOWN;
        }
    }
    cells
}

/// Raises each maximum to the difference of two bytes.
fn note(max: &mut [u8], one: &[u8], other: &[u8]) {
    for (max, (one, other)) in max.iter_mut().zip(one.iter().zip(other)) {
        *max = (*max).max(one.abs_diff(*other));
    }
}

/// Finds long runs of cells that differ in one direction only.
fn mark_lines(cells: &mut [u8], columns: usize) {
    let rows = cells.len() / columns.max(1);
    for row in 0..rows {
        mark_runs(cells, (0..columns).map(|column| row * columns + column), DOWN);
    }
    for column in 0..columns {
        mark_runs(cells, (0..rows).map(|row| row * columns + column), ACROSS);
    }
}

/// Finds long runs along a path of cells.
fn mark_runs(cells: &mut [u8], path: impl Iterator<Item = usize>, direction: u8) {
    let mut run: Vec<usize> = Vec::new();
    for at in path.map(Some).chain([None]) {
        match at.filter(|&at| cells[at] & !IN_LINE == direction) {
            Some(at) => run.push(at),
            None => {
                if run.len() >= LINE {
                    run.iter().for_each(|&at| cells[at] |= IN_LINE);
                }
                run.clear();
            }
        }
    }
}

/// Counts small groups of cells that go on where a line ends as part of it: they are the rounded
/// corners of borders.
fn mark_corners(cells: &mut [u8], columns: usize) {
    let mut seen = vec![false; cells.len()];
    for start in 0..cells.len() {
        if seen[start] || cells[start] == 0 || cells[start] & IN_LINE != 0 {
            continue;
        }
        seen[start] = true;
        let mut group = vec![start];
        let (mut next, mut is_at_line) = (0, false);
        while let Some(&at) = group.get(next) {
            next += 1;
            for beside in neighbours(at, columns, cells.len()) {
                is_at_line |= cells[beside] & IN_LINE != 0;
                if cells[beside] != 0 && cells[beside] & IN_LINE == 0 && !seen[beside] {
                    seen[beside] = true;
                    group.push(beside);
                }
            }
        }
        // Only now, so that a corner does not turn what touches it into one.
        if is_at_line && group.len() <= CORNER {
            group.iter().for_each(|&at| cells[at] |= CORNERED);
        }
    }
    for cell in cells.iter_mut().filter(|cell| **cell & CORNERED != 0) {
        *cell |= IN_LINE;
    }
}

/// The up to eight cells around a cell.
fn neighbours(at: usize, columns: usize, count: usize) -> impl Iterator<Item = usize> {
    let (row, column) = (at / columns, at % columns);
    let rows = row.saturating_sub(1)..=(row + 1).min(count / columns - 1);
    rows.flat_map(move |row| {
        let beside = column.saturating_sub(1)..=(column + 1).min(columns - 1);
        beside.map(move |column| row * columns + column)
    })
}

/// How many cells above and to the left of each corner count.
fn sums(cells: &[u8], columns: usize, counts: impl Fn(u8) -> bool) -> Vec<u32> {
    let across = columns + 1;
    let mut sums = vec![0; across];
    for row in cells.chunks_exact(columns.max(1)) {
        let mut so_far = 0;
        sums.push(0);
        for &cell in row {
            so_far += u32::from(counts(cell));
            let above = sums[sums.len() - across];
            sums.push(above + so_far);
        }
    }
    sums
}

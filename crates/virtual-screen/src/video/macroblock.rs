//! One macroblock: predicted as a whole from its neighbours in the picture, transformed, and
//! written (Intra 16×16).
//!
//! Start with [`code`]. A neighbour copied from the previous picture counts for the codes, but not
//! for the prediction (`constrained_intra_pred_flag`). Section numbers are those of ITU-T H.264.

use crate::video::bits::Bits;
use crate::video::block::{Quantizer, SCAN, forward, hadamard, inverse, square};
use crate::video::cavlc::{Context, residual};

/// The pixels of a macroblock: 16 by 16 of luma, 8 by 8 of each chroma plane.
pub(super) struct Pixels {
    pub(super) luma: Vec<u8>,
    pub(super) chroma: [Vec<u8>; 2],
}

/// What neighbours need to know about a macroblock: its last row or last column.
#[derive(Clone, Copy, Default)]
pub(super) struct Neighbour {
    /// Coded in this picture, so it can be used for prediction.
    intra: bool,
    luma: [u8; 16],
    chroma: [[u8; 8]; 2],
    /// Coefficient counts of the blocks along the edge.
    counts: [u8; 4],
    chroma_counts: [[u8; 2]; 2],
}

/// The edges of a macroblock's neighbours; `None` outside the picture.
#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    pub(super) above: Option<Neighbour>,
    pub(super) left: Option<Neighbour>,
}

/// The prediction mode, with its number in `mb_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntraPrediction {
    Above = 0,
    Left = 1,
    Mean = 2,
}

/// Writes a macroblock of a key picture (`key`) or another one, and returns its right and bottom
/// edge.
pub(super) fn code(
    bits: &mut Bits,
    source: &Pixels,
    key: bool,
    qp: u32,
    around: Neighbours,
) -> (Neighbour, Neighbour) {
    let luma = &source.luma;
    let guess = around.guess(luma);
    let plane = Plane::luma(luma, &around.luma(guess), Quantizer::luma(qp));
    let coarseness = Quantizer::chroma(qp);
    let colours = [0, 1].map(|which| {
        Plane::chroma(&source.chroma[which], &around.chroma(guess, which), coarseness)
    });
    let detailed = plane.detailed();
    let colour = match &colours {
        both if both.iter().any(Plane::detailed) => 2,
        both if both.iter().any(|plane| plane.averages.iter().any(|level| *level != 0)) => 1,
        _ => 0,
    };
    // Table 7-11; in P slices after the five types of their own.
    let kind = 1 + guess as u32 + 4 * colour + 12 * u32::from(detailed);
    bits.unsigned(if key { kind } else { kind + 5 });
    // `intra_chroma_pred_mode` uses other numbers.
    bits.unsigned(match guess {
        IntraPrediction::Mean => 0,
        IntraPrediction::Left => 1,
        IntraPrediction::Above => 2,
    });
    // `mb_qp_delta`
    bits.signed(0);
    let (mut right, mut bottom) = (Neighbour::default(), Neighbour::default());
    (right.intra, bottom.intra) = (true, true);

    // The neighbours' counts: a row above and a column left of the macroblock's own.
    let edges = |edge: Option<Neighbour>| edge.map(|edge| edge.counts);
    let mut counts = Counts::new(edges(around.left), edges(around.above));
    let first = SCAN.map(|at| plane.averages[at]);
    residual(bits, &first, counts.context(0, 0));
    if detailed {
        for at in 0..16 {
            // Four blocks of four, each in raster order (figure 6-10).
            let (column, row) = ((at & 1) + (at >> 2 & 1) * 2, (at >> 1 & 1) + (at >> 3) * 2);
            let levels = SCAN.map(|place| plane.levels[row * 4 + column][place]);
            let context = counts.context(column, row);
            counts.set(column, row, residual(bits, &levels[1..], context));
        }
    }
    (right.counts, bottom.counts) = counts.edges();
    if colour > 0 {
        for plane in &colours {
            residual(bits, &plane.averages, Context::ChromaAverages);
        }
    }
    for (which, plane) in colours.iter().enumerate().filter(|_| colour > 1) {
        let edges = |edge: Option<Neighbour>| edge.map(|edge| edge.chroma_counts[which]);
        let mut counts = Counts::new(edges(around.left), edges(around.above));
        for at in 0..4 {
            let (column, row) = (at % 2, at / 2);
            let levels = SCAN.map(|place| plane.levels[at][place]);
            let context = counts.context(column, row);
            counts.set(column, row, residual(bits, &levels[1..], context));
        }
        (right.chroma_counts[which], bottom.chroma_counts[which]) = counts.edges();
    }
    right.luma = std::array::from_fn(|y| plane.seen[y * 16 + 15]);
    bottom.luma = std::array::from_fn(|x| plane.seen[15 * 16 + x]);
    for (which, plane) in colours.iter().enumerate() {
        right.chroma[which] = std::array::from_fn(|y| plane.seen[y * 8 + 7]);
        bottom.chroma[which] = std::array::from_fn(|x| plane.seen[7 * 8 + x]);
    }
    (right, bottom)
}

impl Neighbours {
    fn above(&self) -> Option<Neighbour> {
        self.above.filter(|edge| edge.intra)
    }

    fn left(&self) -> Option<Neighbour> {
        self.left.filter(|edge| edge.intra)
    }

    /// The prediction closest to the pixels.
    fn guess(&self, luma: &[u8]) -> IntraPrediction {
        let possible = [
            Some(IntraPrediction::Mean),
            self.above().map(|_| IntraPrediction::Above),
            self.left().map(|_| IntraPrediction::Left),
        ];
        let off = |guess: &IntraPrediction| {
            let guessed = self.luma(*guess);
            luma.iter().zip(guessed).map(|(a, b)| u32::from(a.abs_diff(b))).sum::<u32>()
        };
        possible.into_iter().flatten().min_by_key(off).unwrap_or(IntraPrediction::Mean)
    }

    /// §8.3.3
    fn luma(&self, guess: IntraPrediction) -> Vec<u8> {
        let (above, left) = (self.above().map(|e| e.luma), self.left().map(|e| e.luma));
        let mean = mean(above.as_ref().map(|e| &e[..]), left.as_ref().map(|e| &e[..]));
        (0..256)
            .map(|at| match guess {
                IntraPrediction::Above => above.map_or(mean, |edge| edge[at % 16]),
                IntraPrediction::Left => left.map_or(mean, |edge| edge[at / 16]),
                IntraPrediction::Mean => mean,
            })
            .collect()
    }

    /// §8.3.4; each 4×4 block has its own mean.
    fn chroma(&self, guess: IntraPrediction, which: usize) -> Vec<u8> {
        let above = self.above().map(|edge| edge.chroma[which]);
        let left = self.left().map(|edge| edge.chroma[which]);
        let means: [u8; 4] = std::array::from_fn(|at| {
            let (column, row) = (at % 2 * 4, at / 2 * 4);
            let above = above.as_ref().map(|edge| &edge[column..column + 4]);
            let left = left.as_ref().map(|edge| &edge[row..row + 4]);
            match at {
                // Off the diagonal only the nearer edge counts, if it exists.
                1 if above.is_some() => mean(above, None),
                2 if left.is_some() => mean(None, left),
                _ => mean(above, left),
            }
        });
        (0..64)
            .map(|at| {
                let (x, y) = (at % 8, at / 8);
                let mean = means[y / 4 * 2 + x / 4];
                match guess {
                    IntraPrediction::Above => above.map_or(mean, |edge| edge[x]),
                    IntraPrediction::Left => left.map_or(mean, |edge| edge[y]),
                    IntraPrediction::Mean => mean,
                }
            })
            .collect()
    }
}

fn mean(above: Option<&[u8]>, left: Option<&[u8]>) -> u8 {
    let all = || above.into_iter().chain(left).flatten();
    let count = all().count() as u32;
    if count == 0 {
        return 128;
    }
    ((all().map(|pixel| u32::from(*pixel)).sum::<u32>() + count / 2) / count) as u8
}

/// One plane of a macroblock as levels, and as the decoder will see it.
struct Plane {
    /// The DC levels of the blocks, in raster order.
    averages: Vec<i32>,
    /// The other levels of each block.
    levels: Vec<[i32; 16]>,
    seen: Vec<u8>,
}

impl Plane {
    fn luma(source: &[u8], guessed: &[u8], coarseness: Quantizer) -> Self {
        let blocks: [_; 16] = std::array::from_fn(|at| transformed(source, guessed, 16, at));
        let averages = hadamard(&std::array::from_fn(|at| blocks[at][0]));
        let averages = averages.map(|value| coarseness.average((value + 1) >> 1));
        let back = hadamard(&averages).map(|value| coarseness.scaled_average(value));
        Self::new(&blocks, &averages, &back, guessed, coarseness)
    }

    fn chroma(source: &[u8], guessed: &[u8], coarseness: Quantizer) -> Self {
        let blocks: [_; 4] = std::array::from_fn(|at| transformed(source, guessed, 8, at));
        let averages = square(std::array::from_fn(|at| blocks[at][0]));
        let averages = averages.map(|value| coarseness.average(value));
        let back = square(averages).map(|value| coarseness.scaled_chroma_average(value));
        Self::new(&blocks, &averages, &back, guessed, coarseness)
    }

    fn new(
        blocks: &[[i32; 16]],
        averages: &[i32],
        back: &[i32],
        guessed: &[u8],
        coarseness: Quantizer,
    ) -> Self {
        let side = if blocks.len() == 16 { 16 } else { 8 };
        let mut seen = guessed.to_vec();
        let mut levels = Vec::with_capacity(blocks.len());
        for (at, block) in blocks.iter().enumerate() {
            let mut level = coarseness.levels(block);
            level[0] = 0;
            let mut scaled = coarseness.scaled(&level);
            scaled[0] = back[at];
            levels.push(level);
            for (place, value) in inverse(&scaled).into_iter().enumerate() {
                let pixel = &mut seen[pixel_at(side, at, place)];
                *pixel = (i32::from(*pixel) + value).clamp(0, 255) as u8;
            }
        }
        Self { averages: averages.to_vec(), levels, seen }
    }

    /// Whether anything but DC differs from the prediction.
    fn detailed(&self) -> bool {
        self.levels.iter().flatten().any(|level| *level != 0)
    }
}

fn transformed(source: &[u8], guessed: &[u8], side: usize, block: usize) -> [i32; 16] {
    forward(&std::array::from_fn(|place| {
        let at = pixel_at(side, block, place);
        i32::from(source[at]) - i32::from(guessed[at])
    }))
}

/// The index in the macroblock of a pixel of a 4×4 block.
fn pixel_at(side: usize, block: usize, place: usize) -> usize {
    let (column, row) = (block % (side / 4), block / (side / 4));
    (row * 4 + place / 4) * side + column * 4 + place % 4
}

/// Coefficient counts of a plane's blocks; they select the codes of the next one (§9.2.1).
struct Counts<const N: usize> {
    left: Option<[u8; N]>,
    above: Option<[u8; N]>,
    own: [[u8; N]; N],
}

impl<const N: usize> Counts<N> {
    fn new(left: Option<[u8; N]>, above: Option<[u8; N]>) -> Self {
        Self { left, above, own: [[0; N]; N] }
    }

    fn context(&self, column: usize, row: usize) -> Context {
        let left = match column {
            0 => self.left.map(|edge| edge[row]),
            _ => Some(self.own[row][column - 1]),
        };
        let above = match row {
            0 => self.above.map(|edge| edge[column]),
            _ => Some(self.own[row - 1][column]),
        };
        Context::Neighbours(match (left, above) {
            (Some(left), Some(above)) => (left + above).div_ceil(2),
            (one, other) => one.or(other).unwrap_or(0),
        })
    }

    fn set(&mut self, column: usize, row: usize, count: u8) {
        self.own[row][column] = count;
    }

    /// The last column and the last row.
    fn edges(&self) -> ([u8; N], [u8; N]) {
        (self.own.map(|row| row[N - 1]), self.own[N - 1])
    }
}

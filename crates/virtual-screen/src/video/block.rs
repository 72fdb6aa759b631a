//! The arithmetic of a 4×4 block: transform, quantisation, and their inverses (ITU-T H.264 §8.5).
//!
//! The standard defines the inverse exactly, so encoder and decoder see the same pixels; the
//! forward direction is the reference encoder's (Malvar et al., "Low-complexity transform and
//! quantization in H.264/AVC", 2003). Blocks are 16 numbers, rows from the top.

/// Scan order: the index in the block of each coefficient as written (table 8-12, frames).
pub(super) const SCAN: [usize; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// The quantisation parameter, 0 to 51; six more double the step size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantizer {
    octave: u32,
    step: usize,
}

impl Quantizer {
    /// For luma.
    pub(super) fn luma(qp: u32) -> Self {
        let qp = qp.min(51);
        Self { octave: qp / 6, step: qp as usize % 6 }
    }

    /// For chroma of a picture with that luma parameter (table 8-15).
    pub(super) fn chroma(qp: u32) -> Self {
        const BEYOND: [u32; 22] = [
            29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39,
        ];
        let beyond = qp.checked_sub(30).and_then(|at| BEYOND.get(at as usize));
        Self::luma(beyond.copied().unwrap_or(qp))
    }

    /// Quantises a transformed block. Rounds towards zero, with the one-third offset of the
    /// reference encoder's intra blocks.
    pub(super) fn levels(self, block: &[i32; 16]) -> [i32; 16] {
        std::array::from_fn(|at| {
            self.level(block[at], FORWARD[self.step][class(at)], 15 + self.octave)
        })
    }

    /// Quantises a DC coefficient that was transformed again.
    pub(super) fn average(self, value: i32) -> i32 {
        self.level(value, FORWARD[self.step][0], 16 + self.octave)
    }

    fn level(self, value: i32, factor: i64, shift: u32) -> i32 {
        let size = (i64::from(value.abs()) * factor + (1 << shift) / 3) >> shift;
        (size as i32).min(crate::video::cavlc::MAX_SIZE) * value.signum()
    }

    /// Dequantises levels to coefficients.
    pub(super) fn scaled(self, levels: &[i32; 16]) -> [i32; 16] {
        std::array::from_fn(|at| (levels[at] * BACK[self.step][class(at)]) << self.octave)
    }

    /// Luma DC, after [`hadamard`] of the levels (§8.5.10).
    pub(super) fn scaled_average(self, value: i32) -> i32 {
        let value = value * BACK[self.step][0];
        match self.octave {
            2.. => value << (self.octave - 2),
            octave => (value + (1 << (1 - octave))) >> (2 - octave),
        }
    }

    /// Chroma DC, after [`square`] of the levels (§8.5.11.2).
    pub(super) fn scaled_chroma_average(self, value: i32) -> i32 {
        ((value * BACK[self.step][0]) << self.octave) >> 1
    }
}

/// The forward transform of the residual.
pub(super) fn forward(block: &[i32; 16]) -> [i32; 16] {
    both_ways(block, |[a, b, c, d]| {
        let (outer, inner, rise, fall) = (a + d, b + c, a - d, b - c);
        [outer + inner, 2 * rise + fall, outer - inner, rise - 2 * fall]
    })
}

/// The residual from scaled coefficients, rounded (§8.5.12).
pub(super) fn inverse(block: &[i32; 16]) -> [i32; 16] {
    both_ways(block, |[a, b, c, d]| {
        let (even, odd) = ((a + c, a - c), ((b >> 1) - d, b + (d >> 1)));
        [even.0 + odd.1, even.1 + odd.0, even.1 - odd.0, even.0 - odd.1]
    })
    .map(|value| (value + 32) >> 6)
}

/// The second transform, of 16 DC coefficients; its own inverse except for a factor.
pub(super) fn hadamard(block: &[i32; 16]) -> [i32; 16] {
    both_ways(block, |[a, b, c, d]| [a + b + c + d, a + b - c - d, a - b - c + d, a - b + c - d])
}

/// The second transform of the four chroma DC coefficients.
pub(super) fn square([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
}

/// Rows first, then columns, as the standard requires for the inverse.
fn both_ways(block: &[i32; 16], line: impl Fn([i32; 4]) -> [i32; 4]) -> [i32; 16] {
    let mut half = [0; 16];
    for row in 0..4 {
        let at = row * 4;
        half[at..at + 4].copy_from_slice(&line([
            block[at],
            block[at + 1],
            block[at + 2],
            block[at + 3],
        ]));
    }
    let mut whole = [0; 16];
    for column in 0..4 {
        let done = line([half[column], half[column + 4], half[column + 8], half[column + 12]]);
        for (row, value) in done.into_iter().enumerate() {
            whole[row * 4 + column] = value;
        }
    }
    whole
}

/// Positions of a block have one of three factors: both coordinates even, both odd, or mixed.
fn class(at: usize) -> usize {
    match ((at / 4) % 2, at % 2) {
        (0, 0) => 0,
        (1, 1) => 1,
        _ => 2,
    }
}

const FORWARD: [[i64; 3]; 6] = [
    [13_107, 5_243, 8_066],
    [11_916, 4_660, 7_490],
    [10_082, 4_194, 6_554],
    [9_362, 3_647, 5_825],
    [8_192, 3_355, 5_243],
    [7_282, 2_893, 4_559],
];

/// Equation 8-316.
const BACK: [[i32; 3]; 6] =
    [[10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23]];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_round_trip_error_is_within_the_step_size() {
        let block: [i32; 16] = std::array::from_fn(|at| (at as i32 * 37) % 251 - 125);
        for (qp, worst) in [(0, 1), (12, 3), (24, 12), (36, 48)] {
            let coarseness = Quantizer::luma(qp);
            let back = inverse(&coarseness.scaled(&coarseness.levels(&forward(&block))));
            let off = block.iter().zip(back).map(|(a, b)| (a - b).abs()).max();
            assert!(off <= Some(worst), "qp {qp}: {off:?}");
        }
    }
}

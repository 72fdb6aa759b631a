//! Entropy coding of coefficients: CAVLC, ITU-T H.264 §9.2 from the encoder's side.
//!
//! Start with [`residual`]. The tables are tables 9-5, 9-7, 9-8, 9-9 and 9-10 of the standard: code
//! length and value.

use crate::video::bits::Bits;

/// Which `coeff_token` table a block uses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Context {
    /// By the coefficient counts of the left and upper blocks.
    Neighbours(u8),
    /// The 2×2 block of chroma DC coefficients.
    ChromaAverages,
}

/// Maximum absolute coefficient: level codes of the Baseline profile end soon after (§9.2.2.1,
/// `level_prefix` up to 15).
pub(super) const MAX_SIZE: i32 = 2_000;

/// Writes a block of coefficients in scan order, and returns how many are nonzero.
pub(super) fn residual(bits: &mut Bits, block: &[i32], context: Context) -> u8 {
    let (levels, runs, zeros) = runs(block);
    let total = levels.len();
    let ones = levels.iter().take(3).take_while(|level| level.abs() == 1).count();
    match context {
        Context::ChromaAverages => code(bits, TOKEN_CHROMA[total * 4 + ones]),
        Context::Neighbours(count) => match count {
            // Table 9-5 beyond 8: six bits each, a fixed-length code.
            8.. if total == 0 => bits.put(3, 6),
            8.. => bits.put(((total as u32 - 1) << 2) + ones as u32, 6),
            4.. => code(bits, TOKEN[2][total * 4 + ones]),
            2.. => code(bits, TOKEN[1][total * 4 + ones]),
            _ => code(bits, TOKEN[0][total * 4 + ones]),
        },
    }
    if total == 0 {
        return 0;
    }
    for level in &levels[..ones] {
        bits.flag(*level < 0);
    }
    let mut suffix = u32::from(total > 10 && ones < 3);
    for (nth, level) in levels[ones..].iter().enumerate() {
        let mut number = level.unsigned_abs() * 2 - if *level > 0 { 2 } else { 1 };
        if nth == 0 && ones < 3 {
            // It cannot be ±1: that would have been a trailing one.
            number -= 2;
        }
        put_level(bits, number, suffix);
        suffix = suffix.max(1);
        if level.unsigned_abs() > 3 << (suffix - 1) && suffix < 6 {
            suffix += 1;
        }
    }
    if total < block.len() {
        match context {
            Context::ChromaAverages => code(bits, ZEROS_CHROMA[total - 1][zeros]),
            Context::Neighbours(_) => code(bits, ZEROS[total - 1][zeros]),
        }
    }
    let mut left = zeros;
    for run in &runs[..total - 1] {
        if left == 0 {
            break;
        }
        code(bits, RUNS[left.min(7) - 1][*run]);
        left -= run;
    }
    total as u8
}

/// The nonzero coefficients from last to first, the zeros directly before each, and all zeros
/// before the last.
fn runs(block: &[i32]) -> (Vec<i32>, Vec<usize>, usize) {
    let (mut levels, mut runs) = (Vec::new(), Vec::new());
    let mut run = 0;
    for level in block {
        if *level == 0 {
            run += 1;
        } else {
            levels.push((*level).clamp(-MAX_SIZE, MAX_SIZE));
            runs.push(std::mem::take(&mut run));
        }
    }
    let zeros = runs.iter().sum();
    levels.reverse();
    runs.reverse();
    (levels, runs, zeros)
}

fn put_level(bits: &mut Bits, number: u32, suffix: u32) {
    let unary = |bits: &mut Bits, prefix| bits.put(1, prefix + 1);
    match suffix {
        0 if number < 14 => unary(bits, number),
        0 if number < 30 => {
            unary(bits, 14);
            bits.put(number - 14, 4);
        }
        0 => {
            unary(bits, 15);
            bits.put(number - 30, 12);
        }
        _ if number < 15 << suffix => {
            unary(bits, number >> suffix);
            bits.put(number, suffix);
        }
        _ => {
            unary(bits, 15);
            bits.put(number - (15 << suffix), 12);
        }
    }
}

fn code(bits: &mut Bits, (length, value): (u8, u8)) {
    bits.put(u32::from(value), u32::from(length));
}

/// Table 9-5, `coeff_token` for nC 0–1, 2–3 and 4–7: length and value at 4 · coefficients +
/// trailing ones.
#[rustfmt::skip]
static TOKEN: [[(u8, u8); 68]; 3] = [
    [
        (1, 1), (0, 0), (0, 0), (0, 0), (6, 5), (2, 1), (0, 0), (0, 0),
        (8, 7), (6, 4), (3, 1), (0, 0), (9, 7), (8, 6), (7, 5), (5, 3),
        (10, 7), (9, 6), (8, 5), (6, 3), (11, 7), (10, 6), (9, 5), (7, 4),
        (13, 15), (11, 6), (10, 5), (8, 4), (13, 11), (13, 14), (11, 5), (9, 4),
        (13, 8), (13, 10), (13, 13), (10, 4), (14, 15), (14, 14), (13, 9), (11, 4),
        (14, 11), (14, 10), (14, 13), (13, 12), (15, 15), (15, 14), (14, 9), (14, 12),
        (15, 11), (15, 10), (15, 13), (14, 8), (16, 15), (15, 1), (15, 9), (15, 12),
        (16, 11), (16, 14), (16, 13), (15, 8), (16, 7), (16, 10), (16, 9), (16, 12),
        (16, 4), (16, 6), (16, 5), (16, 8),
    ],
    [
        (2, 3), (0, 0), (0, 0), (0, 0), (6, 11), (2, 2), (0, 0), (0, 0),
        (6, 7), (5, 7), (3, 3), (0, 0), (7, 7), (6, 10), (6, 9), (4, 5),
        (8, 7), (6, 6), (6, 5), (4, 4), (8, 4), (7, 6), (7, 5), (5, 6),
        (9, 7), (8, 6), (8, 5), (6, 8), (11, 15), (9, 6), (9, 5), (6, 4),
        (11, 11), (11, 14), (11, 13), (7, 4), (12, 15), (11, 10), (11, 9), (9, 4),
        (12, 11), (12, 14), (12, 13), (11, 12), (12, 8), (12, 10), (12, 9), (11, 8),
        (13, 15), (13, 14), (13, 13), (12, 12), (13, 11), (13, 10), (13, 9), (13, 12),
        (13, 7), (14, 11), (13, 6), (13, 8), (14, 9), (14, 8), (14, 10), (13, 1),
        (14, 7), (14, 6), (14, 5), (14, 4),
    ],
    [
        (4, 15), (0, 0), (0, 0), (0, 0), (6, 15), (4, 14), (0, 0), (0, 0),
        (6, 11), (5, 15), (4, 13), (0, 0), (6, 8), (5, 12), (5, 14), (4, 12),
        (7, 15), (5, 10), (5, 11), (4, 11), (7, 11), (5, 8), (5, 9), (4, 10),
        (7, 9), (6, 14), (6, 13), (4, 9), (7, 8), (6, 10), (6, 9), (4, 8),
        (8, 15), (7, 14), (7, 13), (5, 13), (8, 11), (8, 14), (7, 10), (6, 12),
        (9, 15), (8, 10), (8, 13), (7, 12), (9, 11), (9, 14), (8, 9), (8, 12),
        (9, 8), (9, 10), (9, 13), (8, 8), (10, 13), (9, 7), (9, 9), (9, 12),
        (10, 9), (10, 12), (10, 11), (10, 10), (10, 5), (10, 8), (10, 7), (10, 6),
        (10, 1), (10, 4), (10, 3), (10, 2),
    ],
];

/// The same for chroma DC.
#[rustfmt::skip]
static TOKEN_CHROMA: [(u8, u8); 20] = [
    (2, 1), (0, 0), (0, 0), (0, 0), (6, 7), (1, 1), (0, 0), (0, 0),
    (6, 4), (6, 6), (3, 1), (0, 0), (6, 3), (7, 3), (7, 2), (6, 5),
    (6, 2), (8, 3), (8, 2), (7, 0),
];

/// Tables 9-7 and 9-8, `total_zeros`: by coefficients minus one, then zeros.
#[rustfmt::skip]
static ZEROS: [&[(u8, u8)]; 15] = [
    &[(1, 1), (3, 3), (3, 2), (4, 3), (4, 2), (5, 3), (5, 2), (6, 3), (6, 2), (7, 3), (7, 2), (8, 3), (8, 2), (9, 3), (9, 2), (9, 1)],
    &[(3, 7), (3, 6), (3, 5), (3, 4), (3, 3), (4, 5), (4, 4), (4, 3), (4, 2), (5, 3), (5, 2), (6, 3), (6, 2), (6, 1), (6, 0)],
    &[(4, 5), (3, 7), (3, 6), (3, 5), (4, 4), (4, 3), (3, 4), (3, 3), (4, 2), (5, 3), (5, 2), (6, 1), (5, 1), (6, 0)],
    &[(5, 3), (3, 7), (4, 5), (4, 4), (3, 6), (3, 5), (3, 4), (4, 3), (3, 3), (4, 2), (5, 2), (5, 1), (5, 0)],
    &[(4, 5), (4, 4), (4, 3), (3, 7), (3, 6), (3, 5), (3, 4), (3, 3), (4, 2), (5, 1), (4, 1), (5, 0)],
    &[(6, 1), (5, 1), (3, 7), (3, 6), (3, 5), (3, 4), (3, 3), (3, 2), (4, 1), (3, 1), (6, 0)],
    &[(6, 1), (5, 1), (3, 5), (3, 4), (3, 3), (2, 3), (3, 2), (4, 1), (3, 1), (6, 0)],
    &[(6, 1), (4, 1), (5, 1), (3, 3), (2, 3), (2, 2), (3, 2), (3, 1), (6, 0)],
    &[(6, 1), (6, 0), (4, 1), (2, 3), (2, 2), (3, 1), (2, 1), (5, 1)],
    &[(5, 1), (5, 0), (3, 1), (2, 3), (2, 2), (2, 1), (4, 1)],
    &[(4, 0), (4, 1), (3, 1), (3, 2), (1, 1), (3, 3)],
    &[(4, 0), (4, 1), (2, 1), (1, 1), (3, 1)],
    &[(3, 0), (3, 1), (1, 1), (2, 1)],
    &[(2, 0), (2, 1), (1, 1)],
    &[(1, 0), (1, 1)],
];

/// Table 9-9 (a), the same for chroma DC.
static ZEROS_CHROMA: [&[(u8, u8)]; 3] =
    [&[(1, 1), (2, 1), (3, 1), (3, 0)], &[(1, 1), (2, 1), (2, 0)], &[(1, 1), (1, 0)]];

/// Table 9-10, `run_before`: by zeros left minus one (7 and more share one), then the run.
#[rustfmt::skip]
static RUNS: [&[(u8, u8)]; 7] = [
    &[(1, 1), (1, 0)],
    &[(1, 1), (2, 1), (2, 0)],
    &[(2, 3), (2, 2), (2, 1), (2, 0)],
    &[(2, 3), (2, 2), (2, 1), (3, 1), (3, 0)],
    &[(2, 3), (2, 2), (3, 3), (3, 2), (3, 1), (3, 0)],
    &[(2, 3), (3, 0), (3, 1), (3, 3), (3, 2), (3, 5), (3, 4)],
    &[(3, 7), (3, 6), (3, 5), (3, 4), (3, 3), (3, 2), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1), (10, 1), (11, 1)],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// No code is a prefix of another.
    #[test]
    fn code_tables_are_prefix_free() {
        let free = |codes: &[(u8, u8)]| {
            let used: Vec<_> = codes.iter().filter(|(length, _)| *length > 0).collect();
            for (nth, (length, value)) in used.iter().enumerate() {
                for (other, its) in used.iter().skip(nth + 1) {
                    let short = (*length).min(*other);
                    let (mine, its) = (u32::from(*value), u32::from(*its));
                    assert_ne!(mine >> (length - short), its >> (other - short), "{codes:?}");
                }
            }
        };
        let all = TOKEN.iter().map(<[_; 68]>::as_slice).chain([TOKEN_CHROMA.as_slice()]);
        all.chain(ZEROS).chain(ZEROS_CHROMA).chain(RUNS).for_each(free);
    }

    /// Widely published worked examples (Richardson, "H.264 and MPEG-4 Video Compression",
    /// §6.4.12.4, examples 1 and 2).
    #[test]
    fn blocks_have_the_bits_of_the_published_examples() {
        let check = |block: [i32; 16], expected: &str| {
            let mut bits = Bits::default();
            residual(&mut bits, &block, Context::Neighbours(0));
            let unit = bits.into_unit(0);
            let written: String = unit[1..].iter().map(|byte| format!("{byte:08b}")).collect();
            assert_eq!(written.trim_end_matches('0'), format!("{expected}1"));
        };
        // 4×4 block 0 3 -1 0 / 0 -1 1 0 / 1 0 0 0 / 0 0 0 0, scanned.
        check([0, 3, 0, 1, -1, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], "000010001110010111101101");
        check(
            [-2, 4, 3, -3, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "000000011010001001000010111001100",
        );
    }
}

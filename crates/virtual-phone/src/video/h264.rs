//! A small H.264 encoder for screens: what stays is skipped, what changes is coded anew.
//!
//! Begin at [`Encoder::begin`], then [`Encoder::go_on`] until the picture is there: a few rows a call, so that nobody waits long. One NAL
//! unit a picture, Constrained Baseline profile, CAVLC (ITU-T H.264, 2021). A macroblock is either predicted within its picture as a
//! whole (Intra 16×16) or copied from the picture before (`P_Skip`). `constrained_intra_pred_flag` forbids to predict from copied ones,
//! and the deblocking filter is off: so no earlier picture is needed to encode the next, and none is kept, only a number per macroblock.
//!
//! Left out, at the cost of larger files: motion (a scrolled list is coded anew), 4×4 prediction, deblocking, CABAC, rate control
//! (the bit rate chooses one quality for the whole video). A phone's own encoder does all of these.

use super::bits::Bits;
use super::block::{Coarseness, SCAN, forward, hadamard, inverse, square};
use super::cavlc::{Context, residual};
use super::picture::{Canvas, Picture};
use crate::render::Frame;

/// Longest side of a video in pixels.
const LONGEST: usize = 4096;

/// Rows of macroblocks that one call encodes.
const ROWS: usize = 4;

/// `log2_max_frame_num`
const FRAME_NUMBER_BITS: u32 = 8;

/// Encodes the pictures of one video.
pub(crate) struct Encoder {
    canvas: Canvas,
    qp: u32,
    /// What stands in each macroblock of the last picture.
    marks: Vec<u64>,
    /// Pictures since the last one that stands by itself.
    frame_number: u32,
    /// Pictures that stand by themselves.
    keys: u32,
    at_work: Option<Work>,
}

/// An encoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coded {
    /// It needs no other picture.
    pub(crate) key: bool,
    /// The NAL unit, without start code or length.
    pub(crate) unit: Vec<u8>,
}

/// A picture half done.
struct Work {
    picture: Picture,
    key: bool,
    changed: Vec<bool>,
    row: usize,
    bits: Bits,
    /// Macroblocks skipped since the last that was coded.
    skipped: u32,
    above: Vec<Neighbour>,
}

/// What a macroblock's neighbours need to know of it: its last row, or its last column.
#[derive(Clone, Copy, Default)]
struct Neighbour {
    /// Coded in this picture: pixels can be predicted from it.
    intra: bool,
    luma: [u8; 16],
    chroma: [[u8; 8]; 2],
    /// Coefficients in the blocks along the edge.
    counts: [u8; 4],
    chroma_counts: [[u8; 2]; 2],
}

/// The edges of a macroblock's neighbours; `None` beyond the picture.
#[derive(Clone, Copy)]
struct Around {
    above: Option<Neighbour>,
    left: Option<Neighbour>,
}

/// How pixels are predicted, with the number in `mb_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    Above = 0,
    Left = 1,
    Mean = 2,
}

impl Encoder {
    /// An encoder for that canvas, aiming at `bit_rate` bits a second. `None` for sizes that encoders do not take: odd, or beyond the
    /// levels of the standard.
    pub(crate) fn new(canvas: Canvas, bit_rate: u32) -> Option<Self> {
        let Canvas { width, height, .. } = canvas;
        let fits = |side: usize| side.is_multiple_of(2) && (16..=LONGEST).contains(&side);
        (fits(width) && fits(height)).then(|| Self {
            canvas,
            qp: quality(bit_rate, width * height),
            marks: Vec::new(),
            frame_number: 0,
            keys: 0,
            at_work: None,
        })
    }

    /// The sequence's and the picture's parameter sets, as NAL units.
    pub(crate) fn parameters(&self) -> [Vec<u8>; 2] {
        [self.sequence().into_unit(0x67), self.picture().into_unit(0x68)]
    }

    /// Where a screen of that size lies in the video.
    pub(crate) fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    /// Takes the next picture; `false` when it is the same as the last. A key picture stands by itself; the first always does.
    pub(crate) fn begin(&mut self, frame: &Frame, key: bool) -> bool {
        let picture = self.canvas.take(frame);
        let places = (0..picture.across * picture.down)
            .map(|at| picture.mark(at % picture.across, at / picture.across));
        let marks: Vec<u64> = places.collect();
        if marks == self.marks {
            return false;
        }
        let key = key || self.marks.is_empty();
        let changed = marks
            .iter()
            .enumerate()
            .map(|(at, mark)| key || self.marks.get(at) != Some(mark))
            .collect();
        self.marks = marks;
        self.frame_number = if key { 0 } else { self.frame_number + 1 };
        self.keys += u32::from(key);
        let above = vec![Neighbour::default(); picture.across];
        let bits = self.slice_header(key);
        self.at_work = Some(Work { picture, key, changed, row: 0, bits, skipped: 0, above });
        true
    }

    /// Encodes some rows of the picture that was begun; gives it once it is complete.
    pub(crate) fn go_on(&mut self) -> Option<Coded> {
        let mut work = self.at_work.take()?;
        for _ in 0..ROWS {
            if work.row < work.picture.down {
                work.next_row(self.qp);
            }
        }
        if work.row < work.picture.down {
            self.at_work = Some(work);
            return None;
        }
        let Work { key, mut bits, skipped, .. } = work;
        if skipped > 0 {
            bits.unsigned(skipped);
        }
        // `nal_ref_idc` 3: each picture is the reference of the next.
        Some(Coded { key, unit: bits.into_unit(if key { 0x65 } else { 0x61 }) })
    }

    /// `seq_parameter_set_data`, §7.3.2.1.1.
    fn sequence(&self) -> Bits {
        let Canvas { width, height, .. } = self.canvas;
        let (across, down) = (width.div_ceil(16), height.div_ceil(16));
        let mut bits = Bits::default();
        // Profile 66 with `constraint_set0_flag` and `constraint_set1_flag`: Constrained Baseline.
        bits.put(66, 8);
        bits.put(0xc0, 8);
        bits.put(level(across * down), 8);
        bits.unsigned(0);
        bits.unsigned(FRAME_NUMBER_BITS - 4);
        // `pic_order_cnt_type` 2: shown in the order of decoding.
        bits.unsigned(2);
        bits.unsigned(1);
        bits.flag(false);
        bits.unsigned(across as u32 - 1);
        bits.unsigned(down as u32 - 1);
        // Frames, not fields; `direct_8x8_inference_flag`.
        bits.flag(true);
        bits.flag(true);
        let beyond = (across * 16 - width, down * 16 - height);
        bits.flag(beyond != (0, 0));
        if beyond != (0, 0) {
            // In steps of two pixels.
            for edge in [0, beyond.0 / 2, 0, beyond.1 / 2] {
                bits.unsigned(edge as u32);
            }
        }
        // `vui_parameters`, §E.1.1: the colours, and that no picture waits for a later one.
        bits.flag(true);
        bits.put(0, 2);
        bits.flag(true);
        bits.put(5, 3);
        bits.flag(false);
        bits.flag(true);
        // BT.709 primaries, transfer and matrix.
        for _ in 0..3 {
            bits.put(1, 8);
        }
        bits.put(0, 5);
        bits.flag(true);
        bits.flag(true);
        for value in [0, 0, 0, 0, 0, 1] {
            bits.unsigned(value);
        }
        bits
    }

    /// `pic_parameter_set_rbsp`, §7.3.2.2.
    fn picture(&self) -> Bits {
        let mut bits = Bits::default();
        bits.unsigned(0);
        bits.unsigned(0);
        // CAVLC; no field order.
        bits.put(0, 2);
        for _ in 0..3 {
            bits.unsigned(0);
        }
        bits.put(0, 3);
        bits.signed(self.qp as i32 - 26);
        bits.signed(0);
        bits.signed(0);
        // `deblocking_filter_control_present_flag`, `constrained_intra_pred_flag`, no redundant pictures.
        bits.flag(true);
        bits.flag(true);
        bits.flag(false);
        bits
    }

    /// `slice_header`, §7.3.3.
    fn slice_header(&self, key: bool) -> Bits {
        let mut bits = Bits::default();
        bits.unsigned(0);
        // All slices of the picture are I, or P.
        bits.unsigned(if key { 7 } else { 5 });
        bits.unsigned(0);
        bits.put(self.frame_number, FRAME_NUMBER_BITS);
        if key {
            // Two in a row must differ.
            bits.unsigned(self.keys % 2);
            bits.put(0, 2);
        } else {
            // One reference, in its natural place; kept by the sliding window.
            bits.put(0, 3);
        }
        bits.signed(0);
        // `disable_deblocking_filter_idc`
        bits.unsigned(1);
        bits
    }
}

impl Work {
    fn next_row(&mut self, qp: u32) {
        let mut left = None;
        for x in 0..self.picture.across {
            let above = (self.row > 0).then(|| self.above[x]);
            let around = Around { above, left };
            let (right, bottom) = if self.changed[self.row * self.picture.across + x] {
                if !self.key {
                    self.bits.unsigned(std::mem::take(&mut self.skipped));
                }
                self.code(x, qp, around)
            } else {
                self.skipped += 1;
                Default::default()
            };
            left = Some(right);
            self.above[x] = bottom;
        }
        self.row += 1;
    }

    /// Codes a macroblock and gives its right and bottom edge.
    fn code(&mut self, x: usize, qp: u32, around: Around) -> (Neighbour, Neighbour) {
        let luma = self.source(None, x);
        let guess = around.guess(&luma);
        let plane = Plane::luma(&luma, &around.luma(guess), Coarseness::luma(qp));
        let coarseness = Coarseness::chroma(qp);
        let colours = [0, 1].map(|which| {
            let source = self.source(Some(which), x);
            Plane::chroma(&source, &around.chroma(guess, which), coarseness)
        });
        let detailed = plane.detailed();
        let colour = match &colours {
            both if both.iter().any(Plane::detailed) => 2,
            both if both.iter().any(|plane| plane.averages.iter().any(|level| *level != 0)) => 1,
            _ => 0,
        };
        let bits = &mut self.bits;
        // Table 7-11; in P slices after the five types of their own.
        let kind = 1 + guess as u32 + 4 * colour + 12 * u32::from(detailed);
        bits.unsigned(if self.key { kind } else { kind + 5 });
        // `intra_chroma_pred_mode` counts differently.
        bits.unsigned(match guess {
            Guess::Mean => 0,
            Guess::Left => 1,
            Guess::Above => 2,
        });
        // `mb_qp_delta`
        bits.signed(0);
        let (mut right, mut bottom) = (Neighbour::default(), Neighbour::default());
        (right.intra, bottom.intra) = (true, true);

        // The counts of neighbours, with a row above and a column to the left of the macroblock's own.
        let edges = |edge: Option<Neighbour>| edge.map(|edge| edge.counts);
        let mut counts = Counts::new(edges(around.left), edges(around.above));
        let first = SCAN.map(|at| plane.averages[at]);
        residual(bits, &first, counts.context(0, 0));
        if detailed {
            for at in 0..16 {
                // Four blocks of four, each in the order of reading (figure 6-10).
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

    /// A macroblock's pixels: 16 by 16 of luma, or 8 by 8 of a colour.
    fn source(&self, colour: Option<usize>, x: usize) -> Vec<u8> {
        let (plane, side) = match colour {
            None => (&self.picture.luma, 16),
            Some(which) => (&self.picture.chroma[which], 8),
        };
        let wide = self.picture.across * side;
        let start = self.row * side * wide + x * side;
        (0..side).flat_map(|y| &plane[start + y * wide..start + y * wide + side]).copied().collect()
    }
}

impl Around {
    fn above(&self) -> Option<Neighbour> {
        self.above.filter(|edge| edge.intra)
    }

    fn left(&self) -> Option<Neighbour> {
        self.left.filter(|edge| edge.intra)
    }

    /// The guess that comes nearest.
    fn guess(&self, luma: &[u8]) -> Guess {
        let possible = [
            Some(Guess::Mean),
            self.above().map(|_| Guess::Above),
            self.left().map(|_| Guess::Left),
        ];
        let off = |guess: &Guess| {
            let guessed = self.luma(*guess);
            luma.iter().zip(guessed).map(|(a, b)| u32::from(a.abs_diff(b))).sum::<u32>()
        };
        possible.into_iter().flatten().min_by_key(off).unwrap_or(Guess::Mean)
    }

    /// §8.3.3
    fn luma(&self, guess: Guess) -> Vec<u8> {
        let (above, left) = (self.above().map(|e| e.luma), self.left().map(|e| e.luma));
        let mean = mean(above.as_ref().map(|e| &e[..]), left.as_ref().map(|e| &e[..]));
        (0..256)
            .map(|at| match guess {
                Guess::Above => above.map_or(mean, |edge| edge[at % 16]),
                Guess::Left => left.map_or(mean, |edge| edge[at / 16]),
                Guess::Mean => mean,
            })
            .collect()
    }

    /// §8.3.4; the mean is taken for each 4×4 block.
    fn chroma(&self, guess: Guess, which: usize) -> Vec<u8> {
        let above = self.above().map(|edge| edge.chroma[which]);
        let left = self.left().map(|edge| edge.chroma[which]);
        let means: [u8; 4] = std::array::from_fn(|at| {
            let (column, row) = (at % 2 * 4, at / 2 * 4);
            let above = above.as_ref().map(|edge| &edge[column..column + 4]);
            let left = left.as_ref().map(|edge| &edge[row..row + 4]);
            match at {
                // Off the diagonal only the nearer edge counts, if it is there.
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
                    Guess::Above => above.map_or(mean, |edge| edge[x]),
                    Guess::Left => left.map_or(mean, |edge| edge[y]),
                    Guess::Mean => mean,
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

/// One plane of a macroblock in levels, and as the decoder will see it.
struct Plane {
    /// The averages of the blocks, in the order of reading.
    averages: Vec<i32>,
    /// The other levels of each block.
    levels: Vec<[i32; 16]>,
    seen: Vec<u8>,
}

impl Plane {
    fn luma(source: &[u8], guessed: &[u8], coarseness: Coarseness) -> Self {
        let blocks: [_; 16] = std::array::from_fn(|at| transformed(source, guessed, 16, at));
        let averages = hadamard(&std::array::from_fn(|at| blocks[at][0]));
        let averages = averages.map(|value| coarseness.average((value + 1) >> 1));
        let back = hadamard(&averages).map(|value| coarseness.scaled_average(value));
        Self::new(&blocks, &averages, &back, guessed, coarseness)
    }

    fn chroma(source: &[u8], guessed: &[u8], coarseness: Coarseness) -> Self {
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
        coarseness: Coarseness,
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

    /// Whether anything but averages differs from the guess.
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

/// Where a pixel of a 4×4 block lies in its macroblock.
fn pixel_at(side: usize, block: usize, place: usize) -> usize {
    let (column, row) = (block % (side / 4), block / (side / 4));
    (row * 4 + place / 4) * side + column * 4 + place % 4
}

/// How many coefficients the blocks of a plane have; decides the codes of the next one (§9.2.1).
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

/// The parameter for a bit rate. A screen that changes ten times a second would come near it; 22 is fine enough to read small text, and
/// three more save about a third.
fn quality(bit_rate: u32, pixels: usize) -> u32 {
    let mut per_picture = u64::from(bit_rate / 10).max(1);
    let full = pixels as u64 * 3 / 4;
    let mut qp = 22;
    while per_picture < full && qp < 40 {
        per_picture *= 2;
        qp += 3;
    }
    qp
}

/// The lowest level that takes pictures of that many macroblocks (table A-1, `MaxFS`).
fn level(macroblocks: usize) -> u32 {
    const LEVELS: [(usize, u32); 7] = [
        (396, 20),
        (1_620, 30),
        (3_600, 31),
        (8_192, 40),
        (22_080, 50),
        (36_864, 51),
        (139_264, 60),
    ];
    LEVELS.iter().find(|(most, _)| macroblocks <= *most).map_or(62, |(_, level)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// Decodes with `ffmpeg`: the planes of each picture, cropped. `None` where it is not installed.
    fn decoded(stream: &[u8], (width, height): (usize, usize)) -> Option<Vec<Vec<u8>>> {
        let child = Command::new("ffmpeg")
            .args(["-v", "error", "-xerror", "-f", "h264", "-i", "-", "-fps_mode", "passthrough"])
            .args(["-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            assert!(std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_none(), "no ffmpeg here");
            println!("skipped: no ffmpeg here");
            return None;
        };
        let mut input = child.stdin.take().unwrap();
        let stream = stream.to_vec();
        let writing = std::thread::spawn(move || input.write_all(&stream));
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        Some(output.stdout.chunks(width * height * 3 / 2).map(<[u8]>::to_vec).collect())
    }

    fn cropped(picture: &Picture, (width, height): (usize, usize)) -> Vec<u8> {
        let part = |plane: &[u8], stride: usize, width: usize, height: usize| -> Vec<u8> {
            plane.chunks(stride).take(height).flat_map(|row| &row[..width]).copied().collect()
        };
        let mut all = part(&picture.luma, picture.across * 16, width, height);
        for plane in &picture.chroma {
            all.extend(part(plane, picture.across * 8, width / 2, height / 2));
        }
        all
    }

    fn psnr(a: &[u8], b: &[u8]) -> f64 {
        assert_eq!(a.len(), b.len());
        let off: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
        10.0 * (255.0 * 255.0 * a.len() as f64 / off.max(1e-9)).log10()
    }

    fn encoded(encoder: &mut Encoder, frame: &Frame, key: bool) -> Vec<u8> {
        assert!(encoder.begin(frame, key));
        let coded = std::iter::repeat_with(|| encoder.go_on()).take(1_000).flatten().next();
        [&[0, 0, 0, 1], coded.unwrap().unit.as_slice()].concat()
    }

    /// A frame whose pixels are a function of place; `amount` of noise is added.
    fn frame(width: u32, height: u32, seed: u32, amount: u32) -> Frame {
        let mut state = seed;
        let mut rgba = Vec::new();
        for y in 0..height {
            for x in 0..width {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 16) % (amount + 1);
                let at = |value: u32| (value + noise).min(255) as u8;
                rgba.extend([at(x * 200 / width), at(y * 200 / height), at((x ^ y) & 127), 255]);
            }
        }
        Frame { width, height, rgba }
    }

    #[test]
    fn a_decoder_sees_what_was_encoded() {
        // Sizes that are not whole macroblocks; content from flat to noise, so that every table of codes is used.
        for (width, height, noise, rate, least) in [
            (64, 48, 0, 200_000_000, 40.0),
            (50, 70, 255, 200_000_000, 34.0),
            (176, 144, 40, 20_000_000, 36.0),
            (100, 34, 255, 100_000, 15.0),
        ] {
            let size = (width as usize, height as usize);
            let canvas = Canvas { width: size.0, height: size.1, turned: false };
            let mut encoder = Encoder::new(canvas, rate).unwrap();
            let mut stream: Vec<u8> = encoder
                .parameters()
                .iter()
                .flat_map(|set| [&[0, 0, 0, 1], &set[..]].concat())
                .collect();
            let mut pictures = Vec::new();
            let mut shown = frame(width, height, 7, noise);
            for step in 0..4 {
                if step > 0 {
                    // A part changes: the rest is copied, and the changed part is predicted without it.
                    let part = shown.rgba.len() / 5;
                    shown.rgba[step * part..][..part].iter_mut().for_each(|byte| *byte ^= 0x35);
                }
                stream.extend(encoded(&mut encoder, &shown, step == 3));
                pictures.push(cropped(&canvas.take(&shown), size));
            }
            let Some(decoded) = decoded(&stream, size) else { return };
            assert_eq!(decoded.len(), pictures.len());
            for (nth, (seen, meant)) in decoded.iter().zip(&pictures).enumerate() {
                let psnr = psnr(seen, meant);
                assert!(psnr > least, "{width}x{height} noise {noise} picture {nth}: {psnr:.1} dB");
            }
        }
    }

    #[test]
    fn what_stays_costs_almost_nothing_and_what_is_the_same_is_no_picture() {
        let canvas = Canvas { width: 320, height: 640, turned: false };
        let mut encoder = Encoder::new(canvas, 20_000_000).unwrap();
        let mut shown = frame(320, 640, 1, 200);
        let first = encoded(&mut encoder, &shown, false);
        assert!(!encoder.begin(&shown, true));
        shown.rgba[320 * 4 * 300] ^= 0xff;
        let second = encoded(&mut encoder, &shown, false);
        assert!(second.len() * 100 < first.len(), "{} of {}", second.len(), first.len());
    }

    #[test]
    fn units_are_of_the_kinds_that_a_player_expects() {
        let canvas = Canvas { width: 32, height: 32, turned: false };
        let mut encoder = Encoder::new(canvas, 20_000_000).unwrap();
        let [sequence, picture] = encoder.parameters();
        // Constrained Baseline, level 2; `nal_unit_type` 7, 8, 5 (stands by itself), 1.
        assert_eq!(sequence[..4], [0x67, 66, 0xc0, 20]);
        assert_eq!(picture[0], 0x68);
        assert_eq!(encoded(&mut encoder, &frame(32, 32, 1, 9), false)[4], 0x65);
        assert_eq!(encoded(&mut encoder, &frame(32, 32, 2, 9), false)[4], 0x61);
        assert_eq!(encoded(&mut encoder, &frame(32, 32, 3, 9), true)[4], 0x65);
    }

    #[test]
    fn sizes_that_encoders_do_not_take_are_refused() {
        for (width, height) in [(101, 200), (100, 201), (8, 100), (100, 8_000), (0, 0)] {
            assert!(Encoder::new(Canvas { width, height, turned: false }, 1).is_none());
        }
    }
}

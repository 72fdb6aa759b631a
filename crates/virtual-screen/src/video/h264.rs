//! A small H.264 encoder for screens: unchanged parts are skipped, changed ones are coded again.
//!
//! Start with [`Encoder::start_frame`], then call [`Encoder::encode_some`] until the picture is
//! complete: a few rows per call, so that nobody waits long. One NAL unit per picture, Constrained
//! Baseline profile, CAVLC (ITU-T H.264, 2021). A macroblock is either predicted as a whole within
//! its picture (Intra 16×16) or copied from the previous picture (`P_Skip`).
//! `constrained_intra_pred_flag` forbids prediction from copied ones, and the deblocking filter is
//! off: so encoding needs no earlier picture, and none is kept, only a number per macroblock.
//!
//! Omitted, at the cost of larger files: motion (a scrolled list is coded again), 4×4 prediction,
//! deblocking, CABAC, rate control (the bit rate selects one quality for the whole video). A
//! phone's own encoder does all of these.

use crate::frame::Frame;
use crate::video::bits::Bits;
use crate::video::macroblock::{Neighbour, Neighbours, Pixels, code};
use crate::video::picture::{Canvas, Picture};

/// Maximum side of a video in pixels.
const MAX_LENGTH: usize = 4096;

/// Macroblock rows encoded per call.
const ROWS: usize = 4;

/// `log2_max_frame_num`
const FRAME_NUMBER_BITS: u32 = 8;

/// Encodes the pictures of one video.
pub struct Encoder {
    canvas: Canvas,
    qp: u32,
    /// The content of each macroblock in the last picture.
    marks: Vec<u64>,
    /// Pictures since the last key picture.
    frame_number: u32,
    /// Key pictures so far.
    keys: u32,
    at_work: Option<Work>,
}

/// An encoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedFrame {
    /// It needs no other picture.
    pub key: bool,
    /// The NAL unit, without start code or length.
    pub unit: Vec<u8>,
}

/// A partially encoded picture.
struct Work {
    picture: Picture,
    key: bool,
    changed: Vec<bool>,
    row: usize,
    bits: Bits,
    /// Macroblocks skipped since the last coded one.
    skipped: u32,
    above: Vec<Neighbour>,
}

impl Encoder {
    /// An encoder for that canvas with a target of `bit_rate` bits per second. `None` for
    /// unsupported sizes: odd, or beyond the standard's levels.
    pub fn new(canvas: Canvas, bit_rate: u32) -> Option<Self> {
        let Canvas { width, height, .. } = canvas;
        let fits = |side: usize| side.is_multiple_of(2) && (16..=MAX_LENGTH).contains(&side);
        (fits(width) && fits(height)).then(|| Self {
            canvas,
            qp: quality(bit_rate, width * height),
            marks: Vec::new(),
            frame_number: 0,
            keys: 0,
            at_work: None,
        })
    }

    /// The sequence and picture parameter sets, as NAL units.
    pub fn parameters(&self) -> [Vec<u8>; 2] {
        [self.sequence().into_unit(0x67), self.picture().into_unit(0x68)]
    }

    /// The position of a screen of that size in the video.
    pub fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    /// Starts the next picture; `false` if it equals the last one. A key picture needs no other;
    /// the first one always is a key picture.
    pub fn start_frame(&mut self, frame: &Frame, key: bool) -> bool {
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

    /// Encodes some rows of the current picture; returns it when complete.
    pub fn encode_some(&mut self) -> Option<EncodedFrame> {
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
        Some(EncodedFrame { key, unit: bits.into_unit(if key { 0x65 } else { 0x61 }) })
    }

    /// The last picture once more: all of it is copied. `None` before the first one, and while one
    /// is in progress.
    pub fn repeat_frame(&mut self) -> Option<EncodedFrame> {
        if self.marks.is_empty() || self.is_at_work() {
            return None;
        }
        self.frame_number += 1;
        let mut bits = self.slice_header(false);
        bits.unsigned(self.marks.len() as u32);
        Some(EncodedFrame { key: false, unit: bits.into_unit(0x61) })
    }

    /// Whether a picture is in progress.
    pub fn is_at_work(&self) -> bool {
        self.at_work.is_some()
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
        // `pic_order_cnt_type` 2: output order is decoding order.
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
        // `vui_parameters`, §E.1.1: the colours, and no reordering.
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
        // `deblocking_filter_control_present_flag`, `constrained_intra_pred_flag`, no redundant
        // pictures.
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
            // One reference, in default order; sliding window.
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
            let around = Neighbours { above, left };
            let (right, bottom) = if self.changed[self.row * self.picture.across + x] {
                if !self.key {
                    self.bits.unsigned(std::mem::take(&mut self.skipped));
                }
                let pixels = Pixels {
                    luma: self.source(None, x),
                    chroma: [0, 1].map(|which| self.source(Some(which), x)),
                };
                code(&mut self.bits, &pixels, self.key, qp, around)
            } else {
                self.skipped += 1;
                Default::default()
            };
            left = Some(right);
            self.above[x] = bottom;
        }
        self.row += 1;
    }

    /// A macroblock's pixels: 16 by 16 of luma, or 8 by 8 of chroma.
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

/// The quantisation parameter for a bit rate. A screen that changes ten times a second would come
/// close to it; 22 is fine enough to read small text, and three more save about a third.
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

/// The lowest level that allows that many macroblocks (table A-1, `MaxFS`).
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
    use thumbwire_test_support::program;

    /// Decodes with `ffmpeg`: the cropped planes of each picture. `None` if it is not installed.
    fn decoded(stream: &[u8], (width, height): (usize, usize)) -> Option<Vec<Vec<u8>>> {
        let child = Command::new(program("ffmpeg")?)
            .args(["-v", "error", "-xerror", "-f", "h264", "-i", "-", "-fps_mode", "passthrough"])
            .args(["-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
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
        assert!(encoder.start_frame(frame, key));
        let coded = std::iter::repeat_with(|| encoder.encode_some()).take(1_000).flatten().next();
        [&[0, 0, 0, 1], coded.unwrap().unit.as_slice()].concat()
    }

    /// A frame whose pixels are a function of their position, with `amount` of noise.
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
    fn decoder_output_matches_the_input() {
        // Sizes that are not whole macroblocks; content from flat to noise, so that every code
        // table is used.
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
                    // A part changes: the rest is copied, and the changed part is predicted without
                    // it.
                    let part = shown.rgba.len() / 5;
                    shown.rgba[step * part..][..part].iter_mut().for_each(|byte| *byte ^= 0x35);
                }
                stream.extend(encoded(&mut encoder, &shown, step == 3));
                pictures.push(cropped(&canvas.take(&shown), size));
                if step == 1 {
                    let again = encoder.repeat_frame().expect("the picture before").unit;
                    stream.extend([&[0, 0, 0, 1], &again[..]].concat());
                    pictures.push(cropped(&canvas.take(&shown), size));
                }
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
    fn unchanged_areas_cost_almost_nothing() {
        let canvas = Canvas { width: 320, height: 640, turned: false };
        let mut encoder = Encoder::new(canvas, 20_000_000).unwrap();
        let mut shown = frame(320, 640, 1, 200);
        let first = encoded(&mut encoder, &shown, false);
        assert!(!encoder.start_frame(&shown, true));
        shown.rgba[320 * 4 * 300] ^= 0xff;
        let second = encoded(&mut encoder, &shown, false);
        assert!(second.len() * 100 < first.len(), "{} of {}", second.len(), first.len());
    }

    #[test]
    fn nal_units_have_the_expected_types() {
        let canvas = Canvas { width: 32, height: 32, turned: false };
        let mut encoder = Encoder::new(canvas, 20_000_000).unwrap();
        let [sequence, picture] = encoder.parameters();
        // Constrained Baseline, level 2; `nal_unit_type` 7, 8, 5 (key picture), 1.
        assert_eq!(sequence[..4], [0x67, 66, 0xc0, 20]);
        assert_eq!(picture[0], 0x68);
        assert_eq!(encoded(&mut encoder, &frame(32, 32, 1, 9), false)[4], 0x65);
        assert_eq!(encoded(&mut encoder, &frame(32, 32, 2, 9), false)[4], 0x61);
        assert_eq!(encoded(&mut encoder, &frame(32, 32, 3, 9), true)[4], 0x65);
    }

    #[test]
    fn unsupported_sizes_are_refused() {
        for (width, height) in [(101, 200), (100, 201), (8, 100), (100, 8_000), (0, 0)] {
            assert!(Encoder::new(Canvas { width, height, turned: false }, 1).is_none());
        }
    }
}

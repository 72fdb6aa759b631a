//! An MP4 writer like Android's `MPEG4Writer`: pictures as they arrive, the index at the end.
//!
//! Start with [`Muxer::new`], which returns the file's first bytes; [`Muxer::sample`] returns the
//! bytes of each picture, and [`Muxer::finish`] the closing bytes and a number to write at
//! [`Muxer::SIZE_AT`]. A file without its end has no `moov`, and no player opens it. Boxes are
//! those of ISO/IEC 14496-12 and -15. One video track; Android 12 and later add two metadata tracks
//! for window traces, which are not here.

/// Ticks per second of presentation times, as in Android's writer.
pub const TICKS: u32 = 90_000;

/// Milliseconds: the file's own unit.
const FILE_TICKS: u64 = 1_000;

/// An unfinished file.
#[derive(Debug)]
pub struct Muxer {
    shape: TrackInfo,
    /// Total bytes of the samples.
    bytes: u64,
    sizes: Vec<u32>,
    /// The presentation time of each sample, in ticks after the first.
    times: Vec<u64>,
    /// Numbers of the key samples, counted from 1.
    keys: Vec<u32>,
}

/// The properties of a video track.
#[derive(Clone, Debug)]
pub struct TrackInfo {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Players rotate it a quarter turn to the right.
    pub turned: bool,
    /// The sequence and picture parameter sets.
    pub parameters: [Vec<u8>; 2],
    /// `major_brand`: `mp42`, or `3gp4`.
    pub brand: [u8; 4],
}

impl Muxer {
    /// The offset of the eight bytes with the size of `mdat`.
    pub const SIZE_AT: u64 = OPENING as u64 - 8;

    /// A new file, and its first bytes.
    pub fn new(shape: TrackInfo) -> (Self, Vec<u8>) {
        let mut opening = boxed(b"ftyp", |out| {
            out.extend(shape.brand);
            out.extend([0; 4]);
            out.extend(b"isom");
            out.extend(shape.brand);
        });
        // A 64-bit size follows; the writer puts question marks there until it is known.
        opening.extend(b"\0\0\0\x01mdat????????");
        debug_assert_eq!(opening.len(), OPENING);
        (Self { shape, bytes: 0, sizes: Vec::new(), times: Vec::new(), keys: Vec::new() }, opening)
    }

    /// The bytes for a picture shown `at` ticks after the first.
    pub fn sample(&mut self, unit: &[u8], key: bool, at: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(unit.len() + 4);
        bytes.extend((unit.len() as u32).to_be_bytes());
        bytes.extend(unit);
        self.bytes += bytes.len() as u64;
        self.sizes.push(bytes.len() as u32);
        self.times.push(at);
        if key {
            self.keys.push(self.sizes.len() as u32);
        }
        bytes
    }

    /// The last bytes, and those for [`Muxer::SIZE_AT`].
    pub fn finish(&self) -> (Vec<u8>, [u8; 8]) {
        (self.movie(), (self.bytes + 16).to_be_bytes())
    }

    /// The duration of each sample. The last one's is unknown, so it gets that of the previous one;
    /// a single one has none (`MPEG4Writer::VelocityTracker::threadEntry`).
    fn durations(&self) -> Vec<u32> {
        let mut durations: Vec<u32> =
            self.times.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect();
        durations.push(durations.last().copied().unwrap_or(0));
        durations.truncate(self.times.len());
        durations
    }

    fn movie(&self) -> Vec<u8> {
        let durations = self.durations();
        let ticks: u64 = durations.iter().map(|duration| u64::from(*duration)).sum();
        let lasts = (ticks * FILE_TICKS).div_ceil(u64::from(TICKS)) as u32;
        let TrackInfo { width, height, .. } = self.shape;
        boxed(b"moov", |out| {
            out.extend(boxed(b"mvhd", |out| {
                push_u32s(out, &[0, 0, 0, FILE_TICKS as u32, lasts, 0x0001_0000]);
                out.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
                push_u32s(out, &UPRIGHT);
                push_u32s(out, &[0, 0, 0, 0, 0, 0, 2]);
            }));
            out.extend(boxed(b"trak", |out| {
                out.extend(boxed(b"tkhd", |out| {
                    // Enabled, in the movie, in the preview.
                    push_u32s(out, &[7, 0, 0, 1, 0, lasts, 0, 0, 0, 0]);
                    push_u32s(out, if self.shape.turned { &TURNED } else { &UPRIGHT });
                    push_u32s(out, &[(width as u32) << 16, (height as u32) << 16]);
                }));
                out.extend(boxed(b"mdia", |out| {
                    out.extend(boxed(b"mdhd", |out| {
                        // 0x55c4 is `und`.
                        push_u32s(out, &[0, 0, 0, TICKS, ticks as u32, 0x55c4_0000]);
                    }));
                    out.extend(boxed(b"hdlr", |out| {
                        push_u32s(out, &[0, 0]);
                        out.extend(b"vide");
                        push_u32s(out, &[0, 0, 0]);
                        out.extend(b"VideoHandle\0");
                    }));
                    out.extend(boxed(b"minf", |out| {
                        out.extend(boxed(b"vmhd", |out| push_u32s(out, &[1, 0, 0])));
                        out.extend(boxed(b"dinf", |out| {
                            out.extend(boxed(b"dref", |out| {
                                push_u32s(out, &[0, 1]);
                                out.extend(boxed(b"url ", |out| push_u32s(out, &[1])));
                            }));
                        }));
                        out.extend(self.samples_table(&durations));
                    }));
                }));
            }));
        })
    }

    fn samples_table(&self, durations: &[u32]) -> Vec<u8> {
        let count = self.sizes.len() as u32;
        boxed(b"stbl", |out| {
            out.extend(boxed(b"stsd", |out| {
                push_u32s(out, &[0, 1]);
                out.extend(self.description());
            }));
            out.extend(boxed(b"stts", |out| {
                let runs: Vec<&[u32]> = durations.chunk_by(|a, b| a == b).collect();
                push_u32s(out, &[0, runs.len() as u32]);
                for run in runs {
                    push_u32s(out, &[run.len() as u32, run.first().copied().unwrap_or(0)]);
                }
            }));
            out.extend(boxed(b"stss", |out| {
                push_u32s(out, &[0, self.keys.len() as u32]);
                push_u32s(out, &self.keys);
            }));
            out.extend(boxed(b"stsz", |out| {
                push_u32s(out, &[0, 0, count]);
                push_u32s(out, &self.sizes);
            }));
            // All samples are one chunk.
            let chunks = u32::from(count > 0);
            out.extend(boxed(b"stsc", |out| {
                push_u32s(out, &[0, chunks]);
                push_u32s(out, &[1, count, 1][..3 * chunks as usize]);
            }));
            out.extend(boxed(b"stco", |out| {
                push_u32s(out, &[0, chunks]);
                push_u32s(out, &[OPENING as u32][..chunks as usize]);
            }));
        })
    }

    /// `avc1` with `avcC`.
    fn description(&self) -> Vec<u8> {
        let [sequence, picture] = &self.shape.parameters;
        boxed(b"avc1", |out| {
            out.extend([0, 0, 0, 0, 0, 0, 0, 1]);
            push_u32s(out, &[0; 4]);
            push_u32s(out, &[(self.shape.width as u32) << 16 | self.shape.height as u32]);
            // 72 dpi both ways; one frame per sample.
            push_u32s(out, &[0x0048_0000, 0x0048_0000, 0]);
            out.extend([0, 1]);
            out.extend([0; 32]);
            out.extend([0, 0x18, 0xff, 0xff]);
            out.extend(boxed(b"avcC", |out| {
                out.push(1);
                out.extend(sequence.get(1..4).unwrap_or_default());
                // Four-byte lengths; one set of each kind.
                out.extend([0xff, 0xe1]);
                out.extend((sequence.len() as u16).to_be_bytes());
                out.extend(sequence);
                out.push(1);
                out.extend((picture.len() as u16).to_be_bytes());
                out.extend(picture);
            }));
            out.extend(boxed(b"pasp", |out| push_u32s(out, &[1, 1])));
        })
    }
}

/// Bytes before the first sample: `ftyp` and the head of `mdat`.
const OPENING: usize = 24 + 16;

/// Player transformations, 16.16 and 2.30 fixed point.
const UPRIGHT: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
const TURNED: [u32; 9] = [0, 0x1_0000, 0, 0xffff_0000, 0, 0, 0, 0, 0x4000_0000];

fn boxed(name: &[u8; 4], fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend(name);
    fill(&mut out);
    let size = (out.len() as u32).to_be_bytes();
    out[..4].copy_from_slice(&size);
    out
}

fn push_u32s(out: &mut Vec<u8>, values: &[u32]) {
    out.extend(values.iter().flat_map(|value| value.to_be_bytes()));
}

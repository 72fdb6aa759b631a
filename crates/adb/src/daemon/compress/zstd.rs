//! Zstandard frames. The decoder of `ruzstd` gets whole blocks only.
//!
//! Source of the layout: RFC 8878.

use std::io::Read;

use bytes::{Buf, Bytes, BytesMut};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{PIECE, broken, check_no_trailing_data};
use crate::wire::MalformedMessage;

const MAGIC: u32 = 0xfd2f_b528;
/// Largest window, in bytes: the one that RFC 8878 recommends decoders to support.
const MAX_WINDOW: u64 = 8 << 20;
/// The largest content of a block, and the largest block.
const MAX_BLOCK: usize = 128 * 1024;
/// Length of a block header.
const BLOCK_HEAD: usize = 3;

pub(super) struct Decoder {
    frame: FrameDecoder,
    here: BytesMut,
    /// Set once the frame header was read: whether a checksum follows the last block.
    begun: Option<bool>,
}

impl Decoder {
    pub(super) fn new() -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(MAX_WINDOW);
        Self { frame, here: BytesMut::new(), begun: None }
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        self.here.extend_from_slice(data);
    }

    pub(super) fn pull(&mut self) -> Result<Option<Bytes>, MalformedMessage> {
        loop {
            if self.frame.can_collect() > 0 {
                let mut content = vec![0; self.frame.can_collect().min(PIECE)];
                let read = self.frame.read(&mut content).map_err(|_| broken("zstd"))?;
                content.truncate(read);
                return Ok(Some(content.into()));
            }
            if self.has_ended() {
                if self.frame.get_checksum_from_data() != self.sum() {
                    return Err(MalformedMessage("zstd data with a wrong checksum".into()));
                }
                return check_no_trailing_data(&self.here);
            }
            let Some(length) = self.part()? else { return Ok(None) };
            if self.here.len() < length {
                return Ok(None);
            }
            let part = self.here.split_to(length);
            if self.begun.is_none() {
                self.begun = Some(part[4] & 0b100 > 0);
                self.frame.init(&part[..]).map_err(|error| MalformedMessage(error.to_string()))?;
            } else {
                self.frame
                    .decode_blocks(&part[..], BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|_| broken("zstd"))?;
            }
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.begun.is_some() && self.frame.is_finished()
    }

    /// The checksum of the content, if the frame has one.
    fn sum(&self) -> Option<u32> {
        self.frame.get_checksum_from_data().and(self.frame.get_calculated_checksum())
    }

    /// The length of the next part, header or block, once enough has arrived to tell.
    fn part(&self) -> Result<Option<usize>, MalformedMessage> {
        let Some(sum) = self.begun else {
            let (Some(mut magic), Some(descriptor)) = (self.here.get(..4), self.here.get(4)) else {
                return Ok(None);
            };
            if magic.get_u32_le() != MAGIC {
                return Err(broken("zstd"));
            }
            let single = descriptor & 0b10_0000 > 0;
            let dictionary = [0, 1, 2, 4][usize::from(descriptor & 0b11)];
            let size = [usize::from(single), 2, 4, 8][usize::from(descriptor >> 6)];
            return Ok(Some(5 + usize::from(!single) + dictionary + size));
        };
        let Some(mut head) = self.here.get(..BLOCK_HEAD) else { return Ok(None) };
        let head = head.get_uint_le(BLOCK_HEAD) as usize;
        let (last, kind, size) = (head & 1 > 0, head >> 1 & 0b11, head >> 3);
        if size > MAX_BLOCK {
            return Err(broken("zstd"));
        }
        // In a block of type 1, one byte stands for the whole block.
        let body = if kind == 1 { 1 } else { size };
        Ok(Some(BLOCK_HEAD + body + if last && sum { 4 } else { 0 }))
    }
}

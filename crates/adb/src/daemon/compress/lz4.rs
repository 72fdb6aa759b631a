//! LZ4 frames. The decoder of `lz4_flex` expects a blocking reader. It gets complete parts of the
//! frame only: the header, a block, the end.
//!
//! Source of the layout: LZ4 Frame Format Description 1.6.

use std::io::{self, ErrorKind, Read};

use bytes::{Buf, Bytes, BytesMut};
use lz4_flex::frame::FrameDecoder;

use super::{PIECE, broken, check_no_trailing_data};
use crate::wire::MalformedMessage;

const MAGIC: u32 = 0x184d_2204;
/// The largest block.
const MAX_BLOCK: usize = 4 << 20;

// Bits of the FLG byte, the first after the magic.
const BLOCK_CHECKSUMS: u8 = 1 << 4;
const CONTENT_SIZE: u8 = 1 << 3;
const CONTENT_CHECKSUM: u8 = 1 << 2;
const DICTIONARY: u8 = 1;

pub(super) struct Decoder(FrameDecoder<Parts>);

impl Decoder {
    pub(super) fn new() -> Self {
        let parts = Parts { here: BytesMut::new(), whole: 0, flags: None, ended: false };
        Self(FrameDecoder::new(parts))
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        self.0.get_mut().here.extend_from_slice(data);
    }

    pub(super) fn pull(&mut self) -> Result<Option<Bytes>, MalformedMessage> {
        let mut content = vec![0; PIECE];
        loop {
            if self.has_ended() {
                return check_no_trailing_data(&self.0.get_ref().here);
            }
            self.0.get_mut().find_part()?;
            match self.0.read(&mut content) {
                // The end, or an empty block.
                Ok(0) => {}
                Ok(read) => {
                    content.truncate(read);
                    return Ok(Some(content.into()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(_) => return Err(broken("lz4")),
            }
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        let parts = self.0.get_ref();
        parts.ended && parts.whole == 0
    }
}

/// The received part of a frame, and how much of it may be read.
struct Parts {
    here: BytesMut,
    /// Bytes of the complete part that are not read yet.
    whole: usize,
    /// The FLG byte, once the header was complete.
    flags: Option<u8>,
    /// The last part was found.
    ended: bool,
}

impl Parts {
    /// Releases the next part if it is complete and the previous one was read.
    fn find_part(&mut self) -> Result<(), MalformedMessage> {
        if self.whole > 0 || self.ended {
            return Ok(());
        }
        let Some(mut head) = self.here.get(..4) else { return Ok(()) };
        let word = head.get_u32_le();
        let length = match self.flags {
            None if word != MAGIC => return Err(broken("lz4")),
            None => {
                let Some(flags) = self.here.get(4).copied() else { return Ok(()) };
                let length = 7
                    + if flags & CONTENT_SIZE > 0 { 8 } else { 0 }
                    + if flags & DICTIONARY > 0 { 4 } else { 0 };
                if self.here.len() >= length {
                    self.flags = Some(flags);
                }
                length
            }
            Some(flags) if word == 0 => {
                let length = if flags & CONTENT_CHECKSUM > 0 { 8 } else { 4 };
                self.ended = self.here.len() >= length;
                length
            }
            Some(flags) => {
                // The highest bit marks an uncompressed block.
                let block = (word & 0x7fff_ffff) as usize;
                if block > MAX_BLOCK {
                    return Err(broken("lz4"));
                }
                4 + block + if flags & BLOCK_CHECKSUMS > 0 { 4 } else { 0 }
            }
        };
        if self.here.len() >= length {
            self.whole = length;
        }
        Ok(())
    }
}

impl Read for Parts {
    /// The decoder reads from the start of a part, which is complete or not available.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.whole == 0 && !self.ended {
            // The header was read; the block after it may be complete, too.
            self.find_part().map_err(|malformed| io::Error::other(malformed.0))?;
        }
        if self.whole == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let length = into.len().min(self.whole);
        self.here.copy_to_slice(&mut into[..length]);
        self.whole -= length;
        Ok(length)
    }
}

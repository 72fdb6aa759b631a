//! The string pool of a compiled file: strings by index.
//!
//! Strings are decoded on demand, so a declared count of millions costs nothing. Source:
//! `ResStringPool_header` and `ResStringPool::string8At`/`stringAt` in AOSP's `androidfw`.

use bytes::Bytes;

use super::chunk::{Chunk, u8_at, u16_at, u32_at};

/// Flag: the strings are UTF-8.
const UTF8: u32 = 1 << 8;

/// The strings of a compiled file.
#[derive(Debug, Clone, Default)]
pub(crate) struct StringPool {
    offsets: Bytes,
    strings: Bytes,
    utf8: bool,
}

impl StringPool {
    /// Reads the pool from its chunk. With an invalid offset or count, some strings are missing.
    pub(crate) fn read(chunk: &Chunk) -> Self {
        let number = |at| chunk.u32(at).and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
        let (count, start) = (number(8), number(20));
        let all = &chunk.all;
        let offsets_end = chunk.header.saturating_add(count.saturating_mul(4)).min(all.len());
        Self {
            offsets: all.slice(chunk.header..offsets_end),
            strings: all.slice(start.min(all.len())..),
            utf8: chunk.u32(16).is_some_and(|flags| flags & UTF8 != 0),
        }
    }

    /// The string with this index; `None` if there is none or it runs past the end of the pool.
    pub(crate) fn get(&self, number: u32) -> Option<String> {
        let at = usize::try_from(number).ok()?.checked_mul(4)?;
        let at = usize::try_from(u32_at(&self.offsets, at)?).ok()?;
        let string = self.strings.get(at..)?;
        if self.utf8 { utf8(string) } else { utf16(string) }
    }
}

/// Two lengths, in UTF-16 units and in bytes, of one or two bytes each; then the string.
fn utf8(string: &[u8]) -> Option<String> {
    let (_units, string) = short_length(string)?;
    let (length, string) = short_length(string)?;
    Some(modified_utf8(string.get(..length)?))
}

fn short_length(string: &[u8]) -> Option<(usize, &[u8])> {
    let first = usize::from(u8_at(string, 0)?);
    if first & 0x80 == 0 {
        return Some((first, string.get(1..)?));
    }
    Some(((first & 0x7f) << 8 | usize::from(u8_at(string, 1)?), string.get(2..)?))
}

/// A length of one or two units; then the string.
fn utf16(string: &[u8]) -> Option<String> {
    let first = usize::from(u16_at(string, 0)?);
    let (length, string) = if first & 0x8000 == 0 {
        (first, string.get(2..)?)
    } else {
        ((first & 0x7fff) << 16 | usize::from(u16_at(string, 2)?), string.get(4..)?)
    };
    let bytes = string.get(..length.checked_mul(2)?)?;
    let units = bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
    Some(char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// aapt2 writes Java's "modified UTF-8": a character above U+FFFF is two surrogates of three bytes
/// each, and NUL is two bytes (`util::Utf8ToModifiedUtf8`).
fn modified_utf8(bytes: &[u8]) -> String {
    let Err(error) = std::str::from_utf8(bytes) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let (mut text, mut rest) = (String::new(), bytes);
    let mut good = error.valid_up_to();
    while !rest.is_empty() {
        let (before, invalid) = rest.split_at(good);
        text.push_str(&String::from_utf8_lossy(before));
        let (character, length) = match invalid {
            [0xc0, 0x80, ..] => ('\0', 2),
            [0xed, a @ 0xa0..=0xaf, b, 0xed, c @ 0xb0..=0xbf, d, ..] => {
                let bits = |byte: &u8, mask: u8| u32::from(byte & mask);
                let high = bits(a, 0x0f) << 6 | bits(b, 0x3f);
                let low = bits(c, 0x0f) << 6 | bits(d, 0x3f);
                let code = 0x1_0000 + (high << 10 | low);
                (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
            }
            [] => break,
            _ => (char::REPLACEMENT_CHARACTER, 1),
        };
        text.push(character);
        rest = invalid.get(length..).unwrap_or_default();
        good = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
    }
    text
}

//! Counts the frames of an MP4 file by its boxes (ISO/IEC 14496-12).
//!
//! Written apart from the reader that the recordings use, so that both cannot be wrong in the same
//! way.

/// The number of frames of the first track.
///
/// # Errors
/// What is missing: without `moov` the recording was cut off and no player opens it.
pub(super) fn frames(file: &[u8]) -> Result<u32, String> {
    let mut inside =
        child(file, *b"moov").ok_or("it has no moov box: the recording was cut off")?;
    for name in [b"trak", b"mdia", b"minf", b"stbl", b"stsz"] {
        let shown = String::from_utf8_lossy(name);
        inside = child(inside, *name).ok_or(format!("its moov box has no {shown}"))?;
    }
    // Version and flags, the size of all samples or 0, their count.
    let count = inside.get(8..12).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    count.ok_or_else(|| "its stsz box is too short".to_owned())
}

/// The content of the first box with this name.
fn child(mut boxes: &[u8], name: [u8; 4]) -> Option<&[u8]> {
    loop {
        let (head, rest) = boxes.split_at_checked(8)?;
        let size = u32::from_be_bytes(head[..4].try_into().ok()?);
        let (length, rest) = match size {
            // Up to the end of the file.
            0 => (rest.len(), rest),
            // The size follows as 64 bits.
            1 => {
                let (size, rest) = rest.split_at_checked(8)?;
                let size = u64::from_be_bytes(size.try_into().ok()?);
                (usize::try_from(size).ok()?.checked_sub(16)?, rest)
            }
            size => (usize::try_from(size).ok()?.checked_sub(8)?, rest),
        };
        let (content, after) = rest.split_at_checked(length)?;
        if head[4..] == name {
            return Some(content);
        }
        boxes = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let size = u32::try_from(content.len() + 8).unwrap();
        [&size.to_be_bytes(), name.as_slice(), content].concat()
    }

    #[test]
    fn frames_are_counted_and_a_cut_off_file_is_named() {
        let stsz = boxed(b"stsz", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42, 9, 9]);
        let table = boxed(b"stbl", &[boxed(b"stsd", &[1]), stsz].concat());
        let track = boxed(b"trak", &boxed(b"mdia", &boxed(b"minf", &table)));
        let moov = boxed(b"moov", &[boxed(b"mvhd", &[0; 20]), track].concat());
        let data = boxed(b"mdat", &[7; 33]);
        assert_eq!(frames(&[boxed(b"ftyp", b"mp42"), data.clone(), moov.clone()].concat()), Ok(42));
        assert!(frames(&data).unwrap_err().contains("no moov"));
        assert!(frames(&moov[..moov.len() - 3]).unwrap_err().contains("no moov"));
        assert!(frames(&boxed(b"moov", &[])).unwrap_err().contains("no trak"));
        assert!(frames(&[]).is_err());
    }
}

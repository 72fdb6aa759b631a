//! Compressed bodies, which a request with `deflate` asks for (docs/internals/protocol/helper.md).

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::ZlibDecoder;

use super::frame::{FrameError, MAX_FRAME};

/// The body as the operation gave it: it is compressed if the reply has its length as `inflated`.
pub(super) fn inflate(inflated: Option<usize>, body: Bytes) -> Result<Bytes, FrameError> {
    let Some(length) = inflated else { return Ok(body) };
    if length > MAX_FRAME {
        return Err(compressed(format_args!("its `inflated` is not at most {MAX_FRAME}")));
    }
    let mut inflated = Vec::new();
    // One byte more than announced shows that the announcement is wrong.
    ZlibDecoder::new(&body[..])
        .take(length as u64 + 1)
        .read_to_end(&mut inflated)
        .map_err(|reason| compressed(format_args!("{reason}")))?;
    if inflated.len() != length {
        return Err(compressed(format_args!("it does not have the {length} bytes it announces")));
    }
    Ok(inflated.into())
}

fn compressed(reason: std::fmt::Arguments) -> FrameError {
    FrameError::Compressed(reason.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;

    fn deflate(bytes: &[u8]) -> Bytes {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn body_is_inflated_if_the_header_says_so() {
        let xml = Bytes::from("<node/>".repeat(1000));
        assert_eq!(inflate(Some(xml.len()), deflate(&xml)), Ok(xml.clone()));
        assert_eq!(inflate(None, xml.clone()), Ok(xml));
    }

    #[test]
    fn length_that_is_not_the_bodys_is_refused() {
        for length in [6, 8, usize::MAX, 9 << 20] {
            let result = inflate(Some(length), deflate(b"<node/>"));
            assert!(result.is_err(), "{length}: {result:?}");
        }
    }

    #[test]
    fn body_that_inflates_without_end_takes_no_memory() {
        let result = inflate(Some(10), deflate(&vec![0; 64 << 20]));
        let text = "it does not have the 10 bytes it announces".to_owned();
        assert_eq!(result, Err(FrameError::Compressed(text)));
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200), length in 0..300_usize) {
            let _ = inflate(Some(length), body.into());
        }

        #[test]
        fn cut_body_is_refused(text in "[a-z<>/= ]{1,300}", cut in any::<prop::sample::Index>()) {
            let whole = deflate(text.as_bytes());
            let cut = cut.index(whole.len());
            prop_assert!(inflate(Some(text.len()), whole.slice(..cut)).is_err());
        }
    }
}

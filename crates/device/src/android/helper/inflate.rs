//! Compressed bodies, which a request with `deflate` asks for (`docs/protocol.md`).

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::ZlibDecoder;

use super::frame::{FrameError, Header, LONGEST};

/// The body as the operation gave it: it is compressed if the header has its length as `inflated`.
pub(super) fn inflate(header: &Header, body: Bytes) -> Result<Bytes, FrameError> {
    let Some(length) = header.get("inflated") else { return Ok(body) };
    let length = length.as_u64().and_then(|length| usize::try_from(length).ok());
    let length = length
        .filter(|&length| length <= LONGEST)
        .ok_or_else(|| compressed(format_args!("its `inflated` is not at most {LONGEST}")))?;
    let mut inflated = Vec::new();
    // One byte more than announced shows that the announcement is wrong.
    ZlibDecoder::new(&body[..])
        .take(length as u64 + 1)
        .read_to_end(&mut inflated)
        .map_err(|why| compressed(format_args!("{why}")))?;
    if inflated.len() != length {
        return Err(compressed(format_args!("it does not have the {length} bytes it announces")));
    }
    Ok(inflated.into())
}

fn compressed(why: std::fmt::Arguments) -> FrameError {
    FrameError::Compressed(why.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn deflate(bytes: &[u8]) -> Bytes {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    fn read(fields: Value, body: Bytes) -> Result<Bytes, FrameError> {
        inflate(fields.as_object().unwrap(), body)
    }

    #[test]
    fn body_is_inflated_if_the_header_says_so() {
        let xml = Bytes::from("<node/>".repeat(1000));
        assert_eq!(read(json!({ "inflated": xml.len() }), deflate(&xml)), Ok(xml.clone()));
        assert_eq!(read(json!({}), xml.clone()), Ok(xml));
    }

    #[test]
    fn length_that_is_not_the_bodys_is_refused() {
        for length in [json!(6), json!(8), json!(-1), json!("7"), json!(u64::MAX), json!(9 << 20)] {
            let result = read(json!({ "inflated": length }), deflate(b"<node/>"));
            assert!(result.is_err(), "{length}: {result:?}");
        }
    }

    #[test]
    fn body_that_inflates_without_end_takes_no_memory() {
        let result = read(json!({ "inflated": 10 }), deflate(&vec![0; 64 << 20]));
        let text = "it does not have the 10 bytes it announces".to_owned();
        assert_eq!(result, Err(FrameError::Compressed(text)));
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200), length in 0..300_u64) {
            let _ = read(json!({ "inflated": length }), body.into());
        }

        #[test]
        fn cut_body_is_refused(text in "[a-z<>/= ]{1,300}", cut in any::<prop::sample::Index>()) {
            let whole = deflate(text.as_bytes());
            let cut = cut.index(whole.len());
            let fields = json!({ "inflated": text.len() });
            prop_assert!(read(fields, whole.slice(..cut)).is_err());
        }
    }
}

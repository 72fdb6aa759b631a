//! The helper's op `shot`: a JPEG that is compressed on the phone, where a PNG of the whole screen takes longest.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::frame::Header;
use super::{Operation, fields};
use crate::android::Android;
use crate::error::excerpt;
use crate::image::JPEG_QUALITY;
use crate::{Error, Format, Image, Screenshot, Size};

/// How long the helper may take.
const LIMIT: Duration = Duration::from_secs(8);

const SHOT: Operation = Operation {
    op: "shot",
    needs: "screenshots",
    what: "take a screenshot",
    limit: LIMIT,
    acts: false,
    left_to_shell: &["internal", "too_large", "timeout", "ua_busy", "refused"],
};

impl Android {
    /// A JPEG of the screen. `None` if `screencap` has to take it: also if that is what the helper runs, because Android
    /// gives it no pixels (seen on an emulated Android 4.4.4).
    pub(in crate::android) async fn jpeg_by_helper(&self) -> Result<Option<Screenshot>, Error> {
        if self.helper.runs_screencap.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let fields = fields(json!({ "format": "jpeg", "quality": JPEG_QUALITY }));
        let Some((output, body)) = self.try_helper(SHOT, fields).await? else { return Ok(None) };
        if output.get("via").and_then(Value::as_str) == Some("screencap") {
            self.helper.runs_screencap.store(true, Ordering::Relaxed);
        }
        read(&output, body).map(Some)
    }
}

pub(super) fn read(output: &Header, body: Bytes) -> Result<Screenshot, Error> {
    let side = |name: &str| {
        let side = output.get(name).and_then(Value::as_i64);
        side.and_then(|side| i32::try_from(side).ok()).filter(|&side| side > 0)
    };
    match (side("width"), side("height")) {
        (Some(width), Some(height)) if is_whole(&body) => Ok(Screenshot {
            image: Image { format: Format::Jpeg, bytes: body },
            size: Size { width, height },
            blank: None,
        }),
        _ => Err(Error::Unreadable {
            command: SHOT.op.into(),
            text: excerpt(Value::from(output.clone()).to_string()),
        }),
    }
}

/// Whether it begins and ends as a JPEG does.
fn is_whole(body: &[u8]) -> bool {
    body.starts_with(&[0xFF, 0xD8]) && body.ends_with(&[0xFF, 0xD9])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_has_a_size_and_is_whole() {
        let of = |value: Value, body: &'static [u8]| {
            read(value.as_object().unwrap(), Bytes::from_static(body))
        };
        let size = json!({ "width": 240, "height": 400 });
        let picture = of(size.clone(), &[0xFF, 0xD8, 0, 0xFF, 0xD9]).unwrap();
        assert_eq!(picture.size, Size { width: 240, height: 400 });
        assert!(of(size, &[0xFF, 0xD8, 0]).is_err());
        assert!(of(json!({ "width": 240, "height": 0 }), &[0xFF, 0xD8, 0xFF, 0xD9]).is_err());
    }
}

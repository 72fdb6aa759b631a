//! The helper's op `shot`: a JPEG that is compressed on the phone, where a PNG of the whole screen
//! takes longest.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

use super::{Operation, fields};
use crate::android::Android;
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
    /// A JPEG of the screen, scaled on the phone to a longer side of `max_side`. `None` if
    /// `screencap` has to take it: also if that is what the helper runs, because Android gives it
    /// no pixels (seen on an emulated Android 4.4.4).
    pub(in crate::android) async fn jpeg_by_helper(
        &self,
        max_side: Option<i32>,
    ) -> Result<Option<Screenshot>, Error> {
        if self.helper.runs_screencap.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut fields = fields(json!({ "quality": JPEG_QUALITY }));
        if let Some(max_side) = max_side {
            fields.insert("max_side".into(), max_side.into());
            // Longer than to connect; `screencap` waits for nobody.
            fields.insert("limit_ms".into(), 1_000.into());
        }
        let reply = self.try_helper::<PictureReply>(SHOT, fields).await?;
        let Some((picture, body)) = reply else { return Ok(None) };
        if picture.method.as_deref() == Some("screencap") {
            self.helper.runs_screencap.store(true, Ordering::Relaxed);
        }
        picture.screenshot(body).map(Some)
    }
}

/// What comes with a picture, of `shot` and of `stream`.
#[derive(Debug, Deserialize)]
pub(super) struct PictureReply {
    width: i32,
    height: i32,
    /// How it was taken: `screencap` if Android gives the helper no pixels.
    pub(super) method: Option<String>,
}

impl PictureReply {
    pub(super) fn screenshot(self, body: Bytes) -> Result<Screenshot, Error> {
        let Self { width, height, .. } = self;
        if width <= 0 || height <= 0 || !is_whole(&body) {
            let text = format!("{} bytes of a picture of {width}x{height}", body.len());
            return Err(Error::Unreadable { command: SHOT.op.into(), text });
        }
        let image = Image { format: Format::Jpeg, bytes: body };
        Ok(Screenshot { image, size: Size { width, height }, blank: None })
    }
}

/// Whether it begins and ends as a JPEG does.
fn is_whole(body: &[u8]) -> bool {
    body.starts_with(&[0xFF, 0xD8]) && body.ends_with(&[0xFF, 0xD9])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn picture_has_a_size_and_is_whole() {
        let of = |value: Value, body: &'static [u8]| {
            let reply: PictureReply = SHOT.read(value.as_object().unwrap().clone()).unwrap();
            reply.screenshot(Bytes::from_static(body))
        };
        let size = json!({ "width": 240, "height": 400 });
        let picture = of(size.clone(), &[0xFF, 0xD8, 0, 0xFF, 0xD9]).unwrap();
        assert_eq!(picture.size, Size { width: 240, height: 400 });
        assert!(of(size, &[0xFF, 0xD8, 0]).is_err());
        assert!(of(json!({ "width": 240, "height": 0 }), &[0xFF, 0xD8, 0xFF, 0xD9]).is_err());
    }
}

//! Screenshots before Android 5: `screencap` captures the panel in its natural orientation, however
//! the content is turned (measured on a real Android 4.4.4). Taps and dumps follow the rotation on
//! every release.

use std::sync::atomic::Ordering;

use super::Legacy;
use crate::android::Android;
use crate::android::screen::capture_failed;
use crate::image::{self, Pixels};
use crate::{Error, Format, Screenshot, Size};

/// The first API level whose screenshots follow the rotation.
const ROTATED_SCREENSHOTS: u32 = 21;

impl Legacy {
    /// The screenshot, turned as the screen is.
    pub(in crate::android) async fn turn_picture(
        &self,
        device: &Android,
        picture: Screenshot,
    ) -> Result<Screenshot, Error> {
        // A phone that has `exec:` is newer; it costs no further command.
        let may_be_turned = self.lacks_exec.load(Ordering::Relaxed);
        if !may_be_turned
            || device.api_level().await.is_ok_and(|level| level >= ROTATED_SCREENSHOTS)
        {
            return Ok(picture);
        }
        let Some((rotation, size)) = device.viewport().await? else { return Ok(picture) };
        let transposed = Size { width: picture.size.height, height: picture.size.width };
        let is_as_the_panel = match rotation {
            0 => false,
            2 => picture.size == size,
            _ => picture.size != size && transposed == size,
        };
        if !is_as_the_panel {
            return Ok(picture);
        }
        let turning = tokio::task::spawn_blocking(move || {
            let pixels = Pixels::read(&picture.image)?.rotated(4 - rotation);
            Ok((pixels.write(Format::Png)?, pixels.size()))
        });
        let turned = turning.await.map_err(|error| capture_failed(&error))?;
        let (image, size) = turned.map_err(|error: image::Error| capture_failed(&error))?;
        Ok(Screenshot { image, size, blank: picture.blank })
    }
}

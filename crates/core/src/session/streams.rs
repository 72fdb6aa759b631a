//! The phone's screen as a stream of pictures, for those who show it to people.

use std::sync::Arc;

use thumbwire_device::{Device, ScreenStream, Size, StreamOptions, VideoOptions, VideoStream};

use super::Session;
use super::attached_device::AttachedDevice;
use crate::action::Failure;

/// A phone whose screen is shown.
#[derive(Clone)]
pub struct ShownPhone(Arc<dyn Device>);

impl Session {
    /// The phone with this id, to show its screen; no lease is needed.
    ///
    /// # Errors
    /// If it cannot be reached, or the operator does not allow it.
    pub async fn shown_phone(&self, device: &str) -> Result<ShownPhone, Failure> {
        let AttachedDevice { device, .. } = self.connected(device).await?;
        Ok(ShownPhone(device))
    }
}

impl ShownPhone {
    /// Begins to stream the screen; `None` if the phone cannot, for example without the helper.
    ///
    /// # Errors
    /// If the phone fails.
    pub async fn stream(&self, options: StreamOptions) -> Result<Option<ScreenStream>, Failure> {
        let Some(streaming) = self.0.facets().screen_streaming else { return Ok(None) };
        let began = streaming.stream_screen(options).await;
        began.map_err(|error| Failure::of_device(&self.0.identity().id, &error))
    }

    /// Begins to stream the screen as H.264; `None` if the phone cannot.
    ///
    /// # Errors
    /// If the phone fails.
    pub async fn video(&self, options: VideoOptions) -> Result<Option<VideoStream>, Failure> {
        let Some(streaming) = self.0.facets().screen_streaming else { return Ok(None) };
        let began = streaming.stream_video(options).await;
        began.map_err(|error| Failure::of_device(&self.0.identity().id, &error))
    }

    /// The size of the screen as it is held now, in the pixels that touches count.
    ///
    /// # Errors
    /// If the phone fails.
    pub async fn screen_size(&self) -> Result<Size, Failure> {
        let size = self.0.screen_size().await;
        size.map_err(|error| Failure::of_device(&self.0.identity().id, &error))
    }
}

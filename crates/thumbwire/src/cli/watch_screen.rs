//! `thumbwire screen --watch`: a file for each picture of the screen that differs from the one
//! before.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use thumbwire_base::files;
use thumbwire_core::providers::DeviceProviders;
use thumbwire_device::{
    Device, Error, Format, FormatPreference, ScreenStream, Screenshot, StreamOptions,
};
use tokio::time::{sleep, timeout};

use super::shutdown::ShutdownSignal;
use super::{CliError, print};

/// The least time between two pictures.
const GAP: Duration = Duration::from_millis(200);

/// The pause between two screenshots of a phone that does not stream.
const PAUSE: Duration = Duration::from_secs(1);

/// Writes pictures to `folder`, which must be empty, for `time` or until Ctrl-C. Prints a line for
/// each. `is_scaled`: whether `phones` scale them.
pub(super) async fn run(
    phones: &DeviceProviders,
    id: &str,
    folder: &Path,
    is_scaled: bool,
    time: Option<Duration>,
) -> Result<(), CliError> {
    let mut shutdown = ShutdownSignal::new();
    let failed =
        |what: String| move |error: std::io::Error| CliError::failed(format!("{what}: {error}"));
    files::make_folder(folder).map_err(failed(format!("cannot create {}", folder.display())))?;
    let mut entries =
        fs::read_dir(folder).map_err(failed(format!("cannot read {}", folder.display())))?;
    if entries.next().is_some() {
        let text = format!("{} is not empty: name another folder", folder.display());
        return Err(CliError::usage(text));
    }
    let device = phones.open(id).await?;
    let watching = async {
        let mut pictures = Pictures::begin(&*device, is_scaled).await?;
        let began = Instant::now();
        let mut number = 0;
        while let Some(picture) = pictures.next().await? {
            number += 1;
            let name = format!("{number:05}.{}", picture.image.format.name());
            let file = folder.join(&name);
            let written = files::write(&file, &picture.image.bytes);
            written.map_err(failed(format!("cannot write {}", file.display())))?;
            let (seconds, size) = (began.elapsed().as_secs_f64(), picture.size);
            let bytes = picture.image.bytes.len().div_ceil(1024);
            print(&format!(
                "{seconds:8.1} s  {name}  {}x{}  {bytes} KB\n",
                size.width, size.height
            ))?;
        }
        Ok(())
    };
    let result = tokio::select! {
        result = timeout(time.unwrap_or(Duration::MAX), watching) => result.unwrap_or(Ok(())),
        () = shutdown.ending() => Ok(()),
    };
    device.restore_borrowed().await;
    device.disconnect().await;
    result
}

/// The pictures of a phone: streamed by the helper, else screenshots that are compared.
struct Pictures<'a> {
    device: &'a dyn Device,
    stream: Option<ScreenStream>,
    last: Option<Screenshot>,
}

impl<'a> Pictures<'a> {
    async fn begin(device: &'a dyn Device, is_scaled: bool) -> Result<Self, CliError> {
        let stream = match device.facets().screen_streaming {
            Some(streaming) => {
                // A device that is scaled tells the size that was asked for.
                let max_side = match is_scaled {
                    true => {
                        let size = device.screen_size().await.map_err(device_error)?;
                        u32::try_from(size.width.max(size.height)).ok()
                    }
                    false => None,
                };
                let options = StreamOptions { max_side, gap: GAP };
                streaming.stream_screen(options).await.map_err(device_error)?
            }
            None => None,
        };
        Ok(Self { device, stream, last: None })
    }

    /// The next picture that differs from the last one; `None` if no more will come.
    async fn next(&mut self) -> Result<Option<Screenshot>, CliError> {
        if let Some(stream) = &mut self.stream {
            return match stream.next().await {
                Some(picture) => Ok(Some(picture)),
                None => Err(CliError::failed(
                    "the phone ended the stream of its screen; run the command again",
                )),
            };
        }
        loop {
            if self.last.is_some() {
                sleep(PAUSE).await;
            }
            let jpeg = FormatPreference::Only(Format::Jpeg);
            let picture = self.device.screenshot_as(jpeg).await.map_err(device_error)?;
            let is_same =
                self.last.as_ref().is_some_and(|last| last.image.bytes == picture.image.bytes);
            self.last = Some(picture.clone());
            if !is_same {
                return Ok(Some(picture));
            }
        }
    }
}

fn device_error(error: Error) -> CliError {
    CliError::failed(error.to_string())
}

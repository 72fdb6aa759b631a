//! Runs the step that compares the screen with a golden.
//!
//! Start with [`CaseRunner::expect_screenshot`].

use std::time::Duration;

use thumbwire_device::image::{Effort, Pixels};
use thumbwire_device::{BlackReason, Format, FormatPreference, Image, Platform, Rect, Size};

use super::assert::mismatch;
use super::case_runner::{CaseRunner, PollError, StepError};
use super::element_pattern::ElementPattern;
use super::golden::{compare, cropped, side_by_side};
use super::plan::{Golden, Mask};
use super::report::FailureKind;
use thumbwire_core::action::{ScreenshotOptions, request};

/// A screenshot that does not look like its golden.
struct Mismatch {
    expected: Pixels,
    actual: Pixels,
    masks: Vec<Rect>,
}

impl CaseRunner<'_> {
    /// Waits until the screen looks like the golden, or writes the golden.
    ///
    /// # Errors
    /// How they differ, and the file that shows it.
    pub(super) async fn expect_screenshot(
        &mut self,
        golden: &Golden,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let file = golden.file.display();
        let failed = |what: String| StepError::new(FailureKind::Step, what);
        let Some(files) = self.context.goldens else {
            return Err(failed("this run has no access to golden files".into()));
        };
        if self.context.update_goldens {
            let actual = self.cropped_screen(golden.crop.as_deref(), timeout).await?;
            let image =
                actual.write_png(Effort::Strong).map_err(|error| failed(error.to_string()))?;
            files
                .write(&golden.file, &image.bytes)
                .map_err(|error| failed(format!("cannot write the golden {file}: {error}")))?;
            self.note(format!("golden written: {file}"));
            return Ok(());
        }
        let bytes = files.read(&golden.file);
        let bytes =
            bytes.map_err(|error| failed(format!("cannot read the golden {file}: {error}")))?;
        let bytes = bytes.ok_or_else(|| {
            failed(format!("there is no golden {file}; --update-goldens makes it from the screen"))
        })?;
        let expected = Pixels::read(&Image { format: Format::Png, bytes: bytes.into() });
        let expected = expected.map_err(|error| failed(format!("the golden {file}: {error}")))?;
        let mut last = None;
        let compared = self
            .until(timeout, async |runner| {
                let Some((what, images)) = runner.mismatch(golden, &expected, timeout).await?
                else {
                    return Ok(());
                };
                last = images;
                Err(mismatch(what))
            })
            .await;
        compared.map_err(|error| match last.and_then(|it| self.keep_mismatch(golden, &it)) {
            Some(name) => {
                StepError { what: format!("{}; see {name} in the trace", error.what), ..error }
            }
            None => error,
        })
    }

    /// How the screen differs now, in words and as images if they have the same size.
    async fn mismatch(
        &mut self,
        golden: &Golden,
        expected: &Pixels,
        timeout: Duration,
    ) -> Result<Option<(String, Option<Mismatch>)>, StepError> {
        let actual = self.cropped_screen(golden.crop.as_deref(), timeout).await?;
        let file = golden.file.display();
        if actual.size() != expected.size() {
            let text = |Size { width, height }: Size| format!("{width} × {height} pixels");
            let what = format!(
                "the screen has {}, the golden {file} has {}: use a phone of the same size and orientation, or make a golden of this one with --update-goldens",
                text(actual.size()),
                text(expected.size())
            );
            return Ok(Some((what, None)));
        }
        let masks = self.masks(golden).await?;
        let Some(difference) = compare(expected, &actual, &masks, golden.color_tolerance) else {
            return Ok(None);
        };
        if difference.share <= golden.tolerance {
            return Ok(None);
        }
        let Rect { left, top, right, bottom } = difference.around;
        let what = format!(
            "the screen differs from {file} in {} of its pixels, {} are allowed: inside [{left},{top}][{right},{bottom}]",
            percent(difference.share),
            percent(golden.tolerance)
        );
        let expected = expected.clone();
        Ok(Some((what, Some(Mismatch { expected, actual, masks }))))
    }

    /// The screen, or one element of it.
    async fn cropped_screen(
        &mut self,
        crop: Option<&ElementPattern>,
        timeout: Duration,
    ) -> Result<Pixels, StepError> {
        let format = FormatPreference::Only(Format::Png);
        let options = ScreenshotOptions { format, fresh: true, ..ScreenshotOptions::default() };
        let taken = self.must(request::Screenshot(options)).await?;
        let failed = |what: String| StepError::new(FailureKind::Step, what);
        if let Some(reason) = taken.blank {
            let cause = match reason {
                BlackReason::Secure { window } => format!("{window} is a secure window"),
                BlackReason::ScreenOff => "the screen is off".into(),
                BlackReason::Unexplained => "the phone gave no reason".into(),
            };
            return Err(failed(format!("the screenshot is black: {cause}")));
        }
        let pixels = Pixels::read(&taken.image).map_err(|error| failed(error.to_string()))?;
        let Some(element) = crop else { return Ok(pixels) };
        let (snapshot, node) =
            self.until(timeout, async |runner| runner.find_one(element).await).await?;
        cropped(&pixels, snapshot.shown(node))
            .ok_or_else(|| failed(format!("{element} is not on the screen")))
    }

    /// Keeps a picture of an element in the trace, if there is one.
    pub(super) async fn keep_cropped(
        &mut self,
        name: &str,
        element: &ElementPattern,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let pixels = self.cropped_screen(Some(element), timeout).await?;
        let image = pixels
            .write_png(Effort::Fast)
            .map_err(|error| StepError::new(FailureKind::Step, error.to_string()))?;
        self.keep_image(name, &image)
    }

    /// Stores a picture in the trace's folder under a name that the flow gave it.
    pub(super) fn keep_image(&self, name: &str, image: &Image) -> Result<(), StepError> {
        let recorder = self.context.recorder.as_ref().filter(|recorder| !recorder.is_redacted());
        let Some(recorder) = recorder else { return Ok(()) };
        let file = format!("{}.{}", file_name(name), image.format.name());
        recorder.keep(&file, &image.bytes).map_err(|error| {
            let what = format!("cannot store {file} in the trace: {error}");
            StepError::new(FailureKind::Step, what)
        })
    }

    /// The parts that are not compared. An element that is not there masks nothing.
    async fn masks(&mut self, golden: &Golden) -> Result<Vec<Rect>, StepError> {
        let mut masks = Vec::new();
        if !golden.with_status_bar && golden.crop.is_none() {
            masks.push(self.status_bar().await?);
        }
        for mask in &golden.masks {
            match mask {
                Mask::Rect(rect) => masks.push(*rect),
                Mask::Element(element) => match self.find(element).await {
                    Ok((snapshot, nodes)) => {
                        masks.extend(nodes.iter().map(|&node| snapshot.shown(node)));
                    }
                    Err(PollError::Pending(_)) => {}
                    Err(PollError::Failed(error)) => return Err(error),
                },
            }
        }
        Ok(masks)
    }

    /// Where the status bar is: 24 dp high on Android (`status_bar_height` of AOSP), 54 of 852
    /// points on iPhones.
    async fn status_bar(&mut self) -> Result<Rect, StepError> {
        let info = self.device_info().await?;
        let Size { width, height } = info.screen;
        let bottom = match (self.context.platform, info.density) {
            (Platform::Android, Some(density)) => {
                24 * i32::try_from(density).unwrap_or_default() / 160
            }
            _ => i32::try_from(i64::from(height) * 54 / 852).unwrap_or_default(),
        };
        Ok(Rect { left: 0, top: 0, right: width, bottom })
    }

    /// Stores both images and their difference in the trace. Returns the file's name.
    fn keep_mismatch(&mut self, golden: &Golden, mismatch: &Mismatch) -> Option<String> {
        let recorder = self.context.recorder.clone().filter(|recorder| !recorder.is_redacted())?;
        let Mismatch { expected, actual, masks } = mismatch;
        let shown = side_by_side(expected, actual, masks, golden.color_tolerance)?;
        let image = shown.write_png(Effort::Fast).ok()?;
        let name = format!("{}-difference.png", file_name(&golden.name));
        match recorder.keep(&name, &image.bytes) {
            Ok(()) => {
                self.state.trail.compares(&name);
                Some(name)
            }
            Err(error) => {
                tracing::warn!("cannot store {name}: {error}");
                None
            }
        }
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.01 { "under 0.01 %".into() } else { format!("{percent:.2} %") }
}

/// A name as a file name that is valid on any system.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    name.chars().take(60).map(plain).collect()
}

//! `--screenshot-size`

use std::str::FromStr;

use thumbwire_device::image::PixelLimits;

use super::{CliError, ToolsetName};

/// How large screenshots are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenshotSize {
    /// As large as the screen.
    Full,
    /// What vision models look at; a smaller screen as it is.
    Auto,
    /// At most this many pixels on the longer side.
    Pixels(u32),
}

impl ScreenshotSize {
    /// The limits; `None` if there are none.
    pub(super) fn limits(self) -> Option<PixelLimits> {
        match self {
            Self::Full => None,
            Self::Auto => Some(PixelLimits::VISION_MODELS),
            Self::Pixels(pixels) => Some(PixelLimits::longer_side(pixels)),
        }
    }

    /// Refuses to scale for a toolset whose screenshots are files that the phone writes:
    /// coordinates would not be theirs.
    pub(super) fn check(size: Option<Self>, toolset: ToolsetName) -> Result<(), CliError> {
        match (size, toolset) {
            (None | Some(Self::Full), _) => Ok(()),
            (_, ToolsetName::Android) => Err(CliError::usage(
                "--screenshot-size cannot be used with `--toolset android`: its screenshots are files of the phone, in the screen's size",
            )),
            _ => Ok(()),
        }
    }
}

impl FromStr for ScreenshotSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "full" => Ok(Self::Full),
            "auto" => Ok(Self::Auto),
            pixels => match pixels.parse() {
                Ok(pixels @ 64..=10_000) => Ok(Self::Pixels(pixels)),
                _ => Err("expected `full`, `auto`, or 64 to 10000 pixels".into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_a_word_or_a_number_of_pixels() {
        for (text, size) in [
            ("full", ScreenshotSize::Full),
            ("auto", ScreenshotSize::Auto),
            ("64", ScreenshotSize::Pixels(64)),
            ("10000", ScreenshotSize::Pixels(10_000)),
        ] {
            assert_eq!(text.parse(), Ok(size));
        }
        for text in ["", "63", "10001", "-1", "1568px", "Full", "1e3"] {
            assert!(text.parse::<ScreenshotSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn android_tools_have_the_phones_own_files() {
        let is_allowed = |size, toolset| ScreenshotSize::check(size, toolset).is_ok();
        assert!(!is_allowed(Some(ScreenshotSize::Auto), ToolsetName::Android));
        assert!(is_allowed(Some(ScreenshotSize::Full), ToolsetName::Android));
        assert!(is_allowed(None, ToolsetName::Android));
        assert!(is_allowed(Some(ScreenshotSize::Pixels(900)), ToolsetName::UfoData));
    }
}

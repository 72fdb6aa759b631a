//! The screen's size and how it is turned, as the window manager tells them.

use super::{Android, Line};
use crate::error::excerpt;
use crate::{Error, Size};

impl Android {
    pub(super) async fn read_screen_size(&self) -> Result<Size, Error> {
        let said = self.ask(size_command()).await?;
        read_display(&said.out).map(|display| display.size).ok_or_else(|| Error::Unreadable {
            command: size_command().as_str().into(),
            said: excerpt(if said.out.trim().is_empty() { &said.err } else { &said.out }),
        })
    }
}

/// The window manager's displays: unlike `wm size`, they tell the size as the screen is turned now.
pub(super) fn size_command() -> Line {
    Line::new("dumpsys window displays")
}

/// The built-in display, as it is turned now.
pub(super) struct Display {
    pub(super) size: Size,
    /// Dots per inch, where it is told.
    pub(super) density: Option<u32>,
}

/// Reads `cur=WIDTHxHEIGHT` of the first display, which is the built-in one, and the `420dpi` that stands before it.
pub(super) fn read_display(said: &str) -> Option<Display> {
    let line = said.lines().find(|line| line.contains("cur="))?;
    let word = |prefix: &str| line.split_whitespace().find_map(|word| word.strip_prefix(prefix));
    let (width, height) = word("cur=")?.split_once('x')?;
    let size = Size { width: width.parse().ok()?, height: height.parse().ok()? };
    // An overridden density stands second: `init=… 420dpi base=… 320dpi cur=…`.
    let mut dpi = line.split_whitespace().filter_map(|word| word.strip_suffix("dpi")?.parse().ok());
    Some(Display { size, density: dpi.next_back() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_read_as_the_screen_is_turned() {
        let size = |said| {
            let Display { size, density } = read_display(said)?;
            Some((size.width, size.height, density))
        };
        let upright =
            "  Display: mDisplayId=0\r\n    init=480x800 213dpi cur=480x800 app=480x800\r\n";
        assert_eq!(size(upright), Some((480, 800, Some(213))));
        let turned = "    init=1080x2400 420dpi base=540x1200 320dpi cur=1200x540 app=1200x540 rng=\n cur=1x1";
        assert_eq!(size(turned), Some((1200, 540, Some(320))));
        assert_eq!(size("dumpsys: not found"), None);
        assert_eq!(size("cur=manyxfew"), None);
    }
}

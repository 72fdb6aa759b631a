//! The built-in display: its size, rotation and panel.
//!
//! A phone may have several: an outer one, a car's dashboard, one that exists only for a recording.
//! Everything here is about Android's display 0, the default one. Start with [`read_display`].

use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::{Android, CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::image::png_crc::SIGNATURE;
use crate::{Error, Orientation, Panel, Size};

impl Android {
    /// The built-in display in its current rotation.
    pub(super) async fn display(&self) -> Result<Display, Error> {
        read_display(&self.displays().await?)
    }

    /// The window manager's report on its displays. Before Android 4.2 there is no such part of it;
    /// the size is in the whole report.
    pub(super) async fn displays(&self) -> Result<CommandOutput, Error> {
        let output = self.ask(displays_command()).await?;
        if output.out.contains("Bad window command") {
            self.ask(windows_command()).await
        } else {
            Ok(output)
        }
    }

    /// The rotation of the built-in display in quarter turns, and its size in that rotation; `None`
    /// if not reported.
    pub(super) async fn viewport(&self) -> Result<Option<(u8, Size)>, Error> {
        Ok(find_viewport(&self.ask(viewports_command()).await?.out))
    }

    /// Returns the output of a `screencap` without a display argument, for the panel that shows the
    /// built-in display.
    ///
    /// A phone with several panels warns that it used the first one found (`screencap.cpp` in AOSP;
    /// capture of a Pixel Fold). From then on the panel is passed explicitly. It changes when such
    /// a phone is folded, so it is looked up each time.
    pub(super) async fn capture(&self, screencap: ShellCommand) -> Result<Bytes, Error> {
        let mut unnamed = None;
        if !self.several_panels.load(Ordering::Relaxed) {
            let output = self.fetch(screencap.clone()).await?;
            if !has_multiple_displays_warning(&output) {
                return Ok(output);
            }
            self.several_panels.store(true, Ordering::Relaxed);
            unnamed = Some(output);
        }
        let viewports = self.ask(viewports_command()).await?;
        if let Some(panel) = find_panel(&viewports.out) {
            let output = self.fetch(screencap.clone().then("-d").arg(panel)?).await?;
            // Some phones do not accept the id that they report.
            if !is_unknown_panel(&output) {
                return Ok(output);
            }
        }
        // Newer phones list the panel in use first
        // (`SurfaceFlinger::getPhysicalDisplayIdsLocked` in AOSP).
        match unnamed {
            Some(output) => Ok(output),
            None => self.fetch(screencap).await,
        }
    }
}

/// Whether this output of `screencap -d` is its error for an unknown panel (AOSP, `screencap.cpp`:
/// "Invalid display ID: …", "Display Id '…' is not valid.").
fn is_unknown_panel(output: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&output[..output.len().min(400)]).to_lowercase();
    let is_picture = output.windows(SIGNATURE.len()).any(|part| part == SIGNATURE);
    !is_picture && text.contains("display id") && text.contains("valid")
}

fn has_multiple_displays_warning(output: &[u8]) -> bool {
    const WARNING: &[u8] = b"Multiple displays were found";
    /// The warning comes before the image and has about 350 bytes; others may precede it.
    const WITHIN: usize = 2000;
    output[..output.len().min(WITHIN)].windows(WARNING.len()).any(|part| part == WARNING)
}

/// Prints which panel shows which display.
fn viewports_command() -> ShellCommand {
    ShellCommand::new("dumpsys display")
}

/// The id of the panel that shows display 0, as accepted by `screencap -d`.
///
/// `mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0,
/// uniqueId='local:4619827677550801152', …}, …]` (capture of a Xiaomi Pad 6; two viewports on a
/// Pixel 10 Pro Fold). Android 9 and 10 omit `isActive`.
fn find_panel(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.trim_start().starts_with("mViewports=["))?;
    let viewports = line.split("DisplayViewport{").skip(1);
    viewports.filter(|viewport| !viewport.contains("isActive=false")).find_map(|viewport| {
        let mut fields = viewport.split(", ");
        fields.find(|field| *field == "displayId=0")?;
        let panel = fields.find_map(|field| field.strip_prefix("uniqueId='local:"))?;
        number(panel)
    })
}

/// Rotation and size of the default viewport, as Android 4.2 to 8 report it:
/// `mDefaultViewport=DisplayViewport{valid=true, displayId=0, orientation=1, logicalFrame=Rect(0, 0
/// - 800, 480), …}` (capture of a real Android 4.4.4).
fn find_viewport(text: &str) -> Option<(u8, Size)> {
    let viewport = text.split_once("mDefaultViewport=DisplayViewport{")?.1;
    let viewport = viewport.lines().next()?;
    let rotation = viewport.split_once("orientation=")?.1.split(',').next()?.parse().ok()?;
    let frame = viewport.split_once("logicalFrame=Rect(0, 0 - ")?.1.split(')').next()?;
    let (width, height) = frame.split_once(", ")?;
    let size = Size { width: width.parse().ok()?, height: height.parse().ok()? };
    (rotation < 4).then_some((rotation, size))
}

/// Prints the window manager's displays. Unlike `wm size`, this has the size in the current
/// rotation.
pub(super) fn displays_command() -> ShellCommand {
    ShellCommand::new("dumpsys window displays")
}

/// Prints the window manager's whole report.
fn windows_command() -> ShellCommand {
    ShellCommand::new("dumpsys window")
}

/// The built-in display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Display {
    /// Size in the current rotation.
    pub(super) size: Size,
    /// Size at rotation 0: portrait on a phone, landscape on many tablets. Includes an override by
    /// `wm size`.
    pub(super) natural: Size,
    /// Dots per inch, if reported. Includes an override by `wm density`.
    pub(super) density: Option<u32>,
    /// Physical size and density, and their overrides.
    pub(super) panel: Panel,
}

impl Display {
    pub(super) fn orientation(&self) -> Orientation {
        orientation_of(self.size)
    }

    /// The rotation, in quarter turns, that gives this orientation.
    pub(super) fn rotation_for(&self, orientation: Orientation) -> u8 {
        u8::from(orientation_of(self.natural) != orientation)
    }
}

/// A square is portrait, as in Android's own configuration.
fn orientation_of(size: Size) -> Orientation {
    if size.width > size.height { Orientation::Landscape } else { Orientation::Portrait }
}

/// Parses the window manager's entry for display 0, wherever it is in the list.
///
/// The line is the same from Android 4.4 to 16: `init=1080x2400 420dpi base=540x1200 320dpi
/// cur=1200x540 …`, with `base=` only if size or density are overridden (`DisplayContent.dump` in
/// AOSP, and captures). Before Android 4.2 there is one display and one line: `Display:
/// init=480x800 base=480x800 cur=800x480 …`.
pub(super) fn read_display(output: &CommandOutput) -> Result<Display, Error> {
    find_display(&output.out).ok_or_else(|| Error::Unreadable {
        command: displays_command().as_str().into(),
        text: excerpt(if output.out.trim().is_empty() { &output.err } else { &output.out }),
    })
}

fn find_display(text: &str) -> Option<Display> {
    let mut lines = text.lines().map(str::trim);
    let line = match section(text) {
        Some(part) => part.lines().map(str::trim).find(|line| line.starts_with("init="))?,
        None => lines.find_map(|line| {
            line.strip_prefix("Display: ").filter(|line| line.starts_with("init="))
        })?,
    };
    let text = || line.split_whitespace();
    let size = |prefix: &str| text().find_map(|word| size(word.strip_prefix(prefix)?));
    let mut densities = text().filter_map(|word| word.strip_suffix("dpi")?.parse().ok());
    let (built, set) = (size("init=")?, size("base="));
    let (density, density_set) = (densities.next(), densities.next());
    let differs = |(now, built): &(Option<u32>, Option<u32>)| now != built;
    Some(Display {
        size: size("cur=")?,
        natural: set.unwrap_or(built),
        density: density_set.or(density),
        panel: Panel {
            size: built,
            size_set: set.filter(|&set| set != built),
            density,
            density_set: Some((density_set, density)).filter(differs).and_then(|(set, _)| set),
        },
    })
}

/// The window manager's section on display 0: the text from its heading to the next one.
pub(super) fn section(text: &str) -> Option<&str> {
    let mut end = 0;
    let mut headings = text.split_inclusive('\n').filter_map(|line| {
        let start = end;
        end += line.len();
        line.trim_start().strip_prefix(HEADING).map(|rest| (start, rest))
    });
    let (from, _) = headings.find(|(_, rest)| number(rest) == Some("0"))?;
    let to = headings.next().map_or(text.len(), |(start, _)| start);
    Some(&text[from..to])
}

const HEADING: &str = "Display: mDisplayId=";

/// The leading digits.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

fn size(text: &str) -> Option<Size> {
    let (width, height) = text.split_once('x')?;
    let side = |text: &str| text.parse().ok().filter(|&side: &i32| side > 0);
    Some(Size { width: side(width)?, height: side(height)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(out: &str) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status: Some(0) }
    }

    /// Size, natural size and density.
    fn check(out: &str, expected: (i32, i32, i32, i32, Option<u32>)) {
        let read = read_display(&output(out)).unwrap();
        let (size, natural) = (read.size, read.natural);
        let read = (size.width, size.height, natural.width, natural.height, read.density);
        assert_eq!(read, expected, "{out}");
    }

    #[test]
    fn size_follows_the_rotation() {
        // Android 4.4.4 (captures 038 and 436), a Pixel 9 Pro Fold with Android 16 (open and
        // rotated), an override.
        let upright = "  Display: mDisplayId=0\r\n    init=480x800 240dpi cur=480x800 app=480x764 rng=480x442-746x726\r\n";
        check(upright, (480, 800, 480, 800, Some(240)));
        let turned = "  Display: mDisplayId=0\n    init=480x800 240dpi cur=800x480 app=746x480\n";
        check(turned, (800, 480, 480, 800, Some(240)));
        let open = "  Display: mDisplayId=0\n    init=2076x2152 390dpi mMinSizeOfResizeableTaskDp=220 cur=2152x2076 app=2152x2076 rng=2076x2076-2152x2152\n";
        check(open, (2152, 2076, 2076, 2152, Some(390)));
        let smaller = "  Display: mDisplayId=0 stacks=4\n    init=1080x2400 420dpi base=540x1200 320dpi cur=1200x540 app=1200x540\n    cur=1x1";
        check(smaller, (1200, 540, 540, 1200, Some(320)));
    }

    #[test]
    fn android_4_0_has_one_display_without_a_number() {
        let upright = "WINDOW MANAGER WINDOWS (dumpsys window windows)\r\n  Display: init=480x800 base=480x800 cur=480x800 app=480x800 raw=480x800\r\n";
        check(upright, (480, 800, 480, 800, None));
        let turned = "  Display: init=480x800 base=480x800 cur=800x480 app=800x480 raw=800x480\n";
        check(turned, (800, 480, 480, 800, None));
    }

    #[test]
    fn display_0_is_used() {
        // As listed by a car with several displays (Android 12 or later).
        let car = "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=8 (organized)\n    init=800x480 213dpi mMinSizeOfResizeableTaskDp=220 cur=800x480 app=800x480 rng=480x480-800x800\n  mLayoutSeq=27\n  Display: mDisplayId=0 (organized)\n    init=4032x845 213dpi mMinSizeOfResizeableTaskDp=220 cur=4032x845\n";
        check(car, (4032, 845, 4032, 845, Some(213)));
    }

    #[test]
    fn panel_of_the_built_in_display_is_found() {
        // A Xiaomi Pad 6 with Android 14 (capture); an open Pixel 10 Pro Fold, in both orders; an
        // older format.
        let one = "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:4630946922172900481', physicalPort=129, orientation=0, logicalFrame=Rect(0, 0 - 1800, 2880)}]\n";
        assert_eq!(find_panel(one), Some("4630946922172900481"));
        let open = "DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:4619827677550801152', physicalPort=0}";
        let outer = "DisplayViewport{type=INTERNAL, valid=true, isActive=false, displayId=3, uniqueId='local:4619827677550801153', physicalPort=1}";
        for viewports in [format!("{open}, {outer}"), format!("{outer}, {open}")] {
            let output = format!("DISPLAY MANAGER\n  mViewports=[{viewports}]\n");
            assert_eq!(find_panel(&output), Some("4619827677550801152"));
        }
        let old = "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, displayId=0, uniqueId='local:0', physicalPort=0}]";
        assert_eq!(find_panel(old), Some("0"));
        // Android 4.4 has no such line (capture 040); a display made for a recording has no panel.
        for none in [
            "  mDefaultViewport=DisplayViewport{valid=true, displayId=0, orientation=0}",
            "  mViewports=[DisplayViewport{type=VIRTUAL, displayId=100000, uniqueId='virtual:x'}]",
            "  mViewports=[DisplayViewport{type=INTERNAL, displayId=0, uniqueId='local:x;reboot'}]",
            "Can't find service: display",
            "",
        ] {
            assert_eq!(find_panel(none), None, "{none}");
        }
    }

    #[test]
    fn viewport_has_rotation_and_size() {
        // A real Android 4.4.4, turned.
        let line = "  mDefaultViewport=DisplayViewport{valid=true, displayId=0, orientation=3, logicalFrame=Rect(0, 0 - 800, 480), physicalFrame=Rect(0, 0 - 800, 480), deviceWidth=800, deviceHeight=480}\r\n  mExternalTouchViewport=DisplayViewport{valid=false, displayId=0, orientation=0, logicalFrame=Rect(0, 0 - 0, 0)}\r\n";
        assert_eq!(find_viewport(line), Some((3, Size { width: 800, height: 480 })));
        for other in [line.replace("orientation=3", "orientation=7"), String::new()] {
            assert_eq!(find_viewport(&other), None);
        }
    }

    #[test]
    fn unparsable_output_is_in_the_error() {
        let other = "  Display: mDisplayId=8\n    init=800x480 213dpi cur=800x480\n";
        let unsaid =
            "  Display: mDisplayId=0\n  Display: mDisplayId=10\n    init=800x480 cur=800x480\n";
        let outs = ["dumpsys: not found", "cur=1x2", other, unsaid];
        let sizes = ["manyxfew", "0x0", "-1x5", "99999999999x1"]
            .map(|size| format!("  Display: mDisplayId=0\n    init={size} cur={size}\n"));
        for out in outs.map(str::to_owned).into_iter().chain(sizes) {
            let error = read_display(&output(&out)).unwrap_err().to_string();
            let first = out.lines().next().unwrap();
            assert!(error.contains("dumpsys window displays") && error.contains(first.trim()));
        }
        let err = "Can't find service: window".to_owned();
        let error =
            read_display(&CommandOutput { out: String::new(), err, status: None }).unwrap_err();
        assert!(error.to_string().contains("Can't find service: window"), "{error}");
    }

    #[test]
    fn rotation_depends_on_the_natural_orientation() {
        let display = |natural: (i32, i32)| {
            let natural = Size { width: natural.0, height: natural.1 };
            let panel = Panel { size: natural, size_set: None, density: None, density_set: None };
            Display { size: natural, natural, density: None, panel }
        };
        use Orientation::{Landscape, Portrait};
        let cases = [((1080, 2400), 0, 1), ((4032, 845), 1, 0), ((500, 500), 0, 1)];
        for (natural, upright, lying) in cases {
            let display = display(natural);
            assert_eq!(display.rotation_for(Portrait), upright, "{natural:?}");
            assert_eq!(display.rotation_for(Landscape), lying, "{natural:?}");
        }
    }
}

//! Displays as real phones report them, and which panel a screenshot is of on a phone with several.

use crate::common::Scripted;
use thumbwire_device::{Device as _, DisplayControl as _, Orientation, Size};
use thumbwire_test_support::capture;

/// Printed by a Pixel Fold before the PNG
/// (`shell/errors/screencap_multi-display-warning_android15.bin`).
const WARNING: &str = "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, however this default is not guaranteed to be consistent across captures. A display id should be specified.\nA display ID can be specified with the [-d display-id] option.\nSee \"dumpsys SurfaceFlinger --display-id\" for valid display IDs.\n";

/// A Pixel 10 Pro Fold, open; the geometry is shortened.
const VIEWPORTS: &str = "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:4619827677550801152', physicalPort=0}, DisplayViewport{type=INTERNAL, valid=true, isActive=false, displayId=3, uniqueId='local:4619827677550801153', physicalPort=1}]\n";

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let row = usize::try_from(width.div_ceil(8)).unwrap();
    let white = vec![255; row * usize::try_from(height).unwrap()];
    encoder.write_header().unwrap().write_image_data(&white).unwrap();
    png
}

fn warned(png: Vec<u8>) -> Vec<u8> {
    [WARNING.as_bytes(), &png].concat()
}

#[tokio::test]
async fn panel_is_passed_after_a_multi_display_warning() {
    let says = vec![
        ("screencap -p", warned(png(1080, 2364))),
        ("screencap -p -d '4619827677550801152'", png(2076, 2152)),
        ("dumpsys display", VIEWPORTS.into()),
    ];
    let (phone, device) = Scripted::attach(says).await;
    for _ in 0..2 {
        let picture = device.screenshot().await.unwrap();
        assert_eq!(picture.size, Size { width: 2076, height: 2152 });
    }
    let named = "screencap -p -d '4619827677550801152'";
    assert_eq!(phone.asked(), ["screencap -p", "dumpsys display", named, "dumpsys display", named]);
}

#[tokio::test]
async fn unknown_panel_keeps_the_first_screenshot() {
    let says = vec![("screencap -p", warned(png(1080, 2364)))];
    let (phone, device) = Scripted::attach(says).await;
    for _ in 0..2 {
        let picture = device.screenshot().await.unwrap();
        assert_eq!(picture.size, Size { width: 1080, height: 2364 });
    }
    assert_eq!(phone.asked().len(), 4, "each screenshot is taken once: {:?}", phone.asked());
}

#[tokio::test]
async fn refused_panel_is_not_named() {
    let says = vec![
        ("screencap -p", warned(png(1080, 2364))),
        (
            "screencap -p -d '4619827677550801152'",
            b"Display Id '4619827677550801152' is not valid.\n".to_vec(),
        ),
        ("dumpsys display", VIEWPORTS.into()),
    ];
    let (_phone, device) = Scripted::attach(says).await;
    for _ in 0..2 {
        let picture = device.screenshot().await.unwrap();
        assert_eq!(picture.size, Size { width: 1080, height: 2364 });
    }
}

#[tokio::test]
async fn phone_with_one_panel_gets_no_extra_command() {
    let (phone, device) = Scripted::attach(vec![("screencap -p", png(1080, 2400))]).await;
    device.screenshot().await.unwrap();
    assert_eq!(phone.asked(), ["screencap -p"]);
}

#[tokio::test]
async fn recorded_displays_are_parsed() {
    use Orientation::{Landscape, Portrait};
    // Android 4.4.4 in portrait and landscape, and a phone with Android 11.
    let recorded = [
        ("android-4.4.4/038-dumpsys-window-displays.out", Portrait, (480, 800)),
        ("android-4.4.4/436-dumpsys-window-displays-rotated.out", Landscape, (800, 480)),
        ("shell/window/talos_window-displays.txt", Portrait, (1080, 2340)),
    ];
    for (name, orientation, (width, height)) in recorded {
        let Some(output) = capture(name) else { continue };
        let (_phone, device) = Scripted::attach(vec![("dumpsys window displays", output)]).await;
        assert_eq!(device.orientation().await.unwrap(), orientation, "{name}");
        assert_eq!(device.screen_size().await.unwrap(), Size { width, height }, "{name}");
    }
}

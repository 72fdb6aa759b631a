//! `dumpsys display`: the displays, their sizes and rotation. Formats: `shell/display` of the
//! captures (`scrcpy_partial*.txt` for 11, the Xiaomi Pad for 14); a published `mBaseDisplayInfo`
//! for 9. That of 4.4 is in [`old`].

mod old;

use crate::phone::State;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;

/// The panel's id, as `screencap -d` takes it since 10; before, panels were counted.
fn panel(shape: DumpsysFormat) -> &'static str {
    if shape <= DumpsysFormat::Nine { "local:0" } else { "local:4619827259835644672" }
}

pub(super) fn report(phone: &mut State, _: &[&str]) -> String {
    if phone.release().shape == DumpsysFormat::Android4 {
        return old::report(phone);
    }
    let display = *phone.world.display();
    let (width, height, turned) = (display.width, display.height, display.rotation);
    let (natural_width, natural_height) = phone.world.physical_size();
    let density = display.density;
    let state = if phone.world.screen_on() { "ON" } else { "OFF" };
    let shape = phone.release().shape;
    let panel = panel(shape);
    let flags = "FLAG_SECURE, FLAG_SUPPORTS_PROTECTED_BUFFERS";
    let info = |size: &str| match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => format!(
            "DisplayInfo{{\"Built-in Screen, displayId 0\", uniqueId \"{panel}\", app {size}, real {size}, largest app {size}, smallest app {size}, mode 1, defaultMode 1, modes [{{id=1, width={natural_width}, height={natural_height}, fps=60.000004}}], colorMode 0, supportedColorModes [0, 7], rotation {turned}, density {density} ({density}.0 x {density}.0) dpi, layerStack 0, appVsyncOff 2000000, presDeadline 11666666, type BUILT_IN, address {{port=0}}, state {state}, {flags}, removeMode 0}}"
        ),
        later => format!(
            "DisplayInfo{{\"Built-in Screen\", displayId 0, {}{flags}, FLAG_TRUSTED, real {size}, largest app {size}, smallest app {size}, mode 1, defaultMode 1, rotation {turned}, state {state}, type INTERNAL, uniqueId \"{panel}\", app {size}, density {density} ({density}.0 x {density}.0) dpi, layerStack 0}}",
            if later == DumpsysFormat::Eleven { "" } else { "displayGroupId 0, " },
        ),
    };
    let active = if shape >= DumpsysFormat::Eleven { "isActive=true, " } else { "" };
    let phase = if shape >= DumpsysFormat::Thirteen { "    mPhase=1\n" } else { "" };
    let device = match shape >= DumpsysFormat::Sixteen {
        true => format!("Built-in Screen({panel})"),
        false => "Built-in Screen".to_owned(),
    };
    format!(
        "DISPLAY MANAGER (dumpsys display)\n  mSafeMode=false\n  mPendingTraversal=false\n  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, {active}displayId=0, uniqueId='{panel}', physicalPort=0, orientation={turned}, logicalFrame=Rect(0, 0 - {width}, {height}), physicalFrame=Rect(0, 0 - {width}, {height}), deviceWidth={width}, deviceHeight={height}}}]\n  mGlobalDisplayState={state}\n\nDisplay States: size=1\n  Display Id=0\n  Display State={state}\n\nLogical Displays: size=1\n  Display 0:\n    mDisplayId=0\n{phase}    mLayerStack=0\n    mHasContent=true\n    mPrimaryDisplayDevice={device}\n    mBaseDisplayInfo={}\n    mOverrideDisplayInfo={}\n",
        info(&format!("{natural_width} x {natural_height}")),
        info(&format!("{width} x {height}")),
    )
}

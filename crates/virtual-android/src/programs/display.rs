//! `cmd display`: brightness and the list of displays. Source: `DisplayManagerShellCommand.java` of
//! Android 9 to 14.

use super::Invocation;
use crate::io::Status;

/// Commands and their help, with the first release that has them.
const COMMANDS: [(&str, &str, u32); 21] = [
    (
        "set-brightness BRIGHTNESS",
        "Sets the current brightness to BRIGHTNESS (a number between 0 and 1).",
        9,
    ),
    ("reset-brightness-configuration", "Reset the brightness to its default configuration.", 9),
    ("ab-logging-enable", "Enable auto-brightness logging.", 10),
    ("ab-logging-disable", "Disable auto-brightness logging.", 10),
    ("dwb-logging-enable", "Enable display white-balance logging.", 10),
    ("dwb-logging-disable", "Disable display white-balance logging.", 10),
    ("dmd-logging-enable", "Enable display mode director logging.", 11),
    ("dmd-logging-disable", "Disable display mode director logging.", 11),
    (
        "dwb-set-cct CCT",
        "Sets the ambient color temperature override to CCT (use -1 to disable).",
        10,
    ),
    (
        "set-user-preferred-display-mode WIDTH HEIGHT REFRESH-RATE DISPLAY_ID (optional)",
        "Sets the user preferred display mode which has fields WIDTH, HEIGHT and REFRESH-RATE. If DISPLAY_ID is passed, the mode change is applied to displaywith id = DISPLAY_ID, else mode change is applied globally.",
        12,
    ),
    (
        "clear-user-preferred-display-mode DISPLAY_ID (optional)",
        "Clears the user preferred display mode. If DISPLAY_ID is passed, the mode is cleared for  display with id = DISPLAY_ID, else mode is cleared globally.",
        12,
    ),
    (
        "get-user-preferred-display-mode DISPLAY_ID (optional)",
        "Returns the user preferred display mode or null if no mode is set by user.If DISPLAY_ID is passed, the mode for display with id = DISPLAY_ID is returned, else global display mode is returned.",
        12,
    ),
    (
        "get-active-display-mode-at-start DISPLAY_ID",
        "Returns the display mode which was found at boot time of display with id = DISPLAY_ID",
        12,
    ),
    (
        "set-match-content-frame-rate-pref PREFERENCE",
        "Sets the match content frame rate preference as PREFERENCE ",
        12,
    ),
    ("get-match-content-frame-rate-pref", "Returns the match content frame rate preference", 12),
    ("set-user-disabled-hdr-types TYPES...", "Sets the user disabled HDR types as TYPES", 12),
    ("get-user-disabled-hdr-types", "Returns the user disabled HDR types", 12),
    (
        "get-displays [CATEGORY]",
        "Returns the current displays. Can specify string category among\n    DisplayManager.DISPLAY_CATEGORY_*; must use the actual string value.",
        13,
    ),
    ("dock", "Sets docked state.", 13),
    ("undock", "Sets undocked state.", 13),
    (
        "enable-display DISPLAY_ID",
        "Enable the DISPLAY_ID. Only possible if this is a connected display.",
        14,
    ),
];

/// The arguments of an Intent, which the help ends with.
const INTENT: &str = include_str!("words/android-9/intent.txt");

/// `cmd display set-brightness N`, `get-displays` and so on.
pub(super) async fn display(call: Invocation) -> Status {
    let name = call.arg(0).unwrap_or_default();
    let major = call.release().major;
    let known = COMMANDS
        .iter()
        .any(|(usage, _, since)| *since <= major && usage.split(' ').next() == Some(name));
    if matches!(name, "" | "help" | "-h") {
        let rows: String = COMMANDS
            .iter()
            .filter(|row| row.2 <= major)
            .map(|(usage, help, _)| format!("  {usage}\n    {help}\n"))
            .collect();
        call.out(format!(
            "Display manager commands:\n  help\n    Print this help text.\n\n{rows}\n{INTENT}"
        ))
        .await?;
        return Ok(if name.is_empty() { 255 } else { 0 });
    }
    if !known {
        return call.out(format!("Unknown command: {name}\n")).await.map(|()| 255);
    }
    let wrong = match (name, call.arg(1)) {
        ("set-brightness", None) => Some("no brightness specified"),
        ("set-brightness", Some(text)) => {
            match text.parse::<f64>().ok().filter(|value| (0.0..=1.0).contains(value)) {
                None => Some("brightness should be a number between 0 and 1"),
                Some(value) => {
                    // Stored as the settings have it: 1 to 255.
                    let level = (value * 254.0).round() as i64 + 1;
                    call.phone.with(|phone| {
                        let level = level.to_string();
                        phone.world.put_setting("system", "screen_brightness", &level);
                    });
                    None
                }
            }
        }
        ("dwb-set-cct", None) => Some("no cct specified"),
        ("dwb-set-cct", Some(text)) if text.parse::<f64>().is_err() => {
            Some("cct should be a number")
        }
        ("get-active-display-mode-at-start" | "enable-display", None) => {
            Some("no displayId specified")
        }
        ("set-match-content-frame-rate-pref", None) => {
            Some("no matchContentFrameRatePref specified")
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        call.err(format!("Error: {wrong}\n")).await;
        return Ok(1);
    }
    let text = call.phone.with(|phone| match name {
        "get-displays" if call.arg(1).is_some() => "Displays:\n".to_owned(),
        "get-displays" => displays(phone),
        "get-user-preferred-display-mode" => "User preferred display mode: null\n".to_owned(),
        "get-active-display-mode-at-start" => {
            let (width, height) = phone.world.physical_size();
            format!("Boot display mode: {width} {height} 60.0\n")
        }
        "get-match-content-frame-rate-pref" => "Match content frame rate type: 1\n".to_owned(),
        "get-user-disabled-hdr-types" => "User disabled HDR types: []\n".to_owned(),
        _ => String::new(),
    });
    call.out(text).await.map(|()| 0)
}

/// `DisplayInfo` of the one display.
fn displays(phone: &crate::phone::State) -> String {
    let display = phone.world.display();
    let (width, height) = (display.width, display.height);
    let (real_width, real_height) = phone.world.physical_size();
    let state = if phone.world.screen_on() { "ON" } else { "OFF" };
    let density = display.density;
    format!(
        "Displays:\nDisplay id 0: DisplayInfo{{\"Built-in Screen\", displayId 0, displayGroupId 0, FLAG_SECURE, FLAG_SUPPORTS_PROTECTED_BUFFERS, FLAG_TRUSTED, real {width} x {height}, largest app {width} x {height}, smallest app {width} x {height}, appVsyncOff 1000000, presDeadline 16666666, mode 1, defaultMode 1, modes [{{id=1, width={real_width}, height={real_height}, fps=60.0, alternativeRefreshRates=[]}}], hdrCapabilities null, userDisabledHdrTypes [], minimalPostProcessingSupported false, rotation {}, state {state}, type INTERNAL, uniqueId \"local:4619827259835644672\", app {width} x {height}, density {density} ({density}.0 x {density}.0) dpi, layerStack 0, colorMode 0, supportedColorModes [0]}}, DisplayMetrics{{density={:?}, width={width}, height={height}, scaledDensity={:?}, xdpi={density}.0, ydpi={density}.0}}, isValid=true\n",
        display.rotation,
        display.scale(),
        display.scale(),
    )
}

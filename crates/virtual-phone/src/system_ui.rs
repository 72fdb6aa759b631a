//! The system UI: status bar, gesture bar and toasts.
//!
//! Only views; `windows` assembles the windows.

use crate::clock::time_of_day;
use crate::device::Battery;
use crate::settings::Settings;
use crate::theme;
use crate::theme::Colour;
use crate::view::{View, class, column, frame, icon, row, spacer, text};
use jiff::civil::DateTime;
use thumbwire_virtual_screen::icons::Icon;

/// The package that owns the bars.
pub(crate) const PACKAGE: &str = "com.android.systemui";
/// Height of the status bar in dp.
pub(crate) const STATUS: f32 = 32.0;
/// Height of the gesture bar in dp.
pub(crate) const NAVIGATION: f32 = 24.0;

/// The status bar: notification icons and active radios; `light` is for dark backgrounds.
pub(crate) fn status(
    clock: DateTime,
    battery: &Battery,
    settings: &Settings,
    notifications: &[(Icon, String)],
    light: bool,
) -> View {
    let style = if light { theme::WHITE } else { theme::ON_SURFACE };
    let time = time_of_day(clock);
    let sign = |symbol, words: &str| icon(symbol, 16.0, style).content_description(words);
    let mut signs = vec![
        text(&time, theme::LABEL_LARGE.colour(style)).id("clock").content_description(time.clone()),
    ];
    if !notifications.is_empty() {
        let icons = notifications.iter().map(|(symbol, words)| sign(*symbol, words));
        signs.push(row(icons).gap(4.0).pad_each(3.0, 0.0, 0.0, 0.0).id("notificationIcons"));
    }
    signs.push(spacer());
    if settings.wifi() {
        signs.push(sign(Icon::NetworkWifi, "Wifi signal full.").id("wifi_signal"));
    }
    if settings.on("global", "airplane_mode_on") {
        signs.push(sign(Icon::AirplanemodeActive, "Airplane mode."));
    } else {
        signs.push(sign(Icon::SignalCellular4Bar, "Phone signal full.").id("mobile_signal"));
    }
    let symbol = if battery.charging { Icon::BatteryChargingFull } else { Icon::BatteryFull };
    let mut charge = Vec::new();
    if settings.on("system", "status_bar_show_battery_percent") {
        let level = format!("{}%", battery.level);
        charge.push(text(level, theme::LABEL.colour(style)).id("battery_percentage"));
    }
    charge.push(icon(symbol, 16.0, style).hide_from_accessibility());
    signs.push(row(charge).content_description(format!("Battery {} percent.", battery.level)));
    row(signs).pad_xy(20.0, 0.0).gap(5.0).id("status_bar")
}

/// The gesture bar: a pill near the edge; `light` is for dark backgrounds.
pub(crate) fn navigation(light: bool) -> View {
    let style = if light { theme::WHITE } else { Colour::hex(0x2B2D30) };
    let pill = View::new(class::VIEW, [])
        .size(118.0, 4.0)
        .radius(2.0)
        .fill(style)
        .hide_from_accessibility();
    frame([pill]).justify_center().align_center().id("navigation_bar_frame")
}

/// A toast near the bottom of the screen.
pub(crate) fn toast(words: &str) -> View {
    let style = theme::BODY.colour(Colour::hex(0xF2F2F2)).lines(2).centered();
    let bubble = row([text(words, style)])
        .fill(theme::INVERSE_SURFACE)
        .radius(24.0)
        .pad_xy(24.0, 14.0)
        .max_width(340.0)
        .elevation(3.0);
    column([spacer(), bubble.align_self_center()]).pad_each(24.0, 0.0, 24.0, 52.0)
}

//! What the system itself paints: status bar, gesture bar and toasts.
//!
//! Only views; the windows they stand in are put together in `stage`.

use super::Battery;
use super::app::Clock;
use super::icons::Icon;
use super::settings::Settings;
use super::theme::{self, Colour};
use super::view::{View, class, column, frame, icon, row, spring, text};

/// The package that owns the bars.
pub(crate) const PACKAGE: &str = "com.android.systemui";
/// Height of the status bar in dp.
pub(crate) const STATUS: f32 = 32.0;
/// Height of the gesture bar in dp.
pub(crate) const NAVIGATION: f32 = 24.0;

/// The status bar, which shows who has posted notifications and the radios that are on; `light` paints it for a dark ground.
pub(crate) fn status(
    clock: &Clock,
    battery: &Battery,
    settings: &Settings,
    notifications: &[(Icon, String)],
    light: bool,
) -> View {
    let ink = if light { theme::WHITE } else { theme::ON_SURFACE };
    let time = format!("{}:{:02}", clock.hour, clock.minute);
    let sign = |symbol, words: &str| icon(symbol, 16.0, ink).describe(words);
    let mut signs =
        vec![text(&time, theme::LABEL_LARGE.colour(ink)).id("clock").describe(time.clone())];
    if !notifications.is_empty() {
        let icons = notifications.iter().map(|(symbol, words)| sign(*symbol, words));
        signs.push(row(icons).gap(4.0).pad_each(3.0, 0.0, 0.0, 0.0).id("notificationIcons"));
    }
    signs.push(spring());
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
        charge.push(text(level, theme::LABEL.colour(ink)).id("battery_percentage"));
    }
    charge.push(icon(symbol, 16.0, ink).unlisted());
    signs.push(row(charge).describe(format!("Battery {} percent.", battery.level)));
    row(signs).pad_xy(20.0, 0.0).gap(5.0).id("status_bar")
}

/// The gesture bar: a pill near the edge; `light` paints it for a dark ground.
pub(crate) fn navigation(light: bool) -> View {
    let ink = if light { theme::WHITE } else { Colour::hex(0x2B2D30) };
    let pill = View::new(class::VIEW, []).size(118.0, 4.0).radius(2.0).fill(ink).unlisted();
    frame([pill]).pack_center().align_center().id("navigation_bar_frame")
}

/// A short message above the bottom of the screen.
pub(crate) fn toast(words: &str) -> View {
    let style = theme::BODY.colour(Colour::hex(0xF2F2F2)).lines(2).centered();
    let bubble = row([text(words, style)])
        .fill(theme::INVERSE_SURFACE)
        .radius(24.0)
        .pad_xy(24.0, 14.0)
        .max_width(340.0)
        .raise(3.0);
    column([spring(), bubble.self_center()]).pad_each(24.0, 0.0, 24.0, 52.0)
}

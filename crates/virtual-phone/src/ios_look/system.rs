//! The status bar and the home indicator.

use crate::clock::time_of_day;
use crate::device::Battery;
use crate::ios_look::colours::BLACK;
use crate::settings::Settings;
use crate::theme::{self, Colour, TextAppearance};
use crate::view::{View, class, frame, icon, row, spacer, text};
use jiff::civil::DateTime;
use thumbwire_virtual_screen::icons::Icon;

/// The status bar: the time at the left, radios and battery at the right; `light` is for dark
/// backgrounds.
pub(crate) fn status(clock: DateTime, battery: &Battery, settings: &Settings, light: bool) -> View {
    let ink = if light { theme::WHITE } else { BLACK };
    let style = TextAppearance { size: 15.0, line: 20.0, ..theme::TITLE.colour(ink) };
    let time = time_of_day(clock);
    let sign = |symbol, words: &str| icon(symbol, 18.0, ink).content_description(words);
    let mut parts =
        vec![text(&time, style).id("clock").content_description(time.clone()), spacer()];
    if settings.on("global", "airplane_mode_on") {
        parts.push(sign(Icon::AirplanemodeActive, "Airplane mode on"));
    } else {
        parts.push(signal(ink).content_description("4 of 4 bars, signal strength"));
    }
    if settings.wifi() {
        parts.push(sign(Icon::Wifi, "3 of 3 Wi-Fi bars"));
    }
    parts.push(charge(battery, ink));
    row(parts).gap(5.0).pad_each(32.0, 8.0, 24.0, 0.0).id("status_bar")
}

/// Four bars of a mobile network's signal.
fn signal(ink: Colour) -> View {
    let bar = |height: f32| {
        let bar = View::new(class::VIEW, []).size(3.0, height).radius(1.0).fill(ink);
        bar.margin(0.0, 12.0 - height, 0.0, 0.0).hide_from_accessibility()
    };
    row([4.0, 6.5, 9.0, 12.0].map(bar)).gap(2.0)
}

/// A lying battery, filled as far as it is charged.
fn charge(battery: &Battery, ink: Colour) -> View {
    let part = f32::from(battery.level.min(100)) / 100.0;
    let level = View::new(class::VIEW, [])
        .absolute([Some(2.0), Some(2.0), None, Some(2.0)])
        .width(20.0 * part)
        .radius(2.0)
        .fill(ink);
    let body = frame([level.hide_from_accessibility()])
        .size(24.0, 12.0)
        .radius(3.5)
        .border(1.0, ink.alpha(120));
    let tip = View::new(class::VIEW, []).size(1.5, 4.0).radius(0.7).fill(ink.alpha(120));
    let state = if battery.charging { ", charging" } else { "" };
    row([body.hide_from_accessibility(), tip.hide_from_accessibility()])
        .gap(1.0)
        .margin(2.0, 0.0, 0.0, 0.0)
        .content_description(format!("{}% battery power{state}", battery.level))
        .id("battery")
}

/// The bar at the lower edge from which a swipe up leads home; `light` is for dark backgrounds.
pub(crate) fn home_indicator(light: bool) -> View {
    let ink = if light { theme::WHITE } else { BLACK };
    let bar = View::new(class::VIEW, []).size(139.0, 5.0).radius(2.5).fill(ink);
    let bar = row([bar.hide_from_accessibility()]).justify_center();
    frame([bar.absolute([Some(0.0), None, Some(0.0), Some(8.0)])]).id("home_indicator")
}

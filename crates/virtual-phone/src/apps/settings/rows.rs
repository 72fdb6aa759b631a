//! The rows of Settings. Resource ids are those of Android's preference screens.

use crate::app::DrawContext;
use crate::platform::Role;
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View, class, column, icon, row, text};
use crate::widgets::{badge, slider, switch};
use thumbwire_virtual_screen::icons::Icon;

/// A title and secondary text below (omitted if empty).
fn title_and_summary(title: &str, below: &str) -> View {
    let mut lines = vec![text(title, theme::BODY_LARGE.lines(2)).id("android:id/title")];
    if !below.is_empty() {
        lines.push(text(below, theme::BODY.quiet().lines(3)).id("android:id/summary"));
    }
    column(lines).gap(1.0).grow()
}

/// An informational row that takes no touches.
pub(super) fn info_row(title: &str, below: &str) -> View {
    row([title_and_summary(title, below)])
        .gap(16.0)
        .pad_xy(24.0, 12.0)
        .min_height(72.0)
        .fill_width()
        .role(Role::Cell)
}

/// A row that opens something.
pub(super) fn link(title: &str, below: &str, tag: impl Into<Tag>) -> View {
    info_row(title, below).on_tap(tag)
}

/// A row of the first page, with its icon on a coloured background.
pub(super) fn category_row(
    symbol: Icon,
    fill: Colour,
    title: &str,
    below: &str,
    tag: impl Into<Tag>,
) -> View {
    let sign = badge(symbol, 40.0, fill, theme::WHITE).id("android:id/icon");
    row([sign, title_and_summary(title, below)])
        .gap(20.0)
        .pad_xy(24.0, 10.0)
        .min_height(76.0)
        .fill_width()
        .on_tap(tag)
}

/// The setting of a switch, and its values for off and on.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    pub(super) off: &'static str,
    pub(super) on: &'static str,
}

impl Setting {
    /// A setting that is `0` or `1`.
    pub(super) const fn new(table: &'static str, name: &'static str) -> Self {
        Self { table, name, off: "0", on: "1" }
    }
}

/// A row with a switch for a setting.
pub(super) fn toggle(env: &DrawContext<'_>, title: &str, below: &str, setting: Setting) -> View {
    let on = env.settings.on(setting.table, setting.name);
    let value = if on { setting.off } else { setting.on };
    toggle_as(title, below, on, &[(setting.table, setting.name, value)])
}

/// A row with a switch in state `on` that sets these settings when tapped.
pub(super) fn toggle_as(title: &str, below: &str, on: bool, puts: &[(&str, &str, &str)]) -> View {
    row([title_and_summary(title, below), switch(on)])
        .gap(16.0)
        .pad_xy(24.0, 12.0)
        .min_height(72.0)
        .fill_width()
        .on_tap(("put", puts_tag(puts)))
}

/// The main switch of a page, on a coloured background.
pub(super) fn main_switch(title: &str, on: bool, puts: &[(&str, &str, &str)]) -> View {
    let fill = if on { theme::PRIMARY_CONTAINER } else { theme::SURFACE_HIGH };
    let title = text(title, theme::TITLE_LARGE.lines(2)).id("switch_text").grow();
    row([title, switch(on)])
        .gap(16.0)
        .pad_xy(24.0, 14.0)
        .min_height(76.0)
        .fill(fill)
        .radius(28.0)
        .margin(16.0, 8.0, 16.0, 12.0)
        .id("main_switch_bar")
        .on_tap(("put", puts_tag(puts)))
}

/// The settings to change, encoded in a tag: one per line.
fn puts_tag(puts: &[(&str, &str, &str)]) -> String {
    let lines = puts.iter().map(|(table, name, value)| format!("{table} {name} {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A slider for a setting between two numbers, with its position in percent.
pub(super) fn slider_row(
    env: &DrawContext<'_>,
    symbol: Icon,
    title: &str,
    name: &str,
    (least, most): (i64, i64),
) -> View {
    let value = env.settings.number("system", name, least).clamp(least, most);
    let part = (value - least) as f32 / (most - least).max(1) as f32;
    let percent = format!("{}%", (part * 100.0).round());
    let head = row([
        text(title, theme::BODY_LARGE.lines(1)).id("android:id/title").grow(),
        text(&percent, theme::BODY.quiet()).id("android:id/summary"),
    ]);
    let tag = ("level", format!("system {name} {least} {most}"));
    let bar = slider(symbol, part, title, tag).id("android:id/seekbar");
    column([head.gap(16.0), bar]).gap(4.0).pad_xy(24.0, 10.0).fill_width()
}

/// A category heading in the theme's colour.
pub(super) fn heading(title: &str) -> View {
    text(title, theme::LABEL_LARGE.colour(theme::PRIMARY))
        .pad_each(24.0, 20.0, 24.0, 4.0)
        .id("android:id/title")
}

/// One of several choices in a dialog.
pub(super) fn choice(title: &str, on: bool, puts: &[(&str, &str, &str)]) -> View {
    let (symbol, ink) = if on {
        (Icon::RadioButtonChecked, theme::PRIMARY)
    } else {
        (Icon::RadioButtonUnchecked, theme::ON_SURFACE_VARIANT)
    };
    let label = text(title, theme::BODY_LARGE.lines(1)).grow();
    row([icon(symbol, 24.0, ink).hide_from_accessibility(), label.hide_from_accessibility()])
        .class(class::RADIO)
        .gap(16.0)
        .pad_xy(24.0, 0.0)
        .height(theme::TOUCH)
        .fill_width()
        .dump_text(title)
        .checked(on)
        .id("android:id/text1")
        .on_tap(("put", puts_tag(puts)))
}

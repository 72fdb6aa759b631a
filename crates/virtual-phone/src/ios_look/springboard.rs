//! The home screen: a grid of icons on each page, a dock below, no drawer.

use crate::app::DrawContext;
use crate::packages::{AppIcon, Manifest};
use crate::platform::Role;
use crate::theme::{self, TextAppearance};
use crate::view::{View, class, column, icon, row, spacer, text};

/// The apps of the dock, in this order, as far as they are installed.
const DOCK: [&str; 4] = [
    "com.google.android.apps.messaging",
    "com.android.chrome",
    "com.google.android.apps.maps",
    "com.google.android.contacts",
];
/// Height of an icon with its label, in points.
const CELL: f32 = 96.0;
/// Side of an icon, in points.
const SIDE: f32 = 60.0;

/// A page of the home screen, counted from 0; `apps` are those with an icon, in order.
pub(crate) fn springboard(env: &DrawContext<'_>, apps: Vec<&Manifest>, page: usize) -> View {
    let (width, height) = env.size;
    let wide = env.wide();
    let columns = if wide { 6 } else { 4 };
    let (mut docked, others): (Vec<&Manifest>, Vec<&Manifest>) =
        apps.into_iter().partition(|app| DOCK.contains(&app.package.as_str()));
    docked.sort_by_key(|app| DOCK.iter().position(|package| *package == app.package));
    let top = env.insets.0 + if wide { 16.0 } else { 28.0 };
    // The dock and the dots above it.
    let below = 96.0 + 40.0 + 24.0;
    let rows = (((height - top - below) / CELL) as usize).clamp(1, 6);
    let pages = others.len().div_ceil(rows * columns).max(1);
    let page = page.min(pages - 1);
    let room = width - 32.0;
    let cell = |app: &&Manifest| cell(app, (room / columns as f32).floor(), true);
    let grid = others.iter().skip(page * rows * columns).take(rows * columns).map(cell);
    let grid = row(grid).wraps().align_start().fill_width().id("icons");
    let dock = docked.iter().map(|app| self::cell(app, ((room - 8.0) / 4.0).floor(), false));
    let dock = row(dock)
        .fill_width()
        .justify_center()
        .pad_xy(4.0, 12.0)
        .fill(theme::WHITE.alpha(90))
        .radius(32.0)
        .content_description("Dock")
        .id("dock");
    let mut home = column([grid, spacer(), dots(page, pages), dock])
        .gap(12.0)
        .pad_each(16.0, top, 16.0, env.insets.1 - 4.0)
        .id("home_screen");
    if page + 1 < pages {
        home = home.on_swipe_left(("page", page + 1));
    }
    if page > 0 {
        home = home.on_swipe_right(("page", page - 1));
    }
    home
}

fn dots(page: usize, pages: usize) -> View {
    let dots = (0..pages).map(|at| {
        let alpha = if at == page { 255 } else { 110 };
        View::new(class::VIEW, []).size(7.0, 7.0).radius(3.5).fill(theme::WHITE.alpha(alpha))
    });
    row(dots.map(View::hide_from_accessibility))
        .gap(9.0)
        .justify_center()
        .fill_width()
        .content_description(format!("page {} of {pages}", page + 1))
        .role(Role::PageIndicator)
        .id("page_indicator")
}

/// An icon, with the app's name below it outside the dock.
fn cell(app: &Manifest, width: f32, labelled: bool) -> View {
    let style = TextAppearance { size: 12.0, line: 16.0, medium: false, ..theme::LABEL };
    let label = text(&app.label, style.colour(theme::WHITE).centered().lines(1));
    let mut parts = vec![sign(app).hide_from_accessibility()];
    if labelled {
        parts.push(label.fill_width().hide_from_accessibility());
    }
    column(parts)
        .class(class::IMAGE)
        .width(width)
        .height(if labelled { CELL } else { SIDE })
        .align_center()
        .gap(5.0)
        .dump_text(&*app.label)
        .content_description(&*app.label)
        .id("icon")
        .role(Role::Icon)
        .on_tap(("launch", &app.package))
}

/// A rounded square with the app's symbol, or its first letter.
fn sign(app: &Manifest) -> View {
    let AppIcon { symbol, fill, ink } = app.icon;
    let letter = TextAppearance { size: 30.0, line: 36.0, ..theme::HEADLINE }.centered();
    let face = if app.installation.is_some() {
        let first = app.label.chars().find(|ch| ch.is_alphanumeric()).unwrap_or('?');
        text(first.to_uppercase().collect::<String>(), letter.colour(theme::WHITE))
    } else {
        icon(symbol, 36.0, ink)
    };
    row([face]).class(class::IMAGE).size(SIDE, SIDE).justify_center().fill(fill).radius(13.5)
}

//! The home screen and the app drawer.
//!
//! Swipe up for the drawer, down or back to leave it; swipe sideways for the other pages of the
//! home screen. It shows every installed app with an icon; it knows no app by name except the order
//! of its dock.

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event};
use crate::apps::generic_app::sign;
use crate::clock::{SHORT_DATE, time_of_day};
use crate::ios_look::springboard;
use crate::packages::{AppIcon, Manifest};
use crate::tasks::HOME;
use crate::theme;
use crate::theme::{Colour, TextAppearance};
use crate::view::{
    FieldTraits, ImeAction, View, class, column, frame, icon, picture, row, spacer, text,
};
use crate::widgets::field;
use thumbwire_virtual_screen::Platform;
use thumbwire_virtual_screen::icons::Icon;
use thumbwire_virtual_screen::picture::{Mark, Picture};

/// The launcher's state: home screen or drawer.
#[derive(Default)]
pub(crate) struct Launcher {
    drawer: bool,
    query: String,
    /// The visible page of the home screen, counted from 0.
    page: usize,
}

/// The apps of the dock, in this order, as far as they are installed.
const DOCK: [&str; 5] = [
    "com.google.android.dialer",
    "com.google.android.apps.messaging",
    "com.google.android.apps.maps",
    "com.android.chrome",
    "com.android.settings",
];
/// Icons per page of the home screen, besides the dock.
const ON_HOME: usize = 8;
/// Below this height, in dp, an upright screen has room for one row.
const SHORT: f32 = 600.0;
/// Icons per row in landscape.
const COLUMNS_WIDE: usize = 7;
const ON_WALLPAPER: TextAppearance = theme::BODY_LARGE.colour(theme::WHITE);

impl BuiltInApp for Launcher {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Launcher",
        version: "14",
        icon: AppIcon { symbol: Icon::Home, fill: theme::PRIMARY, ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: HOME,
            version_code: 34,
            activities: &["com.android.launcher3.uioverrides.QuickstepLauncher"],
            has_icon: false,
            permissions: &[],
        },
        ios: IosIdentity { bundle_id: "com.apple.springboard" },
    };

    fn new(_seed: u64) -> Self {
        Self::default()
    }
}

impl App for Launcher {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let (width, height) = env.size;
        let front = match (env.platform, self.drawer) {
            (Platform::Ios, _) => springboard(env, launchable(env), self.page),
            (Platform::Android, true) => self.all_apps(env),
            (Platform::Android, false) => home(env, self.page),
        };
        let view = frame([
            picture(wallpaper(width, height)).fill_parent().hide_from_accessibility(),
            front.fill_parent(),
        ]);
        let view = if self.drawer { view } else { view.light_bars() };
        view.edge_to_edge().id("launcher").gradient(Colour::hex(0x16325C), Colour::hex(0x3E7CB1))
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => match tag.name {
                "launch" => context.launch(tag.value),
                "open drawer" => self.drawer = true,
                "close drawer" => self.close(context),
                "page" => self.page = tag.value.parse().unwrap_or(0),
                "search" => {
                    self.drawer = true;
                    context.focus("fallback_search_view");
                }
                _ => {}
            },
            Event::Text { text, .. } => self.query = text,
            Event::Action { .. } => context.unfocus(),
            // Home or back was pressed: both lead to the home screen.
            Event::Intent(_) | Event::Back => {
                self.page = 0;
                self.close(context);
            }
            _ => {}
        }
    }
}

impl Launcher {
    fn close(&mut self, context: &mut AppContext<'_>) {
        self.drawer = false;
        self.query.clear();
        context.unfocus();
        context.scroll_to_top("apps_list_view");
    }

    fn all_apps(&self, env: &DrawContext<'_>) -> View {
        let wanted = self.query.trim().to_lowercase();
        let found =
            launchable(env).into_iter().filter(|app| app.label.to_lowercase().contains(&wanted));
        let cells: Vec<View> = found.map(|app| app_icon(app, env, theme::ON_SURFACE)).collect();
        let nothing = cells.is_empty();
        let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
        let input =
            field("fallback_search_view", &self.query, "Search apps", theme::BODY_LARGE, traits);
        let bar = row([icon(Icon::Search, 22.0, theme::ON_SURFACE_VARIANT), input.grow()])
            .gap(14.0)
            .pad_xy(18.0, 0.0)
            .height(52.0)
            .fill_width()
            .fill(theme::SURFACE_HIGH)
            .radius(26.0)
            .id("search_container_all_apps");
        let mut list = vec![row(cells).wraps().align_start().fill_width()];
        if nothing {
            let words = format!("No apps found matching \u{201c}{}\u{201d}", self.query.trim());
            list.push(text(words, theme::BODY.quiet()).pad(16.0).id("empty_text"));
        }
        let list = column(list)
            .scrolls()
            .class(class::LIST)
            .id("apps_list_view")
            .pad_each(0.0, 12.0, 0.0, env.insets.1 + 16.0)
            .grow();
        let handle =
            View::new(class::VIEW, []).size(36.0, 4.0).radius(2.0).fill(theme::OUTLINE_VARIANT);
        column([handle.align_self_center().hide_from_accessibility(), bar, list])
            .gap(14.0)
            .pad_each(16.0, env.insets.0 + 12.0, 16.0, 0.0)
            .fill(theme::SURFACE_LOW)
            .id("apps_view")
            .on_swipe_down("close drawer")
    }
}

fn home(env: &DrawContext<'_>, page: usize) -> View {
    let (docked, others): (Vec<_>, Vec<_>) =
        launchable(env).into_iter().partition(|app| DOCK.contains(&app.package.as_str()));
    let place = |app: &Manifest| DOCK.iter().position(|package| *package == app.package);
    let (mut docked, mut others) = (docked, others);
    docked.sort_by_key(|app| place(app));
    // A low window has room for one row of icons.
    let low = env.wide() && env.size.1 <= 500.0;
    if low {
        docked.extend(others.drain(..).take(COLUMNS_WIDE.saturating_sub(docked.len())));
    }
    let here = if short(env.size) { ON_HOME / 2 } else { ON_HOME };
    let pages = others.len().div_ceil(here).max(1);
    let page = page.min(pages - 1);
    let shown = others.into_iter().skip(page * here).take(here);
    let grid = shown.map(|app| app_icon(app, env, theme::WHITE));
    let grid = row(grid).wraps().align_start().fill_width().id("workspace_grid");
    let dock = docked.into_iter().map(|app| app_icon(app, env, theme::WHITE));
    let dock = row(dock).justify_center().fill_width().id("hotseat");
    let search = row([
        icon(Icon::Search, 24.0, theme::PRIMARY).hide_from_accessibility(),
        text("Search your phone", theme::BODY_LARGE.quiet().lines(1))
            .grow()
            .hide_from_accessibility(),
        icon(Icon::Mic, 24.0, theme::ON_SURFACE_VARIANT).hide_from_accessibility(),
    ])
    .class(class::FRAME)
    .gap(14.0)
    .pad_xy(18.0, 0.0)
    .height(56.0)
    .fill_width()
    .fill(theme::SURFACE)
    .radius(28.0)
    .elevation(2.0)
    .id("search_container_hotseat")
    .dump_text("Search your phone")
    .on_tap("search");
    let bottom = column([dock, search]).gap(18.0).fill_width();
    let mut parts = vec![glance(env)];
    parts.push(spacer());
    if !low {
        parts.push(grid);
        if pages > 1 {
            parts.push(page_indicator(page, pages));
        }
    }
    parts.push(bottom);
    let mut home = column(parts)
        .gap(16.0)
        .pad_each(16.0, env.insets.0 + 20.0, 16.0, env.insets.1 + 16.0)
        .id("workspace")
        .on_swipe_up("open drawer");
    if page + 1 < pages {
        home = home.on_swipe_left(("page", page + 1));
    }
    if page > 0 {
        home = home.on_swipe_right(("page", page - 1));
    }
    home
}

fn short((width, height): (f32, f32)) -> bool {
    width < height && height < SHORT
}

/// A dot for each page; the texts are those of Android's launcher.
fn page_indicator(page: usize, pages: usize) -> View {
    let dots = (0..pages).map(|at| {
        let alpha = if at == page { 255 } else { 110 };
        View::new(class::VIEW, []).size(7.0, 7.0).radius(3.5).fill(theme::WHITE.alpha(alpha))
    });
    row(dots.map(View::hide_from_accessibility))
        .class(class::VIEW)
        .gap(8.0)
        .justify_center()
        .fill_width()
        .content_description(format!("Home screen {} of {pages}", page + 1))
        .id("page_indicator")
}

/// Date, weather and a large clock.
fn glance(env: &DrawContext<'_>) -> View {
    let clock = env.clock;
    let date = clock.strftime(SHORT_DATE).to_string();
    let time = time_of_day(clock);
    let weather = row([
        icon(Icon::WbSunny, 20.0, Colour::hex(0xFFD667)).hide_from_accessibility(),
        text("18°C", ON_WALLPAPER).id("weather"),
    ]);
    let line = row([
        text(date, ON_WALLPAPER).id("date"),
        weather.gap(6.0).content_description("Sunny, 18 degrees"),
    ]);
    let big =
        TextAppearance { size: 64.0, line: 72.0, ..theme::DISPLAY_LARGE.colour(theme::WHITE) };
    let big = if env.wide() { TextAppearance { size: 44.0, line: 50.0, ..big } } else { big };
    column([text(time.clone(), big).id("clock_view").content_description(time), line.gap(14.0)])
        .pad_xy(8.0, 0.0)
        .id("smartspace")
}

fn launchable<'a>(env: &DrawContext<'a>) -> Vec<&'a Manifest> {
    let mut apps: Vec<&Manifest> =
        env.packages.iter().copied().filter(|app| app.launcher.is_some()).collect();
    apps.sort_by(|a, b| a.label.cmp(&b.label));
    apps
}

fn app_icon(app: &Manifest, env: &DrawContext<'_>, ink: Colour) -> View {
    let columns = if env.wide() { COLUMNS_WIDE as f32 } else { 4.0 };
    let width = ((env.size.0 - 32.0) / columns).floor().max(theme::TOUCH);
    let label = text(&app.label, theme::LABEL.colour(ink).centered().lines(1));
    column([sign(app, 58.0).hide_from_accessibility(), label.hide_from_accessibility()])
        .class(class::TEXT)
        .width(width)
        .align_center()
        .gap(8.0)
        .pad_xy(2.0, 8.0)
        .dump_text(&*app.label)
        .content_description(&*app.label)
        .id("icon")
        .on_tap(("launch", &app.package))
}

/// Hills at dawn.
fn wallpaper(width: f32, height: f32) -> Picture {
    let hill = |top: f32, swing: f32, phase: f32, colour: u32| {
        let mut points = vec![(-60.0, height + 80.0), (-60.0, height * top)];
        for step in 0..=6 {
            let x = width * step as f32 / 6.0;
            let wave = [0.0, 0.9, 0.3, -0.7, -0.2, 0.8, 0.1][(step + phase as usize) % 7];
            points.push((x, height * (top - swing * wave)));
        }
        points.push((width + 60.0, height * top));
        points.push((width + 60.0, height + 80.0));
        Mark::Area { points, colour: Colour::hex(colour), smooth: true }
    };
    // Kept clear of icon labels: white on white would be unreadable.
    let sun = (width * 0.74, height * if short((width, height)) { 0.26 } else { 0.42 });
    let halo = |radius: f32, alpha: u8| Mark::Dot {
        at: sun,
        radius,
        colour: Colour::hex(0xFFE2B0).alpha(alpha),
    };
    Picture {
        marks: vec![
            halo(150.0, 14),
            halo(108.0, 22),
            halo(74.0, 40),
            Mark::Dot { at: sun, radius: 46.0, colour: Colour::hex(0xFFE9C4) },
            hill(0.56, 0.060, 0.0, 0x3C6E9F),
            hill(0.66, 0.050, 2.0, 0x2C5785),
            hill(0.76, 0.055, 4.0, 0x1F4269),
            hill(0.87, 0.040, 1.0, 0x15304F),
        ],
    }
}

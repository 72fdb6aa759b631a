//! The notification shade: quick settings, and the notifications below them.
//!
//! Ids are those of Android's SystemUI: rows as in `uiautomator/PIBITI-2017__window_dump.xml`, the
//! rest from its layouts (`super_notification_shade.xml`, `qs_panel.xml`,
//! `status_bar_notification_footer.xml` of Android 12 to 14). Before Android 11 it was part of the
//! status bar's window. Not here: following the finger, groups, and notification buttons.

use std::time::Duration;

use crate::app::Event;
use crate::clock::{SHORT_DATE, date_time, time_of_day};
use crate::notices::Notification;
use crate::overlays::{
    Overlay, OverlayContext, OverlayOutcome, OverlayReach, OverlayRequest, OverlaySize,
};
use crate::scene::WindowKind;
use crate::settings::Settings;
use crate::system_ui;
use crate::theme;
use crate::view::{Tag, View, class, column, icon, row, spacer, text};
use crate::widgets::{badge, slider, text_button};
use thumbwire_virtual_screen::icons::Icon;

pub(crate) struct Shade {
    /// Shows all quick settings instead of the notifications.
    settings: bool,
    /// Is part of the status bar's window.
    old: bool,
}

/// Separates the parts of a tag's value.
const AND: char = '\u{1f}';
const BRIGHTEST: f32 = 255.0;

/// Whether an overlay is the shade.
pub(crate) fn is_shade(overlay: &dyn Overlay) -> bool {
    overlay.place() == OverlaySize::Cover
}

/// A quick settings tile and its setting.
struct Tile {
    label: &'static str,
    symbol: Icon,
    table: &'static str,
    name: &'static str,
}

const fn tile(label: &'static str, symbol: Icon, table: &'static str, name: &'static str) -> Tile {
    Tile { label, symbol, table, name }
}

/// The first four also show above the notifications.
static TILES: [Tile; 6] = [
    tile("Internet", Icon::NetworkWifi, "global", "wifi_on"),
    tile("Bluetooth", Icon::Bluetooth, "global", "bluetooth_on"),
    tile("Airplane mode", Icon::AirplanemodeActive, "global", "airplane_mode_on"),
    tile("Auto-rotate", Icon::Replay, "system", "accelerometer_rotation"),
    tile("Do Not Disturb", Icon::Remove, "global", "zen_mode"),
    tile("Battery Saver", Icon::BatteryAlert, "global", "low_power"),
];

impl Shade {
    /// The shade, with only its quick settings if `settings` is set; `old` if it is part of the
    /// status bar's window.
    pub(crate) fn new(settings: bool, old: bool) -> Self {
        Self { settings, old }
    }
}

impl OverlayReach<'_> {
    fn ask(&mut self, request: OverlayRequest) {
        self.asked.push(request);
    }

    fn change(&mut self, table: &'static str, name: &'static str, value: &str) {
        self.ask(OverlayRequest::Setting(table, name, value.to_owned()));
    }

    /// Handles a tap on a quick settings tile.
    fn tap_tile(&mut self, name: &str) {
        let turned = |settings: &Settings, table, name| match settings.on(table, name) {
            true => "0",
            false => "1",
        };
        match name {
            "Internet" => self.change("global", "wifi_on", self.settings.wifi_state()),
            "Airplane mode" => {
                let on = turned(self.settings, "global", "airplane_mode_on");
                let radio = self.settings.wifi_for_airplane_mode(on == "1");
                self.change("global", "airplane_mode_on", on);
                self.change("global", "wifi_on", radio);
            }
            _ => {
                let tile = TILES.iter().find(|tile| tile.label == name);
                if let Some(Tile { table, name, .. }) = tile {
                    self.change(table, name, turned(self.settings, table, name));
                }
            }
        }
    }
}

impl Overlay for Shade {
    fn package(&self) -> &str {
        system_ui::PACKAGE
    }

    fn title(&self) -> String {
        if self.old { "StatusBar" } else { "NotificationShade" }.to_owned()
    }

    fn kind(&self) -> WindowKind {
        if self.old { WindowKind::StatusBar } else { WindowKind::NotificationShade }
    }

    fn place(&self) -> OverlaySize {
        OverlaySize::Cover
    }

    fn closes_on_home(&self) -> bool {
        true
    }

    fn view(&self, context: &OverlayContext<'_>) -> View {
        let mut parts = vec![header(context)];
        let shown = if self.settings { &TILES[..] } else { &TILES[..4] };
        if self.settings {
            let now = context.settings.number("system", "screen_brightness", 128) as f32;
            let bar = slider(Icon::WbSunny, now / BRIGHTEST, "Display brightness", "brightness");
            parts.push(column([bar.id("slider")]).pad_xy(16.0, 4.0).fill_width());
        }
        let pairs = shown
            .chunks(2)
            .map(|pair| row(pair.iter().map(|tile| quick(tile, context))).gap(8.0).fill_width());
        let tiles = column(pairs).gap(8.0).pad_xy(16.0, 4.0).fill_width();
        parts.push(tiles.id(if self.settings { "quick_settings_panel" } else { "quick_qs_panel" }));
        if !self.settings {
            parts.push(stack(context));
        }
        column(parts)
            .fill(theme::SURFACE_CONTAINER)
            .pad_each(0.0, 8.0, 0.0, system_ui::NAVIGATION)
            .id("notification_panel")
            .on_swipe_up("close")
            .on_swipe_down("expand")
    }

    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome {
        match event {
            Event::Back if self.settings => self.settings = false,
            Event::Back => return OverlayOutcome::Dismiss,
            Event::SliderChanged(_, part) => {
                let value = (part * BRIGHTEST).round().max(1.0);
                context.change("system", "screen_brightness", &value.to_string());
            }
            Event::Tap(Tag { name, value }) => {
                let (package, tag) = value.split_once(AND).unwrap_or_default();
                match name {
                    "close" if self.settings => self.settings = false,
                    "close" => return OverlayOutcome::Dismiss,
                    "expand" => self.settings = true,
                    "tile" => context.tap_tile(&value),
                    "dismiss" => {
                        context.ask(OverlayRequest::Dismiss(package.to_owned(), tag.to_owned()))
                    }
                    "clear" => {
                        context.ask(OverlayRequest::DismissAll);
                        return OverlayOutcome::Dismiss;
                    }
                    "open" => context.ask(OverlayRequest::Open(package.to_owned(), tag.to_owned())),
                    _ => {}
                }
            }
            _ => {}
        }
        OverlayOutcome::Keep
    }
}

/// Time, date and battery.
fn header(context: &OverlayContext<'_>) -> View {
    let clock = date_time(context.now);
    let time = time_of_day(clock);
    let date = clock.strftime(SHORT_DATE).to_string();
    row([
        text(&time, theme::TITLE).id("clock").content_description(time.clone()),
        text(date, theme::BODY.quiet()).id("date"),
        spacer(),
        text(format!("{}%", context.battery.level), theme::LABEL).id("battery_percentage_view"),
    ])
    .gap(12.0)
    .pad_xy(24.0, 0.0)
    .height(44.0)
    .fill_width()
    .id("split_shade_status_bar")
}

fn quick(tile: &Tile, context: &OverlayContext<'_>) -> View {
    let settings = context.settings;
    let on = match tile.label {
        "Internet" => settings.wifi(),
        _ => settings.on(tile.table, tile.name),
    };
    let (fill, ink) = if on {
        (theme::PRIMARY_CONTAINER, theme::ON_PRIMARY_CONTAINER)
    } else {
        (theme::SURFACE, theme::ON_SURFACE_VARIANT)
    };
    let state = match (tile.label, on) {
        ("Internet", true) => "VirtualWifi",
        (_, true) => "On",
        (_, false) => "Off",
    };
    let words = column([
        text(tile.label, theme::LABEL_LARGE.colour(ink).lines(1)).id("tile_label"),
        text(state, theme::LABEL.colour(ink).lines(1)).id("app_label"),
    ]);
    row([icon(tile.symbol, 22.0, ink).hide_from_accessibility(), words.grow()])
        .class(class::SWITCH)
        .gap(12.0)
        .pad_xy(16.0, 0.0)
        .height(64.0)
        .grow()
        .fill(fill)
        .radius(26.0)
        .content_description(format!("{}, {state}", tile.label))
        .checked(on)
        .on_tap(("tile", tile.label))
}

/// The notifications, and the button that clears them.
fn stack(context: &OverlayContext<'_>) -> View {
    let notifications = context.notifications;
    if notifications.is_empty() {
        let none = text("No notifications", theme::BODY.quiet().centered()).id("no_notifications");
        return column([none.pad_xy(0.0, 32.0)])
            .fill_width()
            .grow()
            .id("notification_stack_scroller");
    }
    let rows = notifications.iter().map(|one| notification(one, context));
    let clear = text_button("Clear all", theme::PRIMARY, "clear").id("dismiss_text");
    let foot = row([spacer(), clear]).pad_xy(8.0, 0.0).fill_width();
    column(rows.chain([foot]))
        .scrolls()
        .gap(4.0)
        .pad_xy(12.0, 8.0)
        .grow()
        .id("notification_stack_scroller")
}

fn notification(one: &Notification, context: &OverlayContext<'_>) -> View {
    let (label, symbol, fill, ink) = context.apps.face_of(&one.package);
    let head = row([
        badge(symbol, 20.0, fill, ink).id("android:id/icon"),
        text(label, theme::LABEL.quiet().lines(1)).id("android:id/app_name_text"),
        text(age(context.now.saturating_sub(one.at)), theme::LABEL.quiet().lines(1))
            .id("android:id/time"),
    ])
    .gap(8.0)
    .fill_width()
    .id("android:id/notification_header");
    let title = text(&one.title, theme::TITLE.lines(1)).id("android:id/title");
    let words = text(&one.text, theme::BODY.quiet().lines(3)).id("android:id/text");
    let content = column([head, title, words]).gap(4.0).pad_xy(16.0, 12.0).fill_width();
    let content = content.class(class::FRAME).id("android:id/status_bar_latest_event_content");
    let value = format!("{}{AND}{}", one.package, one.tag);
    column([column([content]).class(class::FRAME).fill_width().id("expanded")])
        .class(class::FRAME)
        .fill_width()
        .min_height(theme::TOUCH)
        .fill(theme::SURFACE)
        .radius(20.0)
        .id("expandableNotificationRow")
        .on_tap(("open", &value))
        .on_swipe_left(("dismiss", &value))
        .on_swipe_right(("dismiss", &value))
}

/// The age as `DateTimeView` writes it.
fn age(since: Duration) -> String {
    match since.as_secs() / 60 {
        0 => "now".to_owned(),
        minutes @ 1..60 => format!("{minutes}m"),
        minutes @ 60..1440 => format!("{}h", minutes / 60),
        minutes => format!("{}d", minutes / 1440),
    }
}

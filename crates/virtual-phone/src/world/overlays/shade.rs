//! The notification shade: quick settings, and the notifications below them.
//!
//! Ids are those of Android's SystemUI: rows as in `uiautomator/PIBITI-2017__window_dump.xml`, the rest from its layouts
//! (`super_notification_shade.xml`, `qs_panel.xml`, `status_bar_notification_footer.xml` of Android 12 to 14). Before Android 11 it was
//! part of the status bar's window. Not here: the way it follows the finger, groups, and buttons of notifications.

use std::time::Duration;

use super::{After, Overlay, Place};
use crate::world::World;
use crate::world::app::{Clock, Event};
use crate::world::icons::Icon;
use crate::world::notifications::Notification;
use crate::world::scene::WindowKind;
use crate::world::system_ui;
use crate::world::theme;
use crate::world::view::{Tag, View, class, column, icon, row, spring, text};
use crate::world::widgets::{badge, slider, text_button};

struct Shade {
    /// Shows all quick settings instead of the notifications.
    settings: bool,
    /// Belongs to the status bar's window.
    old: bool,
}

/// Between the parts of a tag's value.
const AND: char = '\u{1f}';
const BRIGHTEST: f32 = 255.0;

impl World {
    /// Pulls the notification shade down, with its quick settings only where `settings` is true. Nothing while the screen is off.
    pub fn open_shade(&mut self, settings: bool) {
        if self.screen_on {
            self.take_away(is_shade);
            let old = self.android < 11;
            self.note("notification_panel_revealed", "0");
            self.put_before(Shade { settings, old });
        }
    }

    /// Pushes the notification shade up again.
    pub fn close_shade(&mut self) {
        self.take_away(is_shade);
    }

    /// Whether the notification shade is down.
    pub fn shade_shown(&self) -> bool {
        self.stands_before(is_shade)
    }

    /// What a tap on a tile of the quick settings does.
    fn tap_tile(&mut self, name: &str) {
        let turned = |world: &World, table, name| match world.settings.on(table, name) {
            true => "0",
            false => "1",
        };
        match name {
            "Internet" => {
                let value = self.settings.wifi_turned();
                self.change_setting("global", "wifi_on", value);
            }
            "Airplane mode" => {
                let on = turned(self, "global", "airplane_mode_on");
                let radio = self.settings.wifi_for_airplane_mode(on == "1").to_owned();
                self.change_setting("global", "airplane_mode_on", on);
                self.change_setting("global", "wifi_on", &radio);
            }
            _ => {
                let tile = TILES.iter().find(|tile| tile.label == name);
                if let Some(Tile { table, name, .. }) = tile {
                    let value = turned(self, table, name);
                    self.change_setting(table, name, value);
                }
            }
        }
    }
}

fn is_shade(overlay: &dyn Overlay) -> bool {
    overlay.place() == Place::Cover
}

/// A quick setting and the setting that it switches.
struct Tile {
    label: &'static str,
    symbol: Icon,
    table: &'static str,
    name: &'static str,
}

const fn tile(label: &'static str, symbol: Icon, table: &'static str, name: &'static str) -> Tile {
    Tile { label, symbol, table, name }
}

/// The first four are shown above the notifications too.
static TILES: [Tile; 6] = [
    tile("Internet", Icon::NetworkWifi, "global", "wifi_on"),
    tile("Bluetooth", Icon::Bluetooth, "global", "bluetooth_on"),
    tile("Airplane mode", Icon::AirplanemodeActive, "global", "airplane_mode_on"),
    tile("Auto-rotate", Icon::Replay, "system", "accelerometer_rotation"),
    tile("Do Not Disturb", Icon::Remove, "global", "zen_mode"),
    tile("Battery Saver", Icon::BatteryAlert, "global", "low_power"),
];

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

    fn place(&self) -> Place {
        Place::Cover
    }

    fn leaves_for_home(&self) -> bool {
        true
    }

    fn view(&self, world: &World) -> View {
        let mut parts = vec![header(world)];
        let shown = if self.settings { &TILES[..] } else { &TILES[..4] };
        if self.settings {
            let now = world.settings.number("system", "screen_brightness", 128) as f32;
            let bar = slider(Icon::WbSunny, now / BRIGHTEST, "Display brightness", "brightness");
            parts.push(column([bar.id("slider")]).pad_xy(16.0, 4.0).wide());
        }
        let pairs = shown
            .chunks(2)
            .map(|pair| row(pair.iter().map(|tile| quick(tile, world))).gap(8.0).wide());
        let tiles = column(pairs).gap(8.0).pad_xy(16.0, 4.0).wide();
        parts.push(tiles.id(if self.settings { "quick_settings_panel" } else { "quick_qs_panel" }));
        if !self.settings {
            parts.push(stack(world));
        }
        column(parts)
            .fill(theme::SURFACE_CONTAINER)
            .pad_each(0.0, 8.0, 0.0, system_ui::NAVIGATION)
            .id("notification_panel")
            .on_swipe_up("close")
            .on_swipe_down("expand")
    }

    fn on(&mut self, event: Event, world: &mut World) -> After {
        match event {
            Event::Back if self.settings => self.settings = false,
            Event::Back => return After::Goes,
            Event::Slide(_, part) => {
                let value = (part * BRIGHTEST).round().max(1.0);
                world.change_setting("system", "screen_brightness", &value.to_string());
            }
            Event::Tap(Tag { name, value }) => {
                let (package, tag) = value.split_once(AND).unwrap_or_default();
                match name {
                    "close" if self.settings => self.settings = false,
                    "close" => return After::Goes,
                    "expand" => self.settings = true,
                    "tile" => world.tap_tile(&value),
                    "dismiss" => world.dismiss(package, tag),
                    "clear" => {
                        world.dismiss_all();
                        return After::Goes;
                    }
                    // The shell's have no app to open: they stay.
                    "open" if world.open_notification(package, tag).is_ok() => return After::Goes,
                    _ => {}
                }
            }
            _ => {}
        }
        After::Stays
    }
}

/// Time, date and battery.
fn header(world: &World) -> View {
    let clock = Clock::at(world.uptime);
    let time = format!("{}:{:02}", clock.hour, clock.minute);
    let date = format!("{}, {} {}", clock.weekday, clock.month, clock.day);
    row([
        text(&time, theme::TITLE).id("clock").describe(time.clone()),
        text(date, theme::BODY.quiet()).id("date"),
        spring(),
        text(format!("{}%", world.battery.level), theme::LABEL).id("battery_percentage_view"),
    ])
    .gap(12.0)
    .pad_xy(24.0, 0.0)
    .height(44.0)
    .wide()
    .id("split_shade_status_bar")
}

fn quick(tile: &Tile, world: &World) -> View {
    let settings = world.settings();
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
    row([icon(tile.symbol, 22.0, ink).unlisted(), words.grow()])
        .class(class::SWITCH)
        .gap(12.0)
        .pad_xy(16.0, 0.0)
        .height(64.0)
        .grow()
        .fill(fill)
        .radius(26.0)
        .describe(format!("{}, {state}", tile.label))
        .checked(on)
        .on_tap(("tile", tile.label))
}

/// The notifications, and what clears them.
fn stack(world: &World) -> View {
    let notifications = world.notifications();
    if notifications.is_empty() {
        let none = text("No notifications", theme::BODY.quiet().centered()).id("no_notifications");
        return column([none.pad_xy(0.0, 32.0)]).wide().grow().id("notification_stack_scroller");
    }
    let rows = notifications.iter().map(|one| notification(one, world));
    let clear = text_button("Clear all", theme::PRIMARY, "clear").id("dismiss_text");
    let foot = row([spring(), clear]).pad_xy(8.0, 0.0).wide();
    column(rows.chain([foot]))
        .scrolls()
        .gap(4.0)
        .pad_xy(12.0, 8.0)
        .grow()
        .id("notification_stack_scroller")
}

fn notification(one: &Notification, world: &World) -> View {
    let (label, symbol, fill, ink) = world.face_of(&one.package);
    let head = row([
        badge(symbol, 20.0, fill, ink).id("android:id/icon"),
        text(label, theme::LABEL.quiet().lines(1)).id("android:id/app_name_text"),
        text(age(world.uptime.saturating_sub(one.at)), theme::LABEL.quiet().lines(1))
            .id("android:id/time"),
    ])
    .gap(8.0)
    .wide()
    .id("android:id/notification_header");
    let title = text(&one.title, theme::TITLE.lines(1)).id("android:id/title");
    let words = text(&one.text, theme::BODY.quiet().lines(3)).id("android:id/text");
    let content = column([head, title, words]).gap(4.0).pad_xy(16.0, 12.0).wide();
    let content = content.class(class::FRAME).id("android:id/status_bar_latest_event_content");
    let value = format!("{}{AND}{}", one.package, one.tag);
    column([column([content]).class(class::FRAME).wide().id("expanded")])
        .class(class::FRAME)
        .wide()
        .tall(theme::TOUCH)
        .fill(theme::SURFACE)
        .radius(20.0)
        .id("expandableNotificationRow")
        .on_tap(("open", &value))
        .on_swipe_left(("dismiss", &value))
        .on_swipe_right(("dismiss", &value))
}

/// How long ago, as `DateTimeView` writes it.
fn age(since: Duration) -> String {
    match since.as_secs() / 60 {
        0 => "now".to_owned(),
        minutes @ 1..60 => format!("{minutes}m"),
        minutes @ 60..1440 => format!("{}h", minutes / 60),
        minutes => format!("{}d", minutes / 1440),
    }
}

//! The rows of each Settings page.
//!
//! To add a page: its name in [`Page`], its line in [`NAMED`], its rows in [`page`]. A switch names
//! the setting it changes; nothing else is needed.

use crate::app::DrawContext;
use crate::apps::generic_app::sign;
use crate::apps::settings::FIELD;
use crate::apps::settings::rows::{
    Setting, category_row, choice, heading, info_row, link, main_switch, slider_row, toggle,
    toggle_as,
};
use crate::settings::Settings;
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, View, class, column, row, text};
use crate::widgets::{
    dialog, empty_state, field, icon_button, list, page as sheet, pill, search_bar, search_toolbar,
    text_button, toolbar,
};
use thumbwire_virtual_screen::Platform;
use thumbwire_virtual_screen::icons::Icon;

/// A page above the category list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Page {
    Network,
    Internet,
    Devices,
    Apps,
    /// An app's page, by package.
    App(String),
    Notifications,
    Battery,
    Sound,
    Display,
    System,
    Time,
    Developer,
    Reset,
    EraseAll,
    Security,
    Accounts,
    About,
    Search,
}

/// Pages by title, and the actions that open them (`android.settings.…`, `Settings.java` of Android
/// 14).
const NAMED: &[(Page, &str, &[&str])] = &[
    (Page::Network, "Network & internet", &["WIRELESS_SETTINGS", "AIRPLANE_MODE_SETTINGS"]),
    (Page::Internet, "Internet", &["WIFI_SETTINGS"]),
    (Page::Devices, "Connected devices", &["BLUETOOTH_SETTINGS"]),
    (Page::Apps, "Apps", &["APPLICATION_SETTINGS", "MANAGE_APPLICATIONS_SETTINGS"]),
    (Page::Notifications, "Notifications", &["NOTIFICATION_SETTINGS", "ZEN_MODE_SETTINGS"]),
    (Page::Battery, "Battery", &["BATTERY_SAVER_SETTINGS"]),
    (Page::Sound, "Sound & vibration", &["SOUND_SETTINGS"]),
    (Page::Display, "Display", &["DISPLAY_SETTINGS"]),
    (Page::System, "System", &[]),
    (Page::Time, "Date & time", &["DATE_SETTINGS"]),
    (Page::Developer, "Developer options", &["APPLICATION_DEVELOPMENT_SETTINGS"]),
    (Page::Reset, "Reset options", &["PRIVACY_SETTINGS"]),
    (Page::EraseAll, "Erase all data (factory reset)", &[]),
    (Page::Security, "Security", &["SECURITY_SETTINGS"]),
    (Page::Accounts, "Passwords & accounts", &["SYNC_SETTINGS"]),
    (Page::About, "About phone", &["DEVICE_INFO_SETTINGS"]),
];

/// What each page's fragment is called in Android 14 (`SettingsGateway.ENTRY_FRAGMENTS` of its
/// Settings).
const FRAGMENTS: &[(Page, &str)] = &[
    (Page::Network, "NetworkDashboardFragment"),
    (Page::Internet, "NetworkProviderSettings"),
    (Page::Devices, "ConnectedDeviceDashboardFragment"),
    (Page::Apps, "AppDashboardFragment"),
    (Page::Notifications, "ConfigureNotificationSettings"),
    (Page::Battery, "PowerUsageSummary"),
    (Page::Sound, "SoundSettings"),
    (Page::Display, "DisplaySettings"),
    (Page::System, "SystemDashboardFragment"),
    (Page::Time, "DateTimeSettings"),
    (Page::Developer, "DevelopmentSettingsDashboardFragment"),
    (Page::Reset, "ResetDashboardFragment"),
    (Page::EraseAll, "MainClear"),
    (Page::Security, "SecuritySettings"),
    (Page::Accounts, "AccountDashboardFragment"),
    (Page::About, "MyDeviceInfoFragment"),
];

/// Search terms and their pages.
const FINDS: &[(&str, Page)] = &[
    ("Wi-Fi", Page::Internet),
    ("Internet", Page::Internet),
    ("Airplane mode", Page::Network),
    ("Mobile data", Page::Network),
    ("Bluetooth", Page::Devices),
    ("Apps", Page::Apps),
    ("Notification dots", Page::Notifications),
    ("Do Not Disturb", Page::Notifications),
    ("Battery Saver", Page::Battery),
    ("Battery percentage", Page::Battery),
    ("Media volume", Page::Sound),
    ("Alarm volume", Page::Sound),
    ("Touch sounds", Page::Sound),
    ("Brightness level", Page::Display),
    ("Adaptive brightness", Page::Display),
    ("Auto-rotate screen", Page::Display),
    ("Screen timeout", Page::Display),
    ("Date & time", Page::Time),
    ("Android version", Page::About),
    ("Build number", Page::About),
    ("Model", Page::About),
    ("Reset options", Page::Reset),
    ("Screen lock", Page::Security),
    ("Add account", Page::Accounts),
];

/// The selectable screen timeouts, in milliseconds.
const TIMEOUTS: &[(i64, &str)] = &[
    (15_000, "15 seconds"),
    (30_000, "30 seconds"),
    (60_000, "1 minute"),
    (120_000, "2 minutes"),
    (300_000, "5 minutes"),
    (600_000, "10 minutes"),
    (1_800_000, "30 minutes"),
];

const AIRPLANE: &str = "airplane_mode_on";
const DEVELOPER: &str = "development_settings_enabled";

impl Page {
    /// The page with this title.
    pub(super) fn named(title: &str) -> Option<Page> {
        NAMED.iter().find(|(_, name, _)| *name == title).map(|(page, ..)| page.clone())
    }

    /// The page for an action, given without `android.settings.`.
    pub(super) fn of_action(name: &str) -> Option<Page> {
        NAMED.iter().find(|(.., actions)| actions.contains(&name)).map(|(page, ..)| page.clone())
    }

    /// The class of its fragment; `None` for the search, which is an app of its own on a phone.
    pub(super) fn fragment(&self) -> Option<&'static str> {
        if matches!(self, Page::App(_)) {
            return Some("AppInfoDashboardFragment");
        }
        FRAGMENTS.iter().find(|(page, _)| page == self).map(|(_, class)| *class)
    }

    fn title(&self) -> &'static str {
        NAMED.iter().find(|(page, ..)| page == self).map_or("", |(_, title, _)| title)
    }
}

fn to(page: &Page, below: &str) -> View {
    link(page.title(), below, ("open", page.title()))
}

/// The list of categories.
pub(super) fn home(env: &DrawContext<'_>) -> View {
    let subject = |page: &Page, symbol, fill, below: &str| {
        category_row(symbol, Colour::hex(fill), page.title(), below, ("open", page.title()))
    };
    let bar = search_bar("Search settings")
        .margin(20.0, 4.0, 20.0, 12.0)
        .id("search_action_bar")
        .on_tap("search");
    let charge = match env.battery {
        battery if battery.charging => format!("{}% · charging", battery.level),
        battery => format!("{}%", battery.level),
    };
    let apps = format!("{} apps", env.packages.len());
    let rows = [
        text("Settings", theme::HEADLINE).pad_each(24.0, 20.0, 24.0, 12.0).id("homepage_title"),
        bar,
        subject(&Page::Network, Icon::Wifi, 0x1A73E8, "Wi-Fi, mobile, airplane mode"),
        subject(&Page::Devices, Icon::Bluetooth, 0x4285F4, "Bluetooth, pairing"),
        subject(&Page::Apps, Icon::Apps, 0x9334E6, &apps),
        subject(&Page::Notifications, Icon::Notifications, 0xE8710A, "Dots, Do Not Disturb"),
        subject(&Page::Battery, Icon::BatteryFull, 0x1E8E3E, &charge),
        subject(&Page::Display, Icon::Brightness6, 0xB06000, "Brightness, rotation, timeout"),
        subject(&Page::Sound, Icon::VolumeUp, 0xD01884, "Volume, touch sounds, vibration"),
        subject(&Page::System, Icon::Tune, 0x5F6368, "Languages, date & time"),
        subject(&Page::About, Icon::Info, 0x5F6368, device_name(env.settings)),
    ];
    sheet([list("settings_homepage_container", rows, env)], env)
}

/// A page above the category list.
pub(super) fn page(env: &DrawContext<'_>, page: &Page) -> View {
    let rows = match page {
        Page::Network => network(env),
        Page::Internet => internet(env),
        Page::Devices => devices(env),
        Page::Apps => apps(env),
        Page::App(package) => return app(env, package),
        Page::Notifications => vec![
            toggle(
                env,
                "Do Not Disturb",
                "Be interrupted by nobody",
                Setting::new("global", "zen_mode"),
            ),
            toggle(
                env,
                "Notification dot on app icon",
                "",
                Setting::new("secure", "notification_badging"),
            ),
        ],
        Page::Battery => battery(env),
        Page::Sound => vec![
            slider_row(env, Icon::VolumeUp, "Media volume", "volume_music_speaker", (0, 15)),
            slider_row(env, Icon::Notifications, "Ring volume", "volume_ring_speaker", (0, 7)),
            slider_row(env, Icon::Alarm, "Alarm volume", "volume_alarm_speaker", (1, 7)),
            toggle(env, "Touch sounds", "", Setting::new("system", "sound_effects_enabled")),
            toggle(env, "Touch vibration", "", Setting::new("system", "haptic_feedback_enabled")),
        ],
        Page::Display => display(env),
        Page::System => {
            let mut rows = vec![
                info_row("Languages", "English (United States)"),
                to(&Page::Time, "UTC"),
                info_row("Keyboard", "US English"),
                to(&Page::Reset, "Network, apps or device can be reset"),
            ];
            if env.settings.on("global", DEVELOPER) {
                rows.push(to(&Page::Developer, "On"));
            }
            rows
        }
        Page::Time => vec![
            toggle(
                env,
                "Set time automatically",
                "From the network",
                Setting::new("global", "auto_time"),
            ),
            toggle(
                env,
                "Set time zone automatically",
                "",
                Setting::new("global", "auto_time_zone"),
            ),
            info_row("Time zone", "GMT+00:00 Coordinated Universal Time"),
        ],
        Page::Developer => vec![
            toggle(env, "Use developer options", "", Setting::new("global", DEVELOPER)),
            toggle(
                env,
                "Stay awake",
                "The screen never sleeps while charging",
                Setting { on: "7", ..Setting::new("global", "stay_on_while_plugged_in") },
            ),
        ],
        Page::Reset => vec![info_row("Reset Bluetooth & Wi-Fi", ""), to(&Page::EraseAll, "")],
        Page::EraseAll => vec![
            info_row("This will erase all data from your phone's internal storage", ""),
            // A phone that was reset is not provisioned (`Settings.Global.DEVICE_PROVISIONED`).
            link("Erase all data", "", ("put", "global device_provisioned 0")),
        ],
        Page::Security => vec![
            info_row("Screen lock", "None"),
            toggle(
                env,
                "Install unknown apps",
                "",
                Setting::new("secure", "install_non_market_apps"),
            ),
        ],
        Page::Accounts => vec![
            info_row("ada@example.com", "Email"),
            toggle(env, "Automatically sync app data", "", Setting::new("global", "auto_sync")),
        ],
        Page::About => about(env),
        Page::Search => Vec::new(),
    };
    sheet([toolbar(page.title(), []), list("recycler_view", rows, env)], env)
}

fn network(env: &DrawContext<'_>) -> Vec<View> {
    let settings = env.settings;
    let airplane = settings.on("global", AIRPLANE);
    let internet = match (settings.wifi(), airplane) {
        (true, _) => "VirtualWifi",
        (false, true) => "Airplane mode is on",
        (false, false) => "Networks available",
    };
    let radio = settings.wifi_for_airplane_mode(!airplane);
    let puts =
        [("global", AIRPLANE, if airplane { "0" } else { "1" }), ("global", "wifi_on", radio)];
    vec![
        to(&Page::Internet, internet),
        toggle(env, "Mobile data", "Virtual", Setting::new("global", "mobile_data")),
        toggle_as("Airplane mode", "", airplane, &puts),
        info_row("Hotspot & tethering", "Off"),
        info_row("VPN", "None"),
    ]
}

fn internet(env: &DrawContext<'_>) -> Vec<View> {
    let on = env.settings.wifi();
    let value = env.settings.wifi_state();
    let mut rows = vec![main_switch("Wi-Fi", on, &[("global", "wifi_on", value)])];
    if on {
        rows.push(heading("Networks"));
        rows.push(info_row("VirtualWifi", "Connected"));
        rows.push(info_row("Cafe Guest", "Open"));
        rows.push(info_row("Office-5G", "Secured"));
    } else {
        rows.push(info_row("Wi-Fi is off", "Turn it on to see networks near you"));
    }
    rows
}

fn devices(env: &DrawContext<'_>) -> Vec<View> {
    let on = env.settings.on("global", "bluetooth_on");
    let value = if on { "0" } else { "1" };
    let mut rows = vec![main_switch("Use Bluetooth", on, &[("global", "bluetooth_on", value)])];
    if on {
        rows.push(heading("Saved devices"));
        rows.push(info_row("Headphones", "Not connected"));
        rows.push(info_row("Car", "Not connected"));
        let name = device_name(env.settings);
        rows.push(info_row("Device name", name));
    } else {
        rows.push(info_row("Bluetooth is off", "Turn it on to connect to devices near you"));
    }
    rows
}

fn apps(env: &DrawContext<'_>) -> Vec<View> {
    let mut apps = env.packages.to_vec();
    apps.sort_by(|a, b| a.label.cmp(&b.label));
    let row_of = |app: &&crate::packages::Manifest| {
        let sign = sign(app, 40.0).id("android:id/icon");
        let lines = column([
            text(&app.label, theme::BODY_LARGE.lines(1)).id("android:id/title"),
            text(&app.package, theme::BODY.quiet().lines(1)).id("android:id/summary"),
        ]);
        row([sign.border(1.0, theme::OUTLINE_VARIANT), lines.grow()])
            .gap(20.0)
            .pad_xy(24.0, 8.0)
            .min_height(72.0)
            .fill_width()
            .on_tap(("app", &app.package))
    };
    apps.iter().map(row_of).collect()
}

fn app(env: &DrawContext<'_>, package: &str) -> View {
    let bar = toolbar("App info", []);
    let Some(app) = env.packages.iter().find(|app| app.package == package) else {
        return sheet([bar, empty_state(Icon::Apps, "App not installed", package)], env);
    };
    let sign = sign(app, 72.0).hide_from_accessibility();
    let head = column([
        sign.border(1.0, theme::OUTLINE_VARIANT).align_self_center(),
        text(&app.label, theme::TITLE_LARGE.centered()).id("entity_header_title"),
    ])
    .gap(12.0)
    .pad_xy(24.0, 16.0);
    let mut rows = vec![head];
    if app.launcher.is_some() {
        let (fill, ink) = (theme::PRIMARY_CONTAINER, theme::ON_PRIMARY_CONTAINER);
        let open = pill(None, "Open", fill, ink, ("launch", package)).id("button1");
        rows.push(row([open]).justify_center().fill_width());
    }
    rows.push(info_row("Version", &app.version_name));
    rows.push(info_row("Package", &app.package));
    rows.push(info_row("User ID", &app.uid.to_string()));
    sheet([bar, list("recycler_view", rows, env)], env)
}

fn battery(env: &DrawContext<'_>) -> Vec<View> {
    let battery = env.battery;
    let state = if battery.charging { "Charging" } else { "Not charging" };
    let large = theme::DISPLAY_LARGE.colour(theme::PRIMARY);
    let head = column([
        text(format!("{}%", battery.level), large).id("usage_summary"),
        text(state, theme::BODY.quiet()).id("battery_state"),
    ]);
    vec![
        head.pad_xy(24.0, 12.0),
        toggle(
            env,
            "Battery Saver",
            "Turns off some things to last longer",
            Setting::new("global", "low_power"),
        ),
        toggle(
            env,
            "Battery percentage",
            "Show it in the status bar",
            Setting::new("system", "status_bar_show_battery_percent"),
        ),
        info_row(
            "Temperature",
            &format!("{}.{} °C", battery.temperature / 10, battery.temperature % 10),
        ),
    ]
}

fn display(env: &DrawContext<'_>) -> Vec<View> {
    let timeout = env.settings.number("system", "screen_off_timeout", 0);
    let named = TIMEOUTS.iter().find(|(time, _)| *time == timeout);
    let named =
        named.map_or_else(|| format!("{} seconds", timeout / 1000), |(_, name)| (*name).to_owned());
    vec![
        slider_row(env, Icon::Brightness6, "Brightness level", "screen_brightness", (1, 255)),
        toggle(env, "Adaptive brightness", "", Setting::new("system", "screen_brightness_mode")),
        link("Screen timeout", &format!("After {named} of inactivity"), "choose"),
        toggle(env, "Auto-rotate screen", "", Setting::new("system", "accelerometer_rotation")),
        info_row(
            "Screen resolution",
            &format!("{} × {} dp", env.size.0.round(), env.size.1.round()),
        ),
    ]
}

fn about(env: &DrawContext<'_>) -> Vec<View> {
    let about = env.about;
    let developer = if env.settings.on("global", DEVELOPER) { "developer" } else { "" };
    let mut rows =
        vec![info_row("Device name", device_name(env.settings)), info_row("Model", &about.model)];
    match env.platform {
        Platform::Android => rows.extend([
            info_row("Android version", &env.android.to_string()),
            info_row("Android security update", &about.security_patch),
        ]),
        Platform::Ios => rows.push(info_row("iOS version", Platform::IOS_VERSION)),
    }
    rows.extend([
        info_row("IP address", if env.settings.wifi() { "10.0.2.15" } else { "Unavailable" }),
        link("Build number", &about.build, ("build", developer)),
    ]);
    rows
}

fn device_name(settings: &Settings) -> &str {
    settings.get("global", "device_name").unwrap_or("Phone")
}

/// The dialog for the screen timeout.
pub(super) fn timeouts(env: &DrawContext<'_>) -> View {
    let now = env.settings.number("system", "screen_off_timeout", 0);
    let rows = TIMEOUTS.iter().map(|(time, name)| {
        choice(name, *time == now, &[("system", "screen_off_timeout", &time.to_string())])
    });
    // On a low screen the choices scroll.
    let rows = column(rows).scrolls().class(class::LIST_VIEW).shrinks();
    let rows = rows.id("android:id/select_dialog_listview");
    dialog(
        "Screen timeout",
        rows,
        [text_button("Cancel", theme::PRIMARY, "cancel").id("android:id/button2")],
    )
}

/// The search for settings.
pub(super) fn search(env: &DrawContext<'_>, query: &str) -> View {
    let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
    let input = field(FIELD, query, "Search settings", theme::BODY_LARGE, traits).grow();
    let mut parts = vec![icon_button(Icon::ArrowBack, "Navigate up", "back"), input];
    if !query.is_empty() {
        parts.push(icon_button(Icon::Close, "Clear text", "clear").id("search_close_btn"));
    }
    let bar = search_toolbar(parts).id("search_bar");
    let wanted = query.trim().to_lowercase();
    let found = FINDS.iter().filter(|(words, _)| words.to_lowercase().contains(&wanted));
    let rows: Vec<View> = found
        .map(|(words, page)| {
            link(words, page.title(), ("open", page.title())).class(class::GROUP).id("result")
        })
        .collect();
    let body = if rows.is_empty() {
        empty_state(Icon::Search, "No results", "Try another word")
    } else {
        list("list_results", rows, env)
    };
    sheet([bar, body], env)
}

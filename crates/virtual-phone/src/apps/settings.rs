//! Settings: a list of categories, and pages with switches that change the phone.
//!
//! State and events are here; `pages` lists each page's rows, `rows` draws them. Values are in the
//! phone's settings: a row's tag carries the values that it sets.

mod pages;
mod rows;

use self::pages::Page;
use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event};
use crate::packages::{AppIcon, Intent};
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Settings.
#[derive(Default)]
pub(crate) struct SettingsApp {
    /// Pages above the category list; the last one shows.
    pages: Vec<Page>,
    /// Whether the screen timeout dialog is open.
    choosing: bool,
    /// The text of the search field.
    query: String,
    /// Taps on the build number so far.
    taps: u32,
}

/// Taps on the build number that enable developer options.
const TAPS: u32 = 7;
/// Maximum page depth; more than any navigation reaches.
const MAX_DEPTH: usize = 16;
const FIELD: &str = "open_search_view_edit_text";

impl BuiltInApp for SettingsApp {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Settings",
        version: "14",
        icon: AppIcon { symbol: Icon::Settings, fill: Colour::hex(0x5F6B7A), ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.android.settings",
            version_code: 34,
            activities: &["com.android.settings.Settings"],
            has_icon: true,
            permissions: &[],
        },
        ios: IosIdentity { bundle_id: "com.apple.Preferences" },
    };

    fn new(_seed: u64) -> Self {
        Self::default()
    }
}

impl App for SettingsApp {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let view = match self.pages.last() {
            None => pages::home(env),
            Some(Page::Search) => pages::search(env, &self.query),
            Some(page) => pages::page(env, page),
        };
        view.dialog(self.choosing.then(|| pages::timeouts(env)))
    }

    fn fragment(&self) -> Option<&'static str> {
        match self.pages.last() {
            None => Some("TopLevelSettings"),
            Some(page) => page.fragment(),
        }
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Intent(intent) => self.take(&intent),
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::SliderChanged(tag, part) => slid(&tag, part, context),
            Event::Text { text, .. } => {
                self.query = text;
                context.scroll_to_top("list_results");
            }
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            _ => {}
        }
    }
}

impl SettingsApp {
    /// An action such as `android.settings.WIFI_SETTINGS` shows its page and nothing above it.
    fn take(&mut self, intent: &Intent) {
        let action = intent.action.as_deref().unwrap_or_default();
        let Some(name) = action.strip_prefix("android.settings.") else { return };
        self.choosing = false;
        let package = intent.data.as_deref().and_then(|data| data.strip_prefix("package:"));
        self.pages = match (name, package) {
            ("APPLICATION_DETAILS_SETTINGS", Some(package)) => vec![Page::App(package.to_owned())],
            _ => Page::of_action(name).into_iter().collect(),
        };
    }

    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "open" => {
                if let Some(page) = Page::named(&tag.value) {
                    self.show(page, context);
                }
            }
            "app" => self.show(Page::App(tag.value.clone()), context),
            "launch" => context.launch(&*tag.value),
            "search" => {
                self.query.clear();
                self.show(Page::Search, context);
                context.focus(FIELD);
            }
            "clear" => {
                self.query.clear();
                context.focus(FIELD);
            }
            "put" => {
                self.choosing = false;
                for put in tag.value.lines() {
                    if let [table, name, value] = *put.split(' ').collect::<Vec<_>>() {
                        context.set(table, name, value);
                    }
                }
            }
            "choose" => self.choosing = true,
            "cancel" => self.choosing = false,
            "build" => self.tap_build(tag.value == "developer", context),
            "back" => self.back(context),
            _ => {}
        }
    }

    fn show(&mut self, page: Page, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.pages.len() < MAX_DEPTH {
            self.pages.push(page);
            context.scroll_to_top("recycler_view");
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if std::mem::take(&mut self.choosing) {
            return;
        }
        context.scroll_to_top("recycler_view");
        if self.pages.pop().is_none() {
            context.finish();
        }
    }

    /// Texts and number of taps are Android's (`BuildNumberPreferenceController.java`).
    fn tap_build(&mut self, developer: bool, context: &mut AppContext<'_>) {
        if developer {
            context.toast("No need, you are already a developer.");
            return;
        }
        self.taps += 1;
        match TAPS.saturating_sub(self.taps) {
            0 => {
                self.taps = 0;
                context.set("global", "development_settings_enabled", "1");
                context.toast("You are now a developer!");
            }
            1 => context.toast("You are now 1 step away from being a developer."),
            left if left < 5 => {
                context.toast(format!("You are now {left} steps away from being a developer."))
            }
            _ => {}
        }
    }
}

/// A slider's tag holds table, name, minimum and maximum.
fn slid(tag: &Tag, part: f32, context: &mut AppContext<'_>) {
    let [table, name, least, most] = *tag.value.split(' ').collect::<Vec<_>>() else { return };
    let (Ok(least), Ok(most)) = (least.parse::<f32>(), most.parse::<f32>()) else { return };
    let value = (least + (most - least) * part).round() as i64;
    context.set(table, name, value.to_string());
}

//! Settings: a list of subjects, and pages with switches that change the phone.
//!
//! Here is the state and what a touch does; `pages` says what each page lists, `rows` how a row looks. Values live in the phone's
//! settings, not here: a row's tag carries what it would put, so that nothing has to be asked when it is tapped.

mod pages;
mod rows;

use self::pages::Page;
use crate::world::app::{App, AppIcon, Env, Event, Intent, Manifest, Reach};
use crate::world::icons::Icon;
use crate::world::theme::{self, Colour};
use crate::world::view::{Tag, View};

/// The state of Settings.
#[derive(Default)]
pub(crate) struct SettingsApp {
    /// Pages above the list of subjects, the last one shows.
    pages: Vec<Page>,
    /// Whether the screen time-out is being chosen.
    choosing: bool,
    /// What stands in the search field.
    query: String,
    /// How often the build number was tapped.
    taps: u32,
}

/// Taps on the build number that make a developer.
const TAPS: u32 = 7;
/// Pages that can lie upon each other; more than any way leads to.
const DEEPEST: usize = 16;
const FIELD: &str = "open_search_view_edit_text";

impl App for SettingsApp {
    fn manifest() -> Manifest {
        Manifest {
            package: "com.android.settings".into(),
            label: "Settings".into(),
            version_name: "14".into(),
            version_code: 34,
            activities: vec!["com.android.settings.Settings".into()],
            launcher: Some("com.android.settings.Settings".into()),
            system: true,
            uid: 0,
            permissions: Vec::new(),
            installation: None,
            icon: AppIcon {
                symbol: Icon::Settings,
                fill: Colour::hex(0x5F6B7A),
                ink: theme::WHITE,
            },
        }
    }

    fn new(_seed: u64) -> Self {
        Self::default()
    }

    fn view(&self, env: &Env<'_>) -> View {
        let view = match self.pages.last() {
            None => pages::home(env),
            Some(Page::Search) => pages::search(env, &self.query),
            Some(page) => pages::page(env, page),
        };
        view.dialog(self.choosing.then(|| pages::timeouts(env)))
    }

    fn on(&mut self, event: Event, reach: &mut Reach<'_>) {
        match event {
            Event::Intent(intent) => self.take(&intent),
            Event::Tap(tag) => self.tapped(&tag, reach),
            Event::Slide(tag, part) => slid(&tag, part, reach),
            Event::Text { text, .. } => {
                self.query = text;
                reach.scroll_to_top("list_results");
            }
            Event::Action { .. } => reach.unfocus(),
            Event::Back => self.back(reach),
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

    fn tapped(&mut self, tag: &Tag, reach: &mut Reach<'_>) {
        match tag.name {
            "open" => {
                if let Some(page) = Page::named(&tag.value) {
                    self.show(page, reach);
                }
            }
            "app" => self.show(Page::App(tag.value.clone()), reach),
            "launch" => reach.launch(&*tag.value),
            "search" => {
                self.query.clear();
                self.show(Page::Search, reach);
                reach.focus(FIELD);
            }
            "clear" => {
                self.query.clear();
                reach.focus(FIELD);
            }
            "put" => {
                self.choosing = false;
                for put in tag.value.lines() {
                    if let [table, name, value] = *put.split(' ').collect::<Vec<_>>() {
                        reach.set(table, name, value);
                    }
                }
            }
            "choose" => self.choosing = true,
            "cancel" => self.choosing = false,
            "build" => self.tap_build(tag.value == "developer", reach),
            "back" => self.back(reach),
            _ => {}
        }
    }

    fn show(&mut self, page: Page, reach: &mut Reach<'_>) {
        reach.unfocus();
        if self.pages.len() < DEEPEST {
            self.pages.push(page);
            reach.scroll_to_top("recycler_view");
        }
    }

    fn back(&mut self, reach: &mut Reach<'_>) {
        reach.unfocus();
        if std::mem::take(&mut self.choosing) {
            return;
        }
        reach.scroll_to_top("recycler_view");
        if self.pages.pop().is_none() {
            reach.finish();
        }
    }

    /// Words and number of taps are Android's (`BuildNumberPreferenceController.java`).
    fn tap_build(&mut self, developer: bool, reach: &mut Reach<'_>) {
        if developer {
            reach.toast("No need, you are already a developer.");
            return;
        }
        self.taps += 1;
        match TAPS.saturating_sub(self.taps) {
            0 => {
                self.taps = 0;
                reach.set("global", "development_settings_enabled", "1");
                reach.toast("You are now a developer!");
            }
            1 => reach.toast("You are now 1 step away from being a developer."),
            left if left < 5 => {
                reach.toast(format!("You are now {left} steps away from being a developer."))
            }
            _ => {}
        }
    }
}

/// A slider's tag says table, name, least and most.
fn slid(tag: &Tag, part: f32, reach: &mut Reach<'_>) {
    let [table, name, least, most] = *tag.value.split(' ').collect::<Vec<_>>() else { return };
    let (Ok(least), Ok(most)) = (least.parse::<f32>(), most.parse::<f32>()) else { return };
    let value = (least + (most - least) * part).round() as i64;
    reach.set(table, name, value.to_string());
}

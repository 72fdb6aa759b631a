//! Browser: an address bar and bundled web pages, each a deep tree of elements as a `WebView`
//! reports it.
//!
//! State and events are here; `bar` draws the browser's own UI, `site` the pages, `web` their
//! elements. There is no network: an address that is not bundled "can't be reached".
//!
//! Preferences: `visit/N/{url}`, oldest first.

mod bar;
mod site;
mod web;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event};
use crate::apps::records::Records;
use crate::packages::AppIcon;
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Browser.
pub(crate) struct Browser {
    visits: Records<1>,
    /// The history of the back button; the last address is on screen.
    way: Vec<String>,
    /// The text of the address bar while it is edited.
    writing: Option<String>,
    /// Whether the page's text is enlarged.
    close: bool,
    form: Form,
}

/// The values of the page's form.
#[derive(Debug, Clone, Default)]
struct Form {
    name: String,
    text: String,
    /// The index of the selected choice.
    choice: usize,
    news: bool,
}

const URL: &str = "url_bar";
const NAME: &str = "name";
const WORDS: &str = "message";
/// Maximum length of the back history.
const MAX_WAY_LENGTH: usize = 50;

impl BuiltInApp for Browser {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Chrome",
        version: "122.0.6261.64",
        icon: AppIcon { symbol: Icon::Public, fill: Colour::hex(0x188038), ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.android.chrome",
            version_code: 626_106_433,
            activities: &[
                "com.google.android.apps.chrome.Main",
                "org.chromium.chrome.browser.ChromeTabbedActivity",
            ],
            has_icon: true,
            permissions: &[
                "INTERNET",
                "ACCESS_FINE_LOCATION",
                "ACCESS_COARSE_LOCATION",
                "CAMERA",
                "RECORD_AUDIO",
                "POST_NOTIFICATIONS",
            ],
        },
        ios: IosIdentity { bundle_id: "com.google.chrome.ios" },
    };

    fn new(_seed: u64) -> Self {
        Self {
            visits: Records { kind: "visit", fields: ["url"], seeded: Vec::new() },
            way: vec![site::HOME.to_owned()],
            writing: None,
            close: false,
            form: Form::default(),
        }
    }
}

impl App for Browser {
    fn view(&self, env: &DrawContext<'_>) -> View {
        match &self.writing {
            Some(words) => self.omnibox(env, words),
            None => self.page(env),
        }
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { field, text } => match (&mut self.writing, field.as_str()) {
                (Some(words), _) => *words = text,
                (None, NAME) => self.form.name = text,
                (None, _) => self.form.text = text,
            },
            Event::Action { field } if field == URL => {
                let words = self.writing.take().unwrap_or_default();
                if !words.trim().is_empty() {
                    self.go(&site::address_of(&words), context);
                }
                context.unfocus();
            }
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            Event::Intent(intent) => {
                if let Some(address) = &intent.data {
                    self.go(&site::address_of(address), context);
                }
            }
            Event::LongPress(tag) => {
                context.copy(tag.value);
                context.toast("Link copied");
            }
            _ => {}
        }
    }
}

impl Browser {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "write" => {
                self.writing = Some(String::new());
                context.focus(URL);
            }
            "clear" => {
                self.writing = Some(String::new());
                context.focus(URL);
            }
            "go" => self.go(&tag.value, context),
            "home" => self.go(site::HOME, context),
            "zoom" => self.close = !self.close,
            "reload" => context.scroll_to_top("webview"),
            "choice" => self.form.choice = tag.value.parse().unwrap_or(0),
            "news" => self.form.news = !self.form.news,
            "submit" => {
                let address = site::submitted(&self.form);
                self.form = Form::default();
                self.go(&address, context);
            }
            "back" => self.back(context),
            _ => {}
        }
    }

    /// Opens an address of up to 2,048 characters.
    fn go(&mut self, address: &str, context: &mut AppContext<'_>) {
        let address: String = address.chars().take(2_048).collect();
        self.writing = None;
        self.close = false;
        context.unfocus();
        context.scroll_to_top("webview");
        // A full history is left unchanged.
        let visit = [address.clone()];
        let _ = self.visits.put(context.store, None, &visit);
        if self.way.last() != Some(&address) {
            self.way.push(address);
        }
        if self.way.len() > MAX_WAY_LENGTH {
            self.way.remove(0);
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.writing.take().is_some() {
            return;
        }
        if self.way.len() > 1 {
            self.way.pop();
            context.scroll_to_top("webview");
        } else {
            context.finish();
        }
    }

    fn address(&self) -> &str {
        self.way.last().map_or(site::HOME, String::as_str)
    }
}

//! Browser: an address bar above web pages that lie in the phone, each a deep tree of elements as a `WebView` gives it.
//!
//! Here is the state and what changes it; `bar` draws what belongs to the browser, `site` the pages, `web` their elements. There is no
//! network: an address that is not bundled "can't be reached".
//!
//! Kept, and to be seeded: `visit/N/{url}`, oldest first.

mod bar;
mod site;
mod web;

use super::records::Records;
use crate::world::app::{App, AppIcon, Env, Event, Manifest, Reach, asks};
use crate::world::icons::Icon;
use crate::world::theme::{self, Colour};
use crate::world::view::{Tag, View};

/// The state of Browser.
pub(crate) struct Browser {
    visits: Records<1>,
    /// Addresses that back leads to, the one that shows last.
    way: Vec<String>,
    /// What stands in the address bar while it is written.
    writing: Option<String>,
    /// Whether the page's text is enlarged.
    close: bool,
    form: Form,
}

/// What is written into the form of the page.
#[derive(Debug, Clone, Default)]
struct Form {
    name: String,
    words: String,
    /// Which of the choices.
    choice: usize,
    news: bool,
}

const URL: &str = "url_bar";
const NAME: &str = "name";
const WORDS: &str = "message";
/// Addresses that back leads to at most.
const LONGEST_WAY: usize = 50;

impl App for Browser {
    fn manifest() -> Manifest {
        Manifest {
            package: "com.android.chrome".into(),
            label: "Chrome".into(),
            version_name: "122.0.6261.64".into(),
            version_code: 626_106_433,
            activities: vec![
                "com.google.android.apps.chrome.Main".into(),
                "org.chromium.chrome.browser.ChromeTabbedActivity".into(),
            ],
            launcher: Some("com.google.android.apps.chrome.Main".into()),
            system: true,
            uid: 0,
            permissions: asks(&[
                "INTERNET",
                "ACCESS_FINE_LOCATION",
                "ACCESS_COARSE_LOCATION",
                "CAMERA",
                "RECORD_AUDIO",
                "POST_NOTIFICATIONS",
            ]),
            installation: None,
            icon: AppIcon { symbol: Icon::Public, fill: Colour::hex(0x188038), ink: theme::WHITE },
        }
    }

    fn new(_seed: u64) -> Self {
        Self {
            visits: Records { kind: "visit", fields: ["url"], seeded: Vec::new() },
            way: vec![site::HOME.to_owned()],
            writing: None,
            close: false,
            form: Form::default(),
        }
    }

    fn view(&self, env: &Env<'_>) -> View {
        match &self.writing {
            Some(words) => self.omnibox(env, words),
            None => self.page(env),
        }
    }

    fn on(&mut self, event: Event, reach: &mut Reach<'_>) {
        match event {
            Event::Tap(tag) => self.tapped(&tag, reach),
            Event::Text { field, text } => match (&mut self.writing, field.as_str()) {
                (Some(words), _) => *words = text,
                (None, NAME) => self.form.name = text,
                (None, _) => self.form.words = text,
            },
            Event::Action { field } if field == URL => {
                let words = self.writing.take().unwrap_or_default();
                if !words.trim().is_empty() {
                    self.go(&site::address_of(&words), reach);
                }
                reach.unfocus();
            }
            Event::Action { .. } => reach.unfocus(),
            Event::Back => self.back(reach),
            Event::Intent(intent) => {
                if let Some(address) = &intent.data {
                    self.go(&site::address_of(address), reach);
                }
            }
            Event::Hold(tag) => {
                reach.copy(tag.value);
                reach.toast("Link copied");
            }
            _ => {}
        }
    }
}

impl Browser {
    fn tapped(&mut self, tag: &Tag, reach: &mut Reach<'_>) {
        match tag.name {
            "write" => {
                self.writing = Some(String::new());
                reach.focus(URL);
            }
            "clear" => {
                self.writing = Some(String::new());
                reach.focus(URL);
            }
            "go" => self.go(&tag.value, reach),
            "home" => self.go(site::HOME, reach),
            "zoom" => self.close = !self.close,
            "reload" => reach.scroll_to_top("webview"),
            "choice" => self.form.choice = tag.value.parse().unwrap_or(0),
            "news" => self.form.news = !self.form.news,
            "submit" => {
                let address = site::submitted(&self.form);
                self.form = Form::default();
                self.go(&address, reach);
            }
            "back" => self.back(reach),
            _ => {}
        }
    }

    /// Opens an address, as long as 2,048 letters.
    fn go(&mut self, address: &str, reach: &mut Reach<'_>) {
        let address: String = address.chars().take(2_048).collect();
        self.writing = None;
        self.close = false;
        reach.unfocus();
        reach.scroll_to_top("webview");
        // A full history keeps what it has.
        let visit = [address.clone()];
        let _ = self.visits.put(reach.store, None, &visit);
        if self.way.last() != Some(&address) {
            self.way.push(address);
        }
        if self.way.len() > LONGEST_WAY {
            self.way.remove(0);
        }
    }

    fn back(&mut self, reach: &mut Reach<'_>) {
        reach.unfocus();
        if self.writing.take().is_some() {
            return;
        }
        if self.way.len() > 1 {
            self.way.pop();
            reach.scroll_to_top("webview");
        } else {
            reach.finish();
        }
    }

    fn address(&self) -> &str {
        self.way.last().map_or(site::HOME, String::as_str)
    }
}

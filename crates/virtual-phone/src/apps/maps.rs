//! Maps: a map to pan, a search with suggestions, results, place pages, saved places.
//!
//! State and events are here; `pages` and `detail` draw, `places` is the city, `map_drawing` the
//! drawn map.
//!
//! ```text
//!  Home ──search bar──► Search ──enter / suggestion──► Results ──row──► Detail ──► Directions
//!   │ └──chip──────────────────────────────────────────► Results          ▲
//!   └──Saved tab────────────────row───────────────────────────────────────┘       (back: one step)
//! ```

mod detail;
mod map_drawing;
mod pages;
mod places;

use self::places::{Category, Place};
use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::seeded;
use crate::packages::{AppIcon, Intent};
use crate::permissions::FINE_LOCATION;
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Maps.
pub(crate) struct Maps {
    seed: u64,
    places: Vec<Place>,
    /// Pages above the home page; the last one shows.
    pages: Vec<Page>,
    tab: Tab,
    /// The city's point at the centre of the home page's map.
    centre: (f32, f32),
    /// Whether it shows where the phone is.
    is_located: bool,
    /// The zoom level: each is half as large again as the one before.
    zoom: f32,
    /// The text of the search field.
    query: String,
    open_only: bool,
    best_first: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Page {
    Search,
    Results(String),
    Detail(usize),
    Directions(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Explore,
    Saved,
    Contribute,
}

/// The maximum zoom level.
const CLOSEST: f32 = 3.0;
/// How many times larger the map is at the next zoom level.
const ZOOM_STEP: f32 = 1.5;
/// Preference keys: saved places and recent searches.
const SAVED: &str = "saved/";
const RECENT: &str = "recent";
const FIELD: &str = "search_omnibox_edit_text";

impl BuiltInApp for Maps {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Maps",
        version: "11.117.0",
        icon: AppIcon { symbol: Icon::Place, fill: theme::WHITE, ink: Colour::hex(0x1E8E3E) },
        system: true,
        android: AndroidIdentity {
            package: "com.google.android.apps.maps",
            version_code: 1_067_700_000,
            activities: &["com.google.android.maps.MapsActivity"],
            has_icon: true,
            permissions: &[
                "INTERNET",
                "ACCESS_FINE_LOCATION",
                "ACCESS_COARSE_LOCATION",
                "POST_NOTIFICATIONS",
            ],
        },
        ios: IosIdentity { bundle_id: "com.apple.Maps" },
    };

    fn new(seed: u64) -> Self {
        Self {
            seed,
            places: places::city(seed),
            pages: Vec::new(),
            tab: Tab::Explore,
            centre: (0.0, 0.0),
            is_located: false,
            zoom: 0.0,
            query: String::new(),
            open_only: false,
            best_first: false,
        }
    }
}

impl App for Maps {
    fn view(&self, env: &DrawContext<'_>) -> View {
        match self.pages.last() {
            None => self.home(env),
            Some(Page::Search) => self.search_page(env),
            Some(Page::Results(query)) => self.results(env, query),
            Some(Page::Detail(id)) => self.on_place(*id, |place| self.detail(env, place)),
            Some(Page::Directions(id)) => self.on_place(*id, |place| self.directions(env, place)),
        }
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Intent(intent) => self.take(&intent, context),
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::LongPress(_) => context.toast("Dropped pins are not available offline"),
            Event::Drag(_, dx, dy) => {
                let inside = |value: f32| value.clamp(-map_drawing::REACH, map_drawing::REACH);
                let (dx, dy) = (dx / self.scale(), dy / self.scale());
                self.centre = (inside(self.centre.0 - dx), inside(self.centre.1 - dy));
            }
            Event::Pinch(_, factor) => {
                self.zoom = (self.zoom + factor.log(ZOOM_STEP)).clamp(0.0, CLOSEST);
            }
            Event::Text { text, .. } => self.query = text,
            Event::Action { .. } => {
                let query = self.query.clone();
                self.search_for(&query, context);
            }
            Event::Back => self.back(context),
            Event::PermissionResult { granted: true, .. } => {
                (self.centre, self.zoom) = ((0.0, 0.0), 0.0);
                self.is_located = true;
            }
            Event::PermissionResult { .. } => context.toast("Maps needs to know where you are"),
            _ => {}
        }
    }
}

impl Maps {
    /// `geo:0,0?q=pizza` searches; `geo:lat,lng` shows the map.
    fn take(&mut self, intent: &Intent, context: &mut AppContext<'_>) {
        let Some(data) = &intent.data else { return };
        let query = data.split_once('?').map_or("", |(_, rest)| rest);
        let wanted = query.split('&').find_map(|pair| pair.strip_prefix("q="));
        self.pages.clear();
        self.tab = Tab::Explore;
        if let Some(wanted) = wanted {
            self.search_for(&decode(wanted), context);
        }
    }

    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        let id = tag.value.parse::<usize>().unwrap_or(usize::MAX);
        match tag.name {
            "search" => {
                self.query = match self.pages.last() {
                    Some(Page::Results(query)) => query.clone(),
                    _ => String::new(),
                };
                self.pages.retain(|page| *page != Page::Search);
                self.pages.push(Page::Search);
                context.focus(FIELD);
            }
            "find" => self.search_for(&tag.value, context),
            "clear" => {
                self.query.clear();
                if matches!(self.pages.last(), Some(Page::Results(_))) {
                    self.pages.clear();
                } else {
                    context.focus(FIELD);
                }
            }
            "open only" => {
                self.open_only = !self.open_only;
                context.scroll_to_top("search_list");
            }
            "best first" => {
                self.best_first = !self.best_first;
                context.scroll_to_top("search_list");
            }
            "place" => {
                self.pages.push(Page::Detail(id));
                context.unfocus();
                context.scroll_to_top("place_page");
            }
            "directions" => self.pages.push(Page::Directions(id)),
            "save" => self.toggle_saved(id, context),
            "share" => self.with(id, |place| {
                context.copy(format!("https://maps.example/place/{}", place.id));
                context.toast("Link copied");
            }),
            "call" => self.with(id, |place| context.toast(format!("Calling {}", place.phone))),
            "website" => self.with(id, |place| context.toast(format!("Opening {}", place.website))),
            "start" => context.toast("Navigation needs a location fix"),
            "tab" => {
                self.tab = match tag.value.as_str() {
                    "Saved" => Tab::Saved,
                    "Contribute" => Tab::Contribute,
                    _ => Tab::Explore,
                }
            }
            "zoom in" => self.zoom = (self.zoom + 1.0).min(CLOSEST),
            "locate" => context.ask_permission(FINE_LOCATION),
            "account" => context.toast("Signed in as Alex"),
            "contribute" => context.toast("Thanks for helping others"),
            "back" => self.back(context),
            _ => {}
        }
    }

    /// The scale of the map.
    fn scale(&self) -> f32 {
        ZOOM_STEP.powf(self.zoom)
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.pages.pop().is_some() {
            return;
        }
        if self.tab == Tab::Explore {
            context.finish();
        } else {
            self.tab = Tab::Explore;
        }
    }

    /// Shows the results for a query, replacing the search page and earlier results.
    fn search_for(&mut self, query: &str, context: &mut AppContext<'_>) {
        let query = query.trim();
        if query.is_empty() {
            return;
        }
        remember(context.store, query);
        self.pages.retain(|page| !matches!(page, Page::Search | Page::Results(_)));
        self.pages.push(Page::Results(query.to_owned()));
        self.open_only = false;
        self.best_first = false;
        context.unfocus();
        context.scroll_to_top("search_list");
    }

    fn toggle_saved(&mut self, id: usize, context: &mut AppContext<'_>) {
        let key = format!("{SAVED}{id:04}");
        if context.store.get(&key).is_some() {
            context.store.remove(&key);
            context.toast("Removed from Saved");
        } else {
            context.store.set(&key, "yes");
            context.toast("Saved to your places");
        }
    }

    /// The saved places, by id.
    fn saved<'a>(&'a self, store: &Preferences) -> Vec<&'a Place> {
        let ids =
            store.keys(SAVED).filter_map(|key| key.strip_prefix(SAVED)?.parse::<usize>().ok());
        ids.filter_map(|id| self.place(id)).collect()
    }

    fn is_saved(store: &Preferences, id: usize) -> bool {
        store.get(&format!("{SAVED}{id:04}")).is_some()
    }

    fn place(&self, id: usize) -> Option<&Place> {
        self.places.iter().find(|place| place.id == id)
    }

    fn with(&self, id: usize, act: impl FnOnce(&Place)) {
        if let Some(place) = self.place(id) {
            act(place);
        }
    }

    fn on_place(&self, id: usize, draw: impl FnOnce(&Place) -> View) -> View {
        self.place(id).map_or_else(|| crate::view::frame([]), draw)
    }

    /// The places on the results page, after filters.
    fn found(&self, query: &str, hour: u32) -> Vec<&Place> {
        let mut found = places::search(&self.places, query);
        if self.open_only {
            found.retain(|place| place.open(hour));
        }
        if self.best_first {
            found.sort_by_key(|place| std::cmp::Reverse(place.rating));
        }
        found
    }

    /// Rows below the search field: icon, text, secondary text, and tag.
    fn suggestions(&self, store: &Preferences) -> Vec<(Icon, String, String, Tag)> {
        let typed = self.query.trim().to_lowercase();
        let mut rows = Vec::new();
        if typed.is_empty() {
            for query in store.get(RECENT).unwrap_or_default().lines() {
                rows.push((Icon::History, query.to_owned(), String::new(), ("find", query).into()));
            }
            for category in Category::ALL {
                let label = category.label();
                rows.push((
                    category.icon(),
                    label.to_owned(),
                    String::new(),
                    ("find", label).into(),
                ));
            }
            return rows;
        }
        for category in Category::ALL {
            let label = category.label().to_lowercase();
            if label.starts_with(&typed) && label != typed {
                let below = format!("{} nearby", category.label());
                rows.push((category.icon(), label.clone(), below, ("find", label).into()));
            }
        }
        let query = self.query.trim().to_owned();
        rows.insert(
            0,
            (Icon::Search, query.clone(), "Search nearby".into(), ("find", query).into()),
        );
        let named = self.places.iter().filter(|place| place.name.to_lowercase().contains(&typed));
        for place in named.take(5) {
            let below = format!("{} · {}", place.kind, place.address);
            rows.push((Icon::Place, place.name.to_owned(), below, ("place", place.id).into()));
        }
        rows
    }
}

/// The places of the city, in search order.
pub(super) fn places(seed: u64) -> Vec<seeded::SeededPlace> {
    let all = places::city(seed).into_iter();
    let place = |place: Place| seeded::SeededPlace {
        number: place.id,
        name: place.name.to_owned(),
        address: place.address,
        phone: place.phone,
    };
    all.map(place).collect()
}

/// Stores the last five searches, newest first.
fn remember(store: &mut Preferences, query: &str) {
    let before = store.get(RECENT).unwrap_or_default().to_owned();
    let older = before.lines().filter(|old| *old != query).take(4);
    let flat = query.replace('\n', " ");
    let all: Vec<&str> = std::iter::once(flat.as_str()).chain(older).collect();
    store.set(RECENT, all.join("\n"));
}

/// Decodes percent and plus signs of a URI's query.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [a, b, after @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                let digit = |c: &u8| char::from(*c).to_digit(16).unwrap_or(0) as u8;
                bytes.push(digit(a) * 16 + digit(b));
                rest = after;
            }
            (other, _) => bytes.push(*other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geo_uri_query_is_decoded() {
        assert_eq!(decode("pizza+near%20me%2"), "pizza near me%2");
        assert_eq!(decode("caf%C3%A9"), "café");
    }

    #[test]
    fn last_five_distinct_searches_are_stored() {
        let mut store = Preferences::default();
        for query in ["a", "b", "c", "a", "d", "e", "f"] {
            remember(&mut store, query);
        }
        assert_eq!(store.get(RECENT), Some("f\ne\nd\na\nc"));
    }
}

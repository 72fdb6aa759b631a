//! The list pages of Maps: home with its tabs, search, results.

use crate::app::DrawContext;
use crate::apps::maps::map_drawing;
use crate::apps::maps::places::{Category, Place};
use crate::apps::maps::{FIELD, Maps, Tab};
use crate::theme;
use crate::theme::Colour;
use crate::view::{FieldTraits, ImeAction, View, class, column, frame, icon, picture, row, text};
use crate::widgets::{
    badge, chip, divider, empty_state, field, icon_button, list_row, page, search_toolbar, tabs,
    thousands,
};
use thumbwire_virtual_screen::icons::Icon;

impl Maps {
    pub(super) fn home(&self, env: &DrawContext<'_>) -> View {
        let body = match self.tab {
            Tab::Explore => self.explore(env),
            Tab::Saved => self.saved_tab(env),
            Tab::Contribute => contribute(env),
        };
        column([body.grow(), self.tabs(env)]).edge_to_edge().id("mainmap_container")
    }

    fn explore(&self, env: &DrawContext<'_>) -> View {
        let (width, height) = env.size;
        let shown = (width, height);
        let pins: Vec<&Place> = self.places.iter().take(14).collect();
        let view = (self.centre, self.scale());
        let map = picture(map_drawing::map(self.seed, shown, view, &pins, None))
            .class(class::VIEW)
            .content_description("Map of Harbor City")
            .id("map_view")
            .on_drag("pan")
            .on_long_press("drop pin")
            .on_double_tap("zoom in")
            .on_pinch("zoom")
            .fill_parent();
        let bar = row([
            icon(Icon::Place, 24.0, Colour::hex(0x1E8E3E)).hide_from_accessibility(),
            text("Search here", theme::BODY_LARGE.quiet().lines(1))
                .id("search_omnibox_text_box")
                .min_height(52.0)
                .grow()
                .on_tap("search"),
            icon_button(Icon::Mic, "Voice search", "search").id("search_omnibox_voice_search"),
            row([badge(Icon::Person, 32.0, theme::PRIMARY_CONTAINER, theme::ON_PRIMARY_CONTAINER)
                .hide_from_accessibility()])
            .class(class::FRAME)
            .size(theme::TOUCH, theme::TOUCH)
            .justify_center()
            .content_description("Signed in as Alex. Account and settings.")
            .id("selected_account_disc")
            .on_tap("account"),
        ])
        .gap(8.0)
        .pad_each(16.0, 0.0, 6.0, 0.0)
        .height(54.0)
        .fill(theme::SURFACE)
        .radius(27.0)
        .elevation(4.0)
        .margin(16.0, 0.0, 16.0, 0.0)
        .id("search_omnibox_container");
        let chips = Category::ALL.map(|category| {
            let label = category.label();
            floating_chip(category, label)
        });
        let chips = row(chips)
            .gap(8.0)
            .pad_xy(16.0, 0.0)
            .fill_width()
            .scrolls_across()
            .class(class::LIST)
            .id("category_chips");
        let top = column([bar, chips]).gap(4.0).absolute([
            Some(0.0),
            Some(env.insets.0 + 8.0),
            Some(0.0),
            None,
        ]);
        let locate = row([icon(Icon::MyLocation, 24.0, theme::PRIMARY).hide_from_accessibility()])
            .class(class::IMAGE_BUTTON)
            .size(56.0, 56.0)
            .justify_center()
            .fill(theme::SURFACE)
            .radius(16.0)
            .elevation(4.0)
            .content_description("Re-center map to your location")
            .id("mylocation_button")
            .on_tap("locate")
            .absolute([None, None, Some(16.0), Some(20.0)]);
        let mut layers = vec![map, top, locate];
        layers.extend(env.location.filter(|_| self.is_located).map(here));
        frame(layers)
    }

    fn tabs(&self, env: &DrawContext<'_>) -> View {
        let chosen = match self.tab {
            Tab::Explore => "Explore",
            Tab::Saved => "Saved",
            Tab::Contribute => "Contribute",
        };
        let places = [
            (Icon::Explore, "Explore", "explore_tab_strip_button"),
            (Icon::BookmarkBorder, "Saved", "saved_tab_strip_button"),
            (Icon::AddCircleOutline, "Contribute", "contribute_tab_strip_button"),
        ];
        tabs(&places, chosen, env)
    }

    fn saved_tab(&self, env: &DrawContext<'_>) -> View {
        let saved = self.saved(env.store);
        let title = text("Saved places", theme::HEADLINE).pad_xy(20.0, 8.0).id("saved_title");
        let body = if saved.is_empty() {
            empty_state(
                Icon::BookmarkBorder,
                "Nothing saved yet",
                "Places that you save show up here",
            )
        } else {
            let rows = saved.iter().map(|place| place_row(place, env));
            column(rows).scrolls().class(class::LIST).id("saved_list").grow()
        };
        page([title, body], env)
    }

    pub(super) fn search_page(&self, env: &DrawContext<'_>) -> View {
        let traits = FieldTraits { action: ImeAction::Search, ..FieldTraits::default() };
        let input = field(FIELD, &self.query, "Search here", theme::BODY_LARGE, traits).grow();
        let mut parts = vec![icon_button(Icon::ArrowBack, "Back", "back"), input];
        if !self.query.is_empty() {
            parts
                .push(icon_button(Icon::Close, "Clear", "clear").id("search_omnibox_clear_button"));
        }
        let bar = search_toolbar(parts).id("search_omnibox_container");
        let rows = self.suggestions(env.store).into_iter().map(|(symbol, title, below, tag)| {
            list_row(symbol, &title, &below)
                .class(class::GROUP)
                .id("typed_suggest_container")
                .on_tap(tag)
        });
        let list = column(rows).scrolls().class(class::LIST).id("typed_suggest_list").grow();
        page([bar, list], env)
    }

    pub(super) fn results(&self, env: &DrawContext<'_>, query: &str) -> View {
        let found = self.found(query, env.clock.hour().unsigned_abs().into());
        let bar = row([
            icon_button(Icon::ArrowBack, "Back", "back"),
            text(query, theme::BODY_LARGE.lines(1))
                .id("search_omnibox_text_box")
                .min_height(52.0)
                .grow()
                .on_tap("search"),
            icon_button(Icon::Close, "Clear", "clear").id("search_omnibox_clear_button"),
        ])
        .gap(4.0)
        .pad_xy(4.0, 0.0)
        .height(54.0)
        .fill(theme::SURFACE)
        .radius(27.0)
        .elevation(4.0)
        .id("search_omnibox_container");
        let chips = row([
            chip(Some(Icon::Schedule), "Open now", self.open_only, "open only"),
            chip(Some(Icon::StarBorder), "Top rated", self.best_first, "best first"),
        ])
        .gap(8.0)
        .pad_xy(20.0, 0.0)
        .id("filter_chips");
        let count = match found.len() {
            1 => "1 place".to_owned(),
            many => format!("{many} places"),
        };
        let heading = row([
            text("Results", theme::TITLE_LARGE).id("results_title"),
            text(count, theme::BODY.quiet()).id("results_count"),
        ])
        .gap(10.0)
        .pad_xy(20.0, 0.0);
        let list = if found.is_empty() {
            let advice = "Check the spelling, or try something else";
            let words = format!("No results for \u{201c}{query}\u{201d}");
            empty_state(Icon::Search, &words, advice)
        } else {
            let mut rows = Vec::new();
            for place in &found {
                rows.push(place_row(place, env));
                rows.push(divider().margin(20.0, 0.0, 20.0, 0.0));
            }
            column(rows)
                .scrolls()
                .class(class::LIST)
                .id("search_list")
                .pad_each(0.0, 0.0, 0.0, env.insets.1 + 8.0)
                .grow()
        };
        // No room for the map above the list in a low window.
        let above = if env.size.1 > 600.0 { 250.0 } else { env.insets.0 + 8.0 + 54.0 + 16.0 };
        let map = map_drawing::map(
            self.seed,
            (env.size.0, above + 24.0),
            ((0.0, -10.0), 1.0),
            &found,
            None,
        );
        let map = picture(map)
            .class(class::VIEW)
            .content_description("Map of the results")
            .height(above + 24.0)
            .absolute([Some(0.0), Some(0.0), Some(0.0), None]);
        let handle =
            View::new(class::VIEW, []).size(32.0, 4.0).radius(2.0).fill(theme::OUTLINE_VARIANT);
        let sheet =
            column([handle.align_self_center().hide_from_accessibility(), heading, chips, list])
                .gap(8.0)
                .pad_each(0.0, 10.0, 0.0, 0.0)
                .fill(theme::SURFACE)
                .radius(24.0)
                .id("results_sheet");
        // The background extends below the sheet's lower edge, so that only its upper corners are
        // round.
        let ground = View::new(class::VIEW, []).fill(theme::SURFACE).hide_from_accessibility();
        let ground = ground.absolute([Some(0.0), Some(above + 40.0), Some(0.0), Some(0.0)]);
        frame([
            map,
            ground,
            sheet.absolute([Some(0.0), Some(above), Some(0.0), Some(0.0)]),
            bar.absolute([Some(16.0), Some(env.insets.0 + 8.0), Some(16.0), None]),
        ])
        .edge_to_edge()
        .id("search_results_page")
    }
}

fn contribute(env: &DrawContext<'_>) -> View {
    let entry = |symbol: Icon, title: &str, below: &str| {
        list_row(symbol, title, below).class(class::GROUP).min_height(72.0).on_tap("contribute")
    };
    page(
        [
            text("Contribute", theme::HEADLINE).pad_xy(20.0, 8.0).id("contribute_title"),
            entry(Icon::Place, "Add place", "Tell others about a missing place"),
            entry(Icon::StarBorder, "Write review", "Share what you liked"),
            entry(Icon::CameraAlt, "Add photo", "Show what it looks like"),
            entry(Icon::Edit, "Edit map", "Correct a street or an address"),
        ],
        env,
    )
}

/// A chip that floats above the map.
fn floating_chip(category: Category, label: &str) -> View {
    let colour = category.colour();
    let face = row([icon(category.icon(), 18.0, colour), text(label, theme::LABEL_LARGE.lines(1))])
        .pad_xy(14.0, 0.0)
        .gap(8.0)
        .height(36.0)
        .fill(theme::SURFACE)
        .radius(18.0)
        .elevation(2.5);
    row([face.hide_from_accessibility()])
        .class(class::BUTTON)
        .height(theme::TOUCH)
        .dump_text(label)
        .on_tap(("find", label))
}

/// The stars of a rating, out of five.
pub(super) fn stars(rating: u32, size: f32) -> View {
    let star = |index: u32| {
        let rest = rating.saturating_sub(index * 10);
        let symbol = match rest {
            0..=2 => Icon::StarBorder,
            3..=7 => Icon::StarHalf,
            _ => Icon::Star,
        };
        icon(symbol, size, theme::GOLD).hide_from_accessibility()
    };
    row((0..5).map(star)).content_description(format!("{}.{} stars", rating / 10, rating % 10))
}

/// "4.6 ★★★★★ (1,234)".
pub(super) fn rating_line(place: &Place) -> View {
    row([
        text(place.stars(), theme::BODY).id("rating"),
        stars(place.rating, 15.0).id("rating_bar"),
        text(format!("({})", thousands(place.reviews)), theme::BODY.quiet()).id("review_count"),
    ])
    .gap(5.0)
}

/// "Open · Closes 10 PM", in green or red.
pub(super) fn state_line(place: &Place, env: &DrawContext<'_>) -> View {
    let (state, until) = place.state(env.clock.hour().unsigned_abs().into());
    let colour = if state == "Open" { theme::GREEN } else { theme::RED };
    let mut parts = Vec::new();
    if until != "Open 24 hours" {
        parts.push(text(state, theme::LABEL_LARGE.colour(colour)).id("open_state"));
        parts.push(text(format!("· {until}"), theme::BODY.quiet()).id("open_until"));
    } else {
        parts.push(text(until, theme::LABEL_LARGE.colour(colour)).id("open_state"));
    }
    row(parts).gap(5.0)
}

/// A place in a list.
fn place_row(place: &Place, env: &DrawContext<'_>) -> View {
    let facts = match place.dollars() {
        "" => format!("{} · {}", place.kind, place.miles()),
        dollars => format!("{} · {dollars} · {}", place.kind, place.miles()),
    };
    let words = column([
        text(place.name, theme::TITLE.lines(1)).id("title"),
        rating_line(place),
        text(facts, theme::BODY.quiet().lines(1)).id("facts"),
        state_line(place, env),
    ]);
    let photo = picture(map_drawing::photo(place, (84.0, 84.0)))
        .size(84.0, 84.0)
        .radius(16.0)
        .hide_from_accessibility();
    row([words.gap(2.0).grow(), photo])
        .class(class::GROUP)
        .gap(16.0)
        .pad_xy(20.0, 14.0)
        .fill_width()
        .id("search_result_row")
        .content_description(format!("{}, {} stars, {}", place.name, place.stars(), place.kind))
        .on_tap(("place", place.id))
}

/// Where the phone is. The city is made up, so the place is told and not drawn.
fn here((latitude, longitude): (f64, f64)) -> View {
    row([
        icon(Icon::MyLocation, 18.0, theme::PRIMARY).hide_from_accessibility(),
        text(format!("You are here: {latitude:.5}, {longitude:.5}"), theme::BODY.lines(1))
            .id("my_location_text"),
    ])
    .gap(8.0)
    .pad_xy(14.0, 10.0)
    .fill(theme::SURFACE)
    .radius(20.0)
    .elevation(2.0)
    .absolute([Some(16.0), None, None, Some(28.0)])
}

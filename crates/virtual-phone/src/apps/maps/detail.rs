//! The page of one place, and the directions to it.

use crate::app::DrawContext;
use crate::apps::maps::Maps;
use crate::apps::maps::map_drawing;
use crate::apps::maps::pages::{rating_line, stars, state_line};
use crate::apps::maps::places::{Place, o_clock};
use crate::rng::SplitMix64;
use crate::theme;
use crate::view::{View, class, column, frame, icon, picture, row, spacer, text};
use crate::widgets::{badge, divider, icon_button, list_row, pill, thousands};
use thumbwire_virtual_screen::icons::Icon;

impl Maps {
    pub(super) fn detail(&self, env: &DrawContext<'_>, place: &Place) -> View {
        let high = if env.wide() { 120.0 } else { 200.0 };
        let photo = picture(map_drawing::photo(place, (env.size.0 - 32.0, high)))
            .height(high)
            .radius(24.0)
            .margin(16.0, 4.0, 16.0, 0.0)
            .content_description(format!("Photo of {}", place.name))
            .id("place_photo");
        let kind = match place.dollars() {
            "" => place.kind.to_owned(),
            dollars => format!("{} · {dollars}", place.kind),
        };
        let head = column([
            text(place.name, theme::HEADLINE).id("title"),
            rating_line(place),
            text(format!("{kind} · {}", place.miles()), theme::BODY.quiet()).id("facts"),
            state_line(place, env),
        ])
        .gap(4.0)
        .pad_each(20.0, 18.0, 20.0, 8.0);
        let saved = Self::is_saved(env.store, place.id);
        let (symbol, label) =
            if saved { (Icon::Bookmark, "Saved") } else { (Icon::BookmarkBorder, "Save") };
        let tonal = |symbol, label: &str, tag: &'static str| {
            let (fill, ink) = (theme::PRIMARY_CONTAINER, theme::ON_PRIMARY_CONTAINER);
            pill(Some(symbol), label, fill, ink, (tag, place.id))
        };
        let (fill, ink) = (theme::PRIMARY, theme::ON_PRIMARY);
        let buttons = row([
            pill(Some(Icon::Directions), "Directions", fill, ink, ("directions", place.id))
                .id("directions_button"),
            tonal(Icon::Call, "Call", "call").id("call_button"),
            tonal(symbol, label, "save").id("save_button").selected(saved),
            tonal(Icon::Share, "Share", "share").id("share_button"),
        ])
        .gap(8.0)
        .pad_xy(20.0, 8.0)
        .fill_width()
        .scrolls_across()
        .id("action_buttons");
        let hours = match place.hours {
            (from, to) if from == to => "Open 24 hours, every day".to_owned(),
            (from, to) => format!("Every day, {} – {}", o_clock(from), o_clock(to)),
        };
        let facts = column([
            list_row(Icon::Place, &place.address, "").id("address"),
            list_row(Icon::Schedule, &hours, "").id("hours"),
            list_row(Icon::Phone, &place.phone, "")
                .class(class::GROUP)
                .id("phone")
                .on_tap(("call", place.id)),
            list_row(Icon::Public, &place.website, "")
                .class(class::GROUP)
                .id("website")
                .on_tap(("website", place.id)),
        ]);
        let content = column([photo, head, buttons, divider(), facts, divider(), reviews(place)])
            .scrolls()
            .id("place_page")
            .pad_each(0.0, 0.0, 0.0, env.insets.1 + 24.0);
        let bar = row([
            icon_button(Icon::ArrowBack, "Back", "back"),
            spacer(),
            icon_button(Icon::Search, "Search", "search").id("toolbar_search"),
        ])
        .pad_each(4.0, env.insets.0, 4.0, 0.0)
        .fill_width()
        .id("toolbar");
        column([bar, content.grow()]).edge_to_edge().fill(theme::SURFACE).id("place_page_container")
    }

    pub(super) fn directions(&self, env: &DrawContext<'_>, place: &Place) -> View {
        let (dx, dy) = (place.at.0 / 2.0, place.at.1 / 2.0);
        let map = map_drawing::map(self.seed, env.size, ((dx, dy + 40.0), 1.0), &[], Some(place));
        let map =
            picture(map).class(class::VIEW).content_description("Map with the route").fill_parent();
        let stop = |symbol, words: &str, id: &'static str| {
            row([
                icon(symbol, 20.0, theme::PRIMARY).hide_from_accessibility(),
                text(words, theme::BODY_LARGE.lines(1)).id(id).grow(),
            ])
            .gap(14.0)
            .height(44.0)
        };
        let ways = column([
            stop(Icon::MyLocation, "Your location", "start_location"),
            divider(),
            stop(Icon::Place, place.name, "destination"),
        ])
        .grow();
        let top = row([icon_button(Icon::ArrowBack, "Back", "back"), ways])
            .gap(4.0)
            .pad_each(4.0, 6.0, 20.0, 6.0)
            .fill(theme::SURFACE)
            .radius(24.0)
            .elevation(4.0)
            .absolute([Some(14.0), Some(env.insets.0 + 8.0), Some(14.0), None]);
        let minutes = 2 + place.distance * 2 / 3;
        let (fill, ink) = (theme::PRIMARY, theme::ON_PRIMARY);
        let words = column([
            text(format!("{minutes} min"), theme::HEADLINE.colour(theme::GREEN)).id("duration"),
            text(format!("{} · fastest route", place.miles()), theme::BODY.quiet()).id("distance"),
        ]);
        let bottom = row([
            words.grow(),
            pill(Some(Icon::NearMe), "Start", fill, ink, "start").id("start_button"),
        ])
        .pad_each(24.0, 20.0, 24.0, env.insets.1 + 16.0)
        .fill(theme::SURFACE)
        .elevation(6.0)
        .absolute([Some(0.0), None, Some(0.0), Some(0.0)]);
        frame([map, top, bottom]).edge_to_edge().id("directions_page")
    }
}

/// The rating, its distribution, and three reviews.
fn reviews(place: &Place) -> View {
    let mut chance = SplitMix64::new(place.id as u64, "reviews");
    let share = |stars: u32| {
        let far = place.rating.abs_diff(stars * 10) as f32;
        (1.0 - far / 24.0).clamp(0.06, 0.95)
    };
    let bars = (1..=5).rev().map(|stars| {
        let filled = View::new(class::VIEW, []).height(8.0).radius(4.0).fill(theme::GOLD);
        let mut filled = filled.grow();
        filled.style.flex_grow = share(stars);
        let mut rest = View::new(class::VIEW, []).grow();
        rest.style.flex_grow = 1.0 - share(stars);
        let track = row([filled.hide_from_accessibility(), rest.hide_from_accessibility()])
            .fill(theme::SURFACE_HIGH)
            .radius(4.0)
            .height(8.0)
            .grow();
        row([
            text(stars.to_string(), theme::LABEL.quiet()).width(10.0).hide_from_accessibility(),
            track.hide_from_accessibility(),
        ])
        .gap(10.0)
        .height(18.0)
    });
    let big = theme::TextAppearance { size: 44.0, line: 50.0, ..theme::DISPLAY_LARGE.centered() };
    let score = column([
        text(place.stars(), big).hide_from_accessibility(),
        stars(place.rating, 16.0).align_self_center(),
        text(format!("{} reviews", thousands(place.reviews)), theme::BODY.quiet().centered())
            .id("reviews"),
    ])
    .gap(2.0);
    let summary =
        row([column(bars).grow().hide_from_accessibility(), score]).gap(28.0).pad_xy(20.0, 0.0);
    let mut people: Vec<(&str, &str)> = PEOPLE.into_iter().zip(WORDS).collect();
    chance.shuffle(&mut people);
    let written = people.into_iter().take(3).map(|(name, words)| {
        let disc = badge(Icon::Person, 40.0, theme::PRIMARY_CONTAINER, theme::ON_PRIMARY_CONTAINER);
        let given = 30 + chance.below(3) as u32 * 10;
        let head = column([text(name, theme::LABEL_LARGE).id("reviewer"), stars(given, 14.0)]);
        column([
            row([disc.hide_from_accessibility(), head.gap(2.0)]).gap(14.0),
            text(words, theme::BODY.quiet()).id("review_text"),
        ])
        .gap(8.0)
        .pad_xy(20.0, 10.0)
    });
    let mut parts =
        vec![text("Reviews", theme::TITLE_LARGE).pad_xy(20.0, 0.0).id("reviews_title"), summary];
    parts.extend(written);
    column(parts).gap(10.0).pad_each(0.0, 18.0, 0.0, 0.0)
}

const PEOPLE: [&str; 6] =
    ["Mara Lind", "Tom Okafor", "Yuki Sato", "Ana Ribeiro", "Lee Park", "Sam Weiss"];
const WORDS: [&str; 6] = [
    "Friendly people who remember you on the second visit. Worth the short walk from the station.",
    "Clean, quick, and the prices are fair. It gets crowded around noon, so come early.",
    "I stop by every week. Never had a reason to complain.",
    "Good, though the music was a little loud for a Sunday morning.",
    "Exactly what I was looking for. Parking behind the house is free in the evening.",
    "A calm place with large windows. I would come back just for the view.",
];

//! Ready-made views in the phone's theme: buttons, chips, fields, rows, cards.
//!
//! Each is a function that returns a [`View`], which can be modified further. Everything tappable
//! is at least 48 dp high and wide.

use crate::app::DrawContext;
use crate::platform::Role;
use crate::theme;
use crate::theme::{Colour, TOUCH, TextAppearance};
use crate::view::{
    Content, Field, FieldTraits, Tag, View, class, column, frame, icon, row, spacer, text,
};
use thumbwire_virtual_screen::icons::Icon;

/// A round icon button; `description` is its content description.
pub(crate) fn icon_button(symbol: Icon, description: &str, tag: impl Into<Tag>) -> View {
    let tag = tag.into();
    let leads_back = tag.name == "back";
    let button = row([icon(symbol, 24.0, theme::ON_SURFACE_VARIANT).hide_from_accessibility()])
        .class(class::IMAGE_BUTTON)
        .size(TOUCH, TOUCH)
        .justify_center()
        .content_description(description)
        .on_tap(tag);
    if leads_back { button.role(Role::BackButton) } else { button }
}

/// A pill with an icon and a label, painted 36 dp high within its 48 dp target.
pub(crate) fn pill(
    symbol: Option<Icon>,
    label: &str,
    fill: Colour,
    ink: Colour,
    tag: impl Into<Tag>,
) -> View {
    let mut inside = Vec::new();
    if let Some(symbol) = symbol {
        inside.push(icon(symbol, 18.0, ink));
    }
    inside.push(text(label, theme::LABEL_LARGE.colour(ink).lines(1)));
    let face = row(inside).pad_xy(16.0, 0.0).gap(8.0).height(36.0).fill(fill).radius(18.0);
    row([face.hide_from_accessibility()])
        .class(class::BUTTON)
        .height(TOUCH)
        .min_width(TOUCH)
        .dump_text(label)
        .on_tap(tag)
}

/// A chip with an outline; filled when `on`.
pub(crate) fn chip(symbol: Option<Icon>, label: &str, on: bool, tag: impl Into<Tag>) -> View {
    let (fill, ink) = if on {
        (theme::SECONDARY_CONTAINER, theme::ON_SECONDARY_CONTAINER)
    } else {
        (theme::SURFACE, theme::ON_SURFACE_VARIANT)
    };
    let mut inside = Vec::new();
    if let Some(symbol) = symbol {
        inside.push(icon(symbol, 18.0, ink));
    }
    inside.push(text(label, theme::LABEL_LARGE.colour(ink).lines(1)));
    let mut face = row(inside).pad_xy(14.0, 0.0).gap(8.0).height(34.0).fill(fill).radius(10.0);
    if !on {
        face = face.border(1.0, theme::OUTLINE_VARIANT);
    }
    row([face.hide_from_accessibility()])
        .class(class::BUTTON)
        .height(TOUCH)
        .min_width(TOUCH)
        .dump_text(label)
        .selected(on)
        .on_tap(tag)
}

/// A single-line text field.
pub(crate) fn field(
    id: &'static str,
    content: &str,
    hint: &str,
    style: TextAppearance,
    traits: FieldTraits,
) -> View {
    let mut view = View::new(class::EDIT, []).id(id).min_height(TOUCH);
    view.text = content.to_owned();
    view.style.flex_shrink = 1.0;
    view.content = Content::Field(Box::new(Field { hint: hint.to_owned(), style, traits }));
    view
}

/// A framed field, for forms.
pub(crate) fn form_field(id: &'static str, content: &str, hint: &str, traits: FieldTraits) -> View {
    let input = field(id, content, hint, theme::BODY_LARGE, traits).grow();
    let framed = row([input]).pad_xy(16.0, 4.0).height(58.0).fill_width();
    framed.radius(12.0).border(1.0, theme::OUTLINE)
}

/// The main button of a page, as wide as the page; greyed out unless `enabled`.
pub(crate) fn wide_button(label: &str, enabled: bool, tag: impl Into<Tag>) -> View {
    let (fill, ink) = if enabled {
        (theme::PRIMARY, theme::ON_PRIMARY)
    } else {
        (theme::SURFACE_HIGH, theme::OUTLINE)
    };
    row([text(label, theme::LABEL_LARGE.colour(ink).lines(1)).hide_from_accessibility()])
        .class(class::BUTTON)
        .height(52.0)
        .fill_width()
        .justify_center()
        .fill(fill)
        .radius(26.0)
        .dump_text(label)
        .enabled(enabled)
        .on_tap(tag)
}

/// The bottom navigation of an app: icons with labels, one of them selected. A tap sends `tab` with
/// the label.
pub(crate) fn tabs(
    places: &[(Icon, &str, &'static str)],
    chosen: &str,
    env: &DrawContext<'_>,
) -> View {
    let tab = |(symbol, label, id): &(Icon, &str, &'static str)| {
        let on = *label == chosen;
        let style = if on { theme::ON_SECONDARY_CONTAINER } else { theme::ON_SURFACE_VARIANT };
        let mut face =
            row([icon(*symbol, 24.0, style)]).size(60.0, 32.0).justify_center().radius(16.0);
        if on {
            face = face.fill(theme::SECONDARY_CONTAINER);
        }
        let words = if on { theme::LABEL } else { theme::LABEL.quiet() };
        column([
            face.hide_from_accessibility(),
            text(*label, words.centered().lines(1)).hide_from_accessibility(),
        ])
        .class(class::FRAME)
        .align_center()
        .justify_center()
        .gap(4.0)
        .height(72.0)
        .grow()
        .dump_text(*label)
        .content_description(*label)
        .selected(on)
        .id(*id)
        .on_tap(("tab", *label))
    };
    row(places.iter().map(tab))
        .fill_width()
        .fill(theme::SURFACE_CONTAINER)
        .pad_each(8.0, 0.0, 8.0, env.insets.1)
        .id("bottom_navigation")
        .role(Role::TabBar)
}

/// A list of `count` rows, all `height` dp high. Only those near the screen are built; the others
/// only take up space. The rows' resource id is `row_id`.
pub(crate) fn long_list(
    (id, row_id): (&'static str, &'static str),
    (count, height): (usize, f32),
    env: &DrawContext<'_>,
    fill: impl Fn(usize) -> View,
) -> View {
    let top = env.scrolled(id);
    // One more screen on either side, so that a focus move finds its target.
    let near = top - env.size.1..top + 2.0 * env.size.1;
    let rows = (0..count).map(|at| {
        let begin = at as f32 * height;
        let seen = begin + height > near.start && begin < near.end;
        let row = if seen { fill(at) } else { View::new(class::GROUP, []) };
        row.id(row_id).height(height)
    });
    list(id, rows, env)
}

/// A row with an icon, a title, and secondary text below (omitted if empty).
pub(crate) fn list_row(symbol: Icon, title: &str, below: &str) -> View {
    let mut lines = vec![text(title, theme::BODY_LARGE.lines(1))];
    if !below.is_empty() {
        lines.push(text(below, theme::BODY.quiet().lines(2)));
    }
    row([icon(symbol, 24.0, theme::ON_SURFACE_VARIANT), column(lines).grow()])
        .gap(20.0)
        .pad_xy(20.0, 8.0)
        .min_height(56.0)
        .fill_width()
        .role(Role::Cell)
}

/// A bar that looks like a field and opens a search when tapped.
pub(crate) fn search_bar(words: &str) -> View {
    row([
        icon(Icon::Search, 24.0, theme::ON_SURFACE_VARIANT).hide_from_accessibility(),
        text(words, theme::BODY_LARGE.quiet().lines(1)).hide_from_accessibility(),
    ])
    .gap(16.0)
    .pad_xy(18.0, 0.0)
    .height(54.0)
    .fill(theme::SURFACE_CONTAINER)
    .radius(27.0)
    .dump_text(words)
    .role(Role::SearchField)
}

/// The bar of an active search: back, the field, and the clear button.
pub(crate) fn search_toolbar(parts: Vec<View>) -> View {
    row(parts)
        .gap(4.0)
        .pad_xy(4.0, 0.0)
        .height(56.0)
        .fill(theme::SURFACE_CONTAINER)
        .radius(28.0)
        .margin(12.0, 8.0, 12.0, 8.0)
}

/// A floating action button.
pub(crate) fn floating_button(symbol: Icon, text: &str) -> View {
    row([icon(symbol, 24.0, theme::ON_PRIMARY_CONTAINER).hide_from_accessibility()])
        .class(class::IMAGE_BUTTON)
        .size(56.0, 56.0)
        .justify_center()
        .fill(theme::PRIMARY_CONTAINER)
        .radius(16.0)
        .elevation(3.0)
        .content_description(text)
}

/// A hair line between things.
pub(crate) fn divider() -> View {
    View::new(class::VIEW, []).height(1.0).fill(theme::OUTLINE_VARIANT).hide_from_accessibility()
}

/// A round app icon.
pub(crate) fn badge(symbol: Icon, size: f32, fill: Colour, ink: Colour) -> View {
    row([icon(symbol, size * 0.56, ink).hide_from_accessibility()])
        .class(class::IMAGE)
        .size(size, size)
        .justify_center()
        .fill(fill)
        .radius(size / 2.0)
}

/// A switch in a row: the row takes the touch, the switch shows the state.
pub(crate) fn switch(on: bool) -> View {
    let (size, fill, track) = if on {
        (24.0, theme::ON_PRIMARY, theme::PRIMARY)
    } else {
        (16.0, theme::OUTLINE, theme::SURFACE_HIGH)
    };
    let thumb = View::new(class::VIEW, []).size(size, size).radius(size / 2.0).fill(fill);
    let thumb =
        frame([thumb.hide_from_accessibility()]).size(32.0, 32.0).justify_center().align_center();
    let mut inside = vec![thumb.hide_from_accessibility()];
    if on {
        inside.insert(0, spacer());
    }
    let mut track = row(inside).class(class::SWITCH).size(52.0, 32.0).radius(16.0).fill(track);
    if !on {
        track = track.border(2.0, theme::OUTLINE);
    }
    track.checked(on).id("android:id/switch_widget").role(Role::Switch)
}

/// A slider filled to `part` (0 to 1) of its width; a finger anywhere on it sets it.
pub(crate) fn slider(symbol: Icon, part: f32, description: &str, tag: impl Into<Tag>) -> View {
    let part = part.clamp(0.0, 1.0);
    let filled = View::new(class::VIEW, []).width_fraction(part).height(40.0).radius(20.0);
    let filled = filled.min_width(40.0).fill(theme::PRIMARY_CONTAINER);
    let sign = icon(symbol, 20.0, theme::ON_PRIMARY_CONTAINER);
    let sign = sign.absolute([Some(12.0), Some(10.0), None, None]);
    let face =
        frame([filled, sign]).fill_width().height(40.0).radius(20.0).fill(theme::SURFACE_HIGH);
    row([face.hide_from_accessibility()])
        .class(class::SEEK_BAR)
        .height(TOUCH)
        .fill_width()
        .content_description(description)
        .on_slide(tag)
}

/// A text button, for dialogs and toolbars.
pub(crate) fn text_button(label: &str, ink: Colour, tag: impl Into<Tag>) -> View {
    row([text(label, theme::LABEL_LARGE.colour(ink).lines(1)).hide_from_accessibility()])
        .class(class::BUTTON)
        .height(TOUCH)
        .min_width(64.0)
        .pad_xy(12.0, 0.0)
        .justify_center()
        .dump_text(label)
        .on_tap(tag)
}

/// A dialog card: a title (omitted if empty), a body, and buttons from left to right. Resource ids
/// are those of Android's `AlertDialog`.
pub(crate) fn dialog(title: &str, body: View, buttons: impl IntoIterator<Item = View>) -> View {
    let heading = text(title, theme::HEADLINE.lines(2)).id("android:id/alertTitle");
    let heading = (!title.is_empty()).then(|| heading.pad_xy(24.0, 0.0));
    let buttons = std::iter::once(spacer()).chain(buttons);
    let buttons = row(buttons).gap(8.0).fill_width().pad_each(0.0, 8.0, 0.0, 0.0);
    column(heading.into_iter().chain([body, buttons.pad_xy(16.0, 0.0)]))
        .gap(12.0)
        .pad_each(0.0, 24.0, 0.0, 16.0)
        .fill(theme::SURFACE_CONTAINER)
        .radius(28.0)
        .id("android:id/parentPanel")
        .role(Role::Alert)
}

/// The body of a message dialog.
pub(crate) fn message(words: &str) -> View {
    text(words, theme::BODY.quiet()).pad_xy(24.0, 0.0).id("android:id/message")
}

/// The toolbar of a page: the back button, the title, and buttons.
pub(crate) fn toolbar(title: &str, buttons: impl IntoIterator<Item = View>) -> View {
    let back = icon_button(Icon::ArrowBack, "Navigate up", "back");
    let title = text(title, theme::TITLE_LARGE.lines(1)).id("toolbar_title").grow();
    let parts = [back, title].into_iter().chain(buttons);
    row(parts)
        .gap(4.0)
        .pad_xy(4.0, 4.0)
        .height(64.0)
        .fill_width()
        .id("toolbar")
        .role(Role::NavigationBar)
}

/// A page below the status bar, down to the screen's edge.
pub(crate) fn page(parts: impl IntoIterator<Item = View>, env: &DrawContext<'_>) -> View {
    column(parts).edge_to_edge().fill(theme::SURFACE).pad_each(0.0, env.insets.0, 0.0, 0.0)
}

/// A scrolling list that takes the rest of a page.
pub(crate) fn list(
    id: &'static str,
    rows: impl IntoIterator<Item = View>,
    env: &DrawContext<'_>,
) -> View {
    column(rows)
        .scrolls()
        .class(class::LIST)
        .id(id)
        .pad_each(0.0, 0.0, 0.0, env.insets.1 + 8.0)
        .grow()
        .role(Role::Table)
}

/// An empty state: an icon, a title, and what to do.
pub(crate) fn empty_state(symbol: Icon, title: &str, advice: &str) -> View {
    let disc = badge(symbol, 88.0, theme::SURFACE_CONTAINER, theme::ON_SURFACE_VARIANT)
        .hide_from_accessibility();
    column([
        disc.align_self_center().margin(0.0, 0.0, 0.0, 8.0),
        text(title, theme::TITLE.centered()).id("empty_title"),
        text(advice, theme::BODY.quiet().centered()).id("empty_advice"),
        spacer(),
    ])
    .gap(8.0)
    .pad_each(32.0, 56.0, 32.0, 32.0)
    .scrolls()
    .class(class::LINEAR)
    .grow()
    .id("empty_page")
}

/// A number below a million with a thousands separator, as in American English.
pub(crate) fn thousands(number: u32) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", number / 1000, number % 1000)
}

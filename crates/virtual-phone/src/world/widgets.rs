//! Ready-made views in the phone's visual language: buttons, chips, fields, rows, cards.
//!
//! Each is a function from words to a [`View`] that can be built upon. Every one that can be tapped
//! is at least 48 dp high and wide.

use super::icons::Icon;
use super::theme::{self, Colour, TOUCH, Type};
use super::view::{Content, Field, FieldTraits, Tag, View, class, column, icon, row, text};

/// A round button that is only an icon; `description` is what a screen reader says.
pub(crate) fn icon_button(symbol: Icon, description: &str, tag: impl Into<Tag>) -> View {
    row([icon(symbol, 24.0, theme::ON_SURFACE_VARIANT).unlisted()])
        .class(class::IMAGE_BUTTON)
        .size(TOUCH, TOUCH)
        .pack_center()
        .describe(description)
        .on_tap(tag)
}

/// A pill with an icon and a word, painted 36 dp high within its 48 dp target.
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
    row([face.unlisted()])
        .class(class::BUTTON)
        .height(TOUCH)
        .min_width(TOUCH)
        .says(label)
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
    row([face.unlisted()])
        .class(class::BUTTON)
        .height(TOUCH)
        .min_width(TOUCH)
        .says(label)
        .selected(on)
        .on_tap(tag)
}

/// A line of text that can be typed into.
pub(crate) fn field(
    id: &'static str,
    content: &str,
    hint: &str,
    style: Type,
    traits: FieldTraits,
) -> View {
    let mut view = View::new(class::EDIT, []).id(id).tall(TOUCH);
    view.text = content.to_owned();
    view.style.flex_shrink = 1.0;
    view.content = Content::Field(Box::new(Field { hint: hint.to_owned(), style, traits }));
    view
}

/// A row with an icon in front, a title, and a quieter line below (left out when empty).
pub(crate) fn list_row(symbol: Icon, title: &str, below: &str) -> View {
    let mut lines = vec![text(title, theme::BODY_LARGE.lines(1))];
    if !below.is_empty() {
        lines.push(text(below, theme::BODY.quiet().lines(2)));
    }
    row([icon(symbol, 24.0, theme::ON_SURFACE_VARIANT), column(lines).grow()])
        .gap(20.0)
        .pad_xy(20.0, 8.0)
        .tall(56.0)
        .wide()
}

/// A hair line between things.
pub(crate) fn divider() -> View {
    View::new(class::VIEW, []).height(1.0).fill(theme::OUTLINE_VARIANT).unlisted()
}

/// A round picture of an app: its icon on its colour.
pub(crate) fn badge(symbol: Icon, size: f32, fill: Colour, ink: Colour) -> View {
    row([icon(symbol, size * 0.56, ink).unlisted()])
        .class(class::IMAGE)
        .size(size, size)
        .pack_center()
        .fill(fill)
        .radius(size / 2.0)
}

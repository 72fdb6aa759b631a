//! Navigation bars, search rows and tab bars, made of Android's toolbars and bottom navigation.

use crate::ios_look::colours::{BAR, BLACK, FIELD, GREY, SEPARATOR, TINT};
use crate::ios_look::{HAIR, at_end};
use crate::platform::Role;
use crate::theme::{self, Colour, TextAppearance};
use crate::view::{Content, Tag, View, class, icon, row, text};
use thumbwire_virtual_screen::icons::Icon;

/// Height of a navigation bar, in points.
const HEIGHT: f32 = 44.0;
/// Titles of bars and alerts.
pub(super) const TITLE: TextAppearance =
    TextAppearance { size: 17.0, line: 22.0, medium: true, ..theme::TITLE };
/// Text of buttons and rows.
pub(super) const BODY: TextAppearance =
    TextAppearance { size: 17.0, line: 22.0, medium: false, ..theme::BODY_LARGE };
/// The title of an app's first screen.
const LARGE_TITLE: TextAppearance =
    TextAppearance { size: 34.0, line: 41.0, medium: true, ..theme::HEADLINE };

/// Whether a text field is in a bar, at any depth.
pub(super) fn has_field(view: &View) -> bool {
    view.children.iter().any(|it| matches!(it.content, Content::Field(_)) || has_field(it))
}

/// The bar of a screen: back at the left, the title in the middle, everything else at the right.
pub(super) fn navigation_bar(view: View) -> View {
    let (mut left, mut middle, mut right) = (Vec::new(), None, Vec::new());
    let top = view.style.padding.top;
    for part in view.children {
        let is_title = part.id.as_deref().is_some_and(|id| id.ends_with("title"));
        match part.role {
            Some(Role::BackButton) => left.push(back_button(&part)),
            _ if is_title && middle.is_none() => middle = Some(part),
            // Spacers; the bar has its own.
            _ if !part.listed && part.children.is_empty() && part.text.is_empty() => {}
            _ if part.class == class::BUTTON && !part.text.is_empty() => {
                right.push(text_button(part));
            }
            _ => right.push(part),
        }
    }
    let name = middle.as_ref().map(|title| title.text.clone()).unwrap_or_default();
    let mut parts = vec![row(left).grow()];
    if let Some(mut title) = middle.take() {
        title.content = Content::Text(TITLE.centered().lines(1));
        title.style.flex_grow = 0.0;
        title.style.flex_basis = taffy::Dimension::auto();
        title.style.flex_shrink = 1.0;
        parts.push(title);
    }
    parts.push(at_end(right));
    let mut bar = bar(parts, &name);
    bar.id = view.id;
    // A bar over a picture begins below the status bar, where taps reach its buttons.
    const STATUS_BAR: f32 = 20.0;
    if top.into_raw().value() >= STATUS_BAR {
        bar.style.padding.top = top;
        bar.style.size.height = taffy::Dimension::auto();
    }
    bar
}

fn bar(parts: Vec<View>, name: &str) -> View {
    row(parts)
        .pad_xy(8.0, 0.0)
        .height(HEIGHT)
        .fill_width()
        .content_description(name)
        .role(Role::NavigationBar)
}

/// A chevron with "Back"; "Cancel" where Android has a cross.
fn back_button(view: &View) -> View {
    let cross = view.children.iter().any(|it| matches!(it.content, Content::Icon(Icon::Close, ..)));
    let label = if cross { "Cancel" } else { "Back" };
    let words = text(label, BODY.colour(TINT).lines(1)).hide_from_accessibility();
    let chevron = icon(Icon::ChevronLeft, 30.0, TINT).margin(-8.0, 0.0, -4.0, 0.0);
    let mut parts = vec![words];
    if !cross {
        parts.insert(0, chevron.hide_from_accessibility());
    }
    button(parts, label, view.touch.tap.clone()).role(Role::BackButton)
}

/// A button of a bar: just its words, in the tint.
fn text_button(view: View) -> View {
    let ink = if view.enabled { TINT } else { GREY };
    let words = text(&view.text, TITLE.colour(ink).lines(1)).hide_from_accessibility();
    let mut drawn = button(vec![words], &view.text, view.touch.tap).enabled(view.enabled);
    drawn.id = view.id;
    drawn.dump_text(view.text)
}

fn button(parts: Vec<View>, label: &str, tap: Option<Tag>) -> View {
    let mut button = row(parts).class(class::BUTTON).height(HEIGHT).min_width(HEIGHT);
    button.touch.tap = tap;
    button.pad_xy(8.0, 0.0).content_description(label)
}

/// A search: the field on grey, and "Cancel" at its right.
pub(super) fn search_row(view: View) -> View {
    let (mut back, mut inside) = (None, Vec::new());
    inside.push(icon(Icon::Search, 20.0, GREY).hide_from_accessibility());
    for mut part in view.children {
        if part.role == Some(Role::BackButton) {
            back = part.touch.tap;
            continue;
        }
        if matches!(part.content, Content::Field(_)) {
            part = part.role(Role::SearchField).min_height(40.0);
        } else if part.class == class::IMAGE_BUTTON {
            paint(&mut part, GREY);
            part = part.size(40.0, 40.0);
        }
        inside.push(part);
    }
    let field = row(inside).gap(6.0).pad_each(10.0, 0.0, 4.0, 0.0).height(40.0).grow();
    let cancel = text("Cancel", BODY.colour(TINT).lines(1)).hide_from_accessibility();
    let cancel = button(vec![cancel], "Cancel", back).role(Role::BackButton);
    let mut bar = row([field.fill(FIELD).radius(10.0), cancel]);
    bar.id = view.id;
    bar.pad_each(16.0, 4.0, 8.0, 4.0).fill_width()
}

/// The tabs of an app: the selected one in the tint, the others grey.
pub(super) fn tab_bar(mut view: View) -> View {
    let bottom = view.style.padding.bottom;
    let line = View::new(class::VIEW, []).height(HAIR).fill(SEPARATOR).hide_from_accessibility();
    for tab in &mut view.children {
        let ink = if tab.selected { TINT } else { GREY };
        tab.style.size.height = taffy::Dimension::length(50.0);
        tab.style.gap = taffy::Size::zero();
        tab.class = class::BUTTON;
        paint(tab, ink);
    }
    view.children.push(line.absolute([Some(0.0), Some(0.0), Some(0.0), None]));
    view = view.pad_each(8.0, 0.0, 8.0, 0.0).fill(BAR).role(Role::TabBar);
    view.style.padding.bottom = bottom;
    view
}

/// Paints text and icons in one colour, without backgrounds.
fn paint(view: &mut View, ink: Colour) {
    view.look.fill = None;
    match &mut view.content {
        Content::Text(style) => style.colour = ink,
        Content::Icon(_, _, colour) => *colour = ink,
        _ => {}
    }
    view.children.iter_mut().for_each(|child| paint(child, ink));
}

/// Gives an app's first screen, which has no back button and so no bar on Android, a bar with a
/// large title.
pub(super) fn add_title(view: &mut View, label: &str, wide: bool) {
    let Some(page) = page_of(view) else { return };
    if has_bar(page) {
        return;
    }
    // A browser's address, or a shop's search, is its bar.
    if let Some(first) = page.children.first_mut().filter(|it| it.id.as_deref() == Some("toolbar"))
    {
        first.role = Some(Role::NavigationBar);
        label.clone_into(&mut first.description);
        return;
    }
    let heading = take_heading(page);
    let name = heading.as_ref().map_or_else(|| label.to_owned(), |it| it.text.clone());
    let id = heading.and_then(|heading| heading.id);
    let style = if wide { TITLE.centered() } else { LARGE_TITLE };
    let mut title = text(&name, style.colour(BLACK).lines(1)).grow();
    title.id = id;
    let bar = bar(vec![title], &name);
    let bar = if wide { bar } else { bar.height(52.0).pad_xy(16.0, 0.0) };
    page.children.insert(0, bar);
}

/// Takes out the heading at the top of a page, or of the list at its top.
fn take_heading(page: &mut View) -> Option<View> {
    let first = page.children.first_mut()?;
    let is_heading = |it: &View| match it.content {
        Content::Text(style) => style.size >= theme::TITLE_LARGE.size,
        _ => false,
    };
    if is_heading(first) {
        return Some(page.children.remove(0));
    }
    let inner = first.role == Some(Role::Table) && first.children.first().is_some_and(is_heading);
    inner.then(|| first.children.remove(0))
}

/// The page of a screen: a column from the status bar down.
pub(super) fn page_of(view: &mut View) -> Option<&mut View> {
    let is_page = |it: &View| {
        it.edge_to_edge
            && it.look.fill == Some(theme::SURFACE)
            && it.style.flex_direction == taffy::FlexDirection::Column
    };
    if is_page(view) {
        return Some(view);
    }
    view.children.iter_mut().find(|child| is_page(child))
}

fn has_bar(view: &View) -> bool {
    let bar = |it: &View| it.role == Some(Role::NavigationBar) || it.role == Some(Role::BackButton);
    view.children.iter().any(|child| bar(child) || has_bar(child))
}

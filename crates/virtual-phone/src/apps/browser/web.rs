//! Elements of web pages, as a `WebView` reports them to accessibility: classes are Android's
//! closest, the resource id is the element's `id` without a package, a link is a clickable `View`,
//! a table a `GridView`.
//!
//! Source: `web_contents_accessibility_impl.cc` and `BrowserAccessibilityAndroid::GetClassName` in
//! Chromium.

use crate::theme;
use crate::theme::{Colour, TextAppearance};
use crate::view::{Content, FieldTraits, Tag, View, class, column, icon, row, text};
use crate::widgets::field;
use thumbwire_virtual_screen::icons::Icon;

/// The colour of links and fields.
const LINK: Colour = theme::PRIMARY;

/// The document: its title and its contents.
pub(super) fn document(title: &str, parts: impl IntoIterator<Item = View>, bottom: f32) -> View {
    let root = group(parts).web_id("root");
    let mut view = column([root.pad_each(20.0, 12.0, 20.0, bottom + 24.0)]);
    view = view.scrolls().class(class::WEB_VIEW).dump_text(title).id("webview");
    view.fill(theme::SURFACE)
}

/// Enlarges the text of a page, as a double tap does.
pub(super) fn enlarge(page: &mut View) {
    const BY: f32 = 1.4;
    if let Content::Text(style) = &mut page.content {
        style.size *= BY;
        style.line *= BY;
    }
    page.children.iter_mut().for_each(enlarge);
}

/// A generic element with children below each other.
pub(super) fn group(parts: impl IntoIterator<Item = View>) -> View {
    column(parts).class(class::VIEW).gap(12.0)
}

/// Nests `inner` in `depth` generic elements, each the only child of the one around it.
pub(super) fn nested(depth: usize, inner: View) -> View {
    (0..depth).fold(inner, |inner, _| group([inner]))
}

pub(super) fn heading(words: &str) -> View {
    text(words, theme::HEADLINE).class(class::VIEW)
}

pub(super) fn subheading(words: &str) -> View {
    text(words, theme::TITLE_LARGE).class(class::VIEW)
}

pub(super) fn paragraph(words: &str) -> View {
    group([text(words, theme::BODY_LARGE)])
}

pub(super) fn link(words: &str, address: &str) -> View {
    row([text(words, theme::BODY_LARGE.colour(LINK)).hide_from_accessibility()])
        .class(class::VIEW)
        .min_height(theme::TOUCH)
        .dump_text(words)
        .on_tap(("go", address))
        .on_long_press(("copy", address))
}

pub(super) fn image(symbol: Icon, ground: Colour, text: &str) -> View {
    row([icon(symbol, 72.0, theme::WHITE).hide_from_accessibility()])
        .class(class::WEB_IMAGE)
        .height(140.0)
        .fill_width()
        .justify_center()
        .fill(ground)
        .radius(8.0)
        .dump_text(text)
}

/// A label, its field and its placeholder.
pub(super) fn input(
    id: &'static str,
    (label, placeholder): (&str, &str),
    content: &str,
    traits: FieldTraits,
) -> View {
    let input = field(id, content, placeholder, theme::BODY_LARGE, traits).web_id(id);
    let height = if traits.multi_line { 96.0 } else { theme::TOUCH };
    let framed = column([input.min_height(height).pad_xy(12.0, 10.0)]).class(class::VIEW);
    let framed = framed.border(1.0, theme::OUTLINE).radius(4.0);
    group([text(label, theme::LABEL_LARGE), framed]).gap(4.0)
}

/// A checkbox or radio button, depending on `class`.
pub(super) fn toggle(class: &'static str, label: &str, on: bool, tag: impl Into<Tag>) -> View {
    let symbol = match (class == class::RADIO, on) {
        (true, true) => Icon::RadioButtonChecked,
        (true, false) => Icon::RadioButtonUnchecked,
        (false, true) => Icon::CheckBox,
        (false, false) => Icon::CheckBoxOutlineBlank,
    };
    let style = if on { LINK } else { theme::ON_SURFACE_VARIANT };
    let words = text(label, theme::BODY_LARGE).grow().hide_from_accessibility();
    row([icon(symbol, 22.0, style).hide_from_accessibility(), words])
        .class(class)
        .gap(12.0)
        .min_height(theme::TOUCH)
        .dump_text(label)
        .checked(on)
        .on_tap(tag)
}

pub(super) fn button(label: &str, tag: impl Into<Tag>) -> View {
    row([text(label, theme::LABEL_LARGE.colour(theme::ON_PRIMARY)).hide_from_accessibility()])
        .class(class::BUTTON)
        .height(theme::TOUCH)
        .width(140.0)
        .justify_center()
        .fill(LINK)
        .radius(4.0)
        .dump_text(label)
        .on_tap(tag)
}

/// A table; the first row is the header.
pub(super) fn table(rows: &[[&str; 3]]) -> View {
    let line = |at: usize, cells: &[&str; 3]| {
        let style = if at == 0 { theme::LABEL_LARGE } else { theme::BODY };
        let cells = cells.iter().map(|words| cell(words, style).grow());
        let line = row(cells).class(class::VIEW).fill_width();
        if at.is_multiple_of(2) { line.fill(theme::SURFACE_CONTAINER) } else { line }
    };
    let lines = rows.iter().enumerate().map(|(at, cells)| line(at, cells));
    column(lines).class(class::GRID).fill_width().border(1.0, theme::OUTLINE_VARIANT)
}

fn cell(words: &str, style: TextAppearance) -> View {
    column([text(words, style)]).class(class::VIEW).pad_xy(10.0, 8.0)
}

//! Alerts: a card in the middle with a title, a message, and buttons side by side or below each
//! other.
//!
//! Two buttons stand side by side if both are short (Apple's Human Interface Guidelines, "Alerts").

use crate::ios_look::bars::{BODY, TITLE};
use crate::ios_look::colours::{BLACK, RED, SEPARATOR, TINT};
use crate::ios_look::restyle;
use crate::ios_look::{ALERT_WIDTH, HAIR};
use crate::platform::Role;
use crate::theme::{self, Colour, TextAppearance};
use crate::view::{Content, Tag, View, class, column, row, text};

/// The background of a card.
const CARD: Colour = Colour::hex(0xF4F4F6);
const MESSAGE: TextAppearance =
    TextAppearance { size: 13.0, line: 18.0, medium: false, ..theme::BODY };
/// The longest label of a button beside another one, in characters.
const SHORT: usize = 13;

/// A button of an alert.
pub(crate) fn alert_button(label: &str, tag: impl Into<Tag>) -> View {
    let mut button = View::new(class::BUTTON, []).dump_text(label).on_tap(tag);
    button.enabled = true;
    button
}

/// An alert with a message (omitted if empty).
pub(crate) fn alert(title: &str, message: &str, buttons: Vec<View>) -> View {
    let message = (!message.is_empty()).then(|| text(message, MESSAGE).id("message"));
    card(title, message, buttons)
}

/// The alert that says what a dialog of Android says.
pub(super) fn of_dialog(view: View) -> View {
    let (mut title, mut body, mut buttons) = (String::new(), Vec::new(), Vec::new());
    for part in view.children {
        match part.id.as_deref() {
            Some("android:id/alertTitle") => title = part.text,
            Some("android:id/message") if matches!(part.content, Content::Text(_)) => {
                body.push(text(part.text, MESSAGE).id("android:id/message"));
            }
            None if part.children.iter().any(|it| it.class == class::BUTTON) => {
                buttons.extend(part.children.into_iter().filter(|it| it.class == class::BUTTON));
            }
            _ => body.push(restyle(part)),
        }
    }
    // A dialog without a title says its message in the title's place.
    if title.is_empty() && body.len() == 1 && matches!(body[0].content, Content::Text(_)) {
        title = std::mem::take(&mut body[0].text);
        body.clear();
    }
    let body = (!body.is_empty()).then(|| column(body));
    card(&title, body, buttons)
}

fn card(title: &str, body: Option<View>, buttons: Vec<View>) -> View {
    let mut parts = Vec::new();
    if !title.is_empty() {
        parts.push(text(title, TITLE.colour(BLACK).centered()).pad_xy(16.0, 0.0).id("title"));
    }
    if let Some(mut body) = body {
        if let Content::Text(style) = &mut body.content {
            *style = style.colour(BLACK).centered();
            body = body.pad_xy(16.0, 0.0);
        }
        body.children.iter_mut().for_each(|part| {
            if let Content::Text(style) = &mut part.content {
                *style = style.colour(BLACK).centered();
                let padded = std::mem::replace(part, View::new(class::VIEW, []));
                *part = padded.pad_xy(16.0, 0.0);
            }
        });
        parts.push(body);
    }
    let words = column(parts).gap(4.0).pad_each(0.0, 19.0, 0.0, 19.0).fill_width();
    let short = buttons.iter().all(|button| button.text.chars().count() <= SHORT);
    let count = buttons.len();
    let beside = count == 2 && short;
    let mut inside = Vec::new();
    for (at, button) in buttons.into_iter().enumerate() {
        if !beside {
            inside.push(line().height(HAIR).fill_width());
        } else if at > 0 {
            inside.push(line().width(HAIR).height(44.0));
        }
        // The one that cancels, at the left of two, is set in bold.
        inside.push(drawn(button, beside && at == 0));
    }
    let foot = if beside {
        column([line().height(HAIR).fill_width(), row(inside).fill_width()])
    } else {
        column(inside)
    };
    column([words, foot.fill_width()])
        .fill(CARD)
        .radius(14.0)
        .max_width(ALERT_WIDTH)
        .content_description(title)
        .role(Role::Alert)
}

/// Whether a view is an alert made here.
pub(crate) fn is_alert(view: &View) -> bool {
    view.role == Some(Role::Alert) && view.look.fill == Some(CARD)
}

fn line() -> View {
    View::new(class::VIEW, []).fill(SEPARATOR).hide_from_accessibility()
}

fn drawn(button: View, bold: bool) -> View {
    const DESTROYS: [&str; 5] = ["Delete", "Discard", "Remove", "Erase", "Clear"];
    let ink = if DESTROYS.iter().any(|word| button.text.starts_with(word)) { RED } else { TINT };
    let style = if bold { TITLE } else { BODY };
    let label = text(&button.text, style.colour(ink).centered().lines(1));
    let mut drawn = row([label.hide_from_accessibility()])
        .class(class::BUTTON)
        .justify_center()
        .height(44.0)
        .dump_text(button.text)
        .enabled(button.enabled);
    (drawn.touch.tap, drawn.id) = (button.touch.tap, button.id);
    drawn.min_height(44.0).grow().pad_xy(8.0, 0.0)
}

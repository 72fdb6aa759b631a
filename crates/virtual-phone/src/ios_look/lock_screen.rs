//! The lock screen: date and time, and the page that asks for the passcode.

use crate::clock::{SHORT_DATE, time_of_day};
use crate::theme::{self, Colour, TextAppearance};
use crate::view::{View, class, column, frame, row, spacer, text};
use jiff::civil::DateTime;

const GROUND: (Colour, Colour) = (Colour::hex(0x16325C), Colour::hex(0x3E7CB1));
const WORDS: TextAppearance =
    TextAppearance { size: 20.0, line: 26.0, ..theme::BODY_LARGE.colour(theme::WHITE).centered() };

/// Date, time, and what to do; a swipe up sends `unlock`.
pub(crate) fn lock_screen(clock: DateTime) -> View {
    let time = time_of_day(clock);
    let date = clock.strftime(SHORT_DATE).to_string();
    let large = TextAppearance { size: 84.0, line: 96.0, ..WORDS };
    let hint = TextAppearance { size: 15.0, line: 20.0, ..WORDS };
    ground(
        column([
            text(date, WORDS).id("date").fill_width(),
            text(time, large).id("time").fill_width(),
            spacer(),
            text("Swipe up to unlock", hint).id("hint").fill_width(),
        ])
        .on_swipe_up("unlock"),
    )
}

/// The passcode's dots and keys; each sends `key` with its digit, or `delete`.
pub(crate) fn passcode_page(typed: usize, length: usize, wrong: bool) -> View {
    let says = if wrong { "Wrong Passcode" } else { "Enter Passcode" };
    let dots = (0..length).map(|at| {
        let dot = View::new(class::VIEW, []).size(13.0, 13.0).radius(6.5);
        let dot = dot.border(1.2, theme::WHITE);
        if at < typed { dot.fill(theme::WHITE) } else { dot }.hide_from_accessibility()
    });
    let dots = row(dots).gap(22.0).justify_center().fill_width().id("passcode");
    let mut parts = vec![
        text(says, WORDS).id("title").fill_width(),
        dots.content_description(format!("{typed} of {length} values entered")),
        spacer().height(24.0),
    ];
    for line in ["123", "456", "789", "0"] {
        let keys = line.chars().map(|digit| key(&digit.to_string()));
        parts.push(row(keys).gap(24.0).justify_center().fill_width());
    }
    let delete = row([text("Delete", TextAppearance { size: 17.0, line: 22.0, ..WORDS })
        .hide_from_accessibility()])
    .class(class::BUTTON)
    .height(44.0)
    .pad_xy(16.0, 0.0)
    .dump_text("Delete")
    .on_tap(("key", "delete"));
    parts.push(row([spacer(), delete]).fill_width());
    ground(column(parts).gap(14.0).justify_center())
}

fn ground(page: View) -> View {
    let page = page.absolute([Some(24.0), Some(64.0), Some(24.0), Some(48.0)]);
    frame([page]).gradient(GROUND.0, GROUND.1).id("lock_screen")
}

fn key(digit: &str) -> View {
    let style = TextAppearance { size: 34.0, line: 40.0, ..WORDS };
    row([text(digit, style).hide_from_accessibility()])
        .class(class::BUTTON)
        .size(75.0, 75.0)
        .justify_center()
        .fill(theme::WHITE.alpha(60))
        .radius(37.5)
        .dump_text(digit)
        .on_tap(("key", digit))
}

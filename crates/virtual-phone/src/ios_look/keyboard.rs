//! The soft keyboard of iOS: US letters and two pages of symbols.
//!
//! Keys are named as XCUITest finds them: `shift`, `delete`, `more`, `space`, and `return` or what
//! it does. It has no key that hides it: return does, in a field of one line, and leaving the page.

use crate::input::keyboard::{Keyboard, Page};
use crate::ios_look::colours::{BLACK, TINT};
use crate::platform::Role;
use crate::theme::{self, Colour, TextAppearance};
use crate::view::{FieldTraits, ImeAction, Tag, View, class, column, icon, row, spacer, text};
use thumbwire_virtual_screen::Display;
use thumbwire_virtual_screen::icons::Icon;

const GROUND: Colour = Colour::hex(0xD1D4DB);
const KEY: Colour = theme::WHITE;
const FUNCTION: Colour = Colour::hex(0xABB1BC);
const LETTER: TextAppearance =
    TextAppearance { size: 23.0, line: 28.0, ..theme::TITLE_LARGE.colour(BLACK).centered() };
const WORD: TextAppearance =
    TextAppearance { size: 16.0, line: 20.0, ..theme::BODY.colour(BLACK).centered().lines(1) };

fn row_height(display: &Display) -> f32 {
    let height = display.height as f32 / display.scale();
    (height * 0.1).clamp(34.0, 54.0)
}

/// Its height in points, without the area of the home indicator.
pub(crate) fn height(display: &Display) -> f32 {
    row_height(display) * 4.0 + 10.0
}

fn rows(page: Page) -> [&'static str; 3] {
    match page {
        Page::Letters => ["qwertyuiop", "asdfghjkl", "zxcvbnm"],
        Page::Symbols => ["1234567890", "-/:;()$&@\"", ".,?!'"],
        Page::MoreSymbols => ["[]{}#%^*+=", "_\\|~<>€£¥•", ".,?!'"],
    }
}

/// The keyboard's window.
pub(crate) fn view(keyboard: &Keyboard, display: &Display, traits: FieldTraits) -> View {
    let high = row_height(display);
    let [first, second, third] = rows(keyboard.page());
    let upper = keyboard.types_capitals();
    let typing = |ch: char| {
        let ch = if upper { ch.to_ascii_uppercase() } else { ch };
        key(high, 1.0, KEY, text(ch, LETTER), &ch.to_string(), ("type", ch)).role(Role::Key)
    };
    let mut second_row: Vec<View> = second.chars().map(typing).collect();
    if second_row.len() < 10 {
        second_row.insert(0, spacer().grow_by(0.5));
        second_row.push(spacer().grow_by(0.5));
    }
    let corner = match keyboard.page() {
        Page::Letters => {
            let fill = if upper { KEY } else { FUNCTION };
            let sign = icon(Icon::ArrowUpward, 22.0, BLACK);
            key(high, 1.3, fill, sign, "shift", "shift").selected(upper)
        }
        Page::Symbols => key(high, 1.3, FUNCTION, text("#+=", WORD), "shift", "more"),
        Page::MoreSymbols => key(high, 1.3, FUNCTION, text("123", WORD), "shift", "symbols"),
    };
    let mut third_row = vec![corner, spacer().grow_by(0.2)];
    third_row.extend(third.chars().map(|ch| match keyboard.page() {
        Page::Letters => typing(ch),
        _ => typing(ch).grow_by(1.4),
    }));
    let back = icon(Icon::Backspace, 22.0, BLACK);
    third_row.push(spacer().grow_by(0.2));
    third_row.push(key(high, 1.3, FUNCTION, back, "delete", "delete"));
    let swap = match keyboard.page() {
        Page::Letters => key(high, 2.5, FUNCTION, text("123", WORD), "more", "symbols"),
        _ => key(high, 2.5, FUNCTION, text("ABC", WORD), "more", "letters"),
    };
    let (name, tinted) = match traits {
        FieldTraits { multi_line: true, .. } => ("return", false),
        FieldTraits { action: ImeAction::Search, .. } => ("search", true),
        FieldTraits { action: ImeAction::Next, .. } => ("next", false),
        FieldTraits { action: ImeAction::Done, .. } => ("return", false),
    };
    let (fill, ink) = if tinted { (TINT, theme::WHITE) } else { (FUNCTION, BLACK) };
    let last_row = vec![
        swap,
        key(high, 5.0, KEY, text("space", WORD), "space", ("type", ' ')).role(Role::Key),
        key(high, 2.5, fill, text(name, WORD.colour(ink)), name, "enter"),
    ];
    let line = |keys: Vec<View>| row(keys).height(high).fill_width();
    column([
        line(first.chars().map(typing).collect()),
        line(second_row),
        line(third_row),
        line(last_row),
    ])
    .id("keyboard")
    .fill(GROUND)
    .pad_each(3.0, 6.0, 3.0, 0.0)
    .role(Role::Keyboard)
}

/// A key that is `share` units wide; touch targets have no gaps, painted keys do.
fn key(high: f32, share: f32, fill: Colour, face: View, name: &str, tag: impl Into<Tag>) -> View {
    let face = row([face]).justify_center().grow().height(high - 10.0).fill(fill).radius(5.0);
    let target = row([face.elevation(0.5).hide_from_accessibility()])
        .class(class::BUTTON)
        .height(high)
        .pad_xy(3.0, 5.0)
        .content_description(name)
        .on_tap(tag);
    target.grow_by(share)
}

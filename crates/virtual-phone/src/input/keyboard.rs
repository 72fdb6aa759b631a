//! The soft keyboard: a separate window whose keys type into the focused field.
//!
//! [`view`] draws it, [`Keyboard::press`] interprets its keys. It is not part of the app's dump, as
//! on real phones. Layouts: US letters and two pages of symbols.

use crate::theme;
use crate::theme::{Colour, TextAppearance};
use crate::view::{FieldTraits, ImeAction, Tag, View, class, column, icon, row, spacer, text};
use thumbwire_virtual_screen::Display;
use thumbwire_virtual_screen::icons::Icon;

/// The package that owns the window.
pub(crate) const PACKAGE: &str = "com.google.android.inputmethod.latin";

/// The keyboard's current page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Keyboard {
    pub(crate) shown: bool,
    page: Page,
    shift: Shift,
}

/// A page of the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Page {
    #[default]
    Letters,
    Symbols,
    MoreSymbols,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Shift {
    #[default]
    Off,
    Once,
    Locked,
}

/// What a key does to the focused field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyEffect {
    Type(char),
    Delete,
    Enter,
    Hide,
    /// Only the keyboard itself changed.
    Nothing,
}

impl Keyboard {
    /// Presses the key with this tag.
    pub(crate) fn press(&mut self, tag: &Tag) -> KeyEffect {
        match tag.name {
            "type" => {
                if self.shift == Shift::Once {
                    self.shift = Shift::Off;
                }
                tag.value.chars().next().map_or(KeyEffect::Nothing, KeyEffect::Type)
            }
            "shift" => {
                self.shift = match self.shift {
                    Shift::Off => Shift::Once,
                    Shift::Once => Shift::Locked,
                    Shift::Locked => Shift::Off,
                };
                KeyEffect::Nothing
            }
            "letters" => self.turn(Page::Letters),
            "symbols" => self.turn(Page::Symbols),
            "more" => self.turn(Page::MoreSymbols),
            "delete" => KeyEffect::Delete,
            "enter" => KeyEffect::Enter,
            "hide" => KeyEffect::Hide,
            _ => KeyEffect::Nothing,
        }
    }

    /// The page that shows.
    pub(crate) fn page(&self) -> Page {
        self.page
    }

    /// Whether its letters are capitals now.
    pub(crate) fn types_capitals(&self) -> bool {
        self.shift != Shift::Off && self.page == Page::Letters
    }

    fn turn(&mut self, page: Page) -> KeyEffect {
        self.page = page;
        KeyEffect::Nothing
    }

    fn rows(&self) -> [&'static str; 3] {
        match self.page {
            Page::Letters => ["qwertyuiop", "asdfghjkl", "zxcvbnm"],
            Page::Symbols => ["1234567890", "@#$_&-+()/", "*\"':;!?"],
            Page::MoreSymbols => ["~`|•√π÷×§∆", "£¢€¥^°={}\\", "%©®™✓[]"],
        }
    }
}

/// Height of a row of keys in dp; smaller on a low screen.
fn row_height(display: &Display) -> f32 {
    let height = display.height as f32 / display.scale();
    (height * 0.11).clamp(30.0, 54.0)
}

/// Height of the keyboard in dp, without the gesture bar below it.
pub(crate) fn height(display: &Display) -> f32 {
    let strip = if has_strip(display) { STRIP } else { 6.0 };
    row_height(display) * 4.0 + strip + 12.0
}

/// Height of the strip above the keys, in dp.
const STRIP: f32 = 40.0;

/// Whether there is room for the strip; the back key hides the keyboard too.
fn has_strip(display: &Display) -> bool {
    row_height(display) >= 48.0
}

const GROUND: Colour = Colour::hex(0xE9EDF5);
const KEY: Colour = Colour::hex(0xFFFFFF);
const FUNCTION: Colour = Colour::hex(0xCDD6E6);
const LETTER: TextAppearance = theme::TITLE_LARGE.centered();

/// The keyboard's window.
pub(crate) fn view(keyboard: &Keyboard, display: &Display, traits: FieldTraits) -> View {
    let high = row_height(display);
    let [first, second, third] = keyboard.rows();
    let upper = keyboard.types_capitals();
    let typing = |ch: char| {
        let ch = if upper { ch.to_ascii_uppercase() } else { ch };
        key(high, 1.0, KEY, text(ch, LETTER), &ch.to_string(), ("type", ch))
    };
    let line = |keys: Vec<View>| row(keys).height(high).fill_width();
    let mut second_row: Vec<View> = second.chars().map(typing).collect();
    if second_row.len() < 10 {
        second_row.insert(0, spacer().grow_by(0.5));
        second_row.push(spacer().grow_by(0.5));
    }
    let (fill, ink) = match keyboard.shift {
        Shift::Off => (FUNCTION, theme::ON_SURFACE),
        Shift::Once => (theme::PRIMARY_CONTAINER, theme::ON_PRIMARY_CONTAINER),
        Shift::Locked => (theme::PRIMARY, theme::ON_PRIMARY),
    };
    let corner = match keyboard.page {
        Page::Letters => key(high, 1.5, fill, icon(Icon::ArrowUpward, 22.0, ink), "Shift", "shift"),
        Page::Symbols => key(high, 1.5, FUNCTION, label("=\\<"), "More symbols", "more"),
        Page::MoreSymbols => key(high, 1.5, FUNCTION, label("?123"), "Symbols", "symbols"),
    };
    let mut third_row = vec![corner];
    third_row.extend(third.chars().map(typing));
    let back = icon(Icon::Backspace, 22.0, theme::ON_SURFACE);
    third_row.push(key(high, 1.5, FUNCTION, back, "Delete", "delete"));
    let swap = match keyboard.page {
        Page::Letters => key(high, 1.5, FUNCTION, label("?123"), "Symbols", "symbols"),
        _ => key(high, 1.5, FUNCTION, label("ABC"), "Letters", "letters"),
    };
    let (symbol, name) = match traits {
        FieldTraits { multi_line: true, .. } => (Icon::KeyboardReturn, "Enter"),
        FieldTraits { action: ImeAction::Search, .. } => (Icon::Search, "Search"),
        FieldTraits { action: ImeAction::Next, .. } => (Icon::ChevronRight, "Next"),
        FieldTraits { action: ImeAction::Done, .. } => (Icon::Check, "Done"),
    };
    let enter = icon(symbol, 22.0, theme::ON_PRIMARY);
    let last_row = vec![
        swap,
        key(high, 1.0, FUNCTION, label(","), "Comma", ("type", ',')),
        key(
            high,
            5.0,
            KEY,
            text("English", theme::BODY.quiet().centered()),
            "Space",
            ("type", ' '),
        ),
        key(high, 1.0, FUNCTION, label("."), "Period", ("type", '.')),
        key(high, 1.5, theme::PRIMARY, enter, name, "enter"),
    ];
    let hide =
        row([icon(Icon::KeyboardHide, 22.0, theme::ON_SURFACE_VARIANT).hide_from_accessibility()])
            .class(class::IMAGE_BUTTON)
            .size(56.0, 40.0)
            .justify_center()
            .content_description("Hide keyboard")
            .on_tap("hide");
    let strip = if has_strip(display) {
        row([spacer(), hide]).height(STRIP).fill_width()
    } else {
        spacer().height(6.0)
    };
    column([
        strip,
        line(first.chars().map(typing).collect()),
        line(second_row),
        line(third_row),
        line(last_row),
    ])
    .id("keyboard_view")
    .fill(GROUND)
    .pad_each(3.0, 0.0, 3.0, 12.0)
}

fn label(words: &str) -> View {
    text(words, theme::TITLE.centered())
}

/// A key that is `share` units wide; touch targets have no gaps, painted keys do.
fn key(high: f32, share: f32, fill: Colour, face: View, name: &str, tag: impl Into<Tag>) -> View {
    let face = row([face]).justify_center().grow().height(high - 8.0).fill(fill).radius(8.0);
    let target = row([face.hide_from_accessibility()])
        .class(class::BUTTON)
        .height(high)
        .pad_xy(2.5, 4.0)
        .content_description(name)
        .on_tap(tag);
    target.grow_by(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_applies_to_one_letter_and_locks_when_pressed_twice() {
        let mut keyboard = Keyboard::default();
        keyboard.press(&"shift".into());
        assert_eq!(keyboard.shift, Shift::Once);
        assert_eq!(keyboard.press(&("type", 'A').into()), KeyEffect::Type('A'));
        assert_eq!(keyboard.shift, Shift::Off);
        keyboard.press(&"shift".into());
        keyboard.press(&"shift".into());
        keyboard.press(&("type", 'A').into());
        assert_eq!(keyboard.shift, Shift::Locked);
    }
}

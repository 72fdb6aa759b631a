//! An app with a right-to-left layout.

use super::*;
use crate::input::KeyCode;
use thumbwire_virtual_screen::Rect;

#[test]
fn rtl_rows_start_at_the_right() {
    let mut world = app(AKHBAR, &[]);
    let title = node(&mut world, "toolbar_title").unwrap().bounds;
    let search = node(&mut world, "action_search").unwrap().bounds;
    assert!(search.right <= title.left, "the button follows the title, so it is at the left");
    let first = node(&mut world, "navigation_news").unwrap().bounds;
    let second = node(&mut world, "navigation_saved").unwrap().bounds;
    assert!(second.right <= first.left);
    let text = node(&mut world, "news_title").unwrap().bounds;
    assert!(SMALL.width - text.right > text.left, "the picture stands to the right of the words");
}

#[test]
fn short_rtl_lines_start_at_the_right_edge() {
    let mut world = app(AKHBAR, &[]);
    let title = node(&mut world, "news_subject").unwrap().bounds;
    let frame = world.frame();
    let dark = |x: i32| (title.top..title.bottom).any(|y| frame.pixel(x, y) != Some([255; 3]));
    let middle = title.center().x;
    assert!((middle..title.right).any(dark), "there is ink in the right half");
    assert!(!(title.left..middle).any(dark), "and none in the left one");
}

#[test]
fn arabic_letters_are_shaped_and_none_is_missing() {
    use thumbwire_virtual_screen::text::{Face, TextStyle, Typesetter};
    let mut types = Typesetter::new(crate::Platform::Android);
    let setting = TextStyle { size: 20.0, line: 26.0, medium: false, lines: 0, wrap: None };
    let mut glyphs = |text: &str| {
        let line = types.shape(text, setting).lines[0].clone();
        assert!(line.rtl && line.glyphs.iter().all(|glyph| glyph.id != 0), "{text}");
        line.glyphs
    };
    // The letter has four forms: isolated, initial, medial and final.
    let alone = glyphs("ع")[0];
    assert_eq!(alone.face, Face::Arabic);
    let joined = glyphs("ععع");
    assert!(joined.iter().all(|glyph| glyph.id != alone.id));
    assert_eq!(glyphs("שלום")[0].face, Face::Hebrew, "drawn from the left: the last letter first");
    let mut world = app(AKHBAR, &[]);
    let titles = texts(&mut world, "id/news_title");
    assert!(titles.len() >= 5);
    titles.iter().for_each(|title| drop(glyphs(title)));
}

#[test]
fn stories_can_be_opened_saved_found_and_unsaved() {
    let mut world = app(AKHBAR, &["طقس مشمس حتى نهاية الأسبوع", "action_save"]);
    assert!(node(&mut world, "action_save").unwrap().flags.selected);
    assert_eq!(world.preferences(AKHBAR), [("saved/1", "yes")]);
    world.key(KeyCode::BACK);
    tap(&mut world, "navigation_saved");
    assert_eq!(texts(&mut world, "id/news_title").len(), 1);
    tap(&mut world, "action_search");
    type_text(&mut world, "قطار");
    assert!(shows(&mut world, "لا توجد نتائج"));
    for _ in 0..4 {
        world.key(KeyCode::DEL);
    }
    assert_eq!(texts(&mut world, "id/news_title").len(), 1);
    for _ in 0..4 {
        world.key(KeyCode::BACK);
    }
    assert_eq!(world.foreground().package, "com.android.launcher3");
}

#[test]
fn rtl_search_works_with_the_caret_at_the_left() {
    let mut world = app(AKHBAR, &["action_search"]);
    type_text(&mut world, "القطار");
    assert_eq!(texts(&mut world, "id/news_title").len(), 1);
    let (field, caret, _) = field_caret_and_ink(&mut world);
    assert!(caret.left > field.left && caret.right < field.right - 20, "{caret:?}");
    tap_at(&mut world, Point { x: caret.left - 3, y: caret.center().y });
    let (_, tapped, _) = field_caret_and_ink(&mut world);
    assert_eq!(tapped, caret, "a finger at the left end sets it behind the last letter");
}

#[test]
fn caret_is_where_the_next_letter_appears() {
    let mut world = app(AKHBAR, &["action_search"]);
    type_text(&mut world, "abc");
    let (_, caret, ink) = field_caret_and_ink(&mut world);
    assert!(caret.left >= ink.right - 2, "{caret:?} behind {ink:?}");
    for _ in 0..3 {
        world.key(KeyCode::DEL);
    }
    type_text(&mut world, &"القطار ".repeat(12));
    type_text(&mut world, "ع");
    let (_, caret, ink) = field_caret_and_ink(&mut world);
    assert!(caret.right <= ink.left + 2 && caret.right + 12 > ink.left, "{caret:?} {ink:?}");
}

#[test]
fn centred_text_stays_centred_in_rtl() {
    let mut world = app(AKHBAR, &["navigation_saved"]);
    let title = node(&mut world, "empty_title").unwrap().bounds;
    let frame = world.frame();
    let inked = |x: &i32| (title.top..title.bottom).any(|y| frame.pixel(*x, y) != Some([255; 3]));
    let (left, right) =
        ((title.left..title.right).find(inked), (title.left..title.right).rfind(inked));
    let middle = (left.unwrap() + right.unwrap()) / 2;
    assert!((middle - title.center().x).abs() < 4, "{middle} in {title:?}");
}

/// The search field, its caret, and the painted area of its text.
fn field_caret_and_ink(world: &mut World) -> (Rect, Rect, Rect) {
    let field = node(world, "search_src_text").unwrap();
    let caret = field.inks.iter().find_map(|inked| match &inked.ink {
        thumbwire_virtual_screen::PaintOp::Fill { rect, .. } => Some(*rect),
        _ => None,
    });
    let (caret, frame) = (caret.expect("a caret"), world.frame());
    let dark = |x: &i32| {
        let high = caret.top + 4..caret.bottom - 4;
        let column = high.map(|y| frame.pixel(*x, y).unwrap_or([255; 3]));
        !(caret.left..caret.right).contains(x)
            && column.into_iter().any(|rgb| rgb[0] < 100 && rgb[2] < 100)
    };
    let mut across = field.bounds.left..field.bounds.right;
    let (left, right) = (across.clone().find(dark).unwrap(), across.rfind(dark).unwrap());
    (field.bounds, caret, Rect::new(left, caret.top, right + 1, caret.bottom))
}

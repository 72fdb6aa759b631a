//! Marks on images, pixel by pixel.

use std::time::{Duration, Instant};

use thumbwire_device::image::{Format, Pixels};

use super::*;

const WHITE: [u8; 3] = [255; 3];

fn white(width: u32, height: u32) -> Pixels {
    Pixels::new(width, height, vec![255; (width * height * 3) as usize]).unwrap()
}

fn mark(rect: [i32; 4], label: &str, kind: &str) -> Mark {
    Mark { rect, label: label.into(), kind: kind.into() }
}

fn marked(pixels: &Pixels, marks: &[Mark]) -> Pixels {
    draw_on(pixels, marks).unwrap()
}

fn at(pixels: &Pixels, x: i32, y: i32) -> [u8; 3] {
    let at = (y * pixels.size().width + x) as usize * 3;
    pixels.rgb()[at..at + 3].try_into().unwrap()
}

#[test]
fn outlines_are_two_pixels_inside_the_rectangle() {
    let picture = marked(&white(200, 200), &[mark([40, 50, 140, 150], "", "Button")]);
    let line = ControlFamily::Button.colour();
    for (x, y, colour) in [
        (39, 100, WHITE),
        (40, 100, line),
        (41, 100, line),
        (42, 100, WHITE),
        (138, 100, line),
        (139, 100, line),
        (140, 100, WHITE),
        (90, 49, WHITE),
        (90, 50, line),
        (90, 51, line),
        (90, 149, line),
        (90, 150, WHITE),
    ] {
        assert_eq!(at(&picture, x, y), colour, "{x},{y}");
    }
}

/// An image with letters, roughly: short black strokes in these rectangles.
fn with_text(width: u32, height: u32, texts: &[Rect]) -> Pixels {
    let mut rgb = vec![255; (width * height * 3) as usize];
    for text in texts {
        for y in (text.top..text.bottom).filter(|y| y % 12 < 10) {
            for x in (text.left..text.right).filter(|x| x % 4 < 2) {
                let at = (y * width as i32 + x) as usize * 3;
                rgb[at..at + 3].fill(0);
            }
        }
    }
    Pixels::new(width, height, rgb).unwrap()
}

/// The label of the first of these marks. No pixel of a letter may change.
fn place_beside_text(texts: &[Rect], marks: &[Mark]) -> Rect {
    let clean = with_text(1080, 600, texts);
    let picture = marked(&clean, marks);
    for text in texts {
        for y in text.top..text.bottom {
            for x in (text.left..text.right).filter(|x| at(&clean, *x, y) != WHITE) {
                assert_eq!(at(&picture, x, y), at(&clean, x, y), "{x},{y} of {text:?}");
            }
        }
    }
    places(&clean, marks)[0].unwrap()
}

fn rect([left, top, right, bottom]: [i32; 4]) -> Rect {
    Rect { left, top, right, bottom }
}

#[test]
fn labels_are_in_an_empty_corner() {
    let row = [mark([20, 100, 800, 200], "12", "TextView")];
    let right_of_it = place_beside_text(&[rect([24, 104, 500, 196])], &row);
    assert_eq!((right_of_it.right, right_of_it.top), (800, 100));
    let left_of_it = place_beside_text(&[rect([300, 104, 796, 196])], &row);
    assert_eq!((left_of_it.left, left_of_it.top), (20, 100));
}

#[test]
fn label_of_a_control_full_of_text_is_beside_it() {
    let text = [220, 100, 500, 140];
    let place = place_beside_text(&[rect(text)], &[mark(text, "12", "TextView")]);
    assert!(place.intersection(rect(text)).is_empty(), "{place:?}");
    assert!(place.right > 200 && place.left < 520, "{place:?}");
}

#[test]
fn label_without_room_beside_its_control_is_led_to_it() {
    let text = rect([400, 220, 660, 400]);
    let place = place_beside_text(&[text], &[mark([500, 300, 560, 330], "7", "TextView")]);
    assert!(place.intersection(text).is_empty(), "{place:?}");
}

#[test]
fn outlines_leave_letters_out() {
    let clean = with_text(300, 200, &[rect([60, 90, 120, 110])]);
    // The letters go over both sides of the control's top edge.
    let picture = marked(&clean, &[mark([40, 100, 200, 180], "", "Button")]);
    assert_eq!(at(&picture, 170, 101), ControlFamily::Button.colour());
    for x in (60..120).filter(|x| at(&clean, *x, 100) != WHITE) {
        assert_eq!(at(&picture, x, 100), at(&clean, x, 100), "{x}");
    }
}

#[test]
fn nothing_is_tinted() {
    let picture = marked(&white(200, 200), &[mark([40, 40, 160, 160], "", "Button")]);
    for (x, y) in [(45, 45), (100, 100), (155, 155)] {
        assert_eq!(at(&picture, x, y), WHITE);
    }
}

#[test]
fn marks_outside_the_image_are_clipped() {
    let clean = white(120, 120);
    for rect in [
        [-50, -50, 0, 0],
        [120, 0, 200, 50],
        [30, 30, 30, 60],
        [60, 60, 30, 30],
        [i32::MIN, i32::MIN, i32::MIN, i32::MAX],
        [i32::MAX; 4],
    ] {
        assert_eq!(marked(&clean, &[mark(rect, "1", "Button")]), clean, "{rect:?}");
    }
    let everywhere = [i32::MIN, i32::MIN, i32::MAX, i32::MAX];
    let picture = marked(&clean, &[mark(everywhere, "1", "Button")]);
    assert_eq!(picture, marked(&clean, &[mark([0, 0, 120, 120], "1", "Button")]));
}

#[test]
fn labels_scale_with_the_image() {
    let label = |size: Size| {
        let marks = [mark([20, 20, size.width - 20, size.height - 20], "12", "Button")];
        let clean = white(size.width as u32, size.height as u32);
        let place = places(&clean, &marks)[0].unwrap();
        assert_eq!((place.left, place.top), (20, 20));
        place.bottom - place.top
    };
    let small = label(Size { width: 320, height: 480 });
    let large = label(Size { width: 1080, height: 2400 });
    assert!(small >= 11 && large >= 20, "{small} and {large}");
    assert_eq!(large, label(Size { width: 2400, height: 1080 }), "a turned screen");
}

#[test]
fn labels_do_not_overlap_and_stay_inside() {
    let size = Size { width: 1080, height: 2400 };
    // A page with a list of rows, each with an image, text and a switch; all start at the same
    // corner.
    let mut marks = vec![mark([0, 0, 1080, 2400], "1", "ScrollView")];
    marks.push(mark([0, 0, 1080, 2400], "2", "ListView"));
    for row in 0..16 {
        let top = row * 150;
        let number = |part: i32| (3 + row * 4 + part).to_string();
        marks.push(mark([0, top, 1080, top + 150], &number(0), "LinearLayout"));
        marks.push(mark([0, top, 150, top + 150], &number(1), "ImageView"));
        marks.push(mark([150, top, 900, top + 80], &number(2), "TextView"));
        marks.push(mark([900, top, 1080, top + 150], &number(3), "Switch"));
    }
    let found = places(&white(1080, 2400), &marks);
    let found: Vec<Rect> = found.into_iter().flatten().collect();
    assert_eq!(found.len(), marks.len());
    for (one, place) in found.iter().enumerate() {
        let label = &marks[one].label;
        assert!(place.left >= 0 && place.top >= 0, "{label} {place:?}");
        assert!(place.right <= size.width && place.bottom <= size.height, "{label} {place:?}");
        for (beside, mark) in found.iter().zip(&marks).skip(one + 1) {
            assert!(place.intersection(*beside).is_empty(), "{label} lies on {}", mark.label);
        }
    }
}

#[test]
fn hidden_and_unlabelled_marks_have_no_place() {
    let marks = [
        mark([0, 0, 50, 50], "", "Button"),
        mark([500, 0, 550, 50], "2", "Button"),
        mark([50, 50, 90, 90], "3", "Button"),
    ];
    let found = places(&white(200, 200), &marks);
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn drawing_is_deterministic() {
    let image = white(320, 480).write(Format::Png).unwrap();
    let marks = [mark([10, 10, 300, 60], "1", "EditText"), mark([10, 80, 60, 130], "2", "Switch")];
    let once = draw(&image, &marks).unwrap();
    assert_eq!(once, draw(&image, &marks).unwrap());
    assert_eq!(once.format, Format::Png);
    assert_eq!(Pixels::read(&once).unwrap().size(), Size { width: 320, height: 480 });
}

#[test]
fn thousands_of_marks_take_bounded_time() {
    let clean = white(1080, 2400);
    let spread = |n: i32| [n % 1000 - 20, (n * 7) % 2300 - 20, 1080 - n % 7, 2400 - n % 2000];
    let everywhere: Vec<Mark> =
        (0..5000).map(|n| mark(spread(n), &"9".repeat(10_000), "View")).collect();
    let on_one_place: Vec<Mark> =
        (0..5000).map(|n| mark([500, 500, 520, 520], &n.to_string(), "\u{202e}\0")).collect();
    for marks in [everywhere, on_one_place] {
        let began = Instant::now();
        let picture = marked(&clean, &marks);
        assert_ne!(picture, clean);
        // Takes seconds in a debug build on a busy machine; quadratic work would take minutes.
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }
}

#[test]
fn images_smaller_than_a_label_are_marked() {
    for (width, height) in [(1, 1), (3, 200), (200, 3)] {
        let picture = marked(&white(width, height), &[mark([0, 0, 500, 500], "123", "Button")]);
        assert_ne!(picture, white(width, height));
    }
}

#[test]
fn broken_images_are_refused() {
    let image = Image { format: Format::Png, bytes: b"no picture".as_slice().into() };
    assert!(matches!(draw(&image, &[]), Err(Error::Unreadable { .. })));
}

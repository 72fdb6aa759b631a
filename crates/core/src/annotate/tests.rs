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
    let inside = at(&picture, 42, 100);
    assert!(inside != WHITE && inside != line, "{inside:?} is a tint");
    assert_eq!(inside, at(&picture, 90, 100));
}

#[test]
fn the_smallest_control_tints_a_pixel_once() {
    let page = mark([0, 0, 200, 200], "", "ScrollView");
    let button = mark([40, 40, 100, 100], "", "Button");
    let alone = marked(&white(200, 200), std::slice::from_ref(&button));
    for marks in [[page.clone(), button.clone()], [button, page]] {
        let both = marked(&white(200, 200), &marks);
        assert_eq!(at(&both, 70, 70), at(&alone, 70, 70));
        assert_ne!(at(&both, 150, 150), WHITE);
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
        let place = places(size, &marks)[0].unwrap();
        assert_eq!((place.left, place.top), (20, 20));
        place.bottom - place.top
    };
    let small = label(Size { width: 320, height: 480 });
    let large = label(Size { width: 1080, height: 2400 });
    assert!(small >= 11 && large >= 28, "{small} and {large}");
    assert_eq!(large, label(Size { width: 2400, height: 1080 }), "a turned screen");
}

#[test]
fn labels_do_not_overlap_and_stay_inside() {
    let size = Size { width: 1080, height: 2400 };
    // A page with a list of rows, each with an image, text and a switch; all start at the same corner.
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
    let found: Vec<Rect> = places(size, &marks).into_iter().flatten().collect();
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
fn labels_go_left_of_text_if_nothing_is_hidden() {
    let size = Size { width: 1080, height: 2400 };
    let row = mark([0, 300, 1080, 500], "1", "LinearLayout");
    let text = mark([200, 320, 900, 380], "2", "TextView");
    let before = |marks: &[Mark]| places(size, marks)[1].unwrap().right <= 200;
    assert!(before(&[row.clone(), text.clone()]));
    let icon = mark([50, 310, 190, 450], "3", "ImageView");
    assert!(!before(&[row, text, icon]));
}

#[test]
fn hidden_and_unlabelled_marks_have_no_place() {
    let marks = [
        mark([0, 0, 50, 50], "", "Button"),
        mark([500, 0, 550, 50], "2", "Button"),
        mark([50, 50, 90, 90], "3", "Button"),
    ];
    let found = places(Size { width: 200, height: 200 }, &marks);
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

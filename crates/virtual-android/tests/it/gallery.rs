//! Screenshots of every page of the phone in `docs/evidence/gallery`, and the document that shows
//! them.
//!
//! `just gallery` accepts the current drawing; look at it before committing. The pages are in
//! `examples/screens/pages.rs`. An image has up to 256 colours, the most frequent ones, so that a
//! hundred pages stay small. Checked only on x86-64: pixels come from floating-point arithmetic,
//! and no other processor was available.

#[path = "../../examples/screens/pages.rs"]
mod pages;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;

use thumbwire_test_support::{assert_golden, update_golden};
use thumbwire_virtual_phone::Frame;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evidence");

/// Maximum bytes of all images together: they are part of every clone.
const MAX_COUNT: usize = 2_500_000;

/// An image with a palette.
#[derive(PartialEq)]
struct Reduced {
    width: u32,
    height: u32,
    palette: Vec<[u8; 3]>,
    pixels: Vec<u8>,
}

impl Reduced {
    /// Reduces a frame to its 256 most frequent colours; every other one becomes the nearest of
    /// them.
    fn of(frame: &Frame) -> Self {
        // Runs of one colour, which make up most of a screen.
        let mut runs: Vec<([u8; 3], usize)> = Vec::new();
        for pixel in frame.rgba.chunks_exact(4) {
            let colour = [pixel[0], pixel[1], pixel[2]];
            match runs.last_mut() {
                Some((last, length)) if *last == colour => *length += 1,
                _ => runs.push((colour, 1)),
            }
        }
        let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
        runs.iter().for_each(|(colour, length)| *counts.entry(*colour).or_default() += length);
        let mut by_count: Vec<_> = counts.iter().map(|(colour, count)| (*count, *colour)).collect();
        by_count.sort_unstable_by(|a, b| b.cmp(a));
        let mut palette: Vec<_> = by_count.iter().map(|(_, colour)| *colour).take(256).collect();
        palette.sort_unstable();
        let mut known: HashMap<[u8; 3], u8> = HashMap::new();
        let mut pixels = Vec::with_capacity(frame.rgba.len() / 4);
        for (colour, length) in runs {
            let place = *known.entry(colour).or_insert_with(|| nearest(&palette, colour));
            pixels.resize(pixels.len() + length, place);
        }
        Self { width: frame.width, height: frame.height, palette, pixels }
    }

    fn png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(self.palette.concat());
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(&self.pixels).expect("pixels");
        drop(writer);
        file
    }

    /// `None` if [`Reduced::png`] did not write it.
    fn read(file: &[u8]) -> Option<Self> {
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().ok()?;
        let palette = reader.info().palette.as_ref()?.chunks_exact(3);
        let palette = palette.map(|colour| [colour[0], colour[1], colour[2]]).collect();
        let (width, height) = (reader.info().width, reader.info().height);
        let mut pixels = vec![0; reader.output_buffer_size()?];
        reader.next_frame(&mut pixels).ok()?;
        Some(Self { width, height, palette, pixels })
    }
}

/// The index of the colour, or of the nearest one; the first of two.
fn nearest(palette: &[[u8; 3]], colour: [u8; 3]) -> u8 {
    if let Ok(at) = palette.binary_search(&colour) {
        return u8::try_from(at).expect("256 colours at most");
    }
    let (mut best, mut least) = (0, u32::MAX);
    for (at, [red, green, blue]) in (0..=255).zip(palette) {
        let far = |a: &u8, b: u8| u32::from(a.abs_diff(b)) * u32::from(a.abs_diff(b));
        let far = far(red, colour[0]) + far(green, colour[1]) + far(blue, colour[2]);
        if far < least {
            (best, least) = (at, far);
        }
    }
    best
}

/// `docs/evidence/gallery.md`.
fn document() -> String {
    let mut text = String::from(
        "# Gallery of the virtual phone\n\n\
         The screens of the [virtual phone](../virtual-phone.md), to see which apps and states your\n\
         tests can use. The phone draws each picture itself, from a fresh start with taps and typing, and a test\n\
         compares them: they are those of this commit. There is one theme, a light one, for all releases of Android,\n\
         and one for the iPhone.\n\n\
         ```sh\njust gallery     # draw them again\n```\n\n\
         The pages are listed in `crates/virtual-android/examples/screens/pages.rs`.\n",
    );
    for chapter in pages::chapters() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n\n", chapter.title);
        let pages: Vec<_> = chapter.pages().collect();
        for row in pages.chunks(chapter.columns()) {
            let cell = |(name, page): &(String, &pages::Page)| {
                let words = page.1;
                format!(
                    "<td valign=\"top\"><img src=\"gallery/{name}.png\" alt=\"{words}\"><br>{words}</td>"
                )
            };
            let cells: String = row.iter().map(cell).collect();
            let _ = writeln!(text, "<table><tr>{cells}</tr></table>");
        }
    }
    text
}

#[test]
fn every_page_matches_the_gallery() {
    let folder = Path::new(DOCS).join("gallery");
    let bless = std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always");
    if bless {
        std::fs::create_dir_all(&folder).expect("a folder");
    }
    let (mut changed, mut names, mut bytes) = (Vec::new(), BTreeSet::new(), 0);
    for chapter in pages::chapters() {
        for (name, page) in chapter.pages() {
            let mut world = chapter.shown(page).unwrap_or_else(|why| panic!("{name}: {why}"));
            let now = Reduced::of(&world.frame());
            let file = format!("{name}.png");
            let path = folder.join(&file);
            let kept = std::fs::read(&path).unwrap_or_default();
            bytes += kept.len();
            let same = Reduced::read(&kept).as_ref() == Some(&now);
            if !same && !update_golden(&path, &now.png()) {
                changed.push(name);
            }
            assert!(names.insert(file), "duplicate page name");
        }
    }
    let listed = std::fs::read_dir(&folder)
        .expect("the gallery")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let left_over: Vec<String> =
        listed.filter(|name| !names.contains(name) && !name.ends_with(".new")).collect();
    if bless {
        left_over.iter().for_each(|name| std::fs::remove_file(folder.join(name)).expect("removed"));
        return;
    }
    assert!(changed.is_empty(), "pages changed: {changed:?}; run `just gallery` to accept them");
    assert!(left_over.is_empty(), "images without a page: {left_over:?}");
    assert!(bytes < MAX_COUNT, "the gallery has {bytes} bytes, more than {MAX_COUNT}");
}

#[test]
fn gallery_document_shows_every_page() {
    let path = Path::new(DOCS).join("gallery.md");
    assert_golden(&path, &document());
}

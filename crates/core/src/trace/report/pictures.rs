//! The screenshots of a run, scaled down and stored once each.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thumbwire_device::image::{Error, Pixels};
use thumbwire_device::{Format, Image, Size};

use crate::trace::reader::Trace;

/// For up to so many screenshots, the width in pixels. A run of 50 steps has 100: at 420 pixels they take some 3 MB.
const WIDTHS: [(usize, i32); 4] = [(24, 720), (60, 540), (150, 420), (usize::MAX, 320)];

/// The maximum number of screenshots on a page.
const MOST: usize = 600;

/// The JPEG quality: text stays readable, and pages stay small.
const QUALITY: u8 = 70;

/// A screenshot on the page.
pub(super) struct EmbeddedImage {
    /// Its size on the phone.
    pub(super) size: Size,
    /// Its data URI.
    pub(super) uri: String,
}

/// All screenshots of a page.
#[derive(Default)]
pub(super) struct ImageSet {
    pub(super) all: Vec<EmbeddedImage>,
    /// The index of each file's screenshot; `None` if it cannot be shown.
    of_file: HashMap<String, Option<usize>>,
}

impl ImageSet {
    /// Loads the screenshots from these files. Failures are added to the notes.
    pub(super) fn of(trace: &Trace, names: &[&str], notes: &mut Vec<String>) -> Self {
        let mut pictures = Self::default();
        let mut of_bytes: HashMap<Vec<u8>, Option<usize>> = HashMap::new();
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        for name in names {
            if pictures.of_file.contains_key(*name) {
                continue;
            }
            pictures.of_file.insert((*name).to_owned(), None);
            match trace.file(name) {
                Ok(_) if files.len() >= MOST => {}
                Ok(bytes) => files.push((name, bytes)),
                Err(note) => notes.push(note),
            }
        }
        if files.len() >= MOST {
            notes.push(format!("Only the first {MOST} screenshots are on this page."));
        }
        let width = WIDTHS.into_iter().find(|(count, _)| files.len() <= *count);
        let width = width.map_or(320, |(_, width)| width);
        for (name, bytes) in files {
            let known = of_bytes.get(&bytes).copied();
            let at = known.unwrap_or_else(|| match embed(name, &bytes, width) {
                Ok(embedded) => {
                    pictures.all.push(embedded);
                    Some(pictures.all.len() - 1)
                }
                Err(error) => {
                    notes.push(format!("Cannot show {name}: failed to {error}."));
                    None
                }
            });
            of_bytes.insert(bytes, at);
            pictures.of_file.insert(name.to_owned(), at);
        }
        pictures
    }

    /// The index of a file's screenshot.
    pub(super) fn find(&self, name: Option<&str>) -> Option<usize> {
        self.of_file.get(name?).copied().flatten()
    }
}

fn embed(name: &str, bytes: &[u8], width: i32) -> Result<EmbeddedImage, Error> {
    let ending = name.rsplit('.').next().unwrap_or_default();
    let format = Format::from_name(ending).unwrap_or(Format::Png);
    let pixels = Pixels::read(&Image { format, bytes: bytes.to_vec().into() })?;
    let size = pixels.size();
    let small = if size.width > width {
        let height = i64::from(size.height) * i64::from(width) / i64::from(size.width);
        pixels.scaled(Size { width, height: i32::try_from(height).unwrap_or(1).max(1) })?
    } else {
        pixels
    };
    let image = small.write_jpeg(QUALITY)?;
    let uri = format!("data:{};base64,{}", image.format.mime(), STANDARD.encode(&image.bytes));
    Ok(EmbeddedImage { size, uri })
}

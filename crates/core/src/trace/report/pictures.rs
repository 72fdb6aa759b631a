//! The screenshots of a page: scaled down and stored once each, or linked.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thumbwire_device::image::{Error, Pixels};
use thumbwire_device::{Format, Image, Size};

use crate::trace::format::{ActionResult, StoredOutcome, TraceRecord};
use crate::trace::reader::Trace;

/// Up to how many screenshots a page has, and their width in pixels then. A run of 50 steps has
/// 100, which take some 3 MB at 420 pixels.
const WIDTHS: [(usize, i32); 4] = [(24, 720), (60, 540), (150, 420), (usize::MAX, 320)];

/// The maximum number of screenshots on a page.
const MAX_COUNT: usize = 600;

/// The JPEG quality: text stays readable, and pages stay small.
const QUALITY: u8 = 70;

/// Where a page has its screenshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pictures {
    /// On the page itself, scaled down: it can be sent to somebody.
    Embedded,
    /// In the folders of the runs, which the page is to stay beside.
    Linked,
}

/// A screenshot on the page.
pub(super) struct EmbeddedImage {
    /// Its size on the phone.
    pub(super) size: Size,
    /// Its data URI.
    pub(super) uri: String,
}

/// A screenshot where it is shown.
pub(super) struct PlacedImage {
    /// Its size on the phone.
    pub(super) size: Size,
    /// The number of the embedded image, or the address of the file.
    pub(super) source: ImageSource,
}

/// Where a screenshot comes from.
pub(super) enum ImageSource {
    /// The index of an embedded image.
    Embedded(usize),
    /// The file, relative to the page.
    File(String),
}

/// All screenshots of a page. Runs are told apart by their folders' addresses, relative to the
/// page.
#[derive(Default)]
pub(super) struct ImageSet {
    pub(super) all: Vec<EmbeddedImage>,
    /// The index of each file's screenshot; `None` if it cannot be shown.
    of_file: HashMap<String, Option<usize>>,
    /// The sizes of the files that are linked.
    linked: HashMap<String, Size>,
}

impl ImageSet {
    /// Loads the screenshots from these files of one run. Failures are added to the notes.
    pub(super) fn of(trace: &Trace, names: &[&str], notes: &mut Vec<String>) -> Self {
        let mut pictures = Self::default();
        let files: Vec<(&Trace, &str, &str)> =
            names.iter().map(|name| (trace, "", *name)).collect();
        pictures.embed(&files, notes);
        pictures
    }

    /// Loads screenshots: of each its run, the address of the run's folder, and the name of the
    /// file.
    pub(super) fn embed(&mut self, wanted: &[(&Trace, &str, &str)], notes: &mut Vec<String>) {
        let mut of_bytes: HashMap<Vec<u8>, Option<usize>> = HashMap::new();
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for (trace, folder, name) in wanted {
            let key = format!("{folder}{name}");
            if self.of_file.contains_key(&key) {
                continue;
            }
            self.of_file.insert(key.clone(), None);
            match trace.file(name) {
                Ok(_) if files.len() >= MAX_COUNT => {}
                Ok(bytes) => files.push((key, bytes)),
                Err(note) => notes.push(note),
            }
        }
        if files.len() >= MAX_COUNT {
            notes.push(format!("Only the first {MAX_COUNT} screenshots are on this page."));
        }
        let width = WIDTHS.into_iter().find(|(count, _)| files.len() <= *count);
        let width = width.map_or(320, |(_, width)| width);
        for (name, bytes) in files {
            let known = of_bytes.get(&bytes).copied();
            let at = known.unwrap_or_else(|| match embed(&name, &bytes, width) {
                Ok(embedded) => {
                    self.all.push(embedded);
                    Some(self.all.len() - 1)
                }
                Err(error) => {
                    notes.push(format!("Cannot show {name}: failed to {error}."));
                    None
                }
            });
            of_bytes.insert(bytes, at);
            self.of_file.insert(name, at);
        }
    }

    /// Links the screenshots of a run's actions.
    pub(super) fn link(&mut self, trace: &Trace, folder: &str) {
        for line in &trace.lines {
            let TraceRecord::Action { end: ActionResult::Outcome(outcome), .. } = line else {
                continue;
            };
            let screenshot = match outcome {
                StoredOutcome::ScreenshotAndSnapshot { screenshot, .. } => screenshot,
                outcome => outcome,
            };
            if let StoredOutcome::Screenshot { file, width, height } = screenshot
                && *width > 0
                && *height > 0
            {
                let size = Size { width: *width, height: *height };
                self.linked.insert(format!("{folder}{file}"), size);
            }
        }
        let named = trace.entries.iter().filter_map(|entry| entry.named.as_ref());
        for name in named.filter_map(|step| step.comparison.as_deref()) {
            if let Some(size) = trace.file(name).ok().and_then(|bytes| png_size(&bytes)) {
                self.linked.insert(format!("{folder}{name}"), size);
            }
        }
        // An agent keeps copies under names of its own.
        let any = self.linked.iter().find(|(name, _)| name.starts_with(folder)).map(|(_, it)| *it);
        for name in trace.entries.iter().filter_map(|entry| entry.screenshot.as_deref()) {
            if let Some(size) = any {
                self.linked.entry(format!("{folder}{name}")).or_insert(size);
            }
        }
    }

    /// Whether files are linked.
    pub(super) fn has_links(&self) -> bool {
        !self.linked.is_empty()
    }

    /// The index of a file's screenshot, if it is embedded.
    pub(super) fn find(&self, name: Option<&str>) -> Option<usize> {
        self.of_file.get(name?).copied().flatten()
    }

    /// A file's screenshot, in the run with this folder.
    pub(super) fn place(&self, folder: &str, name: Option<&str>) -> Option<PlacedImage> {
        let name = name?;
        let key = format!("{folder}{name}");
        if let Some(at) = self.find(Some(&key)) {
            let size = self.all[at].size;
            return Some(PlacedImage { size, source: ImageSource::Embedded(at) });
        }
        let size = *self.linked.get(&key)?;
        // The trace may be untrusted: its file names must not lead out of the folder.
        let is_plain = !name.starts_with('.') && !name.contains(['/', '\\']);
        let source = ImageSource::File(format!("{folder}{}", address(name)));
        is_plain.then_some(PlacedImage { size, source })
    }
}

/// The size in the header of a PNG.
fn png_size(bytes: &[u8]) -> Option<Size> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    let number = |bytes: &[u8]| i32::from_be_bytes(bytes.try_into().unwrap_or_default());
    let size = Size { width: number(&header[..4]), height: number(&header[4..]) };
    (size.width > 0 && size.height > 0).then_some(size)
}

/// A name of a file or folder as a part of an address.
pub(super) fn address(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
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

//! A file, told apart by what it holds, and what was found in it.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use thumbwire_mobile_mcp::{Descriptor, Finding, Mode, descriptor};

/// A file that was looked at.
#[derive(Debug)]
pub(super) struct Inspected {
    /// Its name, as it was given.
    pub(super) file: String,
    /// What was found; an error is why it cannot be read, in words.
    pub(super) told: Result<Told, String>,
}

/// What a file told.
#[derive(Debug, Default)]
pub(in super::super) struct Told {
    /// What it is.
    pub(super) kind: Kind,
    /// The app's package, of an APK.
    pub(super) package: Option<String>,
    /// The ids of the capabilities that can be used.
    pub(super) capabilities: Vec<String>,
    /// Of an APK, the services that are tools, by class, each with its descriptor.
    pub(in super::super) tools: Vec<(String, Descriptor)>,
    /// What it has against the rules.
    pub(in super::super) found: Vec<Found>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A descriptor as text.
    #[default]
    Descriptor,
    /// An Android package.
    Apk,
}

/// A finding, and the file in the package that it is about.
#[derive(Debug)]
pub(in super::super) struct Found {
    /// The file in the package; `None` where the file itself is meant.
    pub(super) part: Option<String>,
    /// What was found.
    pub(in super::super) finding: Finding,
}

impl Kind {
    /// The name used in output.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Descriptor => "descriptor",
            Self::Apk => "apk",
        }
    }
}

impl Told {
    /// What it is about, in a few words.
    pub(super) fn about(&self) -> String {
        let count = match self.capabilities.len() {
            0 => "no capability".to_owned(),
            1 => "1 capability".to_owned(),
            count => format!("{count} capabilities"),
        };
        match &self.package {
            Some(package) => format!("{package}, {count}"),
            None => count,
        }
    }
}

impl Inspected {
    /// How many findings are fatal, and how many are not.
    pub(super) fn counts(&self, mode: Mode) -> (usize, usize) {
        let found = self.told.as_ref().map_or(&[][..], |told| &told.found[..]);
        let fatal = found.iter().filter(|found| found.finding.is_fatal(mode)).count();
        (fatal, found.len() - fatal)
    }

    /// Whether something is fatal.
    pub(super) fn is_fatal(&self, mode: Mode) -> bool {
        self.counts(mode).0 > 0
    }
}

/// The largest descriptor that is read as text, in bytes.
const LARGEST: u64 = 4 << 20;

/// Looks at a file.
pub(super) async fn file(file: &Path) -> Inspected {
    Inspected { file: file.display().to_string(), told: told(file).await }
}

async fn told(file: &Path) -> Result<Told, String> {
    let mut head = [0; 4];
    let mut open = open(file).map_err(|error| error.to_string())?;
    let length = read_up_to(&mut open, &mut head).map_err(|error| error.to_string())?;
    match &head[..length] {
        // APPNOTE.TXT 4.3.7 and 4.3.16: the first file of an archive, or the end of an empty one.
        b"PK\x03\x04" | b"PK\x05\x06" => super::package::told(file).await,
        // frameworks/base, ResourceTypes.h: RES_XML_TYPE, header of 8 bytes.
        [3, 0, 8, 0] => Err("it is a compiled XML file; name the APK that it comes from".into()),
        _ => text(file),
    }
}

/// Opens a plain file: a pipe without a writer would be waited for.
fn open(file: &Path) -> io::Result<fs::File> {
    match fs::metadata(file)?.is_file() {
        true => fs::File::open(file),
        false => Err(io::Error::other("it is no file")),
    }
}

fn read_up_to(open: &mut fs::File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match open.read(&mut buffer[filled..])? {
            0 => break,
            more => filled += more,
        }
    }
    Ok(filled)
}

fn text(file: &Path) -> Result<Told, String> {
    let mut bytes = Vec::new();
    let open = open(file).map_err(|error| error.to_string())?;
    open.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    let xml = std::str::from_utf8(&bytes)
        .map_err(|_| "it is neither an APK nor XML text in UTF-8".to_owned())?;
    let xml = xml.trim_start_matches('\u{feff}');
    if !xml.trim_start().starts_with('<') {
        return Err("it is neither an APK nor XML text".into());
    }
    let reading = descriptor::read(xml);
    Ok(Told {
        kind: Kind::Descriptor,
        capabilities: reading.descriptor.capabilities.into_iter().map(|one| one.id).collect(),
        found: reading.findings.into_iter().map(|finding| Found { part: None, finding }).collect(),
        ..Told::default()
    })
}

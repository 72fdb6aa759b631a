//! Detects the kind of a file and collects the findings in it.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use thumbwire_mobile_mcp::{Descriptor, Finding, Mode, descriptor};

/// A checked file.
#[derive(Debug)]
pub(super) struct LintedFile {
    /// Its name on the command line.
    pub(super) file: String,
    /// The report, or why the file cannot be read.
    pub(super) told: Result<LintReport, String>,
}

/// The report on a file.
#[derive(Debug, Default)]
pub(in super::super) struct LintReport {
    /// The kind of file.
    pub(super) kind: FileKind,
    /// The app's package, for an APK.
    pub(super) package: Option<String>,
    /// Ids of the usable capabilities.
    pub(super) capabilities: Vec<String>,
    /// For an APK, the tool services: class name and descriptor.
    pub(in super::super) tools: Vec<(String, Descriptor)>,
    /// Violations of the rules.
    pub(in super::super) found: Vec<LintFinding>,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A descriptor as text.
    #[default]
    Descriptor,
    /// An Android package.
    Apk,
}

/// A finding, with the package entry that it is about.
#[derive(Debug)]
pub(in super::super) struct LintFinding {
    /// The entry in the package; `None` means the file itself.
    pub(super) part: Option<String>,
    /// The finding.
    pub(in super::super) finding: Finding,
}

impl FileKind {
    /// The name used in output.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Descriptor => "descriptor",
            Self::Apk => "apk",
        }
    }
}

impl LintReport {
    /// A short summary: package and number of capabilities.
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

impl LintedFile {
    /// The number of fatal and of other findings.
    pub(super) fn counts(&self, mode: Mode) -> (usize, usize) {
        let found = self.told.as_ref().map_or(&[][..], |told| &told.found[..]);
        let fatal = found.iter().filter(|found| found.finding.is_fatal(mode)).count();
        (fatal, found.len() - fatal)
    }

    /// Whether any finding is fatal.
    pub(super) fn is_fatal(&self, mode: Mode) -> bool {
        self.counts(mode).0 > 0
    }
}

/// Size limit of a descriptor as text, in bytes.
const LARGEST: u64 = 4 << 20;

/// Checks a file.
pub(super) async fn file(file: &Path) -> LintedFile {
    LintedFile { file: file.display().to_string(), told: report_of(file).await }
}

async fn report_of(file: &Path) -> Result<LintReport, String> {
    let mut head = [0; 4];
    let mut open = open(file).map_err(|error| error.to_string())?;
    let length = read_up_to(&mut open, &mut head).map_err(|error| error.to_string())?;
    match &head[..length] {
        // APPNOTE.TXT 4.3.7 and 4.3.16: the first file of an archive, or the end of an empty one.
        b"PK\x03\x04" | b"PK\x05\x06" => super::package::lint_apk(file).await,
        // frameworks/base, ResourceTypes.h: RES_XML_TYPE, header of 8 bytes.
        [3, 0, 8, 0] => Err("it is compiled XML; pass the APK that contains it".into()),
        _ => text(file),
    }
}

/// Opens a regular file. Opening a pipe without a writer would block.
fn open(file: &Path) -> io::Result<fs::File> {
    match fs::metadata(file)?.is_file() {
        true => fs::File::open(file),
        false => Err(io::Error::other("it is not a regular file")),
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

fn text(file: &Path) -> Result<LintReport, String> {
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
    Ok(LintReport {
        kind: FileKind::Descriptor,
        capabilities: reading.descriptor.capabilities.into_iter().map(|one| one.id).collect(),
        found: reading
            .findings
            .into_iter()
            .map(|finding| LintFinding { part: None, finding })
            .collect(),
        ..LintReport::default()
    })
}

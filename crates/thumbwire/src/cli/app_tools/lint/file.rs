//! Detects the kind of a file and checks it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use thumbwire_base::files;
use thumbwire_mobile_mcp::descriptor;

use super::package;
use super::report::{FileKind, LintFinding, LintReport, LintedFile};

/// Size limit of a descriptor as text, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Checks a file.
pub(super) async fn lint(file: &Path) -> LintedFile {
    LintedFile { file: file.display().to_string(), report: report_of(file).await }
}

async fn report_of(file: &Path) -> Result<LintReport, String> {
    let mut head = [0; 4];
    let mut open = files::open(file).map_err(|error| error.to_string())?;
    let length = read_up_to(&mut open, &mut head).map_err(|error| error.to_string())?;
    match &head[..length] {
        // APPNOTE.TXT 4.3.7 and 4.3.16: the first file of an archive, or the end of an empty one.
        b"PK\x03\x04" | b"PK\x05\x06" => package::lint_apk(file).await,
        // frameworks/base, ResourceTypes.h: RES_XML_TYPE, header of 8 bytes.
        [3, 0, 8, 0] => Err("it is compiled XML; pass the APK that contains it".into()),
        _ => text(file),
    }
}

fn read_up_to(open: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
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
    let bytes = files::read(file, MAX_BYTES).map_err(|error| error.to_string())?;
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

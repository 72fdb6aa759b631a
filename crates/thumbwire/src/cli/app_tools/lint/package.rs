//! Checks an APK against the rules: the declaration in its manifest and the descriptor that it
//! points to.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_apk::xml::Value;
use thumbwire_apk::{Apk, Error, Limits, Service, Source};
use thumbwire_base::{files, lock};
use thumbwire_mobile_mcp::{
    self as mcp, Declaration, Finding, Rule, SourcePosition, declaration, descriptor,
};

use super::report::{FileKind, LintFinding, LintReport};
use thumbwire_core::app_tools::convert;

/// The manifest's entry in a package.
const MANIFEST: &str = "AndroidManifest.xml";

/// How many services' descriptors are read per app. A tool should have one.
const MAX_SERVICES: usize = 8;

/// Checks an APK on this computer.
pub(super) async fn lint_apk(file: &Path) -> Result<LintReport, String> {
    read(FileRanges::open(file).map_err(|error| error.to_string())?).await
}

/// Checks an APK from any source.
pub(in super::super) async fn read(source: impl Source) -> Result<LintReport, String> {
    let text = |error: Error| error.to_string();
    let mut apk = Apk::open(source, Limits::default()).await.map_err(text)?;
    let manifest = apk.manifest().await.map_err(text)?;
    let services: Vec<&Service> = manifest.services_for(mcp::ACTION).collect();
    let declared: Vec<Declaration> = services.iter().copied().map(convert::declaration).collect();
    let mut out = LintReport { kind: FileKind::Apk, ..LintReport::default() };
    let findings = declaration::check(&declared).into_iter();
    let placed = findings.map(|finding| place(finding, &services));
    let found = |part: &str, finding| LintFinding { part: Some(part.to_owned()), finding };
    out.found.extend(placed.map(|finding| found(MANIFEST, finding)));
    for service in services.iter().filter(|service| manifest.lacks_exported(service)) {
        let message = "the service does not say whether it is exported, so Android 12 and later refuse to \
                       install the app; add android:exported=\"true\"";
        let position = SourcePosition { line: service.line, column: 0 };
        let rule = Rule::ServiceReachable;
        out.found.push(found(MANIFEST, Finding { rule, position, message: message.into() }));
    }
    let mut known = BTreeSet::new();
    for declared in declared.into_iter().take(MAX_SERVICES) {
        let Some(id) = declared.capabilities().filter(|id| known.insert(*id)) else { continue };
        let path = match apk.value(id).await.map_err(text)? {
            Some(Value::Text(path)) => path,
            _ => format!("@{id:#010x}"),
        };
        match apk.xml(id).await {
            Ok(mut root) => {
                apk.resolve(&mut root).await.map_err(text)?;
                let reading = descriptor::check(&convert::element(&root));
                let capabilities = reading.descriptor.capabilities.iter();
                out.capabilities.extend(capabilities.map(|one| one.id.clone()));
                out.tools.push((declared.service, reading.descriptor));
                let findings = reading.findings.into_iter();
                out.found.extend(findings.map(|finding| found(&path, finding)));
            }
            Err(error) => {
                let (rule, part) = match &error {
                    Error::Missing(_) => (Rule::ToolCapabilities, MANIFEST),
                    Error::TooLarge { .. } => (Rule::Bounds, path.as_str()),
                    Error::Malformed { .. } => (Rule::WellFormed, path.as_str()),
                    Error::Source(reason) => return Err(reason.clone()),
                };
                let message = format!("cannot read the descriptor: {error}");
                out.found.push(found(
                    part,
                    Finding { rule, position: SourcePosition::default(), message },
                ));
            }
        }
    }
    out.package = Some(manifest.package);
    Ok(out)
}

/// Adds the manifest line to a finding, if there is only one service and the package kept line
/// numbers.
fn place(finding: Finding, services: &[&Service]) -> Finding {
    let [service] = services else { return finding };
    let meta = match finding.rule {
        Rule::ToolName => service.meta(declaration::NAME),
        Rule::ToolDescription => service.meta(declaration::DESCRIPTION),
        Rule::ToolCapabilities => service.meta(declaration::CAPABILITIES),
        _ => None,
    };
    let line = meta.map_or(service.line, |meta| meta.line);
    match finding.position == SourcePosition::default() {
        true => Finding { position: SourcePosition { line, column: 0 }, ..finding },
        false => finding,
    }
}

/// An APK on this computer.
struct FileRanges {
    file: Mutex<File>,
    length: u64,
}

impl FileRanges {
    fn open(file: &Path) -> io::Result<Self> {
        let file = files::open(file)?;
        let length = file.metadata()?.len();
        Ok(Self { file: Mutex::new(file), length })
    }
}

#[async_trait]
impl Source for FileRanges {
    async fn length(&self) -> Result<u64, String> {
        Ok(self.length)
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let mut file = lock(&self.file);
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(from))
            .and_then(|_| (&mut *file).take(length).read_to_end(&mut bytes));
        read.map_err(|error| error.to_string())?;
        Ok(bytes.into())
    }
}

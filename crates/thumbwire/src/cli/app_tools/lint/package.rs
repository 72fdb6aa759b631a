//! An APK, held against the rules: the declaration in its manifest, and the descriptor that this points to.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_apk::xml::Value;
use thumbwire_apk::{Apk, Error, Limits, Service, Source};
use thumbwire_mobile_mcp::{
    self as mcp, Declaration, Finding, Place, Rule, declaration, descriptor,
};

use super::inspect::{Found, Kind, Told};
use crate::bridge::compiled;

/// The manifest's place in a package.
const MANIFEST: &str = "AndroidManifest.xml";

/// How many services of one app have their descriptors read; a tool has one.
const MOST_SERVICES: usize = 8;

/// Reads a package on this computer and holds it against the rules.
pub(super) async fn told(file: &Path) -> Result<Told, String> {
    read(Disk::open(file).map_err(|error| error.to_string())?).await
}

/// Reads a package, wherever it is, and holds it against the rules.
pub(in super::super) async fn read(source: impl Source) -> Result<Told, String> {
    let words = |error: Error| error.to_string();
    let mut apk = Apk::open(source, Limits::default()).await.map_err(words)?;
    let manifest = apk.manifest().await.map_err(words)?;
    let services: Vec<&Service> = manifest.services_for(mcp::ACTION).collect();
    let declared: Vec<Declaration> = services.iter().copied().map(compiled::declaration).collect();
    let mut told = Told { kind: Kind::Apk, ..Told::default() };
    let findings = declaration::check(&declared).into_iter();
    let placed = findings.map(|finding| place(finding, &services));
    let found = |part: &str, finding| Found { part: Some(part.to_owned()), finding };
    told.found.extend(placed.map(|finding| found(MANIFEST, finding)));
    let mut known = BTreeSet::new();
    for declared in declared.into_iter().take(MOST_SERVICES) {
        let Some(id) = declared.capabilities().filter(|id| known.insert(*id)) else { continue };
        let path = match apk.value(id).await.map_err(words)? {
            Some(Value::Text(path)) => path,
            _ => format!("@{id:#010x}"),
        };
        match apk.xml(id).await {
            Ok(mut root) => {
                apk.resolve(&mut root).await.map_err(words)?;
                let reading = descriptor::check(&compiled::element(&root));
                let capabilities = reading.descriptor.capabilities.iter();
                told.capabilities.extend(capabilities.map(|one| one.id.clone()));
                told.tools.push((declared.service, reading.descriptor));
                let findings = reading.findings.into_iter();
                told.found.extend(findings.map(|finding| found(&path, finding)));
            }
            Err(error) => {
                let (rule, part) = match &error {
                    Error::Missing(_) => (Rule::ToolCapabilities, MANIFEST),
                    Error::TooLarge { .. } => (Rule::Bounds, path.as_str()),
                    Error::Malformed { .. } => (Rule::WellFormed, path.as_str()),
                    Error::Source(why) => return Err(why.clone()),
                };
                let says = format!("the descriptor cannot be read: {error}");
                told.found.push(found(part, Finding { rule, place: Place::default(), says }));
            }
        }
    }
    told.package = Some(manifest.package);
    Ok(told)
}

/// Where in the manifest a finding of the one service stands, as far as the package kept its lines.
fn place(finding: Finding, services: &[&Service]) -> Finding {
    let [service] = services else { return finding };
    let meta = match finding.rule {
        Rule::ToolName => service.meta(declaration::NAME),
        Rule::ToolDescription => service.meta(declaration::DESCRIPTION),
        Rule::ToolCapabilities => service.meta(declaration::CAPABILITIES),
        _ => None,
    };
    let line = meta.map_or(service.line, |meta| meta.line);
    match finding.place == Place::default() {
        true => Finding { place: Place { line, column: 0 }, ..finding },
        false => finding,
    }
}

/// A package on this computer's disk.
struct Disk {
    file: Mutex<File>,
    length: u64,
}

impl Disk {
    fn open(file: &Path) -> io::Result<Self> {
        let file = File::open(file)?;
        let length = file.metadata()?.len();
        Ok(Self { file: Mutex::new(file), length })
    }
}

#[async_trait]
impl Source for Disk {
    async fn length(&self) -> Result<u64, String> {
        Ok(self.length)
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(from))
            .and_then(|_| (&mut *file).take(length).read_to_end(&mut bytes));
        read.map_err(|error| error.to_string())?;
        Ok(bytes.into())
    }
}

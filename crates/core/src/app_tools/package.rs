//! What an app's packages declare: services, their descriptors, and the signing certificate.
//!
//! [`AppReader`] is the seam: `thumbwire_apk` reads the packages, and tests bring their own
//! readers. [`ParsedApp::of`] turns declarations and descriptors into tools.

use std::sync::Mutex;

use async_trait::async_trait;
use thumbwire_apk::{self as apk, Apk};
use thumbwire_base::{lock, sanitize};
use thumbwire_device::{Component, Device, Error, Package};
use thumbwire_mobile_mcp::{
    Capability, Declaration, Finding, Mode, Param, ParsedDescriptor, declaration, descriptor,
};

use super::convert;
use crate::action::{AppTool, AppToolFinding, Parameter};
use crate::device_file::DeviceFile;

/// The maximum length of an app's texts, in characters.
const NAME: usize = 100;
const DESCRIPTION: usize = 2_000;
const OF_A_PARAMETER: usize = 500;

/// The longest tool id, in characters. Ids are never truncated: that would make another id.
const MAX_ID: usize = 200;

/// The maximum number of findings per app.
const MAX_COMPLAINTS: usize = 50;

/// What was read of an app.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ParsedApp {
    /// Its name and description in its own words; empty if it has none.
    pub(super) name: String,
    pub(super) description: String,
    /// SHA-256 of its certificate in hex; empty if unknown.
    pub(super) certificate: String,
    pub(super) tools: Vec<AppTool>,
    pub(super) complaints: Vec<AppToolFinding>,
}

/// Why an app could not be read.
#[derive(Debug)]
pub(super) enum ReadAppError {
    /// The phone failed.
    Device(Error),
    /// Its packages are invalid.
    Words(String),
}

/// Reads apps.
#[async_trait]
pub(super) trait AppReader: Send + Sync {
    /// Reads what an app's packages declare about these services; with no services, only the
    /// signer.
    async fn read(
        &self,
        device: &dyn Device,
        package: &Package,
        services: &[Component],
    ) -> Result<ParsedApp, ReadAppError>;
}

/// Reads packages in place on the phone, as few bytes as possible.
pub(super) struct ApkReader;

/// How many files of one app are read: its base, and splits if the base does not have everything.
const MAX_FILES: usize = 8;

#[async_trait]
impl AppReader for ApkReader {
    async fn read(
        &self,
        device: &dyn Device,
        package: &Package,
        services: &[Component],
    ) -> Result<ParsedApp, ReadAppError> {
        let failed = Mutex::default();
        let mut found = PartialApp::default();
        for (at, path) in package.files.iter().take(MAX_FILES).enumerate() {
            let source = DeviceFile { device, path, failed: &failed };
            let looked = found.inspect(source, services, at == 0).await;
            if let Some(error) = lock(&failed).take() {
                return Err(ReadAppError::Device(error));
            }
            match looked {
                Err(error) if at == 0 => return Err(ReadAppError::Words(error.to_string())),
                // If a split cannot be read, its parts stay missing.
                Ok(()) | Err(_) => {}
            }
            if !found.lacks(services) {
                break;
            }
        }
        if package.files.is_empty() {
            return Err(ReadAppError::Words(
                "the phone does not report where its files are".into(),
            ));
        }
        Ok(ParsedApp::of(services, found.declared, found.certificate))
    }
}

/// What was found in an app's packages so far.
#[derive(Default)]
struct PartialApp {
    certificate: Option<String>,
    declared: Vec<DeclaredService>,
}

impl PartialApp {
    /// Whether something is still missing: a service without declaration, or a descriptor.
    fn lacks(&self, services: &[Component]) -> bool {
        let is_declared = |class: &String| self.declared.iter().any(|it| it.is_of(class));
        services.iter().any(|service| !is_declared(&service.class))
            || self.declared.iter().any(DeclaredService::lacks_descriptor)
    }

    async fn inspect(
        &mut self,
        source: DeviceFile<'_>,
        services: &[Component],
        base: bool,
    ) -> Result<(), apk::Error> {
        let mut apk = Apk::open(source, apk::Limits::default()).await?;
        if base {
            // An unreadable certificate is a finding; it does not hide the tools.
            self.certificate = apk.certificates().await.ok().and_then(fingerprint);
        }
        if services.is_empty() {
            return Ok(());
        }
        let manifest = apk.manifest().await?;
        for service in &manifest.services {
            let is_new = self.declared.iter().all(|it| !it.is_of(&service.class));
            if is_new && services.iter().any(|it| it.class == service.class) {
                let declaration = convert::declaration(service);
                self.declared
                    .push(DeclaredService { declaration, descriptor: Err(NO_DESCRIPTOR.into()) });
            }
        }
        for declared in self.declared.iter_mut().filter(|it| it.lacks_descriptor()) {
            let Some(id) = declared.declaration.capabilities() else { continue };
            declared.descriptor = match apk.xml(id).await {
                Ok(mut root) => {
                    apk.resolve(&mut root).await?;
                    Ok(descriptor::check(&convert::element(&root)))
                }
                Err(error) => Err(error.to_string()),
            };
        }
        Ok(())
    }
}

/// The signer of a package, as stored in a pin. With several signers all count, in any order.
fn fingerprint(certificates: Vec<apk::Certificate>) -> Option<String> {
    let hex = |byte: &u8| format!("{byte:02x}");
    let one = |it: &apk::Certificate| it.sha256.iter().map(hex).collect::<String>();
    let mut all: Vec<_> = certificates.iter().map(one).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then(|| all.join("+"))
}

/// The finding for a missing descriptor.
const NO_DESCRIPTOR: &str = "no meta-data leads to a descriptor";

/// A declared service, with its descriptor if that could be read.
pub(super) struct DeclaredService {
    pub(super) declaration: Declaration,
    pub(super) descriptor: Result<ParsedDescriptor, String>,
}

impl DeclaredService {
    fn is_of(&self, class: &str) -> bool {
        self.declaration.service == class
    }

    /// Whether its manifest names a descriptor that was not found.
    fn lacks_descriptor(&self) -> bool {
        self.descriptor.is_err() && self.declaration.capabilities().is_some()
    }
}

impl ParsedApp {
    /// An empty result with the reason.
    pub(super) fn unread(reason: &str) -> Self {
        let mut contents = Self::default();
        contents.add_finding("readable", true, reason);
        contents
    }

    /// What an app offers by these services, read leniently: whatever breaks a fatal rule is left
    /// out and reported.
    pub(super) fn of(
        services: &[Component],
        declared: Vec<DeclaredService>,
        certificate: Option<String>,
    ) -> Self {
        let mut contents = Self::default();
        let declarations: Vec<_> = declared.iter().map(|one| one.declaration.clone()).collect();
        contents.found(&declaration::check(&declarations));
        match certificate {
            Some(certificate) => contents.certificate = certificate,
            None => {
                contents.add_finding("certificate", false, "cannot read its signing certificate")
            }
        }
        for service in services {
            let Some(place) =
                declared.iter().position(|it| it.declaration.service == service.class)
            else {
                let class = sanitize(&service.class, 120);
                let reason = format!("the phone lists a service {class} that no manifest declares");
                contents.add_finding("readable", true, &reason);
                continue;
            };
            contents.offer(service, &declared[place], declared.len() > 1);
        }
        contents
    }

    fn offer(&mut self, service: &Component, declared: &DeclaredService, one_of_several: bool) {
        let DeclaredService { declaration, descriptor } = declared;
        if self.name.is_empty() {
            self.name = sanitize(&declaration.name(), NAME);
        }
        if self.description.is_empty() {
            self.description = sanitize(&declaration.description(), DESCRIPTION);
        }
        let reading = match descriptor {
            Ok(reading) => reading,
            // The manifest rule has reported it already.
            Err(_) if declaration.capabilities().is_none() => return,
            Err(reason) => return self.add_finding("tool-capabilities", true, reason),
        };
        self.found(&reading.findings);
        if !declaration.exported || !declaration.enabled {
            return;
        }
        for capability in &reading.descriptor.capabilities {
            if capability.id.chars().count() > MAX_ID
                || capability.id != sanitize(&capability.id, MAX_ID)
            {
                let id = sanitize(&capability.id, 60);
                let reason = format!("the id {id} is too long or has invisible characters");
                self.add_finding("bounds", true, &reason);
                continue;
            }
            self.tools.push(tool(service, capability));
        }
        if one_of_several && reading.descriptor.capabilities.is_empty() {
            let class = sanitize(&service.class, 120);
            self.add_finding("readable", false, &format!("the service {class} offers no tools"));
        }
    }

    fn found(&mut self, findings: &[Finding]) {
        for finding in findings {
            self.add_finding(
                finding.rule.name(),
                finding.is_fatal(Mode::Lenient),
                &finding.message,
            );
        }
    }

    fn add_finding(&mut self, rule: &str, fatal: bool, text: &str) {
        let left = MAX_COMPLAINTS.saturating_sub(self.complaints.len());
        let message = match left {
            0 => return,
            1 => "more findings were omitted".to_owned(),
            _ => sanitize(text, 300),
        };
        self.complaints.push(AppToolFinding { rule: rule.to_owned(), fatal, message });
    }
}

fn tool(service: &Component, capability: &Capability) -> AppTool {
    let parameters = |list: &[Param]| list.iter().map(parameter).collect();
    AppTool {
        id: capability.id.clone(),
        description: sanitize(&capability.description, DESCRIPTION),
        version: sanitize(&capability.version, OF_A_PARAMETER),
        service: Some(service.clone()),
        input: parameters(&capability.input),
        output: parameters(&capability.output),
        schema: None,
    }
}

fn parameter(param: &Param) -> Parameter {
    Parameter {
        name: param.name.clone(),
        kind: param.kind.name(),
        required: param.required,
        description: sanitize(&param.description, OF_A_PARAMETER),
    }
}

//! What an app's packages say: the services that its manifest declares, their descriptors, who signed it.
//!
//! [`Reader`] is the seam: how packages are read is `thumbwire_apk`'s, and tests have readers of their own. What is made of declarations
//! and descriptors is [`Contents::of`].

use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_apk::{self as apk, Apk, Source};
use thumbwire_device::{Component, Device, Error, Package};
use thumbwire_mobile_mcp::words::harmless;
use thumbwire_mobile_mcp::{
    Capability, Declaration, Finding, Mode, Param, Reading, declaration, descriptor,
};

use super::{compiled, lock};
use crate::action::{AppTool, Complaint, Parameter};

/// The most characters of what an app says, by what it says it of.
const NAME: usize = 100;
const DESCRIPTION: usize = 2_000;
const OF_A_PARAMETER: usize = 500;

/// The longest id of a tool, in characters. It is never cut: a cut one is another one.
const LONGEST_ID: usize = 200;

/// The most complaints of one app that are kept.
const MOST_COMPLAINTS: usize = 50;

/// What was read of an app.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Contents {
    /// Its name and what it is for, in its own words; empty where it says nothing.
    pub(super) name: String,
    pub(super) description: String,
    /// SHA-256 of its certificate, in hexadecimal digits; empty where it is not known.
    pub(super) certificate: String,
    pub(super) tools: Vec<AppTool>,
    pub(super) complaints: Vec<Complaint>,
}

/// Why an app could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The phone failed.
    Device(Error),
    /// Its packages are not what they should be.
    Words(String),
}

/// Reads apps.
#[async_trait]
pub(super) trait Reader: Send + Sync {
    /// Reads what an app's packages say of these services; without any, who signed it.
    async fn read(
        &self,
        device: &dyn Device,
        package: &Package,
        services: &[Component],
    ) -> Result<Contents, Unread>;
}

/// Reads packages where they lie on the phone, as few bytes of them as will do.
pub(super) struct Apks;

/// The most files of one app that are looked into: its base, and splits where that does not have all.
const MOST_FILES: usize = 8;

#[async_trait]
impl Reader for Apks {
    async fn read(
        &self,
        device: &dyn Device,
        package: &Package,
        services: &[Component],
    ) -> Result<Contents, Unread> {
        let failed = Mutex::default();
        let mut found = Gathered::default();
        for (at, path) in package.files.iter().take(MOST_FILES).enumerate() {
            let source = OnPhone { device, path, failed: &failed };
            let looked = found.look_into(source, services, at == 0).await;
            if let Some(error) = lock(&failed).take() {
                return Err(Unread::Device(error));
            }
            match looked {
                Err(error) if at == 0 => return Err(Unread::Words(error.to_string())),
                // A split that cannot be read leaves what is missing missing.
                Ok(()) | Err(_) => {}
            }
            if !found.lacks(services) {
                break;
            }
        }
        if package.files.is_empty() {
            return Err(Unread::Words("the phone does not tell where its files are".into()));
        }
        Ok(Contents::of(services, found.declared, found.certificate))
    }
}

/// A package on a phone. What the phone fails with is kept beside, because whether it is still there matters to more than one app.
struct OnPhone<'a> {
    device: &'a dyn Device,
    path: &'a str,
    failed: &'a Mutex<Option<Error>>,
}

impl OnPhone<'_> {
    fn failed(&self, error: Error) -> String {
        let said = error.to_string();
        *lock(self.failed) = Some(error);
        said
    }
}

#[async_trait]
impl Source for OnPhone<'_> {
    async fn length(&self) -> Result<u64, String> {
        self.device.file_length(self.path).await.map_err(|error| self.failed(error))
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let read = self.device.read_file(self.path, from, length).await;
        read.map_err(|error| self.failed(error))
    }
}

/// What was found in an app's packages so far.
#[derive(Default)]
struct Gathered {
    certificate: Option<String>,
    declared: Vec<Declared>,
}

impl Gathered {
    /// Whether something is still to be found: a service that nothing declares, a descriptor that is not there.
    fn lacks(&self, services: &[Component]) -> bool {
        let is_declared = |class: &String| self.declared.iter().any(|it| it.is_of(class));
        services.iter().any(|service| !is_declared(&service.class))
            || self.declared.iter().any(Declared::lacks_descriptor)
    }

    async fn look_into(
        &mut self,
        source: OnPhone<'_>,
        services: &[Component],
        base: bool,
    ) -> Result<(), apk::Error> {
        let mut apk = Apk::open(source, apk::Limits::default()).await?;
        if base {
            // One that cannot be read is complained about; it does not take the tools away.
            self.certificate = apk.certificates().await.ok().and_then(fingerprint);
        }
        if services.is_empty() {
            return Ok(());
        }
        let manifest = apk.manifest().await?;
        for service in &manifest.services {
            let is_new = self.declared.iter().all(|it| !it.is_of(&service.class));
            if is_new && services.iter().any(|it| it.class == service.class) {
                let declaration = compiled::declaration(service);
                self.declared.push(Declared { declaration, descriptor: Err(NO_DESCRIPTOR.into()) });
            }
        }
        for declared in self.declared.iter_mut().filter(|it| it.lacks_descriptor()) {
            let Some(id) = declared.declaration.capabilities() else { continue };
            declared.descriptor = match apk.xml(id).await {
                Ok(mut root) => {
                    apk.resolve(&mut root).await?;
                    Ok(descriptor::check(&compiled::element(&root)))
                }
                Err(error) => Err(error.to_string()),
            };
        }
        Ok(())
    }
}

/// Who signed a package, as a pin remembers it: of several signers all count, in whatever order they stand.
fn fingerprint(certificates: Vec<apk::Certificate>) -> Option<String> {
    let hex = |byte: &u8| format!("{byte:02x}");
    let one = |it: &apk::Certificate| it.sha256.iter().map(hex).collect::<String>();
    let mut all: Vec<_> = certificates.iter().map(one).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then(|| all.join("+"))
}

/// What stands for a descriptor that nothing leads to.
const NO_DESCRIPTOR: &str = "no meta-data leads to a descriptor";

/// A service that was declared, with its descriptor as far as it has one that could be read.
pub(super) struct Declared {
    pub(super) declaration: Declaration,
    pub(super) descriptor: Result<Reading, String>,
}

impl Declared {
    fn is_of(&self, class: &str) -> bool {
        self.declaration.service == class
    }

    /// Whether its manifest leads to a descriptor that is not here.
    fn lacks_descriptor(&self) -> bool {
        self.descriptor.is_err() && self.declaration.capabilities().is_some()
    }
}

impl Contents {
    /// Nothing, and why.
    pub(super) fn unread(why: &str) -> Self {
        let mut contents = Self::default();
        contents.complain("readable", true, why);
        contents
    }

    /// What an app offers by these services, read leniently: what breaks a fatal rule is left out and complained about.
    pub(super) fn of(
        services: &[Component],
        declared: Vec<Declared>,
        certificate: Option<String>,
    ) -> Self {
        let mut contents = Self::default();
        let declarations: Vec<_> = declared.iter().map(|one| one.declaration.clone()).collect();
        contents.found(&declaration::check(&declarations));
        match certificate {
            Some(certificate) => contents.certificate = certificate,
            None => contents.complain("certificate", false, "who signed it could not be read"),
        }
        for service in services {
            let Some(place) =
                declared.iter().position(|it| it.declaration.service == service.class)
            else {
                let class = harmless(&service.class, 120);
                let why = format!("the phone knows a service {class} that no manifest declares");
                contents.complain("readable", true, &why);
                continue;
            };
            contents.offer(service, &declared[place], declared.len() > 1);
        }
        contents
    }

    fn offer(&mut self, service: &Component, declared: &Declared, one_of_several: bool) {
        let Declared { declaration, descriptor } = declared;
        if self.name.is_empty() {
            self.name = harmless(&declaration.name(), NAME);
        }
        if self.description.is_empty() {
            self.description = harmless(&declaration.description(), DESCRIPTION);
        }
        let reading = match descriptor {
            Ok(reading) => reading,
            // The manifest's own rule has said it already.
            Err(_) if declaration.capabilities().is_none() => return,
            Err(why) => return self.complain("tool-capabilities", true, why),
        };
        self.found(&reading.findings);
        if !declaration.exported || !declaration.enabled {
            return;
        }
        for capability in &reading.descriptor.capabilities {
            if capability.id.chars().count() > LONGEST_ID
                || capability.id != harmless(&capability.id, LONGEST_ID)
            {
                let id = harmless(&capability.id, 60);
                let why = format!("the id {id} is too long, or has characters that do not show");
                self.complain("bounds", true, &why);
                continue;
            }
            self.tools.push(tool(service, capability));
        }
        if one_of_several && reading.descriptor.capabilities.is_empty() {
            let class = harmless(&service.class, 120);
            self.complain("readable", false, &format!("the service {class} offers nothing"));
        }
    }

    fn found(&mut self, findings: &[Finding]) {
        for finding in findings {
            self.complain(finding.rule.name(), finding.is_fatal(Mode::Lenient), &finding.says);
        }
    }

    fn complain(&mut self, rule: &str, fatal: bool, says: &str) {
        let left = MOST_COMPLAINTS.saturating_sub(self.complaints.len());
        let says = match left {
            0 => return,
            1 => "there is more that is wrong with it".to_owned(),
            _ => harmless(says, 300),
        };
        self.complaints.push(Complaint { rule: rule.to_owned(), fatal, says });
    }
}

fn tool(service: &Component, capability: &Capability) -> AppTool {
    let parameters = |list: &[Param]| list.iter().map(parameter).collect();
    AppTool {
        id: capability.id.clone(),
        description: harmless(&capability.description, DESCRIPTION),
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
        description: harmless(&param.description, OF_A_PARAMETER),
    }
}

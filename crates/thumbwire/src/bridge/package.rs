//! What an app's packages say: the services that its manifest declares, their descriptors, who signed it.
//!
//! [`Reader`] is the seam: how packages are read is `thumbwire_apk`'s, and tests have readers of their own. What is made of declarations
//! and descriptors is [`Contents::of`].

use async_trait::async_trait;
use thumbwire_device::{Component, Device, Error, Package};
use thumbwire_mobile_mcp::descriptor::Reading;
use thumbwire_mobile_mcp::{Capability, Declaration, Finding, Kind, Mode, Param, declaration};

use super::words::flat;
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

#[async_trait]
impl Reader for Apks {
    async fn read(
        &self,
        _device: &dyn Device,
        _package: &Package,
        _services: &[Component],
    ) -> Result<Contents, Unread> {
        Err(Unread::Words("packages cannot be read yet".into()))
    }
}

/// A service that was declared, with its descriptor as far as it has one that could be read.
pub(super) struct Declared {
    pub(super) declaration: Declaration,
    pub(super) descriptor: Result<Reading, String>,
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
                let class = flat(&service.class, 120);
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
        let words = |name: &str, most| match declaration.meta(name) {
            None | Some(thumbwire_mobile_mcp::Value::Reference(_)) => String::new(),
            Some(value) => flat(&value.words(), most),
        };
        if self.name.is_empty() {
            self.name = words("mobile.mcp.tool.name", NAME);
        }
        if self.description.is_empty() {
            self.description = words("mobile.mcp.tool.description", DESCRIPTION);
        }
        let reading = match descriptor {
            Ok(reading) => reading,
            Err(why) => return self.complain("tool-capabilities", true, why),
        };
        self.found(&reading.findings);
        if !declaration.exported || !declaration.enabled {
            return;
        }
        for capability in &reading.descriptor.capabilities {
            if capability.id.chars().count() > LONGEST_ID
                || capability.id != flat(&capability.id, LONGEST_ID)
            {
                let id = flat(&capability.id, 60);
                let why = format!("the id {id} is too long, or has characters that do not show");
                self.complain("bounds", true, &why);
                continue;
            }
            self.tools.push(tool(service, capability));
        }
        if one_of_several && reading.descriptor.capabilities.is_empty() {
            let class = flat(&service.class, 120);
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
            _ => flat(says, 300),
        };
        self.complaints.push(Complaint { rule: rule.to_owned(), fatal, says });
    }
}

fn tool(service: &Component, capability: &Capability) -> AppTool {
    let parameters = |list: &[Param]| list.iter().map(parameter).collect();
    AppTool {
        id: capability.id.clone(),
        description: flat(&capability.description, DESCRIPTION),
        service: Some(service.clone()),
        input: parameters(&capability.input),
        output: parameters(&capability.output),
        schema: None,
    }
}

fn parameter(param: &Param) -> Parameter {
    let kind = match param.kind {
        Kind::String => "string",
        Kind::Boolean => "boolean",
        Kind::Integer => "integer",
        Kind::Number => "number",
    };
    Parameter {
        name: param.name.clone(),
        kind,
        required: param.required,
        description: flat(&param.description, OF_A_PARAMETER),
    }
}

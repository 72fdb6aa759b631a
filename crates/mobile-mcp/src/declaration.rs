//! The service that makes an app a tool, as declared in its manifest (section 1.1).

use super::{ACTION, Finding, MAX_DESCRIPTION, MAX_NAME, Rule, SourcePosition, Value};
use thumbwire_base::{is_longer, sanitize, truncate};

/// The `meta-data` entry with the tool's name (section 1.1.2).
pub const NAME: &str = "mobile.mcp.tool.name";

/// The `meta-data` entry with the tool's description (section 1.1.3).
pub const DESCRIPTION: &str = "mobile.mcp.tool.description";

/// The `meta-data` entry that points to the descriptor (section 1.1.4).
pub const CAPABILITIES: &str = "mobile.mcp.tool.capabilities";

/// An app's service with the action [`crate::ACTION`].
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// Full class name.
    pub service: String,
    /// Whether other apps may start it.
    pub exported: bool,
    /// `android:enabled` of the service and of its application, combined.
    pub enabled: bool,
    /// The permission that callers must hold.
    pub permission: Option<String>,
    /// Its `meta-data` by name, with references resolved where possible. A `Value::Reference` under
    /// `mobile.mcp.tool.capabilities` is the descriptor's resource.
    pub meta: Vec<(String, Value)>,
}

impl Declaration {
    /// The value of the `meta-data` entry `name`.
    pub fn meta(&self, name: &str) -> Option<&Value> {
        self.meta.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The tool's name, truncated to the limit; empty if it has no text.
    pub fn name(&self) -> String {
        self.text(NAME, MAX_NAME)
    }

    /// The tool's description, truncated to the limit; empty if it has no text.
    pub fn description(&self) -> String {
        self.text(DESCRIPTION, MAX_DESCRIPTION)
    }

    /// The resource id of the descriptor.
    pub fn capabilities(&self) -> Option<u32> {
        match self.meta(CAPABILITIES) {
            Some(Value::Reference(id)) => Some(*id),
            _ => None,
        }
    }

    fn text(&self, name: &str, max: usize) -> String {
        match self.meta(name) {
            None | Some(Value::Reference(_)) => String::new(),
            Some(value) => truncate(&value.to_text(), max),
        }
    }
}

/// Checks an app's declarations. With several services, each finding names its service and is fatal
/// to that service only.
pub fn check(services: &[Declaration]) -> Vec<Finding> {
    let mut findings = Vec::new();
    match services {
        [_] => {}
        [] => findings.push(finding(
            Rule::OneService,
            format!("no service has an intent filter with the action `{ACTION}`"),
        )),
        several => {
            let names: Vec<String> =
                several.iter().take(8).map(|one| sanitize(&one.service, 120)).collect();
            let message = format!(
                "{} services have the action `{ACTION}`; a tool must have exactly one: {}",
                several.len(),
                names.join(", ")
            );
            findings.push(finding(Rule::OneService, message));
        }
    }
    // Nobody means to write a tool with more services than this.
    for service in services.iter().take(32) {
        let named = match services.len() {
            1 => "the service".into(),
            _ => format!("the service {}", sanitize(&service.service, 120)),
        };
        check_one(service, &named, &mut findings);
    }
    findings
}

fn check_one(service: &Declaration, named: &str, findings: &mut Vec<Finding>) {
    if !service.exported {
        let message = format!(
            "{named} is not exported, so no agent can start it; add android:exported=\"true\""
        );
        findings.push(finding(Rule::ServiceReachable, message));
    }
    if !service.enabled {
        findings.push(finding(
            Rule::ServiceReachable,
            format!("{named} or its application is disabled"),
        ));
    }
    if let Some(permission) = &service.permission {
        let message = format!(
            "{named} requires callers to hold the permission {}",
            sanitize(permission, 120)
        );
        findings.push(finding(Rule::ServicePermission, message));
    }
    for (name, rule, max) in
        [(NAME, Rule::ToolName, MAX_NAME), (DESCRIPTION, Rule::ToolDescription, MAX_DESCRIPTION)]
    {
        match service.meta(name) {
            None => findings.push(finding(rule, format!("{named} has no meta-data `{name}`"))),
            Some(value @ Value::Reference(_)) => {
                let message = format!(
                    "`{name}` of {named} is {}, a resource that does not exist",
                    value.to_text()
                );
                findings.push(finding(Rule::Resolved, message));
            }
            Some(Value::Text(words)) if words.trim().is_empty() => {
                findings.push(finding(rule, format!("`{name}` of {named} is empty")));
            }
            Some(Value::Text(words)) if is_longer(words, max) => {
                let message =
                    format!("`{name}` of {named} has more than {max} characters and is truncated");
                findings.push(finding(Rule::Cut, message));
            }
            Some(Value::Text(_)) => {}
            Some(value) => {
                let message = format!(
                    "`{name}` of {named} is {}, not a string",
                    sanitize(&value.to_text(), 60)
                );
                findings.push(finding(rule, message));
            }
        }
    }
    match service.meta(CAPABILITIES) {
        Some(Value::Reference(_)) => {}
        // A manifest that was never compiled.
        Some(Value::Text(words)) if words.starts_with("@xml/") => {}
        Some(value) => {
            let message = format!(
                "`{CAPABILITIES}` of {named} is `{}`; use android:resource=\"@xml/…\"",
                sanitize(&value.to_text(), 60)
            );
            findings.push(finding(Rule::ToolCapabilities, message));
        }
        None => findings.push(finding(
            Rule::ToolCapabilities,
            format!("{named} has no meta-data `{CAPABILITIES}`"),
        )),
    }
}

fn finding(rule: Rule, text: String) -> Finding {
    Finding { rule, position: SourcePosition::default(), message: text }
}

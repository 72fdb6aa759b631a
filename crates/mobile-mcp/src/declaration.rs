//! The service that makes an app a tool, as its manifest declares it (section 1.1).

use super::words::{MOST_IN_A_DESCRIPTION, MOST_IN_A_NAME, harmless, is_longer, shortened};
use super::{ACTION, Finding, Place, Rule, Value};

/// The `meta-data` entry with the tool's name (section 1.1.2).
pub const NAME: &str = "mobile.mcp.tool.name";

/// The `meta-data` entry with what the tool is for (section 1.1.3).
pub const DESCRIPTION: &str = "mobile.mcp.tool.description";

/// The `meta-data` entry that points to the descriptor (section 1.1.4).
pub const CAPABILITIES: &str = "mobile.mcp.tool.capabilities";

/// A service of an app with the action [`crate::ACTION`].
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// Full class name.
    pub service: String,
    /// Whether other apps may start it.
    pub exported: bool,
    /// `android:enabled`, its own and its application's.
    pub enabled: bool,
    /// The permission that callers need.
    pub permission: Option<String>,
    /// Its `meta-data`, by name, references resolved where they could be. `Value::Reference` of `mobile.mcp.tool.capabilities` is the
    /// descriptor's resource.
    pub meta: Vec<(String, Value)>,
}

impl Declaration {
    /// The value of this `meta-data` entry.
    pub fn meta(&self, name: &str) -> Option<&Value> {
        self.meta.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The tool's name, cut to what is kept; empty where it has none in words.
    pub fn name(&self) -> String {
        self.words(NAME, MOST_IN_A_NAME)
    }

    /// What the tool is for, cut to what is kept; empty where it says nothing in words.
    pub fn description(&self) -> String {
        self.words(DESCRIPTION, MOST_IN_A_DESCRIPTION)
    }

    /// The resource of the descriptor, by its id.
    pub fn capabilities(&self) -> Option<u32> {
        match self.meta(CAPABILITIES) {
            Some(Value::Reference(id)) => Some(*id),
            _ => None,
        }
    }

    fn words(&self, name: &str, most: usize) -> String {
        match self.meta(name) {
            None | Some(Value::Reference(_)) => String::new(),
            Some(value) => shortened(&value.words(), most),
        }
    }
}

/// What an app's declarations have against the rules. Where there are several services, each finding names the one that it is about; it is
/// fatal to that one alone.
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
                several.iter().take(8).map(|one| harmless(&one.service, 120)).collect();
            let says = format!(
                "{} services have the action `{ACTION}`, a tool has one: {}",
                several.len(),
                names.join(", ")
            );
            findings.push(finding(Rule::OneService, says));
        }
    }
    // An app with more services than this is no tool that anybody meant to write.
    for service in services.iter().take(32) {
        let named = match services.len() {
            1 => "the service".into(),
            _ => format!("the service {}", harmless(&service.service, 120)),
        };
        check_one(service, &named, &mut findings);
    }
    findings
}

fn check_one(service: &Declaration, named: &str, findings: &mut Vec<Finding>) {
    if !service.exported {
        let says = format!(
            "{named} is not exported, so that no agent can start it: write android:exported=\"true\""
        );
        findings.push(finding(Rule::ServiceReachable, says));
    }
    if !service.enabled {
        findings.push(finding(
            Rule::ServiceReachable,
            format!("{named} is not enabled, or its application is not"),
        ));
    }
    if let Some(permission) = &service.permission {
        let says =
            format!("{named} wants the permission {} of its callers", harmless(permission, 120));
        findings.push(finding(Rule::ServicePermission, says));
    }
    for (name, rule, most) in [
        (NAME, Rule::ToolName, MOST_IN_A_NAME),
        (DESCRIPTION, Rule::ToolDescription, MOST_IN_A_DESCRIPTION),
    ] {
        match service.meta(name) {
            None => findings.push(finding(rule, format!("{named} has no meta-data `{name}`"))),
            Some(value @ Value::Reference(_)) => {
                let says = format!(
                    "`{name}` of {named} is {}, a resource that is not there",
                    value.words()
                );
                findings.push(finding(Rule::Resolved, says));
            }
            Some(Value::Text(words)) if words.trim().is_empty() => {
                findings.push(finding(rule, format!("`{name}` of {named} is empty")));
            }
            Some(Value::Text(words)) if is_longer(words, most) => {
                let says =
                    format!("`{name}` of {named} has more than {most} characters; the rest is cut");
                findings.push(finding(Rule::Cut, says));
            }
            Some(Value::Text(_)) => {}
            Some(value) => {
                let says = format!(
                    "`{name}` of {named} is {}, which is no string",
                    harmless(&value.words(), 60)
                );
                findings.push(finding(rule, says));
            }
        }
    }
    match service.meta(CAPABILITIES) {
        Some(Value::Reference(_)) => {}
        // A manifest that was never compiled.
        Some(Value::Text(words)) if words.starts_with("@xml/") => {}
        Some(value) => {
            let says = format!(
                "`{CAPABILITIES}` of {named} is `{}`: write android:resource=\"@xml/…\"",
                harmless(&value.words(), 60)
            );
            findings.push(finding(Rule::ToolCapabilities, says));
        }
        None => findings.push(finding(
            Rule::ToolCapabilities,
            format!("{named} has no meta-data `{CAPABILITIES}`"),
        )),
    }
}

fn finding(rule: Rule, says: String) -> Finding {
    Finding { rule, place: Place::default(), says }
}

//! The service that makes an app a tool, as its manifest declares it (section 1.1).

use super::{Finding, Value};

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
}

/// What an app's declarations have against the rules.
pub fn check(_services: &[Declaration]) -> Vec<Finding> {
    Vec::new()
}

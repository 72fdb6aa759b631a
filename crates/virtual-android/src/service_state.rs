//! What shells changed in system services that have no place in the world.

use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ServiceState {
    /// Modes of app operations that differ from the default, by package and operation.
    pub(crate) app_ops: BTreeMap<(String, String), &'static str>,
    /// Whether the GPS is a test provider, which tells simulated places.
    pub(crate) test_gps: bool,
}

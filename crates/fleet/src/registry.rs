//! The list of the phones of all nodes, in a key-value bucket that forgets what is not renewed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thumbwire_core::action::{Holder, ListedDevice};

/// The bucket.
pub(crate) const BUCKET: &str = "thumbwire_phones";

/// How long a node may be silent before its phones are forgotten.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(15);

/// How often a node renews its entries.
pub(crate) const RENEWAL: Duration = Duration::from_secs(5);

/// A phone in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhoneEntry {
    /// The name of its node.
    pub node: String,
    /// The version of Thumbwire there.
    pub version: String,
    /// The phone as its node lists it; its id is `NODE/ID`.
    pub device: ListedDevice,
    /// The release of its system, such as `14`; `None` if unknown.
    pub release: Option<String>,
    /// The labels that the operator of the node has given to its phones.
    pub labels: Vec<String>,
    /// What it can do besides what all phones can: the names of its
    /// [facets](thumbwire_device::Facets::FEATURES); none before it was connected.
    pub features: Vec<String>,
    /// The client that has it now.
    pub holder: Option<Holder>,
}

/// The version of this program, which that of a node has to be.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The id of a phone in the fleet.
pub(crate) fn fleet_id(node: &str, id: &str) -> String {
    format!("{node}/{id}")
}

/// The node of a phone, and its id there.
pub(crate) fn parts_of(fleet_id: &str) -> Option<(&str, &str)> {
    fleet_id.split_once('/')
}

/// The key of a phone: keys have letters, digits and a few signs.
pub(crate) fn key_of(fleet_id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte);
    fleet_id.bytes().fold(String::new(), |mut key, byte| {
        match plain(byte) {
            true => key.push(char::from(byte)),
            false => key.push_str(&format!("={byte:02X}")),
        }
        key
    })
}

/// Whether a name can be that of a node: 1 to 40 letters, digits, `-` and `_`.
pub fn is_node_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (1..=40).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_plain_characters() {
        assert_eq!(key_of("rack-1/emulator-5554"), "rack-1/emulator-5554");
        assert_eq!(key_of("rack/127.0.0.1:5555"), "rack/127=2E0=2E0=2E1=3A5555");
        assert_eq!(parts_of("rack/http://a/b"), Some(("rack", "http://a/b")));
        assert!(is_node_name("rack-1_b") && !is_node_name("") && !is_node_name("a.b"));
        assert!(!is_node_name(&"x".repeat(41)));
    }
}

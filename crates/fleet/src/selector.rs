//! Which phones of a fleet a caller means: `android>=14,label=lab3`.

use std::fmt;
use std::str::FromStr;

use thumbwire_device::Platform;

use crate::registry::PhoneEntry;

/// Conditions that a phone has to meet, all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    text: String,
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    Platform(Platform),
    Release { platform: Platform, comparison: Comparison, release: Vec<u32> },
    Label(String),
    Feature(String),
    Node(String),
    Model(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    AtMost,
    Equal,
}

/// What conditions begin with.
const NAMES: [&str; 6] = ["android", "ios", "label", "node", "model", "has"];

/// A selector that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{condition:?} selects no phones: write conditions such as `android`, `android>=14`, `ios=17`, `label=lab3`, `node=rack1`, `model=Pixel 8` or `has=clipboard`, with commas between them"
)]
pub struct InvalidSelector {
    condition: String,
}

impl Selector {
    /// Whether a text is meant as a selector, not as the id of a phone.
    pub fn is_meant(text: &str) -> bool {
        text.split(',').any(|part| {
            let name = part.split(['<', '>', '=']).next().unwrap_or_default();
            NAMES.contains(&name.trim())
        })
    }

    /// Whether this phone is one of those.
    pub fn matches(&self, phone: &PhoneEntry) -> bool {
        self.conditions.iter().all(|condition| match condition {
            Condition::Platform(platform) => phone.device.platform == *platform,
            Condition::Release { platform, comparison, release } => {
                let has = phone.release.as_deref().and_then(numbers);
                phone.device.platform == *platform
                    && has.is_some_and(|has| comparison.holds(&has, release))
            }
            Condition::Label(label) => phone.labels.contains(label),
            Condition::Feature(feature) => phone.features.contains(feature),
            Condition::Node(node) => phone.node == *node,
            Condition::Model(model) => phone.device.model.eq_ignore_ascii_case(model),
        })
    }
}

impl Comparison {
    /// `17` means all of 17: `ios=17` matches 17.4, and so does `ios<=17`.
    fn holds(self, has: &[u32], wanted: &[u32]) -> bool {
        let has = &has[..has.len().min(wanted.len())];
        match self {
            Self::AtLeast => has >= wanted,
            Self::AtMost => has <= wanted,
            Self::Equal => has == wanted,
        }
    }
}

impl FromStr for Selector {
    type Err = InvalidSelector;

    fn from_str(text: &str) -> Result<Self, InvalidSelector> {
        let conditions = text.split(',').map(|part| condition(part.trim()));
        Ok(Self { text: text.to_owned(), conditions: conditions.collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

fn condition(text: &str) -> Result<Condition, InvalidSelector> {
    let invalid = || InvalidSelector { condition: text.to_owned() };
    let platform = |word: &str| match word {
        "android" => Some(Platform::Android),
        "ios" => Some(Platform::Ios),
        _ => None,
    };
    let Some(at) = text.find(['<', '>', '=']) else {
        return platform(text).map(Condition::Platform).ok_or_else(invalid);
    };
    let (name, rest) = text.split_at(at);
    let (comparison, value) = match rest.as_bytes() {
        [b'>', b'=', ..] => (Comparison::AtLeast, &rest[2..]),
        [b'<', b'=', ..] => (Comparison::AtMost, &rest[2..]),
        [b'=', ..] => (Comparison::Equal, &rest[1..]),
        _ => return Err(invalid()),
    };
    let value = value.trim();
    match (name.trim(), comparison) {
        (_, _) if value.is_empty() => Err(invalid()),
        ("label", Comparison::Equal) => Ok(Condition::Label(value.to_owned())),
        ("has", Comparison::Equal) => Ok(Condition::Feature(value.to_owned())),
        ("node", Comparison::Equal) => Ok(Condition::Node(value.to_owned())),
        ("model", Comparison::Equal) => Ok(Condition::Model(value.to_owned())),
        (name, comparison) => {
            let platform = platform(name).ok_or_else(invalid)?;
            let release = numbers(value).ok_or_else(invalid)?;
            Ok(Condition::Release { platform, comparison, release })
        }
    }
}

/// The numbers of a release: `[4, 4, 4]` of `4.4.4`.
fn numbers(release: &str) -> Option<Vec<u32>> {
    release.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use thumbwire_core::action::{DeviceKind, ListedDevice};

    use super::*;

    fn phone(release: &str) -> PhoneEntry {
        PhoneEntry {
            node: "rack1".into(),
            version: String::new(),
            device: ListedDevice {
                id: "rack1/emulator-5554".into(),
                platform: Platform::Android,
                model: "Pixel 8".into(),
                state: ListedDevice::READY.into(),
                kind: DeviceKind::Emulator,
                properties: Vec::new(),
            },
            release: Some(release.into()),
            labels: vec!["lab3".into(), "slow".into()],
            features: vec!["clipboard".into()],
            holder: None,
        }
    }

    #[test]
    fn all_conditions_have_to_be_met() {
        let matches = |selector: &str, release: &str| {
            selector.parse::<Selector>().unwrap().matches(&phone(release))
        };
        for (selector, release, expected) in [
            ("android", "14", true),
            ("ios", "14", false),
            ("android>=14,label=lab3", "14", true),
            ("android>=14", "13", false),
            ("android>=14", "16", true),
            ("android<=4.4", "4.4.4", true),
            ("android=4", "4.4.4", true),
            ("android>=4.5", "4.4.4", false),
            ("label=lab3, label=slow", "14", true),
            ("label=lab4", "14", false),
            ("node=rack1,model=pixel 8", "14", true),
            ("node=rack2", "14", false),
            ("android, has=clipboard", "14", true),
            ("has=app_functions", "14", false),
        ] {
            assert_eq!(matches(selector, release), expected, "{selector} {release}");
        }
        for wrong in ["", "windows", "android>14", "android=x", "label=", "label>=2", "shape=round"]
        {
            assert!(wrong.parse::<Selector>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_are_not_selectors() {
        let ids = [
            "emulator-5554",
            "rack1/emulator-5554",
            "127.0.0.1:6555",
            "http://h/?a=b",
            "transport_id=3",
        ];
        for id in ids {
            assert!(!Selector::is_meant(id), "{id}");
        }
        for selector in ["android", "ios", "android>=14", "label=x", "shape=round,label=x"] {
            assert!(Selector::is_meant(selector), "{selector}");
        }
    }
}

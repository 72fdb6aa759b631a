//! The banner that each end sends in CNXN: its identity and its features.
//!
//! `device::ro.product.name=husky;ro.product.model=Pixel 8
//! Pro;ro.product.device=husky;features=shell_v2,cmd` and `host::features=shell_v2,cmd`. Source:
//! `send_connect` and `parse_banner` in AOSP's `adb.cpp`. Older phones end it with `;` and a NUL,
//! and announce no features.

use std::fmt;

/// The feature for flow control in bytes instead of packets.
pub const DELAYED_ACK: &str = "delayed_ack";
/// The feature for `shell,v2`.
pub const SHELL_V2: &str = "shell_v2";
/// The feature of phones with the program `cmd`, which passes its input on to a service of Android
/// (Android 7).
pub const CMD: &str = "cmd";

/// The identity and features of one end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Banner {
    /// `device`, `recovery`, `sideload`, `host` … An unknown word is kept.
    pub kind: String,
    /// The middle field; once a serial, now empty.
    pub serial: String,
    /// `name=value` pairs in their order, without the features.
    pub properties: Vec<(String, String)>,
    /// The announced features.
    pub features: Features,
}

impl Banner {
    /// A host's banner: only features.
    pub fn host(features: Features) -> Self {
        Self { kind: "host".into(), features, ..Self::default() }
    }

    /// A phone's banner, with the three properties that `adb devices -l` shows.
    pub fn phone(product: &str, model: &str, device: &str, features: Features) -> Self {
        let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Self {
            kind: "device".into(),
            serial: String::new(),
            properties: vec![
                property("ro.product.name", product),
                property("ro.product.model", model),
                property("ro.product.device", device),
            ],
            features,
        }
    }

    /// Reads a banner. Any input is accepted: text of an unknown form becomes the kind.
    pub fn read(payload: &[u8]) -> Self {
        let text = String::from_utf8_lossy(payload);
        let text = text.trim_end_matches('\0');
        let mut parts = text.splitn(3, ':');
        let kind = parts.next().unwrap_or_default().to_owned();
        let serial = parts.next().unwrap_or_default().to_owned();
        let mut banner = Self { kind, serial, ..Self::default() };
        for pair in parts.next().unwrap_or_default().split(';').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if name == "features" {
                banner.features = Features::read(value);
            } else {
                banner.properties.push((name.to_owned(), value.to_owned()));
            }
        }
        banner
    }

    /// The value of a property, if present.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// `ro.product.name`.
    pub fn product(&self) -> Option<&str> {
        self.property("ro.product.name")
    }

    /// `ro.product.model`.
    pub fn model(&self) -> Option<&str> {
        self.property("ro.product.model")
    }

    /// `ro.product.device`.
    pub fn device(&self) -> Option<&str> {
        self.property("ro.product.device")
    }
}

/// The banner as sent. Characters that would end a field become `_`. Without features the list is
/// omitted, as before Android 5.
impl fmt::Display for Banner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:", self.kind, self.serial)?;
        for (name, value) in &self.properties {
            write!(out, "{name}={};", value.replace([';', '\0'], "_"))?;
        }
        if self.features == Features::default() {
            return Ok(());
        }
        write!(out, "features={}", self.features)
    }
}

/// Features by their names in AOSP's `transport.cpp`, in the order of announcement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Features(Vec<String>);

impl Features {
    /// Reads a comma-separated list, as in a banner or in an adb server's reply to `features`.
    pub fn read(text: &str) -> Self {
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
    }

    /// Whether the feature was announced.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// The names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<'a> FromIterator<&'a str> for Features {
    fn from_iter<T: IntoIterator<Item = &'a str>>(names: T) -> Self {
        let mut features = Self::default();
        for name in names {
            if !features.has(name) {
                features.0.push(name.to_owned());
            }
        }
        features
    }
}

impl fmt::Display for Features {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modern_phone_has_names_and_features() {
        let text = "device::ro.product.name=husky;ro.product.model=Pixel 8 Pro;\
                    ro.product.device=husky;features=shell_v2,cmd";
        let banner = Banner::read(text.as_bytes());
        assert_eq!(banner.kind, "device");
        assert_eq!(banner.product(), Some("husky"));
        assert_eq!(banner.model(), Some("Pixel 8 Pro"));
        assert_eq!(banner.device(), Some("husky"));
        assert!(banner.features.has(SHELL_V2));
        assert!(!banner.features.has("stat_v2"));
        assert_eq!(banner.to_string(), text);
    }

    #[test]
    fn old_banner_ends_with_nul_and_has_no_features() {
        let banner = Banner::read(b"device::ro.product.name=jfltexx;ro.product.model=GT-I9505;\0");
        assert_eq!(banner.model(), Some("GT-I9505"));
        assert_eq!(banner.features, Features::default());
        assert_eq!(
            banner.to_string(),
            "device::ro.product.name=jfltexx;ro.product.model=GT-I9505;"
        );
    }

    #[test]
    fn unusual_banners_are_read_partially() {
        let check = |text: &[u8], kind: &str, serial: &str, properties: usize| {
            let banner = Banner::read(text);
            assert_eq!(banner.kind, kind);
            assert_eq!(banner.serial, serial);
            assert_eq!(banner.properties.len(), properties);
        };
        check(b"", "", "", 0);
        check(b"bootloader", "bootloader", "", 0);
        check(b"device:0123:", "device", "0123", 0);
        check(b"device::a;b=;=c;;", "device", "", 3);
        check(b"\xff\xfe::x=y:z", "\u{fffd}\u{fffd}", "", 1);
    }

    #[test]
    fn value_cannot_escape_its_field() {
        let banner = Banner::phone("a;features=x", "b", "c", Features::read("cmd"));
        let back = Banner::read(banner.to_string().as_bytes());
        assert_eq!(back.product(), Some("a_features=x"));
        assert_eq!(back.features, Features::read("cmd"));
    }
}

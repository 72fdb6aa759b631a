//! The device: seed, release, model, battery, and clipboard.

use crate::rng::SplitMix64;

/// The device and its clipboard.
#[derive(Debug)]
pub(crate) struct Device {
    seed: u64,
    android: u32,
    about: About,
    battery: Battery,
    clipboard: Option<String>,
}

impl Device {
    /// A phone with that seed and major Android release.
    pub(crate) fn new(seed: u64, android: u32) -> Self {
        let level = 62 + (SplitMix64::new(seed, "battery").below(34) as u8);
        let battery = Battery { level, charging: true, temperature: 270, voltage: 4210 };
        Self { seed, android, about: About::default(), battery, clipboard: None }
    }

    /// The seed it was made from.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Major Android release.
    pub(crate) fn android(&self) -> u32 {
        self.android
    }

    /// The device information.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// Sets the device information.
    pub(crate) fn set_about(&mut self, about: About) {
        self.about = about;
    }

    /// The battery state.
    pub(crate) fn battery(&self) -> Battery {
        self.battery
    }

    /// The clipboard's text.
    pub(crate) fn clipboard(&self) -> Option<&str> {
        self.clipboard.as_deref()
    }

    /// Sets or clears the clipboard's text.
    pub(crate) fn set_clipboard(&mut self, text: Option<String>) {
        self.clipboard = text;
    }
}

/// The battery state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Battery {
    /// Percent.
    pub level: u8,
    /// Whether a charger is attached.
    pub charging: bool,
    /// Tenths of a degree Celsius.
    pub temperature: i32,
    /// Millivolts.
    pub voltage: i32,
}

/// What the page "About phone" shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// `ro.product.model`, e.g. `Virtual Pixel`.
    pub model: String,
    /// The name of the build.
    pub build: String,
    /// The date of the security patch, e.g. `2023-10-05`.
    pub security_patch: String,
}

impl Default for About {
    fn default() -> Self {
        Self {
            model: "Virtual Pixel".to_owned(),
            build: "UP1A.231005.007".to_owned(),
            security_patch: "2023-10-05".to_owned(),
        }
    }
}

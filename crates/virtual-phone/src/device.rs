//! The device: seed, release, model, battery, clipboard, and simulated location.

use crate::rng::SplitMix64;
use thumbwire_virtual_screen::Platform;

/// The device and its clipboard.
#[derive(Debug)]
pub(crate) struct Device {
    seed: u64,
    android: u32,
    platform: Platform,
    about: About,
    battery: Battery,
    clipboard: Option<String>,
    location: Option<(f64, f64)>,
    screen_lock: ScreenLock,
}

/// What the phone asks for when its screen is turned on again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ScreenLock {
    /// Nothing; there is no keyguard.
    None,
    /// A swipe.
    #[default]
    Swipe,
    /// A PIN, after a swipe since Android 5.
    Pin(String),
}

impl Device {
    /// A phone with that seed, major Android release and platform.
    pub(crate) fn new(seed: u64, android: u32, platform: Platform) -> Self {
        let level = 62 + (SplitMix64::new(seed, "battery").below(34) as u8);
        let battery = Battery { level, charging: true, temperature: 270, voltage: 4210 };
        let (about, screen_lock) = (About::of(platform), ScreenLock::default());
        let (clipboard, location) = (None, None);
        Self { seed, android, platform, about, battery, clipboard, location, screen_lock }
    }

    /// The seed it was made from.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Major Android release.
    pub(crate) fn android(&self) -> u32 {
        self.android
    }

    /// The platform.
    pub(crate) fn platform(&self) -> Platform {
        self.platform
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

    /// What the phone asks for when its screen is turned on again.
    pub(crate) fn screen_lock(&self) -> &ScreenLock {
        &self.screen_lock
    }

    /// Sets what it asks for.
    pub(crate) fn set_screen_lock(&mut self, lock: ScreenLock) {
        self.screen_lock = lock;
    }

    /// The clipboard's text.
    pub(crate) fn clipboard(&self) -> Option<&str> {
        self.clipboard.as_deref()
    }

    /// The simulated location: latitude and longitude in degrees.
    pub(crate) fn location(&self) -> Option<(f64, f64)> {
        self.location
    }

    /// Sets or clears the simulated location.
    pub(crate) fn set_location(&mut self, at: Option<(f64, f64)>) {
        self.location = at;
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

impl About {
    fn of(platform: Platform) -> Self {
        match platform {
            Platform::Android => Self::default(),
            Platform::Ios => Self {
                model: "Virtual iPhone".to_owned(),
                build: "22A3354".to_owned(),
                security_patch: "2024-09-16".to_owned(),
            },
        }
    }
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

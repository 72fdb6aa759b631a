//! The configuration of a virtual iPhone.

use thumbwire_virtual_phone::time::{ClockMode, Profile};
use thumbwire_virtual_phone::{Display, ScreenLock};

/// The configuration of a virtual iPhone.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Seed for everything that looks random. The same seed and the same commands give the same
    /// bytes.
    pub seed: u64,
    /// The screen in pixels. Its density is 160 times the pixels of a point.
    pub display: Display,
    /// What its owner calls it.
    pub name: String,
    /// How fast it is.
    pub profile: Profile,
    /// Whether the phone runs in virtual or real time.
    pub clock: ClockMode,
    /// What it asks for after its screen was off.
    pub screen_lock: ScreenLock,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            display: Display::IPHONE,
            name: "Virtual iPhone".to_owned(),
            profile: Profile::default(),
            clock: ClockMode::default(),
            screen_lock: ScreenLock::default(),
        }
    }
}

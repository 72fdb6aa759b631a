//! The configuration of a virtual phone.

use crate::release::formats::Pixels;
use crate::release::{Release, ToolKind};
use thumbwire_virtual_phone::time::{ClockMode, Profile};
use thumbwire_virtual_phone::{BroadcastKeyboard, Display, ScreenLock};

/// The configuration of a virtual phone.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Seed for everything that looks random. The same seed and the same commands give the same
    /// bytes.
    pub seed: u64,
    /// Major Android release, e.g. 14, or 4 for a phone of 2014. A release that is not in the table
    /// behaves like the next older one.
    pub android: u32,
    /// The screen.
    pub display: Display,
    /// `ro.serialno`; by default made from the seed, such as `VP00000001`.
    pub serial: Option<String>,
    /// `ro.product.model`.
    pub model: String,
    /// `ro.product.name`.
    pub product: String,
    /// `ro.product.device`.
    pub device: String,
    /// Keyboard apps that are installed in addition to the phone's own.
    pub keyboards: Vec<BroadcastKeyboard>,
    /// How fast it is.
    pub profile: Profile,
    /// Whether the phone runs in virtual or real time.
    pub clock: ClockMode,
    /// What it asks for after its screen was off.
    pub screen_lock: ScreenLock,
    /// Whether it shows the keyguard after it has booted.
    pub locked: bool,
    /// Whether Thumbwire's helper is installed in `/data/local/tmp`.
    pub helper: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let world = thumbwire_virtual_phone::Setup::default();
        Self {
            seed: world.seed,
            android: world.android,
            display: world.display,
            serial: None,
            model: "Virtual Pixel".to_owned(),
            product: "virtual".to_owned(),
            device: "vp".to_owned(),
            keyboards: Vec::new(),
            profile: Profile::default(),
            clock: ClockMode::default(),
            screen_lock: ScreenLock::default(),
            locked: false,
            helper: true,
        }
    }
}

impl Setup {
    /// A phone with that Android release, e.g. `4.4` or `14`, and a screen of its time. `None` if
    /// the release is not one of [`Setup::releases`].
    pub fn of_release(name: &str) -> Option<Self> {
        let release = Release::named(name)?;
        let setup = Self { android: release.major, ..Self::default() };
        let Pixels { width, height, density } = release.pixels;
        let display = Display { width, height, density, rotation: 0 };
        if release.form == ToolKind::Service {
            return Some(Self { display, ..setup });
        }
        Some(Self {
            display,
            model: format!("Virtual Phone {}", release.name),
            product: "virtual_old".to_owned(),
            device: "vpold".to_owned(),
            profile: if release.major < 5 { Profile::Old } else { Profile::Pixel },
            ..setup
        })
    }

    /// The supported releases, oldest first.
    pub fn releases() -> impl Iterator<Item = &'static str> {
        Release::names()
    }
}

//! Device configurations of resource values, and which of several values wins.
//!
//! Source of the layout: `ResTable_config` in AOSP's `androidfw/ResourceTypes.h`. Android compares some twenty
//! properties of a phone; here at most the API level and a language are known, so [`DeviceConfig::rank`] defines a simpler
//! rule.

/// The device configuration to look up a resource for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeviceConfig {
    /// The phone's API level.
    pub(crate) sdk: Option<u32>,
    /// A language such as `de` or `de-AT`, with this capitalization.
    pub(crate) locale: Option<String>,
}

/// The configuration that a resource value is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Configuration {
    language: Code,
    region: Code,
    /// Minimum API level; 0 for any.
    sdk: u32,
    /// Whether it requires anything else: a mobile network, a size, a density, night mode …
    special: bool,
}

/// Two or three letters or digits; zeros for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Code([u8; 3]);

/// Smaller is better.
pub(crate) type Rank = (u32, bool, u32);

impl DeviceConfig {
    /// Language comes first: the requested one (with the requested region, then without a region, then with another),
    /// then none, then English (without a region, US, other), then any. Next come values without special requirements;
    /// then, if the phone's API level is known, the highest level up to it, otherwise the lowest. Of equals, the first
    /// in the table wins. `None` if the value is not for this phone.
    pub(crate) fn rank(&self, configuration: &Configuration) -> Option<Rank> {
        let level = match self.sdk {
            Some(sdk) if configuration.sdk > sdk => return None,
            Some(sdk) => sdk - configuration.sdk,
            None => configuration.sdk,
        };
        Some((self.language_rank(configuration), configuration.special, level))
    }

    fn language_rank(&self, configuration: &Configuration) -> u32 {
        let (language, region) = (configuration.language, configuration.region);
        if let Some(locale) = &self.locale {
            let (wanted, place) = locale.split_once('-').unwrap_or((locale, ""));
            if !wanted.is_empty() && language.is(wanted) {
                return if region.is(place) { 0 } else { 1 + u32::from(!region.is("")) };
            }
        }
        match (language.is(""), language.is("en")) {
            (true, _) => 3,
            (_, true) if region.is("") => 4,
            (_, true) if region.is("US") => 5,
            (_, true) => 6,
            _ => 7,
        }
    }
}

impl Configuration {
    /// `u32 size, u32 network, 2 language, 2 region, u32 screen, u32 input, u32 size, u16 API level, u16 0`, and more
    /// in newer files.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let size = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(bytes.len());
        let within = |at: usize| if at < size { byte(at) } else { 0 };
        let special = (4..size).any(|at| !matches!(at, 8..=11 | 24..=27) && byte(at) != 0);
        Self {
            language: Code::unpack([within(8), within(9)], b'a'),
            region: Code::unpack([within(10), within(11)], b'0'),
            sdk: u32::from(u16::from_le_bytes([within(24), within(25)])),
            special,
        }
    }
}

impl Code {
    /// Two plain letters, or, if the top bit of the first byte is set, three letters of five bits each
    /// (`unpackLanguageOrRegion`).
    fn unpack([first, second]: [u8; 2], base: u8) -> Self {
        if first & 0x80 == 0 {
            return Self([first, second, 0]);
        }
        let letters = [second & 0x1f, (second >> 5) | (first & 0x03) << 3, (first & 0x7c) >> 2];
        Self(letters.map(|letter| letter + base))
    }

    fn is(self, written: &str) -> bool {
        let mut letters = [0; 3];
        let bytes = written.as_bytes();
        let fits = bytes.len() <= letters.len();
        letters.iter_mut().zip(bytes).for_each(|(letter, byte)| *letter = *byte);
        fits && self.0 == letters
    }
}

//! For which phones a resource is meant, and which of several is taken.
//!
//! Source of the layout: `ResTable_config` in AOSP's `androidfw/ResourceTypes.h`. Android weighs some twenty qualities of a phone; none of
//! them is known here but, perhaps, its API level and a language. The rule is therefore [`Wanted::rank`]'s.

/// What a resource is wanted for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The phone's API level.
    pub(crate) sdk: Option<u32>,
    /// A language, `de` or `de-AT`, in lower case and upper case as here.
    pub(crate) locale: Option<String>,
}

/// For which phones a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Configuration {
    language: Code,
    region: Code,
    /// From this API level on; 0 for all.
    sdk: u32,
    /// Whether it asks for anything else: a country's network, a size, a density, a night …
    special: bool,
}

/// Two or three letters, or two or three digits; zeros for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Code([u8; 3]);

/// Smaller is better.
pub(crate) type Rank = (u32, bool, u32);

impl Wanted {
    /// The language decides first: the one that is wanted, with its region before without and before others; then none, then English
    /// (none's region, American, others), then whatever there is. Then what asks for nothing special; then, where the phone's API level
    /// is known, the highest that it reaches, else the lowest. Of equals the first in the table is taken. `None`: not for this phone.
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
    /// `u32 size, u32 network, 2 language, 2 region, u32 screen, u32 input, u32 size, u16 API level, u16 0`, and more in newer files.
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
    /// Two letters as they are, or three of five bits each, of which the first byte's upper bit tells (`unpackLanguageOrRegion`).
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

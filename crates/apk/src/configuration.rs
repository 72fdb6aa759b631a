//! Device configurations of resource values, and which of several values wins.
//!
//! Source of the layout: `ResTable_config` in AOSP's `androidfw/ResourceTypes.h`. Android compares
//! some twenty properties of a phone; here at most a locale is known, so [`rank`] is a simpler rule
//! for the rest.

/// The configuration that a resource value is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Configuration {
    language: Code,
    region: Code,
    script: [u8; 4],
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

/// How well a value for this configuration suits a phone with this locale. The language comes
/// first, then values without special requirements, then the lowest API level. Of equals, the first
/// in the table wins.
pub(crate) fn rank(configuration: &Configuration, locale: Option<&Locale>) -> Rank {
    let language = language_rank(configuration, locale);
    (language, configuration.special, configuration.sdk)
}

/// The phone's language, then none, then English (without a region, US, other), then any. Only the
/// first two are Android's; it takes nothing else.
fn language_rank(configuration: &Configuration, locale: Option<&Locale>) -> u32 {
    let (language, region) = (configuration.language, configuration.region);
    if let Some(rank) = locale.and_then(|locale| locale.rank(configuration)) {
        return rank;
    }
    match (language.is(""), language.is("en")) {
        (true, _) => NO_LANGUAGE,
        (_, true) if region.is("") => NO_LANGUAGE + 100,
        (_, true) if region.is("US") => NO_LANGUAGE + 101,
        (_, true) => NO_LANGUAGE + 102,
        _ => NO_LANGUAGE + 200,
    }
}

/// The rank of a value without a language. Those in the phone's language are before it, except for
/// English of the wrong side of the ocean.
const NO_LANGUAGE: u32 = 100;

/// A phone's locale, as resources are compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Locale {
    /// The language by the code that resources use.
    language: String,
    script: Option<String>,
    /// Empty for none.
    region: String,
}

impl Locale {
    /// Reads a BCP 47 tag such as `de`, `de-AT` or `zh-Hant-TW`.
    pub(crate) fn read(tag: &str) -> Self {
        let mut subtags = tag.split('-');
        let language = resource_language(subtags.next().unwrap_or_default()).to_owned();
        let mut locale = Self { language, script: None, region: String::new() };
        for subtag in subtags {
            match subtag.len() {
                4 if locale.script.is_none() => locale.script = Some(subtag.to_owned()),
                2 | 3 => {
                    locale.region = subtag.to_owned();
                    break;
                }
                _ => break,
            }
        }
        locale
    }

    /// The rank of a value in this language; `None` for one without a language or in another.
    /// (`ResTable_config::isLocaleBetterThan` in AOSP.)
    fn rank(&self, configuration: &Configuration) -> Option<u32> {
        if self.language.is_empty() || !configuration.language.is(&self.language) {
            return None;
        }
        let region = configuration.region.text();
        if self.language == "zh" && self.is_traditional() != configuration.is_traditional() {
            return None;
        }
        let distance = self.distance(&region);
        // Values without a language are American in most apps.
        let is_near = match (&*self.language, &*self.region) {
            ("en", "US") => matches!(&*region, "" | "US"),
            ("en", own) => !is_close_to_us(own) || is_close_to_us(&region),
            _ => true,
        };
        Some(if is_near { distance } else { NO_LANGUAGE + 1 + distance })
    }

    /// How far a region is from the phone's: 0 for the same, then its parents, then their other
    /// children (`localeDataCompareRegions` in AOSP).
    fn distance(&self, region: &str) -> u32 {
        let own = ancestors(&self.language, &self.region);
        // Apps use these two for all of Latin America.
        let is_latin_american =
            self.language == "es" && matches!(region, "US" | "MX") && region != self.region;
        let region = if is_latin_american { "419" } else { region };
        let shared = ancestors(&self.language, region).into_iter().enumerate().find_map(
            |(steps, ancestor)| Some((steps, own.iter().position(|one| *one == ancestor)?)),
        );
        // The language itself is always shared.
        let (steps, index) = shared.unwrap_or_default();
        let detour = if steps == 0 { 0 } else { 20 };
        let distance = detour + 2 * (steps + index) + usize::from(is_latin_american);
        u32::try_from(distance).unwrap_or(NO_LANGUAGE - 1)
    }

    fn is_traditional(&self) -> bool {
        match &self.script {
            Some(script) => script == "Hant",
            None => writes_traditional(&self.region),
        }
    }
}

/// The code that resources have for a language: the former one of Hebrew, Indonesian and Yiddish,
/// as Android looks them up (`ResourcesImpl.adjustLanguageTag`). Splits of packages have it in
/// their names.
pub fn resource_language(language: &str) -> &str {
    match language {
        "he" => "iw",
        "id" => "in",
        "yi" => "ji",
        other => other,
    }
}

/// Regions whose parent is another region, by language: the parent, then its children. All other
/// regions are children of the language itself. Source: CLDR, as in AOSP's `LocaleDataTables.cpp`.
const PARENTS: [(&str, &str, &str); 6] = [
    ("ar", "015", "AE DZ EH LY MA TN"),
    (
        "en",
        "001",
        "150 AG AI AU BB BM BS BW BZ CC CK CM CX CY DG DM ER FJ FK FM GB GD GG GH GI GM GY HK IE IL IM \
         IN IO JE JM KE KI KN KY LC LR LS MG MO MS MT MU MV MW MY NA NF NG NR NU NZ PG PK PN PW RW SB \
         SC SD SG SH SL SS SX SZ TC TK TO TT TV TZ UG VC VG VU WS ZA ZM ZW",
    ),
    ("en", "150", "AT BE CH DE DK FI NL SE SI"),
    ("es", "419", "AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE"),
    ("pt", "PT", "AO CH CV GQ GW LU MO MZ ST TL"),
    ("zh", "HK", "MO"),
];

/// A region, its parents, and at last the empty region for the language itself.
fn ancestors<'a>(language: &str, region: &'a str) -> Vec<&'a str> {
    let mut found = vec![region];
    while let Some(last) = found.last().copied().filter(|last| !last.is_empty()) {
        let parent = PARENTS.iter().find(|(of, _, children)| {
            *of == language && children.split(' ').any(|child| child == last)
        });
        found.push(parent.map_or("", |(_, parent, _)| parent));
    }
    found
}

/// Whether the English of a region descends from American English rather than from international
/// English (`localeDataIsCloseToUsEnglish` in AOSP).
fn is_close_to_us(region: &str) -> bool {
    region != "001" && !ancestors("en", region).contains(&"001")
}

/// Whether Chinese is written in traditional characters in a region.
fn writes_traditional(region: &str) -> bool {
    matches!(region, "TW" | "HK" | "MO")
}

impl Configuration {
    /// `u32 size, u32 network, 2 language, 2 region, u32 screen, u32 input, u32 size, u16 API
    /// level, u16 0`, and more in newer files, among it four letters of a script.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let size = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(bytes.len());
        let within = |at: usize| if at < size { byte(at) } else { 0 };
        let special =
            (4..size).any(|at| !matches!(at, 8..=11 | 24..=27 | 36..=39) && byte(at) != 0);
        Self {
            language: Code::unpack([within(8), within(9)], b'a'),
            region: Code::unpack([within(10), within(11)], b'0'),
            script: [within(36), within(37), within(38), within(39)],
            sdk: u32::from(u16::from_le_bytes([within(24), within(25)])),
            special,
        }
    }

    fn is_traditional(&self) -> bool {
        match &self.script {
            [0, ..] => writes_traditional(&self.region.text()),
            script => script == b"Hant",
        }
    }
}

impl Code {
    /// Two plain letters, or, if the top bit of the first byte is set, three letters of five bits
    /// each (`unpackLanguageOrRegion`).
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

    fn text(self) -> String {
        self.0.iter().take_while(|letter| **letter != 0).map(|letter| char::from(*letter)).collect()
    }
}

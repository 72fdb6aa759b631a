//! What releases do otherwise about packages; `release` says which has which.
//!
//! Sources: the words are those of reports with the release named, and of `InstallPackageHelper` and `PackageManagerService` where the
//! release's source was at hand; which release was the first with some of them is not seen (`docs/sharp-edges.md`).

use crate::programs::fingerprint;

/// How package folders are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Places {
    /// `/data/app/PACKAGE-1.apk`, and `-2` for the next version; the system's lie in `/system/app` (captures `094`, `106`).
    Numbered,
    /// `/data/app/PACKAGE-RANDOM==/base.apk`, since 8; `/system/app/NAME/NAME.apk` (`dumpsys activity` on emulators of 9 and 11).
    Random,
    /// `/data/app/~~RANDOM==/PACKAGE-RANDOM==/base.apk`, since 11; much of the system's in `/product` (`xiaomi-pad6_pm-list-f.txt`).
    Twice,
}

/// The ways of one release, or of several.
#[derive(Debug)]
pub(crate) struct Ways {
    places: Places,
    /// The newest signature scheme that it knows: 2 came with 7, 3 with 9.
    pub(crate) schemes: u8,
    /// Whether an app that is made for Android 11 needs scheme 2.
    pub(crate) wants_scheme_2: bool,
    /// Whether an app that is made for Android 12 has to say what is exported.
    pub(crate) wants_exported: bool,
    /// Whether a failure's words go on with those of its cause.
    pub(crate) causes: bool,
    /// Whether the API level is asked when the file is first looked at, so that the words name no file.
    pub(crate) plain_sdk_words: bool,
    pub(crate) test_only: &'static str,
    /// With `{}` for the package.
    pub(crate) other_signer: &'static str,
}

const OLD_SIGNER: &str =
    "Package {} signatures do not match previously installed version; ignoring!";
const NEW_SIGNER: &str = "Existing package {} signatures do not match newer version; ignoring!";

pub(crate) static OF_4: Ways = Ways {
    places: Places::Numbered,
    schemes: 1,
    wants_scheme_2: false,
    wants_exported: false,
    causes: false,
    plain_sdk_words: false,
    test_only: "installPackageLI",
    other_signer: OLD_SIGNER,
};

pub(crate) static SINCE_9: Ways = Ways {
    places: Places::Random,
    schemes: 3,
    wants_scheme_2: false,
    wants_exported: false,
    causes: false,
    plain_sdk_words: false,
    test_only: "installPackageLI",
    other_signer: OLD_SIGNER,
};

pub(crate) static SINCE_11: Ways = Ways {
    places: Places::Twice,
    schemes: 3,
    wants_scheme_2: true,
    wants_exported: false,
    causes: false,
    plain_sdk_words: false,
    test_only: "installPackageLI",
    other_signer: OLD_SIGNER,
};

pub(crate) static SINCE_12: Ways = Ways {
    places: Places::Twice,
    schemes: 3,
    wants_scheme_2: true,
    wants_exported: true,
    causes: true,
    plain_sdk_words: true,
    test_only: "installPackageLI",
    other_signer: NEW_SIGNER,
};

pub(crate) static SINCE_14: Ways = Ways {
    places: Places::Twice,
    schemes: 3,
    wants_scheme_2: true,
    wants_exported: true,
    causes: true,
    plain_sdk_words: true,
    test_only: "Failed to install test-only apk. Did you forget to add -t?",
    other_signer: NEW_SIGNER,
};

impl Ways {
    /// A failure's words, with their cause where this release gives it.
    pub(crate) fn short(&self, why: &str) -> String {
        match why.split_once(": ") {
            Some((first, _)) if !self.causes => first.to_owned(),
            _ => why.to_owned(),
        }
    }

    /// Where the file of an app lies that came with the phone; `name` is its label without spaces.
    pub(crate) fn built_in(&self, name: &str) -> String {
        match self.places {
            Places::Numbered => format!("/system/app/{name}.apk"),
            Places::Random => format!("/system/app/{name}/{name}.apk"),
            Places::Twice => format!("/product/app/{name}/{name}.apk"),
        }
    }

    /// Where the base of a package goes. `before`: where it lies now. The names look random and follow from the session.
    pub(crate) fn place(&self, package: &str, session: u32, before: Option<&str>) -> String {
        let random = |salt: &str| random(&format!("{package} {session} {salt}"));
        match self.places {
            Places::Numbered => {
                let one = format!("/data/app/{package}-1.apk");
                if before == Some(one.as_str()) {
                    format!("/data/app/{package}-2.apk")
                } else {
                    one
                }
            }
            Places::Random => format!("/data/app/{package}-{}==/base.apk", random("own")),
            Places::Twice => {
                format!("/data/app/~~{}==/{package}-{}==/base.apk", random("outer"), random("own"))
            }
        }
    }
}

/// 22 letters, as base64 makes them of 16 bytes; the last one holds two bits.
fn random(seed: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut hash = fingerprint(seed);
    let mut next = || {
        hash = hash.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (hash >> 58) as usize
    };
    let mut name: String = (0..21).map(|_| char::from(LETTERS[next()])).collect();
    name.push(char::from(LETTERS[next() & 0x30]));
    name
}

//! Differences between releases in package handling.
//!
//! Sources: messages come from reports that name the release, and from `InstallPackageHelper` and
//! `PackageManagerService` where the release's source was available; for some the first release is
//! unknown (`docs/internals/sharp-edges/README.md`).

use crate::fingerprint::fingerprint;

/// The naming style of package folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodePathStyle {
    /// `/data/app/PACKAGE-1.apk`, and `-2` for the next version; preinstalled ones in `/system/app`
    /// (captures `094`, `106`).
    Numbered,
    /// `/data/app/PACKAGE-RANDOM==/base.apk`, since 8; `/system/app/NAME/NAME.apk` (`dumpsys
    /// activity` on emulators of 9 and 11).
    Random,
    /// `/data/app/~~RANDOM==/PACKAGE-RANDOM==/base.apk`, since 11; many preinstalled ones in
    /// `/product` (`xiaomi-pad6_pm-list-f.txt`).
    Twice,
}

/// The install rules of one or more releases.
#[derive(Debug)]
pub struct InstallRules {
    places: CodePathStyle,
    /// The newest supported signature scheme: 2 since 7, 3 since 9.
    pub schemes: u8,
    /// Whether an app that targets Android 11 needs scheme 2.
    pub wants_scheme_2: bool,
    /// Whether an app that targets Android 12 must declare `exported`.
    pub wants_exported: bool,
    /// Whether an error message includes its cause.
    pub causes: bool,
    /// Whether the API level is checked on first reading, so that the message names no file.
    pub plain_sdk_words: bool,
    /// What refuses a test-only app.
    pub test_only: &'static str,
    /// With `{}` for the package.
    pub other_signer: &'static str,
}

const OLD_SIGNER: &str =
    "Package {} signatures do not match previously installed version; ignoring!";
const NEW_SIGNER: &str = "Existing package {} signatures do not match newer version; ignoring!";

pub(super) static OF_4: InstallRules = InstallRules {
    places: CodePathStyle::Numbered,
    schemes: 1,
    wants_scheme_2: false,
    wants_exported: false,
    causes: false,
    plain_sdk_words: false,
    test_only: "installPackageLI",
    other_signer: OLD_SIGNER,
};

pub(super) static SINCE_9: InstallRules = InstallRules {
    places: CodePathStyle::Random,
    schemes: 3,
    wants_scheme_2: false,
    wants_exported: false,
    causes: false,
    plain_sdk_words: false,
    test_only: "installPackageLI",
    other_signer: OLD_SIGNER,
};

pub(super) static SINCE_11: InstallRules = InstallRules {
    places: CodePathStyle::Twice,
    schemes: 3,
    wants_scheme_2: true,
    wants_exported: false,
    causes: false,
    plain_sdk_words: false,
    test_only: "installPackageLI",
    other_signer: OLD_SIGNER,
};

pub(super) static SINCE_12: InstallRules = InstallRules {
    places: CodePathStyle::Twice,
    schemes: 3,
    wants_scheme_2: true,
    wants_exported: true,
    causes: true,
    plain_sdk_words: true,
    test_only: "installPackageLI",
    other_signer: NEW_SIGNER,
};

pub(super) static SINCE_14: InstallRules = InstallRules {
    places: CodePathStyle::Twice,
    schemes: 3,
    wants_scheme_2: true,
    wants_exported: true,
    causes: true,
    plain_sdk_words: true,
    test_only: "Failed to install test-only apk. Did you forget to add -t?",
    other_signer: NEW_SIGNER,
};

impl InstallRules {
    /// An error message, with its cause if this release prints it.
    pub fn short(&self, reason: &str) -> String {
        match reason.split_once(": ") {
            Some((first, _)) if !self.causes => first.to_owned(),
            _ => reason.to_owned(),
        }
    }

    /// The path of a preinstalled app; `name` is its label without spaces.
    pub fn built_in(&self, name: &str) -> String {
        match self.places {
            CodePathStyle::Numbered => format!("/system/app/{name}.apk"),
            CodePathStyle::Random => format!("/system/app/{name}/{name}.apk"),
            CodePathStyle::Twice => format!("/product/app/{name}/{name}.apk"),
        }
    }

    /// The path of a package's base; `before` is its current path. The names look random and follow
    /// from the session.
    pub fn place(&self, package: &str, session: u32, before: Option<&str>) -> String {
        let random = |salt: &str| random(&format!("{package} {session} {salt}"));
        match self.places {
            CodePathStyle::Numbered => {
                let one = format!("/data/app/{package}-1.apk");
                if before == Some(one.as_str()) {
                    format!("/data/app/{package}-2.apk")
                } else {
                    one
                }
            }
            CodePathStyle::Random => format!("/data/app/{package}-{}==/base.apk", random("own")),
            CodePathStyle::Twice => {
                format!("/data/app/~~{}==/{package}-{}==/base.apk", random("outer"), random("own"))
            }
        }
    }
}

/// 22 characters, like base64 of 16 bytes; the last one holds two bits.
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

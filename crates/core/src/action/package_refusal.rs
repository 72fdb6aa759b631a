//! What Android's codes of a refused installation mean, and what helps.
//!
//! The codes are the names of constants in AOSP's `PackageManager.java`; the phone prints them. A
//! code that is not here is passed on as it is.

/// What a code means, and the next move.
struct Meaning {
    code: &'static str,
    reason: &'static str,
    next: &'static str,
}

/// A row of the table.
const fn row(code: &'static str, reason: &'static str, next: &'static str) -> Meaning {
    Meaning { code, reason, next }
}

const UNINSTALL_FIRST: &str = "if the app's data on the phone may be lost, uninstall the installed app and install again; \
                               otherwise use a package from the source that the installed app came from";

const ANOTHER_PACKAGE: &str =
    "use another build of the app that fits this phone; its device info tells release and model";

const SIGN: &str = "sign the package (`apksigner sign`) or build it again";

const TABLE: &[Meaning] = &[
    row(
        "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
        "the app is already installed, and that one was signed with another key",
        UNINSTALL_FIRST,
    ),
    row(
        "INSTALL_FAILED_VERSION_DOWNGRADE",
        "the phone has a newer version of the app",
        "use a package with a higher version code, or uninstall the app first, which deletes its data",
    ),
    row(
        "INSTALL_FAILED_PERMISSION_MODEL_DOWNGRADE",
        "the installed app asks for permissions while it runs, and this package is for older phones",
        "use a package that targets API level 23 or later, or uninstall the app first, which deletes its data",
    ),
    row(
        "INSTALL_FAILED_INSUFFICIENT_STORAGE",
        "the phone has too little free storage",
        "free storage on the phone: uninstall apps or remove files",
    ),
    row(
        "INSTALL_FAILED_NO_MATCHING_ABIS",
        "the package has native code, but none for the phone's processor",
        "use a package for the phone's processor, or one for all of them",
    ),
    row(
        "INSTALL_FAILED_CPU_ABI_INCOMPATIBLE",
        "the package has native code, but none for the phone's processor",
        "use a package for the phone's processor, or one for all of them",
    ),
    row(
        "INSTALL_FAILED_TEST_ONLY",
        "the package is marked as a test, as Android Studio marks what its Run button builds",
        "call again with `allow_test_only`, or build the package with Gradle's `assemble` task",
    ),
    row(
        "INSTALL_FAILED_OLDER_SDK",
        "the package needs a newer Android than the phone has",
        ANOTHER_PACKAGE,
    ),
    row(
        "INSTALL_FAILED_NEWER_SDK",
        "the package is for an older Android than the phone has",
        ANOTHER_PACKAGE,
    ),
    row(
        "INSTALL_FAILED_DEPRECATED_SDK_VERSION",
        "the package targets an Android that is too old for this phone",
        "use a build of the app with a higher target API level",
    ),
    row(
        "INSTALL_FAILED_USER_RESTRICTED",
        "the phone does not allow installing over USB, or its user declined",
        "the phone's owner can allow it: accept the question on the screen, or turn on \"Install via USB\" in the developer options",
    ),
    row(
        "INSTALL_FAILED_ABORTED",
        "the phone or its user stopped the installation",
        "look at the screen: the phone may ask a question",
    ),
    row(
        "INSTALL_FAILED_VERIFICATION_FAILURE",
        "the phone's check for harmful apps refused the package",
        "look at the screen: the phone may ask its user; do not work around its check",
    ),
    row(
        "INSTALL_FAILED_VERIFICATION_TIMEOUT",
        "the phone's check for harmful apps did not end",
        "check the phone's network connection and call again",
    ),
    row(
        "INSTALL_FAILED_MISSING_SPLIT",
        "the package is only the base of an app that comes in several packages",
        "build one package that has everything (`bundletool build-apks --mode=universal`)",
    ),
    row(
        "INSTALL_FAILED_INVALID_APK",
        "the phone cannot read the package",
        "check that the file is a complete APK, and not an AAB, APKS or XAPK",
    ),
    row(
        "INSTALL_FAILED_MISSING_SHARED_LIBRARY",
        "the package needs a library that the phone does not have",
        ANOTHER_PACKAGE,
    ),
    row(
        "INSTALL_FAILED_MISSING_FEATURE",
        "the package needs hardware or a feature that the phone does not have",
        ANOTHER_PACKAGE,
    ),
    row(
        "INSTALL_FAILED_CONFLICTING_PROVIDER",
        "an installed app offers a content provider of the same name",
        "uninstall that app first, which deletes its data; the details name it",
    ),
    row(
        "INSTALL_FAILED_DUPLICATE_PERMISSION",
        "an installed app defines a permission of the same name",
        "uninstall that app first, which deletes its data; the details name it",
    ),
    row(
        "INSTALL_FAILED_SHARED_USER_INCOMPATIBLE",
        "the package shares its user id with an app that was signed with another key",
        UNINSTALL_FIRST,
    ),
    row(
        "INSTALL_PARSE_FAILED_NO_CERTIFICATES",
        "the package is not signed, or not in a way that this phone accepts",
        SIGN,
    ),
    row(
        "INSTALL_PARSE_FAILED_INCONSISTENT_CERTIFICATES",
        "the parts of the package are signed with different keys",
        SIGN,
    ),
    row(
        "DELETE_FAILED_DEVICE_POLICY_MANAGER",
        "the app administers this phone",
        "the phone's owner can end that in the settings, under device admin apps",
    ),
    row(
        "DELETE_FAILED_USER_RESTRICTED",
        "the phone does not allow its user to uninstall apps",
        "clear the app's data instead",
    ),
    row(
        "DELETE_FAILED_OWNER_BLOCKED",
        "the organisation that manages this phone does not allow it",
        "clear the app's data instead",
    ),
];

fn find(code: &str) -> Option<&'static Meaning> {
    TABLE.iter().find(|meaning| meaning.code == code)
}

/// The code with what it means: `INSTALL_FAILED_OLDER_SDK: the package needs …`, then the phone's
/// own details.
pub(super) fn describe(code: &str, text: &str) -> String {
    let reason = find(code).map_or(String::new(), |meaning| format!(": {}", meaning.reason));
    let details = if text.is_empty() { String::new() } else { format!(" ({text})") };
    format!("{code}{reason}{details}")
}

/// What the caller can do.
pub(super) fn next_step(code: &str) -> &'static str {
    match find(code) {
        Some(meaning) => meaning.next,
        None if code.starts_with("INSTALL_PARSE_FAILED") => {
            "check that the file is a complete APK that was built for installation"
        }
        None => "check the package; the phone's log may tell more",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_codes_are_explained_and_others_passed_on() {
        assert_eq!(
            describe("INSTALL_FAILED_VERSION_DOWNGRADE", "Update version code 1 is older"),
            "INSTALL_FAILED_VERSION_DOWNGRADE: the phone has a newer version of the app (Update version code 1 is older)"
        );
        assert_eq!(describe("INSTALL_FAILED_OTHER", ""), "INSTALL_FAILED_OTHER");
        assert!(next_step("INSTALL_PARSE_FAILED_NOT_APK").contains("complete APK"));
    }

    #[test]
    fn each_code_has_one_row() {
        for (at, meaning) in TABLE.iter().enumerate() {
            assert!(TABLE[..at].iter().all(|other| other.code != meaning.code), "{}", meaning.code);
        }
    }
}

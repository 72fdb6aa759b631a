//! The grammar of app ids: package names of Android, and bundle identifiers of iOS.

use thumbwire_base::truncate;

use crate::{AppId, Error};

impl AppId {
    /// The id of an app as a caller writes it, before it is known which phone it is for: a package
    /// name of Android, or a bundle identifier of iOS. Each driver checks its own grammar.
    ///
    /// # Errors
    /// [`Error::InvalidAppId`] if no app of any platform can have it.
    pub fn parse(id: &str) -> Result<Self, Error> {
        let app = Self(id.to_owned());
        match is_package_name(id) || is_bundle_id(id) && id.contains('.') {
            true => Ok(app),
            false => Err(invalid(
                &app,
                "an app id, such as com.example.app, has at least two parts with a dot between them; each part is letters, \
                 digits, underscores and hyphens",
            )),
        }
    }
}

/// Checks that this can be the name of a package, before a command contains it: the script `monkey`
/// of phones before Android 7 splits its arguments at spaces, and `dumpsys package` takes a word
/// without a dot for a section of its report, or for a command.
///
/// # Errors
/// [`Error::InvalidAppId`].
pub(crate) fn check_name(app: &AppId) -> Result<(), Error> {
    const REASON: &str = "an Android package name has at least two parts with a dot between them, such as com.example.app; \
                          each part is letters, digits and underscores, and starts with a letter";
    match is_package_name(&app.0) {
        true => Ok(()),
        false => Err(invalid(app, REASON)),
    }
}

/// Checks that this can be a bundle identifier.
///
/// # Errors
/// [`Error::InvalidAppId`].
#[cfg(feature = "ios")]
pub(crate) fn check_bundle_id(app: &AppId) -> Result<(), Error> {
    match is_bundle_id(&app.0) {
        true => Ok(()),
        false => Err(invalid(
            app,
            "a bundle identifier has letters, digits, hyphens and dots, such as com.example.app",
        )),
    }
}

fn invalid(app: &AppId, reason: &'static str) -> Error {
    const SHOWN: usize = 200;
    Error::InvalidAppId { app: truncate(&app.0, SHOWN), reason }
}

/// Whether this can be a bundle identifier (`CFBundleIdentifier`): letters, digits, hyphens and
/// dots. Simulators also accept underscores.
fn is_bundle_id(id: &str) -> bool {
    let is_in_ids = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !id.is_empty() && id.len() <= 255 && !id.starts_with(['-', '.']) && id.chars().all(is_in_ids)
}

/// Whether Android accepts this as the name of a package: letters, and after a letter also digits
/// and underscores, in parts with dots between them. Only the platform's own package, `android`,
/// has no dot. Source: `validateName` in AOSP's `PackageParser` (later
/// `FrameworkParsingPackageUtils`), which even accepts an empty part.
pub(crate) fn is_package_name(name: &str) -> bool {
    let is_part = |part: &str| {
        part.is_empty()
            || part.starts_with(|c: char| c.is_ascii_alphabetic())
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    name == "android" || name.contains('.') && name.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SideEffect;

    #[test]
    fn package_names_follow_androids_grammar() {
        for name in [
            "android",
            "com.x",
            "com.example_1.App",
            "a.b.c.d",
            "com.android.mms",
            "com..x",
            "com.x.",
        ] {
            assert!(is_package_name(name), "{name}");
        }
        for name in [
            "",
            "x",
            "write",
            "r",
            "-h",
            "Android",
            "1.2",
            "com.1x",
            "com._x",
            "com.x-y",
            "com.x f",
            "com.x; reboot",
            "com.x\n",
            "com.é",
            "com.x\u{fffd}",
            "--user",
            "com/x.y",
            "-p com.x",
            " com.x",
        ] {
            assert!(!is_package_name(name), "{name:?}");
        }
        let error = check_name(&AppId("com.x; reboot".into())).unwrap_err();
        assert!(
            error.to_string().contains("\"com.x; reboot\"") && error.acted() == SideEffect::None
        );
        let long = check_name(&AppId("-".repeat(1_000_000))).unwrap_err();
        assert!(long.to_string().len() < 1_000);
    }

    #[test]
    fn ids_of_both_platforms_are_parsed() {
        for id in
            ["android", "com.x", "com..x", "com.my-company.app2", "com.37signals.app", "a_b.c"]
        {
            assert!(AppId::parse(id).is_ok(), "{id}");
        }
        for id in
            ["", "x", "Android", "-h", "--user.x", "com/x.y", "com.x y", "com.é", "com.x; reboot"]
        {
            assert!(matches!(AppId::parse(id), Err(Error::InvalidAppId { .. })), "{id}");
        }
    }

    #[cfg(feature = "ios")]
    #[test]
    fn bundle_ids_follow_apples_grammar() {
        for id in ["com.apple.Preferences", "com.my-company.app2", "x", "a_b.c"] {
            assert!(check_bundle_id(&AppId(id.into())).is_ok(), "{id}");
        }
        for id in ["", "com.x/../y", "com x", "café", "-h"] {
            let error = check_bundle_id(&AppId(id.into())).unwrap_err();
            assert!(matches!(error, Error::InvalidAppId { .. }), "{id}");
        }
    }
}

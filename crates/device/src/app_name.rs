//! The grammar of package names.

use thumbwire_base::truncate;

use crate::{AppId, Error};

impl AppId {
    /// The id of an app as a caller writes it, in the grammar of Android, the only platform with a driver.
    ///
    /// # Errors
    /// [`Error::InvalidAppId`] if no app can have it.
    pub fn parse(id: &str) -> Result<Self, Error> {
        let app = Self(id.to_owned());
        check_name(&app)?;
        Ok(app)
    }
}

/// Checks that this can be the name of a package, before a command contains it: the script `monkey` of phones before
/// Android 7 splits its arguments at spaces, and `dumpsys package` takes a word without a dot for a section of its report,
/// or for a command.
///
/// # Errors
/// [`Error::InvalidAppId`].
pub(crate) fn check_name(app: &AppId) -> Result<(), Error> {
    const SHOWN: usize = 200;
    const REASON: &str = "an Android package name has at least two parts with a dot between them, such as com.example.app; \
                          each part is letters, digits and underscores, and starts with a letter";
    match is_package_name(&app.0) {
        true => Ok(()),
        false => Err(Error::InvalidAppId { app: truncate(&app.0, SHOWN), reason: REASON }),
    }
}

/// Whether Android accepts this as the name of a package: letters, and after a letter also digits and underscores, in
/// parts with dots between them. Only the platform's own package, `android`, has no dot. Source: `validateName` in AOSP's
/// `PackageParser` (later `FrameworkParsingPackageUtils`), which even accepts an empty part.
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
}

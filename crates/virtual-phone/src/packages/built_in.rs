//! The APKs behind apps that come with the phone and offer something to other programs: their bytes, and what they declare.
//!
//! The rest of what comes with the phone has no APK of its own (its manifest is the app's word alone). Made by `fixtures/apk/build`.

use super::Apk;
use crate::world::packages::Declared;
use std::sync::LazyLock;

/// A built-in app's APK.
pub(crate) struct BuiltIn {
    package: &'static str,
    /// The file as it lies on the phone.
    pub(crate) bytes: &'static [u8],
    declared: LazyLock<Option<Declared>>,
}

macro_rules! built_in {
    ($package:literal, $path:literal) => {
        BuiltIn {
            package: $package,
            bytes: include_bytes!($path),
            declared: LazyLock::new(|| declared_by(include_bytes!($path))),
        }
    };
}

static ALL: [BuiltIn; 2] = [
    built_in!("com.android.notes", "../../apks/notes.apk"),
    built_in!("com.example.shop", "../../apks/shop.apk"),
];

/// The APK of a package that comes with the phone.
pub(crate) fn of(package: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|it| it.package == package)
}

impl BuiltIn {
    /// What its manifest declares.
    pub(crate) fn declared(&'static self) -> Option<&'static Declared> {
        self.declared.as_ref()
    }
}

fn declared_by(bytes: &[u8]) -> Option<Declared> {
    /// The newest signature scheme that there is.
    const SCHEMES: u8 = 3;
    Apk::read(bytes, SCHEMES).ok().map(|apk| apk.declared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Setup, World};

    #[test]
    fn an_apk_behind_an_app_says_the_same_as_the_app() {
        let world = World::new(Setup::default());
        for built_in in &ALL {
            let apk = Apk::read(built_in.bytes, 3).expect("it can be read");
            assert!(apk.signer.is_ok(), "{}", built_in.package);
            let declared = apk.declared;
            let packages = world.packages();
            let app =
                packages.iter().find(|it| it.package == built_in.package).expect("it is there");
            assert_eq!(declared.package, app.package);
            assert_eq!(declared.version_code, app.version_code);
            assert_eq!(declared.version_name.as_ref(), Some(&app.version_name));
            assert_eq!(declared.label.as_ref(), Some(&app.label));
            assert_eq!(declared.permissions, app.permissions);
            assert_eq!(declared.launcher().map(|it| &it.name), app.launcher.as_ref());
        }
    }
}

//! What the system image of Android 4.4 declares: permissions, features, shared libraries. `pm
//! list` and `dumpsys package` show them.

/// The permissions of that release's framework and its apps; a dangerous one says so.
const PERMISSIONS: &str = include_str!("words/android-4.4/permissions.txt");

/// The features that this phone's hardware and software have.
pub(super) const FEATURES: [&str; 12] = [
    "reqGlEsVersion=0x20000",
    "android.hardware.faketouch",
    "android.hardware.screen.landscape",
    "android.hardware.screen.portrait",
    "android.hardware.touchscreen",
    "android.hardware.touchscreen.multitouch",
    "android.hardware.touchscreen.multitouch.distinct",
    "android.hardware.wifi",
    "android.software.app_widgets",
    "android.software.device_admin",
    "android.software.home_screen",
    "android.software.input_methods",
];

/// The shared libraries that every system image of that release has (`/system/etc/permissions`).
pub(super) const LIBRARIES: [&str; 5] = [
    "android.test.runner",
    "com.android.future.usb.accessory",
    "com.android.location.provider",
    "com.android.media.remotedisplay",
    "javax.obex",
];

/// The permissions, and whether they are dangerous.
pub(super) fn permissions() -> impl Iterator<Item = (&'static str, bool)> {
    PERMISSIONS.lines().map(|line| {
        let name = line.strip_suffix(" dangerous");
        (name.unwrap_or(line), name.is_some())
    })
}

/// Whether the framework or an app of that release declares that permission.
pub(super) fn is_permission(name: &str) -> bool {
    permissions().any(|(known, _)| known == name)
}

#[cfg(test)]
mod tests {
    use super::{is_permission, permissions};

    #[test]
    fn permissions_have_no_level_in_their_names() {
        assert!(permissions().all(|(name, _)| !name.contains(' ')));
        assert!(permissions().any(|one| one == ("android.permission.CAMERA", true)));
        assert!(!is_permission("nope.permission"));
    }
}

//! What the system image of Android 4.4 declares: permissions, features, shared libraries. `pm
//! list` and `dumpsys package` show them.

/// The permissions of that release's framework and its apps, below their groups; a dangerous one
/// says so.
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

/// What the permissions without a group are below.
pub(super) const UNGROUPED: &str = "ungrouped";

/// Each group and its permissions, with whether they are dangerous.
pub(super) fn groups() -> impl Iterator<Item = (&'static str, Vec<(&'static str, bool)>)> {
    let mut lines = PERMISSIONS.lines().peekable();
    std::iter::from_fn(move || {
        let group = lines.next()?;
        let mut below = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            let name = line.trim();
            below.push(match name.strip_suffix(" dangerous") {
                Some(name) => (name, true),
                None => (name, false),
            });
        }
        Some((group, below))
    })
}

/// Whether the framework or an app of that release declares that permission.
pub(super) fn is_permission(name: &str) -> bool {
    groups().any(|(_, below)| below.iter().any(|(known, _)| *known == name))
}

#[cfg(test)]
mod tests {
    use super::{groups, is_permission};

    #[test]
    fn permissions_are_below_their_groups() {
        assert!(groups().count() > 20 && is_permission("android.permission.CAMERA"));
        assert!(!is_permission("nope.permission"));
    }
}

//! `pm list` of Android 4.4: packages, permissions, features and the rest.

use super::super::list::listed;
use super::{Invocation, unknown};

/// The permissions of that release's framework and its apps, below their groups; a dangerous one says so.
const PERMISSIONS: &str = include_str!("../../words/android-4.4/permissions.txt");

/// The features that this phone's hardware and software have.
pub(in crate::programs) const FEATURES: [&str; 12] = [
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
pub(in crate::programs) const LIBRARIES: [&str; 5] = [
    "android.test.runner",
    "com.android.future.usb.accessory",
    "com.android.location.provider",
    "com.android.media.remotedisplay",
    "javax.obex",
];

/// `pm list KIND …`
pub(super) fn list(call: &Invocation, rest: &[&str]) -> String {
    let Some((kind, options)) = rest.split_first() else {
        return "Error: didn't specify type of data to list\n".to_owned();
    };
    let lines = |title: &str, names: &[&str]| {
        names.iter().map(|name| format!("{title}:{name}\n")).collect::<String>()
    };
    match *kind {
        "package" | "packages" => packages(call, options),
        "permission-groups" => groups()
            .filter(|(name, _)| *name != UNGROUPED)
            .map(|(name, _)| format!("permission group:{name}\n"))
            .collect(),
        "permissions" => permissions(options),
        "features" => lines("feature", &FEATURES),
        "libraries" => lines("library", &LIBRARIES),
        "users" => "Users:\n\tUserInfo{0:Owner:13}\n".to_owned(),
        // No app of this phone has tests.
        "instrumentation" => {
            let bad = options.iter().find(|option| option.starts_with('-') && **option != "-f");
            bad.map(|option| unknown(option)).unwrap_or_default()
        }
        other => format!("Error: unknown list type '{other}'\n"),
    }
}

/// `pm list packages [OPTION…] [FILTER]`
pub(super) fn packages(call: &Invocation, options: &[&str]) -> String {
    if let Some(at) = options.iter().position(|option| *option == "--user") {
        let id = options.get(at + 1).copied().unwrap_or("null");
        if id.parse::<i32>().is_err() {
            return format!("Error: java.lang.NumberFormatException: Invalid int: \"{id}\"\n");
        }
    }
    listed(call, options).unwrap_or_else(unknown)
}

const UNGROUPED: &str = "ungrouped";

/// Each group and its permissions, with whether they are dangerous.
pub(in crate::programs) fn groups()
-> impl Iterator<Item = (&'static str, Vec<(&'static str, bool)>)> {
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

/// `pm list permissions [-g] [-f] [-s] [-d] [-u] [GROUP]`: without `-g` those without a group. The last part of a name,
/// in words, takes the place of a label.
fn permissions(options: &[&str]) -> String {
    let (mut grouped, mut full, mut summary, mut dangerous) = (false, false, false, false);
    for option in options {
        match *option {
            "-g" => grouped = true,
            "-f" => full = true,
            "-s" => (grouped, full, summary) = (true, true, true),
            "-d" => dangerous = true,
            // Those that a user sees.
            "-u" => {}
            option if option.starts_with('-') => return unknown(option),
            _ => {}
        }
    }
    let mut text = match dangerous {
        true => "Dangerous Permissions:\n\n".to_owned(),
        false => "All Permissions:\n\n".to_owned(),
    };
    let label = |name: &str| {
        name.rsplit('.').next().unwrap_or_default().replace('_', " ").to_ascii_lowercase()
    };
    let shown = groups().filter(|(group, _)| grouped || *group == UNGROUPED);
    for (nth, (group, below)) in shown.enumerate() {
        if grouped && nth > 0 {
            text.push('\n');
        }
        let below: Vec<(&str, bool)> =
            below.into_iter().filter(|(_, is_dangerous)| !dangerous || *is_dangerous).collect();
        if summary {
            let labels: Vec<String> = below.iter().map(|(name, _)| label(name)).collect();
            match group {
                UNGROUPED => text.push_str("ungrouped:\n"),
                group => text.push_str(&format!("{}: ", label(group))),
            }
            text.push_str(&format!("{}\n", labels.join(", ")));
            continue;
        }
        if grouped {
            text.push_str(&match group {
                UNGROUPED => "ungrouped:\n".to_owned(),
                group => format!("group:{group}\n"),
            });
        }
        let indent = if grouped { "  " } else { "" };
        for (name, is_dangerous) in below {
            if !full {
                text.push_str(&format!("{indent}permission:{name}\n"));
                continue;
            }
            let level = if is_dangerous { "dangerous" } else { "signature" };
            text.push_str(&format!(
                "{indent}+ permission:{name}\n{indent}  package:android\n{indent}  label:{}\n{indent}  description:null\n{indent}  protectionLevel:{level}\n",
                label(name)
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{groups, is_permission, permissions};

    #[test]
    fn permissions_are_listed_below_their_groups() {
        let text = permissions(&["-g", "-d"]);
        assert!(text.starts_with("Dangerous Permissions:\n\ngroup:android.permission-group."));
        assert!(text.contains(
            "\n\ngroup:android.permission-group.CAMERA\n  permission:android.permission.CAMERA\n\n"
        ));
        assert!(text.contains("\nungrouped:\n"));
        assert!(!permissions(&[]).contains("android.permission.CAMERA\n"));
        assert!(groups().count() > 20 && is_permission("android.permission.CAMERA"));
        assert!(!is_permission("nope.permission"));
    }
}

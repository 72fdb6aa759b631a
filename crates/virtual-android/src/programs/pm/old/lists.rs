//! `pm list` of Android 4.4: packages, permissions, features and the rest.

use super::super::list::listed;
use super::{Invocation, unknown};
use crate::programs::platform::{FEATURES, LIBRARIES, UNGROUPED, groups};

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

/// `pm list permissions [-g] [-f] [-s] [-d] [-u] [GROUP]`: without `-g` those without a group. The
/// last part of a name, in words, takes the place of a label.
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
    use super::permissions;

    #[test]
    fn permissions_are_listed_below_their_groups() {
        let text = permissions(&["-g", "-d"]);
        assert!(text.starts_with("Dangerous Permissions:\n\ngroup:android.permission-group."));
        assert!(text.contains(
            "\n\ngroup:android.permission-group.CAMERA\n  permission:android.permission.CAMERA\n\n"
        ));
        assert!(text.contains("\nungrouped:\n"));
        assert!(!permissions(&[]).contains("android.permission.CAMERA\n"));
    }
}

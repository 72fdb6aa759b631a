//! `pm list` of Android 4.4: packages, features and the rest.

use super::super::list::listed;
use super::{Invocation, unknown};
use crate::programs::platform::{FEATURES, LIBRARIES};

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

//! The tables of `dumpsys package`: which components handle which actions.

use crate::android::services::{component, dedup};
use crate::android::{CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::{Component, Error};

/// The tables of services and of activities in [`table_command`]'s output.
pub(super) const SERVICES: &str = "Service Resolver Table:";
pub(super) const ACTIVITIES: &str = "Activity Resolver Table:";

/// Dumps the package manager's whole state. `dumpsys package r` would print less, but not every
/// phone has it.
pub(super) fn table_command() -> ShellCommand {
    ShellCommand::new("dumpsys package")
}

/// Parses the action's lines in the section "Non-Data Actions" of a "Resolver Table": an address,
/// the name, and since Android 4 `filter` with an address. Source: `IntentResolver.dump` in AOSP,
/// and the capture `106-dumpsys-package`.
pub(super) fn read_table(
    output: &CommandOutput,
    table: &str,
    action: &str,
) -> Result<Vec<Component>, Error> {
    let mut lines = output.out.lines().map(|line| line.trim_end());
    if !lines.any(|line| line == table) {
        // A phone without any such filter prints no table, but always the list of packages.
        if output.out.contains("\nPackages:") {
            return Ok(Vec::new());
        }
        let text = excerpt(format!("{}{}", output.out, output.err));
        return Err(Error::Failed { what: "query the package manager", text });
    }
    // The next table starts without indentation, the next section is indented like this one.
    let table = lines.take_while(|line| line.is_empty() || depth(line) > 0);
    let mut parts = table.skip_while(|line| line.trim() != "Non-Data Actions:");
    let Some(heading) = parts.next() else { return Ok(Vec::new()) };
    let part = parts.take_while(|line| line.is_empty() || depth(line) > depth(heading));
    let mut part = part.skip_while(|line| line.trim().strip_suffix(':') != Some(action));
    let Some(head) = part.next() else { return Ok(Vec::new()) };
    let its = part.take_while(|line| depth(line) > depth(head));
    let named = its.filter_map(|line| {
        let mut text = line.split_whitespace();
        let address = text.next()?;
        address.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| text.next())?
    });
    Ok(dedup(named.filter_map(component).collect()))
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn output(out: &str, status: i32) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status: Some(status) }
    }

    fn shown(found: &[Component]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    /// In the format of the capture `106-dumpsys-package`; since Android 5 a filter may list its
    /// actions.
    const TABLE: &str = "Activity Resolver Table:\r\n  Non-Data Actions:\r\n      a.B:\r\n        a65dc4d0 com.act/.Not filter a65dc6e8\r\n\r\nService Resolver Table:\r\n  Schemes:\r\n      a.B:\r\n        a665f940 com.scheme/.Not filter a665fba8\r\n\r\n  Non-Data Actions:\r\n      a.Before:\r\n        a6678360 com.z/.Z filter a6678480\r\n      a.B:\r\n        a66528e0 com.x/.Tools filter a6652c20\r\n          Action: \"a.B\"\r\n          Action: \"odd/one\"\r\n        a66528e0 com.x/.Tools filter a6652c28\r\n        a6676f30 com.y/com.other.Tools filter a66770a0\r\n      a.After:\r\n        a6620008 com.z/.Z filter a6620128\r\n\r\n  MIME Typed Actions:\r\n      a.Typed:\r\n        a65dc4d0 com.c/.V filter a65dc6e8\r\n\r\nProvider Resolver Table:\r\n  Non-Data Actions:\r\n      a.Provided:\r\n        a65d0e58 com.p/.P filter a65d0360\r\n\r\nPackages:\r\n  Package [a] (1):\r\n";

    #[test]
    fn resolver_table_of_old_phones_is_parsed() {
        let found = |action: &str| shown(&read_table(&output(TABLE, 0), SERVICES, action).unwrap());
        assert_eq!(found("a.B"), ["com.x/com.x.Tools", "com.y/com.other.Tools"]);
        assert_eq!(found("a.After"), ["com.z/com.z.Z"]);
        for missing in ["a.Typed", "a.Provided", "a.None", "a", ""] {
            assert!(found(missing).is_empty(), "{missing:?}");
        }
    }

    #[test]
    fn missing_table_means_no_services_but_needs_packages() {
        assert_eq!(read_table(&output("Verifiers:\n\nPackages:\n", 0), SERVICES, "a").unwrap(), []);
        let error =
            read_table(&output("Can't find service: package\n", 0), SERVICES, "a").unwrap_err();
        assert!(error.to_string().contains("Can't find"), "{error}");
    }

    proptest! {
        #[test]
        fn no_input_panics(words in "(\\PC|[\r\n /:=])*", action in "\\PC{0,9}") {
            let _ = read_table(&output(&words, 0), SERVICES, &action);
            let table =
                format!("Service Resolver Table:\n  Non-Data Actions:\n   {action}:\n{words}");
            let _ = read_table(&output(&table, 0), SERVICES, &action);
        }
    }
}

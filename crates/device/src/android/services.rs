//! Lists the services that handle an action: with `cmd package query-services`, and on phones before Android 7 from the
//! tables of `dumpsys package`.
//!
//! Start with [`AppServices::find_services`]. Starting a service is in `intents.rs`, calling one in `helper`; reading what
//! its package declares is done elsewhere.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;

use super::{Android, CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::{AppId, AppServices, Component, Error, ServiceReply, ServiceRequest};

/// Maximum number of services; a phone has about a thousand in all.
const MOST: usize = 4096;

#[async_trait]
impl AppServices for Android {
    /// The two sources differ: `query-services` omits disabled services and lists higher priorities first; the table of
    /// older phones is in the order in which apps were scanned.
    async fn find_services(&self, action: &str) -> Result<Vec<Component>, Error> {
        if !self.is_old().await?
            && let Some(found) = read_query(&self.ask(query_command(action)?).await?, "services")?
        {
            return Ok(found);
        }
        read_table(&self.ask(table_command()).await?, SERVICES, action)
    }

    async fn start_service(&self, request: &ServiceRequest) -> Result<(), Error> {
        self.send_intent(request).await
    }

    async fn call_service(
        &self,
        request: &ServiceRequest,
        limit: Duration,
    ) -> Result<ServiceReply, Error> {
        self.call_by_helper(request, limit).await
    }
}

/// Queries the package manager. `--brief` is as old as the command itself.
fn query_command(action: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("cmd package query-services --brief -a").arg(action)
}

/// The tables of services and of activities in [`table_command`]'s output.
const SERVICES: &str = "Service Resolver Table:";
pub(super) const ACTIVITIES: &str = "Activity Resolver Table:";

/// Dumps the package manager's whole state. `dumpsys package r` would print less, but not every phone has it.
pub(super) fn table_command() -> ShellCommand {
    ShellCommand::new("dumpsys package")
}

/// Parses `query-services --brief`, or `query-activities`, where `what` is "activities": `No services found`, or `N services found:` and for each a line `Service #0:`, its
/// priority, and its name in short form. Source: `runQueryIntentServices` and `printResolveInfo` in AOSP's
/// `PackageManagerShellCommand.java`, unchanged from 7 to 16. `None` if the phone does not have the command.
pub(super) fn read_query(
    output: &CommandOutput,
    what: &'static str,
) -> Result<Option<Vec<Component>>, Error> {
    let lines = || output.out.lines().map(str::trim);
    let (none, some) = (format!("No {what} found"), format!(" {what} found:"));
    if lines().any(|line| line == none) {
        return Ok(Some(Vec::new()));
    }
    let named: Vec<Component> = lines().filter_map(component).collect();
    let announced = lines()
        .find_map(|line| line.strip_suffix(&*some).and_then(|number| number.parse::<usize>().ok()));
    let text = format!("{}{}", output.out, output.err);
    match announced {
        Some(number) if number == named.len() => return Ok(Some(dedup(named))),
        Some(_) => {}
        None if ["Unknown option", "Unknown command", "not found", "Can't find service"]
            .iter()
            .any(|mark| text.contains(mark)) =>
        {
            return Ok(None);
        }
        None => {}
    }
    Err(match output.error_text() {
        Some(said) => Error::Failed { what: "query the package manager", text: said },
        None => Error::Unreadable { command: "cmd package query".into(), text: excerpt(text) },
    })
}

/// Parses the action's lines in the section "Non-Data Actions" of a "Resolver Table": an address, the name,
/// and since Android 4 `filter` with an address. Source: `IntentResolver.dump` in AOSP, and the capture
/// `106-dumpsys-package`.
pub(super) fn read_table(
    output: &CommandOutput,
    table: &str,
    action: &str,
) -> Result<Vec<Component>, Error> {
    let mut lines = output.out.lines().map(|line| line.trim_end());
    if !lines.any(|line| line == table) {
        // A phone without any such filter prints no table, but always the list of packages.
        return match output.out.contains("\nPackages:") {
            true => Ok(Vec::new()),
            false => Err(Error::Failed {
                what: "query the package manager",
                text: excerpt(format!("{}{}", output.out, output.err)),
            }),
        };
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

/// Parses `package/full.Class`, or `package/.Class` if the class is in the package's own namespace.
fn component(word: &str) -> Option<Component> {
    let (package, class) = word.split_once('/')?;
    let plain = |name: &str| {
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '='))
    };
    if !plain(package) || !plain(class) {
        return None;
    }
    let class = match class.starts_with('.') {
        true => format!("{package}{class}"),
        false => class.to_owned(),
    };
    Some(Component { app: AppId(package.to_owned()), class })
}

fn dedup(found: Vec<Component>) -> Vec<Component> {
    let mut seen = HashSet::new();
    found.into_iter().filter(|one| seen.insert(one.clone())).take(MOST).collect()
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

    #[test]
    fn query_services_output_is_parsed() {
        // In the format of `runQueryIntentServices`.
        let two = "2 services found:\n  Service #0:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n    com.x/.Tools\n  Service #1:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n    com.y/org.other.Service$Inner\n";
        let found = read_query(&output(two, 0), "services").unwrap().unwrap();
        assert_eq!(shown(&found), ["com.x/com.x.Tools", "com.y/org.other.Service$Inner"]);
        assert_eq!(
            read_query(&output("No services found\n", 0), "services").unwrap(),
            Some(vec![])
        );
        // A service may match with two filters.
        let twice = two.replace("com.y/org.other.Service$Inner", "com.x/.Tools");
        assert_eq!(
            shown(&read_query(&output(&twice, 0), "services").unwrap().unwrap()),
            ["com.x/com.x.Tools"]
        );
    }

    #[test]
    fn phone_without_query_services_is_recognized() {
        for words in [
            "/system/bin/sh: cmd: not found\n",
            "Unknown command: query-services\n",
            "Error: Unknown option: --brief\n",
            "cmd: Can't find service: package\n",
        ] {
            assert_eq!(read_query(&output(words, 255), "services").unwrap(), None, "{words}");
        }
    }

    #[test]
    fn truncated_list_or_exception_is_an_error() {
        let cut = "2 services found:\n  Service #0:\n    priority=0\n    com.x/.Tools\n";
        assert!(matches!(read_query(&output(cut, 0), "services"), Err(Error::Unreadable { .. })));
        let thrown = "java.lang.SecurityException: Permission Denial: user 150\n";
        let error = read_query(&output(thrown, 255), "services").unwrap_err();
        assert!(error.to_string().contains("user 150"), "{error}");
        assert!(read_query(&output("", 0), "services").is_err());
    }

    /// In the format of the capture `106-dumpsys-package`; since Android 5 a filter may list its actions.
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

    #[test]
    fn action_is_quoted_as_one_argument() {
        let line = query_command("a; reboot").unwrap();
        assert_eq!(line.as_str(), "cmd package query-services --brief -a 'a; reboot'");
    }

    proptest! {
        #[test]
        fn no_input_panics(words in "(\\PC|[\r\n /:=])*", action in "\\PC{0,9}") {
            let _ = read_query(&output(&words, 0), "services");
            let _ = read_table(&output(&words, 0), SERVICES, &action);
            let table = format!("Service Resolver Table:\n  Non-Data Actions:\n   {action}:\n{words}");
            let _ = read_table(&output(&table, 0), SERVICES, &action);
        }
    }
}

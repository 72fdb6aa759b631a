//! Which services answer an action: `cmd package query-services`, and on phones before Android 7 the tables of
//! `dumpsys package`.
//!
//! Begin with [`Android::find_services`]. Starting one is `intents.rs`; what its app declares of it is read out of the package by
//! others.

use std::collections::HashSet;

use super::{Android, Line, Said};
use crate::error::excerpt;
use crate::{AppId, Component, Error};

/// The most services that are taken; a phone has some thousand in all.
const MOST: usize = 4096;

impl Android {
    /// The services that answer an action, in the phone's order, each once.
    ///
    /// The two sources differ: `query-services` leaves out what is disabled and puts higher priorities first; the table of older
    /// phones is in the order in which apps were read.
    pub(super) async fn find_services(&self, action: &str) -> Result<Vec<Component>, Error> {
        if !self.is_old().await?
            && let Some(found) = read_query(&self.ask(query_command(action)?).await?)?
        {
            return Ok(found);
        }
        read_table(&self.ask(table_command()).await?, action)
    }
}

/// Asks the package manager. Of the two short forms `--brief` is as old as the question.
fn query_command(action: &str) -> Result<Line, Error> {
    Line::new("cmd package query-services --brief -a").word(action)
}

/// Everything that the package manager knows. A part of it would be `dumpsys package r`, which is not on every phone.
fn table_command() -> Line {
    Line::new("dumpsys package")
}

/// Reads what `query-services --brief` printed: `No services found`, or `N services found:` and for each a line `Service #0:`, one of
/// its priority, and one of its name, shortened. Source: `runQueryIntentServices` and `printResolveInfo` in AOSP's
/// `PackageManagerShellCommand.java`, the same from 7 to 16. `None` from a phone that does not know the question.
fn read_query(said: &Said) -> Result<Option<Vec<Component>>, Error> {
    let lines = || said.out.lines().map(str::trim);
    if lines().any(|line| line == "No services found") {
        return Ok(Some(Vec::new()));
    }
    let named: Vec<Component> = lines().filter_map(component).collect();
    let announced = lines().find_map(|line| {
        line.strip_suffix(" services found:").and_then(|number| number.parse::<usize>().ok())
    });
    let words = format!("{}{}", said.out, said.err);
    match announced {
        Some(number) if number == named.len() => return Ok(Some(each_once(named))),
        Some(_) => {}
        None if ["Unknown option", "Unknown command", "not found", "Can't find service"]
            .iter()
            .any(|mark| words.contains(mark)) =>
        {
            return Ok(None);
        }
        None => {}
    }
    Err(match said.complaint() {
        Some(said) => Error::Failed { what: "list services", said },
        None => {
            Error::Unreadable { command: "cmd package query-services".into(), said: excerpt(words) }
        }
    })
}

/// Reads the action's lines of the "Service Resolver Table", from its part "Non-Data Actions": an address, the name, and since
/// Android 4 `filter` with an address. Source: `IntentResolver.dump` in AOSP, and the capture `106-dumpsys-package`.
fn read_table(said: &Said, action: &str) -> Result<Vec<Component>, Error> {
    let mut lines = said.out.lines().map(|line| line.trim_end());
    if !lines.any(|line| line == "Service Resolver Table:") {
        // Without any filter of a service there is no table. The list of packages is always there.
        return match said.out.contains("\nPackages:") {
            true => Ok(Vec::new()),
            false => Err(Error::Failed {
                what: "list services",
                said: excerpt(format!("{}{}", said.out, said.err)),
            }),
        };
    }
    // The next table stands at the margin, the next part behind as much as this one.
    let table = lines.take_while(|line| line.is_empty() || depth(line) > 0);
    let mut parts = table.skip_while(|line| line.trim() != "Non-Data Actions:");
    let Some(heading) = parts.next() else { return Ok(Vec::new()) };
    let part = parts.take_while(|line| line.is_empty() || depth(line) > depth(heading));
    let mut part = part.skip_while(|line| line.trim().strip_suffix(':') != Some(action));
    let Some(head) = part.next() else { return Ok(Vec::new()) };
    let its = part.take_while(|line| depth(line) > depth(head));
    let named = its.filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = words.next()?;
        address.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| words.next())?
    });
    Ok(each_once(named.filter_map(component).collect()))
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Reads `package/full.Class`, or `package/.Class` where the class stands in the package's own name space.
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

fn each_once(found: Vec<Component>) -> Vec<Component> {
    let mut seen = HashSet::new();
    found.into_iter().filter(|one| seen.insert(one.clone())).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(out: &str, status: i32) -> Said {
        Said { out: out.into(), err: String::new(), status: Some(status) }
    }

    fn shown(found: &[Component]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn services_are_read_as_the_package_manager_prints_them() {
        // As `runQueryIntentServices` composes it.
        let two = "2 services found:\n  Service #0:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n    com.x/.Tools\n  Service #1:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n    com.y/org.other.Service$Inner\n";
        let found = read_query(&said(two, 0)).unwrap().unwrap();
        assert_eq!(shown(&found), ["com.x/com.x.Tools", "com.y/org.other.Service$Inner"]);
        assert_eq!(read_query(&said("No services found\n", 0)).unwrap(), Some(vec![]));
        // One service may answer by two filters.
        let twice = two.replace("com.y/org.other.Service$Inner", "com.x/.Tools");
        assert_eq!(shown(&read_query(&said(&twice, 0)).unwrap().unwrap()), ["com.x/com.x.Tools"]);
    }

    #[test]
    fn a_phone_that_does_not_know_the_question_is_asked_otherwise() {
        for words in [
            "/system/bin/sh: cmd: not found\n",
            "Unknown command: query-services\n",
            "Error: Unknown option: --brief\n",
            "cmd: Can't find service: package\n",
        ] {
            assert_eq!(read_query(&said(words, 255)).unwrap(), None, "{words}");
        }
    }

    #[test]
    fn a_list_that_is_cut_or_an_exception_is_no_list() {
        let cut = "2 services found:\n  Service #0:\n    priority=0\n    com.x/.Tools\n";
        assert!(matches!(read_query(&said(cut, 0)), Err(Error::Unreadable { .. })));
        let thrown = "java.lang.SecurityException: Permission Denial: user 150\n";
        let error = read_query(&said(thrown, 255)).unwrap_err();
        assert!(error.to_string().contains("user 150"), "{error}");
        assert!(read_query(&said("", 0)).is_err());
    }

    /// In the form of the capture `106-dumpsys-package`; since Android 5 a filter may tell its actions.
    const TABLE: &str = "Activity Resolver Table:\r\n  Non-Data Actions:\r\n      a.B:\r\n        a65dc4d0 com.act/.Not filter a65dc6e8\r\n\r\nService Resolver Table:\r\n  Schemes:\r\n      a.B:\r\n        a665f940 com.scheme/.Not filter a665fba8\r\n\r\n  Non-Data Actions:\r\n      a.Before:\r\n        a6678360 com.z/.Z filter a6678480\r\n      a.B:\r\n        a66528e0 com.x/.Tools filter a6652c20\r\n          Action: \"a.B\"\r\n          Action: \"odd/one\"\r\n        a66528e0 com.x/.Tools filter a6652c28\r\n        a6676f30 com.y/com.other.Tools filter a66770a0\r\n      a.After:\r\n        a6620008 com.z/.Z filter a6620128\r\n\r\n  MIME Typed Actions:\r\n      a.Typed:\r\n        a65dc4d0 com.c/.V filter a65dc6e8\r\n\r\nProvider Resolver Table:\r\n  Non-Data Actions:\r\n      a.Provided:\r\n        a65d0e58 com.p/.P filter a65d0360\r\n\r\nPackages:\r\n  Package [a] (1):\r\n";

    #[test]
    fn the_table_of_old_phones_is_read_for_one_action() {
        let found = |action: &str| shown(&read_table(&said(TABLE, 0), action).unwrap());
        assert_eq!(found("a.B"), ["com.x/com.x.Tools", "com.y/com.other.Tools"]);
        assert_eq!(found("a.After"), ["com.z/com.z.Z"]);
        for missing in ["a.Typed", "a.Provided", "a.None", "a", ""] {
            assert!(found(missing).is_empty(), "{missing:?}");
        }
    }

    #[test]
    fn a_phone_without_the_table_has_no_services_and_one_without_packages_was_not_heard() {
        assert_eq!(read_table(&said("Verifiers:\n\nPackages:\n", 0), "a").unwrap(), []);
        let error = read_table(&said("Can't find service: package\n", 0), "a").unwrap_err();
        assert!(error.to_string().contains("Can't find"), "{error}");
    }

    #[test]
    fn an_action_is_one_word() {
        let line = query_command("a; reboot").unwrap();
        assert_eq!(line.as_str(), "cmd package query-services --brief -a 'a; reboot'");
    }

    proptest! {
        #[test]
        fn no_words_panic(words in "(\\PC|[\r\n /:=])*", action in "\\PC{0,9}") {
            let _ = read_query(&said(&words, 0));
            let _ = read_table(&said(&words, 0), &action);
            let table = format!("Service Resolver Table:\n  Non-Data Actions:\n   {action}:\n{words}");
            let _ = read_table(&said(&table, 0), &action);
        }
    }
}

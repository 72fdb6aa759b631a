//! [`AppIntegration`] on Android: the services of apps and Android 16's AppFunctions.
//!
//! [`AppIntegration::find_services`] lists the services that handle an action, with `cmd package
//! query-services`. Starting a service is in `intents.rs`, calling one in `helper`; reading what
//! its package declares is done elsewhere.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;

use super::{Android, CommandOutput, ShellCommand};
use crate::error::excerpt;
use crate::{AppId, AppIntegration, Component, Error, ServiceReply, ServiceRequest};

/// Maximum number of services; a phone has about a thousand in all.
const MAX_COMPONENTS: usize = 4096;

#[async_trait]
impl AppIntegration for Android {
    /// Without disabled services, higher priorities first.
    async fn find_services(&self, action: &str) -> Result<Vec<Component>, Error> {
        if let Some(legacy) = &self.legacy {
            return legacy.find_services(self, action).await;
        }
        let output = self.ask(query_command(action, self.user().await?)?).await?;
        self.explained(&output, read_query(&output, "services")).await
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

    async fn list_functions(&self, app: Option<&AppId>) -> Result<String, Error> {
        self.list_app_functions(app).await
    }

    async fn call_function(
        &self,
        app: &AppId,
        function: &str,
        parameters: &str,
    ) -> Result<String, Error> {
        self.call_app_function(app, function, parameters).await
    }
}

/// Queries the package manager. `--brief` is as old as the command itself.
fn query_command(action: &str, user: Option<u32>) -> Result<ShellCommand, Error> {
    ShellCommand::new("cmd package query-services --brief").for_user(user).then("-a").arg(action)
}

/// Parses `query-services --brief`, or `query-activities`, where `what` is "activities": `No
/// services found`, or `N services found:` and for each a line `Service #0:`, its priority, and its
/// name in short form. Source: `runQueryIntentServices` and `printResolveInfo` in AOSP's
/// `PackageManagerShellCommand.java`, unchanged from 7 to 16.
pub(super) fn read_query(
    output: &CommandOutput,
    what: &'static str,
) -> Result<Vec<Component>, Error> {
    let lines = || output.out.lines().map(str::trim);
    let (none, some) = (format!("No {what} found"), format!(" {what} found:"));
    if lines().any(|line| line == none) {
        return Ok(Vec::new());
    }
    let named: Vec<Component> = lines().filter_map(component).collect();
    let announced = lines()
        .find_map(|line| line.strip_suffix(&*some).and_then(|number| number.parse::<usize>().ok()));
    if announced == Some(named.len()) {
        return Ok(dedup(named));
    }
    Err(match output.error_text() {
        Some(text) => Error::Failed { what: "query the package manager", text },
        None => Error::Unreadable {
            command: "cmd package query".into(),
            text: excerpt(format!("{}{}", output.out, output.err)),
        },
    })
}

/// Parses `package/full.Class`, or `package/.Class` if the class is in the package's own namespace.
/// Some phones print more words behind it.
pub(super) fn component(line: &str) -> Option<Component> {
    let name = line.split_whitespace().next()?.trim_end_matches([',', ';']);
    let (package, class) = name.split_once('/')?;
    let plain = |name: &str| {
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '='))
    };
    if !plain(package) || !plain(class) {
        return None;
    }
    let class = if class.starts_with('.') { format!("{package}{class}") } else { class.to_owned() };
    Some(Component { app: AppId(package.to_owned()), class })
}

pub(super) fn dedup(found: Vec<Component>) -> Vec<Component> {
    let mut seen = HashSet::new();
    found.into_iter().filter(|one| seen.insert(one.clone())).take(MAX_COMPONENTS).collect()
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
        let found = read_query(&output(two, 0), "services").unwrap();
        assert_eq!(shown(&found), ["com.x/com.x.Tools", "com.y/org.other.Service$Inner"]);
        assert_eq!(read_query(&output("No services found\n", 0), "services").unwrap(), []);
        // A service may match with two filters.
        let twice = two.replace("com.y/org.other.Service$Inner", "com.x/.Tools");
        assert_eq!(
            shown(&read_query(&output(&twice, 0), "services").unwrap()),
            ["com.x/com.x.Tools"]
        );
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

    #[test]
    fn action_is_quoted_as_one_argument() {
        let line = query_command("a; reboot", None).unwrap();
        assert_eq!(line.as_str(), "cmd package query-services --brief -a 'a; reboot'");
    }

    proptest! {
        #[test]
        fn no_input_panics(words in "(\\PC|[\r\n /:=])*") {
            let _ = read_query(&output(&words, 0), "services");
        }
    }
}

//! Apps: listing, starting and stopping them.

use std::collections::HashSet;

use async_trait::async_trait;

use super::services::{component, read_query};
use super::{Android, CommandOutput, ShellCommand};
use crate::app_name::check_name;
use crate::error::excerpt;
use crate::{App, AppData, AppId, Component, Device as _, Error, LaunchArgument, LaunchValue};

impl Android {
    /// Starts an app at its launcher entry, as the launcher does. Its name was checked.
    pub(super) async fn start_app(
        &self,
        app: &AppId,
        arguments: &[LaunchArgument],
    ) -> Result<String, Error> {
        if self.legacy.is_none() {
            let user = self.user().await?;
            // The only entry; of several the platform's chooser.
            let resolved = self.ask(entry_command(app, user)?).await?;
            let mut entry = main_entry(app, &resolved);
            if entry.is_none() {
                let entries = self.ask(entries_command(app, user)?).await?;
                entry = main_entry(app, &entries);
                if entry.is_none() && read_query(&entries, "activities").is_ok() {
                    return Err(Error::NoSuchApp { app: app.0.clone() });
                }
            }
            if let Some(entry) = entry {
                let output = self.ask(start_command(&entry, user, arguments)?).await?;
                return self.explained(&output, read_launch(app, &output)).await;
            }
        }
        if !arguments.is_empty() {
            return Err(self.unsupported("starting an app with arguments"));
        }
        let output = self.ask(monkey_command(app)?).await?;
        self.explained(&output, read_launch(app, &output)).await
    }
}

/// Prints the app's entry in the launcher, after a line with its priorities.
fn entry_command(app: &AppId, user: Option<u32>) -> Result<ShellCommand, Error> {
    ShellCommand::new("cmd package resolve-activity --brief").for_user(user).arg(&app.0)
}

/// Prints the app's entries in the launcher, as [`entry_command`] does.
fn entries_command(app: &AppId, user: Option<u32>) -> Result<ShellCommand, Error> {
    ShellCommand::new("cmd package query-activities --brief").for_user(user).arg(&app.0)
}

/// The entry that opens the app. An app may have several, such as a tool for its developers: the
/// main one is a default, as `isDefault=true` says, or its class is in the app's own package; of
/// several the first, which is the one of `PackageManager.getLaunchIntentForPackage`.
fn main_entry(app: &AppId, output: &CommandOutput) -> Option<Component> {
    let mut is_default = false;
    let mut entries: Vec<(bool, bool, Component)> = Vec::new();
    for line in output.out.lines().map(str::trim) {
        if line.starts_with("priority=") {
            is_default = line.contains("isDefault=true");
        } else if let Some(entry) = component(line).filter(|entry| entry.app == *app) {
            let is_own = entry.class.starts_with(&format!("{}.", app.0));
            entries.push((is_default, is_own, entry));
        }
    }
    // Of equals `max_by_key` has the last.
    let rated = entries.into_iter().rev();
    rated.max_by_key(|&(is_default, is_own, _)| (is_default, is_own)).map(|(.., entry)| entry)
}

fn start_command(
    entry: &Component,
    user: Option<u32>,
    arguments: &[LaunchArgument],
) -> Result<ShellCommand, Error> {
    // The launcher's flags: FLAG_ACTIVITY_NEW_TASK, FLAG_ACTIVITY_RESET_TASK_IF_NEEDED.
    let start = ShellCommand::new("am start")
        .for_user(user)
        .then("-a android.intent.action.MAIN -c android.intent.category.LAUNCHER -f 0x10200000 -n");
    let mut start = start.arg(&entry.to_string())?;
    for LaunchArgument { name, value } in arguments {
        // Types as Maestro gives them to an Intent.
        let option = match value {
            LaunchValue::Flag(_) => "--ez",
            LaunchValue::Whole(_) => "--ei",
            LaunchValue::Text(_) => "--es",
        };
        start = start.then(option).arg(name)?.arg(&value.to_string())?;
    }
    Ok(start)
}

/// For phones whose package manager cannot be asked: a Java program that takes a second to start,
/// and of several entries takes any. Without `--pct-syskeys 0`, Android 4.4's gives up on a phone
/// without hardware keys.
fn monkey_command(app: &AppId) -> Result<ShellCommand, Error> {
    let monkey = ShellCommand::new("monkey --pct-syskeys 0 -p").arg(&app.0)?;
    Ok(monkey.then("-c android.intent.category.LAUNCHER 1"))
}

/// Parses the output of `am start` or `monkey`. `am start` prints what it starts, then an error if
/// there was one. `monkey` prints "Events injected: 1" on success; on old phones it always exits
/// with status 0. Its message about no activities comes for an app that is missing, disabled, or
/// has no launcher entry.
fn read_launch(app: &AppId, output: &CommandOutput) -> Result<String, Error> {
    let all = format!("{}\n{}", output.out, output.err);
    if all.contains("No activities found to run") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    let failed = |line: &str| {
        line.starts_with("Error") || line.contains("Exception") || is_not_started(line)
    };
    let started = |line: &str| line == "Events injected: 1" || line.starts_with("Starting: Intent");
    let mut lines = all.lines().map(str::trim);
    if lines.clone().any(started) && !lines.any(failed) {
        Ok(output.out.clone())
    } else {
        Err(Error::Failed { what: "start the app", text: excerpt(all) })
    }
}

/// Whether `am start` says that it started nothing, or only will when the phone allows it. An
/// activity that was there already is no failure (AOSP, `ActivityManagerShellCommand`:
/// START_TASK_TO_FRONT, START_DELIVERED_TO_TOP).
pub(super) fn is_not_started(line: &str) -> bool {
    let is_there = ["brought to the front", "delivered to currently running"];
    line.contains("Activity not started") && !is_there.iter().any(|words| line.contains(words))
}

/// Printed between the two parts of [`stop_command`].
const STOPPING: &str = "-- stopping --";

/// Stops an app. Android prints nothing, whether the app was running or not installed at all, so
/// the command also asks for its path.
pub(super) fn stop_command(app: &AppId, user: Option<u32>) -> Result<ShellCommand, Error> {
    let path = ShellCommand::new("pm path").for_user(user).arg(&app.0)?.then("2>&1; echo");
    let stop = path.arg(STOPPING)?.then("; am force-stop").for_user(user);
    Ok(stop.arg(&app.0)?.then("2>&1"))
}

/// Parses the output of both: an app without a path is not installed. Why the path could not be
/// read does not matter, as long as the app was stopped.
pub(super) fn read_stop(app: &AppId, output: &CommandOutput) -> Result<(), Error> {
    let (path, stopping) = output.out.split_once(STOPPING).unwrap_or(("", &output.out));
    let part = |text: &str| CommandOutput { out: text.into(), err: String::new(), ..*output };
    if let Some(message) = part(stopping).error_text() {
        return Err(Error::Failed { what: "stop the app", text: message });
    }
    let is_known = path.lines().any(|line| line.trim().starts_with("package:"));
    let path = CommandOutput { status: None, ..part(path) };
    if is_known || path.error_text().is_some() {
        return Ok(());
    }
    Err(Error::NoSuchApp { app: app.0.clone() })
}

#[async_trait]
impl AppData for Android {
    async fn clear_data(&self, app: &AppId) -> Result<(), Error> {
        check_name(app)?;
        let output = self.ask(clear_command(app, self.user().await?)?).await?;
        self.explained(&output, read_clear(app, &output)).await
    }
}

/// Deletes all data of an app.
fn clear_command(app: &AppId, user: Option<u32>) -> Result<ShellCommand, Error> {
    ShellCommand::new("pm clear").for_user(user).arg(&app.0)
}

/// Parses `pm clear`: "Success", or "Failed", with status 0 on old phones (`Pm.java`, `runClear`).
/// It fails if the app is not installed or must not be cleared.
fn read_clear(app: &AppId, output: &CommandOutput) -> Result<(), Error> {
    if output.out.lines().any(|line| line.trim() == "Success") {
        return Ok(());
    }
    let text = format!("{}{}", output.out, output.err);
    if matches!(text.trim(), "Failed" | "Error: unknown package") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    Err(Error::Failed { what: "clear the app's data", text: excerpt(text) })
}

impl Android {
    pub(super) async fn change_permission(
        &self,
        app: &AppId,
        permission: &str,
        granted: bool,
    ) -> Result<(), Error> {
        check_name(app)?;
        let command = permit_command(app, permission, granted, self.user().await?)?;
        let output = self.ask(command).await?;
        self.explained(&output, read_permit(app, permission, &output)).await
    }
}

/// Grants or revokes a permission of an app.
fn permit_command(
    app: &AppId,
    permission: &str,
    granted: bool,
    user: Option<u32>,
) -> Result<ShellCommand, Error> {
    let command = ShellCommand::new(if granted { "pm grant" } else { "pm revoke" });
    command.for_user(user).arg(&app.0)?.arg(permission)
}

/// Parses `pm grant` or `pm revoke`: no output on success, otherwise an exception's stack trace.
fn read_permit(app: &AppId, permission: &str, output: &CommandOutput) -> Result<(), Error> {
    let Some(complaint) = output.error_text().or_else(|| output.unexpected()) else {
        return Ok(());
    };
    let text = format!("{}{}", output.out, output.err);
    if text.contains("Unknown package") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    let reasons = [
        ("Unknown permission", "unknown permission"),
        ("has not requested permission", "the app does not request it"),
        ("not a changeable permission type", "it is granted at installation and cannot be changed"),
    ];
    match reasons.iter().find(|(mark, _)| text.contains(mark)) {
        Some((_, reason)) => {
            let reason = format!("{permission}: {reason}");
            Err(Error::Refused { what: "changing the permission", reason })
        }
        None => Err(Error::Failed { what: "change the permission", text: complaint }),
    }
}

impl Android {
    pub(super) async fn read_apps(&self) -> Result<Vec<App>, Error> {
        let of = self.user().await?;
        let (all, user) =
            tokio::try_join!(self.ask(list_command(false, of)), self.ask(list_command(true, of)))?;
        self.explained(&all, read_lists(&all, &user)).await
    }
}

fn list_command(only_users: bool, user: Option<u32>) -> ShellCommand {
    let command = if only_users { "pm list packages -3" } else { "pm list packages" };
    ShellCommand::new(command).for_user(user)
}

/// All apps in the phone's order, from the lists of all and of those that the user installed.
fn read_lists(all: &CommandOutput, user: &CommandOutput) -> Result<Vec<App>, Error> {
    let user: HashSet<&str> = read_list(user)?.into_iter().collect();
    let app = |name: &str| App { id: AppId(name.into()), system: !user.contains(name) };
    let mut seen = HashSet::new();
    let all = read_list(all)?;
    if all.is_empty() {
        // Android itself is an app.
        return Err(Error::Failed { what: "list its apps", text: "it lists none".into() });
    }
    Ok(all.into_iter().filter(|name| seen.insert(*name)).map(app).collect())
}

/// Parses `pm list packages`: one line `package:NAME` each.
fn read_list(output: &CommandOutput) -> Result<Vec<&str>, Error> {
    let names: Vec<&str> =
        output.out.lines().filter_map(|line| line.trim().strip_prefix("package:")).collect();
    // A phone without any such apps prints nothing.
    match output.error_text().or_else(|| output.unexpected()) {
        Some(message) if names.is_empty() => {
            Err(Error::Failed { what: "list its apps", text: message })
        }
        _ => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(out: &str, status: i32) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status: Some(status) }
    }

    #[test]
    fn apps_keep_the_order_of_pm() {
        let all = output("package:com.b\r\npackage:android\r\npackage:com.a\r\n", 0);
        let apps = read_lists(&all, &output("package:com.a\npackage:com.b\n", 0)).unwrap();
        let apps: Vec<_> = apps.iter().map(|app| (&*app.id.0, app.system)).collect();
        assert_eq!(apps, [("com.b", false), ("android", true), ("com.a", false)]);
        let none = read_lists(&all, &output("", 0)).unwrap();
        assert!(none.iter().all(|app| app.system), "a phone without apps of its user");
        assert!(read_lists(&output("", 0), &output("", 0)).is_err());
    }

    #[test]
    fn app_name_is_quoted_as_one_argument() {
        // Such a name gets no further than `check_name`.
        let app = AppId("com.x; reboot".into());
        assert_eq!(
            monkey_command(&app).unwrap().as_str(),
            "monkey --pct-syskeys 0 -p 'com.x; reboot' -c android.intent.category.LAUNCHER 1"
        );
        assert_eq!(
            entries_command(&app, Some(10)).unwrap().as_str(),
            "cmd package query-activities --brief --user 10 'com.x; reboot'"
        );
        let entry = Component { app, class: "com.x.Main".into() };
        assert_eq!(
            start_command(&entry, Some(0), &[]).unwrap().as_str(),
            "am start --user 0 -a android.intent.action.MAIN -c android.intent.category.LAUNCHER \
             -f 0x10200000 -n 'com.x; reboot/com.x.Main'"
        );
        let arguments = [
            ("--es", LaunchValue::Text("a; reboot".into())),
            ("on", LaunchValue::Flag(true)),
            ("n", LaunchValue::Whole(-3)),
        ]
        .map(|(name, value)| LaunchArgument { name: name.into(), value });
        let line = start_command(&entry, None, &arguments).unwrap();
        assert!(
            line.as_str().ends_with("Main' --es '--es' 'a; reboot' --ez 'on' 'true' --ei 'n' '-3'"),
            "{}",
            line.as_str()
        );
    }

    #[test]
    fn main_entry_of_several_is_never_a_tools() {
        let check = |entries: &[(&str, bool)], expected: Option<&str>| {
            let mut text = format!("{} activities found:\n", entries.len());
            for (nth, (name, is_default)) in entries.iter().enumerate() {
                text += &format!(
                    "  Activity #{nth}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault={is_default}\n    {name}\n"
                );
            }
            let found = main_entry(&AppId("com.x".into()), &output(&text, 0));
            assert_eq!(found.map(|entry| entry.class).as_deref(), expected, "{entries:?}");
        };
        let (tool, main) = ("com.x/leaks.Launcher", "com.x/.Main");
        check(&[(main, true), (tool, false)], Some("com.x.Main"));
        check(&[(tool, false), (main, true)], Some("com.x.Main"));
        check(&[(tool, false), (main, false)], Some("com.x.Main"));
        check(&[(tool, true), ("com.x/other.Main", true)], Some("leaks.Launcher"));
        check(&[(main, false), ("com.x/.Second", false)], Some("com.x.Main"));
        check(&[("com.y/.Main", true)], None);
        check(&[], None);
    }

    #[test]
    fn monkey_output_is_parsed() {
        let app = AppId("com.x".into());
        let started = "  bash arg: -p\n  bash arg: com.x\nEvents injected: 1\n## Network stats: elapsed time=14ms\n";
        assert!(read_launch(&app, &output(started, 0)).is_ok());
        let missing = "** No activities found to run, monkey aborted.\n";
        let error = read_launch(&app, &output(missing, 252)).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
        let error = read_launch(&app, &output("** SYSTEM_SERVER has crashed.", 1)).unwrap_err();
        assert!(error.to_string().contains("SYSTEM_SERVER"), "{error}");
    }

    #[test]
    fn am_start_output_is_parsed() {
        let app = AppId("com.x".into());
        let starting = "Starting: Intent { act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] flg=0x10200000 cmp=com.x/.Main }\n";
        assert!(read_launch(&app, &output(starting, 0)).is_ok());
        let front =
            "Warning: Activity not started, its current task has been brought to the front\n";
        let brought = CommandOutput { err: front.into(), ..output(starting, 0) };
        assert!(read_launch(&app, &brought).is_ok());
        for kept in [
            "Warning: Activity not started because the  current activity is being kept for the user.\n",
            "Warning: Activity not started because intent should be handled by the caller\n",
        ] {
            let kept = CommandOutput { err: kept.into(), ..output(starting, 0) };
            assert!(read_launch(&app, &kept).is_err());
        }
        let error = "Error type 3\nError: Activity class {com.x/com.x.Main} does not exist.\n";
        let failed = CommandOutput { err: error.into(), ..output(starting, 1) };
        let error = read_launch(&app, &failed).unwrap_err();
        assert!(error.to_string().contains("does not exist"), "{error}");
    }

    #[test]
    fn stopped_app_is_not_told_as_missing() {
        let app = AppId("com.x".into());
        let read = |path: &str, stop: &str, status: i32| {
            read_stop(&app, &output(&format!("{path}{STOPPING}\n{stop}"), status))
        };
        assert!(read("package:/data/app/com.x/base.apk\r\n", "", 0).is_ok());
        let error = read("", "", 0).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
        // One profile refuses the path; the app is stopped.
        let kept = "Exception occurred while executing 'path':\njava.lang.SecurityException: Shell does not have permission to access user 150\n";
        assert!(read(kept, "", 0).is_ok());
        let refused = read("package:/a.apk\n", "java.lang.SecurityException: no\n", 255);
        assert!(matches!(refused, Err(Error::Failed { .. })));
    }

    #[test]
    fn failed_clear_is_reported() {
        let app = AppId("com.x".into());
        assert!(read_clear(&app, &output("Success\r\n", 0)).is_ok());
        // Android 4.4 exits with status 0 even so.
        let error = read_clear(&app, &output("Failed\n", 0)).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
        let error = read_clear(&app, &output("java.lang.SecurityException: no", 255)).unwrap_err();
        assert!(error.to_string().contains("SecurityException"), "{error}");
    }

    #[test]
    fn unchangeable_permission_reports_the_reason() {
        let app = AppId("com.x".into());
        let read = |text: &str| read_permit(&app, "android.permission.CAMERA", &output(text, 255));
        assert!(read_permit(&app, "p", &output("", 0)).is_ok());
        let unknown = read("java.lang.IllegalArgumentException: Unknown package: com.x");
        assert!(matches!(unknown, Err(Error::NoSuchApp { .. })));
        for (output, expected) in [
            ("java.lang.IllegalArgumentException: Unknown permission: p", "unknown permission"),
            (
                "java.lang.SecurityException: Package com.x has not requested permission p",
                "does not request",
            ),
            (
                "java.lang.SecurityException: Permission p requested by com.x is not a changeable permission type",
                "granted at installation",
            ),
        ] {
            let error = read(output).unwrap_err();
            assert!(
                matches!(&error, Error::Refused { reason, .. } if reason.contains(expected)),
                "{error}"
            );
        }
        assert!(matches!(read("java.lang.RuntimeException: x"), Err(Error::Failed { .. })));
    }
}

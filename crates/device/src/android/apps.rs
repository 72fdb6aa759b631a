//! Apps: listing, starting and stopping them.

use std::collections::HashSet;

use async_trait::async_trait;

use super::{Android, CommandOutput, ShellCommand};
use crate::app_name::check_name;
use crate::error::excerpt;
use crate::{App, AppData, AppId, Error};

/// Starts an app at its launcher entry, as the launcher does. `am start` needs the entry's name,
/// which `cmd package` knows since Android 7. Where it does not (an older phone; an app with
/// several entries, for which it names the platform's chooser), `monkey` finds one, but it is a
/// Java program that takes a second to start.
pub(super) fn launch_command(app: &AppId) -> Result<ShellCommand, Error> {
    let entry = ShellCommand::new("entry=$(cmd package resolve-activity --brief").arg(&app.0)?;
    let start = entry.then("2>/dev/null | tail -n 1 2>/dev/null); case $entry in").arg(&app.0)?;
    // The launcher's flags: FLAG_ACTIVITY_NEW_TASK, FLAG_ACTIVITY_RESET_TASK_IF_NEEDED.
    let start = start.join(
        "/*) am start -a android.intent.action.MAIN -c android.intent.category.LAUNCHER \
         -f 0x10200000 -n \"$entry\" ;;",
    );
    // Without `--pct-syskeys 0`, Android 4.4's monkey gives up on a phone without hardware keys.
    let monkey = start.then("*) monkey --pct-syskeys 0 -p").arg(&app.0)?;
    Ok(monkey.then("-c android.intent.category.LAUNCHER 1 ;; esac"))
}

/// Parses the output of [`launch_command`]. `am start` prints what it starts, then an error if
/// there was one. `monkey` prints "Events injected: 1" on success; on old phones it always exits
/// with status 0. Its message about no activities comes for an app that is missing, disabled, or
/// has no launcher entry.
pub(super) fn read_launch(app: &AppId, output: &CommandOutput) -> Result<String, Error> {
    let all = format!("{}\n{}", output.out, output.err);
    if all.contains("No activities found to run") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    let failed = |line: &str| line.starts_with("Error") || line.contains("Exception");
    let started = |line: &str| line == "Events injected: 1" || line.starts_with("Starting: Intent");
    let mut lines = all.lines().map(str::trim);
    if lines.clone().any(started) && !lines.any(failed) {
        Ok(output.out.clone())
    } else {
        Err(Error::Failed { what: "start the app", text: excerpt(all) })
    }
}

/// Stops an app. Android prints nothing, whether the app was running or not installed at all, so
/// the command also asks for its path.
pub(super) fn stop_command(app: &AppId) -> Result<ShellCommand, Error> {
    ShellCommand::new("pm path").arg(&app.0)?.then("; am force-stop").arg(&app.0)
}

/// Parses the output of both: an app without a path is not installed.
pub(super) fn read_stop(app: &AppId, output: &CommandOutput) -> Result<(), Error> {
    let packages = output.out.lines().filter(|line| line.trim().starts_with("package:"));
    match (packages.count(), output.error_text()) {
        (0, _) => Err(Error::NoSuchApp { app: app.0.clone() }),
        (_, Some(message)) => Err(Error::Failed { what: "stop the app", text: message }),
        _ => Ok(()),
    }
}

#[async_trait]
impl AppData for Android {
    async fn clear_data(&self, app: &AppId) -> Result<(), Error> {
        check_name(app)?;
        let output = self.ask(clear_command(app)?).await?;
        read_clear(app, &output)
    }
}

/// Deletes all data of an app.
fn clear_command(app: &AppId) -> Result<ShellCommand, Error> {
    ShellCommand::new("pm clear").arg(&app.0)
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
        let output = self.ask(permit_command(app, permission, granted)?).await?;
        read_permit(app, permission, &output)
    }
}

/// Grants or revokes a permission of an app.
fn permit_command(app: &AppId, permission: &str, granted: bool) -> Result<ShellCommand, Error> {
    ShellCommand::new(if granted { "pm grant" } else { "pm revoke" }).arg(&app.0)?.arg(permission)
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
        let (all, user) =
            tokio::try_join!(self.ask(list_command(false)), self.ask(list_command(true)))?;
        read_lists(&all, &user)
    }
}

fn list_command(only_users: bool) -> ShellCommand {
    ShellCommand::new(if only_users { "pm list packages -3" } else { "pm list packages" })
}

/// All apps in the phone's order, from the lists of all and of those that the user installed.
fn read_lists(all: &CommandOutput, user: &CommandOutput) -> Result<Vec<App>, Error> {
    let user: HashSet<&str> = read_list(user)?.into_iter().collect();
    let app = |name: &str| App { id: AppId(name.into()), system: !user.contains(name) };
    Ok(read_list(all)?.into_iter().map(app).collect())
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
    }

    #[test]
    fn app_name_is_quoted_as_one_argument() {
        // Such a name gets no further than `check_name`.
        let line = launch_command(&AppId("com.x; reboot".into())).unwrap();
        let expected = "entry=$(cmd package resolve-activity --brief 'com.x; reboot' 2>/dev/null | tail -n 1 2>/dev/null); \
                        case $entry in 'com.x; reboot'/*) am start -a android.intent.action.MAIN \
                        -c android.intent.category.LAUNCHER -f 0x10200000 -n \"$entry\" ;; \
                        *) monkey --pct-syskeys 0 -p 'com.x; reboot' -c android.intent.category.LAUNCHER 1 ;; esac";
        assert_eq!(line.as_str(), expected);
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
        let error = "Error type 3\nError: Activity class {com.x/com.x.Main} does not exist.\n";
        let failed = CommandOutput { err: error.into(), ..output(starting, 1) };
        let error = read_launch(&app, &failed).unwrap_err();
        assert!(error.to_string().contains("does not exist"), "{error}");
    }

    #[test]
    fn stopping_a_missing_app_is_an_error() {
        let app = AppId("com.x".into());
        assert!(read_stop(&app, &output("package:/data/app/com.x/base.apk\r\n", 0)).is_ok());
        let error = read_stop(&app, &output("", 0)).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
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

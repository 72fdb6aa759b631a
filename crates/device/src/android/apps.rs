//! Apps: listing, starting and stopping them.

use async_trait::async_trait;

use super::app_name::check_name;
use super::{Android, CommandOutput, ShellCommand, packages};
use crate::error::excerpt;
use crate::{App, AppData, AppId, AppPermissions, Error};

/// Starts an app at its launcher entry. `monkey` finds that entry on every Android; `am start` needs its name.
pub(super) fn launch_command(app: &AppId) -> Result<ShellCommand, Error> {
    // Without `--pct-syskeys 0`, Android 4.4's monkey gives up on a phone without hardware keys.
    Ok(ShellCommand::new("monkey --pct-syskeys 0 -p")
        .arg(&app.0)?
        .then("-c android.intent.category.LAUNCHER 1"))
}

/// Parses `monkey`'s output: "Events injected: 1" means success. On old phones it always exits with status 0. The message
/// about no activities comes for an app that is missing, disabled, or has no launcher entry.
pub(super) fn read_launch(app: &AppId, output: &CommandOutput) -> Result<String, Error> {
    let all = format!("{}\n{}", output.out, output.err);
    if all.contains("No activities found to run") {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    match all.lines().any(|line| line.trim() == "Events injected: 1") {
        true => Ok(output.out.clone()),
        false => Err(Error::Failed { what: "start the app", text: excerpt(all) }),
    }
}

/// Stops an app. Android prints nothing, whether the app was running or not installed at all, so the command also asks
/// for its path.
pub(super) fn stop_command(app: &AppId) -> Result<ShellCommand, Error> {
    ShellCommand::new("pm path").arg(&app.0)?.then("; am force-stop").arg(&app.0)
}

/// Parses the output of both: an app without a path is not installed.
pub(super) fn read_stop(app: &AppId, output: &CommandOutput) -> Result<(), Error> {
    let packages = output.out.lines().filter(|line| line.trim().starts_with("package:"));
    match (packages.count(), output.error_text()) {
        (0, _) => Err(Error::NoSuchApp { app: app.0.clone() }),
        (_, Some(said)) => Err(Error::Failed { what: "stop the app", text: said }),
        _ => Ok(()),
    }
}

/// Printed between the two parts of [`old_stop_command`].
const STOPPING: &str = "-- stopping --";

/// The same before Android 7, where `pm` and `am` are Java programs that take a second each to start: `dumpsys` is not one.
pub(super) fn old_stop_command(app: &AppId) -> Result<ShellCommand, Error> {
    let line = packages::report_command(app)?.then("; echo; echo").arg(STOPPING)?;
    line.then("; am force-stop").arg(&app.0)
}

/// Parses the output of both.
pub(super) fn read_old_stop(app: &AppId, output: CommandOutput) -> Result<(), Error> {
    let (report, stopping) = output.out.split_once(STOPPING).unwrap_or((&output.out, ""));
    if packages::read_code_path(app, report).is_none() {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    let stopping = CommandOutput { out: stopping.to_owned(), ..output };
    match stopping.error_text().or_else(|| stopping.unexpected()) {
        Some(said) => Err(Error::Failed { what: "stop the app", text: said }),
        None => Ok(()),
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

/// Parses `pm clear`: "Success", or "Failed", with status 0 on old phones (`Pm.java`, `runClear`). It fails if the app
/// is not installed or must not be cleared.
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

#[async_trait]
impl AppPermissions for Android {
    async fn set_permission(
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
        Some((_, why)) => {
            let reason = format!("{permission}: {why}");
            Err(Error::Refused { what: "changing the permission", reason })
        }
        None => Err(Error::Failed { what: "change the permission", text: complaint }),
    }
}

impl Android {
    pub(super) async fn read_apps(&self) -> Result<Vec<App>, Error> {
        let (user, system) =
            tokio::try_join!(self.ask(list_command(false)), self.ask(list_command(true)))?;
        let mut apps = read_list(&user, false)?;
        apps.extend(read_list(&system, true)?);
        Ok(apps)
    }
}

fn list_command(system: bool) -> ShellCommand {
    ShellCommand::new(if system { "pm list packages -s" } else { "pm list packages -3" })
}

/// Parses `pm list packages`: one line `package:NAME` each.
fn read_list(output: &CommandOutput, system: bool) -> Result<Vec<App>, Error> {
    let apps: Vec<App> = output
        .out
        .lines()
        .filter_map(|line| line.trim().strip_prefix("package:"))
        .map(|name| App { id: AppId(name.into()), system })
        .collect();
    // A phone without any such apps prints nothing.
    match output.error_text().or_else(|| output.unexpected()) {
        Some(said) if apps.is_empty() => Err(Error::Failed { what: "list its apps", text: said }),
        _ => Ok(apps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(out: &str, status: i32) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status: Some(status) }
    }

    #[test]
    fn app_name_is_quoted_as_one_argument() {
        // Such a name gets no further than `check_name`.
        let line = launch_command(&AppId("com.x; reboot".into())).unwrap();
        let expected =
            "monkey --pct-syskeys 0 -p 'com.x; reboot' -c android.intent.category.LAUNCHER 1";
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
    fn stopping_a_missing_app_is_an_error() {
        let app = AppId("com.x".into());
        assert!(read_stop(&app, &output("package:/data/app/com.x/base.apk\r\n", 0)).is_ok());
        let error = read_stop(&app, &output("", 0)).unwrap_err();
        assert!(matches!(error, Error::NoSuchApp { app } if app == "com.x"));
    }

    #[test]
    fn old_phone_is_stopped_with_one_java_program() {
        let app = AppId("com.x".into());
        let line = old_stop_command(&app).unwrap();
        let expected =
            "dumpsys package 'com.x' ; echo; echo '-- stopping --' ; am force-stop 'com.x'";
        assert_eq!(line.as_str(), expected);
        let read = |report: &str, stopping: &str| {
            let out = format!("{report}\n-- stopping --\n{stopping}");
            read_old_stop(&app, CommandOutput { out, err: String::new(), status: None })
        };
        // The report itself may contain what looks like an error.
        let report = "Packages:\n  Package [com.x] (a6602eb8):\n    codePath=/data/app/com.x-1.apk\n    Error: x\n";
        assert!(read(report, "").is_ok());
        let missing = read("Unable to find package: com.x\n", "").unwrap_err();
        assert!(matches!(missing, Error::NoSuchApp { app } if app == "com.x"));
        let failed = read(report, "Error: Could not access the Activity Manager\n").unwrap_err();
        assert!(failed.to_string().contains("Activity Manager"), "{failed}");
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
        for (words, why) in [
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
            let error = read(words).unwrap_err();
            assert!(
                matches!(&error, Error::Refused { reason: told, .. } if told.contains(why)),
                "{error}"
            );
        }
        assert!(matches!(read("java.lang.RuntimeException: x"), Err(Error::Failed { .. })));
    }
}

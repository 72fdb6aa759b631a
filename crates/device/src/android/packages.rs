//! What a phone knows about an installed app: its version, last update, and the paths of its
//! packages.
//!
//! Start with `read_package_info`. The packages themselves are not read here.

use super::{Android, CommandOutput, ShellCommand};
use crate::app_name::check_name;
use crate::error::excerpt;
use crate::{AppId, Error, Package};

/// Maximum number of files per app; a large app has about fifty splits.
const MAX_FILES: usize = 512;

impl Android {
    /// Takes one round trip.
    pub(super) async fn read_package_info(&self, app: &AppId) -> Result<Package, Error> {
        check_name(app)?;
        if let Some(legacy) = &self.legacy {
            return legacy.package_info(self, app).await;
        }
        let output = self.ask(both_command(app, self.user().await?)?).await?;
        match self.explained(&output, read_package(app, &output, read_paths(&output.out))).await {
            Err(Error::NoSuchApp { .. }) => Err(self.no_such_app(app).await),
            read => read,
        }
    }

    /// Whether the current user has this app. Its name must have been checked.
    pub(super) async fn is_installed(&self, app: &AppId) -> Result<bool, Error> {
        if let Some(legacy) = &self.legacy {
            return legacy.is_installed(self, app).await;
        }
        let output = self.ask(path_command(app, self.user().await?)?).await?;
        Ok(!read_paths(&output.out).is_empty())
    }
}

/// Prints the paths of an app's packages.
pub(super) fn path_command(app: &AppId, user: Option<u32>) -> Result<ShellCommand, Error> {
    ShellCommand::new("pm path").for_user(user).arg(&app.0)
}

fn both_command(app: &AppId, user: Option<u32>) -> Result<ShellCommand, Error> {
    path_command(app, user)?.then("; dumpsys package").arg(&app.0)
}

/// Parses `pm path`: one line `package:FILE` each, the base first.
pub(super) fn read_paths(text: &str) -> Vec<String> {
    // The report follows; its lines are indented.
    let lines = text.lines().take_while(|line| line.trim_end() != "Packages:");
    let files = lines.filter_map(|line| line.trim_start().strip_prefix("package:"));
    files
        .map(|file| file.trim_end().to_owned())
        .filter(|file| file.starts_with('/'))
        .take(MAX_FILES)
        .collect()
}

/// The app's entry in the report: the lines under the first `Package [NAME] (…):`. A second one,
/// under "Hidden system packages", is what an update replaced (capture
/// `google-play-services_android7`).
pub(super) fn entry<'a>(
    app: &AppId,
    text: &'a str,
) -> Option<impl Iterator<Item = &'a str> + use<'a>> {
    let head = format!("Package [{}]", app.0);
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.strip_prefix(&*head).is_some_and(|rest| rest.starts_with(" (")))?;
    Some(
        lines.take_while(|line| {
            !line.starts_with("Package [") && *line != "Hidden system packages:"
        }),
    )
}

/// The value after `NAME=` in the entry.
pub(super) fn value<'a>(app: &AppId, text: &'a str, name: &str) -> Option<&'a str> {
    entry(app, text)?.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// Parses the entry. Source: `dumpPackageLPr` in AOSP's `Settings.java`, and the captures in
/// `shell/package`; the same lines from Android 4.4 to 16.
pub(super) fn read_package(
    app: &AppId,
    output: &CommandOutput,
    files: Vec<String>,
) -> Result<Package, Error> {
    // Android 4.4 prints nothing about a package that it does not have.
    let missing = || {
        let nothing = output.status.is_none() && output.out.trim().is_empty();
        nothing || output.out.contains("Unable to find package:")
    };
    if files.is_empty() && (missing() || entry(app, &output.out).is_some()) {
        // Also an app that only another user has.
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    let code = value(app, &output.out, "versionCode").and_then(|rest| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    let Some(version_code) = code.filter(|_| !files.is_empty()) else {
        let text = format!("{}{}", output.out, output.err);
        return Err(match output.error_text() {
            Some(message) => Error::Failed { what: "read the app's details", text: message },
            None => Error::Unreadable { command: "dumpsys package".into(), text: excerpt(text) },
        });
    };
    let text = |name| value(app, &output.out, name).filter(|word| *word != "null");
    // Since Android 13 `appId` next to or instead of `userId` (`dumpPackageLPr`).
    let uid = text("appId").or_else(|| text("userId"));
    let uid = uid.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    Ok(Package {
        app: app.clone(),
        version_code,
        version_name: text("versionName").unwrap_or_default().to_owned(),
        updated: text("lastUpdateTime").unwrap_or_default().to_owned(),
        files,
        uid,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn output(out: &str, status: Option<i32>) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status }
    }

    fn app() -> AppId {
        AppId("com.x".into())
    }

    /// In the format of the captures in `shell/package`: an updated app with one split.
    const REPORT: &str = "package:/data/app/~~a==/com.x-b==/base.apk\npackage:/data/app/~~a==/com.x-b==/split_config.de.apk\nActivity Resolver Table:\n  Non-Data Actions:\n\nKey Set Manager:\n  [com.x]\n      Signing KeySets: 2\n\nPackages:\n  Package [com.x.other] (1):\n    versionCode=9 minSdk=1 targetSdk=2\n  Package [com.x] (8afb528):\n    userId=10012\n    codePath=/data/app/~~a==/com.x-b==\n    versionCode=11062448 minSdk=21 targetSdk=23\n    versionName=11.0.62 (448-160311229)\n    lastUpdateTime=2017-09-11 08:54:20\n    User 0: ceDataInode=1 installed=true hidden=false\n\nHidden system packages:\n  Package [com.x] (c237da8):\n    versionCode=9083448 targetSdk=23\n    versionName=9.0\n    lastUpdateTime=2016-06-13 00:01:50\n";

    #[test]
    fn installed_app_lists_all_files() {
        let output = output(REPORT, Some(0));
        let read = read_package(&app(), &output, read_paths(&output.out)).unwrap();
        let expected = Package {
            app: app(),
            version_code: 11_062_448,
            version_name: "11.0.62 (448-160311229)".into(),
            updated: "2017-09-11 08:54:20".into(),
            files: vec![
                "/data/app/~~a==/com.x-b==/base.apk".into(),
                "/data/app/~~a==/com.x-b==/split_config.de.apk".into(),
            ],
            uid: Some(10_012),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn missing_app_differs_from_missing_output() {
        // The capture `dumpsys-package_not-found`, and an app of another user.
        for out in ["Unable to find package: com.x\n", &REPORT[REPORT.find("Packages").unwrap()..]]
        {
            let error = read_package(&app(), &output(out, Some(0)), vec![]).unwrap_err();
            assert!(matches!(error, Error::NoSuchApp { .. }), "{error}");
        }
        let nothing =
            read_package(&app(), &output("Can't find service: package\n", Some(0)), vec![]);
        assert!(matches!(nothing, Err(Error::Unreadable { .. })), "{nothing:?}");
        let half = output("package:/a.apk\nPackages:\n  Package [com.x] (1):\n", Some(0));
        assert!(read_package(&app(), &half, read_paths(&half.out)).is_err());
    }

    #[test]
    fn paths_and_report_take_one_round_trip() {
        assert_eq!(
            both_command(&app(), Some(0)).unwrap().as_str(),
            "pm path --user 0 'com.x' ; dumpsys package 'com.x'"
        );
    }

    proptest! {
        #[test]
        fn no_input_panics(words in "(\\PC|[\r\n =])*") {
            let output = output(&format!("  Package [com.x] (1):\n{words}"), None);
            let _ = read_package(&app(), &output, read_paths(&words));
        }
    }
}

//! What a phone before Android 7 knows about its apps. `pm` and `am` are Java programs there, which
//! take a second each to start; `dumpsys` is not one.

use std::collections::HashMap;

use super::Legacy;
use super::resolver_table::{ACTIVITIES, SERVICES, read_table, table_command};
use crate::android::packages::{entry, path_command, read_package, read_paths, value};
use crate::android::{Android, CommandOutput, ShellCommand, info, launcher};
use crate::{AppId, Component, Error, LauncherApps, Package};

const MAIN: &str = "android.intent.action.MAIN";

impl Legacy {
    /// Stops an app whose name was checked.
    pub(in crate::android) async fn stop(
        &self,
        device: &Android,
        app: &AppId,
    ) -> Result<(), Error> {
        let output = device.ask(stop_command(app)?).await?;
        read_stop(app, output)
    }

    /// Takes a second round trip if the report does not name the file.
    pub(in crate::android) async fn package_info(
        &self,
        device: &Android,
        app: &AppId,
    ) -> Result<Package, Error> {
        let output = device.ask(report_command(app)?).await?;
        let mut files: Vec<String> = read_code_path(app, &output.out).into_iter().collect();
        // A folder since Android 5.
        if !files.iter().any(|file| file.ends_with(".apk")) {
            files = read_paths(&device.ask(path_command(app, None)?).await?.out);
        }
        read_package(app, &output, files)
    }

    /// Whether the first user has this app, whose name was checked.
    pub(in crate::android) async fn is_installed(
        &self,
        device: &Android,
        app: &AppId,
    ) -> Result<bool, Error> {
        let output = device.ask(report_command(app)?).await?;
        Ok(read_code_path(app, &output.out).is_some())
    }

    /// The services that handle an action, in the order in which apps were scanned.
    pub(in crate::android) async fn find_services(
        &self,
        device: &Android,
        action: &str,
    ) -> Result<Vec<Component>, Error> {
        read_table(&device.ask(table_command()).await?, SERVICES, action)
    }

    /// The table of activities has no categories: it lists everything that handles MAIN. An app
    /// that was updated twice may have its first path again, so the time of its update counts.
    pub(in crate::android) async fn launcher_apps(
        &self,
        device: &Android,
    ) -> Result<LauncherApps, Error> {
        let (table, files, language) = tokio::try_join!(
            device.ask(table_command()),
            device.ask(launcher::files_command(None)),
            device.ask(info::properties_command())
        )?;
        let found = read_table(&table, ACTIVITIES, MAIN)?;
        Ok(launcher::join(found, &files, &read_update_times(&table.out), &language))
    }
}

fn report_command(app: &AppId) -> Result<ShellCommand, Error> {
    ShellCommand::new("dumpsys package").arg(&app.0)
}

/// Printed between the two parts of [`stop_command`].
const STOPPING: &str = "-- stopping --";

/// Prints what the phone knows about the app, and stops it.
fn stop_command(app: &AppId) -> Result<ShellCommand, Error> {
    let line = report_command(app)?.then("; echo; echo").arg(STOPPING)?;
    line.then("; am force-stop").arg(&app.0)
}

/// Parses the output of both.
fn read_stop(app: &AppId, output: CommandOutput) -> Result<(), Error> {
    let (report, stopping) = output.out.split_once(STOPPING).unwrap_or((&output.out, ""));
    if read_code_path(app, report).is_none() {
        return Err(Error::NoSuchApp { app: app.0.clone() });
    }
    let stopping = CommandOutput { out: stopping.to_owned(), ..output };
    match stopping.error_text().or_else(|| stopping.unexpected()) {
        Some(message) => Err(Error::Failed { what: "stop the app", text: message }),
        None => Ok(()),
    }
}

/// The app's path in the report: its file, or since Android 5 its folder. `None` if the first user
/// does not have it.
fn read_code_path(app: &AppId, text: &str) -> Option<String> {
    let mut users = entry(app, text)?.filter(|line| line.starts_with("User 0:"));
    if users.any(|line| line.contains("installed=false")) {
        return None;
    }
    value(app, text, "codePath").map(str::to_owned)
}

/// When each app was last updated, in a report about all of them.
fn read_update_times(text: &str) -> HashMap<&str, &str> {
    let (mut times, mut app) = (HashMap::new(), None);
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Package [") {
            app = rest.split_once("] (").map(|(name, _)| name);
        } else if let (Some(name), Some(time)) = (app, line.strip_prefix("lastUpdateTime=")) {
            // A second entry is what an update replaced.
            times.entry(name).or_insert(time);
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app() -> AppId {
        AppId("com.x".into())
    }

    fn output(out: &str, status: Option<i32>) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status }
    }

    /// In the format of the captures in `shell/package`: an updated app.
    const REPORT: &str = "package:/data/app/~~a==/com.x-b==/base.apk\npackage:/data/app/~~a==/com.x-b==/split_config.de.apk\nActivity Resolver Table:\n  Non-Data Actions:\n\nKey Set Manager:\n  [com.x]\n      Signing KeySets: 2\n\nPackages:\n  Package [com.x.other] (1):\n    versionCode=9 minSdk=1 targetSdk=2\n  Package [com.x] (8afb528):\n    userId=10012\n    codePath=/data/app/~~a==/com.x-b==\n    versionCode=11062448 minSdk=21 targetSdk=23\n    versionName=11.0.62 (448-160311229)\n    lastUpdateTime=2017-09-11 08:54:20\n    User 0: ceDataInode=1 installed=true hidden=false\n\nHidden system packages:\n  Package [com.x] (c237da8):\n    versionCode=9083448 targetSdk=23\n    versionName=9.0\n    lastUpdateTime=2016-06-13 00:01:50\n";

    #[test]
    fn app_is_stopped_with_one_java_program() {
        let app = AppId("com.x".into());
        let line = stop_command(&app).unwrap();
        let expected =
            "dumpsys package 'com.x' ; echo; echo '-- stopping --' ; am force-stop 'com.x'";
        assert_eq!(line.as_str(), expected);
        let read = |report: &str, stopping: &str| {
            let out = format!("{report}\n-- stopping --\n{stopping}");
            read_stop(&app, CommandOutput { out, err: String::new(), status: None })
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
    fn android_4_4_report_names_the_file() {
        let out = "Packages:\r\n  Package [com.x] (a6602eb8):\r\n    userId=10024 gids=[]\r\n    codePath=/data/app/com.x-1.apk\r\n    versionCode=19 targetSdk=19\r\n    versionName=null\r\n    User 0:  installed=true blocked=false\r\n";
        let path = read_code_path(&app(), out).unwrap();
        assert_eq!(path, "/data/app/com.x-1.apk");
        let read = read_package(&app(), &output(out, None), vec![path]).unwrap();
        assert_eq!((read.version_code, &*read.version_name, &*read.updated), (19, "", ""));
        let gone = out.replace("installed=true", "installed=false");
        assert_eq!(read_code_path(&app(), &gone), None);
    }

    #[test]
    fn update_times_are_those_of_the_present_packages() {
        let times = read_update_times(REPORT);
        assert_eq!(times.get("com.x"), Some(&"2017-09-11 08:54:20"));
        assert_eq!(times.get("com.x.other"), None);
    }
}

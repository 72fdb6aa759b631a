//! The apps that the launcher shows: who handles MAIN and LAUNCHER, and the paths of all packages.
//!
//! Start with `read_launcher_apps`. All questions are asked at once. What the packages
//! contain is read elsewhere.

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use super::services::read_query;
use super::{Android, CommandOutput, ShellCommand};
use crate::app_name::is_package_name;
use crate::{AppId, Component, Error, LabelSource, LauncherApp, LauncherApps, LauncherLabel};

/// How long the helper has for its list before the packages are asked for, too.
const HELPER_ALONE: Duration = Duration::from_secs(2);

/// Maximum number of classes of one app.
const MAX_CLASSES: usize = 64;

impl Android {
    /// A helper knows the labels. While it is slow to answer, as at its start, the packages are
    /// asked for, too, and the first answer counts.
    pub(super) async fn read_launcher_apps(&self) -> Result<LauncherApps, Error> {
        let mut helper = pin!(self.labelled_apps());
        let mut labelled = timeout(HELPER_ALONE, &mut helper).await.ok();
        let mut packages = pin!(self.apps_in_packages());
        if labelled.is_none() {
            labelled = tokio::select! {
                apps = &mut helper => Some(apps),
                apps = &mut packages => return apps,
            };
        }
        match labelled.transpose()?.flatten() {
            Some(apps) => Ok(apps),
            None => packages.await,
        }
    }

    /// It takes three commands, and reading the packages afterwards.
    async fn apps_in_packages(&self) -> Result<LauncherApps, Error> {
        if let Some(legacy) = &self.legacy {
            return legacy.launcher_apps(self).await;
        }
        let (found, files, language) = tokio::try_join!(
            self.ask(query_command()),
            self.ask(files_command()),
            self.ask(language_command())
        )?;
        Ok(join(read_query(&found, "activities")?, &files, &HashMap::new(), &language))
    }
}

/// Who the launcher shows. `--brief` is as old as the command itself.
fn query_command() -> ShellCommand {
    ShellCommand::new(
        "cmd package query-activities --brief -a android.intent.action.MAIN -c android.intent.category.LAUNCHER",
    )
}

pub(super) fn files_command() -> ShellCommand {
    ShellCommand::new("pm list packages -f")
}

/// The language that the user chose, else the one that the phone came with, each on its line;
/// before Android 6 language and country are separate (`LocaleManager` and `AndroidRuntime.cpp` of
/// AOSP).
pub(super) fn language_command() -> ShellCommand {
    ShellCommand::new(
        "getprop persist.sys.locale; getprop persist.sys.language; getprop persist.sys.country; \
         getprop ro.product.locale; getprop ro.product.locale.language; getprop ro.product.locale.region",
    )
}

fn read_language(output: &CommandOutput) -> String {
    let lines: Vec<&str> = output.out.lines().map(str::trim).collect();
    let line = |at: usize| lines.get(at).copied().unwrap_or_default();
    let joined = |language: &str, region: &str| match region {
        "" => language.to_owned(),
        region => format!("{language}-{region}"),
    };
    let known = [
        line(0).to_owned(),
        joined(line(1), line(2)),
        line(3).to_owned(),
        joined(line(4), line(5)),
    ];
    // The first of several; without script and extensions: `zh-Hant-TW`, `en-US-u-mu-celsius`.
    let language = known.into_iter().find(|known| known.starts_with(char::is_alphabetic));
    let language = language.unwrap_or_default();
    let mut parts = language.split(',').next().unwrap_or_default().split(['-', '_']);
    let is_language =
        |part: &&str| matches!(part.len(), 2 | 3) && part.chars().all(|c| c.is_ascii_lowercase());
    let Some(first) = parts.next().filter(is_language) else { return String::new() };
    let is_region = |part: &&str| part.len() == 2 && part.chars().all(|c| c.is_ascii_uppercase());
    joined(first, parts.find(is_region).unwrap_or_default())
}

/// The apps of these activities, with their packages. An app whose package is not listed is left
/// out.
pub(super) fn join(
    found: Vec<Component>,
    files: &CommandOutput,
    updates: &HashMap<&str, &str>,
    language: &CommandOutput,
) -> LauncherApps {
    let files: HashMap<&str, &str> = files.out.lines().filter_map(read_file).collect();
    let mut sources: Vec<(AppId, LabelSource)> = Vec::new();
    let mut indices: HashMap<AppId, usize> = HashMap::new();
    for Component { app, class } in found {
        let Some(file) = files.get(&*app.0) else { continue };
        let at = *indices.entry(app.clone()).or_insert_with(|| {
            let version = updates.get(&*app.0).copied().unwrap_or_default().to_owned();
            sources.push((
                app,
                LabelSource { classes: Vec::new(), file: (*file).to_owned(), version },
            ));
            sources.len() - 1
        });
        let classes = &mut sources[at].1.classes;
        if classes.len() < MAX_CLASSES {
            classes.push(class);
        }
    }
    let apps = sources.into_iter();
    let apps = apps
        .map(|(app, source)| LauncherApp { app, label: LauncherLabel::InPackage(source) })
        .collect();
    LauncherApps { language: read_language(language), apps }
}

/// A line `package:PATH=NAME`; the path may contain `=`.
fn read_file(line: &str) -> Option<(&str, &str)> {
    let (path, name) = line.trim().strip_prefix("package:")?.rsplit_once('=')?;
    (path.starts_with('/') && is_package_name(name)).then_some((name, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(out: &str) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status: Some(0) }
    }

    #[test]
    fn activities_of_one_app_are_one_entry_with_its_file() {
        let activity =
            |app: &str, class: &str| Component { app: AppId(app.into()), class: class.into() };
        let found = vec![
            activity("com.x", "com.x.Main"),
            activity("com.y", "com.y.Main"),
            activity("com.x", "com.x.Second"),
            activity("com.gone", "com.gone.Main"),
        ];
        let files = "package:/data/app/~~a==/com.x-b==/base.apk=com.x\r\npackage:/system/app/Y.apk=com.y\r\npackage:relative=com.z\n";
        let updates = HashMap::from([("com.y", "2017-09-11 08:54:20")]);
        let joined = join(found, &output(files), &updates, &output("en-US\n"));
        let shown: Vec<_> = joined
            .apps
            .iter()
            .map(|it| match &it.label {
                LauncherLabel::InPackage(at) => {
                    (&*it.app.0, &*at.file, at.classes.len(), &*at.version)
                }
                LauncherLabel::Text(label) => panic!("{label}"),
            })
            .collect();
        let expected = [
            ("com.x", "/data/app/~~a==/com.x-b==/base.apk", 2, ""),
            ("com.y", "/system/app/Y.apk", 1, "2017-09-11 08:54:20"),
        ];
        assert_eq!((joined.language.as_str(), shown), ("en-US", expected.to_vec()));
    }

    #[test]
    fn language_is_the_users_else_the_phones() {
        for (out, expected) in [
            ("de-AT,en-US\n\n\nen-US\n\n\n", "de-AT"),
            ("zh-Hant-TW\n\n\nen-US\n\n\n", "zh-TW"),
            ("en-US-u-mu-celsius\n\n\n\n\n\n", "en-US"),
            ("\r\nfr\r\nCH\r\n\r\nen\r\nUS\r\n", "fr-CH"),
            ("\n\n\nen-GB\n\n\n", "en-GB"),
            ("\n\n\n\nen\nUS\n", "en-US"),
            ("\n\n\n\n\n\n", ""),
            ("sh: getprop: not found\n", ""),
        ] {
            assert_eq!(read_language(&output(out)), expected, "{out:?}");
        }
    }
}

//! The apps that the launcher shows: who handles MAIN and LAUNCHER, and the paths of all packages.
//!
//! Start with `read_launcher_apps`. All questions are asked at once. What the packages
//! contain is read elsewhere.

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use super::services::read_query;
use super::{Android, CommandOutput, ShellCommand, info};
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
        let user = self.user().await?;
        let (found, files, language) = tokio::try_join!(
            self.ask(query_command(user)),
            self.ask(files_command(user)),
            self.ask(info::properties_command())
        )?;
        Ok(join(read_query(&found, "activities")?, &files, &HashMap::new(), &language))
    }
}

/// Who the launcher shows. `--brief` is as old as the command itself.
fn query_command(user: Option<u32>) -> ShellCommand {
    let query = ShellCommand::new("cmd package query-activities --brief").for_user(user);
    query.then("-a android.intent.action.MAIN -c android.intent.category.LAUNCHER")
}

pub(super) fn files_command(user: Option<u32>) -> ShellCommand {
    ShellCommand::new("pm list packages -f").for_user(user)
}

/// The language that the user chose, else the one that the phone came with; before Android 6
/// language and country are separate (`LocaleManager` and `AndroidRuntime.cpp` of AOSP).
fn read_language(output: &CommandOutput) -> String {
    let properties = info::read_properties(&output.out);
    let value = |name: &str| {
        let found = properties.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.trim())
    };
    let joined = |language: &str, region: &str| match region {
        "" => language.to_owned(),
        region => format!("{language}-{region}"),
    };
    let known = [
        value("persist.sys.locale").to_owned(),
        joined(value("persist.sys.language"), value("persist.sys.country")),
        value("ro.product.locale").to_owned(),
        joined(value("ro.product.locale.language"), value("ro.product.locale.region")),
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
        let joined =
            join(found, &output(files), &updates, &output("[ro.product.locale]: [en-US]\n"));
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
        let ours = ["persist.sys.locale", "persist.sys.language", "persist.sys.country"];
        let phones =
            ["ro.product.locale", "ro.product.locale.language", "ro.product.locale.region"];
        let names = ours.into_iter().chain(phones);
        for (values, expected) in [
            (["de-AT,en-US", "", "", "en-US", "", ""], "de-AT"),
            (["zh-Hant-TW", "", "", "en-US", "", ""], "zh-TW"),
            (["en-US-u-mu-celsius", "", "", "", "", ""], "en-US"),
            (["", "fr", "CH", "", "en", "US"], "fr-CH"),
            (["", "", "", "en-GB", "", ""], "en-GB"),
            (["", "", "", "", "en", "US"], "en-US"),
            ([""; 6], ""),
        ] {
            let lines =
                names.clone().zip(values).map(|(name, value)| format!("[{name}]: [{value}]\n"));
            let out = format!("Some loader says something\n{}", lines.collect::<String>());
            assert_eq!(read_language(&output(&out)), expected, "{out:?}");
        }
        assert_eq!(read_language(&output("sh: getprop: not found\n")), "");
    }
}

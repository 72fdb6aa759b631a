//! App labels, the names that the launcher shows: from the helper on the phone, or read from the
//! packages.
//!
//! Start with [`AttachedDevice::launcher_apps`], then [`AttachedDevice::labels`]. No command prints
//! labels, so without a helper each package is opened where it is: its manifest names the label,
//! its resources have it in the phone's language. That takes some round trips for each app, so only
//! apps that the launcher shows are read, several at a time, and each version of a package once.
//! When the time is over, what was not read is reported, and the next call goes on: first with
//! packages that were not begun.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use thumbwire_apk::{Apk, Limits, resource_language};
use thumbwire_base::{lock, sanitize};
use thumbwire_device::{AppId, Device, Error, LabelSource, LauncherApps, LauncherLabel};
use tokio::time::{Instant, sleep_until, timeout};

use super::attached_device::AttachedDevice;
use super::cache::{CachedLabel, ReadLabel};
use crate::action::{Failure, Label};
use crate::device_file::DeviceFile;

/// How long a label is served without reading the package again.
const FRESH: Duration = Duration::from_secs(3600);

/// How long the phone may take to list the apps of its launcher. Phones before Android 7 have no
/// command for it: they print all that they know of packages, which takes seconds.
const LISTING: Duration = Duration::from_secs(6);

/// How many packages are read at once. A slow phone would finish none of many.
const AT_ONCE: usize = 3;

/// The maximum length of a label, in characters. The launcher shows about fifteen.
const MAX_LENGTH: usize = 60;

/// Resource tables are read whole; larger ones take a phone longer than a label is worth.
const LIMITS: Limits =
    Limits { directory: 8 << 20, entry: 16 << 20, depth: 64, nodes: 100_000, text: 8 << 20 };

/// An app that the launcher shows, and the name that it shows.
pub(super) struct LabelledApp {
    pub(super) app: AppId,
    pub(super) label: Label,
}

impl AttachedDevice {
    /// The apps that the launcher shows, as the phone lists them. `None` if it does not in 6 s.
    pub(super) async fn launcher_apps(&self) -> Result<Option<LauncherApps>, Failure> {
        let listing = async { self.device.launcher()?.launcher_apps().await };
        match timeout(LISTING, listing).await {
            Ok(launcher) => launcher.map(Some).map_err(|error| self.failed(&error)),
            Err(_) => Ok(None),
        }
    }

    /// Those that are `wanted`, with their labels as far as they can be read within that time.
    pub(super) async fn labels(
        &self,
        launcher: &LauncherApps,
        within: Duration,
        wanted: impl Fn(&AppId) -> bool,
    ) -> Result<Vec<LabelledApp>, Failure> {
        let known = &self.screen.cache.labels;
        let cached = known.recent(FRESH).unwrap_or_default();
        let asked = known.ask(&self.screen.generation);
        let until = Instant::now() + within;
        let apps = launcher.apps.iter().filter(|app| wanted(&app.app));
        let packages: Vec<InPackage<'_>> = apps
            .clone()
            .filter_map(|app| match &app.label {
                LauncherLabel::InPackage(at) => Some((&app.app, at)),
                LauncherLabel::Text(_) => None,
            })
            .collect();
        let key = |at: &LabelSource| CachedLabel {
            file: at.file.clone(),
            version: at.version.clone(),
            language: launcher.language.clone(),
            label: ReadLabel::Unreadable,
        };
        let mut labels: HashMap<&AppId, CachedLabel> = HashMap::new();
        for (app, at) in &packages {
            let CachedLabel { file, version, language, .. } = key(at);
            let is_same = |it: &&CachedLabel| {
                (&it.file, &it.version, &it.language) == (&file, &version, &language)
            };
            labels.extend(cached.iter().find(is_same).map(|it| (*app, it.clone())));
        }
        let is_read =
            |app: &AppId| labels.get(app).is_some_and(|it| it.label != ReadLabel::NotInTime);
        let mut missing: Vec<InPackage<'_>> =
            packages.iter().copied().filter(|(app, _)| !is_read(app)).collect();
        // Large packages must not take the time of the others in each call.
        missing.sort_by_key(|(app, _)| labels.contains_key(app));
        let begun: Mutex<Vec<InPackage<'_>>> = Mutex::default();
        let (device, language) = (&*self.device, launcher.language.as_str());
        let reads: Vec<BoxFuture<'_, _>> =
            missing.iter().map(|&app| named_read(device, app, language, &begun).boxed()).collect();
        let reads = stream::iter(reads).buffer_unordered(AT_ONCE);
        let mut reads = pin!(reads.take_until(sleep_until(until)));
        let mut lost = None;
        while let Some(((app, at), label)) = reads.next().await {
            match label {
                Ok(label) => drop(labels.insert(app, CachedLabel { label, ..key(at) })),
                Err(error) => {
                    lost = Some(error);
                    break;
                }
            }
        }
        for (app, at) in lock(&begun).iter() {
            let late = || CachedLabel { label: ReadLabel::NotInTime, ..key(at) };
            labels.entry(app).or_insert_with(late);
        }
        if !missing.is_empty() {
            known.keep(asked, labels.values().cloned().collect());
        }
        if let Some(error) = lost {
            return Err(self.failed(&error));
        }
        let labelled = apps.filter_map(|app| {
            let read = match &app.label {
                LauncherLabel::Text(text) => Some(cleaned(text)),
                LauncherLabel::InPackage(_) => labels.get(&app.app).map(|it| it.label.clone()),
            };
            let label = match read {
                Some(ReadLabel::NoEntry) => return None,
                Some(ReadLabel::Unreadable) => Label::Unreadable,
                Some(ReadLabel::Text(text)) => Label::Text(text),
                Some(ReadLabel::NotInTime) | None => Label::NotRead,
            };
            Some(LabelledApp { app: app.app.clone(), label })
        });
        Ok(labelled.collect())
    }
}

/// An app, and where its label is.
type InPackage<'a> = (&'a AppId, &'a LabelSource);

async fn named_read<'a>(
    device: &dyn Device,
    app: InPackage<'a>,
    language: &str,
    begun: &Mutex<Vec<InPackage<'a>>>,
) -> (InPackage<'a>, Result<ReadLabel, Error>) {
    lock(begun).push(app);
    (app, read_label(device, app.1, language).await)
}

fn cleaned(label: &str) -> ReadLabel {
    match sanitize(label, MAX_LENGTH) {
        empty if empty.is_empty() => ReadLabel::Unreadable,
        label => ReadLabel::Text(label),
    }
}

/// The label of an app's first entry in the launcher.
///
/// # Errors
/// Only if the phone is lost; a package that cannot be read is [`ReadLabel::Unreadable`].
async fn read_label(
    device: &dyn Device,
    at: &LabelSource,
    language: &str,
) -> Result<ReadLabel, Error> {
    let failed = Mutex::default();
    let source = DeviceFile { device, path: &at.file, failed: &failed };
    let reading = async {
        let apk = Apk::open(source, LIMITS).await?;
        apk.in_language(language).manifest().await
    };
    let manifest = reading.await;
    if let Some(error @ (Error::NotConnected { .. } | Error::Unauthorized { .. })) =
        lock(&failed).take()
    {
        return Err(error);
    }
    let Ok(manifest) = manifest else { return Ok(ReadLabel::Unreadable) };
    let entries = &manifest.launcher_entries;
    let Some(entry) = entries.iter().find(|entry| at.classes.contains(&entry.class)) else {
        return Ok(ReadLabel::NoEntry);
    };
    let translated = match entry.label_resource {
        Some(id) => translated(device, &at.file, id, language).await,
        None => None,
    };
    let label = translated.as_ref().or(entry.label.as_ref());
    Ok(label.map_or(ReadLabel::Unreadable, |label| cleaned(label)))
}

/// The text of a resource in the package's split for that language. Apps that a store installed
/// have one, and only English in the base.
async fn translated(device: &dyn Device, base: &str, id: u32, language: &str) -> Option<String> {
    let folder = base.strip_suffix("/base.apk")?;
    let short = language.split('-').next().filter(|short| !matches!(*short, "" | "en"))?;
    let path = format!("{folder}/split_config.{}.apk", resource_language(short));
    let failed = Mutex::default();
    let source = DeviceFile { device, path: &path, failed: &failed };
    let apk = Apk::open(source, LIMITS).await.ok()?;
    apk.in_language(language).string(id).await.ok()?
}

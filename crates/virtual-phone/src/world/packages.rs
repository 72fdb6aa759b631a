//! Apps that came as APKs: what their manifests declare, and their coming and going.
//!
//! Plain values and the world's part of it: the icon, the tasks, the log. Reading an APK, and judging whether it may come, is done in
//! `crate::packages`; its files lie in the phone's tree.

use super::app::{Intent, Manifest, Store};
use super::apps;
use super::apps::stranger::Stranger;
use super::tasks::{HOME, Installed, SYSTEM_PID};
use super::{World, failing};
use crate::packages::built_in;
use std::sync::Arc;

/// What the manifest of an APK declares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declared {
    /// The package.
    pub package: String,
    /// The name of the split that this APK is; `None` for a base.
    pub split: Option<String>,
    /// As the package manager compares it, `versionCodeMajor` in its upper half.
    pub version_code: u64,
    /// As people read it.
    pub version_name: Option<String>,
    /// The label of the application, in the default language.
    pub label: Option<String>,
    /// API level that it needs.
    pub min_sdk: u32,
    /// API level that it is made for.
    pub target_sdk: u32,
    /// The line of the manifest that says so.
    pub(crate) sdk_line: u32,
    /// `android:debuggable`
    pub debuggable: bool,
    /// `android:testOnly`
    pub test_only: bool,
    /// `android:enabled="false"` on the application.
    pub disabled: bool,
    /// `android:isSplitRequired`: the base alone is not enough.
    pub split_required: bool,
    /// `uses-permission`, in order.
    pub permissions: Vec<String>,
    /// Activities, services, receivers and providers, in order.
    pub components: Vec<DeclaredComponent>,
    /// The first component, with its line, that has filters and does not say whether it is exported.
    pub(crate) silent_export: Option<(String, u32)>,
}

/// The four kinds of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `activity` and `activity-alias`
    Activity,
    /// `service`
    Service,
    /// `receiver`
    Receiver,
    /// `provider`
    Provider,
}

/// A component as declared.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredComponent {
    /// What it is.
    pub class: Class,
    /// Full class name.
    pub name: String,
    /// A label of its own.
    pub label: Option<String>,
    /// For an alias: the activity behind it.
    pub target: Option<String>,
    /// Whether others may ask for it.
    pub exported: bool,
    /// `android:enabled`
    pub enabled: bool,
    /// The permission that others need for it.
    pub permission: Option<String>,
    /// Of a provider.
    pub authorities: Option<String>,
    /// What it answers.
    pub filters: Vec<Filter>,
    /// Its `meta-data`.
    pub meta: Vec<Meta>,
}

/// An `intent-filter`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// `android:priority`
    pub priority: i32,
    /// Names of actions.
    pub actions: Vec<String>,
    /// Names of categories.
    pub categories: Vec<String>,
    /// `data android:scheme`
    pub schemes: Vec<String>,
    /// `data android:host`
    pub hosts: Vec<String>,
    /// `data android:mimeType`
    pub types: Vec<String>,
}

/// A `meta-data` entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: MetaValue,
}

/// What a `meta-data` entry says.
#[derive(Debug, Clone, PartialEq)]
pub enum MetaValue {
    /// `android:value`, a reference followed.
    Text(String),
    /// `android:resource`: the id.
    Resource(u32),
}

/// How an app that came as an APK lies on the phone.
#[derive(Debug, Clone, PartialEq)]
pub struct Installation {
    /// What its base declares.
    pub declared: Declared,
    /// Its files, the base first, then the splits by name.
    pub files: Vec<String>,
    /// The names of its splits, in the order of their files.
    pub splits: Vec<String>,
    /// SHA-256 of the certificate that it is signed with.
    pub certificate: [u8; 32],
    /// The scheme of that signature: 1, 2 or 3.
    pub signature_scheme: u8,
    /// The processor whose code it brings, if any.
    pub abi: Option<String>,
    /// Who installed it, where somebody was named.
    pub installer: Option<String>,
    /// Seconds since 1970: when it came, and when it was last changed.
    pub installed: (u64, u64),
}

impl Installation {
    /// An app that says nothing of itself.
    pub(crate) fn unknown() -> Self {
        Self {
            declared: Declared::default(),
            files: Vec::new(),
            splits: Vec::new(),
            certificate: [0; 32],
            signature_scheme: 0,
            abi: None,
            installer: None,
            installed: (0, 0),
        }
    }
}

impl Filter {
    /// Whether an intent passes: `IntentFilter.match`, without paths and types.
    pub fn passes(&self, intent: &Intent) -> bool {
        let action = intent.action.as_ref().is_none_or(|action| self.actions.contains(action));
        let categories = intent.categories.iter().all(|wanted| self.categories.contains(wanted));
        let data = match intent.data.as_deref().and_then(|data| data.split_once(':')) {
            None => self.schemes.is_empty() && self.types.is_empty(),
            Some((scheme, rest)) => {
                let host = rest.strip_prefix("//").map(|rest| {
                    rest.split(['/', '?', '#', ':']).next().unwrap_or_default().to_owned()
                });
                self.schemes.iter().any(|known| known == scheme)
                    && (self.hosts.is_empty()
                        || host.is_some_and(|host| self.hosts.contains(&host)))
            }
        };
        action && categories && data && !self.actions.is_empty()
    }

    fn has_category(&self, name: &str) -> bool {
        self.categories.iter().any(|category| category == name)
    }

    /// Whether it stands for an icon.
    pub fn is_launcher(&self) -> bool {
        self.actions.iter().any(|action| action == "android.intent.action.MAIN")
            && self.has_category("android.intent.category.LAUNCHER")
    }

    /// Whether it answers intents that name no category.
    pub fn is_default(&self) -> bool {
        self.has_category("android.intent.category.DEFAULT")
    }
}

impl Declared {
    /// The activity or alias that an icon starts: the first one that is enabled.
    pub fn launcher(&self) -> Option<&DeclaredComponent> {
        let mut activities = self.components.iter().filter(|it| it.class == Class::Activity);
        activities.find(|it| it.enabled && it.filters.iter().any(Filter::is_launcher))
    }

    /// The components of a kind that answer an intent, each with the filter that does, higher priorities first.
    pub fn answering<'a>(
        &'a self,
        class: Class,
        intent: &Intent,
    ) -> Vec<(&'a DeclaredComponent, &'a Filter)> {
        let all = self.components.iter().filter(|it| it.class == class && it.enabled);
        let mut found: Vec<_> = all
            .filter_map(|it| Some((it, it.filters.iter().find(|filter| filter.passes(intent))?)))
            .collect();
        found.sort_by_key(|(_, filter)| -filter.priority);
        found
    }
}

impl Manifest {
    /// What Android would say of an installed APK; the uid is given by the phone.
    pub(crate) fn of_installation(installation: Installation) -> Self {
        let Declared { package, version_code, version_name, label, permissions, .. } =
            &installation.declared;
        let launcher = installation.declared.launcher();
        // The icon's own label, else that of the app, else the package.
        let label = launcher.and_then(|it| it.label.as_ref()).or(label.as_ref()).unwrap_or(package);
        let activities = installation.declared.components.iter();
        let activities = activities.filter(|it| it.class == Class::Activity);
        Self {
            package: package.clone(),
            label: label.clone(),
            version_name: version_name.clone().unwrap_or_else(|| "null".to_owned()),
            version_code: *version_code,
            activities: activities.map(|it| it.name.clone()).collect(),
            launcher: launcher.map(|it| it.name.clone()),
            system: false,
            uid: 0,
            permissions: permissions.clone(),
            icon: Stranger::icon(package),
            installation: Some(Arc::new(installation)),
        }
    }

    /// The activity that runs when this one is asked for: itself, or what an alias stands for.
    pub(crate) fn behind<'a>(&'a self, activity: &'a str) -> &'a str {
        let declared = self.installation.as_ref().map(|it| it.declared.components.as_slice());
        let mut known = declared.unwrap_or_default().iter();
        let alias = known.find(|it| it.class == Class::Activity && it.name == activity);
        alias.and_then(|it| it.target.as_deref()).unwrap_or(activity)
    }
}

impl Manifest {
    /// What the app's APK declares: the one that it came as, or the one behind an app of the phone's own that offers something.
    pub fn declared(&self) -> Option<&Declared> {
        match &self.installation {
            Some(installation) => Some(&installation.declared),
            None => built_in::of(&self.package).and_then(|it| it.declared()),
        }
    }
}

impl World {
    /// Puts an app that came as an APK onto the phone, in place of the one of that package: what that stored, and its user, stay. `uid` is
    /// the user of an app that left its data behind.
    pub(crate) fn install(&mut self, mut manifest: Manifest, uid: Option<u32>) {
        let package = manifest.package.clone();
        let known = self.app_index(&package);
        let highest = self.apps.iter().map(|app| app.manifest.uid).max().unwrap_or_default();
        let old = known.map(|at| self.apps[at].manifest.uid);
        manifest.uid = old.or(uid).unwrap_or((highest + 1).max(self.next_uid));
        self.next_uid = self.next_uid.max(manifest.uid + 1);
        self.stop_for(&package, "installPackageLI");
        self.write_installed(&manifest);
        let store = match known {
            Some(at) => std::mem::take(&mut self.apps[at].store),
            None => Store::default(),
        };
        let make = apps::behind(&manifest);
        let app = Installed { manifest, app: make(self.seed), make, store, pid: None };
        match known {
            Some(at) => self.apps[at] = app,
            None => {
                let at = self.apps.partition_point(|known| known.manifest.package < package);
                self.apps.insert(at, app);
            }
        }
        self.settle();
    }

    /// Takes an app away; its files are the phone's business. `None` where there is none such, or where it came with the phone.
    pub(crate) fn uninstall(&mut self, package: &str) -> Option<Manifest> {
        let at = self.app_index(package).filter(|at| !self.apps[*at].manifest.system)?;
        self.stop_for(package, "deletePackageX");
        self.cancel_of(package);
        let crashed = failing::title_of_crash(package);
        self.take_away(|overlay| overlay.about() == Some(package) || overlay.title() == crashed);
        let gone = self.apps.remove(at).manifest;
        self.set_secure(package, false);
        self.settle();
        Some(gone)
    }

    /// As logs of Android 14 have it; older ones tell it otherwise, if at all.
    fn write_installed(&mut self, manifest: &Manifest) {
        let path = manifest.installation.as_ref().and_then(|it| it.files.first());
        let folder = path.and_then(|path| path.rsplit_once('/')).map_or("", |(folder, _)| folder);
        let package = &manifest.package;
        let line =
            format!("installation completed for package:{package}. Final code path: {folder}");
        self.write_log('I', "PackageManager", SYSTEM_PID, &line);
    }

    /// Ends an app because its package changes.
    fn stop_for(&mut self, package: &str, why: &str) {
        let Some(at) = self.app_index(package) else { return };
        let uid = self.apps[at].manifest.uid;
        let line = format!("Force stopping {package} appid={uid} user=-1: {why}");
        self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
        if let Some(pid) = self.apps[at].pid {
            self.note("am_kill", &format!("[0,{pid},{package},0,stop {package} due to {why}]"));
        }
        if self.apps[at].pid.is_some() || self.foreground().package == package {
            self.end(package);
        }
    }

    /// The exported activity of an installed app that answers an intent: package and full class.
    pub(super) fn answering(&self, intent: &Intent) -> Option<(String, String)> {
        let mut apps = self.apps.iter().filter(|app| app.manifest.package != HOME);
        apps.find_map(|app| {
            let declared = &app.manifest.installation.as_ref()?.declared;
            let mut found = declared.answering(Class::Activity, intent).into_iter();
            let (activity, _) = found.find(|(it, filter)| it.exported && filter.is_default())?;
            Some((declared.package.clone(), activity.name.clone()))
        })
    }
}

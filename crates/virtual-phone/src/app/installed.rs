//! Installed apps: manifest, process and stored values of each.

use crate::app::{App, BuiltInApp, Preferences};
use crate::packages::{BuiltInPackage, Manifest};
use crate::theme::{self, Colour};
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use thumbwire_virtual_screen::icons::Icon;

/// An installed package.
pub(crate) struct InstalledApp {
    pub(crate) manifest: Manifest,
    /// Its name on iOS, if it came with the phone.
    pub(crate) bundle_id: Option<&'static str>,
    pub(crate) app: Box<dyn App>,
    /// Creates its process, on a phone with that seed.
    pub(crate) make: Box<dyn Fn(u64) -> Box<dyn App> + Send>,
    pub(crate) store: Preferences,
    /// The process, while it runs.
    pub(crate) pid: Option<u32>,
}

impl InstalledApp {
    /// The package of app `A`, as installed on a phone with this seed.
    pub(crate) fn of<A: BuiltInApp>(seed: u64) -> InstalledApp {
        InstalledApp {
            manifest: A::DESCRIPTION.android_manifest(),
            bundle_id: Some(A::DESCRIPTION.ios.bundle_id),
            app: Box::new(A::new(seed)),
            make: Box::new(|seed| Box::new(A::new(seed))),
            store: Preferences::default(),
            pid: None,
        }
    }
}

/// All installed apps, sorted by package name.
pub(crate) struct InstalledApps {
    apps: Vec<InstalledApp>,
    /// Uids of uninstalled apps are not reused.
    next_uid: u32,
    /// The package files of preinstalled apps, by package, whether or not the apps are installed.
    built_in: BTreeMap<String, Arc<BuiltInPackage>>,
}

impl InstalledApps {
    /// The apps of a fresh phone.
    pub(crate) fn new(apps: Vec<InstalledApp>) -> Self {
        Self { apps, next_uid: 0, built_in: BTreeMap::new() }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &InstalledApp> {
        self.apps.iter()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.apps.len()
    }

    /// The index of a package.
    pub(crate) fn position(&self, package: &str) -> Option<usize> {
        self.apps.iter().position(|app| app.manifest.package == package)
    }

    /// The app of a package.
    pub(crate) fn get(&self, package: &str) -> Option<&InstalledApp> {
        self.apps.iter().find(|app| app.manifest.package == package)
    }

    /// The manifest of a package.
    pub(crate) fn manifest(&self, package: &str) -> Option<&Manifest> {
        self.get(package).map(|app| &app.manifest)
    }

    /// The Linux user of a package; the shell's if it is not installed.
    pub(crate) fn uid_of(&self, package: &str) -> u32 {
        self.manifest(package).map_or(2_000, |manifest| manifest.uid)
    }

    /// The name of an app; the package name if it is not installed.
    pub(crate) fn label_of(&self, package: &str) -> String {
        self.manifest(package).map_or_else(|| package.to_owned(), |manifest| manifest.label.clone())
    }

    /// A package's name, its icon symbol, and the colours of background and symbol.
    pub(crate) fn face_of(&self, package: &str) -> (String, Icon, Colour, Colour) {
        match self.manifest(package) {
            Some(Manifest { label, icon, .. }) => (label.clone(), icon.symbol, icon.fill, icon.ink),
            None => ("Shell".to_owned(), Icon::Tune, theme::ON_SURFACE_VARIANT, theme::WHITE),
        }
    }

    /// Sets the package file of a preinstalled app. Does nothing if there is no such app.
    pub(crate) fn set_built_in(&mut self, package: BuiltInPackage) {
        let (name, package) = (package.declared.package.clone(), Arc::new(package));
        if let Some(at) = self.position(&name) {
            self.apps[at].manifest.built_in = Some(Arc::clone(&package));
            self.built_in.insert(name, package);
        }
    }

    /// Gives a package that is about to be installed its uid (that of the app it replaces, else
    /// `uid`, else a new one) and the preinstalled package file of its name.
    pub(crate) fn admit(&mut self, manifest: &mut Manifest, uid: Option<u32>) {
        let highest = self.apps.iter().map(|app| app.manifest.uid).max().unwrap_or_default();
        let old = self.manifest(&manifest.package).map(|old| old.uid);
        manifest.uid = old.or(uid).unwrap_or((highest + 1).max(self.next_uid));
        self.next_uid = self.next_uid.max(manifest.uid + 1);
        manifest.built_in = self.built_in.get(&manifest.package).cloned();
    }

    /// Replaces the app of that package; its stored values are kept.
    pub(crate) fn put(&mut self, mut app: InstalledApp) {
        let package = &app.manifest.package;
        match self.position(package) {
            Some(at) => {
                app.store = std::mem::take(&mut self.apps[at].store);
                self.apps[at] = app;
            }
            None => {
                let at = self.apps.partition_point(|known| known.manifest.package < *package);
                self.apps.insert(at, app);
            }
        }
    }

    /// Removes the app at an index.
    pub(crate) fn remove(&mut self, at: usize) -> InstalledApp {
        self.apps.remove(at)
    }
}

impl Index<usize> for InstalledApps {
    type Output = InstalledApp;

    fn index(&self, at: usize) -> &InstalledApp {
        &self.apps[at]
    }
}

impl IndexMut<usize> for InstalledApps {
    fn index_mut(&mut self, at: usize) -> &mut InstalledApp {
        &mut self.apps[at]
    }
}

//! Installs and uninstalls apps: icon, tasks, log.

use crate::app::{InstalledApp, Preferences};
use crate::apps;
use crate::log::SYSTEM_PID;
use crate::overlays::title_of_crash;
use crate::packages::{BuiltInPackage, ComponentKind, Intent, Manifest};
use crate::tasks::HOME;
use crate::world::World;

impl World {
    /// Sets the package file of a preinstalled app: its manifest and what it offers. Does nothing
    /// if there is no such app.
    pub fn set_built_in(&mut self, package: BuiltInPackage) {
        self.apps.set_built_in(package);
    }

    /// Installs an app from an APK and replaces the one of that package, whose stored values and
    /// uid are kept. `uid` is that of an uninstalled app that left its data.
    pub fn install(&mut self, mut manifest: Manifest, uid: Option<u32>) {
        self.apps.admit(&mut manifest, uid);
        self.stop_for(&manifest.package, "installPackageLI");
        self.write_installed(&manifest);
        let make = apps::factory(&manifest);
        let (app, store) = (make(self.seed()), Preferences::default());
        self.apps.put(InstalledApp { manifest, bundle_id: None, app, make, store, pid: None });
        self.rebuild();
    }

    /// Uninstalls an app; the caller deletes its files. `None` if it is not installed or
    /// preinstalled.
    pub fn uninstall(&mut self, package: &str) -> Option<Manifest> {
        let at = self.apps.position(package).filter(|at| !self.apps[*at].manifest.system)?;
        self.stop_for(package, "deletePackageX");
        self.cancel_of(package);
        let crashed = title_of_crash(package);
        self.remove_overlays(|overlay| {
            overlay.about() == Some(package) || overlay.title() == crashed
        });
        let gone = self.apps.remove(at).manifest;
        self.set_secure(package, false);
        self.rebuild();
        Some(gone)
    }

    /// As in logs of Android 14; older releases log it differently or not at all.
    fn write_installed(&mut self, manifest: &Manifest) {
        let path = manifest.installation.as_ref().and_then(|it| it.files.first());
        let folder = path.and_then(|path| path.rsplit_once('/')).map_or("", |(folder, _)| folder);
        let package = &manifest.package;
        let line =
            format!("installation completed for package:{package}. Final code path: {folder}");
        self.write_log('I', "PackageManager", SYSTEM_PID, &line);
    }

    /// Stops an app because its package changes.
    fn stop_for(&mut self, package: &str, reason: &str) {
        let Some(at) = self.apps.position(package) else { return };
        let uid = self.apps[at].manifest.uid;
        let line = format!("Force stopping {package} appid={uid} user=-1: {reason}");
        self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
        if let Some(pid) = self.apps[at].pid {
            self.note("am_kill", &format!("[0,{pid},{package},0,stop {package} due to {reason}]"));
        }
        if self.apps[at].pid.is_some() || self.foreground().package == package {
            self.end(package);
        }
    }

    /// The exported activity of an installed app that matches an intent: package and full class.
    pub(super) fn answering(&self, intent: &Intent) -> Option<(String, String)> {
        let mut apps = self.apps.iter().filter(|app| app.manifest.package != HOME);
        apps.find_map(|app| {
            let declared = &app.manifest.installation.as_ref()?.declared;
            let mut found = declared.answering(ComponentKind::Activity, intent).into_iter();
            let (activity, _) = found.find(|(it, filter)| it.exported && filter.is_default())?;
            Some((declared.package.clone(), activity.name.clone()))
        })
    }
}

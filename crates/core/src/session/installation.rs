//! Installs and uninstalls apps, and asks the phone afterwards whether it did.
//!
//! Start with [`SessionCall::install_app`]. The package is read here first: what is not one never
//! reaches the phone, and the phone's answer can be compared with what the package says.

use std::time::Duration;

use thumbwire_device::{AppId, Error, InstallOptions, Package};

use super::SessionCall;
use super::attached_device::AttachedDevice;
use super::transfers::{ReportingReader, refuse_input};
use crate::action::{CacheKind, Cause, Failure, InstalledApp, Outcome};

impl SessionCall<'_> {
    /// Installs an app from a local package, or updates it.
    pub(super) async fn install_app(
        &self,
        path: &str,
        options: InstallOptions,
    ) -> Result<Outcome, Failure> {
        let file = self.session.input_file(path).await?;
        let manifest = file.read_manifest().await.map_err(|error| refuse_input(&error))?;
        let app = AppId(manifest.package);
        if let Some(split) = manifest.split {
            let reason = format!(
                "this is {split:?}, one of several packages of {app}; use one package that has everything"
            );
            return Err(Cause::InvalidArgument { reason }.into());
        }
        let length = file.length();
        let reader = file.into_reader().await.map_err(|error| refuse_input(&error))?;
        let mut reader = ReportingReader::new(reader, length, &self.call.progress);
        let attached = self.attached().await?;
        attached.refuse_new_app(&app)?;
        let _turn = attached.screen.acting.lock().await;
        let before = attached.package(&app).await?;
        let installing = async {
            attached.device.app_installation()?.install(&mut reader, length, options).await
        };
        let installed = attached.act(installing).await;
        // Even if it failed: the connection may have been lost at the end.
        self.forget_apps(attached);
        installed?;
        let wrong = |text: String| Failure::from(Cause::DeviceError { text });
        let Some(after) = attached.package(&app).await? else {
            return Err(wrong(format!("the phone reports success, but does not have {app}")));
        };
        // Phones before Android 9 know only the lower half of a version code.
        let lower = u64::from(u32::MAX);
        if after.version_code & lower != manifest.version_code & lower {
            return Err(wrong(format!(
                "the phone reports success, but has version code {} of {app} instead of {}",
                after.version_code, manifest.version_code
            )));
        }
        Ok(Outcome::Installed(InstalledApp {
            app,
            version_code: after.version_code,
            version_name: after.version_name,
            before: before.map(|before| (before.version_code, before.version_name)),
        }))
    }

    /// Uninstalls an app that the user installed.
    pub(super) async fn uninstall_app(&self, app: &AppId) -> Result<Outcome, Failure> {
        let attached = self.attached().await?;
        attached.refuse_app(app).await?;
        let installed = attached.installed(Duration::ZERO).await?.apps;
        let Some(known) = installed.iter().find(|known| known.id == *app) else {
            return Err(Cause::AppNotFound { app: app.0.clone() }.into());
        };
        if known.system {
            let reason = format!(
                "{app} came with the phone and cannot be uninstalled; its data can be cleared, or it can be disabled in the phone's settings"
            );
            return Err(Cause::Refused { reason }.into());
        }
        let _turn = attached.screen.acting.lock().await;
        let removing = async { attached.device.app_installation()?.uninstall(app).await };
        let removed = attached.act(removing).await;
        self.forget_apps(attached);
        removed?;
        match attached.package(app).await? {
            None => Ok(Outcome::Done),
            Some(_) => {
                let text = format!("the phone reports success, but still has {app}");
                Err(Cause::DeviceError { text }.into())
            }
        }
    }

    /// Drops what is cached about the apps of the phone.
    fn forget_apps(&self, attached: &AttachedDevice) {
        self.session.app_tools.forget(attached.id());
        attached.screen.cache.forget(CacheKind::Apps);
    }
}

impl AttachedDevice {
    /// What the phone knows about an app; `None` if it does not have it.
    async fn package(&self, app: &AppId) -> Result<Option<Package>, Failure> {
        let asking = async { self.device.packages()?.package_info(app).await };
        match asking.await {
            Ok(package) => Ok(Some(package)),
            Err(Error::NoSuchApp { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }
}

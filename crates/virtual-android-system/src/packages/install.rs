//! Installing and uninstalling APKs: checks and files.
//!
//! Start with [`PackageInstaller::commit`], which installs the files of a session (`sessions`). The
//! order of the checks is that of `PackageInstallerSession` and `InstallPackageHelper`, the
//! messages are those of their exceptions; the release's `install_rules` has the differences.

use super::sessions::{InstallOptions, PackageInstaller, Session, staging};
use super::{Apk, SignatureError, Signer, base_path};
use crate::release::install_rules::InstallRules;
use crate::release::sdk;
use std::fmt;
use thumbwire_virtual_phone::{Installation, Manifest};
use thumbwire_virtual_shell::files::Error;

/// Why an app was not installed: Android's error code and message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallError {
    /// Android's error code, such as `INSTALL_FAILED_VERSION_DOWNGRADE`.
    pub code: &'static str,
    /// Android's message.
    pub reason: String,
}

impl InstallError {
    fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason.as_str() {
            "" => f.write_str(self.code),
            why => write!(f, "{}: {why}", self.code),
        }
    }
}

/// A parsed file of a session.
struct StagedApk {
    path: String,
    apk: Apk,
    signer: Signer,
}

impl PackageInstaller<'_> {
    /// Installs the files of a session and closes it.
    ///
    /// # Errors
    /// Why the installation failed; nothing has changed then.
    pub fn commit(&mut self, id: u32) -> Result<(), InstallError> {
        let Some(session) = self.packages.sessions.remove(&id) else {
            return Err(InstallError::new("INSTALL_FAILED_INTERNAL_ERROR", "Session not found"));
        };
        let done = self
            .verify_apks(id, &session)
            .and_then(|staged| self.put(id, &session.options, staged));
        self.files.remove_all(&staging(id));
        if let Err(refusal) = &done {
            let line = format!("Commit of session {id} failed: {}", refusal.reason);
            self.world.write_log(
                'E',
                "PackageInstallerSession",
                thumbwire_virtual_phone::SYSTEM_PID,
                &line,
            );
        }
        done
    }

    /// Uninstalls an app, with its data unless `keep` is set. `false` if it is not installed or
    /// preinstalled.
    pub fn uninstall(&mut self, package: &str, keep: bool) -> bool {
        let Some(gone) = self.world.uninstall(package) else {
            // A second uninstall deletes kept data.
            let left = self.packages.left.remove(package).is_some();
            if left && !keep {
                self.forget(package);
            }
            return left;
        };
        let files = match &gone.installation {
            Some(installation) => installation.files.clone(),
            None => vec![base_path(&gone, self.release())],
        };
        for file in &files {
            self.take_folder(file);
        }
        if keep {
            self.packages.left.insert(package.to_owned(), gone.uid);
        } else {
            self.forget(package);
        }
        true
    }

    /// Deletes what an app left behind: its data and its permission decisions.
    fn forget(&mut self, package: &str) {
        self.files.remove_all(&data(package));
        self.world.forget_permissions(package);
    }

    /// Deletes a package's file and the package's own folders.
    fn take_folder(&mut self, file: &str) {
        let inside = file.strip_prefix("/data/app/").unwrap_or_default();
        if let Some(first) = inside.split('/').next().filter(|first| !first.is_empty()) {
            self.files.remove_all(&format!("/data/app/{first}"));
        }
    }

    /// Parses the files of a session and runs Android's checks. The base comes first.
    fn verify_apks(&mut self, id: u32, session: &Session) -> Result<Vec<StagedApk>, InstallError> {
        let rules = self.release().packages;
        let options = &session.options;
        if session.files.is_empty() {
            let why = format!("Session: {id}. No packages staged in {}", staging(id));
            return Err(InstallError::new("INSTALL_FAILED_INVALID_APK", why));
        }
        let mut staged: Vec<StagedApk> = Vec::new();
        for name in &session.files {
            let path = format!("{}/{name}", staging(id));
            let (apk, signer) = self.read(&path, rules)?;
            if staged.iter().any(|known| known.apk.declared.split == apk.declared.split) {
                let split = apk.declared.split.as_deref().unwrap_or("null");
                let why = format!("Split {split} was defined multiple times");
                return Err(InstallError::new("INSTALL_FAILED_INVALID_APK", why));
            }
            staged.push(StagedApk { path, apk, signer });
        }
        if let Some(package) = &options.inherit {
            self.inherit(package, &mut staged, rules)?;
        }
        staged.sort_by(|a, b| a.apk.declared.split.cmp(&b.apk.declared.split));
        consistent(&staged)?;
        let base = &staged[0];
        if base.apk.declared.split.is_some() {
            let splits: Vec<&str> =
                staged.iter().filter_map(|file| file.apk.declared.split.as_deref()).collect();
            let why =
                format!("Full install must include a base package: splits=[{}]", splits.join(", "));
            return Err(InstallError::new("INSTALL_FAILED_INVALID_APK", rules.short(&why)));
        }
        let declared = &base.apk.declared;
        if declared.split_required && staged.len() == 1 {
            let why = format!("Missing split for {}", declared.package);
            return Err(InstallError::new("INSTALL_FAILED_MISSING_SPLIT", why));
        }
        let abis = self.abis();
        let has_code = staged.iter().any(|file| !file.apk.abis.is_empty());
        let runs = staged.iter().flat_map(|file| &file.apk.abis).any(|abi| abis.contains(abi));
        if has_code && !runs {
            let why = "Failed to extract native libraries, res=-113";
            return Err(InstallError::new("INSTALL_FAILED_NO_MATCHING_ABIS", why));
        }
        if let Some((name, line)) = &declared.silent_export
            && rules.wants_exported
        {
            // `ParsedActivityUtils` and similar; the message depends on the target API level.
            let why = format!(
                "Failed parse during installPackageLI: {} (at Binary XML file line #{line}): {name}: Targeting S+ (version 31 and above) requires that an explicit value for android:exported be defined when intent filters are present",
                base.path
            );
            return Err(InstallError::new("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED", why));
        }
        self.known(options, base, rules)?;
        Ok(staged)
    }

    /// Parses one file: its manifest, whether this release can run it, and its signer.
    fn read(&self, path: &str, rules: &InstallRules) -> Result<(Apk, Signer), InstallError> {
        let bytes = self.files.read_as_system(path).unwrap_or_default();
        let apk = Apk::read(bytes.as_ref(), rules.schemes).map_err(|fault| {
            InstallError::new(fault.code, rules.short(&fault.reason).replace("PATH", path))
        })?;
        let declared = &apk.declared;
        let level = sdk(self.world.android());
        if declared.min_sdk > level {
            let needs = format!(
                "Requires newer sdk version #{} (current version is #{level})",
                declared.min_sdk
            );
            let reason = match rules.plain_sdk_words {
                true => needs,
                false => format!(
                    "Failed parse during installPackageLI: {path} (at Binary XML file line #{}): {needs}",
                    declared.sdk_line
                ),
            };
            return Err(InstallError::new("INSTALL_FAILED_OLDER_SDK", reason));
        }
        const NO_CERTIFICATES: &str = "INSTALL_PARSE_FAILED_NO_CERTIFICATES";
        let collecting = format!("Failed to collect certificates from {path}");
        let signer = apk.signer.clone().map_err(|why| {
            let reason = match why {
                SignatureError::Bare => {
                    format!("{collecting}: Attempt to get length of null array")
                }
                SignatureError::Broken(why) => format!("{collecting}{}", why.replace("PATH", path)),
            };
            InstallError::new(NO_CERTIFICATES, reason)
        })?;
        if rules.wants_scheme_2 && declared.target_sdk >= 30 && signer.scheme < 2 {
            let reason = format!(
                "No signature found in package of version 2 or newer for package {}",
                declared.package
            );
            return Err(InstallError::new(NO_CERTIFICATES, reason));
        }
        Ok((apk, signer))
    }

    /// Adds files of the installed package that the session does not replace.
    fn inherit(
        &self,
        package: &str,
        staged: &mut Vec<StagedApk>,
        rules: &InstallRules,
    ) -> Result<(), InstallError> {
        let Some(installed) = self.installed(package).and_then(|known| known.installation) else {
            let reason = format!("Missing existing base package for {package}");
            return Err(InstallError::new("INSTALL_FAILED_INTERNAL_ERROR", reason));
        };
        for path in &installed.files {
            let (apk, signer) = self.read(path, rules)?;
            if !staged.iter().any(|file| file.apk.declared.split == apk.declared.split) {
                staged.push(StagedApk { path: path.clone(), apk, signer });
            }
        }
        Ok(())
    }

    /// Checks against what is already installed.
    fn known(
        &self,
        options: &InstallOptions,
        base: &StagedApk,
        rules: &InstallRules,
    ) -> Result<(), InstallError> {
        let declared = &base.apk.declared;
        let package = &declared.package;
        let known = self.installed(package);
        if let Some(known) = &known
            && options.inherit.is_none()
        {
            if !options.replace {
                let reason = format!("Attempt to re-install {package} without first uninstalling.");
                return Err(InstallError::new("INSTALL_FAILED_ALREADY_EXISTS", reason));
            }
            // `PackageManagerServiceUtils.isDowngradePermitted` on a production build.
            let debuggable = known.installation.as_ref().is_some_and(|it| it.declared.debuggable);
            if declared.version_code < known.version_code && !(options.downgrade && debuggable) {
                let reason = format!(
                    "Downgrade detected: Update version code {} is older than current {}",
                    declared.version_code, known.version_code
                );
                return Err(InstallError::new("INSTALL_FAILED_VERSION_DOWNGRADE", reason));
            }
        }
        if declared.test_only && !options.test {
            return Err(InstallError::new("INSTALL_FAILED_TEST_ONLY", rules.test_only));
        }
        // Nobody else has the key of a preinstalled app.
        let mine = known.is_none_or(|known| {
            known.installation.is_some_and(|it| it.certificate == base.signer.certificate)
        });
        match mine {
            true => Ok(()),
            false => {
                let reason = rules.other_signer.replace("{}", package);
                Err(InstallError::new("INSTALL_FAILED_UPDATE_INCOMPATIBLE", reason))
            }
        }
    }

    /// Moves verified files into place and updates the world.
    fn put(
        &mut self,
        id: u32,
        options: &InstallOptions,
        staged: Vec<StagedApk>,
    ) -> Result<(), InstallError> {
        let full = |_: Error| {
            InstallError::new(
                "INSTALL_FAILED_INSUFFICIENT_STORAGE",
                "Failed to override installation location",
            )
        };
        let rules = self.release().packages;
        let base = &staged[0];
        let package = base.apk.declared.package.clone();
        let known = self.installed(&package);
        let before = known.as_ref().and_then(|known| known.installation.clone());
        let old: Vec<String> = before.as_ref().map(|it| it.files.clone()).unwrap_or_default();
        let first = rules.place(&package, id, old.first().map(String::as_str));
        let folder = first.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        self.files
            .make_folder_for(&folder, thumbwire_virtual_shell::files::SYSTEM, 0o755)
            .map_err(full)?;
        let (mut files, mut splits) = (Vec::new(), Vec::new());
        for file in &staged {
            let place = match &file.apk.declared.split {
                None => first.clone(),
                Some(split) => format!("{folder}/split_{split}.apk"),
            };
            self.files.remove_all(&place);
            self.files.move_as_system(&file.path, &place).map_err(full)?;
            files.push(place);
            splits.extend(file.apk.declared.split.clone());
        }
        for file in old.iter().filter(|file| !files.contains(file)) {
            self.take_folder(file);
        }
        let abis = self.abis();
        let its: Vec<&String> = staged.iter().flat_map(|file| &file.apk.abis).collect();
        let now = self.world.unix_time();
        let installation = Installation {
            declared: base.apk.declared.clone(),
            files,
            splits,
            certificate: base.signer.certificate,
            signature_scheme: base.signer.scheme,
            abi: abis.into_iter().find(|abi| its.contains(&abi)),
            installer: options
                .installer
                .clone()
                .or(before.as_ref().and_then(|it| it.installer.clone())),
            installed: (before.map_or(now, |it| it.installed.0), now),
        };
        let left = self.packages.left.remove(&package);
        self.world.install(Manifest::of_installation(installation), left);
        if options.grant {
            for asked in &staged[0].apk.declared.permissions {
                // Permissions that need no request are granted anyway, and unknown ones are not
                // granted.
                let _ = self.world.grant(&package, asked);
            }
        }
        let uid = self.installed(&package).map_or(0, |known| known.uid);
        self.files.make_folder_for(&data(&package), uid, 0o700).map_err(full)
    }

    fn installed(&self, package: &str) -> Option<Manifest> {
        self.world.packages().into_iter().find(|known| known.package == package).cloned()
    }

    /// The phone's ABIs, preferred first.
    fn abis(&self) -> Vec<String> {
        let list = self.properties.get("ro.product.cpu.abilist");
        let list = if list.is_empty() { self.properties.get("ro.product.cpu.abi") } else { list };
        list.split(',').map(str::to_owned).collect()
    }
}

/// `PackageInstallerSession.assertApkConsistent`
fn consistent(staged: &[StagedApk]) -> Result<(), InstallError> {
    let Some((first, others)) = staged.split_first() else { return Ok(()) };
    for file in others {
        let tag = file.path.rsplit('/').next().unwrap_or_default();
        let (one, other) = (&first.apk.declared, &file.apk.declared);
        let reason = if one.package != other.package {
            format!("{tag} package {} inconsistent with {}", other.package, one.package)
        } else if one.version_code != other.version_code {
            format!(
                "{tag} version code {} inconsistent with {}",
                other.version_code, one.version_code
            )
        } else if first.signer.certificate != file.signer.certificate {
            format!("{tag} signatures are inconsistent")
        } else {
            continue;
        };
        return Err(InstallError::new("INSTALL_FAILED_INVALID_APK", reason));
    }
    Ok(())
}

/// An app's data folder.
fn data(package: &str) -> String {
    format!("/data/data/{package}")
}

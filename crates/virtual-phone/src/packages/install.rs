//! Putting APKs onto the phone: what is asked of an APK before it may come, its files, and taking it away again.
//!
//! Begin at [`State::commit`], which installs what a session (`sessions`) has gathered. The order of the
//! questions is that of `PackageInstallerSession` and `InstallPackageHelper`, the words those of their exceptions; what a release words
//! otherwise stands in `ways`.

use super::sessions::{How, Session, staging};
use super::ways::Ways;
use super::{Apk, Signer, Unsigned};
use crate::files::Error;
use crate::phone::State;
use crate::programs::pm::apk;
use crate::programs::sdk;
use crate::world::{Installation, Manifest};
use std::fmt;

/// Why an app was not installed: Android's name for it, and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) why: String,
}

impl Refusal {
    fn new(code: &'static str, why: impl Into<String>) -> Self {
        Self { code, why: why.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why.as_str() {
            "" => f.write_str(self.code),
            why => write!(f, "{}: {why}", self.code),
        }
    }
}

/// A file of a session, read.
struct Staged {
    path: String,
    apk: Apk,
    signer: Signer,
}

impl State {
    /// Installs what a session holds, which ends it.
    ///
    /// # Errors
    /// Why not; nothing has changed then.
    pub(crate) fn commit(&mut self, id: u32) -> Result<(), Refusal> {
        let Some(session) = self.packages.sessions.remove(&id) else {
            return Err(Refusal::new("INSTALL_FAILED_INTERNAL_ERROR", "Session not found"));
        };
        let done = self.judged(id, &session).and_then(|staged| self.put(id, &session.how, staged));
        self.files.take_away(&staging(id));
        if let Err(refusal) = &done {
            let line = format!("Commit of session {id} failed: {}", refusal.why);
            self.world.write_log('E', "PackageInstallerSession", crate::world::SYSTEM_PID, &line);
        }
        done
    }

    /// Takes an app away, with its data unless they are kept. `false` where it is not there, or came with the phone.
    pub(crate) fn uninstall(&mut self, package: &str, keep: bool) -> bool {
        let Some(gone) = self.world.uninstall(package) else {
            // What was kept goes with the second order.
            let left = self.packages.left.remove(package).is_some();
            if left && !keep {
                self.forget(package);
            }
            return left;
        };
        let files = match &gone.installation {
            Some(installation) => installation.files.clone(),
            None => vec![apk(&gone, self.manners())],
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

    /// Takes away what an app left: its data, and what was decided about its permissions.
    fn forget(&mut self, package: &str) {
        self.files.take_away(&data(package));
        self.world.forget_permissions(package);
    }

    /// Takes a package's file away, and the folders that are its own.
    fn take_folder(&mut self, file: &str) {
        let inside = file.strip_prefix("/data/app/").unwrap_or_default();
        if let Some(first) = inside.split('/').next().filter(|first| !first.is_empty()) {
            self.files.take_away(&format!("/data/app/{first}"));
        }
    }

    /// Reads the files of a session and asks them all that Android asks. The base comes first.
    fn judged(&mut self, id: u32, session: &Session) -> Result<Vec<Staged>, Refusal> {
        let ways = self.manners().packages;
        let how = &session.how;
        if session.files.is_empty() {
            let why = format!("Session: {id}. No packages staged in {}", staging(id));
            return Err(Refusal::new("INSTALL_FAILED_INVALID_APK", why));
        }
        let mut staged: Vec<Staged> = Vec::new();
        for name in &session.files {
            let path = format!("{}/{name}", staging(id));
            let (apk, signer) = self.read(&path, ways)?;
            if staged.iter().any(|known| known.apk.declared.split == apk.declared.split) {
                let split = apk.declared.split.as_deref().unwrap_or("null");
                let why = format!("Split {split} was defined multiple times");
                return Err(Refusal::new("INSTALL_FAILED_INVALID_APK", why));
            }
            staged.push(Staged { path, apk, signer });
        }
        if let Some(package) = &how.inherit {
            self.inherit(package, &mut staged, ways)?;
        }
        staged.sort_by(|a, b| a.apk.declared.split.cmp(&b.apk.declared.split));
        consistent(&staged)?;
        let base = &staged[0];
        if base.apk.declared.split.is_some() {
            let splits: Vec<&str> =
                staged.iter().filter_map(|file| file.apk.declared.split.as_deref()).collect();
            let why =
                format!("Full install must include a base package: splits=[{}]", splits.join(", "));
            return Err(Refusal::new("INSTALL_FAILED_INVALID_APK", ways.short(&why)));
        }
        let declared = &base.apk.declared;
        if declared.split_required && staged.len() == 1 {
            let why = format!("Missing split for {}", declared.package);
            return Err(Refusal::new("INSTALL_FAILED_MISSING_SPLIT", why));
        }
        let abis = self.abis();
        let has_code = staged.iter().any(|file| !file.apk.abis.is_empty());
        let runs = staged.iter().flat_map(|file| &file.apk.abis).any(|abi| abis.contains(abi));
        if has_code && !runs {
            let why = "Failed to extract native libraries, res=-113";
            return Err(Refusal::new("INSTALL_FAILED_NO_MATCHING_ABIS", why));
        }
        if let Some((name, line)) = &declared.silent_export
            && ways.wants_exported
        {
            // `ParsedActivityUtils` and its like; the word is of an API level that the app is made for.
            let why = format!(
                "Failed parse during installPackageLI: {} (at Binary XML file line #{line}): {name}: Targeting S+ (version 31 and above) requires that an explicit value for android:exported be defined when intent filters are present",
                base.path
            );
            return Err(Refusal::new("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED", why));
        }
        self.known(how, base, ways)?;
        Ok(staged)
    }

    /// Reads one file: what it is, whether this release can run it, and who signed it.
    fn read(&self, path: &str, ways: &Ways) -> Result<(Apk, Signer), Refusal> {
        let bytes = self.files.read_as_system(path).unwrap_or_default();
        let apk = Apk::read(bytes.as_ref(), ways.schemes).map_err(|fault| {
            Refusal::new(fault.code, ways.short(&fault.why).replace("PATH", path))
        })?;
        let declared = &apk.declared;
        let level = sdk(self.world.android());
        if declared.min_sdk > level {
            let needs = format!(
                "Requires newer sdk version #{} (current version is #{level})",
                declared.min_sdk
            );
            let why = match ways.plain_sdk_words {
                true => needs,
                false => format!(
                    "Failed parse during installPackageLI: {path} (at Binary XML file line #{}): {needs}",
                    declared.sdk_line
                ),
            };
            return Err(Refusal::new("INSTALL_FAILED_OLDER_SDK", why));
        }
        const NO_CERTIFICATES: &str = "INSTALL_PARSE_FAILED_NO_CERTIFICATES";
        let collecting = format!("Failed to collect certificates from {path}");
        let signer = apk.signer.clone().map_err(|why| {
            let why = match why {
                Unsigned::Bare => format!("{collecting}: Attempt to get length of null array"),
                Unsigned::Broken(why) => format!("{collecting}{}", why.replace("PATH", path)),
            };
            Refusal::new(NO_CERTIFICATES, why)
        })?;
        if ways.wants_scheme_2 && declared.target_sdk >= 30 && signer.scheme < 2 {
            let why = format!(
                "No signature found in package of version 2 or newer for package {}",
                declared.package
            );
            return Err(Refusal::new(NO_CERTIFICATES, why));
        }
        Ok((apk, signer))
    }

    /// Adds what a package has and a session does not bring.
    fn inherit(&self, package: &str, staged: &mut Vec<Staged>, ways: &Ways) -> Result<(), Refusal> {
        let Some(installed) = self.installed(package).and_then(|known| known.installation) else {
            let why = format!("Missing existing base package for {package}");
            return Err(Refusal::new("INSTALL_FAILED_INTERNAL_ERROR", why));
        };
        for path in &installed.files {
            let (apk, signer) = self.read(path, ways)?;
            if !staged.iter().any(|file| file.apk.declared.split == apk.declared.split) {
                staged.push(Staged { path: path.clone(), apk, signer });
            }
        }
        Ok(())
    }

    /// Asks what the phone has already.
    fn known(&self, how: &How, base: &Staged, ways: &Ways) -> Result<(), Refusal> {
        let declared = &base.apk.declared;
        let package = &declared.package;
        let known = self.installed(package);
        if let Some(known) = &known
            && how.inherit.is_none()
        {
            if !how.replace {
                let why = format!("Attempt to re-install {package} without first uninstalling.");
                return Err(Refusal::new("INSTALL_FAILED_ALREADY_EXISTS", why));
            }
            // `PackageManagerServiceUtils.isDowngradePermitted` on a phone in production.
            let debuggable = known.installation.as_ref().is_some_and(|it| it.declared.debuggable);
            if declared.version_code < known.version_code && !(how.downgrade && debuggable) {
                let why = format!(
                    "Downgrade detected: Update version code {} is older than current {}",
                    declared.version_code, known.version_code
                );
                return Err(Refusal::new("INSTALL_FAILED_VERSION_DOWNGRADE", why));
            }
        }
        if declared.test_only && !how.test {
            return Err(Refusal::new("INSTALL_FAILED_TEST_ONLY", ways.test_only));
        }
        // Of what came with the phone, nobody else has the key.
        let mine = known.is_none_or(|known| {
            known.installation.is_some_and(|it| it.certificate == base.signer.certificate)
        });
        match mine {
            true => Ok(()),
            false => {
                let why = ways.other_signer.replace("{}", package);
                Err(Refusal::new("INSTALL_FAILED_UPDATE_INCOMPATIBLE", why))
            }
        }
    }

    /// Puts files that were found good to their place and tells the world.
    fn put(&mut self, id: u32, how: &How, staged: Vec<Staged>) -> Result<(), Refusal> {
        let full = |_: Error| {
            Refusal::new(
                "INSTALL_FAILED_INSUFFICIENT_STORAGE",
                "Failed to override installation location",
            )
        };
        let ways = self.manners().packages;
        let base = &staged[0];
        let package = base.apk.declared.package.clone();
        let known = self.installed(&package);
        let before = known.as_ref().and_then(|known| known.installation.clone());
        let old: Vec<String> = before.as_ref().map(|it| it.files.clone()).unwrap_or_default();
        let first = ways.place(&package, id, old.first().map(String::as_str));
        let folder = first.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        self.files.make_folder_for(&folder, crate::files::SYSTEM, 0o755).map_err(full)?;
        let (mut files, mut splits) = (Vec::new(), Vec::new());
        for file in &staged {
            let place = match &file.apk.declared.split {
                None => first.clone(),
                Some(split) => format!("{folder}/split_{split}.apk"),
            };
            self.files.take_away(&place);
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
            installer: how
                .installer
                .clone()
                .or(before.as_ref().and_then(|it| it.installer.clone())),
            installed: (before.map_or(now, |it| it.installed.0), now),
        };
        let left = self.packages.left.remove(&package);
        self.world.install(Manifest::of_installation(installation), left);
        if how.grant {
            for asked in &staged[0].apk.declared.permissions {
                // Those that nobody is asked about are held anyway, and what is no permission is held by nobody.
                let _ = self.world.grant(&package, asked);
            }
        }
        let uid = self.installed(&package).map_or(0, |known| known.uid);
        self.files.make_folder_for(&data(&package), uid, 0o700).map_err(full)
    }

    fn installed(&self, package: &str) -> Option<Manifest> {
        self.world.packages().into_iter().find(|known| known.package == package).cloned()
    }

    /// The processors whose code the phone runs, the best first.
    fn abis(&self) -> Vec<String> {
        let list = self.properties.get("ro.product.cpu.abilist");
        let list = if list.is_empty() { self.properties.get("ro.product.cpu.abi") } else { list };
        list.split(',').map(str::to_owned).collect()
    }
}

/// `PackageInstallerSession.assertApkConsistent`
fn consistent(staged: &[Staged]) -> Result<(), Refusal> {
    let Some((first, others)) = staged.split_first() else { return Ok(()) };
    for file in others {
        let tag = file.path.rsplit('/').next().unwrap_or_default();
        let (one, other) = (&first.apk.declared, &file.apk.declared);
        let why = if one.package != other.package {
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
        return Err(Refusal::new("INSTALL_FAILED_INVALID_APK", why));
    }
    Ok(())
}

/// The folder of an app's data.
fn data(package: &str) -> String {
    format!("/data/data/{package}")
}

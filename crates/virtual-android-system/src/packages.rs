//! APKs: parses, checks and installs them.
//!
//! Start with [`Apk::read`]: the archive (`zip`), its manifest (`axml`, `manifest`, with resources
//! from `table`), its signer (`signature`). [`PackageInstaller`] collects an app's files in a
//! session (`sessions`) and installs them (`install`), with Android's checks and messages.
//! Preinstalled apps have theirs too (`built_in`, `make`). Any bytes give a result or an error.
//!
//! Not here: the commands that install (`programs/pm`) and the app's screen. An app's code is never
//! run.

mod axml;
pub mod built_in;
mod install;
mod make;
mod manifest;
mod pool;
mod sessions;
mod signature;
mod table;
#[cfg(test)]
mod tests;
mod zip;

pub use install::InstallError;
pub use sessions::{InstallOptions, InstallSessions, PackageInstaller};
pub use signature::{SignatureError, Signer};

use crate::release::Release;
use axml::Element;
use table::ResourceTable;
use thumbwire_virtual_phone::Manifest;
use thumbwire_virtual_phone::packages::ParsedPackage;
use zip::Zip;

/// A parsed APK.
#[derive(Debug, Clone)]
pub struct Apk {
    /// What its manifest says.
    pub declared: ParsedPackage,
    /// The names of the folders below `lib/`, sorted: the ABIs it has code for.
    pub abis: Vec<String>,
    /// Who signed it, or why that is unknown.
    pub signer: Result<Signer, SignatureError>,
}

/// Why an APK cannot be parsed. `PATH` stands for the file's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseApkError {
    /// Android's error code, such as `INSTALL_PARSE_FAILED_NOT_APK`.
    pub code: &'static str,
    /// Android's message.
    pub reason: String,
}

impl Apk {
    /// Parses an APK. `schemes` is the newest signature scheme that the release supports.
    ///
    /// # Errors
    /// Those of `ApkLiteParseUtils`. A missing signature is not an error here.
    pub fn read(bytes: &[u8], schemes: u8) -> Result<Self, ParseApkError> {
        let fault = |code, reason: &str| ParseApkError { code, reason: reason.to_owned() };
        let zip = Zip::open(bytes).ok_or_else(|| {
            fault(
                "INSTALL_PARSE_FAILED_NOT_APK",
                "Failed to parse PATH: Failed to load asset path PATH",
            )
        })?;
        let unexpected = |reason: &str| fault("INSTALL_PARSE_FAILED_UNEXPECTED_EXCEPTION", reason);
        let manifest = zip
            .read("AndroidManifest.xml")
            .ok_or_else(|| unexpected("Failed to parse PATH: AndroidManifest.xml"))?;
        let root = Element::read(&manifest)
            .ok_or_else(|| unexpected("Failed to parse PATH: Corrupt XML binary file"))?;
        let table = zip.read("resources.arsc").unwrap_or_default();
        let declared = manifest::read(&root, &ResourceTable::read(&table))
            .map_err(|(code, why)| ParseApkError { code, reason: why })?;
        let mut abis: Vec<String> = zip
            .names()
            .filter_map(|name| name.strip_prefix("lib/")?.split_once('/'))
            .filter(|(_, file)| file.ends_with(".so"))
            .map(|(abi, _)| abi.to_owned())
            .collect();
        abis.dedup();
        Ok(Self { declared, abis, signer: signature::signer(bytes, &zip, schemes) })
    }
}

/// The path of a package's APK: in the system image, or where it was installed.
pub fn base_path(manifest: &Manifest, release: &Release) -> String {
    if let Some(installation) = &manifest.installation {
        return installation.files.first().cloned().unwrap_or_default();
    }
    let short = manifest.label.split(' ').collect::<String>();
    match manifest.system {
        true => release.packages.built_in(&short),
        // A built-in app in the role of a downloaded one.
        false => release.packages.place(&manifest.package, 0, None),
    }
}

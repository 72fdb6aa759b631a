//! APKs: reading one, and putting it onto the phone.
//!
//! Begin at [`Apk::read`]: the archive (`zip`), its manifest (`axml`, `manifest`, with names out of `table`), its signer (`signature`).
//! `install` holds what a session (`sessions`) has gathered against what the phone has, in Android's order and words. Whatever the bytes are, they come to an answer.
//!
//! Not here: the commands that install (`programs/pm`), the app on the screen (`world/apps/stranger`), running any code: there is none.

mod axml;
pub(crate) mod built_in;
mod install;
mod manifest;
mod pool;
pub(crate) mod release_rules;
mod sessions;
mod signature;
mod table;
#[cfg(test)]
mod tests;
mod zip;

pub(crate) use install::InstallError;
pub(crate) use sessions::{InstallOptions, InstallSessions};
pub(crate) use signature::{SignatureError, Signer};

use axml::Element;
use table::ResourceTable;
use thumbwire_virtual_phone::packages::ParsedPackage;
use zip::Zip;

/// An APK as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Apk {
    pub(crate) declared: ParsedPackage,
    /// The names of the folders below `lib/`, sorted: the processors that it brings code for.
    pub(crate) abis: Vec<String>,
    pub(crate) signer: Result<Signer, SignatureError>,
}

/// Why an APK cannot be read. Words carry `PATH` where the file's place belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParseApkError {
    /// Android's name for it, such as `INSTALL_PARSE_FAILED_NOT_APK`.
    pub(crate) code: &'static str,
    pub(crate) reason: String,
}

impl Apk {
    /// Reads an APK. `schemes`: the newest signature scheme that the asking release knows.
    ///
    /// # Errors
    /// What `ApkLiteParseUtils` says of it. A missing signature is no error here.
    pub(crate) fn read(bytes: &[u8], schemes: u8) -> Result<Self, ParseApkError> {
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

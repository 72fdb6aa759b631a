//! The certificates that signed a package.
//!
//! Schemes 2 and later keep their signatures in a block right before the central directory: pairs
//! of `u64 length, u32 id, value`, then the block's length and a magic number. Scheme 1 keeps
//! PKCS#7 files in `META-INF/`. Sources: "APK Signature Scheme v2" and "v3" on source.android.com;
//! `ApkSigningBlockUtils` and `ApkSignatureSchemeV3Verifier` in AOSP's `util/apk`.

use std::collections::HashSet;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::archive::Archive;
use super::chunk::{u32_at, u64_at};
use super::{Error, der};

const WHAT: &str = "signing block";
/// The magic number and the length before it.
const FOOT: u64 = 24;
const MARK: &[u8] = b"APK Sig Block 42";
/// Size limit of a block. Typical blocks have a few kilobytes, or a few hundred with data added by
/// stores.
const MAX_BLOCK: u64 = 8 << 20;
/// The maximum number of signers (`MAX_V1_SIGNERS`; scheme 2 has the same). In scheme 3, a phone
/// skips any number of signers for other API levels without verifying them. Without this limit, the
/// signer that counts could hide behind copies of somebody else's certificate.
const MAX_SIGNERS: usize = 10;

/// A certificate that signed a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    /// SHA-256 of the DER certificate, as printed by `apksigner verify --print-certs`.
    pub sha256: [u8; 32],
    /// The scheme it was used in.
    pub scheme: Scheme,
}

/// A signature scheme.
///
/// A phone uses the newest scheme that it knows and the package has, and ignores all others: in
/// those, anybody could have put any certificate. In schemes 3 and 3.1 only the signer for the
/// phone's API level counts, because a key can be rotated for later releases only. In the other
/// schemes all signers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Files in `META-INF/`, as in JAR files.
    V1,
    /// Android 7 and later.
    V2,
    /// Android 9 and later.
    V3,
    /// Android 13 and later.
    V31,
}

impl Scheme {
    /// The schemes that use the signing block, newest first, with their block ids.
    const IN_BLOCK: [(Self, u32); 3] =
        [(Self::V31, 0x1b93_ad61), (Self::V3, 0xf053_68c0), (Self::V2, 0x7109_871a)];
}

/// The certificates of a package's signers, of all schemes, newest first.
///
/// # Errors
/// [`Error::Malformed`] if a signature exists but cannot be read; [`Error::TooLarge`],
/// [`Error::Source`].
pub(crate) async fn certificates(archive: &mut Archive<'_>) -> Result<Vec<Certificate>, Error> {
    let mut all = Vec::new();
    let block = block(archive).await?.unwrap_or_default();
    for (scheme, id) in Scheme::IN_BLOCK {
        let Some(value) = find(&block, id) else { continue };
        let broken = || Error::malformed(WHAT, format!("cannot read the {scheme:?} signature"));
        all.extend(signers(value, scheme).ok_or_else(broken)?);
    }
    all.extend(in_files(archive).await?);
    Ok(all)
}

/// The pairs in the signing block; `None` if there is no block.
async fn block(archive: &mut Archive<'_>) -> Result<Option<Bytes>, Error> {
    let end = archive.directory();
    let Some(foot) = end.checked_sub(FOOT) else { return Ok(None) };
    let mark = archive.ranges().bytes(foot, FOOT).await?;
    if !mark.ends_with(MARK) {
        return Ok(None);
    }
    // The length excludes the first eight bytes, which hold the same length again.
    let length = u64_at(&mark, 0).filter(|length| *length >= FOOT);
    let length = length.ok_or_else(|| Error::malformed(WHAT, "its length is invalid"))?;
    if length > MAX_BLOCK {
        return Err(Error::TooLarge { what: WHAT, limit: MAX_BLOCK });
    }
    let from = end.checked_sub(length).filter(|from| *from >= 8);
    let from = from.ok_or_else(|| Error::malformed(WHAT, "its length is invalid"))?;
    let first = archive.ranges().bytes(from - 8, length + 8).await?;
    if u64_at(&first, 0) != Some(length) {
        return Err(Error::malformed(WHAT, "its two lengths differ"));
    }
    Ok(Some(first.slice(8..first.len() - FOOT as usize)))
}

/// The value of the first pair with this id.
fn find(mut pairs: &[u8], id: u32) -> Option<&[u8]> {
    loop {
        let length = usize::try_from(u64_at(pairs, 0)?).ok()?;
        let pair = pairs.get(8..8usize.checked_add(length)?)?;
        if u32_at(pair, 0)? == id {
            return Some(&pair[4..]);
        }
        pairs = &pairs[8 + length..];
    }
}

/// A list of signers. Each has signed data (digests, certificates and more), signatures and a
/// public key.
fn signers(value: &[u8], scheme: Scheme) -> Option<Vec<Certificate>> {
    let mut found = Vec::new();
    for (index, signer) in LengthPrefixed(LengthPrefixed(value).next()?).enumerate() {
        if index == MAX_SIGNERS {
            return None;
        }
        let mut data = LengthPrefixed(LengthPrefixed(signer).next()?);
        data.next()?; // digests
        let certificate = LengthPrefixed(data.next()?).next()?;
        found.push(Certificate { sha256: Sha256::digest(certificate).into(), scheme });
    }
    Some(found)
}

/// Consecutive values, each preceded by its length as a `u32`.
struct LengthPrefixed<'a>(&'a [u8]);

impl<'a> Iterator for LengthPrefixed<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u32_at(self.0, 0)?).ok()?;
        let (one, rest) = self.0.get(4..)?.split_at_checked(length)?;
        self.0 = rest;
        Some(one)
    }
}

/// Scheme 1: each signature `META-INF/NAME.RSA` (or `DSA`, `EC`) of a file `META-INF/NAME.SF`.
/// Android also accepts lower case and subfolders (`addMetaEntry` and `readCertificates` of
/// `JarVerifier`, later `StrictJarVerifier`).
async fn in_files(archive: &mut Archive<'_>) -> Result<Vec<Certificate>, Error> {
    let upper = |name: &str| name.to_ascii_uppercase();
    let signed: HashSet<String> =
        archive.names().map(upper).filter(|it| it.ends_with(".SF")).collect();
    let is_signature = |name: &&str| {
        let name = upper(name);
        let Some((stem, "RSA" | "DSA" | "EC")) = name.rsplit_once('.') else { return false };
        stem.starts_with("META-INF/") && signed.contains(&format!("{stem}.SF"))
    };
    let names = archive.names().filter(is_signature).take(MAX_SIGNERS + 1);
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() > MAX_SIGNERS {
        return Err(Error::malformed(
            "signature",
            format!("more than {MAX_SIGNERS} signature files"),
        ));
    }
    let mut found = Vec::new();
    for name in names {
        let file = archive.file(&name).await?;
        let certificate = der::signer(&file);
        let broken = || Error::malformed("signature", format!("{name} has no signer certificate"));
        let sha256 = Sha256::digest(certificate.ok_or_else(broken)?).into();
        found.push(Certificate { sha256, scheme: Scheme::V1 });
    }
    Ok(found)
}

//! Who signed a package.
//!
//! Schemes 2 and later keep their signatures in a block right before the directory: pairs of `u64 length, u32 id, value`, then the block's
//! length and a mark. Source: "APK Signature Scheme v2" and "v3" on source.android.com, `ApkSigningBlockUtils` and
//! `ApkSignatureSchemeV3Verifier` in AOSP's `util/apk`. Scheme 1 keeps PKCS#7 files in `META-INF/`.

use std::collections::HashSet;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::archive::Archive;
use super::chunk::{u32_at, u64_at};
use super::{Error, der};

const WHAT: &str = "signing block";
/// The mark and the length before it.
const FOOT: u64 = 24;
const MARK: &[u8] = b"APK Sig Block 42";
/// The most that a block may take. They have some kilobytes, with what stores put into them some hundred.
const BLOCK: u64 = 8 << 20;
/// How many may have signed (`MAX_V1_SIGNERS`; scheme 2 has the same). Of scheme 3 a phone passes over any number that are not for its
/// level and verifies none of those: with more than so many, the one that counts could hide behind copies of another's.
const SIGNERS: usize = 10;

/// Who signed a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    /// SHA-256 of the certificate in DER, as `apksigner verify --print-certs` prints it.
    pub sha256: [u8; 32],
    /// By which scheme.
    pub scheme: Scheme,
}

/// How a package is signed.
///
/// The newest scheme that a package has and a phone knows is what the phone goes by, and the only one it looks at: in the others anybody
/// may have written any certificate. Of schemes 3 and 3.1 one signer counts, that of the phone's API level: a key can be exchanged for
/// later releases alone. Of the others all signers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Files in `META-INF/`, as JAR files are.
    V1,
    /// From Android 7 on.
    V2,
    /// From Android 9 on.
    V3,
    /// From Android 13 on.
    V31,
}

impl Scheme {
    /// Those that have a block, the newest first, with their ids.
    const IN_BLOCK: [(Self, u32); 3] =
        [(Self::V31, 0x1b93_ad61), (Self::V3, 0xf053_68c0), (Self::V2, 0x7109_871a)];

    /// The first API level that knows it.
    pub fn since(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::V2 => 24,
            Self::V3 => 28,
            Self::V31 => 33,
        }
    }
}

/// The certificates of those who signed a package: as a phone of this level sees it, or of all schemes, the newest first.
///
/// # Errors
/// [`Error::Malformed`] where a signature is there and cannot be read, [`Error::TooLarge`], [`Error::Source`].
pub(crate) async fn certificates(
    archive: &mut Archive<'_>,
    sdk: Option<u32>,
) -> Result<Vec<Certificate>, Error> {
    let mut all = Vec::new();
    let block = block(archive).await?.unwrap_or_default();
    for (scheme, id) in Scheme::IN_BLOCK {
        let known = sdk.is_none_or(|sdk| scheme.since() <= sdk);
        let Some(value) = find(&block, id).filter(|_| known) else { continue };
        let broken = || Error::malformed(WHAT, format!("{scheme:?} cannot be read"));
        all.extend(signers(value, scheme, sdk).ok_or_else(broken)?);
        if sdk.is_some() && !all.is_empty() {
            return Ok(all);
        }
    }
    all.extend(in_files(archive).await?);
    Ok(all)
}

/// The pairs of the block, if there is one.
async fn block(archive: &mut Archive<'_>) -> Result<Option<Bytes>, Error> {
    let end = archive.directory();
    let Some(foot) = end.checked_sub(FOOT) else { return Ok(None) };
    let mark = archive.windows().bytes(foot, FOOT).await?;
    if !mark.ends_with(MARK) {
        return Ok(None);
    }
    // It counts all but its first eight bytes, which hold it once more.
    let length = u64_at(&mark, 0).filter(|length| *length >= FOOT);
    let length = length.ok_or_else(|| Error::malformed(WHAT, "its length does not hold"))?;
    if length > BLOCK {
        return Err(Error::TooLarge { what: WHAT, limit: BLOCK });
    }
    let from = end.checked_sub(length).filter(|from| *from >= 8);
    let from = from.ok_or_else(|| Error::malformed(WHAT, "its length does not hold"))?;
    let first = archive.windows().bytes(from - 8, length + 8).await?;
    if u64_at(&first, 0) != Some(length) {
        return Err(Error::malformed(WHAT, "its lengths differ"));
    }
    Ok(Some(first.slice(8..first.len() - FOOT as usize)))
}

/// The value of this id: the first.
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

/// Signers, each of signed data (digests, certificates, in scheme 3 the lowest and highest API level, attributes), signatures and a key.
fn signers(value: &[u8], scheme: Scheme, sdk: Option<u32>) -> Option<Vec<Certificate>> {
    let mut found = Vec::new();
    for (place, signer) in Prefixed(Prefixed(value).next()?).enumerate() {
        if place == SIGNERS {
            return None;
        }
        let mut data = Prefixed(Prefixed(signer).next()?);
        data.next()?; // digests
        let certificate = Prefixed(data.next()?).next()?;
        let levels = (u32_at(data.0, 0), u32_at(data.0, 4));
        match (scheme, sdk, levels) {
            (Scheme::V3 | Scheme::V31, Some(sdk), (Some(from), Some(to)))
                if !(from..=to).contains(&sdk) => {}
            _ => found.push(Certificate { sha256: Sha256::digest(certificate).into(), scheme }),
        }
    }
    if sdk.is_some() && scheme != Scheme::V2 {
        found.truncate(1);
    }
    Some(found)
}

/// What follows each other, each after its length of four bytes.
struct Prefixed<'a>(&'a [u8]);

impl<'a> Iterator for Prefixed<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u32_at(self.0, 0)?).ok()?;
        let (one, rest) = self.0.get(4..)?.split_at_checked(length)?;
        self.0 = rest;
        Some(one)
    }
}

/// Scheme 1: of each signature `META-INF/NAME.RSA` (or `DSA`, `EC`) that signs a file `META-INF/NAME.SF`. To Android it is the same
/// in small letters and in a folder below (`addMetaEntry` and `readCertificates` of `JarVerifier`, later `StrictJarVerifier`).
async fn in_files(archive: &mut Archive<'_>) -> Result<Vec<Certificate>, Error> {
    let large = |name: &str| name.to_ascii_uppercase();
    let signed: HashSet<String> =
        archive.names().map(large).filter(|it| it.ends_with(".SF")).collect();
    let is_signature = |name: &&str| {
        let name = large(name);
        let Some((stem, "RSA" | "DSA" | "EC")) = name.rsplit_once('.') else { return false };
        stem.starts_with("META-INF/") && signed.contains(&format!("{stem}.SF"))
    };
    let names = archive.names().filter(is_signature).take(SIGNERS + 1);
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() > SIGNERS {
        return Err(Error::malformed("signature", format!("there are more than {SIGNERS}")));
    }
    let mut found = Vec::new();
    for name in names {
        let file = archive.file(&name).await?;
        let certificate = der::signer(&file);
        let broken = || Error::malformed("signature", format!("{name} names no signer"));
        let sha256 = Sha256::digest(certificate.ok_or_else(broken)?).into();
        found.push(Certificate { sha256, scheme: Scheme::V1 });
    }
    Ok(found)
}

//! The signer of an APK: schemes 2 and 3 in the block before the archive's directory, and scheme 1
//! in `META-INF`.
//!
//! Verified: that the bytes match the signed digests (over the whole file, or over every entry),
//! and which certificate belongs to them. Not verified: the signature over the digests, the
//! certificate's dates, rotated keys (`v3.1`). Source: "APK Signature Scheme v2" and "v3" of
//! source.android.com, `ApkSigningBlockUtils`, `ApkSignatureVerifier`, `JarVerifier`.

use super::pool::u32_at;
use super::zip::Zip;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha512};
use std::collections::BTreeMap;

/// The signer and the scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The SHA-256 of the certificate.
    pub certificate: [u8; 32],
    /// The scheme that was used: 1, 2 or 3.
    pub scheme: u8,
}

/// Why there is no signer, with Android's message if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignatureError {
    /// There is no signature.
    Bare,
    /// A signature is invalid; the message follows the file's path, such as ` using APK Signature
    /// Scheme v2: …`.
    Broken(String),
}

const MAGIC: &[u8] = b"APK Sig Block 42";
const V2: u32 = 0x7109_871a;
const V3: u32 = 0xf053_68c0;
/// Chunk size of digests (schemes 2 and 3).
const PIECE: usize = 1 << 20;

/// The signer of an APK. `schemes` is the newest scheme that the release knows.
pub(super) fn signer(bytes: &[u8], zip: &Zip<'_>, schemes: u8) -> Result<Signer, SignatureError> {
    for (scheme, id) in [(3, V3), (2, V2)] {
        if scheme > schemes {
            continue;
        }
        if let Some(block) = Block::find(bytes, zip).filter(|block| block.value(id).is_some()) {
            let broken = |reason: &str| {
                SignatureError::Broken(format!(" using APK Signature Scheme v{scheme}: {reason}"))
            };
            let value = block.value(id).unwrap_or_default();
            let certificate = block.verified(value).map_err(|why| broken(&why))?;
            return Ok(Signer { certificate, scheme });
        }
    }
    jar(zip, schemes)
}

/// The signing block and the parts around it.
struct Block<'a> {
    before: &'a [u8],
    pairs: &'a [u8],
    directory: &'a [u8],
    end: &'a [u8],
}

impl<'a> Block<'a> {
    fn find(bytes: &'a [u8], zip: &Zip<'_>) -> Option<Self> {
        let (directory, end) = zip.directory();
        let footer = bytes.get(directory.checked_sub(24)?..directory)?;
        let size = u64_at(footer, 0)?;
        let start = directory.checked_sub(usize::try_from(size).ok()?.checked_add(8)?)?;
        if footer.get(8..)? != MAGIC || u64_at(bytes, start)? != size {
            return None;
        }
        Some(Self {
            before: bytes.get(..start)?,
            pairs: bytes.get(start.checked_add(8)?..directory - 24)?,
            directory: bytes.get(directory..end)?,
            end: bytes.get(end..)?,
        })
    }

    /// The value with that id.
    fn value(&self, id: u32) -> Option<&'a [u8]> {
        let mut rest = self.pairs;
        while !rest.is_empty() {
            let length = usize::try_from(u64_at(rest, 0)?).ok()?;
            let pair = rest.get(8..)?.get(..length)?;
            if u32_at(pair, 0) == Some(id) {
                return pair.get(4..);
            }
            rest = &rest[8 + length..];
        }
        None
    }

    /// The first signer's certificate, if its digest matches the file.
    fn verified(&self, value: &[u8]) -> Result<[u8; 32], String> {
        let malformed = || "Malformed APK Signing Block".to_owned();
        let signed = (|| sized(sized(sized(value)?.0)?.0))().ok_or_else(malformed)?.0;
        let (digests, rest) = sized(signed).ok_or_else(malformed)?;
        let certificate = sized(rest).and_then(|(all, _)| sized(all)).ok_or_else(malformed)?.0;
        let mut digests = digests;
        let mut seen = false;
        while !digests.is_empty() {
            let (pair, rest) = sized(digests).ok_or_else(malformed)?;
            digests = rest;
            let algorithm = u32_at(pair, 0).ok_or_else(malformed)?;
            let wanted = pair.get(4..).and_then(sized).ok_or_else(malformed)?.0;
            // Algorithm ids: RSA-PSS, RSA, ECDSA, DSA, each with one of the two digests.
            let (name, found) = match algorithm {
                0x0101 | 0x0103 | 0x0201 | 0x0301 => ("SHA-256", self.digest::<Sha256>()),
                0x0102 | 0x0104 | 0x0202 => ("SHA-512", self.digest::<Sha512>()),
                // Merkle trees and future algorithms.
                _ => continue,
            };
            if found != wanted {
                return Err(format!("{name} digest of contents did not verify"));
            }
            seen = true;
        }
        match seen {
            true => Ok(Sha256::digest(certificate).into()),
            false => Err("No supported signatures found".to_owned()),
        }
    }

    /// The digest of digests over the three parts of the file; the end as if the block did not
    /// exist.
    fn digest<D: Digest>(&self) -> Vec<u8> {
        let mut end = self.end.to_vec();
        if let Some(place) = end.get_mut(16..20) {
            place.copy_from_slice(&(self.before.len() as u32).to_le_bytes());
        }
        let mut pieces = Vec::new();
        let mut count = 0_u32;
        for part in [self.before, self.directory, &end] {
            for piece in part.chunks(PIECE) {
                let mut digest = D::new();
                digest.update([0xa5]);
                digest.update((piece.len() as u32).to_le_bytes());
                digest.update(piece);
                pieces.extend_from_slice(&digest.finalize());
                count += 1;
            }
        }
        let mut whole = D::new();
        whole.update([0x5a]);
        whole.update(count.to_le_bytes());
        whole.update(&pieces);
        whole.finalize().to_vec()
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// A length-prefixed (four bytes) value, and the rest.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32_at(bytes, 0)? as usize;
    let (inside, rest) = bytes.get(4..)?.split_at_checked(length)?;
    Some((inside, rest))
}

/// Scheme 1: a list of the entries' digests, a digest of that list, and its signature.
fn jar(zip: &Zip<'_>, schemes: u8) -> Result<Signer, SignatureError> {
    let in_meta = |name: &str, ends: &[&str]| {
        let name = name.to_ascii_uppercase();
        name.starts_with("META-INF/") && ends.iter().any(|end| name.ends_with(end))
    };
    let names: Vec<&str> = zip.names().collect();
    let find = |ends: &[&str]| names.iter().copied().find(|name| in_meta(name, ends));
    let (Some(block), Some(list), Some(manifest)) =
        (find(&[".RSA", ".DSA", ".EC"]), find(&[".SF"]), find(&["/MANIFEST.MF"]))
    else {
        return Err(SignatureError::Bare);
    };
    let (Some(block), Some(list_text), Some(text)) =
        (zip.read(block), zip.read(list), zip.read(manifest))
    else {
        return Err(SignatureError::Bare);
    };
    let (main, _) = sections(&list_text);
    // Messages of `StrictJarVerifier` and `ApkSignatureSchemeV2Verifier`, after the file's path.
    let stripped = main.get("X-Android-APK-Signed").into_iter().flat_map(|ids| ids.split(','));
    for scheme in stripped.filter_map(|id| id.trim().parse::<u8>().ok()) {
        if (2..=schemes).contains(&scheme) {
            return Err(SignatureError::Broken(format!(
                ": {list} indicates PATH is signed using APK Signature Scheme v{scheme}, but no such signature was found. Signature stripped?"
            )));
        }
    }
    if let Some(wanted) = main.get("SHA-256-Digest-Manifest")
        && STANDARD.decode(wanted).ok().as_deref() != Some(Sha256::digest(&text).as_slice())
    {
        return Err(SignatureError::Broken(format!(
            ": {list} has invalid digest for META-INF/MANIFEST.MF"
        )));
    }
    let (_, listed) = sections(&text);
    for name in names.iter().filter(|name| !name.starts_with("META-INF/") && !name.ends_with('/')) {
        let Some(entry) = listed.get(*name) else {
            return Err(SignatureError::Broken(format!(
                ": Package PATH has no certificates at entry {name}"
            )));
        };
        let Some(wanted) = entry.get("SHA-256-Digest") else { continue };
        let found = zip.read(name).map(|bytes| Sha256::digest(&bytes));
        if STANDARD.decode(wanted).ok().as_deref() != found.as_ref().map(|digest| digest.as_slice())
        {
            return Err(SignatureError::Broken(format!(
                ": META-INF/MANIFEST.MF has invalid digest for {name} in PATH"
            )));
        }
    }
    let certificate = certificate(&block).ok_or(SignatureError::Bare)?;
    Ok(Signer { certificate: Sha256::digest(certificate).into(), scheme: 1 })
}

type Attributes = BTreeMap<String, String>;

/// The main section of a JAR manifest, and the others by name. A line that starts with a space
/// continues the previous one.
fn sections(text: &[u8]) -> (Attributes, BTreeMap<String, Attributes>) {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n").replace("\n ", "");
    let mut parts = text.split("\n\n").map(|part| {
        let pairs = part.lines().filter_map(|line| line.split_once(": "));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect::<Attributes>()
    });
    let main = parts.next().unwrap_or_default();
    let named = parts.filter_map(|part| Some((part.get("Name")?.clone(), part))).collect();
    (main, named)
}

/// The first certificate of a PKCS #7 signature: `ContentInfo { oid, [0] { SignedData { version,
/// digests, content, [0] certificates`.
fn certificate(block: &[u8]) -> Option<&[u8]> {
    let (_, info, _) = der(block)?;
    let (_, _, rest) = der(info)?;
    let (_, wrapped, _) = der(rest)?;
    let (_, signed, _) = der(wrapped)?;
    let mut rest = signed;
    for _ in 0..3 {
        rest = der(rest)?.2;
    }
    let (tag, certificates, _) = der(rest)?;
    let (_, _, others) = der(certificates)?;
    (tag == 0xa0).then(|| &certificates[..certificates.len() - others.len()])
}

/// A DER value: its tag, its contents, and the rest.
fn der(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, first) = (*bytes.first()?, *bytes.get(1)?);
    let (length, header) = match first {
        short if short < 0x80 => (usize::from(short), 2),
        long => {
            let count = usize::from(long & 0x7f);
            let digits = bytes.get(2..2 + count).filter(|_| (1..=4).contains(&count))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), 2 + count)
        }
    };
    let (inside, rest) = bytes.get(header..)?.split_at_checked(length)?;
    Some((tag, inside, rest))
}

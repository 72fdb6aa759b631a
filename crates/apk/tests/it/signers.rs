//! Signing blocks: whose certificate counts, and broken blocks.

use sha2::{Digest as _, Sha256};
use thumbwire_apk::{Apk, Error, Limits, Scheme};

use super::common::{fixture, hex, now};
use super::make::{self, stored};

/// A signing block with these pairs.
fn block(pairs: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut inside = Vec::new();
    for (id, value) in pairs {
        inside.extend((value.len() as u64 + 4).to_le_bytes());
        inside.extend(id.to_le_bytes());
        inside.extend(value);
    }
    let length = (inside.len() as u64 + 24).to_le_bytes();
    [&length[..], &inside, &length, b"APK Sig Block 42"].concat()
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_le_bytes()[..], bytes].concat()
}

/// Minimum and maximum API level of a signer.
type Levels = Option<(u32, u32)>;

/// The signers of a scheme, each with its certificate.
fn signed(signers: &[(&[u8], Levels)]) -> Vec<u8> {
    let each = signers.iter().flat_map(|(certificate, levels)| {
        let levels = levels.map_or(vec![], |(from, to)| [from, to].map(u32::to_le_bytes).concat());
        let certificates = prefixed(&prefixed(certificate));
        let data = [prefixed(b""), certificates, levels, prefixed(b"")].concat();
        prefixed(&[prefixed(&data), prefixed(b""), prefixed(b"key")].concat())
    });
    prefixed(&each.collect::<Vec<u8>>())
}

const V2: u32 = 0x7109_871a;
const V3: u32 = 0xf053_68c0;
const V31: u32 = 0x1b93_ad61;

fn certificates(block: &[u8]) -> Result<Vec<(Scheme, String)>, Error> {
    let bytes =
        make::package_with(&[stored("AndroidManifest.xml", &make::least_manifest())], block, b"");
    now(async {
        let found = Apk::open(bytes, Limits::default()).await?.certificates().await?;
        Ok(found.iter().map(|it| (it.scheme, hex(&it.sha256)[..4].to_owned())).collect())
    })
}

/// A phone knows one of the schemes only: in the others a stranger may have put any certificate.
/// The SHA-256 digests of `old`, `new` and `two` begin with these.
#[test]
fn signers_of_all_schemes_are_reported_newest_first() {
    let all = block(&[
        (0x4272_6577, vec![0; 100]), // padding
        (V2, signed(&[(b"old", None), (b"two", None)])),
        (V3, signed(&[(b"old", Some((28, 32))), (b"two", Some((33, 40)))])),
        (V31, signed(&[(b"new", Some((33, u32::MAX)))])),
    ]);
    let found = certificates(&all).unwrap();
    let found: Vec<_> = found.iter().map(|(scheme, hash)| (*scheme, hash.as_str())).collect();
    let expected = [
        (Scheme::V31, "1150"),
        (Scheme::V3, "cba0"),
        (Scheme::V3, "3fc4"),
        (Scheme::V2, "cba0"),
        (Scheme::V2, "3fc4"),
    ];
    assert_eq!(found, expected);
}

/// Android 9 and later skip signers for other levels without verifying them.
#[test]
fn signer_cannot_hide_behind_copied_certificates() {
    let mut signers = vec![(&b"old"[..], Some((900, 901))); 10];
    signers.push((b"two", Some((28, 40))));
    let refused = certificates(&block(&[(V3, signed(&signers))])).unwrap_err();
    assert_eq!(refused.to_string(), "signing block: cannot read the V3 signature");
    assert_eq!(certificates(&block(&[(V3, signed(&signers[1..]))])).unwrap().len(), 10);
}

#[test]
fn signing_block_with_invalid_lengths_is_an_error() {
    let good = block(&[(V2, signed(&[(b"old", None)]))]);
    assert_eq!(certificates(&good).unwrap().len(), 1);
    for (at, says) in [
        (0, "signing block: its two lengths differ"),
        (good.len() - 24, "signing block exceeds the limit of 8388608"),
        (20, "signing block: cannot read the V2 signature"),
    ] {
        let mut broken = good.clone();
        broken[at..at + 4].fill(0xff);
        assert_eq!(certificates(&broken).unwrap_err().to_string(), says, "{at}");
    }
    let mut short = good.clone();
    let at = short.len() - 24;
    short[at..at + 8].copy_from_slice(&7u64.to_le_bytes());
    let says = "signing block: its length is invalid";
    assert_eq!(certificates(&short).unwrap_err().to_string(), says);
}

/// As printed by `apksigner verify --print-certs`.
#[test]
fn our_package_is_signed_by_one_key_in_three_schemes() {
    let mine = "1bb33b0aebd92bdb6e500f00f47fd17458a911639a27b44764444edeead42abc";
    now(async {
        let mut apk = Apk::open(fixture("hello-1.apk"), Limits::default()).await.unwrap();
        let found = apk.certificates().await.unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.scheme, hex(&one.sha256))).collect();
        let expected = [Scheme::V3, Scheme::V2, Scheme::V1].map(|scheme| (scheme, mine.to_owned()));
        assert_eq!(found, expected);
    });
}

#[test]
fn invalid_signature_file_in_meta_inf_is_an_error() {
    let files = [
        stored("AndroidManifest.xml", &make::least_manifest()),
        stored("META-INF/A.RSA", &[0x30, 0x80, 0x06, 0x09]),
        stored("META-INF/A.SF", b""),
        stored("META-INF/services/B.RSA", b""),
    ];
    now(async {
        let mut apk = Apk::open(make::package(&files), Limits::default()).await.unwrap();
        let refused = apk.certificates().await.unwrap_err();
        assert_eq!(refused.to_string(), "signature: META-INF/A.RSA has no signer certificate");
        for unsigned in [&files[..2], &files[3..]] {
            let mut apk = Apk::open(make::package(unsigned), Limits::default()).await.unwrap();
            assert_eq!(apk.certificates().await, Ok(vec![]), "it has no .SF file");
        }
    });
}

#[test]
fn lower_case_and_nested_signatures_count_up_to_a_limit() {
    let read = |names: &[String]| {
        let files: Vec<_> = names.iter().map(|name| stored(name, b"")).collect();
        now(async {
            Apk::open(make::package(&files), Limits::default()).await?.certificates().await
        })
    };
    for name in ["META-INF/a", "META-INF/services/A", "meta-inf/A"] {
        let refused = read(&[format!("{name}.rsa"), format!("{name}.SF")]).unwrap_err();
        assert_eq!(refused.to_string(), format!("signature: {name}.rsa has no signer certificate"));
    }
    let many = (0..11).flat_map(|at| ["RSA", "SF"].map(|kind| format!("META-INF/{at}.{kind}")));
    let refused = read(&many.collect::<Vec<_>>()).unwrap_err();
    assert_eq!(refused.to_string(), "signature: more than 10 signature files");
}

/// A DER value: tag, length, content.
fn der(tag: u8, inside: &[&[u8]]) -> Vec<u8> {
    let inside = inside.concat();
    let length = u16::try_from(inside.len()).unwrap().to_be_bytes();
    [&[tag, 0x82, length[0], length[1]][..], &inside].concat()
}

/// A signature holds its key's whole chain, in any order.
#[test]
fn certificate_chain_yields_the_signers_own() {
    let issuer = |name: &[u8]| der(0x30, &[&der(0x0c, &[name])]);
    let certificate = |by: &[u8], serial: u8| {
        let body = [
            der(0xa0, &[&der(0x02, &[&[2]])]),
            der(0x02, &[&[serial]]),
            der(0x30, &[]),
            issuer(by),
            der(0x30, &[b"whatever"]),
        ];
        der(0x30, &[&der(0x30, &[&body.concat()]), &der(0x30, &[]), b"signed"])
    };
    let all = [certificate(b"root", 1), certificate(b"middle", 7), certificate(b"root", 7)];
    for (by, serial, expected) in
        [(&b"root"[..], 7, Some(2)), (b"middle", 7, Some(1)), (b"middle", 1, None)]
    {
        let signer =
            der(0x30, &[&der(0x02, &[&[1]]), &der(0x30, &[&issuer(by), &der(0x02, &[&[serial]])])]);
        let certificates = der(0xa0, &[&all.concat()]);
        let data = [
            der(0x02, &[&[1]]),
            der(0x31, &[]),
            der(0x30, &[]),
            certificates,
            der(0x31, &[&signer]),
        ];
        let oid = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
        let pkcs7 = der(0x30, &[&oid, &der(0xa0, &[&der(0x30, &[&data.concat()])])]);
        let files = [stored("META-INF/A.DSA", &pkcs7), stored("META-INF/A.SF", b"")];
        let found = now(async {
            Apk::open(make::package(&files), Limits::default()).await?.certificates().await
        });
        let expected = expected.map(|at: usize| <[u8; 32]>::from(Sha256::digest(&all[at])));
        assert_eq!(found.ok().map(|found| found[0].sha256), expected, "{by:?} {serial}");
    }
}

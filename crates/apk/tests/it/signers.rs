//! Signing blocks: whose certificate counts, and broken ones.

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

/// The lowest and the highest API level that a signer is for.
type Levels = Option<(u32, u32)>;

/// Signers of a scheme, each with its certificate.
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

fn certificates(block: &[u8], sdk: Option<u32>) -> Result<Vec<(Scheme, String)>, Error> {
    let bytes =
        make::package_with(&[stored("AndroidManifest.xml", &make::least_manifest())], block, b"");
    now(async {
        let apk = Apk::open(bytes, Limits::default()).await?;
        let mut apk = if let Some(sdk) = sdk { apk.on(sdk) } else { apk };
        let found = apk.certificates().await?;
        Ok(found.iter().map(|it| (it.scheme, hex(&it.sha256)[..4].to_owned())).collect())
    })
}

/// The SHA-256 of `old`, `new` and `two` begin with these.
#[test]
fn a_phone_goes_by_the_newest_scheme_that_it_knows_and_the_key_of_its_level() {
    let all = block(&[
        (0x4272_6577, vec![0; 100]), // padding
        (V2, signed(&[(b"old", None), (b"two", None)])),
        (V3, signed(&[(b"old", Some((28, 32)))])),
        (V31, signed(&[(b"new", Some((33, u32::MAX))), (b"two", Some((33, u32::MAX)))])),
    ]);
    let one = |scheme, hash: &str| Ok(vec![(scheme, hash.to_owned())]);
    let two = Ok(vec![(Scheme::V2, "cba0".into()), (Scheme::V2, "3fc4".into())]);
    assert_eq!(certificates(&all, Some(36)), one(Scheme::V31, "1150"));
    assert_eq!(certificates(&all, Some(32)), one(Scheme::V3, "cba0"));
    assert_eq!(certificates(&all, Some(27)), two);
    assert_eq!(certificates(&all, Some(23)), Ok(vec![]));
}

/// A phone of Android 9 does not look at scheme 3.1: a stranger may have put another's certificate there.
#[test]
fn for_a_phone_of_unknown_level_no_scheme_hides_another() {
    let copied = block(&[
        (V3, signed(&[(b"old", Some((28, 32))), (b"two", Some((33, 40)))])),
        (V31, signed(&[(b"new", Some((33, u32::MAX)))])),
    ]);
    let found = certificates(&copied, None).unwrap();
    let found: Vec<_> = found.iter().map(|(scheme, hash)| (*scheme, hash.as_str())).collect();
    assert_eq!(found, [(Scheme::V31, "1150"), (Scheme::V3, "cba0"), (Scheme::V3, "3fc4")]);
}

/// Android 9 and later pass over signers that are not for them and verify none of those.
#[test]
fn a_signer_does_not_hide_behind_copies_of_anothers() {
    let mut signers = vec![(&b"old"[..], Some((900, 901))); 10];
    signers.push((b"two", Some((28, 40))));
    for sdk in [None, Some(34)] {
        let refused = certificates(&block(&[(V3, signed(&signers))]), sdk).unwrap_err();
        assert_eq!(refused.to_string(), "signing block: V3 cannot be read");
    }
    assert_eq!(certificates(&block(&[(V3, signed(&signers[1..]))]), None).unwrap().len(), 10);
}

#[test]
fn a_signing_block_whose_lengths_do_not_hold_is_an_error_not_a_missing_signature() {
    let good = block(&[(V2, signed(&[(b"old", None)]))]);
    assert_eq!(certificates(&good, None).unwrap().len(), 1);
    for (at, says) in [
        (0, "signing block: its lengths differ"),
        (good.len() - 24, "signing block is larger than 8388608"),
        (20, "signing block: V2 cannot be read"),
    ] {
        let mut broken = good.clone();
        broken[at..at + 4].fill(0xff);
        assert_eq!(certificates(&broken, None).unwrap_err().to_string(), says, "{at}");
    }
    let mut short = good.clone();
    let at = short.len() - 24;
    short[at..at + 8].copy_from_slice(&7u64.to_le_bytes());
    let says = "signing block: its length does not hold";
    assert_eq!(certificates(&short, None).unwrap_err().to_string(), says);
}

/// As `apksigner verify --print-certs --min-sdk-version 19 --max-sdk-version 23` prints it, and of the newest.
#[test]
fn one_key_signs_our_own_package_by_three_schemes() {
    let mine = "1bb33b0aebd92bdb6e500f00f47fd17458a911639a27b44764444edeead42abc";
    for (sdk, scheme) in [(19, Scheme::V1), (24, Scheme::V2), (28, Scheme::V3), (36, Scheme::V3)] {
        now(async {
            let apk = Apk::open(fixture("hello-1.apk"), Limits::default()).await.unwrap();
            let found = apk.on(sdk).certificates().await.unwrap();
            let found: Vec<_> = found.iter().map(|one| (one.scheme, hex(&one.sha256))).collect();
            assert_eq!(found, [(scheme, mine.to_owned())]);
        });
    }
}

#[test]
fn a_file_in_meta_inf_that_is_no_signature_is_an_error_not_a_missing_signature() {
    let files = [
        stored("AndroidManifest.xml", &make::least_manifest()),
        stored("META-INF/A.RSA", &[0x30, 0x80, 0x06, 0x09]),
        stored("META-INF/A.SF", b""),
        stored("META-INF/services/B.RSA", b""),
    ];
    now(async {
        let mut apk = Apk::open(make::package(&files), Limits::default()).await.unwrap();
        let refused = apk.certificates().await.unwrap_err();
        assert_eq!(refused.to_string(), "signature: META-INF/A.RSA names no signer");
        for unsigned in [&files[..2], &files[3..]] {
            let mut apk = Apk::open(make::package(unsigned), Limits::default()).await.unwrap();
            assert_eq!(apk.certificates().await, Ok(vec![]), "it signs no file");
        }
    });
}

#[test]
fn a_signature_counts_in_small_letters_and_in_a_folder_and_no_more_than_so_many() {
    let read = |names: &[String]| {
        let files: Vec<_> = names.iter().map(|name| stored(name, b"")).collect();
        now(async {
            Apk::open(make::package(&files), Limits::default()).await?.certificates().await
        })
    };
    for name in ["META-INF/a", "META-INF/services/A", "meta-inf/A"] {
        let refused = read(&[format!("{name}.rsa"), format!("{name}.SF")]).unwrap_err();
        assert_eq!(refused.to_string(), format!("signature: {name}.rsa names no signer"));
    }
    let many = (0..11).flat_map(|at| ["RSA", "SF"].map(|kind| format!("META-INF/{at}.{kind}")));
    let refused = read(&many.collect::<Vec<_>>()).unwrap_err();
    assert_eq!(refused.to_string(), "signature: there are more than 10");
}

/// DER: a tag, a length, the inside.
fn der(tag: u8, inside: &[&[u8]]) -> Vec<u8> {
    let inside = inside.concat();
    let length = u16::try_from(inside.len()).unwrap().to_be_bytes();
    [&[tag, 0x82, length[0], length[1]][..], &inside].concat()
}

/// A signature holds its key's whole chain, in any order.
#[test]
fn of_a_chain_of_certificates_the_signers_own_is_taken() {
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

//! Malicious and unusual packages: each gives a result within the limits, the same as on a phone.

use bytes::Bytes;
use thumbwire_apk::xml;
use thumbwire_apk::{Apk, Error, Limits, Manifest};

use super::common::now;
use super::make::{self, AttributeValue, File, begin, deflated, end, package, stored};

const MANIFEST: &str = "AndroidManifest.xml";

fn manifest_of(bytes: &Bytes) -> Result<Manifest, Error> {
    now(async { Apk::open(bytes.clone(), Limits::default()).await?.manifest().await })
}

fn why(bytes: &Bytes) -> String {
    manifest_of(bytes).unwrap_err().to_string()
}

fn good() -> File {
    stored(MANIFEST, &make::least_manifest())
}

#[test]
fn minimal_package_opens_stored_or_deflated() {
    for file in [good(), deflated(MANIFEST, &make::least_manifest())] {
        assert_eq!(manifest_of(&package(&[file])).unwrap().package, "a.b");
    }
}

#[test]
fn comment_may_hold_anything_but_an_end_signature() {
    let comment = vec![b'x'; 65_535];
    let bytes = make::package_with(&[good()], b"", &comment);
    assert_eq!(manifest_of(&bytes).unwrap().package, "a.b");
    let mut fake = package(&[])[..22].to_vec();
    fake.push(b'x');
    let bytes = make::package_with(&[good()], b"", &fake);
    assert_eq!(why(&bytes), "package: the ZIP comment does not end at the end of the file");
}

#[test]
fn uninstallable_packages_are_rejected_with_the_reason() {
    let twice = package(&[good(), good()]);
    assert_eq!(why(&twice), "package: the central directory lists a file name twice");
    let nul = File { name: b"a\0b".into(), ..good() };
    assert_eq!(
        why(&package(&[nul])),
        "package: the central directory has a file name that is not valid UTF-8"
    );
    let mut before = vec![0; 100];
    before.extend(&package(&[good()])[..]);
    assert_eq!(
        why(&before.into()),
        "package: the central directory has fewer entries than declared"
    );
    assert_eq!(why(&Bytes::new()), "package: not a ZIP archive");
    assert_eq!(why(&vec![0; 1 << 20].into()), "package: not a ZIP archive, or truncated");
    let good = package(&[good()]);
    let mut zip64 = good[..good.len() - 22].to_vec();
    zip64.extend([b'P', b'K', 6, 7]);
    zip64.extend([0; 16]);
    zip64.extend(&good[good.len() - 22..]);
    assert_eq!(why(&zip64.into()), "package: ZIP64 archives are not valid packages");
}

#[test]
fn file_of_another_length_than_declared_is_rejected() {
    let bomb = deflated(MANIFEST, &vec![0; 64 << 20]);
    let says = File { unpacked_length: 1000, ..bomb.clone() };
    let claims = "package: \"AndroidManifest.xml\" does not unpack to its declared length";
    assert_eq!(why(&package(&[says])), claims);
    let too_large = manifest_of(&package(std::slice::from_ref(&bomb))).unwrap_err();
    assert!(matches!(too_large, Error::TooLarge { limit: 33_554_432, .. }), "{too_large}");
    let less = File { unpacked_length: 5000, ..deflated(MANIFEST, b"little") };
    assert_eq!(why(&package(&[less])), claims);
    let garbage = File { packed: vec![0xff; 100], packed_length: 100, ..bomb };
    let garbage = File { unpacked_length: 100, ..garbage };
    assert!(
        why(&package(&[garbage])).starts_with("package: cannot unpack \"AndroidManifest.xml\"")
    );
}

#[test]
fn declared_sizes_of_four_gigabytes_allocate_nothing() {
    let huge = File { packed_length: u32::MAX, unpacked_length: u32::MAX, ..good() };
    assert!(matches!(manifest_of(&package(&[huge])), Err(Error::TooLarge { .. })));
    let long = File { packed_length: 4000, unpacked_length: 4000, ..good() };
    let into = "package: \"AndroidManifest.xml\" overlaps the central directory";
    assert_eq!(why(&package(&[long])), into);
    let away = File { header: Some(u32::MAX), ..good() };
    assert_eq!(
        why(&package(&[away])),
        "package: the central directory has an entry with an offset past the directory"
    );
    let elsewhere = File { header: Some(10), ..good() };
    assert_eq!(why(&package(&[elsewhere])), "package: \"AndroidManifest.xml\" has no local header");
    let mut bytes = package(&[good()]).to_vec();
    let size = bytes.len() - 10;
    bytes[size..size + 8].fill(0xff);
    assert_eq!(why(&bytes.into()), "package: the central directory runs past its end record");
}

/// Android treats every method but deflate as stored when it reads resources.
#[test]
fn unknown_method_reads_as_stored() {
    let odd = File { method: 0x1234, packed_length: 7, ..good() };
    assert_eq!(manifest_of(&package(&[odd])).unwrap().package, "a.b");
}

#[test]
fn overlapping_files_are_read_independently() {
    let first = File { name: b"AndroidManifest.xml".into(), ..good() };
    let all: Vec<File> = (0..1000)
        .map(|number| File {
            name: format!("res/xml/a{number:06}.xml").into(),
            header: Some(0),
            packed: vec![],
            ..good()
        })
        .collect();
    let bytes = package(&[&[first][..], &all].concat());
    now(async {
        let mut apk = Apk::open(bytes, Limits::default()).await.unwrap();
        assert_eq!(apk.manifest().await.unwrap().package, "a.b");
        let same = apk.file("res/xml/a000999.xml").await.unwrap();
        assert_eq!(same, make::least_manifest());
    });
}

#[test]
fn directory_over_the_limit_is_rejected() {
    let many: Vec<File> = (0..65_535).map(|number| stored(&format!("a/{number}"), b"")).collect();
    now(async {
        let apk = Apk::open(package(&many), Limits::default()).await.unwrap();
        assert_eq!(apk.names().count(), 65_535);
        let limits = Limits { directory: 1 << 20, ..Limits::default() };
        let refused = Apk::open(package(&many), limits).await.map(|_| ()).unwrap_err();
        assert_eq!(refused.to_string(), "the central directory exceeds the limit of 1048576");
    });
}

/// A manifest with 8 MiB of text may have 30,000 services.
#[test]
fn names_copied_into_every_service_are_limited() {
    let long: &'static str = "p".repeat(2_000).leak();
    let manifest = |package, permission| {
        let application =
            make::node("application", &[("permission", AttributeValue::Text(permission))]);
        let root =
            make::node("manifest", &[("package", AttributeValue::Text(package))]).with(application);
        let file = make::document(&root, &[("permission", 0x0101_0006)]);
        manifest_of(&package_of(&file))
    };
    assert!(manifest("a.b", "a.b.P").is_ok());
    let refused = manifest(long, "a.b.P").unwrap_err().to_string();
    assert_eq!(refused, "manifest: the package name is too long");
    let refused = manifest("a.b", long).unwrap_err().to_string();
    assert_eq!(refused, "manifest: the permission name is too long");
}

fn package_of(manifest: &[u8]) -> Bytes {
    package(&[stored(MANIFEST, manifest)])
}

#[test]
fn element_depth_and_count_are_limited() {
    let nested = |depth: usize| {
        let parts: Vec<_> = (0..depth).map(|_| begin(0, &[])).collect();
        xml::read(&make::xml(&[b"a"], &[], &parts), &Limits::default())
    };
    assert!(nested(64).is_ok());
    assert_eq!(
        nested(65).unwrap_err().to_string(),
        "the nesting depth of compiled XML exceeds the limit of 64"
    );
    let many = |count: usize| {
        let mut parts = vec![begin(0, &[])];
        parts.extend((0..count).flat_map(|_| [begin(0, &[(0, (0x10, 1))]), end(0)]));
        xml::read(&make::xml(&[b"a"], &[], &parts), &Limits::default())
    };
    assert!(many(49_999).is_ok());
    assert_eq!(
        many(50_000).unwrap_err().to_string(),
        "the number of nodes exceeds the limit of 100000"
    );
}

#[test]
fn repeated_long_string_stays_within_the_text_limit() {
    let long = vec![b'x'; 32_000];
    let often: Vec<_> = (0..300).map(|_| (0, (0x03, 0))).collect();
    let bytes = make::xml(&[&long], &[], &[begin(1, &often)]);
    let refused = xml::read(&bytes, &Limits::default()).unwrap_err();
    assert_eq!(refused.to_string(), "the text of compiled XML exceeds the limit of 8388608");
}

#[test]
fn string_pool_may_declare_any_count_and_offset() {
    let mut bytes = make::xml(&[b"manifest"], &[], &[begin(0, &[]), begin(7, &[])]).to_vec();
    let element =
        |bytes: &[u8]| xml::read(&Bytes::copy_from_slice(bytes), &Limits::default()).unwrap().name;
    assert_eq!(element(&bytes), "manifest");
    bytes[8 + 8..8 + 12].fill(0xff); // count
    assert_eq!(element(&bytes), "manifest");
    bytes[8 + 28..8 + 32].fill(0xff); // offset of the first string
    assert_eq!(element(&bytes), "");
    bytes[8 + 20..8 + 24].fill(0xff); // start of the strings
    assert_eq!(element(&bytes), "");
}

/// aapt2 writes characters above U+FFFF as surrogates, which is not valid UTF-8.
#[test]
fn modified_utf8_strings_are_decoded() {
    let clock = b"\xed\xa0\xbd\xed\xb5\x90 it\xc0\x80is \xffnow";
    let bytes = make::xml(&[clock], &[], &[begin(0, &[])]);
    let name = xml::read(&bytes, &Limits::default()).unwrap().name;
    assert_eq!(name, "🕐 it\0is \u{fffd}now");
}

/// The length of a long string takes two units.
#[test]
fn utf16_strings_may_be_long() {
    let long = "é".repeat(40_000) + "🕐";
    let mut data: Vec<u8> = [0x8000u16, 40_002].map(u16::to_le_bytes).concat();
    data.extend(long.encode_utf16().flat_map(u16::to_le_bytes));
    data.extend([0; 2]);
    let header = [1u32, 0, 0, 32, 0].map(u32::to_le_bytes).concat();
    let body = [&0u32.to_le_bytes()[..], &data].concat();
    let parts = [make::chunk(0x0001, &header, &body), begin(0, &[])].concat();
    let root = xml::read(&make::chunk(0x0003, b"", &parts).into(), &Limits::default()).unwrap();
    assert!(root.name == long);
}

#[test]
fn attribute_with_a_stripped_name_gets_its_resource_name() {
    let attributes = [(0, (0x10, 1)), (1, (0x10, 2))];
    let bytes = make::xml(&[b"", b""], &[0x0101_0010, 0x7f01_0000], &[begin(2, &attributes)]);
    let root = xml::read(&bytes, &Limits::default()).unwrap();
    let names: Vec<_> = root.attributes.iter().map(|it| (&*it.name, it.id)).collect();
    assert_eq!(names, [("exported", Some(0x0101_0010)), ("", Some(0x7f01_0000))]);
}

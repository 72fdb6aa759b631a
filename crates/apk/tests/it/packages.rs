//! Packages are read as they were built, and as other programs read them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

use bytes::Bytes;
use thumbwire_apk::xml::{self, Element, Value};
use thumbwire_apk::{Apk, Limits};

use super::common::{assert_captures, captures, fixture, fixtures, now, package_text, tree_text};
use super::make::{least_manifest, package, stored};

/// `fixtures/apk/build` put these values there.
#[test]
fn our_own_packages_are_read_as_they_were_built() {
    let out: String =
        fixtures().iter().map(|(name, bytes)| format!("{name}\n{}", package_text(bytes))).collect();
    insta::assert_snapshot!(out);
}

#[test]
fn a_descriptor_is_found_by_its_resource_and_keeps_the_words_of_its_version() {
    now(async {
        let mut apk = Apk::open(fixture("clock-in.apk"), Limits::default()).await.unwrap();
        let manifest = apk.manifest().await.unwrap();
        let service = manifest.services_for("mobile.mcp.SERVICE").next().unwrap();
        let meta = service.meta("mobile.mcp.capabilities").unwrap();
        let Value::Reference(id) = meta.value else { panic!("{meta:?}") };
        let mut root = apk.xml(id).await.unwrap();
        let version = root.attribute("version").unwrap();
        assert_eq!((&version.value, version.written.as_deref()), (&Value::Float(1.0), Some("1.0")));
        apk.resolve(&mut root).await.unwrap();
        insta::assert_snapshot!(tree_text(&root));
    });
}

#[test]
fn label_falls_back_to_the_default_language() {
    now(async {
        for (locale, label) in
            [("de", "Stempeluhr"), ("de-AT", "Stempeluhr"), ("fr", "Clock In"), ("", "Clock In")]
        {
            let apk = Apk::open(fixture("clock-in.apk"), Limits::default()).await.unwrap();
            let manifest = apk.in_language(locale).manifest().await.unwrap();
            assert_eq!(manifest.label.as_deref(), Some(label), "{locale}");
        }
    });
}

#[test]
fn split_names_itself() {
    now(async {
        for (file, split) in [("split-base.apk", None), ("split-config.apk", Some("config.en"))] {
            let mut apk = Apk::open(fixture(file), Limits::default()).await.unwrap();
            assert_eq!(apk.manifest().await.unwrap().split.as_deref(), split, "{file}");
        }
    });
}

/// A changed line is a changed reader.
#[test]
fn every_captured_package_is_read_as_recorded() {
    assert_captures!("apk", |all: Vec<(String, Bytes)>| {
        let all = all.iter().map(|(name, bytes)| format!("{name}\n{}", package_text(bytes)));
        all.collect::<String>()
    });
}

/// Many of these are unusual on purpose. androguard 4.1.4 finds the same counts in all that it can
/// read. `apkinspector_CDATA.xml` declares four bytes less than it has, which Android rejects too
/// (`BAD_DOCUMENT`).
#[test]
fn every_captured_compiled_file_is_read_as_recorded() {
    fn count(element: &Element) -> (usize, usize) {
        let inside = element.children.iter().map(count);
        inside.fold((1, element.attributes.len()), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
    assert_captures!("axml", |all: Vec<(String, Bytes)>| {
        let mut out = String::new();
        for (name, bytes) in all {
            match xml::read(&bytes, &Limits::default()) {
                Ok(root) => {
                    let (elements, attributes) = count(&root);
                    let package = root.attribute("package").and_then(|it| it.value.text());
                    let package = package.unwrap_or("-");
                    let root = &root.name;
                    writeln!(
                        out,
                        "{name}: {root} of {package}, {elements} elements, {attributes} attributes"
                    )
                }
                Err(error) => writeln!(out, "{name}: {error}"),
            }
            .unwrap();
        }
        out
    });
}

/// How many values of each kind a table has, type by type, and the first text of each.
#[test]
fn every_captured_resource_table_is_read_as_recorded() {
    assert_captures!("arsc", |all: Vec<(String, Bytes)>| {
        let mut out = String::new();
        for (name, bytes) in all {
            writeln!(out, "{name}").unwrap();
            let files = [
                stored("AndroidManifest.xml", &least_manifest()),
                stored("resources.arsc", &bytes),
            ];
            now(async {
                let mut apk = Apk::open(package(&files), Limits::default()).await.unwrap();
                for of in 1..=20u32 {
                    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                    let mut first = None;
                    for number in 0..0x1000u32 {
                        let id = 0x7f00_0000 | of << 16 | number;
                        let Some(value) = apk.value(id).await.unwrap() else { continue };
                        *counts.entry(kind(&value)).or_default() += 1;
                        first = first.or_else(|| value.text().map(str::to_owned));
                    }
                    if !counts.is_empty() {
                        writeln!(out, "  type {of}: {counts:?} {first:?}").unwrap();
                    }
                }
            });
        }
        out
    });
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Text(_) => "texts",
        Value::Integer(_) => "integers",
        Value::Float(_) => "floats",
        Value::Boolean(_) => "booleans",
        Value::Reference(_) => "references",
        Value::Other { .. } => "others",
    }
}

/// The two are the same app, one with a dense table, the other with a sparse one.
#[test]
fn sparse_table_equals_the_dense_one() {
    let all: BTreeMap<_, _> = captures("apk").into_iter().collect();
    now(async {
        let open = |name: &str| Apk::open(all[name].clone(), Limits::default());
        let mut dense = open("apktool_not-sparse.apk").await.unwrap();
        let mut sparse = open("apktool_sparse.apk").await.unwrap();
        let mut found = 0;
        for of in 0..8u32 {
            for number in 0..0x1000u32 {
                let id = 0x7f00_0000 | of << 16 | number;
                let value = dense.value(id).await.unwrap();
                found += usize::from(value.is_some());
                assert_eq!(value, sparse.value(id).await.unwrap(), "{id:#x}");
            }
        }
        assert!(found > 1000, "{found}");
    });
}

/// The crate `rawzip` reads them whole and by its own rules.
#[test]
fn rawzip_finds_the_same_files_in_every_package() {
    let mut all = fixtures();
    all.extend(captures("apk"));
    for (name, bytes) in all {
        let archive = rawzip::ZipArchive::from_slice(&bytes[..]).unwrap();
        let mut apk = now(Apk::open(bytes.clone(), Limits::default())).unwrap();
        let mut count = 0;
        for entry in archive.entries() {
            let entry = entry.unwrap();
            let path = std::str::from_utf8(entry.file_path().as_bytes()).unwrap().to_owned();
            let packed = archive.get_entry(entry.wayfinder()).unwrap().data();
            let mut unpacked = packed.to_vec();
            if entry.compression_method() == rawzip::CompressionMethod::DEFLATE {
                unpacked.clear();
                flate2::read::DeflateDecoder::new(packed).read_to_end(&mut unpacked).unwrap();
            }
            assert!(now(apk.file(&path)).unwrap() == unpacked, "{name}: {path}");
            count += 1;
        }
        assert_eq!(apk.names().count(), count, "{name}");
    }
}

/// A streaming writer puts sizes after the files, and none before them.
#[test]
fn streamed_package_is_read() {
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    let file = archive.new_file("AndroidManifest.xml");
    let (mut entry, writer) =
        file.compression_method(rawzip::CompressionMethod::DEFLATE).start().unwrap();
    let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
    let mut writer = writer.wrap(encoder);
    writer.write_all(&least_manifest()).unwrap();
    let (encoder, described) = writer.finish().unwrap();
    encoder.finish().unwrap();
    entry.finish(described).unwrap();
    let bytes = bytes::Bytes::from(archive.finish().unwrap());
    let read = now(async { Apk::open(bytes, Limits::default()).await?.manifest().await });
    assert_eq!(read.unwrap().package, "a.b");
}

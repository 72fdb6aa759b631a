//! Packages to read, and how what was read is told.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use thumbwire_apk::xml::{Element, Value};
use thumbwire_apk::{Apk, Limits, Manifest};

/// Runs to its end what waits for nothing but itself.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// One of the packages that are part of this project.
pub(crate) fn fixture(name: &str) -> Bytes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
    fs::read(folder.join(name)).unwrap().into()
}

/// All of them, by name.
pub(crate) fn fixtures() -> Vec<(String, Bytes)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
    files(&folder).into_iter().filter(|(name, _)| name.ends_with(".apk")).collect()
}

/// The captures that may not be copied into this project lie beside it, or not: then a test is skipped.
pub(crate) fn captures(folder: &str) -> Option<Vec<(String, Bytes)>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("THUMBWIRE_DATA").map_or(beside, PathBuf::from);
    let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|value| value == "1");
    assert!(data.is_dir() || !required, "the captures are required here: {}", data.display());
    if !data.is_dir() {
        println!("skipped: no captures beside the project");
        return None;
    }
    let found = files(&data.join(folder));
    assert!(!found.is_empty(), "there are captures in {folder}");
    Some(found)
}

fn files(folder: &Path) -> Vec<(String, Bytes)> {
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        path.is_file().then(|| (name, fs::read(path).unwrap().into()))
    };
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter_map(read).collect();
    files.sort();
    files
}

/// The first certificate of a package.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// What a package says of itself, or why it cannot be read.
pub(crate) fn told(bytes: &Bytes) -> String {
    now(async {
        let mut apk = match Apk::open(bytes.clone(), Limits::default()).await {
            Ok(apk) => apk,
            Err(error) => return format!("  {error}\n"),
        };
        let mut told = match apk.manifest().await {
            Ok(manifest) => manifest_told(&manifest),
            Err(error) => format!("  {error}\n"),
        };
        match apk.certificates().await {
            Ok(all) if all.is_empty() => told.push_str("  signed by nobody\n"),
            Ok(all) => {
                for one in all {
                    writeln!(told, "  signed ({:?}) by {}", one.scheme, hex(&one.sha256)).unwrap();
                }
            }
            Err(error) => writeln!(told, "  {error}").unwrap(),
        }
        told
    })
}

fn manifest_told(manifest: &Manifest) -> String {
    let mut told = format!(
        "  {} {} ({}), label {:?}, SDK {} to {}{}\n",
        manifest.package,
        manifest.version_name.as_deref().unwrap_or("-"),
        manifest.version_code,
        manifest.label,
        manifest.min_sdk,
        manifest.target_sdk,
        if manifest.enabled { "" } else { ", disabled" }
    );
    for service in &manifest.services {
        let words = [
            (service.exported, "exported"),
            (service.enabled, "enabled"),
            (manifest.lacks_exported(service), "lacks exported"),
        ];
        let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
        let words = words.collect::<Vec<_>>().join(" ");
        let permission = service.permission.as_deref().unwrap_or("-");
        let actions: Vec<_> = service.filters.iter().flat_map(|filter| &filter.actions).collect();
        writeln!(told, "  service {}: {words}; for {permission}; {actions:?}", service.class)
            .unwrap();
        for meta in &service.meta {
            writeln!(told, "    {} = {}", meta.name, value_told(&meta.value)).unwrap();
        }
    }
    told
}

fn value_told(value: &Value) -> String {
    match value {
        Value::Reference(id) => format!("@{id:#010x}"),
        other => format!("{other:?}"),
    }
}

/// A tree, an element a line.
pub(crate) fn tree_told(root: &Element) -> String {
    fn put(told: &mut String, element: &Element, depth: usize) {
        write!(told, "{:depth$}{}:{}", "", element.line, element.name, depth = depth * 2).unwrap();
        for it in &element.attributes {
            let written = it.written.as_ref().map_or(String::new(), |words| format!(" ({words})"));
            write!(told, " {}={}{written}", it.name, value_told(&it.value)).unwrap();
        }
        told.push('\n');
        element.children.iter().for_each(|child| put(told, child, depth + 1));
    }
    let mut told = String::new();
    put(&mut told, root, 0);
    told
}

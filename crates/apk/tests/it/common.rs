//! Packages to read, and how to print what was read.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use thumbwire_test_support::{CaptureSet, capture_sets};

use bytes::Bytes;
use thumbwire_apk::xml::{Element, Value};
use thumbwire_apk::{Apk, Limits, Manifest};

/// Runs a future that never waits to its end.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// One of the packages in this repository.
pub(crate) fn fixture(name: &str) -> Bytes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
    fs::read(folder.join(name)).unwrap().into()
}

/// All packages in this repository, by name.
pub(crate) fn fixtures() -> Vec<(String, Bytes)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
    files(&folder).into_iter().filter(|(name, _)| name.ends_with(".apk")).collect()
}

/// All captures of a folder that are here, by name.
pub(crate) fn captures(folder: &str) -> Vec<(String, Bytes)> {
    capture_sets().into_iter().flat_map(|set| captures_of(set, folder)).collect()
}

/// The captures of a folder that are in one set, by name.
pub(crate) fn captures_of(set: CaptureSet, folder: &str) -> Vec<(String, Bytes)> {
    set.files(folder).iter().map(|file| (file.name(), file.bytes().into())).collect()
}

/// Compares what `text_of` makes of a folder's captures with the golden file of their set. The
/// committed set is never empty.
macro_rules! assert_captures {
    ($folder:literal, $text_of:expr) => {
        for set in thumbwire_test_support::capture_sets() {
            let files = crate::common::captures_of(set, $folder);
            if set == thumbwire_test_support::CaptureSet::Committed {
                assert!(!files.is_empty(), "no captures in {}", $folder);
            }
            if !files.is_empty() {
                let text: String = $text_of(files);
                insta::with_settings!({ snapshot_suffix => set.name() }, {
                    insta::assert_snapshot!(text);
                });
            }
        }
    };
}
pub(crate) use assert_captures;

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

/// The bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// What was read from a package, or why it cannot be read.
pub(crate) fn package_text(bytes: &Bytes) -> String {
    now(async {
        let mut apk = match Apk::open(bytes.clone(), Limits::default()).await {
            Ok(apk) => apk,
            Err(error) => return format!("  {error}\n"),
        };
        let mut out = match apk.manifest().await {
            Ok(manifest) => manifest_text(&manifest),
            Err(error) => format!("  {error}\n"),
        };
        match apk.certificates().await {
            Ok(all) if all.is_empty() => out.push_str("  unsigned\n"),
            Ok(all) => {
                for one in all {
                    writeln!(out, "  signed ({:?}) by {}", one.scheme, hex(&one.sha256)).unwrap();
                }
            }
            Err(error) => writeln!(out, "  {error}").unwrap(),
        }
        out
    })
}

fn manifest_text(manifest: &Manifest) -> String {
    let mut out = format!(
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
        let text = [
            (service.exported, "exported"),
            (service.enabled, "enabled"),
            (manifest.lacks_exported(service), "lacks exported"),
        ];
        let text = text.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
        let text = text.collect::<Vec<_>>().join(" ");
        let permission = service.permission.as_deref().unwrap_or("-");
        let actions: Vec<_> = service.filters.iter().flat_map(|filter| &filter.actions).collect();
        writeln!(out, "  service {}: {text}; for {permission}; {actions:?}", service.class)
            .unwrap();
        for meta in &service.meta {
            writeln!(out, "    {} = {}", meta.name, value_text(&meta.value)).unwrap();
        }
    }
    out
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Reference(id) => format!("@{id:#010x}"),
        other => format!("{other:?}"),
    }
}

/// A tree, one element per line.
pub(crate) fn tree_text(root: &Element) -> String {
    fn put(out: &mut String, element: &Element, depth: usize) {
        write!(out, "{:depth$}{}:{}", "", element.line, element.name, depth = depth * 2).unwrap();
        for it in &element.attributes {
            let written = it.written.as_ref().map_or(String::new(), |words| format!(" ({words})"));
            write!(out, " {}={}{written}", it.name, value_text(&it.value)).unwrap();
        }
        out.push('\n');
        element.children.iter().for_each(|child| put(out, child, depth + 1));
    }
    let mut out = String::new();
    put(&mut out, root, 0);
    out
}

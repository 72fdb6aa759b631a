//! Outlines of dumps from strangers' phones: how short they are, and that nothing a person can use is missing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test says that it is skipped")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

use thumbwire_core::snapshot::{OutlineDetail, Snapshot, outline};
use thumbwire_core::toolset::mobile;
use thumbwire_device::Rect;
use thumbwire_device::find::is_slider;
use thumbwire_device::saved_tree::read_saved;
use thumbwire_device::text_field::is_text_field;

/// A folder of captures, which may not be on this machine.
fn captures(folder: &str) -> Vec<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data = std::env::var_os("THUMBWIRE_DATA").map_or(beside.into(), PathBuf::from);
    let Ok(entries) = fs::read_dir(data.join(folder)) else {
        println!("skipped: {} is not there", data.join(folder).display());
        return Vec::new();
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The screen of a dump and its size in bytes; `None` for a file that is none.
fn read(file: &Path) -> Option<(Snapshot, usize)> {
    let bytes = fs::read(file).ok()?;
    let tree = read_saved(&bytes).ok()?.tree;
    Some((Snapshot::number(tree, None, &AtomicU32::new(1)), bytes.len()))
}

#[test]
fn outlines_are_a_fraction_of_the_dumps() {
    let folders = ["uiautomator", "ios/source", "pagesource-ua2"];
    let screens: Vec<_> =
        folders.iter().flat_map(|folder| captures(folder)).filter_map(|file| read(&file)).collect();
    if screens.is_empty() {
        return;
    }
    assert!(screens.len() >= 60, "{} dumps", screens.len());
    let (mut raw, mut listed) = (0, 0);
    for (snapshot, bytes) in &screens {
        let list = outline(snapshot, OutlineDetail::Compact);
        raw += bytes;
        listed += list.len();
        // A screen without elements says why at some length.
        if !snapshot.refs.is_empty() {
            let xml = mobile::xml(snapshot);
            assert!(list.len() * 2 <= xml.len(), "{list}\n{xml}");
        }
    }
    assert!(listed * 12 <= raw, "{listed} bytes of {raw}");
}

#[test]
fn all_that_can_be_used_has_a_ref_and_all_texts_are_there() {
    for file in captures("uiautomator") {
        let Some((snapshot, _)) = read(&file) else { continue };
        let list = outline(&snapshot, OutlineDetail::Full);
        let name = file.display();
        for (at, node) in snapshot.tree.nodes.iter().enumerate() {
            let Rect { left, top, right, bottom } = snapshot.shown(at);
            if snapshot.shown(at).is_empty() {
                continue;
            }
            for text in [&*node.text, &*node.description] {
                let text: String = text.chars().take_while(|char| !char.is_control()).collect();
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                assert!(text.trim().is_empty() || list.contains(&text), "{name}: {text:?}\n{list}");
            }
            let flags = node.flags;
            let acts = flags.clickable || flags.long_clickable || flags.scrollable;
            let acts = acts || is_slider(node) || is_text_field(node);
            let place = format!("[{left},{top}][{right},{bottom}] e");
            assert!(!acts || list.contains(&place), "{name}: {} at {place}\n{list}", node.class);
        }
    }
}

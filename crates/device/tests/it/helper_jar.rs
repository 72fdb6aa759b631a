//! The committed jar of the helper is what its committed sources give: `helper/build` writes both
//! hashes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

fn helper() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../helper")
}

fn hex(hash: &[u8]) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The Java sources, each with its path, length and text, by path.
fn hash_of_sources() -> String {
    let (mut files, mut folders) = (Vec::new(), vec![PathBuf::from("src")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(helper().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            match helper().join(&path).is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|extension| extension == "java") => {
                    files.push(path.display().to_string());
                }
                false => {}
            }
        }
    }
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    let mut hash = Sha256::new();
    for file in files {
        let text = fs::read(helper().join(&file)).unwrap();
        hash.update(format!("{file} {}\n", text.len()));
        hash.update(text);
    }
    hex(&hash.finalize())
}

fn recorded(name: &str) -> String {
    let text = fs::read_to_string(helper().join("thumbwire-helper.txt")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().to_owned()
}

#[test]
fn jar_is_built_from_the_sources_beside_it() {
    let advice = "run helper/build and commit what it writes";
    assert_eq!(recorded("sources "), hash_of_sources(), "{advice}");
    let jar = fs::read(helper().join("thumbwire-helper.jar")).unwrap();
    assert_eq!(recorded("jar "), hex(&Sha256::digest(&jar)), "{advice}");
}

/// Android reads it from a file that any app may read, and the binary contains it: it must stay
/// small.
#[test]
fn jar_is_small_and_has_one_dex_for_the_oldest_android() {
    let jar = fs::read(helper().join("thumbwire-helper.jar")).unwrap();
    assert!(jar.len() < 128 << 10, "{} bytes", jar.len());
    let at = jar.windows(8).position(|bytes| bytes == b"dex\n035\0");
    assert_eq!(at, Some(30 + "classes.dex".len()), "stored, as the first entry");
}

//! The rules of the house that a compiler does not hold: floors, rooms, module headers, banned crates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file below the folder, as its path from the workspace's root, with its text.
fn sources(below: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                found.push((name, text));
            }
        }
    }
    assert!(!found.is_empty(), "{below} has no sources");
    found
}

/// The text before its tests, without comments: rules for rooms are about what the program does.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    without_comments(text).collect::<Vec<_>>().join("\n")
}

fn without_comments(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn toml(file: &str) -> toml::Table {
    fs::read_to_string(root().join(file)).unwrap().parse().unwrap()
}

/// A file that no other one names is never compiled, and its tests never run.
#[test]
fn every_file_is_a_module_of_another_or_a_target() {
    let all = sources("crates");
    for (file, _) in &all {
        let path = Path::new(file);
        let mut home = path.parent().unwrap();
        let mut name = path.file_stem().unwrap();
        let targets = |folder: &Path| {
            let of_cargo = ["tests", "benches", "examples"].iter().any(|it| folder.ends_with(it));
            of_cargo && folder.components().count() == 3
        };
        if name == "lib" || name == "main" || targets(home) {
            continue;
        }
        if name == "mod" {
            name = home.file_name().unwrap();
            home = home.parent().unwrap();
        }
        let named = format!("mod {};", name.to_str().unwrap());
        let named = all.iter().any(|(other, text)| {
            let other = Path::new(other);
            let inside = other.parent() == Some(home)
                && (targets(home)
                    || ["lib.rs", "main.rs", "mod.rs"].iter().any(|it| other.ends_with(it)));
            (inside || other == home.with_extension("rs"))
                && without_comments(text)
                    .any(|line| line == named || line.ends_with(&format!(" {named}")))
        });
        assert!(named, "{file} is in no program: no file says `mod` of it");
    }
}

#[test]
fn each_crate_looks_downward_only() {
    let below: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("adb", &[][..]),
        ("apk", &[][..]),
        ("mobile-mcp", &[][..]),
        ("device", &["adb"][..]),
        // The virtual phone shares nothing with the product but the wires, so that it cannot agree with our bugs: it reads APKs by
        // itself.
        ("virtual-phone", &["adb", "mobile-mcp"][..]),
        ("thumbwire", &["adb", "apk", "device", "mobile-mcp", "virtual-phone"][..]),
    ]);
    let folders: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let known: BTreeSet<String> = below.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(folders, known, "every crate has its place on a floor");
    for (name, allowed) in below {
        let manifest = toml(&format!("crates/{name}/Cargo.toml"));
        let dependencies = manifest["dependencies"].as_table().unwrap();
        for dependency in dependencies.keys().filter_map(|name| name.strip_prefix("thumbwire-")) {
            assert!(allowed.contains(&dependency), "{name} may not know {dependency}");
        }
    }
}

#[test]
fn each_room_of_the_product_knows_only_what_stands_below_it() {
    let below: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("config", &[][..]),
        ("key", &[][..]),
        ("look", &[][..]),
        ("random", &[][..]),
        ("token", &["random"][..]),
        ("action", &["look"][..]),
        ("keep", &["action"][..]),
        ("bridge", &["action", "random"][..]),
        ("session", &["action", "bridge", "keep", "look"][..]),
        ("trace", &["action", "look", "mark"][..]),
        ("surface", &["action", "look"][..]),
        ("mcp", &["action", "random", "surface", "token"][..]),
        ("mark", &[][..]),
        ("agent", &["action", "look", "mark", "surface", "trace"][..]),
        ("flow", &["action", "look", "trace"][..]),
        ("eval", &["action", "agent", "look", "mark", "session", "surface", "trace"][..]),
        (
            "cli",
            &[
                "action", "agent", "bridge", "config", "eval", "flow", "keep", "key", "look",
                "mark", "mcp", "random", "session", "surface", "token", "trace",
            ][..],
        ),
    ]);
    for (file, text) in sources("crates/thumbwire/src") {
        let inside = file.strip_prefix("crates/thumbwire/src/").unwrap();
        let room = inside.split(['/', '.']).next().unwrap();
        if matches!(room, "lib" | "main") {
            continue;
        }
        let allowed = below.get(room).unwrap_or_else(|| panic!("{file} is in no known room"));
        for used in code(&text).split("crate::").skip(1) {
            let used: String =
                used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(used == room || allowed.contains(&used.as_str()), "{file} uses {used}");
        }
    }
}

/// What may not enter, by folder (ARCHITECTURE.md, "What each room does not know").
#[test]
fn rooms_keep_out_what_they_should_not_know() {
    let rules: [(&str, &[&str]); 13] = [
        ("crates/adb/src/wire", &["tokio", "async ", "Instant::now", "SystemTime", "std::net"]),
        ("crates/adb/src/connection", &["tokio", "async ", "Instant::now", "SystemTime"]),
        ("crates/adb/src", &["serde_json", "quick_xml", "png::", "std::env", "std::fs"]),
        ("crates/mobile-mcp/src", &["tokio", "async ", "Instant::now", "SystemTime", "std::fs"]),
        ("crates/apk/src", &["tokio", "Instant::now", "SystemTime", "std::fs", "std::env"]),
        ("crates/thumbwire/src/bridge", &["rmcp", "std::env", "\"mobile_"]),
        ("crates/device/src", &["rmcp", "std::env", "std::fs", "Command::new"]),
        ("crates/virtual-phone/src", &["thumbwire_device", "std::env", "std::fs", "SystemTime"]),
        ("crates/thumbwire/src/session", &["serde_json", "input tap", "uiautomator", "std::fs"]),
        ("crates/thumbwire/src/surface", &["rmcp", "tokio::net", "std::fs", "std::env"]),
        ("crates/thumbwire/src/trace", &["rmcp", "std::env"]),
        ("crates/thumbwire/src/mcp", &["std::env", "std::fs", "mobile_"]),
        ("crates/thumbwire/src/cli", &["rmcp", "std::env", "quick_xml"]),
    ];
    // Tests may do what the code they test may not.
    let mut all = sources("crates");
    all.retain(|(file, _)| !file.ends_with("/tests.rs") && !file.contains("/tests/"));
    for (folder, words) in rules {
        let mut inside = all.iter().filter(|(file, _)| file.starts_with(folder)).peekable();
        assert!(inside.peek().is_some(), "{folder} is gone: the rule about it guards nothing");
        for (file, text) in inside {
            for word in words {
                assert!(!code(text).contains(word), "{file} has {word:?}");
            }
        }
    }
    for (file, text) in &all {
        // The helper speaks JSON on its wire.
        let knows_json = file.starts_with("crates/device/src") && !file.contains("/android/helper");
        assert!(!(knows_json && code(text).contains("serde_json")), "{file} knows JSON");
        let elsewhere = !file.contains("/src/mcp/") && !file.contains("/tests/");
        assert!(!(elsewhere && code(text).contains("rmcp::")), "{file} knows rmcp");
    }
}

/// Its worlds live in virtual time; only these may ask tokio's clock, which tests hold.
#[test]
fn the_virtual_phone_asks_for_the_time_outside_in_three_places() {
    for (file, text) in sources("crates/virtual-phone/src") {
        let inside = file.strip_prefix("crates/virtual-phone/src/").unwrap();
        let may = ["latency.rs", "cable.rs", "faults/wire.rs"].contains(&inside);
        for word in ["tokio::time", "Instant::now"] {
            assert!(
                may || file.contains("/tests") || !code(&text).contains(word),
                "{file}: {word}"
            );
        }
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for (file, text) in sources("crates") {
        assert!(text.starts_with("//!"), "{file} has no `//!` at its top");
    }
}

#[test]
fn no_test_sleeps() {
    for (file, text) in sources("crates") {
        for word in [concat!("thread::", "sleep"), concat!("time::", "sleep(")] {
            assert!(!text.contains(word), "{file} sleeps: hand the time in");
        }
    }
}

#[test]
fn banned_crates_are_not_in_the_tree() {
    let deny = toml("deny.toml");
    let bans = deny["bans"]["deny"].as_array().unwrap();
    let banned: BTreeSet<&str> = bans.iter().map(|ban| ban["crate"].as_str().unwrap()).collect();
    assert!(banned.contains("aws-lc-rs") && banned.contains("openssl"));
    let lock = toml("Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    let names: Vec<&str> = packages.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"tokio"), "the lock file was read");
    for name in &names {
        assert!(!banned.contains(name), "{name} is banned, see deny.toml");
    }
    // Development dependencies are in the lock file too; the default build stays well below this.
    assert!(names.len() <= 400, "{} crates: is the newest one worth it?", names.len());
}

/// The pages for people, from the workspace's root, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let folders = [root(), root().join("docs"), root().join("changelog")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = entries.map(|entry| entry.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn links_between_pages_lead_somewhere_and_to_every_document() {
    let mut linked = BTreeSet::new();
    for (page, text) in pages() {
        let folder = page.parent().unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let target = target.0.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let found = folder.join(target).canonicalize();
            assert!(found.is_ok(), "{} links to {target}", page.display());
            linked.extend(found);
        }
    }
    for (page, _) in
        pages().into_iter().filter(|(page, _)| page.parent().unwrap().ends_with("docs"))
    {
        assert!(
            linked.contains(&page.canonicalize().unwrap()),
            "no page links to {}",
            page.display()
        );
    }
}

//! House rules that the compiler does not enforce: layers, modules, module docs, banned crates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file below the folder, by its path from the workspace root, with its text.
pub(crate) fn sources(below: &str) -> Vec<(String, String)> {
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
    found.sort();
    found
}

/// The text before the tests, without comments: rules for modules concern only the program itself.
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

/// A file that no other names is never compiled, and its tests never run.
#[test]
fn every_file_is_a_module_or_a_target() {
    let all = sources("crates");
    for (file, _) in &all {
        let path = Path::new(file);
        let mut home = path.parent().unwrap();
        let mut name = path.file_stem().unwrap();
        let targets = |folder: &Path| {
            let of_cargo = ["tests", "benches", "examples"].iter().any(|it| folder.ends_with(it));
            of_cargo && folder.components().count() == 3
        };
        let script = name == "build" && home.components().count() == 2;
        if name == "lib" || name == "main" || script || targets(home) {
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
        assert!(named, "{file} is never compiled: no file declares it with `mod`");
    }
}

/// What each crate may use of the workspace (ARCHITECTURE.md, "Layers and crates").
const LAYERS: [(&str, &[&str]); 23] = [
    ("test-support", &[]),
    ("base", &[]),
    ("image", &[]),
    ("adb", &["base"]),
    ("apk", &[]),
    ("mobile-mcp", &["base"]),
    ("webdriver", &["base"]),
    ("usbmux", &["base"]),
    ("device", &["adb", "base", "image", "usbmux", "webdriver"]),
    // The virtual phone shares only the wires and the writer of images with the product, so that it
    // cannot share its bugs: it reads APKs with its own code.
    ("virtual-shell", &["base"]),
    ("virtual-screen", &["image"]),
    ("virtual-phone", &["base", "mobile-mcp", "virtual-screen"]),
    ("virtual-android-system", &["mobile-mcp", "virtual-phone", "virtual-shell"]),
    (
        "virtual-android",
        &[
            "adb",
            "base",
            "mobile-mcp",
            "virtual-android-system",
            "virtual-phone",
            "virtual-shell",
            "webdriver",
        ],
    ),
    ("virtual-ios", &["base", "virtual-phone", "webdriver"]),
    (
        "core",
        &["adb", "apk", "base", "device", "mobile-mcp", "usbmux", "virtual-android", "virtual-ios"],
    ),
    ("mcp", &["base", "core", "device"]),
    ("agent", &["base", "core", "device"]),
    ("flow", &["base", "core", "device"]),
    (
        "eval",
        &[
            "adb",
            "agent",
            "base",
            "core",
            "device",
            "virtual-android",
            "virtual-ios",
            "virtual-phone",
        ],
    ),
    ("fleet", &["base", "core", "device"]),
    ("studio", &["base", "core", "device", "flow"]),
    (
        "thumbwire",
        &[
            "adb",
            "agent",
            "apk",
            "base",
            "core",
            "device",
            "eval",
            "fleet",
            "flow",
            "mcp",
            "mobile-mcp",
            "studio",
            "virtual-android",
            "virtual-ios",
            "virtual-phone",
        ],
    ),
];

#[test]
fn crates_depend_downward_only() {
    let below: BTreeMap<&str, &[&str]> = LAYERS.into_iter().collect();
    let folders: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let known: BTreeSet<String> = below.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(folders, known, "every crate belongs to a layer");
    let mut layers: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, uses) in LAYERS {
        let under = uses.iter().map(|used| layers.get(used));
        let under: Option<Vec<_>> = under.collect();
        let under = under.unwrap_or_else(|| panic!("{name} uses a crate that is listed later"));
        layers.insert(name, under.into_iter().max().unwrap_or(&0) + 1);
    }
    for layer in (1..=layers.values().copied().max().unwrap()).rev() {
        let crates: Vec<&str> =
            LAYERS.iter().map(|(name, _)| *name).filter(|name| layers[name] == layer).collect();
        println!("{layer}  {}", crates.join(" · "));
    }
    for (name, allowed) in below {
        let manifest = toml(&format!("crates/{name}/Cargo.toml"));
        let table = manifest.get("dependencies").and_then(toml::Value::as_table);
        let dependencies = table.into_iter().flat_map(toml::Table::keys);
        for dependency in dependencies.filter_map(|name| name.strip_prefix("thumbwire-")) {
            assert!(allowed.contains(&dependency), "{name} may not depend on {dependency}");
        }
    }
}

/// No crate is so large that an edit rebuilds most of the product.
#[test]
fn no_crate_has_35_percent_of_the_product() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (file, text) in sources("crates") {
        let mut parts = file.split('/').skip(1);
        let (Some(name), Some("src")) = (parts.next(), parts.next()) else { continue };
        if file.ends_with("/tests.rs") || file.contains("/tests/") {
            continue;
        }
        *lines.entry(name.to_owned()).or_default() += text.lines().count();
    }
    let all: usize = lines.values().sum();
    for (name, count) in &lines {
        println!("{name:<16}{count:>7} lines{:>4} %", count * 100 / all);
        assert!(count * 100 < all * 35, "{name} has {count} of {all} lines: split it");
    }
}

/// Forbidden words by folder (ARCHITECTURE.md, "What each part does not know").
#[test]
fn modules_avoid_forbidden_words() {
    let rules: [(&str, &[&str]); 25] = [
        (
            "crates/virtual-shell/src",
            &["thumbwire_device", "std::env", "std::fs", "SystemTime", "Instant::now"],
        ),
        (
            "crates/virtual-android-system/src",
            &["thumbwire_device", "std::env", "std::fs", "SystemTime", "Instant::now"],
        ),
        ("crates/virtual-ios/src", &["thumbwire_device", "std::env", "std::fs", "SystemTime"]),
        ("crates/virtual-android/src", &["thumbwire_device", "std::env", "std::fs", "SystemTime"]),
        ("crates/adb/src/wire", &["tokio", "async ", "Instant::now", "SystemTime", "std::net"]),
        ("crates/adb/src/connection", &["tokio", "async ", "Instant::now", "SystemTime"]),
        ("crates/adb/src", &["serde_json", "quick_xml", "png::", "std::env", "std::fs"]),
        ("crates/mobile-mcp/src", &["tokio", "async ", "Instant::now", "SystemTime", "std::fs"]),
        ("crates/webdriver/src", &["tokio", "async ", "Instant::now", "SystemTime", "std::fs"]),
        ("crates/apk/src", &["tokio", "Instant::now", "SystemTime", "std::fs", "std::env"]),
        ("crates/core/src/app_tools", &["rmcp", "std::env", "\"mobile_"]),
        ("crates/device/src", &["rmcp", "std::env", "std::fs", "process::Command"]),
        ("crates/virtual-phone/src", &["thumbwire_device", "std::env", "std::fs", "SystemTime"]),
        ("crates/core/src/session", &["serde_json", "input tap", "uiautomator", "std::fs"]),
        ("crates/core/src/toolset", &["rmcp", "tokio::net", "std::fs", "std::env"]),
        ("crates/core/src/trace", &["rmcp", "std::env"]),
        // The rooms of the core: only the session reaches phones, and no room below it knows it.
        ("crates/core/src/action", &["crate::session", "crate::toolset", "crate::trace"]),
        ("crates/core/src/snapshot", &["crate::action", "crate::session", "crate::toolset"]),
        ("crates/core/src/event", &["crate::session", "crate::toolset", "crate::trace"]),
        ("crates/core/src/providers", &["crate::session", "crate::toolset", "crate::trace"]),
        ("crates/core/src/app_tools", &["crate::session", "crate::toolset", "crate::trace"]),
        ("crates/core/src/toolset", &["crate::session", "crate::providers", "crate::trace"]),
        ("crates/core/src/trace", &["crate::session", "crate::toolset", "crate::providers"]),
        ("crates/mcp/src", &["std::env", "mobile_"]),
        ("crates/thumbwire/src/cli", &["rmcp", "std::env", "quick_xml"]),
    ];
    // Tests may do what the code they test may not.
    let mut all = sources("crates");
    all.retain(|(file, _)| !file.ends_with("/tests.rs") && !file.contains("/tests/"));
    for (folder, words) in rules {
        let mut inside = all.iter().filter(|(file, _)| file.starts_with(folder)).peekable();
        assert!(inside.peek().is_some(), "{folder} does not exist: its rule is stale");
        for (file, text) in inside {
            for word in words {
                assert!(!code(text).contains(word), "{file} contains {word:?}");
            }
        }
    }
    for (file, text) in &all {
        // The helper's wire protocol is JSON, and so are the capabilities in which secrets are
        // found.
        let is_json = file.contains("/android/helper") || file.ends_with("/webdriver/secrets.rs");
        let has_wire = file.starts_with("crates/device/src") && !is_json;
        assert!(!(has_wire && code(text).contains("serde_json")), "{file} uses JSON");
        let elsewhere = !file.starts_with("crates/mcp/src/") && !file.contains("/tests/");
        assert!(!(elsewhere && code(text).contains("rmcp::")), "{file} uses rmcp");
        // The server knows the files of tokens and certificates, and the audit log.
        let with_files = ["/http_token.rs", "/tls.rs", "/audit.rs"];
        let has_file = with_files.iter().any(|name| file.ends_with(name));
        let serves = file.starts_with("crates/mcp/src/") && !has_file;
        let uses_files = ["std::fs", "files::"].iter().any(|word| code(text).contains(word));
        assert!(!(serves && uses_files), "{file} uses files");
    }
}

/// Only `thumbwire_base::files` opens, writes and renames files of this computer: a file may be a
/// stranger's.
#[test]
fn one_module_opens_files() {
    let opening = Regex::new(
        r"\bfs::(read|read_to_string|read_link|write|rename|copy|hard_link|create_dir|create_dir_all)\(|\bFile::(open|create|create_new|options)\b|\b(OpenOptions|DirBuilder)\b",
    )
    .unwrap();
    let home = "crates/base/src/files";
    let mut found = Vec::new();
    for (file, text) in sources("crates") {
        let is_product = file.contains("/src/") && !file.starts_with("crates/test-support/");
        let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
        // What is inside a virtual phone are no files of this computer.
        if !is_product || is_test || file.starts_with("crates/virtual-") {
            continue;
        }
        match opening.find(&code(&text)) {
            Some(_) if file.starts_with(home) => {}
            Some(opens) => found.push(format!("{file}: {}", opens.as_str())),
            None => assert!(!file.starts_with(home), "the rule finds nothing in {file}"),
        }
    }
    assert!(found.is_empty(), "use `thumbwire_base::files`:\n{}", found.join("\n"));
}

/// Worlds run on virtual time; only these may use tokio's clock, which tests can pause. The virtual
/// iPhone has time limits for its HTTP, too.
#[test]
fn virtual_phones_read_the_real_clock_in_four_places() {
    let places = [
        "virtual-shell/src/system.rs",
        "virtual-phone/src/time.rs",
        "virtual-android/src/phone/cable.rs",
        "virtual-android/src/connections/faulty_stream.rs",
    ];
    for (file, text) in sources("crates") {
        let inside = file.strip_prefix("crates/").unwrap();
        let is_phone = inside.starts_with("virtual-") && !inside.starts_with("virtual-ios/");
        if !is_phone || !inside.contains("/src/") {
            continue;
        }
        let may = places.contains(&inside);
        for word in ["tokio::time", "Instant::now"] {
            assert!(
                may || file.contains("/tests") || !code(&text).contains(word),
                "{file}: {word}"
            );
        }
    }
}

#[test]
fn every_module_has_docs() {
    for (file, text) in sources("crates") {
        assert!(text.starts_with("//!"), "{file} does not start with `//!`");
    }
}

/// Words that the project has replaced with plain ones, for code, messages and pages.
const OLD_WORDS: &str = r"(?i)\b(seed 00\d|whoever|sooner|anew|told of|thence|whilst|thereof|carried out|held against|lies in|stands in)\b";

/// Names that said too little, or that the field has another word for (ARCHITECTURE.md, "Words").
const OLD_TYPES: &str = r"\b(?:struct|enum|union|trait|type|as) (Asked|Came|Carried|Deed|Doing|Doorkeeper|Errand|Gone|Guests|Hands|Heard|Held|Judged|Kept|Letter|Manner|Mind|Misfit|Nobody|Said|Sight|Sought|Spent|Stumble|Surface|Told|Wanted|Whom)\b";

const OLD_FUNCTIONS: &str = r"\bfn (carry_out|harmless|manners|shortened)\b";

/// Names of variables, fields and parameters that said too little: each is named after its type or
/// its role.
const OLD_VARIABLES: &str = r"(?:\b(?:let|let mut|ref) \(?|[(|,] ?(?:mut )?|^\s*(?:pub(?:\(\w+\))? )?)(beat|bridge|doors|errand|guests|hands|manner|mind|no_older_than|surface|telling|thinker|told|why)\b(?:,|\)|\||:[^:]| =)";

/// The crates that have none of those variables.
const RENAMED: [&str; 12] = [
    "adb",
    "apk",
    "base",
    "core",
    "device",
    "eval",
    "flow",
    "mcp",
    "mobile-mcp",
    "thumbwire",
    "usbmux",
    "webdriver",
];

#[test]
fn old_words_and_names_stay_out() {
    let [words, types, functions] =
        [OLD_WORDS, OLD_TYPES, OLD_FUNCTIONS].map(|pattern| Regex::new(pattern).unwrap());
    let mut found = Vec::new();
    let mut check = |file: &str, text: &str, patterns: &[&Regex]| {
        for (line, text) in text.lines().enumerate() {
            let matches = patterns.iter().filter_map(|pattern| pattern.find(text));
            found.extend(matches.map(|old| format!("{file}:{}: {}", line + 1, old.as_str())));
        }
    };
    for (file, text) in sources("crates") {
        // This file has the lists.
        if !file.ends_with("tests/it/tidy.rs") {
            check(&file, &text, &[&words, &types, &functions]);
        }
    }
    for (page, text) in pages() {
        check(&page.display().to_string(), &text, &[&words]);
    }
    let variables = Regex::new(OLD_VARIABLES).unwrap();
    for name in RENAMED {
        for (file, text) in sources(&format!("crates/{name}/src")) {
            check(&file, &without_comments(&text).collect::<Vec<_>>().join("\n"), &[&variables]);
        }
    }
    assert!(found.is_empty(), "these words have a plain replacement:\n{}", found.join("\n"));
}

#[test]
fn no_test_sleeps() {
    for (file, text) in sources("crates") {
        for word in [concat!("thread::", "sleep"), concat!("time::", "sleep(")] {
            assert!(!text.contains(word), "{file} sleeps: pass the time in instead");
        }
    }
}

#[test]
fn banned_crates_are_not_in_the_lock_file() {
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
    // The lock file includes development dependencies (ten of them count tokens); the default build
    // stays well below this. NATS's client brings fourteen; one edits the JSON of MCP clients with
    // its comments.
    let others = names.iter().filter(|name| !name.starts_with("thumbwire")).count();
    assert!(others <= 423, "{others} crates: is the newest one worth it?");
}

/// The pages for people, by path from the workspace root, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    let mut folders = ["", "changelog", "packages"].map(|folder| root().join(folder)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend(path.starts_with(root().join("docs")).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path).unwrap();
                pages.push((path, text));
            }
        }
    }
    pages
}

static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\([^)]*\)").unwrap());

/// The anchors of a page's headings, as Git forges make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let (mut anchors, mut is_code) = (BTreeSet::new(), false);
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let heading = LINK.replace_all(heading.trim(), "$1").to_lowercase();
        let kept = heading.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        let anchor = kept.collect::<String>().replace(' ', "-");
        let later = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(later).find(|it| !anchors.contains(it));
        anchors.extend(free);
    }
    anchors
}

#[test]
fn doc_links_work_and_reach_every_page() {
    let texts: BTreeMap<PathBuf, String> =
        pages().into_iter().map(|(page, text)| (page.canonicalize().unwrap(), text)).collect();
    let mut linked = BTreeSet::new();
    for (page, text) in &texts {
        let folder = page.parent().unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let (target, anchor) = target.0.split_once('#').unwrap_or((target.0, ""));
            if target.contains("://") {
                continue;
            }
            let found = match target {
                "" => Ok(page.clone()),
                _ => folder.join(target).canonicalize(),
            };
            let found = found.unwrap_or_else(|_| panic!("{} links to {target}", page.display()));
            if let Some(text) = texts.get(&found).filter(|_| !anchor.is_empty()) {
                let known = anchors(text).contains(anchor);
                assert!(known, "{} links to {target}#{anchor}", page.display());
            }
            linked.extend((found != *page).then_some(found));
        }
    }
    let docs = root().join("docs").canonicalize().unwrap();
    for page in texts.keys().filter(|page| page.starts_with(&docs)) {
        assert!(linked.contains(page), "no page links to {}", page.display());
    }
}

#[test]
fn index_lists_every_page_for_users() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let pages = pages().into_iter().map(|(page, _)| page);
    let pages: Vec<PathBuf> =
        pages.filter(|page| page.parent() == Some(&root().join("docs"))).collect();
    for page in &pages {
        let name = page.file_name().unwrap().to_str().unwrap();
        let listed = name == "README.md" || index.contains(&format!("| [{name}]({name}) |"));
        assert!(listed, "docs/README.md does not list {name}");
    }
    assert!(pages.len() <= 21, "{} pages: can the newest one be a section?", pages.len());
}

static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[\w.-]+/[\w.,{}/-]*$").unwrap());
static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(^|/)[A-Z]{2,}(\.rs|/|$)").unwrap());

/// The paths that a quoted text names; `{a,b}` expands to several. A path with a placeholder in
/// capitals (`TOOLSET.rs`) is left out.
fn quoted_paths(quoted: &str) -> Vec<String> {
    if !PATH.is_match(quoted) || PLACEHOLDER.is_match(quoted) {
        return Vec::new();
    }
    let Some((start, rest)) = quoted.split_once('{') else { return vec![quoted.to_owned()] };
    let (names, end) = rest.split_once('}').unwrap_or((rest, ""));
    names.split(',').map(|name| format!("{start}{name}{end}")).collect()
}

/// Code moves, and pages forget it. Paths start at the root, at `crates/`, or in a crate's folder.
#[test]
fn quoted_paths_exist() {
    let crates: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let folders = ["crates", "docs", "fixtures", ".ci", "examples", "helper", "changelog"];
    let inside = |rest: &str| {
        ["src/", "tests/", "benches/", "examples/"].iter().any(|it| rest.starts_with(it))
    };
    let mut stale = Vec::new();
    for (page, text) in pages().into_iter().filter(|(page, _)| !page.ends_with("CHANGELOG.md")) {
        for quoted in text.split('`').skip(1).step_by(2).flat_map(quoted_paths) {
            let (first, rest) = quoted.split_once('/').unwrap();
            let exists = |path: &str| root().join(path).exists();
            let found = match first {
                // Of a crate that the page is about.
                "src" | "tests" | "benches" => {
                    crates.iter().any(|name| exists(&format!("crates/{name}/{quoted}")))
                }
                first if folders.contains(&first) => exists(&quoted),
                first if crates.iter().any(|name| name == first) && inside(rest) => {
                    exists(&format!("crates/{quoted}"))
                }
                _ => true,
            };
            if !found {
                stale.push(format!("{}: {quoted}", page.display()));
            }
        }
    }
    assert!(stale.is_empty(), "these paths do not exist:\n{}", stale.join("\n"));
}

/// Names of other people's programs in our pages.
const FOREIGN_NAMES: [&str; 2] = ["device_info_from_plist", "parallel_tool_calls"];

/// Pages name tests and functions; a name that no source has is one that was renamed or deleted.
#[test]
fn quoted_functions_exist() {
    let name = Regex::new("^[a-z0-9]+(_[a-z0-9]+){2,}$").unwrap();
    let sources = sources("crates");
    let mut stale = BTreeSet::new();
    for (page, text) in pages().into_iter().filter(|(page, _)| !page.ends_with("CHANGELOG.md")) {
        for quoted in text.split('`').skip(1).step_by(2).filter(|quoted| name.is_match(quoted)) {
            let found = |(file, text): &(String, String)| {
                text.contains(quoted) && !file.ends_with("tests/it/tidy.rs")
            };
            if !FOREIGN_NAMES.contains(&quoted) && !sources.iter().any(found) {
                stale.insert(format!("{}: {quoted}", page.display()));
            }
        }
    }
    assert!(stale.is_empty(), "no source has these names: {stale:#?}");
}

/// A result says nothing of later builds: its page names the commit, or a test keeps it up to date.
#[test]
fn evidence_names_its_commit() {
    let commit = Regex::new(r"commits? [0-9a-f]{8}|\([0-9a-f]{8}\)|of this\s+commit").unwrap();
    for (page, text) in pages() {
        let is_result = page.starts_with(root().join("docs/evidence"));
        assert!(!is_result || commit.is_match(&text), "{} names no commit", page.display());
    }
}

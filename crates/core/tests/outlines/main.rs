//! Outlines of dumps from strangers' phones: how short they are, and that nothing a person can use
//! is missing.

mod playwright;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use thumbwire_base::visible::{visible, without_hidden};
use thumbwire_core::snapshot::{
    Controls, Difference, NumberedLine, OutlineDetail, Snapshot, difference, kind,
    numbered_outline, outline,
};
use thumbwire_core::toolset::mobile;
use thumbwire_device::Rect;
use thumbwire_device::find::is_slider;
use thumbwire_device::saved_tree::read_saved;
use thumbwire_device::text_field::is_text_field;
use thumbwire_test_support::{Capture, CaptureSet, capture_sets, captured_files};

/// The screen of a dump; `None` for a file that is none.
fn read(file: &Capture) -> Option<Snapshot> {
    let tree = read_saved(&file.bytes()).ok()?.tree;
    Some(Snapshot::number(tree, None, &AtomicU32::new(1)))
}

/// The sizes of one screen, or of several, in the forms compared.
#[derive(Debug, Default, Clone, Copy)]
struct Sizes {
    /// The dump or page source.
    dump: usize,
    /// XML without layout nodes.
    xml: usize,
    playwright: usize,
    list: usize,
}

impl Sizes {
    fn add(&mut self, other: Self) {
        self.dump += other.dump;
        self.xml += other.xml;
        self.playwright += other.playwright;
        self.list += other.list;
    }

    fn row(self, name: &str, unit: &str) -> String {
        let Self { dump, xml, playwright, list } = self;
        format!("| {name} | {unit} | {dump} | {xml} | {playwright} | {list} |")
    }
}

/// The dumps and page sources of a set.
fn screens(set: CaptureSet) -> impl Iterator<Item = (String, Capture)> {
    ["uiautomator", "ios/source", "pagesource-ua2"].into_iter().flat_map(move |folder| {
        let files = set.files(folder).into_iter();
        files.map(move |file| (format!("{folder}/{}", file.name()), file))
    })
}

/// What the page about the size of lists calls the screens counted so far.
fn rows_of(set: CaptureSet) -> &'static str {
    match set {
        CaptureSet::Committed => "in this repository",
        CaptureSet::Others => "all",
    }
}

fn assert_documented(sum: &str) {
    let docs = include_str!("../../../../docs/evidence/snapshots.md");
    assert!(docs.contains(sum), "docs/evidence/snapshots.md lacks {sum}");
}

/// Tokens are those of `o200k_base`, whose vocabulary comes with the pinned crate.
#[test]
fn lists_are_a_fraction_of_the_dumps() {
    let tokens = |text: &str| bpe_openai::o200k_base().count(text);
    let (mut all_tokens, mut all_bytes) = (Sizes::default(), Sizes::default());
    for set in capture_sets() {
        let mut table = String::from(
            "| file | unit | dump | XML | Playwright | list |\n|---|---|---|---|---|---|\n",
        );
        let mut read_screens = 0;
        for (name, file) in screens(set) {
            let Some(snapshot) = read(&file) else { continue };
            let (dump, xml) = (file.text(), mobile::xml(&snapshot));
            let list = outline(&snapshot, OutlineDetail::Compact);
            let other = playwright::playwright(&snapshot);
            let [dump, xml, other, list] = [&dump, &xml, &other, &list];
            let of = |size: &dyn Fn(&str) -> usize| Sizes {
                dump: size(dump),
                xml: size(xml),
                playwright: size(other),
                list: size(list),
            };
            let (in_tokens, in_bytes) = (of(&tokens), of(&str::len));
            // A screen without elements says why at some length.
            if !snapshot.refs.is_empty() {
                assert!(in_tokens.list * 2 <= in_tokens.xml, "{name}: {in_tokens:?}\n{list}");
                assert!(in_bytes.list * 2 <= in_bytes.xml, "{name}: {in_bytes:?}\n{list}");
            }
            let _ = writeln!(table, "{}", in_tokens.row(&name, "tokens"));
            all_tokens.add(in_tokens);
            all_bytes.add(in_bytes);
            read_screens += 1;
        }
        let least = if set == CaptureSet::Committed { 20 } else { 40 };
        assert!(read_screens >= least, "{read_screens} dumps {}", set.name());
        assert!(all_tokens.list * 12 <= all_tokens.dump && all_bytes.list * 12 <= all_bytes.dump);
        assert!(all_tokens.list <= all_tokens.playwright, "{all_tokens:?}");
        let name = rows_of(set);
        let sums = [all_tokens.row(name, "tokens"), all_bytes.row(name, "bytes")];
        table.push_str(&sums.join("\n"));
        insta::with_settings!({ snapshot_suffix => set.name() }, {
            insta::assert_snapshot!("sizes", table);
        });
        sums.iter().for_each(|sum| assert_documented(sum));
    }
}

/// The agent's prompt has the list with numbers. The baseline are the rows of UFO's
/// `get_app_window_controls_target_info`, written as JSON.
#[test]
fn numbered_list_is_a_fraction_of_the_rows() {
    let tokens = |text: &str| bpe_openai::o200k_base().count(text);
    let (mut rows, mut list) = (0, 0);
    for set in capture_sets() {
        for (_, file) in screens(set) {
            let Some(snapshot) = read(&file) else { continue };
            let controls = Controls::of(Arc::new(snapshot));
            for (number, node) in controls.iter() {
                let (name, kind) = (serde_json::json!(node.name()), kind(node));
                let Rect { left, top, right, bottom } = node.bounds;
                let place = format!("[{left}, {top}, {right}, {bottom}]");
                rows += tokens(&format!(
                    "{{\"id\": \"{number}\", \"name\": {name}, \"type\": \"{kind}\", \"rect\": {place}}},\n"
                ));
            }
            let lines: Vec<String> =
                numbered_outline(&controls).iter().map(NumberedLine::without_place).collect();
            list += tokens(&lines.join("\n"));
        }
        assert!(rows > 0 && list * 2 <= rows, "{list} of {rows}");
        let name = rows_of(set);
        assert_documented(&format!("| {name} | {rows} | {list} |"));
    }
}

/// At most a tenth of the lines is another one than before.
#[test]
fn difference_costs_a_fraction_of_the_list() {
    let lines = |snapshot: &Snapshot| -> Vec<String> {
        let list = outline(snapshot, OutlineDetail::Compact);
        list.lines().skip(1).map(str::to_owned).collect()
    };
    let (mut changed, mut whole, mut changed_screens) = (0, 0, 0);
    let mut rng = fastrand::Rng::with_seed(17);
    for (_, file) in capture_sets().into_iter().flat_map(screens) {
        let Some(before) = read(&file) else { continue };
        let old = lines(&before);
        let named =
            |at: &usize| !before.tree.nodes[*at].text.is_empty() && !before.shown(*at).is_empty();
        let mut texts: Vec<usize> = (0..before.tree.nodes.len()).filter(named).collect();
        rng.shuffle(&mut texts);
        let mut now = None;
        let mut tree = before.tree.clone();
        for at in texts {
            let text: String = tree.nodes[at].text.chars().rev().collect();
            tree.nodes[at].text = text.into();
            let next = Snapshot::number(tree.clone(), Some(&before), &AtomicU32::new(1000));
            let others = lines(&next).iter().filter(|line| !old.contains(line)).count();
            if others * 10 > old.len() {
                break;
            }
            now = Some(next);
        }
        let Some(now) = now else { continue };
        changed += match difference(&before, &now) {
            Difference::Nothing => 0,
            Difference::Lines(text) | Difference::Whole(text) => text.len(),
        };
        whole += outline(&now, OutlineDetail::Compact).len();
        changed_screens += 1;
    }
    println!("{changed_screens} screens: {changed} of {whole} bytes");
    assert!(changed_screens > 0 && changed * 100 <= whole * 15, "{changed} of {whole}");
}

#[test]
fn all_that_can_be_used_has_a_ref_and_all_texts_are_there() {
    for file in captured_files("uiautomator") {
        let Some(snapshot) = read(&file) else { continue };
        let list = outline(&snapshot, OutlineDetail::Full);
        let name = file.name();
        for (at, node) in snapshot.tree.nodes.iter().enumerate() {
            let Rect { left, top, right, bottom } = snapshot.shown(at);
            if snapshot.shown(at).is_empty() {
                continue;
            }
            for text in [&*node.text, &*node.description] {
                let text: String = text.chars().take_while(|char| !char.is_control()).collect();
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                // Texts that differ only in invisible characters are said once.
                let seen = without_hidden(&text);
                let is_there = list.contains(&*visible(&text))
                    || !seen.trim().is_empty() && list.contains(seen.trim());
                assert!(text.trim().is_empty() || is_there, "{name}: {text:?}\n{list}");
            }
            let flags = node.flags;
            let acts = flags.clickable || flags.long_clickable || flags.scrollable;
            let acts = acts || is_slider(node) || is_text_field(node);
            let place = format!("[{left},{top}][{right},{bottom}] e");
            assert!(!acts || list.contains(&place), "{name}: {} at {place}\n{list}", node.class);
        }
    }
}

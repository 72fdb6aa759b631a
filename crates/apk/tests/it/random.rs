//! Fuzz tests: any bytes give a result or an error soon, and never a panic.

use bytes::Bytes;
use proptest::prelude::*;
use thumbwire_apk::xml::{self, Element, Value};
use thumbwire_apk::{Apk, Limits};

use super::common::{captures, fixture, fixtures, now};
use super::make::{Part, chunk};
use super::make::{begin, config, deflated, end, package, part, stored, table};

/// Calls everything on a package and ignores the results.
fn ask_everything(bytes: Bytes) {
    let limits = Limits { entry: 4 << 20, ..Limits::default() };
    now(async {
        let Ok(apk) = Apk::open(bytes, limits).await else { return };
        let mut apk = apk.in_language("de-AT");
        let _ = apk.certificates().await;
        if let Ok(manifest) = apk.manifest().await {
            for meta in manifest.services.iter().flat_map(|service| &service.meta) {
                if let Value::Reference(id) = meta.value {
                    let _ = apk.xml(id).await;
                    let _ = apk.string(id).await;
                }
            }
        }
        let names: Vec<String> = apk.names().map(str::to_owned).collect();
        for name in names {
            if let Ok(Ok(mut root)) = apk.file(&name).await.map(|file| xml::read(&file, &limits)) {
                let _ = apk.resolve(&mut root).await;
            }
        }
    });
}

/// The files of a package, unpacked, so that no checksum or broken stream hides a change.
fn unpacked(bytes: &Bytes) -> Vec<(String, Vec<u8>)> {
    now(async {
        let mut apk = Apk::open(bytes.clone(), Limits::default()).await.unwrap();
        let names: Vec<String> = apk.names().map(str::to_owned).collect();
        let mut files = Vec::new();
        for name in names {
            let file = apk.file(&name).await.unwrap();
            files.push((name, file.to_vec()));
        }
        files
    })
}

/// Changes some bytes, and truncates if `cut` is given.
fn changed(bytes: &[u8], changes: &[(usize, u8)], cut: Option<usize>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, byte) in changes {
        let at = at % bytes.len();
        bytes[at] = *byte;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut % (bytes.len() + 1));
    }
    bytes
}

/// Some offsets and new bytes. Offsets near the beginning, where the lengths are, come more often.
fn changes() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let place = prop_oneof![0..200usize, any::<u16>().prop_map(usize::from)];
    let byte = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(0x7f), Just(0x80)];
    prop::collection::vec((place, byte), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_result(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let bytes = Bytes::from(bytes);
        ask_everything(bytes.clone());
        let _ = xml::read(&bytes, &Limits::default());
        let files = [
            deflated("AndroidManifest.xml", &bytes),
            stored("resources.arsc", &bytes),
            stored("META-INF/A.SF", b""),
            stored("META-INF/A.RSA", &bytes),
        ];
        ask_everything(package(&files));
    }

    #[test]
    fn corrupted_package_gives_a_result(
        which in 0..100usize, changes in changes(), cut in prop::option::of(any::<usize>()),
    ) {
        let all = fixtures();
        let (_, bytes) = &all[which % all.len()];
        ask_everything(changed(bytes, &changes, cut).into());
    }

    /// The lengths that matter most are at the end.
    #[test]
    fn corrupted_directory_gives_a_result(changes in changes()) {
        let mut bytes = fixture("clock-in.apk").to_vec();
        bytes.reverse();
        let mut bytes = changed(&bytes, &changes, None);
        bytes.reverse();
        ask_everything(bytes.into());
    }

    #[test]
    fn corrupted_files_give_a_result(
        which in 0..6usize, changes in changes(), cut in prop::option::of(any::<usize>()),
    ) {
        let mut files = unpacked(&fixture("clock-in.apk"));
        let (_, file) = &mut files[which];
        *file = changed(file, &changes, cut);
        let files: Vec<_> = files.iter().map(|(name, file)| stored(name, file)).collect();
        ask_everything(package(&files));
    }

    #[test]
    fn table_with_random_references_gives_a_result(
        values in prop::collection::vec(prop::option::of((0..0x20u8, 0x7f00_fff0..0x7f01_0010u32)), 0..40),
        manner in prop::sample::select(vec!["", "short", "sparse", "compact"]),
        changes in changes(),
    ) {
        let one = part(&Part { of: 1, config: config("de", "", 0), values: values.clone() }, manner);
        let two = part(&Part { of: 1, config: config("", "", 21), values }, "");
        let staged = chunk(0x0206, &9u32.to_le_bytes(), &[0x7f; 40]);
        let table = table(&[b"a", b"b"], 0x7f, &[one, two, staged]);
        let table = changed(&table, &changes, None);
        now(async {
            let bytes = package(&[stored("resources.arsc", &table)]);
            let mut apk = Apk::open(bytes, Limits::default()).await.unwrap();
            for id in 0x7f01_0000..0x7f01_0040 {
                let _ = apk.string(id).await;
            }
        });
    }

    /// Round trip.
    #[test]
    fn built_tree_is_read_back(depths in prop::collection::vec(1..6usize, 0..60)) {
        let mut parts = vec![begin(0, &[])];
        let mut open = 1;
        for depth in &depths {
            while open > *depth {
                parts.push(end(1));
                open -= 1;
            }
            parts.push(begin(1, &[(2, (0x12, u32::MAX)), (1, (0x01, 0x7f01_0000))]));
            open += 1;
        }
        let bytes = super::make::xml(&[b"root", b"part", b"is"], &[], &parts);
        let root = xml::read(&bytes, &Limits::default()).unwrap();
        fn count(element: &Element) -> usize {
            1 + element.children.iter().map(count).sum::<usize>()
        }
        prop_assert_eq!(count(&root), 1 + depths.len());
        for child in &root.children {
            prop_assert_eq!(&child.attribute("is").unwrap().value, &Value::Boolean(true));
        }
    }
}

/// Each capture is truncated at many offsets and has many bytes flipped.
#[test]
fn truncated_and_corrupted_captures_give_a_result() {
    let packages = captures("apk");
    for (_, bytes) in captures("axml") {
        for at in (0..bytes.len()).step_by(101) {
            let _ = xml::read(&bytes.slice(..at), &Limits::default());
            let changed = changed(&bytes, &[(at, !bytes[at])], None);
            let _ = xml::read(&changed.into(), &Limits::default());
        }
    }
    for (_, bytes) in packages.iter().filter(|(_, bytes)| bytes.len() < 20_000) {
        for at in (0..bytes.len()).step_by(997) {
            ask_everything(bytes.slice(..at));
            ask_everything(changed(bytes, &[(at, !bytes[at])], None).into());
        }
    }
}

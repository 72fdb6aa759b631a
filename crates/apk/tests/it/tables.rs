//! Resource tables: choice among several values, references, unusual tables.

use thumbwire_apk::xml::Value;
use thumbwire_apk::{Apk, Error, Limits};

use super::common::now;
use super::make::{self, Part, config, package, part, stored, table};

/// The value of a resource in a package with this table.
fn asked(table: &[u8], id: u32) -> Result<Option<Value>, Error> {
    let bytes = package(&[
        stored("AndroidManifest.xml", &make::least_manifest()),
        stored("resources.arsc", table),
    ]);
    now(async { Apk::open(bytes, Limits::default()).await?.value(id).await })
}

fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.into()))
}

#[test]
fn references_are_followed_except_in_cycles() {
    let to = |id: u32| Some((0x01, id));
    let chain = (1..=22).map(|number| to(0x7f01_0000 + number));
    let mut values: Vec<_> = chain.collect();
    values.push(Some((0x03, 0))); // 22
    values.extend([to(0x7f01_0018), to(0x7f01_0017), to(0x0104_0000), to(0x7f01_0019)]); // 23 to 26
    let parts = [part(&Part { of: 1, config: config("", "", 0), values }, "")];
    let table = table(&[b"said"], 0x7f, &parts);
    assert_eq!(asked(&table, 0x7f01_0016), Ok(text("said")));
    assert_eq!(asked(&table, 0x7f01_0003), Ok(text("said")), "nineteen references");
    assert_eq!(asked(&table, 0x7f01_0002), Ok(None), "twenty");
    assert_eq!(asked(&table, 0x7f01_0000), Ok(None), "more than any real app has");
    assert_eq!(asked(&table, 0x7f01_0017), Ok(None), "a circle");
    let framework = Some(Value::Reference(0x0104_0000));
    assert_eq!(asked(&table, 0x7f01_0019), Ok(framework.clone()));
    assert_eq!(asked(&table, 0x7f01_001a), Ok(framework));
    for missing in [0x7f01_1000, 0x7f02_0000, 0x7e01_0000, 0, u32::MAX] {
        assert_eq!(asked(&table, missing), Ok(None), "{missing:#x}");
    }
}

#[test]
fn all_four_entry_encodings_parse() {
    let values = vec![None, Some((0x03, 0)), None, Some((0x10, 7))];
    for manner in ["", "short", "sparse", "compact"] {
        let values = Part { of: 1, config: config("", "", 0), values: values.clone() };
        let table = table(&[b"said"], 0x7f, &[part(&values, manner)]);
        let found = [0, 1, 2, 3, 4].map(|at| asked(&table, 0x7f01_0000 + at).unwrap());
        assert_eq!(found, [None, text("said"), None, Some(Value::Integer(7)), None], "{manner}");
    }
}

#[test]
fn default_language_wins_then_english_then_the_first() {
    let check = |configs: &[(&str, &str, u16)], expected: i32| {
        let each = configs.iter().enumerate().map(|(number, (language, region, level))| {
            let values = vec![Some((0x10, u32::try_from(number).unwrap()))];
            part(&Part { of: 1, config: config(language, region, *level), values }, "")
        });
        let table = table(&[], 0x7f, &each.collect::<Vec<_>>());
        let found = asked(&table, 0x7f01_0000).unwrap();
        assert_eq!(found, Some(Value::Integer(expected)), "{configs:?}");
    };
    check(&[("de", "", 0), ("en", "", 0), ("", "", 0)], 2);
    check(&[("de", "", 0), ("en", "GB", 0), ("en", "US", 0), ("en", "", 0)], 3);
    check(&[("de", "", 0), ("en", "GB", 0), ("en", "US", 0)], 2);
    check(&[("de", "", 0), ("fr", "", 0)], 0);
    check(&[("", "", 21), ("", "", 0), ("", "", 31)], 1);
    check(&[("", "", 0), ("", "", 0)], 0);
}

#[test]
fn values_without_special_requirements_win() {
    let at_night = |level: u16, night: u8| {
        let mut config = config("", "", level);
        config.resize(60, 0);
        config[25] = night; // `uiMode`
        let values = vec![Some((0x10, u32::from(night)))];
        part(&Part { of: 1, config, values }, "")
    };
    let table = table(&[], 0x7f, &[at_night(0, 0x20), at_night(21, 0), at_night(31, 0x10)]);
    assert_eq!(asked(&table, 0x7f01_0000), Ok(Some(Value::Integer(0))));
}

/// The types of a split are numbered after those of its base.
#[test]
fn split_types_start_at_their_declared_offset() {
    let values = Part { of: 1, config: config("", "", 0), values: vec![Some((0x03, 0))] };
    let mut table = table(&[b"said"], 0x7f, &[part(&values, "")]);
    let package = table.windows(2).position(|kind| kind == [0x00, 0x02]).unwrap();
    assert_eq!(table[package + 2..package + 4], 288u16.to_le_bytes());
    table[package + 284] = 9;
    assert_eq!(asked(&table, 0x7f0a_0000), Ok(text("said")));
    assert_eq!(asked(&table, 0x7f01_0000), Ok(None));
}

#[test]
fn shared_library_uses_package_number_zero() {
    let values = Part { of: 1, config: config("", "", 0), values: vec![Some((0x03, 0))] };
    let refers = vec![Some((0x07, 0x0001_0000))];
    let refers = Part { of: 2, config: config("", "", 0), values: refers };
    let table = table(&[b"said"], 0, &[part(&values, ""), part(&refers, "")]);
    assert_eq!(asked(&table, 0x0002_0000), Ok(text("said")));
}

#[test]
fn staged_id_resolves_to_its_final_id() {
    let values = Part { of: 1, config: config("", "", 0), values: vec![Some((0x03, 0))] };
    let pair = [0x7fff_0000u32, 0x7f01_0000].map(u32::to_le_bytes).concat();
    for (count, expected) in [(1u32, text("said")), (u32::MAX, text("said")), (0, None)] {
        let staged = make::chunk(0x0206, &count.to_le_bytes(), &pair);
        let table = table(&[b"said"], 0x7f, &[part(&values, ""), staged]);
        assert_eq!(asked(&table, 0x7fff_0000), Ok(expected));
    }
}

#[test]
fn table_chunks_and_lookups_are_limited() {
    let one = part(&Part { of: 1, config: vec![0; 4], values: vec![] }, "");
    let large = |count: usize| table(&[], 0x7f, &vec![one.clone(); count]);
    let refused = asked(&large(100_001), 0x7f01_0000).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the number of chunks in the resource table exceeds the limit of 100000"
    );
    let bytes = package(&[
        stored("AndroidManifest.xml", &make::least_manifest()),
        stored("resources.arsc", &large(99_999)),
    ]);
    now(async {
        let mut apk = Apk::open(bytes, Limits::default()).await.unwrap();
        let mut asked = 0;
        while apk.value(0x7f01_0000).await == Ok(None) {
            asked += 1;
        }
        assert_eq!(asked, 20);
    });
}

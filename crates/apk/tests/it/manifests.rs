//! Manifests: what Android makes of declared and omitted values.

use thumbwire_apk::xml::{self, Value};
use thumbwire_apk::{Apk, Limits, Manifest};

use super::common::now;
use super::make::AttributeValue::{Text, Typed};
use super::make::{
    self, AttributeValue, File, Node, Part, config, document, node, package, part, stored, table,
};

const TRUE: AttributeValue = Typed(0x12, u32::MAX);
const FALSE: AttributeValue = Typed(0x12, 0);

/// Attribute names as the compiler writes them, with the resource ids that Android uses
/// (`public-final.xml` of its framework).
const PLATFORM: &[(&str, u32)] = &[
    ("name", 0x0101_0003),
    ("label", 0x0101_0001),
    ("permission", 0x0101_0006),
    ("enabled", 0x0101_000e),
    ("exported", 0x0101_0010),
    ("value", 0x0101_0024),
    ("resource", 0x0101_0025),
    ("targetActivity", 0x0101_0202),
    ("minSdkVersion", 0x0101_020c),
    ("versionCode", 0x0101_021b),
    ("versionName", 0x0101_021c),
    ("targetSdkVersion", 0x0101_0270),
    ("versionCodeMajor", 0x0101_0576),
];

fn number(number: u32) -> AttributeValue {
    Typed(0x10, number)
}

fn manifest(target: u32, application: Node) -> Node {
    let sdk = node("uses-sdk", &[("targetSdkVersion", number(target))]);
    node("manifest", &[("package", Text("a.b"))]).with(sdk).with(application)
}

fn read(root: &Node) -> Manifest {
    read_with(root, PLATFORM)
}

fn read_with(root: &Node, platform: &[(&'static str, u32)]) -> Manifest {
    let files = files_of(root, platform);
    now(async { Apk::open(package(&files), Limits::default()).await?.manifest().await }).unwrap()
}

/// The manifest, and a table in which 0x7f010000 is false, but true from API level 21, and
/// 0x7f010001 is a string.
fn files_of(root: &Node, platform: &[(&'static str, u32)]) -> [File; 2] {
    let booleans = [(0, 0), (21, u32::MAX)].map(|(sdk, is)| {
        let values = vec![Some((0x12, is)), Some((0x03, 0))];
        part(&Part { of: 1, config: config("", "", sdk), values }, "")
    });
    [
        stored("AndroidManifest.xml", &document(root, platform)),
        stored("resources.arsc", &table(&[b"said"], 0x7f, &booleans)),
    ]
}

/// Since Android 12 a component with an intent filter must declare `exported`; before, a filter
/// implied it.
#[test]
fn exported_defaults_to_having_an_intent_filter() {
    for (target, says, filter, exported, lacks) in [
        (30, None, true, true, false),
        (30, None, false, false, false),
        (31, None, true, true, true),
        (31, None, false, false, false),
        (34, Some(TRUE), true, true, false),
        (34, Some(FALSE), true, false, false),
        (20, Some(TRUE), false, true, false),
    ] {
        let mut attributes = vec![("name", Text(".A"))];
        attributes.extend(says.map(|says| ("exported", says)));
        let mut service = node("service", &attributes);
        if filter {
            service = service.with(node("intent-filter", &[]));
        }
        let read = read(&manifest(target, node("application", &[]).with(service)));
        let service = &read.services[0];
        let found = (service.exported, read.lacks_exported(service));
        assert_eq!(found, (exported, lacks), "{target} {filter}");
        assert_eq!(service.exported_written.is_some(), says.is_some());
    }
}

/// A packer pads the resource map, so that every string has a resource id. Android finds the
/// package by its name, but not in the platform's namespace.
#[test]
fn package_name_may_have_a_resource_id() {
    for id in [0x0101_0000, 0x7f01_0001, u32::MAX] {
        let padded: Vec<_> = PLATFORM.iter().copied().chain([("package", id)]).collect();
        assert_eq!(read_with(&manifest(30, node("application", &[])), &padded).package, "a.b");
    }
}

#[test]
fn class_names_are_completed_like_android() {
    for (written, full) in [(".A", "a.b.A"), ("A", "a.b.A"), ("c.A", "c.A"), (".c.A", "a.b.c.A")] {
        let service = node("service", &[("name", Text(written))]);
        let read = read(&manifest(30, node("application", &[]).with(service)));
        assert_eq!(read.services[0].class, full);
    }
}

#[test]
fn services_inherit_application_attributes() {
    let application = node("application", &[("enabled", FALSE), ("permission", Text("p.ALL"))])
        .with(node("service", &[("name", Text(".A")), ("enabled", TRUE)]))
        .with(node("service", &[("name", Text(".B")), ("permission", Text("p.OWN"))]))
        .with(node("service", &[("name", Text(".N")), ("permission", Text(""))]))
        .with(node("service", &[("enabled", TRUE)]));
    let second = node("application", &[]).with(node("service", &[("name", Text(".C"))]));
    let read = read(&manifest(30, application).with(second));
    let out = read.services.iter().map(|it| (&*it.class, it.enabled, it.permission.as_deref()));
    let expected =
        [("a.b.A", false, Some("p.ALL")), ("a.b.B", false, Some("p.OWN")), ("a.b.N", false, None)];
    assert_eq!(
        out.collect::<Vec<_>>(),
        expected,
        "skips nameless services and a second application"
    );
}

#[test]
fn references_resolve_to_the_value_of_the_lowest_api_level() {
    let disabled = node("service", &[("name", Text(".A")), ("enabled", Typed(0x01, 0x7f01_0000))]);
    let read = read(&manifest(
        30,
        node("application", &[("label", Typed(0x01, 0x7f01_0001))]).with(disabled),
    ));
    assert_eq!((read.services[0].enabled, read.label.as_deref()), (false, Some("said")));
}

#[test]
fn meta_data_values_match_what_an_app_gets() {
    let meta = |attributes: &[(&'static str, AttributeValue)]| node("meta-data", attributes);
    let service = node("service", &[("name", Text(".A"))])
        .with(meta(&[("name", Text("text")), ("value", Text("1.0"))]))
        .with(meta(&[("name", Text("float")), ("value", Typed(0x04, 1.5f32.to_bits()))]))
        .with(meta(&[("name", Text("whole")), ("value", number(7))]))
        .with(meta(&[("name", Text("color")), ("value", Typed(0x1c, 0xff00_0000))]))
        .with(meta(&[("name", Text("is")), ("value", TRUE)]))
        .with(meta(&[("name", Text("followed")), ("value", Typed(0x01, 0x7f01_0001))]))
        .with(meta(&[("name", Text("file")), ("resource", Typed(0x01, 0x7f01_0001))]))
        .with(meta(&[("name", Text("framework")), ("value", Typed(0x01, 0x0104_0000))]))
        .with(meta(&[("name", Text("nothing"))]))
        .with(meta(&[("value", Text("nameless"))]))
        .with(meta(&[("name", Text("text")), ("value", Text("again"))]));
    let read = read(&manifest(30, node("application", &[]).with(service)));
    let service = &read.services[0];
    let found: Vec<_> = service.meta.iter().map(|it| (&*it.name, it.value.clone())).collect();
    let output = Value::Text("said".into());
    let expected = [
        ("text", Value::Text("1.0".into())),
        ("float", Value::Float(1.5)),
        ("whole", Value::Integer(7)),
        ("color", Value::Integer(-0x0100_0000)),
        ("is", Value::Boolean(true)),
        ("followed", output),
        ("file", Value::Reference(0x7f01_0001)),
        ("framework", Value::Reference(0x0104_0000)),
        ("text", Value::Text("again".into())),
    ];
    assert_eq!(found, expected);
    assert_eq!(service.meta("followed").unwrap().reference, Some(0x7f01_0001));
    assert_eq!(
        service.meta("text").unwrap().value,
        Value::Text("again".into()),
        "the last one wins"
    );
}

/// Android ignores a bare name: it goes by the resource id. Very old files without resource ids are
/// read by name.
#[test]
fn attributes_match_by_resource_id_not_name() {
    let stranger = PLATFORM
        .iter()
        .map(|(name, id)| (*name, if *name == "exported" { 0x7f99_0000 } else { *id }));
    let service = node("service", &[("name", Text(".A")), ("exported", TRUE)]);
    let root = manifest(30, node("application", &[]).with(service));
    assert!(read(&root).services[0].exported);
    assert!(!read_with(&root, &stranger.collect::<Vec<_>>()).services[0].exported);
}

#[test]
fn file_without_a_resource_map_is_read_by_name() {
    for (namespace, code) in [(0u32, 7), (u32::MAX, 0)] {
        let strings = [xml::ANDROID.as_bytes(), b"manifest", b"package", b"a.b", b"versionCode"];
        let mut root = make::begin(1, &[(2, (0x03, 3)), (4, (0x10, 7))]);
        // The second attribute's namespace: after the element's 36 bytes and the first attribute's
        // 20.
        root[56..60].copy_from_slice(&namespace.to_le_bytes());
        let files = [stored("AndroidManifest.xml", &make::xml(&strings, &[], &[root]))];
        let read =
            now(async { Apk::open(package(&files), Limits::default()).await?.manifest().await });
        assert_eq!(read.unwrap().version_code, code);
    }
}

/// Three-letter languages are packed into 15 bits: `fil` is `ad 05`.
#[test]
fn labels_support_three_letter_languages() {
    let labelled = node("application", &[("label", Typed(0x01, 0x7f01_0000))]);
    let languages = [[0, 0], [0xad, 0x05], *b"de"];
    let parts = languages.iter().enumerate().map(|(text, language)| {
        let mut config = config("", "", 0);
        config[4..6].copy_from_slice(language);
        let values = vec![Some((0x03, u32::try_from(text).unwrap()))];
        part(&Part { of: 1, config, values }, "")
    });
    let parts: Vec<_> = parts.collect();
    let files = [
        stored("AndroidManifest.xml", &document(&manifest(30, labelled), PLATFORM)),
        stored("resources.arsc", &table(&[b"any", b"Filipino", b"deutsch"], 0x7f, &parts)),
    ];
    now(async {
        for (locale, label) in [("fil", "Filipino"), ("fi", "any"), ("de", "deutsch")] {
            let apk = Apk::open(package(&files), Limits::default()).await.unwrap();
            let manifest = apk.in_language(locale).manifest().await.unwrap();
            assert_eq!(manifest.label.as_deref(), Some(label), "{locale}");
        }
    });
}

/// A filter for the launcher's entries, with one label that does not count.
fn launcher_filter() -> Node {
    let name = |text| [("name", Text(text))];
    node("intent-filter", &[("label", Text("of the filter"))])
        .with(node("action", &name("android.intent.action.MAIN")))
        .with(node("category", &name("android.intent.category.LAUNCHER")))
}

#[test]
fn launcher_entry_has_its_own_label_then_its_targets_then_the_applications() {
    let activity = |name, label: Option<&'static str>| {
        let mut attributes = vec![("name", Text(name))];
        attributes.extend(label.map(|label| ("label", Text(label))));
        node("activity", &attributes)
    };
    let alias = |name, target, label: Option<&'static str>| {
        let mut attributes = vec![("name", Text(name)), ("targetActivity", Text(target))];
        attributes.extend(label.map(|label| ("label", Text(label))));
        node("activity-alias", &attributes).with(launcher_filter())
    };
    let only_main = node("intent-filter", &[])
        .with(node("action", &[("name", Text("android.intent.action.MAIN"))]));
    let application = node("application", &[("label", Text("App"))])
        .with(activity(".Own", Some("Own")).with(launcher_filter()))
        .with(activity("Plain", None).with(launcher_filter()))
        .with(activity(".Hidden", Some("Hidden")).with(only_main))
        .with(alias("a.b.Alias", ".Hidden", None))
        .with(alias(".Named", "a.b.Hidden", Some("Named")))
        .with(alias(".Lost", ".Missing", None));
    let entries = read(&manifest(30, application)).launcher_entries;
    let shown: Vec<_> =
        entries.iter().map(|it| (it.class.as_str(), it.label.as_deref().unwrap())).collect();
    let expected = [
        ("a.b.Own", "Own"),
        ("a.b.Plain", "App"),
        ("a.b.Alias", "Hidden"),
        ("a.b.Named", "Named"),
        ("a.b.Lost", "App"),
    ];
    assert_eq!(shown, expected);
    assert!(entries.iter().all(|it| it.enabled && it.label_resource.is_none()));
}

#[test]
fn label_from_the_table_is_in_the_requested_language() {
    let entry = node("activity", &[("name", Text(".Main")), ("enabled", FALSE)]);
    let labelled = node("application", &[("label", Typed(0x01, 0x7f01_0000))]);
    let root = manifest(30, labelled.with(entry.with(launcher_filter())));
    let parts = ["", "de"].iter().enumerate().map(|(text, language)| {
        let values = vec![Some((0x03, u32::try_from(text).unwrap()))];
        part(&Part { of: 1, config: config(language, "", 0), values }, "")
    });
    let parts: Vec<_> = parts.collect();
    let files = [
        stored("AndroidManifest.xml", &document(&root, PLATFORM)),
        stored("resources.arsc", &table(&[b"Clock", b"Uhr"], 0x7f, &parts)),
    ];
    for (locale, label) in [("de-AT", "Uhr"), ("fr-FR", "Clock")] {
        let read = now(async {
            let apk = Apk::open(package(&files), Limits::default()).await?;
            apk.in_language(locale).manifest().await
        });
        let entry = &read.unwrap().launcher_entries[0];
        assert_eq!(entry.label.as_deref(), Some(label), "{locale}");
        assert_eq!((entry.label_resource, entry.enabled), (Some(0x7f01_0000), false));
    }
}

/// By `ResTable_config::isLocaleBetterThan` and `ResourcesImpl.adjustLanguageTag` in AOSP.
#[test]
fn label_is_in_the_language_that_the_phone_chooses() {
    let check = |locale: &str, configs: &[&'static str], expected: &str| {
        let labelled = node("application", &[("label", Typed(0x01, 0x7f01_0000))]);
        let parts = configs.iter().enumerate().map(|(text, written)| {
            let (language, region) = written.split_once('-').unwrap_or((written, ""));
            let values = vec![Some((0x03, u32::try_from(text).unwrap()))];
            let config = match region {
                // Three digits are packed like the letters of a language.
                "001" => [&config(language, "", 0)[..6], &[0x84, 0x00], &[0; 24]].concat(),
                "419" => [&config(language, "", 0)[..6], &[0xa4, 0x24], &[0; 24]].concat(),
                _ => config(language, region, 0),
            };
            part(&Part { of: 1, config, values }, "")
        });
        let parts: Vec<_> = parts.collect();
        let labels: Vec<&[u8]> = configs.iter().map(|it| it.as_bytes()).collect();
        let files = [
            stored("AndroidManifest.xml", &document(&manifest(30, labelled), PLATFORM)),
            stored("resources.arsc", &table(&labels, 0x7f, &parts)),
        ];
        let read = now(async {
            let apk = Apk::open(package(&files), Limits::default()).await?;
            apk.in_language(locale).manifest().await
        });
        assert_eq!(read.unwrap().label.as_deref(), Some(expected), "{locale} of {configs:?}");
    };
    check("en-US", &["", "en-GB"], "");
    check("en-US", &["", "en-AU", "en-US"], "en-US");
    check("en-US", &["", "en-001", "en"], "en");
    check("en-US", &["en-GB", "de"], "en-GB");
    check("en-PR", &["", "en-GB"], "");
    check("en-PR", &["", "en-GB", "en-US"], "en-US");
    check("en", &["", "en-GB"], "");
    check("en-AU", &["", "en-US", "en-GB"], "en-GB");
    check("en-AU", &["", "en-US"], "en-US");
    check("en-DE", &["", "en", "en-001"], "en-001");
    check("he-IL", &["", "iw"], "iw");
    check("id-ID", &["", "in"], "in");
    check("yi", &["", "ji"], "ji");
    check("es-AR", &["", "es", "es-US"], "es-US");
    check("es-AR", &["", "es", "es-US", "es-419"], "es-419");
    check("es-ES", &["", "es-419", "es"], "es");
    check("pt-AO", &["", "pt-BR", "pt-PT"], "pt-PT");
    check("zh-Hant-TW", &["", "zh-CN", "zh-TW"], "zh-TW");
    check("zh-Hant-HK", &["", "zh-CN", "zh-TW"], "zh-TW");
    check("zh-Hant-HK", &["", "zh-CN"], "");
    check("zh-Hans-CN", &["", "zh-TW", "zh-CN"], "zh-CN");
    check("zh-Hans-SG", &["", "zh-TW", "zh"], "zh");
}

#[test]
fn version_codes_combine_and_code_names_come_last() {
    let output = [
        ("package", Text("a.b")),
        ("versionCode", number(7)),
        ("versionCodeMajor", number(3)),
        ("versionName", Text("1.4")),
    ];
    let root = node("manifest", &output)
        .with(node("uses-sdk", &[("minSdkVersion", number(21)), ("targetSdkVersion", number(29))]))
        .with(node("uses-sdk", &[("minSdkVersion", Text("Baklava"))]));
    let read = read(&root);
    assert_eq!((read.version_code, read.version_name.as_deref()), (0x3_0000_0007, Some("1.4")));
    assert_eq!((read.min_sdk, read.target_sdk), (10_000, 10_000), "the last one wins");
}

#[test]
fn files_other_than_manifests_are_rejected() {
    for (root, says) in [
        (
            node("manifests", &[("package", Text("a.b"))]),
            "manifest: the root element is not <manifest>",
        ),
        (node("manifest", &[("package", Text(""))]), "manifest: it has no package name"),
        (node("manifest", &[("package", number(1))]), "manifest: it has no package name"),
    ] {
        let files = [stored("AndroidManifest.xml", &document(&root, PLATFORM))];
        let read = now(async {
            Apk::open(make::package(&files), Limits::default()).await?.manifest().await
        });
        assert_eq!(read.unwrap_err().to_string(), says);
    }
}

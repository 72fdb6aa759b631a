//! Manifests: what Android makes of what is said and of what is left out.

use thumbwire_apk::xml::{self, Value};
use thumbwire_apk::{Apk, Limits, Manifest};

use super::common::now;
use super::make::Said::{Text, Typed};
use super::make::{
    self, File, Node, Part, Said, config, document, node, package, part, stored, table,
};

const TRUE: Said = Typed(0x12, u32::MAX);
const FALSE: Said = Typed(0x12, 0);

/// Names as the compiler writes them, and the resources that Android goes by (`public-final.xml` of its framework).
const PLATFORM: &[(&str, u32)] = &[
    ("name", 0x0101_0003),
    ("label", 0x0101_0001),
    ("permission", 0x0101_0006),
    ("enabled", 0x0101_000e),
    ("exported", 0x0101_0010),
    ("value", 0x0101_0024),
    ("resource", 0x0101_0025),
    ("minSdkVersion", 0x0101_020c),
    ("versionCode", 0x0101_021b),
    ("versionName", 0x0101_021c),
    ("targetSdkVersion", 0x0101_0270),
    ("versionCodeMajor", 0x0101_0576),
];

fn number(number: u32) -> Said {
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

/// The manifest, and a table in which 0x7f010000 is false, from API level 21 on true, and 0x7f010001 is a text.
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

/// Since Android 12 what has a filter must say whether it is exported; before, a filter exports.
#[test]
fn a_service_is_exported_as_it_says_else_if_it_has_a_filter() {
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

#[test]
fn names_of_classes_are_completed_as_android_completes_them() {
    for (written, full) in [(".A", "a.b.A"), ("A", "a.b.A"), ("c.A", "c.A"), (".c.A", "a.b.c.A")] {
        let service = node("service", &[("name", Text(written))]);
        let read = read(&manifest(30, node("application", &[]).with(service)));
        assert_eq!(read.services[0].class, full);
    }
}

#[test]
fn an_application_stands_in_for_what_its_services_leave_out() {
    let application = node("application", &[("enabled", FALSE), ("permission", Text("p.ALL"))])
        .with(node("service", &[("name", Text(".A")), ("enabled", TRUE)]))
        .with(node("service", &[("name", Text(".B")), ("permission", Text("p.OWN"))]))
        .with(node("service", &[("name", Text(".N")), ("permission", Text(""))]))
        .with(node("service", &[("enabled", TRUE)]));
    let second = node("application", &[]).with(node("service", &[("name", Text(".C"))]));
    let read = read(&manifest(30, application).with(second));
    let told = read.services.iter().map(|it| (&*it.class, it.enabled, it.permission.as_deref()));
    let expected =
        [("a.b.A", false, Some("p.ALL")), ("a.b.B", false, Some("p.OWN")), ("a.b.N", false, None)];
    assert_eq!(told.collect::<Vec<_>>(), expected, "no nameless one, no second application");
}

#[test]
fn what_is_said_by_reference_is_looked_up_for_the_phone() {
    let disabled = node("service", &[("name", Text(".A")), ("enabled", Typed(0x01, 0x7f01_0000))]);
    let root =
        manifest(30, node("application", &[("label", Typed(0x01, 0x7f01_0001))]).with(disabled));
    let read = |sdk: Option<u32>| {
        let files = files_of(&root, PLATFORM);
        now(async {
            let apk = Apk::open(package(&files), Limits::default()).await?;
            if let Some(sdk) = sdk { apk.on(sdk) } else { apk }.manifest().await
        })
        .unwrap()
    };
    for (sdk, enabled) in [(None, false), (Some(20), false), (Some(21), true), (Some(36), true)] {
        let read = read(sdk);
        assert_eq!((read.services[0].enabled, read.label.as_deref()), (enabled, Some("said")));
    }
}

#[test]
fn meta_data_is_what_an_app_would_get() {
    let meta = |attributes: &[(&'static str, Said)]| node("meta-data", attributes);
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
    let said = Value::Text("said".into());
    let expected = [
        ("text", Value::Text("1.0".into())),
        ("float", Value::Float(1.5)),
        ("whole", Value::Integer(7)),
        ("color", Value::Integer(-0x0100_0000)),
        ("is", Value::Boolean(true)),
        ("followed", said),
        ("file", Value::Reference(0x7f01_0001)),
        ("framework", Value::Reference(0x0104_0000)),
        ("text", Value::Text("again".into())),
    ];
    assert_eq!(found, expected);
    assert_eq!(service.meta("followed").unwrap().reference, Some(0x7f01_0001));
    assert_eq!(service.meta("text").unwrap().value, Value::Text("again".into()), "the last");
}

/// A name alone is nothing to Android: it goes by the resource. Files of old, without any resources, are read by name.
#[test]
fn attributes_go_by_their_resource_not_by_their_name() {
    let stranger = PLATFORM
        .iter()
        .map(|(name, id)| (*name, if *name == "exported" { 0x7f99_0000 } else { *id }));
    let service = node("service", &[("name", Text(".A")), ("exported", TRUE)]);
    let root = manifest(30, node("application", &[]).with(service));
    assert!(read(&root).services[0].exported);
    assert!(!read_with(&root, &stranger.collect::<Vec<_>>()).services[0].exported);
}

#[test]
fn a_file_without_a_map_of_resources_is_read_by_the_platforms_names() {
    for (namespace, code) in [(0u32, 7), (u32::MAX, 0)] {
        let strings = [xml::ANDROID.as_bytes(), b"manifest", b"package", b"a.b", b"versionCode"];
        let mut root = make::begin(1, &[(2, (0x03, 3)), (4, (0x10, 7))]);
        // The second attribute's namespace: after the element's 36 bytes and the first one's 20.
        root[56..60].copy_from_slice(&namespace.to_le_bytes());
        let files = [stored("AndroidManifest.xml", &make::xml(&strings, &[], &[root]))];
        let read =
            now(async { Apk::open(package(&files), Limits::default()).await?.manifest().await });
        assert_eq!(read.unwrap().version_code, code);
    }
}

/// Languages of three letters are packed into 15 bits: `fil` is `ad 05`.
#[test]
fn a_label_may_be_in_a_language_of_three_letters() {
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
        let mut apk = Apk::open(package(&files), Limits::default()).await.unwrap();
        for (locale, label) in [("fil", "Filipino"), ("fi", "any"), ("de", "deutsch")] {
            assert_eq!(apk.label(locale).await.unwrap().as_deref(), Some(label), "{locale}");
        }
    });
}

#[test]
fn versions_are_put_together_and_releases_in_development_are_later_than_all() {
    let said = [
        ("package", Text("a.b")),
        ("versionCode", number(7)),
        ("versionCodeMajor", number(3)),
        ("versionName", Text("1.4")),
    ];
    let root = node("manifest", &said)
        .with(node("uses-sdk", &[("minSdkVersion", number(21)), ("targetSdkVersion", number(29))]))
        .with(node("uses-sdk", &[("minSdkVersion", Text("Baklava"))]));
    let read = read(&root);
    assert_eq!((read.version_code, read.version_name.as_deref()), (0x3_0000_0007, Some("1.4")));
    assert_eq!((read.min_sdk, read.target_sdk), (10_000, 10_000), "the last counts");
}

#[test]
fn a_file_that_is_no_manifest_is_refused() {
    for (root, says) in [
        (node("manifests", &[("package", Text("a.b"))]), "manifest: its root is another element"),
        (node("manifest", &[("package", Text(""))]), "manifest: it names no package"),
        (node("manifest", &[("package", number(1))]), "manifest: it names no package"),
    ] {
        let files = [stored("AndroidManifest.xml", &document(&root, PLATFORM))];
        let read = now(async {
            Apk::open(make::package(&files), Limits::default()).await?.manifest().await
        });
        assert_eq!(read.unwrap_err().to_string(), says);
    }
}

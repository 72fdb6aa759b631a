//! What is written as a source is read again, for the sources of real phones and for any tree.

use thumbwire_test_support::captured_files;

use proptest::prelude::*;
use thumbwire_virtual_ios::source::{
    MAX_DEPTH, SourceNode, SourceOptions, write_json_source, write_xml_source,
};
use thumbwire_webdriver::Rect;

use crate::xml_source::parse_xml_source;

/// A small screen of an app.
fn screen() -> SourceNode {
    let rect = |x, y, width, height| Some(Rect { x, y, width, height });
    let node = |element_type: &str, rect| SourceNode {
        element_type: element_type.into(),
        enabled: Some(true),
        visible: Some(true),
        accessible: Some(false),
        rect,
        ..SourceNode::default()
    };
    let button = SourceNode {
        name: Some("save".into()),
        identifier: Some("save".into()),
        label: Some("Save & \"close\"".into()),
        traits: vec!["Button".into()],
        accessible: Some(true),
        ..node("Button", rect(300.5, 47.0, 75.0, 44.0))
    };
    let field = SourceNode {
        name: Some("Name".into()),
        value: Some("a\nb".into()),
        label: Some(String::new()),
        placeholder: Some("Your name".into()),
        ..node("TextField", rect(20.0, 100.0, 350.0, 34.0))
    };
    let window = SourceNode {
        children: vec![button, field],
        ..node("Window", rect(0.0, 0.0, 390.0, 844.0))
    };
    SourceNode {
        name: Some("Notes".into()),
        label: Some("Notes".into()),
        bundle_id: Some("com.example.notes".into()),
        process_id: Some(77),
        children: vec![window],
        ..node("Application", rect(0.0, 0.0, 390.0, 844.0))
    }
}

#[test]
fn sources_have_these_bytes() {
    let all = SourceOptions::default();
    let appium = SourceOptions {
        excluded_attributes: vec!["visible".into(), "accessible".into(), "index".into()],
        scope: Some("AppiumAUT".into()),
    };
    let screen = screen();
    let text = format!(
        "{}\n{}\n{:#}\n",
        write_xml_source(&screen, &all),
        write_xml_source(&screen, &appium),
        write_json_source(&screen, &all)
    );
    insta::assert_snapshot!("sources", text);
}

/// The captures of a folder, by name.
fn captures(folder: &str) -> Vec<(String, String)> {
    captured_files(folder).iter().map(|file| (file.name(), file.text())).collect()
}

fn nodes(node: &SourceNode) -> Vec<&SourceNode> {
    std::iter::once(node).chain(node.children.iter().flat_map(nodes)).collect()
}

/// A written source is read as the same tree.
fn survives(name: &str, tree: &SourceNode) {
    let options = SourceOptions::default();
    let xml = parse_xml_source(&write_xml_source(tree, &options)).unwrap();
    assert_eq!(nodes(&xml).len(), nodes(tree).len(), "{name}");
    for (read, original) in nodes(&xml).into_iter().zip(nodes(tree)) {
        assert_eq!(
            (&read.name, &read.label, &read.value),
            (&original.name, &original.label, &original.value)
        );
        assert_eq!(
            (read.rect, read.enabled, read.visible),
            (original.rect, original.enabled, original.visible)
        );
    }
}

#[test]
fn every_ios_source_is_read_completely() {
    let files = captures("ios/source");
    assert!(files.len() >= 5, "{} sources", files.len());
    for (name, text) in files.into_iter().filter(|(name, _)| name.ends_with(".xml")) {
        let count = text.matches("<XCUIElementType").count();
        let tree = parse_xml_source(&text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let all = nodes(&tree);
        println!("{name}: {} elements", all.len());
        assert_eq!(tree.element_type, "Application", "{name}");
        assert!(tree.name.is_some() && tree.rect.is_some_and(|rect| rect.width >= 375.0), "{name}");
        assert_eq!(all.len(), count, "{name}");
        assert!(all.len() > 20 && all.iter().all(|node| !node.element_type.is_empty()), "{name}");
        assert!(all.iter().all(|node| node.rect.is_some() && node.enabled.is_some()), "{name}");
        survives(&name, &tree);
    }
}

#[test]
fn known_elements_of_ios_sources_are_found() {
    let files = captures("ios/source");
    let find = |file: &str, label: &str| {
        let (_, text) = files.iter().find(|(name, _)| name == file).unwrap();
        let tree = parse_xml_source(text).unwrap();
        let found =
            nodes(&tree).into_iter().find(|node| node.name.as_deref() == Some(label)).cloned();
        found.unwrap_or_else(|| panic!("{label}"))
    };
    let general = find("shirates_KeyboardScreen.xml", "General");
    let rect = general.rect.unwrap();
    assert_eq!(
        (general.element_type.as_str(), rect.x, rect.y, rect.width, rect.height),
        ("Button", 0.0, 47.0, 89.0, 44.0)
    );
}

/// Text of pieces that readers look for.
fn any_markup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "<", ">", "/>", "</", "<XCUIElementTypeOther ", "</XCUIElementTypeOther>", "<hierarchy>", "<node ", "<AppiumAUT>", "x=\"1\" ",
            "name='a' ", "bounds=\"[0,0][1,1]\"", "&amp;", "&x;", "&#0;", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE ", "?>", "\"", "'", "=",
            "{", "}", "[", "]", ":", ",", "\"type\":\"Other\"", "\"children\":[", "\"rect\":{", "\"value\":{", "\\", "null", "1e5", "-", "é",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// A tree whose texts survive XML.
fn any_tree() -> impl Strategy<Value = SourceNode> {
    let text = prop::option::of("[ -~é👍\n\t]{0,8}");
    let texts = (text.clone(), text.clone(), text);
    let flags = (any::<Option<bool>>(), any::<Option<bool>>(), any::<Option<bool>>());
    let rect = prop::option::of((-1e6..1e6, -1e6..1e6, 0.0..1e6, 0.0..1e6));
    let traits = prop::collection::vec("[A-Z][a-z]{1,8}", 0..3);
    let fields = ("[A-Z][A-Za-z]{0,9}", texts, flags, rect, traits);
    let leaf = fields.prop_map(
        |(element_type, (name, label, value), (enabled, visible, accessible), rect, traits)| {
            let rect = rect.map(|(x, y, width, height)| Rect { x, y, width, height });
            SourceNode {
                element_type,
                name,
                label,
                value,
                traits,
                enabled,
                visible,
                accessible,
                rect,
                ..SourceNode::default()
            }
        },
    );
    leaf.prop_recursive(6, 40, 4, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..4))
            .prop_map(|(node, children)| SourceNode { children, ..node })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_source_is_handled(text in any_markup()) {
        let _ = parse_xml_source(&text);
    }

    #[test]
    fn any_tree_survives(tree in any_tree()) {
        let xml = parse_xml_source(&write_xml_source(&tree, &SourceOptions::default()));
        prop_assert_eq!(xml, Ok(tree));
    }

    #[test]
    fn any_depth_is_read_or_refused(depth in 1_usize..2_000) {
        let xml = "<XCUIElementTypeOther>".repeat(depth) + &"</XCUIElementTypeOther>".repeat(depth);
        prop_assert_eq!(parse_xml_source(&xml).is_ok(), depth <= MAX_DEPTH);
    }
}

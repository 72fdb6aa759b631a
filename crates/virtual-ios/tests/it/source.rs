//! The source, beside those of real phones.

use std::collections::BTreeSet;
use thumbwire_test_support::capture;

use serde_json::Value;
use thumbwire_virtual_ios::source::SourceNode;

use crate::client::Served;
use crate::xml_source::parse_xml_source;

async fn xml(served: &Served, query: &str) -> SourceNode {
    let text = served.value("GET", &format!("/source{query}"), Value::Null).await;
    parse_xml_source(text.as_str().unwrap()).unwrap()
}

fn all(root: &SourceNode) -> Vec<&SourceNode> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(node) = found.get(at).copied() {
        found.extend(&node.children);
        at += 1;
    }
    found
}

#[tokio::test]
async fn xml_and_json_say_the_same() {
    let served = Served::new().await;
    served.session("com.apple.Preferences").await;
    let from_xml = xml(&served, "").await;
    let json = served.value("GET", "/source?format=json", Value::Null).await;
    let labels: BTreeSet<_> = all(&from_xml).iter().filter_map(|node| node.label.clone()).collect();
    let mut objects = vec![&json];
    let (mut count, mut json_labels) = (0, BTreeSet::new());
    while let Some(object) = objects.pop() {
        count += 1;
        json_labels.extend(object["label"].as_str().map(str::to_owned));
        objects.extend(object["children"].as_array().into_iter().flatten());
    }
    assert_eq!((count, json_labels), (all(&from_xml).len(), labels));
    let excluded = xml(&served, "?excluded_attributes=visible,accessible").await;
    assert!(all(&excluded).iter().all(|node| node.visible.is_none() && node.accessible.is_none()));
    let text = served.value("GET", "/source?format=description", Value::Null).await;
    assert!(
        text.as_str().unwrap().starts_with("Application, {{0.0, 0.0}, {414.0, 896.0}}"),
        "{text}"
    );
}

#[tokio::test]
async fn children_are_inside_the_application_in_points() {
    let served = Served::new().await;
    for bundle_id in [
        "com.apple.springboard",
        "com.apple.Preferences",
        "com.apple.mobilenotes",
        "com.example.shop",
    ] {
        served.session(bundle_id).await;
        let root = xml(&served, "").await;
        assert_eq!(
            (root.element_type.as_str(), root.bundle_id.as_deref()),
            ("Application", Some(bundle_id))
        );
        for node in all(&root) {
            let rect = node.rect.unwrap();
            assert!(rect.x >= 0.0 && rect.x + rect.width <= 414.0, "{bundle_id}: {node:?}");
            assert!(rect.y >= 0.0 && rect.y + rect.height <= 896.0, "{bundle_id}: {node:?}");
        }
    }
}

/// The types in Settings of a real phone are those of ours, and its cells are labelled in the same
/// way.
#[tokio::test]
async fn settings_look_like_those_of_a_real_phone() {
    let captured = capture("ios/source/shirates_SettingsTopScreen.xml").unwrap();
    let captured = String::from_utf8(captured).unwrap();
    let real = parse_xml_source(&captured).unwrap();
    let served = Served::new().await;
    served.session("com.apple.Preferences").await;
    let ours = xml(&served, "").await;
    let types = |root: &SourceNode| -> BTreeSet<String> {
        all(root).iter().map(|node| node.element_type.clone()).collect()
    };
    for kind in
        ["Application", "Window", "Other", "NavigationBar", "StaticText", "Table", "Cell", "Image"]
    {
        assert!(types(&real).contains(kind) && types(&ours).contains(kind), "{kind}");
    }
    for root in [&real, &ours] {
        let nodes = all(root);
        let bar = nodes.iter().find(|node| node.element_type == "NavigationBar").unwrap();
        assert_eq!((bar.name.as_deref(), bar.label.as_deref()), (Some("Settings"), None));
        for cell in nodes.iter().filter(|node| node.element_type == "Cell" && node.label.is_some())
        {
            let inside = all(cell);
            let mut texts = inside.iter().filter(|node| node.element_type == "StaticText");
            assert!(
                texts.any(|text| text.label == cell.label),
                "a cell has its first text's label: {cell:?}"
            );
        }
    }
}

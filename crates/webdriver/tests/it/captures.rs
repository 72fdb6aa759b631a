//! What real servers sent. The files may not be copied into this repository; they may be beside it.

use std::fs;
use std::path::{Path, PathBuf};

use thumbwire_webdriver::{
    AndroidNode, ErrorCode, NewSessionResponse, ResponseError, ServerStatus, SourceNode,
    SourceOptions, parse_android_source, parse_response, parse_xml_source, write_xml_source,
};

/// The captures of a folder, by name; `None` if there are none beside the repository.
fn captures(folder: &str) -> Option<Vec<(String, String)>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("THUMBWIRE_DATA").map_or(beside, PathBuf::from);
    let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|value| value == "1");
    assert!(data.is_dir() || !required, "captures required at {}", data.display());
    if !data.is_dir() {
        println!("skipped: no captures beside the repository");
        return None;
    }
    let files = fs::read_dir(data.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned())
    };
    let mut files: Vec<_> = files.map(read).collect();
    files.sort();
    assert!(!files.is_empty(), "no captures in {folder}");
    Some(files)
}

fn nodes(node: &SourceNode) -> Vec<&SourceNode> {
    std::iter::once(node).chain(node.children.iter().flat_map(nodes)).collect()
}

fn android_nodes(nodes: &[AndroidNode]) -> usize {
    nodes.iter().map(|node| 1 + android_nodes(&node.children)).sum()
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
    let Some(files) = captures("ios/source") else { return };
    for (name, text) in files.into_iter().filter(|(name, _)| name.ends_with(".xml")) {
        let count = text.matches("<XCUIElementType").count();
        let tree = parse_xml_source(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
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
    let Some(files) = captures("ios/source") else { return };
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

#[test]
fn every_status_of_webdriveragent_is_read() {
    let Some(files) = captures("ios/status") else { return };
    for (name, text) in files {
        let response =
            parse_response(200, text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let session = response.session.as_ref().map(|session| session.as_str().len());
        match name.as_str() {
            "wda-command_ok_old.json" => assert!(response.value.is_null() && session == Some(36)),
            "wda-session_created_ios12.json" => {
                let created = NewSessionResponse::from_response(&response).unwrap();
                assert_eq!(Some(&created.session), response.session.as_ref());
                assert_eq!(created.capabilities.text("sdkVersion"), Some("12.5.5"));
            }
            "wda-status_ios15_no-session.json" => {
                let status = ServerStatus::from_response(&response).unwrap();
                assert_eq!(
                    (status.ready, status.os_version.as_deref(), session),
                    (Some(true), Some("15.4.1"), None)
                );
                assert_eq!(status.ip.as_deref(), Some("169.254.83.75"));
            }
            "wda-status_old_with-session.json" => {
                let status = ServerStatus::from_response(&response).unwrap();
                assert_eq!(
                    (status.ready, status.simulator_version.as_deref()),
                    (None, Some("12.0"))
                );
                assert_eq!(status.session, response.session);
                assert!(status.session.is_some());
            }
            other => panic!("{other} is new: say what it shows"),
        }
    }
}

#[test]
fn every_error_of_webdriveragent_is_read() {
    let Some(files) = captures("ios/errors") else { return };
    for (name, text) in files {
        let status =
            name.rsplit_once('_').and_then(|(_, end)| end.strip_suffix(".json")?.parse().ok());
        let Err(ResponseError::Failed(error)) = parse_response(status.unwrap(), text.as_bytes())
        else {
            panic!("{name} is a failure");
        };
        assert_eq!(error.code, ErrorCode::InvalidSessionId);
        assert_eq!(error.message, "Session does not exist");
        assert!(error.stacktrace.contains("raiseNoSessionException"));
    }
}

#[test]
fn every_android_source_that_is_xml_is_read() {
    let Some(files) = captures("pagesource-ua2") else { return };
    // Saved without their XML: `SOURCES.md` beside the captures says so.
    let broken = ["IVI_OS_Auto_var00__ui_dump.xml", "mirror__page_source.xml"];
    for (name, text) in files {
        let source = parse_android_source(&text);
        if broken.contains(&name.as_str()) {
            println!(
                "{name}: {}",
                source.map_or_else(|error| error.to_string(), |_| "read".into())
            );
            continue;
        }
        let source = source.unwrap_or_else(|error| panic!("{name}: {error}"));
        let count = android_nodes(&source.nodes);
        println!("{name}: {count} elements");
        assert_eq!(count, text.matches("bounds=\"[").count(), "{name}");
        assert!(
            source.nodes.iter().all(|node| node.bounds.is_some() && node.class.contains('.')),
            "{name}"
        );
        assert_eq!(source.rotation, Some(0), "{name}");
    }
}

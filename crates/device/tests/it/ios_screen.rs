//! What an iPhone shows: pictures, sizes and trees in pixels of the screenshot.

use thumbwire_device::find::elements;
use thumbwire_device::saved_tree::read_saved;
use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_device::{
    Device, Error, Foreground, Format, Node, Orientation, Rect, Size, Tree, TreeDetail, WindowKind,
    text_field,
};
use thumbwire_virtual_ios::source::SourceNode;

use crate::wda::{Fault, StandIn, element};
use thumbwire_test_support::capture;

async fn tree(ios: &WebDriverPhone) -> Tree {
    ios.tree(TreeDetail::Full).await.unwrap()
}

fn named<'t>(tree: &'t Tree, id: &str) -> &'t Node {
    tree.nodes.iter().find(|node| *node.id == *id).unwrap()
}

#[tokio::test]
async fn rectangles_are_in_pixels_of_the_screenshot() {
    // Scale, pixels per point, the screen in points and pixels, the button's rectangle.
    for (scale, pixels, points, size, button) in [
        (Some(2.0), 2.0, (375.0, 667.0), (750, 1334), [20, 100, 220, 188]),
        (Some(3.0), 3.0, (390.0, 844.0), (1170, 2532), [30, 150, 330, 282]),
        // A Plus model says 3 and draws at 2.6.
        (Some(3.0), 1080.0 / 414.0, (414.0, 736.0), (1080, 1920), [26, 130, 287, 245]),
        // Old servers do not say.
        (None, 2.0, (375.0, 667.0), (750, 1334), [20, 100, 220, 188]),
    ] {
        let (wda, ios) = StandIn::attach().await;
        {
            let mut state = wda.state();
            (state.scale, state.pixels, state.points) = (scale, pixels, points);
        }
        let size = Size { width: size.0, height: size.1 };
        assert_eq!(ios.screen_size().await.unwrap(), size);
        let picture = ios.screenshot().await.unwrap();
        assert_eq!((picture.size, picture.image.format), (size, Format::Png));
        let tree = tree(&ios).await;
        let [left, top, right, bottom] = button;
        assert_eq!(named(&tree, "Save").bounds, Rect { left, top, right, bottom }, "{pixels}");
        assert_eq!(wda.count("GET /screenshot"), 2, "the scale is measured once");
    }
}

#[tokio::test]
async fn scale_of_the_server_is_used_without_a_screenshot() {
    let (wda, ios) = StandIn::attach().await;
    let body = r#"{"value":{"error":"unable to capture screen","message":"no","traceback":""}}"#;
    wda.fail("GET /screenshot", Fault::Answer(500, body.into()));
    assert_eq!(ios.screen_size().await.unwrap(), Size { width: 1170, height: 2532 });
    let (wda, ios) = StandIn::attach().await;
    wda.state().scale = None;
    wda.fail("GET /screenshot", Fault::Answer(500, body.into()));
    assert!(matches!(ios.screen_size().await, Err(Error::NotReady { .. })));
}

#[tokio::test]
async fn turned_screen_has_turned_sizes() {
    let (wda, ios) = StandIn::attach().await;
    assert_eq!(tree(&ios).await.rotation, 0);
    wda.state().landscape = true;
    wda.state().tree.rect = element("Application", "", [0.0, 0.0, 844.0, 390.0]).rect;
    wda.state().tree.children[0].rect = element("Window", "", [0.0, 0.0, 844.0, 390.0]).rect;
    assert_eq!(ios.screen_size().await.unwrap(), Size { width: 2532, height: 1170 });
    let tree = tree(&ios).await;
    assert_eq!((tree.rotation, tree.nodes[0].bounds.right), (1, 2532));
    // XCTest exchanges the sides of a turned app, not those of its windows.
    wda.state().tree.rect = element("Application", "", [0.0, 0.0, 390.0, 844.0]).rect;
    let exchanged = ios.tree(TreeDetail::Full).await.unwrap();
    assert_eq!((exchanged.rotation, exchanged.nodes[0].bounds), (1, tree.nodes[0].bounds));
    let info = ios.info().await.unwrap();
    assert_eq!(info.orientation, Orientation::Landscape);
    assert_eq!(info.panel.size, Size { width: 1170, height: 2532 });
}

#[tokio::test]
async fn tree_says_what_is_in_front() {
    let (wda, ios) = StandIn::attach().await;
    let shown = tree(&ios).await;
    assert_eq!(&*shown.front.app().unwrap().app.0, "com.example.forms");
    assert!(shown.nodes.iter().all(|node| *node.package == *"com.example.forms"));
    assert!(shown.source.starts_with("<?xml") && shown.source.contains("XCUIElementTypeButton"));
    assert_eq!(shown.window, WindowKind::Main);
    assert_eq!(wda.count("activeAppInfo"), 1);
    // Newer sources name the app themselves.
    wda.state().tree.bundle_id = Some("com.example.other".into());
    assert_eq!(&*tree(&ios).await.front.app().unwrap().app.0, "com.example.other");
    assert_eq!(wda.count("activeAppInfo"), 1);
    let alert = element("Alert", "Allow?", [60.0, 300.0, 270.0, 180.0]);
    wda.state().tree.children[0].children.push(alert);
    assert_eq!(tree(&ios).await.window, WindowKind::Dialog);
    wda.state().locked = true;
    assert_eq!(tree(&ios).await.front, Foreground::Keyguard);
    assert_eq!(ios.foreground().await.unwrap(), Foreground::Keyguard);
}

#[tokio::test]
async fn focused_field_is_marked() {
    let (wda, ios) = StandIn::attach().await;
    assert_eq!(text_field::focused(&tree(&ios).await), None);
    wda.state().field = Some(("Ada".into(), [10.0, 100.0, 300.0, 40.0]));
    let shown = tree(&ios).await;
    let field = &shown.nodes[text_field::focused(&shown).unwrap()];
    assert_eq!((&*field.id, &*field.text, &*field.hint), ("name-field", "Ada", "Name"));
    // A field that is not in the tree.
    wda.state().field = Some(("Ada".into(), [0.0, 0.0, 3.0, 4.0]));
    assert_eq!(text_field::focused(&tree(&ios).await), None);
    // A screen without fields needs no question.
    let asked = wda.count("GET /element/active");
    wda.state().tree.children[0].children.pop();
    tree(&ios).await;
    assert_eq!(wda.count("GET /element/active"), asked);
}

#[tokio::test]
async fn texts_of_the_source_arrive_unchanged() {
    let (wda, ios) = StandIn::attach().await;
    let label = SourceNode {
        label: Some("A & B \"<\u{1F600}>\"".into()),
        value: Some("line\nbreak".into()),
        visible: Some(false),
        enabled: Some(false),
        ..element("StaticText", "id", [-5.0, 20.0, 100.0, 44.0])
    };
    let switch = SourceNode { value: Some("1".into()), ..element("Switch", "Wi-Fi", [0.0; 4]) };
    wda.state().tree.children[0].children.extend([label, switch]);
    let tree = tree(&ios).await;
    assert_eq!(&*named(&tree, "id").text, "line\nbreak");
    assert_eq!(&*named(&tree, "id").description, "A & B \"<\u{1F600}>\"");
    assert!(named(&tree, "Wi-Fi").flags.checked);
}

#[tokio::test]
async fn large_and_deep_trees_are_read() {
    let (wda, ios) = StandIn::attach().await;
    let cells = (0..10_000).map(|n| element("Cell", &format!("cell-{n}"), [0.0, 0.0, 390.0, 44.0]));
    wda.state().tree.children[0].children.extend(cells);
    let mut deep = element("Button", "deepest", [1.0, 1.0, 9.0, 9.0]);
    for _ in 0..150 {
        deep =
            SourceNode { children: vec![deep], ..element("Other", "", [0.0, 0.0, 390.0, 844.0]) };
    }
    wda.state().tree.children[0].children.push(deep);
    let tree = tree(&ios).await;
    assert_eq!(tree.nodes.len(), 4 + 10_000 + 151);
    assert_eq!(named(&tree, "deepest").depth, 152);
}

#[tokio::test]
async fn snapshot_that_is_too_deep_is_taken_less_deep() {
    let (wda, ios) = StandIn::attach().await;
    // Errors have only the beginning of the message.
    let element = "Other ".repeat(100);
    let message = format!("{element}: error kAXErrorIllegalArgument getting snapshot");
    let body =
        format!(r#"{{"value":{{"error":"unknown error","message":"{message}","traceback":""}}}}"#);
    // Twice it may be an app that is just starting.
    for _ in 0..2 {
        wda.fail("GET /source", Fault::Answer(500, body.clone()));
    }
    tree(&ios).await;
    assert_ne!(wda.state().settings.get("snapshotMaxDepth"), Some(&40.into()));
    for _ in 0..3 {
        wda.fail("GET /source", Fault::Answer(500, body.clone()));
    }
    tree(&ios).await;
    assert_eq!(wda.state().settings["snapshotMaxDepth"], 40);
    for _ in 0..4 {
        wda.fail("GET /source", Fault::Answer(500, body.clone()));
    }
    let error = ios.tree(TreeDetail::Full).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }), "{error:?}");
}

#[tokio::test]
async fn broken_sources_are_refused() {
    let (wda, ios) = StandIn::attach().await;
    for source in [
        "",
        "no tree",
        "<XCUIElementTypeWindow><XCUIElementTypeButton/>",
        "<XCUIElementTypeWindow><XCUIElementTypeButton></XCUIElementTypeWindow>",
    ] {
        let body = format!(r#"{{"value":{source:?},"sessionId":"S"}}"#);
        wda.fail("GET /source", Fault::Answer(200, body));
        let error = ios.tree(TreeDetail::Full).await.unwrap_err();
        assert!(matches!(error, Error::Unreadable { .. }), "{source}: {error:?}");
    }
    // Servers before 2017 send JSON.
    for body in [r#"{"value":{"type":"Other","children":[]}}"#, r#"{"value":null}"#] {
        wda.fail("GET /source", Fault::Answer(200, body.into()));
        let error = ios.tree(TreeDetail::Full).await.unwrap_err();
        assert!(matches!(error, Error::Unreadable { .. }), "{body}: {error:?}");
    }
    wda.fail("GET /screenshot", Fault::Answer(200, r#"{"value":"aGVsbG8="}"#.into()));
    let error = ios.screenshot().await.unwrap_err();
    assert!(error.to_string().contains("not a complete PNG or JPEG"), "{error}");
}

/// A live phone's source and a saved file of it give the same nodes, up to the scale.
#[tokio::test]
async fn captured_sources_are_read_as_saved_ones() {
    for name in ["DateAndTime_ja.xml", "KeyboardScreen.xml", "SettingsTopScreen.xml", "iOS1.xml"] {
        let file = capture(&format!("ios/source/shirates_{name}")).unwrap();
        let (wda, ios) = StandIn::attach().await;
        let text = String::from_utf8(file.clone()).unwrap();
        let body = serde_json::json!({ "value": text, "sessionId": "S" });
        wda.fail("GET /source", Fault::Answer(200, body.to_string()));
        let live = tree(&ios).await;
        let saved = read_saved(&file).unwrap();
        assert_eq!(live.nodes.len(), saved.tree.nodes.len(), "{name}");
        for (live, saved) in live.nodes.iter().zip(&saved.tree.nodes) {
            assert_eq!((&live.class, &live.id, &live.text), (&saved.class, &saved.id, &saved.text));
            assert_eq!(
                (live.bounds.left, live.bounds.bottom),
                (saved.bounds.left * 3, saved.bounds.bottom * 3)
            );
        }
        assert!(!elements(&live).is_empty(), "{name}");
    }
}

//! The `mobile` tools through a real Appium server, and straight through ADB or WebDriverAgent, on
//! two virtual phones that are alike: the replies are the same, or their difference is known.
//!
//! `.ci/parts appium` installs Appium; docs/evidence/appium.md has the tables that these tests print.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::Call;
use thumbwire_core::providers::{
    AdbServerProvider, AppiumDevice, AppiumProvider, DeviceProviders, WdaProvider,
};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{Content, ObserveMode};
use thumbwire_virtual_ios::{Setup, VirtualIphone};
use thumbwire_virtual_phone::Platform;
use tokio::net::TcpListener;

use crate::appium_server::{Server, appium};
use crate::stock_adb::{Phone, Stock};
use crate::support::thumbwire;

/// Calls whose replies differ, by their number in the story, and why.
const ANDROID_DIFFERENCES: &[(usize, &str)] = &[
    (
        2,
        "lists all apps, without labels: UiAutomator2 tells neither which are the system's nor the launcher's names",
    ),
    (5, APPIUMS_APPS),
    (6, APPIUMS_APPS),
    (9, "the page lists Appium Settings too"),
    (13, APPIUMS_APPS),
    (17, KEYBOARD),
    (
        19,
        "fails: since Android 10 Appium reads it through Appium Settings, which the virtual phone cannot run",
    ),
    (21, KEYBOARD),
    (27, "refused as locked instead of off: Appium has one answer for both"),
    (37, "not supported"),
];

const APPIUMS_APPS: &str = "the page counts three more apps, which are Appium's";
const KEYBOARD: &str =
    "without `[keyboard shown]`: UiAutomator2 does not tell where the keyboard is";

/// The same of [`ios_story`].
const IOS_DIFFERENCES: &[(usize, &str)] = &[];

/// What the phones are asked to do, in this order.
fn android_story() -> Vec<(&'static str, Value)> {
    let tap = |text: &str| ("mobile_tap_element", json!({ "text": text }));
    let launch = |app: &str| ("mobile_launch_app", json!({ "bundle_id": app }));
    vec![
        ("mobile_get_device_info", json!({})),
        ("mobile_list_apps", json!({})),
        launch("com.android.settings"),
        ("mobile_get_current_app", json!({})),
        ("mobile_snapshot", json!({})),
        ("mobile_get_accessibility_tree", json!({})),
        ("mobile_take_screenshot", json!({})),
        tap("Apps"),
        ("mobile_snapshot", json!({})),
        ("mobile_press_key", json!({ "key": "back" })),
        ("mobile_scroll", json!({ "direction": "down" })),
        ("mobile_swipe", json!({ "start_x": 540, "start_y": 900, "end_x": 540, "end_y": 1700 })),
        ("mobile_snapshot", json!({})),
        launch("com.android.notes"),
        tap("New note"),
        ("mobile_type_keys", json!({ "text": "Milk & é✓ \u{1f600}" })),
        ("mobile_snapshot", json!({})),
        ("mobile_set_clipboard", json!({ "text": "clip ✓" })),
        ("mobile_get_clipboard", json!({})),
        ("mobile_set_orientation", json!({ "orientation": "landscape" })),
        ("mobile_snapshot", json!({})),
        ("mobile_set_orientation", json!({ "orientation": "portrait" })),
        ("mobile_open_url", json!({ "url": "https://example.com/" })),
        ("mobile_get_current_app", json!({})),
        ("mobile_open_url", json!({ "url": "nobody:x" })),
        ("mobile_press_key", json!({ "key": "power" })),
        ("mobile_tap", json!({ "x": 540, "y": 1200 })),
        ("mobile_unlock", json!({})),
        ("mobile_press_key", json!({ "key": "home" })),
        ("mobile_long_press", json!({ "x": 540, "y": 1200 })),
        ("mobile_press_key", json!({ "key": "home" })),
        ("mobile_pinch", json!({ "scale": 2 })),
        launch("com.example.nothing"),
        ("mobile_close_app", json!({ "bundle_id": "com.android.settings" })),
        ("mobile_clear_app", json!({ "bundle_id": "com.android.notes" })),
        ("mobile_logs", json!({ "tag": "ActivityTaskManager" })),
        ("mobile_list_notifications", json!({})),
    ]
}

fn ios_story() -> Vec<(&'static str, Value)> {
    let launch = |app: &str| ("mobile_launch_app", json!({ "bundle_id": app }));
    vec![
        ("mobile_get_device_info", json!({})),
        ("mobile_list_apps", json!({})),
        ("mobile_get_current_app", json!({})),
        launch("com.apple.mobilenotes"),
        ("mobile_snapshot", json!({})),
        ("mobile_get_accessibility_tree", json!({})),
        ("mobile_take_screenshot", json!({})),
        ("mobile_tap_element", json!({ "text": "New note" })),
        ("mobile_type_keys", json!({ "text": "K\u{e4}se \u{1f600}" })),
        ("mobile_snapshot", json!({})),
        ("mobile_set_clipboard", json!({ "text": "clip" })),
        ("mobile_get_clipboard", json!({})),
        ("mobile_press_key", json!({ "key": "back" })),
        ("mobile_press_key", json!({ "key": "volume_up" })),
        ("mobile_press_key", json!({ "key": "enter" })),
        ("mobile_press_key", json!({ "key": "home" })),
        ("mobile_swipe", json!({ "start_x": 700, "start_y": 900, "end_x": 100, "end_y": 900 })),
        ("mobile_set_orientation", json!({ "orientation": "landscape" })),
        ("mobile_get_device_info", json!({})),
        ("mobile_set_orientation", json!({ "orientation": "portrait" })),
        ("mobile_open_url", json!({ "url": "https://example.com/" })),
        ("mobile_get_current_app", json!({})),
        ("mobile_press_key", json!({ "key": "power" })),
        ("mobile_unlock", json!({})),
        launch("com.example.nothing"),
        launch("com.apple.x; reboot"),
        ("mobile_close_app", json!({ "bundle_id": "com.apple.mobilenotes" })),
        ("mobile_logs", json!({})),
    ]
}

/// What a tool says on a session's phone, with pictures as their formats and without the phone's
/// id.
async fn ask(session: &Session, id: &str, tool: &str, arguments: &Value) -> String {
    let toolset = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::ALL);
    let tool = toolset.tool(tool).unwrap();
    // More than any budget: this machine may be busy, and the first call creates the session.
    let call = Call::with_timeout(Duration::from_secs(120));
    let arguments = arguments.as_object().cloned().unwrap();
    let reply = toolset.answer(tool, arguments, call, session).await;
    let words = reply.content.iter().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Image(image) => format!("a picture, {:?}\n", image.format),
        other => panic!("{other:?}"),
    });
    let error = if reply.is_error { "error: " } else { "" };
    format!("{error}{}", words.collect::<String>()).replace(id, "PHONE")
}

/// The two ways to a phone.
struct Ways {
    straight: Session,
    straight_id: String,
    appium: Session,
    appium_id: String,
}

impl Ways {
    fn new(straight: DeviceProviders, straight_id: &str, server: &Server, device: &Value) -> Self {
        let device: AppiumDevice = device.to_string().parse().unwrap();
        let appium_id = device.id.clone();
        let appium = AppiumProvider::new(server.url.parse().unwrap(), [device]).unwrap();
        Self {
            straight: Session::new(straight, Some(straight_id.to_owned())),
            straight_id: straight_id.to_owned(),
            appium: Session::new(DeviceProviders::default().with(appium), Some(appium_id.clone())),
            appium_id,
        }
    }

    /// Runs the story on both phones. Returns the table of what differs, and the names of the
    /// tools whose replies are the same.
    async fn compare(
        &self,
        story: Vec<(&'static str, Value)>,
        differences: &[(usize, &str)],
    ) -> String {
        // Appium installs its server on an Android phone: the first call waits for that.
        ask(&self.appium, &self.appium_id, "mobile_get_current_app", &json!({})).await;
        let mut table = "| call | replies |\n|---|---|\n".to_owned();
        let (mut same, mut unexpected) = (Vec::new(), String::new());
        for (at, (tool, arguments)) in story.into_iter().enumerate() {
            let (straight, through) = tokio::join!(
                ask(&self.straight, &self.straight_id, tool, &arguments),
                ask(&self.appium, &self.appium_id, tool, &arguments)
            );
            let number = at + 1;
            let known = differences.iter().find(|(call, _)| *call == number);
            if (straight == through) == known.is_some() {
                let _ = writeln!(
                    unexpected,
                    "{number} {tool} {arguments}\n--- straight\n{straight}\n--- Appium\n{through}"
                );
            }
            let Some((_, row)) = known else {
                let name = format!("`{tool}`");
                same.extend((!same.contains(&name)).then_some(name));
                continue;
            };
            let arguments =
                if arguments == json!({}) { String::new() } else { format!(" {arguments}") };
            let _ = writeln!(table, "| `{tool}{arguments}` | {row} |");
        }
        if differences.is_empty() {
            table.clear();
        }
        let lines: Vec<String> = same.chunks(4).map(|names| names.join(", ")).collect();
        let _ = writeln!(table, "\nThe same replies:\n{}.", lines.join(",\n"));
        println!("{table}");
        self.appium.end().await;
        assert!(unexpected.is_empty(), "{unexpected}");
        table
    }
}

#[test]
fn wrong_flags_are_refused_without_their_values() {
    let check = |flags: &[&str], says: &str| {
        let output = thumbwire().arg("devices").args(flags).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {text}");
        assert!(text.contains(says) && !text.contains("secret"), "{flags:?}: {text}");
    };
    let server = "http://me:secret@127.0.0.1:1";
    check(&["--appium", "me:secret@127.0.0.1:1"], "invalid --appium: expected the URL");
    check(&["--appium-device", "{}"], "needs a server");
    check(&["--appium", server, "--appium-device", r#"{"key":"secret"}"#], "write `appium:key`");
    check(&["--appium", server, "--appium-device", "{secret"], "not JSON");
    check(&["--appium", server, "--appium-device", "@/nowhere"], "/nowhere: ");
    let twice = ["--appium-device", r#"[{"appium:udid":"U"},{"appium:udid":"U"}]"#];
    check(&[&["--appium", server], &twice[..]].concat(), "have the id appium:U");
}

fn is_in_docs(table: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/appium.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains(table),
        "docs/evidence/appium.md is stale: replace its table with\n{table}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_say_the_same_through_appium_and_adb() {
    let Some(folder) = appium() else { return };
    let Some(stock) = Stock::start() else { return };
    let (by_adb, by_appium) = (Phone::start("1"), Phone::start("1"));
    for phone in [&by_adb, &by_appium] {
        stock.adb(&["connect", &phone.address]);
    }
    let server = Server::start(&folder);
    let device = json!({
        "platformName": "Android", "appium:udid": by_appium.address,
        "appium:adbPort": stock.port(),
    });
    let adb = AdbServerProvider::new(AdbServer::new(format!("127.0.0.1:{}", stock.port())));
    let adb = DeviceProviders::default().with(adb);
    let ways = Ways::new(adb, &by_adb.address, &server, &device);
    is_in_docs(&ways.compare(android_story(), ANDROID_DIFFERENCES).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_say_the_same_through_appium_and_webdriveragent() {
    let Some(folder) = appium() else { return };
    let mut urls = Vec::new();
    for _ in 0..2 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        urls.push(format!("http://{}", listener.local_addr().unwrap()));
        let phone = VirtualIphone::new(Setup::default());
        tokio::spawn(async move { phone.serve(listener).await });
    }
    let server = Server::start(&folder);
    // Without the version Appium asks a phone on USB for it.
    let device = json!({
        "platformName": "iOS", "appium:udid": "00008030-0000000000000001", "appium:deviceName": "iPhone",
        "appium:platformVersion": Platform::IOS_VERSION, "appium:webDriverAgentUrl": urls[1],
    });
    let wda = DeviceProviders::default().with(WdaProvider::new([urls[0].parse().unwrap()]));
    let ways = Ways::new(wda, &urls[0], &server, &device);
    is_in_docs(&ways.compare(ios_story(), IOS_DIFFERENCES).await);
}

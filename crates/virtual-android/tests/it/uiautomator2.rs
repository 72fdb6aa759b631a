//! The UiAutomator2 servers on the wire: what Appium's instrumented server and that of Python's
//! `uiautomator2` answer, as transcripts, and when they begin and end.

use crate::common::Wired;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::future::Future;
use std::io::Write as _;
use std::time::Duration;
use thumbwire_adb::{Stream, Transport as _};
use thumbwire_virtual_phone::{
    ComponentKind, DeclaredComponent, Installation, Manifest, ParsedPackage,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const SERVER: &str = "io.appium.uiautomator2.server";
const TEST: &str = "io.appium.uiautomator2.server.test";
const RUNNER: &str = "androidx.test.runner.AndroidJUnitRunner";
const SETTINGS: &str = "com.android.settings";
const NOTES: &str = "com.android.notes";
const CONTACTS: &str = "com.google.android.contacts";

/// Installs a package without a file, with a service.
fn install(wired: &Wired, package: &str, instrumentations: Vec<(String, String)>) {
    let service = DeclaredComponent {
        class: ComponentKind::Service,
        name: format!("{package}.ForegroundService"),
        label: None,
        target: None,
        exported: false,
        enabled: true,
        permission: None,
        authorities: None,
        filters: Vec::new(),
        meta: Vec::new(),
    };
    let (package, components) = (package.to_owned(), vec![service]);
    let declared =
        ParsedPackage { package, instrumentations, components, ..ParsedPackage::default() };
    let installation = Installation {
        declared,
        files: Vec::new(),
        splits: Vec::new(),
        certificate: [0; 32],
        signature_scheme: 2,
        abi: None,
        installer: None,
        installed: (0, 0),
    };
    wired.phone.world(|world| world.install(Manifest::of_installation(installation), None));
}

fn start(wired: &Wired, package: &str) {
    wired.phone.world(|world| world.start(package, None)).expect("it starts");
}

/// A phone with Appium's packages, and the shell that instruments them.
async fn instrumented() -> (Wired, Stream) {
    let wired = Wired::new();
    install(&wired, SERVER, Vec::new());
    install(&wired, TEST, vec![(RUNNER.to_owned(), SERVER.to_owned())]);
    let shell = wired.adb.open(&format!("exec:am instrument -w {TEST}/{RUNNER}")).await;
    let shell = shell.expect("a shell");
    until_it_listens(&wired, 6790).await;
    (wired, shell)
}

async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(3_600);
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| panic!("{what} takes too long"))
}

async fn until_it_listens(wired: &Wired, port: u16) {
    in_time("starting", async {
        while wired.adb.open(&format!("tcp:{port}")).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// A request on a connection of its own: the status and the body.
async fn http(wired: &Wired, port: u16, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = wired.adb.open(&format!("tcp:{port}")).await.expect("it listens");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("written");
    let mut came = Vec::new();
    in_time(path, stream.read_to_end(&mut came)).await.expect("a response");
    let text = String::from_utf8(came).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

/// A conversation in a session of Appium's server.
struct Session<'a> {
    wired: &'a Wired,
    id: String,
    transcript: String,
}

impl<'a> Session<'a> {
    async fn begin(wired: &'a Wired) -> Self {
        let wanted = json!({ "capabilities": { "firstMatch": [{ "platformName": "Android" }] } });
        let (status, body) = http(wired, 6790, "POST", "/session", &wanted.to_string()).await;
        assert_eq!(status, 200, "{body}");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        let id = body["value"]["sessionId"].as_str().expect("an id").to_owned();
        assert_eq!(body["sessionId"], id.as_str(), "the driver reads it there");
        Self { wired, id, transcript: String::new() }
    }

    /// Adds a request and its response to the transcript; returns the value.
    async fn ask(&mut self, method: &str, path: &str, body: Value) -> Value {
        let target = format!("/session/{}{path}", self.id);
        let sent = if body.is_null() { String::new() } else { body.to_string() };
        let (status, came) = http(self.wired, 6790, method, &target, &sent).await;
        let came: Value = serde_json::from_str(&came).expect("JSON");
        let value = came["value"].clone();
        let mut shown = value.to_string();
        if let (true, Some(text)) = (shown.len() > 400, value.as_str()) {
            shown = format!("{} characters: {}…", text.len(), &text[..20].escape_default());
        }
        let _ = writeln!(self.transcript, "{method} {path} {sent}\n  {status} {shown}");
        value
    }

    async fn get(&mut self, path: &str) -> Value {
        self.ask("GET", path, Value::Null).await
    }

    async fn find(&mut self, strategy: &str, selector: &str) -> String {
        let body = json!({ "strategy": strategy, "selector": selector, "context": "" });
        let found = self.ask("POST", "/element", body).await;
        found["ELEMENT"].as_str().unwrap_or_default().to_owned()
    }
}

#[tokio::test]
async fn appium_server_finds_and_touches_elements() {
    let (wired, _shell) = instrumented().await;
    start(&wired, SETTINGS);
    let mut session = Session::begin(&wired).await;
    for path in [
        "/orientation",
        "/window/current/size",
        "/appium/device/pixel_ratio",
        "/appium/device/display_density",
        "/appium/device/system_bars",
        "/appium/device/info",
        "/alert/text",
        "/source",
        "/screenshot",
        "/weather",
    ] {
        session.get(path).await;
    }
    let label = session.find("xpath", "//*[@text='Apps']").await;
    for name in ["text", "rect", "name", "attribute/clickable", "attribute/colour", "screenshot"] {
        session.get(&format!("/element/{label}/{name}")).await;
    }
    let battery = r#"new UiSelector().textContains("BATT")"#;
    let battery = session.find("-android uiautomator", battery).await;
    session.find("-android uiautomator", "new UiSelector().colour(1)").await;
    session.find("xpath", "//*[").await;
    session.find("css selector", "a").await;
    session.find("accessibility id", "no such").await;
    let several = json!({ "strategy": "class name", "selector": "no.such.View" });
    session.ask("POST", "/elements", several).await;
    session.ask("POST", &format!("/element/{label}/click"), json!({})).await;
    session.get(&format!("/element/{label}/rect")).await;
    session.get(&format!("/element/{battery}/rect")).await;
    session.get("/element/0000/rect").await;
    session.ask("POST", "/back", json!({})).await;
    session.get(&format!("/element/{label}/text")).await;
    let wrong = json!({ "settings": { "enableMultiWindows": 3 } });
    session.ask("POST", "/appium/settings", wrong).await;
    let unknown = json!({ "settings": { "colour": true } });
    session.ask("POST", "/appium/settings", unknown).await;
    insta::assert_snapshot!("appium-elements", session.transcript);
}

#[tokio::test]
async fn appium_server_types_and_gestures() {
    let (wired, _shell) = instrumented().await;
    let mut session = Session::begin(&wired).await;
    start(&wired, NOTES);
    let add = session.find("accessibility id", "New note").await;
    session.ask("POST", &format!("/element/{add}/click"), json!({})).await;
    let field = session.find("class name", "android.widget.EditText").await;
    let value = format!("/element/{field}/value");
    session.ask("POST", &value, json!({ "text": "Milk", "replace": false })).await;
    session.ask("POST", &value, json!({ "text": " & é✓" })).await;
    session.get(&format!("/element/{field}/text")).await;
    session.ask("POST", &value, json!({ "text": "Bread", "replace": true })).await;
    session.ask("POST", "/keys", json!({ "text": "!" })).await;
    session.get(&format!("/element/{field}/text")).await;
    session.get("/element/active").await;
    session.ask("POST", &format!("/element/{field}/clear"), json!({})).await;
    session.ask("POST", "/appium/device/set_clipboard", json!({ "content": "w6k=" })).await;
    session.ask("POST", "/appium/device/get_clipboard", json!({})).await;
    session
        .ask("POST", "/appium/device/press_keycode", json!({ "keycode": 30, "metastate": 1 }))
        .await;
    session.get(&format!("/element/{field}/text")).await;
    start(&wired, CONTACTS);
    let list = session.find("xpath", "//*[@scrollable='true']").await;
    let origin = json!({ "ELEMENT": list });
    let scroll = json!({ "origin": origin, "direction": "down", "percent": 1.0 });
    session.ask("POST", "/appium/gestures/scroll", scroll).await;
    let fling = json!({ "origin": origin, "direction": "up" });
    session.ask("POST", "/appium/gestures/fling", fling).await;
    session.ask("POST", "/appium/gestures/swipe", json!({ "direction": "up" })).await;
    session.ask("POST", "/appium/gestures/twirl", json!({})).await;
    let search = r#"new UiScrollable(new UiSelector().scrollable(true)).scrollIntoView(new UiSelector().text("Tom Patel"))"#;
    let person = session.find("-android uiautomator", search).await;
    let middle = json!({ "type": "pointerMove", "x": 0, "y": 0, "origin": { "ELEMENT": person } });
    let actions = json!([middle, { "type": "pointerDown" }, { "type": "pause", "duration": 50 }, { "type": "pointerUp" }]);
    let finger = json!({ "type": "pointer", "id": "f", "parameters": { "pointerType": "touch" }, "actions": actions });
    session.ask("POST", "/actions", json!({ "actions": [finger] })).await;
    session.find("xpath", "//*[@text='Tom Patel']/ancestor::*[@scrollable='true']").await;
    let far = json!({ "type": "pointerMove", "x": 9999, "y": 0 });
    let finger = json!({ "type": "pointer", "id": "f", "actions": [far] });
    session.ask("POST", "/actions", json!({ "actions": [finger] })).await;
    insta::assert_snapshot!("appium-gestures", session.transcript);
}

#[tokio::test]
async fn appium_server_ends_with_its_session() {
    let (wired, mut shell) = instrumented().await;
    let session = Session::begin(&wired).await;
    assert!(wired.phone.world(|world| world.pid_of(SERVER).is_some()), "it is a process");
    // While it runs, nobody else can use UiAutomation.
    let (_, said) = answer(&wired, "uiautomator dump /dev/tty").await;
    assert!(said.contains("already registered"), "{said}");
    let (status, _) = http(&wired, 6790, "DELETE", &format!("/session/{}", session.id), "").await;
    assert_eq!(status, 200);
    let mut printed = String::new();
    in_time("ending", shell.read_to_string(&mut printed)).await.expect("text");
    assert_eq!(printed.trim(), "OK (1 test)");
    assert!(wired.adb.open("tcp:6790").await.is_err(), "nobody listens");
    assert_eq!(wired.phone.world(|world| world.pid_of(SERVER)), None);
    let (_, said) = answer(&wired, "uiautomator dump /dev/tty").await;
    assert!(said.contains("<hierarchy"), "{said}");
}

#[tokio::test]
async fn appium_server_dies_with_its_process() {
    let (wired, mut shell) = instrumented().await;
    let listed = wired.stdout("pm list instrumentation").await;
    assert_eq!(listed, format!("instrumentation:{TEST}/{RUNNER} (target={SERVER})\n"));
    wired.stdout(&format!("am force-stop {SERVER}")).await;
    let mut printed = String::new();
    in_time("dying", shell.read_to_string(&mut printed)).await.expect("text");
    assert!(printed.contains("shortMsg=Process crashed."), "{printed}");
}

#[tokio::test]
async fn appium_finds_no_web_view_among_the_sockets() {
    let sockets = Wired::new().stdout("cat /proc/net/unix").await;
    assert!(sockets.contains("/dev/socket/adbd"), "{sockets}");
    assert!(!sockets.contains("devtools"), "{sockets}");
}

#[tokio::test]
async fn other_instrumentations_say_that_no_code_runs() {
    let wired = Wired::new();
    install(&wired, "org.x", vec![("org.x.Runner".to_owned(), "org.x".to_owned())]);
    let (status, said) = answer(&wired, "am instrument -w org.x/.Runner").await;
    assert_eq!(status, Some(0));
    assert!(said.contains("none of this app's code runs on the virtual phone"), "{said}");
}

#[tokio::test]
async fn appium_settings_keeps_a_service_and_reads_the_clipboard() {
    let wired = Wired::new();
    let get = "am broadcast -n io.appium.settings/.receivers.ClipboardReceiver -a io.appium.settings.clipboard.get";
    assert!(answer(&wired, get).await.1.contains("result=0"), "it is not installed");
    wired.phone.world(|world| world.set_clipboard("é"));
    install(&wired, "io.appium.settings", Vec::new());
    let before = wired.phone.world(|world| world.foreground());
    wired.stdout("am start -n io.appium.settings/.Settings").await;
    assert_eq!(wired.phone.world(|world| world.foreground()), before, "it finishes at once");
    let services = wired.stdout("dumpsys activity services io.appium.settings").await;
    assert!(services.contains("isForeground=true"), "{services}");
    let said = answer(&wired, get).await.1;
    assert!(said.contains("result=-1, data=\"w6k=\""), "{said}");
    let other =
        "am broadcast -n io.appium.settings/.receivers.SmsReader -a io.appium.settings.sms.read";
    assert!(answer(&wired, other).await.1.contains("result=0"));
}

/// Status and both outputs.
async fn answer(wired: &Wired, command: &str) -> (Option<i32>, String) {
    let output = wired.run(command).await;
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("text");
    (output.status, text)
}

/// Pushes an archive with the class of Python's server.
fn push_jar(wired: &Wired) {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    let method = CompressionMethod::STORE;
    let entry = archive.new_file("classes6.dex").compression_method(method).start();
    let (mut entry, config) = entry.expect("an entry");
    let mut writer = config.wrap(&mut entry);
    writer.write_all(b"dex\n035\0\x16Lcom/wetest/uia2/Main;\0").expect("memory");
    let (_, descriptor) = writer.finish().expect("memory");
    entry.finish(descriptor).expect("memory");
    archive.finish().expect("memory");
    let put = wired.phone.files(|files| files.write("/data/local/tmp/u2.jar", &bytes, 0o755));
    put.expect("there is room");
}

const START: &str = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main";

/// Starts Python's server.
async fn python_server(wired: &Wired) -> Stream {
    push_jar(wired);
    let stream = wired.adb.open(&format!("shell:{START} -p 9008")).await.expect("a shell");
    until_it_listens(wired, 9008).await;
    stream
}

#[tokio::test]
async fn python_server_answers_json_rpc() {
    let wired = Wired::new();
    let shell = python_server(&wired).await;
    assert_eq!(http(&wired, 9008, "GET", "/ping", "").await, (200, "pong".to_owned()));
    assert_eq!(http(&wired, 9008, "GET", "/minitouch", "").await.0, 404);
    start(&wired, SETTINGS);
    let text = |text: &str| json!({ "mask": 1, "childOrSibling": [], "childOrSiblingSelector": [], "text": text });
    let inside = json!({
        "mask": 524_288, "packageName": SETTINGS, "childOrSibling": ["child"],
        "childOrSiblingSelector": [text("Apps")],
    });
    let mut transcript = String::new();
    for (method, params) in [
        ("deviceInfo", json!([])),
        ("exist", json!([text("Apps")])),
        ("exist", json!([text("no such")])),
        ("objInfo", json!([text("Apps")])),
        ("objInfo", json!([text("no such")])),
        ("count", json!([{ "mask": 2, "textContains": "&" }])),
        ("exist", json!([inside])),
        ("exist", json!([{ "colour": "red" }])),
        ("waitForExists", json!([text("no such"), 3_000])),
        ("waitUntilGone", json!([text("no such"), 3_000])),
        ("getText", json!([{ "mask": 8, "textStartsWith": "netw" }])),
        ("click", json!([text("Apps")])),
        ("waitUntilGone", json!([text("Battery"), 3_000])),
        ("pressKey", json!(["back"])),
        ("pressKey", json!(["nonsense"])),
        ("exist", json!([text("Battery")])),
        ("setClipboard", json!([null, "é"])),
        ("getClipboard", json!([])),
        ("clearInputText", json!([])),
        ("click", json!(["here", 1])),
        ("dumpWindowHierarchy", json!([false, 50])),
        ("takeScreenshot", json!([1, 80])),
        ("makeToast", json!(["x", 1_000])),
        ("sleep", json!([])),
        ("isScreenOn", json!([])),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (status, body) = http(&wired, 9008, "POST", "/jsonrpc/0", &request.to_string()).await;
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!((status, &body["id"]), (200, &json!(1)));
        let shown = match (body.get("result"), body.get("error")) {
            (Some(Value::String(text)), _) if text.len() > 200 => {
                format!("{} characters: {}…", text.len(), text[..20].escape_default())
            }
            (Some(result), _) => result.to_string(),
            (None, error) => format!("error {}", error.expect("one of both")),
        };
        let _ = writeln!(transcript, "{method} {params}\n  {shown}");
    }
    insta::assert_snapshot!("python-json-rpc", transcript);
    drop(shell);
    in_time("ending", async {
        while wired.adb.open("tcp:9008").await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn python_server_needs_its_class_and_uiautomation() {
    let (wired, _shell) = instrumented().await;
    assert_eq!(answer(&wired, START).await, (Some(134), "Aborted \n".to_owned()));
    push_jar(&wired);
    let (status, said) = answer(&wired, START).await;
    assert_eq!(status, Some(1));
    assert!(said.contains("already registered"), "{said}");
}

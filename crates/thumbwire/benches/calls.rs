//! `just bench`: what Thumbwire adds to a phone's own time, side by side in one run.
//!
//! Everything is measured on the virtual phone, which responds at once. Each tool's time stands
//! next to the time that the phone alone takes for the same commands over the same connection; the
//! difference is ours. Figures are medians and 95th percentiles of one run on this machine: compare
//! columns, not machines. Nothing is asserted here. `cargo bench -p thumbwire --bench calls --
//! pictures captures` runs these parts only.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::LocalBoxFuture;
use serde_json::{Map, Value, json};
use thumbwire_adb::services::shell::{exec, read_to_end};
use thumbwire_adb::{AdbServer, DirectTransport};
use thumbwire_base::Io;
use thumbwire_core::action::{Action, AppToolCall, Call, Perform as _};
use thumbwire_core::annotate::{self, Mark};
use thumbwire_core::app_tools::{AppToolOptions, TrustRules};
use thumbwire_core::providers::{
    DeviceProviders, VIRTUAL, VIRTUAL_IOS, VirtualIphoneProvider, VirtualPhoneProvider,
};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::toolset::mobile::{self, TreeForm};
use thumbwire_core::toolset::{Content, ObserveMode};
use thumbwire_core::trace::format::StoredSnapshot;
use thumbwire_device::android::HelperMode;
use thumbwire_device::android::ui::read_dump;
use thumbwire_device::image::{PixelLimits, Pixels};
use thumbwire_device::{
    AppId, Device, Format, FormatPreference, Gesture, Image, Point, TreeDetail,
};
use thumbwire_mcp::Client;
use thumbwire_mcp::http::{self, Access, ServedToolset};
use thumbwire_mcp::http_token::Token;
use thumbwire_test_support::{Capture, captured_files};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_ios::VirtualIphone;
use tokio_util::sync::CancellationToken;

#[path = "../tests/it/remote_client.rs"]
mod remote_client;

use remote_client::RemoteClient;

const ROUNDS: usize = 200;

/// How long a call over HTTP may take.
const MAX_CALL: Duration = Duration::from_secs(60);

fn main() {
    // Cargo adds `--bench`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let parts: [(&str, Part); 11] = [
        ("tools", || tools().boxed_local()),
        ("observed", || observed().boxed_local()),
        ("iphone", || iphone().boxed_local()),
        ("apps", || apps().boxed_local()),
        ("doors", || doors().boxed_local()),
        ("pictures", || pictures().boxed_local()),
        ("captures", || async { captures() }.boxed_local()),
        ("dumps", || async { dumps() }.boxed_local()),
        ("marked", || async { marked() }.boxed_local()),
        ("starts", || async { starts() }.boxed_local()),
        ("session", || session().boxed_local()),
    ];
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|it| it == name) {
            runtime.block_on(part());
        }
    }
}

/// Starts a part.
type Part = fn() -> LocalBoxFuture<'static, ()>;

/// Each tool through MCP, next to the phone's own time for the same command.
async fn tools() {
    let phone = VirtualPhone::new(Setup::default());
    // Its commands are run again without us.
    let phones = VirtualPhoneProvider::new(phone.clone()).with_helper(HelperMode::Off);
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9")).with(phones);
    let session = Arc::new(Session::new(phones, Some(VIRTUAL.into())));
    let client = Client::connect(Arc::new(mobile::toolset()), session.clone()).await;
    let client = client.expect("a server in this process");
    let host = phone.clone();
    let direct = DirectTransport::with_connector("the virtual phone", move || {
        let io: Box<dyn Io> = Box::new(host.in_memory());
        std::future::ready(Ok(io))
    });
    // Both connections are warm, and the screen is known.
    client.call("mobile_take_screenshot", Map::new()).await.expect("a picture");

    println!(
        "{:<32}{:>22}{:>22}{:>22}{:>10}",
        "tool", "MCP p50 / p95", "phone alone p50 / p95", "ours p50 / p95", "commands"
    );
    let maps = json!({ "bundle_id": "com.google.android.apps.maps" });
    let rows = [
        ("mobile_list_devices", json!({})),
        ("mobile_use_device", json!({ "device_id": VIRTUAL, "platform": "android" })),
        ("mobile_get_device_info", json!({})),
        ("mobile_list_apps", json!({ "app_type": "all" })),
        ("mobile_get_current_app", json!({})),
        ("mobile_press_key", json!({ "key": "menu" })),
        ("mobile_tap", json!({ "x": 540, "y": 300 })),
        ("mobile_long_press", json!({ "x": 540, "y": 300, "duration": 0.1 })),
        ("mobile_swipe", json!({ "start_x": 500, "start_y": 300, "end_x": 540, "end_y": 300 })),
        ("mobile_get_accessibility_tree", json!({})),
        ("mobile_tap_element", json!({ "element_id": "clock_view" })),
        ("mobile_type_keys", json!({ "text": "two words" })),
        ("mobile_take_screenshot", json!({})),
        ("mobile_snapshot", json!({})),
        ("mobile_snapshot", json!({ "format": "jpeg" })),
        ("mobile_snapshot", json!({ "format": "webp" })),
        ("mobile_scroll", json!({ "direction": "up" })),
        ("mobile_launch_app", maps.clone()),
        ("mobile_close_app", maps),
        ("mobile_set_orientation", json!({ "orientation": "portrait" })),
    ];
    for (tool, arguments) in rows {
        let named = arguments.get("format").and_then(Value::as_str);
        let name = named.map_or(tool.to_owned(), |format| format!("{tool} ({format})"));
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let (mut all, mut alone, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        let mut commands = 0;
        let pictures = matches!(tool, "mobile_take_screenshot" | "mobile_snapshot");
        let rounds = if pictures { ROUNDS / 10 } else { ROUNDS };
        for _ in 0..rounds {
            // A recent screenshot is cached until an action, so perform one.
            let key = json!({ "key": "menu" }).as_object().cloned().unwrap_or_default();
            client.call("mobile_press_key", key).await.expect("an answer");
            let before = ran(&phone);
            let began = Instant::now();
            let reply = client.call(tool, arguments.clone()).await.expect("an answer");
            let took = began.elapsed();
            assert!(!reply.is_error, "{reply:?}");
            let lines = lines_since(&phone, before);
            let began = Instant::now();
            let each = lines.iter().map(async |line| {
                let stream = exec(&direct, line).await.expect("a stream");
                read_to_end(stream, 64 << 20).await.expect("its end");
            });
            // The only tool that runs two commands in parallel, and nothing before or after.
            if tool == "mobile_snapshot" {
                futures::future::join_all(each).await;
            } else {
                for one in each {
                    one.await;
                }
            }
            let phones = began.elapsed();
            commands += lines.len();
            all.push(took);
            alone.push(phones);
            ours.push(took.saturating_sub(phones));
        }
        let commands = commands as f64 / rounds as f64;
        let [all, alone, ours] = [&mut all, &mut alone, &mut ours].map(|times| both(times));
        println!("{name:<32}{all:>22}{alone:>22}{ours:>22}{commands:>10}");
    }
    let mut bare = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let call = Call::with_timeout(Duration::from_secs(10));
        session.perform(&call, Action::LOOK).await.expect("a look");
        bare.push(began.elapsed());
    }
    println!("{:<32}{:>22}", "(snapshot without MCP)", both(&mut bare));
}

/// The virtual iPhone over WebDriverAgent: tools through MCP, next to the driver alone for the same
/// operation.
async fn iphone() {
    let profile = thumbwire_virtual_ios::Profile::Instant;
    let phone = VirtualIphone::new(thumbwire_virtual_ios::Setup { profile, ..<_>::default() });
    let phones = DeviceProviders::default().with(VirtualIphoneProvider::new(phone.clone()));
    let device = phones.open(VIRTUAL_IOS).await.expect("the virtual iPhone");
    let session = Arc::new(Session::new(phones, Some(VIRTUAL_IOS.into())));
    let client = Client::connect(Arc::new(mobile::toolset()), session).await;
    let client = client.expect("a server in this process");
    let call = async |tool: &str, arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let reply = client.call(tool, arguments).await.expect("an answer");
        assert!(!reply.is_error, "{reply:?}");
    };
    call("mobile_launch_app", json!({ "bundle_id": "com.apple.mobilenotes" })).await;
    call("mobile_tap_element", json!({ "text": "New note" })).await;
    println!(
        "\n{:<32}{:>22}{:>22}{:>10}",
        "on the virtual iPhone", "MCP p50 / p95", "driver p50 / p95", "requests"
    );
    let rows: [(&str, Value, Option<Operation>); 7] = [
        (
            "mobile_get_accessibility_tree",
            json!({}),
            Some(|it| async { drop(it.tree(TreeDetail::Full).await) }.boxed_local()),
        ),
        ("mobile_snapshot", json!({}), None),
        (
            "mobile_take_screenshot",
            json!({}),
            Some(|it| async { drop(it.screenshot().await) }.boxed_local()),
        ),
        (
            "mobile_tap",
            json!({ "x": 400, "y": 300 }),
            Some(|it| {
                let at = Point { x: 400, y: 300 };
                async move { drop(it.touch(Gesture::Tap { at }).await) }.boxed_local()
            }),
        ),
        ("mobile_tap_element", json!({ "text": "Note" }), None),
        (
            "mobile_type_keys",
            json!({ "text": "two words" }),
            Some(|it| async { drop(it.type_text("two words").await) }.boxed_local()),
        ),
        ("mobile_list_apps", json!({}), Some(|it| async { drop(it.apps().await) }.boxed_local())),
    ];
    for (tool, arguments, operation) in rows {
        let (mut all, mut alone, mut requests) = (Vec::new(), Vec::new(), 0);
        // The phone remembers a few thousand requests.
        let rounds = ROUNDS / 4;
        for _ in 0..rounds {
            // Recent answers are cached until an action, so perform one.
            call("mobile_press_key", json!({ "key": "volume_up" })).await;
            let before = phone.commands().len();
            let began = Instant::now();
            call(tool, arguments.clone()).await;
            all.push(began.elapsed());
            requests += phone.commands().len().saturating_sub(before);
            if let Some(operation) = operation {
                let began = Instant::now();
                operation(&*device).await;
                alone.push(began.elapsed());
            }
        }
        let alone = if alone.is_empty() { String::new() } else { both(&mut alone) };
        let requests = requests as f64 / rounds as f64;
        println!("{tool:<32}{:>22}{alone:>22}{requests:>10}", both(&mut all));
    }
}

/// One operation of a driver.
type Operation = for<'a> fn(&'a dyn Device) -> LocalBoxFuture<'a, ()>;

/// An act whose reply has the screen that it led to, next to a bare tap and a bare dump over the
/// same kind of connection. All else that the tool does, also commands of its own, counts as ours.
async fn observed() {
    let phone = VirtualPhone::new(Setup::default());
    // Its commands are run again without us.
    let phones = VirtualPhoneProvider::new(phone.clone()).with_helper(HelperMode::Off);
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9")).with(phones);
    let session = Arc::new(Session::new(phones, Some(VIRTUAL.into())));
    let surface = mobile::toolset_with(TreeForm::List, ObserveMode::Diff);
    let client = Client::connect(Arc::new(surface), session).await.expect("a server here");
    let host = phone.clone();
    let direct = DirectTransport::with_connector("the virtual phone", move || {
        let io: Box<dyn Io> = Box::new(host.in_memory());
        std::future::ready(Ok(io))
    });
    let settings = json!({ "bundle_id": "com.android.settings" });
    println!(
        "\n{:<32}{:>22}{:>22}{:>22}{:>10}",
        "an act and what it did",
        "MCP p50 / p95",
        "tap, dump p50 / p95",
        "ours p50 / p95",
        "commands"
    );
    let arguments = |value: &Value| value.as_object().cloned().unwrap_or_default();
    client.call("mobile_launch_app", arguments(&settings)).await.expect("an answer");
    let page = json!({ "text": "Connected devices" });
    client.call("mobile_tap_element", arguments(&page)).await.expect("an answer");
    let rows = [
        ("(nothing changes)", [540, 2200], "Nothing changed"),
        ("(a switch turns)", [960, 400], "Use Bluetooth"),
    ];
    for (name, [x, y], says) in rows {
        let (mut all, mut alone, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        let mut commands = 0;
        for _ in 0..ROUNDS {
            let before = ran(&phone);
            let began = Instant::now();
            let reply = client.call("mobile_tap", arguments(&json!({ "x": x, "y": y }))).await;
            let took = began.elapsed();
            let reply = reply.expect("an answer");
            assert!(!reply.is_error && format!("{reply:?}").contains(says), "{reply:?}");
            let lines = lines_since(&phone, before);
            let dump = lines.iter().find(|line| line.contains("uiautomator")).expect("a dump");
            // Twice, so that the switch is as the client knows it; the mean is one act's.
            let began = Instant::now();
            for line in [&*format!("input tap {x} {y}"), dump].repeat(2) {
                let stream = exec(&direct, line).await.expect("a stream");
                read_to_end(stream, 64 << 20).await.expect("its end");
            }
            let phones = began.elapsed() / 2;
            commands += lines.len();
            all.push(took);
            alone.push(phones);
            ours.push(took.saturating_sub(phones));
        }
        let commands = commands as f64 / ROUNDS as f64;
        let name = format!("mobile_tap {name}");
        let [all, alone, ours] = [&mut all, &mut alone, &mut ours].map(|times| both(times));
        println!("{name:<32}{all:>22}{alone:>22}{ours:>22}{commands:>10}");
    }
}

/// The bytes of nine screens as `serve` can send them, and what a picture costs beyond the phone's
/// own time, side by side: the PNG passed on as it came, and the smallest file of the size that
/// vision models look at.
async fn pictures() {
    let phone = VirtualPhone::new(Setup::default());
    let phones = || {
        DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
            .with(VirtualPhoneProvider::new(phone.clone()))
    };
    let caller = async |limits: Option<PixelLimits>, format: FormatPreference| {
        let phones = match limits {
            Some(limits) => phones().with_screenshot_limits(limits),
            None => phones(),
        };
        let session = Arc::new(Session::new(phones, Some(VIRTUAL.into())));
        let surface = mobile::toolset_sending(TreeForm::List, ObserveMode::Off, &[], format);
        Client::connect(Arc::new(surface), session).await.expect("a server here")
    };
    let scaled = Some(PixelLimits::VISION_MODELS);
    let forms = [
        ("full, png", None, FormatPreference::Only(Format::Png)),
        ("full, auto", None, FormatPreference::Smallest),
        ("auto, png", scaled, FormatPreference::Only(Format::Png)),
        ("auto, webp", scaled, FormatPreference::Only(Format::Webp)),
        ("auto, jpeg", scaled, FormatPreference::Only(Format::Jpeg)),
        ("auto, auto", scaled, FormatPreference::Smallest),
    ];
    let mut clients = Vec::new();
    for (name, limits, format) in forms {
        clients.push((name, caller(limits, format).await));
    }
    let arguments = |value: Value| value.as_object().cloned().unwrap_or_default();
    let screens = [
        ("home", None, None),
        ("settings", Some("com.android.settings"), None),
        ("shop", Some("com.example.shop"), None),
        ("contacts", Some("com.google.android.contacts"), None),
        ("messages", Some("com.google.android.apps.messaging"), None),
        ("note", Some("com.android.notes"), Some("New note")),
        ("browser", Some("com.android.chrome"), None),
        ("map", Some("com.google.android.apps.maps"), None),
        ("right to left", Some("com.example.akhbar"), None),
    ];
    print!("\n{:<18}", "bytes of a picture");
    forms.iter().for_each(|(name, ..)| print!("{name:>14}"));
    println!("   (--screenshot-size, --screenshot-format)");
    let mut sums = [0; 6];
    let mut times: [Vec<Duration>; 6] = Default::default();
    for (name, app, tap) in screens {
        let steps = [
            Some(("mobile_press_key", json!({ "key": "home" }))),
            app.map(|app| ("mobile_launch_app", json!({ "bundle_id": app }))),
            tap.map(|tap| ("mobile_tap_element", json!({ "text": tap }))),
        ];
        for (tool, given) in steps.into_iter().flatten() {
            let reply = clients[0].1.call(tool, arguments(given)).await.expect("an answer");
            assert!(!reply.is_error, "{name}: {reply:?}");
        }
        print!("{name:<18}");
        let mut bytes = [0; 6];
        for _ in 0..5 {
            for (at, (_, client)) in clients.iter().enumerate() {
                // A recent screenshot is cached until an action of its session. A second press
                // closes the menu that the first one opened.
                for _ in 0..2 {
                    let key = json!({ "key": "menu" });
                    client.call("mobile_press_key", arguments(key)).await.expect("an answer");
                }
                let began = Instant::now();
                let reply = client.call("mobile_take_screenshot", Map::new()).await;
                times[at].push(began.elapsed());
                let [Content::Image(image)] = &reply.expect("an answer").content[..] else {
                    panic!("one picture")
                };
                bytes[at] = image.bytes.len();
            }
        }
        for (sum, bytes) in sums.iter_mut().zip(bytes) {
            *sum += bytes;
            print!("{bytes:>14}");
        }
        println!();
    }
    print!("{:<18}", "sum");
    sums.iter().for_each(|sum| print!("{sum:>14}"));
    print!("\n{:<18}", "ms, median");
    for times in &mut times {
        times.sort();
        print!("{:>14.1}", times[times.len() / 2].as_secs_f64() * 1000.0);
    }
    println!();
}

/// The same for screenshots of real phones, those captures that are here: bytes in sum, and the
/// median time from the phone's PNG to the file.
fn captures() {
    let image = |file: Capture| Image { format: Format::Png, bytes: file.bytes().into() };
    let captures: Vec<Image> = captured_files("png").into_iter().map(image).collect();
    type Encode = fn(&Pixels) -> Result<Image, thumbwire_device::image::Error>;
    let ways: [(&str, bool, Encode); 5] = [
        ("full, auto", false, Pixels::write_smallest),
        ("auto, png", true, |pixels| pixels.write(Format::Png)),
        ("auto, webp", true, |pixels| pixels.write(Format::Webp)),
        ("auto, jpeg", true, |pixels| pixels.write(Format::Jpeg)),
        ("auto, auto", true, Pixels::write_smallest),
    ];
    let sent: usize = captures.iter().map(|image| image.bytes.len()).sum();
    println!("\n{:<32}{:>14}{:>22}", "real screenshots", "bytes", "ms p50 / p95");
    println!("{:<32}{sent:>14}", format!("full, png: {} files", captures.len()));
    for (name, is_scaled, encode) in ways {
        let (mut bytes, mut times) = (0, Vec::new());
        for image in &captures {
            for round in 0..3 {
                let began = Instant::now();
                let pixels = Pixels::read(image).expect("an image");
                let to = PixelLimits::VISION_MODELS.target(pixels.size());
                let written = match is_scaled && to != pixels.size() {
                    true => encode(&pixels.scaled(to).expect("a size")),
                    false => encode(&pixels),
                };
                times.push(began.elapsed());
                if round == 0 {
                    bytes += written.expect("a file").bytes.len();
                }
            }
        }
        println!("{name:<32}{bytes:>14}{:>22}", both(&mut times));
    }
}

/// An app's own tool next to the taps that do the same: the phone's time by its own clock, which
/// nobody waits for here, and what we add.
async fn apps() {
    const NOTES: &str = "com.android.notes";
    let phone = VirtualPhone::new(Setup::default());
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
        .with(VirtualPhoneProvider::new(phone.clone()));
    let trust = TrustRules { allow: vec![NOTES.into()], ..TrustRules::default() };
    let options = SessionOptions {
        app_tools: AppToolOptions { trust, ..AppToolOptions::default() },
        ..SessionOptions::from(Some(VIRTUAL.into()))
    };
    let session = Arc::new(Session::new(phones, options));
    let client = Client::connect(Arc::new(mobile::toolset()), session.clone()).await;
    let client = client.expect("a server in this process");
    let call = || Call::with_timeout(Duration::from_secs(30));
    let uptime = || phone.world(|world| world.uptime());
    let note = json!({ "title": "Milk", "text": "two bottles" });
    let asked = || {
        Action::CallAppTool(AppToolCall {
            app: AppId(NOTES.into()),
            service: None,
            tool: "add_note".into(),
            arguments: note.as_object().cloned().unwrap_or_default(),
            send_only: false,
        })
    };
    let list = || Action::ListAppTools { max_age: Duration::ZERO };
    let taps = [
        ("mobile_launch_app", json!({ "bundle_id": NOTES })),
        ("mobile_tap_element", json!({ "text": "New note" })),
        ("mobile_type", json!({ "element_id": "editable_title", "text": "Milk" })),
        ("mobile_type", json!({ "element_id": "edit_note_text", "text": "two bottles" })),
        // The first one closes the keyboard.
        ("mobile_press_key", json!({ "key": "back" })),
        ("mobile_press_key", json!({ "key": "back" })),
    ];
    println!("\n{:<32}{:>22}{:>22}", "the same note kept", "the phone p50 / p95", "ours p50 / p95");
    let mut by_tool = Duration::ZERO;
    for (name, action) in [("(app tools, cached)", true), ("by the app's own tool", false)] {
        let (mut phones, mut ours) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let action = if action { list() } else { asked() };
            let (began, before) = (Instant::now(), uptime());
            session.perform(&call(), action).await.expect("an answer");
            // The first call reads packages, or starts the app.
            if round > 0 {
                phones.push(uptime().saturating_sub(before));
                ours.push(began.elapsed());
            }
        }
        by_tool = phones[ROUNDS / 2] + ours[ROUNDS / 2];
        println!("{name:<32}{:>22}{:>22}", both(&mut phones), both(&mut ours));
    }
    let (mut phones, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS / 10 {
        let (began, before) = (Instant::now(), uptime());
        for (tool, arguments) in &taps {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let reply = client.call(tool, arguments).await.expect("an answer");
            assert!(!reply.is_error, "{reply:?}");
            let snapshot = client.call("mobile_get_accessibility_tree", Map::new()).await;
            snapshot.expect("a look");
        }
        phones.push(uptime().saturating_sub(before));
        ours.push(began.elapsed());
    }
    let tapped = phones[phones.len() / 2] + ours[ours.len() / 2];
    println!("{:<32}{:>22}{:>22}", "by tapping", both(&mut phones), both(&mut ours));
    println!("tapping takes {:.0} times as long", tapped.as_secs_f64() / by_tool.as_secs_f64());
}

/// The same calls over each transport in turn: in-memory pipes, HTTP without a token, HTTP with
/// one.
async fn doors() {
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"));
    let session = Arc::new(Session::new(
        phones.with(VirtualPhoneProvider::new(VirtualPhone::new(Setup::default()))),
        Some(VIRTUAL.into()),
    ));
    let surface = Arc::new(mobile::toolset());
    let pipes = Client::connect(surface.clone(), session.clone()).await.expect("a server here");
    let token = Token::generate().expect("randomness");
    let mut remotes = Vec::new();
    for (access, token) in [(Access::Everyone, None), (Access::Token(token.clone()), Some(token))] {
        let listener = http::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let view = ServedToolset::new(surface.clone(), session.clone());
        tokio::spawn(http::serve(listener, view, access, CancellationToken::new()));
        let url = format!("http://{address}{}", http::PATH);
        remotes.push(RemoteClient::connect(&url, token, MAX_CALL).await.expect("a server there"));
    }
    println!(
        "\n{:<32}{:>22}{:>22}{:>22}",
        "tool, by transport", "pipes p50 / p95", "HTTP p50 / p95", "with a token p50 / p95"
    );
    let rows = [
        ("mobile_tap", json!({ "x": 540, "y": 300 }), ROUNDS),
        ("mobile_get_accessibility_tree", json!({}), ROUNDS),
        ("mobile_take_screenshot", json!({}), ROUNDS / 10),
    ];
    for (tool, arguments, rounds) in rows {
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..rounds {
            for (door, times) in times.iter_mut().enumerate() {
                let key = json!({ "key": "menu" }).as_object().cloned().unwrap_or_default();
                pipes.call("mobile_press_key", key).await.expect("an answer");
                let began = Instant::now();
                let reply = match door {
                    0 => pipes.call(tool, arguments.clone()).await,
                    door => remotes[door - 1].call(tool, arguments.clone()).await,
                };
                times.push(began.elapsed());
                assert!(!reply.expect("an answer").is_error);
            }
        }
        let [pipes, open, token] = times.each_mut().map(|times| both(times));
        println!("{tool:<32}{pipes:>22}{open:>22}{token:>22}");
    }
}

/// The commands that the phone's shell ran since `before`, each as a line that runs the same. Each
/// came over its own stream.
fn lines_since(phone: &VirtualPhone, before: u64) -> Vec<String> {
    let since = usize::try_from(ran(phone) - before).expect("few commands");
    let commands = phone.commands();
    let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    let line = |argv: &Vec<String>| argv.iter().map(quoted).collect::<Vec<_>>().join(" ");
    commands[commands.len() - since..].iter().map(|command| line(&command.argv)).collect()
}

/// Number of commands that the phone's shell has run.
fn ran(phone: &VirtualPhone) -> u64 {
    phone.commands().len() as u64 + phone.commands_dropped()
}

/// From the bytes of a dump to the elements, and to the output text.
fn dumps() {
    println!(
        "\n{:<32}{:>22}{:>22}{:>22}{:>22}{:>22}",
        "dump", "read", "its elements", "JSON", "all three", "text"
    );
    for cells in [55, 280, 2_275, 27_600] {
        let dump = dump_of(cells);
        let mut times: [Vec<Duration>; 5] = Default::default();
        for _ in 0..(60_000 / cells).clamp(5, 200) {
            let mut clock = Instant::now();
            let mut lap = |step: usize| {
                let now = Instant::now();
                times[step].push(now - clock);
                clock = now;
            };
            let tree = read_dump(dump.as_bytes()).expect("a whole dump");
            lap(0);
            let snapshot = Snapshot::number(tree, None, &AtomicU32::new(1));
            lap(1);
            assert!(snapshot.refs.len() >= cells);
            let json = serde_json::to_string(&StoredSnapshot::from(&snapshot)).expect("JSON");
            lap(2);
            let text = mobile::xml(&snapshot);
            lap(4);
            times[3].push(times[..3].iter().filter_map(|step| step.last()).sum());
            assert!(json.len() > dump.len() / 4 && !text.is_empty());
        }
        let size = format!("{} KB, {} nodes", dump.len() / 1000, cells + 1);
        let [read, found, json, all, text] = times.each_mut().map(|times| both(times));
        println!("{size:<32}{read:>22}{found:>22}{json:>22}{all:>22}{text:>22}");
    }
}

/// A screenshot with marks, as the agent annotates one in each step.
fn marked() {
    let grey: Vec<u8> = (0..1080 * 2400 * 3).map(|at| (at / 9_000) as u8).collect();
    let pixels = Pixels::new(1080, 2400, grey).expect("a picture");
    let image = pixels.write(Format::Png).expect("a file");
    println!("\n{:<32}{:>22}{:>22}", "marks on 1080x2400", "drawing only", "total, PNG to PNG");
    for count in [20, 100] {
        let mark = |n: i32| {
            let (left, top) = (n % 4 * 270, n / 4 * 96);
            let kind = if n % 2 == 0 { "TextView" } else { "Button" };
            Mark {
                rect: [left, top, left + 260, top + 90],
                label: n.to_string(),
                kind: kind.into(),
            }
        };
        let marks: Vec<Mark> = (0..count).map(mark).collect();
        let (mut drawing, mut all) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS / 10 {
            let began = Instant::now();
            annotate::draw_on(&pixels, &marks).expect("pixels");
            drawing.push(began.elapsed());
            let began = Instant::now();
            annotate::draw(&image, &marks).expect("a file");
            all.push(began.elapsed());
        }
        println!("{count:<32}{:>22}{:>22}", both(&mut drawing), both(&mut all));
    }
}

/// A table with this many cells, as `uiautomator` writes it. As on a real screen, all are visible
/// and none overlaps another. Overlaps cost more; a test next to the visibility code limits that
/// cost.
fn dump_of(cells: usize) -> String {
    const LINES: usize = 100;
    let columns = cells.div_ceil(LINES);
    let (width, height) = (1080 / columns, 2400 / LINES);
    let mut dump = String::from(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"><node index=\"0\" text=\"\" resource-id=\"android:id/list\" class=\"android.widget.ListView\" package=\"com.android.settings\" content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"false\" enabled=\"true\" focusable=\"true\" focused=\"false\" scrollable=\"true\" long-clickable=\"false\" password=\"false\" selected=\"false\" bounds=\"[0,0][1080,2400]\">",
    );
    for cell in 0..cells {
        let (left, top) = (cell % columns * width, cell / columns * height);
        let (right, bottom) = (left + width, top + height);
        dump.push_str(&format!("<node index=\"{cell}\" text=\"Cell {cell} &amp; more\" resource-id=\"android:id/title\" class=\"android.widget.TextView\" package=\"com.android.settings\" content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"true\" enabled=\"true\" focusable=\"true\" focused=\"false\" scrollable=\"false\" long-clickable=\"false\" password=\"false\" selected=\"false\" bounds=\"[{left},{top}][{right},{bottom}]\" />"));
    }
    dump.push_str("</node></hierarchy>UI hierchary dumped to: /dev/tty\n");
    dump
}

/// From starting the program to its tool list, and the memory it then uses.
fn starts() {
    let (mut times, mut memory) = (Vec::new(), 0);
    for _ in 0..20 {
        let began = Instant::now();
        let mut server = Server::start();
        server.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "0" } } }));
        server.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        times.push(began.elapsed());
        memory = server.resident_kb();
    }
    println!("\n{:<32}{:>22}", "start to tools/list", both(&mut times));
    println!("{:<32}{:>19} MB", "resident memory, idle", memory / 1000);
}

/// A short command, from its start to its end, next to the same call inside a program that runs;
/// what remains is ours.
async fn session() {
    let home = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thumbwire"));
        command.env("XDG_RUNTIME_DIR", home.path()).args(arguments).stdout(Stdio::piped());
        let began = Instant::now();
        assert!(command.output().expect("our own program").status.success(), "{arguments:?}");
        began.elapsed()
    };
    run(&["look", "--device", VIRTUAL]);
    let phones = DeviceProviders::default().with(VirtualPhoneProvider::default());
    let inside = Arc::new(Session::new(phones, Some(VIRTUAL.into())));
    let client = Client::connect(Arc::new(mobile::toolset()), inside).await;
    let client = client.expect("a server in this process");
    println!("\n{:<32}{:>22}{:>22}", "", "command p50 / p95", "in a program p50 / p95");
    let mut versions: Vec<Duration> = (0..ROUNDS).map(|_| run(&["--version"])).collect();
    println!("{:<32}{:>22}", "--version", both(&mut versions));
    let rows = [
        ("look", &["look"][..], "mobile_get_accessibility_tree"),
        ("device info", &["session", "call", "mobile_get_device_info"], "mobile_get_device_info"),
    ];
    for (name, arguments, tool) in rows {
        let (mut commands, mut calls) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            commands.push(run(arguments));
            let began = Instant::now();
            client.call(tool, Map::new()).await.expect("a reply");
            calls.push(began.elapsed());
        }
        println!("{name:<32}{:>22}{:>22}", both(&mut commands), both(&mut calls));
    }
    let alone = ["call", "mobile_get_accessibility_tree", "--device", VIRTUAL];
    let mut alone: Vec<Duration> = (0..20).map(|_| run(&alone)).collect();
    println!("{:<32}{:>22}", "look by `call`, no session", both(&mut alone));
    run(&["session", "end"]);
}

struct Server {
    process: Child,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thumbwire"));
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        Self { process: command.spawn().expect("our own program") }
    }

    fn tell(&mut self, message: &Value) {
        let stdin = self.process.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{message}").expect("a server that reads");
    }

    fn ask(&mut self, message: &Value) {
        self.tell(message);
        let mut line = String::new();
        let stdout = self.process.stdout.as_mut().expect("a pipe");
        // One response per request, so the buffer takes nothing of the next one.
        BufReader::new(stdout).read_line(&mut line).expect("an answer");
    }

    /// From the kernel's accounting; 0 without /proc.
    fn resident_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn both(times: &mut [Duration]) -> String {
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1000.0;
    format!("{:.3} / {:.3} ms", at(50), at(95))
}

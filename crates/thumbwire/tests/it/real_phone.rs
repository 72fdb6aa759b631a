//! What real phones do that once surprised us, played by virtual phones: line ends of a terminal,
//! refused input, a video encoder that is missing, slow Java programs, dumps of four seconds.

use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::Call;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::{Content, Toolset, android, mobile, ufo};
use thumbwire_virtual_android::{ClockMode, ProgramStub, Setup, VirtualPhone};
use tokio::time::Instant;

use crate::caller::{Caller, provider};

const MAPS: &str = "com.google.android.apps.maps";
/// A system app without a launcher entry.
const PROVIDER: &str = "com.example.contacts.provider";
const RELEASES: [&str; 2] = ["4.4", "14"];

/// Without a helper: all work is done by programs of the phone.
fn phone(release: &str) -> VirtualPhone {
    VirtualPhone::new(Setup { helper: false, ..Setup::of_release(release).unwrap() })
}

fn phone_with_a_provider(release: &str) -> VirtualPhone {
    let phone = phone(release);
    phone.world(|world| {
        let known = world.packages();
        let mut provider = known.into_iter().find(|app| app.package == MAPS).unwrap().clone();
        (provider.package, provider.launcher) = (PROVIDER.to_owned(), None);
        provider.built_in = None;
        world.install(provider, None);
    });
    phone
}

fn count(phone: &VirtualPhone, programs: &[&str]) -> usize {
    let ran = phone.commands();
    ran.iter().filter(|command| programs.contains(&command.argv[0].as_str())).count()
}

/// Arguments for every tool that needs some; they reach the phone.
fn arguments(tool: &str) -> Value {
    match tool {
        "mobile_use_device" => json!({ "device_id": VIRTUAL, "platform": "android" }),
        "mobile_launch_app" => json!({ "bundle_id": MAPS }),
        "mobile_close_app" => json!({ "bundle_id": PROVIDER }),
        "mobile_list_apps" => json!({ "app_type": "all" }),
        "mobile_tap_element" | "tap_element" => json!({ "text": "Search here" }),
        "mobile_open_url" => json!({ "url": "geo:0,0?q=park" }),
        "mobile_key" => json!({ "key": "escape" }),
        "mobile_do" => json!({ "steps": [{ "tap": "Search here" }, { "press": "back" }] }),
        "mobile_wait_for" => json!({ "idle": true }),
        "mobile_type_keys" | "mobile_type" | "input_text" => json!({ "text": "one two" }),
        "mobile_scroll" | "swipe_direction" => json!({ "direction": "down" }),
        "mobile_swipe" | "swipe_screen" | "swipe" => {
            json!({ "start_x": 240, "start_y": 600, "end_x": 240, "end_y": 300 })
        }
        // The screen may be wide by then.
        "mobile_drag" => json!({ "start_x": 240, "start_y": 400, "end_x": 240, "end_y": 200 }),
        "mobile_tap" | "mobile_double_tap" | "mobile_long_press" | "tap_screen" | "tap" => {
            json!({ "x": 240, "y": 90 })
        }
        "mobile_press_key" => json!({ "key": "home" }),
        "mobile_set_orientation" => json!({ "orientation": "landscape" }),
        "mobile_call_app_tool" => json!({ "bundle_id": MAPS, "tool": "search" }),
        "find_elements" => json!({ "text": "Search here" }),
        "press_key" => json!({ "keycode": "KEYCODE_BACK", "key_code": "KEYCODE_BACK" }),
        "start_screen_recording" => json!({ "filename": "a", "time_limit": 5 }),
        "launch_app" => json!({ "package_name": MAPS }),
        "click_control" => json!({ "control_id": "1", "control_name": "x" }),
        "type_text" => json!({ "text": "one", "control_id": "1", "control_name": "x" }),
        _ => json!({}),
    }
}

/// The arguments that this tool publishes; two tools of one name have different ones.
fn published(surface: &Toolset, tool: &str) -> serde_json::Map<String, Value> {
    let schema = &surface.tool(tool).unwrap().schema;
    let known = |name: &str| schema["properties"].get(name).is_some();
    let Value::Object(all) = arguments(tool) else { unreachable!() };
    all.into_iter().filter(|(name, _)| known(name)).collect()
}

/// A terminal is around every program of Android 4.4, and ends each line with `\r\n`.
#[tokio::test(start_paused = true)]
async fn no_reply_has_a_carriage_return_of_the_phones_terminal() {
    for surface in [mobile::toolset(), android::toolset(), ufo::data(), ufo::action()] {
        let root = tempfile::tempdir().unwrap();
        let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
            .with(provider(&phone_with_a_provider("4.4")));
        let options = SessionOptions {
            files: Some(ArtifactStore::new(root.path())),
            ..SessionOptions::from(Some(VIRTUAL.into()))
        };
        let session = Session::new(phones, options);
        for tool in &surface.tools {
            let given = published(&surface, &tool.name);
            let call = Call::with_timeout(Duration::from_secs(60));
            let reply = surface.answer(tool, given, call, &session).await;
            let invalid = ["Invalid argument", "Validation failed", "Input validation error"];
            for content in &reply.content {
                let Content::Text(text) = content else { continue };
                assert!(!invalid.iter().any(|it| text.contains(it)), "{}: {text}", tool.name);
                assert!(!text.contains('\r') && !text.contains("\\r"), "{}: {text:?}", tool.name);
            }
            assert!(!reply.to_json().to_string().contains("\\r"), "{}", tool.name);
        }
        session.end().await;
    }
}

#[tokio::test]
async fn errors_of_an_old_phone_have_no_carriage_return() {
    let words = "Error: one\n  at two\n  at three\n";
    let nothing = || json!({});
    for (program, tool, arguments) in [
        ("input", "mobile_tap", json!({ "x": 5, "y": 5 })),
        ("uiautomator", "mobile_get_accessibility_tree", nothing()),
        ("monkey", "mobile_launch_app", json!({ "bundle_id": MAPS })),
        ("am", "mobile_close_app", json!({ "bundle_id": MAPS })),
        ("pm", "mobile_list_apps", nothing()),
        ("screencap", "mobile_take_screenshot", nothing()),
        ("dumpsys", "mobile_get_current_app", nothing()),
    ] {
        let old = Caller::of(phone("4.4"));
        old.said("mobile_tap", json!({ "x": 5, "y": 5 })).await;
        old.phone.stub_program(program, Some(ProgramStub::printing(words)));
        let text = old.refused(tool, arguments).await;
        assert!(text.contains("one\\n") && !text.contains('\r'), "{program}: {text:?}");
    }
}

#[tokio::test]
async fn closing_an_app_on_an_old_phone_starts_one_java_program() {
    let old = Caller::of(phone("4.4"));
    old.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
    const JAVA: [&str; 7] =
        ["am", "pm", "monkey", "input", "uiautomator", "app_process", "settings"];
    let before = count(&old.phone, &JAVA);
    old.said("mobile_close_app", json!({ "bundle_id": MAPS })).await;
    assert_eq!(count(&old.phone, &JAVA) - before, 1);
    assert_eq!(old.phone.world(|world| world.pid_of(MAPS)), None);
}

#[tokio::test]
async fn app_without_an_activity_is_not_launchable_but_found() {
    for release in RELEASES {
        let mut caller = Caller::of(phone_with_a_provider(release));
        let text = caller.refused("mobile_launch_app", json!({ "bundle_id": PROVIDER })).await;
        let expected = format!(
            "Refused: app {PROVIDER} is installed, but cannot be launched: it has no launcher activity, or is disabled\nNext: launch another app"
        );
        assert!(text.starts_with(&expected), "{release}: {text}");
        caller.surface = ufo::action();
        for named in [PROVIDER, "provider"] {
            let (_, text) = caller.call("launch_app", json!({ "package_name": named })).await;
            let reply: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(reply["success"], false, "{text}");
            let error = reply["error"].as_str().unwrap();
            assert!(error.contains("no launcher activity"), "{release}: {text}");
        }
    }
}

#[tokio::test]
async fn invalid_app_id_is_refused_before_anything_is_done() {
    for release in RELEASES {
        let caller = Caller::of(phone(release));
        caller.said("mobile_tap", json!({ "x": 5, "y": 5 })).await;
        // Who the current user is and what is in front may be asked.
        let sent = || {
            let commands = caller.phone.commands();
            let reads = |argv: &[String]| argv[0] == "dumpsys" || argv[1..] == ["get-current-user"];
            commands.iter().filter(|command| !reads(&command.argv)).count()
        };
        let before = sent();
        for (tool, id) in [
            ("mobile_launch_app", "1.2"),
            ("mobile_launch_app", "com.x-y"),
            ("mobile_close_app", "com.x; reboot"),
            ("mobile_close_app", "maps"),
        ] {
            let text = caller.refused(tool, json!({ "bundle_id": id })).await;
            let expected = format!("Invalid argument: {id:?} cannot be an app's id: ");
            assert!(text.starts_with(&expected), "{text}");
            assert!(text.contains("such as com.example.app"), "{text}");
        }
        assert_eq!(sent(), before, "{release}: {:?}", caller.phone.commands());
    }
}

/// Xiaomi's phones refuse adb's input until a second switch is on.
#[tokio::test]
async fn refused_input_names_the_developer_switch() {
    let words = "java.lang.SecurityException: Injecting input events requires the caller (or the source of the instrumentation, if any) to have the INJECT_EVENTS permission.\n\tat android.os.Parcel.createExceptionOrNull(Parcel.java:2438)\n";
    for release in RELEASES {
        let caller = Caller::of(phone(release));
        caller.said("mobile_tap", json!({ "x": 5, "y": 5 })).await;
        caller.phone.stub_program("input", Some(ProgramStub::printing(words)));
        let text = caller.refused("mobile_tap", json!({ "x": 5, "y": 5 })).await;
        assert!(text.starts_with("Refused: "), "{text}");
        for part in [
            "java.lang.SecurityException: Injecting input events",
            "\"USB debugging (Security settings)\"",
            "does not let adb do it",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("Parcel.java") && !text.contains("may have happened"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn dump_of_a_screen_that_another_tool_reads_names_typical_tools() {
    let words = "java.lang.IllegalStateException: UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@41bd3ad8already registered!\n";
    for release in RELEASES {
        let caller = Caller::of(phone(release));
        caller.phone.stub_program("uiautomator", Some(ProgramStub::printing(words)));
        let text = caller.refused("mobile_get_accessibility_tree", json!({})).await;
        assert!(text.contains("another tool is reading the screen"), "{text}");
        assert!(text.contains("Appium, uiautomator2 and Maestro"), "{text}");
    }
}

/// 2.5 s for the dump of an old phone, and 1.5 s more.
fn phone_with_dumps_of_four_seconds() -> VirtualPhone {
    let setup = Setup { clock: ClockMode::Real, ..Setup::of_release("4.4").unwrap() };
    let phone = VirtualPhone::new(setup);
    phone.add_fault("slow:ms=1500,on=uiautomator".parse().unwrap());
    phone
}

#[tokio::test(start_paused = true)]
async fn finding_and_tapping_take_one_slow_dump_each() {
    let cases = [
        (android::toolset(), "find_elements", json!({ "text": "Maps" })),
        (android::toolset(), "tap_element", json!({ "text": "Maps" })),
        (mobile::toolset(), "mobile_tap_element", json!({ "text": "Maps" })),
    ];
    for (surface, tool, arguments) in cases {
        let caller = Caller { surface, ..Caller::of(phone_with_dumps_of_four_seconds()) };
        // The first call also connects.
        for _ in 0..2 {
            let (began, before) = (Instant::now(), count(&caller.phone, &["uiautomator"]));
            let text = caller.said(tool, arguments.clone()).await;
            let took = began.elapsed();
            assert!(!text.contains("\"success\": false"), "{tool}: {text}");
            assert_eq!(count(&caller.phone, &["uiautomator"]) - before, 1, "{tool}");
            assert!(took >= Duration::from_secs(4), "the dump took {took:?}");
            let most = caller.surface.tool(tool).unwrap().budget.min(Duration::from_secs(8));
            assert!(took < most, "{tool} took {took:?} of {most:?}");
            if tool != "find_elements" {
                let home = Call::with_timeout(Duration::from_secs(20));
                let press = mobile::toolset();
                let key = json!({ "key": "home" }).as_object().cloned().unwrap();
                let pressed = press.tool("mobile_press_key").unwrap();
                press.answer(pressed, key, home, &caller.session).await;
            }
        }
    }
}

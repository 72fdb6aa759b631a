//! The replies of the `mobile` tools for a virtual iPhone behind its WebDriverAgent, and the agent
//! and flows on the built-in one.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_agent::{Agent, AgentStatus, Memory};
use thumbwire_core::action::Call;
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL_IOS, VirtualIphoneProvider, WdaProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::{Content, mobile};
use thumbwire_virtual_ios::{Setup, VirtualIphone};
use tokio::net::TcpListener;

use crate::agent::{Script, an_hour, clicks, does, id_of, options, says, step};
use crate::http_support::Served;
use crate::support::thumbwire;

/// Its address differs from run to run.
const ID: &str = "http://IPHONE";

struct Iphone {
    phone: VirtualIphone,
    url: String,
    session: Session,
}

impl Iphone {
    async fn new() -> Self {
        Self::with_options(SessionOptions::default()).await
    }

    async fn with_options(options: SessionOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let phone = VirtualIphone::new(Setup::default());
        let served = phone.clone();
        tokio::spawn(async move { served.serve(listener).await });
        let phones = DeviceProviders::default().with(WdaProvider::new([url.parse().unwrap()]));
        Self { phone, session: Session::new(phones, options), url }
    }

    /// What a tool says, with pictures as their formats.
    async fn ask(&self, tool: &str, arguments: Value) -> String {
        let arguments = arguments.to_string().replace(ID, &self.url);
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        let surface = mobile::toolset();
        let tool = surface.tool(tool).unwrap();
        let call = Call::with_timeout(tool.budget);
        let arguments = arguments.as_object().cloned().unwrap();
        let reply = surface.answer(tool, arguments, call, &self.session).await;
        let words = reply.content.iter().map(|content| match content {
            Content::Text(text) => text.clone(),
            Content::Image(image) => format!("a picture, {:?}\n", image.format),
            other => panic!("{other:?}"),
        });
        let error = if reply.is_error { "error: " } else { "" };
        format!("{error}{}", words.collect::<String>()).replace(&self.url, ID)
    }
}

#[tokio::test]
async fn mobile_tools_work_on_an_iphone() {
    let iphone = Iphone::new().await;
    let mut transcript = String::new();
    for (tool, arguments) in [
        ("mobile_list_devices", json!({ "platform": "ios" })),
        ("mobile_list_devices", json!({ "platform": "android" })),
        ("mobile_use_device", json!({ "device_id": ID, "platform": "android" })),
        ("mobile_use_device", json!({ "device_id": ID, "platform": "ios" })),
        ("mobile_use_device", json!({ "device_id": "http://127.0.0.1:9", "platform": "ios" })),
        ("mobile_get_device_info", json!({})),
        ("mobile_launch_app", json!({ "bundle_id": "com.apple.mobilenotes" })),
        ("mobile_get_current_app", json!({})),
        ("mobile_snapshot", json!({})),
        ("mobile_take_screenshot", json!({})),
        ("mobile_tap_element", json!({ "text": "New note" })),
        ("mobile_type_keys", json!({ "text": "K\u{e4}se \u{1f600}" })),
        ("mobile_snapshot", json!({})),
        ("mobile_press_key", json!({ "key": "back" })),
        ("mobile_press_key", json!({ "key": "volume_up" })),
        ("mobile_press_key", json!({ "key": "home" })),
        ("mobile_snapshot", json!({})),
        ("mobile_swipe", json!({ "start_x": 700, "start_y": 900, "end_x": 100, "end_y": 900 })),
        ("mobile_set_orientation", json!({ "orientation": "landscape" })),
        ("mobile_get_device_info", json!({})),
        ("mobile_set_orientation", json!({ "orientation": "portrait" })),
        ("mobile_open_url", json!({ "url": "https://example.com/" })),
        ("mobile_get_current_app", json!({})),
        ("mobile_launch_app", json!({ "bundle_id": "com.example.nothing" })),
        ("mobile_launch_app", json!({ "bundle_id": "com.apple.x; reboot" })),
        ("mobile_close_app", json!({ "bundle_id": "com.apple.mobilesafari" })),
        ("mobile_list_apps", json!({})),
    ] {
        let shown = arguments.to_string();
        let text = iphone.ask(tool, arguments).await;
        writeln!(transcript, "{tool} {shown}\n{}\n", text.trim_end()).unwrap();
    }
    insta::assert_snapshot!(transcript);
    assert!(iphone.phone.commands().len() > 20);
}

/// Through an HTTP server whose operator has allowed nothing.
#[tokio::test]
async fn addresses_of_calls_are_refused_on_an_iphone() {
    let allowed_apps = AllowedApps::matching([]);
    let options = SessionOptions { allowed_apps, ..SessionOptions::default() };
    let iphone = Iphone::with_options(options).await;
    let server = Served::of(mobile::toolset(), Arc::new(iphone.session)).await;
    for (url, scheme) in [
        ("facetime:ana@example.org", "facetime"),
        ("FaceTime-Audio:+15550100", "facetime-audio"),
        ("tel:+15550100", "tel"),
    ] {
        let call = json!({ "name": "mobile_open_url", "arguments": { "url": url } });
        let reply = server.post_alone("tools/call", call).await.json();
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        let reason = format!("addresses with `{scheme}:` are not allowed");
        assert!(reply.to_string().contains(&reason), "{reply}");
    }
    assert!(!iphone.phone.commands().iter().any(|it| it.target.contains("/url")));
}

#[tokio::test]
async fn codes_of_the_dialer_are_refused_on_an_iphone() {
    let iphone = Iphone::new().await;
    for url in ["tel:*21*+15550100%23", "TEL:%2A06", "telprompt:1%2523"] {
        let said = iphone.ask("mobile_open_url", json!({ "url": url })).await;
        assert!(said.contains("which some phones run at once"), "{url}: {said}");
    }
    assert!(!iphone.phone.commands().iter().any(|it| it.target.contains("/url")));
}

#[tokio::test]
async fn agent_reaches_a_goal_on_the_virtual_iphone() {
    let phone = VirtualIphone::new(Setup::default());
    let phones = DeviceProviders::default().with(VirtualIphoneProvider::new(phone.clone()));
    let session = Arc::new(Session::new(phones, Some(VIRTUAL_IOS.into())));
    let policy = Script::of(vec![
        step("launch_app", json!({ "package_name": "com.apple.mobilenotes" })),
        clicks("New note"),
        Box::new(|observation| {
            let id = id_of(observation, |row| row.kind == "XCUIElementTypeTextField");
            let named = json!({ "text": "Ferry", "control_id": id, "control_name": "Title" });
            Ok(does("type_text", named))
        }),
        clicks("Back"),
        says(AgentStatus::Finish, "The note is there"),
    ]);
    let agent = Agent::new(policy.clone(), session.clone(), options());
    let ended = agent.run(&an_hour(), "Add a note: Ferry", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 5), "{ended:?}");
    let last = policy.seen().pop().unwrap();
    assert_eq!((last.app.as_deref(), &*last.feedback), (Some("com.apple.mobilenotes"), &[][..]));
    let titles = phone.world(|world| {
        let stored = world.preferences("com.android.notes").into_iter();
        stored.filter(|(_, value)| *value == "Ferry").map(|(key, _)| key.to_owned()).collect()
    });
    let titles: Vec<String> = titles;
    assert!(matches!(&titles[..], [title] if title.ends_with("/title")), "{titles:?}");
    session.end().await;
}

#[test]
fn flow_passes_on_the_virtual_iphone() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "appId: com.apple.mobilenotes\n---\n- launchApp\n- tapOn: New note\n\
                - inputText: Ferry\n- tapOn: Back\n- assertVisible: Ferry.*\n- pressKey: home\n\
                - assertVisible: Maps\n";
    fs::write(folder.path().join("note.yaml"), flow).unwrap();
    let mut command = thumbwire();
    command.current_dir(folder.path()).args(["test", "note.yaml", "--device", "virtual-ios"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 of 1 cases passed"), "{text}");
}

//! Phones that an adb server lists but that cannot be used: each state has its next step.

use std::time::Duration;

use thumbwire::doctor::{Finding, Options, Severity, check};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{Action, Call, Cause, Outcome, Perform as _};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::Content;
use thumbwire_core::toolset::mobile::failure_text;
use thumbwire_device::{Key, SideEffect};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// The address of an adb server that knows only this list.
async fn server(list: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut length = [0; 4];
            stream.read_exact(&mut length).await.unwrap();
            let length = usize::from_str_radix(str::from_utf8(&length).unwrap(), 16).unwrap();
            let mut request = vec![0; length];
            stream.read_exact(&mut request).await.unwrap();
            let answer = match &request[..] {
                b"host:devices-l" => format!("OKAY{:04x}{list}", list.len()),
                b"host:version" => "OKAY00040029".to_owned(),
                other => panic!("unexpected request {:?}", String::from_utf8_lossy(other)),
            };
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

async fn refusal(list: &str, device: Option<&str>) -> (Cause, String) {
    let session =
        Session::new(DeviceProviders::adb(AdbServer::new(server(list.to_owned()).await)), None);
    let call = Call::with_timeout(Duration::from_secs(10)).on(device.map(str::to_owned));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    assert_eq!(failure.side_effect, SideEffect::None);
    (failure.cause.clone(), failure_text(&failure))
}

#[tokio::test]
async fn each_phone_state_has_its_next_step() {
    // The words of adb's `ConnectionState`; the sentence is a capture
    // (`shell/devices/no-permissions_udev.txt`).
    let states = [
        "offline",
        "unauthorized",
        "authorizing",
        "connecting",
        "no permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com/tools/device.html]",
        "recovery",
        "sideload",
        "rescue",
        "bootloader",
        "detached",
        "unknown",
    ];
    let mut out = String::new();
    for state in states {
        let list = format!("eb9f484b               {state} usb:1-1 transport_id:1\n");
        let (_, words) = refusal(&list, Some("eb9f484b")).await;
        out.push_str(&format!("{words}\n\n"));
    }
    insta::assert_snapshot!("states", out);
}

#[tokio::test]
async fn device_list_says_how_to_recover_each_phone() {
    let list = "a\tdevice\nb\toffline\nc\tunauthorized\n";
    let session =
        Session::new(DeviceProviders::adb(AdbServer::new(server(list.into()).await)), None);
    let surface = thumbwire_core::toolset::mobile::toolset();
    let tool = surface.tools.iter().find(|tool| tool.name == "mobile_list_devices").unwrap();
    let call = Call::with_timeout(Duration::from_secs(10));
    let reply = surface.answer(tool, serde_json::Map::new(), call, &session).await;
    let [Content::Text(words)] = reply.content.as_slice() else { panic!("{reply:?}") };
    let rows: serde_json::Value = serde_json::from_str(words).unwrap();
    let next = |at: usize| rows["devices"][at]["next"].as_str();
    assert_eq!(next(0), None);
    assert!(next(1).unwrap().contains("adb reconnect offline"), "{words}");
    assert!(next(2).unwrap().contains("USB debugging prompt"), "{words}");
}

#[tokio::test]
async fn only_phone_is_named_in_the_error() {
    let (cause, _) = refusal("eb9f484b\toffline\n", None).await;
    let expected = Cause::DeviceNotReady { device: "eb9f484b".into(), state: "offline".into() };
    assert_eq!(cause, expected);
    let (cause, _) = refusal("a\toffline\nb\tunauthorized\n", None).await;
    assert!(matches!(cause, Cause::NoDeviceChosen { devices } if devices.len() == 2));
}

#[tokio::test]
async fn doctor_names_the_next_step_of_each_phone() {
    let list = "one   unauthorized usb:1-1 transport_id:1\n\
                two   offline usb:1-2 transport_id:2\n\
                a;id  recovery usb:1-3 transport_id:3\n";
    let address = server(list.to_owned()).await;
    let phones = DeviceProviders::adb(AdbServer::new(&address));
    let options = |device| Options {
        config_file: None,
        adb_server: &address,
        adb_key: None,
        token: None,
        app_tools: None,
        phones: &phones,
        device,
    };
    let mut out = String::new();
    for device in [None, Some("two"), Some("three")] {
        out.push_str(&format!("-- {device:?}\n"));
        let findings = check(&options(device)).await;
        for found in findings.iter().filter(|found| found.severity != Severity::Note) {
            let Finding { subject, severity, detail, fix } = found;
            let detail = detail.replace(&address, "ADDRESS");
            let fix = fix.as_deref().unwrap_or("-");
            out.push_str(&format!("{} {subject}: {detail}\n    {fix}\n", severity.name()));
        }
    }
    insta::assert_snapshot!("findings_of_states", out);
}

#[tokio::test(start_paused = true)]
async fn an_adb_server_that_hangs_hides_no_other_phones() {
    // It accepts connections, and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = AdbServer::new(listener.local_addr().unwrap().to_string());
    let phone = VirtualPhone::new(Setup::default());
    let phones = DeviceProviders::adb(server).with(VirtualPhoneProvider::new(phone));
    let session = Session::new(phones, Some(VIRTUAL.into()));
    let call = Call::with_timeout(Duration::from_secs(14));
    session.perform(&call, Action::Press(Key::Home)).await.expect("a known phone does not wait");
    let list = Action::ListDevices { platform: None, connect: false };
    let Outcome::Devices(listed) = session.perform(&call, list).await.unwrap() else { panic!() };
    let [server, phone] = &listed[..] else { panic!("{listed:?}") };
    let reason = "cannot list phones: the adb server failed: no answer within 3s";
    assert_eq!((&*server.id, &*server.state), ("adb server", reason));
    assert!(server.next_step().unwrap().contains("adb kill-server"));
    assert_eq!((&*phone.id, phone.is_ready()), (VIRTUAL, true));
}

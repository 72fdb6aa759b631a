//! Phones by the serials of an adb server: with spaces and colons, shared by several phones, or
//! missing; and ids that name nothing.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_adb::{AdbServer, DirectTransport, Transport as _};
use thumbwire_core::action::{Action, Call, Outcome, Perform as _};
use thumbwire_core::providers::DeviceProviders;
use thumbwire_core::session::Session;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::wire::hostile_strings;

/// An adb server that knows these phones. Requests are framed as in AOSP's `SERVICES.TXT`; each
/// phone is selected by its own request, `transport:SERIAL` or `transport-id:N`.
struct Server {
    list: String,
    phones: Vec<(&'static str, DirectTransport)>,
    asked: Mutex<Vec<String>>,
}

impl Server {
    async fn start(
        list: String,
        phones: Vec<(&'static str, DirectTransport)>,
    ) -> (Arc<Self>, AdbServer) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Arc::new(Self { list, phones, asked: Mutex::default() });
        let serving = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&serving).serve(socket));
            }
        });
        (server, AdbServer::new(address))
    }

    async fn serve(self: Arc<Self>, mut socket: TcpStream) {
        let request = self.request(&mut socket).await;
        if request == "host:devices-l" {
            return say(&mut socket, &self.list).await;
        }
        let about = |(name, _): &&(&'static str, _)| {
            let way = name.replacen("transport-id:", "host-transport-id:", 1);
            request == format!("{}:features", way.replacen("transport:", "host-serial:", 1))
        };
        if self.phones.iter().any(|phone| about(&phone)) {
            return say(&mut socket, "shell_v2,cmd").await;
        }
        let chosen = self.phones.iter().find(|(name, _)| request == format!("host:{name}"));
        let Some((_, phone)) = chosen else {
            return socket.write_all(b"FAIL0009not found").await.unwrap();
        };
        socket.write_all(b"OKAY").await.unwrap();
        let service = self.request(&mut socket).await;
        if service == "host:features" {
            return say(&mut socket, "shell_v2,cmd").await;
        }
        let Ok(mut stream) = phone.open(&service).await else {
            return socket.write_all(b"FAIL0006closed").await.unwrap();
        };
        socket.write_all(b"OKAY").await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut socket, &mut stream).await;
    }

    async fn request(&self, socket: &mut TcpStream) -> String {
        let mut digits = [0; 4];
        socket.read_exact(&mut digits).await.unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap();
        let mut request = vec![0; length];
        socket.read_exact(&mut request).await.unwrap();
        let request = String::from_utf8(request).unwrap();
        self.asked.lock().unwrap().push(request.clone());
        request
    }
}

async fn say(socket: &mut TcpStream, text: &str) {
    let answer = format!("OKAY{:04x}{text}", text.len());
    socket.write_all(answer.as_bytes()).await.unwrap();
}

async fn ask(session: &Session, device: &str, action: Action) -> Outcome {
    let call = Call::with_timeout(Duration::from_secs(30)).on(Some(device.to_owned()));
    session.perform(&call, action).await.unwrap()
}

async fn ids(session: &Session) -> Vec<String> {
    let call = Call::with_timeout(Duration::from_secs(30));
    let listed = session
        .perform(&call, Action::ListDevices { platform: None, connect: false })
        .await
        .unwrap();
    let Outcome::Devices(listed) = listed else { panic!("{listed:?}") };
    listed.into_iter().map(|phone| phone.id).collect()
}

#[tokio::test]
async fn phones_with_unusual_serials_work() {
    let names = [
        "transport:My Phone (2)",
        "transport:it's \"a\"; b",
        "transport:0123 device usb",
        "transport:usb:1-4",
    ];
    let serials = names.map(|name| name.strip_prefix("transport:").unwrap());
    let list = serials.map(|serial| format!("{serial:<22} device usb:1-1 model:Odd\n")).concat();
    let phones = names.map(|name| {
        let phone = VirtualPhone::new(Setup::default());
        (name, DirectTransport::from_io(phone.in_memory()))
    });
    let (_server, address) = Server::start(list, phones.into()).await;
    let session = Session::new(DeviceProviders::adb(address), None);
    assert_eq!(ids(&session).await, serials);
    for serial in serials {
        let choose = Action::SelectDevice { device: serial.to_owned(), platform: None };
        let Outcome::DeviceSelected(identity) = ask(&session, serial, choose).await else {
            panic!()
        };
        assert_eq!(identity.id, serial);
        let Outcome::Snapshot(look) = ask(&session, serial, Action::LOOK).await else { panic!() };
        assert!(!look.refs.is_empty());
    }
}

#[tokio::test]
async fn shared_or_missing_serials_use_transport_ids() {
    let list = "\
0123456789ABCDEF       device usb:1-1 model:A transport_id:3
0123456789ABCDEF       device usb:1-2 model:B transport_id:4
(no serial number)     device usb:1-3 model:C transport_id:5
alone                  device usb:1-4 model:D transport_id:6
";
    let names = ["transport-id:3", "transport-id:4", "transport-id:5", "transport:alone"];
    let held = names.map(|name| (name, VirtualPhone::new(Setup::default())));
    let phones =
        held.iter().map(|(name, phone)| (*name, DirectTransport::from_io(phone.in_memory())));
    let (_server, address) = Server::start(list.into(), phones.collect()).await;
    let session = Session::new(DeviceProviders::adb(address), None);
    let expected = ["transport_id=3", "transport_id=4", "transport_id=5", "alone"];
    assert_eq!(ids(&session).await, expected);
    for (id, (_, phone)) in expected.iter().zip(&held) {
        assert!(phone.commands().is_empty(), "{id}");
        ask(&session, id, Action::LOOK).await;
        assert!(!phone.commands().is_empty(), "{id}");
    }
}

/// The parameter `device` of every tool, and `device_id`: an invalid name reaches neither the adb
/// server nor a phone.
#[tokio::test]
async fn invalid_phone_name_is_sent_nowhere() {
    let phone = VirtualPhone::new(Setup::default());
    let there = vec![("transport:abc", DirectTransport::from_io(phone.in_memory()))];
    let (server, address) = Server::start("abc\tdevice\n".into(), there).await;
    let session = Session::new(DeviceProviders::adb(address), None);
    let surface = thumbwire_core::toolset::mobile::toolset();
    let required = serde_json::json!({
        "platform": "android", "bundle_id": "a", "text": "t", "x": 1, "y": 1, "start_x": 1, "start_y": 1, "end_x": 1,
        "end_y": 1, "direction": "up", "key": "home", "orientation": "portrait",
    });
    // Whitespace counts as empty: it names no phone.
    let named = |string: &String| !string.trim().is_empty();
    let strings: Vec<_> = hostile_strings().into_iter().filter(named).collect();
    assert!(strings.len() >= 500);
    let mut tools = 0;
    for tool in &surface.tools {
        let properties = tool.schema["properties"].as_object().unwrap();
        let Some(name) =
            ["device", "device_id"].into_iter().find(|name| properties.contains_key(*name))
        else {
            continue;
        };
        tools += 1;
        let given = required.as_object().unwrap().iter();
        let given = given.filter(|(known, _)| properties.contains_key(*known));
        let given: serde_json::Map<_, _> =
            given.map(|(known, value)| (known.clone(), value.clone())).collect();
        for string in &strings {
            let mut arguments = given.clone();
            arguments.insert(name.into(), string.as_str().into());
            let call = Call::with_timeout(Duration::from_secs(30));
            let reply = surface.answer(tool, arguments, call, &session).await;
            assert!(reply.is_error, "{} {string:?}: {reply:?}", tool.name);
        }
    }
    assert_eq!(tools, surface.tools.len() - 1, "all but the device list");
    assert!(phone.commands().is_empty());
    let asked = server.asked.lock().unwrap();
    assert!(asked.len() > strings.len() && asked.iter().all(|request| request == "host:devices-l"));
}

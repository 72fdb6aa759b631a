//! A usbmuxd with iPhones in the test's own process, written apart from the client that it tests:
//! the daemon's messages, and on each phone lockdownd with TLS, the list of installed apps, and
//! ports that lead to servers of the test.
//!
//! Start with [`Daemon::start`]; a [`Phone`] says how the phone behaves, [`Fault`] what the daemon
//! does wrong.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use plist::{Dictionary, Value};
use thumbwire_usbmux::UsbmuxClient;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::pairing::Pairing;

/// The UDID of a phone with an A13 processor.
pub(crate) const UDID: &str = "00008030-001A2D3E4F50802E";

/// What the daemon does instead of answering.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// Accepts connections, and says nothing.
    Hang,
    /// Announces a message of 4 GiB.
    Huge,
    /// Sends bytes that are no message.
    Garbage,
    /// Sends a message whose property list is nested 100,000 times.
    Deep,
    /// Closes the connection.
    Close,
}

/// What lockdownd answers to `StartSession`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Trust {
    Trusted,
    /// No pair record.
    Unpaired,
    /// A pair record that the phone refuses with this word.
    Refuses(&'static str),
}

/// An iPhone.
#[derive(Clone)]
pub(crate) struct Phone {
    pub(crate) udid: String,
    /// As the daemon lists it: `USB` or `Network`.
    pub(crate) connection: &'static str,
    pub(crate) version: &'static str,
    pub(crate) trust: Trust,
    /// `None`: no such mode.
    pub(crate) developer_mode: Option<bool>,
    /// What the computer's record says.
    pub(crate) record: Arc<Pairing>,
    /// What the phone shows; another than the record's if the phone was erased.
    pub(crate) shown: Arc<Pairing>,
    /// Servers on its ports.
    pub(crate) ports: BTreeMap<u16, SocketAddr>,
    /// Whether lockdownd answers nothing.
    pub(crate) is_silent: bool,
    /// Whether lockdownd announces a message of 4 GiB.
    pub(crate) is_huge: bool,
}

impl Phone {
    pub(crate) fn new(udid: &str) -> Self {
        let record = Pairing::shared();
        Self {
            udid: udid.to_owned(),
            connection: "USB",
            version: "16.7.10",
            trust: Trust::Trusted,
            developer_mode: Some(true),
            shown: Arc::clone(&record),
            record,
            ports: BTreeMap::new(),
            is_silent: false,
            is_huge: false,
        }
    }
}

struct State {
    phones: BTreeMap<u64, Phone>,
    next_id: u64,
    fault: Option<Fault>,
    /// Types of the requests that arrived.
    requests: Vec<String>,
}

/// The daemon, which ends with this handle.
pub(crate) struct Daemon {
    state: Arc<Mutex<State>>,
    /// The ids of the phones, for `Listen` and for connections that end when their phone is
    /// unplugged.
    plugged: watch::Sender<Vec<u64>>,
    pub(crate) address: SocketAddr,
    _server: JoinSet<()>,
}

impl Daemon {
    pub(crate) async fn start(phones: impl IntoIterator<Item = Phone>) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state =
            State { phones: BTreeMap::new(), next_id: 1, fault: None, requests: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let plugged = watch::Sender::new(Vec::new());
        let mut server = JoinSet::new();
        let (inside, changes) = (Arc::clone(&state), plugged.clone());
        server.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let connection =
                    Connection { state: Arc::clone(&inside), plugged: changes.subscribe() };
                connections.spawn(connection.serve(stream));
            }
        });
        let this = Arc::new(Self { state, plugged, address, _server: server });
        for phone in phones {
            this.plug(phone);
        }
        this
    }

    /// A client of it.
    pub(crate) fn client(&self) -> UsbmuxClient {
        UsbmuxClient::new(self.address.to_string().parse().unwrap())
    }

    /// Plugs a phone in, which gets the next number.
    pub(crate) fn plug(&self, phone: Phone) -> u64 {
        let mut state = self.state.lock().unwrap();
        let id = state.next_id;
        state.next_id += 1;
        state.phones.insert(id, phone);
        self.plugged.send_modify(|ids| ids.push(id));
        id
    }

    pub(crate) fn unplug(&self, id: u64) {
        self.state.lock().unwrap().phones.remove(&id);
        self.plugged.send_modify(|ids| ids.retain(|known| *known != id));
    }

    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        self.state.lock().unwrap().fault = fault;
    }

    pub(crate) fn change(&self, id: u64, change: impl FnOnce(&mut Phone)) {
        change(self.state.lock().unwrap().phones.get_mut(&id).unwrap());
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }
}

struct Connection {
    state: Arc<Mutex<State>>,
    plugged: watch::Receiver<Vec<u64>>,
}

impl Connection {
    async fn serve(self, mut stream: TcpStream) {
        let fault = self.state.lock().unwrap().fault;
        if let Some(fault) = fault {
            return misbehave(fault, stream).await;
        }
        while let Some((tag, request)) = read_request(&mut stream).await {
            let kind = string(&request, "MessageType");
            self.state.lock().unwrap().requests.push(kind.clone());
            match kind.as_str() {
                "ListDevices" => {
                    let list = self.attached();
                    let list = Value::Array(list.into_iter().map(Value::Dictionary).collect());
                    send(&mut stream, tag, dictionary([("DeviceList", list)])).await;
                }
                "Listen" => {
                    send(&mut stream, tag, result(0)).await;
                    return self.tell_changes(stream).await;
                }
                "ReadBUID" => {
                    let buid = Value::String(Pairing::BUID.into());
                    send(&mut stream, tag, dictionary([("BUID", buid)])).await;
                }
                "ReadPairRecord" => {
                    let udid = string(&request, "PairRecordID");
                    let answer = match self.find(|phone| phone.udid == udid) {
                        Some((_, phone)) if phone.trust != Trust::Unpaired => {
                            let data = Value::Data(phone.record.to_property_list());
                            dictionary([("PairRecordData", data)])
                        }
                        _ => result(2),
                    };
                    send(&mut stream, tag, answer).await;
                }
                "Connect" => {
                    let id = request["DeviceID"].as_unsigned_integer().unwrap();
                    let port = request["PortNumber"].as_unsigned_integer().unwrap();
                    let port = u16::try_from(port).unwrap().swap_bytes();
                    return self.connect(stream, tag, id, port).await;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn find(&self, is_it: impl Fn(&Phone) -> bool) -> Option<(u64, Phone)> {
        let state = self.state.lock().unwrap();
        let mut phones = state.phones.iter();
        phones.find(|(_, phone)| is_it(phone)).map(|(id, phone)| (*id, phone.clone()))
    }

    fn attached(&self) -> Vec<Dictionary> {
        let state = self.state.lock().unwrap();
        state.phones.iter().map(|(id, phone)| attached(*id, phone)).collect()
    }

    /// Tells which phones there are, and then each that comes or goes.
    async fn tell_changes(mut self, mut stream: TcpStream) {
        let mut told: Vec<u64> = Vec::new();
        loop {
            let now = self.plugged.borrow_and_update().clone();
            for id in now.iter().filter(|id| !told.contains(id)) {
                let phone = self.state.lock().unwrap().phones.get(id).cloned();
                if let Some(phone) = phone {
                    send(&mut stream, 0, attached(*id, &phone)).await;
                }
            }
            for id in told.iter().filter(|id| !now.contains(id)) {
                let gone = Value::Integer((*id).into());
                let kind = Value::String("Detached".into());
                send(&mut stream, 0, dictionary([("DeviceID", gone), ("MessageType", kind)])).await;
            }
            told = now;
            if self.plugged.changed().await.is_err() {
                return;
            }
        }
    }

    /// Makes the connection one with a port of a phone, until the phone is unplugged.
    async fn connect(mut self, mut stream: TcpStream, tag: u32, id: u64, port: u16) {
        let phone = self.state.lock().unwrap().phones.get(&id).cloned();
        let Some(phone) = phone else { return send(&mut stream, tag, result(2)).await };
        let served = async {
            match (port, phone.ports.get(&port)) {
                (62078, _) => {
                    send(&mut stream, tag, result(0)).await;
                    lockdown(stream, &phone).await;
                }
                (APPS_PORT, _) => {
                    send(&mut stream, tag, result(0)).await;
                    installed_apps(stream, &phone).await;
                }
                (_, Some(server)) => {
                    send(&mut stream, tag, result(0)).await;
                    let mut server = TcpStream::connect(server).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
                }
                (_, None) => send(&mut stream, tag, result(3)).await,
            }
        };
        tokio::select! {
            () = served => {}
            _ = self.plugged.wait_for(|ids| !ids.contains(&id)) => {}
        }
    }
}

/// An entry of the list, and the event that a phone is there. libusbmuxd reads no list in which a
/// phone on Wi-Fi lacks `EscapedFullServiceName`.
fn attached(id: u64, phone: &Phone) -> Dictionary {
    let mut properties = dictionary([
        ("ConnectionType", Value::String(phone.connection.into())),
        ("DeviceID", Value::Integer(id.into())),
        ("SerialNumber", Value::String(phone.udid.clone())),
    ]);
    match phone.connection {
        "Network" => {
            let service = "a4:83:e7:00:00:01@fe80::1._apple-mobdev2._tcp.local.";
            // A sockaddr_in of macOS: length, family, port, address.
            let address = vec![16, 2, 0, 0, 192, 168, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0];
            properties.insert("EscapedFullServiceName".into(), Value::String(service.into()));
            properties.insert("NetworkAddress".into(), Value::Data(address));
        }
        _ => {
            properties.insert("LocationID".into(), Value::Integer(0x0014_0000.into()));
            properties.insert("ProductID".into(), Value::Integer(0x12A8.into()));
            properties.insert("ConnectionSpeed".into(), Value::Integer(480_000_000.into()));
        }
    }
    dictionary([
        ("DeviceID", Value::Integer(id.into())),
        ("MessageType", Value::String("Attached".into())),
        ("Properties", Value::Dictionary(properties)),
    ])
}

async fn misbehave(fault: Fault, mut stream: TcpStream) {
    // The request is read, so that closing does not reset the connection.
    if read_request(&mut stream).await.is_none() {
        return;
    }
    let bytes = match fault {
        Fault::Close => return,
        Fault::Hang => Vec::new(),
        Fault::Garbage => b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_vec(),
        Fault::Huge => [u32::MAX, 1, 8, 1].iter().flat_map(|it| it.to_le_bytes()).collect(),
        Fault::Deep => {
            let body =
                format!("<plist>{}{}</plist>", "<array>".repeat(30_000), "</array>".repeat(30_000));
            let length = u32::try_from(body.len()).unwrap() + 16;
            let header = [length, 1, 8, 1];
            let mut bytes: Vec<u8> = header.iter().flat_map(|it| it.to_le_bytes()).collect();
            bytes.extend(body.bytes());
            bytes
        }
    };
    let _ = stream.write_all(&bytes).await;
    // Until the client leaves.
    let _ = stream.read(&mut [0]).await;
}

/// The port on which the phone starts the service of installed apps.
const APPS_PORT: u16 = 49_152;

/// lockdownd on one connection.
async fn lockdown(mut stream: TcpStream, phone: &Phone) {
    if phone.is_silent {
        let _ = stream.read_to_end(&mut Vec::new()).await;
        return;
    }
    if phone.is_huge {
        let _ = stream.write_all(&[0xFF; 4]).await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
        return;
    }
    loop {
        let Some(request) = read_message(&mut stream).await else { return };
        let name = string(&request, "Request");
        if name != "StartSession" {
            let answer = answer(&request, phone, false);
            send_message(&mut stream, &answer).await;
            continue;
        }
        let refusal = match phone.trust {
            Trust::Refuses(word) => Some(word),
            _ if string(&request, "HostID") != Pairing::HOST_ID => Some("InvalidHostID"),
            _ if string(&request, "SystemBUID") != Pairing::BUID => Some("InvalidHostID"),
            _ => None,
        };
        if let Some(word) = refusal {
            send_message(&mut stream, &error("StartSession", word)).await;
            continue;
        }
        let started = dictionary([
            ("EnableSessionSSL", Value::Boolean(true)),
            ("Request", Value::String("StartSession".into())),
            ("SessionID", Value::String("5A1F3C2E-0000-4000-8000-000000000001".into())),
        ]);
        send_message(&mut stream, &started).await;
        let acceptor = TlsAcceptor::from(phone.shown.server_config());
        let Ok(mut stream) = acceptor.accept(stream).await else { return };
        while let Some(request) = read_message(&mut stream).await {
            send_message(&mut stream, &answer(&request, phone, true)).await;
            if string(&request, "Request") == "StopSession" {
                break;
            }
        }
        return;
    }
}

fn answer(request: &Dictionary, phone: &Phone, is_trusted: bool) -> Dictionary {
    let name = string(request, "Request");
    let mut answer = dictionary([("Request", Value::String(name.clone()))]);
    match name.as_str() {
        "QueryType" => {
            answer.insert("Type".into(), Value::String("com.apple.mobile.lockdown".into()));
        }
        "GetValue" => {
            let (domain, key) = (string(request, "Domain"), string(request, "Key"));
            let value = match (&*domain, &*key) {
                ("", "") => Some(Value::Dictionary(values(phone))),
                ("", key) => values(phone).get(key).cloned(),
                ("com.apple.security.mac.amfi", "DeveloperModeStatus") if is_trusted => {
                    phone.developer_mode.map(Value::Boolean)
                }
                _ => None,
            };
            let Some(value) = value else { return error(&name, "MissingValue") };
            answer.insert("Value".into(), value);
        }
        "StartService" if !is_trusted => return error(&name, "SessionInactive"),
        "StartService" => {
            if string(request, "Service") != "com.apple.mobile.installation_proxy" {
                return error(&name, "InvalidService");
            }
            answer.insert("EnableServiceSSL".into(), Value::Boolean(true));
            answer.insert("Port".into(), Value::Integer(u64::from(APPS_PORT).into()));
        }
        "ValidatePair" | "StopSession" | "Goodbye" => {}
        other => panic!("{other:?}"),
    }
    answer
}

fn values(phone: &Phone) -> Dictionary {
    dictionary(
        [
            ("DeviceName", "Ana’s iPhone"),
            ("ProductType", "iPhone12,8"),
            ("ProductVersion", phone.version),
            ("UniqueDeviceID", &phone.udid),
            ("DeviceClass", "iPhone"),
        ]
        .map(|(name, value)| (name, Value::String(value.to_owned()))),
    )
}

/// The service of installed apps: the list in two parts, then the end. The second part is a binary
/// list, as some services send them.
async fn installed_apps(stream: TcpStream, phone: &Phone) {
    let acceptor = TlsAcceptor::from(phone.shown.server_config());
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let Some(request) = read_message(&mut stream).await else { return };
    assert_eq!(string(&request, "Command"), "Browse");
    let app = |id: &str, kind: &str, tags: &[&str]| {
        let tags = tags.iter().map(|tag| Value::String((*tag).to_owned())).collect();
        Value::Dictionary(dictionary([
            ("CFBundleIdentifier", Value::String(id.into())),
            ("ApplicationType", Value::String(kind.into())),
            ("SBAppTags", Value::Array(tags)),
        ]))
    };
    let part = |apps: Vec<Value>| {
        dictionary([
            ("CurrentList", Value::Array(apps)),
            ("Status", Value::String("BrowsingApplications".into())),
        ])
    };
    let first = vec![
        app("com.example.bank", "User", &[]),
        app("com.apple.Preferences", "System", &[]),
        app("com.apple.WebSheet", "System", &["hidden"]),
    ];
    send_message(&mut stream, &part(first)).await;
    let mut binary = Vec::new();
    let second = part(vec![app("com.example.a-b", "User", &[])]);
    Value::Dictionary(second).to_writer_binary(&mut binary).unwrap();
    send_bytes(&mut stream, &binary).await;
    send_message(&mut stream, &dictionary([("Status", Value::String("Complete".into()))])).await;
    let _ = stream.read(&mut [0]).await;
}

fn error(request: &str, word: &str) -> Dictionary {
    dictionary([("Error", Value::String(word.into())), ("Request", Value::String(request.into()))])
}

fn result(number: u64) -> Dictionary {
    dictionary([
        ("MessageType", Value::String("Result".into())),
        ("Number", Value::Integer(number.into())),
    ])
}

pub(crate) fn dictionary<const N: usize>(entries: [(&str, Value); N]) -> Dictionary {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn string(of: &Dictionary, name: &str) -> String {
    of.get(name).and_then(Value::as_string).unwrap_or_default().to_owned()
}

async fn read_request(stream: &mut TcpStream) -> Option<(u32, Dictionary)> {
    let mut numbers = [0; 4];
    for number in &mut numbers {
        *number = stream.read_u32_le().await.ok()?;
    }
    let [length, version, kind, tag] = numbers;
    assert_eq!((version, kind), (1, 8));
    let mut body = vec![0; usize::try_from(length).unwrap() - 16];
    stream.read_exact(&mut body).await.ok()?;
    Some((tag, Value::from_reader_xml(&body[..]).unwrap().into_dictionary().unwrap()))
}

async fn send(stream: &mut TcpStream, tag: u32, message: Dictionary) {
    let mut body = Vec::new();
    Value::Dictionary(message).to_writer_xml(&mut body).unwrap();
    let mut bytes = Vec::new();
    for number in [u32::try_from(body.len()).unwrap() + 16, 1, 8, tag] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(body);
    let _ = stream.write_all(&bytes).await;
}

async fn read_message(stream: &mut (impl AsyncRead + Unpin)) -> Option<Dictionary> {
    read_value(stream).await?.into_dictionary()
}

async fn read_value(stream: &mut (impl AsyncRead + Unpin)) -> Option<Value> {
    let length = stream.read_u32().await.ok()?;
    let mut body = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    Some(Value::from_reader(std::io::Cursor::new(body)).unwrap())
}

async fn send_message(stream: &mut (impl AsyncWrite + Unpin), message: &Dictionary) {
    let mut body = Vec::new();
    Value::Dictionary(message.clone()).to_writer_xml(&mut body).unwrap();
    send_bytes(stream, &body).await;
}

async fn send_bytes(stream: &mut (impl AsyncWrite + Unpin), body: &[u8]) {
    let _ = stream.write_u32(u32::try_from(body.len()).unwrap()).await;
    let _ = stream.write_all(body).await;
    let _ = stream.flush().await;
}

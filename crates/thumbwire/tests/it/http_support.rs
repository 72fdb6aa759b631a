//! An HTTP server in this process, and a client that sends exactly the given bytes.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_core::action::{Action, Call, Cause, Failure, Outcome, Perform};
use thumbwire_core::toolset::{Toolset, mobile};
use thumbwire_device::Key;
use thumbwire_mcp::Audit;
use thumbwire_mcp::http::{self, Access, Limits, Listener, ServedToolset};
use thumbwire_mcp::tls::Tls;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A toolset over a phone whose behavior depends on the pressed key.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    /// What happened to calls that press the volume keys.
    pub(crate) told: mpsc::UnboundedReceiver<&'static str>,
    /// Where calls that press volume up wait for each other.
    pub(crate) met: Arc<Barrier>,
    pub(crate) running: JoinHandle<std::io::Result<()>>,
}

impl Served {
    pub(crate) async fn start(access: Access) -> Self {
        let listener = http::bind("127.0.0.1:0").await.unwrap();
        Self::start_at(listener, access)
    }

    pub(crate) fn start_at(listener: TcpListener, access: Access) -> Self {
        Self::start_within(listener, access, Limits::default())
    }

    /// With other limits than the default ones.
    pub(crate) fn start_within(listener: TcpListener, access: Access, limits: Limits) -> Self {
        let (telling, told) = mpsc::unbounded_channel();
        let met = Arc::new(Barrier::new(CLIENTS));
        let perform = Arc::new(Keys { met: Arc::clone(&met), telling });
        let view = ServedToolset::new(Arc::new(mobile::toolset()), perform);
        Self { told, met, ..Self::serving(listener, access, view, limits) }
    }

    /// With the audit lines there.
    pub(crate) async fn with_audit(audit: Audit) -> Self {
        let listener = http::bind("127.0.0.1:0").await.unwrap();
        let (telling, told) = mpsc::unbounded_channel();
        let met = Arc::new(Barrier::new(CLIENTS));
        let perform = Arc::new(Keys { met: Arc::clone(&met), telling });
        let view = ServedToolset::new(Arc::new(mobile::toolset()), perform).with_audit(audit);
        let server = Self::serving(listener, Access::Everyone, view, Limits::default());
        Self { told, met, ..server }
    }

    /// Another toolset over another phone.
    pub(crate) async fn of(surface: Toolset, perform: Arc<dyn Perform>) -> Self {
        Self::showing(ServedToolset::new(Arc::new(surface), perform)).await
    }

    pub(crate) async fn showing(view: ServedToolset) -> Self {
        Self::guarded(view, Access::Everyone).await
    }

    pub(crate) async fn guarded(view: ServedToolset, access: Access) -> Self {
        let listener = http::bind("127.0.0.1:0").await.unwrap();
        Self::serving(listener, access, view, Limits::default())
    }

    /// Over TLS.
    pub(crate) async fn secure(tls: Arc<Tls>, access: Access) -> Self {
        let listener = http::bind("127.0.0.1:0").await.unwrap();
        let (telling, _) = mpsc::unbounded_channel();
        let perform = Arc::new(Keys { met: Arc::new(Barrier::new(CLIENTS)), telling });
        let view = ServedToolset::new(Arc::new(mobile::toolset()), perform);
        Self::serving_over(Some(tls), listener, access, view, Limits::default())
    }

    /// Serves there until it is told to stop, which it is at once.
    pub(crate) async fn over(listener: Listener, access: Access) -> std::io::Result<()> {
        let (telling, _) = mpsc::unbounded_channel();
        let perform = Arc::new(Keys { met: Arc::new(Barrier::new(CLIENTS)), telling });
        let view = ServedToolset::new(Arc::new(mobile::toolset()), perform);
        let stop = CancellationToken::new();
        stop.cancel();
        http::serve(listener, view, access, stop).await
    }

    fn serving(listener: TcpListener, access: Access, view: ServedToolset, limits: Limits) -> Self {
        Self::serving_over(None, listener, access, view, limits)
    }

    fn serving_over(
        tls: Option<Arc<Tls>>,
        listener: TcpListener,
        access: Access,
        view: ServedToolset,
        limits: Limits,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (_, told) = mpsc::unbounded_channel();
        let met = Arc::new(Barrier::new(CLIENTS));
        let listener = Listener::from(listener);
        let listener = match tls {
            Some(tls) => listener.with_tls(tls),
            None => listener,
        };
        let running =
            tokio::spawn(http::serve_within(listener, view, access, limits, stop.clone()));
        Self { address, stop, told, met, running }
    }

    /// A request whose connection closes after the response.
    pub(crate) async fn ask(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut wire = Wire::open(self.address).await;
        wire.send(method, headers, body).await;
        wire.answer().await
    }

    /// A message as a well-behaved client of this session sends it.
    pub(crate) async fn post(&self, session: Option<&str>, message: &Value) -> Answer {
        let session = session.map(|session| ("mcp-session-id", session));
        let headers: Vec<_> = GOOD.into_iter().chain(session).collect();
        self.ask("POST", &headers, &message.to_string()).await
    }

    /// A message of revision 2026-07-28, with its headers.
    pub(crate) async fn post_alone(&self, method: &str, params: Value) -> Answer {
        let (headers, message) = alone(method, params);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.ask("POST", &headers, &message.to_string()).await
    }

    /// Initializes with this revision; returns the session id and the response.
    pub(crate) async fn initialize(&self, revision: &str) -> (String, Value) {
        let answer = self.post(None, &initialize(revision)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(Some(&session), &begun).await.status, 202);
        (session, answer.json()["result"].clone())
    }
}

/// Number of clients that meet at the volume-up key.
pub(crate) const CLIENTS: usize = 20;

/// Headers of a well-behaved client.
pub(crate) const GOOD: [(&str, &str); 2] =
    [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];

pub(crate) fn initialize(revision: &str) -> Value {
    let client = json!({ "name": "test", "version": "0" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// A request of revision 2026-07-28 and its headers.
pub(crate) fn alone(method: &str, mut params: Value) -> (Vec<(&'static str, String)>, Value) {
    let mut headers: Vec<_> =
        GOOD.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    headers.push(("mcp-protocol-version", "2026-07-28".into()));
    headers.push(("mcp-method", method.into()));
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        headers.push(("mcp-name", name.into()));
    }
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    (headers, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}

pub(crate) fn press(id: u32, key: &str) -> Value {
    let params = json!({ "name": "mobile_press_key", "arguments": { "key": key } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Home returns at once, Back reports progress, Volume Up waits for twenty callers, Volume Down
/// waits for its caller to disconnect.
struct Keys {
    met: Arc<Barrier>,
    telling: mpsc::UnboundedSender<&'static str>,
}

#[async_trait]
impl Perform for Keys {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        match action {
            Action::Press(Key::Back) => {
                for done in 1..=3 {
                    call.progress.report(done, Some(3), "pressing");
                }
            }
            Action::Press(Key::VolumeUp) => {
                let _ = self.telling.send("begun");
                self.met.wait().await;
            }
            Action::Press(Key::VolumeDown) => {
                let _ = self.telling.send("begun");
                let gone = GoneOnDrop(self.telling.clone());
                call.cancelled.cancelled().await;
                drop(gone);
                return Err(Cause::Cancelled.into());
            }
            _ => {}
        }
        Ok(Outcome::Done)
    }
}

/// Reports that a call is no longer running, whether it ended or was dropped.
struct GoneOnDrop(mpsc::UnboundedSender<&'static str>);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send("gone");
    }
}

/// A connection.
pub(crate) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    /// Writes a request to `/mcp`; `SyncConnection` defaults to the server's.
    pub(crate) async fn send(&mut self, method: &str, headers: &[(&str, &str)], body: &str) {
        let (method, path) = method.split_once(' ').unwrap_or((method, "/mcp"));
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str(&format!("host: {}\r\n", self.0.get_ref().peer_addr().unwrap()));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len()));
        self.write(head.as_bytes()).await;
        self.write(body.as_bytes()).await;
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    /// The whole response, until the connection ends.
    pub(crate) async fn answer(&mut self) -> Answer {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        // There is no head if a test has already read it, or the connection ended without a
        // response.
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or("0");
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers: Vec<_> = headers.map(|(name, value)| (name.into(), value.into())).collect();
        let mut answer = Answer { status: status.parse().unwrap_or(0), headers, body: body.into() };
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = unchunked(body);
        }
        answer
    }

    /// Skips `length` bytes.
    pub(crate) async fn skip(&mut self, length: usize) {
        self.0.read_exact(&mut vec![0; length]).await.unwrap();
    }

    /// The next line, without its line end.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        line.trim_end().to_owned()
    }
}

fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        text.push_str(&rest[..length]);
        body = &rest[(length + 2).min(rest.len())..];
    }
    text
}

/// A server's response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"));
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter(|data| !data.trim().is_empty())
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

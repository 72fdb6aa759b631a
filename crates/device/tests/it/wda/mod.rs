//! A WebDriverAgent in the test's own process: an HTTP server on loopback over a small state, which
//! can misbehave.
//!
//! It answers Appium's commands for XCUITest too, with the same state. It reads requests by the
//! server end of `thumbwire_webdriver`. Start with [`StandIn::start`]; the state is public to the
//! tests, and [`Fault`] tells what the server can do wrong.

mod answer;

pub(crate) use answer::element;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_virtual_ios::source::SourceNode;
use thumbwire_webdriver::{AppState, Command, InputSource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the server does instead of answering one request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The session has ended: another client took it, or WebDriverAgent was restarted.
    LoseSession,
    /// Does what was asked, then closes the connection without an answer.
    LoseReply,
    /// Closes the connection before anything is done.
    Close,
    /// Never answers.
    Hang,
    /// Answers when the test says so ([`StandIn::go_on`]).
    Wait,
    /// Does nothing and answers with this HTTP status and body.
    Answer(u16, String),
    /// Does what was asked, and sends half of the answer.
    CutBody,
    /// Announces and sends a body that is larger than any answer.
    Huge,
}

/// The phone behind the server.
pub(crate) struct State {
    pub(crate) session: Option<String>,
    /// Sessions that were created.
    pub(crate) sessions: usize,
    pub(crate) settings: serde_json::Map<String, serde_json::Value>,
    /// The capabilities of the last session that was asked for.
    pub(crate) capabilities: serde_json::Map<String, serde_json::Value>,
    /// The headers `authorization` that came.
    pub(crate) authorizations: Vec<String>,
    /// Method and path of every request, without the session; behind the path the name of an
    /// extension command.
    pub(crate) requests: Vec<String>,
    pub(crate) tree: SourceNode,
    /// The screen in points, upright.
    pub(crate) points: (f64, f64),
    /// What the server says; `None` as servers before 2022.
    pub(crate) scale: Option<f64>,
    /// Pixels per point of its pictures.
    pub(crate) pixels: f64,
    pub(crate) landscape: bool,
    /// Whether the app in front refuses to turn.
    pub(crate) stays_upright: bool,
    pub(crate) locked: bool,
    pub(crate) passcode: bool,
    pub(crate) pasteboard: Vec<u8>,
    pub(crate) apps: BTreeMap<String, AppState>,
    pub(crate) front: String,
    /// The text of the field that has the keyboard, and its rectangle in points; `None` if none has
    /// it.
    pub(crate) field: Option<(String, [f64; 4])>,
    pub(crate) battery: (f64, u64),
    // What was done.
    pub(crate) touches: Vec<Vec<InputSource>>,
    pub(crate) typed: Vec<String>,
    pub(crate) buttons: Vec<String>,
    pub(crate) hid: Vec<(u64, u64)>,
    pub(crate) urls: Vec<String>,
    faults: VecDeque<(&'static str, Fault)>,
}

/// The server.
pub(crate) struct StandIn {
    state: Mutex<State>,
    arrived: Notify,
    released: Notify,
    url: String,
}

impl StandIn {
    /// Starts it on a free port, and attaches a driver.
    pub(crate) async fn attach() -> (Arc<Self>, WebDriverPhone) {
        let wda = Self::start().await;
        let ios = WebDriverPhone::attach_wda("phone", wda.url()).await.unwrap();
        (wda, ios)
    }

    /// Starts it on a free port.
    pub(crate) async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let wda = Arc::new(Self {
            state: Mutex::new(answer::fresh()),
            arrived: Notify::new(),
            released: Notify::new(),
            url,
        });
        let server = Arc::clone(&wda);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let server = Arc::clone(&server);
                tokio::spawn(async move { drop(server.serve(stream).await) });
            }
        });
        wda
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Has one of the next requests, whose `METHOD path` contains this, go wrong. Faults happen in
    /// their order.
    pub(crate) fn fail(&self, request: &'static str, fault: Fault) {
        self.state().faults.push_back((request, fault));
    }

    /// Waits until a request has come that hangs or waits.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Lets the request go on that waits.
    pub(crate) fn go_on(&self) {
        self.released.notify_one();
    }

    /// Requests whose `METHOD path` contains this.
    pub(crate) fn count(&self, part: &str) -> usize {
        self.state().requests.iter().filter(|request| request.contains(part)).count()
    }

    /// How many sessions were created, and how many gestures performed.
    pub(crate) fn sessions_and_touches(&self) -> (usize, usize) {
        let state = self.state();
        (state.sessions, state.touches.len())
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some(request) = read_request(&mut stream).await? else { return Ok(()) };
        let Request { method, target, authorization, body } = request;
        // Where Appium 1 and grids have it.
        let target = target.strip_prefix("/wd/hub").unwrap_or(&target).to_owned();
        let mut shown = format!("{method} {}", without_session(&target));
        if let Some(script) = script(&body) {
            shown = format!("{shown} {script}");
        }
        self.state().authorizations.extend(authorization);
        let fault = {
            let mut state = self.state();
            state.requests.push(shown.clone());
            let next = state.faults.front().is_some_and(|(part, _)| shown.contains(part));
            next.then(|| state.faults.pop_front()).flatten().map(|(_, fault)| fault)
        };
        match &fault {
            Some(Fault::Close) => return Ok(()),
            Some(Fault::Hang) => {
                self.arrived.notify_one();
                std::future::pending::<()>().await;
            }
            Some(Fault::Wait) => {
                self.arrived.notify_one();
                self.released.notified().await;
            }
            Some(Fault::LoseSession) => self.state().session = None,
            Some(Fault::Huge) => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n").await?;
                let block = vec![b' '; 1 << 20];
                for _ in 0..70 {
                    stream.write_all(&block).await?;
                }
                return Ok(());
            }
            _ => {}
        }
        let (status, answer) = match &fault {
            Some(Fault::Answer(status, body)) => (*status, body.clone()),
            _ => self.answer(&method, &target, &body),
        };
        if fault == Some(Fault::LoseReply) {
            return Ok(());
        }
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            answer.len()
        );
        stream.write_all(head.as_bytes()).await?;
        let half = if fault == Some(Fault::CutBody) { answer.len() / 2 } else { answer.len() };
        stream.write_all(&answer.as_bytes()[..half]).await?;
        stream.shutdown().await
    }

    fn answer(&self, method: &str, target: &str, body: &[u8]) -> (u16, String) {
        let mut state = self.state();
        let incoming = Command::parse(method, target, body);
        let reply = incoming.and_then(|incoming| {
            let known = incoming.session.as_ref().map(|id| id.as_str().to_owned());
            state.check_session(known.as_deref())?;
            state.perform(incoming.command)
        });
        state.format(reply)
    }
}

struct Request {
    method: String,
    target: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

/// `None` if the client left.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let mut received = Vec::new();
    let head = loop {
        if let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut received).await? == 0 {
            return Ok(None);
        }
    };
    let text = String::from_utf8_lossy(&received[..head]).into_owned();
    let header = |name: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|pair| pair.0.eq_ignore_ascii_case(name)).map(|pair| pair.1.trim().to_owned())
    };
    let length = header("content-length").map_or(0, |length| length.parse().unwrap());
    while received.len() < head + length {
        if stream.read_buf(&mut received).await? == 0 {
            return Ok(None);
        }
    }
    let mut words = text.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let body = received[head..head + length].to_vec();
    Ok(Some(Request { method, target, authorization: header("authorization"), body }))
}

/// The script of `POST /execute/sync`.
fn script(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    body.get("script")?.as_str().map(str::to_owned)
}

/// `/session/ID/source` as `/source`.
fn without_session(target: &str) -> String {
    match target.strip_prefix("/session/").and_then(|rest| rest.split_once('/')) {
        Some((_, rest)) => format!("/{rest}"),
        None => target.to_owned(),
    }
}

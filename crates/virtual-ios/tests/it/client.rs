//! A phone that is served, and a client that sends it requests.

use std::net::SocketAddr;

use serde_json::{Value, json};
use thumbwire_virtual_ios::{Profile, Setup, VirtualIphone};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A phone and its server, which ends with it.
pub(crate) struct Served {
    pub(crate) phone: VirtualIphone,
    pub(crate) address: SocketAddr,
    _server: JoinSet<()>,
}

impl Served {
    pub(crate) async fn new() -> Self {
        let phone = VirtualIphone::new(Setup { profile: Profile::Instant, ..Setup::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut server = JoinSet::new();
        let served = phone.clone();
        server.spawn(async move { served.serve(listener).await.unwrap() });
        Self { phone, address, _server: server }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends bytes and returns all that comes back until the connection ends.
    pub(crate) async fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        // A connection that is cut may also end with an error.
        let _ = stream.read_to_end(&mut response).await;
        String::from_utf8_lossy(&response).into_owned()
    }

    /// Sends a request; the HTTP status and the body.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: phone\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let response = self.raw(&request).await;
        let (head, body) =
            response.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{response:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
    }

    /// The value that a request returns.
    #[track_caller]
    pub(crate) fn value(
        &self,
        method: &str,
        path: &str,
        body: Value,
    ) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let (status, response) = self.send(method, path, &body).await;
            assert_eq!(status, 200, "{method} {path} at {caller}: {response}");
            response["value"].clone()
        }
    }

    /// The error that a request fails with: its HTTP status and its code.
    pub(crate) async fn error(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let (status, response) = self.send(method, path, &body).await;
        (status, response["value"]["error"].as_str().unwrap_or_default().to_owned())
    }

    /// Begins a session with an app in front; its path.
    pub(crate) async fn session(&self, bundle_id: &str) -> String {
        let body = json!({ "capabilities": { "alwaysMatch": { "bundleId": bundle_id } } });
        let value = self.value("POST", "/session", body).await;
        format!("/session/{}", value["sessionId"].as_str().unwrap())
    }

    /// The path of the first element that a locator finds.
    pub(crate) async fn find(&self, session: &str, using: &str, value: &str) -> String {
        let found = self
            .value("POST", &format!("{session}/element"), json!({ "using": using, "value": value }))
            .await;
        format!("{session}/element/{}", found["ELEMENT"].as_str().unwrap())
    }

    /// How many elements a locator finds.
    pub(crate) async fn count(&self, session: &str, using: &str, value: &str) -> usize {
        let found = self
            .value(
                "POST",
                &format!("{session}/elements"),
                json!({ "using": using, "value": value }),
            )
            .await;
        found.as_array().unwrap().len()
    }
}

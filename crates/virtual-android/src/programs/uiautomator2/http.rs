//! A small HTTP/1.1 server on a socket inside the phone: requests with a length, responses with
//! JSON, text or a picture.
//!
//! Start with [`serve`]. Limits: [`MAX_HEAD`] bytes of request line and headers, [`MAX_BODY`] bytes
//! of body, [`IDLE`] without a request. A body without `Content-Length` is not read.

use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use thumbwire_adb::daemon::sockets::{Listener, Pipe};
use thumbwire_virtual_shell::system::sleep_real;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

/// Maximum bytes of a request line with its headers.
const MAX_HEAD: usize = 16 << 10;
/// Maximum bytes of a request's body.
const MAX_BODY: usize = 4 << 20;
/// A connection without a request is closed after this long, in real time.
const IDLE: Duration = Duration::from_secs(600);
/// Maximum connections; further ones wait until one ends.
const MAX_CONNECTIONS: usize = 16;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and perhaps a query.
    pub(super) target: String,
    pub(super) body: Vec<u8>,
    keeps_alive: bool,
}

/// A response.
#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn json(status: u16, value: &Value) -> Self {
        let kind = "application/json; charset=UTF-8";
        Self { status, kind, body: value.to_string().into_bytes() }
    }

    pub(super) fn text(status: u16, text: &str) -> Self {
        Self { status, kind: "text/plain", body: text.as_bytes().to_vec() }
    }

    pub(super) fn jpeg(body: Vec<u8>) -> Self {
        Self { status: 200, kind: "image/jpeg", body }
    }

    fn to_bytes(&self, keeps_alive: bool) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            404 => "Not Found",
            405 => "Method Not Allowed",
            411 => "Length Required",
            413 => "Payload Too Large",
            _ => "Internal Server Error",
        };
        let connection = if keeps_alive { "keep-alive" } else { "close" };
        let (status, kind, length) = (self.status, self.kind, self.body.len());
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: {connection}\r\n\r\n"
        );
        [head.as_bytes(), &self.body].concat()
    }
}

/// Answers requests.
pub(super) trait Service: Send + Sync + 'static {
    /// The response to a request.
    fn answer(&self, request: Request) -> BoxFuture<'_, Response>;
}

/// Serves every connection until the returned future is dropped.
pub(super) async fn serve(mut listener: Listener, service: Arc<dyn Service>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                let Some(pipe) = accepted else { return };
                connections.spawn(converse(pipe, Arc::clone(&service)));
            },
            Some(_) = connections.join_next() => {},
        }
    }
}

/// One connection: requests one after another.
async fn converse(mut pipe: Pipe, service: Arc<dyn Service>) {
    let mut came = Vec::new();
    loop {
        let request = loop {
            match parse(&came) {
                Ok(Some((request, length))) => {
                    came.drain(..length);
                    break request;
                }
                Ok(None) => {}
                Err(status) => {
                    let response = Response::text(status, "the request cannot be read");
                    // The host may have disconnected.
                    let _ = pipe.write_all(&response.to_bytes(false)).await;
                    return;
                }
            }
            tokio::select! {
                read = pipe.read_buf(&mut came) => if !matches!(read, Ok(1..)) { return },
                () = sleep_real(Some(IDLE)) => return,
            }
        };
        let keeps_alive = request.keeps_alive;
        let response = service.answer(request).await;
        if pipe.write_all(&response.to_bytes(keeps_alive)).await.is_err() || !keeps_alive {
            return;
        }
    }
}

/// The first request and its length; `None` if it is incomplete. An error is the HTTP status to
/// answer with.
fn parse(came: &[u8]) -> Result<Option<(Request, usize)>, u16> {
    let Some(head) = came.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if came.len() > MAX_HEAD { Err(413) } else { Ok(None) };
    };
    if head > MAX_HEAD {
        return Err(413);
    }
    let text = std::str::from_utf8(&came[..head]).map_err(|_| 400_u16)?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next())
    else {
        return Err(400);
    };
    let (mut length, mut keeps_alive) = (0, version != "HTTP/1.0");
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(400_u16)?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse::<usize>().map_err(|_| 400_u16)?,
            "transfer-encoding" => return Err(411),
            "connection" => keeps_alive = !value.trim().eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    if length > MAX_BODY {
        return Err(413);
    }
    let end = head + 4 + length;
    let Some(body) = came.get(head + 4..end) else { return Ok(None) };
    let (method, target) = (method.to_owned(), target.to_owned());
    Ok(Some((Request { method, target, body: body.to_vec(), keeps_alive }, end)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn request_is_read_when_its_body_is_complete() {
        let bytes = b"POST /a?b HTTP/1.1\r\nHost: x\r\ncontent-LENGTH: 3\r\n\r\nabcGET /";
        for cut in 0..bytes.len() - 5 {
            assert_eq!(parse(&bytes[..cut]), Ok(None), "{cut}");
        }
        let (request, length) = parse(bytes).expect("it is valid").expect("it is complete");
        assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/a?b"));
        assert_eq!((request.body.as_slice(), length), (&b"abc"[..], bytes.len() - 5));
        assert!(request.keeps_alive);
    }

    #[test]
    fn requests_beyond_the_limits_are_refused() {
        let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(super::MAX_HEAD));
        assert_eq!(parse(long.as_bytes()), Err(413));
        for (text, status) in [
            ("GET\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(status), "{text}");
        }
    }
}

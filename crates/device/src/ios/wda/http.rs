//! HTTP to one WebDriverAgent: one request per connection, limits on time and size, and errors that tell whether the
//! request was sent.
//!
//! Connections are not kept: over USB or loopback a new one costs about a millisecond, and on a kept one nobody could tell
//! whether a restarted server had received the request.

mod over_stream;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use thumbwire_webdriver::{Method, Request};
use tokio::time::timeout;

pub(super) use over_stream::Connect;
use over_stream::StreamResponse;

use crate::{Error, SideEffect};

/// Limit on the size of a response: a screenshot of a large iPad has about 20 MB in Base64.
pub(super) const LONGEST: usize = 64 << 20;

/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(5);

/// A client for one server.
pub(super) struct HttpClient {
    sender: Sender,
    /// Without a slash at the end.
    base: Url,
}

/// How requests reach the server.
enum Sender {
    /// At an address.
    Address(Client),
    /// By connections that are made elsewhere.
    Stream(Box<dyn Connect>),
}

/// A response whose body is still coming.
pub(super) enum HttpResponse {
    Address(reqwest::Response),
    Stream(StreamResponse),
}

impl HttpResponse {
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Address(response) => response.status().as_u16(),
            Self::Stream(response) => response.status,
        }
    }

    /// The next part of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        match self {
            Self::Address(response) => response.chunk().await.map_err(|error| lost(&error)),
            Self::Stream(response) => response.chunk().await,
        }
    }
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum HttpError {
    /// No connection: the request was not sent.
    NotSent(String),
    /// The connection ended before the response was complete.
    Lost(String),
    /// The response did not come in time.
    TimedOut(Duration),
    /// The response has more than [`LONGEST`] bytes.
    TooLarge,
}

impl HttpClient {
    /// A client for the server at a URL such as `http://127.0.0.1:8100`, perhaps with a path such as `/wd/hub`.
    ///
    /// # Errors
    /// [`Error::Refused`] if this is not the URL of a server.
    pub(super) fn new(url: &str) -> Result<Self, Error> {
        let refused =
            |reason: String| Error::Refused { what: "the address of WebDriverAgent", reason };
        let wrong =
            || refused("write it as http://HOST:PORT, such as http://127.0.0.1:8100".into());
        let mut base = Url::parse(url.trim()).map_err(|_| wrong())?;
        let is_http = matches!(base.scheme(), "http" | "https") && base.host_str().is_some();
        if !is_http || !base.username().is_empty() || base.password().is_some() {
            return Err(wrong());
        }
        base.set_query(None);
        base.set_fragment(None);
        // Fails if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("thumbwire/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(0)
            .redirect(reqwest::redirect::Policy::none())
            // A phone is on this computer or in its network.
            .no_proxy();
        if base.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| refused(root_cause(&error)))?;
        Ok(Self { sender: Sender::Address(client), base })
    }

    /// A client for the server that this connects to. `address` is for messages, and has the form of a URL.
    ///
    /// # Errors
    /// [`Error::Refused`] if the address has another form.
    pub(super) fn over_streams(address: &str, connector: Box<dyn Connect>) -> Result<Self, Error> {
        let base = Url::parse(address).map_err(|error| Error::Refused {
            what: "the address of WebDriverAgent",
            reason: error.to_string(),
        })?;
        Ok(Self { sender: Sender::Stream(connector), base })
    }

    /// The server's address, for messages.
    pub(super) fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Sends a request. Returns the HTTP status and the body.
    pub(super) async fn send(
        &self,
        request: &Request,
        limit: Duration,
    ) -> Result<(u16, Bytes), HttpError> {
        let exchange = async {
            let mut response = self.open(request).await?;
            let status = response.status();
            let mut body = BytesMut::new();
            while let Some(chunk) = response.chunk().await? {
                if body.len() + chunk.len() > LONGEST {
                    return Err(HttpError::TooLarge);
                }
                body.extend_from_slice(&chunk);
            }
            Ok((status, body.freeze()))
        };
        timeout(limit, exchange).await.unwrap_or(Err(HttpError::TimedOut(limit)))
    }

    /// Sends a request and returns the response without its body.
    async fn open(&self, request: &Request) -> Result<HttpResponse, HttpError> {
        let client = match &self.sender {
            Sender::Address(client) => client,
            Sender::Stream(connector) => {
                let opened = StreamResponse::open(&**connector, request).await;
                return opened.map(HttpResponse::Stream);
            }
        };
        let url = format!("{}{}", self.address(), request.path);
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut sending = client.request(method, url);
        if let Some(body) = &request.body {
            sending = sending.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let sent = sending.send().await.map(HttpResponse::Address);
        sent.map_err(|error| match error.is_connect() || error.is_builder() {
            true => HttpError::NotSent(root_cause(&error)),
            false => lost(&error),
        })
    }

    /// Opens a response without an end, such as the MJPEG stream at the server's root.
    pub(super) async fn open_stream(&self, limit: Duration) -> Result<HttpResponse, HttpError> {
        let request = Request { method: Method::Get, path: "/".into(), body: None };
        timeout(limit, self.open(&request)).await.unwrap_or(Err(HttpError::TimedOut(limit)))
    }
}

impl HttpError {
    /// The same as an error of ours; `acts` is whether the request was to do something on the phone.
    pub(super) fn into_error(self, address: &str, acts: bool) -> Error {
        let acted = if acts { SideEffect::Possible } else { SideEffect::None };
        match self {
            Self::NotSent(cause) if address.starts_with("usbmux:") => Error::NotConnected {
                reason: format!(
                    "cannot connect to WebDriverAgent at {address}: {cause}. List the devices to see what is missing"
                ),
                acted: SideEffect::None,
            },
            Self::NotSent(cause) => Error::NotConnected {
                reason: format!(
                    "cannot connect to WebDriverAgent at {address}: {cause}. Start WebDriverAgent on the phone; over USB, \
                     forward its port with `iproxy 8100 8100`"
                ),
                acted: SideEffect::None,
            },
            Self::Lost(cause) => Error::NotConnected {
                reason: format!("the connection to WebDriverAgent at {address} was lost: {cause}"),
                acted,
            },
            Self::TimedOut(after) => Error::NotConnected {
                reason: format!("no answer from WebDriverAgent at {address} within {after:?}"),
                acted,
            },
            Self::TooLarge => {
                let text = format!("more than {LONGEST} bytes");
                Error::Failed { what: "transfer so much data at once", text }
            }
        }
    }
}

fn lost(error: &reqwest::Error) -> HttpError {
    HttpError::Lost(root_cause(error))
}

/// The innermost cause of an error, without the URL.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let text = cause.to_string();
    text.split(" for url (").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_servers_are_accepted() {
        for url in ["http://127.0.0.1:8100", " http://phone.local:8100/ ", "https://[::1]/wd/hub/"]
        {
            let client = HttpClient::new(url).unwrap();
            assert_eq!(client.address(), url.trim().trim_end_matches('/'));
        }
        for url in ["", "127.0.0.1:8100", "ftp://h", "http://me:secret@h:1", "/source"] {
            let error = HttpClient::new(url).err().unwrap();
            assert!(matches!(error, Error::Refused { .. }), "{url}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}

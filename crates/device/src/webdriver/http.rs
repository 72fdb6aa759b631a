//! HTTP to one server: one request per connection, limits on time and size, and errors that tell whether the
//! request was sent.
//!
//! Connections are not kept: over USB or loopback a new one costs about a millisecond, and on a kept one nobody could tell
//! whether a restarted server had received the request.

mod over_stream;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use thumbwire_base::Io;
use thumbwire_webdriver::{Method, Request};
use tokio::time::timeout;

use crate::{Error, Platform, SideEffect};
use over_stream::StreamResponse;

/// What a driver knows about its server, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerProfile {
    /// Such as `WebDriverAgent`.
    pub(crate) name: &'static str,
    /// After "refused": `the address of WebDriverAgent`.
    pub(crate) address: &'static str,
    /// Such as `http://127.0.0.1:8100`.
    pub(crate) example: &'static str,
    /// What to do if nothing answers, as a sentence without its end.
    pub(crate) start: &'static str,
    /// Why a session that has just been renewed is lost again.
    pub(crate) lost_again: &'static str,
    /// What a failure contains if the session is there, but its end on the phone is not, and nothing was done.
    pub(crate) dead_session: Option<&'static str>,
    /// Whether its URL may have a user name and a password.
    pub(crate) takes_credentials: bool,
    /// The platform of its phone.
    pub(crate) platform: Platform,
}

/// Limit on the size of a response: a screenshot of a large iPad has about 20 MB in Base64.
pub(crate) const LONGEST: usize = 64 << 20;

/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(5);

/// A client for one server.
pub(crate) struct HttpClient {
    sender: Sender,
    server: ServerProfile,
    /// Without credentials, and without a slash at the end.
    address: String,
}

/// How requests reach the server.
enum Sender {
    /// At a URL, whose credentials `reqwest` sends as basic authentication.
    Url(Client, Url),
    /// On connections of a driver's own.
    Stream(Arc<dyn Connect>),
}

/// Opens connections with a server that has no address.
#[async_trait]
pub(crate) trait Connect: Send + Sync {
    /// Opens one.
    ///
    /// # Errors
    /// The cause, if there is no connection.
    async fn connect(&self) -> Result<Box<dyn Io>, String>;
}

/// A response whose body is still coming.
pub(crate) enum HttpResponse {
    Url(reqwest::Response),
    Stream(StreamResponse),
}

impl HttpResponse {
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Url(response) => response.status().as_u16(),
            Self::Stream(response) => response.status,
        }
    }

    /// The next part of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        match self {
            Self::Url(response) => response.chunk().await.map_err(|error| lost(&error)),
            Self::Stream(response) => response.chunk().await,
        }
    }
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum HttpError {
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
    pub(crate) fn new(server: ServerProfile, url: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Refused { what: server.address, reason };
        let wrong = || refused(format!("write it as http://HOST:PORT, such as {}", server.example));
        let mut base = Url::parse(url.trim()).map_err(|_| wrong())?;
        let is_http = matches!(base.scheme(), "http" | "https") && base.host_str().is_some();
        let has_credentials = !base.username().is_empty() || base.password().is_some();
        if !is_http || has_credentials && !server.takes_credentials {
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
        let mut shown = base.clone();
        // They cannot be removed from URLs without a host, which were refused above.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        let address = shown.as_str().trim_end_matches('/').to_owned();
        Ok(Self { sender: Sender::Url(client, base), server, address })
    }

    /// A client for a server that is reached by these connections. The address is for messages.
    pub(crate) fn over(
        server: ServerProfile,
        address: String,
        connect: impl Connect + 'static,
    ) -> Self {
        Self { sender: Sender::Stream(Arc::new(connect)), server, address }
    }

    /// The server's address, for messages: it has no credentials.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The user name and the password of the URL, as they are there.
    pub(crate) fn credentials(&self) -> Vec<String> {
        match &self.sender {
            Sender::Url(_, base) => {
                let password = base.password().unwrap_or_default();
                [base.username(), password].into_iter().map(str::to_owned).collect()
            }
            Sender::Stream(_) => Vec::new(),
        }
    }

    /// Whose server it is.
    pub(crate) fn server(&self) -> &ServerProfile {
        &self.server
    }

    /// Sends a request. Returns the HTTP status and the body.
    pub(crate) async fn send(
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
        let (client, base) = match &self.sender {
            Sender::Url(client, base) => (client, base),
            Sender::Stream(connect) => {
                return over_stream::open(&**connect, request).await.map(HttpResponse::Stream);
            }
        };
        let url = format!("{}{}", base.as_str().trim_end_matches('/'), request.path);
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut sending = client.request(method, url);
        if let Some(body) = &request.body {
            sending = sending.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let sent = sending.send().await.map(HttpResponse::Url);
        sent.map_err(|error| match error.is_connect() || error.is_builder() {
            true => HttpError::NotSent(root_cause(&error)),
            false => lost(&error),
        })
    }

    /// Opens a response without an end, such as the MJPEG stream at the server's root.
    pub(crate) async fn open_stream(&self, limit: Duration) -> Result<HttpResponse, HttpError> {
        let request = Request { method: Method::Get, path: "/".into(), body: None };
        timeout(limit, self.open(&request)).await.unwrap_or(Err(HttpError::TimedOut(limit)))
    }
}

impl HttpError {
    /// The same as an error of ours; `acts` is whether the request was to do something on the phone.
    pub(crate) fn into_error(self, http: &HttpClient, acts: bool) -> Error {
        let ServerProfile { name, start, .. } = http.server();
        let address = http.address();
        let acted = if acts { SideEffect::Possible } else { SideEffect::None };
        match self {
            Self::NotSent(cause) => Error::NotConnected {
                reason: format!("cannot connect to {name} at {address}: {cause}. {start}"),
                acted: SideEffect::None,
            },
            Self::Lost(cause) => Error::NotConnected {
                reason: format!("the connection to {name} at {address} was lost: {cause}"),
                acted,
            },
            Self::TimedOut(after) => Error::NotConnected {
                reason: format!("no answer from {name} at {address} within {after:?}"),
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

    const SERVER: ServerProfile = ServerProfile {
        name: "the server",
        address: "the address of the server",
        example: "http://127.0.0.1:8100",
        start: "Start it",
        lost_again: "it is lost",
        dead_session: None,
        takes_credentials: false,
        platform: Platform::Ios,
    };

    #[test]
    fn only_addresses_of_servers_are_accepted() {
        for url in ["http://127.0.0.1:8100", " http://phone.local:8100/ ", "https://[::1]/wd/hub/"]
        {
            let client = HttpClient::new(SERVER, url).unwrap();
            assert_eq!(client.address(), url.trim().trim_end_matches('/'));
        }
        for url in ["", "127.0.0.1:8100", "ftp://h", "http://me:secret@h:1", "/source"] {
            let error = HttpClient::new(SERVER, url).err().unwrap();
            assert!(matches!(error, Error::Refused { .. }), "{url}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
    #[test]
    fn credentials_are_not_in_the_address() {
        let server = ServerProfile { takes_credentials: true, ..SERVER };
        let client = HttpClient::new(server, "https://me:secret@h:1/wd/hub/").unwrap();
        assert_eq!(client.address(), "https://h:1/wd/hub");
        let lost = HttpError::Lost("reset".into()).into_error(&client, true).to_string();
        assert!(lost.contains("https://h:1/wd/hub") && !lost.contains("secret"), "{lost}");
    }
}

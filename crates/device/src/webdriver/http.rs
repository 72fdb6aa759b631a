//! HTTP to one server: one request per connection, limits on time and size, and errors that say
//! whether the request was sent.
//!
//! Connections are not kept: over USB or loopback a new one costs about a millisecond, and on a
//! kept one we could not know whether a restarted server had received the request.

mod connect;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use bytes::{Bytes, BytesMut};
use hyper::Uri;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use thumbwire_webdriver::{Method, Request};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::{Error, Platform, SideEffect};
use connect::TcpConnector;
pub(crate) use connect::{Connect, UsbmuxPort};

/// What a server is called, for messages, and what it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerProfile {
    /// Such as `the Appium server`.
    pub(crate) name: &'static str,
    /// After "is not": `an Appium server`.
    pub(crate) kind: &'static str,
    /// After "refused": `the address of WebDriverAgent`.
    pub(crate) address: &'static str,
    /// Such as `http://127.0.0.1:8100`.
    pub(crate) example: &'static str,
    /// What to do if nothing answers, as a sentence without its end.
    pub(crate) start: &'static str,
    /// Why a session that has just been renewed is lost again.
    pub(crate) lost_again: &'static str,
    /// What a failure contains if the session is there, but its end on the phone is not, and
    /// nothing was done.
    pub(crate) dead_session: Option<&'static str>,
    /// Whether its URL may have a user name and a password.
    pub(crate) takes_credentials: bool,
    /// The platform of its phone.
    pub(crate) platform: Platform,
}

/// Limit on the size of a response: a screenshot of a large iPad has about 20 MB in Base64.
pub(crate) const MAX_RESPONSE: usize = 64 << 20;

/// Time limit for connecting, with the TLS handshake.
const CONNECT: Duration = Duration::from_secs(5);

/// A client for one server.
pub(crate) struct HttpClient {
    connector: Arc<dyn Connect>,
    server: ServerProfile,
    /// Without credentials, and without a slash at the end.
    address: String,
    /// For the header `Host`.
    host: String,
    /// What comes before the path of each request: empty, or such as `/wd/hub`.
    base_path: String,
    credentials: Option<Credentials>,
}

/// The user name and the password of a URL.
struct Credentials {
    user: String,
    password: String,
    /// The header `Authorization`.
    header: HeaderValue,
}

/// A response whose body is still coming. The connection ends with it.
pub(crate) struct HttpResponse {
    status: u16,
    body: Incoming,
    _connection: JoinSet<()>,
}

impl HttpResponse {
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The next part of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await;
            let Some(frame) = frame else { return Ok(None) };
            // What is not data is trailers.
            if let Ok(data) = frame.map_err(|error| lost(&error))?.into_data() {
                return Ok(Some(data));
            }
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
    /// The response has more than [`MAX_RESPONSE`] bytes.
    TooLarge,
}

impl HttpClient {
    /// A client for the server at a URL such as `http://127.0.0.1:8100`, perhaps with a path such
    /// as `/wd/hub`.
    ///
    /// # Errors
    /// [`Error::Refused`] if this is not the URL of a server.
    pub(crate) fn new(server: ServerProfile, url: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Refused { what: server.address, reason };
        let wrong = || refused(format!("write it as http://HOST:PORT, such as {}", server.example));
        let uri: Uri = url.trim().parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong());
        };
        let (user_info, host) = match authority.as_str().rsplit_once('@') {
            Some((user_info, host)) => (Some(user_info), host.to_owned()),
            None => (None, authority.as_str().to_owned()),
        };
        let default_port = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return Err(wrong()),
        };
        if user_info.is_some() && !server.takes_credentials || authority.host().is_empty() {
            return Err(wrong());
        }
        let credentials = user_info.map(read_credentials).transpose().map_err(refused)?;
        let port = authority.port_u16().unwrap_or(default_port);
        let connector = TcpConnector::new(authority.host(), port, scheme == "https");
        let base_path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self {
            connector: Arc::new(connector.map_err(refused)?),
            server,
            address: format!("{scheme}://{host}{base_path}"),
            host,
            base_path,
            credentials,
        })
    }

    /// A client for a server that is reached by these connections. The address is for messages.
    pub(crate) fn over(
        server: ServerProfile,
        address: String,
        connector: impl Connect + 'static,
    ) -> Self {
        Self {
            connector: Arc::new(connector),
            server,
            address,
            host: "localhost".into(),
            base_path: String::new(),
            credentials: None,
        }
    }

    /// The server's address, for messages: it has no credentials.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The user name and the password of the URL.
    pub(crate) fn credentials(&self) -> impl Iterator<Item = &str> {
        self.credentials.iter().flat_map(|it| [it.user.as_str(), it.password.as_str()])
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
            let mut body = BytesMut::new();
            while let Some(chunk) = response.chunk().await? {
                if body.len() + chunk.len() > MAX_RESPONSE {
                    return Err(HttpError::TooLarge);
                }
                body.extend_from_slice(&chunk);
            }
            Ok((response.status, body.freeze()))
        };
        timeout(limit, exchange).await.unwrap_or(Err(HttpError::TimedOut(limit)))
    }

    /// Opens a response without an end, such as the MJPEG stream at the server's root.
    pub(crate) async fn open_stream(&self, limit: Duration) -> Result<HttpResponse, HttpError> {
        let request = Request { method: Method::Get, path: "/".into(), body: None };
        timeout(limit, self.open(&request)).await.unwrap_or(Err(HttpError::TimedOut(limit)))
    }

    /// Sends a request on a connection of its own, and returns the response without its body.
    async fn open(&self, request: &Request) -> Result<HttpResponse, HttpError> {
        let built = self.build(request)?;
        let stream = timeout(CONNECT, self.connector.connect()).await;
        let stream =
            stream.map_err(|_| HttpError::NotSent(format!("no answer within {CONNECT:?}")))?;
        let stream = stream.map_err(HttpError::NotSent)?;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) =
            handshake.map_err(|error| HttpError::NotSent(error.to_string()))?;
        let mut running = JoinSet::new();
        running.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("HTTP connection: {error}");
            }
        });
        let response = sender.send_request(built).await.map_err(|error| lost(&error))?;
        Ok(HttpResponse {
            status: response.status().as_u16(),
            body: response.into_body(),
            _connection: running,
        })
    }

    fn build(&self, request: &Request) -> Result<hyper::Request<String>, HttpError> {
        let method = match request.method {
            Method::Get => hyper::Method::GET,
            Method::Post => hyper::Method::POST,
            Method::Delete => hyper::Method::DELETE,
        };
        let mut builder = hyper::Request::builder()
            .method(method)
            .uri(format!("{}{}", self.base_path, request.path))
            .header(HOST, &self.host)
            .header(USER_AGENT, concat!("thumbwire/", env!("CARGO_PKG_VERSION")));
        if let Some(credentials) = &self.credentials {
            builder = builder.header(AUTHORIZATION, credentials.header.clone());
        }
        if request.body.is_some() {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        let body = request.body.as_ref().map(ToString::to_string).unwrap_or_default();
        builder.body(body).map_err(|error| HttpError::NotSent(error.to_string()))
    }
}

/// Reads `user:password` of a URL.
///
/// # Errors
/// A message without the credentials.
fn read_credentials(user_info: &str) -> Result<Credentials, String> {
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let [user, password] =
        [user, password].map(|text| percent_decode_str(text).decode_utf8_lossy().into_owned());
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    let header = HeaderValue::try_from(format!("Basic {encoded}"));
    let mut header = header.map_err(|_| "its user name or password cannot be sent".to_owned())?;
    header.set_sensitive(true);
    Ok(Credentials { user, password, header })
}

impl HttpError {
    /// Converts it to a driver's error; `acts` is whether the request was to do something on the
    /// phone.
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
                let text = format!("more than {MAX_RESPONSE} bytes");
                Error::Failed { what: "transfer so much data at once", text }
            }
        }
    }
}

fn lost(error: &hyper::Error) -> HttpError {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    HttpError::Lost(cause.unwrap_or_else(|| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: ServerProfile = ServerProfile {
        name: "the server",
        kind: "a server",
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
        let client = HttpClient::new(server, "https://me:se%20cret@h:1/wd/hub/").unwrap();
        assert_eq!(client.address(), "https://h:1/wd/hub");
        assert_eq!(client.credentials().collect::<Vec<_>>(), ["me", "se cret"]);
        let lost = HttpError::Lost("reset".into()).into_error(&client, true).to_string();
        assert!(lost.contains("https://h:1/wd/hub") && !lost.contains("cret"), "{lost}");
    }
}

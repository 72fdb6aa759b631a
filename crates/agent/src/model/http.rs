//! The HTTP client for a model's endpoint: one client, one URL, and a key that is never shown.
//!
//! [`super::http_model`] sends the requests. TLS is rustls with ring and the system's certificates.
//! The environment is not read: a proxy is passed in, and reqwest's own handling of `HTTPS_PROXY`
//! is off.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, NoProxy, Proxy, Url};

/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(15);

/// An API key. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key, without surrounding whitespace.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into().trim().to_owned())
    }

    /// Removes the key from a text: some servers echo it.
    pub(super) fn cut_from(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "…") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A proxy for `https` endpoints.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxySettings {
    /// Its URL, such as `http://proxy:3128`, optionally with a user name and password.
    pub proxy: String,
    /// Hosts to reach without it, in the format of `NO_PROXY`. This computer is always included.
    pub except: String,
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Through(…)")
    }
}

/// How an endpoint expects the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AuthScheme {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// In a header of this name.
    Header(&'static str),
}

/// An endpoint to send requests to.
pub(super) struct Endpoint {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) key: Option<ApiKey>,
}

impl Endpoint {
    /// The endpoint at a base URL with this path appended.
    ///
    /// # Errors
    /// The URL is invalid, the key would be sent over the internet unencrypted, or the system has
    /// no certificates.
    pub(super) fn open(
        base: &str,
        path: &str,
        key: Option<ApiKey>,
        shown: AuthScheme,
        through: Option<&ProxySettings>,
    ) -> Result<Self, String> {
        let url = address(base, path)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &key {
            if url.scheme() == "http" && !is_near(&url) {
                return Err(format!(
                    "the API key would go to {} unencrypted; use https, or omit the key",
                    without_credentials(&url)
                ));
            }
            let (name, value) = match shown {
                AuthScheme::Bearer => (AUTHORIZATION, format!("Bearer {}", key.0)),
                AuthScheme::Header(name) => (HeaderName::from_static(name), key.0.clone()),
            };
            // The error does not contain the value.
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| "the API key contains invalid characters; copy it again")?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self { client: http_client(&url, through)?, url, headers, key })
    }

    /// Its URL for messages, without the query, which may contain a key.
    pub(super) fn shown(&self) -> String {
        without_credentials(&self.url)
    }
}

/// The complete URL. A query of the base URL is kept, such as Azure's `api-version`.
fn address(base: &str, path: &str) -> Result<Url, String> {
    let wrong =
        |reason: &str| format!("the base URL {reason}; an example is `http://127.0.0.1:8080/v1`");
    let mut url = Url::parse(base.trim()).map_err(|_| wrong("must be a complete URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("must start with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "must not contain a user name or password: a key belongs in the environment",
        ));
    }
    let before = url.path().trim_end_matches('/').to_owned();
    // The base URL may be the complete URL already.
    let whole = before.ends_with(path.trim_start_matches("/v1"));
    url.set_path(&if whole { before } else { format!("{before}{path}") });
    url.set_fragment(None);
    Ok(url)
}

fn without_credentials(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

/// Whether the host is this computer or in a local network, where model servers have no
/// certificates.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    match host.parse() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => {
            !host.contains('.')
                || [".local", ".localhost", ".internal", ".lan"]
                    .iter()
                    .any(|end| host.ends_with(end))
        }
    }
}

/// A client for requests to one URL, which follows no redirections.
///
/// # Errors
/// The proxy's address is invalid, or the system has no certificates.
pub fn http_client(url: &Url, through: Option<&ProxySettings>) -> Result<Client, String> {
    // Fails if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("thumbwire/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // The key is meant for this URL only.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    if let Some(ProxySettings { proxy, except }) = through {
        let except = NoProxy::from_string(&format!("localhost,127.0.0.0/8,::1,{except}"));
        // The error would show the URL with its password.
        let proxy = Proxy::https(proxy).map_err(|_| "the proxy's URL is invalid")?;
        builder = builder.proxy(proxy.no_proxy(except));
    }
    if url.scheme() == "http" {
        // A machine without certificates can use its own servers.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| {
        format!(
            "cannot create an HTTP client for {}: {}. If CA certificates are missing, install `ca-certificates` or set SSL_CERT_FILE",
            without_credentials(url),
            root_cause(&error)
        )
    })
}

/// The innermost cause of an error, without the URL that reqwest adds.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let text = cause.to_string();
    match text.find(" for url (") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Whether the address of a name was not found. Only hyper's text says so.
pub(super) fn is_unresolved(error: &reqwest::Error) -> bool {
    let error: &dyn std::error::Error = error;
    std::iter::successors(Some(error), |error| error.source())
        .any(|error| error.to_string().starts_with("dns error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(base: &str, key: Option<&str>) -> Result<Endpoint, String> {
        Endpoint::open(base, "/chat/completions", key.map(ApiKey::new), AuthScheme::Bearer, None)
    }

    #[test]
    fn endpoint_url_is_built_from_any_base_url() {
        let check = |base: &str, expected: &str| {
            assert_eq!(address(base, "/chat/completions").unwrap().as_str(), expected);
        };
        check("http://h:1/v1", "http://h:1/v1/chat/completions");
        check(" http://h:1/v1/ ", "http://h:1/v1/chat/completions");
        check("http://h/v1/chat/completions", "http://h/v1/chat/completions");
        check(
            "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
        );
        let messages = |base| address(base, "/v1/messages").unwrap().to_string();
        assert_eq!(messages("https://api.anthropic.com"), "https://api.anthropic.com/v1/messages");
        assert_eq!(messages("http://h/v1/messages"), "http://h/v1/messages");
        for base in ["", "localhost:8080", "ftp://h/", "/v1", "http://me:secret@h/v1"] {
            let reason = address(base, "/x").unwrap_err();
            assert!(reason.contains("an example is") && !reason.contains("secret"), "{reason}");
        }
    }

    #[test]
    fn key_is_never_sent_unencrypted_over_the_internet() {
        for base in
            ["http://127.0.0.1/", "http://192.168.1.7/v1", "http://box.local/v1", "http://[::1]/"]
        {
            assert!(open(base, Some("k")).is_ok(), "{base}");
        }
        let reason = open("http://api.example.com/v1?key=other", Some("sekret")).err().unwrap();
        assert!(reason.contains("unencrypted") && !reason.contains("sekret"), "{reason}");
        assert!(!reason.contains("other"), "{reason}");
        assert!(open("http://api.example.com/v1", None).is_ok());
    }

    #[test]
    fn key_never_appears_in_output() {
        let endpoint = open("http://127.0.0.1/v1", Some(" sekret\n")).unwrap();
        let shown = format!("{:?} {:?} {}", endpoint.key, endpoint.headers, endpoint.shown());
        assert!(!shown.contains("sekret"), "{shown}");
        assert_eq!(endpoint.headers[AUTHORIZATION], "Bearer sekret");
        let reason = open("http://127.0.0.1/v1", Some("sek\nret")).err().unwrap();
        assert!(!reason.contains("ret"), "{reason}");
        let through =
            ProxySettings { proxy: "http://me:sekret@proxy:1".into(), except: String::new() };
        assert!(!format!("{through:?}").contains("sekret"));
        assert_eq!(ApiKey::new("sekret").cut_from("bad sekret here"), "bad … here");
    }
}

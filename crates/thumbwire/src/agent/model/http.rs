//! The way to a model's endpoint: one client, one address, a key that nobody sees.
//!
//! Nothing is asked here; [`super::remote`] does. TLS is rustls with ring, certificates are the system's. The environment is not read:
//! a proxy is handed in, and reqwest's own reading of `HTTPS_PROXY` is off.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, NoProxy, Proxy, Url};

/// How long an endpoint may take to take a connection.
const CONNECT: Duration = Duration::from_secs(15);

/// A key. Whoever prints it sees that there is one.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, as the environment has it.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into().trim().to_owned())
    }

    /// The words without the key, wherever it stands in them: some servers send it back.
    pub(super) fn cut_from(&self, words: &str) -> String {
        if self.0.is_empty() { words.to_owned() } else { words.replace(&self.0, "…") }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A proxy between us and endpoints on `https`.
#[derive(Clone, PartialEq, Eq)]
pub struct Through {
    /// Its address, `http://proxy:3128`; a name and a password may stand in it.
    pub proxy: String,
    /// Hosts that are reached without it, as `NO_PROXY` has them. This computer always is.
    pub except: String,
}

impl fmt::Debug for Through {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Through(…)")
    }
}

/// How a key is shown to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// In a header of this name.
    Header(&'static str),
}

/// An endpoint that requests go to.
pub(super) struct Endpoint {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) key: Option<Key>,
}

impl Endpoint {
    /// The endpoint at a base URL with this path behind it.
    ///
    /// # Errors
    /// When the address is none, the key would go through the open net, or the system has no certificates.
    pub(super) fn open(
        base: &str,
        path: &str,
        key: Option<Key>,
        shown: Shown,
        through: Option<&Through>,
    ) -> Result<Self, String> {
        let url = address(base, path)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &key {
            if url.scheme() == "http" && !is_near(&url) {
                return Err(format!(
                    "the key would go to {} unencrypted; use https, or leave the key out",
                    bare(&url)
                ));
            }
            let (name, value) = match shown {
                Shown::Bearer => (AUTHORIZATION, format!("Bearer {}", key.0)),
                Shown::Header(name) => (HeaderName::from_static(name), key.0.clone()),
            };
            // Says nothing of the value.
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| "the key holds characters that no key has; copy it again")?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self { client: client(&url, through)?, url, headers, key })
    }

    /// Its address as it may be told: without the query, which can hold a key.
    pub(super) fn shown(&self) -> String {
        bare(&self.url)
    }
}

/// The full address. A query of the base URL stays, as Azure's `api-version`.
fn address(base: &str, path: &str) -> Result<Url, String> {
    let wrong = |why: &str| format!("the base URL {why}, such as `http://127.0.0.1:8080/v1`");
    let mut url = Url::parse(base.trim()).map_err(|_| wrong("must be a whole address"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must hold no name and no password: a key belongs in the environment"));
    }
    let before = url.path().trim_end_matches('/').to_owned();
    // Whoever copied the whole address meant the same.
    let whole = before.ends_with(path.trim_start_matches("/v1"));
    url.set_path(&if whole { before } else { format!("{before}{path}") });
    url.set_fragment(None);
    Ok(url)
}

fn bare(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

/// Whether the host is this computer or one in its own network, where servers of models have no certificates.
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

fn client(url: &Url, through: Option<&Through>) -> Result<Client, String> {
    // Fails where it was done before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("thumbwire/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // The key was given for this address.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    if let Some(Through { proxy, except }) = through {
        let except = NoProxy::from_string(&format!("localhost,127.0.0.0/8,::1,{except}"));
        // Its error would tell the address, with the password in it.
        let proxy = Proxy::https(proxy).map_err(|_| "the proxy's address is none")?;
        builder = builder.proxy(proxy.no_proxy(except));
    }
    if url.scheme() == "http" {
        // A machine without certificates can talk to its own servers.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| {
        format!(
            "the client for {} could not be made ({}); without certificates of authorities, install `ca-certificates` or set SSL_CERT_FILE",
            bare(url),
            because(&error)
        )
    })
}

/// What lies at the bottom of an error, without the address that reqwest puts before it.
pub(super) fn because(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let words = cause.to_string();
    match words.find(" for url (") {
        Some(end) => words[..end].to_owned(),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(base: &str, key: Option<&str>) -> Result<Endpoint, String> {
        Endpoint::open(base, "/chat/completions", key.map(Key::new), Shown::Bearer, None)
    }

    #[test]
    fn an_address_is_made_of_its_base_whatever_that_holds() {
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
            let why = address(base, "/x").unwrap_err();
            assert!(why.contains("such as") && !why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn a_key_does_not_cross_the_open_net_unencrypted() {
        for base in
            ["http://127.0.0.1/", "http://192.168.1.7/v1", "http://box.local/v1", "http://[::1]/"]
        {
            assert!(open(base, Some("k")).is_ok(), "{base}");
        }
        let why = open("http://api.example.com/v1?key=other", Some("sekret")).err().unwrap();
        assert!(why.contains("unencrypted") && !why.contains("sekret"), "{why}");
        assert!(!why.contains("other"), "{why}");
        assert!(open("http://api.example.com/v1", None).is_ok());
    }

    #[test]
    fn a_key_is_seen_nowhere() {
        let endpoint = open("http://127.0.0.1/v1", Some(" sekret\n")).unwrap();
        let shown = format!("{:?} {:?} {}", endpoint.key, endpoint.headers, endpoint.shown());
        assert!(!shown.contains("sekret"), "{shown}");
        assert_eq!(endpoint.headers[AUTHORIZATION], "Bearer sekret");
        let why = open("http://127.0.0.1/v1", Some("sek\nret")).err().unwrap();
        assert!(!why.contains("ret"), "{why}");
        let through = Through { proxy: "http://me:sekret@proxy:1".into(), except: String::new() };
        assert!(!format!("{through:?}").contains("sekret"));
        assert_eq!(Key::new("sekret").cut_from("bad sekret here"), "bad … here");
    }
}

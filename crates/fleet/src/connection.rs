//! The connection to a NATS server, and what has to be there.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::{self, kv};
use async_nats::{Client, ConnectOptions};
use percent_encoding::percent_decode_str;

/// The oldest server that can be used, by its major and minor version.
const OLDEST: (i64, i64) = (2, 11);

/// How long the first connection may take.
const CONNECTING: Duration = Duration::from_secs(10);

/// How a program shows a NATS server who it is. Servers also take a name and a password, or a
/// token, in the URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// A `.creds` file.
    pub file: Option<PathBuf>,
    /// Certificates of authorities that the server's may be from, besides the system's.
    pub authorities: Option<PathBuf>,
    /// Our own certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// A connection to a NATS server. Clones share it. It reconnects by itself.
#[derive(Debug, Clone)]
pub struct Connection {
    pub(crate) client: Client,
    pub(crate) jetstream: jetstream::Context,
}

/// Why a NATS server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No server answers, or it refuses us.
    #[error("cannot connect to NATS at {url}: {reason}")]
    NotConnected {
        /// The server, without a password.
        url: String,
        /// Why.
        reason: String,
    },
    /// The server is too old.
    #[error(
        "the NATS server at {url} is version {version}; 2.11 or newer is needed, because older ones ignore when entries expire"
    )]
    TooOld {
        /// The server, without a password.
        url: String,
        /// Its version.
        version: String,
    },
    /// Another node has the name. Two would both do what a door asks of one.
    #[error("another node is called {name}")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// JetStream is off, or not ours to use.
    #[error("JetStream cannot be used at {url}: {reason}")]
    NoJetStream {
        /// The server, without a password.
        url: String,
        /// Why.
        reason: String,
    },
}

impl ConnectError {
    /// What to do, as a phrase that fits after "Next: ".
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::NotConnected { .. } => {
                "check the URL and the credentials; `nats-server --jetstream` starts a server on this computer"
            }
            Self::TooOld { .. } => "update the server",
            Self::NameTaken { .. } => "end that one, or give this one another `--name`",
            Self::NoJetStream { .. } => {
                "start the server with `--jetstream`, and allow this account to use it"
            }
        }
    }
}

impl Connection {
    /// Connects to a server: `nats://HOST:4222`, or `tls://…`. `name` is what the server shows of
    /// this program.
    ///
    /// # Errors
    /// Why the server cannot be used.
    pub async fn open(
        url: &str,
        credentials: &Credentials,
        name: &str,
    ) -> Result<Self, ConnectError> {
        let shown = without_password(url);
        let not_connected =
            |reason: String| ConnectError::NotConnected { url: shown.clone(), reason };
        let mut options =
            ConnectOptions::new().name(name).connection_timeout(CONNECTING).request_timeout(None);
        // The client looks for neither in the URL.
        match secrets_of(url) {
            Some((name, Some(password))) => options = options.user_and_password(name, password),
            Some((token, None)) => options = options.token(token),
            None => {}
        }
        if let Some(file) = &credentials.file {
            let opened = options.credentials_file(file).await;
            options =
                opened.map_err(|error| not_connected(format!("{}: {error}", file.display())))?;
        }
        if let Some(file) = &credentials.authorities {
            options = options.add_root_certificates(file.clone());
        }
        if let Some((certificate, key)) = &credentials.certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        let connected = options.connect(shown.as_str()).await;
        let client = connected.map_err(|error| not_connected(error.to_string()))?;
        if !client.is_server_compatible(OLDEST.0, OLDEST.1, 0) {
            let version = client.server_info().version;
            return Err(ConnectError::TooOld { url: shown, version });
        }
        let jetstream = jetstream::new(client.clone());
        Ok(Self { client, jetstream })
    }

    /// The bucket with this name, whose entries end after `max_age` unless they are renewed.
    ///
    /// # Errors
    /// [`ConnectError::NoJetStream`].
    pub(crate) async fn bucket(
        &self,
        name: &str,
        max_age: Duration,
    ) -> Result<kv::Store, ConnectError> {
        let config =
            kv::Config { bucket: name.to_owned(), max_age, history: 1, ..kv::Config::default() };
        let made = self.jetstream.create_or_update_key_value(config).await;
        made.map_err(|error| ConnectError::NoJetStream {
            url: self.address(),
            reason: error.to_string(),
        })
    }

    /// The server's version.
    pub fn server_version(&self) -> String {
        self.client.server_info().version
    }

    /// The server's own words for where it is.
    pub fn address(&self) -> String {
        let info = self.client.server_info();
        format!("{}:{}", info.host, info.port)
    }
}

/// The URL of a server, without what identifies us.
pub fn without_password(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((before, server)) => {
            let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
            if scheme.is_empty() { server.to_owned() } else { format!("{scheme}://{server}") }
        }
        None => url.to_owned(),
    }
}

/// The name and the password in a URL, or a token without a password.
fn secrets_of(url: &str) -> Option<(String, Option<String>)> {
    let (before, _) = url.rsplit_once('@')?;
    let secrets = before.split_once("://").map_or(before, |(_, secrets)| secrets);
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some(match secrets.split_once(':') {
        Some((name, password)) => (decoded(name), Some(decoded(password))),
        None => (decoded(secrets), None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("nats://ann:s3cret@host:4222", "nats://host:4222"),
            ("nats://s3cret@host", "nats://host"),
            ("ann:s3cret@host", "host"),
            ("host:4222", "host:4222"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn names_passwords_and_tokens_are_in_the_url() {
        let user = |name: &str, password: &str| Some((name.to_owned(), Some(password.to_owned())));
        assert_eq!(secrets_of("nats://ann:s%40crt@host:4222"), user("ann", "s@crt"));
        assert_eq!(secrets_of("ann:p@host"), user("ann", "p"));
        assert_eq!(secrets_of("nats://t0ken@host"), Some(("t0ken".to_owned(), None)));
        assert_eq!(secrets_of("nats://host:4222"), None);
    }
}

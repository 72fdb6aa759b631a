//! How a server is reached: at a TCP address, perhaps with TLS, or on a port of an iPhone that
//! usbmuxd knows.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use thumbwire_base::Io;
use thumbwire_usbmux::UsbmuxClient;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Opens connections with a server.
#[async_trait]
pub(crate) trait Connect: Send + Sync {
    /// Opens one.
    ///
    /// # Errors
    /// The cause, if there is no connection.
    async fn connect(&self) -> Result<Box<dyn Io>, String>;
}

/// Connections to a TCP address. A phone is on this computer or in its network, so no proxy is
/// used.
pub(super) struct TcpConnector {
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl TcpConnector {
    /// Connections to this host, which may be an IPv6 address in brackets.
    ///
    /// # Errors
    /// The cause, if no TLS is possible.
    pub(super) fn new(host: &str, port: u16, with_tls: bool) -> Result<Self, String> {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = match with_tls {
            true => {
                let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
                Some((tls_connector().map_err(|error| error.to_string())?, name))
            }
            false => None,
        };
        Ok(Self { host, port, tls })
    }

    async fn open(&self) -> io::Result<Box<dyn Io>> {
        let stream = TcpStream::connect((&*self.host, self.port)).await?;
        // A request is written at once.
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            Some((connector, name)) => Box::new(connector.connect(name.clone(), stream).await?),
            None => Box::new(stream),
        })
    }
}

/// TLS that trusts what the system trusts.
fn tls_connector() -> Result<TlsConnector, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[async_trait]
impl Connect for TcpConnector {
    async fn connect(&self) -> Result<Box<dyn Io>, String> {
        self.open().await.map_err(|error| error.to_string())
    }
}

/// A port of an iPhone.
pub(crate) struct UsbmuxPort {
    pub(crate) client: UsbmuxClient,
    /// The phone. Its number at the daemon is looked up for each connection: a number that is used
    /// again after a restart of the daemon could be another phone's.
    pub(crate) udid: String,
    pub(crate) port: u16,
}

#[async_trait]
impl Connect for UsbmuxPort {
    async fn connect(&self) -> Result<Box<dyn Io>, String> {
        let connecting = async {
            let device = self.client.find(&self.udid).await?;
            self.client.connect(device.id, self.port).await
        };
        connecting.await.map_err(|error| error.to_string())
    }
}

//! The one primitive: open a named service on a phone.
//!
//! Everything that ADB can do is built on [`Transport::open`]. There are two transports:
//! [`direct::DirectTransport`] talks to adbd over TCP or any pipe, including one in memory;
//! [`server::ServerTransport`] goes through a running adb server.
//!
//! [`crate::services`] implements the services. Time limits are up to the caller: every future here
//! can be dropped at any time, which closes what it had opened.

pub mod direct;
pub mod server;
pub mod track;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_trait::async_trait;
use thumbwire_base::Io;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::Error;
use crate::link::LinkStream;
use crate::wire::banner::{Banner, Features};

/// Opens named services on one phone.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Opens a service: `shell:…`, `shell,v2,raw:…`, `exec:…`, `sync:` … Connects if needed.
    ///
    /// # Errors
    /// The phone cannot be reached, or refuses the service.
    async fn open(&self, service: &str) -> Result<Stream, Error>;

    /// The features that the phone announces. Connects if needed.
    ///
    /// # Errors
    /// The phone cannot be reached.
    async fn features(&self) -> Result<Features, Error>;

    /// The phone's banner: product, model, device. Connects if needed.
    ///
    /// # Errors
    /// The phone cannot be reached.
    async fn banner(&self) -> Result<Banner, Error>;

    /// Ends a connection that this transport holds, with its streams, and gives the phone a moment
    /// to notice. Call it before the program exits: an old phone serves one host at a time, and
    /// does not answer the next one before it has noticed. A later open connects again. Does
    /// nothing by default.
    async fn close(&self) {}
}

/// An open service. Dropping it closes the service on the phone.
///
/// ADB has no half-closed streams: a shutdown flushes and then closes both directions.
pub struct Stream(Kind);

enum Kind {
    Direct(LinkStream),
    ThroughServer(TcpStream),
}

impl From<LinkStream> for Stream {
    fn from(stream: LinkStream) -> Self {
        Self(Kind::Direct(stream))
    }
}

impl From<TcpStream> for Stream {
    /// A socket that an adb server has connected to a service.
    fn from(stream: TcpStream) -> Self {
        Self(Kind::ThroughServer(stream))
    }
}

impl Stream {
    fn pipe(&mut self) -> Pin<&mut dyn Io> {
        match &mut self.0 {
            Kind::Direct(stream) => Pin::new(stream),
            Kind::ThroughServer(stream) => Pin::new(stream),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.pipe().poll_read(cx, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.pipe().poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe().poll_shutdown(cx)
    }
}

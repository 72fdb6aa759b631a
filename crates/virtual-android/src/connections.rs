//! Serves hosts, in memory or over TCP.
//!
//! Start with [`VirtualPhone::listen`]. `faces/adbd` handles what is sent over a connection,
//! `faulty_stream` its speed and its faults; `phone/cable` cuts it.

mod faulty_stream;

use crate::faces::adbd;
use crate::phone::VirtualPhone;
use crate::programs::PROGRAMS;
use faulty_stream::FaultyStream;
use std::pin::pin;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Bytes in flight on an in-memory connection, in each direction; about what a USB or TCP stack
/// buffers.
const IN_FLIGHT: usize = 256 * 1024;

impl VirtualPhone {
    /// The host's end of a connection to this phone's adbd, as over a cable. Must be called inside
    /// a tokio runtime. While the phone is unplugged, the connection is closed from the start.
    pub fn in_memory(&self) -> DuplexStream {
        let (host, phone) = tokio::io::duplex(IN_FLIGHT);
        let served = self.clone();
        tokio::spawn(async move { served.serve(phone).await });
        host
    }

    /// The same as over the network, where an old adbd serves one host at a time: it accepts
    /// further ones and never answers them.
    pub fn over_network(&self) -> DuplexStream {
        let (host, phone) = tokio::io::duplex(IN_FLIGHT);
        let served = self.clone();
        tokio::spawn(async move { served.serve_network(phone).await });
        host
    }

    /// Serves adbd to every client that connects, until the returned future is dropped. Connections
    /// made while the phone is unplugged are closed at once.
    ///
    /// # Errors
    /// When the listener fails permanently.
    pub async fn listen(&self, listener: TcpListener) -> std::io::Result<()> {
        // Dropping the set ends the connections with it.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (stream, _) = accepted?;
                    // Packets are small and go back and forth; without the option it still works.
                    let _ = stream.set_nodelay(true);
                    let phone = self.clone();
                    connections.spawn(async move { phone.serve_network(stream).await });
                },
                Some(_) = connections.join_next() => {},
            }
        }
    }

    async fn serve_network(&self, mut io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        if !self.release().one_host {
            return self.serve(io).await;
        }
        if let Some(_slot) = self.take_host_slot().await {
            return self.serve(io).await;
        }
        // It stays open until its host leaves or the phone is unplugged.
        let mut cable = self.cable().subscribe();
        let cuts = cable.borrow_and_update().cuts;
        let (mut reader, mut nowhere) = (&mut io, tokio::io::sink());
        tokio::select! {
            _ = tokio::io::copy(&mut reader, &mut nowhere) => {}
            _ = cable.wait_for(|now| now.cuts != cuts) => {}
        }
    }

    async fn serve(&self, io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let mut cable = self.cable().subscribe();
        let plugged = *cable.borrow_and_update();
        if plugged.unplugged {
            return;
        }
        let io = FaultyStream::new(self, io);
        let mut serving = pin!(adbd::serve(self.clone(), &PROGRAMS, io));
        loop {
            let now = *cable.borrow_and_update();
            if now.cuts != plugged.cuts {
                return;
            }
            let silent = now.silence.lasts();
            // The sender lives in `self`, so only a change can arrive.
            tokio::select! {
                () = &mut serving, if !silent => return,
                () = now.silence.silence_ended(), if silent => {},
                _ = cable.changed() => {},
            }
        }
    }
}

//! The connections between a phone and its hosts, and what cuts them.
//!
//! Begin at [`VirtualPhone::listen`]. `faces/adbd` handles what is sent over a connection, `faults/stream` its speed and
//! its faults.

use crate::faces::adbd;
use crate::faults::FaultyStream;
use crate::latency::LATEST;
use crate::phone::VirtualPhone;
use std::pin::pin;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Bytes in flight on an in-memory connection, in each direction; about what a USB or TCP stack buffers.
const IN_FLIGHT: usize = 256 * 1024;

/// Delay between the phone's last reply and a reboot or adbd restart, so that hosts receive the reply.
const SOON: Duration = Duration::from_millis(200);

/// Whether hosts can reach the phone, and how often they were disconnected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cable {
    unplugged: bool,
    cuts: u64,
    /// Connections stay open, but nothing passes.
    silence: Silence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Silence {
    #[default]
    None,
    Until(Instant),
    Lasting,
}

impl Silence {
    fn lasts(self) -> bool {
        match self {
            Self::None => false,
            Self::Until(end) => Instant::now() < end,
            Self::Lasting => true,
        }
    }

    /// Completes when the silence ends.
    async fn silence_ended(self) {
        match self {
            Self::None => {}
            Self::Until(end) => tokio::time::sleep_until(end).await,
            Self::Lasting => std::future::pending().await,
        }
    }
}

impl VirtualPhone {
    /// The host's end of a connection to this phone's adbd. Must be called inside a tokio runtime. While the phone is
    /// unplugged, the connection is closed from the start.
    pub fn in_memory(&self) -> DuplexStream {
        let (host, phone) = tokio::io::duplex(IN_FLIGHT);
        let served = self.clone();
        tokio::spawn(async move { served.serve(phone).await });
        host
    }

    /// Serves adbd to every client that connects, until the returned future is dropped. Connections made while the
    /// phone is unplugged are closed at once.
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
                    connections.spawn(async move { phone.serve(stream).await });
                },
                Some(_) = connections.join_next() => {},
            }
        }
    }

    /// Cuts all connections and refuses new ones until [`VirtualPhone::plug`], as if the cable was pulled.
    pub fn unplug(&self) {
        self.cable().send_modify(|cable| {
            cable.unplugged = true;
            cable.cuts += 1;
        });
    }

    /// Accepts connections again.
    pub fn plug(&self) {
        self.cable().send_modify(|cable| cable.unplugged = false);
    }

    /// Waits until the phone is unplugged: by [`VirtualPhone::unplug`], or because a host rebooted it. Returns at once
    /// if it already is. Then call [`VirtualPhone::plug`] to bring it back.
    pub async fn unplugged(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.cable().subscribe().wait_for(|cable| cable.unplugged).await;
    }

    /// Stops all traffic in both directions while connections stay open: the phone falls silent.
    pub fn silence(&self, silent: bool) {
        let silence = if silent { Silence::Lasting } else { Silence::None };
        self.cable().send_modify(|cable| cable.silence = silence);
    }

    /// The same for a limited real time, because no command could reach the phone to end it.
    pub(crate) fn silence_for(&self, time: Duration) {
        let silence = Silence::Until(Instant::now() + time.min(LATEST));
        self.cable().send_modify(|cable| cable.silence = silence);
    }

    /// Runs `step` shortly after, even if the caller has gone: for reboots and adbd restarts.
    pub(crate) fn defer(&self, step: fn(&Self)) {
        let phone = self.clone();
        tokio::spawn(async move {
            phone.sleep_real(Some(SOON)).await;
            step(&phone);
        });
    }

    /// Cuts all connections; new ones are accepted.
    pub(crate) fn cut_all(&self) {
        self.cable().send_modify(|cable| cable.cuts += 1);
    }

    async fn serve<S>(&self, io: S)
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let mut cable = self.cable().subscribe();
        let plugged = *cable.borrow_and_update();
        if plugged.unplugged {
            return;
        }
        let io = FaultyStream::new(self, io);
        let mut serving = pin!(adbd::serve(self.clone(), io));
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

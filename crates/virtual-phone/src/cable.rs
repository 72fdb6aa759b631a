//! The cable between a phone and its hosts: who is connected, and what cuts them off.
//!
//! Begin at [`VirtualPhone::listen`]. What passes over a connection is `faces/adbd`, how fast it passes and what spoils it `faults/wire`.

use crate::faces::adbd;
use crate::faults::Wire;
use crate::latency::LATEST;
use crate::phone::VirtualPhone;
use std::pin::pin;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Bytes in flight on a connection in memory, each way; about what a USB or TCP stack holds.
const IN_FLIGHT: usize = 256 * 1024;

/// How long after its last words a phone is gone, or its adbd starts anew: hosts have those words by then.
const SOON: Duration = Duration::from_millis(200);

/// Whether hosts can reach the phone, and how often they were cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cable {
    unplugged: bool,
    cuts: u64,
    /// Connections stay, and nothing passes.
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

    /// Ends with the silence.
    async fn over(self) {
        match self {
            Self::None => {}
            Self::Until(end) => tokio::time::sleep_until(end).await,
            Self::Lasting => std::future::pending().await,
        }
    }
}

impl VirtualPhone {
    /// The host's end of a connection whose other end is served by this phone's adbd. Must be called inside a tokio runtime. While the
    /// phone is unplugged the connection is dead from the start.
    pub fn in_memory(&self) -> DuplexStream {
        let (host, phone) = tokio::io::duplex(IN_FLIGHT);
        let served = self.clone();
        tokio::spawn(async move { served.serve(phone).await });
        host
    }

    /// Serves adbd to everyone who connects, until the returned future is dropped. Connections made while the phone is unplugged are
    /// closed at once.
    ///
    /// # Errors
    /// When the listener fails for good.
    pub async fn listen(&self, listener: TcpListener) -> std::io::Result<()> {
        // Dropping the set ends the connections with it.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (stream, _) = accepted?;
                    // Small packets go back and forth; a socket that cannot be told so still works.
                    let _ = stream.set_nodelay(true);
                    let phone = self.clone();
                    connections.spawn(async move { phone.serve(stream).await });
                },
                Some(_) = connections.join_next() => {},
            }
        }
    }

    /// Cuts all connections and takes no new ones until [`VirtualPhone::plug`]: the phone has gone away.
    pub fn unplug(&self) {
        self.cable().send_modify(|cable| {
            cable.unplugged = true;
            cable.cuts += 1;
        });
    }

    /// Lets hosts connect again.
    pub fn plug(&self) {
        self.cable().send_modify(|cable| cable.unplugged = false);
    }

    /// Waits until the phone is unplugged, at once if it is: by [`VirtualPhone::unplug`], or because a host rebooted it. Whoever plays the
    /// phone's owner then plugs it in again.
    pub async fn unplugged(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.cable().subscribe().wait_for(|cable| cable.unplugged).await;
    }

    /// Lets nothing pass over the cable, in either direction, while connections stay: a phone that has fallen silent.
    pub fn silence(&self, silent: bool) {
        let silence = if silent { Silence::Lasting } else { Silence::None };
        self.cable().send_modify(|cable| cable.silence = silence);
    }

    /// The same for so long, by the time outside: nobody could end it from there.
    pub(crate) fn silence_for(&self, time: Duration) {
        let silence = Silence::Until(Instant::now() + time.min(LATEST));
        self.cable().send_modify(|cable| cable.silence = silence);
    }

    /// Does this a moment later, whoever asked for it and has gone since: the phone reboots, or its adbd starts anew.
    pub(crate) fn soon(&self, step: fn(&Self)) {
        let phone = self.clone();
        tokio::spawn(async move {
            phone.outside(Some(SOON)).await;
            step(&phone);
        });
    }

    /// Cuts all connections; new ones are taken.
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
        let io = Wire::new(self, io);
        let mut serving = pin!(adbd::serve(self.clone(), io));
        loop {
            let now = *cable.borrow_and_update();
            if now.cuts != plugged.cuts {
                return;
            }
            let silent = now.silence.lasts();
            // The sender lives in `self`, so a change is all that can come from the cable.
            tokio::select! {
                () = &mut serving, if !silent => return,
                () = now.silence.over(), if silent => {},
                _ = cable.changed() => {},
            }
        }
    }
}
